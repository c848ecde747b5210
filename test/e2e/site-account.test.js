// The account's page: the phone that rings, the browsers that are signed in, the return from the checkout.
// engine: sqlite, because it tests pages in a browser
import { describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { ok } from './lib/client.js';
import { nameOf, SIGHTS, useBrowser } from './lib/signed.js';
import { signInBrowser } from './lib/site.js';
import { message, resident, setSubscription, signIn, useWorld } from './lib/world.js';

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
        await page.getByText(`A code for ${first} is on its way`).waitFor();
        const { code } = await message(client, first, 'sms');
        await page.getByLabel('The six digits').fill(code === '000000' ? '111111' : '000000');
        await page.keyboard.press('Enter');
        await page.getByText('This code is wrong.').waitFor();
        b.expect(400);
        await page.getByLabel('The six digits').fill(code);
        await page.keyboard.press('Enter');
        await page.getByText('Calls now come to this phone').waitFor();
        await page.waitForFunction(() => document.activeElement?.id === 'phone');
        assert.equal((await phone(person)).phone_number, first);
        await page.getByRole('button', { name: 'Change' }).press('Enter');
        await page.waitForFunction(() => document.activeElement?.id === 'f-phone_number');
        await page.keyboard.type(second);
        await page.keyboard.press('Enter');
        await page.getByText(`A code for ${second} is on its way`).waitFor();
        await page.getByText(first).waitFor();
        assert.equal((await phone(person)).phone_number, first);
        await page.reload();
        await page.getByLabel('The six digits').fill((await message(client, second, 'sms')).code);
        await page.keyboard.press('Enter');
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
            await b.close(page);
        });
    }
});
