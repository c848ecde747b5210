// Accounts that are served the earlier revision of the interface: plans, checkout, the account, and buildings' addresses.
// Decisions section 12.
import { describe, it, before } from 'node:test';
import assert from 'node:assert/strict';
import { addition, CA, owner, US } from './lib/buildings.js';
import { idempotencyKey, ok, refused } from './lib/client.js';
import { portero } from './lib/daemon.js';
import { agent, setSubscription, signIn, useWorld } from './lib/world.js';

describe('plans of an account of the earlier revision', () => {
    const w = useWorld();

    const choose = (email, revision = 'earlier') => {
        const done = portero(['admin', 'account', 'compat', email, '--revision', revision, '--config', w.daemon.configPath, '--data', w.daemon.data]);
        assert.equal(done.status, 0, done.stderr);
    };
    /** The document does not have the requests and answers of the earlier revision. */
    const ask = (who, method, path, json, headers = {}) => who.client.request(method, path, { json, headers, check: false });
    const buy = (who, plan, id = idempotencyKey()) => ask(who, 'POST', '/v1/billing/checkout', { plan }, { 'Idempotency-Key': id });
    const account = async (who) => ok(await ask(who, 'GET', '/v1/account'));

    // EARLIER-16
    it('are NONE before a subscription, PREMIUM with one, MULTI_BUILDING with a linked building, and keep every type of grant', async () => {
        const fresh = await signIn(w.client);
        choose(fresh.email);
        assert.deepEqual((await account(fresh)).subscription, { type: 'NONE', status: 'none' });
        await setSubscription(w.client, fresh.email);
        assert.deepEqual((await account(fresh)).subscription, { type: 'PREMIUM', status: 'active' });
        await setSubscription(w.client, fresh.email, 'past_due');
        assert.deepEqual((await account(fresh)).subscription, { type: 'PREMIUM', status: 'past_due' });

        const person = await owner(w.client);
        choose(person.email);
        const quote = ok(await ask({ client: person.keeper }, 'POST', '/v1/buildings/preview', addition()), 201);
        ok(await ask({ client: person.keeper }, 'POST', '/v1/buildings', { quote_id: quote.id }, { 'Idempotency-Key': idempotencyKey() }), 201);
        const shown = await account(person);
        assert.equal(shown.subscription.type, 'MULTI_BUILDING');
        assert.deepEqual(shown.capabilities.access_types, ['timer', 'passcode', 'routine']);
        choose(person.email, 'current');
        assert.equal((await account(person)).subscription.type, 'weekly');
    });

    // EARLIER-17
    it('are listed under the names that a checkout takes', async () => {
        const fresh = await signIn(w.client);
        choose(fresh.email);
        const { data } = ok(await ask(fresh, 'GET', '/v1/billing/plans'));
        const current = ok(await w.client.get('/v1/plans')).data;
        assert.deepEqual(data.map((plan) => plan.id), ['weekly', 'premium_yearly']);
        assert.deepEqual(data, current.map((plan) => (plan.id === 'yearly' ? { ...plan, id: 'premium_yearly' } : plan)));
    });

    // EARLIER-17
    it('are bought under their earlier names', async () => {
        const yearly = ok(await w.client.get('/v1/plans')).data.find((plan) => plan.id === 'yearly');
        for (const name of ['premium_yearly', 'standard_yearly', 'yearly']) {
            const fresh = await signIn(w.client);
            choose(fresh.email);
            const id = idempotencyKey();
            const made = ok(await buy(fresh, name, id), 201);
            assert.deepEqual([made.plan, made.status, made.request_id], ['premium_yearly', 'open', id]);
            assert.deepEqual(ok(await buy(fresh, name, id)), made);
            assert.deepEqual(ok(await ask(fresh, 'GET', '/v1/billing/checkout')), made);
            const paid = ok(await w.client.post(`/sandbox/checkout/${made.id}/pay`));
            assert.equal(paid.status, 'complete');
            assert.deepEqual((await account(fresh)).subscription, { type: 'PREMIUM', status: 'active' });
            choose(fresh.email, 'current');
            assert.equal((await account(fresh)).subscription.type, yearly.id);
            assert.equal(ok(await fresh.client.get('/v1/billing/checkout')).plan, yearly.id);
        }
    });

    // EARLIER-17
    it('that are not on offer cannot be bought, nor unknown ones', async () => {
        const fresh = await signIn(w.client);
        choose(fresh.email);
        for (const name of ['premium_monthly', 'standard_monthly']) refused(await buy(fresh, name), 409, 'PLAN_UNAVAILABLE');
        for (const name of ['lite_yearly', 'PREMIUM', 'premium', '']) refused(await buy(fresh, name), 400, 'INVALID_PLAN');
        assert.equal(ok(await ask(fresh, 'GET', '/v1/billing/checkout')).status, 'none');
        const id = idempotencyKey();
        ok(await buy(fresh, 'weekly', id), 201);
        refused(await buy(fresh, 'premium_monthly', id), 409, 'IDEMPOTENCY_CONFLICT');
        const other = await signIn(w.client);
        refused(await buy(other, 'premium_yearly'), 400, 'INVALID_PLAN');
    });

    describe('and buildings', () => {
        let person, keeper;
        before(async () => {
            person = await owner(w.client);
            keeper = await agent(person, ['account:read', 'buildings:write']);
        });

        // EARLIER-18
        it('have US addresses alone', async () => {
            const preview = (address) => ask(keeper, 'POST', '/v1/buildings/preview', addition({ address }));
            ok(await preview(CA), 201);
            choose(person.email);
            refused(await preview(CA), 400, 'INVALID_BUILDING_INPUT', 'country');
            refused(await preview({ ...US, country: 'XX' }), 400, 'INVALID_BUILDING_INPUT', 'country');
            const { country, ...without } = CA;
            refused(await preview(without), 400, 'INVALID_BUILDING_INPUT', 'state');
            assert.equal(ok(await preview(US), 201).input.address.country, 'US');
            ok(await preview({ ...US, country: 'us' }), 201);
        });
    });
});
