// Calls through a proxy that stays in their route (Kamailio), by an independent telephone (sipp).
// engine: postgresql, because it can hold a decision
import { describe, it, before, after } from 'node:test';
import assert from 'node:assert/strict';
import dgram from 'node:dgram';
import { once } from 'node:events';
import { ok } from './lib/client.js';
import { Kamailio } from './lib/kamailio.js';
import { QUICK, sipp } from './lib/phone.js';
import { lockTable } from './lib/store.js';
import { eventually, grant, resident, world } from './lib/world.js';

/** A caller that cancels its calls; sipp cannot tell the answer to its INVITE from that to its CANCEL. */
class Caller {
    static async open(to) {
        const caller = new Caller();
        [caller.host, caller.port] = to.split(':');
        caller.socket = dgram.createSocket('udp4').bind(0, '127.0.0.1');
        await once(caller.socket, 'listening');
        caller.me = `127.0.0.1:${caller.socket.address().port}`;
        caller.serial = 0;
        caller.waiting = new Map(); // by Call-ID and CSeq
        caller.socket.on('message', (data) => {
            const text = data.toString();
            const status = Number(/^SIP\/2\.0 (\d+)/.exec(text)?.[1]);
            const key = `${/^Call-ID: (.*)\r/m.exec(text)[1]} ${/^CSeq: (.*)\r/m.exec(text)[1]}`;
            if (status >= 200) caller.waiting.get(key)?.({ status, tag: /^To: .*(;tag=\S+)\r/m.exec(text)[1] });
        });
        return caller;
    }

    close() {
        this.socket.close();
    }

    send(method, number, { cseq, branch, tag = '', body = '' }) {
        this.socket.send(`${method} sip:${number}@${this.host}:${this.port} SIP/2.0\r\nVia: SIP/2.0/UDP ${this.me};branch=z9hG4bK${this.serial}${branch};rport\r\n`
            + `From: <sip:box@${this.me}>;tag=1\r\nTo: <sip:${number}@${this.host}>${tag}\r\nCall-ID: ${this.serial}@${this.me}\r\nCSeq: ${cseq} ${method}\r\n`
            + `Contact: <sip:box@${this.me}>\r\nMax-Forwards: 70\r\n${body ? 'Content-Type: application/sdp\r\n' : ''}Content-Length: ${body.length}\r\n\r\n${body}`,
        Number(this.port), this.host);
    }

    /** Sends a request until its final answer comes: {status, tag}. */
    async request(method, number, options) {
        const key = `${this.serial}@${this.me} ${options.cseq} ${method}`;
        const answered = new Promise((done) => { this.waiting.set(key, done); });
        this.send(method, number, options);
        const again = setInterval(() => this.send(method, number, options), 500);
        const late = setTimeout(() => this.waiting.get(key)({ status: 0, tag: '' }), 60_000);
        const answer = await answered;
        clearInterval(again);
        clearTimeout(late);
        this.waiting.delete(key);
        return answer;
    }

    async cancelAfter(number, ms) {
        const body = 'v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio 9 RTP/AVP 0\r\n';
        this.serial++;
        const invited = this.request('INVITE', number, { cseq: 1, branch: 'a', body });
        await new Promise((done) => { setTimeout(done, ms); });
        const cancelled = this.request('CANCEL', number, { cseq: 1, branch: 'a' });
        const { status, tag } = await invited;
        this.send('ACK', number, { cseq: 1, branch: status === 200 ? 'b' : 'a', tag });
        await cancelled;
        if (status !== 200) return status === 487 ? 'cancelled' : `INVITE ${status}`;
        const bye = await this.request('BYE', number, { cseq: 2, branch: 'c', tag });
        return bye.status === 200 ? 'hung up' : `BYE ${bye.status}`;
    }
}

describe('a call through a proxy', () => {
    let w;
    let proxy;
    before(async () => {
        w = await world({ config: QUICK });
        proxy = await Kamailio.start(w.daemon);
    });
    after(async () => {
        await proxy?.stop();
        await w?.close();
    });

    const log = async (person) => ok(await person.client.get('/v1/logs?limit=100')).data;
    const withCode = async () => {
        const person = await resident(w.client, { tone: '9' });
        await grant(person, { type: 'passcode', access_code: '1234', label: 'Visitor' });
        return person;
    };
    const released = async (person) => eventually(async () =>
        (await log(person)).some((entry) => entry.type === 'unlock' && entry.succeeded), 'the log entry');

    it('presses a code, and is hung up on through the proxy', async () => {
        const person = await withCode();
        await sipp(proxy, 'events', person.number, { keys: { digits: '1234' } });
        await released(person);
    });

    it('may hold and resume', async () => {
        await sipp(proxy, 'hold', (await withCode()).number);
    });

    it('may be cancelled while its decision is held, and then leaves no trace', async () => {
        const person = await withCode();
        const { unlocked } = await lockTable(w.daemon, 'building', 5);
        await sipp(proxy, 'cancel-early', person.number, { calls: 10, extra: ['-r', '20'] });
        await unlocked;
        assert.deepEqual(await log(person), []);
        await sipp(proxy, 'events', person.number, { keys: { digits: '1234' } });
        await released(person);
    });

    it('may be cancelled at the moment of the decision: each call ends, with 487 or with BYE', async () => {
        const person = await withCode();
        const caller = await Caller.open(proxy.sip.slice('sip:'.length));
        try {
            const ends = [];
            for (let i = 0; i < 60; i++) ends.push(await caller.cancelAfter(person.number, i % 12));
            assert.ok(ends.every((end) => end === 'cancelled' || end === 'hung up'), ends.join(', '));
            assert.ok(ends.includes('hung up'), 'no CANCEL crossed the answer');
        } finally {
            caller.close();
        }
        await sipp(proxy, 'events', person.number, { keys: { digits: '1234' } });
        await released(person);
    });
});
