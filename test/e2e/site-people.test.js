// Members of a building on the website: signing in, what they see, and what is the owner's (docs/behaviour/account.md).
import { describe, it, before } from 'node:test';
import assert from 'node:assert/strict';
import { idempotencyKey, ok, refused } from './lib/client.js';
import { portero } from './lib/daemon.js';
import { browser, SAME_ORIGIN, COOKIE, signInBrowser } from './lib/site.js';
import { challenge, freshEmail, resident, useWorld } from './lib/world.js';

describe('a member of a building', () => {
    const w = useWorld();
    const { client } = w;
    const email = freshEmail();
    let owner, member, site;

    const admin = (...args) => {
        const done = portero(['admin', ...args, '--config', w.daemon.configPath, '--data', w.daemon.data, '--json']);
        assert.equal(done.status, 0, done.stderr);
        return JSON.parse(done.stdout);
    };
    const pageOf = (path, cookie) => client.as(undefined).request('GET', path, { check: false, headers: { ...SAME_ORIGIN, accept: 'text/html', cookie: `${COOKIE}=${cookie}` } });
    const dataOf = (page) => JSON.parse(/<script type="application\/json" id="data">([^<]*)</.exec(page.text)[1]);

    before(async () => {
        owner = await resident(client);
        member = admin('member', 'add', '--building', owner.building.id, '--name', 'Guest', '--email', email);
        ({ site } = await signInBrowser(client, { email }));
    });

    // ACCOUNT-38
    it('signs in on the website, but not for a key', async () => {
        refused(await client.as(undefined).post('/v1/auth/otp', { email }), 400, 'LINKED_ACCOUNT');
        const { challenge: id } = ok(await browser(client).post('/v1/auth/otp', { email }));
        refused(await client.as(undefined).post('/v1/auth/verify', { email, purpose: 'web', challenge: id, otp: '000000' }), 400, 'LINKED_ACCOUNT');
    });

    // ACCOUNT-38
    it('sees the building, and of the account neither address nor plan', async () => {
        const account = ok(await site.get('/v1/account'));
        assert.equal(account.email, email);
        assert.equal(account.subscription.type, 'none');
        assert.ok(!JSON.stringify(account).includes(owner.email) && !JSON.stringify(account).includes('billing'), JSON.stringify(account));
        assert.deepEqual(account.capabilities.scopes, ['account:read', 'access:read', 'access:write', 'logs:read', 'calls:listen']);
        assert.deepEqual(ok(await site.get('/v1/buildings')).data.map((one) => one.id), [owner.building.id]);
    });

    // ACCOUNT-40
    it('is named to the owner', async () => {
        const { site: theirs } = await signInBrowser(client, { email: owner.email });
        const keys = ok(await theirs.get('/v1/auth/keys')).data;
        assert.deepEqual(keys.filter(({ name }) => name === 'Guest').map(({ type }) => type), ['web_session']);
    });

    it('makes and ends grants', async () => {
        const made = ok(await site.post('/v1/unlock', { type: 'passcode' }, { headers: { 'Idempotency-Key': idempotencyKey() } }), 201);
        assert.match(made.created_by, /^[0-9a-f]{24}$/);
        ok(await site.delete(`/v1/unlock/${made.id}`));
    });

    // ACCOUNT-9
    it('is refused what is the owner\'s', async () => {
        for (const path of ['/v1/auth/keys', '/v1/account/phone', '/v1/account/export', `/v1/buildings/${owner.building.id}/notices`]) refused(await site.get(path), 403, 'WEB_SESSION_REQUIRED');
        refused(await site.get('/v1/billing/checkout'), 403, 'INSUFFICIENT_SCOPE');
        refused(await site.patch(`/v1/buildings/${owner.building.id}/settings`, { label: 'Mine' }), 403, 'NUMBER_OWNER_REQUIRED');
        refused(await site.post('/v1/webhooks', { url: 'https://example.com/' }), 403, 'OWNER_KEY_REQUIRED');
    });

    // ACCOUNT-39
    it('has the pages of the door, and the owner\'s are not found', async () => {
        for (const path of ['/', '/access', '/activity', '/account']) {
            const page = await pageOf(path, site.cookie);
            assert.equal(page.status, 200, path);
            const { page: { closed }, phone } = dataOf(page);
            assert.deepEqual(closed, ['/building', '/buildings', '/notices', '/billing', '/agents', '/webhooks', '/oauth/authorize']);
            assert.ok(!phone, path);
            assert.ok(!page.text.includes(owner.email), path);
        }
        const { page: { closed } } = dataOf(await pageOf('/', (await signInBrowser(client, { email: owner.email })).cookie));
        assert.deepEqual(closed, []);
        for (const path of ['/building', '/buildings', '/notices', '/billing', '/agents', '/webhooks']) assert.equal((await pageOf(path, site.cookie)).status, 404, path);
    });

    // KEY-28
    it('has browsers apart from the owner\'s', async () => {
        const theirs = await signInBrowser(client, { email: owner.email });
        assert.ok(!ok(await site.get('/v1/browsers')).data.some((one) => one.id === theirs.id));
        refused(await site.delete(`/v1/browsers/${theirs.id}`), 404, 'NOT_FOUND');
        const second = await signInBrowser(client, { email });
        ok(await site.delete('/v1/browsers'));
        refused(await second.site.get('/v1/account'), 401, 'INVALID_KEY');
        ok(await theirs.site.get('/v1/account'));
        ({ site } = await signInBrowser(client, { email }));
    });

    // ACCOUNT-10
    it('is signed out by the removal, and may have an account then', async () => {
        admin('member', 'remove', member.id);
        refused(await site.get('/v1/account'), 401, 'INVALID_KEY');
        const { site: own } = await signInBrowser(client, { email });
        assert.equal(ok(await own.get('/v1/account')).email, email);
        assert.notDeepEqual(ok(await own.get('/v1/buildings')).data.map((one) => one.id), [owner.building.id]);
    });

    it('with an account is signed in to that', async () => {
        const { email: both } = await signInBrowser(client);
        admin('member', 'add', '--building', owner.building.id, '--name', 'Both', '--email', both);
        assert.equal(ok(await challenge(client, both, browser(client)).then((sent) => browser(client).post('/v1/auth/verify', { email: both, purpose: 'web', ...sent }))).remembered, false);
    });
});
