// Browsers of the website: the cookie, the way in below /app, and which pages may use it (docs/behaviour/keys.md).
import { describe, it, before } from 'node:test';
import assert from 'node:assert/strict';
import { ok, refused } from './lib/client.js';
import { RawConnection } from './lib/raw.js';
import { browser, COOKIE, cookieOf, SAME_ORIGIN, signInBrowser } from './lib/site.js';
import { advance, challenge, DAY, freshEmail, HOUR, now, resident, setSubscription, signIn, UNKNOWN_ID, useWorld } from './lib/world.js';

const ATTRIBUTES = ['Path=/', 'Secure', 'HttpOnly', 'SameSite=Lax'];
const FIREFOX = 'Mozilla/5.0 (Android 14; Mobile; rv:120.0) Gecko/120.0 Firefox/120.0';
const hours = (n) => n * HOUR / 1000, days = (n) => n * DAY / 1000;

describe('a browser of the website', () => {
    const w = useWorld({ config: { log_level: 'debug', log: { requests: true } } });
    const { client } = w;

    // KEY-24
    it('signs in with a code and gets a cookie, and no key', async () => {
        const { answer, cookie, email, id, site } = await signInBrowser(client);
        assert.match(cookie, /^[0-9A-Za-z]{43}$/);
        assert.deepEqual(cookieOf(answer).attributes, ATTRIBUTES);
        assert.ok(!answer.text.includes('svc_') && !answer.text.includes(cookie), answer.text);
        assert.deepEqual(Object.keys(answer.body).sort(), ['ends_at', 'id', 'remembered']);
        assert.equal(answer.body.remembered, false);
        assert.equal(ok(await site.get('/v1/account')).email, email);
        assert.equal(ok(await site.get('/v1/browsers')).data[0].id, id);
    });

    it('keeps a remembered cookie for 30 days', async () => {
        const { answer } = await signInBrowser(client, { remember: true });
        assert.deepEqual(cookieOf(answer).attributes, [...ATTRIBUTES, 'Max-Age=2592000']);
        assert.equal(answer.body.remembered, true);
    });

    it('is refused without a right code, and gets no cookie', async () => {
        const email = freshEmail(), sent = await challenge(client, email);
        const answer = await browser(client).post('/v1/auth/verify', { email, purpose: 'web', ...sent, otp: 'abcdef' });
        refused(answer, 401, 'INVALID_OTP');
        assert.equal(cookieOf(answer), undefined);
        refused(await browser(client).post('/v1/auth/verify', { email, purpose: 'web', ...sent, remember: 'yes' }), 400, 'INVALID_JSON', 'remember');
    });

    it('asks for a code below /app as well', async () => {
        const email = freshEmail();
        const { challenge: id } = ok(await browser(client).post('/v1/auth/otp', { email }));
        assert.match(id, /^chl_/);
        refused(await browser(client).post('/v1/auth/otp', { email: 'x' }), 400, 'INVALID_EMAIL');
    });

    it('calls what a session key can call, with reads, writes and blocking work', async () => {
        const { email, number } = await resident(client);
        const { site } = await signInBrowser(client, { email });
        const made = ok(await site.post('/v1/unlock', { type: 'passcode', label: 'Plumber' }, { headers: { 'Idempotency-Key': 'site-0123456789abcdef' } }), 201);
        const read = await site.get(`/v1/unlock/${made.id}`);
        assert.equal(ok(read).label, 'Plumber');
        ok(await site.patch(`/v1/unlock/${made.id}`, { label: 'Painter' }, { headers: { 'If-Match': read.headers.etag } }));
        assert.equal(ok(await site.get('/v1/unlock')).data[0].label, 'Painter');
        ok(await site.delete(`/v1/unlock/${made.id}`));
        assert.equal(ok(await site.get('/v1/buildings')).data[0].virtual_number, number);
        assert.match(ok(await site.post('/v1/billing/portal', {})).url, /portal/);
        const key = ok(await site.post('/v1/auth/keys', { scopes: ['access:read'] }), 201);
        ok(await client.as(key.api_key).get('/v1/unlock'));
        refused(await site.get(`/v1/unlock/${UNKNOWN_ID}`), 404, 'NOT_FOUND');
    });

    it('gets the path below /app of what it creates', async () => {
        const { email } = await resident(client);
        const { site } = await signInBrowser(client, { email });
        const made = await site.post('/v1/unlock', { type: 'passcode' }, { headers: { 'Idempotency-Key': 'site-0123456789abcdef' } });
        assert.equal(made.headers.location, `/app/v1/unlock/${ok(made, 201).id}`);
    });

    // KEY-27
    it('has the cookie of its latest sign-in only', async () => {
        const first = await signInBrowser(client);
        const second = await signInBrowser(client, { email: first.email, cookie: first.cookie });
        assert.notEqual(first.cookie, second.cookie);
        refused(await first.site.get('/v1/account'), 401, 'INVALID_KEY');
        assert.deepEqual(ok(await second.site.get('/v1/browsers')).data.map(({ id }) => id), [second.id]);
    });

    describe('is known by its cookie below /app alone:', () => {
        let signedIn, session;
        before(async () => {
            signedIn = await signInBrowser(client);
            session = await signIn(client, signedIn.email);
        });
        const with_ = (cookie) => ({ headers: { cookie } });

        // KEY-30
        it('a cookie is no key under /v1', async () => {
            refused(await client.as(undefined).get('/v1/account', { headers: { cookie: `${COOKIE}=${signedIn.cookie}`, ...SAME_ORIGIN } }), 401, 'AUTH_REQUIRED');
            refused(await client.as(signedIn.cookie).get('/v1/account'), 401, 'INVALID_KEY');
            refused(await client.as(`browser\u00a0${signedIn.cookie}`).get('/v1/account'), 401, 'INVALID_KEY');
        });

        // KEY-30
        it('a key is no cookie, and Authorization is not read under /app', async () => {
            for (const authorization of [`Bearer ${session.key}`, `Bearer ${signedIn.cookie}`]) {
                refused(await browser(client).get('/v1/account', { headers: { authorization } }), 401, 'AUTH_REQUIRED');
            }
            refused(await browser(client, session.key).get('/v1/account'), 401, 'AUTH_REQUIRED');
            ok(await signedIn.site.get('/v1/account', { headers: { authorization: 'Bearer nonsense' } }));
        });

        // KEY-31
        it('only rows that are open to the website exist under /app', async () => {
            for (const path of ['/v1/health', '/v1/nothing', '/openapi.json', '/v1/', '/v1', '/sandbox/messages', '/admin/numbers', '/app/v1/account', '/hooks/stripe']) {
                refused(await signedIn.site.get(path), 404, 'NOT_FOUND');
            }
            refused(await signedIn.site.patch('/v1/account', {}), 405, 'METHOD_NOT_ALLOWED');
        });

        // DOC-6
        it('the operations of browsers exist there alone', async () => {
            for (const path of ['/v1/browsers', `/v1/browsers/${UNKNOWN_ID}`]) {
                refused(await session.client.get(path), 404, 'NOT_FOUND');
                refused(await session.client.delete(path), 404, 'NOT_FOUND');
            }
        });

        const bad = {
            'another name': (c) => `portero=${c}`,
            'the name in lower case': (c) => `__host-portero=${c}`,
            'no value': () => `${COOKIE}=`,
            'no equals sign': () => COOKIE,
            'a short value': (c) => `${COOKIE}=${c.slice(1)}`,
            'a long value': (c) => `${COOKIE}=${c}0`,
            'quotes': (c) => `${COOKIE}="${c}"`,
            'another character': (c) => `${COOKIE}=${c.slice(1)}-`,
            'the cookie twice': (c) => `${COOKIE}=${c}; ${COOKIE}=${c}`,
            'another one before it': (c) => `${COOKIE}=${'0'.repeat(43)}; ${COOKIE}=${c}`,
            'a comma': (c) => `a=b, ${COOKIE}=${c}`,
            '10 KB': () => `${COOKIE}=${'a'.repeat(10_000)}`,
        };
        for (const [name, make] of Object.entries(bad)) {
            it(`a field with ${name} is no sign-in`, async () => {
                refused(await browser(client).get('/v1/account', with_(make(signedIn.cookie))), 401, 'AUTH_REQUIRED');
            });
        }

        // KEY-33
        it('two fields are no sign-in', async () => {
            const raw = await RawConnection.open(Number(new URL(w.daemon.https).port));
            let asked = 0;
            const ask = async (cookies) => {
                raw.send(`GET /app/v1/account HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: same-origin\r\n${cookies.map((c) => `Cookie: ${c}\r\n`).join('')}\r\n`);
                return (await raw.reply(++asked)).status;
            };
            const own = `${COOKIE}=${signedIn.cookie}`;
            assert.deepEqual([await ask([own]), await ask([own, 'a=b']), await ask(['a=b', own])], [200, 401, 401]);
            raw.destroy();
        });

        // KEY-33
        it('an unknown cookie is refused, and other cookies do not matter', async () => {
            refused(await browser(client, '0'.repeat(43)).get('/v1/account'), 401, 'INVALID_KEY');
            ok(await browser(client).get('/v1/account', with_(`a=b; ${COOKIE}=${signedIn.cookie};c="d e"; ${'x'.repeat(9000)}=y`)));
            ok(await browser(client).get('/v1/account', with_(`;; ;${COOKIE}=${signedIn.cookie} ;`)));
        });
    });

    describe('is served to pages of the same host alone:', () => {
        let cookie, own;
        before(async () => {
            ({ cookie } = await signInBrowser(client));
            own = new URL(w.daemon.https).host;
        });
        const call = (method, target, headers) => client.as(undefined).request(method, `/app${target}`,
            { headers: { 'sec-fetch-site': undefined, cookie: `${COOKIE}=${cookie}`, ...headers }, ...(method === 'GET' || method === 'HEAD' ? {} : { json: {} }) });
        const calls = [['GET', '/v1/account'], ['POST', '/v1/auth/otp'], ['POST', '/v1/auth/verify'], ['POST', '/v1/unlock'], ['PATCH', `/v1/unlock/${UNKNOWN_ID}`], ['DELETE', `/v1/unlock/${UNKNOWN_ID}`], ['DELETE', '/v1/auth/key']];

        for (const [method, target] of calls) {
            it(`${method} ${target} of another site, or of the address bar, is refused`, async () => {
                for (const site of ['cross-site', 'same-site', 'none', '', 'same-origin, same-origin', 'SAME-ORIGIN']) {
                    refused(await call(method, target, { 'sec-fetch-site': site }), 403, 'CROSS_SITE_REQUEST');
                    refused(await call(method, target, { 'sec-fetch-site': site, origin: `https://${own}` }), 403, 'CROSS_SITE_REQUEST');
                }
            });

            // KEY-32
            it(`${method} ${target} of a browser without Sec-Fetch-Site needs an own Origin, if not GET`, async () => {
                for (const origin of ['https://evil.example', `http://${own}`, 'null', '', `https://${own}.evil.example`, `https://${own}/`, 'https://localhost', `https://a@${own}`]) {
                    refused(await call(method, target, { origin }), 403, 'CROSS_SITE_REQUEST');
                }
                const without = await call(method, target, {});
                if (method === 'GET') ok(without);
                else refused(without, 403, 'CROSS_SITE_REQUEST');
                if (target !== '/v1/auth/key') assert.notEqual((await call(method, target, { origin: `https://${own}` })).status, 403);
            });
        }

        it('HEAD is as GET', async () => {
            assert.equal((await call('HEAD', '/v1/account', { 'sec-fetch-site': 'cross-site' })).status, 403);
            assert.equal((await call('HEAD', '/v1/account', {})).status, 200);
        });

        it('a refused request does nothing, not even count', async () => {
            const { site, cookie: fresh } = await signInBrowser(client);
            const before = Number((await site.get('/v1/account')).headers['ratelimit-remaining']);
            for (let i = 0; i < 5; i++) refused(await call('GET', '/v1/account', { cookie: `${COOKIE}=${fresh}`, 'sec-fetch-site': 'cross-site' }), 403, 'CROSS_SITE_REQUEST');
            assert.equal(Number((await site.get('/v1/account')).headers['ratelimit-remaining']), before - 1);
        });
    });

    describe('that is signed out', () => {
        const tell = async (site) => refused(await site.get('/v1/account'), 401, 'INVALID_KEY');

        // KEY-26
        it('by itself loses its cookie, at once and for good', async () => {
            const { site } = await signInBrowser(client, { remember: true });
            const answer = await site.delete('/v1/auth/key');
            ok(answer);
            assert.deepEqual(cookieOf(answer), { value: '', attributes: [...ATTRIBUTES, 'Max-Age=0'] });
            await tell(site);
            await advance(client, hours(13));
            await tell(site);
        });

        it('from the list of another browser is refused at once, and the other stays', async () => {
            const lost = await signInBrowser(client, { remember: true }), kept = await signInBrowser(client, { email: lost.email });
            ok(await lost.site.get('/v1/account'));
            ok(await kept.site.delete(`/v1/browsers/${lost.id}`));
            await tell(lost.site);
            ok(await kept.site.get('/v1/account'));
            refused(await kept.site.delete(`/v1/browsers/${lost.id}`), 404, 'NOT_FOUND');
            refused(await kept.site.delete('/v1/browsers/xyz'), 400, 'INVALID_ID');
            refused(await (await signInBrowser(client)).site.delete(`/v1/browsers/${kept.id}`), 404, 'NOT_FOUND');
            ok(await kept.site.get('/v1/account'));
        });

        it('with all others is refused; agent keys stay', async () => {
            const here = await signInBrowser(client), there = await signInBrowser(client, { email: here.email, remember: true });
            const session = await signIn(client, here.email);
            const key = ok(await here.site.post('/v1/auth/keys', {}), 201);
            const answer = await here.site.delete('/v1/browsers');
            ok(answer);
            assert.equal(cookieOf(answer).value, '');
            for (const { site } of [here, there]) await tell(site);
            refused(await session.client.get('/v1/account'), 401, 'INVALID_KEY');
            ok(await client.as(key.api_key).get('/v1/account'));
        });

        // KEY-18
        it('by revoke-others is refused, also if its key had ended', async () => {
            const asleep = await signInBrowser(client, { remember: true });
            await advance(client, hours(13));
            const awake = await signInBrowser(client, { email: asleep.email, remember: true }), session = await signIn(client, asleep.email);
            assert.equal(ok(await session.client.post('/v1/auth/keys/revoke-others')).revoked_count, 2);
            for (const { site } of [asleep, awake]) await tell(site);
        });

        // KEY-26
        it('by the revocation of its key is refused', async () => {
            const { site } = await signInBrowser(client, { remember: true });
            const [key] = ok(await site.get('/v1/auth/keys')).data;
            assert.equal(key.current, true);
            ok(await site.delete(`/v1/auth/keys/${key.id}`));
            await tell(site);
        });
    });

    it('is listed with what it said of itself, its times, and which one asks', async () => {
        const { email, id, site } = await signInBrowser(client, { remember: true, headers: { 'user-agent': FIREFOX } });
        await advance(client, hours(1));
        const other = await signInBrowser(client, { email, headers: { 'user-agent': '<script>alert(1)</script>' } });
        const { data } = ok(await site.get('/v1/browsers'));
        assert.deepEqual(data.map((b) => [b.id, b.browser, b.system, b.remembered, b.current]),
            [[other.id, null, null, false, false], [id, 'Firefox', 'Android', true, true]]);
        assert.ok(Date.parse(data[0].signed_in_at) > Date.parse(data[1].signed_in_at));
        await advance(client, hours(13));
        assert.deepEqual(ok(await site.get('/v1/browsers')).data.map((b) => b.id), [id]);
    });

    // KEY-28
    it('is one of at most 20; the one that was unused for the longest time is signed out', async () => {
        const email = freshEmail(), all = [];
        for (let i = 0; i < 20; i++) {
            all.push(await signInBrowser(client, { email }));
            await advance(client, 120);
        }
        ok(await all[0].site.get('/v1/account'));
        // The use is recorded after the reply.
        const recorded = async () => ok(await all[0].site.get('/v1/browsers')).data.find((b) => b.current).last_used_at !== ok(await all[0].site.get('/v1/browsers')).data.find((b) => b.current).signed_in_at;
        while (!await recorded()) await advance(client, 60);
        all.push(await signInBrowser(client, { email }));
        ok(await all[0].site.get('/v1/account'));
        refused(await all[1].site.get('/v1/account'), 401, 'INVALID_KEY');
        assert.equal(ok(await all[20].site.get('/v1/browsers')).data.length, 20);
    });

    describe('that is not remembered', () => {
        // KEY-25
        it('ends with its key, after 12 hours', async () => {
            const { site, answer } = await signInBrowser(client, { remember: false });
            assert.ok(Math.abs(Date.parse(answer.body.ends_at) - (await now(client) + 12 * HOUR)) < HOUR);
            await advance(client, hours(12) - 60);
            ok(await site.get('/v1/account'));
            await advance(client, 61);
            refused(await site.get('/v1/account'), 401, 'INVALID_KEY');
        });
    });

    describe('that is remembered', () => {
        it('gets another key of 12 hours when it comes back, and keeps its cookie', async () => {
            const { site, id, cookie } = await signInBrowser(client, { remember: true });
            const key = async () => ok(await site.get('/v1/auth/keys')).data.find(({ current }) => current);
            const first = await key();
            await advance(client, hours(12) + 1);
            const answer = await site.get('/v1/account');
            ok(answer);
            assert.deepEqual(cookieOf(answer), { value: cookie, attributes: [...ATTRIBUTES, 'Max-Age=2592000'] });
            assert.equal(cookieOf(await site.get('/v1/account')), undefined);
            const second = await key();
            assert.notEqual(second.id, first.id);
            assert.ok(Math.abs(Date.parse(second.expires_at) - Date.parse(first.expires_at) - 12 * HOUR) < HOUR);
            assert.equal(ok(await site.get('/v1/auth/keys')).data.length, 1);
            assert.deepEqual(ok(await site.get('/v1/browsers')).data.map((b) => b.id), [id]);
        });

        it('comes back with a write, or with blocking work', async () => {
            const { email, site } = await signInBrowser(client, { remember: true });
            await setSubscription(client, email);
            await advance(client, hours(13));
            ok(await site.post('/v1/auth/keys', {}), 201);
            await advance(client, hours(13));
            ok(await site.post('/v1/billing/portal', {}));
            await advance(client, hours(13));
            const out = await site.delete('/v1/auth/key');
            ok(out);
            assert.equal(cookieOf(out).value, '');
            refused(await site.get('/v1/account'), 401, 'INVALID_KEY');
        });

        // KEY-25
        it('comes back 29 days after its last use, and again; not after 30', async () => {
            const { site } = await signInBrowser(client, { remember: true });
            for (let i = 0; i < 2; i++) {
                await advance(client, days(29));
                ok(await site.get('/v1/account'));
            }
            await advance(client, days(30) + 61);
            refused(await site.get('/v1/account'), 401, 'INVALID_KEY');
        });

        it('gets one key, however many requests come at once', async () => {
            const { site } = await signInBrowser(client, { remember: true });
            for (let i = 0; i < 3; i++) {
                await advance(client, hours(13));
                const answers = await Promise.all(Array.from({ length: 12 }, (_, k) => (k % 2 ? site.get('/v1/account') : site.post('/v1/auth/keys/revoke-others'))));
                for (const answer of answers) ok(answer);
                assert.equal(answers.filter((answer) => cookieOf(answer)).length, 1);
                assert.equal(ok(await site.get('/v1/auth/keys')).data.length, 1);
            }
        });

        it('is not brought back by a page of another site', async () => {
            const { site } = await signInBrowser(client, { remember: true });
            await advance(client, hours(13));
            const answer = await site.get('/v1/account', { headers: { 'sec-fetch-site': 'cross-site' } });
            refused(answer, 403, 'CROSS_SITE_REQUEST');
            assert.equal(cookieOf(answer), undefined);
        });
    });

    it('stays signed in when the service is killed while it signs in or renews', async () => {
        const { site, email } = await signInBrowser(client, { remember: true });
        const later = await signInBrowser(client, { email, remember: true });
        for (let i = 0; i < 5; i++) {
            await advance(client, hours(13));
            const asked = site.get('/v1/account').catch(() => undefined);
            await new Promise((done) => { setTimeout(done, i * 3); });
            await w.daemon.crash();
            await asked;
            client.agent.destroy();
            await w.daemon.start();
            ok(await site.get('/v1/account'));
        }
        ok(await later.site.get('/v1/account'));
        assert.equal(ok(await site.get('/v1/auth/keys')).data.length, 2);
    });

    it('leaves no cookie in the log, and its calls are logged with their path', async () => {
        const { cookie, site } = await signInBrowser(client, { remember: true });
        ok(await site.get('/v1/account'));
        refused(await browser(client, `${cookie}x`).get('/v1/account'), 401, 'AUTH_REQUIRED');
        await advance(client, hours(13));
        ok(await site.get('/v1/buildings'));
        await w.daemon.logged(/path=\/app\/v1\/buildings /);
        assert.ok(!w.daemon.stderr.includes(cookie));
    });
});

describe('a browser on an account without a subscription', () => {
    const { client } = useWorld({ config: { limits: { requests_free: 100 } } });

    it('has the limit of requests of its key, whatever way it came in', async () => {
        const { site } = await signInBrowser(client);
        const limits = (answer) => [answer.headers['ratelimit-limit'], answer.headers['ratelimit-remaining']];
        assert.deepEqual(limits(await site.get('/v1/account')), ['100', '99']);
        assert.deepEqual(limits(await site.get('/v1/buildings')), ['100', '98']);
        for (let i = 0; i < 98; i++) ok(await site.get('/v1/account'));
        refused(await site.get('/v1/account'), 429, 'RATE_LIMIT_EXCEEDED');
        refused(await site.get('/v1/browsers'), 429, 'RATE_LIMIT_EXCEEDED');
    });
});
