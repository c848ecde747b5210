// The page of notices, and the worker that shows them. A browser of the test has no push service at its maker's: one of the
// test's own takes its place in PushManager, and its messages reach the worker by the browser's developer protocol.
// PORTERO_E2E_PICTURES=directory keeps screenshots.
// engine: sqlite, because push.test.js has both
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { Browser, checkAccessible, checkFits } from './lib/browser.js';
import { PushService, Subscription } from './lib/push.js';
import { REACHABLE } from './lib/receiver.js';
import { COOKIE, signInBrowser } from './lib/site.js';
import { ok } from './lib/client.js';
import { eventually, resident, useWorld, visit } from './lib/world.js';

const SIGHTS = ['light', 'dark'].flatMap((colorScheme) => [320, 390, 1280].map((width) => ({ colorScheme, viewport: { width, height: 800 } })));

describe('the page of notices', () => {
    const w = useWorld({ config: REACHABLE });
    const { client } = w;
    const service = new PushService();
    let browser;
    let url;
    let owner;
    let signed;
    before(async () => {
        await service.listen();
        // Chromium refuses a worker where the certificate was only let through.
        browser = await Browser.startWhole(['--ignore-certificate-errors']);
        url = `${w.daemon.https}/notices`;
    });
    after(async () => {
        await browser?.close();
        await service.close();
    });
    beforeEach(async () => {
        owner = await resident(client);
        signed = await signInBrowser(client, { email: owner.email, remember: true, headers: { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0' } });
    });
    afterEach(() => assert.deepEqual(browser.takeComplaints(), []));

    /** The page, signed in, of a browser that gets this subscription. */
    function open(subscription, { permissions = ['notifications'], ...options } = {}) {
        return browser.page(url, {
            permissions, ...options,
            async prepare(context) {
                await context.addCookies([{ name: COOKIE, value: signed.cookie, url, secure: true, httpOnly: true, sameSite: 'Lax' }]);
                const { endpoint, ...keys } = subscription.keys;
                await context.addInitScript(({ endpoint: at, keys: all }) => {
                    globalThis.PushManager.prototype.subscribe = async (options) => {
                        globalThis.subscribedWith = options;
                        return { toJSON: () => ({ endpoint: at, keys: all }) };
                    };
                }, { endpoint, keys });
            },
        });
    }
    const here = (page) => page.getByRole('region', { name: 'On this device' });
    const notices = async () => ok(await signed.site.get(`/v1/buildings/${owner.building.id}/notices`));

    // SITE-11
    it('subscribes this browser, whose worker shows a ring, and ends it again', async () => {
        const subscription = new Subscription(service);
        const page = await open(subscription);
        await here(page).getByLabel('Someone calls from the door').check();
        await here(page).getByLabel('The door opened').check();
        await here(page).getByRole('button', { name: 'Save' }).click();
        await here(page).getByRole('button', { name: 'Send a test' }).click();
        assert.deepEqual((await notices()).browsers.map(({ current, notices: wanted }) => [current, wanted]), [[true, ['ring', 'opened']]]);
        await subscription.first('test');
        const key = await page.evaluate(() => [...globalThis.subscribedWith.applicationServerKey]);
        assert.equal(Buffer.from(key).toString('base64url'), (await notices()).application_server_key);

        await visit(client, { to: owner.number });
        const { message } = await subscription.first('ring');
        const shown = await deliver(page, message);
        assert.deepEqual(shown.map(({ title, body, tag }) => [title, body, tag]), [['Someone is at the door', 'Home', `door-${owner.building.id}`]]);
        assert.equal((await deliver(page, message)).length, 1, 'a newer one replaces it');

        await here(page).getByLabel('Someone calls from the door').uncheck();
        await here(page).getByLabel('The door opened').uncheck();
        await here(page).getByRole('button', { name: 'Save' }).click();
        await page.getByText('This device gets no more notices of this door.').waitFor();
        assert.deepEqual((await notices()).browsers, []);
        await page.context().close();
    });

    /** Gives the worker a message, as the browser does with one of its push service: the notifications that are shown then. */
    async function deliver(page, message) {
        const session = await page.context().newCDPSession(page);
        const registrations = new Map();
        session.on('ServiceWorker.workerRegistrationUpdated', (event) => event.registrations.forEach((one) => registrations.set(one.scopeURL, one.registrationId)));
        await session.send('ServiceWorker.enable');
        const registrationId = await eventually(() => registrations.get(`${w.daemon.https}/`), 'the worker');
        await session.send('ServiceWorker.deliverPushMessage', { origin: w.daemon.https, registrationId, data: JSON.stringify(message) });
        const list = () => page.evaluate(async () => (await (await navigator.serviceWorker.ready).getNotifications()).map(({ title, body, tag }) => ({ title, body, tag })));
        await eventually(async () => (await list()).length > 0, 'a notification');
        await session.detach();
        return list();
    }

    // SITE-14
    it('subscribes a browser again that has lost its subscription, or says so', async () => {
        const first = await open(new Subscription(service));
        await here(first).getByLabel('Someone calls from the door').check();
        await here(first).getByRole('button', { name: 'Save' }).click();
        await first.getByRole('status').getByText('Saved', { exact: true }).first().waitFor();
        await first.context().close();

        const next = new Subscription(service);
        const again = await open(next);
        await eventually(() => again.evaluate(() => Boolean(globalThis.subscribedWith)), 'another subscription');
        await eventually(async () => {
            await visit(client, { to: owner.number });
            return next.notices().includes('ring');
        }, 'a ring at the new subscription');
        await again.context().close();

        const blocked = await open(new Subscription(service), { permissions: [] });
        await here(blocked).getByText('This browser lost its notices.').waitFor();
        await blocked.context().close();
    });

    // SITE-19
    it('says that the push service refused the last notice, until one is taken', async () => {
        const page = await open(new Subscription(service));
        await here(page).getByLabel('Someone calls from the door').check();
        await here(page).getByRole('button', { name: 'Save' }).click();
        await page.getByRole('status').getByText('Saved', { exact: true }).first().waitFor();
        service.answer = (request, response) => response.writeHead(403).end();
        await here(page).getByRole('button', { name: 'Send a test' }).click();
        const told = here(page).getByText(/^The push service of this browser did not take the last notice \(.+\): it answered 403\./);
        await told.waitFor();
        await checkAccessible(page);
        service.answer = (request, response) => response.writeHead(201).end();
        await here(page).getByRole('button', { name: 'Send a test' }).click();
        await told.waitFor({ state: 'detached' });
        await page.context().close();
    });

    // SITE-11
    it('says so where the browser blocks notices, and asks for nothing then', async () => {
        const page = await open(new Subscription(service), { permissions: [] });
        await page.evaluate(() => { globalThis.Notification.requestPermission = async () => 'denied'; });
        await here(page).getByLabel('Someone calls from the door').check();
        await here(page).getByRole('button', { name: 'Save' }).click();
        await page.getByText('This browser blocks notices of this website.').waitFor();
        assert.deepEqual((await notices()).browsers, []);
        await page.context().close();
    });

    it('chooses notices by e-mail', async () => {
        const page = await open(new Subscription(service));
        const card = page.getByRole('region', { name: 'By e-mail' });
        await card.getByLabel('A wrong code was entered').check();
        await card.getByRole('button', { name: 'Save' }).click();
        await page.getByRole('status').getByText('Saved', { exact: true }).first().waitFor();
        assert.deepEqual((await notices()).email, ['refused']);
        await page.context().close();
    });

    it('belongs to an application that can be installed', async () => {
        const page = await open(new Subscription(service));
        const href = await page.locator('link[rel=manifest]').getAttribute('href');
        const manifest = await page.evaluate(async (at) => (await fetch(at)).json(), href);
        assert.deepEqual([manifest.start_url, manifest.scope, manifest.display], ['/', '/', 'standalone']);
        const session = await page.context().newCDPSession(page);
        const { errors } = await session.send('Page.getAppManifest');
        assert.deepEqual(errors, []);
        const icon = await page.evaluate(async (at) => (await fetch(at)).headers.get('content-type'), manifest.icons[0].src);
        assert.equal(icon, 'image/svg+xml');
        await page.context().close();
    });

    for (const sight of SIGHTS) {
        const name = `notices-${sight.viewport.width}-${sight.colorScheme}`;
        it(`is accessible and fits: ${name}`, async () => {
            const other = await signInBrowser(client, { email: owner.email, remember: true, headers: { 'user-agent': 'Mozilla/5.0 (Android 14; Mobile; rv:128.0) Gecko/128.0 Firefox/128.0' } });
            ok(await other.site.put(`/v1/buildings/${owner.building.id}/notices/push`, { ...new Subscription(service).keys, notices: ['ring', 'guessing'] }));
            const page = await open(new Subscription(service), sight);
            await page.getByRole('region', { name: 'Other devices' }).waitFor();
            if (process.env.PORTERO_E2E_PICTURES) await page.screenshot({ path: join(process.env.PORTERO_E2E_PICTURES, `${name}.png`), fullPage: true });
            await checkAccessible(page);
            await checkFits(page);
            await page.context().close();
        });
    }
});
