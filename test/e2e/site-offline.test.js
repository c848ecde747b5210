// Pages that a remembered browser keeps for when the service cannot be reached, and their end with the session.
import { after, afterEach, before, describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { Browser } from './lib/browser.js';
import { checkSights } from './lib/site-page.js';
import { COOKIE, signInBrowser } from './lib/site.js';
import { eventually, grant, message, resident, useWorld } from './lib/world.js';

const CODE = '8642';

/** The way to a port, which can be cut: the browser's own switch does not hold for its workers. */
class Way {
    #sockets = new Set();
    #open = true;

    async listen(port) {
        this.server = createServer((from) => {
            if (!this.#open) return from.destroy();
            const to = connect(port, '127.0.0.1');
            for (const [one, other] of [[from, to], [to, from]]) {
                this.#sockets.add(one);
                one.on('error', () => {}).on('close', () => {
                    this.#sockets.delete(one);
                    other.destroy();
                });
                one.pipe(other);
            }
            return to;
        }).listen(0, '127.0.0.1');
        await once(this.server, 'listening');
        this.origin = `https://127.0.0.1:${this.server.address().port}`;
    }

    cut() {
        this.#open = false;
        for (const socket of this.#sockets) socket.destroy();
    }

    mend() {
        this.#open = true;
    }

    close() {
        this.cut();
        this.server.close();
    }
}

describe('pages without a connection', () => {
    const w = useWorld();
    const way = new Way();
    let browser;
    before(async () => {
        await way.listen(new URL(w.daemon.https).port);
        // Chromium refuses a worker where the certificate was only let through.
        browser = await Browser.start(['--ignore-certificate-errors']);
    });
    after(async () => {
        await browser?.close();
        way.close();
    });
    // A request that fails is a complaint, and here they are to fail.
    afterEach(() => {
        way.mend();
        assert.deepEqual(browser.takeComplaints().filter((line) => !/net::ERR_|Failed to fetch|network error/.test(line)), []);
    });

    async function person() {
        const one = await resident(w.client);
        await grant(one, { type: 'passcode', access_code: CODE, label: 'Florist' });
        return one;
    }
    const shown = (page) => page.locator('#page').locator('> *').first().waitFor();

    async function signIn(page, email, remember) {
        await page.getByLabel('E-mail address').fill(email);
        const earlier = await message(w.client, email).catch(() => undefined);
        await page.locator('#address button').click();
        await page.locator('#otp').waitFor();
        await eventually(async () => (await message(w.client, email).catch(() => undefined))?.id !== earlier?.id, 'a mail');
        const { code } = await message(w.client, email);
        if (remember) await page.locator('#remember').check();
        await page.locator('#otp').fill(code);
        await shown(page);
    }
    async function opened(one, remember = true) {
        const page = await browser.page(`${way.origin}/`);
        await signIn(page, one.email, remember);
        return page;
    }
    /** All that the browser keeps for the service, by path. */
    const keptBy = (page) => page.evaluate(async () => {
        const all = {};
        for (const name of await caches.keys()) {
            const cache = await caches.open(name);
            for (const request of await cache.keys()) all[new URL(request.url).pathname] = await (await cache.match(request)).text();
        }
        return all;
    });
    const keeps = (page, path) => eventually(async () => {
        const kept = await keptBy(page);
        return kept[path] && Object.keys(kept).some((name) => name.startsWith('/a/site-home')) && Object.keys(kept).some((name) => name.startsWith('/a/site-style'));
    }, `${path} in the browser`);
    const fails = (page, path) => assert.rejects(page.goto(`${way.origin}${path}`), /ERR_/);

    // SITE-9
    it('show the last state, its time, and no code, with nothing to press', async () => {
        const page = await opened(await person());
        await keeps(page, '/');
        await page.goto(`${way.origin}/access`);
        await shown(page);
        await keeps(page, '/access');
        await page.goto(`${way.origin}/`);
        const kept = await keptBy(page);
        assert.ok(!Object.values(kept).join('').includes(CODE), 'a code is kept');

        way.cut();
        await page.reload();
        await page.getByText(/You are offline\. Last seen: .*\d\d:\d\d/).waitFor();
        await page.getByText('Florist').first().waitFor();
        assert.equal(await page.locator('main button:enabled, main input:enabled').count(), 0);
        await checkSights(page, 'offline');
        await page.goto(`${way.origin}/access`);
        await page.getByText('You are offline').waitFor();
        await page.getByText('Florist').first().waitFor();
        await page.context().close();
    });

    // SITE-10
    it('come from the service again as soon as it can be reached', async () => {
        const one = await person(), page = await opened(one);
        await keeps(page, '/');
        way.cut();
        await page.reload();
        await page.getByText('You are offline').waitFor();
        await grant(one, { type: 'passcode', access_code: '9753', label: 'Plumber' });
        way.mend();
        await page.getByRole('link', { name: 'Try again' }).click();
        await page.getByText('Plumber').first().waitFor();
        assert.equal(await page.getByText('You are offline').count(), 0);
        await page.context().close();
    });

    // SITE-9
    it('are not kept by a browser that is not remembered', async () => {
        const page = await opened(await person(), false);
        await page.reload();
        await shown(page);
        assert.deepEqual(await keptBy(page), {});
        way.cut();
        await fails(page, '/');
        await page.context().close();
    });

    // SITE-10
    it('are gone after signing out', async () => {
        const page = await opened(await person());
        await keeps(page, '/');
        await page.locator('#account summary').click();
        await page.locator('#out').click();
        await page.locator('#email').waitFor();
        assert.deepEqual(await keptBy(page), {});
        way.cut();
        await fails(page, '/');
        await page.context().close();
    });

    it('are gone after signing out everywhere, and when the session was ended elsewhere', async () => {
        const one = await person(), page = await opened(one), other = await opened(one);
        await Promise.all([keeps(page, '/'), keeps(other, '/')]);
        await page.goto(`${way.origin}/account`);
        await page.getByRole('button', { name: 'Sign out everywhere' }).click();
        await page.getByRole('dialog').getByRole('button', { name: 'Sign out everywhere' }).click();
        await page.locator('#email').waitFor();
        assert.deepEqual(await keptBy(page), {});
        await other.reload();
        await other.locator('#email').waitFor();
        await eventually(async () => Object.keys(await keptBy(other)).length === 0, 'the end of what is kept');
        await page.context().close();
        await other.context().close();
    });

    // SITE-10
    it('are gone when somebody else is signed in', async () => {
        const page = await opened(await person());
        await keeps(page, '/');
        const { cookie } = await signInBrowser(w.client, { email: (await resident(w.client)).email });
        await page.context().addCookies([{ name: COOKIE, value: cookie, url: way.origin, secure: true, httpOnly: true, sameSite: 'Lax' }]);
        await page.reload();
        await shown(page);
        await eventually(async () => Object.keys(await keptBy(page)).length === 0, 'the end of what is kept');
        await page.context().close();
    });

    it('leave the assets of an earlier version behind', async () => {
        const page = await opened(await person());
        await keeps(page, '/');
        await page.evaluate(async () => (await caches.open('kept')).put('/a/site-home-en.000000000000.js', new Response('old')));
        await page.reload();
        await shown(page);
        await eventually(async () => !('/a/site-home-en.000000000000.js' in await keptBy(page)), 'the end of the old asset');
        await page.context().close();
    });
});
