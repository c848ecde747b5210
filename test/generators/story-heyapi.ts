// A resident's story through the client that @hey-api/openapi-ts makes. Prints its end as JSON.
import { deepStrictEqual, equal, ok } from 'node:assert/strict';
import { client } from './generated/heyapi/client.gen.js';
import * as api from './generated/heyapi/index.js';

const { STORY_URL = '', STORY_EMAIL = '', STORY_CHALLENGE = '', STORY_OTP = '' } = process.env;
client.setConfig({ baseUrl: STORY_URL });
const use = (key: string): void => void client.setConfig({ baseUrl: STORY_URL, auth: key });
const key = (): string => crypto.randomUUID();

/** The body of a success. */
function must<Data, Refusal>({ data, error, response }: { data?: Data; error?: Refusal; response?: Response }): NonNullable<Data> {
    if (data === undefined || data === null) throw new Error(`${response?.status}: ${JSON.stringify(error)}`);
    return data;
}

/** The code of a refusal, one of the codes that the document names. */
function refusal<Code extends string>({ error }: { error?: { error: { code: Code } } | undefined }): Code {
    ok(error);
    return error.error.code;
}

equal(must(await api.getHealth()).status, 'ok');
const session = must(await api.verifyOtp({ body: { email: STORY_EMAIL, challenge: STORY_CHALLENGE, otp: STORY_OTP, purpose: 'web' } }));
use(session.apiKey);
const agent = must(await api.createKey({ body: { name: 'Story', scopes: ['account:read', 'access:read', 'access:write', 'logs:read', 'setup:write'], expires_in_days: 1 } }));
use(agent.api_key);
equal(refusal(await api.listKeys()), 'WEB_SESSION_REQUIRED');
const home = must(await api.listBuildings()).data[0];
ok(home);
const path = { buildingId: home.id };
const settings = must(await api.getSettings({ path }));
ok(settings.version);
equal(must(await api.updateSettings({ path, headers: { 'If-Match': settings.version }, body: { unlock_tone: '9' } })).unlock_tone, '9');
const request = { headers: { 'Idempotency-Key': key() }, body: { type: 'passcode', label: 'Parcel', remaining_uses: 2 } } as const;
const grant = must(await api.createUnlock(request));
equal(must(await api.createUnlock(request)).id, grant.id);
equal(refusal(await api.createUnlock({ ...request, body: { type: 'passcode', label: 'Other' } })), 'IDEMPOTENCY_CONFLICT');
const changed = must(await api.updateUnlock({ path: { id: grant.id }, headers: { 'If-Match': `"${grant.version}"` }, body: { label: 'Flowers' } }));
deepStrictEqual([changed.label, changed.version], ['Flowers', 1]);
equal(refusal(await api.updateUnlock({ path: { id: grant.id }, headers: { 'If-Match': '"0"' }, body: { label: 'Books' } })), 'VERSION_CONFLICT');
deepStrictEqual(must(await api.listUnlocks({ query: { status: 'active' } })).data.map(({ id }) => id), [grant.id]);
equal(refusal(await api.listLogs({ query: { limit: 0 } })), 'INVALID_LIMIT');
const endpoint = must(await api.createWebhook({ body: { url: 'https://127.0.0.1:9/hook', events: ['access.granted'] } }));
equal(must(await api.testWebhook({ path: { id: endpoint.id } })).delivery_id.length, 24);
equal(must(await api.deleteWebhook({ path: { id: endpoint.id } })).deleted, true);
equal(must(await api.revokeUnlock({ path: { id: grant.id } })).status, 'revoked');
equal(must(await api.revokeOwnKey()).revoked, true);
console.log(JSON.stringify({ grant: grant.id, over: refusal(await api.getAccount()) }));
