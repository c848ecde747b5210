// The website's service worker, which the browser keeps while no page is open: shows notices that the service pushes, and
// opens the website behind one. It stores nothing, and pages never need it.

const worker = /** @type {any} */ (self);

worker.addEventListener('install', () => worker.skipWaiting());
worker.addEventListener('activate', (/** @type {any} */ event) => event.waitUntil(worker.clients.claim()));

/** The message has the form of declarative Web Push: see src/domain/push.c. A newer one replaces that of its tag. */
worker.addEventListener('push', (/** @type {any} */ event) => {
    const { title, body, lang, tag, timestamp } = event.data.json().notification;
    event.waitUntil(worker.registration.showNotification(title, { body, lang, tag, timestamp, renotify: true, icon: '/icon.svg', badge: '/icon.svg' }));
});

/** An open page is brought to the front; a message names no address that would be opened. */
async function open() {
    const [page] = await worker.clients.matchAll({ type: 'window', includeUncontrolled: true });
    if (page) await page.focus();
    else await worker.clients.openWindow('/');
}
worker.addEventListener('notificationclick', (/** @type {any} */ event) => {
    event.notification.close();
    event.waitUntil(open());
});
