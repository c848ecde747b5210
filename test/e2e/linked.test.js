// Accounts with linked buildings, child keys and members: contract "X-Service-Building-Id", Authentication 6, grant rule 2;
// docs/behaviour/buildings.md.
import { describe, it, before } from 'node:test';
import assert from 'node:assert/strict';
import { idempotencyKey, ok, refused } from './lib/client.js';
import { portero } from './lib/daemon.js';
import { added, owner as makeOwner } from './lib/buildings.js';
import { sql } from './lib/store.js';
import { agent, edit, grant, setSubscription, signIn, UNKNOWN_ID, useWorld, visit } from './lib/world.js';

describe('linked buildings', () => {
    const w = useWorld();
    const { client } = w;
    let owner;
    let child;
    let childId;
    let childNumber;
    before(async () => {
        owner = await makeOwner(client);
        ({ id: childId, virtual_number: childNumber } = await added(owner));
        child = client.as(admin('key', 'create', '--building', childId, '--scopes', 'account:read,access:read,access:write,logs:read,setup:write').api_key);
    });

    function admin(...args) {
        const done = portero(['admin', ...args, '--config', w.daemon.configPath, '--data', w.daemon.data, '--json']);
        assert.equal(done.status, 0, done.stderr);
        return JSON.parse(done.stdout);
    }
    const at = (id) => ({ headers: { 'X-Service-Building-Id': id } });
    const createAt = (who, id, key = idempotencyKey(), body = { type: 'passcode' }) =>
        who.post('/v1/unlock', body, { headers: { 'Idempotency-Key': key, ...(id ? { 'X-Service-Building-Id': id } : {}) } });

    it('show in the account and in the list, ordered by creation', async () => {
        const account = ok(await owner.client.get('/v1/account'));
        assert.deepEqual([account.buildings.count, account.buildings.selection_required], [2, true]);
        assert.equal(account.capabilities.multi_building, true);
        assert.ok(account.next_actions.some((action) => action.command === 'GET /v1/buildings'));
        const list = ok(await owner.client.get('/v1/buildings'));
        assert.deepEqual(list.data.map((row) => [row.label, row.is_primary]), [['Home', true], ['Cabin', false]]);
        assert.equal(list.selection_required, true);
    });

    it('must be chosen, the primary one too, wherever a building is worked on', async () => {
        refused(await createAt(owner.client), 409, 'BUILDING_REQUIRED');
        for (const path of ['/v1/unlock', `/v1/unlock/${UNKNOWN_ID}`, '/v1/logs']) refused(await owner.client.get(path), 409, 'BUILDING_REQUIRED');
        refused(await owner.client.delete(`/v1/unlock/${UNKNOWN_ID}`), 409, 'BUILDING_REQUIRED');
        refused(await owner.client.patch(`/v1/unlock/${UNKNOWN_ID}`, { label: 'a' }), 409, 'BUILDING_REQUIRED');
        for (const id of [owner.building.id, childId]) {
            const answer = await owner.client.get('/v1/unlock', at(id));
            ok(answer);
            assert.equal(answer.headers['x-service-building-id'], id);
        }
    });

    it('keep their grants and logs apart', async () => {
        const made = ok(await createAt(owner.client, childId, idempotencyKey(), { type: 'passcode', access_code: '3131' }), 201);
        assert.equal(made.building_id, childId);
        refused(await owner.client.get(`/v1/unlock/${made.id}`, at(owner.building.id)), 404, 'NOT_FOUND');
        ok(await createAt(owner.client, owner.building.id, idempotencyKey(), { type: 'passcode', access_code: '3131' }), 201);
        assert.notEqual((await visit(client, { to: owner.number, digits: '3131' })).grant_id, made.id);
        assert.equal((await visit(client, { to: childNumber, digits: '3131' })).grant_id, made.id);
        const log = ok(await owner.client.get('/v1/logs', at(childId)));
        assert.deepEqual(log.data.map((entry) => [entry.building_id, entry.unlock_id]), [[childId, made.id]]);
    });

    it('have idempotency keys of their own', async () => {
        const key = idempotencyKey();
        const one = ok(await createAt(owner.client, owner.building.id, key), 201);
        const two = ok(await createAt(owner.client, childId, key), 201);
        assert.notEqual(one.id, two.id);
    });

    it('refuse each other\'s log cursors', async () => {
        await visit(client, { to: owner.number, digits: '3131' });
        await visit(client, { to: owner.number, digits: '3131' });
        const { pagination } = ok(await owner.client.get('/v1/logs?limit=1', at(owner.building.id)));
        ok(await owner.client.get(`/v1/logs?limit=1&cursor=${pagination.cursor}`, at(owner.building.id)));
        refused(await owner.client.get(`/v1/logs?limit=1&cursor=${pagination.cursor}`, at(childId)), 400, 'INVALID_CURSOR');
    });

    describe('child keys', () => {
        // ACCOUNT-6
        it('see and work on their own building, named or not', async () => {
            const list = ok(await child.get('/v1/buildings'));
            assert.deepEqual(list.data.map((row) => row.id), [childId]);
            assert.equal(list.selection_required, false);
            const made = ok(await createAt(child), 201);
            assert.equal(made.building_id, childId);
            ok(await child.get(`/v1/unlock/${made.id}`, at(childId)));
            assert.equal(ok(await child.get('/v1/logs')).building_id, childId);
        });

        it('cannot reach a sibling', async () => {
            refused(await child.get('/v1/unlock', at(owner.building.id)), 404, 'BUILDING_NOT_FOUND');
            for (const part of ['setup', 'settings']) refused(await child.get(`/v1/buildings/${owner.building.id}/${part}`), 404, 'BUILDING_NOT_FOUND');
            refused(await child.get(`/v1/buildings/${childId}/setup`, at(owner.building.id)), 400, 'INVALID_BUILDING_CONTEXT');
        });

        it('cannot manage keys', async () => {
            refused(await child.get('/v1/auth/keys'), 403, 'WEB_SESSION_REQUIRED');
        });
    });

    describe('without an active subscription', () => {
        let made;
        before(async () => {
            made = ok(await createAt(owner.client, childId), 201);
        });

        for (const status of ['past_due', 'canceled']) {
            // BILLING-21
            it(`(${status}) may be read and their grants revoked, but nothing else written`, async () => {
                await setSubscription(client, owner.email, status);
                const other = { client: child };
                refused(await createAt(owner.client, childId), 403, 'MULTI_BUILDING_REQUIRED');
                refused(await createAt(child), 403, 'MULTI_BUILDING_REQUIRED');
                refused(await edit(other, made, { label: 'x' }), 403, 'MULTI_BUILDING_REQUIRED');
                refused(await edit(other, made, { enabled: false }), 403, 'MULTI_BUILDING_REQUIRED');
                const path = `/v1/buildings/${childId}/settings`;
                const settings = await owner.client.get(path);
                ok(settings);
                refused(await owner.client.patch(path, { unlock_tone: '1' }, { headers: { 'If-Match': settings.headers.etag } }), 403, 'MULTI_BUILDING_REQUIRED');
                ok(await child.get('/v1/unlock'));
                ok(await child.get(`/v1/buildings/${childId}/setup`));
                ok(await createAt(owner.client, owner.building.id), 201);
                await setSubscription(client, owner.email, 'active');
                const gone = ok(await createAt(child), 201);
                await setSubscription(client, owner.email, status);
                ok(await child.delete(`/v1/unlock/${gone.id}`));
                await setSubscription(client, owner.email, 'active');
            });
        }
    });

    describe('members', () => {
        const email = 'member@example.com';
        let member;
        before(async () => {
            const added = admin('member', 'add', '--building', owner.building.id, '--name', 'Kim', '--email', email, '--phone', '+15557654321');
            member = client.as(admin('key', 'create', '--member', added.id).api_key);
        });

        // ACCOUNT-5
        it('count as shared users', async () => {
            assert.equal(ok(await owner.client.get('/v1/account')).usage.shared_users, 2);
        });

        // KEY-8
        it('cannot sign in by e-mail', async () => {
            refused(await client.post('/v1/auth/otp', { email }), 400, 'LINKED_ACCOUNT');
        });

        // ACCOUNT-9, BUILDING-44
        it('use grants of their building, but not its settings', async () => {
            const made = ok(await createAt(member), 201);
            assert.equal(made.building_id, owner.building.id);
            const path = `/v1/buildings/${owner.building.id}/settings`;
            const settings = await member.get(path);
            assert.equal(ok(settings).editable, false);
            refused(await member.patch(path, { unlock_tone: '1' }, { headers: { 'If-Match': settings.headers.etag } }), 403, 'NUMBER_OWNER_REQUIRED');
            refused(await member.patch(path, {}), 403, 'NUMBER_OWNER_REQUIRED');
        });

        // ACCOUNT-10
        it('lose their keys with their membership', async () => {
            const [{ id }] = admin('member', 'list', '--building', owner.building.id).data;
            ok(await member.get('/v1/unlock'));
            const grants = async () => ok(await owner.client.get('/v1/unlock', { headers: { 'X-Service-Building-Id': owner.building.id } })).data.length;
            const before = await grants();
            const { grants_left, grants_ended } = admin('member', 'remove', id, '--end-grants');
            assert.deepEqual([grants_left, grants_ended], [0, 1]);
            assert.equal(await grants(), before - 1);
            assert.equal((await member.get('/v1/unlock')).status, 401);
            ok(await client.post('/v1/auth/otp', { email }));
        });
    });

    // HTTP-29
    it('that are gone leave their keys with AUTHENTICATION_REQUIRED', async () => {
        await w.daemon.terminate();
        sql(w.daemon, `DELETE FROM building WHERE id = '${childId}';`);
        await w.daemon.start();
        refused(await child.get('/v1/unlock'), 401, 'AUTHENTICATION_REQUIRED');
        const robot = await agent(await signIn(client), ['account:read']);
        ok(await robot.client.get('/v1/account'));
        assert.ok(await grant(owner, { type: 'passcode' }));
    });
});
