// What all pages of signed-in people do: the building switch, the account's menu, signing in again and signing out.
import { CallError, call, whenSignedOut } from './call.js';
import { building, data, has } from './data.js';
import { toast } from './dialog.js';
import { attend } from './doorbell.js';
import { forget, keepFor, keptFor } from './keep.js';
import './offline.js';
import { signInAgain } from './session.js';
import { errorText, t } from './texts.js';
import { h, icon, patch } from './view.js';

export { building, data, has };

/** The element of that ID, which the page has. @template {HTMLElement} T @param {string} id @returns {T} */
export const at = (id) => /** @type {T} */ (document.getElementById(id));

/** Tells a failed call in a message. Other errors are passed on. @param {unknown} error */
export function tellError(error) {
    if (!(error instanceof CallError)) throw error;
    toast(errorText(error.code));
}

/** The codes of a page's errors, which are pages. @type {Record<number, string>} */
const STATUSES = { 429: 'RATE_LIMIT_EXCEEDED', 503: 'SERVICE_UNAVAILABLE' };

/** Reads the page's data again, with one request and at one moment: true unless the person does not sign in again. */
export async function refresh() {
    if (data.page.kept) return false;
    const answer = await fetch(location.href, { headers: { Accept: 'text/html' }, signal: AbortSignal.timeout(30_000) })
        .catch(() => { throw new CallError(0, 'offline'); });
    if (!answer.ok) throw new CallError(answer.status, STATUSES[answer.status] ?? 'other');
    const found = /<script type="application\/json" id="data">([^<]*)<\/script>/.exec(await answer.text());
    if (found) {
        Object.assign(data, JSON.parse(found[1]));
        drawPlaces();
    } else if (await signInAgain()) return refresh();
    return Boolean(found);
}

// ---- the building ----

/** Remembers the choice for all pages (src/api/cookie.h), and shows this page for it, or another. @param {string} id @param {string} [path] */
export function choose(id, path = location.pathname) {
    document.cookie = `__Host-building=${id}; Path=/; Secure; SameSite=Lax; Max-Age=31536000`;
    location.assign(path);
}

/** Signs this browser in to another place of the person. @param {string} path @param {string} [id] the building */
async function enter(path, id) {
    try {
        await call('POST', path);
    } catch (error) {
        tellError(error);
        return;
    }
    const kept = await keptFor();
    if (kept) await keepFor(kept, true); // without the pages of the place before
    if (id) choose(id, '/');
    else location.assign('/');
}

/** The places of the switch in the page's head. */
export function drawPlaces() {
    patch(at('places'), [...data.places.data.map((one) => h('li', { key: `${one.id}-${one.role}` },
        h('button', { class: 'plain', type: 'button', 'aria-current': one.id === building.id && 'true', onclick: () => (one.current ? choose(one.id) : enter(`/v1/places/${one.id}`, one.id)) },
            h('span', null, one.label, one.role !== 'owner' && h('span', { class: 'small quiet' }, ` ${t('page.member')}`)), one.id === building.id && icon('ok')))),
    data.places.can_create && h('li', { key: 'own' }, h('button', { class: 'plain', type: 'button', onclick: () => enter('/v1/places') }, t('page.own_place')))]);
}

at('place').textContent = building.label;
drawPlaces();

// A page that was opened for a building by its address leads to pages of that building.
if (new URLSearchParams(location.search).has('building')) {
    for (const link of /** @type {NodeListOf<HTMLAnchorElement>} */ (document.querySelectorAll('.top a'))) link.search = `?building=${building.id}`;
}

for (const link of /** @type {NodeListOf<HTMLAnchorElement>} */ (document.querySelectorAll('.top a'))) if (!has(link.pathname)) (link.closest('li') ?? link).remove();

// ---- menus ----

/** @type {NodeListOf<HTMLDetailsElement>} */
const menus = document.querySelectorAll('details.menu');
for (const menu of menus) {
    menu.addEventListener('toggle', () => {
        if (menu.open) for (const other of menus) if (other !== menu) other.open = false;
    });
    menu.addEventListener('keydown', (event) => {
        if (event.key !== 'Escape' || !menu.open) return;
        menu.open = false;
        menu.querySelector('summary')?.focus();
    });
    menu.addEventListener('focusout', (event) => {
        if (event.relatedTarget && !menu.contains(/** @type {Node} */ (event.relatedTarget))) menu.open = false;
    });
}
document.addEventListener('click', (event) => {
    for (const menu of menus) if (!menu.contains(/** @type {Node} */ (event.target))) menu.open = false;
});

// ---- the session ----

at('me').textContent = data.account.email;
whenSignedOut(signInAgain);

/** @type {HTMLButtonElement} */
const out = at('out');
out.addEventListener('click', async () => {
    out.disabled = true;
    whenSignedOut(async () => false);
    try {
        await call('DELETE', '/v1/auth/key');
    } catch (error) {
        if (!(error instanceof CallError) || error.status !== 401) {
            out.disabled = false;
            whenSignedOut(signInAgain);
            tellError(error);
            return;
        }
    }
    await forget();
    location.replace('/');
});

// ---- the door ----

attend(refresh);
