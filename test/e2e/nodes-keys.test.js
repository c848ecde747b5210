// A key that one node revokes is refused by the others at once, although each remembers the keys that it has seen.
// engine: postgresql, because SQLite's store has one process
import { describe, it, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { added, execute, owner as makeOwner, quote, removal } from './lib/buildings.js';
import { ok, refused } from './lib/client.js';
import { portero } from './lib/daemon.js';
import { joined } from './lib/nodes.js';
import { connected, known as assistantOf } from './lib/oauth.js';
import { sql } from './lib/store.js';
import { agent, grant, resident, setSubscription, signIn, useWorld } from './lib/world.js';

const REPETITIONS = 40;

describe('keys on two nodes', () => {
    const w = useWorld();
    const { client } = w;
    let node;
    before(async () => { node = await joined(w); });
    after(() => node.close());

    function admin(...args) {
        const done = portero(['admin', ...args, '--config', w.daemon.configPath, '--data', w.daemon.data, '--json']);
        assert.equal(done.status, 0, done.stderr);
        return JSON.parse(done.stdout);
    }
    const there = (key) => node.client.as(key);
    const at = (building) => ({ headers: { 'X-Service-Building-Id': building } });

    /** A key's client at the other node, which remembers the key: the building has a grant, and has been read. */
    async function known(person, key, options) {
        const client = there(key);
        await grant(person, { type: 'passcode' }, options?.headers);
        for (let i = 0; i < 3; i++) ok(await client.get('/v1/unlock', options));
        return client;
    }

    /** Does what a program on a third node would. */
    const elsewhere = (text) => sql(w.daemon, text);

    // NODE-9
    it('are refused from the moment of the revocation, for reads and writes', async () => {
        const session = await resident(client);
        const made = await grant(session, { type: 'passcode' });
        for (let i = 0; i < REPETITIONS; i++) {
            const key = ok(await session.client.post('/v1/auth/keys', {}), 201);
            for (let j = 0; j < 3; j++) ok(await there(key.api_key).get(`/v1/unlock/${made.id}`));
            ok(await session.client.delete(`/v1/auth/keys/${key.id}`));
            refused(i % 2 ? await there(key.api_key).get(`/v1/unlock/${made.id}`) : await there(key.api_key).patch(`/v1/unlock/${made.id}`, { label: 'late' }, { headers: { 'If-Match': '"0"' } }), 401, 'INVALID_KEY');
            refused(await there(key.api_key).get('/v1/unlock'), 401, 'INVALID_KEY');
        }
    });

    // OAUTH-13
    it('of an assistant that refreshes at both nodes at once are the same, and live at both', async () => {
        for (let i = 0; i < REPETITIONS; i++) {
            const { assistant, tokens } = await connected(client);
            const elsewhere = assistantOf(node.client, assistant.id);
            const answers = (await Promise.all([assistant, elsewhere, assistant, elsewhere].map((one) => one.refresh(tokens.refresh_token)))).map((answer) => ok(answer));
            answers.push(ok(await elsewhere.refresh(tokens.refresh_token)));
            assert.equal(new Set(answers.map((one) => `${one.access_token} ${one.refresh_token}`)).size, 1);
            ok(await client.as(answers[0].access_token).get('/v1/account'));
            ok(await there(answers[0].access_token).get('/v1/account'));
            refused(await there(tokens.access_token).get('/v1/account'), 401, 'INVALID_KEY');
        }
    });

    it('answer nothing that was asked after the revocation, while others ask all the time', async () => {
        const session = await resident(client);
        for (let i = 0; i < 5; i++) {
            const key = ok(await session.client.post('/v1/auth/keys', {}), 201);
            let revoked = false, late = 0, asked = 0;
            const ask = async () => {
                for (let after = 0; after < 2;) {
                    const begunAfter = revoked, answer = await there(key.api_key).get('/v1/account');
                    asked++;
                    late += begunAfter && answer.status === 200;
                    after += begunAfter;
                }
            };
            const asking = Array.from({ length: 8 }, ask);
            await new Promise((done) => { setTimeout(done, 50); });
            ok(await session.client.delete(`/v1/auth/keys/${key.id}`));
            revoked = true;
            await Promise.all(asking);
            assert.equal(late, 0, `of ${asked}`);
        }
    });

    it('of a signed-out session are refused', async () => {
        const session = await signIn(client);
        const other = await signIn(client, session.email);
        ok(await there(other.key).get('/v1/account'));
        ok(await session.client.post('/v1/auth/keys/revoke-others'));
        refused(await there(other.key).get('/v1/account'), 401, 'INVALID_KEY');
    });

    it('of a removed member are refused', async () => {
        const session = await resident(client);
        const member = admin('member', 'add', '--building', session.building.id, '--email', `member-${session.email}`, '--name', 'Ana');
        const theirs = await known(session, admin('key', 'create', '--member', member.id).api_key);
        admin('member', 'remove', member.id);
        refused(await theirs.get('/v1/unlock'), 401, 'INVALID_KEY');
    });

    it('see the end and the return of the subscription', async () => {
        const session = await resident(client);
        const reader = await known(session, session.key);
        const read = () => reader.get('/v1/account');
        assert.equal(ok(await read()).capabilities.multi_building, true);
        await setSubscription(client, session.email, 'canceled');
        assert.equal(ok(await read()).capabilities.multi_building, false);
        await setSubscription(client, session.email);
        assert.equal(ok(await read()).capabilities.multi_building, true);
    });

    it('see a building that is added or removed', async () => {
        const person = await makeOwner(client);
        const reader = await known(person, (await agent(person, ['access:read'])).key);
        const { id } = await added(person);
        refused(await reader.get('/v1/unlock'), 409, 'BUILDING_REQUIRED');
        await known(person, person.key, at(id));
        ok(await reader.get('/v1/unlock', at(id)));
        const bound = there(admin('key', 'create', '--building', id, '--scopes', 'access:read').api_key);
        for (let i = 0; i < 3; i++) ok(await bound.get('/v1/unlock'));
        ok(await execute(person, await quote(person, removal(id))));
        refused(await bound.get('/v1/unlock'), 401, 'INVALID_KEY');
        refused(await reader.get('/v1/unlock', at(id)), 404, 'BUILDING_NOT_FOUND');
        ok(await reader.get('/v1/unlock'));
    });

    it('see every change of what a key stands for, whichever program makes it', async () => {
        const changes = [
            ["UPDATE api_key SET revoked_at = 1 WHERE id = 'KEY'", 401, 'INVALID_KEY'],
            ["UPDATE api_key SET expires_at = 1 WHERE id = 'KEY'", 401, 'INVALID_KEY'],
            ["UPDATE api_key SET scopes = 0 WHERE id = 'KEY'", 403, 'INSUFFICIENT_SCOPE'],
            ["DELETE FROM api_key WHERE id = 'KEY'", 401, 'INVALID_KEY'],
            ["DELETE FROM account WHERE id = 'ACCOUNT'", 401, 'AUTHENTICATION_REQUIRED'],
            ["INSERT INTO building (account_id, id, created_at, is_primary, label) SELECT account_id, 'abcdef' || substr(id, 7), 0, 0, 'Cabin' FROM building WHERE id = 'BUILDING'", 409, 'BUILDING_REQUIRED'],
        ];
        for (const [text, status, code] of changes) {
            const person = await resident(client);
            const made = await agent(person, ['access:read']);
            const reader = await known(person, made.key);
            const account = elsewhere(`SELECT account_id FROM building WHERE id = '${person.building.id}'`).trim();
            elsewhere(text.replace('KEY', made.id).replace('ACCOUNT', account).replace('BUILDING', person.building.id));
            refused(await reader.get('/v1/unlock'), status, code);
        }
    });

    it('see another primary building, and the deletion of the key\'s own', async () => {
        const person = await makeOwner(client);
        const home = person.building.id, { id } = await added(person);
        const bound = await known(person, admin('key', 'create', '--building', id, '--scopes', 'access:read').api_key, at(id));
        const keeper = await known(person, person.key, at(home));
        elsewhere(`UPDATE account SET subscription_status = 'none' WHERE email = '${person.email}'`);
        const made = ok(await keeper.get('/v1/unlock', at(home))).data[0];
        const label = (version) => keeper.patch(`/v1/unlock/${made.id}`, { label: 'x' }, { headers: { 'If-Match': `"${version}"`, ...at(home).headers } });
        const { version } = ok(await label(made.version));
        elsewhere(`UPDATE building SET is_primary = 1 - is_primary WHERE id IN ('${home}', '${id}')`);
        refused(await label(version), 403, 'MULTI_BUILDING_REQUIRED');
        elsewhere(`DELETE FROM building WHERE id = '${id}'`);
        refused(await bound.get('/v1/unlock'), 401, 'AUTHENTICATION_REQUIRED');
    });
});
