// Account, buildings and set-up of a single-building account: contract "Account", "Buildings, setup and settings";
// docs/behaviour/account.md.
import { describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { idempotencyKey, ok, refused } from './lib/client.js';
import { signInBrowser } from './lib/site.js';
import {
    advance, agent, building, changeSettings, DAY, edit, eventually, freshEmail, grant, ID, iso, now, provisioned, resident, setSubscription, signIn, TIMESTAMP, UNKNOWN_ID, useWorld, visit,
} from './lib/world.js';

describe('account', () => {
    const w = useWorld();
    const { client } = w;

    const account = async (who) => ok(await who.client.get('/v1/account'));
    const setup = (who, id, options) => who.client.get(`/v1/buildings/${id}/setup`, options);

    // ACCOUNT-7
    it('begins with one building, no subscription and no number', async () => {
        const session = await signIn(client);
        const body = await account(session);
        assert.match(body.id, ID);
        assert.match(body.created_at, TIMESTAMP);
        assert.equal(body.email, session.email);
        assert.equal(body.virtual_number, null);
        assert.deepEqual(body.subscription, { type: 'none', status: 'none' });
        assert.deepEqual(body.usage, { total_unlocks: 0, active_routines: 0, shared_users: 0 });
        assert.deepEqual(body.buildings, { count: 1, selection_required: false, list_command: 'GET /v1/buildings' });
        assert.equal(body.capabilities.multi_building, false);
        assert.deepEqual([...body.capabilities.access_types].sort(), ['passcode', 'routine', 'timer']);
        assert.deepEqual(body.readiness, { can_create_access: true, building_connection: 'not_provisioned', physical_entry_verified: false });
        assert.ok(body.next_actions.length > 0);
        for (const action of body.next_actions) assert.ok(/^(ask the (resident|building manager): )?(GET|POST|PATCH|DELETE) \/v1\//.test(action.command) && action.reason.length > 0);
    });

    it('shows the scopes of the key that asks and whether it can create access', async () => {
        const session = await signIn(client);
        const own = await account(session);
        assert.ok(own.capabilities.scopes.includes('keys:write'));
        const reader = await agent(session, ['account:read', 'logs:read']);
        const body = await account(reader);
        assert.deepEqual([...body.capabilities.scopes].sort(), ['account:read', 'logs:read']);
        assert.equal(body.readiness.can_create_access, false);
    });

    // ACCOUNT-1
    it('suggests nothing that the key may not do', async () => {
        const session = await signIn(client);
        const keys = [session, await agent(session, ['account:read']), await agent(session, ['account:read', 'access:read', 'access:write', 'logs:read'])];
        for (const status of ['none', 'active', 'past_due']) {
            if (status !== 'none') await setSubscription(client, session.email, status);
            for (const who of keys) {
                for (const { command } of (await account(who)).next_actions) {
                    if (command.startsWith('ask the ')) continue;
                    const [method, path] = command.split(' ');
                    const json = path.endsWith('/verification') ? { phone_number: '+15551230000' } : undefined;
                    assert.notEqual((await who.client.request(method, path, { json })).status, 403, `${status}: ${command}`);
                }
            }
        }
    });

    describe('tells an agent everything that keeps the door closed, and who can change it', () => {
        const commands = async (who) => (await account(who)).next_actions.map((action) => action.command);
        const scopes = ['account:read', 'access:read', 'access:write', 'logs:read'];

        // ACCOUNT-2
        it('step by step until it has opened', async () => {
            const session = await signIn(client);
            const helper = await agent(session, scopes);
            const { id } = await building(session);
            const tone = `PATCH /v1/buildings/${id}/settings`;
            const callBox = `ask the building manager: GET /v1/buildings/${id}/setup`;
            assert.deepEqual(await commands(helper), ['ask the resident: POST /v1/billing/checkout', `ask the resident: ${tone}`, callBox, 'POST /v1/unlock']);
            assert.match(ok(await setup(helper, id)).instructions, /Subscribe.*unlock_tone.*building manager/);
            await grant(helper, { type: 'passcode', access_code: '2468' });
            assert.deepEqual((await commands(helper)).slice(-1), ['GET /v1/logs']);
            const { virtual_number: to } = await provisioned(session);
            assert.deepEqual(await commands(helper), [`ask the resident: ${tone}`, callBox, 'GET /v1/logs']);
            assert.deepEqual((await commands(session)).slice(0, 2), [tone, callBox]);
            const settings = `/v1/buildings/${id}/settings`;
            ok(await session.client.patch(settings, { unlock_tone: '9' }, { headers: { 'If-Match': (await session.client.get(settings)).headers.etag } }));
            assert.deepEqual(await commands(helper), [callBox, 'GET /v1/logs']);
            assert.equal((await visit(client, { to, digits: '2468' })).outcome, 'released');
            assert.deepEqual(await commands(helper), ['GET /v1/logs']);
            await setSubscription(client, session.email, 'past_due');
            assert.deepEqual(await commands(helper), ['ask the resident: POST /v1/billing/portal', 'GET /v1/logs']);
        });

        // ACCOUNT-3
        it('also one that may only read', async () => {
            const session = await signIn(client);
            const reader = await agent(session, ['account:read']);
            assert.ok((await commands(reader)).every((command) => command.startsWith('ask the ')));
            assert.ok((await commands(reader)).includes('ask the resident: POST /v1/unlock'));
        });
    });

    it('needs account:read', async () => {
        const session = await signIn(client);
        const other = await agent(session, ['access:read', 'access:write', 'logs:read']);
        refused(await other.client.get('/v1/account'), 403, 'INSUFFICIENT_SCOPE', 'account:read');
        refused(await other.client.get('/v1/buildings'), 403, 'INSUFFICIENT_SCOPE', 'account:read');
        const home = await building(session);
        refused(await setup(other, home.id), 403, 'INSUFFICIENT_SCOPE', 'account:read');
        refused(await other.client.get(`/v1/buildings/${home.id}/settings`), 403, 'INSUFFICIENT_SCOPE', 'account:read');
    });

    // BUILDING-24
    it('ignores the building header, whatever it holds', async () => {
        const session = await signIn(client);
        for (const value of [UNKNOWN_ID, 'nonsense']) {
            ok(await session.client.get('/v1/account', { headers: { 'X-Service-Building-Id': value } }));
        }
    });

    // BILLING-22
    it('follows the subscription: active with a number, past due, and without one the number stays for 30 days', async () => {
        const session = await signIn(client);
        const home = await provisioned(session);
        assert.match(home.virtual_number, /^\+1555010\d{4}$/);
        let body = await account(session);
        assert.ok(['weekly', 'yearly'].includes(body.subscription.type));
        assert.equal(body.subscription.status, 'active');
        assert.equal(body.virtual_number, home.virtual_number);
        assert.equal(body.usage.shared_users, 1);
        assert.equal(body.readiness.building_connection, 'unverified');

        await setSubscription(client, session.email, 'past_due');
        assert.equal((await account(session)).subscription.status, 'past_due');
        await setSubscription(client, session.email, 'canceled');
        body = await account(session);
        assert.deepEqual(body.subscription, { type: 'none', status: 'none' });
        assert.equal(body.virtual_number, home.virtual_number);

        await advance(client, 29 * DAY / 1000);
        const later = await signIn(client, session.email);
        assert.equal((await account(later)).virtual_number, home.virtual_number);
        await advance(client, 2 * DAY / 1000);
        const last = await signIn(client, session.email);
        assert.equal((await account(last)).virtual_number, null);
        assert.equal((await account(last)).readiness.building_connection, 'not_provisioned');
    });

    // BUILDING-33
    it('gives the first building the time zone of the first browser that signs in with one, once', async () => {
        const email = freshEmail();
        const zoneOf = async (timezone) => {
            const { site } = await signInBrowser(client, { email, timezone });
            return ok(await site.get('/v1/buildings')).data[0].timezone;
        };
        assert.equal(await zoneOf(undefined), null);
        assert.equal(await zoneOf('Mars/Olympus'), null);
        assert.equal(await zoneOf('Europe/Madrid'), 'Europe/Madrid');
        assert.equal(await zoneOf('Asia/Tokyo'), 'Europe/Madrid');
    });

    // BILLING-22
    it('mails the owner the number that each building loses 30 days after the subscription, a week before, then, and with the new one', async () => {
        const email = freshEmail();
        const { site } = await signInBrowser(client, { email });
        const home = await provisioned(await signIn(client, email));
        ok(await site.put(`/v1/buildings/${home.id}/notices/email`, { notices: ['last_use'] }, { headers: { 'accept-language': 'es' } }));
        await changeSettings({ client: (await signIn(client, email)).client, building: home }, { unlock_tone: '9' });
        const told = async () => ok(await client.as(undefined).get(`/sandbox/messages?to=${encodeURIComponent(email)}&channel=email`)).data
            .filter(({ subject }) => / de Home$|^Home está/.test(subject)).reverse();
        const subjects = async () => (await told()).map(({ subject }) => subject);
        const ends = 'Home está por perder su número de teléfono', ended = 'Se liberó el número de teléfono de Home', renewed = 'El nuevo número de teléfono de Home';
        const at = await now(client);
        await setSubscription(client, email, 'canceled');
        await advance(client, 22 * DAY / 1000);
        assert.deepEqual(await subjects(), []);
        await advance(client, 2 * DAY / 1000);
        await advance(client, 2 * DAY / 1000);
        const [{ text }, ...more] = await told();
        assert.deepEqual([await subjects(), more], [[ends], []]);
        assert.ok(text.includes(home.virtual_number) && text.includes(iso(at + 30 * DAY).slice(0, 10)), text);
        await advance(client, 5 * DAY / 1000);
        assert.deepEqual(await subjects(), [ends, ended]);
        assert.ok((await told())[1].text.includes(home.virtual_number));
        await setSubscription(client, email, 'active');
        const again = await signIn(client, email);
        const { virtual_number: other } = await eventually(async () => {
            const one = await building(again);
            return one.virtual_number && one;
        }, 'the new number');
        await eventually(async () => (await subjects()).length === 3, 'the mail with the new number');
        assert.deepEqual(await subjects(), [ends, ended, renewed]);
        assert.ok((await told())[2].text.includes(other) && other !== home.virtual_number);
        const last = ok(await setup(again, home.id));
        assert.deepEqual([last.status, last.missing.map(({ code }) => code)], ['building_setup_required', ['call_box']]);
        assert.ok(last.missing[0].sentence.includes(other));
    });

    it('keeps the number when the subscription is renewed within the 30 days', async () => {
        const session = await signIn(client);
        const home = await provisioned(session);
        await setSubscription(client, session.email, 'canceled');
        await advance(client, 20 * DAY / 1000);
        await setSubscription(client, session.email, 'active');
        await advance(client, 20 * DAY / 1000);
        const again = await signIn(client, session.email);
        assert.equal((await account(again)).virtual_number, home.virtual_number);
    });

    // ACCOUNT-4
    it('counts enabled grants and recorded unlocks, failed ones too', async () => {
        const person = await resident(client);
        const code = await grant(person, { type: 'passcode', access_code: '4711' });
        const off = await grant(person, { type: 'passcode', access_code: '4712' });
        const gone = await grant(person, { type: 'timer', expires_in_minutes: 1 });
        assert.equal((await account(person)).usage.active_routines, 3);
        ok(await person.client.delete(`/v1/unlock/${gone.id}`));
        ok(await edit(person, off, { enabled: false }));
        assert.equal((await account(person)).usage.active_routines, 1);

        await visit(client, { to: person.number, digits: '4711' });
        await visit(client, { to: person.number, digits: '1112' });
        const body = await account(person);
        assert.equal(body.usage.total_unlocks, 2);
        assert.equal(body.readiness.building_connection, 'previous_buzz_recorded');
        assert.equal(body.readiness.physical_entry_verified, false);
        assert.ok(code.id);
    });

    describe('buildings', () => {
        it('list the primary one of a new account', async () => {
            const session = await signIn(client);
            const body = ok(await session.client.get('/v1/buildings'));
            assert.equal(body.data.length, 1);
            const [home] = body.data;
            assert.match(home.id, ID);
            assert.deepEqual({ ...home, id: undefined },
                { id: undefined, label: 'Home', address: null, virtual_number: null, is_primary: true, provisioned: false, timezone: null });
            assert.equal(body.selection_required, false);
            assert.equal(typeof body.next_action, 'string');
        });

        it('give every account its own number', async () => {
            const sessions = await Promise.all(Array.from({ length: 5 }, () => signIn(client)));
            const homes = await Promise.all(sessions.map(provisioned));
            assert.equal(new Set(homes.map((home) => home.virtual_number)).size, 5);
        });

        it('are private: another account cannot find them', async () => {
            const [owner, stranger] = [await signIn(client), await signIn(client)];
            const home = await building(owner);
            refused(await setup(stranger, home.id), 404, 'BUILDING_NOT_FOUND');
            refused(await stranger.client.get(`/v1/buildings/${home.id}/settings`), 404, 'BUILDING_NOT_FOUND');
            refused(await stranger.client.get('/v1/unlock', { headers: { 'X-Service-Building-Id': home.id } }), 404, 'BUILDING_NOT_FOUND');
        });
    });

    describe('set-up', () => {
        const missing = (body) => body.missing.map(({ code }) => code);

        // BUILDING-32
        it('goes from awaiting a number, over set-up required, to a recorded buzz', async () => {
            const session = await signIn(client);
            const { id } = await building(session);
            let body = ok(await setup(session, id));
            assert.equal(body.building_id, id);
            assert.deepEqual([body.virtual_number, body.unlock_tone, body.last_successful_buzz_at, body.status],
                [null, null, null, 'awaiting_subscription_or_provisioning']);
            assert.deepEqual(missing(body), ['subscription', 'unlock_tone', 'call_box']);
            assert.ok(body.instructions.length > 0);

            const home = await provisioned(session);
            body = ok(await setup(session, id));
            assert.deepEqual([body.virtual_number, body.status], [home.virtual_number, 'building_setup_required']);
            assert.deepEqual(missing(body), ['unlock_tone', 'call_box']);

            const { headers } = await session.client.get(`/v1/buildings/${id}/settings`);
            ok(await session.client.patch(`/v1/buildings/${id}/settings`, { unlock_tone: '*9#' }, { headers: { 'If-Match': headers.etag } }));
            body = ok(await setup(session, id));
            assert.deepEqual([body.unlock_tone, body.status], ['*9#', 'building_setup_required']);
            assert.deepEqual(missing(body), ['call_box']);
            assert.ok(body.missing[0].sentence.includes(home.virtual_number));

            await visit(client, { to: home.virtual_number, digits: '1111' });
            assert.equal(ok(await setup(session, id)).status, 'building_setup_required', 'a forwarded call does not count');

            await grant({ client: session.client }, { type: 'timer', expires_in_minutes: 5 });
            const before = Date.parse(ok(await client.get('/sandbox/clock')).now);
            assert.equal((await visit(client, { to: home.virtual_number })).outcome, 'released');
            body = ok(await setup(session, id));
            assert.deepEqual([body.status, body.missing], ['previous_buzz_recorded', []]);
            assert.ok(Date.parse(body.last_successful_buzz_at) >= before);
        });

        // BUILDING-32
        it('lacks nothing while a payment is late: the door opens', async () => {
            const person = await resident(client);
            await grant(person, { type: 'timer', expires_in_minutes: 5 });
            await setSubscription(client, person.email, 'past_due');
            assert.deepEqual(missing(ok(await setup(person, person.building.id))), ['call_box']);
            assert.equal((await visit(client, { to: person.number })).outcome, 'released');
            const body = ok(await setup(person, person.building.id));
            assert.deepEqual([body.status, body.missing], ['previous_buzz_recorded', []]);
        });

        it('stays readable after the subscription ended', async () => {
            const person = await resident(client);
            await setSubscription(client, person.email, 'canceled');
            const { status, instructions, missing: [first] } = ok(await setup(person, person.building.id));
            assert.deepEqual([first.code, first.action], ['subscription', 'POST /v1/billing/checkout']);
            assert.equal(status, 'awaiting_subscription_or_provisioning');
            assert.match(instructions, /^Subscribe: /);
            ok(await person.client.get(`/v1/buildings/${person.building.id}/settings`));
            ok(await person.client.get('/v1/unlock'));
            ok(await person.client.get('/v1/logs'));
            const made = await grant(person, { type: 'passcode' });
            ok(await person.client.delete(`/v1/unlock/${made.id}`));
        });

        it('takes the path id in either case and gives it back in lower case', async () => {
            const session = await signIn(client);
            const { id } = await building(session);
            const answer = await setup(session, id.toUpperCase());
            assert.equal(ok(answer).building_id, id);
        });

        it('lets the building header only agree with the path', async () => {
            const session = await signIn(client);
            const { id } = await building(session);
            const withHeader = (value) => setup(session, id, { headers: { 'X-Service-Building-Id': value } });
            ok(await withHeader(id));
            ok(await withHeader(id.toUpperCase()));
            refused(await withHeader(UNKNOWN_ID), 400, 'INVALID_BUILDING_CONTEXT');
        });

        it('refuses a malformed id as INVALID_BUILDING and an unknown one as BUILDING_NOT_FOUND', async () => {
            const session = await signIn(client);
            for (const path of ['setup', 'settings']) {
                refused(await session.client.get(`/v1/buildings/nonsense/${path}`), 400, 'INVALID_BUILDING');
                refused(await session.client.get(`/v1/buildings/${UNKNOWN_ID}/${path}`), 404, 'BUILDING_NOT_FOUND');
            }
            refused(await session.client.patch('/v1/buildings/nonsense/settings', { unlock_tone: '9' },
                { headers: { 'If-Match': `"${'0'.repeat(64)}"` } }), 400, 'INVALID_BUILDING');
        });
    });

    describe('building selection of a single-building account', () => {
        it('needs no header, accepts the right one and names the building in the answer', async () => {
            const session = await signIn(client);
            const { id } = await building(session);
            const plain = await session.client.get('/v1/unlock');
            ok(plain);
            assert.equal(plain.headers['x-service-building-id'], id);
            const named = await session.client.get('/v1/unlock', { headers: { 'X-Service-Building-Id': id.toUpperCase() } });
            ok(named);
            assert.equal(named.headers['x-service-building-id'], id);
        });

        it('refuses a malformed or unknown building', async () => {
            const session = await signIn(client);
            const calls = [
                (headers) => session.client.get('/v1/unlock', { headers }),
                (headers) => session.client.get(`/v1/unlock/${UNKNOWN_ID}`, { headers }),
                (headers) => session.client.get('/v1/logs', { headers }),
                (headers) => session.client.delete(`/v1/unlock/${UNKNOWN_ID}`, { headers }),
                (headers) => session.client.patch(`/v1/unlock/${UNKNOWN_ID}`, { label: 'x' }, { headers: { 'If-Match': '"0"', ...headers } }),
                (headers) => session.client.post('/v1/unlock', { type: 'passcode' }, { headers: { 'Idempotency-Key': idempotencyKey(), ...headers } }),
            ];
            for (const call of calls) {
                refused(await call({ 'X-Service-Building-Id': 'nonsense' }), 400, 'INVALID_BUILDING');
                refused(await call({ 'X-Service-Building-Id': UNKNOWN_ID }), 404, 'BUILDING_NOT_FOUND');
            }
        });
    });
});
