// Recorded greetings over Twilio: what it is told to play, and who may fetch the audio.
import { after, describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ok } from './lib/client.js';
import { portero, temporaryDirectory } from './lib/daemon.js';
import { PUBLIC_URL, Twiml, verbs } from './lib/twiml.js';
import { purity, tone } from './lib/wav.js';
import { advance, changeSettings, grant, resident, signIn, useWorld, visit } from './lib/world.js';

const DAY_S = 86400;

/** The samples of a WAV file of mu-law, mono, 8 kHz. */
function decode(wav) {
    assert.deepEqual([wav.toString('latin1', 0, 4), wav.readUInt32LE(4), wav.toString('latin1', 8, 16)], ['RIFF', wav.length - 8, 'WAVEfmt ']);
    assert.deepEqual([wav.readUInt16LE(20), wav.readUInt16LE(22), wav.readUInt32LE(24), wav.readUInt16LE(34)], [7, 1, 8000, 8]);
    assert.deepEqual([wav.readUInt32LE(16), wav.toString('latin1', 38, 42), wav.toString('latin1', 50, 54)], [18, 'fact', 'data']);
    const audio = wav.subarray(58, 58 + wav.readUInt32LE(54));
    return Int16Array.from(audio, (byte) => {
        const value = ~byte & 0xff;
        const sample = (((value & 15) << 3) + 132 << (value >> 4 & 7)) - 132;
        return value & 128 ? -sample : sample;
    });
}

describe('a recorded greeting over Twilio', () => {
    const twilio = new Twiml();
    const w = useWorld({ config: twilio.config });
    const { client } = w;
    const directory = temporaryDirectory();
    after(() => {
        twilio.close();
        rmSync(directory, { recursive: true });
    });

    const admin = (...args) => {
        const done = portero(['admin', 'greeting', ...args, '--config', w.daemon.configPath, '--data', w.daemon.data]);
        assert.equal(done.status, 0, done.stderr);
    };
    const record = (person, which, seconds) => {
        const file = join(directory, `${which}.wav`);
        writeFileSync(file, tone(seconds));
        admin('set', '--building', person.building.id, '--which', which, file);
    };
    const call = (person, options = {}) => {
        twilio.daemon = w.daemon;
        return twilio.call({ to: person.number, from: '+15550001111', ...options });
    };
    const host = async () => {
        const person = await resident(client);
        await grant(person, { type: 'passcode', access_code: '4793' });
        return person;
    };
    const fetch = (address, { method = 'GET', headers } = {}) => client.as(undefined).request(method, address.slice(PUBLIC_URL.length), { headers, check: false });

    it('is played in place of the text, and a key ends it', async () => {
        const person = await host();
        record(person, 'welcome', 2);
        const heard = await call(person, { digits: '4793' });
        const [gather] = verbs(heard.documents[0]);
        assert.deepEqual([gather.name, gather.children.map(({ name }) => name)], ['Gather', ['Play']]);
        assert.deepEqual([heard.said[1], heard.tones], ['Welcome. The door is open.', '9']);
        const { status, headers, bytes } = await fetch(heard.said[0]);
        assert.deepEqual([status, headers['content-type']], [200, 'audio/wav']);
        const samples = decode(bytes);
        assert.ok(Math.abs(samples.length - 16000) < 200, `${samples.length}`);
        const pcm = Buffer.concat([Buffer.alloc(44), Buffer.from(samples.buffer)]);
        assert.ok(purity(pcm) > 0.99);
        for (const which of ['granted', 'denied', 'forwarding']) record(person, which, 1);
        const all = [...(await call(person, { digits: '11114793' })).said, ...(await call(person)).said];
        for (const address of all.filter((text) => text !== 'Nobody can take your call right now. Goodbye.')) assert.equal((await fetch(address)).status, 200, address);
    });

    // PHONE-59
    it('may be cached for a day, under an address that all calls of the day have', async () => {
        const person = await host();
        record(person, 'welcome', 1);
        const [address] = (await call(person, { digits: '4793' })).said;
        const { headers, bytes } = await fetch(address);
        assert.equal(headers['cache-control'], 'max-age=86400');
        assert.match(headers.etag, /^"[0-9a-f]{24}"$/);
        const head = await fetch(address, { method: 'HEAD' });
        assert.deepEqual([head.status, head.headers['content-type'], head.headers['content-length'], head.bytes.length], [200, 'audio/wav', String(bytes.length), 0]);
        const known = await fetch(address, { headers: { 'If-None-Match': `"other", W/${headers.etag}` } });
        assert.deepEqual([known.status, known.headers.etag, known.bytes.length], [304, headers.etag, 0]);
        const until = Number(new URL(address).searchParams.get('until'));
        assert.equal(until % DAY_S, 0);
        record(person, 'welcome', 1);
        assert.notEqual((await call(person, { digits: '4793' })).said[0], address);
    });

    // PHONE-59
    it('is refused to all who have no address, or an old one', async () => {
        const person = await host();
        record(person, 'welcome', 1);
        const [address] = (await call(person, { digits: '4793' })).said;
        const id = /greeting\/([0-9a-f]{24})/.exec(address)[1];
        const forged = [
            address.replace(id, 'f'.repeat(24)), address.replace(/.$/, (c) => (c === '0' ? '1' : '0')), address.replace(/until=\d/, 'until=9'), address.replace(/&mac.*/, ''),
            address.replace(/\?.*/, ''), address.replace(/mac=/, 'mac=0'), address.replace(/mac=../, 'mac=zz'), address.replace(/until=\d+/, 'until=99999999999999999999'),
        ];
        for (const url of forged) {
            const answer = await fetch(url);
            assert.deepEqual([answer.status, answer.headers['cache-control']], [404, 'no-store'], url);
        }
        assert.equal((await fetch(address)).status, 200);
        await advance(client, 2 * DAY_S);
        assert.equal((await fetch(address)).status, 404);
        const again = await signIn(client, person.email);
        await grant(again, { type: 'passcode', access_code: '5814' });
        assert.equal((await fetch((await call(person, { digits: '5814' })).said[0])).status, 200);
    });

    // SANDBOX-14
    it('is named by the sandbox, which has no sound', async () => {
        const person = await host();
        record(person, 'granted', 1);
        const { said, recorded } = await visit(client, { to: person.number, digits: '4793' });
        assert.deepEqual([said.length, recorded], [2, said.slice(1)]);
    });

    // PHONE-59
    it('that was removed during the call is a moment of silence, and a text from the next call on', async () => {
        const person = await host();
        record(person, 'welcome', 1);
        const [address] = (await call(person, { digits: '4793' })).said;
        admin('remove', '--building', person.building.id, '--which', 'welcome');
        const { status, headers, bytes } = await fetch(address);
        assert.deepEqual([status, headers['cache-control']], [200, 'no-store']);
        assert.ok(decode(bytes).every((sample) => sample === 0));
        assert.match((await call(person, { digits: '4793' })).said[0], /^Please enter/);
        record(person, 'welcome', 1);
        await changeSettings(person, { greeting_welcome: '' });
        assert.deepEqual((await call(person, { digits: '4793' })).said, ['Welcome. The door is open.']);
    });
});
