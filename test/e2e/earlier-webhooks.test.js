// Webhooks and callbacks of accounts of the earlier revision: contract, Versioning 3; docs/behaviour/earlier.md.
import { describe, it, before, beforeEach } from 'node:test';
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { Client, idempotencyKey, ok, refused } from './lib/client.js';
import { admin as run, added, owner as householder, execute, removal, quote } from './lib/buildings.js';
import { portero } from './lib/daemon.js';
import { REACHABLE, useReceiver } from './lib/receiver.js';
import { endLeases, sql } from './lib/store.js';
import { advance, eventually, grant, ID, resident, setSubscription, signIn, TIMESTAMP, UNKNOWN_ID, useWorld, visit } from './lib/world.js';

const EVENTS = ['unlock.created', 'unlock.completed', 'unlock.expired', 'unlock.revoked', 'access.denied'];
const SCOPES = ['account:read', 'access:read', 'access:write', 'webhooks:write'];
const fail = (request, response) => response.writeHead(500).end('{}');

/** Whether a receiver of the earlier revision takes the request: HMAC with the 64 characters, as text, as the key. */
function genuine(secret, { headers, raw }) {
    const [, t, v1] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(headers['x-service-signature']);
    return v1 === createHmac('sha256', secret).update(`${t}.`).update(raw).digest('hex') && Math.abs(Date.now() / 1000 - t) < 300;
}

describe('webhooks of the earlier revision', () => {
    const w = useWorld({ config: REACHABLE });
    const receiver = useReceiver();
    let person, key;

    const admin = (...args) => {
        const done = run(w, ...args);
        assert.equal(done.status, 0, done.stderr);
        return JSON.parse(done.stdout);
    };
    const choose = (who, revision = 'earlier') => admin('account', 'compat', who.email, '--revision', revision);
    /** An agent key; the document does not know the scope. */
    const keyOf = async (who, scopes = SCOPES) => {
        const made = ok(await who.client.request('POST', '/v1/auth/keys', { json: { scopes, expires_in_days: 90 }, check: false }), 201);
        return { key: made.api_key, client: who.client.as(made.api_key) };
    };
    const asks = (who) => (method, path, json, headers = {}) => who.client.request(method, path, { json, headers, check: false });
    const ask = (...args) => asks(key)(...args);
    const listen = async (path = '/hook', more = {}, request = ask, headers = {}) =>
        ok(await request('POST', '/v1/webhooks', { url: receiver.url(path), events: EVENTS, ...more }, headers), 201);
    const list = async (headers) => ok(await ask('GET', '/v1/webhooks', undefined, headers)).data;
    const passcode = async (body = {}) => ok(await ask('POST', '/v1/unlock', { type: 'passcode', ...body }, { 'Idempotency-Key': idempotencyKey() }), 201);
    const drop = async () => { for (const { id } of await list()) ok(await ask('DELETE', `/v1/webhooks/${id}`)); };
    const deliveries = (who = person) => admin('delivery', 'list', '--account', who.email).data;
    const ended = (found) => eventually(() => deliveries().find((row) => found(row) && row.status !== 'pending'), 'the end of a delivery');

    before(async () => {
        person = await resident(w.client);
        await grant(person, { type: 'passcode', access_code: '8642' }); // so that calls are asked for a code
        choose(person);
        key = await keyOf(person);
    });
    beforeEach(async () => {
        receiver.answer = undefined;
        await drop();
        await advance(w.client, 3600); // wrong codes of the tests before must not close the keypad
        receiver.requests.length = 0;
    });

    describe('endpoints', () => {
        // EARLIER-24
        it('are a building\'s, with a secret of 64 hexadecimal characters that is shown once', async () => {
            const made = await listen('/hook', { description: 'Desk', events: ['access.denied', 'unlock.completed'] });
            const { secret, ...endpoint } = made;
            assert.match(secret, /^[0-9a-f]{64}$/);
            assert.match(made.id, ID);
            assert.match(made.created_at, TIMESTAMP);
            assert.deepEqual(endpoint, {
                id: made.id, building_id: person.building.id, url: receiver.url(), events: ['unlock.completed', 'access.denied'],
                description: 'Desk', active: true, created_at: made.created_at,
            });
            assert.deepEqual(await list(), [endpoint]);
            assert.equal((await listen('/other')).description, null);
            refused(await ask('GET', '/v1/webhooks', undefined, { 'X-Service-Building-Id': UNKNOWN_ID }), 404, 'BUILDING_NOT_FOUND');
        });

        // EARLIER-21
        it('need a url and events, and say which one is wrong', async () => {
            const create = (body) => ask('POST', '/v1/webhooks', body);
            const url = receiver.url();
            refused(await create({ events: EVENTS }), 400, 'MISSING_URL');
            refused(await create({ url }), 400, 'MISSING_EVENTS');
            for (const events of [[], ['access.granted'], ['webhook.test'], ['access.denied', 'access.denied'], 'access.denied', null, [1]]) {
                refused(await create({ url, events }), 400, 'INVALID_EVENTS');
            }
            for (const wrong of ['http://127.0.0.1/hook', 'hook', '', 5, null, `https://127.0.0.1/${'x'.repeat(2048)}`]) {
                refused(await create({ url: wrong, events: EVENTS }), 400, 'INVALID_URL');
            }
            refused(await create({ url, events: EVENTS, description: 'x'.repeat(501) }), 400, 'INVALID_WEBHOOK', 'description');
            assert.deepEqual(await list(), []);
        });

        // EARLIER-20
        it('are at most five for a building, inactive ones included', async () => {
            const made = [];
            for (let i = 0; i < 5; i++) made.push(await listen(`/${i}`));
            ok(await ask('PATCH', `/v1/webhooks/${made[0].id}`, { active: false }));
            refused(await ask('POST', '/v1/webhooks', { url: receiver.url(), events: EVENTS }), 400, 'MAX_WEBHOOKS_EXCEEDED');
            assert.deepEqual((await list()).map(({ id }) => id), made.map(({ id }) => id).reverse());
            assert.deepEqual(ok(await ask('DELETE', `/v1/webhooks/${made[0].id}`)), { id: made[0].id, deleted: true });
            ok(await ask('DELETE', `/v1/webhooks/${made[0].id}`));
            await listen('/again');
        });

        it('are changed by what a change names', async () => {
            const { secret, ...made } = await listen('/hook', { description: 'Desk' });
            const change = (body) => ask('PATCH', `/v1/webhooks/${made.id}`, body);
            assert.ok(secret);
            assert.deepEqual(ok(await change({ url: receiver.url('/new') })), { ...made, url: receiver.url('/new') });
            assert.deepEqual(ok(await change({ events: ['unlock.revoked'], description: null, active: false })),
                { ...made, url: receiver.url('/new'), events: ['unlock.revoked'], description: null, active: false });
            assert.equal(ok(await change({ active: true })).active, true);
            refused(await change({}), 400, 'INVALID_WEBHOOK');
            refused(await change({ active: 'yes' }), 400, 'INVALID_WEBHOOK');
            refused(await change({ enabled: true }), 400, 'INVALID_WEBHOOK', 'enabled');
            refused(await change({ events: [] }), 400, 'INVALID_EVENTS');
            refused(await change({ url: 'http://127.0.0.1/' }), 400, 'INVALID_URL');
            refused(await ask('PATCH', `/v1/webhooks/${UNKNOWN_ID}`, { active: true }), 404, 'NOT_FOUND');
            refused(await ask('PATCH', '/v1/webhooks/mine', { active: true }), 400, 'INVALID_ID');
        });

        it('are created once for an Idempotency-Key, even if they are deleted', async () => {
            const header = { 'Idempotency-Key': idempotencyKey() };
            const first = await listen('/hook', {}, ask, header);
            ok(await ask('DELETE', `/v1/webhooks/${first.id}`));
            const again = await ask('POST', '/v1/webhooks', { url: receiver.url(), events: EVENTS }, header);
            assert.deepEqual(ok(again), first);
            assert.equal(again.headers['idempotency-replayed'], 'true');
            refused(await ask('POST', '/v1/webhooks', { url: receiver.url('/x'), events: EVENTS }, header), 409, 'IDEMPOTENCY_CONFLICT');
            refused(await ask('POST', '/v1/webhooks', { url: 5 }, header), 409, 'IDEMPOTENCY_CONFLICT');
            assert.deepEqual(await list(), []);
        });

        // EARLIER-20
        it('need an active subscription for every operation', async () => {
            const { id } = await listen();
            for (const status of ['canceled', 'past_due']) {
                await setSubscription(w.client, person.email, status);
                for (const [method, path, body] of [
                    ['GET', '/v1/webhooks'], ['POST', '/v1/webhooks', { url: receiver.url(), events: EVENTS }], ['PATCH', `/v1/webhooks/${id}`, { active: false }],
                    ['DELETE', `/v1/webhooks/${id}`], ['POST', `/v1/webhooks/${id}/test`],
                ]) {
                    refused(await ask(method, path, body), 403, 'SUBSCRIPTION_REQUIRED');
                }
            }
            await setSubscription(w.client, person.email);
            assert.equal((await list()).length, 1);
        });

        // EARLIER-20
        it('need the scope webhooks:write, also to be listed', async () => {
            const other = await keyOf(await signIn(w.client, person.email), SCOPES.filter((scope) => scope !== 'webhooks:write'));
            for (const method of ['GET', 'POST']) refused(await asks(other)(method, '/v1/webhooks', method === 'POST' ? {} : undefined), 403, 'INSUFFICIENT_SCOPE', 'webhooks:write');
        });

        // EARLIER-22
        it('belong to one revision alone', async () => {
            const mine = await listen();
            choose(person, 'current');
            assert.deepEqual(ok(await key.client.get('/v1/webhooks')).data, []);
            refused(await key.client.post(`/v1/webhooks/${mine.id}/test`), 404, 'NOT_FOUND');
            const other = ok(await key.client.post('/v1/webhooks', { url: receiver.url('/current') }), 201);
            choose(person);
            assert.deepEqual((await list()).map(({ id }) => id), [mine.id]);
            refused(await ask('POST', `/v1/webhooks/${other.id}/test`), 404, 'NOT_FOUND');
            refused(await ask('GET', `/v1/webhooks/${mine.id}/deliveries`), 404, 'NOT_FOUND');
            refused(await ask('POST', `/v1/webhooks/${mine.id}/secret`), 404, 'NOT_FOUND');

            await visit(w.client, { to: person.number, digits: '0001' });
            const [old, now] = await Promise.all(['/hook', '/current'].map((path) => receiver.first((r) => r.path === path)));
            assert.equal(old.body.event, 'access.denied');
            assert.equal(now.body.type, 'access.denied');
            assert.ok(now.headers['service-signature'] && !now.headers['x-service-event']);

            choose(person, 'current');
            receiver.requests.length = 0;
            await visit(w.client, { to: person.number, digits: '0002' });
            await receiver.first((r) => r.path === '/current');
            await advance(w.client, 60);
            assert.deepEqual(receiver.to('/hook'), [], 'the endpoint of the earlier revision is silent');
            ok(await key.client.delete(`/v1/webhooks/${other.id}`));
            choose(person);
        });
    });

    describe('callbacks', () => {
        // EARLIER-26, EARLIER-27
        it('tell a release, with its envelope, headers, number of the type and signature', async () => {
            const endpoint = await listen();
            const made = await passcode({ code: '4711', label: 'Parcel', max_uses: 2 });
            await visit(w.client, { to: person.number, digits: '4711' });
            const request = await receiver.first();
            const { body, headers } = request;
            assert.deepEqual(Object.keys(body), ['event', 'eventId', 'building_id', 'created_at', 'data']);
            assert.match(body.eventId, /^evt_[0-9a-f]{24}$/);
            assert.match(body.created_at, TIMESTAMP);
            assert.deepEqual([body.event, body.building_id], ['unlock.completed', person.building.id]);
            assert.deepEqual(body.data, { unlock_id: made.id, unlock_type: 2, label: 'Parcel', remaining_uses: 1, occurred_at: body.data.occurred_at });
            assert.equal(headers['x-service-event'], 'unlock.completed');
            assert.equal(headers['x-service-delivery-id'], body.eventId);
            assert.equal(headers['content-type'], 'application/json');
            assert.ok(genuine(endpoint.secret, request));
            assert.equal(headers['service-signature'], undefined);
        });

        // EARLIER-27
        it('number timers 1 and routines 3, and leave out the last use', async () => {
            await listen();
            const timer = ok(await ask('POST', '/v1/unlock', { type: 'timer', duration_minutes: 5, max_uses: 1 }, { 'Idempotency-Key': idempotencyKey() }), 201);
            await visit(w.client, { to: person.number });
            assert.deepEqual((await receiver.first()).body.data.unlock_type, 1);
            const routine = ok(await ask('POST', '/v1/unlock', {
                type: 'routine', days: ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'], start: '00:00', end: '23:59', timezone: 'UTC',
            }, { 'Idempotency-Key': idempotencyKey() }), 201);
            await visit(w.client, { to: person.number });
            await receiver.count(2);
            const { body } = receiver.requests[1];
            assert.deepEqual([body.event, body.data.unlock_type, body.data.unlock_id, body.data.remaining_uses], ['unlock.completed', 3, routine.id, null]);
            ok(await ask('DELETE', `/v1/unlock/${routine.id}`));
            ok(await ask('DELETE', `/v1/unlock/${timer.id}`));
            await receiver.count(4);
            assert.deepEqual(receiver.requests.map((r) => r.body.event), ['unlock.completed', 'unlock.completed', 'unlock.revoked', 'unlock.revoked']);
        });

        // EARLIER-26
        it('tell a revocation once, and a wrong code, but neither creations, ends nor forwarded calls', async () => {
            await listen();
            const made = await passcode({ label: 'Guest', expires_in_minutes: 1 });
            await advance(w.client, 61);
            await visit(w.client, { to: person.number });
            ok(await ask('DELETE', `/v1/unlock/${made.id}`));
            ok(await ask('DELETE', `/v1/unlock/${made.id}`));
            await receiver.first();
            await visit(w.client, { to: person.number, digits: '0003' });
            await receiver.count(2);
            await advance(w.client, 60);
            const [revoked, denied, ...more] = receiver.requests.map((r) => r.body);
            assert.deepEqual(more, []);
            assert.deepEqual([revoked.event, revoked.data], ['unlock.revoked', { unlock_id: made.id, unlock_type: 2, label: 'Guest', occurred_at: revoked.data.occurred_at }]);
            assert.deepEqual([denied.event, Object.keys(denied.data)], ['access.denied', ['occurred_at']]);
        });

        it('reach the endpoints that list the type and are active', async () => {
            await listen('/denied', { events: ['access.denied'] });
            await listen('/completed', { events: ['unlock.completed'] });
            const off = await listen('/off');
            ok(await ask('PATCH', `/v1/webhooks/${off.id}`, { active: false }));
            await visit(w.client, { to: person.number, digits: '0004' });
            await receiver.first();
            await advance(w.client, 60);
            assert.deepEqual(receiver.requests.map((r) => r.path), ['/denied']);
        });

        // EARLIER-28
        it('are tried three times, after 5 to 7.5 and 30 to 45 seconds, as the same event', async () => {
            receiver.answer = fail;
            const endpoint = await listen();
            await visit(w.client, { to: person.number, digits: '0005' });
            await receiver.count(1);
            const id = receiver.requests[0].body.eventId;
            const attempted = (n) => eventually(() => deliveries().find((row) => row.event_id === id && row.attempts >= n), `${n} attempts`);
            for (const [i, least, most] of [[1, 5000, 7500], [2, 30_000, 45_000]]) {
                const row = await attempted(i);
                const pause = Date.parse(row.next_attempt_at) - Date.parse(row.last_attempt_at);
                assert.ok(pause >= least && pause <= most, `${pause}`);
                assert.deepEqual([row.status, row.last_status_code, row.last_error], ['pending', 500, 'status']);
                await advance(w.client, 45);
                assert.equal(receiver.requests.length, i + 1);
            }
            const row = await ended((found) => found.event_id === id);
            assert.deepEqual([row.status, row.attempts, row.type], ['failed', 3, 'access.denied']);
            await advance(w.client, 24 * 3600);
            assert.equal(receiver.requests.length, 3);
            for (const request of receiver.requests) {
                assert.deepEqual(request.raw, receiver.requests[0].raw);
                assert.ok(genuine(endpoint.secret, request));
            }
        });

        // EARLIER-29
        it('that fail ten times in a row switch the endpoint off, until it is switched on again', async () => {
            const endpoint = await listen('/hook', { events: ['unlock.revoked'] });
            const state = async () => (await list()).find(({ id }) => id === endpoint.id).active;
            const revoke = async () => ok(await ask('DELETE', `/v1/unlock/${(await passcode()).id}`));
            const failing = async (count) => {
                receiver.answer = fail;
                for (let i = 0; i < count; i++) await revoke();
                for (let i = 0; i < 3; i++) await advance(w.client, 46);
                await eventually(() => !deliveries().some((row) => row.webhook_id === endpoint.id && row.status === 'pending'), 'the end of all');
            };
            const success = async () => {
                receiver.answer = undefined;
                await revoke();
                await eventually(() => deliveries().some((row) => row.webhook_id === endpoint.id && row.status === 'delivered'), 'a delivery');
            };
            await failing(9);
            assert.equal(await state(), true);
            await success();
            await failing(9);
            assert.equal(await state(), true, 'a success begins the count again');
            const before = receiver.requests.length;
            await failing(1);
            assert.equal(await state(), false);
            assert.equal(receiver.requests.length, before + 3);
            await revoke();
            await advance(w.client, 60);
            assert.equal(receiver.requests.length, before + 3, 'it gets no events');
            assert.match(w.daemon.stderr, new RegExp(`webhook endpoint disabled endpoint=${endpoint.id}`));
            ok(await ask('PATCH', `/v1/webhooks/${endpoint.id}`, { active: true }));
            await failing(9);
            assert.equal(await state(), true, 'it begins without failures');
        });

        it('end with the endpoint', async () => {
            receiver.answer = fail;
            const endpoint = await listen();
            await visit(w.client, { to: person.number, digits: '0006' });
            await receiver.count(1);
            await eventually(() => deliveries().find((row) => row.webhook_id === endpoint.id && row.attempts === 1), 'an attempt');
            ok(await ask('DELETE', `/v1/webhooks/${endpoint.id}`));
            await advance(w.client, 60);
            assert.equal(receiver.requests.length, 1);
            assert.equal((await ended((row) => row.webhook_id === endpoint.id)).status, 'canceled');
        });
    });

    describe('a test', () => {
        const test = ({ id }) => ask('POST', `/v1/webhooks/${id}/test`);

        // EARLIER-25
        it('says how the attempt went, and is recorded', async () => {
            const endpoint = await listen('/hook', { events: ['access.denied'] });
            const done = ok(await test(endpoint));
            assert.deepEqual(Object.keys(done), ['success', 'statusCode', 'latencyMs', 'errorMessage']);
            assert.deepEqual({ ...done, latencyMs: 0 }, { success: true, statusCode: 200, latencyMs: 0, errorMessage: null });
            assert.ok(Number.isInteger(done.latencyMs) && done.latencyMs >= 0);
            const [request] = receiver.requests;
            assert.deepEqual([request.body.event, request.body.data, request.body.building_id], ['webhook.test', {}, person.building.id]);
            assert.ok(genuine(endpoint.secret, request));
            const row = deliveries().find((found) => found.event_id === request.body.eventId);
            assert.deepEqual([row.type, row.status, row.attempts, row.last_status_code], ['webhook.test', 'delivered', 1, 200]);
        });

        it('is not repeated, and no reason to switch the endpoint off', async () => {
            receiver.answer = (request, response) => response.writeHead(503).end();
            const endpoint = await listen();
            for (let i = 0; i < 11; i++) {
                const done = ok(await test(endpoint));
                assert.deepEqual([done.success, done.statusCode, done.errorMessage], [false, 503, 'The endpoint answered with status 503.']);
            }
            await advance(w.client, 3600);
            assert.equal(receiver.requests.length, 11);
            assert.equal((await list())[0].active, true);
        });

        // EARLIER-25
        it('reaches an inactive endpoint, and tells why there was no answer', async () => {
            const endpoint = await listen();
            ok(await ask('PATCH', `/v1/webhooks/${endpoint.id}`, { active: false }));
            assert.equal(ok(await test(endpoint)).success, true);
            ok(await ask('PATCH', `/v1/webhooks/${endpoint.id}`, { url: 'https://127.0.0.1:9/' }));
            assert.deepEqual({ ...ok(await test(endpoint)), latencyMs: 0 }, { success: false, statusCode: null, latencyMs: 0, errorMessage: 'The connection was refused.' });
            refused(await test({ id: UNKNOWN_ID }), 404, 'NOT_FOUND');
        });

        // EARLIER-25
        it('waits for two of an account at most, and holds up nobody else', async () => {
            const waiting = [];
            receiver.answer = (request, response) => waiting.push(response);
            const endpoints = [await listen('/a'), await listen('/b'), await listen('/c')];
            const begun = endpoints.slice(0, 2).map(test);
            await receiver.count(2);
            const third = await test(endpoints[2]);
            refused(third, 429, 'RATE_LIMIT_EXCEEDED');
            assert.equal(third.headers['retry-after'], '5');
            for (const response of waiting) response.writeHead(204).end();
            for (const answer of await Promise.all(begun)) assert.equal(ok(answer).statusCode, 204);
            receiver.answer = undefined;
            ok(await test(endpoints[2]));
        });
    });

    describe('a linked building', () => {
        // EARLIER-30
        it('has endpoints of its own, which end with it', async () => {
            const home = await householder(w.client);
            const { id: linked } = await added(home);
            choose(home);
            const request = asks(await keyOf(home));
            const at = (id) => ({ 'X-Service-Building-Id': id });
            refused(await request('GET', '/v1/webhooks'), 409, 'BUILDING_REQUIRED');
            const there = await listen('/linked', {}, request, at(linked));
            await listen('/primary', {}, request, at(home.building.id));
            const listed = async (id) => ok(await request('GET', '/v1/webhooks', undefined, at(id))).data.map((row) => row.id);
            assert.deepEqual(await listed(linked), [there.id]);
            refused(await request('PATCH', `/v1/webhooks/${there.id}`, { active: false }, at(home.building.id)), 404, 'NOT_FOUND');
            receiver.answer = fail;
            const code = ok(await request('POST', '/v1/unlock', { type: 'passcode' }, { ...at(linked), 'Idempotency-Key': idempotencyKey() }), 201);
            ok(await request('DELETE', `/v1/unlock/${code.id}`, undefined, at(linked)));
            await receiver.first((r) => r.path === '/linked');
            assert.deepEqual(receiver.to('/primary'), []);
            choose(home, 'current');
            ok(await execute(home, await quote(home, removal(linked))));
            await eventually(() => Number(sql(w.daemon, `SELECT count(*) FROM building_webhook WHERE building_id = '${linked}'`)) === 0, 'the end of the endpoints');
            const [row] = deliveries(home).filter((found) => found.webhook_id === there.id);
            assert.equal(row.status, 'canceled');
        });
    });

    // EARLIER-30
    it('are in the export, and end with the account', async () => {
        const gone = await resident(w.client);
        choose(gone);
        const made = await listen('/gone', {}, asks(gone));
        await advance(w.client, 0);
        assert.match(sql(w.daemon, `SELECT url FROM building_webhook WHERE id = '${made.id}'`), /gone/);
        const text = portero(['admin', 'account', 'export', gone.email, '--config', w.daemon.configPath, '--data', w.daemon.data]).stdout;
        assert.ok(text.includes(made.id) && !text.includes(made.secret));
        admin('account', 'delete', gone.email, '--yes');
        await eventually(() => Number(sql(w.daemon, `SELECT count(*) FROM building_webhook WHERE id = '${made.id}'`)) === 0, 'the end of the endpoint');
    });

    it('are delivered although the process is killed', async () => {
        const held = [];
        receiver.answer = (request, response) => held.push(response);
        const endpoint = await listen('/crash', { events: ['unlock.revoked'] });
        const revoked = [];
        for (let i = 0; i < 5; i++) {
            const { id } = await passcode();
            ok(await ask('DELETE', `/v1/unlock/${id}`));
            revoked.push(id);
        }
        await receiver.count(1);
        await w.daemon.crash();
        for (const response of held) response.destroy();
        receiver.requests.length = 0;
        receiver.answer = undefined;
        w.client.close();
        w.client = new Client(w.daemon);
        key.client = w.client.as(key.key);
        person.client = w.client.as(person.key);
        endLeases(w.daemon);
        await w.daemon.start();
        await eventually(() => revoked.every((id) => receiver.requests.some((r) => r.body.data.unlock_id === id && genuine(endpoint.secret, r))), 'all deliveries');
        await signIn(w.client);
    });
});
