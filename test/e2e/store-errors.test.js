// A store without one of its tables (a botched restore, an operator's slip): each operation reports its failure in the
// envelope, without the store's message, and works again once the table is back.
import { describe, it, before } from 'node:test';
import assert from 'node:assert/strict';
import { idempotencyKey, ok, refused } from './lib/client.js';
import { sql } from './lib/store.js';
import { edit, eventually, freshEmail, grant, resident, UNKNOWN_ID, useWorld } from './lib/world.js';

describe('a store without one of its tables', () => {
    const w = useWorld({ config: { webhooks: { allow_private: true } } });
    let person;
    before(async () => {
        person = await resident(w.client);
    });

    /** Runs `use` while the table has another name; then waits until `mended` answers without a 5xx. */
    async function without(table, use, mended) {
        sql(w.daemon, `ALTER TABLE ${table} RENAME TO gone;`);
        try {
            await use();
        } finally {
            sql(w.daemon, `ALTER TABLE gone RENAME TO ${table};`);
        }
        await eventually(async () => (await mended()).status < 500, `${table} being used again`);
    }

    function failed(answer, code) {
        const message = refused(answer, 500, code);
        assert.doesNotMatch(message, /gone|table|relation|sql/i);
        assert.equal(answer.body.error.retryable, true);
    }

    it('refuses grants, and creates and changes nothing', async () => {
        const kept = await grant(person, { type: 'passcode', label: 'kept' });
        const key = idempotencyKey();
        const create = () => person.client.post('/v1/unlock', { type: 'passcode', label: 'later' }, { headers: { 'Idempotency-Key': key } });
        const list = () => person.client.get('/v1/unlock');
        await without('access_grant', async () => {
            failed(await create(), 'CREATE_FAILED');
            failed(await list(), 'LIST_FAILED');
            failed(await person.client.get(`/v1/unlock/${kept.id}`), 'FETCH_FAILED');
            failed(await edit(person, kept, { label: 'changed' }), 'UPDATE_FAILED');
            failed(await person.client.delete(`/v1/unlock/${kept.id}`), 'DELETE_FAILED');
            ok(await w.client.get('/v1/health'));
        }, list);
        assert.deepEqual(ok(await list()).data, [kept]);
        ok(await create(), 201);
    });

    it('refuses the log', async () => {
        const logs = () => person.client.get('/v1/logs');
        await without('activity', async () => failed(await logs(), 'FETCH_FAILED'), logs);
        assert.deepEqual(ok(await logs()).data, []);
    });

    it('refuses webhook endpoints, and registers and deletes nothing', async () => {
        const list = () => person.client.get('/v1/webhooks');
        const create = (url) => person.client.post('/v1/webhooks', { url }, { headers: { 'Idempotency-Key': idempotencyKey() } });
        const { id } = ok(await create('https://127.0.0.1:9/kept'), 201);
        await without('webhook', async () => {
            failed(await create('https://127.0.0.1:9/refused'), 'CREATE_FAILED');
            failed(await list(), 'LIST_FAILED');
            failed(await person.client.delete(`/v1/webhooks/${id}`), 'DELETE_FAILED');
            failed(await person.client.post(`/v1/webhooks/${id}/test`), 'TEST_FAILED');
        }, list);
        assert.deepEqual(ok(await list()).data.map((endpoint) => endpoint.id), [id]);
    });

    it('refuses a sign-in', async () => {
        const email = freshEmail();
        const begin = () => w.client.post('/v1/auth/otp', { email });
        await without('challenge', async () => failed(await begin(), 'INTERNAL_ERROR'), begin);
    });

    it('still answers requests that need no store', async () => {
        await without('access_grant', async () => {
            refused(await w.client.get(`/v1/unlock/${UNKNOWN_ID}`), 401, 'AUTH_REQUIRED');
            refused(await person.client.post('/v1/unlock', {}), 400, 'IDEMPOTENCY_KEY_REQUIRED');
        }, () => person.client.get('/v1/unlock'));
    });
});
