// Text messages and numbers through Twilio, against an imitation of its REST API that Twilio's own SDK accepts.
// engine: postgresql, because one test has two nodes on one database, and the other tests do not depend on the engine
import { describe, it, before, after, beforeEach } from 'node:test';
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { createRequire } from 'node:module';
import { buildings, execute, owner, quantity, quote } from './lib/buildings.js';
import { idempotencyKey, ok, refused } from './lib/client.js';
import { portero } from './lib/daemon.js';
import { endLeases } from './lib/store.js';
import { Twilio } from './lib/twilio.js';
import { advance, building, DAY, eventually, resident, setSubscription, signIn, useWorld, world } from './lib/world.js';

const sdk = createRequire(import.meta.url)('twilio');
const RequestClient = createRequire(import.meta.url)('twilio/lib/base/RequestClient.js');
const PUBLIC_URL = 'https://door.example';
const freshPhone = () => `+1${randomInt(2_000_000_000, 10_000_000_000)}`;

/** Twilio's own SDK, on the imitation. */
function sdkOn(twilio, token = twilio.token) {
    class Here extends RequestClient {
        request(options) {
            return super.request({ ...options, uri: options.uri.replace('https://api.twilio.com', twilio.url) });
        }
    }
    return sdk(twilio.account, token, { httpClient: new Here({ timeout: 10_000 }) });
}

/** The parts of a request that Twilio acts on. */
const essence = ({ method, path, query, form, authorization }) => ({ method, path, query, form, authorization });

// Answers unlike any of Twilio's. They say neither that the request was done nor that it was not.
const hostile = {
    'no JSON': { status: 200, body: '<html>' },
    'half of JSON': { status: 200, body: '{"sid":"SM' },
    'an array': { status: 200, body: [] },
    'a number': { status: 200, body: '5' },
    'nothing': { status: 200, body: '' },
    'an empty object': { status: 200, body: {} },
    'other types': { status: 200, body: { sid: 5, status: [], phone_number: {}, incoming_phone_numbers: { 0: {} }, available_phone_numbers: 'none' } },
    'lists of other types': { status: 200, body: { incoming_phone_numbers: [5], available_phone_numbers: [null], next_page_uri: 7 } },
    'a member twice': { status: 200, body: '{"sid":"x","sid":"y","incoming_phone_numbers":[],"available_phone_numbers":[]}' },
    'no UTF-8': { status: 200, body: Buffer.from('{"sid":"\xff","incoming_phone_numbers":[],"available_phone_numbers":[]}', 'latin1') },
    'depth': { status: 200, body: `{"a":${'['.repeat(5000)}${']'.repeat(5000)}}` },
    'two megabytes': { status: 200, body: { padding: 'x'.repeat(2 << 20), incoming_phone_numbers: [], available_phone_numbers: [] } },
    'HTML': { status: 200, body: '{"incoming_phone_numbers":[],"available_phone_numbers":[]}', headers: { 'Content-Type': 'text/html' } },
    'a redirect': { status: 302, body: '', headers: { Location: 'http://127.0.0.1:9/' } },
    'its own failure': { status: 500, body: { code: 20500, message: 'Internal Server Error' } },
    'being overloaded': { status: 503, body: '' },
    'too many requests': { status: 429, body: { code: 20429, message: 'Too Many Requests' } },
    'a time-out of its own': { status: 408, body: '' },
    'a closed connection': { close: true },
    'silence': { silent: true },
};

describe('Twilio', () => {
    let twilio;
    before(async () => { twilio = await Twilio.start(); });
    after(() => twilio?.close());
    beforeEach(() => twilio.clear());

    describe('as imitated here', () => {
        it('gives its SDK texts, numbers, pages and errors', async () => {
            const client = sdkOn(twilio);
            const message = await client.messages.create({ to: '+12015550123', from: twilio.from, body: 'hello' });
            assert.match(message.sid, /^SM[0-9a-f]{32}$/);
            assert.equal(message.status, 'queued');
            const offered = twilio.offer('US', 3);
            const listed = await client.availablePhoneNumbers('US').local.list({ voiceEnabled: true, limit: 10 });
            assert.deepEqual(listed.map((number) => number.phoneNumber), offered);
            for (const phoneNumber of offered) await client.incomingPhoneNumbers.create({ phoneNumber, friendlyName: 'ours' });
            twilio.pageSize = 2;
            const mine = await client.incomingPhoneNumbers.list({ friendlyName: 'ours', pageSize: 2 });
            assert.deepEqual(mine.map((number) => number.phoneNumber), offered);
            twilio.pageSize = 50;
            for (const { sid } of mine) assert.equal(await client.incomingPhoneNumbers(sid).remove(), true);
            assert.deepEqual(await client.incomingPhoneNumbers.list(), []);
            await assert.rejects(client.incomingPhoneNumbers(mine[0].sid).remove(), { status: 404, code: 20404 });
            await assert.rejects(client.incomingPhoneNumbers.create({ phoneNumber: offered[0] }), { status: 400, code: 21422 });
            await assert.rejects(client.messages.create({ to: 'nobody', from: twilio.from, body: 'x' }), { status: 400, code: 21211 });
            await assert.rejects(sdkOn(twilio, 'wrong').messages.create({ to: '+12015550123', from: twilio.from, body: 'x' }), { status: 401, code: 20003 });
        });
    });

    describe('text messages', () => {
        const w = useWorld(() => ({ config: { sms: { provider: 'twilio' }, twilio: twilio.config } }));
        const { client } = w;

        const request = (person, phone_number) => person.client.post('/v1/account/phone/verification', { phone_number });
        const confirm = (person, code) => person.client.post('/v1/account/phone/confirmation', { code });
        const sentTo = (phone) => twilio.messages.filter(({ to }) => to === phone);
        const codeIn = (message) => /^\d{6}/.exec(message.body)[0];

        it('bring the code', async () => {
            const person = await resident(client);
            const phone = freshPhone();
            ok(await request(person, phone));
            const [message] = sentTo(phone);
            assert.equal(message.from, twilio.from);
            assert.equal(ok(await confirm(person, codeIn(message))).phone_number, phone);
            assert.equal(twilio.requests.length, 1);
            assert.equal(twilio.requests[0].type, 'application/x-www-form-urlencoded');
        });

        it('are asked for as its SDK asks', async () => {
            const person = await resident(client);
            const phone = freshPhone();
            ok(await request(person, phone));
            const [ours] = twilio.requests.splice(0);
            await sdkOn(twilio).messages.create({ to: phone, from: twilio.from, body: sentTo(phone)[0].body });
            assert.deepEqual(essence(ours), essence(twilio.requests[0]));
        });

        it('that it refuses are not repeated', async () => {
            const person = await resident(client);
            for (const fault of [
                { status: 400, body: { code: 21408, message: 'Permission to send an SMS has not been enabled for the region', status: 400 } },
                { status: 401, body: { code: 20003, message: 'Authenticate', status: 401 } },
                { status: 201, body: { sid: `SM${'0'.repeat(32)}`, status: 'failed', error_code: 30006 } },
            ]) {
                twilio.clear();
                twilio.order(fault);
                refused(await request(person, freshPhone()), 500, 'PHONE_CODE_SEND_FAILED');
                assert.equal(twilio.requests.length, 1);
            }
        });

        // ACCOUNT-19
        it('to a number that cannot receive texts are the caller\'s mistake', async () => {
            const person = await resident(client);
            for (const code of [21211, 21610, 21614]) {
                twilio.clear();
                twilio.order({ status: 400, body: { code, message: 'no', status: 400 } });
                refused(await request(person, freshPhone()), 400, 'INVALID_PHONE_NUMBER', 'phone_number');
                assert.equal(twilio.requests.length, 1);
            }
            assert.equal(ok(await person.client.get('/v1/account/phone')).pending, null);
        });

        for (const [name, fault] of Object.entries(hostile)) {
            it(`are tried twice when the answer is ${name}`, async () => {
                const person = await resident(client);
                const phone = freshPhone();
                twilio.order(fault, { count: 2 });
                refused(await request(person, phone), 500, 'PHONE_CODE_SEND_FAILED');
                assert.equal(twilio.requests.length, 2);
                twilio.order(fault);
                ok(await request(person, phone));
                assert.equal(twilio.requests.length, 4);
                ok(await confirm(person, codeIn(sentTo(phone)[0])));
            });
        }

        it('that may have been sent are sent again with the same code', async () => {
            const person = await resident(client);
            const phone = freshPhone();
            twilio.order({ act: true, close: true });
            ok(await request(person, phone));
            const both = sentTo(phone);
            assert.deepEqual([both.length, both[0].body], [2, both[1].body]);
            ok(await confirm(person, codeIn(both[0])));
        });

        it('are asked for without a word in the log', async () => {
            const person = await resident(client);
            const phone = freshPhone();
            twilio.order({ status: 500, body: { code: 20500, message: `no ${phone}` } });
            ok(await request(person, phone));
            assert.ok(await w.daemon.logged(/twilio failed/));
            for (const secret of [twilio.token, phone, codeIn(sentTo(phone)[0])]) assert.ok(!w.daemon.stderr.includes(secret));
        });

        it('can come from a messaging service', async () => {
            const from = `MG${'a1'.repeat(16)}`;
            const other = await world({ config: { sms: { provider: 'twilio' }, twilio: { ...twilio.config, from } } });
            try {
                const person = await resident(other.client);
                const phone = freshPhone();
                ok(await request(person, phone));
                assert.equal(sentTo(phone)[0].messaging_service_sid, from);
                assert.equal(twilio.requests[0].form.From, undefined);
            } finally {
                await other.close();
            }
        });

        it('fail while the service is down', async () => {
            const other = await world({ config: { sms: { provider: 'twilio' }, twilio: { ...twilio.config, url: 'http://127.0.0.1:9' } } });
            try {
                refused(await request(await resident(other.client), freshPhone()), 500, 'PHONE_CODE_SEND_FAILED');
            } finally {
                await other.close();
            }
        });
    });

    describe('numbers', () => {
        const w = useWorld(() => ({ config: { public_url: PUBLIC_URL, numbers: { provider: 'twilio' }, twilio: twilio.config } }));
        const { client } = w;

        /** A new account, subscribed: its building. */
        async function subscribed() {
            const session = await signIn(client);
            await setSubscription(client, session.email);
            return { session, home: await building(session) };
        }
        const held = (home) => twilio.numbers.filter((number) => number.friendly_name === home.id);
        /** Lets the jobs that failed run again: the building then. */
        async function later(session) {
            await advance(client, 3600);
            return building(session);
        }
        const purchases = () => twilio.requests.filter(({ method }) => method === 'POST').length;

        it('are bought for their building, with the webhook of its calls', async () => {
            const [offered] = twilio.offer('US');
            const { home } = await subscribed();
            assert.equal(home.virtual_number, offered);
            const [number] = held(home);
            assert.deepEqual([number.phone_number, number.voice_url, number.voice_method], [offered, `${PUBLIC_URL}/hooks/twilio/voice`, 'POST']);
            assert.deepEqual([number.voice_fallback_url, number.status_callback], [number.voice_url, `${PUBLIC_URL}/hooks/twilio/status`]);
        });

        it('are searched, bought and given back as its SDK does', async () => {
            const [offered] = twilio.offer('US');
            const { session, home } = await subscribed();
            await setSubscription(client, session.email, 'canceled');
            const { sid } = held(home)[0];
            await advance(client, 31 * DAY / 1000);
            assert.deepEqual(held(home), []);
            const ours = twilio.requests.splice(0);
            twilio.available.US.push(offered);
            const api = sdkOn(twilio);
            await api.incomingPhoneNumbers.list({ friendlyName: home.id, pageSize: 100 });
            await api.availablePhoneNumbers('US').local.list({ voiceEnabled: true, pageSize: 5 });
            const again = await api.incomingPhoneNumbers.create({ phoneNumber: offered, friendlyName: home.id, voiceUrl: `${PUBLIC_URL}/hooks/twilio/voice`, voiceMethod: 'POST', voiceFallbackUrl: `${PUBLIC_URL}/hooks/twilio/voice`, voiceFallbackMethod: 'POST', statusCallback: `${PUBLIC_URL}/hooks/twilio/status`, statusCallbackMethod: 'POST' });
            await api.incomingPhoneNumbers.list({ friendlyName: home.id, pageSize: 100 });
            await api.incomingPhoneNumbers.list({ phoneNumber: offered, pageSize: 100 });
            await api.incomingPhoneNumbers(again.sid).remove();
            const theirs = twilio.requests.map(essence);
            theirs.at(-1).path = theirs.at(-1).path.replace(again.sid, sid);
            assert.deepEqual(ours.map(essence), theirs);
        });

        it('that somebody else bought first give way to the next', async () => {
            const [first, second] = twilio.offer('US', 2);
            twilio.order({ status: 400, body: { code: 21422, message: 'not available', status: 400 } }, { method: 'POST' });
            const { home } = await subscribed();
            assert.equal(home.virtual_number, second);
            assert.equal(held(home).length, 1);
            twilio.available.US = twilio.available.US.filter((number) => number !== first);
        });

        // BUILDING-27
        it('are waited for while the provider has no number', async () => {
            const { session, home } = await subscribed();
            assert.deepEqual([home.provisioned, purchases()], [false, 0]);
            const [offered] = twilio.offer('US');
            assert.equal((await later(session)).virtual_number, offered);
            assert.equal(held(home).length, 1);
        });

        it('are not bought with an account that is refused', async () => {
            const [offered] = twilio.offer('US');
            twilio.order({ status: 401, body: { code: 20003, message: 'Authenticate', status: 401 } });
            const { session, home } = await subscribed();
            assert.deepEqual([home.provisioned, purchases()], [false, 0]);
            assert.equal((await later(session)).virtual_number, offered);
        });

        // BUILDING-31
        it('that were bought without an answer are found, at once and never twice', async () => {
            for (const fault of [{ act: true, close: true }, { act: true, silent: true }, { act: true, status: 500, body: '' }, { act: true, status: 201, body: '{' },
                { act: true, status: 201, body: { phone_number: '+15555550000' } }]) {
                twilio.clear();
                twilio.offer('US', 2);
                twilio.order(fault, { method: 'POST' });
                const { home } = await subscribed();
                assert.deepEqual(held(home).map((number) => number.phone_number), [home.virtual_number]);
                assert.equal(purchases(), 1);
                twilio.available.US = [];
            }
        });

        it('that were bought without an answer are found later when they cannot be searched either', async () => {
            twilio.offer('US', 2);
            twilio.order({ act: true, close: true }, { method: 'POST' });
            twilio.order({ status: 200, body: { incoming_phone_numbers: [] } }, { method: 'GET', resource: 'IncomingPhoneNumbers' }); // before it
            twilio.order({ status: 503, body: '' }, { method: 'GET', resource: 'IncomingPhoneNumbers' }); // after it
            const { session, home } = await subscribed();
            assert.equal(home.provisioned, false);
            assert.equal((await later(session)).virtual_number, held(home)[0].phone_number);
            assert.deepEqual([held(home).length, purchases()], [1, 1]);
            twilio.available.US = [];
        });

        it('that were bought before a crash are found after it', async () => {
            twilio.offer('US', 2);
            const session = await signIn(client);
            twilio.order({ act: true, silent: true }, { method: 'POST' });
            const subscribing = setSubscription(client, session.email).catch(() => {});
            for (let i = 0; i < 500 && purchases() === 0; i++) await new Promise((done) => { setTimeout(done, 10); });
            await w.daemon.crash();
            await subscribing;
            endLeases(w.daemon);
            await w.daemon.start();
            const home = await later(session);
            assert.deepEqual(held(home).map((number) => number.phone_number), [home.virtual_number]);
            assert.equal(purchases(), 1);
            twilio.available.US = [];
        });

        // BUILDING-31, NODE-4
        it('are bought once by two nodes of one database, which are one to their clients', async () => {
            const { public_url, numbers, store } = w.daemon.config;
            const node = await world({ config: { public_url, numbers, twilio: twilio.config, store, secrets: { master_key: `file:${w.daemon.data}/master.key` } } });
            try {
                for (let i = 0; i < 3; i++) {
                    twilio.offer('US', 4);
                    const session = await signIn(client);
                    await Promise.all([client, node.client, client, node.client].map((at) => setSubscription(at, session.email)));
                    const home = await eventually(async () => { const row = await building(session); return row.provisioned && row; }, 'a number');
                    assert.deepEqual(held(home).map((number) => number.phone_number), [home.virtual_number]);
                    twilio.available.US = [];
                }
                twilio.offer('US', 9);
                const person = await owner(client);
                const there = { ...person, keeper: node.client.as(person.keeper.key) };
                const quotes = [];
                for (let i = 0; i < 4; i++) quotes.push(await quote(person));
                const answers = await Promise.all(quotes.map((made, i) => execute(i % 2 ? person : there, made)));
                assert.equal(answers.filter((answer) => answer.status === 201).length, 1);
                for (const answer of answers.filter((a) => a.status !== 201)) assert.ok(['BUILDING_BUSY', 'QUOTE_STALE'].includes(answer.body.error.code), answer.text);
                const made = await quote(person);
                const key = idempotencyKey();
                const same = await Promise.all([person, there, person, there].map((at) => execute(at, made, key)));
                for (const answer of same) assert.deepEqual(answer.body, same[0].body);
                const rows = await buildings(there);
                assert.deepEqual([rows.length, quantity(w.daemon, person)], [3, 3]);
                for (const row of rows) assert.deepEqual(held(row).map((number) => number.phone_number), [row.virtual_number]);
                twilio.available.US = [];
            } finally {
                await node.close();
            }
        });

        it('are searched on every page', async () => {
            const { session, home } = await subscribed();
            const others = Array.from({ length: 3 }, () => ({ sid: `PN${'0'.repeat(32)}`, friendly_name: 'other', phone_number: '+12015550000' }));
            const [offered] = twilio.offer('US');
            await sdkOn(twilio).incomingPhoneNumbers.create({ phoneNumber: offered, friendlyName: home.id });
            twilio.clear();
            const root = `/2010-04-01/Accounts/${twilio.account}`;
            twilio.order({ status: 200, body: { incoming_phone_numbers: others, next_page_uri: `${root}/IncomingPhoneNumbers.json?FriendlyName=${home.id}&Page=0` } });
            assert.equal((await later(session)).virtual_number, offered);
            assert.equal(purchases(), 0);
        });

        it('are not searched for ever, nor elsewhere', async () => {
            twilio.offer('US');
            const { account } = twilio;
            for (const next_page_uri of [`/2010-04-01/Accounts/${account}/IncomingPhoneNumbers.json?Page=1`, 'https://127.0.0.1:9/x', '//127.0.0.1:9/x',
                '/2010-04-01/Accounts/AC00/IncomingPhoneNumbers.json', `/2010-04-01/Accounts/${account}@127.0.0.1/x`, `/2010-04-01/Accounts/${account}/x y`, '']) {
                twilio.clear();
                twilio.order({ status: 200, body: { incoming_phone_numbers: [], next_page_uri } }, { method: 'GET', count: 1000 });
                const { session, home } = await subscribed();
                assert.deepEqual([home.provisioned, purchases()], [false, 0], next_page_uri);
                assert.ok(twilio.requests.length < 100, next_page_uri);
                await setSubscription(client, session.email, 'canceled');
            }
            twilio.available.US = [];
        });

        it('survive every hostile answer, wherever it comes, and are bought once in the end', async () => {
            for (const [name, fault] of Object.entries(hostile)) {
                for (const where of [{ method: 'GET', resource: 'IncomingPhoneNumbers' }, { method: 'GET', resource: 'AvailablePhoneNumbers' }, { method: 'POST' }]) {
                    if (fault.silent && where.method === 'GET') continue; // takes its time, and is the same as being closed
                    twilio.clear();
                    twilio.offer('US', 2);
                    twilio.order(fault, where);
                    const { session, home } = await subscribed();
                    const at = `${name}, ${where.method} ${where.resource ?? ''}`;
                    // A read may be repeated at once, on another connection.
                    assert.equal(home.provisioned, held(home).length === 1, at);
                    if (where.method === 'POST') assert.equal(home.provisioned, false, at);
                    assert.equal((await later(session)).virtual_number, held(home)[0]?.phone_number, at);
                    assert.equal(held(home).length, 1, at);
                    twilio.available.US = [];
                }
            }
        });

        it('are given back once the subscription is over, whatever it takes', async () => {
            for (const fault of [{ status: 503, body: '' }, { close: true }, { act: true, close: true }, { status: 404, body: { code: 20404, message: 'not found', status: 404 } }]) {
                twilio.offer('US');
                const { session, home } = await subscribed();
                await setSubscription(client, session.email, 'canceled');
                twilio.order(fault, { method: 'DELETE' });
                await advance(client, 31 * DAY / 1000);
                await advance(client, 3600);
                if (fault.status !== 404) assert.deepEqual(held(home), []);
                const again = await signIn(client, session.email);
                assert.equal((await building(again)).virtual_number, null);
                assert.ok(twilio.requests.filter(({ method }) => method === 'DELETE').length >= 1);
                twilio.clear();
                await advance(client, DAY / 1000);
                assert.equal(twilio.requests.length, 0); // it is over
            }
        });
    });

    describe('configuration', () => {
        it('is refused where it cannot work, with the key that is wrong', () => {
            const env = { PORTERO_SMS_PROVIDER: 'twilio', PORTERO_TWILIO_ACCOUNT_SID: twilio.account, PORTERO_TWILIO_AUTH_TOKEN: 't', PORTERO_TWILIO_FROM: twilio.from,
                PORTERO_DATA_DIR: '/nonexistent/portero' };
            for (const [key, value, named] of [['AUTH_TOKEN', '', 'twilio.auth_token'], ['FROM', '', 'twilio.from'], ['URL', 'http://192.0.2.1', 'twilio.url'], ['TIMEOUT_S', '0', 'TIMEOUT_S']]) {
                const done = portero(['check-config'], { env: { ...env, [`PORTERO_TWILIO_${key}`]: value } });
                assert.equal(done.status, 2, named);
                assert.ok(done.stderr.includes(named), done.stderr);
            }
        });

        it('is checked at the start, too', async () => {
            for (const [changed, named] of [[{ account_sid: 'AC123' }, 'twilio.account_sid'], [{ auth_token: 'env:PORTERO_NOT_SET' }, 'twilio.auth_token'], [{ from: 'Portero' }, 'twilio.from']]) {
                await assert.rejects(world({ config: { sms: { provider: 'twilio' }, twilio: { ...twilio.config, ...changed } } }), new RegExp(`exit 2[^]*${named}`));
            }
        });
    });
});
