// The pages that a browser keeps for when the service cannot be reached, and for whom. Used by pages and by worker.js.
//
// Only a browser that its person asked to remember keeps anything: /remembered, the person's address, is put there at
// sign-in, and nothing is kept without it. Everything goes with the session, and when somebody else signs in.

const CACHE = 'kept';
const WHO = '/remembered';
/** As long as a browser is remembered. */
const KEPT_MS = 30 * 86_400_000;
const PAGES = ['/', '/access', '/activity', '/building'];
const DATA = /(<script type="application\/json" id="data">)([^<]*)(<\/script>)/;
/** No secret is kept: a code opens the door. */
const SECRETS = new Set(['access_code', 'secret', 'token', 'url', 'digits']);

/** A page may lack it, as one without a secure connection does. */
const able = 'caches' in globalThis;

/** Deletes all that is kept. */
export async function forget() {
    if (able) await caches.delete(CACHE).catch(() => false);
}

/** Keeps for this person from now on, who has just signed in, or for nobody. @param {string} email @param {boolean} remembered */
export async function keepFor(email, remembered) {
    await forget();
    if (!able || !remembered) return;
    await caches.open(CACHE).then((cache) => cache.put(WHO, new Response(email.toLowerCase()))).catch(() => {});
}

/** Whose pages are kept. @returns {Promise<string | undefined>} */
export async function keptFor() {
    const found = able ? await caches.match(WHO, { cacheName: CACHE }).catch(() => undefined) : undefined;
    return found?.text();
}

/** @param {URL} url */
export const isKept = (url) => PAGES.includes(url.pathname);

/** @param {Response} answer @param {BodyInit} body */
function copy(answer, body) {
    const headers = new Headers(answer.headers);
    for (const name of ['Content-Encoding', 'Content-Length', 'Vary']) headers.delete(name);
    headers.set('X-Kept', String(Date.now()));
    return new Response(body, { headers });
}

/** The assets that a page names. @param {string} html */
const assetsOf = (html) => [...html.matchAll(/(?:src|href)="(\/a\/[^"]+)"/g)].map((found) => found[1]);

/** Keeps the assets of the pages that are kept, by the names of this version, and no others. @param {Cache} cache */
async function keepAssets(cache) {
    const pages = await Promise.all(PAGES.map((path) => cache.match(path)));
    const wanted = new Set((await Promise.all(pages.map(async (page) => (page ? assetsOf(await page.text()) : [])))).flat());
    for (const { url } of await cache.keys()) {
        const { pathname } = new URL(url);
        if (pathname.startsWith('/a/') && !wanted.delete(pathname)) await cache.delete(url);
    }
    for (const path of wanted) {
        const answer = await fetch(path);
        // Another version's name gets this version's asset, which is not to be kept by that name.
        if (answer.ok && answer.headers.get('Cache-Control')?.includes('immutable')) await cache.put(path, copy(answer, await answer.blob()));
    }
}

/** Keeps what a page showed, without codes. @param {string} path @param {Response} answer */
async function keepPage(path, answer) {
    if (!answer.ok || !answer.headers.get('Content-Type')?.startsWith('text/html')) return;
    const html = await answer.text();
    const found = DATA.exec(html);
    if (!found) return forget(); // the session has ended: this is the page to sign in
    const data = JSON.parse(found[2]);
    const who = await keptFor();
    if (who === undefined) return;
    if (who !== data.account.email.toLowerCase()) return forget();
    Object.assign(data.page, { kept: true, door: [] });
    const json = JSON.stringify(data, (name, value) => (SECRETS.has(name) ? null : value)).replaceAll('<', '\\u003c');
    const cache = await caches.open(CACHE);
    await cache.put(path, copy(answer, html.replace(DATA, (_, before, __, after) => before + json + after)));
    await keepAssets(cache);
    if (await keptFor() !== who) await forget(); // signed out in the meantime
}

/** One after the other, so that none deletes what another has just put. @type {Promise<unknown>} */
let keeping = Promise.resolve();
/** @param {URL} url @param {Response} answer of the page, whose body is used */
export function keep(url, answer) {
    keeping = keeping.then(() => keepPage(url.pathname, answer)).catch(() => {}); // without room, nothing is kept
    return keeping;
}

/** @param {URL} url @returns {Promise<Response | undefined>} what is kept of a page or an asset */
export async function keptOf(url) {
    const found = await caches.match(url.pathname, { cacheName: CACHE });
    if (found && Math.abs(Date.now() - Number(found.headers.get('X-Kept'))) > KEPT_MS) {
        await forget();
        return undefined;
    }
    return found;
}
