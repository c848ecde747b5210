// The resident's telephone in software: forwarded calls that it answers or refuses.
// engine: sqlite, because it tests telephones
import { describe, it, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { ok } from './lib/client.js';
import { portero } from './lib/daemon.js';
import { buzz, phonesAt, startPhone } from './lib/phone.js';
import { freePort } from './lib/port.js';
import { resident, world } from './lib/world.js';

describe('porterod phone', () => {
    let w;
    let port;
    before(async () => {
        port = await freePort();
        w = await world({ config: phonesAt(port) });
    });
    after(() => w?.close());

    const start = (...options) => startPhone('--listen', `127.0.0.1:${port}`, ...options);

    /** A resident whose calls are forwarded to the telephone. */
    async function forwarded(ring = {}) {
        const person = await resident(w.client, { tone: '5' });
        const path = `/v1/buildings/${person.building.id}/settings`;
        const { etag } = (await person.client.get(path)).headers;
        ok(await person.client.patch(path, { ring: { numbers: ['+15550001234'], accept: false, ...ring } }, { headers: { 'If-Match': etag } }));
        return person;
    }

    for (const [how, options] of [['RFC 4733 events', []], ['tones in the audio', ['--inband']], ['SIP INFO', ['--info']]]) {
        // CLI-7
        it(`opens the door of a forwarded call with 9, pressed as ${how}`, async () => {
            const person = await forwarded();
            const phone = await start('--digits', '9', '--hangup', '2000', ...options);
            const call = await buzz(w.daemon, person.number);
            const { status, stdout } = await phone.ended;
            // The visitor hears a key in the audio until it is recognised.
            assert.deepEqual([call.status, call.heard.filter((line) => line !== 'tone 9')], [0, ['answered', 'tone 5', 'hangup']], call.stderr + w.daemon.stderr.slice(-1500));
            assert.equal(status, 0);
            assert.deepEqual(stdout.split('\n'), [`listening sip:127.0.0.1:${port}`, `ringing from ${person.number}`, 'answered', 'hangup', '']);
        });
    }

    it('accepts a forwarded call with 1, when it is asked to', async () => {
        const person = await forwarded({ accept: true });
        const phone = await start('--digits', '1,9', '--hangup', '2000');
        const call = await buzz(w.daemon, person.number);
        assert.deepEqual([call.status, call.heard], [0, ['answered', 'tone 5', 'hangup']], call.stderr);
        assert.equal((await phone.ended).status, 0);
    });

    it('refuses a forwarded call', async () => {
        const person = await forwarded();
        const phone = await start('--answer', '300', '--refuse', '486', '--json');
        const call = await buzz(w.daemon, person.number);
        assert.deepEqual([call.status, call.tones], [3, '']);
        const { status, stdout } = await phone.ended;
        assert.equal(status, 3);
        assert.deepEqual(stdout.trimEnd().split('\n').slice(1).map((line) => JSON.parse(line)),
            [{ event: 'ringing', detail: `from ${person.number}` }, { event: 'refused', detail: '486' }]);
    });

    it('rings longer than the caller waits, who is told so', async () => {
        const person = await forwarded();
        const phone = await start('--answer', '60000', '--timeout', '20');
        const call = await buzz(w.daemon, person.number, '--timeout', '3');
        assert.deepEqual([call.status, call.stdout], [1, '']);
        assert.match(call.stderr, /^portero: 127\.0\.0\.1:\d+ responded but did not answer the call within 3 s, the limit of --timeout$/m);
        assert.equal((await phone.ended).status, 3);
    });

    it('waits for a call only so long', async () => {
        const phone = await start('--timeout', '1');
        const { status, stdout } = await phone.ended;
        assert.deepEqual([status, stdout], [3, `listening sip:127.0.0.1:${port}\ntimeout\n`]);
    });

    it('refuses wrong options, and an address in use', async () => {
        for (const options of [['--listen', '0.0.0.0:0'], ['--listen', 'here'], ['--digits', 'x'], ['--inband', '--info'], ['--refuse', '200'], ['--timeout', '0']]) {
            const done = portero(['phone', ...options]);
            assert.deepEqual([done.status, done.stdout], [2, ''], options.join(' '));
            assert.match(done.stderr, /^portero: phone: [^\n]+\n$/);
        }
        const phone = await start('--timeout', '5');
        const second = portero(['phone', '--listen', `127.0.0.1:${port}`]);
        assert.deepEqual([second.status, second.stdout, second.stderr], [1, '', 'portero: cannot listen: Address already in use\n']);
        await phone.ended;
    });
});
