// The sandbox's pages in a browser of another computer, which cannot have them: they say why, and how to get there.
// engine: sqlite, because the address is checked before the store is asked
import './lib/namespace.js';
import { after, afterEach, before, describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { Browser } from './lib/browser.js';
import { Client, refused } from './lib/client.js';
import { checkSights } from './lib/site-page.js';
import { useWorld } from './lib/world.js';

const ELSEWHERE = '192.0.2.1'; // an address of this machine that is not loopback

describe('the sandbox, seen from another computer', () => {
    const w = useWorld({ args: ['--https', '0.0.0.0:0', '--http', '127.0.0.1:0', '--sip', '127.0.0.1:0'] });
    let browser;
    let origin;
    before(async () => {
        execFileSync('ip', ['address', 'add', `${ELSEWHERE}/32`, 'dev', 'lo']);
        origin = `https://${ELSEWHERE}:${w.daemon.httpsPort}`;
        browser = await Browser.start();
    });
    after(() => browser?.close());
    afterEach(() => assert.deepEqual(browser.takeComplaints().filter((complaint) => !/status of 403/.test(complaint)), []));

    const TITLES = { en: 'Only on the service’s own machine', es: 'Solo en la propia máquina del servicio', fr: 'Seulement sur la machine du service' };
    for (const [locale, title] of Object.entries(TITLES)) {
        // SANDBOX-2
        it(`tells in ${locale} why it shows no page, and the command that leads to one`, async () => {
            for (const path of ['/sandbox/tour', '/sandbox/']) {
                const page = await browser.page(`${origin}${path}`, { locale });
                await page.getByRole('heading', { name: title, exact: true }).waitFor();
                const port = w.daemon.httpsPort;
                assert.equal(await page.locator('code').first().innerText(), `ssh -L ${port}:127.0.0.1:${port} SERVER`);
                assert.equal(await page.getByRole('link', { name: `https://localhost:${port}/`, exact: true }).getAttribute('href'), `https://localhost:${port}/`);
                if (path === '/sandbox/') await checkSights(page, `elsewhere-${locale}`);
                await page.context().close();
            }
        });
    }

    it('does not offer its tour on the start page, but the way there', async () => {
        const page = await browser.page(`${origin}/`);
        await page.getByText('The tour works only on the machine of the service.').waitFor();
        assert.equal(await page.getByRole('link', { name: 'Take the tour' }).count(), 0);
        await checkSights(page, 'elsewhere-start');
        await page.getByRole('link', { name: 'How to open it from here', exact: true }).click();
        await page.getByRole('heading', { name: TITLES.en, exact: true }).waitFor();
        await page.context().close();
    });

    it('tells programs the same', async () => {
        const client = new Client({ https: origin });
        const answer = await client.get('/sandbox/clock');
        refused(answer, 403, 'LOOPBACK_REQUIRED');
        assert.match(answer.body.error.next_action, /`ssh -L PORT:127\.0\.0\.1:PORT SERVER`/);
        client.close();
    });

    it('is there through the tunnel', async () => {
        const page = await browser.page(`https://localhost:${w.daemon.httpsPort}/`);
        await page.getByRole('link', { name: 'Take the tour', exact: true }).click();
        await page.waitForURL('**/sandbox/tour');
        await page.getByRole('button', { name: 'Make the account', exact: true }).waitFor();
        await page.context().close();
    });
});
