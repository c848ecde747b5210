// Call boxes that sign in with digest, and register: baresip and sipp. Decisions, section 10.
// engine: sqlite, because it tests telephones
import { describe, it, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import dgram from 'node:dgram';
import { once } from 'node:events';
import { ok } from './lib/client.js';
import { address, Baresip, buzz, QUICK, sipp, startPhone } from './lib/phone.js';
import { portero } from './lib/daemon.js';
import { freePort } from './lib/port.js';
import { eventually, grant, resident, world } from './lib/world.js';

const GATE = '+15553330000';

const md5 = (text) => createHash('md5').update(text).digest('hex');

/** Registers a box, over UDP from this host. */
class Registrar {
    static async open(to, host) {
        const client = new Registrar();
        [client.host, client.port] = to.split(':');
        client.socket = dgram.createSocket('udp4').bind(0, host);
        await once(client.socket, 'listening');
        client.me = `${host}:${client.socket.address().port}`;
        client.cseq = 0;
        return client;
    }

    close() {
        this.socket.close();
    }

    /** The answer with that CSeq; the request is repeated until it comes. */
    async #request(headers) {
        const cseq = ++this.cseq;
        const request = `REGISTER sip:${this.host} SIP/2.0\r\nVia: SIP/2.0/UDP ${this.me};branch=z9hG4bK${cseq};rport\r\nFrom: <sip:gate@${this.host}>;tag=1\r\n`
            + `To: <sip:gate@${this.host}>\r\nCall-ID: ${this.me}\r\nCSeq: ${cseq} REGISTER\r\nMax-Forwards: 70\r\nContact: <sip:gate@${this.me}>\r\n${headers}Content-Length: 0\r\n\r\n`;
        const send = () => this.socket.send(request, Number(this.port), this.host);
        const again = setInterval(send, 1000);
        send();
        try {
            for (;;) {
                const text = String((await once(this.socket, 'message'))[0]);
                if (text.includes(`\r\nCSeq: ${cseq} REGISTER\r\n`)) return text;
            }
        } finally {
            clearInterval(again);
        }
    }

    /** The answer to a registration with that password. */
    async register(name, password, uri = `sip:${this.host}`) {
        const [, nonce] = /nonce="(\w+)"/.exec(await this.#request(''));
        const response = md5([md5(`${name}:portero:${password}`), nonce, '00000001', 'c', 'auth', md5(`REGISTER:${uri}`)].join(':'));
        return this.#request(`Authorization: Digest username="${name}", realm="portero", nonce="${nonce}", uri="${uri}", response="${response}", qop=auth, nc=00000001, cnonce="c"\r\n`);
    }
}

describe('call boxes that sign in', () => {
    let w;
    let password;
    let person;
    before(async () => {
        w = await world({ config: { ...QUICK, voice: { ...QUICK.voice, digest: 'all' } } });
        ({ password } = admin('box', 'add', 'gate', '--number', GATE));
        person = await resident(w.client, { tone: '9' });
        await grant(person, { type: 'passcode', access_code: '1234', label: 'Visitor' });
    });
    after(() => w?.close());

    /** `porterod admin`: its answer. Throws with its complaint. */
    const admin = (...args) => {
        const done = portero(['admin', ...args, '--config', w.daemon.configPath, '--data', w.daemon.data, '--json']);
        if (done.status !== 0) throw new Error(done.stderr);
        return JSON.parse(done.stdout);
    };
    const released = async () => ok(await person.client.get('/v1/logs?limit=100')).data.filter((entry) => entry.type === 'unlock' && entry.succeeded).length;
    const account = (name, secret) => `<sip:${name}@${address(w.daemon)};transport=udp>;auth_user=${name};auth_pass=${secret};regint=600`;
    /** Waits for the answer to the registration; baresip sends it before the control port listens, and from 1.1 on names a priority. */
    const registered = (phone, status) => eventually(() => new RegExp(`: (\\(prio \\d+\\) )?(\\{.*\\} )?${status}`).test(phone.log), 'the registration');
    const box = () => admin('box', 'list').data.find(({ name }) => name === 'gate');

    // PHONE-4
    it('are shown their password once, and not twice under one name', async () => {
        assert.match(password, /^[0-9A-Za-z]{24}$/);
        assert.deepEqual(Object.keys(box()).sort(), ['created_at', 'name', 'number', 'registered_from', 'registered_until']);
        assert.throws(() => admin('box', 'add', 'gate'), /already exists/);
        assert.throws(() => admin('box', 'add', 'bad name'), /name/);
    });

    // PHONE-7
    it('open the door with a code, from baresip, which also registers', async () => {
        const phone = await Baresip.start({ account: account('gate', password) });
        try {
            await registered(phone, '200 OK');
            const row = await eventually(() => (box().registered_until ? box() : null), 'the registration');
            assert.ok(Date.parse(row.registered_until) > Date.parse(row.created_at));
            assert.match(row.registered_from, /^127\.0\.0\.1:\d+$/);
            const before = await released();
            const from = phone.events.length;
            phone.command('dial', `sip:${person.number}@${address(w.daemon)};transport=udp`);
            await phone.event('CALL_ESTABLISHED', from);
            await phone.press('1234');
            await phone.event('CALL_CLOSED', from);
            assert.equal(phone.tones(from), '9');
            assert.equal(await released(), before + 1);
            assert.equal(ok(await person.client.get(`/v1/buildings/${person.building.id}/setup`)).status, 'previous_buzz_recorded');
        } finally {
            await phone.stop();
        }
    });

    for (const transport of ['u1', 't1']) {
        // PHONE-7
        it(`open the door with a code, from sipp over ${transport === 'u1' ? 'UDP' : 'TCP'}`, async () => {
            const before = await released();
            await sipp(w.daemon, 'sign-in', person.number, { transport, keys: { digits: '1234' }, extra: ['-au', 'gate', '-ap', password] });
            await eventually(async () => await released() === before + 1, 'the log entry');
        });
    }

    // PHONE-4
    it('are refused with a wrong password, or without one', async () => {
        const phone = await Baresip.start({ account: account('gate', 'wrong') });
        try {
            await registered(phone, '403');
        } finally {
            await phone.stop();
        }
        const call = await buzz(w.daemon, person.number, '--digits', '1234');
        assert.equal(call.tones, '');
        assert.match(call.stdout + call.stderr, /401/);
    });

    // PHONE-5
    it('are refused for another request URI, and wait after many wrong passwords', async () => {
        const client = await Registrar.open(address(w.daemon), '127.0.0.7');
        try {
            assert.match(await client.register('gate', password), /^SIP\/2\.0 200 /);
            assert.match(await client.register('gate', password, 'sip:x@y'), /^SIP\/2\.0 400 Digest URI/);
            for (let i = 0; i < 20; i++) assert.match(await client.register('gate', `wrong${i}`), /^SIP\/2\.0 403 /);
            assert.match(await client.register('gate', password), /^SIP\/2\.0 503 [^]*\r\nRetry-After: \d+\r\n/);
            assert.ok(await w.daemon.logged(/warn sip sign-ins stopped source=127\.0\.0\.7 wrong=20\n/));
        } finally {
            client.close();
        }
        const phone = await Baresip.start({ account: account('gate', password) }); // at another address
        try {
            await registered(phone, '200 OK');
        } finally {
            await phone.stop();
        }
    });

    it('are refused once they are removed', async () => {
        const { password: secret } = admin('box', 'add', 'side');
        const phone = await Baresip.start({ account: account('side', secret) });
        try {
            await registered(phone, '200 OK');
        } finally {
            await phone.stop();
        }
        admin('box', 'remove', 'side');
        const again = await Baresip.start({ account: account('side', secret) });
        try {
            await registered(again, '403');
        } finally {
            await again.stop();
        }
        assert.throws(() => admin('box', 'remove', 'side'), /no box has this name/);
    });
});

describe('a call box that signed in at an address that is not listed', () => {
    it('keeps its ringing call when other calls come', async () => {
        const port = await freePort();
        const w = await world({
            config: {
                ...QUICK,
                voice: { ...QUICK.voice, calls: 4, digest: 'strangers', peers: ['127.0.0.9'], 'peer phones': { server: `127.0.0.8:${port}`, probe_s: 0 } },
            },
        });
        const other = dgram.createSocket('udp4');
        let box;
        try {
            const added = portero(['admin', 'box', 'add', 'gate', '--number', GATE, '--config', w.daemon.configPath, '--data', w.daemon.data, '--json']);
            const { password } = JSON.parse(added.stdout);
            const person = await resident(w.client, { tone: '5' });
            const path = `/v1/buildings/${person.building.id}/settings`;
            const { etag } = (await person.client.get(path)).headers;
            ok(await person.client.patch(path, { ring: { numbers: ['+15550001234'], accept: false } }, { headers: { 'If-Match': etag } }));
            const phone = await startPhone('--listen', `127.0.0.8:${port}`, '--answer', '4000', '--digits', '9', '--hangup', '1000');
            box = await Baresip.start({ account: `<sip:gate@${address(w.daemon)};transport=udp>;auth_user=gate;auth_pass=${password};regint=0` });
            box.command('dial', `sip:${person.number}@${address(w.daemon)};transport=udp`);
            await box.event('CALL_RINGING');
            other.bind(0, '127.0.0.9');
            await once(other, 'listening');
            const answered = once(other, 'message');
            const [host, to] = address(w.daemon).split(':');
            other.send(`INVITE sip:+15559999999@${host} SIP/2.0\r\nVia: SIP/2.0/UDP 127.0.0.9:${other.address().port};branch=z9hG4bKother;rport\r\n`
                + `From: <sip:a@b>;tag=1\r\nTo: <sip:c@d>\r\nCall-ID: other\r\nCSeq: 1 INVITE\r\nContact: <sip:a@127.0.0.9:${other.address().port}>\r\n`
                + 'Max-Forwards: 9\r\nContent-Length: 0\r\n\r\n', Number(to), host);
            assert.match(String((await answered)[0]), /^SIP\/2\.0 (100|404) /);
            await box.event('CALL_ESTABLISHED');
            await eventually(() => box.tones() === '5', 'the release tone');
            assert.equal((await phone.ended).status, 0);
        } finally {
            other.close();
            await box?.stop();
            await w.close();
        }
    });
});
