// One entry for each time that somebody buzzed: docs/behaviour/log.md.
import { describe, it, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { idempotencyKey, ok, refused } from './lib/client.js';
import { member, verifyPhone } from './lib/household.js';
import { BOX, buzz, phonesAt, startBuzz, startPhone } from './lib/phone.js';
import { freePort } from './lib/port.js';
import { signInBrowser } from './lib/site.js';
import { Stream } from './lib/stream.js';
import { advance, agent, changeSettings, DAY, endedCall, eventually, freshEmail, grant, ID, iso, MINUTE, now, passMidnight, resident, tellsCode, useWorld, visit, world }
    from './lib/world.js';

const list = async (person, query = '') => ok(await person.client.get(`/v1/visits${query}`));
const newest = async (person) => (await list(person, '?limit=1')).data[0];
const lastReleased = async (person) => ok(await person.client.get(`/v1/buildings/${person.building.id}/setup`)).last_successful_buzz_at;
const DAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
const NOBODY = { unlock_id: null, name: null };

describe('visits', () => {
    const w = useWorld();
    const { client } = w;
    const withCode = async (more = {}) => {
        const person = await resident(client);
        return { ...person, code: await grant(person, { type: 'passcode', access_code: '1357', label: 'Postman', ...more }) };
    };
    const withPhone = async () => {
        const person = await resident(client);
        await changeSettings(person, { ring: { numbers: ['+15551110001'] } });
        return person;
    };
    /** The visit that a call of the sandbox makes. */
    const called = async (person, call = {}) => {
        const made = await visit(client, { to: person.number, ...call });
        const found = await newest(person);
        assert.equal(found.id, made.call_id);
        return found;
    };

    // VISIT-1
    it('name the grant that opened, and the log has the same call', async () => {
        const person = await withCode();
        const by = await called(person, { digits: '1357' });
        const { unlock_id: code, ...rest } = by.opened_by;
        assert.deepEqual([by.outcome, code, rest, by.reason], ['opened', person.code.id, { kind: 'code', name: 'Postman', number: null }, null]);
        assert.deepEqual([by.call_id, by.caller, by.message_seconds], [by.id, '+15550001111', null]);
        assert.ok(Date.parse(by.ended_at) >= Date.parse(by.started_at));
        const entry = ok(await person.client.get('/v1/logs')).data[0];
        assert.deepEqual([entry.call_id, entry.unlock_id], [by.id, code]);
        assert.ok(!tellsCode(await list(person), '1357'));
    });

    // VISIT-1
    it('are opened by a timer, a routine, or a phone', async () => {
        const person = await withPhone();
        const timer = await grant(person, { type: 'timer', expires_in_minutes: 5, label: 'Party' });
        const party = await called(person);
        assert.deepEqual([party.outcome, party.opened_by], ['opened', { kind: 'timer', unlock_id: timer.id, name: 'Party', number: null }]);
        const released = await lastReleased(person);
        await advance(client, 6 * 60);
        const talked = await called(person, { resident: 'opened' });
        assert.deepEqual([talked.outcome, talked.opened_by.kind, talked.opened_by.unlock_id, talked.reason.code], ['opened', 'phone', null, 'no_grant']);
        assert.equal(await lastReleased(person), released); // by a grant
        await passMidnight(client);
        const routine = await grant(person, { type: 'routine', label: 'Cleaner', days: DAYS, start: '00:00', end: '23:59', timezone: 'UTC' });
        const cleaner = await called(person);
        assert.deepEqual(cleaner.opened_by, { kind: 'routine', unlock_id: routine.id, name: 'Cleaner', number: null });
    });

    // VISIT-2
    it('tell that nobody talked to the visitor, or that somebody did and did not open', async () => {
        const person = await withPhone();
        const outcome = async (part, more) => (await called(person, { resident: part, ...more })).outcome;
        assert.deepEqual([await outcome('answered'), await outcome('no_answer'), await outcome('busy'), await outcome('declined'), await outcome('unreachable')],
            ['forwarded', 'missed', 'missed', 'missed', 'missed']);
        await changeSettings(person, { ring: { message: true } });
        const told = await called(person, { resident: 'no_answer', message_seconds: 3 });
        assert.deepEqual([told.outcome, told.message_seconds], ['message', 3]);
    });

    // VISIT-3
    it('name the grant of a code that opened nothing, and why', async () => {
        const person = await withCode({ remaining_uses: 1 });
        const off = await grant(person, { type: 'passcode', access_code: '2222', label: 'Aunt', enabled: false });
        const at = await now(client);
        const pass = async (body) => ok(await person.client.post('/v1/passes', { timezone: 'UTC', ...body }, { headers: { 'Idempotency-Key': idempotencyKey() } }), 201);
        const soon = await pass({ access_code: '3333', label: 'Plumber', from: iso(at + DAY), until: iso(at + 2 * DAY) });
        const later = await pass({ access_code: '6666', label: 'Cleaner', until: iso(at + 20 * DAY),
            windows: [{ days: [DAYS[new Date(at + 3 * DAY).getUTCDay()]], start: '09:00', end: '12:00' }] });
        const short = await grant(person, { type: 'passcode', access_code: '4444', label: 'Parcel', ends_at: iso(at + MINUTE) });
        const gone = await grant(person, { type: 'passcode', access_code: '7777', label: 'Lodger' });
        ok(await person.client.delete(`/v1/unlock/${gone.id}`));
        await grant(person, { type: 'passcode', access_code: '5555', label: 'Still' });
        assert.equal((await called(person, { digits: '1357' })).outcome, 'opened');
        await advance(client, 120);
        for (const [digits, code, made] of [['1357', 'used_up', person.code], ['2222', 'switched_off', off], ['3333', 'not_begun', soon], ['4444', 'expired', short],
            ['6666', 'outside_window', later]]) {
            const { reason, opened_by: by, outcome } = await called(person, { digits, resident: 'no_answer' });
            assert.deepEqual([reason, by, outcome], [{ code, unlock_id: made.id, name: made.label }, null, 'missed']);
        }
        assert.deepEqual((await called(person, { digits: '7777', from: '+15552220000' })).reason, { code: 'revoked', unlock_id: gone.id, name: 'Lodger' });
        assert.deepEqual((await called(person, { digits: '9999', from: '+15552220000' })).reason, { code: 'wrong_code', ...NOBODY });
        assert.deepEqual((await called(person)).reason, { code: 'no_code', ...NOBODY });
        for (const code of ['1357', '2222', '3333', '4444', '6666', '7777', '9999']) assert.ok(!tellsCode(await list(person), code));
        assert.deepEqual((await list(person, `?unlock_id=${off.id}`)).data.map(({ reason }) => reason.code), ['switched_off']);
    });

    // VISIT-4
    it('are found by their outcome, their reason, their time and a part of a name', async () => {
        const person = await withCode();
        const open = await called(person, { digits: '1357' });
        await advance(client, 60);
        const missed = await called(person, { resident: 'no_answer', from: '+15557776666' });
        const ids = async (query) => (await list(person, query)).data.map(({ id }) => id);
        assert.deepEqual(await ids(''), [missed.id, open.id]);
        assert.deepEqual(await ids('?outcome=opened'), [open.id]);
        assert.deepEqual(await ids('?outcome=missed'), [missed.id]);
        assert.deepEqual(await ids('?reason=no_code'), [missed.id]);
        assert.deepEqual(await ids(`?since=${missed.started_at}`), [missed.id]);
        assert.deepEqual(await ids(`?until=${open.started_at}`), [open.id]);
        assert.deepEqual(await ids('?q=pOSTm'), [open.id]);
        assert.deepEqual(await ids('?q=7776666'), [missed.id]);
        assert.deepEqual(await ids('?q=nobody+here'), []);
        refused(await person.client.get('/v1/visits?outcome=nobody'), 400, 'INVALID_FILTER');
        refused(await person.client.get('/v1/visits?limit=101'), 400, 'INVALID_LIMIT');
        refused(await person.client.get('/v1/visits?cursor=x'), 400, 'INVALID_CURSOR');
        refused(await person.client.get('/v1/visits?unlock_id=x'), 400, 'INVALID_ID');
        refused(await person.client.get(`/v1/visits?since=${missed.started_at}&until=${open.started_at}`), 400, 'INVALID_DATE');
    });

    // VISIT-4
    it('are found by the phone that opened', async () => {
        const person = await withPhone();
        const found = async (opener) => (await list(person, `?opened_by=${encodeURIComponent(opener)}`)).data.map(({ id }) => id);
        const first = await called(person, { resident: 'opened' });
        await changeSettings(person, { ring: { numbers: ['+15551110002'] } });
        await advance(client, 60);
        const second = await called(person, { resident: 'opened' });
        await called(person, { resident: 'no_answer' });
        assert.deepEqual([await found(first.opened_by.number), await found(second.opened_by.number), await found('...0003')], [[first.id], [second.id], []]);
        for (const opener of ['', ' ', 'x'.repeat(121)]) refused(await person.client.get(`/v1/visits?opened_by=${encodeURIComponent(opener)}`), 400, 'INVALID_FILTER');
    });

    // VISIT-1
    it('are refused at a door that only listed callers may use, and have the building\'s time zone', async () => {
        const person = await withCode();
        await changeSettings(person, { timezone: 'Asia/Tokyo', callers: { mode: 'listed', numbers: ['+15550009999'], others: 'reject' } });
        const other = await called(person, { digits: '1357' });
        assert.deepEqual([other.outcome, other.opened_by, other.reason], ['refused', null, { code: 'not_listed', ...NOBODY }]);
        assert.ok(other.ended_at);
        const { timezone, data } = await list(person, '?outcome=refused');
        assert.deepEqual([timezone, data.map(({ id }) => id)], ['Asia/Tokyo', [other.id]]);
    });

    // VISIT-4
    it('come a page at a time, and to no other account', async () => {
        const person = await withCode();
        const made = [];
        for (let i = 0; i < 5; i++) made.unshift((await called(person, { digits: i % 2 ? '1357' : '9999' })).id);
        const first = await list(person, '?limit=3');
        const second = await list(person, `?limit=3&cursor=${first.pagination.cursor}`);
        assert.deepEqual([...first.data, ...second.data].map(({ id }) => id), made);
        assert.deepEqual([first.pagination.has_more, second.pagination.has_more], [true, false]);
        const opened = await list(person, '?limit=1&outcome=opened');
        const then = await list(person, `?limit=1&outcome=opened&cursor=${opened.pagination.cursor}`);
        assert.deepEqual([opened.data[0].id, then.data[0].id, then.pagination.has_more], [made[1], made[3], false]);
        refused(await (await agent(person, ['access:read'])).client.get('/v1/visits'), 403, 'INSUFFICIENT_SCOPE');
        assert.equal((await list(await agent(person, ['logs:read']))).data.length, 5);
        assert.deepEqual((await list(await resident(client))).data, []);
    });
});

describe('visits over SIP', { concurrency: 4 }, () => {
    let port;
    let w;
    before(async () => {
        port = await freePort();
        w = await world({ config: phonesAt(port) });
    });
    after(() => w?.close());
    const withCode = async () => {
        const person = await resident(w.client);
        return { ...person, code: await grant(person, { type: 'passcode', access_code: '1234', label: 'Postman' }) };
    };

    // VISIT-1
    it('a wrong code and then the right one are one visit, which opened', async () => {
        const person = await withCode();
        await buzz(w.daemon, person.number, '--digits', '9999', '--digits', '1234');
        await endedCall(person);
        const { data } = await list(person);
        assert.deepEqual(data.map(({ outcome, opened_by: by, reason }) => [outcome, by?.name, reason]), [['opened', 'Postman', null]]);
        assert.deepEqual(new Set(ok(await person.client.get('/v1/logs')).data.map((entry) => entry.call_id)), new Set([data[0].id]));
    });

    // VISIT-1
    it('two at once never share a record', async () => {
        const person = await withCode();
        const quiet = startBuzz(w.daemon, person.number, '--from', '+15550000002', '--timeout', '7');
        const wrong = startBuzz(w.daemon, person.number, '--from', '+15550000001', '--digits', '9999', '--timeout', '6');
        await Promise.all([quiet.ended, wrong.ended]);
        const data = await eventually(async () => {
            const found = (await list(person)).data;
            return found.length === 2 && found.every((one) => one.ended_at) && found;
        }, 'two visits');
        const of = (from) => data.find(({ caller }) => caller === from);
        assert.equal(of('+15550000001').reason.code, 'wrong_code');
        assert.equal(of('+15550000002').reason.code, 'no_code');
        for (const entry of ok(await person.client.get('/v1/logs')).data.filter(({ succeeded }) => !succeeded)) {
            assert.equal(entry.call_id, of('+15550000001').id);
        }
    });

    // VISIT-2
    it('end with the visitor who hangs up before anything else', async () => {
        const person = await withCode();
        await buzz(w.daemon, person.number, '--timeout', '3');
        const { id } = await endedCall(person);
        const found = await newest(person);
        assert.deepEqual([found.id, found.outcome, found.caller, found.reason], [id, 'ended_by_visitor', BOX, { code: 'no_code', ...NOBODY }]);
        assert.match(found.id, ID);
    });
});

describe('visits in which a resident opens', () => {
    let port;
    let w;
    before(async () => {
        port = await freePort();
        w = await world({ config: phonesAt(port) });
    });
    after(() => w?.close());

    /** A visitor whose call rings a phone. `act` gets the call's ID. */
    async function ringing(options, act) {
        const person = await resident(w.client);
        await changeSettings(person, { ring: { numbers: ['+15550001234'], accept: false } });
        const phone = await startPhone('--listen', `127.0.0.1:${port}`, ...options);
        const stream = await Stream.open(person.client, person.building.id);
        const visitor = startBuzz(w.daemon, person.number);
        const { data } = await stream.type('call.ringing');
        assert.equal((await newest(person)).outcome, 'in_progress');
        await act(person, data.call_id);
        await stream.type('call.opened');
        const during = await newest(person);
        await Promise.all([phone.ended, visitor.ended, stream.type('call.ended')]);
        stream.cut();
        const after = await newest(person);
        assert.deepEqual([during.outcome, during.opened_by, after.outcome, after.id], ['opened', after.opened_by, 'opened', data.call_id]);
        assert.equal(await lastReleased(person), null);
        const { name, number } = after.opened_by;
        assert.deepEqual((await list(person, `?opened_by=${encodeURIComponent(number ?? name)}`)).data.map(({ id }) => id), [data.call_id]);
        return after.opened_by;
    }

    // VISIT-1
    it('name the phone', async () => {
        assert.deepEqual(await ringing(['--answer', '100', '--digits', ',,9', '--wait', '3000', '--hangup', '500'], async () => {}),
            { kind: 'phone', unlock_id: null, name: null, number: '...1234' });
    });

    it('tell that it was done in the browser', async () => {
        assert.deepEqual(await ringing(['--answer', '60000'], async (person, call) => ok(await person.client.post(`/v1/calls/${call}/open`))),
            { kind: 'browser', unlock_id: null, name: 'Website session', number: null });
    });

    // VISIT-1
    it('name the member who opened in the browser, and so does the record when the browser is elsewhere', async () => {
        let person, site;
        const by = await ringing(['--answer', '60000'], async (owner, call) => {
            const { site: theirs } = await signInBrowser(w.client, { email: owner.email });
            [person, { site }] = [owner, await member(w.client, theirs, owner.building)];
            ok(await site.post(`/v1/calls/${call}/open`));
        });
        assert.deepEqual(by, { kind: 'browser', unlock_id: null, name: 'Ana', number: null });
        const { id } = await newest(person);
        const named = async () => ok(await person.client.get(`/v1/calls/${id}`)).steps.find(({ step }) => step === 'resident_opened').key_name;
        assert.equal(await named(), 'Ana');
        ok(await site.post('/v1/places'));
        assert.equal(await named(), 'Ana');
    });

    // ACCOUNT-45
    it('name the member whose phone opened, which rings no more after the removal', async () => {
        const owner = await resident(w.client);
        const { site: theirs } = await signInBrowser(w.client, { email: owner.email });
        const { id, site } = await member(w.client, theirs, owner.building);
        await verifyPhone(w.client, site, '+15550000188');
        const phone = await startPhone('--listen', `127.0.0.1:${port}`, '--answer', '100', '--digits', ',,9', '--wait', '3000', '--hangup', '500');
        await Promise.all([phone.ended, startBuzz(w.daemon, owner.number).ended]);
        const { id: call } = await endedCall(owner);
        assert.deepEqual((await newest(owner)).opened_by, { kind: 'phone', unlock_id: null, name: 'Ana', number: '...0188' });
        for (const who of ['Ana', '...0188']) assert.deepEqual((await list(owner, `?opened_by=${who}`)).data.map((one) => one.id), [call]);
        ok(await theirs.delete(`/v1/buildings/${owner.building.id}/people/${id}`));
        await buzz(w.daemon, owner.number);
        const { steps } = await eventually(async () => {
            const ended = await endedCall(owner);
            return ended.id !== call && ended;
        }, 'the second record');
        assert.ok(!steps.some(({ step }) => step === 'ringing'));
    });

    it('name the program\'s key', async () => {
        const by = await ringing(['--answer', '60000'], async (person, call) => {
            const { client } = await agent(person, ['access:write'], { name: 'Lamp' });
            ok(await client.post(`/v1/calls/${call}/open`));
        });
        assert.deepEqual(by, { kind: 'program', unlock_id: null, name: 'Lamp', number: null });
    });
});
