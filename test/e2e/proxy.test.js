// Behind a proxy: docs/behaviour/http.md, "HTTPS". X-Forwarded-* counts from trusted peers only.
// engine: sqlite, because addresses and schemes are decided before the store
import { describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { ok, refused } from './lib/client.js';
import { freshEmail, signIn, useWorld } from './lib/world.js';

describe('trusted proxy', () => {
    const w = useWorld({ config: { trusted_proxies: ['127.0.0.0/8', '10.0.0.0/8', 'fd00::/8'], limits: { otp_per_ip: 1 } } });
    const { client } = w;

    const forwarded = (target, headers, key) => client.as(key).get(target, { plain: true, headers });
    const ask = (chain) => client.post('/v1/auth/otp', { email: freshEmail() },
        { plain: true, headers: { 'X-Forwarded-Proto': 'https', 'X-Forwarded-For': chain } });

    // HTTP-41
    it('is believed when it says https, in any case', async () => {
        for (const proto of ['https', 'HTTPS']) ok(await forwarded('/v1/health', { 'X-Forwarded-Proto': proto }));
        const session = await signIn(client);
        ok(await forwarded('/v1/account', { 'X-Forwarded-Proto': 'https', 'X-Forwarded-For': '198.51.100.9' }, session.key));
    });

    it('gets 426 when it says http, nothing, or nonsense', async () => {
        for (const headers of [{}, { 'X-Forwarded-Proto': 'http' }, { 'X-Forwarded-Proto': '' }, { 'X-Forwarded-Proto': 'httpss' }]) {
            refused(await forwarded('/v1/health', headers), 426, 'HTTPS_REQUIRED');
        }
    });

    it('names the client by the last address that is no proxy of ours', async () => {
        ok(await ask('198.51.100.20'));
        refused(await ask('198.51.100.20'), 429, 'OTP_RATE_LIMIT');
        refused(await ask('203.0.113.1, 198.51.100.20'), 429, 'OTP_RATE_LIMIT');
        refused(await ask('203.0.113.2, 198.51.100.20, 10.1.2.3'), 429, 'OTP_RATE_LIMIT');
        refused(await ask('198.51.100.20 ,10.1.2.3,10.9.9.9'), 429, 'OTP_RATE_LIMIT');
        ok(await ask('198.51.100.20, 203.0.113.3'));
    });

    it('that forwards nonsense does not let a client choose its address', async () => {
        await ask('nonsense'); // counts for the proxy itself, as the second one does
        refused(await ask('other nonsense'), 429, 'OTP_RATE_LIMIT');
    });

    it('keeps the sandbox away from clients on other machines', async () => {
        const answer = await client.get('/sandbox/clock', { plain: true, headers: { 'X-Forwarded-Proto': 'https', 'X-Forwarded-For': '198.51.100.30' } });
        refused(answer, 403, 'LOOPBACK_REQUIRED');
        assert.ok(!answer.text.includes('offset_seconds'));
        ok(await client.get('/sandbox/clock'));
    });
});
