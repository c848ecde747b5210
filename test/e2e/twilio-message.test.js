// Messages that visitors leave through Twilio: it records them, the service fetches them from its REST API, keeps them
// as those left over SIP (messages.test.js), and deletes them there.
import { after, before, beforeEach, describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { ok, refused } from './lib/client.js';
import { sql } from './lib/store.js';
import { Twilio } from './lib/twilio.js';
import { PUBLIC_URL, Twiml, verbs } from './lib/twiml.js';
import { purity, tone } from './lib/wav.js';
import { advance, changeSettings, eventually, grant, message, resident, signIn, useWorld } from './lib/world.js';

const { validateRequest } = createRequire(import.meta.url)('twilio/lib/webhooks/webhooks.js');
const HOUR_S = 3600;
const RECORDING = '/hooks/twilio/recording';

describe('a message left through Twilio', () => {
    let rest;
    let twilio;
    before(async () => {
        rest = await Twilio.start();
        twilio = new Twiml({ rest });
    });
    after(async () => {
        twilio?.close();
        await rest?.close();
    });
    const w = useWorld(() => ({ config: twilio.config }));
    const { client } = w;
    beforeEach(() => {
        rest.clear();
        rest.recordings = [];
        sql(w.daemon, "DELETE FROM job WHERE kind = 'twilio_message'"); // of calls without a message, which wait for one
    });

    const host = async (ring = {}) => {
        const person = await resident(client);
        await changeSettings(person, { ring: { message: true, ...ring } });
        return person;
    };
    const call = (person, options = {}) => {
        twilio.daemon = w.daemon;
        return twilio.call({ to: person.number, from: '+15550001111', ...options });
    };
    const record = async (person) => ok(await person.client.get(`/v1/calls/${ok(await person.client.get('/v1/calls')).data[0].id}`));
    const steps = async (person) => (await record(person)).steps.map(({ step, detail }) => (detail ? `${step} ${detail}` : step));
    const kept = async (person) => eventually(async () => {
        const found = await record(person);
        return found.message_seconds && found;
    }, 'the message');
    const mails = async (person) => ok(await client.get(`/sandbox/messages?to=${encodeURIComponent(person.email)}&channel=email&limit=50`)).data
        .filter(({ subject }) => subject === 'A visitor left a message').length;
    const jobs = () => Number(sql(w.daemon, "SELECT count(*) FROM job WHERE kind LIKE 'twilio_%' AND kind <> 'twilio_calls'").trim());
    const settled = () => eventually(() => jobs() === 0, 'the end of the jobs');
    const tries = (method, path) => rest.requests.filter((r) => r.method === method && path.test(r.path)).length;

    // PHONE-60
    it('is kept with the call, sent to the owner, and deleted at Twilio', async () => {
        const person = await host();
        const heard = await call(person, { message: { wav: tone(4) } });
        assert.match(heard.said.at(-1), /leave a message after the tone/);
        const { message_seconds, steps: told, ended_by } = await kept(person);
        assert.deepEqual([message_seconds, ended_by], [4, 'service']);
        assert.deepEqual(told.slice(-3).map(({ step, detail }) => `${step} ${detail}`), ['said message', 'ended service', 'message 4s']);
        const { id } = await record(person);
        const answer = await person.client.get(`/v1/calls/${id}/message`);
        assert.deepEqual([answer.status, answer.headers['content-type']], [200, 'audio/wav']);
        assert.ok(purity(answer.bytes) > 0.99);
        await eventually(async () => await mails(person) === 1, 'the mail');
        assert.match((await message(client, person.email)).text, /message of 4 seconds.*from \+15550001111/s);
        await settled();
        assert.deepEqual(rest.recordings, []);
        assert.ok(rest.requests.every(({ authorization }) => authorization === `Basic ${Buffer.from(`${rest.account}:${rest.token}`).toString('base64')}`));
    });

    it('ends with a key, silence or the visitor\'s hanging up', async () => {
        const person = await host();
        for (const end of ['', '#', 'hangup']) {
            await call(person, { message: { wav: tone(2), end } });
            assert.equal((await kept(person)).ended_by, end === 'hangup' ? 'caller' : 'service', end);
        }
        await call(person);
        assert.equal((await record(person)).ended_by, 'service');
        await call(person, { hangUp: true });
        assert.equal((await record(person)).ended_by, 'caller');
    });

    it('is asked for whatever the reason that nobody talks to the visitor, and only where it is wanted', async () => {
        const person = await host({ numbers: ['+15551110001'] });
        for (const part of ['no_answer', 'busy', 'declined', 'unreachable']) {
            assert.match((await call(person, { resident: part, message: { wav: tone(1) } })).said.at(-1), /leave a message/, part);
            await kept(person);
        }
        assert.doesNotMatch((await call(person, { resident: 'answered', message: { wav: tone(1) } })).said.join(), /leave a message/);
        await changeSettings(person, { ring: { message: false } });
        assert.doesNotMatch((await call(person, { resident: 'busy', message: { wav: tone(1) } })).said.join(), /leave a message/);
    });

    it('comes once, however Twilio reports it', async () => {
        const repeated = new Twiml({ rest, repeated: true });
        for (const reported of [true, false, 'early', 'alone']) {
            const person = await host();
            repeated.daemon = w.daemon;
            const heard = await repeated.call({ to: person.number, from: '+15550001111', message: { wav: tone(2), reported } });
            if (reported === 'alone') await repeated.fetch('/hooks/twilio/status', { CallSid: heard.call_id, AccountSid: rest.account, CallStatus: 'completed' });
            await eventually(async () => await mails(person) === 1, `the mail: ${reported}`);
            await settled();
            await heard.report();
            await heard.report();
            await advance(client, HOUR_S);
            assert.equal(await mails(person), 1);
            assert.deepEqual((await steps(person)).filter((step) => step.startsWith('message')), ['message 2s']);
            assert.equal(jobs(), 0);
        }
        repeated.close();
    });

    // PHONE-60
    it('comes although Twilio reports nothing at all', async () => {
        const person = await host();
        await call(person, { message: { wav: tone(2), reported: false, end: 'hangup' }, silent: true });
        rest.clear();
        await kept(person);
        const other = await host();
        const heard = await call(other, { hangUp: true });
        rest.record(heard.call_id, tone(3));
        await advance(client, 130);
        assert.equal((await kept(other)).message_seconds, 3);
    });

    it('needs speech, as over SIP', async () => {
        const person = await host();
        const quiet = Buffer.concat([tone(0).subarray(0, 40), Buffer.alloc(4 + 5 * 16000)]);
        quiet.writeUInt32LE(5 * 16000, 40);
        await call(person, { message: { wav: quiet } });
        await settled();
        assert.equal((await record(person)).message_seconds, null);
        assert.deepEqual(rest.recordings, []);
        // The silence after the speech is not kept.
        const long = Buffer.concat([tone(2), Buffer.alloc(10 * 16000)]);
        long.writeUInt32LE(12 * 16000, 40);
        await call(person, { message: { wav: long } });
        assert.equal((await kept(person)).message_seconds, 3);
        // Nothing was recorded.
        await call(person);
        await advance(client, 1300);
        await settled();
        assert.deepEqual((await steps(person)).slice(-2), ['said message', 'ended service']);
    });

    it('is bounded to 30 seconds', async () => {
        const person = await host();
        await call(person, { message: { wav: tone(31) } });
        assert.equal((await kept(person)).message_seconds, 30);
    });

    it('waits while Twilio works on it, fails or answers nonsense', async () => {
        const person = await host();
        const faults = [{ status: 500, body: {} }, { status: 200, body: { recordings: 'none' } }, { close: true }];
        for (const fault of faults) rest.order(fault, { resource: 'Calls' });
        for (const body of ['<html>', tone(1).subarray(0, 30), Buffer.alloc(2 << 20)]) rest.order({ status: 200, body, headers: { 'Content-Type': 'audio/x-wav' } }, { resource: 'Recordings', method: 'GET' });
        rest.order({ status: 302, body: '', headers: { Location: 'http://127.0.0.1:9/' } }, { resource: 'Recordings', method: 'GET' });
        rest.order({ status: 500, body: {} }, { resource: 'Recordings', method: 'DELETE', count: 3 });
        await call(person, { message: { wav: tone(2), status: 'processing' } });
        for (let i = 0; i < 12; i++) await advance(client, 300);
        assert.equal(jobs(), 1);
        rest.recordings[0].status = 'completed';
        for (let i = 0; i < 12; i++) await advance(client, 300);
        await kept(person);
        await settled();
        assert.deepEqual(rest.recordings, []);
        assert.equal(await mails(person), 1);
    });

    // PHONE-60
    it('is only what the visitor said in this call', async () => {
        const person = await host();
        const heard = await call(person, { hangUp: true });
        const others = [rest.record(heard.call_id, tone(3), { source: 'DialVerb' }), rest.record(`CA${'ab'.repeat(16)}`, tone(3)),
            rest.record(heard.call_id, tone(3), { sid: '../Messages/SM1' }), rest.record(heard.call_id, tone(3), { sid: 'RE1' })];
        await advance(client, 1300);
        await settled();
        assert.equal((await record(person)).message_seconds, null);
        assert.deepEqual(rest.recordings, others);
        assert.ok(rest.requests.every(({ path }) => /^\/2010-04-01\/Accounts\/AC\w{32}\/Calls\/CA\w{32}\/Recordings\.json$/.test(path)));
    });

    it('that never comes is in the call\'s record and in the log', async () => {
        const person = await host();
        await call(person, { message: { wav: tone(2), call_sid: `CA${'cd'.repeat(16)}` } });
        for (let i = 0; i < 3; i++) await advance(client, HOUR_S / 2);
        await w.daemon.logged(/error message lost call=\w+ provider_call=CA\w+ reason=not_listed/);
        assert.deepEqual((await steps(person)).slice(-2), ['ended service', 'message lost']);
        const unreachable = await host();
        rest.order({ status: 503, body: {} }, { count: 1000 });
        await call(unreachable, { message: { wav: tone(2) } });
        for (let i = 0; i < 30 && jobs(); i++) await advance(client, HOUR_S);
        await w.daemon.logged(/error message lost call=\w+ provider_call=CA\w+ reason=provider_failed/);
        assert.equal((await steps(await signIn(client, unreachable.email))).at(-1), 'message lost'); // the first key has expired
    });

    it('is not lost by a crash', async () => {
        for (const silent of [{ resource: 'Calls' }, { resource: 'Recordings', method: 'GET' }, { resource: 'Recordings', method: 'DELETE' }]) {
            const person = await host();
            rest.order({ silent: true, act: silent.method === 'DELETE' }, silent);
            const before = rest.requests.length;
            await call(person, { message: { wav: tone(2) } });
            const path = new RegExp(`/${silent.resource}/`);
            await eventually(() => rest.requests.slice(before).some((r) => path.test(r.path) && (!silent.method || r.method === silent.method)), 'the request');
            await w.daemon.crash();
            sql(w.daemon, 'UPDATE job SET leased_until = 0;');
            await w.daemon.start();
            rest.clear();
            await advance(client, 300);
            await kept(person);
            await settled();
            assert.equal(await mails(person), 1);
            assert.deepEqual(rest.recordings, []);
        }
    });

    it('of a building that was removed meanwhile is deleted at Twilio', async () => {
        const person = await host();
        rest.order({ status: 500, body: {} }, { resource: 'Calls' });
        await call(person, { message: { wav: tone(2) } });
        sql(w.daemon, `DELETE FROM call_message; UPDATE job SET payload = CAST(replace(${w.daemon.dsn ? "convert_from(payload, 'UTF8')" : 'CAST(payload AS TEXT)'}, '${person.building.id}', 'ffffffffffffffffffffffff') AS ${w.daemon.dsn ? 'BYTEA' : 'BLOB'}) WHERE kind = 'twilio_message'`);
        await advance(client, 300);
        await settled();
        assert.deepEqual(rest.recordings, []);
        assert.equal(sql(w.daemon, "SELECT count(*) FROM call_message WHERE building_id = 'ffffffffffffffffffffffff'").trim(), '0');
    });

    it('is reported by Twilio alone', async () => {
        const person = await host();
        const heard = await call(person, { hangUp: true });
        rest.clear();
        const form = { CallSid: heard.call_id, AccountSid: rest.account, RecordingSid: `RE${'0'.repeat(32)}`, RecordingUrl: 'https://elsewhere.example/x', RecordingStatus: 'completed' };
        assert.ok(validateRequest(rest.token, twilio.sign(PUBLIC_URL + RECORDING, form), PUBLIC_URL + RECORDING, form));
        assert.equal((await twilio.send(RECORDING, form, { signature: new Twiml().sign(PUBLIC_URL + RECORDING, form) })).status, 403);
        assert.equal((await twilio.send(RECORDING, form, { signature: null })).status, 403);
        assert.equal(rest.requests.length, 0);
        assert.deepEqual(verbs((await twilio.send(RECORDING, { ...form, CallSid: `CA${'9'.repeat(32)}` })).text), []);
        assert.equal((await twilio.send(RECORDING, form)).status, 200);
        await eventually(() => tries('GET', /\/Calls\//) > 0, 'the list of recordings');
        assert.ok(rest.requests.every(({ path }) => path.includes(heard.call_id)));
        refused(await person.client.get(`/v1/calls/${(await record(person)).id}/message`), 404, 'NOT_FOUND');
        await grant(person, { type: 'timer', expires_in_minutes: 60 });
        assert.equal((await call(person)).tones, '9');
    });
});
