// A browser for the pages: Debian's chromium-headless-shell, which trusts the test daemon's certificate. It is Chromium without
// windows: a page costs a fifth of the processor's time there. It has no microphone and shows no notifications: pages that
// need these take Chromium itself.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { chromium } from 'playwright-core';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

// Arguments for calls: a microphone that beeps each second, and a page that plays. Without the last two, the browser would look
// for itself by multicast, and not use loopback.
export const SOUND = ['--use-fake-device-for-media-stream', '--autoplay-policy=no-user-gesture-required', '--disable-features=WebRtcHideLocalIpsWithMdns', '--allow-loopback-in-peer-connection'];

export class Browser {
    /** more: further arguments of the program. Each file has a browser to itself: one for all would save 0.1 s a file. */
    static start(more = []) {
        return Browser.#launch(process.env.CHROMIUM_SHELL ?? '/usr/bin/chromium-headless-shell', more);
    }

    /** Chromium itself. */
    static startWhole(more = []) {
        return Browser.#launch(process.env.CHROMIUM ?? '/usr/bin/chromium', more);
    }

    static async #launch(executablePath, more) {
        // The renderer's sandbox needs a user namespace, which root does not have.
        const args = [...more, ...(process.getuid() === 0 ? ['--no-sandbox'] : [])];
        return new Browser(await chromium.launch({ executablePath, args, timeout: 120_000 }));
    }

    constructor(browser) {
        this.browser = browser;
        this.complaints = [];
    }

    /** A page in a new profile, as wide as a phone: options as playwright's, e.g. {colorScheme: 'dark', viewport}; prepare(context) before the page. */
    async page(url, { prepare, ...options } = {}) {
        const context = await this.browser.newContext({ ignoreHTTPSErrors: true, locale: 'en-GB', timezoneId: 'UTC', viewport: { width: 390, height: 844 }, ...options });
        await prepare?.(context);
        const page = await context.newPage();
        page.setDefaultTimeout(60_000);
        page.on('console', (line) => { if (['error', 'warning'].includes(line.type())) this.complaints.push(line.text()); });
        page.on('pageerror', (error) => this.complaints.push(String(error)));
        await page.goto(url);
        return page;
    }

    /** The browser's complaints since the last call: errors of scripts, requests that failed, broken policies. */
    takeComplaints() {
        return this.complaints.splice(0);
    }

    close() {
        return this.browser.close();
    }
}

/** Fails where the page breaks a rule of WCAG 2.2 AA that a program can check: names, contrast, structure. */
export async function checkAccessible(page, rules = {}) {
    if (await page.evaluate(() => !globalThis.axe)) await page.evaluate(axe);
    // Without resultTypes, most of the time goes into descriptions of elements that break no rule.
    const options = { rules, runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'], resultTypes: ['violations'], preload: false };
    const violations = await page.evaluate(async (options) => (await globalThis.axe.run(document, options)).violations, options);
    assert.deepEqual(violations.map((v) => `${v.id}: ${v.nodes.map((node) => node.html).join(' ')}`), []);
}

/** Fails where the page is wider than its window, or lacks a drawing. */
export async function checkFits(page) {
    const { content, room, wide } = await page.evaluate(() => {
        const { scrollWidth: content, clientWidth: room } = document.documentElement;
        const wide = content <= room ? [] : [...document.querySelectorAll('body *')].filter((one) => one.getBoundingClientRect().right > room);
        return { content, room, wide: wide.map((one) => one.outerHTML.slice(0, 120)) };
    });
    assert.ok(content <= room, `${content} px of content in ${room} px: ${wide}`);
    const lacking = await page.evaluate(() => [...document.querySelectorAll('use')].map((use) => use.getAttribute('href')).filter((href) => !document.querySelector(href)));
    assert.deepEqual(lacking, [], 'drawings that are not there');
}

/** Fails where a text is cut off by the window, lies on another one or has no room for three letters in a line. A part
 *  that scrolls by itself, and a name that has made room (.brand), may be out of sight. */
export async function checkText(page) {
    const found = await page.evaluate(() => {
        const walker = document.createTreeWalker(document.querySelector('dialog[open]') ?? document.body, NodeFilter.SHOW_TEXT);
        const texts = [];
        while (walker.nextNode()) {
            const { currentNode: node, currentNode: { data, parentElement: element } } = walker;
            if (!data.trim() || !element.checkVisibility({ visibilityProperty: true }) || element.closest('.filter, .brand, .visually-hidden, .skip, select, svg')) continue;
            const range = document.createRange();
            range.selectNode(node);
            const lines = [...range.getClientRects()];
            const size = parseFloat(getComputedStyle(element).fontSize);
            texts.push({ text: data.trim(), lines, letters: data.trim().length, size, isFixed: Boolean(element.closest('.tabs')) });
        }
        const meet = (one, other) => one.left < other.right - 1 && other.left < one.right - 1 && one.top < other.bottom - 0.3 * (one.bottom - one.top) && other.top < one.bottom - 0.3 * (one.bottom - one.top);
        const room = document.documentElement.clientWidth;
        return texts.flatMap(({ text, lines, letters, size, isFixed }, i) => [
            lines.some(({ left, right }) => left < -0.5 || right > room + 0.5) && `cut off: ${text}`,
            lines.length > 1 && lines.length > letters / 3 && Math.max(...lines.map(({ width }) => width)) < 1.5 * size && `in letters: ${text}`,
            ...texts.slice(i + 1).filter((other) => other.isFixed === isFixed && lines.some((line) => other.lines.some((one) => meet(line, one)))).map((other) => `on each other: ${text}, ${other.text}`),
        ]).filter(Boolean);
    });
    assert.deepEqual(found, []);
}

/** Looks at the page as somebody who has chosen colours for everything. Contrast is the person's own, and axe reads the
 *  colours of the style sheet there; but no text may stand on a picture, which stays. */
export async function checkForcedColours(page) {
    await page.emulateMedia({ forcedColors: 'active' });
    await checkAccessible(page, { 'color-contrast': { enabled: false } });
    await checkFits(page);
    const pictures = await page.evaluate(() => [...document.querySelectorAll('body *')]
        .filter((element) => element.checkVisibility() && element.innerText && getComputedStyle(element).backgroundImage.includes('gradient')).map((element) => element.outerHTML.slice(0, 120)));
    assert.deepEqual(pictures, []);
    await page.emulateMedia({ forcedColors: 'none' });
}
