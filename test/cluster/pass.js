// Passes connections to an address on to the same port on loopback, because the sandbox's interface answers there only.
import net from 'node:net';

const [address, port] = process.argv.slice(2);
net.createServer((from) => {
    const to = net.connect(Number(port), '127.0.0.1');
    for (const [one, other] of [[from, to], [to, from]]) {
        one.pipe(other);
        one.on('error', () => other.destroy());
        one.on('close', () => other.destroy());
    }
}).listen(Number(port), address);
