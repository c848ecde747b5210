// Webhook endpoints: contract "Webhook endpoints"; docs/behaviour/webhooks.md. Deliveries: webhook-*.test.js.
import { describe, it, before } from 'node:test';
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { idempotencyKey, ok, refused } from './lib/client.js';
import { engine, portero } from './lib/daemon.js';
import { REACHABLE } from './lib/receiver.js';
import { sql } from './lib/store.js';
import { agent, ID, now, signIn, TIMESTAMP, UNKNOWN_ID, useWorld } from './lib/world.js';

const TYPES = ['access.granted', 'access.call_forwarded', 'access.denied', 'unlock.no_uses_remaining', 'webhook.test'];
const SECRET = /^whsec_[0-9A-Za-z]{43}$/;
const URL_MAX = 2048;
const SOMEWHERE = 'https://127.0.0.1:9/hook'; // nothing is sent there
const withKey = (key = idempotencyKey()) => ({ headers: { 'Idempotency-Key': key } });

describe('webhook endpoints', () => {
    const w = useWorld({ config: REACHABLE });
    const { client } = w;

    const create = (who, body = { url: SOMEWHERE }, options) => who.client.post('/v1/webhooks', body, options);
    const list = async (who) => ok(await who.client.get('/v1/webhooks')).data;
    const admin = (...args) => {
        const done = portero(['admin', ...args, '--config', w.daemon.configPath, '--data', w.daemon.data, '--json']);
        assert.equal(done.status, 0, done.stderr);
        return JSON.parse(done.stdout);
    };

    describe('creation', () => {
        // WEBHOOK-13
        it('gives an endpoint that listens to every type, and its secret', async () => {
            const owner = await signIn(client);
            const made = ok(await create(owner), 201);
            assert.deepEqual(Object.keys(made), ['id', 'url', 'events', 'active', 'created_at', 'secret']);
            assert.match(made.id, ID);
            assert.equal(made.url, SOMEWHERE);
            assert.deepEqual(made.events, TYPES);
            assert.match(made.created_at, TIMESTAMP);
            assert.ok(Math.abs(Date.parse(made.created_at) - await now(client)) < 60_000);
            assert.match(made.secret, SECRET);
            assert.notEqual(ok(await create(owner), 201).secret, made.secret);
        });

        it('takes some of the types, and gives them back in the order of the contract', async () => {
            const owner = await signIn(client);
            const made = ok(await create(owner, { url: SOMEWHERE, events: ['webhook.test', 'access.denied'] }), 201);
            assert.deepEqual(made.events, ['access.denied', 'webhook.test']);
            assert.deepEqual(ok(await create(owner, { url: SOMEWHERE, events: [...TYPES].reverse() }), 201).events, TYPES);
        });

        it('keeps the URL as it was sent', async () => {
            const owner = await signIn(client);
            for (const url of ['HTTPS://127.0.0.1', 'https://LOCALHOST:8443/a/../b?c=d&e=%20', 'https://[::1]:443/', 'https://127.0.0.1/é'.replace('é', '%C3%A9')]) {
                const made = ok(await create(owner, { url }), 201);
                assert.equal(made.url, url);
                ok(await owner.client.delete(`/v1/webhooks/${made.id}`));
            }
        });

        it('counts 2048 characters of a URL, and no more', async () => {
            const owner = await signIn(client);
            const longest = `${SOMEWHERE}?`.padEnd(URL_MAX, 'x');
            assert.equal(ok(await create(owner, { url: longest }), 201).url, longest);
            refused(await create(owner, { url: `${longest}x` }), 400, 'INVALID_WEBHOOK_URL', '2048');
        });

        const badUrls = [
            undefined, null, 5, '', 'x', 'http://127.0.0.1/', 'ftp://127.0.0.1/', '//127.0.0.1/', '127.0.0.1', 'https:', 'https://', 'https:///127.0.0.1/',
            'https:/127.0.0.1/', 'https://?x', 'https://:443/', 'https://user@127.0.0.1/', 'https://user:word@127.0.0.1/', 'https://:word@127.0.0.1/',
            'https://127.0.0.1/#part', 'https://127.0.0.1/#', 'https://127.0.0.1:0/', 'https://127.0.0.1:65536/', 'https://127.0.0.1:x/',
            ' https://127.0.0.1/', 'https://127.0.0.1/ ', 'https://127.0.0.1/a b', 'https://127.0.0.1/\n', 'https://127.0.0.1/é', 'https://bücher.example/',
            'https://127.0.0.1\\@example.com/', 'https://[::1/', 'https://::1/', 'https://[fe80::1%25lo]/', 'https://nowhere.invalid/', 'https://a..b/', ['https://127.0.0.1/'],
        ];
        for (const url of badUrls) {
            // WEBHOOK-4
            it(`refuses the URL ${JSON.stringify(url)}`, async () => {
                const owner = await signIn(client);
                refused(await create(owner, { url }), 400, 'INVALID_WEBHOOK_URL', 'url');
                assert.deepEqual(await list(owner), []);
            });
        }

        for (const events of [[], null, 'access.denied', {}, ['access.denied', 'access.denied'], ['door.opened'], ['ACCESS.DENIED'], [''], [null], [TYPES], [...TYPES, 'webhook.test']]) {
            // WEBHOOK-2
            it(`refuses the events ${JSON.stringify(events)}`, async () => {
                const owner = await signIn(client);
                refused(await create(owner, { url: SOMEWHERE, events }), 400, 'INVALID_WEBHOOK_EVENTS', 'events');
            });
        }

        // WEBHOOK-3
        it('ignores members it does not know', async () => {
            const made = ok(await create(await signIn(client), { url: SOMEWHERE, description: 'mine', active: true }), 201);
            assert.ok(!('description' in made));
        });

        it('refuses a body that is not a JSON object before it checks fields', async () => {
            const owner = await signIn(client);
            for (const text of ['', '[]', '"x"', '{', '{"url":"https://127.0.0.1/","url":"https://127.0.0.1/"}']) {
                refused(await owner.client.request('POST', '/v1/webhooks', { text, headers: { 'Content-Type': 'application/json' } }), 400, 'INVALID_JSON');
            }
        });

        it('needs no building, and does not look at the header that names one', async () => {
            const owner = await signIn(client);
            for (const value of [UNKNOWN_ID, 'nonsense']) ok(await create(owner, undefined, { headers: { 'X-Service-Building-Id': value } }), 201);
        });
    });

    describe('limit', () => {
        it('is five of an account, until one is deleted', async () => {
            const owner = await signIn(client);
            const made = [];
            for (let i = 0; i < 5; i++) made.push(ok(await create(owner), 201));
            refused(await create(owner), 409, 'WEBHOOK_LIMIT');
            ok(await create(await signIn(client)), 201);
            ok(await owner.client.delete(`/v1/webhooks/${made[2].id}`));
            ok(await create(owner), 201);
            refused(await create(owner), 409, 'WEBHOOK_LIMIT');
        });

        it('holds when many are asked for at once', async () => {
            const owner = await signIn(client);
            const answers = await Promise.all(Array.from({ length: 12 }, () => create(owner)));
            assert.equal(answers.filter(({ status }) => status === 201).length, 5);
            for (const answer of answers.filter(({ status }) => status !== 201)) refused(answer, 409, 'WEBHOOK_LIMIT');
            assert.equal((await list(owner)).length, 5);
        });
    });

    describe('Idempotency-Key', () => {
        // WEBHOOK-11
        it('replays the same endpoint with its secret, whatever the order of members', async () => {
            const owner = await signIn(client);
            const key = withKey();
            const first = await create(owner, { url: SOMEWHERE, events: ['access.denied'] }, key);
            const made = ok(first, 201);
            assert.equal(first.headers['idempotency-replayed'], undefined);
            const again = await create(owner, { events: ['access.denied'], url: SOMEWHERE }, key);
            assert.deepEqual(ok(again, 200), made);
            assert.equal(again.headers['idempotency-replayed'], 'true');
            assert.equal((await list(owner)).length, 1);
        });

        // HTTP-32
        it('of another body conflicts', async () => {
            const owner = await signIn(client);
            const key = withKey();
            ok(await create(owner, undefined, key), 201);
            refused(await create(owner, { url: SOMEWHERE, events: TYPES }, key), 409, 'IDEMPOTENCY_CONFLICT');
            refused(await create(owner, { url: `${SOMEWHERE}s` }, key), 409, 'IDEMPOTENCY_CONFLICT');
            for (const [body, code] of [
                [{ url: 'https://nowhere.invalid/' }, 'INVALID_WEBHOOK_URL'], [{ url: 'http://1.1.1.1/' }, 'INVALID_WEBHOOK_URL'],
                [{ url: 5 }, 'INVALID_WEBHOOK_URL'], [{}, 'INVALID_WEBHOOK_URL'],
                [{ url: SOMEWHERE, events: [] }, 'INVALID_WEBHOOK_EVENTS'], [{ url: SOMEWHERE, events: ['door.opened'] }, 'INVALID_WEBHOOK_EVENTS'],
                [{ url: SOMEWHERE, events: ['access.denied', 'access.denied'] }, 'INVALID_WEBHOOK_EVENTS'],
            ]) {
                refused(await create(owner, body, withKey()), 400, code);
                refused(await create(owner, body, key), 409, 'IDEMPOTENCY_CONFLICT');
            }
            ok(await create(await signIn(client), { url: `${SOMEWHERE}s` }, key), 201);
        });

        it('is optional, but not malformed', async () => {
            const owner = await signIn(client);
            for (const key of ['', 'short', 'x'.repeat(101), 'a b c d e f g h i j', 'key-of-sixteen-ü!']) {
                refused(await create(owner, undefined, withKey(key)), 400, 'IDEMPOTENCY_KEY_REQUIRED');
            }
            ok(await create(owner, undefined, withKey('a'.repeat(16))), 201);
            ok(await create(owner, undefined, withKey('_'.repeat(100))), 201);
        });

        it('remembers nothing that was refused', async () => {
            const owner = await signIn(client);
            const key = withKey();
            refused(await create(owner, { url: 'https://nowhere.invalid/' }, key), 400, 'INVALID_WEBHOOK_URL');
            ok(await create(owner, undefined, key), 201);
        });

        it('creates once, however many ask at once', async () => {
            const owner = await signIn(client);
            const key = withKey();
            const answers = await Promise.all(Array.from({ length: 12 }, () => create(owner, undefined, key)));
            assert.deepEqual(answers.map(({ status }) => status).sort(), [...Array(11).fill(200), 201]);
            assert.equal(new Set(answers.map(({ body }) => `${body.id} ${body.secret}`)).size, 1);
            assert.equal((await list(owner)).length, 1);
        });

        // WEBHOOK-11
        it('outlives the endpoint, and comes before the limit', async () => {
            const owner = await signIn(client);
            const key = withKey();
            const made = ok(await create(owner, undefined, key), 201);
            ok(await owner.client.delete(`/v1/webhooks/${made.id}`));
            assert.deepEqual(ok(await create(owner, undefined, key), 200), made);
            assert.deepEqual(await list(owner), []);
            for (let i = 0; i < 5; i++) ok(await create(owner), 201);
            assert.deepEqual(ok(await create(owner, undefined, key), 200), made);
        });
    });

    describe('list', () => {
        it('has the newest first, and no secret', async () => {
            const owner = await signIn(client);
            const made = [];
            for (let i = 0; i < 3; i++) made.push(ok(await create(owner, { url: `${SOMEWHERE}${i}`, events: [TYPES[i]] }), 201));
            const answer = await owner.client.get('/v1/webhooks');
            assert.deepEqual(ok(answer), { data: made.reverse().map(({ secret, ...rest }) => rest) });
            assert.ok(!answer.text.includes('whsec_'));
        });

        it('is empty at first, and has nobody else\'s', async () => {
            ok(await create(await signIn(client)), 201);
            assert.deepEqual(await list(await signIn(client)), []);
        });
    });

    describe('deletion', () => {
        // WEBHOOK-10
        it('may be repeated, in either case, and answers the same for an unknown endpoint', async () => {
            const owner = await signIn(client);
            const { id } = ok(await create(owner), 201);
            assert.deepEqual(ok(await owner.client.delete(`/v1/webhooks/${id.toUpperCase()}`)), { id, deleted: true });
            assert.deepEqual(ok(await owner.client.delete(`/v1/webhooks/${id}`)), { id, deleted: true });
            assert.deepEqual(ok(await owner.client.delete(`/v1/webhooks/${UNKNOWN_ID}`)), { id: UNKNOWN_ID, deleted: true });
            assert.deepEqual(await list(owner), []);
        });

        // WEBHOOK-10
        it('never touches another account\'s endpoint', async () => {
            const owner = await signIn(client);
            const { id } = ok(await create(owner), 201);
            ok(await (await signIn(client)).client.delete(`/v1/webhooks/${id}`));
            assert.equal((await list(owner))[0].id, id);
        });
    });

    it('refuse malformed IDs, before and behind', async () => {
        const owner = await signIn(client);
        for (const id of ['x', `${UNKNOWN_ID}0`, 'g0f0f0f0f0f0f0f0f0f0f0f0', '%20']) {
            refused(await owner.client.delete(`/v1/webhooks/${id}`), 400, 'INVALID_ID');
            refused(await owner.client.post(`/v1/webhooks/${id}/test`), 400, 'INVALID_ID');
            refused(await owner.client.get(`/v1/webhooks/${id}/deliveries`), 400, 'INVALID_ID');
            refused(await owner.client.post(`/v1/webhooks/${id}/deliveries/${UNKNOWN_ID}/replay`), 400, 'INVALID_ID');
            refused(await owner.client.post(`/v1/webhooks/${UNKNOWN_ID}/deliveries/${id}/replay`), 400, 'INVALID_ID');
        }
    });

    it('are not found when they are unknown, another account\'s or deleted', async () => {
        const owner = await signIn(client);
        const stranger = await signIn(client);
        const { id } = ok(await create(owner), 201);
        for (const [who, which] of [[owner, UNKNOWN_ID], [stranger, id]]) {
            refused(await who.client.post(`/v1/webhooks/${which}/test`), 404, 'NOT_FOUND');
            refused(await who.client.get(`/v1/webhooks/${which}/deliveries`), 404, 'NOT_FOUND');
            refused(await who.client.post(`/v1/webhooks/${which}/deliveries/${UNKNOWN_ID}/replay`), 404, 'NOT_FOUND');
        }
        refused(await owner.client.post(`/v1/webhooks/${id}/deliveries/${UNKNOWN_ID}/replay`), 404, 'NOT_FOUND');
        ok(await owner.client.delete(`/v1/webhooks/${id}`));
        refused(await owner.client.post(`/v1/webhooks/${id}/test`), 404, 'NOT_FOUND');
        assert.deepEqual(ok(await owner.client.get(`/v1/webhooks/${id}/deliveries`)).data, []);
    });

    describe('access', () => {
        /** Every operation: its scope, and how it is asked for. */
        const operations = (id) => [
            ['access:write', (c) => c.post('/v1/webhooks', { url: SOMEWHERE })],
            ['access:read', (c) => c.get('/v1/webhooks')],
            ['access:write', (c) => c.post(`/v1/webhooks/${id}/test`)],
            ['access:read', (c) => c.get(`/v1/webhooks/${id}/deliveries`)],
            ['access:write', (c) => c.post(`/v1/webhooks/${id}/deliveries/${UNKNOWN_ID}/replay`)],
            ['access:write', (c) => c.delete(`/v1/webhooks/${id}`)],
        ];

        it('needs access:write to change, access:read to look', async () => {
            const owner = await signIn(client);
            const { id } = ok(await create(owner), 201);
            const reader = await agent(owner, ['access:read', 'account:read', 'logs:read']);
            const writer = await agent(owner, ['access:write', 'account:read', 'logs:read']);
            for (const [scope, ask] of operations(id)) {
                const [may, mayNot] = scope === 'access:read' ? [reader, writer] : [writer, reader];
                refused(await ask(mayNot.client), 403, 'INSUFFICIENT_SCOPE', scope);
                assert.ok((await ask(may.client)).status !== 403);
                refused(await ask(client), 401, 'AUTH_REQUIRED');
            }
        });

        // HTTP-30, WEBHOOK-1
        it('is not for members\' keys nor for keys of one building: an endpoint hears of all of them', async () => {
            const owner = await signIn(client);
            const { id } = ok(await create(owner), 201);
            const home = ok(await owner.client.get('/v1/buildings')).data[0];
            const member = admin('member', 'add', '--building', home.id, '--name', 'Kim', '--email', `kim-${owner.email}`);
            const keys = [admin('key', 'create', '--member', member.id), admin('key', 'create', '--building', home.id)];
            for (const { api_key: key } of keys) {
                for (const [, ask] of operations(id)) refused(await ask(client.as(key)), 403, 'OWNER_KEY_REQUIRED');
            }
            assert.equal((await list(owner)).length, 1);
        });
    });

    // WEBHOOK-13
    it('keep working without secrets that the master key does not open, which are told to nobody', async () => {
        const owner = await signIn(client);
        const key = withKey();
        const made = ok(await create(owner, undefined, key), 201);
        const damaged = randomBytes(80).toString('hex');
        sql(w.daemon, `UPDATE webhook SET secret = ${engine === 'postgresql' ? `'\\x${damaged}'` : `x'${damaged}'`} WHERE id = '${made.id}'`);
        refused(await create(owner, undefined, key), 500, 'SECRET_DECRYPT_FAILED');
        assert.deepEqual((await list(owner)).map(({ id }) => id), [made.id]);
        ok(await create(owner), 201);
    });
});

describe('webhook URLs without allow_private', () => {
    const w = useWorld();
    let owner;
    before(async () => {
        owner = await signIn(w.client);
    });

    const hosts = [
        '127.0.0.1', '127.1', '0x7f.1', '2130706433', '0177.0.0.1', '127.0.0.1.', '0.0.0.0', '10.1.2.3', '172.16.0.1', '172.31.255.255', '192.168.1.1', '169.254.169.254',
        '100.64.0.1', '192.0.2.1', '198.18.0.1', '198.51.100.7', '203.0.113.9', '224.0.0.1', '240.0.0.1', '255.255.255.255', 'localhost', 'LOCALHOST', 'localhost.',
        '[::1]', '[::]', '[::ffff:127.0.0.1]', '[::ffff:10.0.0.1]', '[::ffff:7f00:1]', '[fc00::1]', '[fd12:3456::1]', '[fe80::1]', '[fec0::1]', '[ff02::1]', '[64:ff9b::7f00:1]',
        '[64:ff9b::10.0.0.1]', '[2002:7f00:1::]', '[2001:db8::1]', '[::127.0.0.1]',
    ];
    for (const host of hosts) {
        it(`refuse ${host}`, async () => {
            refused(await owner.client.post('/v1/webhooks', { url: `https://${host}/` }), 400, 'INVALID_WEBHOOK_URL', 'url');
        });
    }

    // WEBHOOK-5
    it('take public addresses', async () => {
        for (const host of ['93.184.216.34', '[2606:4700:4700::1111]:8443', '[64:ff9b::5db8:d822]', '0x5db8d822']) {
            ok(await owner.client.post('/v1/webhooks', { url: `https://${host}/` }), 201);
        }
    });
});
