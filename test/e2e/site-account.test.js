// The account's page: the phone that rings, the browsers that are signed in, the return from the checkout.
// engine: sqlite, because it tests pages in a browser
import { describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { ok } from './lib/client.js';
import { nameOf, SIGHTS, useBrowser } from './lib/signed.js';
import { signInBrowser } from './lib/site.js';
import { written } from './lib/site-page.js';
import { grant, message, resident, setSubscription, signIn, useWorld } from './lib/world.js';

const FIREFOX = 'Mozilla/5.0 (Android 14; Mobile; rv:128.0) Gecko/128.0 Firefox/128.0';
let last = 0;
const freshPhone = () => `+1514555${String(1000 + (last += 1))}`;

describe('the account\'s page', () => {
    const w = useWorld();
    const { client } = w;
    const b = useBrowser(w);
    const phone = async (person) => ok(await person.client.get('/v1/account/phone'));
    const isSignedOut = (page) => page.getByRole('heading', { name: 'Sign in to your door' }).waitFor();

    it('verifies a phone with the keyboard alone, and changes it', async () => {
        const person = await resident(client);
        const page = await b.open('/account', person);
        const first = freshPhone(), second = freshPhone();
        await page.getByLabel('Phone number').fill(`(${first.slice(2, 5)}) ${first.slice(5, 8)}-${first.slice(8)}`);
        await page.keyboard.press('Enter');
        await page.getByText(`A code for ${written(first)} is on its way`).waitFor();
        const { code } = await message(client, first, 'sms');
        await page.getByLabel('The six digits').fill(code === '000000' ? '111111' : '000000'); // the last digit sends it
        await page.getByText('This code is wrong.').waitFor();
        b.expect(400);
        await page.getByLabel('The six digits').fill(code);
        await page.getByText('Calls now come to this phone').waitFor();
        await page.waitForFunction(() => document.activeElement?.id === 'phone');
        assert.equal((await phone(person)).phone_number, first);
        await page.getByRole('button', { name: 'Change' }).press('Enter');
        await page.waitForFunction(() => document.activeElement?.id === 'f-phone_number');
        await page.keyboard.type(second);
        await page.keyboard.press('Enter');
        await page.getByText(`A code for ${written(second)} is on its way`).waitFor();
        await page.getByText(written(first)).waitFor();
        assert.equal((await phone(person)).phone_number, first);
        await page.reload();
        await page.getByLabel('The six digits').fill((await message(client, second, 'sms')).code);
        await page.getByText('Calls now come to this phone').waitFor();
        assert.equal((await phone(person)).phone_number, second);
        await b.close(page);
    });

    it('tells what is wrong with a phone, and keeps what was typed', async () => {
        const person = await resident(client);
        const page = await b.open('/account', person);
        await page.getByLabel('Phone number').fill('12');
        await page.getByRole('button', { name: 'Send a code to it' }).click();
        await page.getByText('This is not a telephone number with its country code.').waitFor();
        assert.equal(await page.getByLabel('Phone number').getAttribute('aria-invalid'), 'true');
        assert.equal(await page.getByLabel('Phone number').inputValue(), '12');
        b.expect(400);
        await b.close(page);
    });

    it('ends another browser, and then all', async () => {
        const person = await signIn(client);
        const other = await signInBrowser(client, { email: person.email, headers: { 'user-agent': FIREFOX } });
        const page = await b.open('/account', person);
        await page.getByText('This browser').waitFor();
        await page.getByRole('button', { name: /^Sign out Firefox on Android/ }).press('Enter');
        await page.getByText('Firefox on Android was signed out').waitFor();
        assert.equal((await other.site.get('/v1/account', { check: false })).status, 401);
        const third = await signInBrowser(client, { email: person.email });
        await page.getByRole('button', { name: 'Sign out everywhere' }).press('Enter');
        await page.getByRole('dialog').getByRole('button', { name: 'Sign out everywhere' }).press('Enter');
        await isSignedOut(page);
        assert.equal((await third.site.get('/v1/account', { check: false })).status, 401);
        await page.goto(`${w.daemon.https}/account`);
        await isSignedOut(page);
        await b.close(page);
    });

    it('says what came of the checkout', async () => {
        const person = await signIn(client);
        const page = await b.open('/account?checkout=cancel', person);
        await page.getByText('You left without paying. Nothing was charged.').waitFor();
        await page.goto(`${w.daemon.https}/account?checkout=success`);
        await page.getByText('The billing provider is confirming your payment').waitFor();
        await setSubscription(client, person.email);
        await page.getByText('Thank you, your subscription is active, and your building’s number is').waitFor();
        await b.close(page);
    });

    it('saves all that is kept of the person as a file', async () => {
        const person = await resident(client);
        const made = await grant(person, { type: 'passcode', label: 'Grandma' });
        const page = await b.open('/account', person);
        const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Save my data' }).click()]);
        await page.getByText('Your data is saved as a file').waitFor();
        assert.match(file.suggestedFilename(), /^portero-account-\d{4}-\d\d-\d\d\.json$/);
        const document = JSON.parse(readFileSync(await file.path(), 'utf8'));
        assert.equal(document.account[0].email, person.email);
        assert.equal(document.access_grant.find(({ label }) => label === 'Grandma').access_code, made.access_code);
        await b.close(page);
    });

    it('deletes the account with the keyboard alone, by a code from the mail, and says so once', async () => {
        const person = await resident(client);
        const page = await b.open('/account', person);
        await page.getByRole('button', { name: 'Delete my account' }).press('Enter');
        const dialog = page.getByRole('dialog', { name: 'Delete your account?' });
        await dialog.getByRole('button', { name: 'Keep my account' }).press('Enter');
        await dialog.waitFor({ state: 'detached' });
        await page.getByRole('button', { name: 'Delete my account' }).press('Enter');
        await dialog.getByRole('button', { name: `Send a code to ${person.email}` }).press('Enter');
        await dialog.getByLabel('Code from the e-mail').waitFor();
        const { code } = await message(client, person.email);
        await page.keyboard.type(code === '000000' ? '111111' : '000000');
        await page.keyboard.press('Enter');
        await dialog.getByText('This code is wrong or too old.').waitFor();
        b.expect(401);
        await dialog.getByLabel('Code from the e-mail').fill(code);
        await page.keyboard.press('Enter');
        await isSignedOut(page);
        await page.getByText('Your account is deleted.').waitFor();
        assert.deepEqual((await page.context().cookies()).filter(({ name }) => name.startsWith('__Host-')), []);
        await page.reload();
        await isSignedOut(page);
        assert.equal(await page.getByText('Your account is deleted.').count(), 0);
        await b.close(page);
    });

    for (const [locale, title] of [['es-MX', 'El teléfono que suena'], ['fr-CA', 'Le téléphone qui sonne']]) {
        it(`speaks ${locale}`, async () => {
            const page = await b.open('/account', await resident(client), { locale });
            await page.getByRole('heading', { name: title }).waitFor();
            await b.look(page, `account-${locale}`);
            await b.close(page);
        });
    }

    for (const sight of SIGHTS) {
        it(`is accessible and fits: ${nameOf(sight)}`, async () => {
            const person = await signIn(client);
            await signInBrowser(client, { email: person.email, headers: { 'user-agent': FIREFOX }, remember: true });
            const page = await b.open('/account', person, sight);
            await page.getByText('You can set it once your building has its number.').waitFor();
            await b.look(page, `account-new-${nameOf(sight)}`);
            await setSubscription(client, person.email);
            await page.goto(`${w.daemon.https}/account?checkout=success`);
            const number = freshPhone();
            await page.getByLabel('Phone number').fill(number);
            await page.keyboard.press('Enter');
            await page.getByLabel('The six digits').waitFor();
            await b.look(page, `account-code-${nameOf(sight)}`);
            await page.getByLabel('The six digits').fill((await message(client, number, 'sms')).code);
            await page.keyboard.press('Enter');
            await page.getByRole('button', { name: 'Change' }).waitFor();
            await b.look(page, `account-${nameOf(sight)}`);
            await page.getByRole('button', { name: 'Delete my account' }).press('Enter');
            await page.getByRole('button', { name: 'Keep my account' }).waitFor();
            await b.look(page, `account-delete-${nameOf(sight)}`);
            await b.close(page);
        });
    }
});
