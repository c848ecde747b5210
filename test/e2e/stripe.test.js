// Billing by Stripe: whole flows, events in any order, and answers that no provider should give. Stripe itself is an
// imitation (lib/stripe.js); its own SDK signs the events and makes the same requests as the service.
import { after, before, describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import Stripe from 'stripe';
import ts from 'typescript';
import { join } from 'node:path';
import { buildings, execute, operation, quote, removal, verifyPhone } from './lib/buildings.js';
import { idempotencyKey, ok, refused } from './lib/client.js';
import { binary, cleanEnvironment, root } from './lib/daemon.js';
import { StripeImitation, parseForm } from './lib/stripe.js';
import { advance, agent, eventually, signIn, useWorld, world } from './lib/world.js';

const CREATE = /^POST \/v1\/checkout\/sessions$/;
const SESSION = /^GET \/v1\/checkout\/sessions\/\w+$/;
const CUSTOMER = /^DELETE \/v1\/customers\/(\w+)$/;
const QUANTITY = /^POST \/v1\/subscription_items\/\w+$/;

function buy(session, key = idempotencyKey(), plan = 'weekly') {
    return session.client.post('/v1/billing/checkout', { plan }, { headers: { 'Idempotency-Key': key } });
}

const subscription = async (session) => ok(await session.client.get('/v1/account')).subscription;

function becomes(session, wanted) {
    return eventually(async () => (await subscription(session)).status === wanted, `subscription ${wanted}`);
}

/** Posts an event as Stripe would: the answer's status. */
async function post(client, { text, signature }, headers = {}) {
    const answer = await client.as(undefined).request('POST', '/hooks/stripe', { text, headers: { 'stripe-signature': signature, ...headers }, check: false });
    return answer.status;
}

async function happens(w, stripe, type, object) {
    assert.equal(await post(w.client, stripe.event(type, object)), 200);
}

/** An account with a subscription that was bought: {…session, bought: {session, subscription}}. */
async function subscriber(w, stripe) {
    const session = await signIn(w.client);
    const { id } = ok(await buy(session), 201);
    const bought = await stripe.pay(id);
    await happens(w, stripe, 'checkout.session.completed', bought.session);
    await becomes(session, 'active');
    return { ...session, bought };
}

/** A subscriber who may add buildings, as lib/buildings.js wants one. */
async function owner(w, stripe) {
    const person = await subscriber(w, stripe);
    await eventually(async () => (ok(await person.client.get('/v1/buildings')).data[0].provisioned), 'a number');
    const phone = await verifyPhone(person);
    const keeper = (await agent(person, ['account:read', 'buildings:write', 'access:read', 'access:write'], { expires_in_days: 90 })).client;
    return { ...person, phone, keeper };
}

/** porterod admin account delete, beside this process, in which Stripe must answer: {status, stderr}. */
async function erase(w, email) {
    const child = spawn(binary, ['admin', 'account', 'delete', email, '--yes', '--config', w.daemon.configPath, '--data', w.daemon.data],
        { env: cleanEnvironment(), stdio: ['ignore', 'ignore', 'pipe'] });
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (text) => { stderr += text; });
    const [status] = await once(child, 'close');
    return { status, stderr };
}

const customersDeleted = (stripe, { bought }) => stripe.asked(CUSTOMER).filter(({ path }) => path.endsWith(`/${bought.session.customer}`));

/** Waits until the account is gone, for which jobs that failed must be repeated. */
function erased(w, email) {
    return eventually(async () => {
        await advance(w.client, 60);
        return /ACCOUNT_NOT_FOUND/.test((await erase(w, email)).stderr);
    }, 'the end of the account', 60_000);
}

const units = async (stripe, { bought }) => (await stripe.readSubscription({}, bought.subscription.id)).items.data[0].quantity;

describe('Stripe', () => {
    let stripe;
    before(async () => { stripe = await StripeImitation.open(); });
    const w = useWorld(() => ({ config: stripe.config() }));
    after(() => {
        stripe.close();
        for (const secret of [stripe.secretKey, stripe.webhookSecret, '@example.com', 'cs_test_1']) {
            assert.ok(!w.daemon.stderr.includes(secret), `standard error has ${secret}`);
        }
        assert.equal(stripe.broken, undefined);
    });

    it('shows the prices of plans', async () => {
        const plans = await eventually(async () => {
            const { data } = ok(await w.client.get('/v1/plans'));
            return data[0].amount !== null && data;
        }, 'prices');
        assert.deepEqual(plans.map(({ id, available, amount, currency, interval }) => [id, available, amount, currency, interval]),
            [['weekly', true, 555, 'eur', 'week'], ['yearly', true, 22200, 'eur', 'year']]);
    });

    it('sells a subscription, however often and in whatever order it tells of it', async () => {
        const session = await signIn(w.client);
        const key = idempotencyKey();
        const checkout = ok(await buy(session, key), 201);
        assert.equal(checkout.status, 'open');
        assert.match(checkout.url, /^https:\/\/checkout\.stripe\.com\/c\/pay\/cs_test_/);
        const asked = stripe.asked(CREATE).at(-1).form;
        assert.equal(asked.line_items[0].price, stripe.weekly.id);
        assert.equal(asked.customer_email, session.email);
        assert.match(asked.success_url, /\/account\?checkout=success$/);
        assert.match(asked.cancel_url, /\/account\?checkout=cancel$/);
        assert.equal((await subscription(session)).status, 'none');

        const paid = await stripe.pay(checkout.id);
        const updated = stripe.event('customer.subscription.updated', paid.subscription);
        const completed = stripe.event('checkout.session.completed', paid.session);
        assert.equal(await post(w.client, updated), 200);
        await becomes(session, 'active');
        assert.equal(await post(w.client, completed), 200);
        assert.equal(await post(w.client, completed), 200);
        assert.equal(await post(w.client, updated), 200);
        await eventually(async () => ok(await session.client.get('/v1/billing/checkout')).status === 'complete', 'a complete checkout');
        assert.deepEqual(await subscription(session), { type: 'weekly', status: 'active' });
        await eventually(async () => ok(await session.client.get('/v1/buildings')).data[0].provisioned, 'a number');
        assert.equal(ok(await buy(session, key)).status, 'complete');
        refused(await buy(session), 409, 'SUBSCRIPTION_EXISTS');
    });

    it('sells to many at once, and takes their events in a heap', async () => {
        const sessions = await Promise.all(Array.from({ length: 16 }, () => signIn(w.client)));
        const keys = sessions.map(() => idempotencyKey());
        const twice = await Promise.all([0, 1].flatMap(() => sessions.map((session, i) => buy(session, keys[i]))));
        for (const [i, answer] of twice.entries()) {
            if (answer.status >= 400) refused(answer, 503, 'CHECKOUT_UNAVAILABLE'); // the same request is on its way for long
            else assert.equal(answer.body.request_id, keys[i % sessions.length]);
        }
        const bought = await Promise.all(sessions.map(async (session, i) => stripe.pay(ok(await buy(session, keys[i])).id)));
        const events = bought.flatMap((paid) => [
            stripe.event('customer.subscription.created', paid.subscription), stripe.event('checkout.session.completed', paid.session),
            stripe.event('customer.subscription.updated', paid.subscription),
        ]);
        const statuses = await Promise.all([...events, ...events].map((event) => post(w.client, event)));
        assert.deepEqual(new Set(statuses), new Set([200]));
        await Promise.all(sessions.map((session) => becomes(session, 'active')));
        const emails = new Set(sessions.map(({ email }) => email));
        assert.equal([...stripe.sessions.values()].filter(({ form }) => emails.has(form.customer_email)).length, sessions.length);
    });

    // ACCOUNT-36
    it('deletes the customer with the account, and knows nothing of later events', async () => {
        const person = await subscriber(w, stripe);
        const done = await erase(w, person.email);
        assert.equal(done.status, 0, done.stderr);
        await erased(w, person.email);
        assert.equal(customersDeleted(stripe, person).length, 1);
        const ended = await stripe.readSubscription({}, person.bought.subscription.id);
        assert.equal(ended.status, 'canceled');
        await happens(w, stripe, 'customer.subscription.deleted', ended);
        await happens(w, stripe, 'checkout.session.completed', person.bought.session);
        assert.match((await erase(w, person.email)).stderr, /ACCOUNT_NOT_FOUND/);
    });

    // ACCOUNT-36
    it('ends an open checkout before the account', async () => {
        const person = await signIn(w.client);
        const { id } = ok(await buy(person), 201);
        assert.equal((await erase(w, person.email)).status, 0);
        await erased(w, person.email);
        assert.equal((await stripe.readSession({}, id)).status, 'expired');
    });

    it('does not apply an event of the same ID twice', async () => {
        const session = await subscriber(w, stripe);
        const event = stripe.event('customer.subscription.updated', session.bought.subscription);
        assert.equal(await post(w.client, event), 200);
        await eventually(() => stripe.asked(new RegExp(`^GET /v1/subscriptions/${session.bought.subscription.id}$`)).length >= 2, 'a reading');
        await advance(w.client, 1); // answers when nothing is due
        const before = stripe.requests.length;
        assert.equal(await post(w.client, event), 200);
        await advance(w.client, 1);
        assert.equal(stripe.requests.length, before);
    });

    it('follows the subscription: past due, paid again, canceled, bought again', async () => {
        const session = await subscriber(w, stripe);
        const { id } = session.bought.subscription;
        const invoice = { object: 'invoice', id: 'in_1', parent: { type: 'subscription_details', subscription_details: { subscription: id } } };
        await stripe.become(id, 'past_due');
        await happens(w, stripe, 'invoice.payment_failed', invoice);
        await becomes(session, 'past_due');
        refused(await buy(session), 409, 'SUBSCRIPTION_EXISTS');
        await stripe.become(id, 'active');
        await happens(w, stripe, 'invoice.paid', invoice);
        await becomes(session, 'active');
        await happens(w, stripe, 'customer.subscription.deleted', await stripe.become(id, 'canceled'));
        await becomes(session, 'none');
        assert.equal(ok(await session.client.get('/v1/billing/checkout')).status, 'none');
        ok(await buy(session, idempotencyKey(), 'yearly'), 201);
        const { form } = stripe.asked(CREATE).at(-1);
        assert.equal(form.customer, session.bought.session.customer);
        assert.equal(form.line_items[0].price, stripe.yearly.id);
    });

    // BILLING-34
    it('opens no door for a payment that is pending, and sells nothing else meanwhile', async () => {
        const session = await signIn(w.client);
        const { id } = ok(await buy(session), 201);
        const paid = await stripe.pay(id);
        const status = async () => ok(await session.client.get('/v1/billing/checkout')).status;
        await happens(w, stripe, 'customer.subscription.created', await stripe.become(paid.subscription.id, 'incomplete'));
        await happens(w, stripe, 'checkout.session.completed', paid.session);
        await advance(w.client, 1);
        assert.deepEqual([(await subscription(session)).status, await status()], ['none', 'complete']);
        for (const plan of ['weekly', 'yearly']) refused(await buy(session, idempotencyKey(), plan), 409, 'CHECKOUT_EXISTS');
        await happens(w, stripe, 'customer.subscription.updated', await stripe.become(paid.subscription.id, 'active'));
        await becomes(session, 'active');
        assert.equal(await status(), 'complete');
    });

    it('sells again once a first payment has failed for good, with or without an event', async () => {
        const session = await signIn(w.client);
        const { id } = ok(await buy(session), 201);
        const paid = await stripe.pay(id);
        await stripe.become(paid.subscription.id, 'incomplete');
        await happens(w, stripe, 'checkout.session.completed', paid.session);
        await advance(w.client, 1);
        await stripe.become(paid.subscription.id, 'incomplete_expired');
        const robot = await agent(session, ['billing:write'], { expires_in_days: 90 });
        await advance(w.client, 86_401);
        assert.equal(ok(await robot.client.get('/v1/billing/checkout')).status, 'none');
        ok(await buy(robot), 201);
    });

    it('follows a change of plan made in the portal', async () => {
        const session = await subscriber(w, stripe);
        const read = stripe.readSubscription;
        stripe.readSubscription = async function changed(form, id) {
            const found = await read.call(this, form, id);
            return id === session.bought.subscription.id ? { ...found, items: { ...found.items, data: [{ ...found.items.data[0], price: stripe.yearly }] } } : found;
        };
        try {
            await happens(w, stripe, 'customer.subscription.updated', session.bought.subscription);
            await eventually(async () => (await subscription(session)).type === 'yearly', 'the yearly plan');
        } finally {
            delete stripe.readSubscription;
        }
    });

    // BILLING-34
    it('opens no door while payments are paused, which stays active for Stripe', async () => {
        const session = await subscriber(w, stripe);
        const read = stripe.readSubscription;
        stripe.readSubscription = async function paused(form, id) {
            return { ...await read.call(this, form, id), pause_collection: { behavior: 'void', resumes_at: null } };
        };
        try {
            await happens(w, stripe, 'customer.subscription.updated', session.bought.subscription);
            await becomes(session, 'past_due');
        } finally {
            delete stripe.readSubscription;
        }
        await happens(w, stripe, 'customer.subscription.updated', session.bought.subscription);
        await becomes(session, 'active');
    });

    // BILLING-28
    it('opens the portal for customers alone', async () => {
        const session = await signIn(w.client);
        refused(await session.client.post('/v1/billing/portal'), 404, 'CUSTOMER_NOT_FOUND');
        const customer = await subscriber(w, stripe);
        assert.match(ok(await customer.client.post('/v1/billing/portal')).url, /^https:\/\/billing\.stripe\.com\//);
        assert.match(stripe.asked(/billing_portal/).at(-1).form.return_url, /\/account$/);
        stripe.fail(/billing_portal/, 403);
        refused(await customer.client.post('/v1/billing/portal'), 500, 'INTERNAL_ERROR');
    });

    it('begins no addition for a key that is ended while Stripe is asked', async () => {
        const person = await owner(w, stripe);
        const robot = await agent(person, ['account:read', 'buildings:write']);
        const quoted = await quote({ keeper: robot.client });
        const read = stripe.readSubscription;
        let asked;
        let answer;
        const isAsked = new Promise((done) => { asked = done; });
        const answered = new Promise((done) => { answer = done; });
        stripe.readSubscription = async function late(form, id) {
            if (id === person.bought.subscription.id) asked();
            await answered;
            return read.call(this, form, id);
        };
        try {
            const executed = execute({ keeper: robot.client }, quoted);
            await isAsked;
            ok(await person.client.delete(`/v1/auth/keys/${robot.id}`));
            answer();
            refused(await executed, 401, 'INVALID_KEY');
        } finally {
            answer();
            delete stripe.readSubscription;
        }
        assert.equal((await operation(person, quoted.id)).status, 'quoted');
        assert.equal((await buildings(person)).length, 1);
    });

    it('takes a unit more for each building, paid at once, and gives it back', async () => {
        const person = await owner(w, stripe);
        const quoted = await quote(person);
        const { proration_date: prorationDate, note, ...billing } = quoted.billing;
        assert.deepEqual(billing, {
            subscription_id: person.bought.subscription.id, price_id: stripe.weekly.id, current_quantity: 1, new_quantity: 2, currency: 'eur',
            next_invoice_amount_due: 1665, per_building_amount: 555, interval: 'week', // two weeks of two, one already paid: as lib/stripe.js counts
        });
        const made = ok(await execute(person, quoted), 201);
        assert.equal(await units(stripe, person), 2);
        const { form } = stripe.asked(QUANTITY).at(-1);
        assert.deepEqual(form, { quantity: '2', proration_date: String(prorationDate), proration_behavior: 'always_invoice', payment_behavior: 'error_if_incomplete' });
        assert.equal(stripe.asked(/create_preview/).at(-1).form.subscription_details.proration_date, String(prorationDate));
        ok(await execute(person, await quote(person, removal(made.building_id))));
        assert.equal(await units(stripe, person), 1);
    });

    // BILLING-36
    it('adds no building that the card does not pay for', async () => {
        const person = await owner(w, stripe);
        stripe.declines = 1;
        refused(await execute(person, await quote(person)), 402, 'PAYMENT_FAILED');
        assert.equal((await buildings(person)).length, 1);
        assert.equal(await units(stripe, person), 1);
        ok(await execute(person, await quote(person)), 201);
        assert.equal(await units(stripe, person), 2);
    });

    it('ends a checkout at Stripe as well', async () => {
        const session = await signIn(w.client);
        const first = ok(await buy(session), 201);
        const other = ok(await buy(session, idempotencyKey(), 'yearly'), 201);
        assert.equal(stripe.sessions.get(first.id).session.status, 'expired');
        for (const again of [1, 2]) assert.equal(ok(await session.client.post(`/v1/billing/checkout/${other.id}/expire`)).status, 'expired', `time ${again}`);
        assert.equal(stripe.sessions.get(other.id).session.status, 'expired');
        const third = ok(await buy(session), 201);
        await stripe.pay(third.id);
        refused(await session.client.post(`/v1/billing/checkout/${third.id}/expire`), 409, 'SUBSCRIPTION_EXISTS');
        await becomes(session, 'active');
    });

    it('takes a session for ended that Stripe let expire', async () => {
        const session = await signIn(w.client);
        const { id } = ok(await buy(session), 201);
        await happens(w, stripe, 'checkout.session.expired', await stripe.expireSession({}, id));
        await eventually(async () => ok(await session.client.get('/v1/billing/checkout')).status === 'expired', 'an expired checkout');
    });

    it('keeps a refusal, and sells under another key', async () => {
        const session = await signIn(w.client);
        const key = idempotencyKey();
        const create = stripe.createSession;
        stripe.createSession = (form) => create.call(stripe, { ...form, coupon: 'x' });
        try {
            for (const again of [1, 2]) assert.equal(ok(await buy(session, key)).status, 'failed', `time ${again}`);
        } finally {
            delete stripe.createSession;
        }
        assert.equal(ok(await buy(session), 201).status, 'open');
        assert.equal(ok(await buy(session, key)).status, 'failed');
    });

    // BILLING-32
    it('is not believed about our own key', async () => {
        const session = await signIn(w.client);
        const key = idempotencyKey();
        for (const status of [401, 403, 429]) {
            stripe.fail(CREATE, status);
            refused(await buy(session, key), 503, 'CHECKOUT_UNAVAILABLE');
        }
        assert.equal(ok(await buy(session, key)).status, 'open');
    });

    describe('posts events', () => {
        const about = { id: 'cs_test_unknown', object: 'checkout.session' };

        it('of any kind', async () => {
            for (const type of ['customer.created', 'price.updated', 'invoice.created', 'something.else']) {
                await happens(w, stripe, type, { id: 'x_1', object: 'x' });
            }
            await happens(w, stripe, 'checkout.session.completed', { ...about, mode: 'payment' });
            await happens(w, stripe, 'checkout.session.completed', about);
            await advance(w.client, 1);
            assert.equal(stripe.asked(/cs_test_unknown/).length, 1); // of the second
        });

        // BILLING-38
        it('which count only with its signature', async () => {
            const event = stripe.event('checkout.session.completed', about);
            const now = Math.floor(Date.now() / 1000);
            const wrong = {
                unsigned: { ...event, signature: undefined },
                empty: { ...event, signature: '' },
                garbled: { ...event, signature: 'v1=;t=,,,=,t' },
                'of another secret': stripe.event('checkout.session.completed', about, { secret: 'whsec_other' }),
                old: stripe.event('checkout.session.completed', about, { at: now - 3600 }),
                'of the future': stripe.event('checkout.session.completed', about, { at: now + 3600 }),
                altered: { ...event, text: event.text.replace('cs_test_unknown', 'cs_test_another') },
                'with a byte more': { ...event, text: `${event.text} ` },
                'of another time': { ...event, signature: event.signature.replace(/t=\d+/, `t=${now - 1}`) },
            };
            for (const [what, posted] of Object.entries(wrong)) assert.equal(await post(w.client, posted), 400, what);
            assert.equal(await post(w.client, { ...event, signature: `v0=00,${event.signature},v1=${'0'.repeat(64)}` }), 200);
        });

        it('which must be events', async () => {
            const sign = (text) => ({ text, signature: stripe.sdk.webhooks.generateTestHeaderString({ payload: text, secret: stripe.webhookSecret }) });
            for (const text of ['', 'x', '[]', '{}', '{"id":"evt_1","object":"event","type":"checkout.session.completed","data":{"object":{"id":["cs"]}}}']) {
                assert.equal(await post(w.client, sign(text)), 400, text);
            }
        });

        it('over HTTPS, by POST, of a bounded size', async () => {
            const event = stripe.event('checkout.session.completed', { ...about, padding: 'x'.repeat(525_000) });
            assert.equal(await post(w.client, event), 413);
            const fits = stripe.event('checkout.session.completed', { ...about, padding: 'x'.repeat(500_000) });
            assert.equal(await post(w.client, fits), 200);
            refused(await w.client.get('/hooks/stripe'), 405, 'METHOD_NOT_ALLOWED');
            refused(await w.client.request('POST', '/hooks/stripe', { text: fits.text, plain: true }), 426, 'HTTPS_REQUIRED');
        });
    });
});

/** The service's requests as calls of Stripe's SDK: the type of the parameters and the call. */
const CALLS = [
    [/^GET \/v1\/prices\/(\w+)$/, 'PriceRetrieveParams', (sdk, id, form, options) => sdk.prices.retrieve(id, form, options)],
    [CREATE, 'Checkout.SessionCreateParams', (sdk, id, form, options) => sdk.checkout.sessions.create(form, options)],
    [/^GET \/v1\/checkout\/sessions\/(\w+)$/, 'Checkout.SessionRetrieveParams', (sdk, id, form, options) => sdk.checkout.sessions.retrieve(id, form, options)],
    [/^POST \/v1\/checkout\/sessions\/(\w+)\/expire$/, 'Checkout.SessionExpireParams', (sdk, id, form, options) => sdk.checkout.sessions.expire(id, form, options)],
    [/^POST \/v1\/billing_portal\/sessions$/, 'BillingPortal.SessionCreateParams', (sdk, id, form, options) => sdk.billingPortal.sessions.create(form, options)],
    [CUSTOMER, 'CustomerDeleteParams', (sdk, id, form, options) => sdk.customers.del(id, form, options)],
    [/^GET \/v1\/subscriptions\/(\w+)$/, 'SubscriptionRetrieveParams', (sdk, id, form, options) => sdk.subscriptions.retrieve(id, form, options)],
    [/^POST \/v1\/invoices\/create_preview$/, 'InvoiceCreatePreviewParams', (sdk, id, form, options) => sdk.invoices.createPreview(form, options)],
    [/^POST \/v1\/subscription_items\/(\w+)$/, 'SubscriptionItemUpdateParams', (sdk, id, form, options) => sdk.subscriptionItems.update(id, form, options)],
];

/** A form with its numbers as such, as the SDK wants them. */
function typed(form) {
    return JSON.parse(JSON.stringify(form), (name, value) => (['quantity', 'proration_date'].includes(name) ? Number(value) : value));
}

/** TypeScript's errors in `source`, as a module next to this one. */
function complaints(source) {
    const name = join(root, 'test/e2e/stripe-parameters.ts');
    const options = { strict: true, noEmit: true, skipLibCheck: true, target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.NodeNext, types: ['node'],
        typeRoots: [join(root, 'test/e2e/node_modules/@types')] };
    const host = ts.createCompilerHost(options);
    const { getSourceFile, fileExists, readFile } = host;
    host.fileExists = (path) => path === name || fileExists(path);
    host.readFile = (path) => (path === name ? source : readFile(path));
    host.getSourceFile = (path, ...rest) => (path === name ? ts.createSourceFile(path, source, ts.ScriptTarget.ES2022) : getSourceFile(path, ...rest));
    return ts.getPreEmitDiagnostics(ts.createProgram([name], options, host)).map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}

/** One accepted request of the service for each of CALLS that it made: [{entry, type, call, id}]. */
function examples(stripe) {
    return CALLS.flatMap(([pattern, type, call]) => {
        const entry = stripe.asked(pattern).find(({ status, headers }) => status === 200 && /^Portero\//.test(headers['user-agent']));
        return entry ? [{ entry, type, call, id: pattern.exec(`${entry.method} ${entry.path}`)[1] }] : [];
    });
}

describe('Stripe, asked by its own SDK', () => {
    let stripe;
    before(async () => { stripe = await StripeImitation.open(); });
    const w = useWorld(() => ({ config: stripe.config() }));
    let made;
    before(async () => {
        const customer = await owner(w, stripe);
        ok(await customer.client.post('/v1/billing/portal'));
        ok(await execute(customer, await quote(customer)), 201);
        const other = await signIn(w.client);
        const { id } = ok(await buy(other), 201);
        ok(await other.client.post(`/v1/billing/checkout/${id}/expire`));
        assert.equal((await erase(w, (await subscriber(w, stripe)).email)).status, 0);
        made = examples(stripe);
    });
    after(() => stripe.close());

    it('gets the same requests, and the same answers for the same keys', async () => {
        assert.deepEqual(made.map(({ type }) => type), CALLS.map(([, type]) => type));
        for (const { entry, type, call, id } of made) {
            const key = entry.headers['idempotency-key'];
            const before = stripe.requests.length;
            await call(stripe.sdk, id, typed(entry.form), key ? { idempotencyKey: key } : {}).catch((error) => {
                assert.match(type, /Expire|Delete/, `${type}: ${error}`); // there is nothing left to end
            });
            const again = stripe.requests.slice(before).find(({ headers }) => !/^Portero/.test(headers['user-agent']));
            assert.equal(again.path, entry.path);
            assert.deepEqual(parseForm(again.text), parseForm(entry.text), type);
            assert.equal(again.headers['stripe-version'], entry.headers['stripe-version']);
            assert.equal(again.headers.authorization, entry.headers.authorization);
        }
    });

    it('has parameters of the types that the SDK declares', () => {
        const lines = made.map(({ entry, type }, i) => `export const p${i}: Stripe.${type} = ${JSON.stringify(typed(entry.form))};`);
        const wrong = "export const wrong: Stripe.Checkout.SessionCreateParams = { mod: 'subscription' };"; // so that somebody looks
        const found = complaints(["import Stripe from 'stripe';", ...lines, wrong, ''].join('\n'));
        assert.equal(found.length, 1, found.join('\n'));
        assert.match(found[0], /'mod' does not exist in type 'SessionCreateParams'/);
    });

    it('refuses a different request under a used key', async () => {
        const { entry } = made.find(({ type }) => type === 'Checkout.SessionCreateParams');
        const form = { ...typed(entry.form), customer_email: 'other@example.com' };
        await assert.rejects(stripe.sdk.checkout.sessions.create(form, { idempotencyKey: entry.headers['idempotency-key'] }), Stripe.errors.StripeIdempotencyError);
    });
});

describe('Stripe, when it fails', () => {
    let stripe;
    before(async () => { stripe = await StripeImitation.open(); });
    const w = useWorld(() => ({ config: stripe.config({ timeout_s: 2 }) }));
    after(() => {
        stripe.close();
        assert.ok(!w.daemon.stderr.includes(stripe.secretKey));
        assert.equal(stripe.broken, undefined);
    });

    /** Asks with the same key until Stripe's answer came in time. */
    async function resumed(session, key) {
        return eventually(async () => {
            const answer = await buy(session, key);
            if (answer.status !== 503) return ok(answer);
            return undefined;
        }, 'an open checkout');
    }

    const sessionsOf = (session) => [...stripe.sessions.values()].filter(({ form }) => form.customer_email === session.email);

    for (const fault of ['silent', 'lost', 'torn', 'cut', 'drip', 'huge', 'malformed', 'types', 'empty', 'list', 'page', 'deep', 'evil', 302, 500, 503]) {
        it(`sells once behind an answer that is ${fault}`, async () => {
            const session = await signIn(w.client);
            const key = idempotencyKey();
            stripe.fail(CREATE, fault, fault === 'torn' ? 2 : 1); // a connection that dies is replaced once
            refused(await buy(session, key), 503, 'CHECKOUT_UNAVAILABLE');
            assert.equal(ok(await session.client.get('/v1/billing/checkout')).status, 'preparing');
            refused(await buy(session), 409, 'CHECKOUT_PENDING');
            const checkout = await resumed(session, key);
            assert.equal(checkout.status, 'open');
            assert.deepEqual(sessionsOf(session).map(({ session: { id } }) => id), [checkout.id]);
        });
    }

    it('sells at once over a kept connection that Stripe closes in that moment', async () => {
        const [first, second] = [await signIn(w.client), await signIn(w.client)];
        ok(await buy(first), 201);
        stripe.fail(CREATE, 'torn');
        const checkout = ok(await buy(second), 201);
        assert.deepEqual(sessionsOf(second).map(({ session: { id } }) => id), [checkout.id]);
    });

    for (const fault of ['lost', 'silent', 'torn', 'malformed', 500]) {
        it(`charges once behind an answer that is ${fault}`, async () => {
            const person = await owner(w, stripe);
            const quoted = await quote(person);
            const before = stripe.requests.length;
            stripe.fail(QUANTITY, fault);
            const answer = await execute(person, quoted);
            assert.ok([201, 202].includes(answer.status), answer.text);
            await eventually(async () => {
                await advance(w.client, 5);
                return (await operation(person, quoted.id)).status === 'succeeded';
            }, 'the end of the operation');
            assert.equal(await units(stripe, person), 2);
            const asked = stripe.requests.slice(before).filter(({ method, path }) => QUANTITY.test(`${method} ${path}`));
            assert.ok(asked.length >= 2, 'it was asked again');
            assert.equal(new Set(asked.map(({ headers }) => headers['idempotency-key'])).size, 1);
        });
    }

    for (const fault of ['lost', 'silent', 'malformed', 500, 403]) {
        it(`deletes the customer of a deleted account behind an answer that is ${fault}`, async () => {
            const person = await subscriber(w, stripe);
            stripe.fail(CUSTOMER, fault);
            const asked = erase(w, person.email); // waits for the end itself
            await erased(w, person.email);
            await asked;
            assert.ok(stripe.deleted.has(person.bought.session.customer));
            assert.ok(customersDeleted(stripe, person).length >= 2, 'it was asked again');
        });
    }

    it('deletes a customer once more if Stripe did not say that it is gone', async () => {
        const person = await subscriber(w, stripe);
        const { session: { customer }, subscription: { id } } = person.bought;
        await happens(w, stripe, 'customer.subscription.deleted', await stripe.become(id, 'canceled'));
        await becomes(person, 'none'); // so that no subscription leads to the customer
        stripe.fail(CUSTOMER, 'types');
        const asked = erase(w, person.email);
        await erased(w, person.email);
        await asked;
        assert.ok(stripe.deleted.has(customer));
    });

    it('deletes an account whose customer was deleted at Stripe', async () => {
        const person = await subscriber(w, stripe);
        await stripe.deleteCustomer({}, person.bought.session.customer);
        assert.equal((await erase(w, person.email)).status, 0);
        await erased(w, person.email);
        assert.deepEqual(customersDeleted(stripe, person).map(({ status }) => status), [404]);
    });

    it('expires the session of a deleted account that it made without our knowledge', async () => {
        const person = await signIn(w.client);
        stripe.fail(CREATE, 'lost');
        refused(await buy(person), 503, 'CHECKOUT_UNAVAILABLE');
        const asked = erase(w, person.email);
        await erased(w, person.email);
        await asked;
        assert.deepEqual(sessionsOf(person).map(({ session: { status } }) => status), ['expired']);
    });

    it('ends a subscription that a deleted account paid for and that it has not told of', async () => {
        const person = await signIn(w.client);
        const bought = await stripe.pay(ok(await buy(person), 201).id);
        const asked = erase(w, person.email);
        await erased(w, person.email);
        await asked;
        assert.ok(stripe.deleted.has(bought.session.customer));
        assert.equal((await stripe.readSubscription({}, bought.subscription.id)).status, 'canceled');
    });

    it('sells once to a buyer whose request was interrupted by a crash', async () => {
        const session = await signIn(w.client);
        const key = idempotencyKey();
        stripe.fail(CREATE, 'lost');
        const unanswered = buy(session, key).catch(() => undefined);
        await eventually(() => sessionsOf(session).length === 1, 'a session');
        await w.daemon.crash();
        await unanswered;
        await w.daemon.start();
        assert.equal(ok(await session.client.get('/v1/billing/checkout')).status, 'preparing');
        const { id } = await resumed(session, key);
        assert.deepEqual(sessionsOf(session).map(({ session: made }) => made.id), [id]);
    });

    it('is asked again about the subject of an event', async () => {
        const session = await signIn(w.client);
        const key = idempotencyKey();
        await buy(session, key);
        const { id } = await resumed(session, key);
        const paid = await stripe.pay(id);
        for (const fault of ['malformed', 500, 'silent']) stripe.fail(SESSION, fault);
        for (const fault of ['types', 503]) stripe.fail(/^GET \/v1\/subscriptions/, fault);
        await happens(w, stripe, 'checkout.session.completed', paid.session);
        await eventually(async () => {
            await advance(w.client, 30);
            return (await subscription(session)).status === 'active';
        }, 'an active subscription', 60_000);
    });
});

describe('Stripe, when it is silent at the end', () => {
    // SERVICE-18
    it('ends the service as it should, though a request waits longer for Stripe than the end for requests', async () => {
        const stripe = await StripeImitation.open();
        const w = await world({ config: stripe.config({ timeout_s: 14 }) });
        try {
            const session = await signIn(w.client);
            stripe.fail(CREATE, 'silent');
            const unanswered = buy(session).catch((error) => error);
            await eventually(() => stripe.requests.some(({ method, path }) => CREATE.test(`${method} ${path}`)), 'a request to Stripe');
            assert.deepEqual(await w.daemon.terminate(), { code: 0, signal: null });
            assert.ok(await unanswered instanceof Error);
        } finally {
            await w.close();
            stripe.close();
        }
    });
});

describe('without Stripe', () => {
    const w = useWorld();

    // BILLING-38
    it('there is no hook', async () => {
        refused(await w.client.post('/hooks/stripe', {}), 404, 'NOT_FOUND');
    });
});
