// Pages show what happens without being loaded again; all tabs of a browser share one stream.
import { after, afterEach, before, describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { Browser, checkAccessible } from './lib/browser.js';
import { freePort } from './lib/port.js';
import { openSigned } from './lib/site-page.js';
import { ok } from './lib/client.js';
import { grant, resident, useWorld, visit, world } from './lib/world.js';

const TABS = 8;

describe('pages that are open', () => {
    const w = useWorld();
    let browser;
    before(async () => { browser = await Browser.start(); });
    after(() => browser?.close());
    afterEach(() => assert.deepEqual(browser.takeComplaints(), []));

    it('shows a new code in eight tabs, which share one stream, also after the tab that read it has closed', async () => {
        const person = await resident(w.client);
        const first = await openSigned(browser, w, person, '/');
        const context = first.context();
        let streams = 0;
        context.on('request', (request) => { streams += request.url().includes('/events') ? 1 : 0; });
        const tabs = [first];
        while (tabs.length < TABS) {
            const tab = await context.newPage();
            await tab.goto(`${w.daemon.https}/`);
            await tab.locator('#page').locator('> *').first().waitFor();
            tabs.push(tab);
        }
        assert.ok(streams <= 1, `${streams} tabs opened a stream`);
        await grant(person, { type: 'passcode', access_code: '1357', label: 'Florist' });
        for (const tab of tabs) {
            await tab.bringToFront();
            await tab.getByText('Florist').first().waitFor();
        }
        await first.close();
        await grant(person, { type: 'passcode', access_code: '2468', label: 'Plumber' });
        for (const tab of tabs.slice(1)) {
            await tab.bringToFront();
            await tab.getByText('Plumber').first().waitFor();
        }
        await context.close();
    });

    it('show who comes on Activity, with the filter and what was typed', async () => {
        const person = await resident(w.client);
        const made = await grant(person, { type: 'passcode', label: 'Florist' });
        await visit(w.client, { to: person.number, digits: made.access_code });
        const page = await openSigned(browser, w, person, '/activity');
        const rows = page.locator('.log .rows > li');
        await rows.filter({ hasText: 'Florist' }).waitFor();
        await visit(w.client, { to: person.number, digits: '0000' });
        await rows.filter({ hasText: 'obody’s code' }).waitFor();
        await page.getByLabel('Show').selectOption({ label: 'The door opened' });
        await rows.filter({ hasText: 'obody’s code' }).waitFor({ state: 'detached' });
        await page.getByLabel('Day and time').fill('2027-01-01T10:00');
        const later = await grant(person, { type: 'passcode', label: 'Plumber' });
        await visit(w.client, { to: person.number, digits: '0001' });
        await visit(w.client, { to: person.number, digits: later.access_code });
        await rows.filter({ hasText: 'Plumber' }).waitFor();
        assert.equal(await rows.count(), 2);
        assert.equal(await page.getByLabel('Day and time').inputValue(), '2027-01-01T10:00');
        await page.getByLabel('Access').selectOption({ label: 'Plumber' }); // it is in the choice, too
        await rows.filter({ hasText: 'Florist' }).waitFor({ state: 'detached' });
        await page.context().close();
    });

    it('show on Access the grants that others make, change, use up and revoke, under an open form', async () => {
        const person = await resident(w.client);
        await grant(person, { type: 'passcode', label: 'Grandma' });
        const page = await openSigned(browser, w, person, '/access');
        const rows = page.locator('.grants > li');
        await page.getByRole('button', { name: /^A guest/ }).click();
        const name = page.getByRole('dialog').getByLabel('Name');
        await name.fill('Half a na');
        const florist = await grant(person, { type: 'passcode', label: 'Florist', remaining_uses: 2 });
        await rows.filter({ hasText: 'Florist' }).filter({ hasText: '2 uses left' }).waitFor({ state: 'attached' });
        await visit(w.client, { to: person.number, digits: florist.access_code });
        await rows.filter({ hasText: 'Florist' }).filter({ hasText: '1 use left' }).waitFor({ state: 'attached' });
        const { version } = ok(await person.client.get(`/v1/unlock/${florist.id}`));
        ok(await person.client.patch(`/v1/unlock/${florist.id}`, { label: 'Gardener' }, { headers: { 'If-Match': `"${version}"` } }));
        await rows.filter({ hasText: 'Gardener' }).waitFor({ state: 'attached' });
        ok(await person.client.delete(`/v1/unlock/${florist.id}`));
        await rows.filter({ hasText: 'Gardener' }).waitFor({ state: 'detached' });
        for (let i = 0; i < 8; i += 1) await grant(person, { type: 'passcode', label: `Friend ${i}` });
        await rows.filter({ hasText: 'Friend 0' }).waitFor({ state: 'attached' });
        await rows.filter({ hasText: 'Friend 7' }).waitFor({ state: 'attached' });
        assert.equal(await name.inputValue(), 'Half a na');
        await page.context().close();
    });

    it('say that the service cannot be reached, in each tab, and go on when it is again', async () => {
        const own = await world({ args: ['--https', `127.0.0.1:${await freePort()}`, '--http', '127.0.0.1:0', '--sip', '127.0.0.1:0'] });
        const person = await resident(own.client);
        const page = await openSigned(browser, own, person, '/activity');
        const other = await page.context().newPage();
        await other.goto(`${own.daemon.https}/`);
        await other.locator('#page').locator('> *').first().waitFor();
        await own.daemon.crash();
        for (const tab of [page, other]) await tab.getByText('The service cannot be reached at the moment.').waitFor();
        await checkAccessible(page);
        own.client.agent.destroy();
        await own.daemon.start();
        for (const tab of [page, other]) await tab.getByText('The service cannot be reached at the moment.').waitFor({ state: 'detached' });
        await visit(own.client, { to: person.number, digits: '0000' });
        await page.bringToFront();
        await page.locator('.day li').first().waitFor();
        browser.takeComplaints();
        await page.context().close();
        await own.close();
    });
});
