// Accounts that are served the earlier revision of the interface: grants and setup under its names.
import { describe, it, before } from 'node:test';
import assert from 'node:assert/strict';
import { idempotencyKey, ok, refused } from './lib/client.js';
import { advance, agent, eventually, now, resident, signIn, useWorld, visit, DAY, MINUTE, UNKNOWN_ID } from './lib/world.js';
import { portero } from './lib/daemon.js';

describe('an account of the earlier revision', () => {
    const w = useWorld();
    let person, key;

    const admin = (...args) => portero(['admin', 'account', ...args, '--json', '--config', w.daemon.configPath, '--data', w.daemon.data]);
    const choose = (email, revision) => JSON.parse(admin('compat', email, '--revision', revision).stdout);
    /** The document does not have the answers of the earlier revision. */
    const ask = (method, path, json, headers = {}) => key.client.request(method, path, { json, headers, check: false });
    const create = (body, id = idempotencyKey()) => ask('POST', '/v1/unlock', body, { 'Idempotency-Key': id });
    const made = async (body) => ok(await create(body), 201);
    const change = ({ id, version }, body) => ask('PATCH', `/v1/unlock/${id}`, body, { 'If-Match': `"${version}"` });
    const read = async (id) => ok(await ask('GET', `/v1/unlock/${id}`));

    before(async () => {
        person = await resident(w.client);
        key = await agent(person, ['account:read', 'access:read', 'access:write', 'setup:write']);
        assert.deepEqual(choose(person.email, 'earlier'), { email: person.email, revision: 'earlier' });
    });

    it('is shown to the operator', async () => {
        const other = await signIn(w.client);
        const shown = (email) => JSON.parse(admin('show', email).stdout).revision;
        assert.equal(shown(person.email), 'earlier');
        assert.equal(shown(other.email), 'current');
        const wrong = admin('compat', person.email, '--revision', 'older');
        assert.notEqual(wrong.status, 0);
        assert.match(wrong.stderr, /revision must be one of current, earlier/);
        assert.match(admin('compat', 'nobody@example.com', '--revision', 'earlier').stderr, /ACCOUNT_NOT_FOUND/);
    });

    // EARLIER-4
    it('gets passcodes of one use and 60 minutes', async () => {
        const began = await now(w.client);
        const answer = await create({ type: 'passcode', label: 'Parcel' });
        const grant = ok(answer, 201);
        assert.equal(answer.headers.location, `/v1/unlock/${grant.id}`);
        assert.equal(answer.headers.etag, '"0"');
        const { id, created_at, expires_at, request_id, code, ...rest } = grant;
        assert.deepEqual(rest, {
            building_id: person.building.id, type: 'passcode', label: 'Parcel', active: true, version: 0, status: 'active',
            max_uses: 1, remaining_uses: 1, voice_enabled: false,
        });
        assert.match(code, /^\d{4}$/);
        assert.equal(Date.parse(expires_at) - Date.parse(created_at), 60 * MINUTE);
        assert.ok(Date.parse(created_at) >= began);
        assert.deepEqual(await read(id), grant);
        assert.ok(request_id);
    });

    // EARLIER-5, EARLIER-6
    it('gets the uses and minutes that it asks for, and counts the uses', async () => {
        const grant = await made({ type: 'passcode', code: '4711', max_uses: 3, expires_in_minutes: 10080, voice_enabled: true });
        assert.equal(Date.parse(grant.expires_at) - Date.parse(grant.created_at), 7 * DAY);
        await visit(w.client, { to: person.number, digits: '4711' });
        const used = await eventually(async () => {
            const found = await read(grant.id);
            return found.remaining_uses < 3 && found;
        }, 'the use');
        assert.deepEqual([used.max_uses, used.remaining_uses, used.status], [3, 2, 'active']);
        const reset = ok(await change(used, { max_uses: 5 }));
        assert.deepEqual([reset.max_uses, reset.remaining_uses], [5, 5]);
        const open = ok(await change(reset, { max_uses: null, expires_at: null }));
        assert.deepEqual([open.max_uses, open.remaining_uses, open.expires_at], [null, null, undefined]);
    });

    // EARLIER-7
    it('says exhausted, expired, inactive and revoked', async () => {
        const once = await made({ type: 'passcode', code: '90' });
        await visit(w.client, { to: person.number, digits: '90' });
        const used = await eventually(async () => {
            const found = await read(once.id);
            return found.status !== 'active' && found;
        }, 'the use');
        assert.deepEqual([used.status, used.max_uses, used.remaining_uses], ['exhausted', 1, 0]);
        const off = ok(await change(await made({ type: 'passcode' }), { active: false }));
        assert.deepEqual([off.status, off.active], ['inactive', false]);
        const short = await made({ type: 'timer', duration_minutes: 1 });
        await advance(w.client, 61);
        assert.equal((await read(short.id)).status, 'expired');
        assert.deepEqual(ok(await ask('DELETE', `/v1/unlock/${off.id}`)), { id: off.id, deleted: true, status: 'revoked' });
        assert.equal((await read(off.id)).status, 'revoked');
        refused(await change(off, { active: true }), 409, 'GRANT_REVOKED');
    });

    // EARLIER-3
    it('starts timers at once, for 1 to 1440 minutes', async () => {
        const grant = await made({ type: 'timer', duration_minutes: 1440, max_uses: 2 });
        assert.equal(Date.parse(grant.expires_at) - Date.parse(grant.starts_at), DAY);
        assert.deepEqual([grant.type, grant.status, grant.max_uses, grant.remaining_uses], ['timer', 'active', 2, 2]);
        for (const minutes of [0, 1441, null, '5']) refused(await create({ type: 'timer', duration_minutes: minutes }), 400, 'INVALID_UNLOCK', 'duration_minutes');
        refused(await create({ type: 'timer' }), 400, 'INVALID_UNLOCK', 'needs duration_minutes');
        const off = ok(await change(grant, { active: false }));
        refused(await change(off, { active: true }), 400, 'INVALID_UNLOCK', 'active true needs duration_minutes');
        const again = ok(await change(off, { active: true, duration_minutes: 5 }));
        assert.equal(Date.parse(again.expires_at) - Date.parse(again.starts_at), 5 * MINUTE);
    });

    it('gets routines without uses', async () => {
        const grant = await made({ type: 'routine', days: ['Monday'], start: '09:00', end: '11:00', timezone: 'America/New_York' });
        assert.deepEqual([grant.days, grant.start, grant.end, grant.active], [['monday'], '09:00', '11:00', true]);
        assert.ok(!('max_uses' in grant) && !('remaining_uses' in grant));
    });

    // EARLIER-2
    it('refuses the names of the current revision', async () => {
        for (const [field, value] of [
            ['enabled', true], ['remaining_uses', 1], ['access_code', '12'], ['enter_code_with_voice', true],
            ['ends_at', '2040-01-01T00:00:00Z'], ['expires_at', '2040-01-01T00:00:00Z'], ['starts_at', '2040-01-01T00:00:00Z'],
        ]) {
            refused(await create({ type: 'passcode', [field]: value }), 400, 'INVALID_UNLOCK', field);
        }
        refused(await create({ type: 'lease' }), 400, 'INVALID_TYPE');
        refused(await create({ type: 'timer', expires_in_minutes: 5 }), 400, 'INVALID_UNLOCK', 'expires_in_minutes');
        refused(await create({ type: 'passcode', duration_minutes: 5 }), 400, 'INVALID_UNLOCK', 'duration_minutes');
        refused(await create({ type: 'timer', duration_minutes: 5, code: '12' }), 400, 'INVALID_UNLOCK', 'code is not a field of a timer');
    });

    it('leaves a grant as it is when minutes are not of its type', async () => {
        const code = await made({ type: 'passcode' });
        refused(await change(code, { label: 'x', duration_minutes: 5 }), 400, 'INVALID_UNLOCK', 'duration_minutes');
        assert.deepEqual(await read(code.id), code);
        const timer = await made({ type: 'timer', duration_minutes: 5 });
        refused(await change(timer, { expires_in_minutes: 5 }), 400, 'INVALID_UNLOCK', 'expires_in_minutes');
        assert.deepEqual(await read(timer.id), timer);
        refused(await change(timer, {}), 400, 'INVALID_UNLOCK');
        refused(await ask('PATCH', `/v1/unlock/${timer.id}`, { label: 'x' }), 428, 'VERSION_REQUIRED');
    });

    // EARLIER-2
    it('replays a creation, and refuses another one under its key', async () => {
        const id = idempotencyKey();
        const first = ok(await create({ type: 'timer', duration_minutes: 5 }, id), 201);
        const replay = await create({ type: 'timer', duration_minutes: 5 }, id);
        assert.deepEqual(ok(replay), first);
        assert.equal(replay.headers['idempotency-replayed'], 'true');
        for (const body of [{ type: 'timer', duration_minutes: 6 }, { type: 'timer', expires_in_minutes: 5 }, { type: 'timer', enabled: true }]) {
            refused(await create(body, id), 409, 'IDEMPOTENCY_CONFLICT');
        }
    });

    // EARLIER-8
    it('lists grants by active and status, page by page', async () => {
        const off = await made({ type: 'routine', active: false, days: ['sunday'], start: '01:00', end: '02:00', timezone: 'UTC' });
        const list = async (query) => ok(await ask('GET', `/v1/unlock?${query}`));
        const inactive = await list('active=false&type=routine');
        assert.deepEqual(inactive.data, [await read(off.id)]);
        assert.ok((await list('status=active')).data.every((grant) => grant.active && grant.status === 'active'));
        const page = await list('limit=1');
        assert.equal(page.data[0].id, off.id);
        const next = await list(`limit=1&cursor=${page.pagination.cursor}`);
        assert.ok(next.data[0].id < off.id);
        refused(await ask('GET', '/v1/unlock?active=perhaps'), 400, 'INVALID_ACTIVE');
        refused(await ask('GET', '/v1/unlock?status=scheduled'), 400, 'INVALID_FILTER');
    });

    // EARLIER-9
    it('has setup by the header', async () => {
        const header = { 'X-Service-Building-Id': person.building.id };
        const setup = ok(await ask('GET', '/v1/setup', undefined, header));
        const { missing, ...same } = ok(await key.client.get(`/v1/buildings/${person.building.id}/setup`));
        assert.deepEqual([setup, Array.isArray(missing)], [same, true]);
        assert.deepEqual(ok(await ask('PATCH', '/v1/setup', { unlock_tone: '#5' }, header)), {
            building_id: person.building.id, virtual_number: person.number, unlock_tone: '#5', physical_test_required: true,
        });
        assert.equal(ok(await ask('GET', '/v1/setup')).unlock_tone, '#5');
        const tones = await Promise.all(['1', '2', '3', '4'].map((tone) => ask('PATCH', '/v1/setup', { unlock_tone: tone })));
        for (const answer of tones) ok(answer);
        ok(await ask('PATCH', '/v1/setup', { unlock_tone: person.tone }));
        for (const tone of ['', '1234', 'x', null]) refused(await ask('PATCH', '/v1/setup', { unlock_tone: tone }), 400, 'INVALID_TONE');
        refused(await ask('PATCH', '/v1/setup', {}), 400, 'INVALID_TONE');
        refused(await ask('PATCH', '/v1/setup', { unlock_tone: '1', greeting_welcome: 'x' }), 400, 'INVALID_SETTINGS', 'greeting_welcome');
        refused(await ask('GET', '/v1/setup', undefined, { 'X-Service-Building-Id': UNKNOWN_ID }), 404, 'BUILDING_NOT_FOUND');
        refused(await ask('DELETE', '/v1/setup'), 404, 'NOT_FOUND');
        const reader = await agent(person, ['account:read']);
        refused(await reader.client.request('PATCH', '/v1/setup', { json: { unlock_tone: '1' }, check: false }), 403, 'INSUFFICIENT_SCOPE');
        refused(await w.client.as('svc_agent_unknown').request('GET', '/v1/setup', { check: false }), 401, 'INVALID_KEY');
    });

    it('has no number yet, and says so', async () => {
        const fresh = await signIn(w.client);
        choose(fresh.email, 'earlier');
        const answer = await fresh.client.request('PATCH', '/v1/setup', { json: { unlock_tone: '9' }, check: false });
        refused(answer, 404, 'NUMBER_NOT_FOUND');
    });

    // EARLIER-1
    it('does not concern other accounts, and ends at the next request', async () => {
        const other = await resident(w.client);
        const setup = (who) => who.client.request('GET', '/v1/setup', { check: false });
        refused(await setup(other), 404, 'NOT_FOUND');
        ok(await setup(person));
        choose(person.email, 'current');
        refused(await setup(person), 404, 'NOT_FOUND');
        const grant = ok(await create({ type: 'passcode' }), 201);
        assert.deepEqual([grant.enabled, grant.remaining_uses, grant.active], [true, null, undefined]);
        const later = ok(await create({ type: 'timer', starts_at: new Date(await now(w.client) + DAY).toISOString(), expires_in_minutes: 5 }), 201);
        assert.equal(later.status, 'scheduled');
        choose(person.email, 'earlier');
        assert.equal((await read(later.id)).status, 'inactive');
        assert.equal((await read(grant.id)).max_uses, null);
    });
});
