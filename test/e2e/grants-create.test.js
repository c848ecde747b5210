// Creating grants: contract "Access grant (Unlock)", "Access grants"; docs/behaviour/grants.md.
import { describe, it, before } from 'node:test';
import assert from 'node:assert/strict';
import { idempotencyKey, ok, refused } from './lib/client.js';
import { RawConnection } from './lib/raw.js';
import { advance, agent, building, DAY, edit, grant, HOUR, ID, iso, MINUTE, now, resident, signIn, TIMESTAMP, useWorld, visit } from './lib/world.js';

describe('creating grants', () => {
    const w = useWorld();
    const { client } = w;
    let session;
    let home;
    before(async () => {
        session = await signIn(client);
        home = await building(session);
    });

    const create = (body, who = session) =>
        who.client.post('/v1/unlock', body, { headers: { 'Idempotency-Key': idempotencyKey() } });
    const near = (time, ms) => assert.ok(Math.abs(Date.parse(time) - ms) < 30_000, `${time} is not about ${iso(ms)}`);

    it('answers 201 with Location, ETag of version 0 and the whole grant', async () => {
        const key = idempotencyKey();
        const answer = await session.client.post('/v1/unlock', { type: 'timer', label: 'Parcel', expires_in_minutes: 30 },
            { headers: { 'Idempotency-Key': key } });
        const body = ok(answer, 201);
        assert.match(body.id, ID);
        assert.equal(answer.headers.location, `/v1/unlock/${body.id}`);
        assert.equal(answer.headers['x-service-building-id'], home.id);
        assert.equal(answer.headers['idempotency-replayed'], undefined);
        assert.deepEqual([body.building_id, body.type, body.label, body.enabled, body.version, body.status, body.request_id],
            [home.id, 'timer', 'Parcel', true, 0, 'active', key]);
        assert.match(body.created_at, TIMESTAMP);
        near(body.ends_at, await now(client) + 30 * MINUTE);
        for (const field of ['access_code', 'enter_code_with_voice', 'days', 'start', 'end', 'timezone']) assert.ok(!(field in body), field);
        assert.deepEqual(ok(await session.client.get(`/v1/unlock/${body.id}`)), body);
    });

    // GRANT-11
    it('needs no subscription, and no number', async () => {
        assert.equal(home.provisioned, false);
        await grant(session, { type: 'routine', days: ['monday'], start: '09:00', end: '10:00', timezone: 'Europe/Berlin' });
    });

    // HTTP-15
    it('gives ids that ascend in the order of creation', async () => {
        const ids = [];
        for (let i = 0; i < 5; i++) ids.push((await grant(session, { type: 'passcode' })).id);
        assert.deepEqual(ids, [...ids].sort());
    });

    // HTTP-6
    it('begins when the whole request has arrived, however long its body took', async () => {
        const connection = await RawConnection.open(new URL(w.daemon.https).port);
        const body = JSON.stringify({ type: 'timer', expires_in_minutes: 5 });
        connection.send(`POST /v1/unlock HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${session.key}\r\nIdempotency-Key: ${idempotencyKey()}\r\n`
            + `Content-Type: application/json\r\nContent-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n`);
        assert.equal((await connection.reply(1)).status, 100);
        const before = (await advance(client, 2)).now;
        connection.send(body);
        const made = JSON.parse((await connection.reply(2)).body);
        connection.destroy();
        assert.ok(made.created_at >= before, `${made.created_at} is before ${before}`);
        assert.equal(made.starts_at, made.created_at);
    });

    describe('timers', () => {
        // GRANT-1
        it('run from now, or from starts_at if that lies ahead', async () => {
            const at = await now(client);
            const soon = await grant(session, { type: 'timer', starts_at: iso(at + HOUR), expires_in_minutes: 10 });
            assert.equal(soon.status, 'scheduled');
            assert.equal(soon.starts_at, iso(at + HOUR));
            assert.equal(soon.ends_at, iso(at + HOUR + 10 * MINUTE));
            const past = await grant(session, { type: 'timer', starts_at: iso(at - HOUR), expires_in_minutes: 10 });
            assert.equal(past.status, 'active');
            near(past.ends_at, at + 10 * MINUTE);
        });

        // GRANT-2, GRANT-3
        it('take the bounds of expires_in_minutes, ends_at, starts_at and remaining_uses', async () => {
            const at = await now(client);
            for (const minutes of [1, 10080]) near((await grant(session, { type: 'timer', expires_in_minutes: minutes })).ends_at, at + minutes * MINUTE);
            await grant(session, { type: 'timer', starts_at: iso(at + 364 * DAY), expires_in_minutes: 10080 });
            await grant(session, { type: 'timer', starts_at: iso(at + 30 * DAY), ends_at: iso(at + 37 * DAY) });
            await grant(session, { type: 'timer', ends_at: iso(at + 7 * DAY - MINUTE) });
            for (const uses of [1, 100]) assert.equal((await grant(session, { type: 'timer', expires_in_minutes: 5, remaining_uses: uses })).remaining_uses, uses);
            assert.equal((await grant(session, { type: 'timer', expires_in_minutes: 5, remaining_uses: null })).remaining_uses ?? null, null);
        });

        // HTTP-17
        it('take a date-time with any offset and give it back in UTC with milliseconds', async () => {
            const at = await now(client);
            const local = `${iso(at + 2 * HOUR).slice(0, 19)}+02:00`;
            const made = await grant(session, { type: 'timer', starts_at: '2020-02-29T23:59:59Z', ends_at: `${iso(at + 3 * HOUR).slice(0, 19)}.5-01:00` });
            assert.match(made.ends_at, TIMESTAMP);
            assert.equal(Date.parse(made.ends_at), Math.floor((at + 4 * HOUR) / 1000) * 1000 + 500);
            const bad = await create({ type: 'timer', ends_at: local });
            refused(bad, 400, 'INVALID_UNLOCK', 'ends_at');
        });

        it('can begin switched off', async () => {
            const made = await grant(session, { type: 'timer', expires_in_minutes: 5, enabled: false });
            assert.deepEqual([made.enabled, made.status], [false, 'inactive']);
        });
    });

    describe('passcodes', () => {
        // GRANT-8
        it('get a four-digit code that no other passcode of the building has', async () => {
            const other = await signIn(client);
            const made = await Promise.all(Array.from({ length: 60 }, () => grant(other, { type: 'passcode' })));
            for (const { access_code } of made) assert.match(access_code, /^[0-9]{4}$/);
            assert.equal(new Set(made.map((g) => g.access_code)).size, 60);
        });

        it('keep a custom code exactly, leading zeros too', async () => {
            const other = await signIn(client);
            for (const code of ['0', '2', '00', '11', '007', '0001', '9999']) {
                const made = await grant(other, { type: 'passcode', access_code: code, label: '' });
                assert.equal(made.access_code, code);
                assert.equal(ok(await other.client.get(`/v1/unlock/${made.id}`)).access_code, code);
            }
        });

        // GRANT-5
        it('do not expire, have unlimited uses and no voice unless asked', async () => {
            const made = await grant(session, { type: 'passcode' });
            assert.deepEqual([made.ends_at ?? null, made.remaining_uses ?? null, made.enter_code_with_voice], [null, null, false]);
            const full = await grant(session, { type: 'passcode', expires_in_minutes: 60, remaining_uses: 3, enter_code_with_voice: true });
            assert.deepEqual([full.remaining_uses, full.enter_code_with_voice], [3, true]);
            near(full.ends_at, await now(client) + HOUR);
        });

        // GRANT-2
        it('may end at most seven days ahead', async () => {
            const at = await now(client);
            await grant(session, { type: 'passcode', ends_at: iso(at + 7 * DAY - MINUTE) });
            refused(await create({ type: 'passcode', ends_at: iso(at + 7 * DAY + MINUTE) }), 400, 'INVALID_UNLOCK', 'ends_at');
            refused(await create({ type: 'passcode', ends_at: iso(at - 1000) }), 400, 'INVALID_UNLOCK', 'ends_at');
        });

        // GRANT-10
        it('take the code of a passcode that has expired or is used up, which is refused with it from then on', async () => {
            const who = await resident(client, { tone: '9' });
            const dead = await grant(who, { type: 'passcode', access_code: '2580', expires_in_minutes: 1 });
            const key = idempotencyKey();
            const body = { type: 'passcode', access_code: '7350', remaining_uses: 1 };
            const used = ok(await who.client.post('/v1/unlock', body, { headers: { 'Idempotency-Key': key } }), 201);
            refused(await create(body, who), 400, 'INVALID_UNLOCK');
            assert.equal((await visit(client, { to: who.number, digits: '7350' })).outcome, 'released');
            await advance(client, 120);
            assert.equal(ok(await who.client.post('/v1/unlock', body, { headers: { 'Idempotency-Key': key } })).id, used.id);
            for (const code of ['2580', '7350']) ok(await create({ ...body, access_code: code }, who), 201);
            for (const { id } of [dead, used]) {
                const found = ok(await who.client.get(`/v1/unlock/${id}`));
                assert.equal(found.enabled, false);
                const revived = await edit(who, found, { enabled: true, remaining_uses: 5, expires_in_minutes: 60 });
                refused(revived, 400, 'INVALID_UNLOCK', 'access_code');
            }
            assert.equal((await visit(client, { to: who.number, digits: '2580' })).outcome, 'released');
        });

        // GRANT-9
        it('refuse a code that another enabled passcode of the building has, until that one is off or revoked', async () => {
            const owner = await signIn(client);
            const first = await grant(owner, { type: 'passcode', access_code: '4242' });
            refused(await create({ type: 'passcode', access_code: '4242' }, owner), 400, 'INVALID_UNLOCK', 'access_code');
            const off = ok(await edit(owner, first, { enabled: false }));
            const second = await grant(owner, { type: 'passcode', access_code: '4242' });
            refused(await edit(owner, off, { enabled: true }), 400, 'INVALID_UNLOCK', 'access_code');
            ok(await owner.client.delete(`/v1/unlock/${second.id}`));
            ok(await edit(owner, off, { enabled: true }));
            await grant(await signIn(client), { type: 'passcode', access_code: '4242' });
        });

        it('give one of two requests at once the same custom code', async () => {
            const owner = await signIn(client);
            const answers = await Promise.all(Array.from({ length: 6 }, () => create({ type: 'passcode', access_code: '5151' }, owner)));
            assert.equal(answers.filter((answer) => answer.status === 201).length, 1);
        });
    });

    describe('routines', () => {
        const routine = { type: 'routine', days: ['monday'], start: '08:00', end: '18:30', timezone: 'America/New_York' };
        const weekdays = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday'];
        const all = ['sunday', ...weekdays, 'saturday'];

        // GRANT-23
        it('take one day, the five weekdays, the weekend or all seven, in any case and order, and give them in week order', async () => {
            for (const days of [['Sunday'], ['WEDNESDAY'], [...weekdays].reverse(), ['saturday', 'Sunday'], [...all].reverse()]) {
                const made = await grant(session, { ...routine, days });
                const lower = days.map((day) => day.toLowerCase());
                assert.deepEqual(made.days, all.filter((day) => lower.includes(day)));
                assert.deepEqual([made.start, made.end, made.timezone, made.status], ['08:00', '18:30', 'America/New_York', 'active']);
            }
        });

        it('take every IANA zone and the whole day', async () => {
            for (const timezone of ['UTC', 'Asia/Kathmandu', 'Pacific/Chatham', 'Etc/GMT+12']) {
                assert.equal((await grant(session, { ...routine, timezone, start: '00:00', end: '23:59' })).timezone, timezone);
            }
        });

        const bad = [
            ['days', { days: [] }], ['days', { days: ['monday', 'monday'] }], ['days', { days: ['monday', 'Monday'] }], ['days', { days: ['mon'] }],
            ['days', { days: ['monday', 'tuesday'] }], ['days', { days: [...weekdays, 'saturday'] }], ['days', { days: 'monday' }], ['days', { days: [1] }],
            ['days', { days: undefined }], ['days', { days: null }],
            ['start', { start: '8:00' }], ['start', { start: '24:00' }], ['start', { start: '08:60' }], ['start', { start: '08:00:00' }], ['start', { start: 800 }],
            ['start', { start: undefined }], ['end', { end: undefined }], ['end', { end: '08:00' }], ['end', { end: '07:59' }], ['end', { end: '24:00' }],
            ['timezone', { timezone: 'Berlin' }], ['timezone', { timezone: '' }], ['timezone', { timezone: '../../etc/passwd' }], ['timezone', { timezone: '+02:00' }],
            ['timezone', { timezone: undefined }], ['timezone', { timezone: 5 }], ['timezone', { timezone: 'CEST5' }],
            ['ends_at', { ends_at: '2030-01-01T00:00:00Z' }], ['remaining_uses', { remaining_uses: 5 }], ['expires_in_minutes', { expires_in_minutes: 5 }],
            ['access_code', { access_code: '1234' }],
        ];
        for (const [field, change] of bad) {
            it(`refuse ${JSON.stringify(change)}, naming ${field}`, async () => {
                refused(await create({ ...routine, ...change }), 400, 'INVALID_UNLOCK', field);
            });
        }
    });

    describe('labels', () => {
        it('default to the type when left out or empty', async () => {
            assert.equal((await grant(session, { type: 'passcode' })).label, 'passcode');
            assert.equal((await grant(session, { type: 'timer', expires_in_minutes: 5, label: '' })).label, 'timer');
        });

        // HTTP-12
        it('hold 120 characters, counted in code points', async () => {
            const label = '🚪'.repeat(120);
            assert.equal((await grant(session, { type: 'passcode', label })).label, label);
            refused(await create({ type: 'passcode', label: `${label}a` }), 400, 'INVALID_UNLOCK', 'label');
        });

        it('come back as they were sent', async () => {
            for (const label of ['"quoted" \\ back', '<b>&amp;</b>', 'ünïcödé \u{1F6AA}', 'tab\there', "'; DROP TABLE access_grant; --"]) {
                const made = await grant(session, { type: 'passcode', label });
                assert.equal(ok(await session.client.get(`/v1/unlock/${made.id}`)).label, label);
            }
        });
    });

    describe('validation', () => {
        for (const type of [undefined, null, '', 'Timer', 'door', 5, ['timer']]) {
            it(`refuses type ${JSON.stringify(type)} as INVALID_TYPE`, async () => {
                refused(await create({ type, expires_in_minutes: 5 }), 400, 'INVALID_TYPE');
            });
        }

        // GRANT-6, HTTP-2
        it('refuses a type it does not know as INVALID_TYPE, whatever else is wrong', async () => {
            for (const body of [
                {}, { colour: 'red' }, { days: ['tuesday'] }, { type: 'weekly', day: 'tuesday' },
                { type: 'weekly', label: 5 }, { type: null, expires_in_minutes: 'soon' },
            ]) refused(await create(body), 400, 'INVALID_TYPE', 'type');
        });

        const timer = { type: 'timer', expires_in_minutes: 5 };
        const passcode = { type: 'passcode' };
        const far = iso(Date.now() + 400 * DAY);
        const bad = [
            ['expires_in_minutes', { type: 'timer' }],
            ['ends_at', { ...timer, ends_at: iso(Date.now() + HOUR) }],
            ['expires_in_minutes', { ...timer, expires_in_minutes: 0 }], ['expires_in_minutes', { ...timer, expires_in_minutes: 10081 }],
            ['expires_in_minutes', { ...timer, expires_in_minutes: -5 }], ['expires_in_minutes', { ...timer, expires_in_minutes: 1.5 }],
            ['expires_in_minutes', { ...timer, expires_in_minutes: '5' }], ['expires_in_minutes', { ...timer, expires_in_minutes: null }],
            ['expires_in_minutes', { ...timer, expires_in_minutes: 9007199254740993 }],
            ['ends_at', { type: 'timer', ends_at: null }], ['ends_at', { type: 'timer', ends_at: '2030-01-01' }], ['ends_at', { type: 'timer', ends_at: '2030-01-01T00:00:00' }],
            ['ends_at', { type: 'timer', ends_at: '2030-02-30T00:00:00Z' }], ['ends_at', { type: 'timer', ends_at: 1900000000 }], ['ends_at', { type: 'timer', ends_at: 'tomorrow' }],
            ['ends_at', { type: 'timer', ends_at: '2020-01-01T00:00:00Z' }], ['ends_at', { type: 'timer', ends_at: far }],
            ['ends_at', { type: 'timer', starts_at: iso(Date.now() + 2 * HOUR), ends_at: iso(Date.now() + HOUR) }],
            ['ends_at', { type: 'timer', starts_at: iso(Date.now() + HOUR), ends_at: iso(Date.now() + HOUR + 7 * DAY + MINUTE) }],
            ['starts_at', { ...timer, starts_at: far }], ['starts_at', { ...timer, starts_at: '' }], ['starts_at', { ...timer, starts_at: '2026-13-01T00:00:00Z' }],
            ['remaining_uses', { ...timer, remaining_uses: 0 }], ['remaining_uses', { ...timer, remaining_uses: 101 }], ['remaining_uses', { ...timer, remaining_uses: -1 }],
            ['remaining_uses', { ...timer, remaining_uses: 1.5 }], ['remaining_uses', { ...timer, remaining_uses: '1' }], ['remaining_uses', { ...timer, remaining_uses: true }],
            ['enabled', { ...timer, enabled: 'true' }], ['enabled', { ...timer, enabled: null }], ['enabled', { ...timer, enabled: 1 }],
            ['label', { ...timer, label: 5 }], ['label', { ...timer, label: null }],
            ['access_code', { ...timer, access_code: '1234' }], ['enter_code_with_voice', { ...timer, enter_code_with_voice: true }],
            ['days', { ...timer, days: ['monday'] }], ['timezone', { ...timer, timezone: 'UTC' }], ['colour', { ...timer, colour: 'red' }],
            ['active', { ...timer, active: true }], ['max_uses', { ...timer, max_uses: 1 }], ['id', { ...timer, id: 'f0f0f0f0f0f0f0f0f0f0f0f0' }],
            ['version', { ...timer, version: 0 }], ['status', { ...timer, status: 'active' }], ['building_id', { ...timer, building_id: 'f0f0f0f0f0f0f0f0f0f0f0f0' }],
            ['access_code', { ...passcode, access_code: '1' }], ['access_code', { ...passcode, access_code: '' }], ['access_code', { ...passcode, access_code: '12345' }],
            ['access_code', { ...passcode, access_code: '123456' }], ['access_code', { ...passcode, access_code: '12a' }], ['access_code', { ...passcode, access_code: ' 12' }],
            ['access_code', { ...passcode, access_code: 1234 }], ['access_code', { ...passcode, access_code: null }], ['access_code', { ...passcode, access_code: '１２' }],
            ['access_code', { ...passcode, access_code: '12\n' }],
            ['enter_code_with_voice', { ...passcode, enter_code_with_voice: 'yes' }], ['enter_code_with_voice', { ...passcode, enter_code_with_voice: null }],
            ['starts_at', { ...passcode, starts_at: iso(Date.now() + HOUR) }], ['code', { ...passcode, code: '1234' }],
            ['ends_at', { ...passcode, expires_in_minutes: 5, ends_at: iso(Date.now() + HOUR) }],
            ['start', { ...passcode, start: '08:00' }],
        ];
        for (const [field, body] of bad) {
            // GRANT-4, HTTP-11
            it(`refuses ${JSON.stringify(body)}, naming ${field}`, async () => {
                refused(await create(body), 400, 'INVALID_UNLOCK', field);
            });
        }

        // HTTP-9
        it('takes a whole number however it is written, within its exact bounds', async () => {
            const send = (number) => session.client.request('POST', '/v1/unlock',
                { text: `{"type":"timer","expires_in_minutes":${number}}`, headers: { 'Idempotency-Key': idempotencyKey() } });
            const minutes = ({ starts_at: from, ends_at: to }) => (Date.parse(to) - Date.parse(from)) / MINUTE;
            for (const [text, wanted] of [['5', 5], ['5.0', 5], ['5e0', 5], ['1e1', 10], ['0.5E1', 5], ['100.00e-1', 10], ['10080.0', 10080], ['1.008e4', 10080]]) {
                assert.equal(minutes(ok(await send(text), 201)), wanted, text);
            }
            for (const text of ['5.5', '0.1e1e', '0', '-0', '-0.0', '1e-400', '10081.0', '1.0081e4', '1e18', '9007199254740993.0']) {
                refused(await send(text), 400, text === '0.1e1e' ? 'INVALID_JSON' : 'INVALID_UNLOCK');
            }
            refused(await send('1e400'), 400, 'INVALID_JSON');
        });

        it('stores nothing of a refused request', async () => {
            const other = await signIn(client);
            for (const [, body] of bad) assert.equal((await create(body, other)).status, 400);
            assert.deepEqual(ok(await other.client.get('/v1/unlock')).data, []);
        });

        it('needs access:write', async () => {
            const reader = await agent(session, ['access:read', 'account:read']);
            refused(await create({ type: 'passcode' }, reader), 403, 'INSUFFICIENT_SCOPE', 'access:write');
        });
    });
});
