// API keys: contract "Public, sign-in and keys", Authentication 3 to 7; docs/behaviour/keys.md.
import { describe, it, before } from 'node:test';
import assert from 'node:assert/strict';
import { ok, refused } from './lib/client.js';
import { advance, agent, DAY, eventually, grant, ID, now, resident, signIn, TIMESTAMP, UNKNOWN_ID, useWorld, visit } from './lib/world.js';

const DEFAULT_SCOPES = ['account:read', 'access:read', 'access:write', 'logs:read'];
const ISSUABLE = [...DEFAULT_SCOPES, 'setup:write', 'billing:write', 'buildings:write'];

describe('keys', () => {
    const w = useWorld();
    const { client } = w;
    let session;
    before(async () => {
        session = await signIn(client);
    });

    const create = (body, who = session) => who.client.post('/v1/auth/keys', body);
    const list = async (who = session) => ok(await who.client.get('/v1/auth/keys')).data;

    describe('creation', () => {
        // KEY-13
        it('gives a key with the default scopes, name and life of 30 days', async () => {
            const made = ok(await create({}), 201);
            assert.match(made.id, ID);
            assert.match(made.api_key, /^svc_agent_[0-9A-Za-z]{43}$/);
            assert.deepEqual([...made.scopes].sort(), [...DEFAULT_SCOPES].sort());
            assert.ok(Math.abs(Date.parse(made.expires_at) - (await now(client) + 30 * DAY)) < DAY / 24);
            assert.ok(made.message.length > 0);
            const row = (await list()).find((key) => key.id === made.id);
            assert.equal(row.name, 'Delivery agent');
            assert.equal(row.type, 'agent');
            assert.equal(row.current, false);
            assert.deepEqual([...row.scopes].sort(), [...DEFAULT_SCOPES].sort());
            assert.equal(row.expires_at, made.expires_at);
            ok(await client.as(made.api_key).get('/v1/account'));
        });

        it('takes a trimmed name, scopes and days', async () => {
            for (const days of [1, 90]) {
                const made = ok(await create({ name: '  Robot ß🚪 ', scopes: ISSUABLE, expires_in_days: days }), 201);
                assert.deepEqual([...made.scopes].sort(), [...ISSUABLE].sort());
                assert.ok(Math.abs(Date.parse(made.expires_at) - (await now(client) + days * DAY)) < DAY / 24);
                assert.equal((await list()).find((key) => key.id === made.id).name, 'Robot ß🚪');
                ok(await session.client.delete(`/v1/auth/keys/${made.id}`));
            }
        });

        it('counts the 120 characters of a name in code points, after trimming', async () => {
            const made = ok(await create({ name: ` ${'🚪'.repeat(120)} ` }), 201);
            ok(await session.client.delete(`/v1/auth/keys/${made.id}`));
            refused(await create({ name: '🚪'.repeat(121) }), 400, 'INVALID_KEY_OPTIONS', 'name');
        });

        const bad = [
            ['scopes', { scopes: [] }], ['scopes', { scopes: ['logs:read', 'logs:read'] }], ['scopes', { scopes: ['keys:write'] }],
            ['scopes', { scopes: ['owner'] }], ['scopes', { scopes: ['webhooks:write'] }], ['scopes', { scopes: 'logs:read' }],
            ['scopes', { scopes: [5] }], ['scopes', { scopes: null }], ['scopes', { scopes: ['LOGS:READ'] }],
            ['name', { name: '' }], ['name', { name: '  \t ' }], ['name', { name: '\u00a0\u3000' }], ['name', { name: 5 }], ['name', { name: null }],
            ['expires_in_days', { expires_in_days: 0 }], ['expires_in_days', { expires_in_days: 91 }], ['expires_in_days', { expires_in_days: -1 }],
            ['expires_in_days', { expires_in_days: 1.5 }], ['expires_in_days', { expires_in_days: '30' }], ['expires_in_days', { expires_in_days: null }],
            ['colour', { colour: 'red' }],
        ];
        for (const [field, body] of bad) {
            // KEY-14
            it(`refuses ${JSON.stringify(body)}, naming ${field}`, async () => {
                refused(await create(body), 400, 'INVALID_KEY_OPTIONS', field);
            });
        }

        // KEY-15
        it('allows 20 active agent keys, also when more are asked for at once; revoking or expiry makes room', async () => {
            const owner = await signIn(client);
            const answers = await Promise.all(Array.from({ length: 25 }, () => create({ expires_in_days: 1 }, owner)));
            assert.equal(answers.filter((answer) => answer.status === 201).length, 20);
            for (const answer of answers.filter((a) => a.status !== 201)) refused(answer, 409, 'KEY_LIMIT');
            ok(await owner.client.delete(`/v1/auth/keys/${answers.find((a) => a.status === 201).body.id}`));
            ok(await create({ expires_in_days: 90 }, owner), 201);
            refused(await create({}, owner), 409, 'KEY_LIMIT');
            await advance(client, DAY / 1000 + 1);
            const again = await signIn(client, owner.email);
            ok(await create({}, again), 201);
            session = await signIn(client, session.email);
        });
    });

    describe('list', () => {
        // KEY-16
        it('shows every key newest first, which one is asking, and no secret', async () => {
            const owner = await signIn(client);
            const robot = await agent(owner, ['logs:read'], { name: 'Robot' });
            const second = await signIn(client, owner.email);
            const answer = await second.client.get('/v1/auth/keys');
            const { data } = ok(answer);
            assert.deepEqual(data.map((key) => key.type), ['web_session', 'agent', 'web_session']);
            assert.deepEqual(data.map((key) => key.current), [true, false, false]);
            assert.equal(data[1].id, robot.id);
            assert.deepEqual(data[1].scopes, ['logs:read']);
            for (const key of data) {
                assert.match(key.id, ID);
                assert.match(key.expires_at, TIMESTAMP);
            }
            for (const secret of [owner.key, robot.key, second.key]) assert.ok(!answer.text.includes(secret));
        });

        // KEY-16
        it('tells, to the minute, when a key was last used', async () => {
            const owner = await signIn(client);
            const robot = await agent(owner, ['account:read']);
            assert.equal((await list(owner)).find((key) => key.id === robot.id).last_used_at ?? null, null);
            ok(await robot.client.get('/v1/account'));
            await advance(client, 120);
            const used = await eventually(async () => (await list(owner)).find((key) => key.id === robot.id).last_used_at, 'last_used_at');
            assert.match(used, TIMESTAMP);
        });
    });

    describe('revocation', () => {
        it('ends a key at once, on every connection', async () => {
            const robot = await agent(session, ['account:read']);
            await Promise.all(Array.from({ length: 12 }, async () => ok(await robot.client.get('/v1/account'))));
            const gone = ok(await session.client.delete(`/v1/auth/keys/${robot.id.toUpperCase()}`));
            assert.deepEqual(gone, { id: robot.id, revoked: true, grants_left: 0, grants_ended: 0 });
            const answers = await Promise.all(Array.from({ length: 12 }, () => robot.client.get('/v1/account')));
            for (const answer of answers) refused(answer, 401, 'INVALID_KEY');
            assert.ok(!(await list()).some((key) => key.id === robot.id));
        });

        // KEY-17
        it('answers 404 for a key already revoked, unknown, or of another account', async () => {
            const robot = await agent(session, ['account:read']);
            const stranger = await signIn(client);
            refused(await stranger.client.delete(`/v1/auth/keys/${robot.id}`), 404, 'NOT_FOUND');
            ok(await robot.client.get('/v1/account'));
            ok(await session.client.delete(`/v1/auth/keys/${robot.id}`));
            refused(await session.client.delete(`/v1/auth/keys/${robot.id}`), 404, 'NOT_FOUND');
            refused(await session.client.delete(`/v1/auth/keys/${UNKNOWN_ID}`), 404, 'NOT_FOUND');
        });

        for (const id of ['x', '1234567890123456789012', 'g0f0f0f0f0f0f0f0f0f0f0f0', `${UNKNOWN_ID}0`, '%66'.repeat(8)]) {
            it(`refuses ${id} as INVALID_ID`, async () => {
                refused(await session.client.delete(`/v1/auth/keys/${id}`), 400, 'INVALID_ID');
            });
        }

        it('may end the calling session itself, which is then signed out', async () => {
            const owner = await signIn(client);
            const self = (await list(owner)).find((key) => key.current);
            ok(await owner.client.delete(`/v1/auth/keys/${self.id}`));
            refused(await owner.client.get('/v1/auth/keys'), 401, 'INVALID_KEY');
        });

        // KEY-18
        it('of all others counts them and keeps the calling session', async () => {
            const owner = await signIn(client);
            const robot = await agent(owner, ['account:read']);
            const second = await signIn(client, owner.email);
            const stranger = await signIn(client);
            assert.deepEqual(ok(await second.client.post('/v1/auth/keys/revoke-others')), { revoked: true, revoked_count: 2, grants_left: 0, grants_ended: 0 });
            refused(await owner.client.get('/v1/account'), 401, 'INVALID_KEY');
            refused(await robot.client.get('/v1/account'), 401, 'INVALID_KEY');
            ok(await second.client.get('/v1/account'));
            ok(await stranger.client.get('/v1/account'));
            assert.deepEqual(ok(await second.client.post('/v1/auth/keys/revoke-others')), { revoked: true, revoked_count: 0, grants_left: 0, grants_ended: 0 });
        });

        // KEY-19
        it('of all others leaves no key behind that one of them asked for at the same moment', async () => {
            const owner = await signIn(client);
            for (let round = 0; round < 20; round++) {
                const other = await signIn(client, owner.email);
                const asked = Array.from({ length: 6 }, () => create({}, other));
                const answers = await Promise.all([...asked, owner.client.post('/v1/auth/keys/revoke-others'), create({}, other)]);
                ok(await owner.client.get('/v1/auth/keys'));
                const alive = await list(owner);
                assert.deepEqual(alive.map((key) => key.current), [true], `round ${round}: ${answers.map((answer) => answer.status)}`);
            }
        });

        it('of itself happens once when it is asked for several times at once', async () => {
            const owner = await signIn(client);
            const answers = await Promise.all(Array.from({ length: 8 }, () => owner.client.delete('/v1/auth/key')));
            assert.equal(answers.filter((answer) => answer.status === 200).length, 1);
            for (const answer of answers.filter((a) => a.status !== 200)) refused(answer, 401, 'INVALID_KEY');
        });

        it('of itself needs no scope and works for both kinds of key', async () => {
            const owner = await signIn(client);
            const robot = await agent(owner, ['logs:read']);
            for (const who of [robot, owner]) {
                assert.deepEqual(ok(await who.client.delete('/v1/auth/key')), { revoked: true });
                refused(await who.client.delete('/v1/auth/key'), 401, 'INVALID_KEY');
            }
        });
    });

    describe('kinds of key', () => {
        it('lets agent keys manage no keys', async () => {
            const robot = await agent(session, ISSUABLE);
            for (const answer of [
                await robot.client.get('/v1/auth/keys'), await robot.client.post('/v1/auth/keys', {}),
                await robot.client.delete(`/v1/auth/keys/${robot.id}`), await robot.client.post('/v1/auth/keys/revoke-others'),
            ]) refused(answer, 403, 'WEB_SESSION_REQUIRED');
        });

        it('lets an agent key outlive the session that made it, until its own end', async () => {
            const owner = await signIn(client);
            const robot = await agent(owner, ['account:read'], { expires_in_days: 1 });
            ok(await owner.client.delete('/v1/auth/key'));
            ok(await robot.client.get('/v1/account'));
            await advance(client, DAY / 1000 - 60);
            ok(await robot.client.get('/v1/account'));
            await advance(client, 61);
            refused(await robot.client.get('/v1/account'), 401, 'INVALID_KEY');
        });
    });

    describe('Authorization', () => {
        before(async () => { session = await signIn(client, session.email); });

        // HTTP-27
        it('takes the scheme in any case', async () => {
            for (const scheme of ['Bearer', 'bearer', 'BEARER', 'bEaReR']) {
                ok(await client.get('/v1/account', { headers: { Authorization: `${scheme} ${session.key}` } }));
            }
        });

        // HTTP-27
        it('answers a missing or malformed header with AUTH_REQUIRED, an unknown key with INVALID_KEY, both with the scheme', async () => {
            const { key } = session;
            const malformed = [undefined, '', 'Bearer', 'Bearer ', `Basic ${key}`, key, `Bearer${key}`, `Bearer ${key} ${key}`];
            for (const value of malformed) {
                const answer = await client.get('/v1/account', { headers: { Authorization: value } });
                refused(answer, 401, 'AUTH_REQUIRED');
                assert.equal(answer.headers['www-authenticate'], 'Bearer');
            }
            for (const unknown of [`svc_web_${'A'.repeat(43)}`, `svc_agent_${'0'.repeat(43)}`, 'x', key.slice(0, -1), `${key}0`, key.toLowerCase()]) {
                const answer = await client.as(unknown).get('/v1/account');
                refused(answer, 401, 'INVALID_KEY');
                assert.equal(answer.headers['www-authenticate'], 'Bearer');
            }
        });

        // HTTP-28
        it('never reads a key from the query', async () => {
            for (const name of ['api_key', 'key', 'access_token', 'apiKey', 'Authorization']) {
                refused(await client.get(`/v1/account?${name}=${session.key}`), 401, 'AUTH_REQUIRED');
            }
        });
    });

    describe('what a revoked key leaves', () => {
        const make = (who, label, body = {}) => grant(who, { type: 'passcode', label, ...body });
        // KEY-21
        it('is named by its key, counted, and goes on until somebody ends it', async () => {
            const person = await resident(client, { tone: '9' });
            const maker = await agent(person);
            const made = await make(maker, 'Cleaner', { access_code: '6666' });
            assert.equal(made.created_by, maker.id);
            assert.equal(ok(await person.client.get(`/v1/unlock/${made.id}`)).created_by, maker.id);
            await make(maker, 'Off', { enabled: false });
            await make(maker, 'Over', { expires_in_minutes: 1 });
            await make(person, 'Mine');
            await advance(client, 120);
            assert.deepEqual(ok(await person.client.delete(`/v1/auth/keys/${maker.id}`)), { id: maker.id, revoked: true, grants_left: 1, grants_ended: 0 });
            assert.equal((await visit(client, { to: person.number, digits: '6666' })).outcome, 'released');
        });

        // KEY-21
        it('ends in the same step if that is asked for, and nothing else does', async () => {
            const person = await resident(client, { tone: '9' });
            const [one, two] = [await agent(person), await agent(person)];
            const mine = await make(person, 'Mine');
            const other = await make(two, 'Other');
            for (const access_code of ['1111', '2222']) await make(one, access_code, { access_code });
            assert.deepEqual(ok(await person.client.delete(`/v1/auth/keys/${one.id}?end_grants=true`)), { id: one.id, revoked: true, grants_left: 0, grants_ended: 2 });
            assert.deepEqual(ok(await person.client.get('/v1/unlock')).data.map(({ id }) => id).sort(), [mine.id, other.id].sort());
            assert.equal((await visit(client, { to: person.number, digits: '1111' })).outcome, 'forwarded');
            refused(await person.client.delete(`/v1/auth/keys/${two.id}?end_grants=perhaps`), 400, 'INVALID_FILTER');
        });

        // KEY-21
        it('is counted, or ends, if all others are revoked, and nothing of the calling key or of earlier ones', async () => {
            const person = await resident(client, { tone: '9' });
            const [gone, one, two] = [await agent(person), await agent(person), await agent(person)];
            const others = '/v1/auth/keys/revoke-others';
            const kept = [await make(person, 'Mine'), await make(gone, 'Before')];
            ok(await person.client.delete(`/v1/auth/keys/${gone.id}`));
            for (const [who, access_code] of [[one, '1111'], [two, '2222'], [two, '3333']]) await make(who, access_code, { access_code });
            refused(await person.client.post(`${others}?end_grants=perhaps`), 400, 'INVALID_FILTER');
            assert.deepEqual(ok(await person.client.post(`${others}?end_grants=true`)), { revoked: true, revoked_count: 2, grants_left: 0, grants_ended: 3 });
            assert.deepEqual(ok(await person.client.get('/v1/unlock')).data.map(({ id }) => id).sort(), kept.map(({ id }) => id).sort());
            assert.equal((await visit(client, { to: person.number, digits: '3333' })).outcome, 'forwarded');
            await make(await agent(person), 'Cleaner', { access_code: '6666' });
            assert.deepEqual(ok(await person.client.post(others)), { revoked: true, revoked_count: 1, grants_left: 1, grants_ended: 0 });
            assert.equal((await visit(client, { to: person.number, digits: '6666' })).outcome, 'released');
        });
    });
});
