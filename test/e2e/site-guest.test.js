// The page of a guest, in a browser, and the share sheet that makes its link.
// engine: sqlite
// PORTERO_E2E_PICTURES=directory keeps screenshots.
import { after, afterEach, before, describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { Browser, checkAccessible, checkFits } from './lib/browser.js';
import { ok } from './lib/client.js';
import { COOKIE, signInBrowser } from './lib/site.js';
import { sql } from './lib/store.js';
import { DAY, edit, eventually, grant, HOUR, iso, now, resident, useWorld } from './lib/world.js';

const SIGHTS = ['light', 'dark'].flatMap((colorScheme) => [320, 390, 1280].map((width) => ({ colorScheme, viewport: { width, height: 844 } })));
const LANGUAGES = [['en-GB', 'How to get in', 'Español'], ['es-MX', 'Cómo entrar', 'Français'], ['fr-CA', 'Comment entrer', 'English']];

describe('the page of a guest', () => {
    const w = useWorld();
    const { client } = w;
    let browser;
    let person;
    before(async () => {
        browser = await Browser.start();
        person = await resident(client);
        const path = `/v1/buildings/${person.building.id}/settings`;
        ok(await person.client.patch(path, { timezone: 'America/Toronto' }, { headers: { 'If-Match': (await person.client.get(path)).headers.etag } }));
    });
    after(() => browser?.close());
    afterEach(() => assert.deepEqual(browser.takeComplaints(), []));

    const picture = async (page, name) => {
        if (process.env.PORTERO_E2E_PICTURES) await page.screenshot({ path: join(process.env.PORTERO_E2E_PICTURES, `guest-${name}.png`), animations: 'disabled', fullPage: true });
    };
    const closing = async (page) => page.context().close();
    const linkOf = async (one, body) => {
        const made = await grant(one, body);
        const link = ok(await one.client.post(`/v1/unlock/${made.id}/link`), 201);
        return { made, link, path: `${w.daemon.https}${new URL(link.url).pathname}` };
    };
    const texts = (page) => page.locator('main').innerText();

    for (const [locale, title, other] of LANGUAGES) {
        // SITE-5
        it(`is in the browser's language, or another, without a script: ${locale}`, async () => {
            const { path, made } = await linkOf(person, { type: 'passcode', expires_in_minutes: 60 });
            const page = await browser.page(path, { locale, javaScriptEnabled: false });
            await page.getByRole('heading', { name: title, exact: true }).waitFor();
            assert.equal(await page.locator('#code').innerText(), made.access_code);
            assert.equal(await page.locator('html').getAttribute('lang'), locale.slice(0, 2));
            assert.deepEqual(await page.context().cookies(), []);
            await page.getByRole('link', { name: other }).click();
            await page.waitForURL(/\?lang=/);
            assert.equal(await page.locator('[aria-current]').innerText(), other);
            assert.equal(await page.locator('#code').innerText(), made.access_code);
            await page.goto(`${w.daemon.https}/g/${'x'.repeat(26)}`);
            await page.locator('.lost').waitFor();
            browser.takeComplaints(); // the browser tells the 404
            await closing(page);
        });
    }

    it('shows texts of residents as texts', async () => {
        const one = await resident(client);
        const evil = '</h1><img src=x onerror=alert(1)>"&amp;{code}{{lang}}<!-- if off -->';
        sql(w.daemon, `UPDATE building SET label = '${evil}' WHERE id = '${one.building.id}';`);
        const { path } = await linkOf(one, { type: 'passcode', label: evil, access_code: '4821' });
        const page = await browser.page(path);
        assert.equal(await page.getByRole('heading', { level: 1 }).innerText(), evil);
        assert.equal(await page.locator('img').count(), 0);
        assert.equal((await texts(page)).split('onerror').length, 2, 'the name of the grant is not there');
        await checkAccessible(page);
        await closing(page);
    });

    for (const sight of SIGHTS) {
        const name = `${sight.viewport.width}-${sight.colorScheme}`;
        it(`is accessible and fits, for each kind of grant: ${name}`, async () => {
            const at = await now(client);
            const one = await resident(client);
            const kinds = {
                code: { type: 'passcode', access_code: '4821', enter_code_with_voice: true, ends_at: iso(at + 3 * DAY) },
                'no-end': { type: 'passcode', access_code: '07' },
                timer: { type: 'timer', ends_at: iso(at + 3 * HOUR) },
                coming: { type: 'timer', starts_at: iso(at + DAY), ends_at: iso(at + DAY + HOUR) },
                routine: { type: 'routine', days: ['monday', 'tuesday', 'wednesday', 'thursday', 'friday'], start: '09:00', end: '12:30', timezone: 'America/Argentina/Buenos_Aires' },
            };
            for (const [kind, body] of Object.entries(kinds)) {
                const { path, made } = await linkOf(one, body);
                const page = await browser.page(path, sight);
                const look = async (what) => {
                    await picture(page, `${what}-${name}`);
                    await checkAccessible(page);
                    await checkFits(page);
                    const small = await page.evaluate(() => [...document.querySelectorAll('main a')].filter((element) => element.getBoundingClientRect().height < 43.9).map((element) => element.outerHTML));
                    assert.deepEqual(small, []);
                };
                await look(kind);
                if (kind === 'code') {
                    for (const lang of ['es', 'fr']) {
                        await page.goto(`${path}?lang=${lang}`);
                        await look(`${kind}-${lang}`);
                    }
                    await page.emulateMedia({ media: 'print' });
                    await picture(page, `print-${name}`);
                    assert.equal(await page.getByRole('navigation').count(), 0);
                    assert.equal(await page.locator('#code').isVisible(), true);
                    await page.emulateMedia({ media: 'screen' });
                    ok(await edit(one, made, { enabled: false }));
                    await page.goto(path);
                    await look('off');
                }
                await closing(page);
            }
        });
    }
});

describe('the share sheet', () => {
    const w = useWorld();
    const { client } = w;
    let browser;
    before(async () => { browser = await Browser.start(); });
    after(() => browser?.close());
    afterEach(() => assert.deepEqual(browser.takeComplaints(), []));

    async function open(person, prepare) {
        const { cookie } = await signInBrowser(client, { email: person.email });
        const page = await browser.page('about:blank', { timezoneId: 'Asia/Tokyo' });
        await page.context().addCookies([{ name: COOKIE, value: cookie, url: w.daemon.https, secure: true, httpOnly: true, sameSite: 'Lax' }]);
        await page.addInitScript(prepare);
        await page.goto(`${w.daemon.https}/access`);
        return page;
    }

    it('makes a link, sends it, keeps it, and ends it', async () => {
        const person = await resident(client);
        const made = await grant(person, { type: 'passcode', label: 'Anna', access_code: '4821', expires_in_minutes: 60 });
        const page = await open(person, () => {
            globalThis.sent = [];
            navigator.share = async (what) => { globalThis.sent.push(what); };
        });
        const share = async () => {
            await page.locator('.grants .about', { hasText: 'Anna' }).click();
            await page.getByRole('button', { name: 'Share', exact: true }).click();
        };
        const state = page.getByRole('switch', { name: 'As a link' });
        const is = (on) => page.locator(`dialog [role=switch][aria-checked=${on}]`).waitFor();
        await share();
        await is(false);
        await page.getByText('enter the code 4821').waitFor();
        await state.click();
        await is(true);
        const link = ok(await person.client.get(`/v1/unlock/${made.id}/link`));
        assert.equal(link.timezone, 'Asia/Tokyo');
        await page.getByText(link.url).waitFor();
        await checkAccessible(page);
        await checkFits(page);
        if (process.env.PORTERO_E2E_PICTURES) await page.screenshot({ path: join(process.env.PORTERO_E2E_PICTURES, 'guest-sheet.png'), animations: 'disabled' });
        await page.getByRole('button', { name: 'Send', exact: true }).click();
        await eventually(() => page.evaluate(() => globalThis.sent.length === 1), 'the link is sent');
        const [sent] = await page.evaluate(() => globalThis.sent);
        assert.equal(sent.url, link.url);
        assert.ok(!JSON.stringify(sent).includes('4821'));
        const [guest] = await Promise.all([page.context().waitForEvent('page'), page.getByRole('link', { name: 'See the page' }).click()]);
        await guest.getByText('4821', { exact: true }).waitFor();
        await guest.getByText('Tokyo time').waitFor();
        await guest.close();
        await page.keyboard.press('Escape');
        await page.locator('dialog').waitFor({ state: 'detached' });
        await share();
        await is(true);
        await state.press('Space');
        await is(false);
        await page.getByText('enter the code 4821').waitFor();
        assert.equal(ok(await person.client.get(`/v1/unlock/${made.id}/link`)).url, null);
        assert.equal((await client.as(undefined).get(new URL(link.url).pathname, { check: false })).status, 404);
        await page.context().close();
    });

    it('copies the link where nothing can send it, and tells an error', async () => {
        const person = await resident(client);
        const made = await grant(person, { type: 'passcode', label: 'Anna', access_code: '4821' });
        const page = await open(person, () => {
            globalThis.copied = [];
            Object.defineProperty(navigator, 'clipboard', { value: { writeText: async (text) => { globalThis.copied.push(text); } } });
        });
        await page.locator('.grants .about', { hasText: 'Anna' }).click();
        let aborted = false, pressed;
        const press = new Promise((done) => { pressed = done; });
        await page.route('**/link', async (route) => {
            if (route.request().method() === 'GET') await press; // the switch is pressed while the sheet still reads
            if (aborted || route.request().method() !== 'POST') return route.continue();
            aborted = true;
            return route.abort();
        });
        await page.getByRole('button', { name: 'Share', exact: true }).click();
        await page.getByRole('switch', { name: 'As a link' }).click();
        pressed();
        await page.getByText('The service does not answer.').waitFor();
        assert.ok(browser.takeComplaints().every((line) => /ERR_FAILED/.test(line)));
        await page.getByRole('switch', { name: 'As a link' }).click();
        await page.locator('dialog [role=switch][aria-checked=true]').waitFor();
        for (const name of ['Send', 'Copy']) await page.getByRole('button', { name, exact: true }).click();
        const { url } = ok(await person.client.get(`/v1/unlock/${made.id}/link`));
        await eventually(() => page.evaluate(() => globalThis.copied.length === 2), 'both copies');
        for (const text of await page.evaluate(() => globalThis.copied)) assert.ok(text.endsWith(`\n${url}`), text);
        await page.context().close();
    });
});
