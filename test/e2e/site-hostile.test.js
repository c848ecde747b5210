// The website against hostile pages, hostile texts and readers that take one byte a second.
// engine: sqlite, because the origin is checked before the store, and pages show what any store has
import { after, before, describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { createServer } from 'node:https';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import tls from 'node:tls';
import { Browser } from './lib/browser.js';
import { ok, refused } from './lib/client.js';
import { portero } from './lib/daemon.js';
import { COOKIE, SAME_ORIGIN, signInBrowser } from './lib/site.js';
import { HOSTILE, openSigned } from './lib/site-page.js';
import { agent, changeSettings, grant, resident, UNKNOWN_ID, useWorld, visit } from './lib/world.js';

const PAGES = ['/', '/access', '/activity', '/building', '/buildings', '/notices', '/billing', '/agents', '/webhooks', '/account'];
/** Not below /app: these need neither key nor sign-in, or no page calls them. */
const ELSEWHERE = ['get /v1/health', 'get /v1/openapi.json', 'get /openapi.json', 'get /docs/agents', 'get /v1/logs'];

/** The operations that pages call, from the documents: [{method, path}], with the IDs filled in. */
function operations(building) {
    return [['', []], ['/app', ['--site']]].flatMap(([prefix, options]) => {
        const { paths } = JSON.parse(portero(['openapi', ...options]).stdout);
        return Object.entries(paths).flatMap(([path, methods]) => Object.keys(methods)
            .filter((method) => !ELSEWHERE.includes(`${method} ${path}`))
            .map((method) => ({
                method: method.toUpperCase(),
                path: (prefix ? path : `/app${path}`).replace('{buildingId}', building).replaceAll(/\{\w+\}/g, UNKNOWN_ID),
            })));
    });
}

describe('the website and a hostile page', () => {
    const w = useWorld();
    const { client } = w;
    let browser;
    before(async () => { browser = await Browser.start(); });
    after(() => browser?.close());

    // KEY-32
    it('refuses every call that another page sends, before anything else is looked at', async () => {
        const person = await resident(client);
        const { cookie } = await signInBrowser(client, { email: person.email });
        const all = operations(person.building.id);
        assert.ok(all.length > 45, `${all.length} operations`);
        const origin = 'https://evil.example';
        for (const { method, path } of all) {
            for (const headers of [{ 'sec-fetch-site': 'cross-site', origin }, { 'sec-fetch-site': 'same-site' }, { 'sec-fetch-site': 'none' }, { origin }, { origin: 'null' }]) {
                const answer = await client.as(undefined).request(method, path, { headers: { cookie: `${COOKIE}=${cookie}`, ...headers }, json: method === 'GET' ? undefined : {}, check: false });
                assert.equal(answer.status, 403, `${method} ${path} ${JSON.stringify(headers)}: ${answer.text}`);
                refused(answer, 403, 'CROSS_SITE_REQUEST');
                assert.deepEqual([answer.headers['set-cookie'], answer.headers['access-control-allow-origin']], [undefined, undefined]);
            }
        }
    });

    it('changes and tells nothing when a page on another port, which gets the cookie, tries them all', async () => {
        const person = await resident(client);
        const state = async () => JSON.stringify(await Promise.all(['/v1/unlock', '/v1/auth/keys', '/v1/webhooks', `/v1/buildings/${person.building.id}/settings`, '/v1/buildings', '/v1/account/phone']
            .map(async (path) => ok(await person.client.get(path)).data ?? ok(await person.client.get(path)))), (name, value) => (name === 'last_used_at' ? undefined : value));
        await grant(person, { type: 'passcode', label: 'Parcels', access_code: '4821' });
        const [key, cert] = ['tls.key', 'tls.crt'].map((name) => readFileSync(join(w.daemon.data, name)));
        const elsewhere = createServer({ key, cert }, (request, response) => response.setHeader('Content-Type', 'text/html').end('<!doctype html><title>elsewhere</title>')).listen(0, '127.0.0.1');
        await once(elsewhere, 'listening');
        try {
            const page = await openSigned(browser, w, person, '/');
            const before = await state();
            const own = new URL(w.daemon.https).host;
            await page.goto(`https://${new URL(w.daemon.https).hostname}:${elsewhere.address().port}/`);
            const all = operations(person.building.id);
            const answers = await page.evaluate(async ([base, calls]) => Promise.all(calls.map(async ({ method, path }) => {
                const simple = ['GET', 'POST'].includes(method);
                const body = method === 'GET' ? undefined : '{"type":"timer","expires_in_minutes":5,"unlock_tone":"1"}';
                try {
                    return (await fetch(`${base}${path}`, { method, body, credentials: 'include', mode: simple ? 'no-cors' : 'cors', signal: AbortSignal.timeout(20_000) })).type;
                } catch {
                    return 'failed';
                }
            })), [`https://${own}`, all]);
            assert.deepEqual([...new Set(answers)].filter((type) => !['opaque', 'failed'].includes(type)), []);
            await page.evaluate((url) => new Promise((done) => { // the same as a form, without a script's headers
                const frame = Object.assign(document.createElement('iframe'), { name: 'there', onload: done });
                const form = Object.assign(document.createElement('form'), { method: 'POST', action: url, target: 'there', enctype: 'text/plain' });
                form.append(Object.assign(document.createElement('input'), { name: '{"type":"timer","expires_in_minutes":5,"x":"', value: '"}' }));
                document.body.append(frame, form);
                form.submit();
                setTimeout(done, 5_000);
            }), `https://${own}/app/v1/unlock`);
            assert.equal(await state(), before);
            await page.goto(`${w.daemon.https}/`); // still signed in
            await page.getByRole('heading', { name: 'A code opens the door' }).waitFor();
            await page.context().close();
            browser.takeComplaints(); // of all that was refused
        } finally {
            elsewhere.close();
        }
    });

    // SITE-3
    it('lets no page be framed', async () => {
        const person = await resident(client);
        const { cookie } = await signInBrowser(client, { email: person.email });
        for (const path of [...PAGES, '/nowhere', '/sandbox/', '/sandbox/tour']) {
            const { headers } = await client.as(undefined).get(path, { headers: { accept: 'text/html', cookie: `${COOKIE}=${cookie}` }, check: false });
            assert.match(headers['content-security-policy'], /frame-ancestors 'none'/, path);
        }
    });

    // SITE-7
    it('shows every text of residents, visitors and receivers as text, on every page', async () => {
        const person = await resident(client);
        const greeting = HOSTILE.slice(0, 100);
        const url = 'https://receiver.test/?%3Cimg%20src=x%20onerror=alert(1)%3E';
        const hook = ok(await person.client.post('/v1/webhooks', { url }), 201);
        const code = await grant(person, { type: 'passcode', label: HOSTILE, access_code: '4821' });
        /** A field, and the pages that show its text. */
        const fields = [
            ['label of a code', () => code.label, ['/', '/access', '/activity']],
            ['label of a timer', async () => (await grant(person, { type: 'timer', label: `${HOSTILE}t`, expires_in_minutes: 60 })).label, ['/', '/access']],
            ['greeting', async () => (await changeSettings(person, { greeting_welcome: greeting })).greeting_welcome, ['/building']],
            ['name of a key', async () => (await agent(person, ['account:read'], { name: HOSTILE })) && HOSTILE, ['/agents']],
            ['address of a webhook', () => hook.url, ['/webhooks']],
        ];
        const texts = new Map(PAGES.map((page) => [page, []]));
        for (const [, make, pages] of fields) {
            const text = await make();
            for (const page of pages) texts.get(page).push(text);
        }
        await visit(client, { to: person.number, digits: '4821', speech: HOSTILE });
        await person.client.post(`/v1/webhooks/${hook.id}/test`, undefined, { check: false });
        const { cookie } = await signInBrowser(client, { email: person.email, headers: { 'user-agent': `Mozilla/5.0 ${HOSTILE}` } });
        const page = await openSigned(browser, w, person, '/');
        await page.context().addCookies([{ name: COOKIE, value: cookie, url: w.daemon.https, secure: true, httpOnly: true, sameSite: 'Lax' }]);
        let alerts = 0;
        page.on('dialog', (dialog) => { alerts += 1; dialog.dismiss(); });
        for (const [path_, shown] of texts) {
            for (const query of ['', `?new=${encodeURIComponent(HOSTILE)}&call=${encodeURIComponent(HOSTILE)}&checkout=${encodeURIComponent(HOSTILE)}&q=${encodeURIComponent(HOSTILE)}#${HOSTILE}`]) {
                await page.goto(`${w.daemon.https}${path_}${query}`);
                await page.locator('#page > *').first().waitFor();
                const found = await page.evaluate(() => ({
                    text: document.body.innerText + [...document.querySelectorAll('input, textarea')].map((field) => field.value).join('\n'),
                    strange: [...document.querySelectorAll('img, iframe, object, embed, base, meta[http-equiv], [onerror], [onclick]')].map((element) => element.outerHTML),
                }));
                assert.deepEqual(found.strange, [], path_);
                if (!query) for (const text of shown) assert.ok(found.text.includes(text), `${path_} has no ${text}`);
            }
        }
        assert.equal(alerts, 0);
        assert.deepEqual(browser.takeComplaints(), []);
        await page.context().close();
    });
});

describe('the website and slow readers', () => {
    const w = useWorld({ config: { http: { write_timeout_s: 3, threads: 1 } } });
    const { client } = w;

    it('serves others while clients take one byte a second, and ends those', async () => {
        const person = await resident(client);
        const { cookie } = await signInBrowser(client, { email: person.email });
        const { text } = await client.as(undefined).get('/', { headers: { cookie: `${COOKIE}=${cookie}`, accept: 'text/html' }, check: false });
        const asset = /\/a\/site-style\.[0-9a-f]+\.css/.exec(text)[0];
        const slow = [], closed = [];
        for (const path of ['/access', asset, `/app/v1/buildings/${person.building.id}/events?after=0`]) {
            for (let i = 0; i < 4; i++) {
                const socket = tls.connect({ port: w.daemon.httpsPort, host: '127.0.0.1', rejectUnauthorized: false, highWaterMark: 1 });
                await once(socket, 'secureConnect');
                socket.pause();
                const lines = `GET ${path} HTTP/1.1\r\nHost: localhost:${w.daemon.httpsPort}\r\nCookie: ${COOKIE}=${cookie}\r\n${Object.entries(SAME_ORIGIN).map((pair) => pair.join(': ')).join('\r\n')}\r\n\r\n`;
                socket.on('error', () => {});
                socket.write(lines.repeat(path.includes('events') ? 1 : 400)); // more than the buffers of both kernels
                const timer = setInterval(() => socket.read(1), 1_000);
                slow.push({ socket, timer });
                if (!path.includes('events')) closed.push(once(socket, 'close'));
            }
        }
        const began = performance.now();
        for (let i = 0; i < 20; i++) {
            const answer = await client.as(undefined).get('/access', { headers: { cookie: `${COOKIE}=${cookie}`, accept: 'text/html' }, check: false });
            assert.equal(answer.status, 200);
        }
        assert.ok(performance.now() - began < 20_000, 'others were held');
        for (const { socket, timer } of slow) { // an end is only seen by a socket that reads
            clearInterval(timer);
            setTimeout(() => socket.resume(), 6_000);
        }
        await Promise.all(closed);
        for (const { socket } of slow) socket.destroy();
    });
});
