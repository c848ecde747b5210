// Accounts of the current revision are not served the earlier one: docs/behaviour/earlier.md.
// engine: sqlite, because it tests the validation of requests
import { describe, it, before } from 'node:test';
import assert from 'node:assert/strict';
import { idempotencyKey, ok, refused } from './lib/client.js';
import { agent, challenge, edit, freshEmail, grant, resident, UNKNOWN_ID, useWorld } from './lib/world.js';

describe('the earlier revision', () => {
    const w = useWorld();
    let person;
    before(async () => {
        person = await resident(w.client);
    });

    const create = (body) => person.client.post('/v1/unlock', body, { headers: { 'Idempotency-Key': idempotencyKey() } });

    // EARLIER-1, EARLIER-31
    it('has fields of grants that are unknown now', async () => {
        const passcode = { type: 'passcode', label: 'guest' };
        for (const [field, value] of [['active', true], ['max_uses', 1], ['code', '4711'], ['voice_enabled', true], ['expires_at', '2040-01-01T00:00:00Z']]) {
            refused(await create({ ...passcode, [field]: value }), 400, 'INVALID_UNLOCK', field);
        }
        refused(await create({ type: 'timer', duration_minutes: 5 }), 400, 'INVALID_UNLOCK');
        refused(await edit(person, await grant(person, passcode), { active: false }), 400, 'INVALID_UNLOCK', 'active');
    });

    it('has defaults that no longer exist', async () => {
        const made = await grant(person, { type: 'passcode' });
        assert.equal(made.remaining_uses, null);
        assert.equal(made.ends_at, undefined);
    });

    it('has a filter that is ignored now', async () => {
        await grant(person, { type: 'passcode', enabled: false });
        const all = ok(await person.client.get('/v1/unlock')).data;
        assert.deepEqual(ok(await person.client.get('/v1/unlock?active=perhaps')).data, all);
    });

    // EARLIER-31
    it('has operations that are gone', async () => {
        const header = { headers: { 'X-Service-Building-Id': person.building.id } };
        refused(await person.client.get('/v1/setup', header), 404, 'NOT_FOUND');
        refused(await person.client.patch('/v1/setup', { unlock_tone: '9' }, header), 404, 'NOT_FOUND');
        refused(await person.client.patch(`/v1/webhooks/${UNKNOWN_ID}`, { description: 'mine' }), 400, 'INVALID_WEBHOOK');
    });

    it('has a sign-in without a purpose, and a scope, that are refused now', async () => {
        const email = freshEmail();
        const sent = await challenge(w.client, email);
        refused(await w.client.post('/v1/auth/verify', { email, ...sent }), 400, 'WEBSITE_SIGN_IN_REQUIRED');
        refused(await person.client.post('/v1/auth/keys', { scopes: ['webhooks:write'] }), 400, 'INVALID_KEY_OPTIONS');
    });

    it('has webhooks that needed a scope, events and a subscription of their own', async () => {
        await w.client.post('/sandbox/subscriptions', { email: person.email, status: 'canceled' });
        const key = await agent(person, ['access:read']);
        assert.deepEqual(ok(await key.client.get('/v1/webhooks', { headers: { 'X-Service-Building-Id': UNKNOWN_ID } })).data, []);
        refused(await person.client.post('/v1/webhooks', { url: 'http://receiver.example' }), 400, 'INVALID_WEBHOOK_URL');
    });

    // EARLIER-31
    it('has plans that are not on offer', async () => {
        const { data } = ok(await w.client.get('/v1/plans'));
        assert.deepEqual(data.map((plan) => plan.id).sort(), ['weekly', 'yearly']);
        assert.equal(ok(await person.client.get('/v1/account')).subscription.type, 'none');
    });
});
