// The website in a browser: what residents see.
// engine: sqlite, because these pages read nothing of the store
import { after, before, describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { refused } from './lib/client.js';
import { COOKIE, signInBrowser } from './lib/site.js';
import { resident, UNKNOWN_ID, useWorld } from './lib/world.js';
import { Browser, checkAccessible, checkFits } from './lib/browser.js';

const SIGHTS = ['light', 'dark'].flatMap((colorScheme) => [320, 390, 1280].map((width) => ({ colorScheme, viewport: { width, height: 800 } })));
const MISSING = { en: /This page does not exist/, es: /Esta página no existe/, fr: /Cette page n’existe pas/ };

/** PORTERO_E2E_PICTURES=directory keeps screenshots. */
async function picture(page, name) {
    if (process.env.PORTERO_E2E_PICTURES) await page.screenshot({ path: join(process.env.PORTERO_E2E_PICTURES, `${name}.png`), fullPage: true });
}

describe('a page that cannot be shown', () => {
    const w = useWorld({ config: { limits: { requests_active: 10 } } });
    let browser;
    before(async () => { browser = await Browser.start(); });
    after(() => browser?.close());

    const url = (path) => `https://127.0.0.1:${w.daemon.httpsPort}${path}`;

    it('is a page for a browser, in its language, and leads to the start', async () => {
        for (const [language, title] of Object.entries(MISSING)) {
            const page = await browser.page(url('/no/such/page'), { locale: `${language}-CA` });
            await page.getByRole('heading', { name: title }).waitFor();
            assert.equal(await page.locator('html').getAttribute('lang'), language);
            assert.match(await page.locator('main code').textContent(), /^req_[0-9a-f]{24}$/);
            await checkAccessible(page);
            do await page.keyboard.press('Tab');
            while (!await page.evaluate(() => document.activeElement.classList.contains('primary')));
            await Promise.all([page.waitForURL(url('/')), page.keyboard.press('Enter')]);
            await page.context().close();
        }
        assert.deepEqual(browser.takeComplaints().filter((line) => !/status of 404/.test(line)), []);
    });

    it('says in the browser\'s language that it belongs to somebody else, or that there were too many', async () => {
        const person = await resident(w.client), { cookie } = await signInBrowser(w.client, { email: person.email });
        const open = (path, language, headers = {}) => w.client.as(undefined).get(path, { check: false, headers: { accept: 'text/html', 'accept-language': language, cookie: `${COOKIE}=${cookie}`, ...headers } });
        const told = (answer, status, language, text) => {
            assert.deepEqual([answer.status, answer.headers['content-type'], answer.headers['cache-control']], [status, 'text/html; charset=utf-8', 'no-store']);
            assert.match(answer.text, new RegExp(`<html lang="${language}">[^]*${text}`));
            assert.ok(answer.text.includes(answer.headers['x-request-id']) && !answer.text.includes(person.email), answer.text);
        };
        told(await open(`/?building=${UNKNOWN_ID}`, 'es'), 404, 'es', 'Esta página no existe');
        told(await open('/access?building=x', 'fr'), 400, 'fr', 'ne peut pas vous être montrée');
        let last;
        for (let i = 0; i < 200 && last?.status !== 429; i++) last = await open('/billing', 'en');
        told(last, 429, 'en', 'One moment, please');
        assert.ok(last.headers['retry-after']);
        refused(await open('/billing', 'en', { accept: 'application/json' }), 429, 'RATE_LIMIT_EXCEEDED');
    });

    for (const sight of SIGHTS) {
        const name = `missing-${sight.viewport.width}-${sight.colorScheme}`;
        it(`is accessible and fits: ${name}`, async () => {
            const page = await browser.page(url('/nothing'), sight);
            await picture(page, name);
            await checkAccessible(page);
            await checkFits(page);
            await page.context().close();
        });
    }
});
