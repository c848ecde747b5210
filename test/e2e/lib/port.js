// A port for a program that cannot choose one itself.
import dgram from 'node:dgram';
import net from 'node:net';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';

/** Whether the server or socket got its address; it is closed again. */
async function canListen(socket) {
    if (!await once(socket, 'listening').catch((error) => error.code !== 'EADDRINUSE')) return false;
    socket.close();
    await once(socket, 'close');
    return true;
}

/** A port that is free for TCP and UDP, below the ports that services take for audio (16384) and the kernel's ephemeral ones, so
 *  that nothing that asks for any port is given it meanwhile; above 10080, which browsers refuse. */
export async function freePort() {
    for (;;) {
        const port = randomInt(11_000, 16_384);
        const tcp = net.createServer().listen(port, '127.0.0.1');
        if (!await canListen(tcp)) continue;
        const udp = dgram.createSocket('udp4');
        udp.bind(port, '127.0.0.1');
        if (await canListen(udp)) return port;
    }
}
