// Passes: codes and open doors with a calendar; docs/behaviour/passes.md.
import { describe, it, before } from 'node:test';
import assert from 'node:assert/strict';
import { idempotencyKey, ok, refused } from './lib/client.js';
import { engine } from './lib/daemon.js';
import { sql } from './lib/store.js';
import { advance, agent, changeSettings, DAY, edit, grant, HOUR, iso, MINUTE, now, resident, UNKNOWN_ID, useWorld, visit } from './lib/world.js';

const NOT_FOR_OTHERS = '+15550002222';

describe('passes', () => {
    const w = useWorld();
    const { client } = w;
    let who;
    before(async () => {
        who = await resident(client);
    });

    const create = (body, headers = {}) =>
        who.client.post('/v1/passes', body, { headers: { 'Idempotency-Key': idempotencyKey(), ...headers } });
    const made = async (body) => ok(await create(body), 201);
    const change = ({ id, version }, body) => who.client.patch(`/v1/passes/${id}`, body, { headers: { 'If-Match': `"${version}"` } });
    const end = async ({ id }) => ok(await who.client.delete(`/v1/passes/${id}`));
    const names = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
    /** "HH:MM" of UTC, and the name of its day. */
    const clock = (ms) => iso(ms).slice(11, 16);
    const day = (ms) => names[new Date(ms).getUTCDay()];
    /** A window of UTC around a moment, possibly over midnight. */
    const around = (from, until) => ({ days: [day(from)], start: clock(from), end: clock(until) });
    /** The message of a refusal. */
    const why = (answer) => refused(answer, 400, 'INVALID_UNLOCK');
    const ring = (digits, from = '+15550001111') => visit(client, { to: who.number, from, digits });
    const decide = async (query) => ok(await who.client.get(`/v1/buildings/${who.building.id}/decision?${new URLSearchParams(query)}`));
    const part = (told, { id }) => told.grants.find((g) => g.id === id);

    // PASS-1, PASS-2
    it('answers 201 with Location, ETag, a generated code and the calendar', async () => {
        const answer = await create({
            label: 'Cleaner', until: '2099-01-01T00:00:00Z', windows: [{ days: ['Friday', 'tuesday'], start: '09:00', end: '12:00' }],
            timezone: 'Europe/Madrid', note: 'Has a key to the cellar',
        });
        assert.match(why(answer), /^until must be at most 366 days ahead/);
        const at = await now(client);
        const key = idempotencyKey();
        const body = {
            label: 'Cleaner', until: iso(at + 20 * DAY), windows: [{ days: ['Friday', 'tuesday'], start: '09:00', end: '12:00' }],
            timezone: 'Europe/Madrid', note: 'Has a key to the cellar',
        };
        const first = await create(body, { 'Idempotency-Key': key });
        const pass = ok(first, 201);
        assert.equal(first.headers.location, `/v1/passes/${pass.id}`);
        assert.equal(first.headers.etag, '"0"');
        assert.match(pass.access_code, /^\d{4}$/);
        assert.deepEqual([pass.type, pass.label, pass.status, pass.request_id, pass.ends_at], ['passcode', 'Cleaner', 'active', key, body.until]);
        assert.deepEqual({ ...pass.pass, next_opening: undefined }, {
            from: null, until: body.until, windows: [{ days: ['tuesday', 'friday'], start: '09:00', end: '12:00' }],
            timezone: 'Europe/Madrid', note: body.note, next_opening: undefined,
        });
        assert.ok(Date.parse(pass.pass.next_opening) <= at + 5 * DAY);
        const again = await create(body, { 'Idempotency-Key': key });
        assert.equal(ok(again, 200).id, pass.id);
        assert.equal(again.headers['idempotency-replayed'], 'true');
        refused(await create({ ...body, label: 'Other' }, { 'Idempotency-Key': key }), 409, 'IDEMPOTENCY_CONFLICT');
        for (const path of [`/v1/passes/${pass.id}`, `/v1/unlock/${pass.id}`])
            assert.equal(ok(await who.client.get(path)).access_code, pass.access_code, path);
        for (const path of ['/v1/passes', '/v1/unlock', '/v1/unlock?status=active', '/v1/unlock?type=passcode', '/v1/unlock?enabled=true'])
            assert.ok(ok(await who.client.get(path)).data.some((g) => g.id === pass.id && g.pass), path);
        await end(pass);
        assert.equal(ok(await who.client.get(`/v1/passes/${pass.id}`)).status, 'revoked');
        assert.ok(!ok(await who.client.get('/v1/passes')).data.length);
        refused(await change({ ...pass, version: 1 }, { label: 'x' }), 409, 'GRANT_REVOKED');
    });

    // PASS-3
    it('opens in its window alone, start included, end excluded', async () => {
        const at = Math.ceil(await now(client) / MINUTE) * MINUTE;
        const pass = await made({ access_code: '73501', windows: [around(at + HOUR, at + 2 * HOUR)], timezone: 'UTC' });
        assert.equal(pass.pass.next_opening, iso(at + HOUR));
        for (const [ms, verdict] of [[at, 'wrong_code'], [at + HOUR - 1, 'wrong_code'], [at + HOUR, 'release'], [at + 2 * HOUR - 1, 'release'], [at + 2 * HOUR, 'wrong_code']])
            assert.equal((await decide({ at: iso(ms), digits: '73501' })).verdict, verdict, iso(ms));
        const told = await decide({ at: iso(at), digits: '73501' });
        assert.deepEqual([told.reason, told.grant_id, told.grant_label], ['outside_window', null, null]);
        assert.equal(told.next_opening, `${iso(at + HOUR).slice(0, 19)}+00:00`);
        assert.equal((await decide({ at: iso(at), digits: '73502' })).next_opening, null);
        assert.deepEqual([part(told, pass).result, part(told, pass).next_at], ['outside_window', iso(at + HOUR)]);
        assert.equal(ok(await who.client.get(`/v1/unlock/${pass.id}`)).status, 'active');
        await advance(client, Math.ceil((at + HOUR + MINUTE - await now(client)) / 1000));
        const call = await ring('73501');
        assert.deepEqual([call.outcome, call.grant_id, call.reason], ['released', pass.id, 'passcode']);
        await end(pass);
    });

    // PASS-4
    it('counts a right code outside its window as wrong only of a caller who has not opened this door before', async () => {
        const opener = await made({ access_code: '4711' });
        assert.equal((await ring('4711')).outcome, 'released');
        const at = await now(client);
        const pass = await made({ access_code: '8080', windows: [around(at + 3 * HOUR, at + 4 * HOUR)], timezone: 'UTC' });
        const entries = async () => ok(await who.client.get('/v1/logs?limit=100')).data;
        const before = (await entries()).length;
        const known = await ring('8080');
        assert.deepEqual([known.outcome, known.reason], ['forwarded', 'outside_window']);
        const steps = ok(await who.client.get(`/v1/calls/${known.call_id}`)).steps;
        assert.ok(steps.some((s) => s.step === 'not_usable' && s.detail === 'outside_window' && s.grant_id === pass.id), JSON.stringify(steps));
        const attempt = (await entries()).slice(0, (await entries()).length - before).find((e) => e.unlock_id === pass.id);
        assert.deepEqual([attempt.type, attempt.unlock_type, attempt.succeeded], ['unlock', 'passcode', false]);
        for (let i = 0; i < 6; i++) assert.equal((await ring('8080')).reason, 'outside_window');
        assert.equal((await ring('4711')).outcome, 'released');
        for (let i = 0; i < 5; i++) await ring('8080', NOT_FOR_OTHERS);
        assert.equal((await ring('4711', NOT_FOR_OTHERS)).reason, 'keypad_closed');
        await advance(client, 3600);
        await end(pass);
        await end(opener);
    });

    // PASS-10
    it('is named by the record of a call whose code is right, with its next opening, which the visitor hears if the building wants', async () => {
        const at = Math.ceil(await now(client) / DAY) * DAY - DAY; // a day in Tokyo begins at 15:00 UTC
        const opens = at + 3 * DAY + 12.5 * HOUR;
        const pass = await made({ access_code: '8181', windows: [{ days: [day(opens)], start: '21:30', end: '23:00' }], timezone: 'Asia/Tokyo' });
        const used = await grant(who, { type: 'passcode', access_code: '3579', remaining_uses: 1, label: 'Parcel' });
        assert.equal((await ring('3579')).outcome, 'released');
        const record = async (call) => ok(await who.client.get(`/v1/calls/${call.call_id}`)).steps.map(({ at_ms: _, ...step }) => step);
        const quiet = await ring('8181');
        assert.ok(!quiet.said.some((text) => text.startsWith('This code opens')), quiet.said.join());
        const steps = await record(quiet);
        const i = steps.findIndex((step) => step.step === 'not_usable' && step.grant_id === pass.id);
        assert.deepEqual(steps.slice(i, i + 2), [{ step: 'not_usable', detail: 'outside_window', grant_id: pass.id },
            { step: 'opens_next', detail: `${iso(opens).slice(0, 10)}T21:30:00+09:00`, grant_id: pass.id }]);
        const [dead, nobodys] = [await record(await ring('3579')), await record(await ring('9998'))];
        assert.deepEqual(dead.find((step) => step.step === 'not_usable'), { step: 'not_usable', detail: 'used_up', grant_id: used.id });
        assert.notDeepEqual(dead, nobodys);
        const before = await changeSettings(who, { say_opening: true });
        assert.equal(before.say_opening, true);
        const heard = await ring('8181');
        const name = `${day(opens)[0].toUpperCase()}${day(opens).slice(1)}`;
        assert.ok(heard.said.includes(`This code opens on ${name} at nine thirty in the evening.`), heard.said.join());
        assert.ok((await record(heard)).some((step) => step.step === 'said' && step.detail === 'opens'));
        for (const digits of ['3579', '9998']) assert.ok(!(await ring(digits)).said.some((text) => text.startsWith('This code opens')), digits);
        assert.equal((await changeSettings(who, { say_opening: false })).say_opening, false);
        assert.ok(!(await ring('8181')).said.some((text) => text.startsWith('This code opens')));
        await end(pass);
        ok(await who.client.delete(`/v1/unlock/${used.id}`));
        await advance(client, 3600);
    });

    // PASS-5
    it('goes over midnight, begins later and ends, in its own time zone', async () => {
        const at = await now(client);
        const night = await made({ code: false, windows: [{ days: names, start: '22:00', end: '06:00' }], timezone: 'UTC', label: 'Night nurse' });
        assert.equal(night.type, 'routine');
        assert.ok(!('start' in night) && !('access_code' in night));
        const midnight = Math.ceil((at + DAY) / DAY) * DAY;
        for (const [ms, opens] of [[midnight - 3 * HOUR, false], [midnight - 2 * HOUR, true], [midnight, true], [midnight + 6 * HOUR - 1, true], [midnight + 6 * HOUR, false]])
            assert.equal((await decide({ at: iso(ms) })).verdict === 'release', opens, iso(ms));
        await end(night);
        const later = await made({ code: false, from: iso(midnight).slice(0, 16), until: iso(midnight + DAY).slice(0, 16), timezone: 'America/New_York' });
        assert.equal(later.type, 'timer');
        assert.equal(later.status, 'scheduled');
        assert.ok([4, 5].includes((Date.parse(later.pass.from) - midnight) / HOUR));
        assert.equal(later.starts_at, later.pass.from);
        assert.ok(ok(await who.client.get('/v1/unlock?status=scheduled')).data.some((g) => g.id === later.id));
        const begin = Date.parse(later.pass.from), until = Date.parse(later.pass.until);
        assert.equal(part(await decide({}), later).result, 'not_begun');
        for (const [ms, opens] of [[begin - 1, false], [begin, true], [until - 1, true], [until, false]])
            assert.equal((await decide({ at: iso(ms) })).verdict === 'release', opens, iso(ms));
        await end(later);
    });

    // PASS-5
    it('has the time zone of its building, unless it names another', async () => {
        const { timezone } = await changeSettings(who, { timezone: 'Asia/Tokyo' });
        assert.equal(timezone, 'Asia/Tokyo');
        const begin = Math.ceil((await now(client) + DAY) / HOUR) * HOUR;
        const pass = await made({ from: iso(begin).slice(0, 19), windows: [{ days: names, start: '00:00', end: '00:00' }] });
        assert.deepEqual([pass.pass.timezone, pass.pass.from], ['Asia/Tokyo', iso(begin - 9 * HOUR)]);
        const moved = ok(await change(pass, { timezone: 'UTC', from: iso(begin).slice(0, 19) }));
        assert.deepEqual([moved.pass.timezone, moved.pass.from, moved.pass.next_opening], ['UTC', iso(begin), iso(begin)]);
        assert.equal(ok(await change(moved, { from: null, windows: null })).status, 'active');
        await end(pass);
    });

    // PASS-6
    it('has a code of four digits, or six if it opens for long, which no other grant has', async () => {
        const at = await now(client);
        const short = await made({ from: iso(at + 10 * DAY), until: iso(at + 41 * DAY) });
        assert.match(short.access_code, /^\d{4}$/);
        const long = await made({ until: iso(at + 32 * DAY) });
        assert.match(long.access_code, /^\d{6}$/);
        const forever = await made({});
        assert.match(forever.access_code, /^\d{6}$/);
        assert.equal((await ring(forever.access_code)).grant_id, forever.id);
        for (const code of ['123', '123456789', '12a4']) {
            assert.equal(why(await create({ access_code: code })), 'access_code must be four to eight digits');
        }
        assert.match(why(await create({ access_code: long.access_code })), /^access_code is already/);
        const four = await made({ access_code: '6789', until: iso(at + HOUR) });
        assert.match(why(await who.client.post('/v1/unlock', { type: 'passcode', access_code: '6789' }, { headers: { 'Idempotency-Key': idempotencyKey() } })), /^access_code is already/);
        for (const pass of [short, long, forever, four]) await end(pass);
    });

    // PASS-7
    it('gives its code back when it cannot open any more, and is not revived with a code that another has', async () => {
        const at = await now(client);
        const expired = await made({ access_code: '1212', until: iso(at + MINUTE) });
        const used = await made({ access_code: '2323', remaining_uses: 1 });
        const off = await made({ access_code: '3434' });
        assert.equal((await ring('2323')).grant_id, used.id);
        await advance(client, 61);
        const disabled = ok(await change(off, { enabled: false }));
        const statuses = async () => Promise.all([expired, used, off].map(async ({ id }) => ok(await who.client.get(`/v1/unlock/${id}`)).status));
        assert.deepEqual(await statuses(), ['expired', 'exhausted', 'inactive']);
        const successors = [];
        for (const code of ['1212', '2323', '3434']) successors.push(await grant(who, { type: 'passcode', access_code: code }));
        assert.deepEqual(await statuses(), ['expired', 'exhausted', 'inactive']);
        for (const [pass, body] of [[expired, { until: iso(at + HOUR) }], [expired, { until: null }], [used, { remaining_uses: 2 }], [disabled, { enabled: true }]]) {
            assert.match(why(await change(pass, body)), /^access_code is already/);
        }
        refused(await edit(who, disabled, { enabled: true }), 400, 'INVALID_UNLOCK');
        ok(await change(expired, { label: 'Expired' }));
        const revived = ok(await change(used, { remaining_uses: 2, access_code: '454545' }));
        assert.equal(revived.status, 'active');
        assert.equal((await ring('454545')).grant_id, used.id);
        for (const { id } of [expired, used, off, ...successors]) ok(await who.client.delete(`/v1/unlock/${id}`));
    });

    // PASS-6
    it('tells how many codes are left when they are few', async () => {
        const until = iso(await now(client) + DAY);
        assert.ok(!('codes_left' in await made({ until })));
        const insert = (from) => sql(w.daemon, `INSERT INTO pass (building_id, id, type, label, enabled, created_at, starts_at, ends_at, access_code, timezone, windows)
            VALUES ${Array.from({ length: 2000 }, (_, i) => i + from).filter((n) => n < 9990).map((n) => `('${who.building.id}', ${blob(n)}, 1, 'x', 1, 0, 0, 9223372036854775807, '${String(n).padStart(4, '0')}', 'UTC', '')`).join()}`);
        const blob = (n) => (engine === 'sqlite' ? `x'${String(n).padStart(24, '0')}'` : `'\\x${String(n).padStart(24, '0')}'`);
        for (let from = 0; from < 9990; from += 2000) insert(from);
        const passes = [];
        for (let i = 0; i < 8; i++) passes.push(await made({ until }));
        assert.ok(passes.every(({ access_code: code }) => code >= '9990'));
        assert.deepEqual(passes.map(({ codes_left: left }) => left), Array.from({ length: 8 }, (_, i) => passes[0].codes_left - i));
        assert.ok(!('codes_left' in ok(await who.client.get(`/v1/passes/${passes[0].id}`))));
        assert.ok(!('codes_left' in await grant(who, { type: 'passcode' })));
        sql(w.daemon, `DELETE FROM pass WHERE building_id = '${who.building.id}'`);
        for (const { id } of ok(await who.client.get('/v1/unlock?limit=100')).data) ok(await who.client.delete(`/v1/unlock/${id}`));
    });

    // PASS-8
    it('is switched and revoked as a grant, which cannot contradict its calendar', async () => {
        const at = await now(client);
        const pass = await made({ access_code: '565656', windows: [around(at - HOUR, at + 2 * HOUR)], timezone: 'UTC' });
        for (const body of [{ ends_at: iso(at + HOUR) }, { expires_in_minutes: 5 }, { starts_at: iso(at) }, { timezone: 'UTC' }, { days: ['monday'] }, { start: '09:00', end: '10:00' }, { end: '10:00' }, { start: '09:00' }, { access_code: '123' }]) {
            assert.match(why(await edit(who, pass, body)), /\/v1\/passes/, JSON.stringify(body));
        }
        assert.equal((await ring('565656')).outcome, 'released');
        const off = ok(await edit(who, pass, { enabled: false }));
        assert.equal(off.status, 'inactive');
        assert.notEqual((await ring('565656')).outcome, 'released');
        const on = ok(await edit(who, off, { enabled: true, remaining_uses: 1, label: 'Once' }));
        assert.deepEqual([on.status, on.remaining_uses, on.version, on.pass.until], ['active', 1, 2, null]);
        assert.equal((await ring('565656')).outcome, 'released');
        assert.ok(ok(await who.client.get('/v1/unlock?status=exhausted')).data.some((g) => g.id === pass.id));
        refused(await edit(who, pass, { enabled: true }), 409, 'VERSION_CONFLICT');
        ok(await who.client.delete(`/v1/unlock/${pass.id}`));
        assert.equal(ok(await who.client.get(`/v1/passes/${pass.id}`)).status, 'revoked');
        const open = await made({ code: false });
        assert.match(why(await edit(who, open, { access_code: '1234' })), /\/v1\/passes/);
        assert.equal(ok(await edit(who, ok(await edit(who, open, { enabled: false })), { enabled: true })).status, 'active');
        refused(await change({ ...open, version: 2 }, { access_code: '1234' }), 400, 'INVALID_UNLOCK');
        await end(open);
    });

    // PASS-9
    it('names the field and the rule that it breaks', async () => {
        const at = await now(client);
        const zoneless = await resident(client);
        const window = { days: ['monday'], start: '09:00', end: '10:00' };
        const cases = [
            [{ from: 'tomorrow' }, /^from must be a date and time/],
            [{ from: '2026-13-01T08:00', timezone: 'UTC' }, /^from must be a date and time/],
            [{ until: iso(at - MINUTE) }, /^until must be later than now/],
            [{ from: iso(at + HOUR), until: iso(at + HOUR) }, /^until must be later than from/],
            [{ from: iso(at + 367 * DAY) }, /^from must be at most 366 days ahead/],
            [{ windows: Array(15).fill(window), timezone: 'UTC' }, /^windows must/],
            [{ windows: [{ ...window, days: [] }], timezone: 'UTC' }, /days must/],
            [{ windows: [{ ...window, days: ['monday', 'Monday'] }], timezone: 'UTC' }, /days must not name a day twice/],
            [{ windows: [{ ...window, start: '9:00' }], timezone: 'UTC' }, /start must be/],
            [{ windows: [{ days: ['monday'], start: '09:00' }], timezone: 'UTC' }, /end is required/],
            [{ windows: [around(at + 3 * HOUR, at + 4 * HOUR)], until: iso(at + HOUR), timezone: 'UTC' }, /^windows must have a time/],
            [{ timezone: 'Mars/Olympus' }, /^timezone must be/],
            [{ remaining_uses: 0 }, /^remaining_uses must/],
            [{ code: false, access_code: '1234' }, /^access_code is not a field/],
            [{ code: false, enter_code_with_voice: true }, /^enter_code_with_voice needs a code/],
            [{ access_code: '12345', enter_code_with_voice: true }, /^enter_code_with_voice needs a code of four digits/],
            [{ note: 'x'.repeat(501) }, /^note must/],
            [{ type: 'timer' }, /type/],
        ];
        for (const [body, rule] of cases) {
            assert.match(why(await create(body)), rule, JSON.stringify(body));
        }
        for (const body of [{ from: iso(at + DAY).slice(0, 16) }, { windows: [window] }])
            assert.match(why(await zoneless.client.post('/v1/passes', body, { headers: { 'Idempotency-Key': idempotencyKey() } })), /^timezone is needed/);
        refused(await create({}, { 'Idempotency-Key': undefined }), 400, 'IDEMPOTENCY_KEY_REQUIRED');
        refused(await who.client.get('/v1/passes?limit=0'), 400, 'INVALID_LIMIT');
        refused(await who.client.get('/v1/passes?cursor=x'), 400, 'INVALID_CURSOR');
        const timer = await grant(who, { type: 'timer', expires_in_minutes: 5 });
        refused(await who.client.get(`/v1/passes/${timer.id}`), 404, 'NOT_FOUND');
        refused(await change(timer, { label: 'x' }), 404, 'NOT_FOUND');
        refused(await who.client.delete(`/v1/passes/${timer.id}`), 404, 'NOT_FOUND');
        refused(await who.client.delete(`/v1/passes/${UNKNOWN_ID}`), 404, 'NOT_FOUND');
        ok(await who.client.delete(`/v1/unlock/${timer.id}`));
        const pass = await made({ access_code: '787878' });
        refused(await change(pass, {}), 400, 'INVALID_UNLOCK');
        refused(await who.client.patch(`/v1/passes/${pass.id}`, { label: 'x' }), 428, 'VERSION_REQUIRED');
        refused(await change({ ...pass, version: 9 }, { label: 'x' }), 409, 'VERSION_CONFLICT');
        const reader = await agent(who, ['access:read']);
        refused(await reader.client.post('/v1/passes', {}, { headers: { 'Idempotency-Key': idempotencyKey() } }), 403, 'INSUFFICIENT_SCOPE');
        await end(pass);
    });

    // PASS-2
    it('tells a client of the contract nothing that is false', async () => {
        const at = await now(client);
        const weekly = await made({ code: false, windows: [{ days: ['friday', 'tuesday'], start: '09:00', end: '12:00' }], until: iso(at + 30 * DAY), remaining_uses: 3, timezone: 'Europe/Madrid' });
        const { pass: _, ...seen } = ok(await who.client.get(`/v1/unlock/${weekly.id}`));
        assert.deepEqual([seen.type, seen.days, seen.start, seen.end, seen.timezone, seen.remaining_uses, seen.ends_at],
            ['routine', ['tuesday', 'friday'], '09:00', '12:00', 'Europe/Madrid', 3, iso(at + 30 * DAY)]);
        const [listed] = ok(await who.client.get('/v1/unlock?type=routine')).data;
        assert.deepEqual({ ...listed, pass: undefined }, { ...seen, pass: undefined });
        const night = await made({ code: false, windows: [{ days: ['friday'], start: '22:00', end: '06:00' }], timezone: 'UTC' });
        const shown = ok(await who.client.get(`/v1/unlock/${night.id}`));
        for (const member of ['days', 'start', 'end', 'access_code', 'starts_at', 'ends_at']) assert.ok(!(member in shown), member);
        const coded = await made({ access_code: '86420', from: iso(at + DAY), until: iso(at + 2 * DAY), windows: [around(at + DAY, at + DAY + HOUR)], timezone: 'UTC' });
        assert.deepEqual([coded.type, coded.status, coded.access_code, coded.ends_at], ['passcode', 'scheduled', '86420', iso(at + 2 * DAY)]);
        for (const member of ['days', 'start', 'end']) assert.ok(!(member in coded), member);
        const off = ok(await edit(who, coded, { enabled: false }));
        assert.deepEqual([off.enabled, off.status, off.version, off.pass.from], [false, 'inactive', 1, coded.pass.from]);
        assert.deepEqual(ok(await who.client.delete(`/v1/unlock/${coded.id}`)), { id: coded.id, deleted: true, status: 'revoked' });
        const gone = ok(await who.client.get(`/v1/unlock/${coded.id}`));
        assert.deepEqual([gone.status, gone.version], ['revoked', 2]);
        await end(weekly);
        await end(night);
    });

    // PASS-2
    it('names the agent that made it, wherever it is read', async () => {
        const maker = await agent(who, ['access:read', 'access:write']);
        const body = { label: 'Cleaner', windows: [{ days: ['tuesday', 'friday'], start: '09:00', end: '12:00' }], timezone: 'America/New_York' };
        const { id, created_by: by } = ok(await maker.client.post('/v1/passes', body, { headers: { 'Idempotency-Key': idempotencyKey() } }), 201);
        assert.ok(by);
        const read = ok(await who.client.get(`/v1/passes/${id}`));
        assert.equal(read.created_by, by);
        assert.deepEqual(ok(await who.client.get('/v1/passes')).data.map((g) => g.created_by), [by]);
        assert.equal(ok(await change(read, { note: 'Comes with her sister' })).created_by, by);
        await end(read);
    });

    // PASS-2
    it('pages through passes alone, and through all grants in the order of their IDs', async () => {
        const ids = [];
        for (let i = 0; i < 3; i++) {
            ids.push((await made({ label: `pass ${i}` })).id);
            await grant(who, { type: 'passcode', label: `grant ${i}` });
        }
        const all = [];
        for (let cursor = ''; cursor !== null;) {
            const page = ok(await who.client.get(`/v1/passes?limit=2${cursor && `&cursor=${cursor}`}`));
            all.push(...page.data.map((g) => g.id));
            cursor = page.pagination.cursor;
        }
        assert.deepEqual(all, [...ids].reverse());
        for (const query of ['', '&status=active', '&enabled=true', '&type=passcode']) {
            const listed = [];
            for (let cursor = ''; cursor !== null;) {
                const page = ok(await who.client.get(`/v1/unlock?limit=2${query}${cursor && `&cursor=${cursor}`}`));
                listed.push(...page.data);
                cursor = page.pagination.cursor;
            }
            assert.deepEqual(listed.map((g) => g.label), ['grant 2', 'pass 2', 'grant 1', 'pass 1', 'grant 0', 'pass 0'], query);
        }
        assert.equal(ok(await who.client.get('/v1/account')).usage.active_routines, 6);
        for (const { id } of ok(await who.client.get('/v1/unlock')).data) ok(await who.client.delete(`/v1/unlock/${id}`));
        assert.equal(ok(await who.client.get('/v1/account')).usage.active_routines, 0);
    });
});
