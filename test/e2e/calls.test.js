// The decisions when a visitor buzzes, without media: calls.md. They are the same through each front end of the call
// machine; the voice tests cover SIP.
import { after, describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { ok, refused } from './lib/client.js';
import { Twiml } from './lib/twiml.js';
import { advance, changeSettings, edit, grant, HOUR, iso, message, now, passMidnight, provisioned, resident, setSubscription, signIn, useWorld, visit } from './lib/world.js';

/** The sandbox's own calls. */
const sandbox = {
    name: 'calls',
    source: 'sandbox',
    options: {},
    visit: (w, call) => visit(w.client, call),
};

/** Calls through Twilio's webhooks. The log and the API tell the rest, which the visitor cannot hear. */
function through(twilio, name) {
    const label = async (id, person) => (await person?.client.get(`/v1/unlock/${id}`))?.body.label ?? null; // after a day, the session is over
    return {
        name,
        source: 'twilio',
        twilio,
        options: { config: twilio.config },
        async visit(w, { answer_forward = true, ...call }, person) {
            twilio.daemon = w.daemon;
            const heard = await twilio.call({ from: '+15550001111', resident: answer_forward ? 'answered' : 'no_answer', ...call });
            const [line] = await w.daemon.logged(new RegExp(`info call .* id=${heard.call_id}\n`));
            const field = (word) => new RegExp(` ${word}=(\\S+)`).exec(line)?.[1] ?? null;
            const grant_id = field('grant');
            const near = (/ near="([^"]*)"/.exec(line)?.[1] ?? '').split(' ').filter(Boolean).map((one) => one.split(':'));
            return {
                ...heard, outcome: field('decision'), reason: field('reason'), duration_ms: Number(field('duration_ms')), opened: call.resident === 'opened' && heard.tones !== null,
                forwarded_to: heard.rang[0] ?? null, grant_id, grant_label: grant_id && await label(grant_id, person),
                near_misses: await Promise.all(near.map(async ([id, why]) => ({ grant_id: id, label: await label(id, person), why }))),
            };
        },
    };
}

const FRONTS = [sandbox, through(new Twiml(), 'calls through Twilio'), through(new Twiml({ repeated: true }), 'calls through Twilio that repeats each request')];

for (const front of FRONTS) describe(front.name, () => {
    const w = useWorld(front.options);
    const { client } = w;
    after(() => front.twilio?.close());

    const ring = (person, call = {}) => front.visit(w, { to: person.number, ...call }, person);
    const log = async (person) => ok(await person.client.get('/v1/logs')).data;
    const timer = (person, more) => grant(person, { type: 'timer', expires_in_minutes: 60, ...more });
    const passcode = (person, access_code, more) => grant(person, { type: 'passcode', access_code, ...more });
    const always = { type: 'routine', days: ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'], start: '00:00', end: '23:59', timezone: 'UTC' };

    it('to an unknown number are rejected', async () => {
        const call = await front.visit(w, { to: '+15550198765' });
        assert.equal(call.outcome, 'rejected');
        assert.deepEqual([call.tones, call.grant_id, call.forwarded_to], [null, null, null]);
    });

    it('without any grant are forwarded and logged as a call', async () => {
        const person = await resident(client);
        const call = await ring(person);
        assert.deepEqual([call.outcome, call.tones, call.grant_id, call.forwarded_to], ['forwarded', null, null, null]);
        assert.deepEqual((await log(person)).map((entry) => entry.type), ['call']);
    });

    // CALL-38
    it('ring the whole ring group, tell the visitor how it went, and let the resident open the door', async () => {
        const person = await resident(client);
        const save = (ring) => changeSettings(person, { ring });
        await save({ numbers: ['+15551110001', '+15551110002'] });
        const opened = await ring(person, { resident: 'opened' });
        assert.deepEqual([opened.outcome, opened.opened, opened.tones], ['forwarded', true, '9']);
        assert.deepEqual(opened.rang, ['+15551110001', '+15551110002']);
        const said = async (outcome) => (await ring(person, { resident: outcome })).said.at(-1);
        assert.match(await said('no_answer'), /Nobody can take your call/);
        assert.match(await said('busy'), /busy/);
        assert.match(await said('declined'), /not accepted/);
        assert.match(await said('unreachable'), /could not be connected/);
        await save({ message: true });
        assert.match(await said('busy'), /leave a message/);
        assert.equal((await log(person)).some((entry) => entry.type !== 'call'), false);
    });

    it('are opened by an active timer with the building\'s tone', async () => {
        const person = await resident(client, { tone: '*9#' });
        const { id } = await timer(person, { remaining_uses: 5 });
        const call = await ring(person);
        assert.deepEqual([call.outcome, call.tones, call.grant_id], ['released', '*9#', id]);
        assert.ok(call.said.length > 0 && call.duration_ms >= 0 && call.call_id);
        assert.equal(ok(await person.client.get(`/v1/unlock/${id}`)).remaining_uses, 4);
    });

    it('take the oldest timer first, then the oldest routine, then ask for a code', async () => {
        const person = await resident(client);
        const code = await passcode(person, '8080');
        await passMidnight(client);
        const second = await grant(person, always);
        await grant(person, always);
        const first = await timer(person, { remaining_uses: 1 });
        const later = await timer(person, { remaining_uses: 1 });
        for (const expected of [first, later, second, second]) assert.equal((await ring(person, { digits: '8080' })).grant_id, expected.id);
        for (const row of ok(await person.client.get('/v1/unlock?type=routine')).data) ok(await edit(person, row, { enabled: false }));
        assert.equal((await ring(person, { digits: '8080' })).grant_id, code.id);
    });

    it('are not opened by a timer that is off, revoked, used up or in the future', async () => {
        const person = await resident(client);
        await timer(person, { enabled: false });
        await timer(person, { starts_at: iso(await now(client) + HOUR) });
        const used = await timer(person, { remaining_uses: 1 });
        assert.equal((await ring(person)).grant_id, used.id);
        const gone = await timer(person);
        ok(await person.client.delete(`/v1/unlock/${gone.id}`));
        assert.equal((await ring(person)).outcome, 'forwarded');
    });

    it('are opened by the right code, of one to four digits, ended by # or not', async () => {
        const person = await resident(client);
        const codes = ['7', '42', '815', '0007'];
        const made = {};
        for (const code of codes) made[code] = (await passcode(person, code)).id;
        for (const code of codes) {
            assert.equal((await ring(person, { digits: `${code}#` })).grant_id, made[code], `${code}#`);
            assert.equal((await ring(person, { digits: code })).grant_id, made[code], code);
        }
        assert.equal((await ring(person, { digits: '0007#' })).grant_id, made['0007'], '# after four digits is ignored');
        assert.equal((await log(person)).filter((entry) => entry.succeeded && entry.type === 'unlock').length, 9);
    });

    it('ask again after a wrong code, and forward after the third', async () => {
        const person = await resident(client);
        const { id } = await passcode(person, '1234');
        assert.equal((await ring(person, { digits: '11111234' })).grant_id, id);
        await advance(client, 1);
        const call = await ring(person, { digits: '1111222233331234' });
        assert.deepEqual([call.outcome, call.grant_id], ['forwarded', null]);
        const names = (await log(person)).map((entry) => entry.name).slice(0, 4);
        assert.deepEqual(names.sort(), ['Forwarded call', 'Wrong passcode', 'Wrong passcode', 'Wrong passcode']);
    });

    // CALL-5
    it('ask for no codes for ten minutes after five wrong ones within ten minutes; timers still open', async () => {
        const person = await resident(client);
        const { id } = await passcode(person, '1234');
        await ring(person, { digits: '111122223333' });
        await ring(person, { digits: '44445555' });
        const guarded = await ring(person, { digits: '1234' });
        assert.deepEqual([guarded.outcome, guarded.grant_id], ['forwarded', null]);
        const open = await timer(person);
        assert.equal((await ring(person, { digits: '1234', from: '+15550002222' })).grant_id, open.id);
        ok(await person.client.delete(`/v1/unlock/${open.id}`));
        await advance(client, 10 * 60 - 120); // leaves two minutes to a slow machine
        assert.equal((await ring(person, { digits: '1234' })).outcome, 'forwarded');
        await advance(client, 120);
        assert.equal((await ring(person, { digits: '1234' })).grant_id, id);
    });

    it('are asked for a code at the call box also while strangers guess, whom the keypad shuts out longer each time', async () => {
        const person = await resident(client);
        const { id } = await passcode(person, '1234');
        const box = { from: '+15553330000', digits: '1234' };
        const guess = async () => {
            for (const from of ['+15559990001', undefined]) await ring(person, { from, digits: '111122223333' });
        };
        assert.equal((await ring(person, box)).grant_id, id);
        for (const minutes of [10, 20, 80]) { // the 5th, the 10th, and the 12th of the day
            await guess();
            assert.equal((await ring(person, { digits: '1234' })).outcome, 'forwarded');
            assert.equal((await ring(person, box)).grant_id, id);
            await advance(client, minutes * 60 - 120);
            assert.equal((await ring(person, { digits: '1234', from: '+15559990002' })).outcome, 'forwarded');
            await advance(client, 120);
            assert.ok(await w.daemon.logged(new RegExp(`warn keypad closed building=${person.building.id} to=strangers minutes=${minutes} `)));
        }
        await guess();
        await advance(client, 86_400);
        await guess();
        await advance(client, 600);
        assert.equal((await ring(person, { digits: '1234', from: '+15559990002' })).grant_id, id);
    });

    // CALL-4
    it('tell the owner by mail, once a day, that somebody guesses, with the number', async () => {
        const person = await resident(client);
        await passcode(person, '1234');
        const told = async () => ok(await client.get(`/sandbox/messages?to=${encodeURIComponent(person.email)}`)).data
            .filter(({ subject }) => subject === 'Someone is guessing door codes');
        await ring(person, { digits: '111122223333' });
        await ring(person, { digits: '4444', from: '+15559990001' });
        await advance(client, 0);
        assert.deepEqual(await told(), []);
        await ring(person, { digits: '5555', from: '+15559990001' });
        await advance(client, 0); // mail that is due is sent before the answer
        const [mail, ...more] = await told();
        assert.ok(mail.text.includes('+15559990001') && !/1234|5555/.test(mail.text), mail.text);
        assert.deepEqual(more, []);
        await advance(client, 600);
        await ring(person, { digits: '111122223333' });
        await ring(person, { digits: '44445555' });
        await advance(client, 0);
        assert.equal((await told()).length, 1);
    });

    it('count wrong codes for each building separately, and forget them after ten minutes', async () => {
        const [one, two] = [await resident(client), await resident(client)];
        await passcode(one, '1234');
        const { id } = await passcode(two, '1234');
        await ring(one, { digits: '111122223333' });
        await ring(one, { digits: '44445555' });
        assert.equal((await ring(two, { digits: '1234' })).grant_id, id);
        await ring(two, { digits: '111122223333' });
        await advance(client, 10 * 60 + 1);
        await ring(two, { digits: '44445555' });
        assert.equal((await ring(two, { digits: '1234' })).grant_id, id);
    });

    it('use a last use once, however many ring at the same moment', async () => {
        const person = await resident(client);
        const { id } = await passcode(person, '9090', { remaining_uses: 3 });
        const outcomes = (await Promise.all(Array.from({ length: 20 }, () => ring(person, { digits: '9090' })))).map((call) => call.outcome);
        assert.equal(outcomes.filter((outcome) => outcome === 'released').length, 3);
        assert.equal(ok(await person.client.get(`/v1/unlock/${id}`)).remaining_uses, 0);
        assert.equal((await log(person)).filter((entry) => entry.type === 'unlock' && entry.succeeded).length, 3);
    });

    it('lose no use to an edit at the same moment, and no edit to a use', async () => {
        const person = await resident(client);
        let made = await timer(person, { remaining_uses: 100 });
        const rings = Array.from({ length: 30 }, () => ring(person));
        for (let i = 1; i <= 8; i++) made = ok(await edit(person, made, { label: `edit ${i}` }));
        for (const call of await Promise.all(rings)) assert.equal(call.outcome, 'released');
        const { label, version, remaining_uses } = ok(await person.client.get(`/v1/unlock/${made.id}`));
        assert.deepEqual({ label, version, remaining_uses }, { label: 'edit 8', version: 8, remaining_uses: 70 });
    });

    it('are forwarded while no tone is set, the subscription is none, or the number was only just given', async () => {
        const session = await signIn(client);
        const home = await provisioned(session);
        const fresh = { ...session, number: home.virtual_number };
        await timer(fresh);
        assert.equal((await ring(fresh)).outcome, 'forwarded');
        const person = await resident(client);
        const { id } = await timer(person);
        await setSubscription(client, person.email, 'canceled');
        assert.equal((await ring(person)).outcome, 'forwarded');
        await setSubscription(client, person.email, 'past_due');
        await setSubscription(client, person.email, 'active');
        assert.equal((await ring(person)).grant_id, id);
        await setSubscription(client, person.email, 'past_due');
        assert.equal((await ring(person)).grant_id, id);
    });

    it('say the building\'s greetings, and nothing for an empty one', async () => {
        const person = await resident(client);
        const greet = (body) => changeSettings(person, body);
        await passcode(person, '1234');
        await greet({ greeting_welcome: 'W', greeting_granted: 'G', greeting_denied: 'D', greeting_forwarding: 'F' });
        assert.deepEqual((await ring(person, { digits: '1234' })).said, ['W', 'G']);
        assert.deepEqual((await ring(person, { digits: '99991234' })).said.slice(0, 2), ['W', 'D']);
        const forwarded = (await ring(person)).said;
        assert.deepEqual(forwarded.slice(0, 2), ['W', 'F']);
        await greet({ greeting_message: 'M', ring: { message: true } });
        assert.deepEqual((await ring(person, { resident: 'busy' })).said, ['W', 'F', 'M']);
        await greet({ greeting_message: '' });
        assert.deepEqual((await ring(person, { resident: 'busy' })).said, ['W', 'F']);
        await greet({ greeting_welcome: '', greeting_granted: '' });
        assert.deepEqual((await ring(person, { digits: '1234' })).said, []);
    });

    // BUILDING-38
    it('of callers that are not listed use no grant and hear no prompt', async () => {
        const person = await resident(client);
        const box = '+15553330000';
        const { id } = await timer(person, { remaining_uses: 1 });
        await passcode(person, '1234');
        await changeSettings(person, { callers: { mode: 'listed', numbers: [box] } });
        for (const from of ['+18005550199', '+18005550198']) {
            const stranger = await ring(person, { from, digits: '1234', answer_forward: false });
            assert.deepEqual([stranger.outcome, stranger.reason, stranger.tones], ['forwarded', 'not_listed', null]);
            assert.ok(!stranger.said.includes('Please enter your code.'), stranger.said);
        }
        assert.equal((await ring(person, { from: box })).grant_id, id);
        assert.equal((await ring(person, { from: box, digits: '1234' })).outcome, 'released');
        await changeSettings(person, { callers: { others: 'reject' } });
        const rejected = await ring(person, { from: '+18005550199', digits: '1234' });
        assert.deepEqual([rejected.outcome, rejected.reason, rejected.rang, rejected.said], ['rejected', 'not_listed', [], []]);
        const [record] = ok(await person.client.get('/v1/calls')).data;
        assert.deepEqual([record.outcome, record.reason, record.caller], ['none', 'not_listed', '+18005550199']);
        await changeSettings(person, { callers: { mode: 'any' } });
        assert.equal((await ring(person, { from: '+18005550199', digits: '1234' })).outcome, 'released');
    });

    // CALL-8
    it('give the reason of the forwarding or the grant of the release', async () => {
        const person = await resident(client);
        const why = async (call) => (await ring(person, call)).reason;
        assert.equal((await front.visit(w, { to: '+15550198765' })).reason, 'unknown_number');
        assert.equal(await why(), 'no_grant');
        const code = await passcode(person, '1234', { label: 'Guest' });
        assert.equal(await why(), 'no_code');
        assert.equal(await why({ digits: '0000' }), 'wrong_code');
        const opened = await ring(person, { digits: '1234', from: '+15553330000' });
        assert.deepEqual([opened.reason, opened.grant_id, opened.grant_label, opened.near_misses], ['passcode', code.id, 'Guest', []]);
        assert.equal(await why({ digits: '111122223333' }), 'wrong_code');
        assert.equal(await why({ digits: '4444' }), 'keypad_closed');
        assert.equal(await why({ digits: '1234' }), 'keypad_closed');
        const open = await timer(person);
        assert.equal(await why(), 'timer');
        ok(await person.client.delete(`/v1/unlock/${open.id}`));
        await passMidnight(client);
        await grant(person, always);
        assert.equal(await why(), 'routine');
        await setSubscription(client, person.email, 'canceled');
        assert.equal(await why(), 'no_subscription');
        const session = await signIn(client);
        assert.equal(await why({ to: (await provisioned(session)).virtual_number }), 'no_tone');
    });

    // CALL-9
    it('name the grants that could not be used, and why, when nothing opened', async () => {
        const person = await resident(client);
        const off = await timer(person, { enabled: false, label: 'Off' });
        const used = await timer(person, { remaining_uses: 1, label: 'Once' });
        assert.equal((await ring(person)).grant_id, used.id);
        const later = await timer(person, { starts_at: iso(await now(client) + HOUR), label: 'Later' });
        const call = await ring(person);
        assert.deepEqual([call.outcome, call.grant_id, call.grant_label], ['forwarded', null, null]);
        assert.deepEqual(call.near_misses, [
            { grant_id: later.id, label: 'Later', why: 'not_begun' },
            { grant_id: used.id, label: 'Once', why: 'used_up' },
            { grant_id: off.id, label: 'Off', why: 'switched_off' },
        ]);
        assert.ok(await w.daemon.logged(new RegExp(`info call source=${front.source} caller=.15550001111 dialled=\\${person.number} building=${person.building.id} keys=0 .*`
            + `reason=no_grant near="${later.id}:not_begun ${used.id}:used_up ${off.id}:switched_off" ended=forwarded duration_ms=\\d+ id=${call.call_id}\n`)));
    });

    // CALL-23
    it('leave a line in the log, without the code', async () => {
        const person = await resident(client);
        const code = await passcode(person, '4793', { label: 'Cleaner' });
        const call = await ring(person, { digits: '58614793' });
        const [line] = await w.daemon.logged(new RegExp(`info call .* id=${call.call_id}\n`));
        assert.match(line, new RegExp(`building=${person.building.id} keys=8 spoken=0 wrong=1 decision=released reason=passcode grant=${code.id} ended=released`));
        assert.doesNotMatch(w.daemon.stderr, /\b(4793|5861)\b|Cleaner/);
        const unknown = await front.visit(w, { to: '+15550198764' });
        assert.match((await w.daemon.logged(new RegExp(`info call .* id=${unknown.call_id}\n`)))[0],
            /dialled=\+15550198764 keys=0 spoken=0 wrong=0 decision=rejected reason=unknown_number ended=rejected/);
        ok(await person.client.post('/v1/account/phone/verification', { phone_number: '+15557650001' }));
        ok(await person.client.post('/v1/account/phone/confirmation', { code: (await message(client, '+15557650001', 'sms')).code }));
        const own = await ring(person, { from: '+15557650001' });
        assert.deepEqual([own.outcome, own.reason], ['owner_call', 'owner']);
        assert.match((await w.daemon.logged(new RegExp(`info call .* id=${own.call_id}\n`)))[0], new RegExp(`source=${front.source} .* decision=owner_call reason=owner ended=owner_call`));
    });

    if (front === sandbox) it('come with a body that is checked', async () => {
        const call = (body) => client.post('/sandbox/calls', body);
        for (const body of [{}, { to: 5, from: '+1555' }, { to: 'nonsense', from: 5 }]) {
            const answer = await call(body);
            assert.equal(answer.status, 400, answer.text);
        }
        refused(await client.request('POST', '/sandbox/calls', { text: '{' }), 400, 'INVALID_JSON');
    });
});
