// Plans, checkout and the billing portal: contract "Billing", "Checkout", "Checkout status", checkout rules 1 to 9;
// docs/behaviour/billing.md; the sandbox's hosted pages.
import { describe, it, afterEach } from 'node:test';
import assert from 'node:assert/strict';
import { idempotencyKey, ok, refused } from './lib/client.js';
import { portero } from './lib/daemon.js';
import { sql } from './lib/store.js';
import { advance, agent, building, eventually, HOUR, setSubscription, signIn, useWorld, visit } from './lib/world.js';

const HOURS = HOUR / 1000;

describe('billing', () => {
    const w = useWorld();
    const { client } = w;

    /** Signed in, with a key that outlives the days this file lets pass. */
    const buyer = async () => {
        const session = await signIn(client);
        const robot = await agent(session, ['account:read', 'billing:write'], { expires_in_days: 90 });
        return { ...session, client: robot.client };
    };
    const buy = (person, plan = 'weekly', key = idempotencyKey()) =>
        person.client.post('/v1/billing/checkout', { plan }, { headers: { 'Idempotency-Key': key } });
    const current = async (person) => ok(await person.client.get('/v1/billing/checkout'));
    const subscription = async (person) => ok(await person.client.get('/v1/account')).subscription;
    const pay = async ({ id }) => ok(await client.post(`/sandbox/checkout/${id}/pay`));
    const end = (person, id) => person.client.request('POST', `/v1/billing/checkout/${id}/expire`);
    const portal = (person) => person.client.request('POST', '/v1/billing/portal');
    const fault = async (operation, kind, count = 1) =>
        ok(await client.post('/sandbox/faults', { provider: 'billing', operation, fault: kind, count }));
    const sessions = (person) => Number(sql(w.daemon, `SELECT count(*) FROM sandbox_session WHERE email = '${person.email}';`));
    const subscriptions = (person) =>
        Number(sql(w.daemon, `SELECT count(*) FROM sandbox_subscription s JOIN account a ON a.id = s.account_id WHERE a.email = '${person.email}';`));
    const admin = (...args) => portero(['admin', ...args, '--config', w.daemon.configPath, '--data', w.daemon.data, '--json']);
    const told = (done) => {
        assert.equal(done.status, 0, done.stderr);
        return JSON.parse(done.stdout);
    };
    afterEach(async () => {
        if (w.daemon.running()) ok(await client.post('/sandbox/faults', { provider: 'billing', fault: 'none' }));
    });

    describe('plans', () => {
        // BILLING-1
        it('come from the provider, the same for anybody and for a signed-in buyer', async () => {
            const plans = ok(await client.get('/v1/plans'));
            const access = ['timer', 'passcode', 'routine'];
            assert.deepEqual(plans.data, [
                { id: 'weekly', available: true, amount: 499, currency: 'usd', interval: 'week', interval_count: 1, access },
                { id: 'yearly', available: true, amount: 19900, currency: 'usd', interval: 'year', interval_count: 1, access },
            ]);
            const person = await signIn(client);
            assert.deepEqual(ok(await person.client.get('/v1/billing/plans')), plans);
        });
    });

    describe('a checkout', () => {
        // BILLING-20
        it('is opened, paid at its page, and brings the subscription and the number', async () => {
            const person = await signIn(client);
            assert.deepEqual(Object.keys(await current(person)).sort(), ['next_action', 'payment_required', 'status']);
            assert.deepEqual([(await current(person)).status, (await current(person)).payment_required], ['none', false]);
            const key = idempotencyKey();
            const made = ok(await buy(person, 'yearly', key), 201);
            assert.deepEqual([made.status, made.plan, made.request_id, made.payment_required], ['open', 'yearly', key, true]);
            assert.equal(new URL(made.url).pathname, `/sandbox/checkout/${made.id}`);
            assert.deepEqual(await current(person), made);
            assert.deepEqual(await subscription(person), { type: 'none', status: 'none' });

            const paid = await pay(made);
            assert.deepEqual([paid.status, new URL(paid.return_url).pathname, new URL(paid.return_url).search], ['complete', '/account', '?checkout=success']);
            assert.deepEqual(await subscription(person), { type: 'yearly', status: 'active' });
            assert.ok((await building(person)).provisioned);
            const complete = await current(person);
            assert.deepEqual([complete.status, complete.payment_required, complete.url, complete.id], ['complete', false, null, made.id]);
        });

        // BILLING-8, BILLING-10
        it('is replayed by its key, whatever has become of it', async () => {
            const person = await signIn(client);
            const key = idempotencyKey();
            const made = ok(await buy(person, 'weekly', key), 201);
            assert.deepEqual(ok(await buy(person, 'weekly', key)), made);
            assert.deepEqual(ok(await person.client.request('POST', '/v1/billing/checkout', { text: ' {"plan" : "weekly"}', headers: { 'Idempotency-Key': key } })), made);
            await pay(made);
            assert.equal(ok(await buy(person, 'weekly', key)).status, 'complete');
            refused(await buy(person, 'yearly', key), 409, 'IDEMPOTENCY_CONFLICT');
            for (const json of [{ plan: 'monthly' }, { plan: 5 }, {}, { plan: 'weekly', colour: 'red' }]) {
                const send = (name) => person.client.post('/v1/billing/checkout', json, { headers: { 'Idempotency-Key': name } });
                refused(await send(idempotencyKey()), 400, 'INVALID_PLAN');
                refused(await send(key), 409, 'IDEMPOTENCY_CONFLICT');
            }
            const other = await signIn(client);
            assert.notEqual(ok(await buy(other, 'weekly', key), 201).id, made.id, 'keys are the account\'s own');
        });

        // BILLING-8
        it('that is open is returned to another request for the same plan, with its own request ID', async () => {
            const person = await signIn(client);
            const made = ok(await buy(person), 201);
            assert.deepEqual(ok(await buy(person)), made);
            await fault('session_get', 'timeout');
            assert.deepEqual(ok(await buy(person)), made, 'also when the provider cannot be asked whether it still is');
            assert.equal(sessions(person), 1);
        });

        // BILLING-11
        it('belongs from then on to each key that it was returned to', async () => {
            const person = await signIn(client);
            const made = ok(await buy(person), 201);
            const key = idempotencyKey();
            ok(await buy(person, 'weekly', key));
            refused(await buy(person, 'yearly', key), 409, 'IDEMPOTENCY_CONFLICT');
            assert.deepEqual(await current(person), made);
            await pay(made);
            assert.equal(ok(await buy(person, 'weekly', key)).status, 'complete');
            refused(await buy(person), 409, 'SUBSCRIPTION_EXISTS');

            const other = await signIn(client);
            const ended = ok(await buy(other), 201);
            ok(await buy(other, 'weekly', key));
            ok(await end(other, ended.id));
            assert.deepEqual([ok(await buy(other, 'weekly', key)).id, (await current(other)).status], [ended.id, 'expired']);
            assert.equal(sessions(other), 1);
        });

        it('gives way to one for another plan, and cannot be paid from then on', async () => {
            const person = await signIn(client);
            const key = idempotencyKey();
            const first = ok(await buy(person, 'weekly', key), 201);
            const second = ok(await buy(person, 'yearly'), 201);
            assert.notEqual(second.id, first.id);
            assert.equal((await pay(first)).status, 'expired');
            assert.equal(ok(await buy(person, 'weekly', key)).status, 'expired');
            assert.deepEqual(await current(person), second);
            await pay(second);
            assert.equal((await subscription(person)).type, 'yearly');
            assert.equal(subscriptions(person), 1);
        });

        // BILLING-13
        it('keeps its place while the provider does not end it for another plan', async () => {
            const person = await signIn(client);
            const made = ok(await buy(person), 201);
            for (const kind of ['timeout', 'error', 'decline']) {
                await fault('session_expire', kind);
                refused(await buy(person, 'yearly'), 503, 'CHECKOUT_UNAVAILABLE');
                assert.deepEqual(await current(person), made);
            }
            assert.equal(ok(await buy(person, 'yearly'), 201).plan, 'yearly');
        });

        it('that was paid without a word of it is found so when another plan is asked for', async () => {
            const person = await signIn(client);
            const made = ok(await buy(person), 201);
            await fault('event', 'timeout');
            await pay(made);
            assert.equal((await current(person)).status, 'open', 'the event was lost');
            refused(await buy(person, 'yearly'), 409, 'CHECKOUT_EXISTS');
            await eventually(async () => (await subscription(person)).status === 'active', 'the subscription that was paid for');
            assert.equal(subscriptions(person), 1);
        });

        // BILLING-14
        it('blocks another one while it is paid and its subscription is not active yet', async () => {
            const person = await signIn(client);
            const made = ok(await buy(person), 201);
            await fault('subscription_get', 'error', 3);
            await pay(made);
            assert.deepEqual([(await current(person)).status, (await subscription(person)).status], ['complete', 'none']);
            for (const plan of ['weekly', 'yearly']) refused(await buy(person, plan), 409, 'CHECKOUT_EXISTS');
            for (let turn = 0; turn < 3; turn++) await advance(client, 60);
            assert.equal((await subscription(person)).status, 'active');
        });

        // BILLING-21
        it('cannot be created while a subscription exists, past due or not', async () => {
            const person = await signIn(client);
            await setSubscription(client, person.email);
            refused(await buy(person), 409, 'SUBSCRIPTION_EXISTS');
            await setSubscription(client, person.email, 'past_due');
            refused(await buy(person, 'yearly'), 409, 'SUBSCRIPTION_EXISTS');
        });

        // BILLING-10, BILLING-16
        it('does not block a purchase once its subscription is cancelled: a new key buys again, the old one does not', async () => {
            const person = await signIn(client);
            const key = idempotencyKey();
            await pay(ok(await buy(person, 'weekly', key), 201));
            await setSubscription(client, person.email, 'canceled');
            assert.equal((await current(person)).status, 'none');
            assert.equal(ok(await buy(person, 'weekly', key)).status, 'none');
            assert.equal(sessions(person), 1);
            const again = ok(await buy(person, 'yearly'), 201);
            assert.equal(again.status, 'open');
            await pay(again);
            assert.deepEqual(await subscription(person), { type: 'yearly', status: 'active' });
            assert.equal(sql(w.daemon, `SELECT count(DISTINCT s.customer_id) FROM sandbox_subscription s JOIN account a ON a.id = s.account_id WHERE a.email = '${person.email}';`).trim(), '1', 'the same customer');
        });

        it('is bought once, however many ask for it at once', async () => {
            const person = await signIn(client);
            const key = idempotencyKey();
            const same = await Promise.all(Array.from({ length: 8 }, () => buy(person, 'weekly', key)));
            assert.deepEqual(same.map((answer) => answer.status).sort(), [200, 200, 200, 200, 200, 200, 200, 201]);
            assert.equal(new Set(same.map((answer) => answer.body.id)).size, 1);
            assert.equal(sessions(person), 1);

            const crowd = await signIn(client);
            const answers = await Promise.all(Array.from({ length: 8 }, () => buy(crowd)));
            for (const answer of answers) {
                if (answer.status >= 400) refused(answer, 409, 'CHECKOUT_PENDING');
            }
            assert.equal(answers.filter((answer) => answer.status === 201).length, 1);
            assert.equal(sessions(crowd), 1);

            const torn = await signIn(client);
            await Promise.all(Array.from({ length: 8 }, (_, i) => buy(torn, i % 2 ? 'weekly' : 'yearly')));
            assert.equal(sql(w.daemon, `SELECT count(*) FROM sandbox_session WHERE email = '${torn.email}' AND status = 'open';`).trim(), '1');
        });

        // BILLING-3
        it('needs a key, a plan that exists, and nothing else', async () => {
            const person = await signIn(client);
            const post = (json, headers = { 'Idempotency-Key': idempotencyKey() }) => person.client.post('/v1/billing/checkout', json, { headers });
            refused(await post({ plan: 'weekly' }, {}), 400, 'IDEMPOTENCY_KEY_REQUIRED');
            refused(await post({ plan: 'weekly' }, { 'Idempotency-Key': 'short' }), 400, 'IDEMPOTENCY_KEY_REQUIRED');
            for (const json of [{ plan: 'monthly' }, { plan: 'Weekly' }, { plan: '' }, { plan: 7 }, { plan: null }, {}, { plan: 'weekly', quantity: 1 }]) {
                refused(await post(json), 400, 'INVALID_PLAN');
            }
            const broken = await person.client.request('POST', '/v1/billing/checkout', { text: '{', headers: { 'Idempotency-Key': idempotencyKey() } });
            refused(broken, 400, 'INVALID_JSON');
            assert.equal((await current(person)).status, 'none');
        });

        it('needs billing:write', async () => {
            const person = await signIn(client);
            const may = await agent(person, ['billing:write']);
            const mayNot = await agent(person, ['account:read']);
            for (const path of ['/v1/billing/checkout', '/v1/billing/plans']) {
                refused(await mayNot.client.get(path), 403, 'INSUFFICIENT_SCOPE', 'billing:write');
                ok(await may.client.get(path));
            }
            for (const path of ['/v1/billing/checkout', '/v1/billing/portal', '/v1/billing/checkout/cs_x/expire']) {
                refused(await mayNot.client.post(path, { plan: 'weekly' }, { headers: { 'Idempotency-Key': idempotencyKey() } }), 403, 'INSUFFICIENT_SCOPE');
            }
            ok(await buy(may), 201);
        });

        it('and the portal are the parent account\'s', async () => {
            const person = await signIn(client);
            const home = await building(person);
            const { api_key } = told(admin('key', 'create', '--building', home.id, '--scopes', 'billing:write,account:read'));
            const child = { client: client.as(api_key) };
            refused(await buy(child), 403, 'PARENT_BILLING_REQUIRED');
            refused(await portal(child), 403, 'PARENT_BILLING_REQUIRED');
            assert.equal((await current(child)).status, 'none');
        });

        // BILLING-15
        it('has one unit for each building', async () => {
            const person = await signIn(client);
            const { id } = ok(await person.client.get('/v1/account'));
            sql(w.daemon, `INSERT INTO building (account_id, id, created_at, is_primary, label) VALUES ('${id}', '${id.replace(/^./, 'f')}', 4000000000000000, 0, 'Cabin');`);
            const made = ok(await buy(person), 201);
            assert.equal(sql(w.daemon, `SELECT quantity FROM sandbox_session WHERE id = '${made.id}';`).trim(), '2');
            await pay(made);
            assert.equal(sql(w.daemon, `SELECT quantity FROM sandbox_subscription WHERE account_id = '${id}';`).trim(), '2');
        });
    });

    describe('the end of a checkout', () => {
        // BILLING-12
        it('comes by request, repeatedly, and leaves room for a new one', async () => {
            const person = await signIn(client);
            const made = ok(await buy(person), 201);
            for (let turn = 0; turn < 2; turn++) assert.deepEqual(ok(await end(person, made.id)), { id: made.id, status: 'expired', payment_required: false });
            assert.equal((await current(person)).status, 'expired');
            assert.equal((await pay(made)).status, 'expired');
            assert.equal((await subscription(person)).status, 'none');
            ok(await buy(person), 201);
        });

        it('is refused for a paid, an unknown, or another account\'s checkout', async () => {
            const person = await signIn(client);
            const stranger = await signIn(client);
            const made = ok(await buy(person), 201);
            refused(await end(stranger, made.id), 404, 'NOT_FOUND');
            refused(await end(person, 'cs_unknown'), 404, 'NOT_FOUND');
            await fault('event', 'timeout');
            await pay(made);
            refused(await end(person, made.id), 409, 'SUBSCRIPTION_EXISTS');
            refused(await end(person, made.id), 409, 'SUBSCRIPTION_EXISTS');
            await eventually(async () => (await subscription(person)).status === 'active', 'the subscription that was paid for');
        });

        it('is not claimed while the provider does not answer', async () => {
            const person = await signIn(client);
            const made = ok(await buy(person), 201);
            for (const kind of ['timeout', 'error']) {
                await fault('session_expire', kind);
                refused(await end(person, made.id), 503, 'CHECKOUT_UNAVAILABLE');
                assert.equal((await current(person)).status, 'open');
            }
        });

        // BILLING-16, SANDBOX-3
        it('comes by itself after a day', async () => {
            const person = await buyer();
            const made = ok(await buy(person), 201);
            await advance(client, 24 * HOURS + 1);
            assert.equal((await current(person)).status, 'expired');
            assert.equal((await pay(made)).status, 'expired');
        });
    });

    describe('a provider that fails', () => {
        // BILLING-6, BILLING-7
        it('leaves the checkout preparing, and the same key resumes it', async () => {
            for (const kind of ['timeout', 'error']) {
                const person = await signIn(client);
                const key = idempotencyKey();
                await fault('session_create', kind);
                const answer = await buy(person, 'weekly', key);
                refused(answer, 503, 'CHECKOUT_UNAVAILABLE');
                assert.equal(answer.body.error.retryable, true);
                const waiting = await current(person);
                assert.deepEqual([waiting.status, waiting.id, waiting.url, waiting.request_id], ['preparing', null, null, key]);
                assert.ok(waiting.next_action.includes('request_id'));
                refused(await buy(person), 409, 'CHECKOUT_PENDING');
                refused(await buy(person, 'yearly'), 409, 'CHECKOUT_EXISTS');
                refused(await buy(person, 'yearly', key), 409, 'IDEMPOTENCY_CONFLICT');
                const resumed = ok(await buy(person, 'weekly', key));
                assert.deepEqual([resumed.status, resumed.request_id], ['open', key]);
                assert.equal(sessions(person), 1);
            }
        });

        // BILLING-9
        it('and refuses, fails the checkout for good; a new key tries again', async () => {
            const person = await signIn(client);
            const key = idempotencyKey();
            await fault('session_create', 'decline');
            const failed = ok(await buy(person, 'weekly', key));
            assert.deepEqual([failed.status, failed.payment_required, failed.id, failed.url], ['failed', false, null, null]);
            assert.deepEqual(ok(await buy(person, 'weekly', key)), failed);
            assert.deepEqual(await current(person), failed);
            assert.equal(sessions(person), 0);
            assert.equal(ok(await buy(person), 201).status, 'open');
        });

        it('is asked again by itself, with the same key', async () => {
            const person = await signIn(client);
            const key = idempotencyKey();
            await fault('session_create', 'timeout');
            refused(await buy(person, 'weekly', key), 503, 'CHECKOUT_UNAVAILABLE');
            await advance(client, 601);
            const found = await current(person);
            assert.deepEqual([found.status, found.request_id], ['open', key]);
            assert.equal(ok(await buy(person, 'weekly', key)).id, found.id);
            assert.equal(sessions(person), 1);
        });

        // BILLING-6
        it('and never answers for 23 hours, leaves it to support, who resolves it', async () => {
            const outcomes = { failed: 'failed', open: 'open' };
            for (const [outcome, becomes] of Object.entries(outcomes)) {
                const person = await buyer();
                const key = idempotencyKey();
                await fault('session_create', 'timeout', 1000);
                refused(await buy(person, 'weekly', key), 503, 'CHECKOUT_UNAVAILABLE');
                await advance(client, 23 * HOURS);
                for (const again of [key, idempotencyKey()]) refused(await buy(person, 'weekly', again), 409, 'CHECKOUT_RECONCILIATION_REQUIRED');
                refused(await buy(person, 'yearly'), 409, 'CHECKOUT_RECONCILIATION_REQUIRED');
                assert.match((await current(person)).next_action, /support/);
                await fault(undefined, 'none');
                await advance(client, 2 * HOURS);
                assert.equal((await current(person)).status, 'preparing', 'nobody but support touches it');

                const listed = told(admin('checkout', 'list')).data.find((row) => row.email === person.email);
                assert.deepEqual([listed.status, listed.plan, listed.request_id, listed.overdue], ['preparing', 'weekly', key, true]);
                const resolved = told(admin('checkout', 'resolve', listed.id, '--outcome', outcome));
                assert.equal(resolved.status, becomes);
                assert.equal((await current(person)).status, becomes);
                if (becomes === 'failed') ok(await buy(person), 201);
                else await pay(await current(person));
            }
        });

        // BILLING-18
        it('and had made a session all the same, is taken at its word when support names it', async () => {
            const lost = async (person) => {
                await fault('session_create', 'timeout');
                refused(await buy(person), 503, 'CHECKOUT_UNAVAILABLE');
                return told(admin('checkout', 'list', '--account', person.email)).data[0].id;
            };
            /** A session that no checkout knows, made in the name of the account. */
            const stray = async (person) => {
                const made = ok(await buy(await signIn(client)), 201);
                const account = ok(await person.client.get('/v1/account')).id;
                sql(w.daemon, `UPDATE sandbox_session SET account_id = '${account}' WHERE id = '${made.id}'; DELETE FROM checkout WHERE session_id = '${made.id}';`);
                return made;
            };
            for (const [outcome, status] of [['open', 'open'], ['complete', 'complete']]) {
                const person = await signIn(client);
                const id = await lost(person);
                const session = await stray(person);
                await fault('event', 'timeout');
                if (outcome === 'complete') await pay(session);
                assert.equal(admin('checkout', 'resolve', id, '--outcome', 'complete').status, 1, 'which session was paid?');
                assert.equal(admin('checkout', 'resolve', id, '--outcome', outcome, '--session', 'cs_unknown').status, 1);
                assert.equal(told(admin('checkout', 'resolve', id, '--outcome', outcome, '--session', session.id)).status, status);
                assert.equal((await current(person)).id, session.id);
                ok(await client.post('/sandbox/faults', { provider: 'billing', fault: 'none' }));
                if (outcome === 'open') await pay(session);
                await eventually(async () => (await subscription(person)).status === 'active', 'the subscription that was paid for');
                assert.equal(admin('checkout', 'resolve', id, '--outcome', 'failed').status, 1, 'it is settled');
            }
        });

        // BILLING-18
        it('lets support resolve only known checkouts, by known sessions and outcomes', async () => {
            const [one, two] = [await signIn(client), await signIn(client)];
            const taken = ok(await buy(two), 201);
            const strangers = ok(await buy(await signIn(client)), 201);
            sql(w.daemon, `DELETE FROM checkout WHERE session_id = '${strangers.id}';`);
            await fault('session_create', 'timeout');
            refused(await buy(one), 503, 'CHECKOUT_UNAVAILABLE');
            const [{ id }] = told(admin('checkout', 'list', '--account', one.email)).data;
            for (const session of [taken.id, strangers.id]) {
                assert.match(admin('checkout', 'resolve', id, '--outcome', 'open', '--session', session).stderr, /another checkout or account/);
            }
            for (const args of [[id], [id, '--outcome', 'sold'], ['f0f0f0f0f0f0f0f0f0f0f0f0', '--outcome', 'failed'], ['x', '--outcome', 'failed']]) {
                assert.notEqual(admin('checkout', 'resolve', ...args).status, 0);
            }
            assert.equal((await current(one)).status, 'preparing');
            assert.match(admin('checkout', 'list', '--account', 'nobody@example.com').stderr, /no account/);
        });

        it('by crashing the service after it acted, has still sold once: the same key finds the session', async () => {
            const person = await signIn(client);
            const key = idempotencyKey();
            await fault('session_create', 'crash_after');
            await assert.rejects(buy(person, 'weekly', key));
            assert.equal((await w.daemon.exited()).signal, 'SIGKILL');
            await w.daemon.start();
            assert.equal((await current(person)).status, 'preparing');
            assert.equal(sessions(person), 1);
            const resumed = ok(await buy(person, 'weekly', key));
            assert.equal(resumed.status, 'open');
            assert.equal(sessions(person), 1);
            await pay(resumed);
            assert.equal((await subscription(person)).status, 'active');
            assert.equal(subscriptions(person), 1);
        });

        it('by crashing the service after it ended a session, has still ended it', async () => {
            const person = await signIn(client);
            const made = ok(await buy(person), 201);
            await fault('session_expire', 'crash_after');
            await assert.rejects(end(person, made.id));
            await w.daemon.exited();
            await w.daemon.start();
            assert.equal((await current(person)).status, 'open');
            assert.equal(ok(await end(person, made.id)).status, 'expired');
            ok(await buy(person), 201);
        });

        it('by crashing the service while it is read, is read again', async () => {
            for (const operation of ['session_get', 'subscription_get']) {
                const person = await signIn(client);
                const made = ok(await buy(person), 201);
                await fault(operation, 'crash_after');
                await assert.rejects(pay(made));
                await w.daemon.exited();
                sql(w.daemon, 'UPDATE job SET leased_until = 0;'); // where nodes share a store, a crashed one's leases end by themselves
                await w.daemon.start();
                await eventually(async () => (await subscription(person)).status === 'active', 'the subscription that was paid for');
                assert.ok((await eventually(async () => (await building(person)).provisioned, 'a number')));
            }
        });

        // SANDBOX-6
        it('to tell of a payment, is found out by itself', async () => {
            const person = await signIn(client);
            const made = ok(await buy(person), 201);
            await fault('event', 'timeout');
            await pay(made);
            assert.deepEqual([(await current(person)).status, (await subscription(person)).status], ['open', 'none']);
            await advance(client, 601);
            assert.deepEqual([(await current(person)).status, (await subscription(person)).status], ['complete', 'active']);
            assert.ok((await building(person)).provisioned);
        });

        it('about some checkouts, does not keep others from being found out', async () => {
            const [mute, other] = [await signIn(client), await signIn(client)];
            await fault('session_create', 'timeout');
            refused(await buy(mute), 503, 'CHECKOUT_UNAVAILABLE');
            const made = ok(await buy(other), 201);
            await fault('event', 'timeout');
            await pay(made);
            await fault('session_create', 'timeout', 1000);
            await advance(client, 601);
            assert.deepEqual([(await current(mute)).status, (await current(other)).status], ['preparing', 'complete']);
        });

        it('to tell of the end of a subscription, is found out within a day', async () => {
            const person = await buyer();
            await setSubscription(client, person.email);
            await fault('event', 'timeout');
            await setSubscription(client, person.email, 'canceled');
            assert.equal((await subscription(person)).status, 'active');
            await advance(client, 24 * HOURS + 1);
            assert.equal((await subscription(person)).status, 'none');
        });

        // BILLING-25
        it('to know which checkout was paid, is asked again', async () => {
            const person = await signIn(client);
            await fault('subscription_get', 'decline');
            await pay(ok(await buy(person), 201));
            assert.deepEqual([(await current(person)).status, (await subscription(person)).status], ['complete', 'none']);
            await advance(client, 10);
            assert.equal((await subscription(person)).status, 'active');
        });

        it('to answer about a payment, is asked again', async () => {
            const person = await signIn(client);
            const made = ok(await buy(person), 201);
            const failing = () => told(admin('job', 'list')).data.find(({ id }) => id === `billing session ${made.id}`);
            await fault('session_get', 'timeout');
            await pay(made);
            assert.equal((await current(person)).status, 'open');
            const { kind, attempts, created_at, next_attempt_at } = failing();
            assert.deepEqual([kind, attempts], ['billing_sync', 1]);
            assert.ok(created_at < next_attempt_at);
            await advance(client, 10);
            assert.equal((await subscription(person)).status, 'active');
            assert.equal(failing(), undefined);
        });
    });

    describe('a subscription', () => {
        // BILLING-21
        it('past due keeps the door open; cancelled it is forwarded', async () => {
            const person = await signIn(client);
            await pay(ok(await buy(person), 201));
            const home = await building(person);
            const settings = await person.client.get(`/v1/buildings/${home.id}/settings`);
            ok(await person.client.patch(`/v1/buildings/${home.id}/settings`, { unlock_tone: '9' }, { headers: { 'If-Match': settings.headers.etag } }));
            ok(await person.client.post('/v1/unlock', { type: 'timer', expires_in_minutes: 60 }, { headers: { 'Idempotency-Key': idempotencyKey() } }), 201);
            await setSubscription(client, person.email, 'past_due');
            assert.equal((await visit(client, { to: home.virtual_number })).outcome, 'released');
            await setSubscription(client, person.email, 'canceled');
            assert.equal((await visit(client, { to: home.virtual_number })).outcome, 'forwarded');
        });
    });

    describe('the portal', () => {
        // BILLING-28
        it('is there once a checkout was completed', async () => {
            const person = await signIn(client);
            refused(await portal(person), 404, 'CUSTOMER_NOT_FOUND');
            const made = ok(await buy(person), 201);
            refused(await portal(person), 404, 'CUSTOMER_NOT_FOUND');
            await pay(made);
            const { url } = ok(await portal(person));
            assert.match(new URL(url).pathname, /^\/sandbox\/portal\/cus_\w+$/);
            await fault('portal', 'timeout');
            refused(await portal(person), 500, 'INTERNAL_ERROR');
            await fault('portal', 'decline');
            refused(await portal(person), 404, 'CUSTOMER_NOT_FOUND');
        });

        it('ends the subscription, once and for all', async () => {
            const person = await signIn(client);
            await pay(ok(await buy(person), 201));
            const { pathname } = new URL(ok(await portal(person)).url);
            for (let turn = 0; turn < 2; turn++) assert.equal(ok(await client.post(`${pathname}/cancel`)).status, 'canceled');
            assert.equal((await subscription(person)).status, 'none');
            assert.equal((await current(person)).status, 'none');
            ok(await portal(person), 200);
        });
    });

    describe('the hosted pages', () => {
        const browser = { headers: { Accept: 'text/html,application/xhtml+xml' } };
        const page = (path) => client.get(path, browser);

        it('are plain HTML with a strict policy', async () => {
            const person = await signIn(client);
            const made = ok(await buy(person, 'yearly'), 201);
            const checkout = await page(new URL(made.url).pathname);
            assert.equal(checkout.status, 200);
            assert.ok(checkout.text.includes(person.email) && checkout.text.includes('199.00 USD'), checkout.text);
            await pay(made);
            const paid = await page(new URL(made.url).pathname);
            assert.ok(paid.text.includes('was paid') && !paid.text.includes('<button'));
            const billing = await page(new URL(ok(await portal(person)).url).pathname);
            assert.ok(billing.text.includes('yearly') && billing.text.includes('Cancel'));
            for (const answer of [checkout, paid, billing]) {
                assert.match(answer.headers['content-type'], /^text\/html/);
                assert.match(answer.headers['content-security-policy'], /default-src 'none'.*form-action 'self'/);
                assert.doesNotMatch(answer.text, /<script|<style|style=/);
            }
        });

        // BILLING-19
        it('lead a browser back to the account page', async () => {
            const person = await signIn(client);
            const made = ok(await buy(person), 201);
            const press = async (button) => {
                const answer = await client.request('POST', `/sandbox/checkout/${made.id}/${button}`, browser);
                assert.equal(answer.status, 303);
                return answer.headers.location;
            };
            assert.equal(await press('cancel'), '/account?checkout=cancel');
            assert.equal((await current(person)).status, 'open', 'who backs out may come back');
            assert.equal(ok(await client.post(`/sandbox/checkout/${made.id}/cancel`)).status, 'open');
            assert.equal(await press('pay'), '/account?checkout=success');
            assert.equal((await subscription(person)).status, 'active');
            const { pathname } = new URL(ok(await portal(person)).url);
            const answer = await client.request('POST', `${pathname}/cancel`, browser);
            assert.deepEqual([answer.status, answer.headers.location], [303, pathname]);
            assert.ok((await page(pathname)).text.includes('has ended'));
        });

        it('exist for every listed row', async () => {
            for (const path of ['/sandbox/checkout/cs_unknown', '/sandbox/portal/cus_unknown']) refused(await client.get(path), 404, 'NOT_FOUND');
            for (const path of ['/sandbox/checkout/cs_unknown/pay', '/sandbox/checkout/cs_unknown/cancel', '/sandbox/portal/cus_unknown/cancel']) {
                refused(await client.post(path), 404, 'NOT_FOUND');
            }
        });
    });
});

describe('a plan that is not on sale', () => {
    const w = useWorld({ config: { billing: { 'plan weekly': { amount: -1 }, 'plan yearly': { amount: 1250, currency: 'eur', available: false } } } });

    // BILLING-3
    it('is shown so, and cannot be bought', async () => {
        const { data } = ok(await w.client.get('/v1/plans'));
        assert.deepEqual(data.map(({ id, available, amount, currency }) => [id, available, amount, currency]),
            [['weekly', false, null, 'usd'], ['yearly', false, 1250, 'eur']]);
        const person = await signIn(w.client);
        for (const plan of ['weekly', 'yearly']) {
            const answer = await person.client.post('/v1/billing/checkout', { plan }, { headers: { 'Idempotency-Key': idempotencyKey() } });
            refused(answer, 409, 'PLAN_UNAVAILABLE');
        }
        assert.equal(ok(await person.client.get('/v1/billing/checkout')).status, 'none');
    });
});
