// Billing and numbers without a provider: what an operator needs who has no account at Stripe or Twilio.
import { describe, it, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { idempotencyKey, ok } from './lib/client.js';
import { admin, buildings, execute, quote, removal, verifyPhone } from './lib/buildings.js';
import { temporaryDirectory } from './lib/daemon.js';
import { agent, building, eventually, setSubscription, signIn, useWorld, visit, world } from './lib/world.js';

const FREE = { billing: { provider: 'none' }, numbers: { provider: 'pool' } };

function add(w, number, ...options) {
    const done = admin(w, 'number', 'add', number, ...options);
    assert.equal(done.status, 0, done.stderr);
}

/** Waits for the number of the account's only building. */
const numbered = (session) => eventually(async () => (await building(session)).virtual_number, 'a number from the pool');

/** A signed-in person with that number and a verified phone, who may add buildings. */
async function resident(w, given) {
    const session = await signIn(w.client);
    add(w, given, '--account', session.email);
    const number = await numbered(session);
    const phone = await verifyPhone(session);
    const keeper = (await agent(session, ['account:read', 'buildings:write', 'access:read', 'access:write'])).client;
    return { ...session, number, phone, keeper };
}

describe('a service without billing', () => {
    const w = useWorld({ config: { ...FREE, billing: { provider: 'none', free_plan: 'yearly' } } });

    it('gives a new account the plan, and opens the door of the number that the operator gives it, which may be an extension', async () => {
        const session = await signIn(w.client);
        const account = ok(await session.client.get('/v1/account'));
        assert.deepEqual(account.subscription, { type: 'yearly', status: 'active' });
        assert.ok(!account.next_actions.some((action) => action.command.includes('/v1/billing/')));
        add(w, '4711', '--account', session.email);
        assert.equal(await numbered(session), '4711');
        const path = `/v1/buildings/${(await building(session)).id}/settings`;
        const { etag } = (await session.client.get(path)).headers;
        ok(await session.client.patch(path, { unlock_tone: '9' }, { headers: { 'If-Match': etag } }));
        const { access_code: digits } = ok(await session.client.post('/v1/unlock', { type: 'passcode', label: 'Parcel' }, { headers: { 'Idempotency-Key': idempotencyKey() } }), 201);
        const call = await visit(w.client, { to: '4711', digits });
        assert.ok(JSON.stringify(call).includes('"9"'), JSON.stringify(call));
    });

    // BILLING-29
    it('sells nothing: plans are not available, and there is neither a checkout nor a portal', async () => {
        const session = await signIn(w.client);
        for (const plan of ok(await w.client.as(undefined).get('/v1/plans')).data) assert.equal(plan.available, false);
        const bought = await session.client.post('/v1/billing/checkout', { plan: 'weekly' }, { headers: { 'Idempotency-Key': idempotencyKey() } });
        assert.equal(bought.status, 409);
        assert.equal(bought.body.error.code, 'PLAN_UNAVAILABLE');
        const portal = await session.client.post('/v1/billing/portal', {});
        assert.equal(portal.status, 404);
        assert.equal(portal.body.error.code, 'CUSTOMER_NOT_FOUND');
    });

    // BUILDING-28
    it('adds and removes buildings for nothing, to which the operator gives numbers', async () => {
        add(w, '4802');
        const person = await resident(w, '4801');
        const offer = await quote(person);
        assert.deepEqual([offer.billing.next_invoice_amount_due, offer.billing.per_building_amount], [0, 0], JSON.stringify(offer.billing));
        const done = ok(await execute(person, offer), 201);
        assert.deepEqual(done.result, { building_id: done.building_id, label: 'Cabin', virtual_number: null, physical_test_required: true });
        const cabin = async () => (await buildings(person)).find((row) => row.id === done.building_id);
        assert.equal((await cabin()).virtual_number, null);
        add(w, '4803', '--building', done.building_id);
        assert.equal((await cabin()).virtual_number, '4803');
        ok(await execute(person, await quote(person, removal(done.building_id))));
        assert.equal((await buildings(person)).length, 1);
        const free = JSON.parse(admin(w, 'number', 'list').stdout).data.filter(({ building_id: holder }) => !holder).map(({ number }) => number);
        assert.deepEqual(free, ['4802', '4803']);
    });
});

describe('an operator who changes the billing provider', () => {
    let directory;
    before(() => { directory = temporaryDirectory(); });
    after(() => rmSync(directory, { recursive: true, force: true }));

    const status = async (session) => {
        const { subscription } = ok(await session.client.get('/v1/account'));
        return `${subscription.type} ${subscription.status}`;
    };

    // BILLING-30
    it('makes all accounts active, and later gives each the subscription back that it had', async () => {
        const sessions = {};
        const start = (config) => world({ directory, config: { secrets: { master_key: '1'.repeat(64) }, ...config } });
        const check = async (w, expected) => {
            for (const [name, wanted] of Object.entries(expected)) {
                sessions[name].client = w.client.as(sessions[name].key);
                assert.equal(await eventually(async () => (await status(sessions[name])) === wanted && wanted, `${name} ${wanted}`, 20_000), wanted);
            }
        };

        let w = await start({});
        for (const name of ['payer', 'debtor', 'visitor']) sessions[name] = await signIn(w.client);
        await setSubscription(w.client, sessions.payer.email);
        await setSubscription(w.client, sessions.debtor.email);
        await setSubscription(w.client, sessions.debtor.email, 'past_due');
        await check(w, { payer: 'weekly active', debtor: 'weekly past_due', visitor: 'none none' });
        const kept = await numbered(sessions.payer);
        await w.close();

        w = await start({ ...FREE, billing: { provider: 'none', free_plan: 'yearly' } });
        sessions.newcomer = await signIn(w.client);
        await check(w, { payer: 'yearly active', debtor: 'yearly active', visitor: 'yearly active', newcomer: 'yearly active' });
        assert.equal(await numbered(sessions.payer), kept);
        await w.close();

        w = await start({ ...FREE, billing: { provider: 'none', free_plan: 'weekly' } });
        await check(w, { payer: 'weekly active', newcomer: 'weekly active' });
        await w.close();

        w = await start({});
        await check(w, { payer: 'weekly active', debtor: 'weekly past_due', visitor: 'none none', newcomer: 'none none' });
        assert.equal(await numbered(sessions.payer), kept);
        await w.close();
    });
});
