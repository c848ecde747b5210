// A bad line: a proxy for SIP over UDP on loopback, between telephones and a daemon. It puts itself into the path of the RTP
// and loses, doubles, reorders and delays its packets. SIP itself passes unharmed.
import dgram from 'node:dgram';
import { once } from 'node:events';

const EVENT = 16; // bytes of a packet with a key

/** Random numbers from 0 to 1, the same in each run (mulberry32). */
function randomness(seed) {
    let state = seed;
    return () => {
        state = (state + 0x6d2b79f5) | 0;
        let t = Math.imul(state ^ (state >>> 15), 1 | state);
        t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
        return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
    };
}

export class BadLine {
    /** loss, duplicates, reordered: shares of the packets, both ways. A reordered one comes 30 to 60 ms late. jitter_ms: each
     *  is delayed by up to that, in order, as by a queue. overtaken: of each two keys that the phone sends as events, the first
     *  packet of the second comes before all of the first key. restart: the phone's numbers and timestamps begin again after
     *  its second key. */
    static async start(daemon, { loss = 0, duplicates = 0, reordered = 0, jitter_ms = 0, overtaken, restart, seed = 1 } = {}) {
        const line = new BadLine();
        Object.assign(line, { loss, duplicates, reordered, jitter_ms, overtaken, restart, random: randomness(seed) });
        [, line.host, line.port] = /^(?:sip:)?(.*):(\d+)$/.exec(daemon.sip);
        line.front = await line.#socket((message, from) => line.#fromPhone(message, from));
        line.sip = `sip:127.0.0.1:${line.front.address().port}`; // in place of the daemon's
        return line;
    }

    passed = 0; // RTP packets
    lost = 0;
    #sockets = [];
    #timers = new Set();
    #phones = new Map(); // its address: the socket towards the daemon
    #media = new Map(); // Call-ID: its two RTP sockets

    async #socket(onMessage) {
        const socket = dgram.createSocket('udp4');
        socket.on('message', onMessage);
        socket.bind(0, '127.0.0.1');
        await once(socket, 'listening');
        this.#sockets.push(socket);
        return socket;
    }

    async #fromPhone(message, from) {
        const key = `${from.address}:${from.port}`;
        if (!this.#phones.has(key)) {
            this.#phones.set(key, this.#socket(async (reply) => {
                this.front.send(await this.#divert(reply, 'daemon'), from.port, from.address);
            }));
        }
        const socket = await this.#phones.get(key);
        const text = await this.#divert(message, 'phone');
        if (!this.closed) socket.send(text, Number(this.port), this.host);
    }

    /** Puts our RTP port into the SDP of a message. */
    async #divert(message, side) {
        const [head, body] = message.toString('latin1').split(/\r\n\r\n(.*)/s);
        const port = /^m=audio (\d+)/m.exec(body ?? '')?.[1];
        if (!port || port === '0') return message;
        const media = await this.#mediaOf(/^Call-ID:\s*(\S+)/im.exec(head)[1]);
        media[side] = Number(port);
        const ours = media[side === 'phone' ? 'front' : 'back'].address().port;
        const sdp = body.replace(/^m=audio \d+/m, `m=audio ${ours}`);
        return Buffer.from(`${head.replace(/^Content-Length:.*$/im, `Content-Length: ${sdp.length}`)}\r\n\r\n${sdp}`, 'latin1');
    }

    /** front: the daemon's packets come there, the phone's leave from there. back: the other way round. */
    #mediaOf(callId) {
        if (!this.#media.has(callId)) {
            this.#media.set(callId, (async () => {
                const media = {};
                media.front = await this.#socket((packet) => this.#pass(packet, media, 'back', 'phone'));
                media.back = await this.#socket((packet) => this.#pass(packet, media, 'front', 'daemon'));
                return media;
            })());
        }
        return this.#media.get(callId);
    }

    /** The packets to send now, for one that the phone has sent. */
    #inOtherOrder(packet, keys) {
        const time = packet.length === EVENT ? packet.readUInt32BE(4) : undefined;
        const begins = time !== undefined && time !== keys.time;
        if (begins) {
            keys.time = time;
            keys.count++;
        }
        if (this.restart && keys.count > 2) {
            packet.writeUInt16BE((packet.readUInt16BE(2) + 45_000) % 65_536, 2);
            packet.writeUInt32BE((packet.readUInt32BE(4) + 2_800_000_000) % 4_294_967_296, 4);
        }
        if (!this.overtaken || (keys.count % 2 === 0 && !begins)) return [packet];
        if (keys.count % 2 === 0) return [packet, ...keys.held.splice(0)];
        keys.held.push(packet);
        return [];
    }

    #pass(packet, media, from, to) {
        const keys = media[`${to} keys`] ??= { count: 0, held: [] };
        const packets = to === 'daemon' ? this.#inOtherOrder(packet, keys) : [packet];
        for (const one of packets) this.#send(one, media, from, to);
    }

    #send(packet, media, from, to) {
        if (!media[to]) return;
        this.passed++;
        if (this.random() < this.loss) {
            this.lost++;
            return;
        }
        const queue = Math.max(Date.now() + this.random() * this.jitter_ms, media[`${to} queue`] ?? 0);
        media[`${to} queue`] = queue;
        const late = this.random() < this.reordered ? 30 + this.random() * 30 : 0;
        const copies = this.random() < this.duplicates ? 2 : 1;
        for (let i = 0; i < copies; i++) this.#later(queue - Date.now() + late + i * 10, () => media[from].send(packet, media[to], '127.0.0.1'));
    }

    #later(ms, run) {
        if (ms <= 0.5) return void run();
        const timer = setTimeout(() => {
            this.#timers.delete(timer);
            run();
        }, ms);
        this.#timers.add(timer);
    }

    close() {
        this.closed = true;
        for (const timer of this.#timers) clearTimeout(timer);
        for (const socket of this.#sockets) socket.close();
    }
}
