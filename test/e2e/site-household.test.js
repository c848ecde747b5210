// The people of a building on its page, in a browser, and the switch between a person's places.
// PORTERO_E2E_PICTURES=directory keeps screenshots.
// engine: sqlite, because what the pages read and write is tested on both engines elsewhere
import { after, afterEach, before, describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { Browser } from './lib/browser.js';
import { ok } from './lib/client.js';
import { signInBrowser } from './lib/site.js';
import { checkSights, openSigned, picture } from './lib/site-page.js';
import { changeSettings, freshEmail, message, resident, useWorld } from './lib/world.js';

const NAME = '<img src=x onerror=alert(1)>';

describe('the people of a building', () => {
    const w = useWorld();
    const { client } = w;
    let browser;
    before(async () => { browser = await Browser.start(); });
    after(() => browser?.close());
    afterEach(() => assert.deepEqual(browser.takeComplaints(), []));

    const cardOf = (page, name = 'People') => page.getByRole('region', { name, exact: true });
    const closing = (page) => page.context().close();
    const peopleOf = async (owner) => {
        const { site } = await signInBrowser(client, { email: owner.email });
        return ok(await site.get(`/v1/buildings/${owner.building.id}/people`)).data.map(({ name, email, role, language }) => ({ name, email, role, language }));
    };
    const invite = async (owner, name, role) => {
        const { site } = await signInBrowser(client, { email: owner.email });
        const email = freshEmail();
        ok(await site.post(`/v1/buildings/${owner.building.id}/people`, { name, email, role }), 201);
        return { email };
    };

    // ACCOUNT-42, ACCOUNT-43
    it('are invited, changed and removed there', async () => {
        const owner = await resident(client), email = freshEmail();
        const page = await openSigned(browser, w, owner, '/building');
        const card = cardOf(page), dialog = page.getByRole('dialog');
        await card.getByRole('button', { name: 'Invite someone' }).click();
        await dialog.getByLabel('Name', { exact: true }).fill(NAME);
        await dialog.getByLabel('E-mail address').fill(owner.email);
        await dialog.getByRole('button', { name: 'Send the invitation' }).click();
        await dialog.getByText('This person is in the building already.').waitFor();
        assert.ok(browser.takeComplaints().every((text) => /status of 409/.test(text)));
        await dialog.getByLabel('E-mail address').fill(email);
        await dialog.getByRole('button', { name: 'Send the invitation' }).click();
        await page.getByText(`Invited: ${email}`).waitFor();
        assert.deepEqual(await peopleOf(owner), [{ name: NAME, email, role: 'resident', language: 'en' }]);
        await card.getByText(NAME, { exact: true }).waitFor();
        assert.equal(await page.locator('main img').count(), 0);

        await card.getByRole('button', { name: `Change ${NAME}` }).click();
        await dialog.getByLabel('Name', { exact: true }).fill('Ana');
        await dialog.getByLabel('What they may do').selectOption('Manages codes');
        await dialog.getByRole('button', { name: 'Save' }).click();
        await card.getByText('Ana', { exact: true }).waitFor();
        assert.deepEqual(await peopleOf(owner), [{ name: 'Ana', email, role: 'manager', language: 'en' }]);

        await card.getByRole('button', { name: 'Remove Ana' }).click();
        await dialog.getByText('They are signed out at once.').waitFor();
        await picture(page, 'people-remove');
        await dialog.getByRole('button', { name: 'Remove', exact: true }).click();
        await page.getByText('Ana was removed').waitFor();
        assert.deepEqual([await peopleOf(owner), await card.getByText('Ana', { exact: true }).count()], [[], 0]);
        await closing(page);
    });

    // ACCOUNT-45, ACCOUNT-46
    it('verify their own phone, and choose their notices and quiet hours', async () => {
        const owner = await resident(client), ana = await invite(owner, 'Ana', 'resident');
        const page = await openSigned(browser, w, ana, '/account');
        await page.getByText('When nothing opens the door of Home').waitFor();
        await page.getByLabel('Phone number').fill('+1 514 555 0188');
        await page.getByRole('button', { name: 'Send a code to it' }).click();
        await page.getByText('A code for').waitFor();
        await page.getByLabel('The six digits').fill((await message(client, '+15145550188', 'sms')).code);
        await page.getByText('Calls now come to this phone').waitFor();
        await checkSights(page, 'member-account');

        const theirs = await openSigned(browser, w, owner, '/building');
        await cardOf(theirs).getByText('phone …0188').waitFor();
        await cardOf(theirs, 'Phones').getByText('Ana’s phone rings, too').waitFor();
        await closing(theirs);
        await page.getByRole('button', { name: 'Remove' }).click();
        await page.getByText('This phone rings no more').waitFor();
        await page.getByLabel('Phone number').waitFor();

        await page.goto(`${w.daemon.https}/notices`);
        const mail = cardOf(page, 'By e-mail'), quiet = cardOf(page, 'Do not disturb');
        await mail.getByText(`To ${ana.email}.`, { exact: true }).waitFor();
        await mail.getByLabel('The door opened').check();
        await mail.getByRole('button', { name: 'Save' }).click();
        await page.getByRole('status').getByText('Saved', { exact: true }).first().waitFor();
        await quiet.getByLabel('From').fill('23:15');
        await quiet.getByLabel('Until').fill('06:45');
        await quiet.getByRole('button', { name: 'Save' }).click();
        await quiet.getByRole('button', { name: 'Switch off' }).waitFor();
        await checkSights(page, 'member-notices');
        const { site } = await signInBrowser(client, { email: ana.email });
        const hours = async () => ok(await site.get('/v1/person/quiet_hours'));
        assert.deepEqual(await hours(), { from: '23:15', until: '06:45' });
        assert.deepEqual(ok(await site.get(`/v1/buildings/${owner.building.id}/notices`)).email, ['opened']);
        await quiet.getByRole('button', { name: 'Switch off' }).click();
        await page.getByText('ring at any hour').waitFor();
        assert.deepEqual(await hours(), { from: null, until: null });
        await closing(page);
    });

    // SITE-12
    it('who manage codes have neither phone, nor rings, nor quiet hours', async () => {
        const owner = await resident(client), max = await invite(owner, 'Max', 'manager');
        const page = await openSigned(browser, w, max, '/notices');
        await cardOf(page, 'By e-mail').getByLabel('The door opened').waitFor();
        assert.deepEqual([await page.getByLabel('Someone calls from the door').count(), await cardOf(page, 'Do not disturb').count()], [0, 0]);
        await page.goto(`${w.daemon.https}/account`);
        await cardOf(page, max.email).waitFor();
        assert.equal(await page.getByLabel('Phone number').count(), 0);
        await closing(page);
    });

    // KEY-34
    it('switch to their other places in the head of the page', async () => {
        const owner = await resident(client), email = freshEmail();
        const { site } = await signInBrowser(client, { email: owner.email });
        await changeSettings(owner, { label: 'Grandma' });
        ok(await site.post(`/v1/buildings/${owner.building.id}/people`, { name: 'Ana', email, role: 'resident' }), 201);
        const page = await openSigned(browser, w, { email }, '/');
        const places = page.locator('#places');
        await page.locator('#place').click();
        await picture(page, 'people-places');
        await Promise.all([page.waitForEvent('load'), places.getByRole('button', { name: 'A building of my own' }).click()]);
        await page.locator('#place').getByText('Home').waitFor();
        await page.locator('#place').click();
        await Promise.all([page.waitForEvent('load'), places.getByRole('button', { name: 'Grandma as a member' }).click()]);
        await page.locator('#place').getByText('Grandma').waitFor();
        await page.locator('#place').click();
        assert.equal(await places.getByRole('button').count(), 2);
        await closing(page);
    });

    for (const [locale, title] of [['en-GB', 'People'], ['es-MX', 'Personas']]) {
        it(`are shown accessibly and fit, in ${locale}`, async () => {
            const owner = await resident(client);
            await invite(owner, 'Ana María de los Ángeles Fernández', 'resident');
            await invite(owner, 'Bob', 'manager');
            const page = await openSigned(browser, w, owner, '/building', { locale });
            const card = cardOf(page, title);
            await card.getByText('Bob', { exact: true }).waitFor();
            await checkSights(page, `people-${locale}`);
            await card.getByRole('button').last().click();
            await page.getByRole('dialog').waitFor();
            await checkSights(page, `people-invite-${locale}`);
            await closing(page);
        });
    }
});
