// Calls through Twilio's voice webhooks: signatures, what Twilio is told to do, and calls that it does not finish. The
// decisions are in calls.test.js.
import { after, describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { idempotencyKey, ok, refused } from './lib/client.js';
import { engine } from './lib/daemon.js';
import { METRICS, page, samples } from './lib/metrics.js';
import { sql } from './lib/store.js';
import { PUBLIC_URL, Twiml, verbs } from './lib/twiml.js';
import { advance, changeSettings, grant, message, resident, useWorld, world } from './lib/world.js';

const { getExpectedBodyHash, validateRequest } = createRequire(import.meta.url)('twilio/lib/webhooks/webhooks.js');
const VOICE = '/hooks/twilio/voice';

describe('Twilio\'s voice webhooks', () => {
    const twilio = new Twiml();
    const w = useWorld({ config: { ...twilio.config, ...METRICS } });
    const { client } = w;
    after(() => twilio.close());

    const call = (person, options = {}) => {
        twilio.daemon = w.daemon;
        return twilio.call({ to: person.number, from: '+15550001111', ...options });
    };
    const send = (target, form, options) => twilio.send(target, form, { base: w.daemon.https, ...options });
    const arrival = (to, more) => ({ CallSid: `CA${'ab'.repeat(16)}`, AccountSid: twilio.account, From: '+15550001111', To: to, CallStatus: 'ringing', ...more });
    const passcode = (person, access_code, more) => grant(person, { type: 'passcode', access_code, ...more });
    const timer = (person, more) => grant(person, { type: 'timer', expires_in_minutes: 60, ...more });
    const records = async (person) => ok(await person.client.get('/v1/calls')).data;
    const record = async (person) => ok(await person.client.get(`/v1/calls/${(await records(person))[0].id}`));
    const steps = async (person) => (await record(person)).steps.map(({ step, detail }) => (detail ? `${step} ${detail}` : step));

    it('are timed to their decisions, as other calls are', async () => {
        const person = await resident(client);
        const counted = async () => samples(await page(w.daemon)).portero_call_decision_seconds_count;
        const before = await counted();
        await passcode(person, '4821');
        await call(person, { digits: '4821' });
        assert.equal(await counted() - before, 2); // the arrival and the code
    });

    describe('are accepted', () => {
        const form = arrival('+15550190000');

        it('as its SDK signs them, with and without the port', async () => {
            for (const url of [PUBLIC_URL, `${PUBLIC_URL}:443`]) {
                for (const target of [VOICE, `${VOICE}?other=%2B1`]) {
                    assert.ok(validateRequest(twilio.token, twilio.sign(url + target, form), PUBLIC_URL + target, form));
                    assert.equal((await send(target, form, { signature: twilio.sign(url + target, form) })).status, 200);
                }
            }
        });

        it('with the hash of their body in the query', async () => {
            const body = new URLSearchParams(form).toString();
            const target = `${VOICE}?bodySHA256=${getExpectedBodyHash(body)}`;
            const signature = twilio.sign(PUBLIC_URL + target, {});
            assert.equal((await send(target, form, { signature })).status, 200);
            assert.equal((await send(target, { ...form, To: '+15550190001' }, { signature })).status, 403);
        });

        // PHONE-54
        it('whatever host they name, because Twilio signs the public address', async () => {
            assert.equal((await send(VOICE, form, { headers: { Host: 'other.example' } })).status, 200);
        });

        // PHONE-54
        it('from nobody else, who learns nothing from the answer', async () => {
            const forged = {
                'no signature': { signature: null },
                'an empty signature': { headers: { 'X-Twilio-Signature': '' }, signature: null },
                'two signatures': { headers: { 'X-Twilio-Signature': [twilio.sign(PUBLIC_URL + VOICE, form), 'x'] }, signature: null },
                'another token': { signature: new Twiml().sign(PUBLIC_URL + VOICE, form) },
                'another host': { signature: twilio.sign(`https://other.example${VOICE}`, form) },
                'another scheme': { signature: twilio.sign(`http://door.example${VOICE}`, form) },
                'another query': { signature: twilio.sign(`${PUBLIC_URL}${VOICE}?step=1`, form) },
                'another value': { signature: twilio.sign(PUBLIC_URL + VOICE, { ...form, To: '+15550190001' }) },
                'a field more': { signature: twilio.sign(PUBLIC_URL + VOICE, form), body: `${new URLSearchParams(form)}&Digits=1` },
                'another account': { form: { ...form, AccountSid: `AC${'0'.repeat(32)}` } },
                'no account': { form: { CallSid: form.CallSid, To: form.To } },
                'no form': { headers: { 'content-type': 'application/json' } },
                'a form that is none': { body: '{"a":1}', signature: twilio.sign(PUBLIC_URL + VOICE, {}) },
                'nothing': { form: {}, body: '' },
            };
            const answers = new Set();
            for (const [name, { form: given = form, ...options }] of Object.entries(forged)) {
                const answer = await send(VOICE, given, options);
                assert.equal(answer.status, 403, name);
                answers.add(answer.text.replace(/req_\w+/, ''));
            }
            assert.equal(answers.size, 1);
            assert.match([...answers][0], /INVALID_SIGNATURE/);
        });

        it('only with a call', async () => {
            for (const CallSid of ['', 'CA1', `SM${'0'.repeat(32)}`]) assert.equal((await send(VOICE, { ...form, CallSid })).status, 400);
            assert.equal((await send(`${VOICE}?step=-1`, form)).status, 400);
            refused(await client.request('GET', VOICE, { check: false }), 405, 'METHOD_NOT_ALLOWED');
        });
    });

    // CALL-26
    it('leave the door to the telephone: it is not opened by a request', async () => {
        const person = await resident(client);
        await changeSettings(person, { ring: { numbers: ['+15551110001'] } });
        assert.equal((await send(VOICE, arrival(person.number, { CallSid: `CA${'dc'.repeat(16)}` }))).status, 200);
        const [{ id }] = await records(person);
        refused(await person.client.post(`/v1/calls/${id}/open`), 409, 'CALL_ELSEWHERE');
    });

    // PHONE-54
    it('do not exist without an account of Twilio', async () => {
        const bare = await world({ config: { public_url: PUBLIC_URL } });
        try {
            for (const target of [VOICE, '/hooks/twilio/status', '/hooks/twilio/resident']) {
                assert.equal((await send(target, arrival('+15550190000'), { base: bare.daemon.https })).status, 404);
            }
        } finally {
            await bare.close();
        }
    });

    it('come through a trusted proxy that says https', async () => {
        const behind = await world({ config: { ...twilio.config, trusted_proxies: ['127.0.0.0/8'] } });
        try {
            const through = (proto) => send(VOICE, arrival('+15550190000'), { base: behind.daemon.http, headers: { 'X-Forwarded-Proto': proto } });
            assert.equal((await through('https')).status, 200);
            assert.equal((await through('http')).status, 426);
        } finally {
            await behind.close();
        }
    });

    it('reject a call to an unknown number without answering it', async () => {
        const heard = await call({ number: '+15550198765' });
        assert.deepEqual([heard.rejected, heard.said], ['rejected', []]);
    });

    // PHONE-55
    it('understand a code that was begun again, and never store its digits', async () => {
        const person = await resident(client);
        await passcode(person, '4793');
        assert.equal((await call(person, { digits: '12*4793' })).tones, '9');
        assert.equal((await call(person, { digits: '**********4793' })).tones, '9');
        const sid = `CA${'cd'.repeat(16)}`;
        const form = arrival(person.number, { CallSid: sid });
        await send(VOICE, form);
        const again = verbs((await send(`${VOICE}?step=1`, { ...form, CallStatus: 'in-progress', Digits: '*479' })).text);
        assert.deepEqual([again[0].attribs.numDigits, again[0].attribs.timeout], ['1', '8']);
        const row = sql(w.daemon, `SELECT sid, state, answer FROM twilio_call WHERE sid = '${sid}'`);
        assert.match(row, new RegExp(sid));
        assert.doesNotMatch(row, /479/);
        const opened = await send(`${VOICE}?step=2`, { ...form, CallStatus: 'in-progress', Digits: '3' });
        assert.deepEqual(verbs(opened.text).map((verb) => verb.name), ['Say', 'Play', 'Hangup']);
    });

    // PASS-10
    it('say when a right code opens, where the building wants it', async () => {
        const person = await resident(client);
        await changeSettings(person, { say_opening: true });
        const from = new Date(Date.now() + 300 * 86_400_000);
        const pass = { label: 'Later', access_code: '4821', from: `${from.toISOString().slice(0, 10)}T09:05`, timezone: 'UTC' };
        await passcode(person, '1357');
        ok(await person.client.post('/v1/passes', pass, { headers: { 'Idempotency-Key': idempotencyKey() } }), 201);
        const month = from.toLocaleString('en', { month: 'long', timeZone: 'UTC' });
        const told = await call(person, { digits: '4821' });
        assert.ok(told.said.some((text) => text.startsWith(`This code opens on ${month} `) && text.endsWith(' at nine oh five in the morning.')), told.said.join());
        assert.ok((await steps(person)).includes('said opens'));
        assert.ok(!(await call(person, { digits: '4822' })).said.some((text) => text.startsWith('This code opens')));
    });

    it('end a shorter code with # or silence, and ignore a # alone', async () => {
        const person = await resident(client);
        await passcode(person, '42');
        for (const digits of ['42#', '42', '#42', '##42#']) assert.equal((await call(person, { digits })).tones, '9', digits);
    });

    it('recognise spoken codes only where one may be spoken', async () => {
        const person = await resident(client);
        await passcode(person, '5678');
        const keys = await call(person, { speech: 'five six seven eight' });
        assert.deepEqual([keys.asked[0].input, keys.tones], ['dtmf', null]);
        await passcode(person, '1234', { enter_code_with_voice: true });
        for (const speech of ['one two three four', 'One, two, three, four.', '1234', '1 2 3 4.']) {
            const spoken = await call(person, { speech });
            assert.equal(spoken.asked[0].input, 'dtmf speech');
            assert.equal(spoken.tones, '9', speech);
        }
        assert.equal((await call(person, { speech: '5678' })).tones, null);
        const unclear = await call(person, { speech: 'open the door', digits: '' });
        assert.match(unclear.said[1], /keypad/);
        assert.deepEqual(unclear.asked.map(({ input }) => input), ['dtmf speech', 'dtmf speech']);
        assert.equal((await call(person, { speech: 'five digits 12345', digits: '' })).asked.length, 2);
    });

    it('speak a greeting as text, whatever it contains', async () => {
        const person = await resident(client);
        await passcode(person, '1234');
        const greeting_welcome = '</Say><Hangup/> & "quoted" \'é🔔\' ]]>';
        await changeSettings(person, { greeting_welcome });
        assert.deepEqual((await call(person, { digits: '1234' })).said, [greeting_welcome, 'Welcome. The door is open.']);
    });

    it('send the release tone in the building\'s form, before or after the greeting', async () => {
        const person = await resident(client, { tone: '*9#' });
        await timer(person);
        assert.equal((await call(person)).played, '*w9w#');
        await changeSettings(person, { release: { gap_ms: 100, delay_ms: 1000, repeat: 2, before_greeting: true } });
        const opened = await call(person);
        assert.equal(opened.played, 'ww*9#*9#');
        assert.deepEqual(verbs(opened.documents[0]).map((verb) => verb.name), ['Play', 'Say', 'Hangup']);
    });

    describe('forward a call', () => {
        const PHONES = ['+15551110001', '+15551110002'];

        // PHONE-56
        it('under the building\'s number, and connect the resident who answers', async () => {
            const person = await resident(client);
            await changeSettings(person, { ring: { numbers: PHONES.slice(0, 1), seconds: 25 } });
            for (const part of ['answered', 'silent', '5']) {
                const talk = await call(person, { resident: part });
                assert.deepEqual([talk.rang, talk.dialled.callerId, talk.dialled.timeout], [PHONES.slice(0, 1), person.number, '25']);
                assert.match(talk.whispered, /Press 9 to open the door/);
                assert.deepEqual(talk.said, []);
            }
            const opened = await call(person, { resident: 'opened' });
            assert.deepEqual([opened.tones, opened.said], ['9', ['Welcome. The door is open.']]);
            assert.match((await call(person, { resident: 'declined' })).said[0], /not accepted/);
        });

        // PHONE-56
        it('to a resident who must accept it, if the building wants that', async () => {
            const person = await resident(client, { tone: '#' });
            await changeSettings(person, { ring: { numbers: PHONES.slice(0, 1), accept: true } });
            const talk = await call(person, { resident: 'answered' });
            assert.match(talk.whispered, /Press 1 to talk, or 9/);
            assert.deepEqual(talk.said, []);
            for (const part of ['silent', '5', 'declined']) assert.match((await call(person, { resident: part })).said[0], /not accepted/, part);
            assert.equal((await call(person, { resident: '#' })).tones, '#');
        });

        it('without a release tone, which the resident cannot send', async () => {
            const person = await resident(client);
            await changeSettings(person, { ring: { numbers: PHONES.slice(0, 1), accept: true } });
            sql(w.daemon, `UPDATE building SET unlock_tone = NULL WHERE id = '${person.building.id}'`);
            const talk = await call(person, { resident: 'opened' });
            assert.equal(talk.whispered, 'Someone is at your door. Press 1 to talk.');
            assert.equal(talk.tones, null);
        });

        it('to all phones at once, or to one after the other', async () => {
            const person = await resident(client);
            await changeSettings(person, { ring: { numbers: PHONES } });
            assert.deepEqual((await call(person, { resident: 'no_answer' })).rang, PHONES);
            await changeSettings(person, { ring: { strategy: 'order' } });
            const nobody = await call(person, { resident: ['busy', 'unreachable'] });
            assert.deepEqual(nobody.rang, PHONES);
            assert.match(nobody.said[0], /could not be connected/);
            assert.equal((await record(person)).outcome, 'forwarded');
            await call(person, { resident: ['unreachable', 'unreachable'] });
            assert.equal((await record(person)).outcome, 'unreachable');
            assert.equal((await call(person, { resident: ['declined', 'opened'] })).tones, '9');
            assert.deepEqual((await call(person, { resident: ['answered'] })).rang, PHONES.slice(0, 1));
            const told = await steps(person);
            assert.deepEqual(told.slice(0, 3), ['arrived', 'forwarded no_grant', 'ringing']);
            assert.ok(told.includes('connected'), told.join());
        });
    });

    it('leave a record of each call', async () => {
        const person = await resident(client);
        await passcode(person, '1234');
        await call(person, { digits: '99991234' });
        const { front_end, outcome, reason, source, caller } = await record(person);
        assert.deepEqual({ front_end, outcome, reason, source, caller }, { front_end: 'webhook', outcome: 'released', reason: 'passcode', source: 'twilio', caller: '+15550001111' });
        assert.deepEqual((await steps(person)).filter((step) => !step.startsWith('key')), ['arrived', 'asked_code', 'answered', 'said welcome', 'code_wrong wrong_code',
            'said denied', 'released passcode', 'said granted', 'tone_sent', 'ended service']);
        assert.equal((await records(person)).length, 1);
        await call(person, { from: 'anonymous' });
        assert.equal((await record(person)).caller, null);
    });

    describe('about a call that ends early', () => {
        // PHONE-61
        it('leave no log entry if the caller hung up before a decision', async () => {
            const person = await resident(client);
            await passcode(person, '1234');
            const heard = await call(person, { hangUp: true });
            await w.daemon.logged(new RegExp(`info call .* ended=hung_up duration_ms=\\d+ id=${heard.call_id}\n`));
            assert.deepEqual(ok(await person.client.get('/v1/logs')).data, []);
            assert.equal((await steps(person)).at(-1), 'ended caller');
            const late = await send(`${VOICE}?step=1`, arrival(person.number, { CallSid: heard.call_id, CallStatus: 'in-progress', Digits: '1234' }));
            assert.deepEqual(verbs(late.text).map((verb) => verb.name), ['Hangup']);
            assert.deepEqual(ok(await person.client.get('/v1/logs')).data, []);
        });

        // PHONE-55
        it('end it after three hours without a request', async () => {
            const person = await resident(client);
            await passcode(person, '1234');
            const heard = await call(person, { hangUp: true, silent: true });
            await advance(client, 3 * 3600 - 60);
            await advance(client, 700);
            await w.daemon.logged(new RegExp(`info call .* ended=hung_up duration_ms=\\d+ id=${heard.call_id}\n`));
            assert.equal((await steps(person)).at(-1), 'ended lost');
            assert.equal(sql(w.daemon, `SELECT count(*) FROM twilio_call WHERE sid = '${heard.call_id}'`).trim(), '0');
        });
    });

    // PHONE-55
    it('use nothing twice when they are repeated, late, early or unknown', async () => {
        const person = await resident(client);
        const { id } = await timer(person, { remaining_uses: 5 });
        const left = async () => ok(await person.client.get(`/v1/unlock/${id}`)).remaining_uses;
        const form = arrival(person.number, { CallSid: `CA${'ef'.repeat(16)}` });
        const first = await send(VOICE, form);
        const again = await Promise.all(Array.from({ length: 8 }, () => send(VOICE, form)));
        assert.ok(again.every(({ text }) => text === first.text));
        assert.equal(await left(), 4);
        assert.equal((await send(VOICE, { ...form, ErrorCode: '11205', ErrorUrl: PUBLIC_URL })).text, first.text);
        assert.deepEqual(verbs((await send(`${VOICE}?step=7`, form)).text).map((verb) => verb.name), ['Hangup']);
        const unknown = arrival(person.number, { CallSid: `CA${'fa'.repeat(16)}` });
        for (const target of [`${VOICE}?step=1`, `/hooks/twilio/resident?call=${unknown.CallSid}&answer=1`, '/hooks/twilio/resident']) {
            assert.deepEqual(verbs((await send(target, { ...unknown, Digits: '9' })).text).map((verb) => verb.name), ['Hangup']);
        }
        assert.deepEqual(verbs((await send('/hooks/twilio/status', { ...unknown, CallStatus: 'completed' })).text), []);
        assert.deepEqual(verbs((await send(VOICE, { ...unknown, CallStatus: 'completed' })).text).map((verb) => verb.name), ['Hangup']);
        assert.equal(await left(), 4);
    });

    it('tell the owner that the line works', async () => {
        const person = await resident(client);
        ok(await person.client.post('/v1/account/phone/verification', { phone_number: '+15557650009' }));
        ok(await person.client.post('/v1/account/phone/confirmation', { code: (await message(client, '+15557650009', 'sms')).code }));
        assert.match((await call(person, { from: '+15557650009' })).said[0], /works/);
        assert.deepEqual(await records(person), []);
    });

    if (engine === 'postgresql') it('may reach another node each time', async () => {
        const { store } = w.daemon.config;
        const node = await world({ config: { ...twilio.config, store, secrets: { master_key: `file:${w.daemon.data}/master.key` } } });
        const balanced = new Twiml({ repeated: true });
        try {
            Object.assign(balanced, { account: twilio.account, token: twilio.token, daemons: [w.daemon, node.daemon] });
            const person = await resident(client);
            const { id } = await passcode(person, '1234', { remaining_uses: 9 });
            await changeSettings(person, { ring: { numbers: ['+15551110001'] } });
            for (let i = 0; i < 3; i++) {
                assert.equal((await balanced.call({ to: person.number, from: '+15550001111', digits: '9*99*999*1234' })).tones, '9');
                assert.equal((await balanced.call({ to: person.number, from: '+15550001111', resident: 'opened' })).tones, '9');
            }
            assert.equal(ok(await person.client.get(`/v1/unlock/${id}`)).remaining_uses, 6);
        } finally {
            balanced.close();
            await node.close();
        }
    });
});
