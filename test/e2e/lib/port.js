// A port for a program that cannot choose one itself.
import net from 'node:net';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';

/** A free TCP port below the kernel's ephemeral ones, so that no test that asks for any port is given it meanwhile. */
export async function freePort() {
    for (;;) {
        const port = randomInt(20_000, 32_000);
        const server = net.createServer().listen(port, '127.0.0.1');
        if (!await once(server, 'listening').catch((error) => error.code !== 'EADDRINUSE')) continue;
        server.close();
        await once(server, 'close');
        return port;
    }
}
