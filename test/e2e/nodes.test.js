// Several processes on one database: they know of each other, and a dead one's work goes on.
// engine: postgresql, because SQLite's store has one process
import { describe, it, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { Cable } from './lib/cable.js';
import { consistent, execute, operation, owner, quote } from './lib/buildings.js';
import { idempotencyKey, ok } from './lib/client.js';
import { temporaryDirectory } from './lib/daemon.js';
import { joined, nodeOptions, nodes, ownClock, secondsUntil } from './lib/nodes.js';
import { startBuzz, startPhone } from './lib/phone.js';
import { freePort } from './lib/port.js';
import { REACHABLE, useReceiver } from './lib/receiver.js';
import { sql } from './lib/store.js';
import { advance, changeSettings, endedCall, eventually, freshEmail, grant, ID, resident, TIMESTAMP, useWorld, visit, world } from './lib/world.js';

const LONG_MS = 40_000; // a dead node's work goes on after about 12 s

describe('nodes', () => {
    const w = useWorld({ config: REACHABLE });
    const directory = temporaryDirectory();
    after(() => rmSync(directory, { recursive: true, force: true }));

    it('list each other, with version, address, heartbeat and clock', async () => {
        const other = await joined(w);
        try {
            const list = nodes(w, 'running');
            assert.deepEqual(nodes(other, 'running').map(({ id }) => id), list.map(({ id }) => id));
            assert.deepEqual(list.map(({ address }) => `https://${address}`), [w.daemon.https, other.daemon.https]);
            for (const node of list) {
                assert.match(node.id, ID);
                assert.match(node.version, /^\d+\.\d+/);
                assert.match(node.heartbeat_at, TIMESTAMP);
                assert.equal(node.ended_at, null);
                assert.ok(Math.abs(node.clock_ahead_ms) < 2000, `${node.clock_ahead_ms} ms`);
            }
        } finally {
            await other.close();
        }
        assert.equal(nodes(w, 'running').length, 1);
        assert.equal(nodes(w, 'ended').length, 1);
    });

    it('list messages newest first, whichever node sent them', async () => {
        const other = await joined(w);
        const send = async (i, email) => ok(await (i % 2 ? other : w).client.as(undefined).post('/v1/auth/otp', { email }));
        const sent = (emails, query) => eventually(async () => { // mails are sent after the answer
            const { data } = ok(await w.client.as(undefined).get(`/sandbox/messages?channel=email&${query}`));
            return emails.every((email) => data.some(({ to }) => to === email)) && data;
        }, 'the mails');
        try {
            const emails = [];
            for (let i = 0; i < 10; i++) {
                emails.unshift(freshEmail());
                await send(i, emails[0]);
                await sent([emails[0]], 'limit=10');
            }
            assert.deepEqual((await sent(emails, 'limit=10')).map(({ to }) => to), emails);
            const own = freshEmail();
            for (let i = 0; i < 3; i++) await send(i, own);
            const times = (await eventually(async () => {
                const data = await sent([own], `to=${own}`);
                return data.length === 3 && data;
            }, 'three mails')).map(({ created_at }) => created_at);
            assert.deepEqual(times, [...times].sort().reverse());
        } finally {
            await other.close();
        }
    });

    // NODE-1
    it('end one that was killed, and live on', async (t) => {
        const other = await joined(w);
        await other.daemon.crash();
        const ended = nodes(w, 'ended').length;
        t.diagnostic(`ended after ${await secondsUntil(() => nodes(w, 'ended').length > ended, 'the end of the dead node', LONG_MS)} s`);
        assert.equal(nodes(w, 'running').length, 1);
        await other.close();
    });

    // PASS-3, PASS-7
    it('decide by a pass that another has just made, and give its code to one of two', async () => {
        const other = await joined(w);
        try {
            const person = await resident(w.client);
            const on = (node) => node.client.as(person.key);
            const make = (node, body) => on(node).post('/v1/passes', body, { headers: { 'Idempotency-Key': idempotencyKey() } });
            const call = async (node, digits) => visit(node.client, { to: person.number, digits });
            for (const [maker, door, digits] of [[w, other, '246801'], [other, w, '135790']]) {
                const { id } = ok(await make(maker, { label: 'Sister', access_code: digits }), 201);
                assert.deepEqual([(await call(door, digits)).grant_id], [id]);
                ok(await on(maker).delete(`/v1/passes/${id}`));
                assert.notEqual((await call(door, digits)).outcome, 'released');
            }
            for (let i = 0; i < 10; i++) {
                const body = { label: 'Same', access_code: `77${i}77` };
                const answers = await Promise.all([make(w, body), make(other, body)]);
                assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 400], JSON.stringify(answers.map((answer) => answer.body)));
            }
        } finally {
            await other.close();
        }
    });

    // CALL-21
    it('end the calls of one that was killed, once it has started again', async () => {
        const other = await joined(w, { args: ['--https', `127.0.0.1:${await freePort()}`, '--sip', '127.0.0.1:0'] });
        const person = await resident(w.client, { tone: '999' });
        await grant(person, { type: 'timer', expires_in_minutes: 60, label: 'Party' });
        const call = startBuzz(other.daemon, person.number, '--timeout', '20');
        await call.answered;
        await other.daemon.crash();
        await other.daemon.start();
        const record = await endedCall(person);
        assert.deepEqual([record.outcome, record.ended_by, record.steps], ['released', 'restarted', []]);
        await call.ended;
        await other.close();
    });

    // NODE-7
    it('do not end the calls of one that is cut off: it writes their true end when it is back', async () => {
        const cable = await Cable.start(w.daemon.dsn);
        const port = await freePort();
        const phone = await startPhone('--listen', `127.0.0.1:${port}`, '--hangup', '25000');
        const other = await joined(w, { config: { store: { dsn: cable.dsn }, voice: { 'peer phones': { server: `127.0.0.1:${port}`, probe_s: 0 } } } });
        try {
            const person = await resident(w.client, { tone: '5' });
            await changeSettings(person, { ring: { numbers: ['+15550001234'], accept: false } });
            const last = async () => ok(await person.client.get('/v1/calls?limit=1')).data[0];
            const call = startBuzz(other.daemon, person.number, '--timeout', '60');
            await call.answered;
            const ended = nodes(w, 'ended').length;
            cable.cut();
            await secondsUntil(() => nodes(w, 'ended').length > ended, 'the end of the node', LONG_MS);
            assert.equal((await last()).ended_at, null);
            cable.mend();
            await call.ended;
            const record = await endedCall(person);
            assert.deepEqual([record.outcome, record.ended_by, record.steps.at(-1).step], ['forwarded', 'resident', 'ended']);
            assert.ok(record.duration_ms > 20_000, `${record.duration_ms} ms`);
            assert.equal(sql(w.daemon, `SELECT count(*) FROM feed WHERE type = 'call.ended' AND data LIKE '%${record.id}%'`).trim(), '1');
            await phone.ended;
        } finally {
            await other.close();
            cable.close();
        }
    });

    // NODE-2
    it('join again when others have taken them for dead', async () => {
        const other = await joined(w);
        const [, { id }] = nodes(w, 'running');
        other.daemon.freeze();
        await secondsUntil(() => nodes(w, 'ended').some((node) => node.id === id), 'the end of the frozen node', LONG_MS);
        other.daemon.thaw();
        await secondsUntil(() => nodes(w, 'running').length === 2, 'the return', LONG_MS);
        assert.ok(await other.daemon.logged(/node lost its leases/));
        await other.close();
    });

    // NODE-6
    it('do not start with a clock that is more than 30 s wrong, and warn over 2 s', async () => {
        const clock = ownClock(directory);
        clock.move(200);
        await assert.rejects(world(nodeOptions(w, { env: clock.env })), /this machine's clock is (199|200|201) s ahead of that of the database server/);
        clock.move(-40);
        await assert.rejects(world(nodeOptions(w, { env: clock.env })), /clock is (39|40|41) s behind/);
        clock.move(5);
        const other = await joined(w, { env: clock.env });
        assert.ok(await other.daemon.logged(/warn clock differs from that of the database server ahead_ms=[45]\d\d\d /));
        clock.move(100);
        assert.ok(await other.daemon.logged(/error clock differs from that of the database server ahead_ms=/));
        clock.move(0);
        assert.ok(await other.daemon.logged(/clock agrees/));
        await other.close();
    });

    describe('and a building operation', () => {
        // NODE-4
        it('goes on when its node is killed in the middle', async (t) => {
            const other = await joined(w);
            const person = await owner(w.client);
            const made = await quote(person);
            ok(await other.client.post('/sandbox/faults', { provider: 'billing', operation: 'set_quantity', fault: 'crash_after', count: 1 }));
            await assert.rejects(execute({ keeper: other.client.as(person.keeper.key) }, made));
            assert.equal((await other.daemon.exited()).signal, 'SIGKILL');
            t.diagnostic(`goes on after ${await secondsUntil(async () => (await operation(person, made.id)).status === 'succeeded', 'the end of the operation', LONG_MS)} s`);
            await consistent(w, person, 2);
            await other.close();
        });
    });

    describe('and webhook deliveries', () => {
        let hold = false, slowMs = 0;
        const receiver = useReceiver((request, response) => {
            if (!hold) setTimeout(() => response.writeHead(200).end(), slowMs);
        });
        let person;
        let endpoint;
        before(async () => {
            person = await resident(w.client);
            endpoint = ok(await person.client.post('/v1/webhooks', { url: receiver.url() }), 201);
        });
        const test = async (client) => ok(await client.as(person.key).post(`/v1/webhooks/${endpoint.id}/test`), 202).delivery_id;
        const row = (id) => sql(w.daemon, `SELECT status || ' ' || attempts FROM delivery WHERE id = '${id}';`).trim();
        const received = () => receiver.requests.length;

        /** A node that is in the middle of sending an event: {other, id}. */
        async function sending() {
            const other = await joined(w, { config: REACHABLE });
            w.daemon.freeze(); // so that the other one sends it
            hold = true;
            const before = received();
            const id = await test(other.client);
            await eventually(() => received() > before, 'the event arrives');
            return { other, id };
        }

        // WEBHOOK-24
        it('are sent again when their node is killed', async (t) => {
            const { other, id } = await sending();
            await other.daemon.crash();
            hold = false;
            w.daemon.thaw();
            t.diagnostic(`sent again after ${await secondsUntil(() => row(id) === 'delivered 1', 'the delivery', LONG_MS)} s`);
            await other.close();
        });

        // WEBHOOK-24
        it('are sent again at once when their node stops', async (t) => {
            const { other, id } = await sending();
            w.daemon.thaw();
            hold = false;
            await other.close();
            t.diagnostic(`sent again after ${await secondsUntil(() => row(id) === 'delivered 1', 'the delivery', LONG_MS)} s`);
        });

        // NODE-3, WEBHOOK-25
        it('are left alone by a frozen node that returns', async () => {
            const { other, id } = await sending();
            other.daemon.freeze();
            hold = false;
            w.daemon.thaw();
            await secondsUntil(() => row(id) === 'delivered 1', 'the delivery', LONG_MS);
            const count = received();
            other.daemon.thaw();
            assert.ok(await other.daemon.logged(/node lost its leases/));
            await test(other.client);
            await eventually(() => received() > count, 'the next event');
            assert.equal(row(id), 'delivered 1');
            assert.equal(received(), count + 1);
            await other.close();
        });

        it('are not doubled by a node whose clock is 200 s ahead', async () => {
            const clock = ownClock(directory);
            const other = await joined(w, { config: REACHABLE, env: clock.env });
            clock.move(200);
            assert.ok(await other.daemon.logged(/clock differs/));
            slowMs = 800;
            const before = received();
            for (let i = 0; i < 30; i++) await test(i % 2 ? w.client : other.client);
            await eventually(() => sql(w.daemon, "SELECT count(*) FROM delivery WHERE status = 'pending';").trim() === '0', 'all delivered');
            slowMs = 0;
            const events = receiver.requests.slice(before).map(({ body }) => body.id);
            assert.equal(new Set(events).size, events.length, 'an event was sent twice');
            await other.close();
        });
    });

    // SANDBOX-9
    it('share the sandbox\'s clock, which never goes back', async () => {
        const other = await joined(w);
        const offset = async ({ client }) => ok(await client.get('/sandbox/clock')).offset_seconds;
        const from = await offset(w);
        assert.equal(await offset(other), from);
        assert.equal((await advance(w.client, 3600)).offset_seconds, from + 3600);
        assert.equal((await advance(other.client, 60)).offset_seconds, from + 3660);
        await eventually(async () => await offset(w) === from + 3660, 'the other node\'s move');
        await other.close();
    });

    // HTTP-36
    it('divide the limits, if so configured', async () => {
        const config = { limits: { plans_per_ip: 20, shared: true } };
        const first = await joined(w, { config }), second = await joined(w, { config });
        // w has limits of its own, but is a node, too
        const limit = async ({ client }) => Number((await client.get('/v1/plans')).headers['ratelimit-limit']);
        await eventually(async () => await limit(first) === 7 && await limit(second) === 7, 'a third of the limit');
        await second.close();
        await eventually(async () => await limit(first) === 10, 'half of the limit');
        await first.close();
    });
});
