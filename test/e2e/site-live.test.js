// Home shows what happens without being loaded again; all tabs of a browser share one stream.
import { after, afterEach, before, describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { Browser } from './lib/browser.js';
import { openSigned } from './lib/site-page.js';
import { grant, resident, useWorld } from './lib/world.js';

const TABS = 8;

describe('Home', () => {
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
});
