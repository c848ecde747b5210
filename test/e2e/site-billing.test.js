// The page of the subscription: a plan chosen and paid, a payment that waits, fails or is dropped, the portal.
// engine: sqlite, because it tests pages in a browser
import { afterEach, describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { idempotencyKey, ok } from './lib/client.js';
import { nameOf, SIGHTS, useBrowser } from './lib/signed.js';
import { provisioned, setSubscription, signIn, useWorld } from './lib/world.js';

describe('the page of the subscription', () => {
    const w = useWorld();
    const { client } = w;
    const b = useBrowser(w);
    const fault = async (operation, kind, count = 1) => ok(await client.post('/sandbox/faults', { provider: 'billing', operation, fault: kind, count }));
    const status = async (person) => ok(await person.client.get('/v1/account')).subscription;
    const checkout = async (person, plan = 'yearly') => ok(await person.client.post('/v1/billing/checkout', { plan }, { headers: { 'Idempotency-Key': idempotencyKey() } }), 201);
    const now = (page) => page.locator('.states [aria-current] b').innerText();
    afterEach(async () => ok(await client.post('/sandbox/faults', { provider: 'billing', fault: 'none' })));

    it('leads with the keyboard alone from a plan through the payment to the account', async () => {
        const person = await signIn(client);
        const page = await b.open('/billing', person);
        await page.getByText('US$199.00 a year').waitFor();
        await page.getByText('About US$3.81 a week.').waitFor();
        assert.match(await now(page), /^No subscription/);
        await page.getByRole('button', { name: 'Choose: Yearly plan' }).focus();
        await page.keyboard.press('Enter');
        await page.waitForURL(/\/sandbox\/checkout\//);
        await page.getByRole('button', { name: 'Pay' }).press('Enter');
        await page.waitForURL(/\/account\?checkout=success$/);
        await page.getByText('Thank you, your subscription is active').waitFor();
        assert.deepEqual(await status(person), { type: 'yearly', status: 'active' });
        await page.goto(`${w.daemon.https}/billing`);
        await page.getByRole('heading', { name: 'Yearly plan' }).waitFor();
        await page.getByText('US$199.00 a year').waitFor();
        assert.match(await now(page), /^Active/);
        await b.close(page);
    });

    it('goes on with a payment that waits, or drops it', async () => {
        const person = await signIn(client);
        const made = await checkout(person);
        const page = await b.open('/billing', person);
        await page.getByRole('heading', { name: 'Your payment is waiting: Yearly plan' }).waitFor();
        assert.equal(await page.getByRole('link', { name: 'Go on to the payment' }).getAttribute('href'), new URL(made.url).pathname);
        await b.look(page, 'billing-open');
        await page.getByRole('button', { name: 'Drop this payment' }).click();
        await page.getByRole('dialog').getByRole('button', { name: 'Drop this payment' }).click();
        await page.getByText('The payment was dropped. Nothing was charged.').waitFor();
        await page.getByText('The last payment page has closed without a payment.').waitFor();
        assert.equal(ok(await person.client.get('/v1/billing/checkout')).status, 'expired');
        await page.getByRole('button', { name: 'Choose: Weekly plan' }).click();
        await page.waitForURL(/\/sandbox\/checkout\//);
        await b.close(page);
    });

    it('tells that the provider does not answer, and buys once when tried again', async () => {
        const person = await signIn(client);
        const page = await b.open('/billing', person);
        await page.getByText('US$4.99 a week').waitFor();
        await fault('session_create', 'timeout');
        await page.getByRole('button', { name: 'Choose: Weekly plan' }).click();
        await page.getByText('The billing provider does not answer. Try again.').waitFor();
        b.expect(503);
        await page.reload();
        await page.getByRole('heading', { name: 'The payment page is not ready yet' }).waitFor();
        await page.getByRole('button', { name: 'Try again' }).click();
        await page.waitForURL(/\/sandbox\/checkout\//);
        await b.close(page);
    });

    it('opens the portal, and says what a failed payment does to the door', async () => {
        const person = await signIn(client);
        await provisioned(person);
        await setSubscription(client, person.email, 'past_due');
        const page = await b.open('/billing', person);
        await page.getByText('The door still opens').waitFor();
        assert.match(await now(page), /^Payment failed/);
        await page.getByRole('button', { name: 'Update the payment' }).click();
        await page.waitForURL(/\/sandbox\/portal\//);
        await setSubscription(client, person.email, 'canceled');
        await page.goto(`${w.daemon.https}/billing`);
        await page.getByRole('button', { name: 'Choose: Weekly plan' }).waitFor();
        assert.match(await now(page), /^No subscription/);
        await b.close(page);
    });

    for (const [locale, title, amount] of [['es-MX', 'Suscripción', /199/], ['fr-CA', 'Abonnement', /199,00/]]) {
        it(`speaks ${locale}`, async () => {
            const page = await b.open('/billing', await signIn(client), { locale });
            await page.getByRole('heading', { name: title, exact: true }).waitFor();
            await page.getByText(amount).first().waitFor();
            await b.look(page, `billing-${locale}`);
            await b.close(page);
        });
    }

    for (const sight of SIGHTS) {
        it(`is accessible and fits: ${nameOf(sight)}`, async () => {
            const person = await signIn(client);
            const page = await b.open('/billing', person, sight);
            await page.getByRole('heading', { name: 'Choose a plan' }).waitFor();
            await b.look(page, `billing-none-${nameOf(sight)}`);
            await provisioned(person);
            await page.reload();
            await page.getByRole('button', { name: 'Manage the subscription' }).waitFor();
            await b.look(page, `billing-active-${nameOf(sight)}`);
            await setSubscription(client, person.email, 'past_due');
            await page.reload();
            await page.getByRole('button', { name: 'Update the payment' }).waitFor();
            await b.look(page, `billing-late-${nameOf(sight)}`);
            await b.close(page);
        });
    }
});
