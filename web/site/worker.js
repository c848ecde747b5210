// The website's service worker, which the browser keeps while no page is open: shows notices that the service pushes, and
// opens the website at the door behind one; keeps the last that a remembered browser saw of some pages (lib/keep.js), and
// shows it when the service cannot be reached. While it can, every page comes from the service. Pages never need this worker.
import { isKept, keep, keptOf } from './lib/keep.js';

const worker = /** @type {any} */ (self);

worker.addEventListener('install', () => worker.skipWaiting());
worker.addEventListener('activate', (/** @type {any} */ event) => event.waitUntil(worker.clients.claim()));

/** The message has the form of declarative Web Push: see src/domain/push.c. A newer one replaces the notice of its tag. A ring
 *  stays until somebody has seen it. No button of a notice opens the door, since locked telephones show them. */
worker.addEventListener('push', (/** @type {any} */ event) => {
    const { notification: { title, body, lang, tag, timestamp }, notice, building_id: building } = event.data.json();
    event.waitUntil(worker.registration.showNotification(title, {
        body, lang, tag, timestamp, renotify: true, requireInteraction: notice === 'ring', data: { building },
        icon: '/icon-192.png', badge: '/badge.png', vibrate: notice === 'ring' ? [220, 120, 320, 600, 220, 120, 320] : undefined,
    }));
});

/** Brings a page to the front, which goes to that door; opens one if there is none. A message names no address.
 *  @param {string} [building] */
async function open(building) {
    const known = /^[0-9a-f]{24}$/.test(building ?? '');
    const pages = await worker.clients.matchAll({ type: 'window', includeUncontrolled: true });
    const page = pages.find((/** @type {any} */ one) => one.visibilityState === 'visible') ?? pages[0];
    if (!page) return worker.clients.openWindow(known ? `/?building=${building}` : '/');
    if (known) page.postMessage({ building });
    return page.focus();
}
worker.addEventListener('notificationclick', (/** @type {any} */ event) => {
    event.notification.close();
    event.waitUntil(open(event.notification.data?.building));
});

/** @param {string} path @param {object} [body] */
async function call(path, body) {
    const answer = await fetch(`/app/v1/buildings${path}`, body && { method: 'PUT', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
    return answer.ok ? answer.json() : {};
}

/** The browser has a new subscription, or lost its own. The service replaces the subscription of all doors of this browser at once.
 *  @param {any} event */
async function renew({ newSubscription, oldSubscription }) {
    for (const { id } of (await call('')).data ?? []) {
        const { browsers = [], application_server_key: key } = await call(`/${id}/notices`);
        const mine = browsers.find((/** @type {any} */ one) => one.current);
        if (!mine) continue;
        const options = oldSubscription?.options ?? { userVisibleOnly: true, applicationServerKey: key };
        const { endpoint, keys } = (newSubscription ?? await worker.registration.pushManager.subscribe(options)).toJSON();
        await call(`/${id}/notices/push`, { endpoint, p256dh: keys.p256dh, auth: keys.auth, notices: mine.notices });
        return;
    }
}
worker.addEventListener('pushsubscriptionchange', (/** @type {any} */ event) => event.waitUntil(renew(event)));

/** From the service; if that cannot be reached, as it was seen last. @param {any} event @param {URL} url */
async function page({ request, waitUntil }, url) {
    try {
        const answer = await fetch(request);
        waitUntil(keep(url, answer.clone()));
        return answer;
    } catch (error) {
        const kept = request.mode === 'navigate' ? await keptOf(url) : undefined;
        if (!kept) throw error;
        return kept;
    }
}
/** @param {Request} request @param {URL} url */
async function asset(request, url) {
    try {
        return await fetch(request);
    } catch (error) {
        const kept = await keptOf(url);
        if (!kept) throw error;
        return kept;
    }
}
worker.addEventListener('fetch', (/** @type {any} */ event) => {
    const { request } = event;
    const url = new URL(request.url);
    if (request.method !== 'GET' || url.origin !== worker.location.origin) return;
    if (isKept(url)) event.respondWith(page({ request, waitUntil: event.waitUntil.bind(event) }, url));
    else if (url.pathname.startsWith('/a/')) event.respondWith(asset(request, url));
});

/** A page that was there before the worker asks to be kept. */
worker.addEventListener('message', (/** @type {any} */ event) => {
    const url = new URL(event.source.url);
    if (event.data === 'keep' && isKept(url)) event.waitUntil(fetch(url, { headers: { Accept: 'text/html' } }).then((answer) => keep(url, answer)).catch(() => {}));
});
