// Members of a building on the website: signing in, what they see, and what is the owner's (docs/behaviour/account.md).
import { describe, it, before, beforeEach } from 'node:test';
import assert from 'node:assert/strict';
import { idempotencyKey, ok, refused } from './lib/client.js';
import { portero } from './lib/daemon.js';
import { member as memberOf, verifyPhone } from './lib/household.js';
import { browser, SAME_ORIGIN, COOKIE, signInBrowser } from './lib/site.js';
import { advance, agent, challenge, changeSettings, DAY, endedCall, eventually, freshEmail, grant, now, resident, UNKNOWN_ID, useWorld, visit } from './lib/world.js';

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

    // ACCOUNT-40
    it('makes and ends grants, which say so', async () => {
        const made = ok(await site.post('/v1/unlock', { type: 'passcode' }, { headers: { 'Idempotency-Key': idempotencyKey() } }), 201);
        assert.match(made.created_by, /^[0-9a-f]{24}$/);
        const mine = await grant(owner, { type: 'passcode' });
        const named = (list) => Object.fromEntries(list.data.filter(({ id }) => [made.id, mine.id].includes(id)).map((one) => [one.id, one.created_by_name]));
        for (const one of [site, owner.client]) {
            assert.deepEqual(named(ok(await one.get('/v1/unlock'))), { [made.id]: 'Guest', [mine.id]: undefined });
            assert.equal(ok(await one.get(`/v1/unlock/${made.id}`)).created_by_name, 'Guest');
        }
        ok(await site.delete(`/v1/unlock/${made.id}`));
    });

    // ACCOUNT-9
    it('is refused what is the owner\'s', async () => {
        for (const path of ['/v1/auth/keys', '/v1/account/phone', '/v1/account/export']) refused(await site.get(path), 403, 'WEB_SESSION_REQUIRED');
        refused(await site.get('/v1/billing/checkout'), 403, 'INSUFFICIENT_SCOPE');
        refused(await site.patch(`/v1/buildings/${owner.building.id}/settings`, { label: 'Mine' }), 403, 'NUMBER_OWNER_REQUIRED');
        refused(await site.post('/v1/webhooks', { url: 'https://example.com/' }), 403, 'OWNER_KEY_REQUIRED');
    });

    // ACCOUNT-39
    it('has the pages of the door, and the owner\'s are not found', async () => {
        for (const path of ['/', '/access', '/activity', '/notices', '/account']) {
            const page = await pageOf(path, site.cookie);
            assert.equal(page.status, 200, path);
            const { page: { closed }, phone } = dataOf(page);
            assert.deepEqual(closed, ['/building', '/buildings', '/billing', '/agents', '/webhooks', '/oauth/authorize']);
            assert.ok(!phone?.phone_number, path);
            assert.ok(!page.text.includes(owner.email), path);
        }
        const { page: { closed } } = dataOf(await pageOf('/', (await signInBrowser(client, { email: owner.email })).cookie));
        assert.deepEqual(closed, []);
        for (const path of ['/building', '/buildings', '/billing', '/agents', '/webhooks']) assert.equal((await pageOf(path, site.cookie)).status, 404, path);
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

describe('the phone of a person', () => {
    const w = useWorld();
    const { client } = w;
    let owner, theirs;
    const PATH = '/v1/person/phone';
    const number = (end) => `+1555111${end}`;
    const peopleOf = ({ building }) => `/v1/buildings/${building.id}/people`;

    const member = (name, role) => memberOf(client, theirs, owner.building, { name, role });
    const verify = (site, to) => verifyPhone(client, site, to);
    const rang = async (resident = 'opened') => (await visit(client, { to: owner.number, resident })).rang;

    beforeEach(async () => {
        owner = await resident(client);
        ({ site: theirs } = await signInBrowser(client, { email: owner.email }));
        await changeSettings(owner, { ring: { strategy: 'all' } });
    });

    // ACCOUNT-45
    it('rings with the owner\'s after its code, until the removal, and is shown to the owner by its end', async () => {
        const ana = await member('Ana');
        assert.equal(ok(await ana.site.get(PATH)).verified, false);
        assert.equal((await verify(ana.site, number('0188'))).phone_number, number('0188'));
        assert.deepEqual(ok(await theirs.get(peopleOf(owner))).data.map(({ name, phone }) => [name, phone]), [['Ana', '...0188']]);
        assert.deepEqual(await rang(), [number('0188')]);
        const [{ opened_by: by }] = ok(await ana.site.get('/v1/visits?limit=1')).data;
        assert.deepEqual([by.kind, by.name, by.number], ['phone', 'Ana', '...0188']);
        assert.equal((await verify(theirs, number('0001'))).phone_number, ok(await owner.client.get('/v1/account/phone')).phone_number);
        assert.deepEqual(await rang(), [number('0001'), number('0188')]);
        assert.equal(ok(await owner.client.get(`/v1/buildings/${owner.building.id}/settings`)).ring.accept, true);
        ok(await theirs.delete(`${peopleOf(owner)}/${ana.id}`));
        refused(await ana.site.get(PATH), 401, 'INVALID_KEY');
        assert.deepEqual(await rang(), [number('0001')]);
    });

    // ACCOUNT-45
    it('is not another account\'s, and goes to the last who proved it', async () => {
        const [ana, eva, other] = [await member('Ana'), await member('Eva'), await resident(client)];
        const { site: stranger } = await signInBrowser(client, { email: other.email });
        await verify(stranger, number('0300'));
        refused(await ana.site.post(`${PATH}/verification`, { phone_number: number('0300') }), 409, 'PHONE_IN_USE');
        await verify(ana.site, number('0301'));
        await verify(eva.site, number('0301'));
        assert.deepEqual([ok(await ana.site.get(PATH)).verified, ok(await eva.site.get(PATH)).verified], [false, true]);
        await verify(stranger, number('0301'));
        assert.equal(ok(await eva.site.get(PATH)).verified, false);
        assert.deepEqual(await rang(), []);
    });

    // ACCOUNT-45
    it('is changed and given up by a member, and not by the owner', async () => {
        const ana = await member('Ana');
        refused(await ana.site.delete(PATH), 404, 'NOT_FOUND');
        await verify(ana.site, number('0188'));
        await verify(ana.site, number('0189'));
        assert.deepEqual(await rang(), [number('0189')]);
        const { phone_number: none, verified } = ok(await ana.site.delete(PATH));
        assert.deepEqual([none, verified, await rang()], [null, false, []]);
        assert.deepEqual(ok(await theirs.get(peopleOf(owner))).data.map(({ phone }) => phone), [null]);
        await verify(theirs, number('0002'));
        refused(await theirs.delete(PATH), 404, 'NOT_FOUND');
        assert.deepEqual(await rang(), [number('0002')]);
    });

    // ACCOUNT-13
    it('has a part in the three codes of all members of a building', async () => {
        const people = [await member('Ana'), await member('Eva'), await member('Max'), await member('Zoe')];
        const ask = ({ site }, i) => site.post(`${PATH}/verification`, { phone_number: number(`050${i}`) });
        for (let i = 0; i < 3; i++) ok(await ask(people[i], i));
        refused(await ask(people[3], 3), 429, 'PHONE_CODE_RATE_LIMIT');
        await verify(theirs, number('0003'));
    });

    // ACCOUNT-46
    it('does not ring in quiet hours, unless nobody else\'s does, and the record says so', async () => {
        await changeSettings(owner, { timezone: 'Etc/UTC' });
        const [ana, eva] = [await member('Ana'), await member('Eva')];
        await verify(ana.site, number('0188'));
        await verify(eva.site, number('0189'));
        const hour = new Date(await now(client)).getUTCHours();
        const clock = (ahead) => `${String((hour + ahead + 24) % 24).padStart(2, '0')}:00`;
        const [none, these, others] = [{ from: null, until: null }, { from: clock(-2), until: clock(2) }, { from: clock(3), until: clock(6) }];
        const rest = async ({ site }, hours) => assert.deepEqual(ok(await site.put('/v1/person/quiet_hours', hours)), hours);
        assert.deepEqual(ok(await ana.site.get('/v1/person/quiet_hours')), none);
        await rest(ana, these);
        assert.deepEqual(await rang(), [number('0189')]);
        const { steps } = await endedCall(owner);
        assert.ok(steps.some(({ step, number: end }) => step === 'ringing' && end === '...0189'));
        assert.deepEqual(steps.filter(({ detail }) => detail === 'quiet').map(({ step, number: end }) => [step, end]), [['leg_failed', '...0188']]);
        await rest(eva, these);
        assert.deepEqual(await rang(), [number('0188'), number('0189')]);
        await rest(ana, others);
        assert.deepEqual(await rang(), [number('0188')]);
        await rest(eva, none);
        await rest({ site: theirs }, these);
        assert.deepEqual(await rang(), [number('0188'), number('0189')]);
        for (const wrong of [{ from: '22:00', until: null }, { from: '22:00', until: '22:00' }, { from: '24:00', until: '07:00' }, { from: '22:00' }, {}])
            refused(await ana.site.put('/v1/person/quiet_hours', wrong), 400, 'INVALID_NOTICES');
        const { site: manager } = await member('Max', 'manager');
        for (const one of [await manager.get('/v1/person/quiet_hours'), await manager.put('/v1/person/quiet_hours', these)]) refused(one, 403, 'WEB_SESSION_REQUIRED');
    });

    // ACCOUNT-9
    it('is not for managers of codes, nor for keys', async () => {
        const eva = await member('Eva', 'manager');
        const { client: robot } = await agent(owner, ['account:read', 'access:write']);
        for (const [one, status, code] of [[eva.site, 403, 'WEB_SESSION_REQUIRED'], [owner.client, 404, 'NOT_FOUND'], [robot, 404, 'NOT_FOUND']]) {
            refused(await one.get(PATH), status, code);
            refused(await one.post(`${PATH}/verification`, { phone_number: number('0400') }), status, code);
            refused(await one.post(`${PATH}/confirmation`, { code: '000000' }), status, code);
            refused(await one.delete(PATH), status, code);
        }
        const ana = await member('Ana');
        await verify(ana.site, number('0401'));
        ok(await theirs.patch(`${peopleOf(owner)}/${ana.id}`, { role: 'manager' }));
        assert.deepEqual(await rang(), []);
        refused(await ana.site.get(PATH), 403, 'WEB_SESSION_REQUIRED');
    });
});

describe('the owner of a building', () => {
    const w = useWorld();
    const { client } = w;
    let owner, site, other, path;

    const admin = (...args) => {
        const done = portero(['admin', ...args, '--config', w.daemon.configPath, '--data', w.daemon.data, '--json']);
        assert.equal(done.status, 0, done.stderr);
        return JSON.parse(done.stdout);
    };
    const mailsTo = async (to) => ok(await client.as(undefined).get(`/sandbox/messages?channel=email&to=${encodeURIComponent(to)}`)).data;
    const invite = async (body, headers) => ok(await site.post(path, { name: 'Ana', email: freshEmail(), role: 'resident', ...body }, { headers }), 201);
    const remove = async ({ id }, query = '') => ok(await site.delete(`${path}/${id}${query}`));
    const scopesOf = async (one) => ok(await one.get('/v1/account')).capabilities.scopes;

    before(async () => {
        [owner, other] = [await resident(client), await resident(client)];
        ({ site } = await signInBrowser(client, { email: owner.email }));
        path = `/v1/buildings/${owner.building.id}/people`;
    });

    // ACCOUNT-42
    it('invites a person, who gets a mail in their language and signs in', async () => {
        const person = await invite({ name: ' Ana ', email: freshEmail().toUpperCase() }, { 'accept-language': 'fr' });
        assert.deepEqual({ ...person, id: '', created_at: '' }, { id: '', name: 'Ana', email: person.email.toLowerCase(), role: 'resident', language: 'fr', phone: null, created_at: '', invited_until: person.invited_until });
        assert.deepEqual(ok(await site.get(path)).data, [person]);
        const mail = await eventually(async () => (await mailsTo(person.email))[0], 'the invitation');
        assert.match(mail.subject, /^Vous êtes invité/);
        assert.ok(mail.text.includes(owner.email) && mail.text.includes('Home'), mail.text);
        const { site: theirs } = await signInBrowser(client, { email: person.email });
        assert.deepEqual(ok(await theirs.get('/v1/buildings')).data.map(({ id }) => id), [owner.building.id]);
        await remove(person);
        refused(await theirs.get('/v1/account'), 401, 'INVALID_KEY');
        assert.deepEqual(ok(await site.get(path)).data, []);
    });

    // ACCOUNT-42
    it('sends no link that is written as a label', async () => {
        await changeSettings(owner, { label: 'https://example.net/win www.example.net' });
        const person = await invite({ language: 'en' });
        const mail = await eventually(async () => (await mailsTo(person.email))[0], 'the invitation');
        assert.doesNotMatch(`${mail.subject} ${mail.text}`, /example\.net/);
        await remove(person);
    });

    // ACCOUNT-43
    it('changes a role and a name, which hold at once', async () => {
        const person = await invite({ role: 'resident' });
        assert.equal(ok(await site.patch(`${path}/${person.id}`, { role: 'manager' })).invited_until, person.invited_until);
        const { site: theirs } = await signInBrowser(client, { email: person.email });
        const MANAGER = ['account:read', 'access:read', 'access:write', 'logs:read'];
        assert.deepEqual(await scopesOf(theirs), MANAGER);
        refused(await theirs.post(`/v1/calls/${UNKNOWN_ID}/open`), 403, 'INSUFFICIENT_SCOPE');
        assert.equal(ok(await site.patch(`${path}/${person.id}`, { role: 'resident' })).role, 'resident');
        assert.deepEqual(await scopesOf(theirs), [...MANAGER, 'calls:listen']);
        const changed = ok(await site.patch(`${path}/${person.id}`, { name: 'Eva', role: 'manager' }));
        assert.deepEqual([changed.name, changed.role, changed.email], ['Eva', 'manager', person.email]);
        assert.deepEqual(await scopesOf(theirs), MANAGER);
        assert.ok(ok(await site.get('/v1/auth/keys')).data.some(({ name }) => name === 'Eva'));
        await remove(person);
    });

    // ACCOUNT-10
    it('removes a person, with or without the grants', async () => {
        const [ana, eva] = [await invite({ name: 'Ana' }), await invite({ name: 'Eva' })];
        for (const [person, query, left, ended] of [[ana, '', 1, 0], [eva, '?end_grants=true', 0, 1]]) {
            const { site: theirs } = await signInBrowser(client, { email: person.email });
            const made = ok(await theirs.post('/v1/unlock', { type: 'passcode' }, { headers: { 'Idempotency-Key': idempotencyKey() } }), 201);
            const { api_key: key } = admin('key', 'create', '--member', person.id, '--name', 'Robot');
            ok(await client.as(key).get('/v1/account'));
            assert.deepEqual(await remove(person, query), { id: person.id, deleted: true, grants_left: left, grants_ended: ended });
            assert.equal(ok(await site.get(`/v1/unlock/${made.id}`)).status === 'revoked', ended === 1);
            refused(await theirs.get('/v1/unlock'), 401, 'INVALID_KEY');
            refused(await client.as(key).get('/v1/unlock'), 401, 'INVALID_KEY');
        }
        refused(await site.delete(`${path}/${ana.id}`), 404, 'NOT_FOUND');
        refused(await site.patch(`${path}/${ana.id}`, { name: 'Ana' }), 404, 'NOT_FOUND');
    });

    // ACCOUNT-42
    it('alone may invite, change and remove', async () => {
        const person = await invite({});
        const { site: theirs } = await signInBrowser(client, { email: person.email });
        const { site: stranger } = await signInBrowser(client, { email: other.email });
        const body = { name: 'Eve', email: freshEmail(), role: 'resident' };
        const each = async (one, status, code) => {
            refused(await one.get(path), status, code);
            refused(await one.post(path, body), status, code);
            refused(await one.patch(`${path}/${person.id}`, { role: 'resident' }), status, code);
            refused(await one.delete(`${path}/${person.id}`), status, code);
        };
        await each(theirs, 403, 'WEB_SESSION_REQUIRED');
        await each(stranger, 404, 'BUILDING_NOT_FOUND');
        const elsewhere = `/v1/buildings/${other.building.id}/people/${person.id}`;
        refused(await stranger.patch(elsewhere, { role: 'manager' }), 404, 'NOT_FOUND');
        refused(await stranger.delete(elsewhere), 404, 'NOT_FOUND');
        const robot = await agent(owner, ['account:read', 'access:write']);
        for (const one of [owner.client, robot.client]) refused(await one.get(path), 404, 'NOT_FOUND');
        assert.deepEqual(ok(await site.get(path)).data.map(({ id, role }) => [id, role]), [[person.id, 'resident']]);
        await remove(person);
    });

    // ACCOUNT-8
    it('is refused what is not valid, whoever is there, and their own address', async () => {
        const email = freshEmail();
        const person = await invite({ email });
        for (const [body, status, code] of [
            [{ email: owner.email }, 409, 'MEMBER_EXISTS'], [{ email }, 409, 'MEMBER_EXISTS'], [{ email: 'nobody' }, 400, 'INVALID_EMAIL'],
            [{ name: ' ' }, 400, 'INVALID_MEMBER'], [{ name: 'x'.repeat(121) }, 400, 'INVALID_MEMBER'], [{ role: 'owner' }, 400, 'INVALID_MEMBER'],
            [{ role: undefined }, 400, 'INVALID_MEMBER'], [{ language: 'xx' }, 400, 'INVALID_MEMBER'],
        ]) refused(await site.post(path, { name: 'Ana', email: freshEmail(), role: 'resident', ...body }), status, code);
        for (const body of [{}, { role: 'owner' }, { name: '' }]) refused(await site.patch(`${path}/${person.id}`, body), 400, 'INVALID_MEMBER');
        refused(await site.delete(`${path}/x`), 400, 'INVALID_ID');
        refused(await site.delete(`${path}/${person.id}?end_grants=perhaps`), 400, 'INVALID_FILTER');
        await remove(person);
    });

    // ACCOUNT-42
    it('invites ten people a day', async () => {
        await advance(client, DAY / 1000);
        ({ site } = await signInBrowser(client, { email: owner.email }));
        for (let i = 0; i < 10; i += 1) await remove(await invite({}));
        const over = await site.post(path, { name: 'Ana', email: freshEmail(), role: 'resident' });
        refused(over, 429, 'RATE_LIMIT_EXCEEDED');
        assert.ok(Number(over.headers['retry-after']) > 0);
        await advance(client, DAY / 1000);
        ({ site } = await signInBrowser(client, { email: owner.email }));
        await remove(await invite({}));
    });

    // ACCOUNT-44
    it('hears of the first sign-in, and an invitation without one ends after a week', async () => {
        const [late, soon] = [await invite({ name: 'Late' }), await invite({ name: 'Soon' })];
        for (const { created_at: from, invited_until: until } of [late, soon]) assert.equal(Date.parse(until) - Date.parse(from), 7 * DAY);
        for (let i = 0; i < 2; i += 1) await signInBrowser(client, { email: soon.email });
        const told = async () => (await mailsTo(owner.email)).filter(({ text }) => text.includes(soon.email));
        assert.match((await eventually(async () => (await told())[0], 'the mail to the owner')).subject, /^Soon signed in to /);
        await advance(client, 7 * DAY / 1000);
        ({ site } = await signInBrowser(client, { email: owner.email }));
        assert.deepEqual(ok(await site.get(path)).data, [late, { ...soon, invited_until: null }]);
        const { site: stranger } = await signInBrowser(client, { email: late.email });
        assert.ok(!ok(await stranger.get('/v1/places')).data.some(({ id }) => id === owner.building.id));
        refused(await stranger.post(`/v1/places/${owner.building.id}`), 404, 'NOT_FOUND');
        ok(await client.as(undefined).post('/v1/auth/otp', { email: late.email }));
        const { site: theirs } = await signInBrowser(client, { email: soon.email });
        assert.deepEqual(ok(await theirs.get('/v1/buildings')).data.map(({ id }) => id), [owner.building.id]);
        assert.equal((await told()).length, 1);
        for (const one of [late, soon]) await remove(one);
    });

    // ACCOUNT-42
    it('lets in nobody by the mail alone, or by guesses', async () => {
        const person = await invite({ language: 'en' });
        const { text } = await eventually(async () => (await mailsTo(person.email))[0], 'the invitation');
        const links = text.match(/https?:\/\/\S+/g) ?? [];
        for (const link of links) assert.match(link, /^https?:\/\/[^/?#]+$/);
        assert.doesNotMatch([owner.email, ...links].reduce((rest, one) => rest.replaceAll(one, ''), text), /\d|:\/\//);
        const { site: stranger } = await signInBrowser(client, {});
        refused(await stranger.post(`/v1/places/${owner.building.id}`), 404, 'NOT_FOUND');
        const sent = await challenge(client, person.email, browser(client));
        const guess = (otp) => browser(client).post('/v1/auth/verify', { email: person.email, purpose: 'web', challenge: sent.challenge, otp });
        const wrong = [1, 2, 3, 4, 5].map((n) => String((Number(sent.otp) + n) % 1000000).padStart(6, '0'));
        for (const otp of [...wrong, sent.otp]) refused(await guess(otp), 401, 'INVALID_OTP');
        assert.ok(ok(await site.get(path)).data.every(({ invited_until: until }) => until !== null));
        await remove(person);
    });

    // ACCOUNT-8
    it('has at most 20 members', async () => {
        for (let i = 0; i < 20; i += 1) admin('member', 'add', '--building', owner.building.id, '--name', `Guest ${i}`, '--email', freshEmail(), '--role', 'manager');
        refused(await site.post(path, { name: 'Ana', email: freshEmail(), role: 'resident' }), 409, 'MEMBER_LIMIT');
        assert.deepEqual([...new Set(ok(await site.get(path)).data.map(({ role }) => role))], ['manager']);
    });
});

describe('a person with several places', () => {
    const w = useWorld();
    const { client } = w;
    const email = freshEmail();
    let owner, second, site, own;

    const places = async (one = site) => ok(await one.get('/v1/places'));
    const named = async (one = site) => (await places(one)).data.map(({ id, role, current }) => [id, role, current]);
    const enter = (id, one = site) => one.post(`/v1/places/${id}`);
    const invite = async (to, role) => {
        const { site: theirs } = await signInBrowser(client, { email: to.email });
        return ok(await theirs.post(`/v1/buildings/${to.building.id}/people`, { name: 'Ana', email, role }), 201);
    };

    before(async () => {
        [owner, second] = [await resident(client), await resident(client)];
        await invite(owner, 'resident');
        ({ site } = await signInBrowser(client, { email }));
    });

    // KEY-35
    it('can have an account, though invited before', async () => {
        assert.deepEqual([await named(), (await places()).can_create], [[[owner.building.id, 'resident', true]], true]);
        ok(await site.post('/v1/places'));
        const [home] = ok(await site.get('/v1/buildings')).data;
        own = home.id;
        assert.notEqual(own, owner.building.id);
        assert.deepEqual([await named(), (await places()).can_create], [[[own, 'owner', true], [owner.building.id, 'resident', false]], false]);
        ok(await site.post('/v1/places')); // it has one
        assert.equal((await named()).length, 2);
    });

    // KEY-34
    it('switches between them with the same cookie, as the owner or as a member', async () => {
        const settings = `/v1/buildings/${own}/settings`;
        ok(await site.get(settings));
        ok(await site.get('/v1/auth/keys'));
        const [mine] = ok(await site.get('/v1/browsers')).data;
        ok(await enter(owner.building.id));
        assert.deepEqual(await named(), [[own, 'owner', false], [owner.building.id, 'resident', true]]);
        refused(await site.get(settings), 404, 'BUILDING_NOT_FOUND');
        refused(await site.get('/v1/auth/keys'), 403, 'WEB_SESSION_REQUIRED');
        assert.equal(ok(await site.get('/v1/account')).email, email);
        assert.deepEqual(ok(await site.get('/v1/browsers')).data.map(({ id, current }) => [id, current]), [[mine.id, true]]);
        ok(await enter(owner.building.id)); // it is there
        ok(await enter(own));
        ok(await site.get(settings));
        ok(await site.get('/v1/auth/keys'));
    });

    // KEY-34
    it('finds no place that is not the address\'s', async () => {
        refused(await enter(second.building.id), 404, 'NOT_FOUND');
        refused(await enter(UNKNOWN_ID), 404, 'NOT_FOUND');
        refused(await enter('x'), 400, 'INVALID_ID');
        const { site: stranger } = await signInBrowser(client, { email: second.email });
        assert.deepEqual(await named(stranger), [[second.building.id, 'owner', true]]);
        for (const id of [own, owner.building.id]) refused(await enter(id, stranger), 404, 'NOT_FOUND');
        refused(await client.as(second.key).get('/v1/places'), 404, 'NOT_FOUND');
        refused(await browser(client).get('/v1/places'), 401, 'AUTH_REQUIRED');
        assert.deepEqual((await named()).map(([id]) => id), [own, owner.building.id]);
    });

    // KEY-34
    it('loses a place with the membership, at once, and has the role of today', async () => {
        const member = await invite(second, 'manager');
        ok(await enter(second.building.id));
        assert.ok(!ok(await site.get('/v1/account')).capabilities.scopes.includes('calls:listen'));
        ok(await enter(owner.building.id));
        assert.ok(ok(await site.get('/v1/account')).capabilities.scopes.includes('calls:listen'));
        const { site: theirs } = await signInBrowser(client, { email: second.email });
        ok(await theirs.delete(`/v1/buildings/${second.building.id}/people/${member.id}`));
        refused(await enter(second.building.id), 404, 'NOT_FOUND');
        const again = await invite(second, 'resident');
        ok(await enter(second.building.id));
        ok(await theirs.delete(`/v1/buildings/${second.building.id}/people/${again.id}`));
        refused(await site.get('/v1/account'), 401, 'INVALID_KEY');
        refused(await enter(own), 401, 'INVALID_KEY');
        ({ site } = await signInBrowser(client, { email }));
    });

    // KEY-34
    it('signs out everywhere, so that no browser comes back from another place', async () => {
        const lost = await signInBrowser(client, { email, remember: true });
        ok(await enter(owner.building.id, lost.site));
        ok(await site.delete('/v1/browsers'));
        refused(await enter(own, lost.site), 401, 'INVALID_KEY');
        const [stolen, visiting] = [await signInBrowser(client, { email }), await signInBrowser(client, { email })];
        ({ site } = await signInBrowser(client, { email }));
        ok(await enter(owner.building.id, stolen.site));
        ok(await site.post('/v1/auth/keys/revoke-others'));
        for (const one of [stolen, visiting]) refused(await enter(own, one.site), 401, 'INVALID_KEY');
        assert.equal((await places()).data.length, 2);
    });

    it('is shown them in the head of each page', async () => {
        const page = await client.as(undefined).request('GET', '/', { check: false, headers: { ...SAME_ORIGIN, accept: 'text/html', cookie: `${COOKIE}=${site.cookie}` } });
        const data = JSON.parse(/<script type="application\/json" id="data">([^<]*)</.exec(page.text)[1]);
        assert.deepEqual(data.places, await places());
    });
});
