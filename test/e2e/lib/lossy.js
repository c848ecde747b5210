// A relay of UDP on loopback that loses datagrams each way.
import { createSocket } from 'node:dgram';
import { once } from 'node:events';

async function socketAt() {
    const socket = createSocket('udp4').bind(0, '127.0.0.1');
    await once(socket, 'listening');
    return socket;
}

export class LossyRelay {
    /** Relays to a port of 127.0.0.1, without that percentage of the datagrams. */
    static async start(to, percent) {
        const relay = new LossyRelay();
        relay.to = to;
        relay.percent = percent;
        relay.front = await socketAt();
        relay.port = relay.front.address().port;
        relay.front.on('message', (datagram, from) => relay.#pass(datagram, from));
        return relay;
    }

    lost = { there: 0, back: 0 };
    #dice = 1; // the same in each run
    #behind = new Map(); // a promise of a socket for each peer

    #loses(way) {
        this.#dice = (Math.imul(this.#dice, 1103515245) + 12345) >>> 0;
        const loses = (this.#dice >>> 16) % 100 < this.percent;
        if (loses) this.lost[way]++;
        return loses;
    }

    async #pass(datagram, { address, port }) {
        if (this.#loses('there')) return;
        const peer = `${address}:${port}`;
        if (!this.#behind.has(peer)) this.#behind.set(peer, this.#open(address, port));
        (await this.#behind.get(peer)).send(datagram, this.to, '127.0.0.1');
    }

    async #open(address, port) {
        const socket = await socketAt();
        socket.on('message', (datagram) => { if (!this.#loses('back')) this.front.send(datagram, port, address); });
        return socket;
    }

    async close() {
        this.front.close();
        for (const socket of await Promise.all(this.#behind.values())) socket.close();
    }
}
