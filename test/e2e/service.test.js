// The rules for every request, on any resource: contract "Conventions"; docs/behaviour/http.md.
// engine: sqlite, because it tests HTTP and the documents
import { describe, it, before } from 'node:test';
import assert from 'node:assert/strict';
import { contract } from './lib/contract.js';
import { portero } from './lib/daemon.js';
import { idempotencyKey, ok, refused } from './lib/client.js';
import { agent, signIn, useWorld, world } from './lib/world.js';

const PUBLIC_URL = 'https://portero.example';

describe('service', () => {
    const w = useWorld({ config: { public_url: PUBLIC_URL } });
    const { client } = w;
    let session;
    before(async () => {
        session = await signIn(client);
    });

    describe('health', () => {
        it('says ok, the version and for how long the process runs, to anyone and without a rate limit', async () => {
            const answer = await client.get('/v1/health');
            const body = ok(answer);
            assert.equal(body.status, 'ok');
            assert.ok(portero(['--version']).stdout.includes(body.version));
            assert.ok(body.uptime >= 0);
            assert.ok(body.openapi_url.startsWith(`${PUBLIC_URL}/`) && body.docs_url.startsWith(`${PUBLIC_URL}/`));
            assert.equal(answer.headers['cache-control'], 'no-store');
            assert.equal(answer.headers['ratelimit-limit'], undefined);
        });

        it('is answered with any Authorization', async () => {
            ok(await client.as('nonsense').get('/v1/health'));
        });
    });

    describe('OpenAPI document', () => {
        it('is found by following the redirect, from any origin, and equals the command\'s output', async () => {
            const answer = await client.get('/v1/openapi.json');
            assert.equal(answer.status, 302);
            assert.equal(answer.headers['access-control-allow-origin'], '*');
            assert.equal(answer.headers['ratelimit-limit'], undefined);
            const location = new URL(answer.headers.location);
            assert.equal(location.origin, PUBLIC_URL);
            const document = ok(await client.get(location.pathname));
            assert.deepEqual(document, JSON.parse(portero(['openapi', '--url', PUBLIC_URL]).stdout));
            assert.match(document.openapi, /^3\.1\./);
            assert.equal(document.info.version, '1.0.0');
        });

        // SERVICE-6
        it('is found without a configured address, on the bound port', async () => {
            const other = await world();
            try {
                const location = new URL((await other.client.get('/v1/openapi.json')).headers.location);
                assert.equal(location.origin, `https://localhost:${other.daemon.httpsPort}`);
                assert.deepEqual(ok(await other.client.get(location.pathname)).servers, [{ url: '/' }], 'relative: the name means nothing elsewhere');
                assert.ok(ok(await other.client.get('/v1/health')).docs_url.startsWith(`${location.origin}/`));
            } finally {
                await other.close();
            }
        });

        it('is next to the guide for agents that health names', async () => {
            const { docs_url } = ok(await client.get('/v1/health'));
            const answer = await client.get(new URL(docs_url).pathname);
            assert.equal(answer.status, 200);
            for (const word of ['/v1/unlock', 'Idempotency-Key', 'If-Match', 'X-Service-Building-Id']) assert.ok(answer.text.includes(word), word);
        });

        it('describes the headers of a 429, the bodies other than JSON, and the licence', () => {
            const [, { document }] = contract();
            const resolve = (node) => (node.$ref ? node.$ref.slice(2).split('/').reduce((at, part) => at[part], document) : node);
            const hasty = resolve(document.paths['/v1/account'].get.responses[429]);
            assert.deepEqual(Object.keys(hasty.headers).sort(),
                ['Cache-Control', 'RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset', 'Retry-After', 'X-Request-ID']);
            assert.ok(document.paths['/v1/openapi.json'].get.responses[302].headers['Access-Control-Allow-Origin']);
            assert.deepEqual(Object.keys(document.paths['/docs/agents'].get.responses[200].content), ['text/markdown']);
            assert.deepEqual(Object.keys(document.paths['/openapi.json'].get.responses[200].content), ['application/json']);
            assert.equal(document.info.license.identifier, 'Apache-2.0');
        });

        // DOC-1, HTTP-23, KEY-10
        it('refuses unknown fields in the bodies it says so of, and lets answers grow', () => {
            const [, { document }] = contract();
            const schemaOf = (holder) => holder?.content?.['application/json']?.schema?.$ref?.split('/').pop();
            const operations = Object.values(document.paths).flatMap((item) => Object.values(item));
            const asked = new Set(operations.map((operation) => schemaOf(operation.requestBody)).filter(Boolean));
            const given = new Set(operations.flatMap((operation) => Object.values(operation.responses).map(schemaOf)).filter(Boolean));
            assert.deepEqual([...asked].filter((name) => given.has(name)), []);
            const resolve = (node) => (node.$ref ? document.components.schemas[node.$ref.split('/').pop()] : node);
            const closed = (node) => {
                const schema = resolve(node);
                return (schema.properties ? undefined : schema.oneOf ?? schema.anyOf)?.every(closed) ?? schema.additionalProperties === false;
            };
            const open = [...asked].filter((name) => !closed({ $ref: `/${name}` }));
            assert.deepEqual(open.sort(), ['OtpRequest', 'VerifyRequest', 'WebhookEndpointRequest']);
            for (const name of given) assert.ok(!JSON.stringify(document.components.schemas[name]).includes('"additionalProperties":false'), name);
        });

        // DOC-5
        it('keeps the sandbox out of the contract', () => {
            const [sandbox, v1] = contract();
            assert.ok(v1.operations().every((operation) => !/ \/sandbox\//.test(operation)));
            assert.ok(sandbox.operations().every((operation) => / \/sandbox\//.test(operation)));
        });

        it('names an operation once and documents success and failure of each', () => {
            for (const { document } of contract()) {
                const ids = Object.values(document.paths).flatMap((item) => Object.values(item).map((o) => o.operationId).filter(Boolean));
                assert.equal(new Set(ids).size, ids.length);
                for (const [path, item] of Object.entries(document.paths)) {
                    for (const method of ['get', 'post', 'patch', 'delete'].filter((m) => item[m])) {
                        assert.ok(Object.keys(item[method].responses).some((status) => /^[23]/.test(status)), `${method} ${path}`);
                    }
                }
            }
        });
    });

    describe('plans', () => {
        it('lists the weekly and the yearly offer with the prices of the sandbox, cacheable', async () => {
            const answer = await client.get('/v1/plans');
            const { data } = ok(answer);
            assert.deepEqual(data.map((plan) => plan.id).sort(), ['weekly', 'yearly']);
            const weekly = data.find((plan) => plan.id === 'weekly');
            assert.deepEqual([weekly.available, weekly.amount, weekly.currency, weekly.interval, weekly.interval_count],
                [true, 499, 'usd', 'week', 1]);
            const yearly = data.find((plan) => plan.id === 'yearly');
            assert.deepEqual([yearly.available, yearly.amount, yearly.currency, yearly.interval, yearly.interval_count],
                [true, 19900, 'usd', 'year', 1]);
            for (const plan of data) assert.deepEqual([...plan.access].sort(), ['passcode', 'routine', 'timer']);
            assert.match(answer.headers['cache-control'], /public/);
            assert.ok(answer.headers['ratelimit-limit'] && answer.headers['ratelimit-remaining'] && answer.headers['ratelimit-reset']);
        });
    });

    describe('plans for a buyer', () => {
        it('are the same catalogue, for a key that may buy, without a subscription', async () => {
            const { data } = ok(await client.get('/v1/plans'));
            const buyer = await agent(session, ['billing:write']);
            assert.deepEqual(ok(await buyer.client.get('/v1/billing/plans')).data, data);
            assert.equal((await buyer.client.get('/v1/billing/plans')).headers['cache-control'], 'no-store');
            refused(await client.get('/v1/billing/plans'), 401, 'AUTH_REQUIRED');
            refused(await (await agent(session, ['account:read'])).client.get('/v1/billing/plans'), 403, 'INSUFFICIENT_SCOPE', 'billing:write');
        });

        // BILLING-1
        it('follow the configuration', async () => {
            const other = await world({ config: { billing: { 'plan weekly': { amount: 999, currency: 'eur' }, 'plan yearly': { available: false } } } });
            try {
                const { data } = ok(await other.client.get('/v1/plans'));
                const weekly = data.find((plan) => plan.id === 'weekly');
                assert.deepEqual([weekly.amount, weekly.currency, weekly.available], [999, 'eur', true]);
                assert.equal(data.find((plan) => plan.id === 'yearly').available, false);
            } finally {
                await other.close();
            }
        });
    });

    describe('paths and methods', () => {
        // HTTP-3
        it('answers an unknown path under /v1 with 404 in the envelope, with or without a key', async () => {
            for (const path of ['/v1/nothing', '/v1/', '/v1/unlock/', '/v1/unlock/a/b', '/v1/Health', '/v1/health/x']) {
                refused(await client.get(path), 404, 'NOT_FOUND');
                refused(await session.client.get(path), 404, 'NOT_FOUND');
            }
        });

        // HTTP-4
        it('answers another method on every known path with 405 and the methods it knows', async () => {
            for (const document of contract()) {
                for (const template of Object.keys(document.document.paths)) {
                    const path = template.replace(/\{[^}]+\}/g, 'f0f0f0f0f0f0f0f0f0f0f0f0');
                    const known = ['GET', 'POST', 'PATCH', 'DELETE', 'PUT'].filter((method) => document.findAll(path).some((item) => item[method.toLowerCase()]));
                    for (const method of ['PUT', 'GET', 'POST', 'PATCH', 'DELETE'].filter((m) => !known.includes(m))) {
                        const answer = await client.request(method, path);
                        refused(answer, 405, 'METHOD_NOT_ALLOWED');
                        const allowed = answer.headers.allow.split(/, */).filter((m) => m !== 'HEAD' && m !== 'OPTIONS');
                        assert.deepEqual(allowed.sort(), known.sort(), `Allow of ${template}`);
                    }
                }
            }
        });

        // HTTP-5
        it('answers HEAD as GET, without a body', async () => {
            const got = await client.get('/v1/plans');
            const head = await client.head('/v1/plans');
            assert.equal(head.status, 200);
            assert.equal(head.text, '');
            assert.equal(head.headers['content-length'], got.headers['content-length']);
            assert.equal(head.headers['content-type'], got.headers['content-type']);
            assert.equal((await client.head('/v1/account')).status, 401);
            assert.equal((await session.client.head('/v1/account')).status, 200);
            assert.equal((await client.head('/v1/nothing')).status, 404);
        });

        // HTTP-20
        it('gives every answer its own request id', async () => {
            const ids = new Set();
            for (const path of ['/v1/health', '/v1/nothing', '/v1/account', '/v1/plans', '/v1/health']) {
                ids.add((await client.get(path)).headers['x-request-id']);
            }
            assert.equal(ids.size, 5);
        });

        // HTTP-20
        it('ignores a request id and other headers of the client', async () => {
            const answer = await client.get('/v1/health', { headers: { 'X-Request-ID': 'req_mine', 'X-Whatever': '1', Cookie: 'a=b' } });
            assert.notEqual(answer.headers['x-request-id'], 'req_mine');
        });
    });

    describe('plain HTTP', () => {
        // HTTP-39
        it('answers everything with 426 and Upgrade, also what is unknown, and never looks at a key', async () => {
            for (const [method, path] of [['GET', '/v1/health'], ['GET', '/v1/account'], ['POST', '/v1/unlock'], ['GET', '/v1/nothing'], ['PUT', '/v1/plans']]) {
                const answer = await session.client.request(method, path, { plain: true });
                refused(answer, 426, 'HTTPS_REQUIRED');
                assert.equal(answer.headers.upgrade, 'TLS/1.2');
                assert.match(answer.headers.connection, /^upgrade\b/, 'RFC 9110 section 7.8');
            }
        });

        // HTTP-41
        it('is not fooled by X-Forwarded-Proto from a peer that is no trusted proxy', async () => {
            refused(await session.client.get('/v1/health', { plain: true, headers: { 'X-Forwarded-Proto': 'https' } }), 426, 'HTTPS_REQUIRED');
        });
    });

    describe('bodies', () => {
        const create = (text, headers = {}) => session.client.request('POST', '/v1/unlock',
            { text, headers: { 'Idempotency-Key': idempotencyKey(), ...headers } });
        const valid = '{"type":"timer","expires_in_minutes":5}';
        const nested = (depth) => `{"type":"timer","x":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`;

        const notJson = {
            'an empty body': '',
            'white space': '  \n ',
            'a truncated object': '{"type":"timer"',
            'an array': '[]',
            'a string': '"timer"',
            'a number': '5',
            null: 'null',
            'trailing bytes': `${valid}x`,
            'two objects': `${valid}{}`,
            'a trailing NUL': `${valid}\0`,
            'a duplicate member': '{"type":"timer","type":"timer","expires_in_minutes":5}',
            'a duplicate member deep inside': '{"type":"timer","expires_in_minutes":5,"x":[{"a":1,"a":2}]}',
            'a duplicate member written with an escape': '{"type":"timer","expires_in_minutes":5,"t\\u0079pe":"timer"}',
            'invalid UTF-8': Buffer.from([...Buffer.from('{"type":"timer","label":"'), 0xff, 0xfe, ...Buffer.from('"}')]),
            'an overlong UTF-8 form': Buffer.from([...Buffer.from('{"type":"timer","label":"'), 0xc0, 0xaf, ...Buffer.from('"}')]),
            'a lone surrogate': '{"type":"timer","expires_in_minutes":5,"label":"\\ud800"}',
            'a bare control character': '{"type":"timer","label":"a\nb"}',
            'single quotes': "{'type':'timer'}",
            'a comment': `/* x */${valid}`,
            'a trailing comma': '{"type":"timer","expires_in_minutes":5,}',
            'a number out of range': '{"type":"timer","expires_in_minutes":1e999}',
            'NaN': '{"type":"timer","expires_in_minutes":NaN}',
            '33 levels': nested(33),
            '5000 levels': nested(5000),
        };
        for (const [name, text] of Object.entries(notJson)) {
            // HTTP-7
            it(`refuses ${name} as INVALID_JSON`, async () => {
                refused(await create(text), 400, 'INVALID_JSON');
            });
        }

        for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', 'application', '', undefined]) {
            // HTTP-7
            it(`refuses Content-Type ${type} as INVALID_JSON`, async () => {
                refused(await create(valid, { 'Content-Type': type }), 400, 'INVALID_JSON');
            });
        }

        for (const type of ['application/json; charset=utf-8', 'Application/JSON', 'application/json;charset=UTF-8']) {
            it(`accepts Content-Type ${type}`, async () => {
                ok(await create(valid, { 'Content-Type': type }), 201);
            });
        }

        // HTTP-8
        it('accepts 32 levels as JSON', async () => {
            refused(await create(nested(32)), 400, 'INVALID_UNLOCK', 'x');
        });

        it('accepts white space around the object', async () => {
            ok(await create(`\r\n\t ${valid} \n`), 201);
        });

        // HTTP-10
        it('accepts exactly 102,400 bytes and refuses one more as PAYLOAD_TOO_LARGE', async () => {
            const sized = (n) => valid + ' '.repeat(n - valid.length);
            ok(await create(sized(102_400)), 201);
            refused(await create(sized(102_401)), 413, 'PAYLOAD_TOO_LARGE');
        });
    });
});
