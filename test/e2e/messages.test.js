// Messages that visitors leave when nobody answers: docs/telephony.md, "Messages".
import { describe, it, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ok, refused } from './lib/client.js';
import { buzz, BOX, QUICK } from './lib/phone.js';
import { purity, tone } from './lib/wav.js';
import { agent, changeSettings, eventually, message, resident, signIn, visit, world } from './lib/world.js';

describe('messages', { concurrency: 4 }, () => {
    let w;
    let directory;
    before(async () => {
        directory = mkdtempSync(join(tmpdir(), 'portero-message-'));
        w = await world({ config: { ...QUICK, voice: { ...QUICK.voice, speech_cache_mb: 0 } } });
    });
    after(async () => {
        await w?.close();
        rmSync(directory, { recursive: true, force: true });
    });

    const withMessages = async (taken) => {
        const person = await resident(w.client, { tone: '9' });
        await changeSettings(person, { ring: { message: taken } });
        return person;
    };
    const recorded = (person) => eventually(async () => {
        const [call] = ok(await person.client.get('/v1/calls')).data;
        return call?.ended_at ? ok(await person.client.get(`/v1/calls/${call.id}`)) : null;
    }, 'the record of the call');
    const leave = async (person, seconds) => {
        const file = join(directory, `${seconds}.wav`);
        writeFileSync(file, tone(seconds));
        await buzz(w.daemon, person.number, '--wav', file);
        return recorded(person);
    };

    // CALL-39, CALL-41
    it('are kept with the call, and sent to the owner', async () => {
        const person = await withMessages(true);
        const call = await leave(person, 4);
        assert.ok(call.message_seconds >= 2 && call.message_seconds <= 5, `${call.message_seconds} s`);
        assert.ok(call.steps.some(({ step, detail }) => step === 'message' && detail === `${call.message_seconds}s`));
        const answer = await person.client.get(`/v1/calls/${call.id}/message`);
        assert.deepEqual([answer.status, answer.headers['content-type']], [200, 'audio/wav']);
        assert.deepEqual(ok(await person.client.get('/v1/calls')).data.map((one) => one.message_seconds), [call.message_seconds]);
        const { client, id } = await agent(person, undefined, { name: 'Courier' });
        for (const who of [person.client, client, client]) assert.equal((await who.get(`/v1/calls/${call.id}/message`)).status, 200);
        const { steps } = ok(await person.client.get(`/v1/calls/${call.id}`));
        const fetched = steps.filter(({ step }) => step === 'message_fetched');
        assert.deepEqual(fetched.map(({ key_name: name }) => name), ['Website session', 'Courier']);
        assert.equal(fetched[1].key_id, id);
        const wav = answer.bytes;
        assert.equal(wav.toString('latin1', 0, 4), 'RIFF');
        assert.ok(purity(wav) > 0.8, `${purity(wav)}`);
        const mail = await eventually(async () => {
            const found = await message(w.client, person.email);
            return found.subject === 'A visitor left a message' ? found : null;
        }, 'the mail');
        assert.ok(mail.text.includes(`The call came from ${BOX}.`), mail.text);
    });

    // SANDBOX-14
    it('are a tone in the sandbox, kept and sent like others', async () => {
        const person = await withMessages(true);
        const left = await visit(w.client, { to: person.number, resident: 'busy', message_seconds: 7 });
        assert.deepEqual([left.message_seconds, left.said.at(-1)], [7, 'Nobody answers. Please leave a message after the tone. It is recorded, sent to the resident and kept for 30 days.']);
        assert.ok(left.duration_ms >= 10_000 && left.duration_ms < 12_000, `${left.duration_ms}`);
        const call = await recorded(person);
        assert.deepEqual([call.message_seconds, call.steps.slice(-2).map(({ step, detail }) => `${step} ${detail}`)], [7, ['message 7s', 'ended service']]);
        const { bytes } = await person.client.get(`/v1/calls/${left.call_id}/message`);
        assert.deepEqual([bytes.toString('latin1', 8, 12), bytes.length], ['WAVE', 44 + 7 * 16000]);
        await eventually(async () => (await message(w.client, person.email)).subject === 'A visitor left a message', 'the mail');
        assert.equal((await visit(w.client, { to: person.number })).message_seconds, null);
        const unwanted = await withMessages(false);
        assert.equal((await visit(w.client, { to: unwanted.number, message_seconds: 7 })).message_seconds, null);
        refused(await w.client.as(undefined).post('/sandbox/calls', { to: person.number, message_seconds: 31 }), 400, 'BAD_REQUEST');
    });

    it('are another account\'s secret', async () => {
        const person = await withMessages(true);
        const call = await leave(person, 3);
        const stranger = await signIn(w.client);
        refused(await stranger.client.get(`/v1/calls/${call.id}/message`), 404, 'NOT_FOUND');
    });

    it('need speech', async () => {
        const person = await withMessages(true);
        await buzz(w.daemon, person.number);
        const call = await recorded(person);
        assert.equal(call.message_seconds, null);
        refused(await person.client.get(`/v1/calls/${call.id}/message`), 404, 'NOT_FOUND');
    });

    it('are not taken unless the building wants them', async () => {
        const person = await withMessages(false);
        const call = await leave(person, 2);
        assert.equal(call.message_seconds, null);
        assert.ok(!call.steps.some(({ step }) => step === 'message'));
    });
});
