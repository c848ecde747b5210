// The order of checks of docs/behaviour/http.md: of several things that are wrong, the first in the list is answered.
// engine: sqlite, because the checks come before the store
import { describe, it, before } from 'node:test';
import { idempotencyKey, refused } from './lib/client.js';
import { agent, building, signIn, UNKNOWN_ID, useWorld } from './lib/world.js';

const BIG = 'x'.repeat(102_401);

describe('order of checks', () => {
    const w = useWorld();
    const { client } = w;
    let session;
    let home;
    let reader;
    before(async () => {
        session = await signIn(client);
        home = await building(session);
        reader = await agent(session, ['account:read']);
    });

    // HTTP-1
    it('transport before route, size and key', async () => {
        refused(await client.request('POST', '/v1/nothing', { plain: true, text: '{}' }), 426, 'HTTPS_REQUIRED');
        refused(await client.request('PUT', '/v1/unlock', { plain: true }), 426, 'HTTPS_REQUIRED');
        refused(await client.request('POST', '/v1/unlock', { plain: true, text: '{' }), 426, 'HTTPS_REQUIRED');
    });

    it('route before size and key', async () => {
        refused(await client.request('POST', '/v1/nothing', { text: BIG }), 404, 'NOT_FOUND');
        refused(await client.request('PUT', '/v1/unlock', { text: BIG }), 405, 'METHOD_NOT_ALLOWED');
        refused(await client.get('/v1/nothing'), 404, 'NOT_FOUND');
        refused(await client.request('POST', '/v1/account'), 405, 'METHOD_NOT_ALLOWED');
    });

    it('size before key', async () => {
        refused(await client.request('POST', '/v1/unlock', { text: BIG }), 413, 'PAYLOAD_TOO_LARGE');
        refused(await client.request('PATCH', `/v1/unlock/${UNKNOWN_ID}`, { text: BIG }), 413, 'PAYLOAD_TOO_LARGE');
    });

    it('key before everything the request says', async () => {
        refused(await client.request('POST', '/v1/unlock', { text: '{' }), 401, 'AUTH_REQUIRED');
        refused(await client.as('nonsense').request('PATCH', '/v1/unlock/nonsense', { text: '{' }), 401, 'INVALID_KEY');
        refused(await client.get('/v1/unlock?limit=0'), 401, 'AUTH_REQUIRED');
        refused(await client.get('/v1/buildings/nonsense/setup'), 401, 'AUTH_REQUIRED');
    });

    it('kind of key before scope, body and id', async () => {
        refused(await reader.client.request('POST', '/v1/auth/keys', { text: '{' }), 403, 'WEB_SESSION_REQUIRED');
        refused(await reader.client.delete('/v1/auth/keys/nonsense'), 403, 'WEB_SESSION_REQUIRED');
    });

    it('scope before building, required headers, body and query', async () => {
        refused(await reader.client.request('POST', '/v1/unlock', { text: '{', headers: { 'X-Service-Building-Id': 'nonsense' } }), 403, 'INSUFFICIENT_SCOPE');
        refused(await reader.client.get('/v1/logs?limit=0', { headers: { 'X-Service-Building-Id': 'nonsense' } }), 403, 'INSUFFICIENT_SCOPE');
        refused(await reader.client.request('PATCH', `/v1/buildings/${UNKNOWN_ID}/settings`, { text: '{' }), 403, 'INSUFFICIENT_SCOPE');
    });

    it('building before required headers, body and query', async () => {
        const headers = { 'X-Service-Building-Id': 'nonsense' };
        refused(await session.client.request('POST', '/v1/unlock', { text: '{', headers }), 400, 'INVALID_BUILDING');
        refused(await session.client.request('POST', '/v1/unlock', { text: '{', headers: { 'X-Service-Building-Id': UNKNOWN_ID } }), 404, 'BUILDING_NOT_FOUND');
        refused(await session.client.get('/v1/unlock?limit=0', { headers }), 400, 'INVALID_BUILDING');
        refused(await session.client.request('PATCH', `/v1/buildings/${UNKNOWN_ID}/settings`, { text: '{' }), 404, 'BUILDING_NOT_FOUND');
    });

    it('required headers before body', async () => {
        refused(await session.client.request('POST', '/v1/unlock', { text: '{' }), 400, 'IDEMPOTENCY_KEY_REQUIRED');
        refused(await session.client.request('PATCH', `/v1/unlock/${UNKNOWN_ID}`, { text: '{' }), 428, 'VERSION_REQUIRED');
        refused(await session.client.request('PATCH', `/v1/buildings/${home.id}/settings`, { text: '{' }), 428, 'SETTINGS_VERSION_REQUIRED');
    });

    it('JSON before fields, fields before the state of things', async () => {
        const headers = { 'Idempotency-Key': idempotencyKey() };
        refused(await session.client.request('POST', '/v1/unlock', { text: '{"type":"door"', headers }), 400, 'INVALID_JSON');
        refused(await session.client.request('PATCH', `/v1/unlock/${UNKNOWN_ID}`, { text: '{', headers: { 'If-Match': '"0"' } }), 400, 'INVALID_JSON');
        refused(await session.client.request('PATCH', `/v1/unlock/${UNKNOWN_ID}`, { text: '{"colour":1}', headers: { 'If-Match': '"0"' } }), 400, 'INVALID_UNLOCK');
        refused(await session.client.request('PATCH', `/v1/unlock/${UNKNOWN_ID}`, { text: '{"label":"a"}', headers: { 'If-Match': '"0"' } }), 404, 'NOT_FOUND');
    });
});
