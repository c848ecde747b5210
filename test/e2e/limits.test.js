// Rate limits at their defaults: contract "Limits"; docs/behaviour/http.md, docs/behaviour/keys.md.
// engine: sqlite, because the limits are counted in memory, but for the limit of an e-mail, which has a unit test
import { describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { behindProxy, ok, refused } from './lib/client.js';
import { advance, agent, freshEmail, resident, signIn, useWorld } from './lib/world.js';

const WINDOW_S = 15 * 60;
const HOUR_S = 60 * 60;
// The defaults, as a configuration without a limits section has them.
const DEFAULTS = { limits: { requests_active: 2000, requests_free: 100, auth_per_ip: 30, otp_per_ip: 5, otp_per_email: 10, plans_per_ip: 100 } };
const limitOf = (answer) => [answer.headers['ratelimit-limit'], answer.headers['ratelimit-remaining']].map(Number);

describe('rate limits', () => {
    const w = useWorld({ config: { ...DEFAULTS, trusted_proxies: ['127.0.0.1/32'] } });
    const { client } = w;

    const from = (address) => behindProxy(client, address);
    const exhaust = async (n, send) => {
        const answers = [];
        for (let i = 0; i < n; i++) answers.push(await send());
        return answers;
    };
    const checkRefusal = (answer, code, longestS = WINDOW_S) => {
        refused(answer, 429, code);
        const seconds = Number(answer.headers['retry-after']);
        assert.ok(Number.isInteger(seconds) && seconds >= 1 && seconds <= longestS);
    };

    // HTTP-34
    it('allow a key 100 requests in 15 minutes without a subscription, and tell how many are left', async () => {
        const session = await signIn(client);
        const answers = await exhaust(100, () => session.client.get('/v1/unlock'));
        answers.forEach((answer, i) => {
            ok(answer);
            assert.deepEqual(limitOf(answer), [100, 99 - i]);
            const reset = Number(answer.headers['ratelimit-reset']);
            assert.ok(Number.isInteger(reset) && reset >= 1 && reset <= WINDOW_S);
        });
        const over = await session.client.get('/v1/unlock');
        checkRefusal(over, 'RATE_LIMIT_EXCEEDED');
        assert.deepEqual(limitOf(over), [100, 0]);
        checkRefusal(await session.client.get('/v1/account'), 'RATE_LIMIT_EXCEEDED');
        ok(await session.client.get('/v1/health'));
        assert.equal((await session.client.get('/v1/openapi.json')).status, 302);
        await advance(client, WINDOW_S);
        ok(await session.client.get('/v1/account'));
    });

    it('are counted for each key alone', async () => {
        const session = await signIn(client);
        const robot = await agent(session, ['access:read']);
        await exhaust(100, () => robot.client.get('/v1/unlock'));
        checkRefusal(await robot.client.get('/v1/unlock'), 'RATE_LIMIT_EXCEEDED');
        ok(await session.client.get('/v1/unlock'));
        await advance(client, WINDOW_S);
    });

    it('come after the key and before its kind, its scope and the rest of the request', async () => {
        const robot = await agent(await signIn(client), ['logs:read']);
        for (const answer of await exhaust(100, () => robot.client.get('/v1/unlock'))) refused(answer, 403, 'INSUFFICIENT_SCOPE');
        checkRefusal(await robot.client.get('/v1/unlock'), 'RATE_LIMIT_EXCEEDED');
        checkRefusal(await robot.client.request('POST', '/v1/unlock', { text: '{' }), 'RATE_LIMIT_EXCEEDED');
        refused(await robot.client.get('/v1/nothing'), 404, 'NOT_FOUND');
        refused(await client.as('nonsense').get('/v1/unlock'), 401, 'INVALID_KEY');
        await advance(client, WINDOW_S);
    });

    it('allow 2,000 with an active subscription', async () => {
        const person = await resident(client);
        const answer = await person.client.get('/v1/account');
        ok(answer);
        assert.equal(limitOf(answer)[0], 2000);
        await advance(client, WINDOW_S);
    });

    it('let exactly as many through when requests come at once', async () => {
        const session = await signIn(client);
        const answers = await Promise.all(Array.from({ length: 150 }, () => session.client.get('/v1/unlock')));
        assert.equal(answers.filter((answer) => answer.status === 200).length, 100);
        await advance(client, WINDOW_S);
    });

    it('allow an address 100 looks at the plans', async () => {
        const one = from('198.51.100.1');
        for (const answer of await exhaust(100, () => one.get('/v1/plans'))) ok(answer);
        checkRefusal(await one.get('/v1/plans'), 'RATE_LIMIT_EXCEEDED');
        ok(await from('198.51.100.2').get('/v1/plans'));
        await advance(client, WINDOW_S);
        ok(await one.get('/v1/plans'));
    });

    // HTTP-35, KEY-6
    it('allow an address five sign-in codes', async () => {
        const one = from('198.51.100.3');
        const ask = () => one.post('/v1/auth/otp', { email: freshEmail() });
        const answers = await exhaust(5, ask);
        for (const answer of answers) ok(answer);
        assert.deepEqual(answers.map(limitOf), [4, 3, 2, 1, 0].map((left) => [5, left])); // not of the 30 for all routes
        checkRefusal(await ask(), 'OTP_RATE_LIMIT');
        ok(await from('198.51.100.4').post('/v1/auth/otp', { email: freshEmail() }));
        await advance(client, WINDOW_S);
        ok(await ask());
    });

    // KEY-5
    it('allow an e-mail ten unused sign-in codes a day, then one an hour', async () => {
        const email = freshEmail();
        const one = from('198.51.100.6');
        const ask = () => one.post('/v1/auth/otp', { email });
        for (let i = 0; i < 10; i++) {
            ok(await ask());
            await advance(client, WINDOW_S / 3 + 1);
        }
        await advance(client, WINDOW_S);
        const answer = await ask();
        checkRefusal(answer, 'OTP_RATE_LIMIT', HOUR_S);
        await advance(client, Number(answer.headers['retry-after']));
        ok(await ask());
        await advance(client, WINDOW_S);
        checkRefusal(await ask(), 'OTP_RATE_LIMIT', HOUR_S);
        ok(await one.post('/v1/auth/otp', { email: freshEmail() }));
        await advance(client, 24 * HOUR_S);
        ok(await ask());
        ok(await ask());
    });

    // KEY-6
    it('allow an address 30 requests to the sign-in routes, of all kinds together', async () => {
        const one = from('198.51.100.5');
        await exhaust(3, () => one.post('/v1/auth/otp', { email: freshEmail() }));
        const guess = () => one.post('/v1/auth/verify', { email: freshEmail(), purpose: 'web', challenge: 'chl_00000000000000000000000000000000', otp: '000000' });
        for (const answer of await exhaust(27, guess)) refused(answer, 401, 'INVALID_OTP');
        checkRefusal(await guess(), 'AUTH_RATE_LIMIT');
        checkRefusal(await one.post('/v1/auth/otp', { email: freshEmail() }), 'AUTH_RATE_LIMIT');
        const session = await signIn(client);
        checkRefusal(await one.as(session.key).get('/v1/auth/keys'), 'AUTH_RATE_LIMIT');
        ok(await session.client.get('/v1/auth/keys'));
        await advance(client, WINDOW_S);
    });

    // HTTP-38
    it('count the /64 of an IPv6 address, which is one subscriber, however it is written', async () => {
        for (const address of ['2001:db8::7', '2001:0db8:0:0::0007', '2001:DB8::8', '2001:db8:0:0:ffff:0:0:7', '2001:db8::']) {
            ok(await from(address).post('/v1/auth/otp', { email: freshEmail() }));
        }
        checkRefusal(await from('2001:db8::9').post('/v1/auth/otp', { email: freshEmail() }), 'OTP_RATE_LIMIT');
        ok(await from('2001:db8:0:1::7').post('/v1/auth/otp', { email: freshEmail() }));
        await advance(client, WINDOW_S);
    });
});
