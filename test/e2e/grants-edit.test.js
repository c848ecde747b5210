// Editing and revoking grants: contract "Update body", grant rules 2 and 3; docs/behaviour/grants.md.
import { describe, it, before } from 'node:test';
import assert from 'node:assert/strict';
import { ok, refused } from './lib/client.js';
import { agent, DAY, edit, grant, HOUR, iso, MINUTE, now, signIn, UNKNOWN_ID, useWorld } from './lib/world.js';

describe('editing grants', () => {
    const w = useWorld();
    const { client } = w;
    let session;
    before(async () => {
        session = await signIn(client);
    });

    const patch = (id, body, ifMatch) => session.client.patch(`/v1/unlock/${id}`, body, { headers: { 'If-Match': ifMatch } });
    const timer = (more) => grant(session, { type: 'timer', expires_in_minutes: 60, ...more });
    const passcode = (more) => grant(session, { type: 'passcode', ...more });
    const routine = (more) => grant(session, { type: 'routine', days: ['monday'], start: '08:00', end: '10:00', timezone: 'UTC', ...more });

    // GRANT-20
    it('changes the fields that are sent, keeps the rest and increments the version', async () => {
        const before = await passcode({ label: 'Old', remaining_uses: 7 });
        const answer = await edit(session, before, { label: 'New' });
        const body = ok(answer);
        assert.deepEqual({ ...body, updated_at: undefined }, { ...before, label: 'New', version: 1, updated_at: undefined });
        assert.ok(Date.parse(body.updated_at) >= Date.parse(before.created_at));
        assert.equal(answer.headers.etag, '"1"');
        assert.deepEqual(ok(await session.client.get(`/v1/unlock/${before.id}`)), body);
    });

    describe('the version', () => {
        // GRANT-21
        it('is taken in the strong and the weak form', async () => {
            const { id } = await timer();
            ok(await patch(id, { label: 'a' }, '"0"'));
            ok(await patch(id, { label: 'b' }, 'W/"1"'));
        });

        // GRANT-21
        it('is required: missing or malformed If-Match is VERSION_REQUIRED', async () => {
            const { id } = await timer();
            for (const value of [undefined, '', '0', '*', '"x"', '"0", "1"', '"-1"', '""', 'W/0', 'w/"0"', '"0', '"0" ,', '"99999999999999999999"', '"00x"', '"00"', '"+0"', '"0""', '" 0"']) {
                refused(await patch(id, { label: 'a' }, value), 428, 'VERSION_REQUIRED');
            }
        });

        it('is refused when it is not the current one', async () => {
            const { id } = await timer();
            refused(await patch(id, { label: 'a' }, '"1"'), 409, 'VERSION_CONFLICT');
            ok(await patch(id, { label: 'a' }, '"0"'));
            refused(await patch(id, { label: 'b' }, '"0"'), 409, 'VERSION_CONFLICT');
        });

        it('lets one of several edits at once win, again and again', async () => {
            const { id } = await passcode();
            for (let version = 0; version < 5; version++) {
                const answers = await Promise.all(Array.from({ length: 8 }, (_, i) => patch(id, { label: `edit ${i}` }, `"${version}"`)));
                const won = answers.filter((answer) => answer.status === 200);
                assert.equal(won.length, 1);
                for (const answer of answers.filter((a) => a !== won[0])) refused(answer, 409, 'VERSION_CONFLICT');
                assert.deepEqual(ok(await session.client.get(`/v1/unlock/${id}`)), won[0].body);
            }
        });
    });

    describe('timers', () => {
        // GRANT-16
        it('end now when they are switched off, and need an end to be switched on', async () => {
            let made = await timer();
            const at = await now(client);
            made = ok(await edit(session, made, { enabled: false }));
            assert.deepEqual([made.enabled, made.status], [false, 'inactive']);
            assert.ok(Math.abs(Date.parse(made.ends_at) - at) < 30_000);
            refused(await edit(session, made, { enabled: true }), 400, 'INVALID_UNLOCK');
            made = ok(await edit(session, made, { enabled: true, expires_in_minutes: 30 }));
            assert.deepEqual([made.enabled, made.status], [true, 'active']);
            made = ok(await edit(session, ok(await edit(session, made, { enabled: false })), { enabled: true, ends_at: iso(at + 2 * HOUR) }));
            assert.equal(made.ends_at, iso(at + 2 * HOUR));
            made = ok(await edit(session, ok(await edit(session, made, { enabled: false })),
                { enabled: true, starts_at: iso(at + HOUR), expires_in_minutes: 30 }));
            assert.deepEqual([made.status, made.ends_at], ['scheduled', iso(at + HOUR + 30 * MINUTE)]);
        });

        // GRANT-16
        it('stay off when only an end is stored', async () => {
            let made = ok(await edit(session, await timer(), { enabled: false }));
            const end = iso(await now(client) + 3 * HOUR);
            made = ok(await edit(session, made, { ends_at: end }));
            assert.deepEqual([made.enabled, made.status, made.ends_at], [false, 'inactive', end]);
            refused(await edit(session, made, { enabled: true }), 400, 'INVALID_UNLOCK');
        });

        // GRANT-17
        it('move their end and their start', async () => {
            let made = await timer();
            const at = await now(client);
            made = ok(await edit(session, made, { ends_at: iso(at + 5 * HOUR) }));
            assert.equal(made.ends_at, iso(at + 5 * HOUR));
            made = ok(await edit(session, made, { starts_at: iso(at + HOUR) }));
            assert.deepEqual([made.status, made.starts_at], ['scheduled', iso(at + HOUR)]);
            refused(await edit(session, made, { starts_at: iso(at + 6 * HOUR) }), 400, 'INVALID_UNLOCK');
            refused(await edit(session, made, { ends_at: iso(at + 30 * MINUTE) }), 400, 'INVALID_UNLOCK', 'ends_at');
            made = ok(await edit(session, made, { expires_in_minutes: 15 }));
            assert.equal(made.ends_at, iso(at + HOUR + 15 * MINUTE));
        });
    });

    describe('uses', () => {
        it('are replaced, or made unlimited with null', async () => {
            for (const start of [await timer({ remaining_uses: 3 }), await passcode({ remaining_uses: 3 })]) {
                let made = ok(await edit(session, start, { remaining_uses: 100 }));
                assert.equal(made.remaining_uses, 100);
                made = ok(await edit(session, made, { remaining_uses: null }));
                assert.equal(made.remaining_uses ?? null, null);
                made = ok(await edit(session, made, { remaining_uses: 1 }));
                assert.equal(made.remaining_uses, 1);
            }
        });
    });

    describe('passcodes', () => {
        it('change code, voice and expiry', async () => {
            let made = await passcode({ expires_in_minutes: 5 });
            made = ok(await edit(session, made, { access_code: '081', enter_code_with_voice: true })); // no generated one has three digits
            assert.deepEqual([made.access_code, made.enter_code_with_voice], ['081', true]);
            made = ok(await edit(session, made, { ends_at: null }));
            assert.equal(made.ends_at ?? null, null);
            const at = await now(client);
            made = ok(await edit(session, made, { expires_in_minutes: 60 }));
            assert.ok(Math.abs(Date.parse(made.ends_at) - at - HOUR) < 30_000);
            made = ok(await edit(session, made, { ends_at: iso(at + 2 * DAY) }));
            assert.equal(made.ends_at, iso(at + 2 * DAY));
        });

        // GRANT-18
        it('keep their code when it is sent again, and refuse one that is another\'s', async () => {
            const owner = await signIn(client);
            const first = await grant(owner, { type: 'passcode', access_code: '1212' });
            const second = await grant(owner, { type: 'passcode', access_code: '3434' });
            ok(await edit(owner, first, { access_code: '1212' }));
            refused(await edit(owner, second, { access_code: '1212' }), 400, 'INVALID_UNLOCK', 'access_code');
        });

        it('switch off and on as they were', async () => {
            let made = await passcode({ remaining_uses: 5 });
            made = ok(await edit(session, made, { enabled: false }));
            assert.equal(made.status, 'inactive');
            made = ok(await edit(session, made, { enabled: true }));
            assert.deepEqual([made.status, made.remaining_uses], ['active', 5]);
        });
    });

    describe('routines', () => {
        it('change days, window and zone', async () => {
            let made = await routine();
            made = ok(await edit(session, made, { days: ['Saturday', 'sunday'] }));
            assert.deepEqual(made.days, ['sunday', 'saturday']);
            made = ok(await edit(session, made, { start: '22:00', end: '23:30', timezone: 'Asia/Tokyo' }));
            assert.deepEqual([made.start, made.end, made.timezone], ['22:00', '23:30', 'Asia/Tokyo']);
        });

        // GRANT-19
        it('need start and end together', async () => {
            const made = await routine();
            refused(await edit(session, made, { start: '09:00' }), 400, 'INVALID_UNLOCK', 'end');
            refused(await edit(session, made, { end: '11:00' }), 400, 'INVALID_UNLOCK', 'start');
            refused(await edit(session, made, { start: '11:00', end: '11:00' }), 400, 'INVALID_UNLOCK', 'end');
        });
    });

    describe('validation', () => {
        const cases = [
            ['timer', {}, ''], ['timer', { colour: 1 }, 'colour'], ['timer', { type: 'timer' }, 'type'], ['timer', { version: 1 }, 'version'],
            ['timer', { label: null }, 'label'], ['timer', { label: 'a'.repeat(121) }, 'label'], ['timer', { enabled: null }, 'enabled'],
            ['timer', { enabled: 'false' }, 'enabled'], ['timer', { remaining_uses: 0 }, 'remaining_uses'], ['timer', { remaining_uses: 101 }, 'remaining_uses'],
            ['timer', { remaining_uses: '5' }, 'remaining_uses'], ['timer', { expires_in_minutes: 0 }, 'expires_in_minutes'],
            ['timer', { expires_in_minutes: 10081 }, 'expires_in_minutes'], ['timer', { expires_in_minutes: null }, 'expires_in_minutes'],
            ['timer', { ends_at: null }, 'ends_at'], ['timer', { ends_at: '2020-01-01T00:00:00Z' }, 'ends_at'],
            ['timer', { ends_at: iso(Date.now() + HOUR), expires_in_minutes: 5 }, 'ends_at'], ['timer', { starts_at: null }, 'starts_at'],
            ['timer', { access_code: '12' }, 'access_code'], ['timer', { days: ['monday'] }, 'days'], ['timer', { enter_code_with_voice: true }, 'enter_code_with_voice'],
            ['passcode', {}, ''], ['passcode', { access_code: '1' }, 'access_code'], ['passcode', { access_code: '12345' }, 'access_code'],
            ['passcode', { access_code: null }, 'access_code'], ['passcode', { starts_at: iso(Date.now() + HOUR) }, 'starts_at'],
            ['passcode', { ends_at: iso(Date.now() + 8 * DAY) }, 'ends_at'], ['passcode', { ends_at: iso(Date.now() - HOUR) }, 'ends_at'],
            ['passcode', { timezone: 'UTC' }, 'timezone'], ['passcode', { enter_code_with_voice: null }, 'enter_code_with_voice'],
            ['routine', {}, ''], ['routine', { remaining_uses: 5 }, 'remaining_uses'], ['routine', { ends_at: iso(Date.now() + HOUR) }, 'ends_at'],
            ['routine', { expires_in_minutes: 5 }, 'expires_in_minutes'], ['routine', { days: ['monday', 'friday'] }, 'days'],
            ['routine', { timezone: 'Nowhere/Land' }, 'timezone'], ['routine', { start: '9:00', end: '10:00' }, 'start'], ['routine', { access_code: '12' }, 'access_code'],
        ];
        for (const [type, body, field] of cases) {
            it(`of a ${type} refuses ${JSON.stringify(body)}${field && `, naming ${field}`}, and changes nothing`, async () => {
                const made = await { timer, passcode, routine }[type]();
                refused(await edit(session, made, body), 400, 'INVALID_UNLOCK', field);
                assert.deepEqual(ok(await session.client.get(`/v1/unlock/${made.id}`)), made);
            });
        }

        it('keeps the order: version, JSON, field', async () => {
            refused(await patch('nonsense', { label: 'a' }, '"0"'), 400, 'INVALID_ID');
            const { id } = await timer();
            refused(await session.client.request('PATCH', `/v1/unlock/${id}`, { text: '{' }), 428, 'VERSION_REQUIRED');
            refused(await session.client.request('PATCH', `/v1/unlock/${id}`, { text: '{', headers: { 'If-Match': '"9"' } }), 400, 'INVALID_JSON');
            refused(await patch(id, { colour: 1 }, '"9"'), 400, 'INVALID_UNLOCK');
        });

        it('answers NOT_FOUND for a grant that is unknown or another account\'s', async () => {
            const stranger = await signIn(client);
            const made = await timer();
            refused(await patch(UNKNOWN_ID, { label: 'a' }, '"0"'), 404, 'NOT_FOUND');
            refused(await edit(stranger, made, { label: 'a' }), 404, 'NOT_FOUND');
        });

        it('needs access:write', async () => {
            const reader = await agent(session, ['access:read']);
            const made = await timer();
            refused(await edit(reader, made, { label: 'a' }), 403, 'INSUFFICIENT_SCOPE', 'access:write');
            refused(await reader.client.delete(`/v1/unlock/${made.id}`), 403, 'INSUFFICIENT_SCOPE', 'access:write');
        });
    });

    describe('revocation', () => {
        // GRANT-22
        it('is repeatable, final and seen at once', async () => {
            const made = await passcode();
            const gone = { id: made.id, deleted: true, status: 'revoked' };
            assert.deepEqual(ok(await session.client.delete(`/v1/unlock/${made.id}`)), gone);
            assert.deepEqual(ok(await session.client.delete(`/v1/unlock/${made.id.toUpperCase()}`)), gone);
            const body = ok(await session.client.get(`/v1/unlock/${made.id}`));
            assert.deepEqual([body.status, body.version], ['revoked', 1]);
            for (const change of [{ enabled: true }, { enabled: false }, { label: 'x' }]) refused(await edit(session, body, change), 409, 'GRANT_REVOKED');
            assert.ok(!ok(await session.client.get('/v1/unlock?limit=100')).data.some((row) => row.id === made.id));
        });

        it('answers NOT_FOUND for an unknown id, INVALID_ID for a malformed one', async () => {
            const stranger = await signIn(client);
            const made = await passcode();
            refused(await stranger.client.delete(`/v1/unlock/${made.id}`), 404, 'NOT_FOUND');
            refused(await session.client.delete(`/v1/unlock/${UNKNOWN_ID}`), 404, 'NOT_FOUND');
            refused(await session.client.delete('/v1/unlock/nonsense'), 400, 'INVALID_ID');
            assert.equal(ok(await session.client.get(`/v1/unlock/${made.id}`)).status, 'active');
        });
    });
});
