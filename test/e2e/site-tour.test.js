// The sandbox's tour: a newcomer at / gets from nothing to an open door with the mouse alone, and the same by lines that
// are pasted into a terminal.
import { after, afterEach, before, describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { Browser } from './lib/browser.js';
import { ok, refused } from './lib/client.js';
import { COOKIE, cookieOf, SAME_ORIGIN, signInBrowser } from './lib/site.js';
import { checkSights, picture } from './lib/site-page.js';
import { advance, eventually, freshEmail, HOUR, ID, MINUTE, now, signIn, TIMESTAMP, useWorld } from './lib/world.js';

const STEPS = ['account', 'plan', 'tone', 'code', 'ring'];
const shell = async (line) => JSON.parse((await promisify(execFile)('sh', ['-c', line])).stdout);

describe('the tour', () => {
    const w = useWorld();
    let browser;
    before(async () => { browser = await Browser.start(); });
    after(() => browser?.close());
    afterEach(() => assert.deepEqual(browser.takeComplaints(), []));

    /** A page whose mouse is counted: `press` moves to the middle of what it finds, and clicks. */
    const open = async (path, options) => {
        const page = await browser.page(`${w.daemon.https}${path}`, options);
        page.clicks = 0;
        page.press = async (role, name) => {
            const found = page.getByRole(role, { name, exact: true });
            await found.scrollIntoViewIfNeeded();
            const { x, y, width, height } = await found.boundingBox();
            await page.mouse.click(x + width / 2, y + height / 2);
            page.clicks += 1;
        };
        return page;
    };
    const closing = (page) => page.context().close();
    const done = (page, count) => page.getByText(`${count} of 5`, { exact: true }).waitFor();
    const line = (page, step) => page.locator(`#line-${step}`).innerText();
    const buttons = ['Make the account', 'Subscribe', 'Set it to 9', 'Make a code', 'Ring the bell'];
    const go = async (page, from = 0, to = 5) => {
        for (let i = from; i < to; i++) {
            await page.press('button', buttons[i]);
            await done(page, i + 1);
        }
    };

    it('leads from / to an open door with the mouse alone, and to the website of the account', async (t) => {
        const began = performance.now();
        const page = await open('/');
        let requests = 0;
        page.on('request', (request) => { if (/^\/(v1|sandbox)\//.test(new URL(request.url()).pathname)) requests += 1; });
        await page.press('link', 'Take the tour');
        await page.waitForURL('**/sandbox/tour');
        await go(page);
        await page.getByRole('heading', { name: 'That was a door.' }).waitFor();
        await page.getByRole('img', { name: 'The door is open' }).waitFor();
        await page.getByText('“Welcome. The door is open.”').waitFor();
        const took = performance.now() - began;
        t.diagnostic(`${page.clicks} clicks, ${requests} requests, ${Math.round(took)} ms`);
        assert.equal(page.clicks, 6);
        assert.ok(requests <= 20, `${requests} requests`);
        await page.press('button', 'Open the website as this resident');
        await page.waitForURL(`${w.daemon.https}/`);
        await page.getByRole('heading', { name: 'A code opens the door' }).waitFor();
        assert.equal(page.clicks, 7);
        const [cookie] = (await page.context().cookies()).filter(({ name }) => name === COOKIE);
        assert.ok(cookie.httpOnly && cookie.secure);
        await closing(page);
    });

    // SANDBOX-13
    it('shows lines that do what its buttons do, and notices what they have done', async () => {
        const page = await open('/sandbox/tour');
        const email = /tour-[0-9a-f]{6}@example\.com/.exec(await line(page, 'account'))[0];
        assert.equal((await shell(await line(page, 'account'))).email, email);
        await go(page, 0, 1);
        const expected = { plan: (body) => assert.match(body.virtual_number, /^\+1/), tone: (body) => assert.equal(body.unlock_tone, '9'), code: (body) => assert.match(body.access_code, /^\d{4}$/), ring: (body) => assert.equal(body.outcome, 'released') };
        for (const [i, step] of STEPS.slice(1).entries()) {
            expected[step](await shell(await line(page, step)));
            await page.evaluate(() => dispatchEvent(new Event('focus'))); // back from the terminal
            await done(page, i + 2);
        }
        for (const step of STEPS) { // each still works, and changes nothing
            const again = await shell(await line(page, step));
            assert.equal(again.error, undefined, step);
            expected[step]?.(again);
        }
        await closing(page);
    });

    it('copies the line that it shows', async () => {
        const page = await open('/sandbox/tour', { permissions: ['clipboard-read', 'clipboard-write'] });
        await page.press('button', 'Copy the line: Make a test account');
        await page.getByText('Copied', { exact: true }).waitFor();
        assert.equal(await page.evaluate(() => navigator.clipboard.readText()), await line(page, 'account'));
        await closing(page);
    });

    // SANDBOX-13
    it('continues after a reload, in another tab and after the key has ended, and starts again', async () => {
        const page = await open('/sandbox/tour');
        await go(page, 0, 2);
        const account = await page.locator('h2').first().innerText();
        await page.reload();
        await done(page, 2);
        const other = await page.context().newPage();
        await other.goto(page.url());
        await other.getByText('2 of 5', { exact: true }).waitFor();
        await go(page, 2, 4);
        await other.evaluate(() => dispatchEvent(new Event('focus')));
        await other.getByText('4 of 5', { exact: true }).waitFor();
        await other.close();
        await advance(w.client, 13 * HOUR / 1000); // the key lives 12 hours
        await page.reload();
        await done(page, 4);
        assert.equal(await page.locator('h2').first().innerText(), account);
        await go(page, 4, 5);
        await page.press('button', 'Start again');
        await done(page, 0);
        await go(page, 0, 1);
        assert.notEqual(await page.locator('h2').first().innerText(), account);
        assert.deepEqual(browser.takeComplaints().filter((complaint) => !/status of 401/.test(complaint)), []);
        await closing(page);
    });

    it('goes on where the browser keeps nothing', async () => {
        const page = await open('/sandbox/tour', { prepare: (context) => context.addInitScript(() => {
            Object.defineProperty(globalThis, 'localStorage', { get() { throw new DOMException('denied', 'SecurityError'); } });
        }) });
        await go(page);
        await closing(page);
    });

    it('says why a step did not work, and offers it again', async () => {
        const page = await open('/sandbox/tour');
        await go(page, 0, 1);
        await page.route('**/sandbox/subscriptions', (route) => route.abort(), { times: 1 });
        await page.press('button', 'Subscribe');
        await page.getByRole('alert').filter({ hasText: 'That did not work' }).waitFor();
        browser.takeComplaints();
        await go(page, 1, 4);
        await page.evaluate(() => { // the code is revoked elsewhere
            const { key } = JSON.parse(localStorage.getItem('portero.tour'));
            globalThis.auth = { Authorization: `Bearer ${key}` };
        });
        await page.evaluate(async () => {
            const { data: [grant] } = await (await fetch('/v1/unlock', { headers: globalThis.auth })).json();
            await fetch(`/v1/unlock/${grant.id}`, { method: 'DELETE', headers: globalThis.auth });
            dispatchEvent(new Event('focus'));
        });
        await done(page, 3);
        await go(page, 3, 5);
        await closing(page);
    });

    it('is a page in the browser\'s language', async () => {
        for (const [locale, title] of [['es-MX', 'De la nada a una puerta abierta'], ['fr-CA', 'De rien à une porte ouverte']]) {
            const page = await open('/sandbox/tour', { locale });
            await page.getByRole('heading', { name: title }).waitFor();
            await closing(page);
        }
    });

    it('is accessible and fits, at each step', async () => {
        const page = await open('/sandbox/tour');
        await checkSights(page, 'tour-begin');
        await go(page, 0, 4);
        await page.getByText(/^Answer/).first().click();
        await checkSights(page, 'tour-code');
        await go(page, 4, 5);
        await checkSights(page, 'tour-end');
        await page.goto(w.daemon.https);
        await checkSights(page, 'tour-start');
        await closing(page);
    });

    // SANDBOX-12
    it('makes accounts without a code, and signs in only the browser that asks', async () => {
        const email = freshEmail();
        const first = await w.client.post('/sandbox/accounts', { email });
        const { account_id: id, building_id: building, key, key_ends_at: ends } = ok(first);
        assert.match(id, ID);
        assert.match(building, ID);
        assert.match(ends, TIMESTAMP);
        assert.equal(cookieOf(first), undefined);
        const left = Date.parse(ends) - await now(w.client);
        assert.ok(left > 12 * HOUR - MINUTE && left <= 12 * HOUR, `${left} ms`);
        assert.equal(ok(await w.client.as(key).get('/v1/account')).email, email);
        const again = ok(await w.client.post('/sandbox/accounts', { email: email.toUpperCase() }));
        assert.deepEqual([again.account_id, again.building_id, again.email], [id, building, email]);
        assert.notEqual(again.key, key);
        assert.equal((await signIn(w.client, email)).email, email);
        const before = await signInBrowser(w.client);
        const taken = await w.client.post('/sandbox/accounts', { email, browser: true }, { headers: { ...SAME_ORIGIN, cookie: `${COOKIE}=${before.cookie}` } });
        ok(taken);
        const { value, attributes } = cookieOf(taken);
        assert.ok(attributes.includes('HttpOnly') && attributes.includes('Secure') && attributes.includes('SameSite=Lax'), attributes.join());
        refused(await before.site.get('/v1/account'), 401, 'INVALID_KEY'); // the earlier session of the browser ended
        assert.equal(ok(await w.client.get('/app/v1/account', { headers: { ...SAME_ORIGIN, cookie: `${COOKIE}=${value}` } })).email, email);
        refused(await w.client.post('/sandbox/accounts', { email: 'nobody' }), 400, 'INVALID_EMAIL');
        refused(await w.client.post('/sandbox/accounts', { email, browser: true }, { headers: { 'sec-fetch-site': 'cross-site' } }), 403, 'LOOPBACK_REQUIRED');
        await eventually(async () => ok(await w.client.as(again.key).get('/v1/account')).email === email, 'the account');
    });

    it('is one press away on each page, with the mailbox, the bell and the clock', async () => {
        const { cookie } = await signInBrowser(w.client);
        for (const path of ['/', '/access', '/activity', '/building', '/buildings', '/notices', '/billing', '/agents', '/webhooks', '/account', '/nowhere']) {
            const { text } = await w.client.get(path, { headers: { accept: 'text/html', cookie: `${COOKIE}=${cookie}` }, check: false });
            for (const link of ['/sandbox/tour', '/sandbox/#messages-title', '/sandbox/#bell', '/sandbox/#clock-title']) assert.ok(text.includes(`href="${link}"`), `${path}: ${link}`);
        }
        const page = await open('/sandbox/');
        await picture(page, 'sandbox');
        await page.press('link', 'Tour');
        await page.waitForURL('**/sandbox/tour');
        await page.press('link', 'Portero');
        await page.waitForURL(`${w.daemon.https}/`);
        await closing(page);
    });
});
