// The sandbox: docs/behaviour/sandbox.md.
import { describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { ok, refused } from './lib/client.js';
import { sql } from './lib/store.js';
import { advance, challenge, freshEmail, ID, now, provisioned, setSubscription, signIn, TIMESTAMP, useWorld } from './lib/world.js';

describe('sandbox', () => {
    const w = useWorld();
    const { client } = w;

    const messages = async (query) => ok(await client.get(`/sandbox/messages${query}`)).data;
    const wrongRequest = (answer) => assert.equal(answer.status, 400, answer.text);

    describe('messages', () => {
        // SANDBOX-11
        it('are listed newest first, by recipient and channel, at most as many as asked for', async () => {
            const [one, two] = [freshEmail(), freshEmail()];
            const first = await challenge(client, one);
            await challenge(client, two);
            const last = await challenge(client, one);
            const mine = await messages(`?to=${encodeURIComponent(one)}`);
            assert.deepEqual(mine.map((m) => m.code), [last.otp, first.otp]);
            for (const m of mine) {
                assert.deepEqual([m.channel, m.to], ['email', one]);
                assert.ok(m.subject.length > 0 && m.text.includes(m.code));
                assert.match(m.created_at, TIMESTAMP);
            }
            assert.equal((await messages('?limit=2')).length, 2);
            assert.equal((await messages(`?to=${encodeURIComponent(one)}&channel=email&limit=1`))[0].code, last.otp);
            assert.equal((await messages(`?to=${encodeURIComponent(one.toUpperCase())}`)).length, 2);
            assert.deepEqual(await messages(`?to=${encodeURIComponent(one)}&channel=sms`), []);
            assert.deepEqual(await messages('?to=nobody%40example.com'), []);
        });

        it('are found by a number or an address with +, encoded or not', async () => {
            const email = `a+b-${freshEmail()}`;
            await challenge(client, email);
            for (const to of [email, encodeURIComponent(email)]) assert.equal((await messages(`?to=${to}`)).length, 1, to);
        });

        // HTTP-19
        it('refuse an invalid limit or channel', async () => {
            for (const query of ['?limit=0', '?limit=x', '?channel=pigeon']) wrongRequest(await client.get(`/sandbox/messages${query}`));
        });
    });

    describe('clock', () => {
        // SANDBOX-9
        it('moves forward only, and everything follows it', async () => {
            const before = ok(await client.get('/sandbox/clock'));
            const moved = await advance(client, 3600);
            assert.equal(moved.offset_seconds, before.offset_seconds + 3600);
            assert.ok(Date.parse(moved.now) - Date.parse(before.now) >= 3_600_000);
            for (const advance_seconds of [-1, 1.5, '60', null, 1e18, undefined]) wrongRequest(await client.post('/sandbox/clock', { advance_seconds }));
            assert.equal(ok(await client.get('/sandbox/clock')).offset_seconds, moved.offset_seconds);
            const session = await signIn(client);
            const { created_at } = ok(await session.client.get('/v1/account'));
            assert.ok(Math.abs(Date.parse(created_at) - await now(client)) < 60_000);
        });

        // SANDBOX-9
        it('keeps its offset across restarts', async () => {
            const { offset_seconds } = await advance(client, 86_400);
            assert.deepEqual(await w.daemon.terminate(), { code: 0, signal: null });
            await w.daemon.start();
            assert.equal(ok(await client.get('/sandbox/clock')).offset_seconds, offset_seconds);
            await w.daemon.crash();
            await w.daemon.start();
            assert.equal(ok(await client.get('/sandbox/clock')).offset_seconds, offset_seconds);
        });
    });

    describe('subscriptions', () => {
        // SANDBOX-5
        it('change as the provider would say, repeatedly too', async () => {
            const session = await signIn(client);
            const status = async () => ok(await session.client.get('/v1/account')).subscription.status;
            for (const [event, seen] of [['active', 'active'], ['active', 'active'], ['past_due', 'past_due'], ['active', 'active'], ['canceled', 'none'], ['canceled', 'none'], ['active', 'active']]) {
                await setSubscription(client, session.email, event);
                assert.equal(await status(), seen, event);
            }
        });

        it('need an account and a status that exists', async () => {
            refused(await client.post('/sandbox/subscriptions', { email: freshEmail(), status: 'active' }), 404, 'ACCOUNT_NOT_FOUND');
            const { email } = await signIn(client);
            for (const body of [{ email, status: 'paused' }, { email }, { status: 'active' }, { email: 5, status: 'active' }]) {
                wrongRequest(await client.post('/sandbox/subscriptions', body));
            }
        });
    });

    describe('numbers', () => {
        // SANDBOX-15
        it('show the holder of each, and never assign one twice', async () => {
            const session = await signIn(client);
            const home = await provisioned(session);
            const { data } = ok(await client.get('/sandbox/numbers'));
            assert.equal(new Set(data.map((row) => row.number)).size, data.length);
            const held = data.filter((row) => row.building_id === home.id);
            assert.deepEqual(held.map((row) => row.number), [home.virtual_number]);
            for (const row of data.filter((r) => r.building_id)) assert.match(row.building_id, ID);
        });

        it('are listed whole, or not at all', async () => {
            const add = async (from, to) => {
                await w.daemon.terminate();
                sql(w.daemon, `WITH RECURSIVE n(i) AS (VALUES (${from}) UNION ALL SELECT i + 1 FROM n WHERE i < ${to})
                    INSERT INTO sandbox_number (number, country) SELECT '+1777' || (1000000 + i), 'US' FROM n;`);
                await w.daemon.start();
                return client.get('/sandbox/numbers');
            };
            assert.ok(ok(await add(1, 45_000)).data.length >= 45_000);
            refused(await add(45_001, 160_000), 500, 'INTERNAL_ERROR');
        });
    });

    it('needs no key and is not in the contract', async () => {
        ok(await client.as('nonsense').get('/sandbox/clock'));
        refused(await client.get('/v1/sandbox/clock'), 404, 'NOT_FOUND');
        refused(await client.get('/sandbox/nothing'), 404, 'NOT_FOUND');
    });

    it('is open to no other web page', async () => {
        const answer = await client.get('/sandbox/clock', { headers: { Origin: 'https://evil.example' } });
        assert.equal(answer.headers['access-control-allow-origin'], undefined);
        const simple = await client.request('POST', '/sandbox/clock', { text: '{"advance_seconds":1}', headers: { 'Content-Type': 'text/plain' } });
        refused(simple, 400, 'INVALID_JSON');
    });
});
