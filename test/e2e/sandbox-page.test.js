// The sandbox's page, in a browser: it does what the sandbox's operations do, also with the keyboard alone, on a phone
// and in the dark. PORTERO_E2E_PICTURES=directory keeps screenshots.
// engine: sqlite, because it tests a page in a browser
import { describe, it, before, after, afterEach } from 'node:test';
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { Browser, checkAccessible, checkFits } from './lib/browser.js';
import { ok, refused } from './lib/client.js';
import { portero } from './lib/daemon.js';
import { challenge, eventually, freshEmail, grant, HOUR, iso, message, now, resident, setSubscription, signIn, useWorld } from './lib/world.js';

describe('the sandbox\'s page', () => {
    const w = useWorld();
    const { client } = w;
    let browser;
    let url;
    before(async () => {
        browser = await Browser.start();
        url = `${w.daemon.https}/sandbox/`;
    });
    after(() => browser?.close());
    afterEach(() => assert.deepEqual(browser.takeComplaints(), []));

    const closing = async (page) => page.context().close();
    const text = (page, selector) => page.locator(selector).innerText();
    const picture = async (page, name) => {
        if (process.env.PORTERO_E2E_PICTURES) await page.screenshot({ path: join(process.env.PORTERO_E2E_PICTURES, `${name}.png`), fullPage: true });
    };

    it('rings the bell and shows the outcome', async () => {
        const person = await resident(client, { tone: '9#' });
        const passcode = await grant(person, { type: 'passcode', label: 'guest', access_code: '4711' });
        const page = await browser.page(url);
        await page.getByLabel('Virtual number').fill(person.number);
        await page.getByLabel('Keys the visitor presses').fill('4711');
        await page.getByRole('button', { name: 'Ring' }).click();
        await page.getByText('The door was released.').waitFor();
        const outcome = await text(page, '#call-outcome');
        assert.ok(outcome.includes('The passcode “guest” opened the door.') && outcome.includes('9#') && outcome.includes(passcode.id), outcome);
        await picture(page, 'released');
        await page.getByLabel('Keys the visitor presses').fill('0000');
        await page.getByRole('button', { name: 'Ring' }).click();
        await page.getByText('The call was forwarded.').waitFor();
        await page.getByText('All entered codes are wrong.').waitFor();
        await closing(page);
        const { data } = ok(await person.client.get('/v1/logs'));
        assert.deepEqual(data.filter((entry) => entry.unlock_id).map((entry) => entry.unlock_id), [passcode.id]);
    });

    it('says why nothing opened, and which grants might have been meant', async () => {
        const person = await resident(client);
        await grant(person, { type: 'timer', label: 'Cleaner', starts_at: iso(await now(client) + HOUR), expires_in_minutes: 60 });
        await grant(person, { type: 'timer', label: 'Party', expires_in_minutes: 60, enabled: false });
        const page = await browser.page(url);
        const rings = async (number, sentence) => {
            await page.getByLabel('Virtual number').fill(number);
            await page.getByRole('button', { name: 'Ring' }).click();
            await page.getByText(sentence).waitFor();
        };
        await rings(person.number, 'No timer is active, no routine is within its hours, and no passcode exists.');
        const outcome = await text(page, '#call-outcome');
        assert.ok(outcome.includes('“Cleaner” has not started yet') && outcome.includes('“Party” is disabled'), outcome);
        await picture(page, 'forwarded');
        await checkAccessible(page);
        await rings('+15550198763', 'No building has this number.');
        await setSubscription(client, person.email, 'canceled');
        await rings(person.number, 'The account has no subscription, so its grants do not open the door.');
        await closing(page);
    });

    it('offers the operator\'s own numbers at the bell, too', async () => {
        const added = portero(['admin', 'number', 'add', '+15551230000', '--config', w.daemon.configPath, '--data', w.daemon.data]);
        assert.equal(added.status, 0, added.stderr);
        const person = await resident(client);
        assert.equal(person.number, '+15551230000');
        const { data } = ok(await client.get('/sandbox/numbers'));
        const row = data.find(({ number }) => number === person.number);
        assert.deepEqual([row.source, row.email], ['pool', person.email]);
        const page = await browser.page(url);
        await page.getByRole('cell', { name: person.email }).waitFor();
        assert.equal(await page.locator(`#held option[value="${person.number}"]`).count(), 1);
        await closing(page);
    });

    for (const host of ['localhost', '127.0.0.1']) {
        it(`works by either name of this machine (${host})`, async () => {
            const address = new URL(url);
            address.hostname = host;
            const page = await browser.page(address.href);
            await page.getByLabel('Forward by').fill('1');
            await page.getByRole('button', { name: 'Move the clock' }).click();
            await page.getByText('The service’s time is').waitFor();
            await closing(page);
        });
    }

    it('rings with the keyboard alone', async () => {
        const person = await resident(client);
        await grant(person, { type: 'timer', expires_in_minutes: 5 });
        const page = await browser.page(url);
        await page.keyboard.press('Tab');
        assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Skip to the bell');
        await page.keyboard.press('Enter');
        await page.keyboard.press('Tab');
        assert.equal(await page.evaluate(() => document.activeElement.id), 'call-to');
        await page.keyboard.press('Control+A');
        await page.keyboard.type(person.number);
        await page.keyboard.press('Enter');
        await page.getByText('The door was released.').waitFor();
        await closing(page);
    });

    it('shows messages as they come, by recipient, with the code', async () => {
        const [email, other] = [freshEmail(), freshEmail()];
        const sent = await challenge(client, email);
        await challenge(client, other);
        const page = await browser.page(url);
        await page.getByLabel('To', { exact: true }).fill(email);
        await page.getByRole('button', { name: 'Show' }).click();
        await eventually(async () => (await page.locator('#messages > li').count()) === 1, 'one message');
        assert.ok((await text(page, '#messages')).includes(sent.otp));
        assert.ok(!(await text(page, '#messages')).includes(other));
        await page.getByText('Text', { exact: true }).click();
        assert.ok((await text(page, '#messages pre')).includes(sent.otp));
        await challenge(client, email);
        await eventually(async () => (await page.locator('#messages > li').count()) === 2, 'the next message by itself');
        assert.ok(await page.locator('#messages > li').nth(1).locator('pre').isVisible(), 'what was open stays open');
        await closing(page);
    });

    it('moves the clock', async () => {
        const page = await browser.page(url);
        const before = await now(client);
        await page.getByLabel('Forward by').fill('2');
        await page.getByLabel('Unit').selectOption('days');
        await page.getByRole('button', { name: 'Move the clock' }).click();
        await page.getByText('The service’s time is').waitFor();
        assert.ok(await now(client) - before >= 2 * 86_400_000);
        assert.match(await text(page, '#clock-offset'), /ahead of the real time/);
        const shown = Date.parse(await page.locator('#clock-now').getAttribute('datetime'));
        assert.ok(Math.abs(shown - await now(client)) < 60_000);
        await closing(page);
    });

    it('changes a subscription and shows the building of the number', async () => {
        const { email } = await signIn(client);
        const page = await browser.page(url);
        await page.getByLabel('Account’s e-mail').fill(email);
        await page.getByRole('button', { name: 'Change' }).click();
        await page.getByText(`The subscription of ${email} is active`).waitFor();
        await page.getByRole('cell', { name: email }).waitFor();
        await closing(page);
    });

    it('orders a fault, and takes it back', async () => {
        const page = await browser.page(url);
        await page.getByLabel('Provider').selectOption('mail');
        await page.getByLabel('Fault', { exact: true }).selectOption('error');
        await page.getByRole('button', { name: 'Order the fault' }).click();
        await page.getByText('The next call to mail will have the fault error.').waitFor();
        await page.getByLabel('Fault', { exact: true }).selectOption('none');
        await page.getByRole('button', { name: 'Order the fault' }).click();
        await page.getByText('mail works again.').waitFor();
        await closing(page);
    });

    it('shows the service\'s message when it refuses', async () => {
        const page = await browser.page(url);
        await page.getByLabel('Account’s e-mail').fill(freshEmail());
        await page.getByRole('button', { name: 'Change' }).click();
        await page.getByText('no account has that e-mail').waitFor();
        assert.deepEqual(browser.takeComplaints().map((line) => line.includes('404')), [true], 'the browser logs the answer itself');
        await closing(page);
    });

    it('shows foreign content as text, never as markup', async () => {
        const person = await resident(client);
        const settings = await person.client.get(`/v1/buildings/${person.building.id}/settings`);
        const greeting = '<img src=x onerror="document.title=\'taken\'">';
        ok(await person.client.patch(`/v1/buildings/${person.building.id}/settings`, { greeting_granted: greeting }, { headers: { 'If-Match': settings.headers.etag } }));
        await grant(person, { type: 'timer', expires_in_minutes: 5 });
        const page = await browser.page(url);
        await page.getByLabel('Virtual number').fill(person.number);
        await page.getByRole('button', { name: 'Ring' }).click();
        await page.getByText(greeting).waitFor();
        assert.equal(await page.locator('#call-outcome img').count(), 0);
        assert.equal(await page.title(), 'Portero sandbox');
        await closing(page);
    });

    for (const [name, options] of Object.entries({
        light: {},
        dark: { colorScheme: 'dark' },
        phone: { viewport: { width: 360, height: 740 } },
        'wide-phone': { viewport: { width: 390, height: 844 } },
        'narrow-phone': { viewport: { width: 320, height: 640 } },
        'dark-phone': { colorScheme: 'dark', viewport: { width: 360, height: 740 } },
    })) {
        it(`can be read and used by everybody (${name})`, async () => {
            const person = await resident(client);
            await message(client, person.email);
            const page = await browser.page(url, options);
            await page.getByRole('cell', { name: person.email }).waitFor();
            await page.locator('#messages > li').first().waitFor();
            await page.getByLabel('Virtual number').fill(person.number);
            await page.getByRole('button', { name: 'Ring' }).click();
            await page.getByText('The call was forwarded.').waitFor();
            await picture(page, name);
            await checkAccessible(page);
            await checkFits(page);
            await closing(page);
        });
    }

    // HTTP-25
    it('runs nothing that is not its own, and stands in no frame', async () => {
        const page = await client.get('/sandbox/');
        assert.match(page.headers['content-security-policy'], /default-src 'none'.*script-src 'self'.*frame-ancestors 'none'/);
        assert.match(page.headers['content-security-policy'], /require-trusted-types-for 'script'; trusted-types worker/);
        assert.doesNotMatch(page.headers['content-security-policy'], /unsafe/);
        for (const name of ['cross-origin-opener-policy', 'cross-origin-resource-policy']) assert.equal(page.headers[name], 'same-origin');
        refused(await client.get('/sandbox'), 404, 'NOT_FOUND');
        refused(await client.post('/sandbox/', {}), 405, 'METHOD_NOT_ALLOWED');
    });
});
