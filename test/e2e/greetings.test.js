// Greetings as a visitor hears them. baresip records the call, and flite's own command speaks the same text: neither
// shares code with us.
import { describe, it, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ok } from './lib/client.js';
import { portero, temporaryDirectory } from './lib/daemon.js';
import { address, Baresip, buzz, QUICK } from './lib/phone.js';
import { eventually, grant, resident, world } from './lib/world.js';

const WELCOME = 'Please enter your code now.';

/** The samples of a WAV file of 16 bits, mono, and its rate. */
function readWav(bytes) {
    for (let at = 12, rate; at + 8 <= bytes.length; at += 8 + bytes.readUInt32LE(at + 4)) {
        const name = bytes.toString('latin1', at, at + 4);
        if (name === 'fmt ') rate = bytes.readUInt32LE(at + 12);
        if (name !== 'data') continue;
        const end = Math.min(bytes.length, at + 8 + bytes.readUInt32LE(at + 4));
        return { rate, samples: Float64Array.from({ length: (end - at - 8) >> 1 }, (_, i) => bytes.readInt16LE(at + 8 + 2 * i)) };
    }
    throw new Error('no audio');
}

/** The samples of a WAV file of mu-law, 8 kHz, mono (ITU-T G.711). */
function readUlaw(bytes) {
    assert.equal(bytes.readUInt16LE(20), 7);
    assert.equal(bytes.readUInt32LE(24), 8000);
    const at = bytes.indexOf('data') + 8;
    return Float64Array.from(bytes.subarray(at, at + bytes.readUInt32LE(at - 4)), (byte) => {
        const u = ~byte & 0xff;
        const size = (((u & 15) << 3) + 132 << (u >> 4 & 7)) - 132;
        return u & 128 ? -size : size;
    });
}

function writeWav(samples, rate) {
    const bytes = Buffer.alloc(44 + 2 * samples.length);
    bytes.write('RIFF', 0);
    bytes.writeUInt32LE(36 + 2 * samples.length, 4);
    bytes.write('WAVEfmt ', 8);
    for (const [value, at, size] of [[16, 16, 4], [1, 20, 2], [1, 22, 2], [rate, 24, 4], [2 * rate, 28, 4], [2, 32, 2], [16, 34, 2]]) bytes.writeUIntLE(value, at, size);
    bytes.write('data', 36);
    bytes.writeUInt32LE(2 * samples.length, 40);
    samples.forEach((sample, i) => bytes.writeInt16LE(sample, 44 + 2 * i));
    return bytes;
}

/** Every second sample of the lower half of the band. */
function halve(samples) {
    const taps = Array.from({ length: 63 }, (_, i) => {
        const x = (i - 31) * Math.PI / 2;
        return (x ? Math.sin(x) / x : 1) / 2 * (0.54 - 0.46 * Math.cos(2 * Math.PI * i / 62));
    });
    return Float64Array.from({ length: samples.length >> 1 }, (_, n) => taps.reduce((sum, tap, i) => sum + tap * (samples[2 * n + i - 31] ?? 0), 0));
}

/** The text as flite's command speaks it, at 8 kHz, without the silence around it. */
function flite(text) {
    const file = join(temporaryDirectory(), 'flite.wav');
    const done = spawnSync('flite', ['-voice', 'rms', '-t', text, '-o', file], { encoding: 'utf8' });
    assert.equal(done.status, 0, done.stderr);
    const { rate, samples } = readWav(readFileSync(file));
    rmSync(join(file, '..'), { recursive: true });
    assert.equal(rate, 16000);
    const spoken = halve(samples);
    return spoken.slice(spoken.findIndex((s) => Math.abs(s) > 300), spoken.findLastIndex((s) => Math.abs(s) > 300));
}

/** How well the sound occurs anywhere in what was heard: 1 is perfect. */
function match(sound, heard) {
    const power = sound.reduce((sum, s) => sum + s * s, 0);
    let best = 0;
    for (let at = 0; at + sound.length <= heard.length; at++) {
        let product = 0;
        let theirs = 0;
        for (let i = 0; i < sound.length; i++) {
            product += sound[i] * heard[at + i];
            theirs += heard[at + i] * heard[at + i];
        }
        if (theirs) best = Math.max(best, product / Math.sqrt(power * theirs));
    }
    return best;
}

describe('a greeting that is saved', () => {
    // PHONE-46
    it('is prepared then, and not when a call needs it', async () => {
        const w = await world({ config: { ...QUICK, log_level: 'debug' } });
        try {
            const person = await resident(w.client);
            await grant(person, { type: 'passcode', access_code: '1234' });
            const prepared = () => w.daemon.stderr.match(/speech prepared .*/g) ?? [];
            await eventually(() => / waiting=0/.test(prepared().at(-1)), 'the texts of the start');
            const path = `/v1/buildings/${person.building.id}/settings`;
            const { headers } = await person.client.get(path);
            const texts = { greeting_welcome: 'Good day to you.', greeting_denied: 'This was another code.' };
            const before = prepared().length;
            ok(await person.client.patch(path, texts, { headers: { 'If-Match': headers.etag } }));
            await eventually(() => prepared().length === before + 2, 'the texts that were saved');
            const file = join(w.daemon.data, 'granted.recording');
            writeFileSync(file, writeWav(Float64Array.from({ length: 4000 }, (_, i) => 8000 * Math.sin(i)), 8000));
            const set = portero(['admin', 'greeting', 'set', '--building', person.building.id, '--which', 'granted', file,
                '--config', w.daemon.configPath, '--data', w.daemon.data]);
            assert.equal(set.status, 0, set.stderr);
            await eventually(() => prepared().length === before + 3, 'the recording');
            assert.match(prepared().at(-1), /recording/);
            const call = await buzz(w.daemon, person.number, '--digits', '9#,1234');
            assert.equal(call.tones, '9', call.stdout + call.stderr);
            assert.equal(prepared().length, before + 3);
        } finally {
            await w.close();
        }
    });
});

describe('greetings', () => {
    let w;
    let phone;
    before(async () => {
        w = await world({ config: { ...QUICK, greetings: { ...QUICK.greetings, welcome: WELCOME } } });
        phone = await Baresip.start({ record: true });
    });
    after(async () => {
        await phone?.stop();
        await w?.close();
    });

    const withCode = async () => {
        const person = await resident(w.client);
        await grant(person, { type: 'passcode', access_code: '1234' });
        return person;
    };
    /** Calls, listens for ms, does more, and hangs up: the audio that was heard. */
    const hear = async (person, ms, more = async () => {}) => {
        const from = phone.events.length;
        for (const file of readdirSync(phone.directory)) if (file.endsWith('.wav')) rmSync(join(phone.directory, file));
        phone.command('dial', `sip:${person.number}@${address(w.daemon)};transport=udp`);
        await phone.event('CALL_ESTABLISHED', from);
        await new Promise((done) => { setTimeout(done, ms); });
        await more();
        phone.command('hangup');
        await phone.event('CALL_CLOSED', from);
        const file = readdirSync(phone.directory).find((name) => name.endsWith('-dec.wav'));
        assert.ok(file, `baresip recorded nothing: ${phone.log.slice(-1000)}`);
        const { rate, samples } = readWav(readFileSync(join(phone.directory, file)));
        assert.equal(rate, 8000);
        return samples;
    };
    const admin = (...args) => portero(['admin', ...args, '--config', w.daemon.configPath, '--data', w.daemon.data]);

    // PHONE-45
    it('are speech, as flite\'s own command speaks them', async () => {
        const heard = await hear(await withCode(), 4000);
        assert.ok(match(flite(WELCOME), heard) > 0.8);
        assert.ok(match(flite('The weather is fine today.'), heard) < 0.5);
    });

    it('follow the building\'s settings from the next call on', async () => {
        const person = await withCode();
        const path = `/v1/buildings/${person.building.id}/settings`;
        const { headers } = await person.client.get(path);
        ok(await person.client.patch(path, { greeting_welcome: 'Hello, who is there?' }, { headers: { 'If-Match': headers.etag } }));
        assert.ok(match(flite('Hello, who is there?'), await hear(person, 4000)) > 0.8);
    });

    // PHONE-48
    it('can be tried before they are saved, and heard as they are', async () => {
        const person = await withCode();
        const path = `/v1/buildings/${person.building.id}/greetings/preview`;
        const preview = async (body) => {
            const answer = await person.client.post(path, body);
            assert.equal(answer.status, 200, answer.text);
            assert.equal(answer.headers['content-type'], 'audio/wav');
            return readUlaw(answer.bytes);
        };
        assert.ok(match(flite('Come up to the fifth floor.'), await preview({ greeting: 'granted', text: 'Come up to the fifth floor.' })) > 0.8);
        assert.ok(match(flite(WELCOME), await preview({ greeting: 'welcome' })) > 0.8);
        const file = join(phone.directory, 'granted.recording');
        const beep = Float64Array.from({ length: 8000 }, (_, i) => Math.round(8000 * Math.sin(i * i / 9000)));
        writeFileSync(file, writeWav(beep, 8000));
        assert.equal(admin('greeting', 'set', '--building', person.building.id, '--which', 'granted', file).status, 0);
        assert.ok(match(beep, await preview({ greeting: 'granted' })) > 0.95);
        const refused = async (body, code) => { const answer = await person.client.post(path, body); assert.equal(answer.body.error.code, code, answer.text); };
        await refused({ greeting: 'granted', text: 'x'.repeat(120) }, 'INVALID_GREETING');
        await refused({ greeting: 'granted', text: ' \u200b ' }, 'INVALID_GREETING');
        await refused({ greeting: 'other' }, 'INVALID_SETTINGS');
        const many = await Promise.all(Array.from({ length: 6 }, () => person.client.post(path, { greeting: 'denied', text: 'One after another, please, and not all at once.' })));
        for (const one of many) assert.ok(one.status === 200 || (one.status === 429 && one.headers['retry-after'] === '1'), one.text);
        assert.ok(many.some((one) => one.status === 200));
    });

    it('end at a key', async () => {
        const heard = await hear(await withCode(), 600, async () => {
            await phone.press('1');
            await new Promise((done) => { setTimeout(done, 1200); });
        });
        assert.ok(match(flite(WELCOME), heard) < 0.8);
        assert.ok(heard.slice(-6000).every((sample) => Math.abs(sample) < 50), 'still speaking after the key');
    });

    // PHONE-47
    it('are a recording if the operator set one, until it is removed', async () => {
        const person = await withCode();
        const file = join(phone.directory, 'welcome.recording');
        // A sweep, which is like no speech and matches nothing but itself.
        const sweep = (rate) => Float64Array.from({ length: 1.5 * rate }, (_, i) => Math.round(8000 * Math.sin(2 * Math.PI * (300 + 600 * i / rate) * i / rate)));
        writeFileSync(file, writeWav(sweep(44100), 44100));
        const set = admin('greeting', 'set', '--building', person.building.id, '--which', 'welcome', file);
        assert.equal(set.status, 0, set.stderr);
        assert.match(admin('greeting', 'list', '--building', person.building.id).stdout, /welcome/);
        assert.ok(match(sweep(8000), await hear(person, 3500)) > 0.95);
        assert.equal(admin('greeting', 'remove', '--building', person.building.id, '--which', 'welcome').status, 0);
        assert.ok(match(flite(WELCOME), await hear(person, 4000)) > 0.8);
        assert.match(admin('greeting', 'remove', '--building', person.building.id, '--which', 'welcome').stderr, /no such recording \(NOT_FOUND\)/);
    });

    it('are refused as recordings with the reason', async () => {
        const { building } = await withCode();
        const file = join(phone.directory, 'bad.recording');
        const refused = (content, reason) => {
            writeFileSync(file, content);
            const done = admin('greeting', 'set', '--building', building.id, '--which', 'denied', file);
            assert.equal(done.status, 1);
            assert.match(done.stderr, reason);
        };
        refused('not audio', /this is not a WAV file/);
        refused(writeWav(new Float64Array(100), 4000), /the sample rate is not between/);
        refused(writeWav(new Float64Array(21 * 8000), 8000), /the audio is longer than 20 seconds/);
        refused(writeWav(new Float64Array(8000), 8000), /the audio is silent/);
        assert.match(admin('greeting', 'set', '--building', 'f'.repeat(24), '--which', 'denied', join(phone.directory, 'absent')).stderr, /No such file/);
    });
});
