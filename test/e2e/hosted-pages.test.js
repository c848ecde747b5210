// The hosted checkout and billing portal of the sandbox, in a browser: a person pays, backs out, looks and cancels; also
// on a phone, in the dark and with the keyboard alone. PORTERO_E2E_PICTURES=directory keeps screenshots.
// engine: sqlite, because it tests pages in a browser
import { describe, it, before, after, afterEach } from 'node:test';
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { Browser, checkAccessible, checkFits } from './lib/browser.js';
import { idempotencyKey, ok, refused } from './lib/client.js';
import { RawConnection } from './lib/raw.js';
import { setSubscription, signIn, useWorld } from './lib/world.js';

describe('the hosted pages', () => {
    const w = useWorld();
    const { client } = w;
    let browser;
    before(async () => {
        browser = await Browser.start();
    });
    after(() => browser?.close());
    afterEach(() => browser.takeComplaints());

    const checkout = async (person, plan = 'yearly') =>
        ok(await person.client.post('/v1/billing/checkout', { plan }, { headers: { 'Idempotency-Key': idempotencyKey() } }), 201);
    const portal = async (person) => ok(await person.client.request('POST', '/v1/billing/portal')).url;
    const status = async (person) => ok(await person.client.get('/v1/account')).subscription.status;
    const picture = async (page, name) => {
        if (process.env.PORTERO_E2E_PICTURES) await page.screenshot({ path: join(process.env.PORTERO_E2E_PICTURES, `${name}.png`), fullPage: true });
    };
    const quiet = () => assert.deepEqual(browser.takeComplaints(), []);
    /** Presses a button that leads away to the account's page; its address. */
    const leave = async (page, name) => {
        const button = page.getByRole('button', { name });
        await Promise.all([page.waitForURL(/\/account\?/), button.click()]);
        await page.getByRole('heading', { name: 'Welcome back' }).waitFor();
        await page.getByRole('heading', { name: name === 'Pay' ? 'If you left without paying' : 'If you paid' }).waitFor({ state: 'hidden' });
        assert.deepEqual(await page.getByRole('heading', { level: 2 }).allInnerTexts(), [name === 'Pay' ? 'If you paid' : 'If you left without paying']);
        await checkAccessible(page);
        await checkFits(page);
        await picture(page, 'account');
        quiet();
        const { pathname, search } = new URL(page.url());
        await page.context().close();
        return pathname + search;
    };

    it('take a payment and lead back to the account', async () => {
        const person = await signIn(client);
        const made = await checkout(person);
        const page = await browser.page(made.url);
        const text = await page.locator('main').innerText();
        for (const part of [person.email, 'yearly', '199.00 USD a year', 'Due today']) assert.ok(text.includes(part), text);
        await checkAccessible(page);
        await checkFits(page);
        await picture(page, 'checkout');
        assert.equal(await leave(page, 'Pay'), '/account?checkout=success');
        assert.equal(await status(person), 'active');
        const again = await browser.page(made.url);
        await again.getByText('This checkout was paid.').waitFor();
        assert.equal(await again.getByRole('button').count(), 0);
        await checkAccessible(again);
        await picture(again, 'checkout-paid');
        quiet();
        await again.context().close();
    });

    // SANDBOX-3
    it('let a person back out and come back', async () => {
        const person = await signIn(client);
        const made = await checkout(person, 'weekly');
        assert.equal(await leave(await browser.page(made.url), 'Cancel'), '/account?checkout=cancel');
        assert.equal(await leave(await browser.page(made.url), 'Pay'), '/account?checkout=success');
        assert.equal(await status(person), 'active');
    });

    for (const host of ['localhost', '127.0.0.1']) {
        // SANDBOX-4
        it(`lead back by the name that the browser came by (${host})`, async () => {
            const person = await signIn(client);
            const url = new URL((await checkout(person)).url);
            url.hostname = host;
            for (const name of ['Cancel', 'Pay']) {
                const page = await browser.page(url.href);
                await Promise.all([page.waitForURL(/\/account\?/), page.getByRole('button', { name }).click()]);
                assert.equal(new URL(page.url()).origin, url.origin);
                await page.getByRole('heading', { name: 'Welcome back' }).waitFor();
                quiet();
                await page.context().close();
            }
            assert.equal(await status(person), 'active');
        });
    }

    it('say when a checkout has expired', async () => {
        const person = await signIn(client);
        const made = await checkout(person);
        ok(await person.client.request('POST', `/v1/billing/checkout/${made.id}/expire`));
        const page = await browser.page(made.url);
        await page.getByText('This checkout has expired.').waitFor();
        assert.equal(await page.getByRole('button').count(), 0);
        await checkAccessible(page);
        await picture(page, 'checkout-expired');
        quiet();
        await page.context().close();
    });

    it('are used with the keyboard alone', async () => {
        const person = await signIn(client);
        const page = await browser.page((await checkout(person)).url);
        await page.keyboard.press('Tab');
        assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Pay');
        await Promise.all([page.waitForURL(/checkout=success/, { waitUntil: 'commit' }), page.keyboard.press('Enter')]);
        await page.context().close();
        assert.equal(await status(person), 'active');
    });

    it('show a subscription and end it', async () => {
        const person = await signIn(client);
        await setSubscription(client, person.email);
        const page = await browser.page(await portal(person));
        const text = await page.locator('main').innerText();
        for (const part of ['weekly', 'active', '4.99 USD a week']) assert.ok(text.includes(part), text);
        await checkAccessible(page);
        await checkFits(page);
        await picture(page, 'portal');
        await setSubscription(client, person.email, 'past_due');
        await page.reload();
        await page.getByText('past due').waitFor();
        await page.getByRole('button', { name: 'Cancel the subscription' }).click();
        await page.getByText('This subscription has ended.').waitFor();
        assert.equal(await status(person), 'none');
        await checkAccessible(page);
        await picture(page, 'portal-ended');
        quiet();
        await page.context().close();
    });

    it('answer an unknown path with a page that says where to go', async () => {
        const page = await browser.page(new URL('/sandbox/checkout/cs_nope', w.daemon.https).href);
        await page.getByRole('heading', { name: 'This page does not exist' }).waitFor();
        await checkAccessible(page);
        await checkFits(page);
        await page.getByRole('link', { name: 'Go to the start page' }).click();
        await page.getByRole('link', { name: 'Mailbox' }).click();
        await page.getByRole('heading', { name: 'Ring the bell' }).or(page.getByRole('button', { name: 'Ring' })).first().waitFor();
        browser.takeComplaints(); // the browser logs the 404 itself
        await page.context().close();
    });

    // HTTP-24
    it('leave programs their errors in JSON, and the API to everybody', async () => {
        const html = { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
        refused(await client.get('/nothing'), 404, 'NOT_FOUND');
        refused(await client.get('/v1/nothing', { headers: html }), 404, 'NOT_FOUND');
        const connection = await RawConnection.open(w.daemon.httpsPort);
        connection.send(`GET /nothing HTTP/1.1\r\nHost: localhost\r\nAccept: ${html.Accept}\r\n\r\n`);
        const { status, headers, body } = await connection.reply(1);
        connection.destroy();
        assert.equal(status, 404);
        assert.equal(headers['content-type'], 'text/html; charset=utf-8');
        assert.match(headers['content-security-policy'], /default-src 'none'/);
        assert.equal(headers.vary, 'Accept, Accept-Language');
        assert.ok(body.includes(headers['x-request-id']), 'what support asks for');
    });

    it('fit a phone, in the dark too', async () => {
        const person = await signIn(client);
        const made = await checkout(person);
        for (const [colorScheme, width] of [['light', 320], ['dark', 390]]) {
            const page = await browser.page(made.url, { colorScheme, viewport: { width, height: 700 } });
            await checkFits(page);
            await checkAccessible(page);
            await picture(page, `checkout-${colorScheme}-${width}`);
            await page.context().close();
        }
        quiet();
    });
});
