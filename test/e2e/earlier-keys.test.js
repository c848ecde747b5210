// Accounts that are served the earlier revision of the interface: sign-in, keys and their scopes. Decisions section 12.
import { describe, it, before } from 'node:test';
import assert from 'node:assert/strict';
import { idempotencyKey, ok, refused } from './lib/client.js';
import { portero } from './lib/daemon.js';
import { browser, signInBrowser } from './lib/site.js';
import { advance, agent, challenge, DAY, freshEmail, ID, signIn, useWorld } from './lib/world.js';

const CURRENT = ['account:read', 'access:read', 'access:write', 'logs:read'];
const EARLIER = [...CURRENT, 'webhooks:write'];

describe('keys of an account of the earlier revision', () => {
    const w = useWorld();
    let person;

    const choose = (email, revision) => {
        const done = portero(['admin', 'account', 'compat', email, '--revision', revision, '--config', w.daemon.configPath, '--data', w.daemon.data]);
        assert.equal(done.status, 0, done.stderr);
    };
    /** The document does not have the requests and answers of the earlier revision. */
    const ask = (who, method, path, json) => who.client.request(method, path, { json, check: false });
    const create = (who, json) => ask(who, 'POST', '/v1/auth/keys', json);
    const scopes = async (key) => ok(await ask(key, 'GET', '/v1/account')).capabilities.scopes;

    before(async () => {
        person = await signIn(w.client);
        choose(person.email, 'earlier');
    });

    describe('of agents', () => {
        // EARLIER-10
        it('have five scopes unless others are asked for', async () => {
            const made = ok(await create(person, {}), 201);
            assert.deepEqual(made.scopes, EARLIER);
            assert.match(made.api_key, /^svc_agent_/);
            assert.deepEqual(await scopes({ client: w.client.as(made.api_key) }), EARLIER);
            const listed = ok(await person.client.get('/v1/auth/keys')).data.find((key) => key.id === made.id);
            assert.deepEqual([listed.type, listed.scopes], ['agent', EARLIER]);
        });

        // EARLIER-10
        it('may have webhooks:write, which a session has from the next request on, whenever it began', async () => {
            assert.ok((await scopes(person)).includes('webhooks:write'));
            assert.deepEqual(ok(await create(person, { scopes: ['webhooks:write'] }), 201).scopes, ['webhooks:write']);
            for (const wrong of [['keys:write'], ['owner'], ['webhooks:read'], ['webhooks:write', 'webhooks:write'], []]) {
                refused(await create(person, { scopes: wrong }), 400, 'INVALID_KEY_OPTIONS', 'scopes');
            }
        });

        // EARLIER-15
        it('are bounded and named as ever', async () => {
            refused(await create(person, { expires_in_days: 91 }), 400, 'INVALID_KEY_OPTIONS', 'expires_in_days');
            refused(await create(person, { colour: 'red' }), 400, 'INVALID_KEY_OPTIONS', 'colour');
            const reader = await agent(person, ['account:read']);
            refused(await create(reader, {}), 403, 'WEB_SESSION_REQUIRED');
        });

        // EARLIER-10
        it('keep a scope that nothing asks for when the account is switched back', async () => {
            const other = await signIn(w.client);
            choose(other.email, 'earlier');
            const made = ok(await create(other, { scopes: ['account:read', 'webhooks:write'] }), 201);
            const key = { client: w.client.as(made.api_key) };
            choose(other.email, 'current');
            assert.deepEqual(await scopes(key), ['account:read', 'webhooks:write']);
            refused(await key.client.get('/v1/webhooks'), 403, 'INSUFFICIENT_SCOPE');
            assert.ok(!(await scopes(other)).includes('webhooks:write'));
            refused(await create(other, { scopes: ['webhooks:write'] }), 400, 'INVALID_KEY_OPTIONS', 'scopes');
            assert.deepEqual(ok(await create(other, {}), 201).scopes, CURRENT);
        });
    });

    describe('of owners', () => {
        /** Signs in without a purpose. */
        const own = async (email) => w.client.post('/v1/auth/verify', { email, ...await challenge(w.client, email) }, { check: false });
        const owned = async (email) => {
            const { apiKey } = ok(await own(email));
            return { key: apiKey, client: w.client.as(apiKey) };
        };
        const earlier = async () => {
            const owner = await signIn(w.client);
            choose(owner.email, 'earlier');
            return owner;
        };
        const list = async (owner) => ok(await owner.client.get('/v1/auth/keys')).data;

        // EARLIER-11
        it('are answered to a sign-in without a purpose, with every scope and without an end', async () => {
            const owner = await earlier();
            const answer = ok(await own(owner.email));
            assert.deepEqual(Object.keys(answer), ['apiKey', 'keyPrefix', 'name']);
            assert.match(answer.apiKey, /^svc_owner_[0-9A-Za-z]{43}$/);
            assert.deepEqual([answer.keyPrefix, answer.name], [answer.apiKey.slice(0, 16), 'Owner key']);
            const key = { client: w.client.as(answer.apiKey) };
            assert.deepEqual(await scopes(key), [...CURRENT, 'setup:write', 'billing:write', 'buildings:write', 'webhooks:write', 'owner']);
            const [listed] = await list(owner);
            assert.match(listed.id, ID);
            assert.deepEqual([listed.name, listed.type, listed.expires_at, listed.current], ['Owner key', 'agent', null, false]);
            await advance(w.client, 400 * DAY / 1000);
            const headers = { 'Idempotency-Key': idempotencyKey() };
            ok(await key.client.request('POST', '/v1/unlock', { json: { type: 'timer', duration_minutes: 5 }, headers, check: false }), 201);
            refused(await key.client.get('/v1/auth/keys'), 403, 'WEB_SESSION_REQUIRED');
        });

        // EARLIER-11
        it('are not needed: a purpose gives a website session as ever', async () => {
            const owner = await earlier();
            const again = await signIn(w.client, owner.email);
            assert.match(again.key, /^svc_web_/);
        });

        it('are answered once to a code, also when it is sent several times at once', async () => {
            const owner = await earlier();
            const code = { email: owner.email, ...await challenge(w.client, owner.email) };
            const answers = await Promise.all(Array.from({ length: 6 }, () => w.client.post('/v1/auth/verify', code, { check: false })));
            assert.equal(answers.filter((answer) => answer.status === 200).length, 1);
            for (const answer of answers.filter((one) => one.status !== 200)) refused(answer, 400, 'WEBSITE_SIGN_IN_REQUIRED');
            refused(await w.client.post('/v1/auth/verify', { ...code, purpose: 'web' }), 401, 'INVALID_OTP');
            assert.equal((await list(owner)).length, 2);
        });

        it('are not for browsers: the website signs in as ever', async () => {
            const owner = await earlier();
            const code = { email: owner.email, ...await challenge(w.client, owner.email) };
            refused(await browser(w.client).post('/v1/auth/verify', code), 400, 'WEBSITE_SIGN_IN_REQUIRED');
            const { site } = await signInBrowser(w.client, { email: owner.email });
            assert.equal(ok(await site.get('/v1/account')).subscription.type, 'none');
            refused(await site.post('/v1/auth/keys', { scopes: ['webhooks:write'] }), 400, 'INVALID_KEY_OPTIONS');
        });

        // EARLIER-12
        it('are five at most, also when more are asked for at once; the sixth code is not used', async () => {
            const owner = await earlier();
            const answers = [];
            for (let round = 0; round < 2; round++) {
                const codes = [];
                for (let i = 0; i < 3; i++) codes.push({ email: owner.email, ...await challenge(w.client, owner.email) });
                const sent = await Promise.all(codes.map(async (code) => [code, await w.client.post('/v1/auth/verify', code, { check: false })]));
                answers.push(...sent);
            }
            const full = answers.filter(([, answer]) => answer.status !== 200);
            assert.equal(full.length, 1);
            const [code, answer] = full[0];
            refused(answer, 409, 'KEY_LIMIT');
            assert.ok(!/purpose/.test(answer.body.error.message), answer.text);
            const session = ok(await w.client.post('/v1/auth/verify', { ...code, purpose: 'web' }));
            const web = { client: w.client.as(session.apiKey) };
            const owners = (await list(web)).filter((key) => key.scopes.includes('owner'));
            assert.equal(owners.length, 5);
            ok(await web.client.delete(`/v1/auth/keys/${owners[4].id}`));
            ok(await own(owner.email));
            for (let i = 0; i < 20; i++) ok(await create(web, { scopes: ['logs:read'] }), 201);
            refused(await create(web, {}), 409, 'KEY_LIMIT');
        });

        // EARLIER-13
        it('end when they are revoked, each by itself, by the session, or with all others', async () => {
            const owner = await earlier();
            const [first, second, third] = [await owned(owner.email), await owned(owner.email), await owned(owner.email)];
            ok(await ask(first, 'DELETE', '/v1/auth/key'));
            refused(await ask(first, 'GET', '/v1/account'), 401, 'INVALID_KEY');
            const rows = (await list(owner)).filter((key) => key.scopes.includes('owner'));
            assert.equal(rows.length, 2);
            ok(await owner.client.delete(`/v1/auth/keys/${rows[0].id}`));
            refused(await ask(third, 'GET', '/v1/account'), 401, 'INVALID_KEY');
            ok(await ask(second, 'GET', '/v1/account'));
            assert.equal(ok(await owner.client.post('/v1/auth/keys/revoke-others')).revoked_count, 1);
            refused(await ask(second, 'GET', '/v1/account'), 401, 'INVALID_KEY');
        });

        // EARLIER-13
        it('end for good when the account is switched back, and with the account', async () => {
            const owner = await earlier();
            const key = await owned(owner.email);
            const robot = await agent(owner, ['account:read']);
            ok(await ask(key, 'GET', '/v1/account'));
            choose(owner.email, 'current');
            refused(await ask(key, 'GET', '/v1/account'), 401, 'INVALID_KEY');
            refused(await own(owner.email), 400, 'WEBSITE_SIGN_IN_REQUIRED');
            choose(owner.email, 'earlier');
            refused(await ask(key, 'GET', '/v1/account'), 401, 'INVALID_KEY');
            ok(await ask(robot, 'GET', '/v1/account'));
            const last = await owned(owner.email);
            const gone = portero(['admin', 'account', 'delete', owner.email, '--yes', '--config', w.daemon.configPath, '--data', w.daemon.data]);
            assert.equal(gone.status, 0, gone.stderr);
            const refusal = await ask(last, 'GET', '/v1/account');
            assert.equal(refusal.status, 401, refusal.text);
        });

        // EARLIER-14
        it('are not answered to a wrong code, in words that tell accounts apart, and each try counts', async () => {
            const people = [await earlier(), await signIn(w.client), { email: freshEmail() }];
            const seen = new Set();
            for (const { email } of people) {
                const sent = await challenge(w.client, email);
                const wrong = { email, ...sent, otp: sent.otp === '000000' ? '000001' : '000000' };
                const tries = [wrong, { ...wrong, otp: 'abc' }, { ...wrong, challenge: `chl_${'0'.repeat(32)}` }, { email }, { email, otp: sent.otp },
                    { ...wrong, purpose: 'app' }, { ...wrong, purpose: null }, { email, ...sent, purpose: 'app' }];
                const words = [];
                for (const body of tries) {
                    const answer = await w.client.post('/v1/auth/verify', body, { check: false });
                    refused(answer, 400, 'WEBSITE_SIGN_IN_REQUIRED');
                    const { 'x-request-id': id, date, 'content-length': length, ...headers } = answer.headers;
                    for (const name of Object.keys(headers)) if (/^ratelimit/.test(name)) delete headers[name];
                    words.push(JSON.stringify([headers, { ...answer.body, requestId: 0 }]));
                }
                seen.add(words.join());
                for (let i = 0; i < 3; i++) refused(await w.client.post('/v1/auth/verify', wrong, { check: false }), 400, 'WEBSITE_SIGN_IN_REQUIRED');
                refused(await w.client.post('/v1/auth/verify', { email, ...sent, purpose: 'web' }), 401, 'INVALID_OTP');
                refused(await w.client.post('/v1/auth/verify', { email, ...sent }, { check: false }), 400, 'WEBSITE_SIGN_IN_REQUIRED');
            }
            assert.equal(seen.size, 1);
        });

        // EARLIER-14
        it('are not answered to other accounts with the right code, which stays valid and makes no account', async () => {
            for (const [email, status] of [[(await signIn(w.client)).email, 0], [freshEmail(), 1]]) {
                const code = { email, ...await challenge(w.client, email) };
                refused(await w.client.post('/v1/auth/verify', code, { check: false }), 400, 'WEBSITE_SIGN_IN_REQUIRED');
                const shown = portero(['admin', 'account', 'show', email, '--json', '--config', w.daemon.configPath, '--data', w.daemon.data]);
                assert.equal(shown.status, status, shown.stderr);
                ok(await w.client.post('/v1/auth/verify', { ...code, purpose: 'web' }));
            }
        });
    });
});
