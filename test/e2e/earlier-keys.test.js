// Accounts that are served the earlier revision of the interface: keys and their scopes. Decisions section 12.
import { describe, it, before } from 'node:test';
import assert from 'node:assert/strict';
import { ok, refused } from './lib/client.js';
import { portero } from './lib/daemon.js';
import { agent, signIn, useWorld } from './lib/world.js';

const CURRENT = ['account:read', 'access:read', 'access:write', 'logs:read'];
const EARLIER = [...CURRENT, 'webhooks:write'];

describe('keys of an account of the earlier revision', () => {
    const w = useWorld();
    let person;

    const choose = (email, revision) => {
        const done = portero(['admin', 'account', 'compat', email, '--revision', revision, '--config', w.daemon.configPath, '--data', w.daemon.data]);
        assert.equal(done.status, 0, done.stderr);
    };
    /** The requests and answers of the earlier revision are not those of the document. */
    const ask = (who, method, path, json) => who.client.request(method, path, { json, check: false });
    const create = (who, json) => ask(who, 'POST', '/v1/auth/keys', json);
    const scopes = async (key) => ok(await ask(key, 'GET', '/v1/account')).capabilities.scopes;

    before(async () => {
        person = await signIn(w.client);
        choose(person.email, 'earlier');
    });

    describe('of agents', () => {
        it('have five scopes unless others are asked for', async () => {
            const made = ok(await create(person, {}), 201);
            assert.deepEqual(made.scopes, EARLIER);
            assert.match(made.api_key, /^svc_agent_/);
            assert.deepEqual(await scopes({ client: w.client.as(made.api_key) }), EARLIER);
            const listed = ok(await person.client.get('/v1/auth/keys')).data.find((key) => key.id === made.id);
            assert.deepEqual([listed.type, listed.scopes], ['agent', EARLIER]);
        });

        it('may have webhooks:write, which a session has from the next request on, whenever it began', async () => {
            assert.ok((await scopes(person)).includes('webhooks:write'));
            assert.deepEqual(ok(await create(person, { scopes: ['webhooks:write'] }), 201).scopes, ['webhooks:write']);
            for (const wrong of [['keys:write'], ['owner'], ['webhooks:read'], ['webhooks:write', 'webhooks:write'], []]) {
                refused(await create(person, { scopes: wrong }), 400, 'INVALID_KEY_OPTIONS', 'scopes');
            }
        });

        it('are bounded and named as ever', async () => {
            refused(await create(person, { expires_in_days: 91 }), 400, 'INVALID_KEY_OPTIONS', 'expires_in_days');
            refused(await create(person, { colour: 'red' }), 400, 'INVALID_KEY_OPTIONS', 'colour');
            const reader = await agent(person, ['account:read']);
            refused(await create(reader, {}), 403, 'WEB_SESSION_REQUIRED');
        });

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
});
