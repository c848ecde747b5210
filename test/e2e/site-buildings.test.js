// The page of all buildings, in a browser: showing another one, adding one for its price, removing one.
// PORTERO_E2E_PICTURES=directory keeps screenshots.
// engine: sqlite, because building operations are tested on both engines elsewhere
import { after, afterEach, before, describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { Browser, checkAccessible } from './lib/browser.js';
import { addition, added, buildings, owner } from './lib/buildings.js';
import { ok } from './lib/client.js';
import { checkSights, checkTargets, HOSTILE, openSigned, picture, written } from './lib/site-page.js';
import { sql } from './lib/store.js';
import { grant, resident, setSubscription, signIn, useWorld, visit } from './lib/world.js';

describe('the page of all buildings', () => {
    const w = useWorld();
    const { client } = w;
    let browser;
    before(async () => { browser = await Browser.start(); });
    after(() => browser?.close());
    afterEach(() => assert.deepEqual(browser.takeComplaints(), []));

    const open = (person, options) => openSigned(browser, w, person, '/buildings', options);
    const closing = (page) => page.context().close();
    const names = (page) => page.locator('.places h2').allInnerTexts();

    async function fill(page, { label = 'Cabin', zip = '97201' } = {}) {
        await page.getByRole('button', { name: 'Add a building' }).click();
        const dialog = page.getByRole('dialog', { name: 'Add a building' });
        await dialog.getByLabel('Name').fill(label);
        await dialog.getByLabel('Street, number and flat').fill('1 Main Street');
        await dialog.getByLabel('City').fill('Portland');
        await dialog.getByLabel('State or province').selectOption('OR');
        await dialog.getByLabel('Postal code').fill(zip);
        await dialog.getByLabel('Key that opens the door').fill('5');
        await dialog.getByRole('button', { name: 'See the price' }).click();
        return dialog;
    }

    it('adds a building for the price that it shows, and leads to its settings', async () => {
        const person = await owner(client);
        const page = await open(person);
        assert.deepEqual(await names(page), ['Home']);
        const dialog = await fill(page);
        await dialog.getByText('1 now, then 2').waitFor();
        assert.match(await dialog.locator('.price').innerText(), /\$\d+\.\d\d a (week|year|month)/);
        await dialog.getByText('1 Main Street, Portland, OR, 97201').waitFor();
        const clock = dialog.getByLabel('The clock there');
        assert.deepEqual(await clock.locator('option').allInnerTexts(), ['Los Angeles', 'Boise']);
        await Promise.all([page.waitForResponse('**/v1/buildings/preview'), clock.selectOption('Boise')]);
        await checkAccessible(page);
        await checkTargets(page);
        await picture(page, 'buildings-quote');
        assert.equal((await buildings(person)).length, 1);
        await dialog.getByRole('button', { name: 'Add a building' }).click();
        await page.getByText('was added').waitFor();
        await page.getByRole('heading', { name: 'Cabin' }).waitFor();
        assert.deepEqual(await names(page), ['Home', 'Cabin']);
        await page.locator('#where summary').click();
        await page.locator('#places').getByText('Cabin').waitFor();
        await page.locator('#where summary').click();
        await checkAccessible(page);
        await picture(page, 'buildings-added');
        await page.getByRole('button', { name: 'Set it up' }).click();
        await page.getByRole('heading', { name: 'Cabin', level: 1 }).waitFor();
        assert.deepEqual((await buildings(person)).map((one) => one.timezone), [null, 'America/Boise']);
        await closing(page);
    });

    it('shows another building, on this page and the others', async () => {
        const person = await owner(client);
        await added(person);
        const page = await open(person);
        await page.getByRole('button', { name: 'Show Cabin' }).focus();
        await Promise.all([page.waitForEvent('load'), page.keyboard.press('Enter')]);
        await page.locator('#place').getByText('Cabin').waitFor();
        await page.getByRole('link', { name: 'Settings' }).click();
        await page.getByRole('heading', { name: 'Cabin', level: 1 }).waitFor();
        await closing(page);
    });

    it('removes a building after saying what goes with it', async () => {
        const person = await owner(client);
        const cabin = await added(person);
        const page = await open(person);
        assert.equal(await page.getByRole('button', { name: 'Remove Home' }).count(), 0);
        await page.getByRole('button', { name: 'Remove Cabin' }).click();
        const dialog = page.getByRole('dialog', { name: 'Remove this building?' });
        await dialog.getByText(`The number ${written(cabin.virtual_number)} is given up for good.`).waitFor();
        await dialog.getByText('2 now, then 1').waitFor();
        await picture(page, 'buildings-remove');
        await page.keyboard.press('Escape');
        await dialog.waitFor({ state: 'detached' });
        assert.equal((await buildings(person)).length, 2);
        await page.getByRole('button', { name: 'Remove Cabin' }).click();
        await dialog.getByRole('button', { name: 'Remove' }).click();
        await page.getByText('was removed').waitFor();
        assert.deepEqual(await names(page), ['Home']);
        assert.equal((await buildings(person)).length, 1);
        await closing(page);
    });

    it('keeps what was typed when it does not fit, and quotes again when the price is stale', async () => {
        const person = await owner(client);
        const page = await open(person);
        const dialog = await fill(page, { zip: 'x' });
        await dialog.getByText('Check the address').waitFor();
        assert.equal(await dialog.getByLabel('Street, number and flat').inputValue(), '1 Main Street');
        await dialog.getByLabel('Postal code').fill('97201');
        await dialog.getByRole('button', { name: 'See the price' }).click();
        await dialog.getByText('1 now, then 2').waitFor();
        await added(person, addition({ label: 'Barn' }));
        await dialog.getByRole('button', { name: 'Add a building' }).click();
        await dialog.getByText('Something changed meanwhile. Here is the present price.').waitFor();
        await dialog.getByText('2 now, then 3').waitFor();
        assert.ok(browser.takeComplaints().every((text) => /status of (400|409)/.test(text)));
        await closing(page);
    });

    it('says that the phone comes first', async () => {
        const page = await open(await resident(client));
        const dialog = await fill(page);
        await dialog.getByText('First add your phone').waitFor();
        browser.takeComplaints();
        await closing(page);
    });

    it('follows a change that runs, and one that needs the operator, also after a reload', async () => {
        const person = await owner(client);
        const cabin = await added(person);
        const page = await open(person);
        const id = 'f0f0f0f0f0f0f0f0f0f0f0f0';
        let status = 'running';
        await page.route('**/app/v1/buildings/operations/*', (route) => route.fulfill({ json: { action: 'remove', id, status, input: { label: cabin.label }, billing: {}, building_id: cabin.id, result: null } }));
        await page.evaluate(([key, value]) => localStorage.setItem(key, value), [`portero-operation-${await page.evaluate(() => JSON.parse(document.getElementById('data').textContent).account.id)}`, id]);
        await page.reload();
        await page.getByText('is being removed').waitFor();
        assert.equal(await page.getByRole('button', { name: 'Remove Cabin' }).isDisabled(), true);
        await picture(page, 'buildings-running');
        status = 'reconciliation_required';
        await page.getByText('needs the help of the service’s operator').waitFor();
        await page.getByText(id).waitFor();
        await checkAccessible(page);
        await closing(page);
    });

    it('needs a subscription for more', async () => {
        const page = await open(await signIn(client), { viewport: { width: 390, height: 800 } });
        await page.getByText('A further building needs an active subscription.').waitFor();
        assert.equal(await page.getByRole('button', { name: 'Add a building' }).count(), 0);
        await checkAccessible(page);
        await closing(page);
    });

    it('shows texts of residents as texts', async () => {
        const person = await owner(client);
        await added(person, addition({ label: HOSTILE, address: { street: HOSTILE, city: HOSTILE, state: 'OR', zip: '97201' } }));
        const page = await open(person);
        await page.getByRole('heading', { name: HOSTILE }).waitFor();
        await page.getByRole('button', { name: 'Remove' }).click();
        await page.getByRole('dialog').getByText(HOSTILE, { exact: true }).waitFor();
        assert.equal(await page.locator('main img, dialog img').count(), 0);
        await closing(page);
    });

    for (const [locale, text] of [['es-MX', 'Edificios'], ['fr-CA', 'Immeubles']]) {
        it(`speaks ${locale}`, async () => {
            const page = await open(await resident(client), { locale });
            await page.getByRole('heading', { name: text, exact: true }).waitFor();
            await checkAccessible(page);
            await closing(page);
        });
    }

    // SITE-29
    it('finds one of twenty by name, address or number, and says of each whether it opens', async () => {
        const person = await resident(client);
        await grant(person, { type: 'timer', label: 'Party', expires_in_minutes: 60 });
        await visit(client, { to: person.number });
        const { id } = ok(await person.client.get('/v1/account'));
        const home = person.building.id;
        for (let i = 0; i < 19; i++) {
            sql(w.daemon, `INSERT INTO building (account_id, id, created_at, is_primary, label, street, city, state, zip, country)
                VALUES ('${id}', '${home.slice(0, 20)}${String(9000 + i)}', ${4000000000000000 + i}, 0, 'Door ${i}', '${i} Peña Street', 'Salem', 'OR', '97301', 'US');`);
        }
        const page = await open(person);
        assert.equal((await names(page)).length, 20);
        assert.deepEqual(await page.locator('.place-card', { hasText: 'Home' }).locator('.badge').allInnerTexts(), ['Shown now', 'First building', 'Opens the door']);
        await page.locator('.place-card', { hasText: 'Door 7' }).getByText('Does not open yet').waitFor();
        await page.getByText('20 of 20 buildings').waitFor();
        await checkSights(page, 'buildings-many');
        await page.getByRole('searchbox').fill('17 pena');
        await page.getByText('1 of 20 buildings').waitFor();
        assert.deepEqual(await names(page), ['Door 17']);
        await page.reload();
        assert.deepEqual(await names(page), ['Door 17']);
        await page.getByRole('searchbox').fill(written(person.number));
        await page.getByText('1 of 20 buildings').waitFor();
        assert.deepEqual(await names(page), ['Home']);
        await page.getByRole('searchbox').fill('nowhere');
        await page.getByText('No building matches.').waitFor();
        await page.getByRole('searchbox').fill('');
        await setSubscription(client, person.email, 'canceled');
        await page.reload();
        await page.locator('.place-card', { hasText: 'Home' }).getByText('Does not open yet').waitFor();
        await closing(page);
    });

    it('is accessible and fits, light and dark', async () => {
        const person = await owner(client);
        await added(person);
        const page = await open(person);
        await checkSights(page, 'buildings');
        await closing(page);
    });
});
