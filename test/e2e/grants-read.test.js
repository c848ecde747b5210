// Reading and listing grants: contract "Access grants", grant rules 4 and 5.
import { describe, it, before } from 'node:test';
import assert from 'node:assert/strict';
import { ok, refused } from './lib/client.js';
import { advance, agent, building, edit, grant, HOUR, iso, now, signIn, UNKNOWN_ID, useWorld } from './lib/world.js';

describe('reading grants', () => {
    const w = useWorld();
    const { client } = w;
    let session;
    const made = {};
    before(async () => {
        session = await signIn(client);
        const at = await now(client);
        made.active = await grant(session, { type: 'timer', expires_in_minutes: 600, label: 'active' });
        made.scheduled = await grant(session, { type: 'timer', starts_at: iso(at + 24 * HOUR), expires_in_minutes: 60, label: 'scheduled' });
        made.expired = await grant(session, { type: 'timer', expires_in_minutes: 1, label: 'expired' });
        made.passcode = await grant(session, { type: 'passcode', label: 'passcode' });
        made.off = await grant(session, { type: 'passcode', enabled: false, label: 'off' });
        made.expiredCode = await grant(session, { type: 'passcode', expires_in_minutes: 1, label: 'expired code' });
        made.routine = await grant(session, { type: 'routine', days: ['monday'], start: '00:00', end: '00:01', timezone: 'UTC', label: 'routine' });
        made.offRoutine = await grant(session, { type: 'routine', days: ['monday'], start: '00:00', end: '00:01', timezone: 'UTC', enabled: false, label: 'off routine' });
        made.revoked = await grant(session, { type: 'passcode', label: 'revoked' });
        ok(await session.client.delete(`/v1/unlock/${made.revoked.id}`));
        await advance(client, 120);
    });

    const list = (query = '', who = session, options) => who.client.get(`/v1/unlock${query}`, options);
    const labels = async (query) => ok(await list(query)).data.map((row) => row.label);

    describe('one grant', () => {
        it('has its version as a strong ETag', async () => {
            const answer = await session.client.get(`/v1/unlock/${made.active.id}`);
            assert.equal(ok(answer).version, 0);
            assert.equal(answer.headers.etag, '"0"');
            const edited = ok(await edit(session, made.active, { label: 'active' }));
            assert.equal((await session.client.get(`/v1/unlock/${edited.id}`)).headers.etag, '"1"');
        });

        // HTTP-16
        it('is found by its id in either case', async () => {
            assert.equal(ok(await session.client.get(`/v1/unlock/${made.passcode.id.toUpperCase()}`)).id, made.passcode.id);
        });

        it('is found when revoked', async () => {
            assert.equal(ok(await session.client.get(`/v1/unlock/${made.revoked.id}`)).status, 'revoked');
        });

        it('is NOT_FOUND when unknown or of another account, INVALID_ID when malformed', async () => {
            const stranger = await signIn(client);
            refused(await session.client.get(`/v1/unlock/${UNKNOWN_ID}`), 404, 'NOT_FOUND');
            refused(await stranger.client.get(`/v1/unlock/${made.active.id}`), 404, 'NOT_FOUND');
            for (const id of ['nonsense', `${UNKNOWN_ID}0`, 'f0f0f0f0f0f0f0f0f0f0f0fz']) {
                refused(await session.client.get(`/v1/unlock/${id}`), 400, 'INVALID_ID');
            }
        });

        it('needs access:read', async () => {
            const writer = await agent(session, ['access:write']);
            refused(await writer.client.get(`/v1/unlock/${made.active.id}`), 403, 'INSUFFICIENT_SCOPE', 'access:read');
            refused(await list('', writer), 403, 'INSUFFICIENT_SCOPE', 'access:read');
        });
    });

    describe('the list', () => {
        it('is newest first, without revoked grants', async () => {
            assert.deepEqual(await labels(''),
                ['off routine', 'routine', 'expired code', 'off', 'passcode', 'expired', 'scheduled', 'active']);
        });

        it('shows each grant as it is alone', async () => {
            const { data } = ok(await list());
            for (const row of data) assert.deepEqual(row, ok(await session.client.get(`/v1/unlock/${row.id}`)));
        });

        it('filters by status', async () => {
            assert.deepEqual(await labels('?status=active'), ['routine', 'passcode', 'active']);
            assert.deepEqual(await labels('?status=scheduled'), ['scheduled']);
            assert.deepEqual(await labels('?status=inactive'), ['off routine', 'off']);
            assert.deepEqual(await labels('?status=expired'), ['expired code', 'expired']);
            assert.deepEqual(await labels('?status=exhausted'), []);
        });

        it('filters by the switch and by type, also together', async () => {
            assert.deepEqual(await labels('?enabled=false'), ['off routine', 'off']);
            assert.deepEqual(await labels('?enabled=true&type=passcode'), ['expired code', 'passcode']);
            assert.deepEqual(await labels('?type=routine'), ['off routine', 'routine']);
            assert.deepEqual(await labels('?type=timer&status=expired&enabled=true'), ['expired']);
            assert.deepEqual(await labels('?type=timer&status=inactive'), []);
        });

        it('ignores unknown parameters', async () => {
            assert.deepEqual(await labels('?type=routine&colour=red&active=true'), ['off routine', 'routine']);
        });

        it('decodes percent-escapes', async () => {
            assert.deepEqual(await labels('?%74ype=%72outine'), ['off routine', 'routine']);
        });

        const bad = [
            ['enabled=yes', 'INVALID_FILTER'], ['enabled=', 'INVALID_FILTER'], ['enabled=TRUE', 'INVALID_FILTER'], ['enabled=true&enabled=true', 'INVALID_FILTER'],
            ['status=revoked', 'INVALID_FILTER'], ['status=', 'INVALID_FILTER'], ['status=Active', 'INVALID_FILTER'], ['status=active&status=expired', 'INVALID_FILTER'],
            ['type=door', 'INVALID_TYPE'], ['type=', 'INVALID_TYPE'], ['type=timer&type=timer', 'INVALID_TYPE'],
            ['limit=0', 'INVALID_LIMIT'], ['limit=101', 'INVALID_LIMIT'], ['limit=-1', 'INVALID_LIMIT'], ['limit=', 'INVALID_LIMIT'], ['limit=abc', 'INVALID_LIMIT'],
            ['limit=5.5', 'INVALID_LIMIT'], ['limit=1e1', 'INVALID_LIMIT'], ['limit=99999999999999999999', 'INVALID_LIMIT'], ['limit=5&limit=5', 'INVALID_LIMIT'],
            ['limit=+5', 'INVALID_LIMIT'], ['cursor=', 'INVALID_CURSOR'], ['cursor=nonsense', 'INVALID_CURSOR'], ['cursor=%00', 'INVALID_CURSOR'],
            [`cursor=${UNKNOWN_ID}&cursor=${UNKNOWN_ID}`, 'INVALID_CURSOR'],
        ];
        for (const [query, code] of bad) {
            it(`refuses ?${query} as ${code}`, async () => {
                refused(await list(`?${query}`), 400, code);
            });
        }

        it('is empty for a new account', async () => {
            const stranger = await signIn(client);
            assert.deepEqual(ok(await list('', stranger)), { data: [], pagination: { cursor: null, has_more: false } });
        });

        it('names its building', async () => {
            assert.equal((await list()).headers['x-service-building-id'], (await building(session)).id);
        });
    });

    describe('pages', () => {
        let owner;
        let ids;
        before(async () => {
            owner = await signIn(client);
            ids = [];
            for (let i = 0; i < 57; i++) ids.unshift((await grant(owner, { type: i % 3 ? 'passcode' : 'timer', ...(i % 3 ? {} : { expires_in_minutes: 60 }) })).id);
        });

        const walk = async (query, onPage = () => {}) => {
            const seen = [];
            let cursor = '';
            for (;;) {
                const page = ok(await list(`?${query}${cursor && `&cursor=${cursor}`}`, owner));
                seen.push(...page.data);
                if (!page.pagination.has_more) {
                    assert.equal(page.pagination.cursor, null);
                    return seen;
                }
                cursor = page.pagination.cursor;
                await onPage(page);
            }
        };

        it('hold 50 by default', async () => {
            const page = ok(await list('', owner));
            assert.equal(page.data.length, 50);
            assert.equal(page.pagination.has_more, true);
            assert.equal(page.pagination.cursor, page.data[49].id);
        });

        it('give every grant once, in order, whatever their size', async () => {
            for (const limit of [1, 10, 19, 56, 57, 58, 100]) {
                assert.deepEqual((await walk(`limit=${limit}`)).map((row) => row.id), ids, `limit ${limit}`);
            }
        });

        it('keep to the filters', async () => {
            const timers = await walk('limit=7&type=timer&status=active');
            assert.equal(timers.length, 19);
            assert.ok(timers.every((row) => row.type === 'timer'));
        });

        // GRANT-26
        it('neither lose nor repeat a grant while others come and go', async () => {
            let first = true;
            const seen = await walk('limit=20', async (page) => {
                if (!first) return;
                first = false;
                await grant(owner, { type: 'passcode' });
                ok(await owner.client.delete(`/v1/unlock/${page.data[3].id}`));
                ok(await owner.client.delete(`/v1/unlock/${page.pagination.cursor}`));
            });
            assert.deepEqual(seen.map((row) => row.id), ids);
        });
    });
});
