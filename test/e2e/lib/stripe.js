// Stripe's API on loopback. Prices, customers and subscriptions are stripe-stateful-mock's; this file adds the
// missing parts: checkout sessions, the portal, previews, payments that fail, states of subscriptions, idempotency for all of
// these, and faults on order. Everything asked for is kept, so that tests can hold it against Stripe's own SDK.
import http from 'node:http';
import { once } from 'node:events';
import { randomBytes } from 'node:crypto';
import Stripe from 'stripe';

process.env.LOG_LEVEL = 'silent'; // read by stripe-stateful-mock when it is loaded
const { default: stand } = await import('stripe-stateful-mock');

const id = (prefix) => `${prefix}_${randomBytes(12).toString('hex')}`;
const seconds = () => Math.floor(Date.now() / 1000);

/** A form's fields as one object: "a[b][0]=1" is {a: {b: ['1']}}. Throws for a form that Stripe could not read either. */
export function parseForm(text) {
    const root = {};
    for (const [name, value] of new URLSearchParams(text)) {
        if (!/^\w+(\[\w+\])*$/.test(name)) throw new Error(`a field is named ${name}`);
        const path = name.replaceAll(']', '').split('[');
        let at = root;
        path.forEach((key, i) => {
            if (i < path.length - 1) at = at[key] ??= /^\d+$/.test(path[i + 1]) ? [] : {};
            else if (key in at) throw new Error(`field ${name} stands twice`);
            else at[key] = value;
        });
    }
    return root;
}

class Refusal extends Error {
    constructor(status, error) {
        super(error.message ?? error.code);
        this.status = status;
        this.body = { error: { type: 'invalid_request_error', message: this.message, ...error } };
    }
}

const missing = (what, param, status = 400) => new Refusal(status, { code: 'resource_missing', param, message: `No such ${what}` });

function need(condition, param) {
    if (!condition) throw new Refusal(400, { code: 'parameter_invalid', param, message: `Wrong: ${param}` });
}

export class StripeImitation {
    static async open() {
        const stripe = new StripeImitation();
        stripe.standServer = http.createServer(stand.createExpressApp()).listen(0, '127.0.0.1');
        stripe.server = http.createServer((request, response) => stripe.serve(request, response)).listen(0, '127.0.0.1');
        await Promise.all([once(stripe.standServer, 'listening'), once(stripe.server, 'listening')]);
        for (const server of [stripe.standServer, stripe.server]) server.unref(); // a test that fails half-way ends all the same
        stripe.behind = stripe.client(stripe.standServer);
        stripe.sdk = stripe.client(stripe.server);
        await stripe.catalogue();
        return stripe;
    }

    constructor() {
        this.secretKey = `sk_test_${randomBytes(12).toString('hex')}`;
        this.webhookSecret = `whsec_${randomBytes(16).toString('hex')}`;
        this.requests = []; // {method, path, headers, form, status}
        this.faults = [];
        this.replies = new Map(); // by Idempotency-Key
        this.sessions = new Map();
        this.states = new Map(); // of subscriptions
        this.deleted = new Set(); // customers
        this.declines = 0; // payments that will fail
    }

    client(server) {
        return new Stripe(this.secretKey, { host: '127.0.0.1', port: server.address().port, protocol: 'http', telemetry: false, maxNetworkRetries: 0 });
    }

    get url() { return `http://127.0.0.1:${this.server.address().port}`; }

    async catalogue() {
        const price = (interval, amount) => this.behind.prices.create({ currency: 'eur', unit_amount: amount, recurring: { interval }, product_data: { name: interval } });
        this.weekly = await price('week', 555);
        this.yearly = await price('year', 22200);
        this.plan = await this.behind.plans.create({ id: id('plan'), currency: 'eur', interval: 'week', amount: 0, product: { name: 'plan' } });
    }

    /** The daemon's configuration for this imitation. */
    config(stripe = {}) {
        return {
            billing: { provider: 'stripe', 'plan weekly': { stripe_price: this.weekly.id }, 'plan yearly': { stripe_price: this.yearly.id } },
            stripe: { url: this.url, secret_key: this.secretKey, webhook_secret: this.webhookSecret, ...stripe },
        };
    }

    close() {
        for (const server of [this.server, this.standServer]) {
            server.close();
            server.closeAllConnections();
        }
    }

    // ---- faults ----

    /** The next `count` requests whose "METHOD path" fits end so: a name of FAULTS, or an error status. */
    fail(pattern, fault, count = 1) {
        this.faults.push({ pattern, fault, count });
    }

    takeFault(line) {
        const found = this.faults.find(({ pattern, count }) => count > 0 && pattern.test(line));
        if (found) found.count -= 1;
        return found?.fault;
    }

    /** The requests that match and were answered. */
    asked(pattern) {
        return this.requests.filter(({ method, path }) => pattern.test(`${method} ${path}`));
    }

    // ---- serving ----

    async serve(request, response) {
        const chunks = [];
        for await (const chunk of request) chunks.push(chunk);
        const text = Buffer.concat(chunks).toString('utf8');
        const line = `${request.method} ${request.url}`;
        const entry = { method: request.method, path: request.url, headers: request.headers, text, form: {} };
        this.requests.push(entry);
        const fault = this.takeFault(line);
        if (FAULTS[fault]?.before) return FAULTS[fault].before(response);
        const answer = typeof fault === 'number' ? { status: fault, body: { error: { type: 'api_error', message: 'On order.' } } } : await this.answer(entry);
        entry.status = answer.status;
        if (FAULTS[fault]?.after) return FAULTS[fault].after(response);
        response.writeHead(answer.status, { 'content-type': 'application/json', 'request-id': id('req'), ...answer.headers });
        return response.end(JSON.stringify(answer.body));
    }

    async answer(entry) {
        try {
            this.authenticate(entry);
            entry.form = parseForm(entry.text);
            return await this.once(entry);
        } catch (error) {
            if (error instanceof Refusal) return { status: error.status, body: error.body };
            this.broken = error;
            return { status: 500, body: { error: { type: 'api_error', message: String(error) } } };
        }
    }

    authenticate({ method, headers, text }) {
        if (headers.authorization !== `Bearer ${this.secretKey}`) throw new Refusal(401, { message: 'Invalid API Key provided' });
        need(headers['stripe-version'] === Stripe.API_VERSION, `Stripe-Version ${headers['stripe-version']}`);
        if (method === 'POST' && text) need(headers['content-type'] === 'application/x-www-form-urlencoded', 'Content-Type');
        if (method === 'GET') need(!text, 'body of a GET');
    }

    /** The same key gives the first answer again; with other parameters it is refused, and while the first is in work. */
    async once(entry) {
        const key = entry.headers['idempotency-key'];
        if (!key || entry.method !== 'POST') return this.route(entry);
        need(key.length <= 255, 'Idempotency-Key');
        const same = `${entry.path} ${entry.text}`;
        const known = this.replies.get(key);
        if (known && known.same !== same) throw new Refusal(400, { type: 'idempotency_error', message: 'Keys for idempotent requests can only be used with the same parameters they were first used with.' });
        if (known && !known.answer) throw new Refusal(409, { code: 'idempotency_key_in_use', message: 'In use.' });
        if (known) return { ...known.answer, headers: { 'idempotent-replayed': 'true' } };
        const kept = { same };
        this.replies.set(key, kept);
        kept.answer = await this.route(entry).catch((error) => {
            if (error instanceof Refusal) return { status: error.status, body: error.body };
            throw error;
        });
        return kept.answer;
    }

    async route(entry) {
        const line = `${entry.method} ${entry.path}`;
        for (const [pattern, run] of ROUTES) {
            const match = pattern.exec(line);
            if (match) return { status: 200, body: await this[run](entry.form, match[1]) };
        }
        return this.forward(entry);
    }

    /** As stripe-stateful-mock answers. */
    async forward({ method, path, text }) {
        const headers = { authorization: `Bearer ${this.secretKey}`, ...(text ? { 'content-type': 'application/x-www-form-urlencoded' } : {}) };
        const answer = await fetch(`http://127.0.0.1:${this.standServer.address().port}${path}`, { method, headers, body: text || undefined });
        return { status: answer.status, body: await answer.json() };
    }

    // ---- the routes in front of the mock ----

    async createSession(form) {
        const known = ['mode', 'line_items', 'client_reference_id', 'subscription_data', 'success_url', 'cancel_url', 'customer', 'customer_email'];
        for (const name of Object.keys(form)) if (!known.includes(name)) throw new Refusal(400, { code: 'parameter_unknown', param: name });
        need(form.mode === 'subscription', 'mode');
        need(form.line_items?.length === 1 && /^[1-9]\d*$/.test(form.line_items[0].quantity), 'line_items');
        need(/^https?:\/\//.test(form.success_url), 'success_url');
        need(!form.customer !== !form.customer_email, 'customer_email');
        await this.behind.prices.retrieve(form.line_items[0].price).catch(() => { throw missing('price', 'line_items[0][price]'); });
        if (form.customer) await this.behind.customers.retrieve(form.customer).catch(() => { throw missing('customer', 'customer'); });
        const session = {
            id: id('cs_test'), object: 'checkout.session', mode: 'subscription', status: 'open', payment_status: 'unpaid', livemode: false, created: seconds(),
            expires_at: seconds() + 86400, client_reference_id: form.client_reference_id ?? null, customer: form.customer ?? null, customer_email: form.customer_email ?? null,
            subscription: null, invoice: null, metadata: {}, success_url: form.success_url, cancel_url: form.cancel_url ?? null,
        };
        session.url = `https://checkout.stripe.com/c/pay/${session.id}#fidkdWxOYHwnPyd1blpxYHZxWjA0`;
        this.sessions.set(session.id, { session, form });
        return session;
    }

    async readSession(form, sessionId) {
        const found = this.sessions.get(sessionId);
        if (!found) throw missing('checkout.session', 'session', 404);
        return found.session;
    }

    async expireSession(form, sessionId) {
        const session = await this.readSession(form, sessionId);
        need(session.status === 'open', 'session');
        return Object.assign(session, { status: 'expired', url: null });
    }

    async createPortal(form) {
        await this.behind.customers.retrieve(form.customer ?? '').catch(() => { throw missing('customer', 'customer'); });
        return {
            id: id('bps'), object: 'billing_portal.session', livemode: false, created: seconds(), customer: form.customer, return_url: form.return_url ?? null,
            url: `https://billing.stripe.com/p/session/${randomBytes(8).toString('hex')}`,
        };
    }

    /** Cancels the customer's subscriptions, too. */
    async deleteCustomer(form, customerId) {
        if (this.deleted.has(customerId)) throw missing('customer', 'id', 404);
        await this.behind.customers.retrieve(customerId).catch(() => { throw missing('customer', 'id', 404); });
        this.deleted.add(customerId);
        for (const { id: subscription } of (await this.behind.subscriptions.list({ customer: customerId })).data) this.states.set(subscription, 'canceled');
        return { id: customerId, object: 'customer', deleted: true };
    }

    async readSubscription(form, subscriptionId) {
        const subscription = await this.behind.subscriptions.retrieve(subscriptionId).catch(() => { throw missing('subscription', 'id', 404); });
        return { ...subscription, status: this.states.get(subscriptionId) ?? subscription.status };
    }

    async createPreview(form) {
        const subscription = await this.readSubscription({}, form.subscription ?? '');
        const details = form.subscription_details ?? {};
        const [item] = subscription.items.data;
        need(details.items?.length === 1 && details.items[0].id === item.id && /^[1-9]\d*$/.test(details.items[0].quantity), 'subscription_details[items]');
        need(['create_prorations', 'always_invoice'].includes(details.proration_behavior), 'subscription_details[proration_behavior]');
        need(/^\d+$/.test(details.proration_date), 'subscription_details[proration_date]');
        const quantity = Number(details.items[0].quantity);
        const prorated = (quantity - item.quantity) * item.price.unit_amount; // as if the period had just begun
        return {
            id: id('upcoming_in'), object: 'invoice', currency: item.price.currency, customer: subscription.customer, livemode: false,
            amount_due: Math.max(0, quantity * item.price.unit_amount + prorated),
            parent: { type: 'subscription_details', subscription_details: { subscription: subscription.id, metadata: subscription.metadata } },
        };
    }

    async updateItem(form, itemId) {
        const found = await this.behind.subscriptionItems.retrieve(itemId).catch(() => { throw missing('subscription_item', 'item', 404); });
        need(/^[1-9]\d*$/.test(form.quantity) && /^\d+$/.test(form.proration_date), 'quantity');
        need(form.proration_behavior === 'always_invoice' && form.payment_behavior === 'error_if_incomplete', 'payment_behavior');
        if (this.declines > 0 && Number(form.quantity) > found.quantity) {
            this.declines -= 1;
            throw new Refusal(402, { type: 'card_error', code: 'card_declined', message: 'Your card was declined.' });
        }
        return this.behind.subscriptionItems.update(itemId, { quantity: Number(form.quantity) });
    }

    // ---- events at Stripe ----

    /** The customer pays: {session, subscription}. */
    async pay(sessionId) {
        const { session, form } = this.sessions.get(sessionId);
        const customer = form.customer ?? (await this.behind.customers.create({ email: form.customer_email })).id;
        const subscription = await this.behind.subscriptions.create({
            customer, metadata: form.subscription_data?.metadata,
            items: [{ price: form.line_items[0].price, plan: this.plan.id, quantity: Number(form.line_items[0].quantity) }],
        });
        Object.assign(session, { status: 'complete', payment_status: 'paid', url: null, customer, subscription: subscription.id });
        return { session, subscription: await this.readSubscription({}, subscription.id) };
    }

    /** A subscription becomes active, past_due, canceled …: the subscription. */
    async become(subscriptionId, status) {
        this.states.set(subscriptionId, status);
        return this.readSubscription({}, subscriptionId);
    }

    /** An event about an object, ready to be posted: {id, text, signature}. */
    event(type, object, { at = seconds(), secret = this.webhookSecret, eventId = id('evt') } = {}) {
        const text = JSON.stringify({
            id: eventId, object: 'event', api_version: Stripe.API_VERSION, created: at, type, livemode: false, pending_webhooks: 1,
            request: { id: null, idempotency_key: null }, data: { object },
        });
        return { id: eventId, text, signature: this.sdk.webhooks.generateTestHeaderString({ payload: text, secret, timestamp: at }) };
    }
}

const ROUTES = [
    [/^POST \/v1\/checkout\/sessions$/, 'createSession'],
    [/^GET \/v1\/checkout\/sessions\/(\w+)$/, 'readSession'],
    [/^POST \/v1\/checkout\/sessions\/(\w+)\/expire$/, 'expireSession'],
    [/^POST \/v1\/billing_portal\/sessions$/, 'createPortal'],
    [/^DELETE \/v1\/customers\/(\w+)$/, 'deleteCustomer'],
    [/^GET \/v1\/subscriptions\/(\w+)$/, 'readSubscription'],
    [/^POST \/v1\/invoices\/create_preview$/, 'createPreview'],
    [/^POST \/v1\/subscription_items\/(\w+)$/, 'updateItem'],
];

const raw = (body, headers = {}) => ({
    before(response) {
        response.writeHead(200, { 'content-type': 'application/json', ...headers });
        response.end(body);
    },
});

function never() {}

/** Faults in place of an answer, `before` or `after` the request took effect. */
export const FAULTS = {
    silent: { before: never },
    lost: { after: never },
    torn: { after: (response) => response.destroy() },
    cut: {
        before(response) {
            response.writeHead(200, { 'content-type': 'application/json', 'content-length': 1000 });
            response.write('{"id":"cs_test_1",', () => response.destroy());
        },
    },
    drip: {
        before(response) {
            response.writeHead(200, { 'content-type': 'application/json' });
            const timer = setInterval(() => response.write(' '), 50);
            response.on('close', () => clearInterval(timer));
        },
    },
    huge: {
        before(response) {
            const chunk = 'x'.repeat(1 << 16);
            let left = 50 * 16;
            response.writeHead(200, { 'content-type': 'application/json' });
            response.write('{"id":"');
            const more = () => {
                while (left > 0 && !response.destroyed) {
                    left -= 1;
                    if (!response.write(chunk)) return;
                }
                response.end('"}');
            };
            response.on('drain', more);
            more();
        },
    },
    malformed: raw('{"id":"cs_test_1","object":"checkout.session",'),
    types: raw('{"id":["cs_test_1"],"object":"checkout.session","status":{"open":true},"url":7}'),
    empty: raw(''),
    list: raw('[]'),
    page: raw('<html><body>Sorry</body></html>', { 'content-type': 'text/html' }),
    deep: raw(`{"id":${'['.repeat(5000)}${']'.repeat(5000)}}`),
    evil: raw('{"id":"../../v1/x","object":"checkout.session","status":"open","url":"javascript:alert(1)"}'),
};
