// A resident's story through the generated clients, from sign-in to sign-out. What a program of its users would write:
// it is type-checked strictly and run against a daemon (typed-client.test.js), and prints what it came to as JSON.
import { deepStrictEqual, equal, ok } from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { api, header, must, refusal, sandbox, type Api, type Sandbox, type Schemas } from './client.js';

const BASE = process.env['STORY_URL'] ?? '';
const PHONE = '+15557654321';

const idempotencyKey = (): string => `story-${randomUUID()}`;

async function newestCode(world: Sandbox, to: string, channel: 'email' | 'sms'): Promise<string> {
    const { data } = must(await world.GET('/sandbox/messages', { params: { query: { to, channel, limit: 1 } } }));
    const code = data[0]?.code;
    ok(code, `no code was sent to ${to}`);
    return code;
}

async function signIn(world: Sandbox, email: string): Promise<Api> {
    const anybody = api(BASE);
    equal(must(await anybody.GET('/v1/health')).status, 'ok');
    const { challenge } = must(await anybody.POST('/v1/auth/otp', { body: { email } }));
    const otp = await newestCode(world, email, 'email');
    const session = must(await anybody.POST('/v1/auth/verify', { body: { email, challenge, otp, purpose: 'web' } }));
    return api(BASE, session.apiKey);
}

async function hireAgent(owner: Api): Promise<Api> {
    const agent = must(await owner.POST('/v1/auth/keys', {
        body: {
            name: 'Story',
            scopes: ['account:read', 'access:read', 'access:write', 'logs:read', 'setup:write', 'billing:write', 'buildings:write'],
            expires_in_days: 1,
        },
    }));
    const { data } = must(await owner.GET('/v1/auth/keys'));
    deepStrictEqual(data.map((key) => [key.type, key.current]), [['agent', false], ['web_session', true]]);
    const hired = api(BASE, agent.api_key);
    equal(refusal(await hired.GET('/v1/auth/keys')), 'WEB_SESSION_REQUIRED');
    return hired;
}

async function subscribe(agent: Api, world: Sandbox): Promise<void> {
    equal(must(await agent.GET('/v1/billing/checkout')).status, 'none');
    const plan = must(await agent.GET('/v1/plans')).data.find((offer) => offer.available);
    ok(plan && plan.amount !== null);
    const request = { params: { header: { 'Idempotency-Key': idempotencyKey() } }, body: { plan: plan.id } };
    const checkout = must(await agent.POST('/v1/billing/checkout', request));
    equal(checkout.status, 'open');
    ok(checkout.id && checkout.url);
    equal(must(await agent.POST('/v1/billing/checkout', request)).id, checkout.id);
    must(await world.POST('/sandbox/checkout/{id}/pay', { params: { path: { id: checkout.id } } }));
    equal(must(await agent.GET('/v1/billing/checkout')).status, 'complete');
    equal(refusal(await agent.POST('/v1/billing/checkout/{id}/expire', { params: { path: { id: checkout.id } } })), 'SUBSCRIPTION_EXISTS');
    ok(must(await agent.POST('/v1/billing/portal')).url.startsWith('https://'));
    const { subscription } = must(await agent.GET('/v1/account'));
    deepStrictEqual(subscription, { type: plan.id, status: 'active' });
}

async function setUp(agent: Api): Promise<{ id: string; number: string }> {
    const { data } = must(await agent.GET('/v1/buildings'));
    const home = data.find((building) => building.is_primary);
    ok(home?.virtual_number);
    const path = { buildingId: home.id };
    equal(must(await agent.GET('/v1/buildings/{buildingId}/setup', { params: { path } })).status, 'building_setup_required');
    const settings = await agent.GET('/v1/buildings/{buildingId}/settings', { params: { path } });
    must(settings);
    const change = { params: { path, header: { 'If-Match': header(settings, 'ETag') } }, body: { unlock_tone: '9', greeting_granted: 'Welcome.' } };
    equal(must(await agent.PATCH('/v1/buildings/{buildingId}/settings', change)).unlock_tone, '9');
    equal(refusal(await agent.PATCH('/v1/buildings/{buildingId}/settings', change)), 'SETTINGS_VERSION_CONFLICT');
    return { id: home.id, number: home.virtual_number };
}

async function givePhone(owner: Api, world: Sandbox): Promise<void> {
    must(await owner.POST('/v1/account/phone/verification', { body: { phone_number: PHONE } }));
    const code = await newestCode(world, PHONE, 'sms');
    const phone = must(await owner.POST('/v1/account/phone/confirmation', { body: { code } }));
    deepStrictEqual([phone.phone_number, phone.verified], [PHONE, true]);
    equal(must(await owner.GET('/v1/account/phone')).pending, null);
}

/** Buys a second building, lets nobody in without saying where, and gives it up again. */
async function tryCabin(agent: Api, home: string): Promise<void> {
    const address = { street: '1 Main Street', city: 'Portland', state: 'OR', zip: '97201' };
    const quote = must(await agent.POST('/v1/buildings/preview', { body: { action: 'add', label: 'Cabin', address, unlock_tone: '5' } }));
    equal(quote.status, 'quoted');
    const added = await agent.POST('/v1/buildings', { params: { header: { 'Idempotency-Key': idempotencyKey() } }, body: { quote_id: quote.id } });
    deepStrictEqual([added.response.status, must(added).status], [201, 'succeeded']);
    const buildings = must(await agent.GET('/v1/buildings'));
    deepStrictEqual([buildings.data.map(({ label }) => label), buildings.selection_required], [['Home', 'Cabin'], true]);
    const cabin = buildings.data.find(({ is_primary }) => !is_primary)?.id;
    ok(cabin);
    const grant = { type: 'timer', expires_in_minutes: 5 } as const;
    const key = { 'Idempotency-Key': idempotencyKey() };
    equal(refusal(await agent.POST('/v1/unlock', { params: { header: key }, body: grant })), 'BUILDING_REQUIRED');
    equal(must(await agent.POST('/v1/unlock', { params: { header: { ...key, 'X-Service-Building-Id': cabin } }, body: grant })).building_id, cabin);
    equal(refusal(await agent.POST('/v1/buildings/preview', { body: { action: 'remove', building_id: home } })), 'INVALID_BUILDING_INPUT');
    const farewell = must(await agent.POST('/v1/buildings/preview', { body: { action: 'remove', building_id: cabin } }));
    const removed = must(await agent.DELETE('/v1/buildings/{id}', {
        params: { path: { id: cabin }, header: { 'Idempotency-Key': idempotencyKey() } },
        body: { quote_id: farewell.id },
    }));
    equal(removed.status, 'succeeded');
    equal(must(await agent.GET('/v1/buildings/operations/{id}', { params: { path: { id: removed.id } } })).status, 'succeeded');
    equal(must(await agent.GET('/v1/buildings')).data.length, 1);
}

async function letIn(agent: Api): Promise<Schemas['Unlock']> {
    const request = {
        params: { header: { 'Idempotency-Key': idempotencyKey() } },
        body: { type: 'passcode', label: 'Dog walker', remaining_uses: 2 } as const,
    };
    const created = await agent.POST('/v1/unlock', request);
    const grant = must(created);
    equal(created.response.status, 201);
    const again = await agent.POST('/v1/unlock', request);
    deepStrictEqual([again.response.status, header(again, 'Idempotency-Replayed'), must(again).id], [200, 'true', grant.id]);
    // @ts-expect-error a field of the earlier revision
    equal(refusal(await agent.POST('/v1/unlock', { params: { header: { 'Idempotency-Key': idempotencyKey() } }, body: { type: 'timer', duration_minutes: 5 } })), 'INVALID_UNLOCK');
    // @ts-expect-error the key is required
    equal(refusal(await agent.POST('/v1/unlock', { body: { type: 'timer', expires_in_minutes: 5 } })), 'IDEMPOTENCY_KEY_REQUIRED');
    const path = { id: grant.id };
    const read = await agent.GET('/v1/unlock/{id}', { params: { path } });
    deepStrictEqual(must(read), grant);
    const change = { params: { path, header: { 'If-Match': header(read, 'ETag') } }, body: { label: 'Dog walker, July' } };
    const changed = must(await agent.PATCH('/v1/unlock/{id}', change));
    equal(changed.version, 1);
    equal(refusal(await agent.PATCH('/v1/unlock/{id}', change)), 'VERSION_CONFLICT');
    return changed;
}

async function listen(agent: Api): Promise<string> {
    const endpoint = must(await agent.POST('/v1/webhooks', { body: { url: 'https://127.0.0.1:9/hook', events: ['access.granted', 'access.call_forwarded'] } }));
    ok(endpoint.secret.startsWith('whsec_'));
    deepStrictEqual(must(await agent.GET('/v1/webhooks')).data.map(({ id }) => id), [endpoint.id]);
    const { delivery_id } = must(await agent.POST('/v1/webhooks/{id}/test', { params: { path: { id: endpoint.id } } }));
    const { data } = must(await agent.GET('/v1/webhooks/{id}/deliveries', { params: { path: { id: endpoint.id } } }));
    deepStrictEqual(data.map(({ id, type }) => [id, type]), [[delivery_id, 'webhook.test']]);
    return endpoint.id;
}

async function visit(agent: Api, world: Sandbox, number: string, grant: Schemas['Unlock']): Promise<void> {
    const call = { to: number, from: '+15550001111' };
    const opened = must(await world.POST('/sandbox/calls', { body: { ...call, digits: grant.access_code ?? '' } }));
    deepStrictEqual([opened.outcome, opened.tones, opened.grant_id], ['released', '9', grant.id]);
    const turnedAway = must(await world.POST('/sandbox/calls', { body: call }));
    deepStrictEqual([turnedAway.outcome, turnedAway.forwarded_to], ['forwarded', PHONE]);
    const logs = must(await agent.GET('/v1/logs', { params: { query: { limit: 10 } } }));
    deepStrictEqual(logs.data.map((entry) => [entry.type, entry.succeeded]), [['call', true], ['unlock', true]]);
    const mine = must(await agent.GET('/v1/logs', { params: { query: { unlock_id: grant.id, type: 'unlock' } } }));
    deepStrictEqual(mine.data.map((entry) => entry.name), [grant.label]);
    equal(refusal(await agent.GET('/v1/logs', { params: { query: { limit: 0 } } })), 'INVALID_LIMIT');
    equal(must(await agent.GET('/v1/unlock', { params: { query: { status: 'active' } } })).data[0]?.remaining_uses, 1);
}

async function cleanUp(agent: Api, owner: Api, grant: string, endpoint: string): Promise<void> {
    equal(must(await agent.DELETE('/v1/unlock/{id}', { params: { path: { id: grant } } })).status, 'revoked');
    equal(must(await agent.DELETE('/v1/webhooks/{id}', { params: { path: { id: endpoint } } })).deleted, true);
    equal(must(await agent.DELETE('/v1/auth/key')).revoked, true);
    equal(refusal(await agent.GET('/v1/account')), 'INVALID_KEY');
    equal(must(await owner.POST('/v1/auth/keys/revoke-others')).revoked_count, 0);
    equal(must(await owner.DELETE('/v1/auth/key')).revoked, true);
}

const world = sandbox(BASE);
const email = `story-${randomUUID()}@example.com`;
const owner = await signIn(world, email);
const agent = await hireAgent(owner);
await subscribe(agent, world);
const home = await setUp(agent);
await givePhone(owner, world);
await tryCabin(agent, home.id);
const grant = await letIn(agent);
const endpoint = await listen(agent);
await visit(agent, world, home.number, grant);
await cleanUp(agent, owner, grant.id, endpoint);
console.log(JSON.stringify({ email, building: home.id, grant: grant.id, endpoint }));
