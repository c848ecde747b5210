// Telephones as they are in the field: lines that attenuate high tones, slow fingers, NAT, all addresses of a machine,
// extensions; and the trace of their messages.
// engine: sqlite, because it tests telephones
import { describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ok } from './lib/client.js';
import { binary, cleanEnvironment, temporaryDirectory } from './lib/daemon.js';
import { buzz, QUICK, sipp, wav } from './lib/phone.js';
import { changeSettings, grant, resident, useWorld, world } from './lib/world.js';

const RATE = 8000;
const LOW = [697, 770, 852, 941];
const HIGH = [1209, 1336, 1477];
const KEYS = '123456789*0#';

/** A WAV file with keys of `ms` each, the high tone `twist` dB over the low one, in noise; silence before and after. */
function keys(digits, { ms, twist }) {
    const samples = [];
    const noise = () => Math.trunc((Math.random() - 0.5) * 600); // about 20 dB below the keys
    const silent = (length) => { for (let i = 0; i < length * (RATE / 1000); i++) samples.push(noise()); };
    silent(1000);
    for (const digit of digits) {
        const at = KEYS.indexOf(digit);
        const ratio = 10 ** (twist / 20);
        const [low, high] = [5000 / Math.max(1, ratio), (5000 / Math.max(1, ratio)) * ratio];
        for (let i = 0; i < (ms * RATE) / 1000; i++) {
            const t = (2 * Math.PI * i) / RATE;
            samples.push(Math.trunc(low * Math.sin(t * LOW[Math.floor(at / 3)]) + high * Math.sin(t * HIGH[at % 3])) + noise());
        }
        silent(150);
    }
    silent(1500);
    const file = join(temporaryDirectory(), `keys-${ms}-${twist}.wav`);
    writeFileSync(file, wav(samples));
    return file;
}

const withCode = async (w, access_code = '1234') => {
    const person = await resident(w.client, { tone: '9' });
    await grant(person, { type: 'passcode', access_code, label: 'Visitor' });
    return person;
};

describe('a telephone in the field', { concurrency: 6 }, () => {
    const w = useWorld({ config: QUICK });

    for (const [ms, twist] of [[100, -8], [40, -8], [100, -4], [40, 4], [100, 4]]) {
        // PHONE-41
        it(`presses keys of ${ms} ms whose high tone is ${twist} dB over the low one`, async () => {
            const person = await withCode(w);
            const call = await buzz(w.daemon, person.number, '--wav', keys('1234', { ms, twist }));
            assert.equal(call.tones, '9', call.stdout + call.stderr);
        });
    }

    for (const how of ['events', 'tones']) {
        it(`holds each key for 3 s, as ${how}`, async () => {
            const person = await withCode(w, '27');
            const call = await buzz(w.daemon, person.number, '--digits', '27#', '--tone', '3000', ...(how === 'tones' ? ['--inband'] : []));
            assert.equal(call.tones, '9', call.stdout + call.stderr);
            const [entry, ...more] = ok(await person.client.get('/v1/logs')).data;
            assert.deepEqual([entry.succeeded, more], [true, []]);
        });
    }

    for (const transport of ['u1', 't1']) {
        it(`is hung up on behind NAT, over ${transport === 'u1' ? 'UDP' : 'TCP'}`, async () => {
            const person = await withCode(w);
            await sipp(w.daemon, 'nat', person.number, { transport });
            assert.equal(ok(await person.client.get('/v1/logs')).data[0].succeeded, true);
        });
    }

    it('gets the release tone before the greeting, if the building wants that', async () => {
        const person = await withCode(w);
        await changeSettings(person, { greeting_granted: 'Welcome.', release: { before_greeting: true } });
        assert.equal((await buzz(w.daemon, person.number, '--digits', '1234')).tones, '9');
        const { id } = ok(await person.client.get('/v1/calls')).data[0];
        const steps = ok(await person.client.get(`/v1/calls/${id}`)).steps.map(({ step, detail }) => (step === 'said' ? `said ${detail}` : step));
        assert.deepEqual(steps.slice(-4, -1), ['released', 'tone_sent', 'said granted']);
    });
});

describe('a service', () => {
    // PHONE-8
    it('on all addresses of the machine answers at its IPv4 and IPv6 addresses', async () => {
        const w = await world({ config: QUICK, args: ['--https', '127.0.0.1:0', '--http', '127.0.0.1:0', '--sip', '[::]:0'] });
        try {
            const port = w.daemon.sip.slice(w.daemon.sip.lastIndexOf(':') + 1);
            for (const host of ['127.0.0.1', '[::1]', 'tcp:127.0.0.1', 'tcp:[::1]']) {
                const person = await withCode(w);
                const call = await buzz({ sip: `${host}:${port}` }, person.number, '--digits', '1234');
                assert.equal(call.tones, '9', `${host} ${call.stdout}${call.stderr}`);
            }
        } finally {
            await w.close();
        }
    });

    // BUILDING-29
    it('takes calls to an extension', async () => {
        const w = await world({ config: { ...QUICK, numbers: { provider: 'pool' } } });
        try {
            const admin = spawnSync(binary, ['admin', 'number', 'add', '4711', '--data', w.daemon.data, '--config', w.daemon.configPath], { encoding: 'utf8', env: cleanEnvironment() });
            assert.equal(admin.status, 0, admin.stderr);
            const person = await withCode(w);
            assert.equal(person.number, '4711');
            assert.equal((await buzz(w.daemon, '4711', '--digits', '1234')).tones, '9');
        } finally {
            await w.close();
        }
    });

    it('writes its SIP messages to a file that its owner alone reads, without keys', async () => {
        const trace = join(temporaryDirectory(), 'sip.trace');
        const w = await world({ config: QUICK, args: ['--https', '127.0.0.1:0', '--http', '127.0.0.1:0', '--sip', '127.0.0.1:0', '--sip-trace', trace] });
        try {
            const person = await withCode(w);
            await sipp(w.daemon, 'info', person.number);
        } finally {
            await w.close();
        }
        const text = readFileSync(trace, 'utf8');
        assert.equal(statSync(trace).mode & 0o777, 0o600);
        for (const line of [/^INVITE sip:/m, /^SIP\/2\.0 200 /m, /^BYE sip:/m, / in UDP 127\.0\.0\.1:\d+ > 127\.0\.0\.1:\d+ \d+ bytes$/m, / out UDP /m]) assert.match(text, line);
        assert.equal(text.match(/^INFO sip:/mg).length, 4);
        assert.doesNotMatch(text, /Signal= ?\d/);
    });
});
