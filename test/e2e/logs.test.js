// The activity log: contract "Activity log entry", "Activity logs"; docs/behaviour/log.md.
import { describe, it, before } from 'node:test';
import assert from 'node:assert/strict';
import { ok, refused } from './lib/client.js';
import { advance, agent, grant, ID, iso, now, resident, signIn, TIMESTAMP, UNKNOWN_ID, useWorld, visit } from './lib/world.js';

describe('activity log', () => {
    const w = useWorld();
    const { client } = w;
    let person;
    const grants = {};
    before(async () => {
        person = await resident(client);
        grants.ecole = await grant(person, { type: 'passcode', access_code: '1357', label: 'École 100% Ünder_score' });
        grants.other = await grant(person, { type: 'passcode', access_code: '2468', label: 'Parcel \\ box' });
        for (const digits of ['1357', '2468', '9999', '1357', undefined]) {
            await visit(client, { to: person.number, digits });
            await advance(client, 60);
        }
    });

    const list = (query = '', who = person) => who.client.get(`/v1/logs${query}`);
    // Within one moment the higher ID, made later, comes first. A wrong code and the next entry may share a millisecond: names
    // are compared in an order that does not depend on it.
    const newestFirst = (within) => (a, b) => (a.created_at === b.created_at ? within(a, b) : (a.created_at < b.created_at ? 1 : -1));
    const byId = newestFirst((a, b) => (a.id < b.id ? 1 : -1));
    const byName = newestFirst((a, b) => a.name.localeCompare(b.name));
    const namesOf = (entries) => [...entries].sort(byName).map((entry) => entry.name);
    const names = async (query) => namesOf(ok(await list(query)).data);
    const E = 'École 100% Ünder_score';
    const P = 'Parcel \\ box';
    // A wrong code asks again, and silence forwards: one visit with a wrong code leaves two entries.
    const ALL = ['Forwarded call', E, 'Forwarded call', 'Wrong passcode', P, E];

    it('is newest first and names the building', async () => {
        const body = ok(await list());
        assert.equal(body.building_id, person.building.id);
        assert.deepEqual(namesOf(body.data), ALL);
        assert.deepEqual(body.pagination, { cursor: null, has_more: false });
        assert.equal((await list()).headers['x-service-building-id'], person.building.id);
        assert.deepEqual(body.data, [...body.data].sort(byId));
    });

    it('tells of an opened door: the grant, its type and label', async () => {
        const entry = ok(await list()).data[5];
        assert.match(entry.id, ID);
        assert.match(entry.created_at, TIMESTAMP);
        assert.deepEqual([entry.building_id, entry.type, entry.unlock_id, entry.unlock_type, entry.name, entry.succeeded],
            [person.building.id, 'unlock', grants.ecole.id, 'passcode', E, true]);
    });

    // LOG-5, LOG-6
    it('tells of a wrong code without a grant, and of a forwarded call', async () => {
        const { data } = ok(await list());
        const wrong = data.find((entry) => entry.name === 'Wrong passcode');
        assert.deepEqual([wrong.type, wrong.unlock_type, wrong.succeeded, 'unlock_id' in wrong], ['unlock', 'passcode', false, false]);
        const call = data[0];
        assert.deepEqual([call.type, 'unlock_id' in call, 'unlock_type' in call], ['call', false, false]);
    });

    it('never shows a code', async () => {
        const { text } = await list();
        for (const code of ['1357', '2468', '9999']) assert.ok(!text.includes(`"${code}"`));
    });

    // LOG-5
    it('filters by type, success and grant', async () => {
        assert.deepEqual(await names('?type=call'), ['Forwarded call', 'Forwarded call']);
        assert.deepEqual(await names('?type=unlock'), [E, 'Wrong passcode', P, E]);
        assert.deepEqual(await names('?type=unlock&succeeded=false'), ['Wrong passcode']);
        assert.deepEqual(await names('?type=unlock&succeeded=true'), [E, P, E]);
        assert.deepEqual(await names(`?unlock_id=${grants.ecole.id}`), [E, E]);
        assert.deepEqual(await names(`?unlock_id=${grants.other.id.toUpperCase()}`), [P]);
        assert.deepEqual(await names(`?unlock_id=${UNKNOWN_ID}`), []);
        assert.deepEqual(await names(`?unlock_id=${grants.ecole.id}&succeeded=true`), [E, E]);
        assert.deepEqual(await names(`?unlock_id=${grants.ecole.id}&succeeded=false`), []);
    });

    it('keeps entries of a revoked grant', async () => {
        const gone = await grant(person, { type: 'timer', expires_in_minutes: 1, label: 'Gone' });
        await visit(client, { to: person.number });
        ok(await person.client.delete(`/v1/unlock/${gone.id}`));
        assert.deepEqual(await names(`?unlock_id=${gone.id}`), ['Gone']);
        ALL.unshift('Gone');
    });

    // LOG-4
    it('searches names literally and without regard to case, also beyond ASCII', async () => {
        const q = (text) => names(`?q=${encodeURIComponent(text)}`);
        assert.deepEqual(await q('éCOLE'), [E, E]);
        assert.deepEqual(await q('ÜNDER_'), [E, E]);
        assert.deepEqual(await q('  parcel  '), [P]);
        assert.deepEqual(await q('100%'), [E, E]);
        assert.deepEqual(await q('%'), [E, E]);
        assert.deepEqual(await q('r_s'), [E, E]);
        assert.deepEqual(await q('r%s'), []);
        assert.deepEqual(await q('_arcel'), []);
        assert.deepEqual(await q('\\'), [P]);
        assert.deepEqual(await q('code'), ['Wrong passcode']);
        assert.deepEqual(await q("'"), []);
        assert.deepEqual(await q('x'.repeat(100)), []);
        assert.deepEqual(await q('🚪'.repeat(100)), []);
        assert.deepEqual(await names('?q=parcel+box'), []);
        assert.deepEqual(await names('?q=Wrong+passcode'), ['Wrong passcode']);
    });

    // HTTP-18
    it('takes since and until inclusively, with any offset', async () => {
        const { data } = ok(await list());
        const [first, last] = [data.at(-1), data.at(-2)];
        const between = async (since, until) =>
            ok(await list(`?since=${encodeURIComponent(since)}&until=${encodeURIComponent(until)}`)).data.map((entry) => entry.id);
        assert.deepEqual(await between(first.created_at, last.created_at), [last.id, first.id]);
        assert.deepEqual(await between(first.created_at, first.created_at), [first.id]);
        const zoned = iso(Date.parse(first.created_at) + 2 * 3_600_000).replace('Z', '+02:00');
        assert.deepEqual(await between(zoned, zoned), [first.id]);
        assert.deepEqual(ok(await list(`?since=${iso(await now(client) + 1000)}`)).data, []);
        assert.deepEqual(ok(await list(`?until=${iso(Date.parse(first.created_at) - 1)}`)).data, []);
        assert.equal((await between('0001-01-01T00:00:00Z', '9999-12-31T23:59:59-05:00')).length, data.length);
        assert.deepEqual(ok(await list('?until=1969-07-20T20:17:40Z')).data, []);
    });

    const bad = [
        ['limit=0', 'INVALID_LIMIT'], ['limit=101', 'INVALID_LIMIT'], ['limit=x', 'INVALID_LIMIT'], ['limit=', 'INVALID_LIMIT'], ['limit=1&limit=1', 'INVALID_LIMIT'],
        ['since=2026-01-01', 'INVALID_DATE'], ['since=2026-01-01T00:00:00', 'INVALID_DATE'], ['since=', 'INVALID_DATE'], ['until=yesterday', 'INVALID_DATE'],
        ['until=2026-02-30T00:00:00Z', 'INVALID_DATE'], ['since=1700000000', 'INVALID_DATE'], ['since=2026-01-01T00:00:00Z&since=2026-01-01T00:00:00Z', 'INVALID_DATE'],
        ['since=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z', 'INVALID_DATE'], ['since=2026-01-01T00:00:00+02:00', 'INVALID_DATE'],
        ['type=door', 'INVALID_TYPE'], ['type=', 'INVALID_TYPE'], ['type=call&type=call', 'INVALID_TYPE'],
        ['unlock_id=nonsense', 'INVALID_ID'], ['unlock_id=', 'INVALID_ID'],
        ['q=', 'INVALID_QUERY'], ['q=%20%20', 'INVALID_QUERY'], [`q=${'x'.repeat(101)}`, 'INVALID_QUERY'], ['q=a&q=b', 'INVALID_QUERY'], ['q=%ff', 'INVALID_QUERY'],
        ['succeeded=yes', 'INVALID_SUCCEEDED'], ['succeeded=', 'INVALID_SUCCEEDED'], ['succeeded=true&succeeded=true', 'INVALID_SUCCEEDED'],
        ['cursor=', 'INVALID_CURSOR'], ['cursor=nonsense', 'INVALID_CURSOR'], [`cursor=${UNKNOWN_ID}`, 'INVALID_CURSOR'],
    ];
    for (const [query, code] of bad) {
        // LOG-3
        it(`refuses ?${query.slice(0, 60)} as ${code}`, async () => {
            refused(await list(`?${query}`), 400, code);
        });
    }

    // LOG-3
    it('says how to send the plus sign of an offset', async () => {
        for (const query of ['since=2026-01-01T00:00:00+02:00', 'until=2026-01-01T00:00:00.5+00:00', 'since=2026-01-01T00:00:00%2002:00']) {
            refused(await list(`?${query}`), 400, 'INVALID_DATE', '%2B');
        }
        for (const query of ['since=2026-01-01', 'since=2026-01-01T00:00:00%2B99:00', 'since=+', 'until=a+b', 'since=2026-13-01T00:00:00+02:00']) {
            assert.ok(!refused(await list(`?${query}`), 400, 'INVALID_DATE').includes('%2B'), query);
        }
        ok(await list('?since=2026-01-01T00:00:00%2B02:00'));
    });

    // HTTP-14
    it('ignores unknown parameters', async () => {
        assert.deepEqual(await names('?colour=red'), ALL);
    });

    it('pages through every entry once, with unchanged filters', async () => {
        for (const [limit, filter] of [[1, ''], [2, ''], [4, ''], [1, '&type=unlock'], [2, '&q=e&succeeded=true']]) {
            const whole = ok(await list(`?limit=100${filter}`)).data;
            const seen = [];
            let cursor = '';
            do {
                const page = ok(await list(`?limit=${limit}${filter}${cursor && `&cursor=${cursor}`}`));
                seen.push(...page.data);
                assert.equal(page.pagination.has_more, page.pagination.cursor !== null);
                if (page.pagination.cursor) assert.match(page.pagination.cursor, /^[A-Za-z0-9_-]+$/);
                cursor = page.pagination.cursor;
            } while (cursor);
            assert.deepEqual(seen, whole, `limit ${limit} ${filter}`);
        }
    });

    it('refuses a cursor that was altered in any character, cut or lengthened', async () => {
        const { pagination: { cursor } } = ok(await list('?limit=2'));
        const altered = [cursor.slice(0, -1), `${cursor}A`, `${cursor}=`, cursor.slice(4), cursor + cursor];
        for (let i = 0; i < cursor.length; i += 3) altered.push(cursor.slice(0, i) + (cursor[i] === 'A' ? 'B' : 'A') + cursor.slice(i + 1));
        for (const value of altered) refused(await list(`?limit=2&cursor=${value}`), 400, 'INVALID_CURSOR');
        ok(await list(`?limit=2&cursor=${cursor}`));
        ok(await list(`?limit=3&cursor=${cursor}`));
    });

    // LOG-2
    it('refuses a cursor with other filters, or of another account', async () => {
        const { pagination: { cursor } } = ok(await list('?limit=1&type=unlock'));
        for (const query of ['', '&type=call', '&type=unlock&succeeded=true', '&type=unlock&q=a', '&type=unlock&since=2020-01-01T00:00:00Z', `&type=unlock&unlock_id=${grants.ecole.id}`]) {
            refused(await list(`?limit=1${query}&cursor=${cursor}`), 400, 'INVALID_CURSOR');
        }
        const stranger = await signIn(client);
        refused(await list(`?limit=1&type=unlock&cursor=${cursor}`, stranger), 400, 'INVALID_CURSOR');
        ok(await list(`?limit=1&type=unlock&cursor=${cursor}`));
    });

    it('is private and needs logs:read', async () => {
        assert.deepEqual(ok(await list('', await signIn(client))).data, []);
        refused(await list('', await agent(person, ['access:read'])), 403, 'INSUFFICIENT_SCOPE', 'logs:read');
    });

    // LOG-1
    it('keeps entries of the same moment apart across pages', async () => {
        const busy = await resident(client);
        await grant(busy, { type: 'timer', expires_in_minutes: 60 });
        await Promise.all(Array.from({ length: 30 }, () => visit(client, { to: busy.number })));
        const whole = ok(await list('?limit=100', busy)).data;
        assert.equal(whole.length, 30);
        const seen = [];
        let cursor = '';
        do {
            const page = ok(await list(`?limit=7${cursor && `&cursor=${cursor}`}`, busy));
            seen.push(...page.data);
            cursor = page.pagination.cursor;
        } while (cursor);
        assert.deepEqual(seen, whole);
        assert.deepEqual(whole, [...whole].sort(byId));
    });
});
