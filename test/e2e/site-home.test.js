// Signing in and Home, in a browser: with the keyboard alone, on a phone, in the dark, in three languages.
// PORTERO_E2E_PICTURES=directory keeps screenshots.
import { after, afterEach, before, describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { Browser, checkAccessible, checkFits, checkText } from './lib/browser.js';
import { added, owner } from './lib/buildings.js';
import { ok } from './lib/client.js';
import { openSigned, written } from './lib/site-page.js';
import { COOKIE } from './lib/site.js';
import { eventually, freshEmail, grant, message, resident, useWorld, visit } from './lib/world.js';

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

    // BUILDING-33
    it('tells times in the building\'s zone, which comes with the release key', async () => {
        const person = await resident(client);
        const settings = await person.client.get(`/v1/buildings/${person.building.id}/settings`);
        ok(await person.client.patch(`/v1/buildings/${person.building.id}/settings`, { timezone: 'America/Toronto' }, { headers: { 'If-Match': settings.headers.etag } }));
        await grant(person, { type: 'timer', label: 'Dog walker', expires_in_minutes: 60 });
        const page = await browser.page(url, { timezoneId: 'Europe/Madrid' });
        await signIn(page, person.email);
        await page.locator('.door').getByText(/^Until .*\d\d:\d\d \(Toronto time\), whoever buzzes\.$/).waitFor();
        await closing(page);
    });

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

    async function signIn(page, email, { remember = false, arrived = isHome } = {}) {
        await page.getByLabel('E-mail address').fill(email);
        const code = await codeAfter(email, async () => {
            await page.getByRole('button', { name: 'Send me a code' }).click();
            await page.getByLabel('Code from the e-mail').waitFor();
        });
        if (remember) await page.getByLabel('Remember this browser for 30 days').check();
        await page.getByLabel('Code from the e-mail').fill(code);
        await arrived(page);
    }

    function isHome(page) {
        return page.getByRole('region', { name: 'Set up your door' }).waitFor();
    }

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
        await page.getByRole('heading', { name: 'Nobody gets in' }).waitFor();
        await page.getByText(`Your number: ${written(person.number)}`).waitFor();
        await page.getByText('Release key: 9#').waitFor();
        await page.getByText('3 of 7').waitFor();
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
        await page.getByText('This code is wrong or too old.').waitFor();
        assert.equal(await page.getByLabel('Code from the e-mail').getAttribute('aria-invalid'), 'true');
        await checkAccessible(page);
        await picture(page, 'sign-in-wrong');
        assert.ok(browser.takeComplaints().every((line) => /status of 401/.test(line)));
        const another = await codeAfter(email, () => page.getByRole('button', { name: 'Send another code' }).click());
        await page.getByText('Another code is on its way.').waitFor();
        await page.getByLabel('Code from the e-mail').fill(another);
        await page.getByRole('heading', { name: 'Your door is not connected yet' }).waitFor();
        await closing(page);
    });

    it('ends an open timer, and says what happens then', async () => {
        const person = await owner(client);
        await grant(person, { type: 'passcode', label: 'Anna & Tom', access_code: '4711' });
        await grant(person, { type: 'timer', label: 'Dog walker', expires_in_minutes: 60, remaining_uses: 3 });
        const page = await browser.page(url);
        await signIn(page, person.email);
        await page.getByText('3 uses left').waitFor();
        await page.getByText('After that: 1 code').waitFor();
        await page.getByText(`${written(person.phone).slice(0, -8).trim()} ··· ${person.phone.slice(-4)}`).waitFor();
        await page.getByRole('button', { name: 'End Dog walker now' }).click();
        await page.getByRole('heading', { name: 'A code opens the door' }).waitFor();
        await page.getByText('Dog walker has ended').waitFor();
        await closing(page);
    });

    it('says only the last that happened to the same timer', async () => {
        const person = await resident(client);
        await grant(person, { type: 'timer', label: 'Plumber', expires_in_minutes: 60 });
        const page = await browser.page(url);
        await signIn(page, person.email);
        await page.goto(`${w.daemon.https}/access`);
        await page.locator('.grants .about').click();
        await page.getByRole('button', { name: 'More time' }).click();
        await page.getByRole('button', { name: '1 hr more' }).click();
        await page.locator('.toast').getByText('It has more time').waitFor();
        await page.getByRole('button', { name: 'End Plumber now' }).click();
        await page.getByText('Plumber has ended').waitFor();
        assert.equal(await page.locator('.toast').count(), 1);
        await closing(page);
    });

    it('counts many codes, and names three', async () => {
        const person = await resident(client);
        for (const label of ['Ana', 'Ben', 'Cleo', 'Dan', 'Eve']) await grant(person, { type: 'passcode', label });
        const page = await browser.page(url);
        await signIn(page, person.email);
        const rung = page.locator('.rung', { hasText: '5 codes' });
        assert.equal(await rung.locator('.small').innerText(), 'Eve, Dan, Cleo and 2 more');
        for (let i = 0; i < 46; i++) await grant(person, { type: 'passcode', label: `Guest ${i}` });
        await page.reload();
        await page.locator('.rung', { hasText: '50 codes or more' }).waitFor();
        await closing(page);
    });

    it('closes a sheet by Back, and asks before typed text is lost', async () => {
        const person = await resident(client);
        const page = await browser.page(url);
        await signIn(page, person.email);
        await page.goto(`${w.daemon.https}/access`);
        await page.goto(url);
        const sheet = page.getByRole('dialog', { name: 'Let someone in' });
        const question = page.getByRole('dialog', { name: 'Discard what you typed?' });
        const length = await page.evaluate(() => history.length);
        const open = () => page.getByRole('button', { name: 'Let the next visitor in' }).click();
        const back = () => page.evaluate(() => history.back());
        await open();
        await back();
        await sheet.waitFor({ state: 'detached' });
        for (const lose of [back, () => page.keyboard.press('Escape'), () => page.mouse.click(5, 5)]) {
            await open();
            await sheet.getByLabel('Name').fill('Plumber');
            await lose();
            await question.getByRole('button', { name: 'Cancel' }).click();
            await question.waitFor({ state: 'detached' });
            assert.equal(await sheet.getByLabel('Name').inputValue(), 'Plumber');
            await lose();
            await question.getByRole('button', { name: 'Discard' }).click();
            await sheet.waitFor({ state: 'detached' });
        }
        await eventually(() => page.evaluate(() => history.state === null), 'the entry of the sheet is gone');
        assert.ok(await page.evaluate(() => history.length) <= length + 1);
        await page.goBack();
        await page.waitForURL(`${w.daemon.https}/access`);
        await closing(page);
    });

    it('leads to the letter to the manager, until it is printed', async () => {
        const person = await resident(client, { tone: '9' });
        const page = await browser.page(url);
        await signIn(page, person.email);
        await page.getByRole('button', { name: 'See the letter' }).click();
        await page.getByRole('heading', { name: 'Letter to the manager' }).waitFor();
        await page.getByText('Give this door an address and a name on the call box').waitFor();
        await page.evaluate(() => { window.print = () => {}; });
        await page.getByRole('button', { name: 'Print' }).click();
        await page.goto(url);
        await page.locator('.steps .done', { hasText: 'Letter to the manager' }).waitFor();
        await closing(page);
    });

    it('has no scroll bar on a short page, and leaves room for it at a large zoom', async () => {
        const person = await resident(client);
        const page = await browser.page(url);
        await signIn(page, person.email);
        await page.setViewportSize({ width: 1280, height: 800 });
        await page.goto(`${w.daemon.https}/buildings`);
        await page.locator('#page > *').first().waitFor();
        assert.equal(await page.evaluate(() => document.documentElement.scrollHeight), 800);
        assert.equal(await page.evaluate(() => Math.round(document.querySelector('body > footer').getBoundingClientRect().bottom)), 800);
        await page.setViewportSize({ width: 320, height: 200 }); // 1280 by 800 at 400 %
        assert.equal(await page.locator('.tabs').evaluate((tabs) => getComputedStyle(tabs).position), 'static');
        await checkFits(page);
        await closing(page);
    });

    it('shows text of twice the size whole, next to no other', async () => {
        const person = await resident(client);
        await visit(client, { to: person.number, digits: '9999', resident: 'busy' });
        await grant(person, { type: 'passcode', label: 'Anna & Tom', access_code: '4711' });
        await grant(person, { type: 'timer', label: 'Dog walker', expires_in_minutes: 60 });
        const page = await openSigned(browser, w, person, '/', { locale: 'fr-FR', viewport: { width: 390, height: 600 } }); // its words are the longest; the height as text of that size has it
        const look = async (name) => {
            for (const size of ['150%', '200%']) {
                await page.evaluate((size) => { document.documentElement.style.fontSize = size; }, size);
                await picture(page, `text-${size.slice(0, 3)}${name}`);
                await checkText(page);
                await checkFits(page);
            }
            await page.evaluate(() => { document.documentElement.style.fontSize = ''; });
        };
        const DIALOGS = { '/access': ['.act', '.about', '.sharing'], '/activity': ['.why'], '/building': ['[aria-labelledby=people] .actions button'], '/agents': ['.primary'], '/webhooks': ['.primary'] };
        for (const path of ['/', '/access', '/activity', '/building', '/buildings', '/agents', '/webhooks', '/account', '/notices', '/billing']) {
            for (const [i, button] of ['', ...DIALOGS[path] ?? []].entries()) {
                await page.goto(`${w.daemon.https}${path}`);
                await page.locator('#page > *').first().waitFor();
                if (button) {
                    await page.locator(`main ${button}`).first().click();
                    await page.locator('dialog[open]').waitFor();
                }
                await look(`${path.replace('/', '-')}-${i}`);
            }
        }
        await page.context().close();
    });

    it('lets the next visitor in, with the keyboard alone', async () => {
        const person = await resident(client);
        const page = await browser.page(url);
        await signIn(page, person.email);
        await page.getByRole('button', { name: 'Let the next visitor in' }).focus();
        await page.keyboard.press('Enter');
        await page.getByRole('dialog', { name: 'Let someone in' }).getByText('For Guest, the door opens to anyone').waitFor();
        await checkAccessible(page);
        await picture(page, 'home-next');
        await page.getByLabel('Name', { exact: true }).fill('Plumber');
        await page.keyboard.press('Enter');
        await page.getByRole('dialog', { name: 'Share: Plumber' }).getByText('To get into').waitFor();
        await page.keyboard.press('Escape');
        await page.getByRole('heading', { name: 'The next caller gets in' }).waitFor();
        await page.getByText('1 use left').waitFor();
        await visit(client, { to: person.number });
        await page.reload();
        await page.getByText('Opened by the timer “Plumber”').waitFor();
        assert.match(await page.getByRole('link', { name: /^Why\? Opened by the timer “Plumber”/ }).getAttribute('href'), /^\/activity\?call=[0-9a-f]{24}$/);
        await closing(page);
    });

    it('makes a code, shows it in large figures, and hides it among the others', async () => {
        const person = await resident(client);
        const page = await browser.page(url);
        await signIn(page, person.email);
        await page.locator('.acts').getByRole('button', { name: 'Make a code' }).click();
        await page.getByLabel('Name', { exact: true }).fill('Anna');
        await page.getByRole('button', { name: 'Create' }).click();
        await page.getByRole('dialog', { name: 'Share: Anna' }).waitFor();
        const shown = await page.locator('.large-code').innerText();
        assert.match(shown, /^\d{4}$/);
        await checkAccessible(page);
        await picture(page, 'home-code');
        await page.keyboard.press('Escape');
        await page.getByRole('button', { name: 'Show the code of Anna' }).click();
        await page.getByRole('button', { name: `${shown}, the code of Anna. Hide it` }).waitFor();
        await closing(page);
    });

    // SITE-6
    it('leads from nothing to a door that opened, and the person says so', async () => {
        const email = freshEmail();
        const page = await browser.page(url);
        await signIn(page, email);
        await page.getByRole('button', { name: 'Choose a plan' }).click();
        await page.getByRole('dialog', { name: 'Choose a plan' }).waitFor();
        await checkAccessible(page);
        await picture(page, 'home-plan');
        await page.locator('form').filter({ hasText: 'Yearly' }).getByRole('button').click();
        await page.getByRole('button', { name: 'Pay' }).click();
        await page.waitForURL(/account\?checkout=success/);
        const ready = async () => {
            await page.goto(url);
            await isHome(page);
            return page.getByText('Your number: ').isVisible();
        };
        await eventually(ready, 'a number');
        const number = /\+[\d ()-]+/.exec(await page.getByText('Your number: ').innerText())[0].replace(/[^+\d]/g, '');
        await page.getByRole('button', { name: 'Set the key' }).click();
        await page.getByRole('textbox', { name: 'Key' }).fill('9');
        await page.keyboard.press('Enter');
        await page.getByText('Release key: 9').waitFor();
        assert.equal(await page.evaluate(async () => (await (await fetch('/app/v1/buildings')).json()).data[0].timezone), 'UTC');
        await page.getByRole('button', { name: 'Add your phone' }).click();
        await page.getByLabel('Telephone number').fill('12');
        await page.keyboard.press('Enter');
        await page.getByText('This is not a telephone number').waitFor();
        assert.ok(browser.takeComplaints().every((line) => /status of 400/.test(line)));
        const phone = `+1${randomInt(2_000_000_000, 10_000_000_000)}`;
        await page.getByLabel('Telephone number').fill(phone);
        await page.keyboard.press('Enter');
        await page.getByText(`We sent a code to ${written(phone)}.`).waitFor();
        await checkAccessible(page);
        await page.getByLabel('Code', { exact: true }).fill((await message(client, phone, 'sms')).code);
        await page.getByText('Your phone is verified').waitFor();
        await page.locator('.acts').getByRole('button', { name: 'Let the next visitor in' }).click();
        await page.getByRole('button', { name: 'Create' }).click();
        await page.getByRole('heading', { name: 'Share: Guest' }).waitFor();
        await page.keyboard.press('Escape');
        await page.getByRole('heading', { name: 'The next caller gets in' }).waitFor();
        await visit(client, { to: number });
        await page.reload();
        await page.getByText('6 of 7').waitFor();
        await picture(page, 'home-last-step');
        await page.getByRole('button', { name: 'It opened' }).click();
        await page.getByRole('region', { name: 'Set up your door' }).waitFor({ state: 'detached' });
        await page.reload();
        await page.getByRole('heading', { name: 'Last visits' }).waitFor();
        assert.equal(await page.getByText('Set up your door').count(), 0);
        await picture(page, 'home-ready');
        await closing(page);
    });

    it('keeps what was typed when the session ends in the middle of a form', async () => {
        const person = await resident(client);
        const page = await browser.page(url);
        await signIn(page, person.email);
        await page.locator('.acts').getByRole('button', { name: 'Make a code' }).click();
        await page.getByLabel('Name', { exact: true }).fill('Anna & Tom');
        await page.context().addCookies([{ ...(await cookieOf(page)), value: 'x'.repeat(43) }]);
        await page.getByRole('button', { name: 'Create' }).click();
        const again = page.getByRole('dialog', { name: 'Sign in again' });
        await again.waitFor();
        await checkAccessible(page);
        await picture(page, 'session-ended');
        const code = await codeAfter(person.email, async () => {
            await again.getByRole('button', { name: `Send a code to ${person.email}` }).click();
            await again.getByLabel('Code from the e-mail').waitFor();
        });
        await again.getByLabel('Code from the e-mail').fill(code);
        await page.getByRole('dialog', { name: 'Share: Anna & Tom' }).waitFor();
        assert.ok(browser.takeComplaints().every((line) => /status of 401/.test(line)));
        const { data } = ok(await person.client.get('/v1/unlock'));
        assert.deepEqual(data.map((one) => one.label), ['Anna & Tom']);
        await closing(page);
    });

    // SITE-4
    it('switches between buildings, and remembers which', async () => {
        const person = await owner(client);
        await added(person);
        const page = await browser.page(url);
        await signIn(page, person.email);
        await page.locator('#where summary').click();
        await picture(page, 'home-buildings');
        await checkAccessible(page);
        await page.getByRole('button', { name: 'Cabin' }).click();
        await page.locator('#place').filter({ hasText: 'Cabin' }).waitFor();
        await page.goto(`${url}access`);
        await page.locator('#place').filter({ hasText: 'Cabin' }).waitFor();
        await closing(page);
    });

    // SITE-2
    it('asks for a page without a session to sign in, and then shows that page', async () => {
        const person = await resident(client);
        const page = await browser.page(`${url}billing`);
        await isSignedOut(page);
        await signIn(page, person.email, { arrived: () => page.locator('.app.billing').waitFor() });
        assert.equal(new URL(page.url()).pathname, '/billing');
        assert.equal(await page.getByRole('link', { name: 'Billing', includeHidden: true }).getAttribute('aria-current'), 'page');
        await closing(page);
    });

    it('remembers a browser that asks for it', async () => {
        const person = await resident(client);
        const page = await browser.page(url);
        await signIn(page, person.email, { remember: true });
        assert.ok((await cookieOf(page)).expires > Date.now() / 1000 + 29 * 86_400);
        await closing(page);
        // Its worker is refused with the test's certificate, which Chromium tells of; the page works without.
        assert.ok(browser.takeComplaints().every((line) => /fetching the script/.test(line)));
    });

    it('says who opens the door: an open timer before codes, and codes before the phone', async () => {
        const person = await resident(client);
        await grant(person, { type: 'passcode', label: 'Anna & Tom', access_code: '4711' });
        const page = await browser.page(url);
        await signIn(page, person.email);
        await page.getByRole('heading', { name: 'A code opens the door' }).waitFor();
        await page.locator('.rungs').getByText('Anna & Tom').waitFor();
        await grant(person, { type: 'timer', label: 'Dog walker', expires_in_minutes: 60 });
        await page.reload();
        await page.getByRole('heading', { name: 'The next caller gets in' }).waitFor();
        const [open, code, phone] = await page.locator('.rung b').allInnerTexts();
        assert.deepEqual([open, phone], ['Dog walker', 'No phone yet']);
        assert.match(code, /^From .*\d: 1 code$/);
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
        for (const [locale, title] of [['es-MX', 'Entre en su puerta'], ['fr-CA', 'Connectez-vous à votre porte'], ['de-DE', 'Sign in to your door']]) {
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
        assert.ok(asked.every((one) => !one.includes('/v1/') || /\/v1\/buildings\/[0-9a-f]{24}\/events\?/.test(one)), asked.join('\n')); // the stream of what happens next
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
