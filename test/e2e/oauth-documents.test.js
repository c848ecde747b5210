// OAuth Client ID Metadata Documents: assistants that are known by the address of a document, which the service fetches.
import { describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { auth, Client as McpClient, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { behindProxy, ok, refused } from './lib/client.js';
import { TRUSTED, useDocuments } from './lib/documents.js';
import { REVISION } from './lib/mcp.js';
import { CALLBACK, decide, failed, fetchOf, FIRST, known, publicOf } from './lib/oauth.js';
import { signInBrowser } from './lib/site.js';
import { METRICS, page, raised } from './lib/metrics.js';
import { advance, useWorld } from './lib/world.js';

const LOCAL = 'http://127.0.0.1:33418/callback';
const HOUR = 3600, DAY = 24 * HOUR;

describe('an assistant that is known by an address', () => {
    const w = useWorld({ config: { ...METRICS, ...TRUSTED, trusted_proxies: ['127.0.0.1/32'] } });
    const { client } = w;
    const host = useDocuments(), elsewhere = useDocuments();
    const at = () => publicOf(w);
    const keysOf = async (site) => ok(await site.get('/v1/auth/keys')).data.filter((key) => key.type === 'agent');
    const read = async (site, request) => ok(await site.post('/v1/oauth/client', { request }));
    /** The resident allows what the assistant with that address asks for: the code. */
    async function allow(site, one, change) {
        const request = one.ask(change);
        const { voucher } = await read(site, request);
        return (await decide(site, request, { voucher })).code;
    }

    it('is announced, and the official client of the protocol connects without registering', async () => {
        const clientMetadataUrl = host.put('/sdk.json', { client_name: 'SDK' });
        const provider = {
            clientMetadataUrl, clientMetadata: { client_name: 'SDK', redirect_uris: [CALLBACK] }, redirectUrl: CALLBACK,
            clientInformation() { return this.information; },
            saveClientInformation(information) { this.information = information; },
            tokens() { return this.kept; },
            saveTokens(tokens) { this.kept = tokens; },
            redirectToAuthorization(address) { this.address = address; },
            saveCodeVerifier(verifier) { this.verifier = verifier; },
            codeVerifier() { return this.verifier; },
            saveDiscoveryState(state) { this.discovered = state; },
            discoveryState() { return this.discovered; },
        };
        const fetch = fetchOf(client), serverUrl = `${at()}/mcp`;
        const open = () => new StreamableHTTPClientTransport(new URL(serverUrl), { authProvider: provider, fetch });
        const mcp = () => new McpClient({ name: 'test', version: '1' }, { versionNegotiation: { mode: { pin: REVISION } } });
        const first = open();
        await assert.rejects(mcp().connect(first), /Unauthorized/);
        assert.equal(provider.discovered.authorizationServerMetadata.client_id_metadata_document_supported, true);
        assert.equal(provider.address.searchParams.get('client_id'), clientMetadataUrl);
        const { site, email } = await signInBrowser(client);
        const request = provider.address.search.slice(1);
        assert.equal(ok(await site.get(`/v1/oauth/request?${request}`)).unread, true);
        const view = await read(site, request);
        assert.deepEqual([view.client, view.client_host, view.host, view.scopes, view.error], ['SDK', new URL(clientMetadataUrl).host, 'assistant.example', FIRST, null]);
        const { code, iss } = await decide(site, request, { voucher: view.voucher });
        await first.finishAuth(code, iss);
        const connected = mcp();
        await connected.connect(open());
        assert.equal((await connected.callTool({ name: 'getAccount', arguments: {} })).structuredContent.email, email);
        assert.equal(await auth(provider, { serverUrl, fetchFn: fetch }), 'AUTHORIZED'); // it refreshes
        assert.deepEqual((await keysOf(site)).map(({ name }) => name), ['SDK']);
        await connected.close();
    });

    // OAUTH-1
    it('may prefer to prove a key, if it offers no proof as well, and may ask for scopes that nobody knows', async () => {
        const one = known(client, host.put('/both.json', {
            grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:jwt-bearer'], response_types: ['code', 'id_token'],
            token_endpoint_auth_method: 'private_key_jwt', token_endpoint_auth_methods_supported: ['none', 'private_key_jwt'],
            token_endpoint_auth_signing_alg: 'RS256', jwks_uri: 'https://assistant.example/jwks.json', scope: 'openid', contacts: ['a@assistant.example'],
        }));
        const { site } = await signInBrowser(client);
        const view = await read(site, one.ask({ scope: 'openid email profile' }));
        assert.deepEqual([view.client, view.reason, view.error, view.scopes], ['Kitchen robot', null, null, FIRST]);
        const tokens = ok(await one.redeem(await allow(site, one, { scope: 'openid email profile' })));
        assert.equal(tokens.scope, FIRST.join(' '));
        ok(await client.as(ok(await one.refresh(tokens.refresh_token)).access_token).get('/v1/account'));
    });

    it('gets tokens, refreshes and revokes by its address, without another fetch', async () => {
        const one = known(client, host.put('/whole.json'));
        const { site } = await signInBrowser(client);
        const tokens = ok(await one.redeem(await allow(site, one)));
        const next = ok(await one.refresh(tokens.refresh_token));
        ok(await client.as(next.access_token).get('/v1/account'));
        failed(await known(client, host.url('/other.json')).refresh(next.refresh_token), 'invalid_grant');
        ok(await one.revoke(next.refresh_token));
        refused(await client.as(next.access_token).get('/v1/account'), 401, 'INVALID_KEY');
        assert.equal(host.count('/whole.json'), 1);
    });

    it('of the web has one grant in an account, and a program one for each installation', async () => {
        const { site } = await signInBrowser(client);
        const web = known(client, host.put('/web.json')), program = known(client, host.put('/program.json', { redirect_uris: ['http://127.0.0.1/callback'] }), LOCAL);
        for (const one of [web, program]) {
            for (let i = 0; i < 2; i++) ok(await one.redeem(await allow(site, one)));
        }
        assert.equal((await keysOf(site)).length, 3);
    });

    describe('is refused', () => {
        const ask = (address) => known(client, address).ask();
        const REASONS = {
            'whose document names another address': [{ client_id: 'https://localhost/other.json' }, /not the address/],
            'whose document names the same address in other words': [{ client_id: 'HTTPS://localhost/x' }, /not the address/],
            'whose document has no name': [{ client_name: undefined }, /client_name is required/],
            'whose name has an invisible character': [{ client_name: 'a\u202eb' }, /invisible/],
            'whose document has no redirect': [{ redirect_uris: undefined }, /redirect_uris is required/],
            'whose redirects are all unsafe': [{ redirect_uris: ['http://assistant.example/', 'javascript:alert(1)', 'com.example:cb'] }, /redirect_uris has none/],
            'that would have to prove a key': [{ token_endpoint_auth_method: 'private_key_jwt', jwks_uri: 'https://assistant.example/keys' }, /must be none/],
            'that offers proofs alone': [{ token_endpoint_auth_methods_supported: ['private_key_jwt'] }, /must be none/],
            'whose document has a secret': [{ client_secret: 'x' }, /client_secret/],
            'that wants another grant': [{ grant_types: ['client_credentials'] }, /authorization_code/],
            'whose document is a list': ['[]', /one JSON object/],
            'whose document is not JSON': ['{', /one JSON object/],
            'whose document is too long': [{ more: 'x'.repeat(6000) }, /5120 bytes/],
            'whose document is a page': [{}, /Content-Type/, { 'Content-Type': 'text/html' }],
            'whose document has moved': [{}, /another status/, { Location: '/elsewhere.json' }, 302],
            'whose document was made': [{}, /another status/, {}, 201],
        };
        for (const [what, [document, reason, head, status]] of Object.entries(REASONS)) {
            it(what, async () => {
                const { site } = await signInBrowser(client);
                const path = `/refused-${Object.keys(REASONS).indexOf(what)}.json`;
                const request = ask(host.put(path, document, head, status));
                const view = await read(site, request);
                assert.match(`${view.reason}`, reason);
                assert.deepEqual([view.client, view.host, view.error, view.back, view.voucher], [null, null, 'invalid_request', null, null]);
                refused(await site.post('/v1/oauth/decision', { request, allow: true }), 400, 'INVALID_KEY_OPTIONS');
                await read(site, request); // nothing of it is kept
                assert.equal(host.count(path), 2);
                assert.equal(host.count('/elsewhere.json'), 0);
            });
        }

        it('at an address that is none of a document, and is never fetched', async () => {
            const { site } = await signInBrowser(client);
            const { port } = host.server.address();
            const before = host.requests.length;
            for (const address of [`https://localhost:${port}`, `http://localhost:${port}/x`, `https://localhost:${port}/a/../x`, `https://localhost:${port}/%2E%2e/x`, `https://localhost:${port}/x#y`,
                `https://user@localhost:${port}/x`, `https://localhost:${port}/ x`, `https://localhost:${port}/${'x'.repeat(500)}`, `HTTPS://localhost:${port}/x`]) {
                const view = await read(site, ask(address));
                assert.deepEqual([view.client, view.client_host, view.unread, view.error], [null, null, false, 'invalid_request'], address);
            }
            assert.equal(host.requests.length, before);
        });

        // OAUTH-4
        it('whose host has a certificate for another name', async () => {
            const { site } = await signInBrowser(client);
            const view = await read(site, ask(host.put('/named.json').replace('localhost', '127.0.0.1')));
            assert.match(view.reason, /valid certificate/);
        });

        it('whose host is cut off in the middle', async () => {
            const { site } = await signInBrowser(client);
            const address = host.answer('/cut.json', (_, response) => {
                response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': 100 });
                response.write('{', () => response.destroy());
            });
            assert.match((await read(site, ask(address))).reason, /did not arrive/);
        });

        it('if it asks for a redirect that is not in its document, and nothing is sent there', async () => {
            const { site } = await signInBrowser(client);
            const one = known(client, host.put('/redirects.json', { redirect_uris: ['javascript://x/', CALLBACK] }));
            for (const redirect_uri of ['https://evil.example/', `${CALLBACK}/..`, 'javascript://x/', 'com.example:/cb', LOCAL, undefined]) {
                const view = await read(site, one.ask({ redirect_uri }));
                assert.deepEqual([view.client, view.host, view.back, view.voucher], ['Kitchen robot', null, null, null]);
            }
            assert.equal((await read(site, one.ask())).error, null);
        });
    });

    describe('a voucher', () => {
        // OAUTH-7
        it('is needed for the decision, for its own client and redirect, as this service gave it', async () => {
            const { site } = await signInBrowser(client);
            const one = known(client, host.put('/one.json', { redirect_uris: [CALLBACK, `${CALLBACK}/2`] })), two = known(client, host.put('/two.json', { client_name: 'Other' }));
            const { voucher } = await read(site, one.ask());
            const bad = async (request, given) => refused(await site.post('/v1/oauth/decision', { request, allow: true, voucher: given }), 400, 'INVALID_KEY_OPTIONS');
            const [text, proof] = voucher.split('.');
            const forged = Buffer.from(Buffer.from(text, 'base64url').toString().replace('Kitchen robot', 'Bank')).toString('base64url');
            for (const wrong of [undefined, '', '.', 'x', text, `${forged}.${proof}`, `${text}.${proof.slice(1)}`, `${text}.${'A'.repeat(22)}`]) await bad(one.ask(), wrong);
            await bad(two.ask(), voucher);
            await bad(one.ask({ redirect_uri: `${CALLBACK}/2` }), voucher);
            ok(await one.redeem((await decide(site, one.ask({ scope: 'account:read' }), { voucher })).code));
        });

        // OAUTH-7
        it('ends after an hour', async () => {
            const { site } = await signInBrowser(client);
            const one = known(client, host.put('/hour.json'));
            const { voucher } = await read(site, one.ask());
            await advance(client, HOUR);
            refused(await site.post('/v1/oauth/decision', { request: one.ask(), allow: true, voucher }), 400, 'INVALID_KEY_OPTIONS');
        });

        it('is no ID of a client, and an ID is no voucher', async () => {
            const { site } = await signInBrowser(client);
            const one = known(client, host.put('/mixed.json'));
            const { voucher } = await read(site, one.ask());
            assert.equal((await read(site, one.ask({ client_id: voucher }))).client, null);
            failed(await known(client, voucher).redeem('x'), 'invalid_client');
        });
    });

    describe('is read again', () => {
        const CASES = {
            'never within its time': [{ 'Cache-Control': 'max-age=7200' }, 2 * HOUR - 60, 1],
            'after its time': [{ 'Cache-Control': 'public, max-age=7200' }, 2 * HOUR, 2],
            'each time, if it may not be kept': [{ 'Cache-Control': 'no-store' }, 0, 2],
            'each time, if one line of several says so': [{ 'Cache-Control': ['max-age=60', 'no-cache'] }, 0, 2],
            'after five minutes, if nothing is said': [{}, 300, 2],
            'after a day at the latest': [{ 'Cache-Control': 'max-age=31536000' }, DAY, 2],
        };
        for (const [what, [head, later, times]] of Object.entries(CASES)) {
            // OAUTH-6
            it(what, async () => {
                const { site } = await signInBrowser(client);
                const path = `/kept-${Object.keys(CASES).indexOf(what)}.json`;
                const one = known(client, host.put(path, {}, head));
                await read(site, one.ask());
                if (later) await advance(client, later);
                assert.equal((await read((await signInBrowser(client)).site, one.ask())).client, 'Kitchen robot');
                assert.equal(host.count(path), times);
            });
        }

        // OAUTH-6
        it('as soon as its place in the memory was needed', async () => {
            const { site } = await signInBrowser(client);
            for (let i = 0; i < 65; i++) await read(site, known(client, host.put(`/many-${i}.json`)).ask());
            await read(site, known(client, host.url('/many-64.json')).ask());
            await read(site, known(client, host.url('/many-0.json')).ask());
            assert.deepEqual([host.count('/many-64.json'), host.count('/many-0.json')], [1, 2]);
        });
    });

    // OAUTH-5
    it('whose host does not answer holds up its own account alone, and two fetches of it', async () => {
        const waiting = [];
        const address = host.answer('/slow.json', (_, response) => { waiting.push(response); });
        const { site } = await signInBrowser(client), other = (await signInBrowser(client)).site;
        const slow = known(client, address);
        const both = [read(site, slow.ask()), read(site, slow.ask())];
        while (waiting.length < 2) await new Promise((resolve) => { setTimeout(resolve, 10); });
        const third = await site.post('/v1/oauth/client', { request: slow.ask() });
        refused(third, 429, 'RATE_LIMIT_EXCEEDED');
        assert.ok(Number(third.headers['retry-after']) > 0);
        assert.equal((await read(other, known(client, host.put('/quick.json')).ask())).client, 'Kitchen robot');
        for (const view of await Promise.all(both)) assert.match(view.reason, /did not arrive/);
    });

    // OAUTH-5
    it('is read for others while a stranger with many accounts has slow hosts, or many wait for one', async () => {
        const waiting = [];
        const quick = () => known(client, elsewhere.put('/quick.json')).ask();
        const slow = known(client, host.answer('/held.json', (_, response) => { waiting.push(response); })).ask();
        const stranger = [];
        const from = async (address) => (await signInBrowser(client)).site.at(behindProxy(client, address));
        for (let i = 0; i < 5; i++) stranger.push(await from('192.0.2.1'));
        const neighbour = await from('198.51.100.7');
        const before = await page(w.daemon);
        const held = stranger.slice(1).map((site) => read(site, slow));
        while (waiting.length < held.length) await new Promise((resolve) => { setTimeout(resolve, 10); });
        refused(await stranger[0].post('/v1/oauth/client', { request: quick() }), 429, 'RATE_LIMIT_EXCEEDED');
        refused(await neighbour.post('/v1/oauth/client', { request: slow }), 429, 'RATE_LIMIT_EXCEEDED');
        assert.equal((await read(neighbour, quick())).client, 'Kitchen robot');
        const refusals = raised(before, await page(w.daemon));
        for (const limit of ['address', 'host']) assert.equal(refusals[`portero_lookups_refused_total{kind="client_document",limit="${limit}"}`], 1);
        for (const view of await Promise.all(held)) assert.match(view.reason, /did not arrive/);
    });

    // OAUTH-4
    it('is read for people who are signed in alone', async () => {
        refused(await client.as(undefined).post('/app/v1/oauth/client', { request: 'x' }), 403, 'CROSS_SITE_REQUEST');
        assert.equal((await client.as(undefined).post('/v1/oauth/client', { request: 'x' }, { check: false })).status, 404);
    });
});

describe('a service in production', () => {
    const w = useWorld({ config: { oauth: { ...TRUSTED.oauth, allow_private: false } } });
    const host = useDocuments();

    // OAUTH-4
    it('fetches no document from this machine or its networks', async () => {
        const { site } = await signInBrowser(w.client);
        const { port } = host.server.address();
        host.put('/inside.json');
        let connections = 0;
        host.server.on('connection', () => { connections++; });
        for (const name of ['localhost', '127.0.0.1', '[::1]', '[::ffff:127.0.0.1]', '2130706433', '0x7f.1', '0.0.0.0', '10.0.0.1', '169.254.169.254', '[fe80::1]', '[fd00::1]']) {
            const view = ok(await site.post('/v1/oauth/client', { request: known(w.client, `https://${name}:${port}/inside.json`).ask() }));
            assert.match(view.reason, /cannot be reached/, name);
        }
        assert.equal(connections, 0);
    });
});

describe('a service without documents of clients', () => {
    const w = useWorld({ config: { oauth: { ...TRUSTED.oauth, client_documents: false } } });
    const host = useDocuments();

    it('does not announce them, and knows no such client', async () => {
        const { client } = w;
        assert.equal(ok(await client.as(undefined).get('/.well-known/oauth-authorization-server', { check: false })).client_id_metadata_document_supported, false);
        const { site } = await signInBrowser(client);
        const view = ok(await site.post('/v1/oauth/client', { request: known(client, host.put('/off.json')).ask() }));
        assert.deepEqual([view.client, view.client_host, view.error], [null, null, 'invalid_request']);
        assert.deepEqual(host.requests, []);
    });
});
