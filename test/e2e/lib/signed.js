// Pages of people who are signed in: opened in a browser with a cookie, looked at in every size and light.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, afterEach, before } from 'node:test';
import { Browser, checkAccessible, checkFits, checkForcedColours } from './browser.js';
import { COOKIE, signInBrowser } from './site.js';

export const SIGHTS = ['light', 'dark'].flatMap((colorScheme) => [320, 390, 1280].map((width) => ({ colorScheme, viewport: { width, height: 800 } })));
export const nameOf = ({ viewport, colorScheme }) => `${viewport.width}-${colorScheme}`;
/** Ends the page's data, and would run if it were taken as HTML. */
export const HOSTILE = '</script><img src=x onerror=alert(1)>"&amp;{{lang}}<!--';

/** A browser for the tests of a describe block. A test fails if the browser complained and the test did not ask about it.
 *  PORTERO_E2E_PICTURES=directory keeps screenshots. */
export function useBrowser(w) {
    const b = {
        browser: undefined,
        /** Opens a page as this person: {email}. */
        async open(path, person, options = {}) {
            const { cookie } = await signInBrowser(w.client, { email: person.email });
            const page = await b.browser.page('about:blank', options);
            await page.context().addCookies([{ name: COOKIE, value: cookie, url: w.daemon.https, secure: true, httpOnly: true, sameSite: 'Lax' }]);
            await page.goto(`${w.daemon.https}${path}`);
            return page;
        },
        close: (page) => page.context().close(),
        /** Ends the page's session as time would: another tab's work is not touched. */
        async endSession(page) {
            const [cookie] = (await page.context().cookies()).filter((one) => one.name === COOKIE);
            await page.context().addCookies([{ ...cookie, value: 'x'.repeat(43) }]);
        },
        async picture(page, name) {
            if (process.env.PORTERO_E2E_PICTURES) await page.screenshot({ path: join(process.env.PORTERO_E2E_PICTURES, `${name}.png`), fullPage: true });
        },
        /** No rule of accessibility is broken, nothing is cut off, and fingers hit everything. */
        async look(page, name) {
            await b.picture(page, name);
            await checkAccessible(page);
            await checkFits(page);
            const small = await page.evaluate(() => [...document.querySelectorAll('button, summary, .button, .tabs a, .links a, .ways a, .check, input:not([type="checkbox"]), select')]
                .filter((element) => element.checkVisibility() && element.getBoundingClientRect().height < 44).map((element) => element.outerHTML));
            assert.deepEqual(small, []);
            await page.emulateMedia({ forcedColors: 'active' });
            if (page.viewportSize().width === 390) await b.picture(page, `${name}-forced`);
            await checkForcedColours(page);
        },
        /** The browser tells of answers that are errors; there were such, and nothing else. */
        expect(status) {
            const complaints = b.browser.takeComplaints();
            assert.ok(complaints.length > 0 && complaints.every((line) => line.includes(`status of ${status}`)), complaints.join('\n'));
        },
    };
    before(async () => { b.browser = await Browser.start(); });
    after(() => b.browser?.close());
    afterEach(() => assert.deepEqual(b.browser.takeComplaints(), []));
    return b;
}
