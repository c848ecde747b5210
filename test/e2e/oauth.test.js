// OAuth 2.1 as the Model Context Protocol describes it: two public clients of it run the whole story, and hostile ones fail.
import { describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { auth, UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client as McpClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { Client as CurrentClient, StreamableHTTPClientTransport as CurrentTransport } from '@modelcontextprotocol/client';
import * as oauth from 'oauth4webapi';
import { ok, refused } from './lib/client.js';
import { portero } from './lib/daemon.js';
import { assistant, CALLBACK, connected, decide, failed, fetchOf, FIRST, post, publicOf, register } from './lib/oauth.js';
import { current, REVISION } from './lib/mcp.js';
import { browser, COOKIE, signInBrowser } from './lib/site.js';
import { advance, agent, ID, signIn, useWorld, world } from './lib/world.js';

/** Of the view of an assistant that has registered itself and asks rightly. */
const PLAIN = { client_host: null, unread: false, error: null, reason: null, back: null, voucher: null };
const OWN_SCHEME = 'cursor://anysphere.cursor-mcp/oauth/callback';
const HOUR = 3600, DAY = 24 * HOUR;

/** The memory of the SDK's client. */
class Provider {
    constructor(metadata) { this.clientMetadata = { client_name: 'SDK', redirect_uris: [CALLBACK], ...metadata }; }
    get redirectUrl() { return this.clientMetadata.redirect_uris[0]; }
    state() { return 'a state of the SDK'; }
    clientInformation() { return this.information; }
    saveClientInformation(information) { this.information = information; }
    tokens() { return this.kept; }
    saveTokens(tokens) { this.kept = tokens; }
    redirectToAuthorization(address) { this.address = address; }
    saveCodeVerifier(verifier) { this.verifier = verifier; }
    codeVerifier() { return this.verifier; }
    invalidateCredentials(what) {
        if (what !== 'tokens') this.information = undefined;
        if (what !== 'client') this.kept = undefined;
    }
}

describe('assistants by OAuth', () => {
    const w = useWorld();
    const { client } = w;
    const at = () => publicOf(w);
    const alive = async (tokens) => ok(await client.as(tokens.access_token).get('/v1/account'));
    const dead = async (tokens) => refused(await client.as(tokens.access_token).get('/v1/account'), 401, 'INVALID_KEY');
    const keysOf = async (site) => ok(await site.get('/v1/auth/keys')).data.filter((key) => key.type === 'agent');

    describe('the official client of the protocol', () => {
        // OAUTH-11
        it('finds everything, registers, asks, and refreshes', async () => {
            const provider = new Provider(), fetchFn = fetchOf(client), serverUrl = `${at()}/mcp`;
            assert.equal(await auth(provider, { serverUrl, fetchFn }), 'REDIRECT');
            assert.equal(provider.address.origin + provider.address.pathname, `${at()}/oauth/authorize`);
            assert.equal(provider.address.searchParams.get('resource'), serverUrl);
            assert.equal(provider.address.searchParams.get('scope'), FIRST.join(' '));
            const { site, email } = await signInBrowser(client);
            const { code, state, iss } = await decide(site, provider.address.search.slice(1));
            assert.deepEqual([state, iss], ['a state of the SDK', at()]);
            assert.equal(await auth(provider, { serverUrl, authorizationCode: code, fetchFn }), 'AUTHORIZED');
            const first = provider.kept;
            assert.equal((await alive(first)).email, email);
            assert.equal(await auth(provider, { serverUrl, fetchFn }), 'AUTHORIZED');
            assert.notEqual(provider.kept.access_token, first.access_token);
            await alive(provider.kept);
            await dead(first);
        });

        it('registers anew when the service does not know it, and asks again when the resident has ended its access', async () => {
            const provider = new Provider({ redirect_uris: ['http://localhost:3118/callback'] }), fetchFn = fetchOf(client), serverUrl = `${at()}/mcp`;
            provider.information = { client_id: 'unknown' };
            provider.verifier = 'x'.repeat(43);
            assert.equal(await auth(provider, { serverUrl, authorizationCode: 'x', fetchFn }).catch((error) => error.constructor.name), 'Error');
            assert.equal(await auth(provider, { serverUrl, fetchFn }), 'REDIRECT');
            assert.notEqual(provider.information.client_id, 'unknown');
            const { site } = await signInBrowser(client);
            const { code } = await decide(site, provider.address.search.slice(1));
            await auth(provider, { serverUrl, authorizationCode: code, fetchFn });
            const [{ id }] = await keysOf(site);
            ok(await site.delete(`/v1/auth/keys/${id}`));
            await dead(provider.kept);
            assert.equal(await auth(provider, { serverUrl, fetchFn }), 'REDIRECT');
        });
    });

    it('a client of the protocol is led by a 401 to consent, and then uses the tools that the resident allowed', async () => {
        const provider = new Provider(), fetch = fetchOf(client);
        const open = () => {
            const transport = new StreamableHTTPClientTransport(new URL(`${at()}/mcp`), { authProvider: provider, fetch });
            return { transport, mcp: new McpClient({ name: 'test', version: '1' }) };
        };
        const first = open();
        await assert.rejects(first.mcp.connect(first.transport), UnauthorizedError);
        assert.equal(provider.address.searchParams.get('scope'), FIRST.join(' '));
        const { site, email } = await signInBrowser(client);
        const { code } = await decide(site, provider.address.search.slice(1), { scopes: ['account:read', 'access:read'] });
        await first.transport.finishAuth(code);
        const { transport, mcp } = open();
        await mcp.connect(transport);
        const names = (await mcp.listTools()).tools.map((tool) => tool.name);
        assert.ok(names.includes('getAccount') && names.includes('listUnlocks') && !names.includes('createUnlock'));
        assert.equal((await mcp.callTool({ name: 'getAccount', arguments: {} })).structuredContent.email, email);
        const before = provider.kept.access_token;
        await advance(client, 2 * HOUR); // the transport refreshes by itself
        assert.equal((await mcp.callTool({ name: 'getAccount', arguments: {} })).structuredContent.email, email);
        assert.notEqual(provider.kept.access_token, before);
        await mcp.close();
    });

    it('a 401 of the protocol says where to begin, and whether a key was wrong', async () => {
        const ask = (key) => client.as(key).post('/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/list' }, { check: false });
        const begin = `resource_metadata="${at()}/.well-known/oauth-protected-resource/mcp", scope="${FIRST.join(' ')}"`;
        assert.equal((await ask(undefined)).headers['www-authenticate'], `Bearer ${begin}`);
        assert.equal((await ask('unknown')).headers['www-authenticate'], `Bearer error="invalid_token", ${begin}`);
        assert.equal((await client.as(undefined).get('/v1/account')).headers['www-authenticate'], 'Bearer');
    });

    describe('a key that lacks a scope', () => {
        const asked = (key, method, params) => current(client.as(key), method, params);
        const of = (scopes) => `Bearer error="insufficient_scope", resource_metadata="${at()}/.well-known/oauth-protected-resource/mcp", scope="${scopes}"`;

        // OAUTH-20
        it('is told by 403 which scopes a call needs, with the scopes that it has, all at once', async () => {
            const reader = await agent(await signIn(client), ['logs:read']);
            const call = (name, args) => asked(reader.key, 'tools/call', { name, arguments: args });
            const told = async (answer, scopes) => assert.deepEqual([answer.status, answer.headers['www-authenticate']], [403, of(scopes)]);
            await told(await call('createUnlock', {}), 'access:write logs:read');
            await told(await call('getAccount', {}), 'account:read logs:read');
            await told(await call('updateUnlock', { id: 'x' }), 'access:read access:write logs:read'); // it reads the version, too
            await told(await call('updateUnlock', { id: 'x', if_match: '1' }), 'access:write logs:read');
            const resource = await asked(reader.key, 'resources/read', { uri: 'portero://account' });
            await told(resource, 'account:read logs:read');
            assert.equal(resource.body.error.data.error.code, 'INSUFFICIENT_SCOPE');
        });

        // OAUTH-20
        it('is told so by the REST API, too, in the answer that it gave before', async () => {
            const reader = await agent(await signIn(client), ['logs:read']);
            const answer = await reader.client.get('/v1/account');
            refused(answer, 403, 'INSUFFICIENT_SCOPE', 'account:read');
            assert.equal(answer.headers['www-authenticate'], 'Bearer error="insufficient_scope", scope="account:read logs:read"');
        });

        // OAUTH-20
        it('is not sent to ask for a scope that no assistant can have, nor for another reason', async () => {
            const reader = await agent(await signIn(client), FIRST);
            const plain = async (answer, status) => assert.deepEqual([answer.status, answer.headers['www-authenticate']], [status, undefined]);
            await plain(await asked(reader.key, 'tools/call', { name: 'createKey', arguments: { name: 'x' } }), 200);
            await plain(await asked(reader.key, 'tools/call', { name: 'getUnlock', arguments: { id: 'x' } }), 200);
            await plain(await asked(reader.key, 'tools/call', { name: 'openEverything', arguments: {} }), 200);
            await plain(await reader.client.post('/v1/auth/keys', { name: 'x' }), 403);
        });

        it('is widened by the official client: it asks the resident, and then repeats the call', async () => {
            const provider = new Provider(), fetch = fetchOf(client);
            const { site } = await signInBrowser(client);
            const transport = () => new CurrentTransport(new URL(`${at()}/mcp`), { authProvider: provider, fetch });
            const mcp = () => new CurrentClient({ name: 'test', version: '1' }, { versionNegotiation: { mode: { pin: REVISION } } });
            const allow = async (through, scopes) => {
                const { code, iss } = await decide(site, provider.address.search.slice(1), { scopes });
                await through.finishAuth(code, iss);
            };
            const first = transport();
            await assert.rejects(mcp().connect(first), /Unauthorized/);
            await allow(first, ['account:read']);
            const narrow = mcp(), second = transport();
            await narrow.connect(second);
            const { access_token: before } = provider.kept;
            assert.equal((await narrow.listTools()).tools.some(({ name }) => name === 'listUnlocks'), false);
            await assert.rejects(narrow.callTool({ name: 'listUnlocks', arguments: {} }), /Unauthorized/);
            assert.equal(provider.address.searchParams.get('scope').split(' ').sort().join(' '), 'access:read account:read');
            await allow(second, undefined);
            assert.equal(provider.kept.scope, 'account:read access:read');
            const wide = mcp();
            await wide.connect(transport());
            assert.deepEqual((await wide.callTool({ name: 'listUnlocks', arguments: {} })).structuredContent.data, []);
            assert.equal((await wide.listTools()).tools.some(({ name }) => name === 'listUnlocks'), true);
            await dead({ access_token: before }); // the same assistant has one grant
            assert.equal((await keysOf(site)).length, 1);
            await wide.close();
            await narrow.close();
        });
    });

    it('a strict client of another maker connects, refreshes, and revokes', async () => {
        const options = { [oauth.customFetch]: fetchOf(client) };
        const resource = new URL(`${at()}/mcp`);
        const found = await oauth.processResourceDiscoveryResponse(resource, await oauth.resourceDiscoveryRequest(resource, options));
        const issuer = new URL(found.authorization_servers[0]);
        const as = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...options }));
        const registered = await oauth.processDynamicClientRegistrationResponse(
            await oauth.dynamicClientRegistrationRequest(as, { client_name: 'Strict', redirect_uris: [CALLBACK], token_endpoint_auth_method: 'none' }, options));
        const verifier = oauth.generateRandomCodeVerifier(), state = oauth.generateRandomState();
        const asked = new URLSearchParams({
            client_id: registered.client_id, redirect_uri: CALLBACK, response_type: 'code', scope: 'logs:read access:read', state,
            code_challenge: await oauth.calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256', resource: resource.href,
        });
        const { site } = await signInBrowser(client);
        const { address, ...parameters } = await decide(site, asked.toString());
        assert.equal(address, CALLBACK);
        const checked = oauth.validateAuthResponse(as, registered, new URLSearchParams(parameters), state); // with iss
        const send = oauth.authorizationCodeGrantRequest(as, registered, oauth.None(), checked, CALLBACK, verifier, { ...options, additionalParameters: { resource: resource.href } });
        const tokens = await oauth.processAuthorizationCodeResponse(as, registered, await send);
        assert.deepEqual([tokens.token_type, tokens.expires_in, tokens.scope], ['bearer', HOUR, 'access:read logs:read']);
        const renewed = await oauth.processRefreshTokenResponse(as, registered, await oauth.refreshTokenGrantRequest(as, registered, oauth.None(), tokens.refresh_token, options));
        await dead(tokens);
        ok(await client.as(renewed.access_token).get('/v1/logs'));
        refused(await client.as(renewed.access_token).get('/v1/account'), 403, 'INSUFFICIENT_SCOPE', 'account:read');
        assert.equal(await oauth.processRevocationResponse(await oauth.revocationRequest(as, registered, oauth.None(), renewed.refresh_token, options)), undefined);
        await dead(renewed);
        assert.deepEqual(await keysOf(site), []);
        // A response of another issuer, or of none, is for this client to refuse: the service names itself in each.
        assert.throws(() => oauth.validateAuthResponse({ ...as, issuer: 'https://other.example' }, registered, new URLSearchParams(parameters), state), /iss/);
        const no = await decide(site, asked.toString(), { allow: false });
        assert.deepEqual([no.error, no.iss, no.state, no.code], ['access_denied', at(), state, undefined]);
    });

    it('the resident sees an assistant by its name among the keys, allows less than it asks for, and ends it', async () => {
        const one = await assistant(client, { name: 'Kitchen robot' });
        const { site } = await signInBrowser(client);
        const request = one.ask({ scope: 'account:read access:read access:write' });
        const { code } = await decide(site, request, { scopes: ['access:read'] });
        const tokens = ok(await one.redeem(code));
        assert.equal(tokens.scope, 'access:read');
        const [key, ...others] = await keysOf(site);
        assert.deepEqual(others, []);
        assert.match(key.id, ID);
        assert.deepEqual([key.name, key.scopes], ['Kitchen robot', ['access:read']]);
        await advance(client, 2 * HOUR);
        await dead(tokens);
        assert.equal((await keysOf(site))[0].id, key.id);
        assert.ok(Date.parse((await keysOf(site))[0].expires_at) - Date.parse(key.expires_at) < 1000);
        const next = ok(await one.refresh(tokens.refresh_token));
        assert.equal((await keysOf(site))[0].id, key.id);
        ok(await site.delete(`/v1/auth/keys/${key.id}`));
        await dead(next);
        failed(await one.refresh(next.refresh_token), 'invalid_grant');
    });

    // KEY-18
    it('a leak ends assistants whose access token has run out, and codes that wait', async () => {
        const { assistant: one, site, tokens } = await connected(client);
        await advance(client, 2 * HOUR);
        const { code } = await decide(site, one.ask());
        assert.equal(ok(await site.post('/v1/auth/keys/revoke-others')).revoked_count >= 1, true);
        failed(await one.refresh(tokens.refresh_token), 'invalid_grant');
        failed(await one.redeem(code), 'invalid_grant');
    });

    // OAUTH-12
    it('an assistant that is not used for 30 days has to ask again, and its rows go', async () => {
        const { assistant: one, tokens } = await connected(client);
        await advance(client, 29 * DAY);
        const next = ok(await one.refresh(tokens.refresh_token));
        await advance(client, 30 * DAY);
        failed(await one.refresh(next.refresh_token), 'invalid_grant');
    });

    describe('a refresh', () => {
        const same = (answer, next) => {
            const { access_token: access, refresh_token: refresh, scope } = ok(answer);
            assert.deepEqual([access, refresh, scope], [next.access_token, next.refresh_token, next.scope]);
        };

        // OAUTH-18
        it('may ask for less, and for scopes that are not known, which are left out', async () => {
            const { assistant: one, tokens } = await connected(client, { scope: 'account:read access:read' });
            const next = ok(await one.refresh(tokens.refresh_token, { scope: ' openid account:read' }));
            assert.equal(next.scope, 'account:read');
            assert.equal(ok(await one.refresh(next.refresh_token, { scope: ' offline_access' })).scope, 'account:read access:read');
        });

        // OAUTH-13
        it('whose answer was lost gives the same again, for a minute and with the life that is left', async () => {
            const { assistant: one, site, tokens } = await connected(client, { scope: 'account:read access:read' });
            const next = ok(await one.refresh(tokens.refresh_token, { scope: 'account:read' }));
            same(await one.refresh(tokens.refresh_token), next); // also with other scopes
            await advance(client, 50);
            const again = await one.refresh(tokens.refresh_token);
            same(again, next);
            assert.ok(again.body.expires_in <= HOUR - 50 && again.body.expires_in > HOUR - 60, `${again.body.expires_in}`);
            failed(await one.refresh(tokens.refresh_token, { scope: 'billing:write' }), 'invalid_scope');
            await advance(client, HOUR - 120);
            await alive(next);
            assert.equal((await keysOf(site)).length, 1);
            await advance(client, 120);
            await dead(next);
            ok(await one.refresh(next.refresh_token));
        });

        it('whose answer was lost with the service gives the same again', async () => {
            const own = await world();
            try {
                const { assistant: one, tokens } = await connected(own.client);
                const next = ok(await one.refresh(tokens.refresh_token));
                await own.daemon.crash();
                await own.daemon.start();
                same(await one.refresh(tokens.refresh_token), next);
                ok(await own.client.as(next.access_token).get('/v1/account'));
            } finally {
                await own.close();
            }
        });

        it('of several processes at once gives all of them the same', async () => {
            for (let round = 0; round < 5; round++) {
                const { assistant: one, tokens } = await connected(client);
                const answers = await Promise.all(Array.from({ length: 8 }, () => one.refresh(tokens.refresh_token)));
                for (const answer of answers) same(answer, answers[0].body);
                await alive(answers[0].body);
                await dead(tokens);
                await alive(ok(await one.refresh(answers[0].body.refresh_token)));
            }
        });

        it('gives nothing again after the grant was revoked', async () => {
            const { assistant: one, tokens } = await connected(client);
            const next = ok(await one.refresh(tokens.refresh_token));
            ok(await one.revoke(tokens.refresh_token));
            failed(await one.refresh(tokens.refresh_token), 'invalid_grant');
            await dead(next);
        });
    });

    describe('refuses', () => {
        const tries = {
            'a wrong verifier': { code_verifier: 'x'.repeat(43) },
            'another redirect': { redirect_uri: `${CALLBACK}/other` },
            'a code of nobody': { code: 'x'.repeat(43) },
            'another resource': { resource: undefined },
        };
        for (const [what, change] of Object.entries(tries)) {
            // OAUTH-15
            it(`${what}, and the code is used then`, async () => {
                const one = await assistant(client);
                const { site } = await signInBrowser(client);
                const { code } = await decide(site, one.ask({ resource: `${at()}/mcp` }));
                if ('resource' in change) change.resource = at();
                failed(await one.redeem(code, change), 'invalid_grant');
                if (!change.code) failed(await one.redeem(code), 'invalid_grant');
                assert.deepEqual(await keysOf(site), []);
            });
        }

        it('a code that another client presents, also one of another account', async () => {
            const one = await assistant(client), other = await assistant(client);
            const { site } = await signInBrowser(client);
            const { code } = await decide(site, one.ask());
            failed(await other.redeem(code, { code_verifier: one.verifier }), 'invalid_grant');
            const { tokens } = await connected(client);
            failed(await other.refresh(tokens.refresh_token), 'invalid_grant');
            failed(await other.revoke(tokens.refresh_token), 'invalid_client');
            await alive(tokens);
        });

        it('a code after a minute', async () => {
            const one = await assistant(client);
            const { site } = await signInBrowser(client);
            const { code } = await decide(site, one.ask());
            await advance(client, 60);
            failed(await one.redeem(code), 'invalid_grant');
        });

        // OAUTH-14
        it('a code that comes again, and ends what it gave', async () => {
            const one = await assistant(client);
            const { site } = await signInBrowser(client);
            const { code } = await decide(site, one.ask());
            const tokens = ok(await one.redeem(code));
            await alive(tokens);
            failed(await one.redeem(code), 'invalid_grant');
            await dead(tokens);
            failed(await one.refresh(tokens.refresh_token), 'invalid_grant');
        });

        // OAUTH-14
        it('a refresh token that comes again after a minute, and ends what came of it', async () => {
            const { assistant: one, tokens } = await connected(client);
            const next = ok(await one.refresh(tokens.refresh_token));
            await advance(client, 60);
            failed(await one.refresh(tokens.refresh_token), 'invalid_grant');
            await dead(next);
            failed(await one.refresh(next.refresh_token), 'invalid_grant');
        });

        // OAUTH-13
        it('the refresh token before the one that was replaced, also within a minute', async () => {
            const { assistant: one, tokens } = await connected(client);
            const next = ok(await one.refresh(ok(await one.refresh(tokens.refresh_token)).refresh_token));
            failed(await one.refresh(tokens.refresh_token), 'invalid_grant');
            await dead(next);
        });

        it('a replaced refresh token of another client, and ends the grant', async () => {
            const { assistant: one, tokens } = await connected(client);
            const next = ok(await one.refresh(tokens.refresh_token));
            failed(await (await assistant(client)).refresh(tokens.refresh_token), 'invalid_grant');
            await dead(next);
        });

        it('of two simultaneous exchanges of a code all but one', async () => {
            const one = await assistant(client);
            const { site } = await signInBrowser(client);
            const { code } = await decide(site, one.ask());
            const answers = await Promise.all(Array.from({ length: 8 }, () => one.redeem(code)));
            const won = answers.filter(({ status }) => status === 200);
            assert.equal(won.length, 1);
            await dead(won[0].body); // the others showed that two have the code
        });

        // OAUTH-19
        it('more scopes at a refresh than the resident allowed', async () => {
            const { assistant: one, tokens } = await connected(client, { scope: 'account:read access:read' });
            failed(await one.refresh(tokens.refresh_token, { scope: 'account:read billing:write' }), 'invalid_scope');
            failed(await one.refresh(tokens.refresh_token, { scope: 'billing:write' }), 'invalid_scope');
            await alive(tokens);
        });

        it('malformed requests for tokens, with the errors of RFC 6749', async () => {
            const one = await assistant(client);
            failed(await one.redeem('x', { grant_type: 'password' }), 'unsupported_grant_type');
            failed(await one.redeem('x', { grant_type: 'client_credentials' }), 'unsupported_grant_type');
            failed(await one.redeem('x', { grant_type: '' }), 'invalid_request');
            failed(await one.redeem(''), 'invalid_request');
            failed(await one.redeem('x', { code_verifier: '' }), 'invalid_request');
            failed(await one.redeem('x', { client_id: '' }), 'invalid_request');
            failed(await one.redeem('x', { client_id: 'unknown' }), 'invalid_client');
            failed(await one.redeem('x', { resource: 'https://other.example/mcp' }), 'invalid_target');
            failed(await one.refresh(''), 'invalid_request');
            failed(await one.refresh('svc_refresh_'), 'invalid_grant');
            failed(await one.revoke(''), 'invalid_request');
            failed(await client.as(undefined).post('/oauth/token', { grant_type: 'authorization_code' }, { check: false }), 'invalid_request');
            failed(await client.as(undefined).request('POST', '/oauth/token', { text: 'grant_type=%zz', headers: { 'content-type': 'application/x-www-form-urlencoded' }, check: false }), 'invalid_request');
            assert.equal((await post(client, '/oauth/token', { client_id: one.id, code: 'x'.repeat(20_000) })).status, 413);
            ok(await one.revoke('unknown')); // RFC 7009 section 2.2
        });

        it('to revoke a key that is no assistant\'s', async () => {
            const one = await assistant(client);
            const robot = await agent(await signIn(client), ['account:read']);
            ok(await one.revoke(robot.key));
            ok(await robot.client.get('/v1/account'));
        });
    });

    describe('the request for consent', () => {
        const look = async (site, query) => ok(await site.get(`/v1/oauth/request?${query}`));

        it('tells who asks, where it leads, and for what', async () => {
            const one = await assistant(client, { name: 'Kitchen robot', redirect: 'http://127.0.0.1/cb' });
            const { site } = await signInBrowser(client);
            one.redirect = 'http://127.0.0.1:50123/cb';
            assert.deepEqual(await look(site, one.ask({ scope: 'logs:read offline_access keys:write' })),
                { ...PLAIN, client: 'Kitchen robot', host: '127.0.0.1', this_device: true, scopes: ['logs:read'] });
            const web = await assistant(client);
            const seen = { ...PLAIN, client: 'Assistant', host: 'assistant.example', this_device: false };
            for (const scope of [undefined, '', ' ', 'openid email profile', ' offline_access', 'keys:write']) assert.deepEqual(await look(site, web.ask({ scope })), { ...seen, scopes: FIRST }, scope);
            const editor = await assistant(client, { redirect: OWN_SCHEME });
            assert.deepEqual(await look(site, editor.ask({ scope: 'openid' })), { ...seen, host: 'cursor', this_device: true, scopes: FIRST });
        });

        // OAUTH-9
        it('sends nothing anywhere if client or address are not known', async () => {
            const one = await assistant(client);
            const { site } = await signInBrowser(client);
            const nowhere = [{ client_id: 'unknown' }, { client_id: undefined }, { client_id: `${one.id}x` }, { redirect_uri: undefined }, { redirect_uri: 'https://evil.example/' },
                { redirect_uri: `${CALLBACK}/../evil` }, { redirect_uri: `${CALLBACK}?next=https://evil.example` }, { redirect_uri: 'javascript:alert(1)' },
                { redirect_uri: 'https://assistant.example@evil.example/callback' }, { redirect_uri: `${CALLBACK}#x` }];
            const queries = [...nowhere.map((change) => one.ask(change)), `${one.ask()}&redirect_uri=https%3A%2F%2Fevil.example`, `${one.ask()}&client_id=x`, '', 'x'.repeat(6500)];
            for (const query of queries) {
                const { error, back, host } = await look(site, query);
                assert.deepEqual([error, back, host], ['invalid_request', null, null], query);
                if (query && query.length < 6000) refused(await site.post('/v1/oauth/decision', { request: query, allow: true }), 400, 'INVALID_KEY_OPTIONS');
                if (query && query.length < 6000) refused(await site.post('/v1/oauth/decision', { request: query, allow: false }), 400, 'INVALID_KEY_OPTIONS');
            }
        });

        // OAUTH-21
        it('has the errors of RFC 6749 and RFC 8707 for the rest, and cannot be allowed then', async () => {
            const one = await assistant(client);
            const { site } = await signInBrowser(client);
            const cases = [
                [{ response_type: 'token' }, 'unsupported_response_type'], [{ response_type: undefined }, 'invalid_request'], [{ code_challenge: undefined }, 'invalid_request'],
                [{ code_challenge: 'short' }, 'invalid_request'], [{ code_challenge_method: 'plain' }, 'invalid_request'], [{ code_challenge_method: undefined }, 'invalid_request'],
                [{ resource: 'https://other.example/mcp' }, 'invalid_target'], [{ resource: `${at()}/mcp/x` }, 'invalid_target'], [{ resource: `${at()}.evil.example` }, 'invalid_target'],
            ];
            for (const [change, error] of cases) {
                const seen = await look(site, one.ask(change));
                assert.equal(seen.error, error, JSON.stringify(change));
                const back = new URL(seen.back);
                assert.deepEqual([back.origin + back.pathname, back.searchParams.get('error'), back.searchParams.get('state'), back.searchParams.get('iss')],
                    [CALLBACK, error, 'a state', at()]);
                refused(await site.post('/v1/oauth/decision', { request: one.ask(change), allow: true }), 400, 'INVALID_KEY_OPTIONS');
            }
            assert.equal((await look(site, `${one.ask()}&state=twice`)).error, 'invalid_request');
            assert.equal((await look(site, one.ask({ resource: at().toUpperCase().replace('HTTPS', 'https') }))).error, null);
        });

        it('allows no scope that was not asked for, and at least one', async () => {
            const one = await assistant(client);
            const { site } = await signInBrowser(client);
            const request = one.ask({ scope: 'account:read' });
            refused(await site.post('/v1/oauth/decision', { request, allow: true, scopes: ['billing:write'] }), 403, 'INSUFFICIENT_SCOPE', 'billing:write');
            refused(await site.post('/v1/oauth/decision', { request, allow: true, scopes: ['keys:write'] }), 400, 'INVALID_KEY_OPTIONS');
            refused(await site.post('/v1/oauth/decision', { request, allow: true, scopes: [] }), 400, 'INVALID_KEY_OPTIONS');
        });

        // OAUTH-23
        it('is decided by a page of this website alone, with a resident who is signed in', async () => {
            const one = await assistant(client);
            const { cookie, email } = await signInBrowser(client);
            const body = { request: one.ask(), allow: true };
            const from = (headers) => browser(client, cookie).post('/v1/oauth/decision', body, { headers });
            refused(await from({ 'sec-fetch-site': 'cross-site' }), 403, 'CROSS_SITE_REQUEST');
            refused(await from({ 'sec-fetch-site': 'same-site' }), 403, 'CROSS_SITE_REQUEST');
            refused(await from({ 'sec-fetch-site': undefined }), 403, 'CROSS_SITE_REQUEST');
            refused(await from({ 'sec-fetch-site': undefined, origin: 'https://evil.example' }), 403, 'CROSS_SITE_REQUEST');
            refused(await browser(client, undefined).post('/v1/oauth/decision', body), 401, 'AUTH_REQUIRED');
            const robot = await agent(await signIn(client, email), ['account:read']);
            assert.equal((await robot.client.post('/v1/oauth/decision', body, { check: false })).status, 404); // only below /app
        });

        // OAUTH-17
        it('tells of too many keys before anything is given', async () => {
            const session = await signIn(client);
            for (let i = 0; i < 20; i++) await agent(session, ['account:read']);
            const one = await assistant(client);
            const { site } = await signInBrowser(client, { email: session.email });
            refused(await site.post('/v1/oauth/decision', { request: one.ask(), allow: true }), 409, 'KEY_LIMIT');
        });

        // OAUTH-17
        it('is told of too many keys at the exchange, too', async () => {
            const session = await signIn(client);
            const one = await assistant(client);
            const { site } = await signInBrowser(client, { email: session.email });
            const { code } = await decide(site, one.ask());
            for (let i = 0; i < 20; i++) await agent(session, ['account:read']);
            failed(await one.redeem(code), 'invalid_grant');
        });
    });

    // OAUTH-18
    it('an assistant with a scheme of its own connects, and gets what the page showed for scopes that nobody knows', async () => {
        const one = await assistant(client, { uris: ['javascript:alert(1)', OWN_SCHEME], redirect: OWN_SCHEME });
        const { site } = await signInBrowser(client);
        const to = new URL(ok(await site.post('/v1/oauth/decision', { request: one.ask({ scope: 'openid email profile' }), allow: true })).redirect_to);
        assert.ok(to.href.startsWith(`${OWN_SCHEME}?code=`), to.href);
        const tokens = ok(await one.redeem(to.searchParams.get('code')));
        assert.equal(tokens.scope, FIRST.join(' '));
        await alive(tokens);
    });

    describe('registration', () => {
        // OAUTH-2
        it('leaves out what it cannot take of a list, and returns the rest', async () => {
            const kept = async (uris, more) => ok(await register(client, { redirect_uris: uris, ...more }), 201).redirect_uris;
            assert.deepEqual(await kept([OWN_SCHEME, 'http://evil.example/', CALLBACK, 'javascript://x/%0aalert(1)', 'http://localhost:8787/callback', '']),
                [OWN_SCHEME, CALLBACK, 'http://localhost:8787/callback']);
            const long = Array.from({ length: 4 }, (_, i) => `https://a.example/${i}${'x'.repeat(450)}`);
            assert.deepEqual(await kept([...long, CALLBACK]), [...long.slice(0, 2), CALLBACK]);
            assert.equal((await kept(Array.from({ length: 20 }, (_, i) => `http://localhost:${3000 + i}/`))).length, 20);
            const words = Array.from({ length: 20 }, (_, i) => `urn:x:${i}`);
            assert.deepEqual(await kept([CALLBACK], {
                grant_types: [...words, 'authorization_code'], response_types: ['code id_token', ...words, 'code'], contacts: words, scope: words.join(' '),
                token_endpoint_auth_method: 'private_key_jwt', token_endpoint_auth_methods_supported: ['none', 'private_key_jwt'], jwks_uri: 'https://assistant.example/jwks.json',
            }), [CALLBACK]);
        });

        // OAUTH-1
        it('takes what clients send, and gives no secret', async () => {
            const answer = await register(client, {
                client_name: '  Robot ', redirect_uris: [CALLBACK, 'http://localhost/'], grant_types: ['authorization_code'], token_endpoint_auth_method: 'client_secret_basic',
                application_type: 'native', client_uri: 'javascript:alert(1)', logo_uri: 'https://evil.example/x.png', scope: 'everything', contacts: [],
            });
            const { client_id: id, client_id_issued_at: at, ...rest } = ok(answer, 201);
            assert.ok(id.length < 2048 && /^[\w.-]+$/.test(id));
            assert.ok(Number.isInteger(at));
            assert.deepEqual(rest, {
                client_name: 'Robot', redirect_uris: [CALLBACK, 'http://localhost/'], grant_types: ['authorization_code', 'refresh_token'],
                response_types: ['code'], token_endpoint_auth_method: 'none',
            });
            assert.equal(ok(await register(client, { redirect_uris: [CALLBACK] }), 201).client_name, 'assistant.example');
        });

        // OAUTH-8
        it('refuses what is not safe, with the errors of RFC 7591', async () => {
            const bad = (body, error) => register(client, body).then((answer) => failed(answer, error));
            for (const uri of ['http://assistant.example/', 'javascript:alert(1)', 'data:text/html,x', 'com.example:cb', `${CALLBACK}#x`, 'https://user@assistant.example/', '/cb', '',
                'https://a.example/\n', 'https://a.example/"><script>', `https://a.example/${'x'.repeat(500)}`]) await bad({ redirect_uris: [uri] }, 'invalid_redirect_uri');
            await bad({ redirect_uris: [] }, 'invalid_redirect_uri');
            await bad({ redirect_uris: ['javascript:alert(1)', 'http://assistant.example/'] }, 'invalid_redirect_uri');
            await bad({}, 'invalid_client_metadata');
            await bad([], 'invalid_client_metadata');
            await bad({ redirect_uris: [CALLBACK], client_name: 'x'.repeat(81) }, 'invalid_client_metadata');
            await bad({ redirect_uris: [CALLBACK], client_name: 'a\u202eb' }, 'invalid_client_metadata');
            await bad({ redirect_uris: [CALLBACK], client_name: 'a\nb' }, 'invalid_client_metadata');
            await bad({ redirect_uris: [CALLBACK], grant_types: ['implicit'] }, 'invalid_client_metadata');
            await bad({ redirect_uris: [CALLBACK], response_types: ['token'] }, 'invalid_client_metadata');
            failed(await client.as(undefined).request('POST', '/oauth/register', { text: '{', check: false }), 'invalid_client_metadata');
        });

        // OAUTH-3
        it('of thousands leaves nothing behind, and each of them can ask', async () => {
            const ids = new Set();
            for (let round = 0; round < 100; round++) {
                const answers = await Promise.all(Array.from({ length: 30 }, () => register(client, { redirect_uris: [CALLBACK] })));
                for (const answer of answers) ids.add(ok(answer, 201).client_id);
            }
            assert.equal(ids.size, 3000);
            const { site } = await signInBrowser(client);
            const one = await assistant(client);
            for (const id of [...ids].slice(0, 3)) assert.equal(ok(await site.get(`/v1/oauth/request?${one.ask({ client_id: id })}`)).error, null);
        });
    });

    describe('at the same time', () => {
        it('two tabs allow the same assistant: it has one grant, from one exchange', async () => {
            const one = await assistant(client);
            const { site } = await signInBrowser(client);
            for (let round = 0; round < 5; round++) {
                const [a, b] = await Promise.all([decide(site, one.ask()), decide(site, one.ask({ scope: 'account:read' }))]);
                const tokens = (await Promise.all([one.redeem(a.code), one.redeem(b.code)])).map((answer) => ok(answer));
                const states = await Promise.all(tokens.map(async ({ access_token: key }) => (await client.as(key).get('/v1/account')).status));
                assert.deepEqual(states.sort(), [200, 401]);
                assert.equal((await keysOf(site)).length, 1);
            }
        });

        it('two assistants exchange their codes: the last place of an account is given once', async () => {
            const person = await signIn(client);
            for (let i = 0; i < 19; i++) await agent(person, ['account:read']);
            const { site } = await signInBrowser(client, { email: person.email });
            const both = [await assistant(client), await assistant(client)];
            const codes = await Promise.all(both.map((one) => decide(site, one.ask())));
            const answers = await Promise.all(both.map((one, i) => one.redeem(codes[i].code)));
            assert.deepEqual(answers.map(({ status, body }) => body.error ?? status).sort(), [200, 'invalid_grant']);
            assert.equal((await keysOf(site)).length, 20);
        });
    });

    describe('between consent and exchange', () => {
        it('the account is deleted: the code gives nothing', async () => {
            const one = await assistant(client), other = await assistant(client);
            const { site, email } = await signInBrowser(client);
            const { code } = await decide(site, one.ask());
            const tokens = ok(await other.redeem((await decide(site, other.ask())).code));
            const done = portero(['admin', 'account', 'delete', email, '--yes', '--config', w.daemon.configPath, '--data', w.daemon.data]);
            assert.equal(done.status, 0, done.stderr);
            failed(await one.redeem(code), 'invalid_grant');
            failed(await other.refresh(tokens.refresh_token), 'invalid_grant');
            await dead(tokens);
        });

        it('another person signs in with the browser: the code is for the account that allowed it', async () => {
            const one = await assistant(client);
            const first = await signInBrowser(client);
            const { code } = await decide(first.site, one.ask());
            const second = await signInBrowser(client);
            const { code: later } = await decide(second.site, one.ask());
            assert.equal((await alive(ok(await one.redeem(code)))).email, first.email);
            assert.equal((await alive(ok(await one.redeem(later)))).email, second.email);
        });
    });

    it('another site cannot decide for a resident, nor read what is asked', async () => {
        const one = await assistant(client);
        const { site } = await signInBrowser(client);
        const { cookie } = site;
        for (const headers of [{ origin: 'https://evil.example' }, { origin: 'null' }, { origin: at(), 'sec-fetch-site': 'cross-site' }, {}]) {
            const answer = await client.as(undefined).post('/app/v1/oauth/decision', { request: one.ask(), allow: true }, { headers: { cookie: `${COOKIE}=${cookie}`, ...headers } });
            refused(answer, 403, 'CROSS_SITE_REQUEST');
        }
        assert.deepEqual(await keysOf(site), []);
    });

    describe('a page of another origin', () => {
        const ask = (path) => client.as(undefined).request('OPTIONS', path,
            { headers: { origin: 'https://web.example', 'access-control-request-method': 'POST', 'access-control-request-headers': 'content-type' }, check: false });

        // OAUTH-23
        it('may read the metadata, register, and get tokens, but not decide', async () => {
            for (const path of ['/.well-known/oauth-protected-resource', '/.well-known/oauth-protected-resource/mcp', '/.well-known/oauth-authorization-server', '/oauth/register', '/oauth/token', '/oauth/revoke']) {
                const answer = await ask(path);
                assert.equal(answer.status, 204, path);
                assert.equal(answer.headers['access-control-allow-origin'], '*');
                assert.equal(answer.headers['access-control-allow-credentials'], undefined);
            }
            assert.equal((await register(client, { redirect_uris: [CALLBACK] })).headers['access-control-allow-origin'], '*');
            for (const path of ['/oauth/authorize', '/app/v1/oauth/decision']) {
                const answer = await ask(path);
                assert.ok(answer.status >= 400, path);
                assert.equal(answer.headers['access-control-allow-origin'], undefined);
            }
        });
    });

    it('the metadata name this service, whatever Host says', async () => {
        const server = ok(await client.as(undefined).get('/.well-known/oauth-authorization-server', { headers: { host: 'evil.example' }, check: false }));
        assert.equal(server.issuer, at());
        assert.deepEqual([server.code_challenge_methods_supported, server.token_endpoint_auth_methods_supported, server.authorization_response_iss_parameter_supported], [['S256'], ['none'], true]);
        for (const [path, resource] of [['', ''], ['/mcp', '/mcp']]) {
            const found = ok(await client.as(undefined).get(`/.well-known/oauth-protected-resource${path}`, { check: false }));
            assert.deepEqual([found.resource, found.authorization_servers, found.scopes_supported], [`${at()}${resource}`, [at()], FIRST]);
        }
    });
});

describe('the limit of OAuth', () => {
    const w = useWorld({ config: { limits: { oauth_per_ip: 5 } } });

    // OAUTH-22
    it('holds for each address', async () => {
        for (let i = 0; i < 5; i++) ok(await register(w.client, { redirect_uris: [CALLBACK] }), 201);
        const answer = await register(w.client, { redirect_uris: [CALLBACK] });
        refused(answer, 429, 'RATE_LIMIT_EXCEEDED');
        assert.ok(Number(answer.headers['retry-after']) > 0);
        refused(await post(w.client, '/oauth/token', {}), 429, 'RATE_LIMIT_EXCEEDED');
    });
});
