// Spoken codes over SIP: flite says a code into a call.
// engine: sqlite, because it tests telephones
import { describe, it, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ok } from './lib/client.js';
import { temporaryDirectory } from './lib/daemon.js';
import { buzz, QUICK } from './lib/phone.js';
import { endedCall, grant, resident, world } from './lib/world.js';

const RATE = 8000;

/** A WAV file, 8 kHz, in which flite says the text; `after` seconds of silence follow. */
function say(text, after = 3) {
    const file = join(temporaryDirectory(), `${text.replaceAll(' ', '-')}.wav`);
    const { status, stderr } = spawnSync('flite', ['-voice', 'rms', '-t', text, '-o', file], { encoding: 'utf8' });
    assert.equal(status, 0, stderr);
    const at16 = readFileSync(file).subarray(44);
    const sample = (i) => (i >= 0 && 2 * i + 1 < at16.length ? at16.readInt16LE(2 * i) : 0);
    const n = Math.floor(at16.length / 4);
    const pcm = Buffer.alloc(2 * (n + Math.round((1 + after) * RATE))); // a second before
    for (let i = 0; i < n; i++) pcm.writeInt16LE(Math.trunc((sample(2 * i - 1) + 2 * sample(2 * i) + sample(2 * i + 1)) / 4), 2 * (RATE + i));
    for (let i = 0; i < pcm.length; i += 2) pcm.writeInt16LE(Math.max(-32768, Math.min(32767, pcm.readInt16LE(i) + ((i * 7919) % 41) - 20)), i); // a little noise
    const head = Buffer.alloc(44);
    head.write('RIFF', 0);
    head.writeUInt32LE(36 + pcm.length, 4);
    head.write('WAVEfmt ', 8);
    [[16, 16], [RATE, 24], [2 * RATE, 28], [pcm.length, 40]].forEach(([value, offset]) => head.writeUInt32LE(value, offset));
    [[1, 20], [1, 22], [2, 32], [16, 34]].forEach(([value, offset]) => head.writeUInt16LE(value, offset));
    head.write('data', 36);
    writeFileSync(file, Buffer.concat([head, pcm]));
    return file;
}

describe('spoken codes', () => {
    let w;
    before(async () => {
        w = await world({ config: { ...QUICK, voice: { ...QUICK.voice, spoken_codes: true, spoken_wait_s: 60 } } });
        await w.daemon.logged(/info spoken codes are on\n/);
    });
    after(() => w?.close());

    const withCode = async (access_code, enter_code_with_voice) => {
        const person = await resident(w.client, { tone: '9' });
        await grant(person, { type: 'passcode', access_code, label: 'Visitor', enter_code_with_voice });
        return person;
    };
    const line = (person) => w.daemon.logged(new RegExp(`info call .*dialled=\\${person.number} .*\n`));

    it('open the door', async () => {
        const person = await withCode('9751', true);
        const call = await buzz(w.daemon, person.number, '--wav', say('nine seven five one'));
        assert.equal(call.status, 0, call.stdout + call.stderr + w.daemon.stderr.slice(-2000));
        assert.match(String(await line(person)), / spoken=1 wrong=0 decision=released reason=passcode /);
        const [entry] = ok(await person.client.get('/v1/logs')).data;
        assert.deepEqual([entry.name, entry.succeeded], ['Visitor', true]);
        assert.doesNotMatch(w.daemon.stderr, /9751/);
    });

    it('that are wrong do not open it', async () => {
        const person = await withCode('4268', true);
        const call = await buzz(w.daemon, person.number, '--wav', say('nine seven five one'));
        assert.equal(call.status, 3, call.stdout + call.stderr);
        assert.match(String(await line(person)), / decision=forwarded /);
    });

    it('do not count where no passcode may be spoken', async () => {
        const person = await withCode('9751', false);
        const call = await buzz(w.daemon, person.number, '--wav', say('nine seven five one'));
        assert.equal(call.status, 3, call.stdout + call.stderr);
        assert.match(String(await line(person)), / spoken=0 wrong=0 /);
    });

    it('are dropped when a key is pressed', async () => {
        const person = await withCode('9751', true);
        const call = await buzz(w.daemon, person.number, '--wav', say('nine seven', 0.1), '--wait', '100', '--digits', '9751');
        assert.equal(call.status, 0, call.stdout + call.stderr);
        assert.match(String(await line(person)), / keys=4 .* spoken=0 wrong=0 decision=released /);
        const steps = (await endedCall(person)).steps.map(({ step }) => step);
        assert.ok(!steps.includes('unclear'), steps.join(' ')); // nothing was judged
    });
});

describe('without acoustic models', () => {
    it('the service starts, says so in the log, and understands keys', async () => {
        const w = await world({ config: { ...QUICK, voice: { ...QUICK.voice, spoken_codes: true, spoken_english_model: '/nonexistent' } } });
        try {
            await w.daemon.logged(/warn spoken codes are off: no acoustic model in \/nonexistent\n/);
            const person = await resident(w.client, { tone: '9' });
            await grant(person, { type: 'passcode', access_code: '9751', label: 'Visitor', enter_code_with_voice: true });
            assert.equal((await buzz(w.daemon, person.number, '--digits', '9751')).status, 0);
        } finally {
            await w.close();
        }
    });
});
