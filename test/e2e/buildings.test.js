// Adding and removing linked buildings: contract "Buildings", "Building operation", building rules 1 to 4; docs/behaviour/buildings.md.
import { describe, it, before } from 'node:test';
import assert from 'node:assert/strict';
import { idempotencyKey, ok, refused } from './lib/client.js';
import { addition, added, admin, buildings, CA, consistent, execute, operation, owner, preview, quantity, quote, removal, US, verifyPhone } from './lib/buildings.js';
import { sql } from './lib/store.js';
import { advance, agent, eventually, ID, MINUTE, now, provisioned, setSubscription, signIn, TIMESTAMP, UNKNOWN_ID, useWorld, visit } from './lib/world.js';

describe('buildings', () => {
    const w = useWorld();
    const { client } = w;
    const wrong = (answer, names) => refused(answer, 400, 'INVALID_BUILDING_INPUT', names);
    const at = (id) => ({ headers: { 'X-Service-Building-Id': id } });

    describe('a preview', () => {
        let person;
        before(async () => {
            person = await owner(client);
        });

        // BUILDING-17
        it('of an addition shows the exact change and its cost, and buys nothing', async () => {
            const made = await quote(person, addition({ label: '  Cabin ', address: { ...US, state: 'or' } }));
            assert.match(made.id, ID);
            const { id, expires_at, billing, next_action, ...rest } = made;
            assert.deepEqual(rest, {
                action: 'add', status: 'quoted', building_id: null, request_id: null, result: null,
                input: { label: 'Cabin', address: { ...US, country: 'US' }, unlock_tone: '5', phone_number: person.phone, timezone: 'America/Los_Angeles', timezones: ['America/Los_Angeles', 'America/Boise'] },
            });
            const { subscription_id, price_id, proration_date, note, ...price } = billing;
            assert.deepEqual(price, { current_quantity: 1, new_quantity: 2, currency: 'usd', next_invoice_amount_due: 998, per_building_amount: 499, interval: 'week' });
            assert.ok(subscription_id && price_id && note);
            assert.ok(next_action.includes('POST /v1/buildings'));
            assert.match(expires_at, TIMESTAMP);
            const time = await now(client);
            assert.ok(Math.abs(Date.parse(expires_at) - time - 15 * MINUTE) < MINUTE);
            assert.ok(Math.abs(proration_date * 1000 - time) < MINUTE);
            assert.deepEqual(await operation(person, id), made);
            await consistent(w, person, 1);
        });

        it('of a removal names the building and everything that is deleted with it', async () => {
            const child = await added(person, addition({ label: 'Attic' }));
            const made = await quote(person, removal(child.id.toUpperCase()));
            const { effects, ...input } = made.input;
            assert.deepEqual(input, { building_id: child.id, label: 'Attic', virtual_number: child.virtual_number });
            assert.ok(effects.length > 0 && effects.some((text) => text.includes(child.virtual_number)));
            assert.deepEqual([made.building_id, made.billing.current_quantity, made.billing.new_quantity], [child.id, 2, 1]);
            ok(await execute(person, made));
        });

        // BUILDING-1
        it('takes US and Canadian addresses in any case and stores them in one form', async () => {
            const stored = async (address) => (await quote(person, addition({ address }))).input.address;
            assert.deepEqual(await stored(CA), { city: 'Ottawa', state: 'ON', zip: 'K1A 0B1', country: 'CA' });
            assert.deepEqual(await stored({ ...CA, zip: 'H0h 0H0', state: 'qc', country: 'ca' }), { city: 'Ottawa', state: 'QC', zip: 'H0H 0H0', country: 'CA' });
            assert.deepEqual(await stored({ city: ' New York ', state: 'ny', zip: '10001-0001' }), { city: 'New York', state: 'NY', zip: '10001-0001', country: 'US' });
            for (const state of ['DC', 'PR', 'GU', 'VI', 'AS', 'MP']) assert.equal((await stored({ ...US, state })).state, state);
            for (const state of ['BC', 'NL', 'NU', 'YT']) assert.equal((await stored({ ...CA, state })).state, state);
        });

        // BUILDING-33
        it('has the time zone of the address, or one that is given, and the building gets it', async () => {
            const zones = async (address, more) => {
                const { timezone, timezones } = (await quote(person, addition({ address, ...more }))).input;
                return [timezone, timezones];
            };
            const boise = addition({ timezone: 'America/Boise' });
            assert.deepEqual(await zones({ ...US, state: 'MA' }), ['America/New_York', ['America/New_York']]);
            assert.deepEqual(await zones(CA), ['America/Toronto', ['America/Toronto', 'America/Winnipeg']]);
            assert.deepEqual(await zones(US, { timezone: 'Pacific/Honolulu' }), ['Pacific/Honolulu', ['America/Los_Angeles', 'America/Boise']]);
            assert.equal((await added(person, boise)).timezone, 'America/Boise');
        });

        const bad = {
            'an unknown time zone': [addition({ timezone: 'America/Atlantis' }), 'timezone'],
            'an empty time zone': [addition({ timezone: '' }), 'timezone'],
            'no action': [{ label: 'x' }, 'action'],
            'an unknown action': [{ action: 'move' }, 'action'],
            'an action that is no string': [{ action: 5 }, 'action'],
            'no label': [addition({ label: undefined }), 'label'],
            'a blank label': [addition({ label: ' \t ' }), 'label'],
            'a label of 121 characters': [addition({ label: 'x'.repeat(121) }), 'label'],
            'no address': [addition({ address: undefined }), 'address'],
            'a null address': [addition({ address: null }), 'address'],
            'an address without city': [addition({ address: { ...US, city: undefined } }), 'address.city'],
            'a blank city': [addition({ address: { ...US, city: '  ' } }), 'address.city'],
            'a city of 121 characters': [addition({ address: { ...US, city: 'x'.repeat(121) } }), 'address.city'],
            'a street of 201 characters': [addition({ address: { ...US, street: 'x'.repeat(201) } }), 'address.street'],
            'no state': [addition({ address: { ...US, state: undefined } }), 'address.state'],
            'a state of one letter': [addition({ address: { ...US, state: 'O' } }), 'address.state'],
            'a state by its name': [addition({ address: { ...US, state: 'Oregon' } }), 'address.state'],
            'a state that is none': [addition({ address: { ...US, state: 'XX' } }), 'address.state'],
            'a province in the US': [addition({ address: { ...US, state: 'ON' } }), 'address.state'],
            'a state in Canada': [addition({ address: { ...CA, state: 'OR' } }), 'address.state'],
            'no zip': [addition({ address: { ...US, zip: undefined } }), 'address.zip'],
            'a zip of four digits': [addition({ address: { ...US, zip: '9720' } }), 'address.zip'],
            'a zip with letters': [addition({ address: { ...US, zip: '9720A' } }), 'address.zip'],
            'a zip with a short extension': [addition({ address: { ...US, zip: '97201-12' } }), 'address.zip'],
            'a postal code in the US': [addition({ address: { ...US, zip: 'K1A 0B1' } }), 'address.zip'],
            'a zip in Canada': [addition({ address: { ...CA, zip: '97201' } }), 'address.zip'],
            'a postal code with two spaces': [addition({ address: { ...CA, zip: 'K1A  0B1' } }), 'address.zip'],
            'another country': [addition({ address: { ...US, country: 'MX' } }), 'address.country'],
            'an unknown field of the address': [addition({ address: { ...US, county: 'x' } }), 'county'],
            'no tone': [addition({ unlock_tone: undefined }), 'unlock_tone'],
            'a tone of four keys': [addition({ unlock_tone: '1234' }), 'unlock_tone'],
            'a tone with a letter': [addition({ unlock_tone: 'a' }), 'unlock_tone'],
            'an unknown field': [addition({ building_id: UNKNOWN_ID }), 'building_id'],
            'a removal without building': [{ action: 'remove' }, 'building_id'],
            'a removal of no ID': [removal('x'), 'building_id'],
            'a removal with a label': [{ ...removal(UNKNOWN_ID), label: 'x' }, 'label'],
        };
        for (const [what, [body, names]] of Object.entries(bad)) {
            // BUILDING-2
            it(`refuses ${what}`, async () => {
                wrong(await preview(person, body), names);
            });
        }

        // BUILDING-2
        it('refuses the primary building, and one that is not there', async () => {
            wrong(await preview(person, removal(person.building.id)), 'primary');
            refused(await preview(person, removal(UNKNOWN_ID)), 404, 'BUILDING_NOT_FOUND');
            const other = await owner(client);
            refused(await preview(person, removal((await added(other)).id)), 404, 'BUILDING_NOT_FOUND');
        });

        it('needs a JSON object', async () => {
            refused(await person.keeper.request('POST', '/v1/buildings/preview', { text: '[]' }), 400, 'INVALID_JSON');
            refused(await person.keeper.request('POST', '/v1/buildings/preview'), 400, 'INVALID_JSON');
        });

        // BUILDING-3, BUILDING-5
        it('needs an active subscription', async () => {
            const fresh = await signIn(client);
            refused(await fresh.client.post('/v1/buildings/preview', addition()), 403, 'MULTI_BUILDING_REQUIRED');
            const late = await owner(client);
            await setSubscription(client, late.email, 'past_due');
            refused(await preview(late, addition()), 403, 'MULTI_BUILDING_REQUIRED');
            refused(await preview(late, removal(UNKNOWN_ID)), 403, 'MULTI_BUILDING_REQUIRED');
            wrong(await preview(late, removal('x')), 'building_id');
            await setSubscription(client, late.email, 'canceled');
            refused(await preview(late, addition()), 403, 'MULTI_BUILDING_REQUIRED');
        });
    });

    describe('the forwarding phone', () => {
        it('must be a number', async () => {
            const person = await owner(client);
            for (const phone_number of ['5551234567', '+0123456789', '+1', '', 5, null]) {
                refused(await preview(person, addition({ phone_number })), 400, 'INVALID_PHONE_NUMBER', 'phone_number');
            }
        });

        // ACCOUNT-17, BUILDING-4
        it('must have been verified by this account, now or before', async () => {
            const person = await owner(client);
            refused(await preview(person, addition({ phone_number: '+15557770001' })), 400, 'FORWARDING_PHONE_NOT_VERIFIED');
            const other = await owner(client);
            refused(await preview(person, addition({ phone_number: other.phone })), 400, 'FORWARDING_PHONE_NOT_VERIFIED');
            const second = await verifyPhone(person);
            for (const phone_number of [person.phone, second]) {
                assert.equal((await quote(person, addition({ phone_number }))).input.phone_number, phone_number);
            }
            assert.equal((await quote(person)).input.phone_number, second);
        });

        // BUILDING-4
        it('must be verified first when the account has no phone', async () => {
            const session = await signIn(client);
            await provisioned(session);
            refused(await session.client.post('/v1/buildings/preview', addition()), 400, 'PHONE_VERIFICATION_REQUIRED');
            refused(await session.client.post('/v1/buildings/preview', addition({ phone_number: '+15557770002' })), 400, 'FORWARDING_PHONE_NOT_VERIFIED');
        });

        // BUILDING-35
        it('is the building\'s own: its calls go there', async () => {
            const person = await owner(client);
            await verifyPhone(person);
            const child = await added(person, addition({ phone_number: person.phone }));
            const call = await visit(client, { to: child.virtual_number });
            assert.deepEqual([call.outcome, call.forwarded_to], ['forwarded', person.phone]);
        });
    });

    describe('an addition', () => {
        it('adds the building with its number and one unit', async () => {
            const person = await owner(client);
            const key = idempotencyKey();
            const made = await quote(person);
            const done = ok(await execute(person, made, key), 201);
            const child = (await buildings(person)).find((row) => !row.is_primary);
            assert.match(child.virtual_number, /^\+1555010\d{4}$/);
            assert.deepEqual(child, { id: done.building_id, label: 'Cabin', address: { ...US, country: 'US' }, virtual_number: child.virtual_number, is_primary: false, provisioned: true, timezone: 'America/Los_Angeles' });
            assert.deepEqual([done.id, done.status, done.request_id, done.expires_at], [made.id, 'succeeded', key, made.expires_at]);
            assert.deepEqual([done.input, done.billing], [made.input, made.billing]);
            assert.deepEqual(done.result, { building_id: child.id, label: 'Cabin', virtual_number: child.virtual_number, physical_test_required: true });
            assert.ok(done.next_action.includes(child.id));
            assert.deepEqual(await operation(person, made.id), done);
            await consistent(w, person, 2);
            const account = ok(await person.client.get('/v1/account'));
            assert.deepEqual([account.buildings.count, account.buildings.selection_required], [2, true]);
            const setup = ok(await person.client.get(`/v1/buildings/${child.id}/setup`));
            assert.deepEqual([setup.unlock_tone, setup.status], ['5', 'building_setup_required']);
            refused(await person.client.get('/v1/unlock'), 409, 'BUILDING_REQUIRED');
        });

        it('in Canada gets a Canadian number', async () => {
            const person = await owner(client);
            const child = await added(person, addition({ address: CA }));
            assert.match(child.virtual_number, /^\+1555020\d{4}$/);
            await consistent(w, person, 2);
        });

        it('takes a number of the operator\'s pool first', async () => {
            const person = await owner(client);
            const number = '+16135550123';
            assert.equal(admin(w, 'number', 'add', number, '--country', 'CA').status, 0);
            const child = await added(person, addition({ address: CA }));
            assert.equal(child.virtual_number, number);
            ok(await execute(person, await quote(person, removal(child.id))));
            const again = await added(person, addition({ address: CA }));
            assert.equal(again.virtual_number, number);
            const row = JSON.parse(admin(w, 'number', 'list').stdout).data.find((r) => r.number === number);
            assert.deepEqual([row.source, row.building_id], ['pool', again.id]);
        });

        it('works like any building: grants, calls, its own log', async () => {
            const person = await owner(client);
            const child = await added(person);
            const options = { headers: { 'Idempotency-Key': idempotencyKey(), ...at(child.id).headers } };
            const made = ok(await person.client.post('/v1/unlock', { type: 'passcode', access_code: '4321' }, options), 201);
            const call = await visit(client, { to: child.virtual_number, digits: '4321' });
            assert.deepEqual([call.outcome, call.grant_id, call.tones], ['released', made.id, '5']);
            assert.notEqual((await visit(client, { to: person.number, digits: '4321' })).outcome, 'released');
        });

        // BUILDING-5
        it('stops at twenty buildings', async () => {
            const person = await owner(client);
            for (let n = 2; n <= 20; n++) await added(person, addition({ label: `Number ${n}` }));
            await consistent(w, person, 20);
            refused(await preview(person, addition()), 409, 'BUILDING_LIMIT');
            refused(await preview(person, addition({ phone_number: '+15559990000' })), 409, 'BUILDING_LIMIT');
            const [, second] = await buildings(person);
            ok(await execute(person, await quote(person, removal(second.id))));
            await quote(person);
            await consistent(w, person, 19);
        });
    });

    describe('a removal', () => {
        it('releases the number and deletes grants, log, members and keys for good', async () => {
            const person = await owner(client);
            const child = await added(person);
            const told = (...args) => {
                const done = admin(w, ...args);
                assert.equal(done.status, 0, done.stderr);
                return JSON.parse(done.stdout);
            };
            const childKey = client.as(told('key', 'create', '--building', child.id).api_key);
            const member = told('member', 'add', '--building', child.id, '--name', 'Kim', '--email', 'kim@example.com');
            const memberKey = client.as(told('key', 'create', '--member', member.id).api_key);
            const grant = ok(await childKey.post('/v1/unlock', { type: 'passcode', access_code: '4321' }, { headers: { 'Idempotency-Key': idempotencyKey() } }), 201);
            await visit(client, { to: child.virtual_number, digits: '4321' });
            assert.equal(ok(await memberKey.get('/v1/logs')).data.length, 1);

            const key = idempotencyKey();
            const made = await quote(person, removal(child.id));
            const done = ok(await execute(person, made, key));
            assert.deepEqual([done.status, done.building_id, done.request_id], ['succeeded', child.id, key]);
            assert.deepEqual(done.result, { building_id: child.id, deleted: true, released_number: child.virtual_number });
            assert.deepEqual(await operation(person, made.id), done);
            await consistent(w, person, 1);

            refused(await childKey.get('/v1/unlock'), 401, 'INVALID_KEY');
            refused(await memberKey.get('/v1/unlock'), 401, 'INVALID_KEY');
            refused(await person.client.get(`/v1/unlock/${grant.id}`, at(child.id)), 404, 'BUILDING_NOT_FOUND');
            refused(await person.client.get(`/v1/buildings/${child.id}/setup`), 404, 'BUILDING_NOT_FOUND');
            ok(await person.client.get('/v1/unlock'));
            assert.equal((await visit(client, { to: child.virtual_number })).outcome, 'rejected');
            assert.equal(sql(w.daemon, `SELECT (SELECT count(*) FROM access_grant JOIN grant_building ON number = building WHERE grant_building.id = '${child.id}')
                + (SELECT count(*) FROM activity WHERE building_id = '${child.id}')
                + (SELECT count(*) FROM activity_kind WHERE building_id = '${child.id}')
                + (SELECT count(*) FROM member WHERE building_id = '${child.id}')
                + (SELECT count(*) FROM number WHERE number = '${child.virtual_number}');`).trim(), '0');
            ok(await client.post('/v1/auth/otp', { email: 'kim@example.com' }));
        });

        it('deletes a log of many entries', async () => {
            const person = await owner(client);
            const child = await added(person);
            sql(w.daemon, `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3500)
                INSERT INTO activity (building_id, created_at, id, kind)
                SELECT '${child.id}', i, 'entry' || i, 1 FROM n;`);
            ok(await execute(person, await quote(person, removal(child.id))));
            assert.equal(sql(w.daemon, `SELECT count(*) FROM activity WHERE building_id = '${child.id}';`).trim(), '0');
            await consistent(w, person, 1);
        });

        it('leaves siblings alone', async () => {
            const person = await owner(client);
            const [one, two] = [await added(person, addition({ label: 'one' })), await added(person, addition({ label: 'two' }))];
            ok(await execute(person, await quote(person, removal(one.id))));
            assert.deepEqual((await buildings(person)).map((row) => row.label), ['Home', 'two']);
            assert.notEqual((await visit(client, { to: two.virtual_number })).outcome, 'rejected');
            await consistent(w, person, 2);
        });
    });

    describe('a quote', () => {
        let person;
        before(async () => {
            person = await owner(client);
        });

        // BUILDING-12
        it('expires after 15 minutes, and is kept', async () => {
            const made = await quote(person);
            await advance(client, 15 * 60 - 5);
            assert.equal((await operation(person, made.id)).status, 'quoted');
            await advance(client, 6);
            const after = await operation(person, made.id);
            assert.deepEqual([after.status, after.id], ['expired', made.id]);
            assert.ok(after.next_action.includes('/v1/buildings/preview'));
            refused(await execute(person, made), 409, 'QUOTE_EXPIRED');
            await consistent(w, person, 1);
        });

        it('is read without a subscription, but by its own account alone', async () => {
            const made = await quote(person);
            const other = await owner(client);
            refused(await other.keeper.get(`/v1/buildings/operations/${made.id}`), 404, 'NOT_FOUND');
            refused(await person.keeper.get(`/v1/buildings/operations/${UNKNOWN_ID}`), 404, 'NOT_FOUND');
            refused(await person.keeper.get('/v1/buildings/operations/nonsense'), 400, 'INVALID_ID');
            await setSubscription(client, person.email, 'canceled');
            assert.deepEqual(await operation(person, made.id.toUpperCase()), made);
            await setSubscription(client, person.email, 'active');
        });

        // BUILDING-8
        it('is stale once the number of buildings has changed', async () => {
            const first = await quote(person), second = await quote(person);
            ok(await execute(person, first), 201);
            refused(await execute(person, second), 409, 'QUOTE_STALE');
            await consistent(w, person, 2);
        });

        // BUILDING-8
        it('is stale once the subscription is not active', async () => {
            const made = await quote(person);
            await setSubscription(client, person.email, 'past_due');
            refused(await execute(person, made), 409, 'QUOTE_STALE');
            await setSubscription(client, person.email, 'active');
            ok(await execute(person, made), 201);
        });

        // BUILDING-9
        it('executes nothing without any subscription, and is stale with another one', async () => {
            const late = await owner(client);
            const child = await added(late);
            const [add, remove] = [await quote(late), await quote(late, removal(child.id))];
            await setSubscription(client, late.email, 'canceled');
            for (const made of [add, remove]) refused(await execute(late, made), 403, 'MULTI_BUILDING_REQUIRED');
            await setSubscription(client, late.email, 'active');
            for (const made of [add, remove]) refused(await execute(late, made), 409, 'QUOTE_STALE');
            await consistent(w, late, 2);
        });

        // BUILDING-8
        it('of a removal is stale once the building has another number than it says', async () => {
            const late = await owner(client);
            const child = await added(late);
            const made = await quote(late, removal(child.id));
            assert.equal(admin(w, 'number', 'release', child.virtual_number).status, 0);
            refused(await execute(late, made), 409, 'QUOTE_STALE');
            const another = await eventually(async () => (await buildings(late)).find((row) => row.id === child.id).virtual_number, 'another number');
            assert.notEqual(another, child.virtual_number);
            const { result } = ok(await execute(late, await quote(late, removal(child.id))));
            assert.equal(result.released_number, another);
            await consistent(w, late, 1);
        });

        it('is stale once the quantity was changed elsewhere; then nothing is quoted until it matches', async () => {
            const made = await quote(person);
            const count = quantity(w.daemon, person);
            const set = (n) => sql(w.daemon, `UPDATE sandbox_subscription SET quantity = ${n}
                WHERE id = (SELECT subscription_id FROM account WHERE email = '${person.email}');`);
            set(count + 3);
            refused(await execute(person, made), 409, 'QUOTE_STALE');
            refused(await preview(person, addition()), 409, 'BUILDING_BILLING_MISMATCH');
            const child = (await buildings(person)).find((row) => !row.is_primary);
            refused(await preview(person, removal(child.id)), 409, 'BUILDING_BILLING_MISMATCH');
            set(count);
            ok(await execute(person, made), 201);
            await consistent(w, person, count + 1);
        });

        it('is stale once the subscription\'s plan, and so its price, has changed', async () => {
            const made = await quote(person);
            const set = (plan) => sql(w.daemon, `UPDATE sandbox_subscription SET plan = '${plan}'
                WHERE id = (SELECT subscription_id FROM account WHERE email = '${person.email}');`);
            set('yearly');
            refused(await execute(person, made), 409, 'QUOTE_STALE');
            set('weekly');
        });

        it('is refused for a subscription that the provider does not know', async () => {
            const lost = await owner(client);
            const made = await quote(lost);
            sql(w.daemon, `DELETE FROM sandbox_subscription WHERE id = '${made.billing.subscription_id}';`);
            refused(await execute(lost, made), 409, 'QUOTE_STALE');
            refused(await preview(lost, addition()), 409, 'BUILDING_BILLING_MISMATCH');
        });

        // BUILDING-7
        it('fits its own action and building alone', async () => {
            const [, child, sibling] = await buildings(person);
            const add = await quote(person), remove = await quote(person, removal(child.id));
            refused(await execute(person, { ...remove, action: 'add' }), 409, 'INVALID_QUOTE');
            refused(await execute(person, { ...add, action: 'remove', building_id: child.id }), 409, 'INVALID_QUOTE');
            for (const building_id of [sibling.id, person.building.id, UNKNOWN_ID]) {
                refused(await execute(person, { ...remove, building_id }), 409, 'INVALID_QUOTE');
            }
            assert.equal((await operation(person, remove.id)).status, 'quoted');
        });

        // BUILDING-12
        it('is used once', async () => {
            const made = await quote(person);
            ok(await execute(person, made), 201);
            refused(await execute(person, made), 409, 'INVALID_QUOTE');
        });

        // BUILDING-7
        it('must be one, and one\'s own', async () => {
            const send = (json) => person.keeper.post('/v1/buildings', json, { headers: { 'Idempotency-Key': idempotencyKey() } });
            for (const body of [{}, { quote_id: 'x' }, { quote_id: null }, { quote_id: 5 }, { quote_id: UNKNOWN_ID, more: 1 }]) {
                refused(await send(body), 400, 'INVALID_QUOTE');
            }
            refused(await send({ quote_id: UNKNOWN_ID }), 404, 'NOT_FOUND');
            const other = await owner(client);
            refused(await send({ quote_id: (await quote(other)).id }), 404, 'NOT_FOUND');
        });
    });

    describe('execution', () => {
        it('needs an Idempotency-Key and a JSON body', async () => {
            const person = await owner(client);
            const { id } = await quote(person);
            const remove = `/v1/buildings/${UNKNOWN_ID}`;
            for (const key of [undefined, 'short', 'x'.repeat(101), 'with a blank in it']) {
                const options = { headers: { 'Idempotency-Key': key }, json: { quote_id: id } };
                refused(await person.keeper.request('POST', '/v1/buildings', options), 400, 'IDEMPOTENCY_KEY_REQUIRED');
                refused(await person.keeper.request('DELETE', remove, options), 400, 'IDEMPOTENCY_KEY_REQUIRED');
            }
            const headers = { 'Idempotency-Key': idempotencyKey() };
            refused(await person.keeper.request('POST', '/v1/buildings', { headers }), 400, 'INVALID_JSON');
            refused(await person.keeper.request('DELETE', remove, { headers }), 400, 'INVALID_JSON');
            refused(await person.keeper.request('DELETE', remove, { headers, text: '{' }), 400, 'INVALID_JSON');
            refused(await person.keeper.request('DELETE', '/v1/buildings/nonsense', { headers, json: { quote_id: id } }), 400, 'INVALID_ID');
            refused(await person.keeper.request('DELETE', remove, { headers, json: {} }), 400, 'INVALID_QUOTE');
        });

        // BUILDING-15, HTTP-32
        it('is replayed by its key for ever, and its key means nothing else', async () => {
            const person = await owner(client);
            const [addKey, removeKey] = [idempotencyKey(), idempotencyKey()];
            const made = await quote(person);
            const done = ok(await execute(person, made, addKey), 201);
            const again = await execute(person, made, addKey);
            assert.deepEqual(ok(again), done);
            assert.equal(again.headers['idempotency-replayed'], 'true');
            const other = await quote(person);
            refused(await execute(person, other, addKey), 409, 'IDEMPOTENCY_CONFLICT');
            const remove = await quote(person, removal(done.building_id));
            refused(await execute(person, remove, addKey), 409, 'IDEMPOTENCY_CONFLICT');
            const gone = ok(await execute(person, remove, removeKey));
            await setSubscription(client, person.email, 'canceled');
            await advance(client, 40 * 86400);
            assert.deepEqual(ok(await execute(person, remove, removeKey)), gone);
            assert.deepEqual(ok(await execute(person, made, addKey)), done);
            refused(await execute(person, { ...remove, building_id: UNKNOWN_ID }, removeKey), 409, 'IDEMPOTENCY_CONFLICT');
            refused(await execute(person, { ...remove, action: 'add' }, removeKey), 409, 'IDEMPOTENCY_CONFLICT');
            for (const json of [{}, { quote_id: 'nonsense' }, { quote_id: made.id, colour: 'red' }]) {
                const headers = (name) => ({ json, headers: { 'Idempotency-Key': name } });
                refused(await person.keeper.request('POST', '/v1/buildings', headers(idempotencyKey())), 400, 'INVALID_QUOTE');
                refused(await person.keeper.request('POST', '/v1/buildings', headers(addKey)), 409, 'IDEMPOTENCY_CONFLICT');
                const path = `/v1/buildings/${remove.input.building_id}`;
                refused(await person.keeper.request('DELETE', path, headers(removeKey)), 409, 'IDEMPOTENCY_CONFLICT');
            }
        });

        it('of one quote happens once, however many ask', async () => {
            const person = await owner(client);
            const made = await quote(person);
            const answers = await Promise.all(Array.from({ length: 8 }, () => execute(person, made)));
            assert.equal(answers.filter((a) => a.status === 201).length, 1);
            for (const answer of answers.filter((a) => a.status !== 201)) refused(answer, 409, 'INVALID_QUOTE');
            await consistent(w, person, 2);
        });

        it('with one key happens once and is told to all', async () => {
            const person = await owner(client);
            const made = await quote(person);
            const key = idempotencyKey();
            const answers = await Promise.all(Array.from({ length: 8 }, () => execute(person, made, key)));
            assert.deepEqual(answers.map((a) => a.status).sort(), [200, 200, 200, 200, 200, 200, 200, 201]);
            for (const answer of answers) assert.deepEqual(answer.body, answers[0].body);
            await consistent(w, person, 2);
        });

        it('of several quotes at once lets one win', async () => {
            const person = await owner(client);
            const quotes = [];
            for (let i = 0; i < 6; i++) quotes.push(await quote(person));
            const answers = await Promise.all(quotes.map((made) => execute(person, made)));
            assert.equal(answers.filter((a) => a.status === 201).length, 1);
            for (const answer of answers.filter((a) => a.status !== 201)) {
                assert.equal(answer.status, 409);
                assert.ok(['BUILDING_BUSY', 'QUOTE_STALE'].includes(answer.body.error.code), answer.text);
            }
            await consistent(w, person, 2);
        });
    });

    describe('who may', () => {
        let person;
        let child;
        before(async () => {
            person = await owner(client);
            child = await added(person);
        });
        const operations = (who, made, options = {}) => [
            who.post('/v1/buildings/preview', addition(), options),
            who.post('/v1/buildings', { quote_id: made.id }, { headers: { 'Idempotency-Key': idempotencyKey(), ...options.headers } }),
            who.delete(`/v1/buildings/${made.building_id}`, { json: { quote_id: made.id }, headers: { 'Idempotency-Key': idempotencyKey(), ...options.headers } }),
            who.get(`/v1/buildings/operations/${made.id}`, options),
        ];

        // BUILDING-24
        it('is neither a child key nor a member\'s', async () => {
            const made = await quote(person, removal(child.id));
            const issue = (...args) => JSON.parse(admin(w, 'key', 'create', ...args).stdout).api_key;
            const member = JSON.parse(admin(w, 'member', 'add', '--building', child.id, '--name', 'Lee', '--email', 'lee@example.com').stdout);
            const keys = [issue('--building', child.id, '--scopes', 'account:read,buildings:write'), issue('--member', member.id)];
            for (const key of keys) {
                for (const answer of operations(client.as(key), made)) refused(await answer, 403, 'PARENT_BUILDING_KEY_REQUIRED');
            }
        });

        it('is a key with account:read and buildings:write', async () => {
            const made = await quote(person, removal(child.id));
            for (const scopes of [['account:read', 'access:write', 'billing:write'], ['buildings:write']]) {
                const { client: robot } = await agent(person, scopes);
                for (const answer of operations(robot, made)) refused(await answer, 403, 'INSUFFICIENT_SCOPE');
            }
            for (const answer of operations(client.as(undefined), made)) refused(await answer, 401, 'AUTH_REQUIRED');
        });

        // BUILDING-24
        it('sends no building header', async () => {
            const made = await quote(person, removal(child.id));
            for (const id of [person.building.id, child.id, 'nonsense']) {
                for (const answer of operations(person.keeper, made, at(id))) refused(await answer, 400, 'INVALID_BUILDING_CONTEXT');
            }
            assert.equal((await operation(person, made.id)).status, 'quoted');
        });
    });
});
