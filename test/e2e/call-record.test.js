// The record of each call: decisions, section 10.
import { describe, it, before } from 'node:test';
import assert from 'node:assert/strict';
import { ok, refused } from './lib/client.js';
import { advance, agent, grant, ID, iso, now, resident, TIMESTAMP, UNKNOWN_ID, useWorld, visit } from './lib/world.js';

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
    const steps = (call) => call.steps.map((step) => step.step);

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
        assert.ok(!JSON.stringify(call.steps).includes('1357'));
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

    it('records neither the owner nor an unknown number', async () => {
        const before = ok(await list()).data.length;
        const { call_id } = await visit(client, { to: '+15559999999' });
        refused(await person.client.get(`/v1/calls/${call_id}`), 404, 'NOT_FOUND');
        assert.equal(ok(await list()).data.length, before);
    });

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
        for (const outcome of ['released', 'forwarded', 'none']) {
            assert.ok(ok(await list(`?outcome=${outcome}`)).data.every((c) => c.outcome === outcome));
        }
        assert.equal(ok(await list('?outcome=forwarded')).data[0].id, call_id);
        refused(await list(`?since=${iso(await now(client))}&until=2020-01-01T00:00:00Z`), 400, 'INVALID_DATE');
        refused(await list('?outcome=open'), 400, 'INVALID_FILTER');
        refused(await list('?limit=0'), 400, 'INVALID_LIMIT');
        refused(await list('?cursor=x'), 400, 'INVALID_CURSOR');
    });

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
});
