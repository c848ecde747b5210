// Notices of events at the door, pushed to browsers (RFC 8030, 8291, 8292) or sent by e-mail.
import { after, before, beforeEach, describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { ok, refused } from './lib/client.js';
import { engine } from './lib/daemon.js';
import { member as memberOf } from './lib/household.js';
import { METRICS, page, samples } from './lib/metrics.js';
import { joined } from './lib/nodes.js';
import { added, owner as linkedOwner } from './lib/buildings.js';
import { QUICK, startBuzz } from './lib/phone.js';
import { PushService, Subscription } from './lib/push.js';
import { REACHABLE } from './lib/receiver.js';
import { signInBrowser } from './lib/site.js';
import { rows } from './lib/person.js';
import { advance, changeSettings, eventually, grant, message, now, resident, UNKNOWN_ID, useWorld, visit, world } from './lib/world.js';

const DEAD_S = 19; // a lease of 12 s, two until the next look, and the rest for a busy machine
const ALL = ['ring', 'refused', 'opened', 'last_use', 'guessing'];
const TITLES = { en: 'Someone is at the door', es: 'Llaman a la puerta', fr: 'On sonne à la porte' };

describe('notices', () => {
    const w = useWorld({ config: { ...REACHABLE, ...QUICK, ...METRICS, public_url: undefined } });
    const { client } = w;
    const service = new PushService();
    before(() => service.listen());
    after(() => service.close());

    let owner;
    beforeEach(async () => {
        service.requests.length = 0;
        service.answer = (request, response) => response.writeHead(201).end();
        owner = await resident(client);
    });

    const FIREFOX = 'Mozilla/5.0 (Android 15; Mobile; rv:140.0) Gecko/140.0 Firefox/140.0';
    const path = (building = owner.building) => `/v1/buildings/${building.id}/notices`;
    /** A browser of the owner that is subscribed: {site, subscription, notices}. */
    async function subscribed(notices = ALL, { language = 'en', remember = true } = {}) {
        const one = await signInBrowser(client, { email: owner.email, remember, headers: { 'user-agent': FIREFOX } });
        const subscription = new Subscription(service);
        const answer = ok(await one.site.put(`${path()}/push`, { ...subscription.keys, notices }, { headers: { 'accept-language': language } }));
        return { ...one, subscription, answer };
    }
    const visitor = (digits) => visit(client, { to: owner.number, ...(digits ? { digits } : {}) });
    /** Nothing more is on its way to a browser: a test that was asked for afterwards has arrived. */
    async function quiet({ site, subscription }) {
        ok(await site.post(`${path()}/push/test`), 202);
        await subscription.first('test');
    }

    // SITE-12
    it('are off until a browser asks for them', async () => {
        const one = await signInBrowser(client, { email: owner.email, timezone: 'Europe/Paris' });
        const read = ok(await one.site.get(path()));
        assert.deepEqual({ ...read, application_server_key: undefined }, { application_server_key: undefined, browsers: [], email: [] });
        assert.equal(Buffer.from(read.application_server_key, 'base64url').length, 65);
        await visitor();
        const two = await subscribed();
        await quiet(two);
        assert.deepEqual(two.subscription.notices(), ['test']);
    });

    for (const [from, sub] of [['Door <door@example.org>', /^mailto:door@example\.org$/], ['Door <"a b"@example.org>', /^https:/]]) {
        // SITE-16
        it(`name ${from} as their sender to a push service, if a URI takes the address`, async () => {
            const other = await world({ config: { ...REACHABLE, public_url: undefined, mail: { from } } });
            try {
                const { building, email } = await resident(other.client);
                const { site } = await signInBrowser(other.client, { email });
                const subscription = new Subscription(service);
                ok(await site.put(`${path(building)}/push`, { ...subscription.keys, notices: ['ring'] }));
                ok(await site.post(`${path(building)}/push/test`), 202);
                assert.match((await subscription.first('test')).vapid.sub, sub);
            } finally {
                await other.close();
            }
        });
    }

    // SITE-16
    it('tell of a ring, encrypted for the browser alone and signed by the service', async () => {
        const one = await subscribed();
        await visitor();
        const { headers, message: sent, vapid } = await one.subscription.first('ring');
        assert.equal(vapid.key, one.answer.application_server_key);
        assert.equal(vapid.aud, new URL(one.subscription.keys.endpoint).origin);
        assert.match(vapid.sub, /^https:\/\//);
        const left = vapid.exp - Date.now() / 1000;
        assert.ok(left > 3600 && left <= 86400, `valid for ${left} s`);
        assert.equal(headers['content-encoding'], 'aes128gcm');
        assert.equal(headers['content-type'], 'application/octet-stream');
        assert.equal(headers.urgency, 'high');
        assert.ok(Number(headers.ttl) > 0 && Number(headers.ttl) <= 60, headers.ttl);
        assert.match(headers.topic, /^[\w-]{1,32}$/);
        assert.equal(sent.web_push, 8030);
        assert.equal(sent.building_id, owner.building.id);
        assert.equal(sent.notification.title, TITLES.en);
        assert.equal(sent.notification.body, 'Home');
        assert.ok(Math.abs(sent.notification.timestamp - Date.now()) < 600_000);
    });

    // SITE-21
    it('tell of a call over SIP while the visitor is still asked for a code', async () => {
        await grant(owner, { type: 'passcode', label: 'Grandma', access_code: '4821' });
        const one = await subscribed(['ring', 'opened']);
        const call = startBuzz(w.daemon, owner.number, '--digits', '4821', '--delay', '400');
        await one.subscription.first('ring');
        await one.subscription.first('opened');
        assert.deepEqual(one.subscription.notices(), ['ring', 'opened']);
        assert.equal((await call.ended).status, 0);
    });

    // SITE-16
    it('are in the language of the browser', async () => {
        const browsers = [];
        for (const language of Object.keys(TITLES)) browsers.push([language, await subscribed(['ring'], { language: `${language}-CA` })]);
        await visitor();
        for (const [language, { subscription }] of browsers) {
            const { notification } = (await subscription.first('ring')).message;
            assert.deepEqual([notification.lang, notification.title], [language, TITLES[language]]);
        }
    });

    it('say which grant opened, when a code was wrong, and when a code was used for the last time', async () => {
        const one = await subscribed();
        const { access_code: code } = await grant(owner, { type: 'passcode', label: 'Ana <b>', remaining_uses: 1 });
        await visitor('0000');
        assert.equal((await one.subscription.first('refused')).message.notification.title, 'A wrong code was entered');
        await visitor(code);
        assert.equal((await one.subscription.first('last_use')).message.notification.body, 'Ana <b> has no uses left · Home');
        await grant(owner, { type: 'timer', label: 'Parcel', expires_in_minutes: 60 });
        await visitor();
        assert.equal((await one.subscription.first('opened')).message.notification.body, 'Parcel · Home');
    });

    // SITE-13
    it('tell each browser the heaviest thing that it wants of a moment', async () => {
        const [ring, opened] = [await subscribed(['ring']), await subscribed(['ring', 'opened'])];
        await grant(owner, { type: 'timer', label: 'Party', expires_in_minutes: 60 });
        await visitor();
        await Promise.all([ring.subscription.first('ring'), opened.subscription.first('opened')]);
        await quiet(opened);
        assert.deepEqual(opened.subscription.notices(), ['opened', 'test']);
    });

    it('tell of guessing', async () => {
        const one = await subscribed(['guessing']);
        await grant(owner, { type: 'passcode', label: 'Ana' });
        for (let i = 0; i < 5; i++) await visitor('0000');
        const { message: sent } = await one.subscription.first('guessing');
        assert.match(sent.notification.body, /10 minutes/);
    });

    it('are changed and ended by the browser, for each building', async () => {
        owner = await linkedOwner(client);
        const one = await subscribed(['ring']);
        const cabin = await added(owner);
        const other = ok(await one.site.put(`${path(cabin)}/push`, { ...one.subscription.keys, notices: ['opened'] }));
        assert.deepEqual(other.browsers.map(({ current, notices }) => [current, notices]), [[true, ['opened']]]);
        const changed = ok(await one.site.put(`${path()}/push`, { ...one.subscription.keys, notices: ['refused', 'ring'] }));
        assert.deepEqual(changed.browsers.map(({ id, notices }) => [id, notices]), [[one.id, ['ring', 'refused']]]);
        assert.deepEqual(ok(await one.site.delete(`${path()}/push`)).browsers, []);
        assert.deepEqual(ok(await one.site.delete(`${path()}/push`)).browsers, []);
        assert.equal(ok(await one.site.get(path(cabin))).browsers.length, 1);
        refused(await one.site.post(`${path()}/push/test`), 404, 'NOT_FOUND');
        await visitor();
        ok(await one.site.post(`${path(cabin)}/push/test`), 202);
        await one.subscription.first('test');
        assert.deepEqual(one.subscription.notices(), ['test']);
    });

    // SITE-14
    it('go to the newest endpoint of a browser, whichever building told it', async () => {
        owner = await linkedOwner(client);
        const one = await subscribed(['ring']);
        const cabin = await added(owner);
        const renewed = new Subscription(service);
        ok(await one.site.put(`${path(cabin)}/push`, { ...renewed.keys, notices: ['ring'] }));
        await visitor();
        await renewed.first('ring');
        assert.deepEqual(one.subscription.notices(), []);
    });

    for (const [how, end] of [
        ['signed out', (one) => one.site.delete('/v1/auth/key')],
        ['signed out with all', (one) => one.site.delete('/v1/browsers')],
        ['signed out from another browser', async (one) => (await signInBrowser(client, { email: owner.email })).site.delete(`/v1/browsers/${one.id}`)],
    ]) {
        // SITE-14
        it(`end with a browser that is ${how}`, async () => {
            const one = await subscribed();
            assert.ok((await end(one)).status < 300);
            await visitor();
            const witness = await subscribed();
            await quiet(witness);
            assert.deepEqual(one.subscription.notices(), []);
            assert.deepEqual(ok(await witness.site.get(path())).browsers.map(({ id }) => id), [witness.id]);
        });
    }

    it('end with a session that is not remembered', async () => {
        const one = await subscribed(ALL, { remember: false });
        await advance(client, 13 * 3600);
        await visitor();
        const witness = await subscribed();
        await quiet(witness);
        assert.deepEqual(one.subscription.notices(), []);
    });

    describe('that a push service does not take', () => {
        const putOff = async () => samples(await page(w.daemon))['portero_pushes_total{outcome="later"}'];

        for (const status of [404, 410]) {
            // SITE-19
            it(`end the subscription at ${status}`, async () => {
                const one = await subscribed();
                service.answer = (request, response) => response.writeHead(status).end();
                await visitor();
                await eventually(async () => ok(await one.site.get(path())).browsers.length === 0, 'the end of the subscription');
            });
        }

        // SITE-19
        it('are sent again after Retry-After, as long as they are of use', async () => {
            const one = await subscribed(['opened']);
            await grant(owner, { type: 'timer', label: 'Parcel', expires_in_minutes: 60 });
            service.answer = (request, response) => response.writeHead(429, { 'retry-after': '1000' }).end();
            const before = await putOff();
            await visitor();
            await eventually(async () => await putOff() > before, 'the end of the first attempt');
            await advance(client, 900);
            await quietly(one, 1);
            service.answer = (request, response) => response.writeHead(201).end();
            await advance(client, 200);
            await eventually(() => one.subscription.notices().filter((notice) => notice === 'opened').length === 2, 'the second attempt');
        });

        /** A new message of another kind is sent, and there were only so many of the others. */
        async function quietly(one, count) {
            service.answer = (request, response) => response.writeHead(201).end();
            await quiet(one);
            assert.equal(one.subscription.notices().filter((notice) => notice !== 'test').length, count);
        }

        it('are dropped when they are of no use any more', async () => {
            const one = await subscribed(['ring']);
            service.answer = (request, response) => response.writeHead(503).end();
            await visitor();
            await service.count(1);
            await advance(client, 61);
            await w.daemon.logged(/push dropped building=[0-9a-f]{24} notice=ring attempts=\d failure=status code=503/);
            await advance(client, 3600);
            await quietly(one, one.subscription.notices().length);
        });

        // SITE-19
        it('are dropped at a refusal, and the next one is sent', async () => {
            const one = await subscribed(['ring', 'refused']);
            service.answer = (request, response) => response.writeHead(403).end();
            await visitor();
            await w.daemon.logged(/push dropped .* notice=ring attempts=1 failure=status code=403/);
            const refusal = async () => ok(await one.site.get(path())).browsers.map(({ refused_at: at, refused_with: status }) => [at !== null, status])[0];
            const becomes = (...wanted) => eventually(async () => JSON.stringify(await refusal()) === JSON.stringify(wanted), `the refusal to be ${wanted}`);
            await becomes(true, 403);
            service.answer = (request, response) => response.writeHead(201).end();
            await grant(owner, { type: 'passcode', label: 'Ana' });
            await visitor('0000');
            await one.subscription.first('refused');
            await becomes(false, null);
        });

        if (engine === 'postgresql') {
            // SITE-20
            it('are sent by another node when theirs is killed', async (t) => {
                const other = await joined(w, { config: { ...REACHABLE, public_url: undefined } });
                const one = await subscribed(['ring']);
                service.answer = () => {};
                await visit(other.client, { to: owner.number });
                await service.count(1);
                const sent = Date.now();
                await other.daemon.crash();
                service.answer = (request, response) => response.writeHead(201).end();
                await eventually(() => one.subscription.notices().length >= 2, 'the second attempt', 60_000);
                const took = (Date.now() - sent) / 1000;
                t.diagnostic(`sent again after ${took} s`);
                assert.ok(took < DEAD_S, `${took} s`);
                await other.close();
            });
        }

        // SITE-20
        it('delay only their own account when it does not answer', async () => {
            const stuck = [];
            for (let i = 0; i < 3; i++) stuck.push(await subscribed());
            const hanging = new Set(stuck.map(({ subscription }) => subscription.path));
            service.answer = (request, response) => { if (!hanging.has(request.path)) response.writeHead(201).end(); };
            await visitor();
            await eventually(() => stuck.every(({ subscription }) => subscription.notices().length > 0), 'the requests that hang');
            owner = await resident(client);
            const one = await subscribed();
            await visitor();
            await one.subscription.first('ring');
        });
    });

    describe('of members', () => {
        let theirs;
        const MANAGED = ALL.filter((notice) => notice !== 'ring');

        const member = (role, language = 'en') => memberOf(client, theirs, owner.building, { role, language, remember: true });
        async function subscribe({ site }, notices, language = 'en') {
            const subscription = new Subscription(service);
            const answer = ok(await site.put(`${path()}/push`, { ...subscription.keys, notices }, { headers: { 'accept-language': language } }));
            return { subscription, answer };
        }
        const remove = async ({ id }) => ok(await theirs.delete(`/v1/buildings/${owner.building.id}/people/${id}`));

        beforeEach(async () => { ({ site: theirs } = await signInBrowser(client, { email: owner.email })); });

        // SITE-12
        it('are a person\'s own, in their language, and seen by them alone', async () => {
            const [ana, eva] = [await member('resident'), await member('resident')];
            const [first, second, mine] = [await subscribe(ana, ['ring'], 'es'), await subscribe(eva, ['ring'], 'fr'), await subscribed(['ring'])];
            for (const { answer } of [first, second, mine]) assert.deepEqual(answer.browsers.map(({ current }) => current), [true]);
            await visitor();
            for (const [{ subscription }, language] of [[first, 'es'], [second, 'fr'], [mine, 'en']])
                assert.equal((await subscription.first('ring')).message.notification.title, TITLES[language]);
            ok(await ana.site.delete(`${path()}/push`));
            assert.equal(ok(await eva.site.get(path())).browsers.length, 1);
        });

        // SITE-14
        it('end at once with the membership, also in a browser that went elsewhere', async () => {
            const home = await resident(client);
            const id = ok(await theirs.post(`/v1/buildings/${owner.building.id}/people`, { name: 'Ana', email: home.email, role: 'resident' }), 201).id;
            const one = await signInBrowser(client, { email: home.email, remember: true });
            ok(await one.site.post(`/v1/places/${owner.building.id}`));
            const { subscription } = await subscribe(one, ALL);
            ok(await one.site.put(`${path()}/email`, { notices: ['opened'] }));
            ok(await one.site.post(`/v1/places/${home.building.id}`));
            await visitor();
            await subscription.first('ring');
            await remove({ id });
            const count = subscription.notices().length;
            await grant(owner, { type: 'timer', label: 'Parcel', expires_in_minutes: 60 });
            const witness = await subscribed();
            await visitor();
            await witness.subscription.first('opened');
            await quiet(witness);
            assert.equal(subscription.notices().length, count);
            assert.notEqual((await message(client, home.email)).subject, 'The door opened');
            refused(await one.site.get(path()), 404, 'BUILDING_NOT_FOUND');
        });

        // SITE-12
        it('tell a manager of codes of all but rings', async () => {
            const eva = await member('manager');
            const { keys } = new Subscription(service);
            refused(await eva.site.put(`${path()}/push`, { ...keys, notices: ['ring'] }), 400, 'INVALID_NOTICES');
            refused(await eva.site.put(`${path()}/email`, { notices: ['ring'] }), 400, 'INVALID_NOTICES');
            const { subscription, answer } = await subscribe(eva, MANAGED);
            assert.deepEqual(answer.browsers.map(({ notices }) => notices), [MANAGED]);
            const mine = await subscribed(['ring']);
            await visitor();
            await mine.subscription.first('ring');
            await quiet({ site: eva.site, subscription });
            assert.deepEqual(subscription.notices(), ['test']);
        });

        // SITE-12
        it('ring no more for a resident who manages codes from then on', async () => {
            const ana = await member('resident');
            const { subscription } = await subscribe(ana, ['ring', 'refused']);
            ok(await ana.site.put(`${path()}/email`, { notices: ['ring', 'opened'] }));
            ok(await theirs.patch(`/v1/buildings/${owner.building.id}/people/${ana.id}`, { role: 'manager' }));
            const seen = ok(await ana.site.get(path()));
            assert.deepEqual([seen.browsers[0].notices, seen.email], [['refused'], ['opened']]);
            await visitor();
            await quiet({ site: ana.site, subscription });
            assert.deepEqual(subscription.notices(), ['test']);
        });

        // ACCOUNT-46
        it('do not ring in quiet hours, unless nobody else\'s browser does', async () => {
            const ana = await member('resident');
            await changeSettings(owner, { timezone: 'Etc/UTC' });
            const hour = new Date(await now(client)).getUTCHours();
            const hours = { from: `${String((hour + 22) % 24).padStart(2, '0')}:00`, until: `${String((hour + 2) % 24).padStart(2, '0')}:00` };
            const [hers, mine] = [await subscribe(ana, ['ring', 'refused']), await subscribed(['ring'])];
            ok(await ana.site.put('/v1/person/quiet_hours', hours));
            await visitor();
            await mine.subscription.first('ring');
            await quiet({ site: ana.site, subscription: hers.subscription });
            assert.deepEqual(hers.subscription.notices(), ['test']);
            ok(await mine.site.put('/v1/person/quiet_hours', hours));
            await visitor();
            await hers.subscription.first('ring');
        });

        // SITE-22
        it('come by e-mail to the person\'s address, in their language', async () => {
            const ana = await member('resident');
            ok(await ana.site.put(`${path()}/email`, { notices: ['opened'] }, { headers: { 'accept-language': 'fr' } }));
            assert.deepEqual(ok(await theirs.get(path())).email, []);
            assert.deepEqual(ok(await theirs.get(`/v1/buildings/${owner.building.id}/people`)).data.map(({ language }) => language), ['fr']);
            await grant(owner, { type: 'timer', label: 'Paquet', expires_in_minutes: 60 });
            await visitor();
            const mail = await eventually(async () => {
                const sent = await message(client, ana.email);
                return sent.subject === 'La porte s’est ouverte' && sent;
            }, 'the mail');
            assert.match(mail.text, /Paquet · Home/);
        });

        // ACCOUNT-9
        it('are of the building alone', async () => {
            const ana = await member('resident');
            const other = await resident(client);
            const { keys } = new Subscription(service);
            const each = async (site, building, status, code) => {
                refused(await site.get(path(building)), status, code);
                refused(await site.put(`${path(building)}/push`, { ...keys, notices: ['opened'] }), status, code);
                refused(await site.delete(`${path(building)}/push`), status, code);
                refused(await site.post(`${path(building)}/push/test`), status, code);
                refused(await site.put(`${path(building)}/email`, { notices: ['opened'] }), status, code);
            };
            await each(ana.site, other.building, 404, 'BUILDING_NOT_FOUND');
            await remove(ana);
            await each(ana.site, owner.building, 401, 'INVALID_KEY');
        });
    });

    // SITE-15
    it('are refused with keys or an endpoint that no browser gives', async () => {
        const { site } = await signInBrowser(client, { email: owner.email });
        const { keys } = new Subscription(service);
        const put = (change) => site.put(`${path()}/push`, { ...keys, notices: ['ring'], ...change });
        for (const change of [
            { endpoint: 'http://127.0.0.1/' }, { endpoint: 'https://user@127.0.0.1/' }, { endpoint: 'https://' }, { endpoint: `https://127.0.0.1/${'a'.repeat(1024)}` },
            { p256dh: '' }, { p256dh: keys.auth }, { p256dh: Buffer.alloc(65, 4).toString('base64url') }, { auth: 'AAAA' }, { auth: keys.p256dh },
            { notices: [] }, { notices: ['test'] }, { notices: ['ring', 'ring'] }, { notices: 'ring' }, { more: 1 },
        ]) refused(await put(change), 400, 'INVALID_NOTICES');
        refused(await site.put(`/v1/buildings/${UNKNOWN_ID}/notices/push`, { ...keys, notices: ['ring'] }), 404, 'BUILDING_NOT_FOUND');
        const stranger = await resident(client);
        refused(await site.get(path(stranger.building)), 404, 'BUILDING_NOT_FOUND');
        refused(await owner.client.get(path()), 404, 'NOT_FOUND');
    });

    // SITE-22
    it('come by e-mail to those who prefer that', async () => {
        const { site } = await signInBrowser(client, { email: owner.email });
        const put = (notices) => site.put(`${path()}/email`, { notices }, { headers: { 'accept-language': 'es' } });
        assert.deepEqual(ok(await put(['opened'])).email, ['opened']);
        await visitor();
        await grant(owner, { type: 'timer', label: 'Paquete', expires_in_minutes: 60 });
        await visitor();
        const mail = await eventually(async () => {
            const sent = await message(client, owner.email);
            return sent.subject === 'Se abrió la puerta' && sent;
        }, 'the mail');
        assert.match(mail.text, /Paquete · Home/);
        assert.match(mail.text, /\/notices\n/);
        refused(await put(['guessing']), 400, 'INVALID_NOTICES');
        assert.deepEqual(ok(await put([])).email, []);
        const list = async () => ok(await client.as(undefined).get(`/sandbox/messages?to=${encodeURIComponent(owner.email)}&limit=100`)).data.length;
        const count = await list();
        const one = await subscribed();
        await visitor();
        await one.subscription.first('opened');
        await quiet(one);
        assert.equal(await list(), count + 1, 'the code of the new browser');
    });

    it('leave nothing in the store, and no endpoint, code or number in the log', async () => {
        const one = await subscribed();
        await visitor('0000');
        await one.subscription.first('ring');
        await eventually(() => ['notice', 'push_message'].every((table) => rows(w.daemon).get(table).every((line) => !line.includes(owner.building.id))), 'an empty queue');
        assert.ok(!w.daemon.stderr.includes(one.subscription.path));
        assert.ok(!w.daemon.stderr.includes(one.subscription.keys.auth));
    });
});
