// Calls over SIP from the simulator: calls.md steps 1 to 8, as a visitor hears them.
import { describe, it, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { rmSync } from 'node:fs';
import { idempotencyKey, ok } from './lib/client.js';
import { engine, portero, temporaryDirectory } from './lib/daemon.js';
import { ownNames } from './lib/names.js';
import { buzz, QUICK, startBuzz } from './lib/phone.js';
import { lockTable } from './lib/store.js';
import { changeSettings, grant, resident, setSubscription, world } from './lib/world.js';

describe('calls over SIP', { concurrency: 6 }, () => {
    let w;
    let client;
    before(async () => {
        w = await world({ config: QUICK });
        client = w.client;
    });
    after(() => w?.close());

    const ring = (person, ...options) => buzz(w.daemon, person.number, ...options);
    const log = async (person) => ok(await person.client.get('/v1/logs')).data;
    const opened = (call, tones) => {
        assert.equal(call.status, 0, call.stdout + call.stderr);
        assert.deepEqual(call.heard, ['answered', ...[...tones].map((tone) => `tone ${tone}`), 'hangup']);
    };
    const notOpened = (call) => {
        assert.equal(call.status, 3, call.stdout + call.stderr);
        assert.equal(call.tones, '');
    };
    /** A new resident with the passcode 1234. */
    const withCode = async (tone, more) => {
        const person = await resident(client, { tone });
        const made = await grant(person, { type: 'passcode', access_code: '1234', label: 'Visitor', ...more });
        return { ...person, made };
    };

    it('to an unknown number are rejected', async () => {
        const call = await buzz(w.daemon, '+15550198766');
        notOpened(call);
        assert.deepEqual(call.heard, ['rejected 404']);
    });

    // BUILDING-38
    it('of callers that are not listed are rejected where the building wants it, and use nothing', async () => {
        const person = await resident(client, { tone: '9' });
        await grant(person, { type: 'timer', expires_in_minutes: 5, remaining_uses: 1 });
        await changeSettings(person, { callers: { mode: 'listed', numbers: ['+15553330000'], others: 'reject' } });
        const stranger = await ring(person, '--from', '+18005550199');
        notOpened(stranger);
        assert.deepEqual(stranger.heard, ['rejected 603']);
        opened(await ring(person, '--from', '+15553330000'), '9');
    });

    // PASS-10
    it('hear when a right code opens, where the building wants it', async () => {
        const person = await withCode('9');
        await changeSettings(person, { say_opening: true });
        const from = new Date(Date.now() + 3 * 86_400_000).toISOString().slice(0, 10);
        const pass = { label: 'Later', access_code: '4821', from: `${from}T09:00`, timezone: 'UTC' };
        ok(await person.client.post('/v1/passes', pass, { headers: { 'Idempotency-Key': idempotencyKey() } }), 201);
        opened(await ring(person, '--digits', '4821,1234'), '9');
        const [{ id }] = ok(await person.client.get('/v1/calls')).data;
        const { steps } = ok(await person.client.get(`/v1/calls/${id}`));
        assert.deepEqual(steps.filter(({ step }) => ['said', 'opens_next'].includes(step)).map(({ detail }) => detail),
            [`${from}T09:00:00+00:00`, 'opens']);
    });

    it('are opened by a timer at once, and logged', async () => {
        const person = await resident(client, { tone: '9' });
        const made = await grant(person, { type: 'timer', expires_in_minutes: 5, label: 'Party' });
        opened(await ring(person), '9');
        const [entry] = await log(person);
        assert.deepEqual([entry.type, entry.unlock_id, entry.unlock_type, entry.name, entry.succeeded], ['unlock', made.id, 'timer', 'Party', true]);
    });

    for (const [how, options] of [['RFC 4733 events', []], ['tones in the audio', ['--inband']], ['SIP INFO', ['--info']]]) {
        for (const transport of ['UDP', 'TCP']) {
            // CLI-6
            it(`are opened by a code pressed as ${how}, over ${transport}`, async () => {
                const person = await withCode('#0');
                const to = transport === 'TCP' ? ['--sip', `tcp:${w.daemon.sip.slice(4)}`] : [];
                opened(await ring(person, '--digits', '1234', ...options, ...to), '#0');
                const [entry] = await log(person);
                assert.deepEqual([entry.name, entry.succeeded], ['Visitor', true]);
            });
        }
    }

    // CALL-23
    it('leave one line in the log: source, dialled number, keys, decision', async () => {
        const line = (rest) => w.daemon.logged(new RegExp(`info call source=udp:127\\.0\\.0\\.1:\\d+ caller=\\+15557654321 ${rest} id=\\S+\n`));
        for (const [option, keys] of [['--delay=0', 'events=4 tones=0 infos=0'], ['--inband', 'events=0 tones=4 infos=0'], ['--info', 'events=0 tones=0 infos=4']]) {
            const person = await withCode('9');
            opened(await ring(person, '--digits', '1234', ...option.split('=')), '9');
            assert.ok(await line(`dialled=\\${person.number} building=${person.building.id} keys=4 ${keys} spoken=0 wrong=0 `
                + `decision=released reason=passcode grant=${person.made.id} tone=\\w+ ended=released duration_ms=\\d+`), `${keys}\n${w.daemon.stderr.slice(-2000)}`);
        }
        notOpened(await buzz(w.daemon, '5551112222'));
        assert.ok(await line('dialled=5551112222 number=\\+5551112222 keys=0 events=0 tones=0 infos=0 spoken=0 wrong=0 decision=rejected reason=unknown_number ended=rejected status=404 duration_ms=\\d+'));
    });

    it('leave a line also when they are refused at once', async () => {
        const socket = createSocket('udp4').bind(0, '127.0.0.1');
        await new Promise((done) => { socket.on('listening', done); });
        const at = `127.0.0.1:${socket.address().port}`;
        socket.send([`INVITE sip:+15550100000@${w.daemon.sip.slice(4)} SIP/2.0`, `Via: SIP/2.0/UDP ${at};branch=z9hG4bKrefused`, 'Max-Forwards: 70',
            'From: <sip:box@example.com>;tag=1', 'To: <sip:+15550100000@example.com>', 'Call-ID: refused', 'CSeq: 1 INVITE', `Contact: <sip:${at}>`,
            'Content-Type: text/plain', 'Content-Length: 2', '', 'hi'].join('\r\n'), w.daemon.sipPort, '127.0.0.1');
        assert.ok(await w.daemon.logged(new RegExp(`info call source=udp:${at} caller=box dialled=\\+15550100000 keys=0 .* ended=rejected status=415 .* id=refused\n`)));
        socket.close();
    });

    it('send every tone of the keypad as the release tone', async () => {
        const tones = ['123', '456', '789', '*0#', '111'];
        await Promise.all(tones.map(async (tone) => {
            const person = await resident(client, { tone });
            await grant(person, { type: 'timer', expires_in_minutes: 5 });
            opened(await ring(person), tone);
        }));
    });

    it('take short codes, ended by # or by a pause, each key once', async () => {
        const person = await resident(client, { tone: '9' });
        for (const code of ['7', '77', '777']) await grant(person, { type: 'passcode', access_code: code });
        for (const digits of ['7#', '77#', '777#', '77']) opened(await ring(person, '--digits', digits), '9');
    });

    it('are opened at the second try, in one call', async () => {
        const person = await withCode('9');
        opened(await ring(person, '--digits', '1111,1234'), '9');
        assert.deepEqual((await log(person)).map((entry) => entry.name).sort(), ['Visitor', 'Wrong passcode']);
    });

    it('are not opened after three wrong codes', async () => {
        const person = await withCode('9');
        notOpened(await ring(person, '--digits', '1111,2222,3333,1234'));
        assert.deepEqual((await log(person)).map((entry) => entry.name).sort(), ['Forwarded call', 'Wrong passcode', 'Wrong passcode', 'Wrong passcode']);
    });

    it('are not opened by silence', async () => {
        const person = await withCode('9');
        notOpened(await ring(person));
        assert.deepEqual((await log(person)).map((entry) => entry.type), ['call']);
    });

    it('are not opened by a grant that is used up', async () => {
        const person = await withCode('9', { remaining_uses: 1 });
        opened(await ring(person, '--digits', '1234'), '9');
        notOpened(await ring(person, '--digits', '1234'));
    });

    it('use a last use once when six ring at the same moment', async () => {
        const person = await withCode('9', { remaining_uses: 1 });
        const calls = await Promise.all(Array.from({ length: 6 }, () => ring(person, '--digits', '1234')));
        assert.deepEqual(calls.map((call) => call.status).sort(), [0, 3, 3, 3, 3, 3]);
        assert.equal(ok(await person.client.get(`/v1/unlock/${person.made.id}`)).remaining_uses, 0);
        assert.equal((await log(person)).filter((entry) => entry.succeeded && entry.type === 'unlock').length, 1);
    });

    it('are forwarded at once while the brute-force guard is closed', async () => {
        const person = await withCode('9');
        notOpened(await ring(person, '--digits', '1111,2222,3333'));
        notOpened(await ring(person, '--digits', '4444,5555,1234'));
        notOpened(await ring(person, '--digits', '1234'));
        const entries = await log(person);
        assert.equal(entries.filter((entry) => entry.name === 'Wrong passcode').length, 5);
        assert.equal(entries.filter((entry) => entry.type === 'call').length, 3);
    });

    // CLI-6
    it('hear the greetings, which a key cuts short', async () => {
        const person = await withCode('9');
        const path = `/v1/buildings/${person.building.id}/settings`;
        const { headers } = await person.client.get(path);
        ok(await person.client.patch(path, { greeting_welcome: 'Welcome to the house at the end of the road. Please enter your code.', greeting_granted: 'Come in.' },
            { headers: { 'If-Match': headers.etag } }));
        opened(await ring(person, '--digits', '1234'), '9');
        opened(await ring(person, '--digits', '1234', '--delay', '300'), '9');
    });

    // SQLite's writer gives up after 2 s, which is too short to tell.
    if (engine === 'postgresql') it('count no key while a code is being checked, however long that takes', async () => {
        const slow = await world({ config: QUICK });
        const person = await resident(slow.client, { tone: '9' });
        await grant(person, { type: 'passcode', access_code: '1234' });
        const call = startBuzz(slow.daemon, person.number, '--digits', '1111,2222,1234');
        await call.answered;
        const { unlocked } = await lockTable(slow.daemon, 'activity', 4);
        opened(await call.ended, '9');
        await unlocked;
        assert.equal((await log(person)).filter((entry) => entry.name === 'Wrong passcode').length, 2);
        await slow.close();
    });

    it('leave a line in the service\'s log, but no entry, when the caller hangs up before the decision', async () => {
        const person = await withCode('9');
        const call = await ring(person, '--timeout', '6'); // in time to be answered, and less than the 8 s of silence that end a call
        notOpened(call);
        assert.deepEqual(call.heard, ['answered', 'timeout']);
        assert.match(call.stderr, /^portero: hung up after 6 s, the limit of --timeout$/m);
        assert.ok(await w.daemon.logged(new RegExp(`dialled=\\${person.number} building=${person.building.id} keys=0 .* decision=none reason=no_code ended=hung_up duration_ms=\\d+`)));
        assert.deepEqual(await log(person), []);
    });

    it('to a building without a subscription are forwarded', async () => {
        const person = await withCode('9');
        await setSubscription(client, person.email, 'canceled');
        notOpened(await ring(person, '--digits', '1234'));
        assert.deepEqual((await log(person)).map((entry) => entry.type), ['call']);
    });
});

describe('a call in progress', () => {
    it('is completed when the service stops', async () => {
        const w = await world({ config: QUICK });
        const person = await resident(w.client, { tone: '9' });
        await grant(person, { type: 'passcode', access_code: '1234' });
        const call = startBuzz(w.daemon, person.number, '--digits', '1234', '--delay', '1000');
        await call.answered;
        const [end, heard] = await Promise.all([w.daemon.terminate(), call.ended]);
        assert.deepEqual(end, { code: 0, signal: null });
        assert.equal(heard.status, 0, heard.stdout + heard.stderr);
        assert.deepEqual(heard.heard, ['answered', 'tone 9', 'hangup']);
        await w.daemon.start();
        assert.deepEqual(ok(await person.client.get('/v1/logs')).data.map((entry) => entry.succeeded), [true]);
        await w.close();
    });
});

describe('a call to a service', () => {
    let directory;
    let names;
    before(() => {
        directory = temporaryDirectory();
        names = ownNames(directory);
    });
    after(() => rmSync(directory, { recursive: true, force: true }));

    const call = (sip, ...options) => portero(['buzz', '--to', '+15550198766', '--sip', sip, ...options], { env: names.env });

    it('on 127.0.0.1 only is reached by a name whose first address is ::1, over UDP and TCP', async () => {
        const w = await world({ config: QUICK });
        const port = w.daemon.sip.split(':').at(-1);
        for (const sip of [`localhost:${port}`, `tcp:localhost:${port}`]) {
            const done = call(sip);
            assert.deepEqual([done.status, done.stdout, done.stderr], [3, 'rejected 404\n', ''], sip);
        }
        await w.close();
    });

    it('that does not run fails at once, at any address', async () => {
        const socket = createSocket('udp4').bind(0, '127.0.0.77');
        await new Promise((done) => { socket.on('listening', done); });
        const { port } = socket.address(); // which keeps the port free
        for (const sip of [`localhost:${port}`, `tcp:localhost:${port}`]) {
            const done = call(sip);
            assert.equal(done.status, 1, sip);
            assert.equal(done.stderr, 'portero: no response from any address of localhost: Connection refused\n');
        }
        socket.close();
    });

    it('that does not respond gives the caller advice soon, then an error', async () => {
        const socket = createSocket('udp4').bind(0, '127.0.0.1');
        await new Promise((done) => { socket.on('listening', done); });
        const at = `127.0.0.1:${socket.address().port}`;
        const done = call(at);
        assert.deepEqual([done.status, done.stdout], [1, '']);
        const [advice, end] = done.stderr.replaceAll(/ after \d+ s/g, '').split('\n');
        assert.equal(advice, `portero: no response from ${at}: is the service running, is --sip right, does a firewall drop UDP?`);
        assert.equal(end, `portero: no response from ${at}`);
        socket.close();
    });
});
