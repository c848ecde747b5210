// The main journeys of a resident through the website, on both engines: signing in, a door that is set up, a code, a
// visit, the building, the subscription. Each page costs one request, so that a key without a subscription suffices.
import { after, afterEach, before, describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { Browser } from './lib/browser.js';
import { ok } from './lib/client.js';
import { openSigned } from './lib/site-page.js';
import { agent, eventually, freshEmail, grant, message, resident, signIn, useWorld, visit } from './lib/world.js';

const PAGES = ['/', '/access', '/activity', '/building', '/buildings', '/notices', '/billing', '/agents', '/webhooks', '/account'];

describe('a resident on the website', () => {
    const w = useWorld();
    const { client } = w;
    let browser;
    before(async () => { browser = await Browser.start(); });
    after(() => browser?.close());
    afterEach(() => assert.deepEqual(browser.takeComplaints(), []));

    it('signs in, subscribes, sets the key, makes a code, and sees who came', async () => {
        const email = freshEmail();
        const page = await browser.page(w.daemon.https);
        const press = (name) => page.getByRole('button', { name, exact: true }).click();
        await page.getByLabel('E-mail address').fill(email);
        await press('Send me a code');
        await page.getByLabel('Code from the e-mail').waitFor();
        await page.getByLabel('Code from the e-mail').fill((await message(client, email)).code);
        await page.getByRole('heading', { name: 'Set up your door' }).waitFor();
        await page.goto(`${w.daemon.https}/billing`);
        await press('Choose: Yearly plan');
        await page.waitForURL(/\/sandbox\/checkout\//);
        await press('Pay');
        await page.getByText('Thank you, your subscription is active').waitFor();
        const session = await signIn(client, email);
        const { virtual_number: number } = await eventually(async () => ok(await session.client.get('/v1/buildings')).data.find((one) => one.provisioned), 'a number');
        await page.goto(`${w.daemon.https}/building`);
        await page.getByLabel('Key', { exact: true }).fill('9');
        await page.getByRole('button', { name: 'Save' }).click();
        await page.getByRole('status').getByText('Saved', { exact: true }).first().waitFor();
        await page.goto(`${w.daemon.https}/access`);
        await page.getByRole('button', { name: 'A guest' }).click();
        await page.getByLabel('Name', { exact: true }).fill('Anna');
        await press('Create');
        await page.getByRole('heading', { name: 'Share: Anna' }).waitFor();
        const [made] = ok(await session.client.get('/v1/unlock')).data;
        assert.equal((await visit(client, { to: number, digits: made.access_code })).outcome, 'released');
        await page.goto(w.daemon.https);
        await page.getByRole('heading', { name: 'A code opens the door' }).waitFor();
        await page.getByRole('region', { name: 'Last visits' }).getByText('Anna').waitFor();
        await page.context().close();
    });

    it('may look at 26 pages within the limit of a key without a subscription', async () => {
        const session = await signIn(client);
        const page = await openSigned(browser, w, session, '/');
        const statuses = [];
        for (let i = 0; i < 26; i++) {
            const answer = await page.goto(`${w.daemon.https}${PAGES[i % PAGES.length]}`);
            statuses.push(answer.status());
            await page.locator('#page > *').first().waitFor();
        }
        assert.deepEqual([...new Set(statuses)], [200]);
        const left = await page.evaluate(async () => (await fetch('/app/v1/account')).headers.get('RateLimit'));
        if (left) assert.match(left, /r=[1-9]/);
        await page.context().close();
    });

    it('loads at most 40 KB with a page on a first visit, and sees nothing move', async () => {
        const person = await resident(client);
        await grant(person, { type: 'passcode', label: 'Anna', access_code: '4711' });
        await visit(client, { to: person.number, digits: '4711' });
        const watch = (context) => context.addInitScript(() => {
            globalThis.moved = 0;
            new PerformanceObserver((list) => { for (const one of list.getEntries()) globalThis.moved += one.value; }).observe({ type: 'layout-shift', buffered: true });
        });
        for (const width of [390, 1280]) {
            for (const path of ['', ...PAGES]) {
                const options = { viewport: { width, height: 844 }, prepare: watch };
                const page = path ? await openSigned(browser, w, person, '/manifest.webmanifest', { ...options, drawn: false }) : await browser.page('about:blank', options);
                const network = await page.context().newCDPSession(page);
                await network.send('Network.enable');
                let bytes = 0;
                network.on('Network.loadingFinished', ({ encodedDataLength }) => { bytes += encodedDataLength; });
                await page.goto(`${w.daemon.https}${path}`);
                await page.locator(path ? '#page > *' : 'main h1').first().waitFor();
                const moved = await page.evaluate(() => new Promise((done) => { requestAnimationFrame(() => setTimeout(() => done(globalThis.moved))); }));
                assert.ok(bytes > 5_000 && bytes <= 40_960, `${path || 'the page to sign in'}: ${bytes} bytes`);
                assert.ok(moved < 0.02, `${path || 'the page to sign in'} at ${width} px: ${moved}`);
                await page.context().close();
            }
        }
    });

    it('finds in each of two tabs that race what both have done', async () => {
        const person = await resident(client);
        const page = await openSigned(browser, w, person, '/webhooks');
        const other = await page.context().newPage();
        const both = [page, other];
        await other.goto(`${w.daemon.https}/webhooks`);
        // Both add an address at once.
        for (const [i, tab] of both.entries()) {
            await tab.getByRole('button', { name: 'New address' }).click();
            await tab.getByRole('textbox', { name: 'Address' }).fill(`https://receiver.test/${i}`);
        }
        await Promise.all(both.map((tab) => tab.getByRole('textbox', { name: 'Address' }).press('Enter')));
        for (const tab of both) await tab.getByRole('heading', { name: 'The address was added' }).waitFor();
        const hooks = ok(await person.client.get('/v1/webhooks')).data;
        assert.deepEqual(hooks.map(({ url }) => url).sort(), ['https://receiver.test/0', 'https://receiver.test/1']);
        // Both delete the same one: the second is told, and the page goes on.
        for (const tab of both) await tab.reload();
        for (const tab of both) await tab.getByRole('button', { name: 'Delete https://receiver.test/0' }).click();
        await Promise.all(both.map((tab) => tab.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click()));
        for (const tab of both) await tab.getByRole('heading', { name: 'https://receiver.test/0', exact: true }).waitFor({ state: 'detached' });
        assert.deepEqual(ok(await person.client.get('/v1/webhooks')).data.map(({ url }) => url), ['https://receiver.test/1']);
        // The same with the key of a program.
        await agent(person, ['account:read'], { name: 'Parcels' });
        for (const tab of both) await tab.goto(`${w.daemon.https}/agents`);
        for (const tab of both) await tab.getByRole('button', { name: 'Revoke Parcels' }).click();
        await Promise.all(both.map((tab) => tab.getByRole('dialog').getByRole('button', { name: 'Revoke', exact: true }).click()));
        for (const tab of both) await tab.getByText('No keys yet').waitFor();
        // Two tabs save another key of the door: one is told, and the service has one of both.
        for (const [i, tab] of both.entries()) {
            await tab.goto(`${w.daemon.https}/building`);
            await tab.getByLabel('Key', { exact: true }).fill(String(i + 1));
        }
        await Promise.all(both.map((tab) => tab.getByLabel('Key', { exact: true }).press('Enter')));
        const told = both.map((tab) => tab.getByRole('dialog', { name: 'Someone else changed this' }));
        await eventually(async () => await told[0].isVisible() || await told[1].isVisible(), 'a conflict');
        const loser = await told[0].isVisible() ? 0 : 1;
        await told[loser].getByRole('button', { name: 'Save yours' }).click();
        await eventually(async () => ok(await person.client.get(`/v1/buildings/${person.building.id}/settings`)).unlock_tone === String(loser + 1), 'the key that was chosen');
        assert.ok(browser.takeComplaints().every((line) => /status of 40[49]/.test(line)));
        await page.context().close();
    });

    it('prints a code without the page around it', async () => {
        const person = await resident(client);
        await grant(person, { type: 'passcode', label: 'Anna & Tom', access_code: '4821' });
        const page = await openSigned(browser, w, person, '/access');
        await page.locator('.grants .about', { hasText: 'Anna & Tom' }).click();
        await page.locator('.code-card').click();
        await page.emulateMedia({ media: 'print' });
        const text = await page.evaluate(() => document.body.innerText);
        assert.ok(text.replaceAll(/\s/g, '').includes('4821'), text);
        assert.ok(!/A guest|Activity|Sandbox/.test(text), text);
        assert.ok((await page.pdf()).length > 1_000);
        await page.context().close();
    });
});
