// How long the service keeps what grows with use: section `retention` of the configuration.
import { describe, it, before } from 'node:test';
import assert from 'node:assert/strict';
import { idempotencyKey, ok, refused } from './lib/client.js';
import { holding } from './lib/person.js';
import { sql } from './lib/store.js';
import { REACHABLE, useReceiver } from './lib/receiver.js';
import { advance, agent, edit, eventually, grant, resident, useWorld, visit } from './lib/world.js';

const DAY_S = 86_400;

/** A resident with a key that outlives the test, and a grant that lets every visitor in. */
async function keeper(client) {
    const person = await resident(client);
    const reader = await agent(person, ['access:read', 'access:write', 'logs:read'], { expires_in_days: 90 });
    return { ...person, client: reader.client };
}
const keyed = () => ({ headers: { 'Idempotency-Key': idempotencyKey() } });
const names = async (person) => ok(await person.client.get('/v1/logs')).data.map(({ name }) => name);
const calls = async (person) => ok(await person.client.get('/v1/calls')).data.map(({ id }) => id);

describe('retention', () => {
    const w = useWorld({ config: { retention: { activity_days: 7, grants_days: 9, calls_days: 3, callers_days: 5, deliveries_days: 2 }, ...REACHABLE } });
    const receiver = useReceiver();
    const { client, daemon } = w;
    let people;
    before(async () => { people = [await keeper(client), await keeper(client)]; });

    // LOG-8, SERVICE-32
    it('deletes what is older than its days, and keeps what is younger', async () => {
        const [person] = people;
        const endpoint = ok(await person.client.post('/v1/webhooks', { url: receiver.url('/kept') }), 201);
        const deliveries = async () => ok(await person.client.get(`/v1/webhooks/${endpoint.id}/deliveries`)).data;
        const visits = async (label) => {
            for (const one of people) {
                await grant(one, { type: 'passcode', access_code: label, label });
                await visit(client, { to: one.number, digits: label, from: `+1555000${label}` });
            }
        };
        const known = () => sql(daemon, "SELECT DISTINCT number FROM door_caller ORDER BY number;").trim().split('\n');
        await visits('1111');
        await eventually(async () => { const all = await deliveries(); return all.length && all.every(({ status }) => status === 'delivered'); }, 'the delivery');
        await advance(client, 4 * DAY_S);
        await visits('2222');
        await eventually(async () => (await deliveries()).every(({ status }) => status === 'delivered'), 'the second delivery');
        for (const one of people) await eventually(async () => (await calls(one)).length === 1, 'the end of the first call');
        await eventually(async () => (await deliveries()).length === 1, 'the end of the first delivery');
        for (const one of people) assert.deepEqual(await names(one), ['2222', '1111']);

        await advance(client, 3 * DAY_S + 2 * 3600);
        for (const one of people) {
            await eventually(async () => (await names(one)).length === 1, 'the end of the first entry');
            assert.deepEqual(await names(one), ['2222']);
        }
        await eventually(() => known().length === 1, 'the end of the first caller');
        assert.deepEqual(known(), ['+15550002222']);
        assert.equal(sql(daemon, "SELECT count(*) FROM activity_kind WHERE name = '1111';").trim(), '0', 'the text of the entries is still there');
        assert.equal(sql(daemon, "SELECT count(*) FROM activity_kind WHERE name = '2222';").trim(), '2');

        await advance(client, 4 * DAY_S);
        for (const one of people) await eventually(async () => (await names(one)).length === 0, 'the end of the log');
    });

    // GRANT-39
    it('takes label and code from a grant that has ended, and keeps its receipt', async () => {
        const person = await keeper(client);
        const body = { type: 'passcode', access_code: '7391', label: 'Kim of the third floor', remaining_uses: 1 };
        const key = 'retention-kim-0001';
        const made = ok(await person.client.post('/v1/unlock', body, { headers: { 'Idempotency-Key': key } }), 201);
        await visit(client, { to: person.number, digits: '7391' });
        const pass = ok(await person.client.post('/v1/passes', { label: 'Kim of the third floor', access_code: '73917391', note: 'Kim' }, keyed()), 201);
        ok(await person.client.delete(`/v1/passes/${pass.id}`));
        await advance(client, 4 * DAY_S);
        await advance(client, 7 * DAY_S);
        const left = async () => sql(daemon, "SELECT count(*) FROM access_grant WHERE label LIKE 'Kim%' UNION ALL SELECT count(*) FROM pass WHERE label LIKE 'Kim%' OR note LIKE 'Kim%';").trim();
        await eventually(async () => await left() === '0\n0', 'the end of the labels');
        const now = ok(await person.client.get(`/v1/unlock/${made.id}`));
        assert.deepEqual([now.label, now.access_code, now.status], ['passcode', undefined, 'exhausted']);
        const again = await person.client.post('/v1/unlock', body, { headers: { 'Idempotency-Key': key } });
        assert.deepEqual([again.status, again.headers['idempotency-replayed'], again.body.id], [200, 'true', made.id]);
    });

    // GRANT-40
    it('names nobody any more after a change of the label, and after a revocation that forgets', async () => {
        const person = await keeper(client);
        const label = 'Ana of the attic', other = 'A cleaner of the attic';
        const kept = await grant(person, { type: 'passcode', access_code: '2468', label });
        const gone = await grant(person, { type: 'passcode', access_code: '8642', label: 'Bo of the attic' });
        for (const digits of ['2468', '8642', '8642']) await visit(client, { to: person.number, digits });
        ok(await edit(person, kept, { label: other }));
        await eventually(async () => (await names(person)).includes(other), 'the label in the log');
        await eventually(() => holding(daemon, [label]).length === 0, 'the end of the former label');
        refused(await person.client.delete(`/v1/unlock/${gone.id}?forget=perhaps`), 400, 'INVALID_FILTER');
        ok(await person.client.delete(`/v1/unlock/${gone.id}`));
        refused(await edit(person, { id: gone.id, version: 1 }, { label: '' }), 409, 'GRANT_REVOKED');
        assert.ok(holding(daemon, ['Bo of the attic']).length > 0);
        ok(await person.client.delete(`/v1/unlock/${gone.id}?forget=true`));
        await eventually(() => holding(daemon, ['Bo of the attic']).length === 0, 'the end of the name');
        assert.deepEqual(await names(person), ['passcode', 'passcode', other]);
        assert.equal(ok(await person.client.get('/v1/visits')).data.length, 3);
        const now = ok(await person.client.get(`/v1/unlock/${gone.id}`));
        assert.deepEqual([now.status, now.label, now.access_code], ['revoked', 'passcode', undefined]);
        const pass = ok(await person.client.post('/v1/passes', { label: 'Cy of the attic', note: 'Cy' }, keyed()), 201);
        ok(await person.client.delete(`/v1/passes/${pass.id}?forget=true`));
        assert.deepEqual(holding(daemon, ['Cy of the attic']), []);
    });

    it('reaches every building, however many entries each has', async () => {
        const [one, two] = people;
        const long = Array.from({ length: 450 }, (_, i) => `('${one.building.id}', ${1e15 + i * 1000}, '${i.toString(16).padStart(24, '0')}', 7000, NULL)`);
        sql(daemon, `INSERT INTO activity_kind (building_id, kind, type, unlock_type, name, name_folded, succeeded) VALUES ('${one.building.id}', 7000, 'call', '', 'Old', 'old', 1), ('${two.building.id}', 7000, 'call', '', 'Old', 'old', 1);
            INSERT INTO activity (building_id, created_at, id, kind, unlock_id) VALUES ${long.join(', ')}, ('${two.building.id}', 1000, '${'0'.repeat(24)}', 7000, NULL);`);
        await advance(client, 3700);
        const left = (table) => sql(daemon, `SELECT count(*) FROM ${table} WHERE building_id IN ('${one.building.id}', '${two.building.id}');`).trim();
        await eventually(() => left('activity') === '0', 'the purge of all');
        assert.equal(left('activity_kind'), '0');
    });
});

describe('retention for ever', () => {
    const w = useWorld({ config: { retention: { calls_days: 0 } } });

    // LOG-8
    it('keeps the log by default, and calls with 0', async () => {
        const person = await keeper(w.client);
        await grant(person, { type: 'passcode', access_code: '1111', label: 'First' });
        await visit(w.client, { to: person.number, digits: '1111' });
        await advance(w.client, 60 * DAY_S);
        // The purge that is due has run when a challenge of the beginning is gone.
        await eventually(() => sql(w.daemon, 'SELECT count(*) FROM challenge;').trim() === '0', 'the purge');
        assert.deepEqual(await names(person), ['First']);
        assert.equal((await calls(person)).length, 1);
    });
});
