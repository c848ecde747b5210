// Signing in and Home, in a browser: with the keyboard alone, on a phone, in the dark, in three languages.
// PORTERO_E2E_PICTURES=directory keeps screenshots.
import { after, afterEach, before, describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { Browser, checkAccessible, checkFits } from './lib/browser.js';
import { COOKIE } from './lib/site.js';
import { eventually, freshEmail, grant, message, resident, useWorld } from './lib/world.js';

const SIGHTS = ['light', 'dark'].flatMap((colorScheme) => [320, 390, 1280].map((width) => ({ colorScheme, viewport: { width, height: 800 } })));

describe('the website', () => {
    const w = useWorld();
    const { client } = w;
    let browser;
    let url;
    before(async () => {
        browser = await Browser.start();
        url = `${w.daemon.https}/`;
    });
    after(() => browser?.close());
    afterEach(() => assert.deepEqual(browser.takeComplaints(), []));

    const closing = async (page) => page.context().close();
    const picture = async (page, name) => {
        if (process.env.PORTERO_E2E_PICTURES) await page.screenshot({ path: join(process.env.PORTERO_E2E_PICTURES, `${name}.png`), fullPage: true });
    };

    /** The code of the next mail after `step`. */
    async function codeAfter(email, step) {
        const earlier = await message(client, email).catch(() => undefined);
        await step();
        await eventually(async () => {
            const now = await message(client, email).catch(() => undefined);
            return now && now.id !== earlier?.id;
        }, 'a mail');
        return (await message(client, email)).code;
    }

    async function signIn(page, email, { remember = false } = {}) {
        await page.getByLabel('E-mail address').fill(email);
        const code = await codeAfter(email, async () => {
            await page.getByRole('button', { name: 'Send me a code' }).click();
            await page.getByLabel('Code from the e-mail').waitFor();
        });
        if (remember) await page.getByLabel('Remember this browser for 30 days').check();
        await page.getByLabel('Code from the e-mail').fill(code);
        await page.getByRole('button', { name: 'Sign in' }).click();
        await isHome(page);
    }

    const isHome = (page) => page.getByRole('region', { name: 'Set up your door' }).waitFor();
    /** Opens the menu with the keyboard, as far as signing out. */
    async function reachSignOut(page) {
        await page.locator('#account summary').focus();
        await page.keyboard.press('Enter');
        await page.getByRole('button', { name: 'Sign out' }).focus();
    }

    const cookieOf = async (page) => (await page.context().cookies()).find((cookie) => cookie.name === COOKIE);
    const isSignedOut = (page) => page.getByRole('heading', { name: 'Sign in to your door' }).waitFor();

    it('signs in with the keyboard alone, shows what the door does, and signs out', async () => {
        const person = await resident(client, { tone: '9#' });
        const page = await browser.page(url);
        await page.waitForFunction(() => document.activeElement?.id === 'email');
        await page.keyboard.type(person.email);
        const code = await codeAfter(person.email, async () => {
            await page.keyboard.press('Enter');
            await page.waitForFunction(() => document.activeElement?.id === 'otp');
        });
        await page.getByText(`We sent a code of six digits to ${person.email}.`).waitFor();
        await page.keyboard.type(code);
        await page.keyboard.press('Enter');
        await page.getByRole('heading', { name: 'Your phone rings' }).waitFor();
        await page.getByText(`Your number: ${person.number}`).waitFor();
        await page.getByText('Release key: 9#').waitFor();
        await page.getByText('3 of 4').waitFor();
        const cookie = await cookieOf(page);
        assert.deepEqual([cookie.httpOnly, cookie.secure, cookie.sameSite, cookie.expires], [true, true, 'Lax', -1]);
        await reachSignOut(page);
        await page.getByText(person.email).waitFor();
        await page.keyboard.press('Enter');
        await isSignedOut(page);
        assert.equal(await cookieOf(page), undefined);
        await page.reload();
        await isSignedOut(page);
        await closing(page);
    });

    it('tells what is wrong with a code, and sends another', async () => {
        const email = freshEmail();
        const page = await browser.page(url);
        await page.getByLabel('E-mail address').fill(email);
        const code = await codeAfter(email, () => page.getByRole('button', { name: 'Send me a code' }).click());
        await page.getByLabel('Code from the e-mail').fill(code === '000000' ? '111111' : '000000');
        await page.getByRole('button', { name: 'Sign in' }).click();
        await page.getByText('This code is wrong or too old.').waitFor();
        assert.equal(await page.getByLabel('Code from the e-mail').getAttribute('aria-invalid'), 'true');
        await checkAccessible(page);
        await picture(page, 'sign-in-wrong');
        assert.ok(browser.takeComplaints().every((line) => /status of 401/.test(line)));
        const another = await codeAfter(email, () => page.getByRole('button', { name: 'Send another code' }).click());
        await page.getByText('Another code is on its way.').waitFor();
        await page.getByLabel('Code from the e-mail').fill(another);
        await page.getByRole('button', { name: 'Sign in' }).click();
        await page.getByRole('heading', { name: 'Your door is not connected yet' }).waitFor();
        await closing(page);
    });

    it('remembers a browser that asks for it', async () => {
        const person = await resident(client);
        const page = await browser.page(url);
        await signIn(page, person.email, { remember: true });
        assert.ok((await cookieOf(page)).expires > Date.now() / 1000 + 29 * 86_400);
        await closing(page);
    });

    it('says who opens the door: an open timer before codes, and codes before the phone', async () => {
        const person = await resident(client);
        await grant(person, { type: 'passcode', label: 'Anna & Tom', access_code: '4711' });
        const page = await browser.page(url);
        await signIn(page, person.email);
        await page.getByRole('heading', { name: 'A code opens the door' }).waitFor();
        await page.getByText('Anna & Tom').waitFor();
        await grant(person, { type: 'timer', label: 'Dog walker', expires_in_minutes: 60 });
        await page.reload();
        await page.getByRole('heading', { name: 'The next caller gets in' }).waitFor();
        assert.deepEqual(await page.locator('.rung b').allInnerTexts(), ['Dog walker', '1 code', 'Otherwise your phone']);
        await closing(page);
    });

    it('asks to sign in again when the session has ended', async () => {
        const person = await resident(client);
        const page = await browser.page(url);
        await signIn(page, person.email);
        await page.context().addCookies([{ ...(await cookieOf(page)), value: 'x'.repeat(43) }]);
        await reachSignOut(page);
        await page.keyboard.press('Enter');
        await isSignedOut(page);
        assert.ok(browser.takeComplaints().every((line) => /status of 401/.test(line)));
        await closing(page);
    });

    it('shows texts of residents as texts', async () => {
        const person = await resident(client);
        const label = '</script><img src=x onerror=alert(1)>"&amp;{{lang}}<!--';
        await grant(person, { type: 'timer', label, expires_in_minutes: 60 });
        const page = await browser.page(url);
        await signIn(page, person.email);
        await page.getByText(label, { exact: true }).waitFor();
        assert.equal(await page.locator('main img').count(), 0);
        await closing(page);
    });

    it('speaks the browser\'s language', async () => {
        for (const [locale, title] of [['es-MX', 'Entra en tu puerta'], ['fr-CA', 'Connectez-vous à votre porte'], ['de-DE', 'Sign in to your door']]) {
            const page = await browser.page(url, { locale });
            await page.getByRole('heading', { name: title }).waitFor();
            await checkAccessible(page);
            await closing(page);
        }
    });

    it('needs one request for a page of data, keeps nothing of it, and asks nobody else', async () => {
        const person = await resident(client);
        const page = await browser.page(url);
        await signIn(page, person.email);
        const asked = [];
        page.on('request', (request) => asked.push(request.url()));
        const answer = await page.reload();
        await isHome(page);
        assert.equal(answer.headers()['cache-control'], 'no-store');
        assert.ok(answer.headers()['ratelimit-limit']);
        assert.ok(asked.every((one) => one.startsWith(url) || one.startsWith('data:')), asked.join('\n'));
        assert.ok(asked.every((one) => !one.includes('/v1/')), asked.join('\n'));
        await closing(page);
    });

    it('is a page of the service for whoever is not signed in, and the same until the service is another', async () => {
        const get = (headers) => client.as(undefined).get('/', { headers, check: false });
        const first = await get({ 'accept-language': 'fr' });
        assert.equal(first.status, 200);
        assert.equal(first.headers['cache-control'], 'no-cache');
        assert.match(first.headers.vary, /Cookie/);
        assert.equal((await get({ 'accept-language': 'fr', 'if-none-match': first.headers.etag })).status, 304);
        assert.equal((await get({ 'accept-language': 'es', 'if-none-match': first.headers.etag })).status, 200);
        assert.equal((await get({ cookie: `${COOKIE}=${'x'.repeat(43)}` })).headers['cache-control'], 'no-cache');
    });

    for (const sight of SIGHTS) {
        const name = `${sight.viewport.width}-${sight.colorScheme}`;
        it(`is accessible and fits: ${name}`, async () => {
            const person = await resident(client, { tone: '9#' });
            await grant(person, { type: 'passcode', label: 'Anna & Tom', access_code: '4711' });
            await grant(person, { type: 'timer', label: 'Dog walker', expires_in_minutes: 60 });
            const page = await browser.page(url, sight);
            await isSignedOut(page);
            await picture(page, `sign-in-${name}`);
            await checkAccessible(page);
            await checkFits(page);
            await signIn(page, person.email);
            await page.getByRole('heading', { name: 'The next caller gets in' }).waitFor();
            await picture(page, `home-${name}`);
            await checkAccessible(page);
            await checkFits(page);
            const small = await page.evaluate(() => [...document.querySelectorAll('button, summary, .tabs a, .brand[href]')].filter((element) => element.checkVisibility() && element.getBoundingClientRect().height < 44).length);
            assert.equal(small, 0);
            await closing(page);
        });
    }
});
