// The events that webhook receivers get, and how they verify them: contract "Events"; docs/behaviour/webhooks.md.
import { describe, it, beforeEach } from 'node:test';
import assert from 'node:assert/strict';
import { ok, refused } from './lib/client.js';
import { engine, portero } from './lib/daemon.js';
import { contract } from './lib/contract.js';
import { added, owner as linkedOwner } from './lib/buildings.js';
import { REACHABLE, useReceiver, verify } from './lib/receiver.js';
import { sql } from './lib/store.js';
import { advance, agent, eventually, grant, HOUR, ID, now, passMidnight, resident, signIn, TIMESTAMP, UNKNOWN_ID, useWorld, visit } from './lib/world.js';

const EVENT_ID = /^evt_[0-9a-f]{24}$/;

describe('webhook events', () => {
    const w = useWorld({ config: REACHABLE });
    const { client } = w;
    const receiver = useReceiver();
    let owner;
    beforeEach(async () => {
        receiver.answer = undefined;
        receiver.requests.length = 0;
        owner = await resident(client);
    });

    const listen = async (events, path) => ok(await owner.client.post('/v1/webhooks', { url: receiver.url(path), events }), 201);
    const place = (event) => ({ building_id: owner.building.id, building_label: 'Home', occurred_at: event.data.occurred_at });
    const event = (type) => receiver.first((request) => request.body.type === type, type).then((request) => request.body);
    const test = async (endpoint) => ok(await owner.client.post(`/v1/webhooks/${endpoint.id}/test`), 202).delivery_id;
    const deliveries = async (endpoint, query = '') => ok(await owner.client.get(`/v1/webhooks/${endpoint.id}/deliveries${query}`)).data;
    const settled = (endpoint) => eventually(async () => {
        const list = await deliveries(endpoint);
        return list.length > 0 && list.every(({ status }) => status !== 'pending') && list;
    }, 'no delivery pending');
    const visitor = (digits) => visit(client, { to: owner.number, ...(digits ? { digits } : {}) });

    describe('caused by a request with a trace', () => {
        const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
        const PARENT = '00f067aa0ba902b7';
        const traced = (session, path, body, traceparent = `00-${TRACE}-${PARENT}-01`) => session.post(path, body, { headers: { traceparent, tracestate: 'vendor=1' } });
        const traceOf = ({ headers }) => /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/.exec(headers.traceparent ?? '')?.slice(1);

        // WEBHOOK-30
        it('carry it, each attempt with an ID of its own', async () => {
            const endpoint = await listen(['webhook.test']);
            receiver.answer = (request, response) => { response.statusCode = 503; response.end(); };
            ok(await traced(owner.client, `/v1/webhooks/${endpoint.id}/test`), 202);
            for (const [i, pause] of [60, 300, 1800, 7200, 0].entries()) {
                const attempt = i + 1;
                await eventually(() => receiver.requests.length >= attempt, `attempt ${attempt}`);
                await eventually(async () => (await deliveries(endpoint))[0].attempts === attempt, `the end of attempt ${attempt}`);
                if (pause) await advance(client, pause + 1);
            }
            const traces = receiver.requests.map(traceOf);
            assert.deepEqual(new Set(traces.map(([id, , flags]) => `${id} ${flags}`)), new Set([`${TRACE} 01`]));
            assert.equal(new Set([PARENT, ...traces.map(([, parent]) => parent)]).size, 6);
            assert.ok(receiver.requests.every(({ headers }) => headers.tracestate === undefined));
            assert.ok(await w.daemon.logged(new RegExp(` delivery failed .* trace_id=${TRACE}\n`)));
        });

        it('carry it when a simulated call caused them, and when they are sent again', async () => {
            const endpoint = await listen(['access.denied', 'access.call_forwarded']);
            ok(await traced(client.as(undefined), '/sandbox/calls', { from: '+15550001111', to: owner.number }));
            const [id] = traceOf(await receiver.first(({ body }) => body.type === 'access.call_forwarded'));
            assert.equal(id, TRACE);
            const [first] = await settled(endpoint);
            ok(await owner.client.post(`/v1/webhooks/${endpoint.id}/deliveries/${first.id}/replay`), 202);
            await eventually(() => receiver.requests.length === 2, 'a second delivery');
            assert.equal(traceOf(receiver.requests[1])[0], TRACE);
        });

        // WEBHOOK-30
        it('have none if it has none, or a malformed one', async () => {
            const endpoint = await listen(['webhook.test']);
            await test(endpoint);
            ok(await traced(owner.client, `/v1/webhooks/${endpoint.id}/test`, undefined, `00-${'0'.repeat(32)}-${PARENT}-01`), 202);
            await eventually(() => receiver.requests.length === 2, 'two deliveries');
            assert.deepEqual(receiver.requests.map(({ headers }) => headers.traceparent), [undefined, undefined]);
        });
    });

    describe('of calls', () => {
        it('tell that a passcode opened, how often it still may, and that it may no more', async () => {
            await listen(['access.granted', 'unlock.no_uses_remaining']);
            const made = await grant(owner, { type: 'passcode', label: 'Parcel 📦 "today"', access_code: '2468', remaining_uses: 2 });
            for (let left = 1; left >= 0; left--) {
                assert.equal((await visitor('2468')).outcome, 'released');
                const granted = await receiver.first(({ body }) => body.type === 'access.granted' && body.data.remaining_uses === left);
                assert.deepEqual(granted.body.data, {
                    ...place(granted.body), unlock_id: made.id, unlock_type: 'passcode', label: 'Parcel 📦 "today"', remaining_uses: left,
                });
            }
            const last = await event('unlock.no_uses_remaining');
            assert.deepEqual(last.data, { ...place(last), unlock_id: made.id, unlock_type: 'passcode', label: 'Parcel 📦 "today"' });
            const granted = receiver.requests.find(({ body }) => body.data.remaining_uses === 0).body;
            assert.ok(last.data.occurred_at > granted.data.occurred_at, 'it comes after the use it tells of');
            assert.equal(receiver.requests.length, 3);
        });

        it('tell of timers and routines without a limit of uses', async () => {
            await listen(['access.granted', 'unlock.no_uses_remaining']);
            await passMidnight(client);
            const days = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
            const routine = await grant(owner, { type: 'routine', days, start: '00:00', end: '23:59', timezone: 'UTC' });
            assert.equal((await visitor()).outcome, 'released');
            const first = await event('access.granted');
            assert.deepEqual(first.data, { ...place(first), unlock_id: routine.id, unlock_type: 'routine', label: 'routine', remaining_uses: null });
            const timer = await grant(owner, { type: 'timer', label: 'Party', expires_in_minutes: 5 });
            assert.equal((await visitor()).outcome, 'released');
            const second = (await receiver.first(({ body }) => body.data.unlock_id === timer.id)).body;
            assert.deepEqual(second.data, { ...place(second), unlock_id: timer.id, unlock_type: 'timer', label: 'Party', remaining_uses: null });
        });

        it('tell of wrong passcodes, and of calls that were forwarded', async () => {
            await listen(['access.denied', 'access.call_forwarded']);
            await grant(owner, { type: 'passcode', access_code: '2468' });
            assert.equal((await visitor('1357')).outcome, 'forwarded');
            for (const type of ['access.denied', 'access.call_forwarded']) {
                const told = await event(type);
                assert.deepEqual(told.data, place(told));
            }
            assert.equal(receiver.requests.length, 2);
        });

        it('tell nothing of a revocation, an edit, or the owner\'s own call', async () => {
            const all = await listen();
            const made = await grant(owner, { type: 'passcode', access_code: '2468' });
            ok(await owner.client.patch(`/v1/unlock/${made.id}`, { label: 'Other' }, { headers: { 'If-Match': '"0"' } }));
            ok(await owner.client.delete(`/v1/unlock/${made.id}`));
            await advance(client, 0);
            assert.deepEqual(await deliveries(all), []);
        });

        it('reach each endpoint that listens to the type, under one id, and no other', async () => {
            const [first, second, deaf] = [await listen(['access.call_forwarded'], '/1'), await listen(undefined, '/2'), await listen(['access.denied'], '/3')];
            const stranger = await resident(client);
            ok(await stranger.client.post('/v1/webhooks', { url: receiver.url('/4') }), 201);
            assert.equal((await visitor()).outcome, 'forwarded');
            await receiver.count(2);
            for (const endpoint of [first, second]) await settled(endpoint);
            assert.deepEqual(receiver.requests.map(({ path }) => path).sort(), ['/1', '/2']);
            assert.equal(new Set(receiver.requests.map(({ body }) => body.id)).size, 1);
            assert.deepEqual(await deliveries(deaf), []);
        });

        // WEBHOOK-1
        it('tell which of the account\'s buildings they are about', async () => {
            const person = await linkedOwner(client);
            ok(await person.client.post('/v1/webhooks', { url: receiver.url('/linked') }), 201);
            const cabin = await added(person);
            for (const [number, id, label] of [[cabin.virtual_number, cabin.id, 'Cabin'], [person.number, person.building.id, 'Home']]) {
                assert.equal((await visit(client, { to: number })).outcome, 'forwarded');
                const told = (await receiver.first(({ body }) => body.data.building_id === id)).body;
                assert.deepEqual(told.data, { building_id: id, building_label: label, occurred_at: told.data.occurred_at });
            }
        });

        it('do not wait for a receiver that hangs', async () => {
            const waiting = [];
            receiver.answer = (request, response) => waiting.push(response);
            const all = await listen();
            await grant(owner, { type: 'timer', expires_in_minutes: 5 });
            assert.equal((await visitor()).outcome, 'released');
            const response = await eventually(() => waiting[0], 'the delivery');
            response.writeHead(200).end();
            const [row] = await settled(all);
            assert.deepEqual([row.status, row.attempts], ['delivered', 1], 'its first attempt was still waiting when the door was open');
        });
    });

    describe('of a test', () => {
        // WEBHOOK-18
        it('are queued for their endpoint alone, whether or not it lists the type', async () => {
            const endpoint = await listen(['access.denied'], '/listed');
            const other = await listen(undefined, '/other');
            const id = await test(endpoint);
            assert.match(id, ID);
            const { body, path } = await receiver.first();
            assert.equal(path, '/listed');
            assert.deepEqual({ ...body, id: 'evt', created_at: 'then' }, { id: 'evt', type: 'webhook.test', created_at: 'then', api_version: 'v1', data: {} });
            const [row] = await settled(endpoint);
            assert.equal(row.id, id);
            assert.deepEqual(await deliveries(other), []);
        });
    });

    describe('are sent', () => {
        it('as a signed POST of JSON, the same bytes that are signed', async () => {
            const endpoint = await listen(undefined, '/path?query=%20a');
            await test(endpoint);
            const request = await receiver.first();
            assert.equal(request.method, 'POST');
            assert.equal(request.path, '/path?query=%20a');
            assert.equal(request.headers['content-type'], 'application/json');
            assert.match(request.headers['user-agent'], /^Portero\//);
            assert.equal(request.headers.host, `127.0.0.1:${receiver.port}`);
            assert.deepEqual(Object.keys(request.body), ['id', 'type', 'created_at', 'api_version', 'data']);
            assert.match(request.body.id, EVENT_ID);
            assert.match(request.body.created_at, TIMESTAMP);
            assert.ok(await verify(endpoint.secret, request));
        });

        it('with a signature that neither another secret, another body nor another time bears out', async () => {
            const endpoint = await listen();
            const other = await listen([`webhook.test`], '/other');
            await test(endpoint);
            const request = await receiver.first();
            assert.ok(await verify(endpoint.secret, request));
            assert.ok(!await verify(other.secret, request));
            assert.ok(!await verify(endpoint.secret.slice('whsec_'.length), request), 'the key is the whole secret');
            assert.ok(!await verify(endpoint.secret, { ...request, raw: Buffer.concat([request.raw, Buffer.from(' ')]) }));
            const moved = request.headers['service-signature'].replace(/t=(\d+)/, (_, t) => `t=${Number(t) + 1}`);
            assert.ok(!await verify(endpoint.secret, { ...request, headers: { 'service-signature': moved } }));
        });

        // WEBHOOK-20
        it('with the real time in the signature, wherever the sandbox\'s clock is', async () => {
            const endpoint = await listen();
            await advance(client, HOUR / 1000);
            await test(endpoint);
            const request = await receiver.first();
            assert.ok(await verify(endpoint.secret, request));
            assert.ok(Math.abs(Date.parse(request.body.created_at) - await now(client)) < 60_000, 'created_at follows the clock');
        });

        it('as the OpenAPI document describes them', async () => {
            const endpoint = await listen();
            await grant(owner, { type: 'passcode', access_code: '2468', remaining_uses: 1 });
            await visitor('1357');
            await visitor('2468');
            await test(endpoint);
            const document = contract().find(({ prefix }) => prefix === '/');
            const types = Object.keys(document.document.webhooks);
            for (const type of types) {
                const { body, headers } = await receiver.first((request) => request.body.type === type, type);
                const at = `/webhooks/${type}/post`;
                document.validate(`${at}/requestBody/content/application~1json/schema`, body, type);
                document.validate(`${at}/parameters/0/schema`, headers['service-signature'], type);
            }
            assert.equal(types.length, 5);
            ok(await owner.client.post(`/v1/webhooks/${endpoint.id}/secret`, {}));
            const seen = receiver.requests.length;
            await test(endpoint);
            const { headers } = (await receiver.count(seen + 1))[seen];
            assert.equal(headers['service-signature'].split('v1=').length, 3);
            document.validate('/webhooks/webhook.test/post/parameters/0/schema', headers['service-signature'], 'two signatures');
        });
    });

    describe('delivered', () => {
        it('show in the list, newest first, page by page', async () => {
            const endpoint = await listen();
            const made = [];
            for (let i = 0; i < 5; i++) made.unshift(await test(endpoint));
            await settled(endpoint);
            const [newest] = await deliveries(endpoint);
            const { body } = receiver.requests.find((request) => request.body.id === newest.event_id);
            assert.deepEqual(newest, {
                id: made[0], event_id: body.id, type: 'webhook.test', status: 'delivered', attempts: 1, created_at: body.created_at,
                next_attempt_at: null, last_attempt_at: newest.last_attempt_at, last_status_code: 200, last_error: null,
            });
            assert.ok(newest.last_attempt_at >= newest.created_at);
            const seen = [];
            for (let cursor = ''; cursor !== null;) {
                const page = ok(await owner.client.get(`/v1/webhooks/${endpoint.id}/deliveries?limit=2${cursor && `&cursor=${cursor}`}`));
                seen.push(...page.data.map(({ id }) => id));
                assert.equal(page.pagination.has_more, page.pagination.cursor !== null);
                cursor = page.pagination.cursor;
            }
            assert.deepEqual(seen, made);
            assert.deepEqual((await deliveries(endpoint, '?status=delivered')).map(({ id }) => id), made);
            for (const status of ['pending', 'failed', 'canceled']) assert.deepEqual(await deliveries(endpoint, `?status=${status}`), []);
        });

        it('are listed by valid filters only', async () => {
            const endpoint = await listen();
            const path = `/v1/webhooks/${endpoint.id}/deliveries`;
            for (const limit of ['0', '101', 'x', '']) refused(await owner.client.get(`${path}?limit=${limit}`), 400, 'INVALID_LIMIT', 'limit');
            for (const status of ['', 'done', 'Failed']) refused(await owner.client.get(`${path}?status=${status}`), 400, 'INVALID_FILTER', 'status');
            for (const cursor of ['', 'x', `${UNKNOWN_ID}0`]) refused(await owner.client.get(`${path}?cursor=${cursor}`), 400, 'INVALID_CURSOR', 'cursor');
        });

        // WEBHOOK-32
        it('can be sent again, as the same event in a new delivery', async () => {
            const endpoint = await listen();
            const first = await test(endpoint);
            await settled(endpoint);
            const again = ok(await owner.client.post(`/v1/webhooks/${endpoint.id}/deliveries/${first.toUpperCase()}/replay`), 202).delivery_id;
            assert.notEqual(again, first);
            await receiver.count(2);
            const [one, two] = receiver.requests;
            assert.deepEqual(two.body, one.body);
            assert.ok(await verify(endpoint.secret, two));
            const rows = await settled(endpoint);
            assert.deepEqual(rows.map(({ id, status }) => [id, status]), [[again, 'delivered'], [first, 'delivered']]);
        });

        // WEBHOOK-33
        it('are seen and sent again by the operator, too', async () => {
            const admin = (...args) => portero(['admin', 'delivery', ...args, '--config', w.daemon.configPath, '--data', w.daemon.data]);
            const endpoint = await listen();
            const id = await test(endpoint);
            await settled(endpoint);
            const listed = JSON.parse(admin('list', '--account', owner.email, '--json').stdout).data;
            assert.deepEqual(listed.map((row) => [row.id, row.webhook_id, row.status]), [[id, endpoint.id, 'delivered']]);
            assert.ok(JSON.parse(admin('list', '--status', 'delivered', '--json').stdout).data.some((row) => row.id === id));
            assert.ok(!JSON.parse(admin('list', '--json').stdout).data.some((row) => row.id === id), 'what failed is listed first');
            assert.ok(admin('list', '--account', owner.email).stdout.includes(id));
            const again = JSON.parse(admin('replay', id, '--json').stdout).delivery_id;
            await receiver.count(2);
            assert.deepEqual((await settled(endpoint)).map((row) => row.id), [again, id]);
            for (const [args, code] of [[['replay', UNKNOWN_ID], 'NOT_FOUND'], [['replay', 'x'], 'INVALID_ID'],
                [['list', '--status', 'lost'], 'INVALID_FILTER'], [['list', '--account', 'nobody@example.com'], 'ACCOUNT_NOT_FOUND']]) {
                const done = admin(...args);
                assert.equal(done.status, 1, done.stdout);
                assert.match(done.stderr, new RegExp(`^portero: .*\\(${code}\\)\\n$`));
            }
        });

        // WEBHOOK-31
        it('are forgotten after 30 days, and those to come are not', async () => {
            owner.client = (await agent(owner, ['access:read', 'access:write'], { expires_in_days: 90 })).client;
            const endpoint = await listen();
            await test(endpoint);
            await settled(endpoint);
            await advance(client, 30 * 24 * 3600 - 3600);
            assert.equal((await deliveries(endpoint)).length, 1);
            await advance(client, 2 * 3600);
            await eventually(async () => (await deliveries(endpoint)).length === 0, 'the purge');
            assert.match(await test(endpoint), ID);
        });
    });

    // WEBHOOK-31
    it('end with the endpoint', async () => {
        const endpoint = await listen(undefined, '/ended');
        ok(await owner.client.delete(`/v1/webhooks/${endpoint.id}`));
        await visitor();
        await advance(client, 0);
        assert.deepEqual(await deliveries(endpoint), []);
        assert.deepEqual(receiver.to('/ended'), []);
        const stranger = await signIn(client);
        refused(await stranger.client.get(`/v1/webhooks/${endpoint.id}/deliveries`), 404, 'NOT_FOUND');
    });
});

// PostgreSQL plans by statistics, which mostly say that nothing is pending.
if (engine === 'postgresql') describe('webhook events of a database whose statistics are old', () => {
    const w = useWorld({ config: REACHABLE });
    const receiver = useReceiver();

    // A lease is a minute: one that was leased and forgotten comes later than this test waits.
    it('all arrive at once', async () => {
        const owner = await resident(w.client);
        const endpoint = ok(await owner.client.post('/v1/webhooks', { url: receiver.url() }), 201);
        const test = async () => ok(await owner.client.post(`/v1/webhooks/${endpoint.id}/test`), 202);
        const pending = () => Number(sql(w.daemon, "SELECT count(*) FROM delivery WHERE status = 'pending'"));
        await test();
        for (let round = 0; round < 10; round++) {
            await eventually(() => pending() === 0, 'none is pending', 30_000);
            sql(w.daemon, 'VACUUM ANALYZE');
            const expected = receiver.requests.length + 24;
            await Promise.all(Array.from({ length: 24 }, test));
            await eventually(() => receiver.requests.length >= expected, `${24 * (round + 1)} deliveries`, 30_000);
        }
    });
});
