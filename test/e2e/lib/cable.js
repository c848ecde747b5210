// The cable between a node and its database, which can be cut: then nothing comes through, and nobody is told.
import net from 'node:net';
import { once } from 'node:events';

export class Cable {
    /** {dsn}: the same database over the cable. */
    static async start(dsn) {
        const cable = new Cable();
        const [, host] = /host=(\S+)/.exec(dsn), port = /port=(\d+)/.exec(dsn)?.[1] ?? 5432;
        const server = host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port };
        cable.server = net.createServer((node) => cable.#join(node, net.connect(server))).listen(0, '127.0.0.1');
        await once(cable.server, 'listening');
        cable.dsn = `${dsn} host=127.0.0.1 port=${cable.server.address().port}`; // the last one counts
        return cable;
    }

    #sockets = new Set();
    #cut = false;

    #join(...ends) {
        for (const [i, end] of ends.entries()) {
            this.#sockets.add(end);
            end.on('data', (data) => ends[1 - i].write(data));
            end.on('error', () => {});
            end.on('close', () => {
                this.#sockets.delete(end);
                ends[1 - i].destroy();
            });
            if (this.#cut) end.pause();
        }
    }

    cut() {
        this.#cut = true;
        for (const socket of this.#sockets) socket.pause();
    }

    mend() {
        this.#cut = false;
        for (const socket of this.#sockets) socket.resume();
    }

    close() {
        for (const socket of this.#sockets) socket.destroy();
        this.server.close();
    }
}
