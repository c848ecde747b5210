// The record of each call: docs/behaviour/calls.md.
import { describe, it, before } from 'node:test';
import assert from 'node:assert/strict';
import { idempotencyKey, ok, refused } from './lib/client.js';
import { added, owner as makeOwner } from './lib/buildings.js';
import { portero } from './lib/daemon.js';
import { advance, agent, changeSettings, DAY, eventually, grant, ID, iso, MINUTE, now, resident, tellsCode, TIMESTAMP, UNKNOWN_ID, useWorld, visit } from './lib/world.js';

const WEEKDAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];

describe('call records', () => {
    const w = useWorld();
    const { client } = w;
    let person;
    let code;
    before(async () => {
        person = await resident(client);
        code = await grant(person, { type: 'passcode', access_code: '1357', label: 'Parcel' });
    });

    const list = (query = '', who = person) => who.client.get(`/v1/calls${query}`);
    const show = async (id, who = person) => ok(await who.client.get(`/v1/calls/${id}`));
    const admin = (...args) => portero(['admin', ...args, '--config', w.daemon.configPath, '--data', w.daemon.data]);
    const told = (...args) => {
        const done = admin(...args, '--json');
        assert.equal(done.status, 0, done.stderr);
        return JSON.parse(done.stdout);
    };
    const steps = (call) => call.steps.map((step) => step.step);

    // CALL-15
    it('shows a right code step by step, without the keys', async () => {
        const { call_id } = await visit(client, { to: person.number, digits: '1357' });
        const call = await show(call_id);
        assert.match(call.id, ID);
        assert.match(call.started_at, TIMESTAMP);
        assert.deepEqual(
            [call.building_id, call.front_end, call.source, call.dialled, call.caller, call.outcome, call.reason, call.grant_id, call.resident_opened, call.ended_by],
            [person.building.id, 'sandbox', 'sandbox', person.number, '+15550001111', 'released', 'passcode', code.id, false, 'service']);
        assert.deepEqual(steps(call),
            ['arrived', 'asked_code', 'answered', 'said', 'key', 'key', 'key', 'key', 'released', 'said', 'tone_sent', 'ended']);
        assert.deepEqual(call.steps.filter((step) => step.step === 'said').map((step) => step.detail), ['welcome', 'granted']);
        assert.equal(call.steps.find((step) => step.step === 'released').grant_id, code.id);
        assert.ok(!tellsCode(call.steps, '1357'));
        assert.equal(Date.parse(call.ended_at) - Date.parse(call.started_at), call.duration_ms);
        assert.deepEqual(call.steps.map((step) => step.at_ms), call.steps.map((step) => step.at_ms).sort((a, b) => a - b));
    });

    it('shows wrong codes, the silence after them, the phone that rang, and who ended the call', async () => {
        const expired = await grant(person, { type: 'timer', expires_in_minutes: 1, enabled: false, label: 'Off' });
        const call = await show((await visit(client, { to: person.number, digits: '9999', answer_forward: false })).call_id);
        assert.deepEqual([call.outcome, call.reason, call.grant_id], ['forwarded', 'wrong_code', null]);
        assert.deepEqual(steps(call).filter((step) => !['key', 'said'].includes(step)),
            ['arrived', 'asked_code', 'answered', 'code_wrong', 'silence', 'forwarded', 'not_usable', 'ended']);
        assert.deepEqual(call.steps.find((step) => step.step === 'not_usable'),
            { ...call.steps.find((step) => step.step === 'not_usable'), detail: 'switched_off', grant_id: expired.id });
        assert.ok(call.steps.find((step) => step.step === 'silence').at_ms >= 8000);
    });

    // CALL-16
    it('records neither the owner nor an unknown number', async () => {
        const before = ok(await list()).data.length;
        const { call_id } = await visit(client, { to: '+15559999999' });
        refused(await person.client.get(`/v1/calls/${call_id}`), 404, 'NOT_FOUND');
        assert.equal(ok(await list()).data.length, before);
    });

    // CALL-18
    it('lists the newest first, a page at a time', async () => {
        const made = [];
        for (let i = 0; i < 5; i++) made.unshift((await visit(client, { to: person.number, digits: '1357' })).call_id);
        const first = ok(await list('?limit=3'));
        assert.deepEqual(first.data.map((call) => call.id), made.slice(0, 3));
        assert.equal(first.pagination.has_more, true);
        assert.ok(!('steps' in first.data[0]));
        const second = ok(await list(`?limit=3&cursor=${first.pagination.cursor.toUpperCase()}`));
        assert.deepEqual(second.data.slice(0, 2).map((call) => call.id), made.slice(3));
        const all = ok(await list('?limit=100')).data;
        assert.equal(new Set(all.map((call) => call.id)).size, all.length);
    });

    it('filters by outcome and time', async () => {
        await advance(client, 60);
        const { call_id } = await visit(client, { to: person.number });
        const call = await show(call_id);
        assert.deepEqual(ok(await list(`?since=${call.started_at}`)).data.map((c) => c.id), [call_id]);
        assert.deepEqual(ok(await list(`?since=${call.started_at}&until=${call.started_at}`)).data.map((c) => c.id), [call_id]);
        assert.ok(!ok(await list(`?until=${iso(Date.parse(call.started_at) - 1)}`)).data.some((c) => c.id === call_id));
        for (const outcome of ['released', 'forwarded', 'unreachable', 'none']) {
            assert.ok(ok(await list(`?outcome=${outcome}`)).data.every((c) => c.outcome === outcome));
        }
        assert.equal(ok(await list('?outcome=forwarded')).data[0].id, call_id);
        refused(await list(`?since=${iso(await now(client))}&until=2020-01-01T00:00:00Z`), 400, 'INVALID_DATE');
        refused(await list('?outcome=open'), 400, 'INVALID_FILTER');
        refused(await list('?limit=0'), 400, 'INVALID_LIMIT');
        refused(await list('?cursor=x'), 400, 'INVALID_CURSOR');
    });

    // CALL-18
    it('are read with logs:read, and by no other account', async () => {
        const { call_id } = await visit(client, { to: person.number });
        const reader = await agent(person, ['logs:read']);
        assert.equal((await show(call_id, reader)).id, call_id);
        const other = await agent(person, ['account:read', 'access:read']);
        refused(await list('', other), 403, 'INSUFFICIENT_SCOPE');
        refused(await other.client.get(`/v1/calls/${call_id}`), 403, 'INSUFFICIENT_SCOPE');
        const stranger = await resident(client);
        refused(await stranger.client.get(`/v1/calls/${call_id}`), 404, 'NOT_FOUND');
        assert.deepEqual(ok(await list(`?cursor=${call_id}`, stranger)).data, []);
        refused(await list('', { client: stranger.client.as(undefined) }), 401, 'AUTH_REQUIRED');
        refused(await person.client.get(`/v1/calls/${UNKNOWN_ID}`), 404, 'NOT_FOUND');
        refused(await person.client.get('/v1/calls/x'), 400, 'INVALID_ID');
    });

    it('of linked buildings are kept apart, and a member reads its building\'s', async () => {
        const owner = await makeOwner(client);
        const { id: childId, virtual_number: childNumber } = await added(owner);
        const at = (id) => ({ headers: { 'X-Service-Building-Id': id } });
        const here = (await visit(client, { to: owner.number })).call_id;
        const there = (await visit(client, { to: childNumber })).call_id;
        refused(await owner.client.get('/v1/calls'), 409, 'BUILDING_REQUIRED');
        refused(await owner.client.get(`/v1/calls/${here}`), 409, 'BUILDING_REQUIRED');
        assert.deepEqual(ok(await owner.client.get('/v1/calls', at(owner.building.id))).data.map((call) => call.id), [here]);
        assert.deepEqual(ok(await owner.client.get('/v1/calls', at(childId))).data.map((call) => call.id), [there]);
        refused(await owner.client.get(`/v1/calls/${there}`, at(owner.building.id)), 404, 'NOT_FOUND');
        const member = told('member', 'add', '--building', childId, '--name', 'Kim', '--email', 'kim@example.com');
        const reader = client.as(told('key', 'create', '--member', member.id).api_key);
        assert.deepEqual(ok(await reader.get('/v1/calls')).data.map((call) => call.id), [there]);
        refused(await reader.get(`/v1/calls/${here}`), 404, 'NOT_FOUND');
        assert.equal(ok(await reader.get(`/v1/buildings/${childId}/decision`)).reason, 'no_grant');
        refused(await reader.get(`/v1/buildings/${owner.building.id}/decision`), 404, 'BUILDING_NOT_FOUND');
    });

    // CALL-19
    it('tells that no phone of the residents rang', async () => {
        const owner = await resident(client);
        await changeSettings(owner, { ring: { numbers: ['+15551110001'] } });
        const outcomeOf = async (part) => {
            const { call_id } = await visit(client, { to: owner.number, resident: part });
            return ok(await owner.client.get(`/v1/calls/${call_id}`)).outcome;
        };
        assert.deepEqual([await outcomeOf('no_answer'), await outcomeOf('unreachable')], ['forwarded', 'unreachable']);
        assert.equal(ok(await owner.client.get('/v1/calls?outcome=unreachable')).data.length, 1);
        assert.equal(told('call', 'list', '--building', owner.building.id, '--outcome', 'unreachable').data.length, 1);
    });

    it('are listed and shown to the operator, of all accounts', async () => {
        const { call_id } = await visit(client, { to: person.number, from: '+15550007777', digits: '1357' });
        for (const filter of [[], ['--building', person.building.id], ['--number', '+15550007777'], ['--number', person.number, '--outcome', 'released']]) {
            const { data } = told('call', 'list', ...filter);
            assert.equal(data[0].id, call_id, filter);
        }
        assert.deepEqual(told('call', 'list', '--number', '+15550007778').data, []);
        const shown = admin('call', 'show', call_id).stdout;
        for (const text of [call_id, '+15550007777', 'passcode', 'asked_code', 'tone_sent', code.id]) assert.ok(shown.includes(text), text);
        assert.ok(!tellsCode(shown, '1357'));
        assert.equal(admin('call', 'show', UNKNOWN_ID).status, 1);
    });

    // CALL-15
    it('are gone after 30 days', async () => {
        const reader = await agent(person, ['logs:read'], { expires_in_days: 90 });
        const { call_id } = await visit(client, { to: person.number });
        await advance(client, 29 * 86_400);
        assert.equal((await show(call_id, reader)).id, call_id);
        await advance(client, 86_400 + 3601);
        await eventually(async () => (await reader.client.get(`/v1/calls/${call_id}`)).status === 404, 'the purge');
        assert.deepEqual(ok(await list('', reader)).data, []);
    });
});

describe('the decision', () => {
    const w = useWorld();
    const { client } = w;
    let person;
    before(async () => { person = await resident(client); });

    const ask = (query = '') => person.client.get(`/v1/buildings/${person.building.id}/decision${query}`);
    const results = (body) => Object.fromEntries(body.grants.map((row) => [row.label, row.result]));

    // CALL-13
    it('is explained grant by grant, now and at another time, and changes nothing', async () => {
        assert.deepEqual([ok(await ask()).verdict, ok(await ask()).reason], ['forward', 'no_grant']);
        const at = await now(client);
        await grant(person, { type: 'passcode', access_code: '2468', remaining_uses: 1, label: 'Parcel' });
        await grant(person, { type: 'passcode', access_code: '8642', enabled: false, label: 'Off' });
        await grant(person, { type: 'timer', starts_at: iso(at + 3_600_000), ends_at: iso(at + 7_200_000), label: 'Later' });
        const today = ok(await ask());
        assert.deepEqual([today.verdict, today.reason, today.grant_id, today.keypad_closed_until, today.more_grants],
            ['ask_code', 'no_code', null, null, 0]);
        assert.deepEqual(results(today), { Parcel: 'needs_code', Off: 'switched_off', Later: 'not_begun' });
        assert.equal(today.grants.find((row) => row.label === 'Later').next_at, iso(at + 3_600_000));
        const later = ok(await ask(`?at=${iso(at + 3_700_000)}`));
        assert.deepEqual([later.verdict, later.reason, later.grant_label], ['release', 'timer', 'Later']);
        assert.deepEqual(results(later), { Parcel: 'comes_later', Off: 'switched_off', Later: 'opens' });
        for (let i = 0; i < 3; i++) assert.equal(ok(await ask('?digits=2468')).reason, 'passcode');
        assert.deepEqual(results(ok(await ask('?digits=8642'))), { Parcel: 'wrong_digits', Off: 'switched_off', Later: 'not_begun' });
        const { call_id } = await visit(client, { to: person.number, digits: '2468' });
        assert.equal(ok(await person.client.get(`/v1/calls/${call_id}`)).reason, 'passcode');
        assert.equal(results(ok(await ask('?digits=2468'))).Parcel, 'used_up');
        assert.equal(ok(await ask('?at=9999-12-31T23:59:59Z')).verdict, 'forward');
        assert.equal(ok(await ask('?at=0001-01-01T00:00:00Z')).verdict, 'forward');
    });

    // CALL-13
    it('says whose code the digits are and why it opens nothing, whether or not the call asks for one', async () => {
        const who = await resident(client);
        const path = `/v1/buildings/${who.building.id}/decision`;
        const asked = async (digits, more = '') => {
            const answer = ok(await who.client.get(`${path}?digits=${digits}${more}`));
            assert.ok(!tellsCode(answer, digits), digits);
            return answer;
        };
        const code = (digits, more) => grant(who, { type: 'passcode', access_code: digits, ...more });
        const at = await now(client);
        const used = await code('1357', { label: 'Parcel', remaining_uses: 1 });
        const off = await code('2222', { label: 'Aunt', enabled: false });
        const over = await code('4444', { label: 'Guest', ends_at: iso(at + MINUTE) });
        await code('5555', { label: 'Still' });
        const gone = await code('7777', { label: 'Lodger' });
        ok(await who.client.delete(`/v1/unlock/${gone.id}`));
        const pass = async (digits, more) => ok(await who.client.post('/v1/passes', { access_code: digits, timezone: 'UTC', ...more }, { headers: { 'Idempotency-Key': idempotencyKey() } }), 201);
        const soon = await pass('33330', { label: 'Plumber', from: iso(at + DAY), until: iso(at + 2 * DAY) });
        const closed = await pass('66660', { label: 'Cleaner', until: iso(at + 20 * DAY), windows: [{ days: [WEEKDAYS[new Date(at + 3 * DAY).getUTCDay()]], start: '09:00', end: '12:00' }] });
        assert.deepEqual([(await asked('1357')).reason, (await asked('1357')).code], ['passcode', null]);
        assert.equal((await visit(client, { to: who.number, digits: '1357' })).outcome, 'released');
        await advance(client, 120);
        const all = [['1357', 'used_up', used], ['2222', 'switched_off', off], ['4444', 'expired', over], ['33330', 'not_begun', soon], ['66660', 'outside_window', closed], ['7777', 'revoked', gone]];
        const check = async (verdict) => {
            for (const [digits, result, { id, label }] of all) {
                const answer = await asked(digits);
                assert.deepEqual([answer.verdict, answer.code], [verdict, { result, unlock_id: id, name: label }]);
            }
            assert.deepEqual((await asked('9999')).code, { result: 'wrong_code', unlock_id: null, name: null });
        };
        await check('wrong_code');
        const day = iso(at + 3 * DAY).slice(0, 10);
        const open = await asked('66660', `&at=${day}T10:00:00Z`);
        assert.deepEqual([open.grant_id, open.code], [closed.id, null]);
        const { id } = await grant(who, { type: 'timer', expires_in_minutes: 60, label: 'Party' });
        await check('release');
        assert.deepEqual((({ grant_id: by, code: none }) => [by, none])(ok(await who.client.get(path))), [id, null]);
        assert.ok(!tellsCode(w.daemon.stderr.split('\n').filter((line) => line.includes('/decision')).join('\n'), '66660'));
    });

    it('knows the closed keypad, for the group of the caller', async () => {
        await grant(person, { type: 'passcode', access_code: '1111', label: 'Guest' });
        const group = (from) => ask(`?from=${encodeURIComponent(from)}&digits=1111`);
        assert.equal(ok(await group('+15550001111')).known_caller, true);
        await visit(client, { to: person.number, from: '+15550002222', digits: '999999999999' });
        await visit(client, { to: person.number, from: '+15550002222', digits: '99999999' });
        const closed = ok(await group('+15550003333'));
        assert.deepEqual([closed.verdict, closed.reason, closed.known_caller], ['forward', 'keypad_closed', false]);
        assert.ok(Date.parse(closed.keypad_closed_until) > await now(client));
        assert.equal(results(closed).Guest, 'keypad_closed');
        assert.equal(ok(await group('+15550001111')).verdict, 'release');
    });

    // CALL-13
    it('needs both scopes, a building of the account and a valid query', async () => {
        const both = await agent(person, ['access:read', 'logs:read']);
        const path = `/v1/buildings/${person.building.id}/decision`;
        assert.equal(ok(await both.client.get(path)).building_id, person.building.id);
        for (const scope of ['access:read', 'logs:read']) refused(await (await agent(person, [scope])).client.get(path), 403, 'INSUFFICIENT_SCOPE');
        refused(await (await resident(client)).client.get(path), 404, 'BUILDING_NOT_FOUND');
        for (const query of ['digits=123456789', 'digits=x', 'digits=', 'from=anonymous', 'from=+1555']) refused(await ask(`?${query}`), 400, 'INVALID_FILTER');
        refused(await ask('?at=tuesday'), 400, 'INVALID_DATE');
    });

    it('is explained to the operator', async () => {
        const explain = (...args) => portero(['admin', 'explain', '--config', w.daemon.configPath, '--data', w.daemon.data, ...args]);
        const { stdout } = explain('--building', person.building.id, '--digits', '1111', '--from', '+15550001111', '--at', iso(await now(client)));
        for (const text of ['release', 'passcode', 'Guest', 'opens']) assert.ok(stdout.includes(text), text);
        assert.equal(explain('--building', UNKNOWN_ID).status, 1);
        assert.equal(explain().status, 2);
    });
});
