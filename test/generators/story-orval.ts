// A resident's story through the client that orval makes, over fetch (request.ts). Prints its end as JSON.
import { deepStrictEqual, equal, ok } from 'node:assert/strict';
import * as api from './generated/orval/client.js';
import { use } from './request.js';

const { STORY_EMAIL = '', STORY_CHALLENGE = '', STORY_OTP = '' } = process.env;
const key = (): string => crypto.randomUUID();

interface Success { status: 200 | 201 | 202; data: unknown }
interface Coded { error: { code: string } }

/** The body of a success. */
function must<A extends { status: number; data: unknown }>(answer: A): Extract<A, Success>['data'] {
    if (answer.status >= 300) throw new Error(`${answer.status}: ${JSON.stringify(answer.data)}`);
    return answer.data;
}

/** The code of a refusal. */
function refusal(answer: { status: number; data: unknown }): string {
    ok(answer.status >= 400);
    return (answer.data as Coded).error.code;
}

equal(must(await api.getHealth()).status, 'ok');
use(must(await api.verifyOtp({ email: STORY_EMAIL, challenge: STORY_CHALLENGE, otp: STORY_OTP, purpose: 'web' })).apiKey);
use(must(await api.createKey({ name: 'Story', scopes: ['account:read', 'access:read', 'access:write', 'logs:read', 'setup:write'], expires_in_days: 1 })).api_key);
equal(refusal(await api.listKeys()), 'WEB_SESSION_REQUIRED');
const home = must(await api.listBuildings()).data[0];
ok(home);
const { version } = must(await api.getSettings(home.id));
ok(version);
equal(must(await api.updateSettings(home.id, { unlock_tone: '9' }, { 'If-Match': version })).unlock_tone, '9');
const headers = { 'Idempotency-Key': key() };
const grant = must(await api.createUnlock({ type: 'passcode', label: 'Parcel', remaining_uses: 2 }, headers));
equal(must(await api.createUnlock({ type: 'passcode', label: 'Parcel', remaining_uses: 2 }, headers)).id, grant.id);
equal(refusal(await api.createUnlock({ type: 'passcode', label: 'Other' }, headers)), 'IDEMPOTENCY_CONFLICT');
const changed = must(await api.updateUnlock(grant.id, { label: 'Flowers' }, { 'If-Match': `"${grant.version}"` }));
deepStrictEqual([changed.label, changed.version], ['Flowers', 1]);
equal(refusal(await api.updateUnlock(grant.id, { label: 'Books' }, { 'If-Match': '"0"' })), 'VERSION_CONFLICT');
deepStrictEqual(must(await api.listUnlocks({ status: 'active' })).data.map(({ id }) => id), [grant.id]);
equal(refusal(await api.listLogs({ limit: 0 })), 'INVALID_LIMIT');
const endpoint = must(await api.createWebhook({ url: 'https://127.0.0.1:9/hook', events: ['access.granted'] }));
equal(must(await api.testWebhook(endpoint.id)).delivery_id.length, 24);
equal(must(await api.deleteWebhook(endpoint.id)).deleted, true);
equal(must(await api.revokeUnlock(grant.id)).status, 'revoked');
equal(must(await api.revokeOwnKey()).revoked, true);
console.log(JSON.stringify({ grant: grant.id, over: refusal(await api.getAccount()) }));
