// A page of the website, opened in Chromium by a resident who is signed in.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { checkAccessible, checkFits, checkForcedColours } from './browser.js';
import { COOKIE, signInBrowser } from './site.js';

export const WIDTHS = [320, 390, 1280];
/** A hostile text of a resident or visitor. */
export const HOSTILE = '</script><img src=x onerror=alert(1)>"&amp;{{lang}}<!--';

/** A number of North America as the pages write it. */
export const written = (number) => number.replace(/^\+1(\d{3})(\d{3})(\d{4})$/, '+1 ($1) $2-$3');

/** Opens a path of the daemon for the person, in a new profile: options as Browser.page's; drawn: is it drawn by its script? */
export async function openSigned(browser, w, person, path, { drawn = true, ...options } = {}) {
    const { cookie } = await signInBrowser(w.client, { email: person.email });
    const page = await browser.page('about:blank', options);
    await page.context().addCookies([{ name: COOKIE, value: cookie, url: w.daemon.https, secure: true, httpOnly: true, sameSite: 'Lax' }]);
    await page.goto(`${w.daemon.https}${path}`);
    if (drawn) await page.locator('#page').locator('> *').first().waitFor();
    return page;
}

/** Keeps a picture of the whole page in the directory of PORTERO_E2E_PICTURES. */
export async function picture(page, name) {
    if (process.env.PORTERO_E2E_PICTURES) await page.screenshot({ path: join(process.env.PORTERO_E2E_PICTURES, `${name}.png`), fullPage: true });
}

/** Fails where something to press is smaller than a fingertip, but for links within a text. */
export async function checkTargets(page) {
    const small = await page.evaluate(() => [...document.querySelectorAll('button, summary, .button, .tabs a, .brand[href], input:not([type=checkbox], [type=radio]), select, textarea, label:has(input)')]
        .filter((element) => element.checkVisibility() && element.getBoundingClientRect().height < 44 && element.getBoundingClientRect().height > 0)
        .map((element) => element.outerHTML.slice(0, 120)));
    assert.deepEqual(small, []);
}

/** Looks at the page in light and dark at each width, and in forced colours: accessible, within its window, with targets for fingers. */
export async function checkSights(page, name) {
    for (const colorScheme of ['light', 'dark']) {
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
        for (const width of WIDTHS) {
            await page.setViewportSize({ width, height: 800 });
            await picture(page, `${name}-${width}-${colorScheme}`);
            await checkAccessible(page);
            await checkFits(page);
            await checkTargets(page);
        }
    }
    await page.setViewportSize({ width: 390, height: 800 });
    await page.emulateMedia({ colorScheme: 'light', forcedColors: 'active' });
    await picture(page, `${name}-390-forced`);
    await checkForcedColours(page);
}
