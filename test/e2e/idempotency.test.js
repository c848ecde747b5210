// Idempotency-Key on POST /v1/unlock: contract "Conventions"; docs/behaviour/grants.md.
import { describe, it, before } from 'node:test';
import assert from 'node:assert/strict';
import { idempotencyKey, ok, refused } from './lib/client.js';
import { edit, provisioned, signIn, useWorld, visit } from './lib/world.js';

describe('idempotency', () => {
    const w = useWorld();
    const { client } = w;
    let session;
    before(async () => {
        session = await signIn(client);
    });

    const send = (key, body, who = session) => who.client.request('POST', '/v1/unlock',
        { text: typeof body === 'string' ? body : JSON.stringify(body), headers: { 'Idempotency-Key': key } });
    const count = async (who = session) => ok(await who.client.get('/v1/unlock?limit=100')).data.length;
    const replayed = (answer) => {
        const body = ok(answer, 200);
        assert.equal(answer.headers['idempotency-replayed'], 'true');
        return body;
    };

    it('replays the same body with 200 and the header, and creates nothing', async () => {
        const owner = await signIn(client);
        const key = idempotencyKey();
        const made = ok(await send(key, { type: 'passcode', label: 'Once' }, owner), 201);
        for (let i = 0; i < 3; i++) assert.deepEqual(replayed(await send(key, { type: 'passcode', label: 'Once' }, owner)), made);
        assert.equal(await count(owner), 1);
    });

    // GRANT-13
    it('compares bodies as JSON: order, white space, escapes and number forms do not matter', async () => {
        const key = idempotencyKey();
        const made = ok(await send(key, '{"type":"timer","label":"a b","expires_in_minutes":60}'), 201);
        for (const text of [
            ' {\n"expires_in_minutes" : 60 ,"label":"a b", "type":"timer"}\n',
            '{"label":"a\\u0020b","type":"t\\u0069mer","expires_in_minutes":60}',
            '{"type":"timer","label":"a b","expires_in_minutes":6.0e1}',
        ]) assert.equal(replayed(await send(key, text)).id, made.id);
    });

    it('refuses another body under the same key', async () => {
        const key = idempotencyKey();
        ok(await send(key, { type: 'timer', expires_in_minutes: 60 }), 201);
        for (const body of [
            { type: 'timer', expires_in_minutes: 61 }, { type: 'timer', expires_in_minutes: 60, label: 'x' },
            { type: 'timer', expires_in_minutes: 60, enabled: true }, { type: 'passcode' },
        ]) refused(await send(key, body), 409, 'IDEMPOTENCY_CONFLICT');
    });

    // HTTP-2, HTTP-32
    it('refuses another body under the same key, valid or not, unless it is no JSON object', async () => {
        const key = idempotencyKey();
        ok(await send(key, { type: 'timer', expires_in_minutes: 60 }), 201);
        for (const [body, own] of [
            [{}, 'INVALID_TYPE'], [{ type: 'weekly', expires_in_minutes: 60 }, 'INVALID_TYPE'], [{ type: 5 }, 'INVALID_TYPE'],
            [{ type: 'timer' }, 'INVALID_UNLOCK'], [{ type: 'timer', expires_in_minutes: 0 }, 'INVALID_UNLOCK'],
            [{ type: 'timer', expires_in_minutes: 60, colour: 'red' }, 'INVALID_UNLOCK'],
            [{ type: 'timer', expires_in_minutes: 60, days: ['monday'] }, 'INVALID_UNLOCK'],
        ]) {
            refused(await send(idempotencyKey(), body), 400, own);
            refused(await send(key, body), 409, 'IDEMPOTENCY_CONFLICT');
        }
        for (const text of ['{', '[]', '"timer"', 'null', '']) refused(await send(key, text), 400, 'INVALID_JSON');
    });

    it('replays the current state: edited, used, revoked', async () => {
        const owner = await signIn(client);
        const home = await provisioned(owner);
        const path = `/v1/buildings/${home.id}/settings`;
        ok(await owner.client.patch(path, { unlock_tone: '9' }, { headers: { 'If-Match': (await owner.client.get(path)).headers.etag } }));
        const key = idempotencyKey();
        const body = { type: 'passcode', access_code: '2468', remaining_uses: 5 };
        const made = ok(await send(key, body, owner), 201);
        assert.equal((await visit(client, { to: home.virtual_number, digits: '2468' })).outcome, 'released');
        assert.equal(replayed(await send(key, body, owner)).remaining_uses, 4);
        ok(await edit(owner, made, { label: 'Edited' }));
        assert.deepEqual([replayed(await send(key, body, owner)).label, replayed(await send(key, body, owner)).version], ['Edited', 1]);
        ok(await owner.client.delete(`/v1/unlock/${made.id}`));
        assert.equal(replayed(await send(key, body, owner)).status, 'revoked');
        refused(await send(key, { type: 'passcode' }, owner), 409, 'IDEMPOTENCY_CONFLICT');
    });

    it('creates once when the same request comes many times at once', async () => {
        const owner = await signIn(client);
        for (let round = 0; round < 5; round++) {
            const key = idempotencyKey();
            const answers = await Promise.all(Array.from({ length: 12 }, () => send(key, { type: 'passcode', label: 'race' }, owner)));
            assert.equal(answers.filter((answer) => answer.status === 201).length, 1);
            const ids = answers.map((answer) => (answer.status === 201 ? ok(answer, 201) : replayed(answer)).id);
            assert.equal(new Set(ids).size, 1);
            assert.equal(await count(owner), round + 1);
        }
    });

    it('creates one and refuses the rest when different bodies come at once under one key', async () => {
        const owner = await signIn(client);
        const key = idempotencyKey();
        const answers = await Promise.all(Array.from({ length: 8 }, (_, i) => send(key, { type: 'passcode', label: `body ${i}` }, owner)));
        assert.equal(answers.filter((answer) => answer.status === 201).length, 1);
        for (const answer of answers.filter((a) => a.status !== 201)) refused(answer, 409, 'IDEMPOTENCY_CONFLICT');
        assert.equal(await count(owner), 1);
    });

    // GRANT-12
    it('remembers only creations: a refused request leaves its key free', async () => {
        const key = idempotencyKey();
        refused(await send(key, { type: 'timer' }), 400, 'INVALID_UNLOCK');
        refused(await send(key, '{'), 400, 'INVALID_JSON');
        ok(await send(key, { type: 'timer', expires_in_minutes: 5 }), 201);
    });

    it('keeps keys apart by account and by the case of their letters', async () => {
        const stranger = await signIn(client);
        const key = `${idempotencyKey()}aA`;
        const mine = ok(await send(key, { type: 'passcode' }), 201);
        const theirs = ok(await send(key, { type: 'passcode' }, stranger), 201);
        const other = ok(await send(key.replace(/aA$/, 'Aa'), { type: 'passcode' }), 201);
        assert.equal(new Set([mine.id, theirs.id, other.id]).size, 3);
    });

    it('takes keys of 16 to 100 letters, digits, hyphens and underscores, and shows them as request_id', async () => {
        for (const key of ['AZaz09_-AZaz09_-', 'k'.repeat(100), '-'.repeat(16), '0'.repeat(99)]) {
            assert.equal(ok(await send(key, { type: 'passcode' }), 201).request_id, key);
        }
    });

    // HTTP-31
    it('requires the key: missing or malformed is IDEMPOTENCY_KEY_REQUIRED', async () => {
        for (const key of [undefined, '', 'short', 'k'.repeat(15), 'k'.repeat(101), `${'k'.repeat(16)}.`, `${'k'.repeat(16)} k`, `${'k'.repeat(16)}/`, `${'k'.repeat(16)}é`]) {
            refused(await send(key, { type: 'passcode' }), 400, 'IDEMPOTENCY_KEY_REQUIRED');
        }
    });
});
