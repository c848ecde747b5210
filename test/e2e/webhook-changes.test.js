// Changes of webhook endpoints, and of their secrets: extensions (docs/behaviour/webhooks.md).
import { describe, it, beforeEach } from 'node:test';
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import Stripe from 'stripe';
import { idempotencyKey, ok, refused } from './lib/client.js';
import { REACHABLE, useReceiver } from './lib/receiver.js';
import { portero } from './lib/daemon.js';
import { advance, agent, DAY, eventually, HOUR, now, resident, signIn, UNKNOWN_ID, useWorld, visit } from './lib/world.js';

const seconds = (ms) => ms / 1000 + 1;
const SECRET = /^whsec_[0-9A-Za-z]{43}$/;

/** The signatures of a request, and the secrets of the list that made one of them. */
function signers(request, secrets) {
    const [time, ...signatures] = request.headers['service-signature'].split(',');
    assert.ok(signatures.every((one) => one.startsWith('v1=')));
    const made = secrets.map((secret) => `v1=${createHmac('sha256', secret).update(`${time.slice(2)}.`).update(request.raw).digest('hex')}`);
    assert.ok(signatures.every((one) => made.includes(one)), 'a signature by none of the secrets');
    return secrets.filter((_, i) => signatures.includes(made[i]));
}

/** Stripe's library reads a header of the same form. */
const stripeTakes = (request, secret) => Boolean(new Stripe('sk_test_none').webhooks.constructEvent(request.raw, request.headers['service-signature'], secret));

describe('a webhook endpoint', () => {
    const w = useWorld({ config: REACHABLE });
    const { client } = w;
    const receiver = useReceiver();
    let owner, mine, endpoint;
    beforeEach(async () => {
        receiver.answer = undefined;
        receiver.requests.length = 0;
        owner = await resident(client);
        mine = (await agent(owner)).client; // a session ends with the day
        endpoint = ok(await mine.post('/v1/webhooks', { url: receiver.url() }), 201);
    });

    const change = (body, id = endpoint.id, who = mine) => who.patch(`/v1/webhooks/${id}`, body);
    const rotate = (body, key, who = mine) => who.post(`/v1/webhooks/${endpoint.id}/secret`, body, key && { headers: { 'Idempotency-Key': key } });
    const test = async () => ok(await mine.post(`/v1/webhooks/${endpoint.id}/test`), 202).delivery_id;
    const deliveries = async () => ok(await mine.get(`/v1/webhooks/${endpoint.id}/deliveries`)).data;
    const listed = async () => ok(await mine.get('/v1/webhooks')).data.find(({ id }) => id === endpoint.id);
    const tested = async () => {
        const before = receiver.requests.length;
        await test();
        await eventually(() => receiver.requests.length > before, 'a delivery');
        return receiver.requests.at(-1);
    };

    describe('that is changed', () => {
        // WEBHOOK-8
        it('keeps what is not named', async () => {
            const { secret, ...shown } = endpoint;
            assert.deepEqual(await listed(), { ...shown, active: true });
            assert.deepEqual(ok(await change({ events: ['webhook.test', 'access.denied'] })), { ...shown, events: ['access.denied', 'webhook.test'] });
            assert.deepEqual(ok(await change({ url: receiver.url('/other') })), { ...shown, url: receiver.url('/other'), events: ['access.denied', 'webhook.test'] });
            assert.deepEqual(await listed(), { ...shown, url: receiver.url('/other'), events: ['access.denied', 'webhook.test'] });
            assert.deepEqual(signers(await tested(), [secret]), [secret]);
            assert.equal(receiver.requests[0].path, '/other');
        });

        it('hears of its new types alone', async () => {
            ok(await change({ events: ['access.denied'] }));
            await visit(client, { to: owner.number });
            assert.deepEqual(await deliveries(), []);
            ok(await change({ events: ['access.call_forwarded'] }));
            await visit(client, { to: owner.number });
            await receiver.first(({ body }) => body.type === 'access.call_forwarded');
        });

        // WEBHOOK-8
        it('sends what is pending to its new URL', async () => {
            receiver.answer = (request, response) => response.writeHead(503).end();
            await test();
            await eventually(async () => (await deliveries())[0]?.attempts === 1, 'a failed attempt');
            receiver.answer = undefined;
            ok(await change({ url: receiver.url('/moved') }));
            await advance(client, 61);
            assert.equal((await receiver.first(({ path }) => path === '/moved')).body.type, 'webhook.test');
        });

        const refusals = [
            [{}, 'INVALID_WEBHOOK', 'at least one'], [{ description: 'mine' }, 'INVALID_WEBHOOK', 'description'], [{ active: 1 }, 'INVALID_WEBHOOK', 'active'],
            [{ active: null }, 'INVALID_WEBHOOK', 'active'], [{ url: null }, 'INVALID_WEBHOOK_URL', 'url'], [{ url: 'http://127.0.0.1/' }, 'INVALID_WEBHOOK_URL', 'url'],
            [{ url: 'https://nowhere.invalid/' }, 'INVALID_WEBHOOK_URL', 'url'], [{ events: [] }, 'INVALID_WEBHOOK_EVENTS', 'events'],
            [{ events: ['door.opened'] }, 'INVALID_WEBHOOK_EVENTS', 'events'], [{ events: null }, 'INVALID_WEBHOOK_EVENTS', 'events'],
            [{ events: ['access.denied', 'access.denied'], active: false }, 'INVALID_WEBHOOK_EVENTS', 'events'],
        ];
        for (const [body, code, word] of refusals) {
            // WEBHOOK-3
            it(`refuses ${JSON.stringify(body)}, and stays as it was`, async () => {
                const before = await listed();
                refused(await change(body), 400, code, word);
                assert.deepEqual(await listed(), before);
            });
        }

        it('is not found when it is unknown, another account\'s or deleted', async () => {
            refused(await change({ active: false }, UNKNOWN_ID), 404, 'NOT_FOUND');
            refused(await change({ active: false }, endpoint.id, (await signIn(client)).client), 404, 'NOT_FOUND');
            refused(await change({ active: false }, 'x'), 400, 'INVALID_ID');
            ok(await mine.delete(`/v1/webhooks/${endpoint.id}`));
            refused(await change({ active: true }), 404, 'NOT_FOUND');
        });

        it('needs access:write', async () => {
            const reader = await agent(owner, ['access:read']);
            refused(await change({ active: false }, endpoint.id, reader.client), 403, 'INSUFFICIENT_SCOPE', 'access:write');
            refused(await rotate({}, undefined, reader.client), 403, 'INSUFFICIENT_SCOPE', 'access:write');
        });
    });

    describe('that is switched off', () => {
        // WEBHOOK-9
        it('gets no events until it is switched on', async () => {
            assert.equal(ok(await change({ active: false })).active, false);
            await visit(client, { to: owner.number });
            assert.deepEqual(await deliveries(), []);
            assert.equal(ok(await change({ active: true })).active, true);
            await visit(client, { to: owner.number });
            assert.equal((await receiver.first()).body.type, 'access.call_forwarded');
        });

        // WEBHOOK-9
        it('cancels what is pending, which can be sent again', async () => {
            receiver.answer = (request, response) => response.writeHead(503).end();
            await test();
            await eventually(async () => (await deliveries())[0]?.attempts === 1, 'a failed attempt');
            ok(await change({ active: false }));
            const [canceled] = await deliveries();
            assert.equal(canceled.status, 'canceled');
            receiver.answer = undefined;
            receiver.requests.length = 0;
            ok(await change({ active: true }));
            ok(await mine.post(`/v1/webhooks/${endpoint.id}/deliveries/${canceled.id}/replay`), 202);
            assert.equal((await receiver.first()).body.id, canceled.event_id);
        });

        // WEBHOOK-9
        it('is still tested', async () => {
            ok(await change({ active: false }));
            assert.equal((await tested()).body.type, 'webhook.test');
        });
    });

    describe('whose secret is changed', () => {
        // WEBHOOK-14
        it('signs with both for a day, and with the new one after it', async () => {
            const answer = ok(await rotate());
            const { secret, previous_secret_until: until, ...shown } = answer;
            assert.match(secret, SECRET);
            assert.notEqual(secret, endpoint.secret);
            assert.deepEqual(shown, await listed());
            assert.ok(Math.abs(Date.parse(until) - await now(client) - DAY) < 60_000);
            const both = await tested();
            assert.deepEqual(signers(both, [endpoint.secret, secret]), [endpoint.secret, secret]);
            for (const one of [endpoint.secret, secret]) assert.ok(stripeTakes(both, one));
            await advance(client, seconds(DAY));
            const after = await tested();
            assert.deepEqual(signers(after, [secret]), [secret]);
            assert.throws(() => stripeTakes(after, endpoint.secret));
        });

        // WEBHOOK-14
        it('keeps the earlier one as long as it is asked to, or not at all', async () => {
            const short = ok(await rotate({ keep_previous_hours: 1 }));
            await advance(client, seconds(HOUR));
            assert.deepEqual(signers(await tested(), [short.secret]), [short.secret]);
            const none = ok(await rotate({ keep_previous_hours: 0 }));
            assert.equal(none.previous_secret_until, null);
            assert.deepEqual(signers(await tested(), [none.secret]), [none.secret]);
        });

        // WEBHOOK-15
        it('refuses a third one while two are valid, unless both end', async () => {
            const second = ok(await rotate());
            refused(await rotate(), 409, 'WEBHOOK_ROTATION_PENDING');
            assert.deepEqual(signers(await tested(), [endpoint.secret, second.secret]).length, 2);
            const third = ok(await rotate({ keep_previous_hours: 0 }));
            assert.deepEqual(signers(await tested(), [third.secret]), [third.secret]);
            ok(await rotate());
        });

        // WEBHOOK-11, WEBHOOK-16
        it('gives the same secret to a request that is repeated', async () => {
            const key = idempotencyKey();
            const first = await rotate({}, key);
            const again = await rotate({}, key);
            assert.deepEqual(ok(again), ok(first));
            assert.equal(again.headers['idempotency-replayed'], 'true');
            refused(await rotate({ keep_previous_hours: 0 }, key), 409, 'IDEMPOTENCY_CONFLICT');
            refused(await rotate({ keep_previous_hours: 25 }, key), 409, 'IDEMPOTENCY_CONFLICT');
            assert.equal(signers(await tested(), [endpoint.secret, first.body.secret]).length, 2);
            const answers = await Promise.all(Array.from({ length: 8 }, () => rotate({ keep_previous_hours: 0 }, `${key}-2`)));
            assert.equal(new Set(answers.map((answer) => ok(answer).secret)).size, 1);
        });

        it('refuses other times, unknown fields and unknown endpoints', async () => {
            for (const body of [{ keep_previous_hours: -1 }, { keep_previous_hours: 25 }, { keep_previous_hours: 1.5 }, { keep_previous_hours: null }, { keep: 1 }]) {
                refused(await rotate(body), 400, 'INVALID_WEBHOOK');
            }
            refused(await mine.post(`/v1/webhooks/${UNKNOWN_ID}/secret`), 404, 'NOT_FOUND');
            refused(await rotate(undefined, undefined, (await signIn(client)).client), 404, 'NOT_FOUND');
            assert.deepEqual(signers(await tested(), [endpoint.secret]), [endpoint.secret]);
        });

        it('shows the secret nowhere else', async () => {
            const { secret } = ok(await rotate());
            assert.ok(!(await mine.get('/v1/webhooks')).text.includes('whsec_'));
            const exported = portero(['admin', 'account', 'export', owner.email, '--config', w.daemon.configPath, '--data', w.daemon.data]);
            assert.ok(!exported.stdout.includes(secret) && !exported.stdout.includes(endpoint.secret), exported.stderr);
            assert.ok(!w.daemon.stderr.includes('whsec_'));
        });
    });
});
