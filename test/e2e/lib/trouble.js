// Requests to a service whose store is in trouble, and the answer that it may give.
import assert from 'node:assert/strict';
import { idempotencyKey } from './client.js';

export const list = (person) => person.client.get('/v1/unlock?limit=100');
export const create = (person, key = idempotencyKey()) =>
    person.client.post('/v1/unlock', { type: 'passcode', label: key, enabled: false }, { headers: { 'Idempotency-Key': key } });

/** 503, to be repeated. */
export function assertUnavailable(answer) {
    assert.equal(answer.status, 503, answer.text);
    assert.equal(answer.body.error.code, 'SERVICE_UNAVAILABLE');
    assert.equal(answer.body.error.retryable, true);
    assert.ok(Number(answer.headers['retry-after']) >= 1);
}
