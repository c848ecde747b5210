// The page of webhooks: an address made, tested, read about, sent to again, and deleted.
// engine: sqlite, because it tests pages in a browser
import { describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { ok } from './lib/client.js';
import { REACHABLE, Receiver } from './lib/receiver.js';
import { nameOf, SIGHTS, useBrowser } from './lib/signed.js';
import { eventually, resident, signIn, useWorld } from './lib/world.js';

describe('the page of webhooks', () => {
    const w = useWorld({ config: REACHABLE });
    const { client } = w;
    const b = useBrowser(w);
    const endpoints = async (person) => ok(await person.client.get('/v1/webhooks')).data;
    const add = async (person, url) => ok(await person.client.post('/v1/webhooks', { url }), 201);
    const receiving = async (t, answer) => {
        const receiver = await Receiver.start(answer);
        t.after(() => receiver.close());
        return receiver;
    };

    it('adds an address with the keyboard alone, shows its secret once, tests it and deletes it', async (t) => {
        const receiver = await receiving(t);
        const person = await resident(client);
        const page = await b.open('/webhooks', person);
        await page.getByText('No addresses yet').waitFor();
        await page.getByRole('button', { name: 'New address' }).press('Enter');
        await page.waitForFunction(() => document.activeElement?.id === 'f-url');
        await page.keyboard.type(receiver.url('/door'));
        await page.getByLabel('Your phone rang').press('Space');
        await page.getByRole('textbox', { name: 'Address' }).press('Enter');
        await page.getByRole('heading', { name: 'The address was added' }).waitFor();
        const secret = await page.getByRole('textbox', { name: 'Secret' }).innerText();
        assert.match(secret, /^whsec_[0-9A-Za-z]{43}$/);
        const [made] = await endpoints(person);
        assert.deepEqual([made.url, made.events], [receiver.url('/door'), ['access.granted', 'access.denied', 'unlock.no_uses_remaining']]);
        await page.getByRole('button', { name: 'I have stored it' }).press('Enter');
        await page.waitForFunction(() => document.activeElement?.id === 'endpoints');
        await page.reload();
        assert.ok(!(await page.content()).includes(secret));
        await page.getByRole('button', { name: `Send a test to ${made.url}` }).press('Enter');
        await page.getByText('The test is on its way').waitFor();
        await eventually(() => receiver.requests.length > 0, 'a test');
        await page.getByText('Delivered · attempt 1 of 5 · answer 200').waitFor();
        await page.getByRole('button', { name: `Delete ${made.url}` }).press('Enter');
        await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).press('Enter');
        await page.getByText('The address was deleted').waitFor();
        assert.deepEqual(await endpoints(person), []);
        await b.close(page);
    });

    it('shows a delivery that was refused, and sends a delivered one again', async (t) => {
        let code = 500;
        const receiver = await receiving(t, (request, response) => { response.statusCode = code; response.end(); });
        const person = await resident(client);
        const { id, url } = await add(person, receiver.url('/door'));
        ok(await person.client.request('POST', `/v1/webhooks/${id}/test`), 202);
        const page = await b.open('/webhooks', person);
        await page.locator('summary', { hasText: 'Deliveries' }).press('Enter');
        await page.getByText('On its way · attempt 1 of 5 · answer 500').waitFor();
        assert.equal(await page.getByRole('button', { name: 'Send again' }).count(), 0);
        code = 200;
        await page.getByRole('button', { name: `Send a test to ${url}` }).click();
        await page.getByText('Delivered · attempt 1 of 5 · answer 200').waitFor();
        await page.getByRole('button', { name: 'Send again' }).click();
        await page.getByText('It is on its way again').waitFor();
        await eventually(() => receiver.requests.length >= 3, 'the same event again');
        const [second, third] = receiver.requests.slice(1).map((request) => request.body.id);
        assert.equal(second, third);
        await page.getByText('Delivered · attempt 1 of 5 · answer 200').nth(1).waitFor();
        await b.close(page);
    });

    it('changes an address, switches it off and on, and gives it another secret', async (t) => {
        const receiver = await receiving(t);
        const person = await resident(client);
        const { url, secret } = await add(person, receiver.url('/door'));
        const page = await b.open('/webhooks', person);
        await page.getByRole('button', { name: `Change ${url}` }).click();
        assert.equal(await page.getByRole('textbox', { name: 'Address' }).inputValue(), url);
        await page.getByLabel('Your phone rang').uncheck();
        await page.getByRole('textbox', { name: 'Address' }).fill(receiver.url('/gate'));
        await page.getByRole('button', { name: 'Save' }).click();
        await page.getByText('The address was changed').waitFor();
        const [changed] = await endpoints(person);
        assert.deepEqual([changed.url, changed.events], [receiver.url('/gate'), ['access.granted', 'access.denied', 'unlock.no_uses_remaining', 'webhook.test']]);
        await page.getByRole('button', { name: `Switch off ${changed.url}` }).click();
        await page.getByRole('dialog').getByRole('button', { name: 'Switch off', exact: true }).click();
        await page.getByText('Switched off · ').waitFor();
        assert.equal((await endpoints(person))[0].active, false);
        await page.getByRole('button', { name: `Switch on ${changed.url}` }).click();
        await page.getByText('The address is switched on').waitFor();
        assert.equal((await endpoints(person))[0].active, true);
        await page.getByRole('button', { name: `New secret for ${changed.url}` }).click();
        await page.getByRole('dialog').getByRole('button', { name: 'New secret', exact: true }).click();
        await page.getByRole('heading', { name: 'The new secret' }).waitFor();
        const fresh = await page.getByRole('textbox', { name: 'Secret' }).innerText();
        assert.match(fresh, /^whsec_[0-9A-Za-z]{43}$/);
        assert.notEqual(fresh, secret);
        await page.getByRole('button', { name: `Send a test to ${changed.url}` }).click();
        const request = await receiver.first();
        for (const one of [secret, fresh]) {
            const [time, ...signatures] = request.headers['service-signature'].split(',');
            assert.ok(signatures.includes(`v1=${createHmac('sha256', one).update(`${time.slice(2)}.`).update(request.raw).digest('hex')}`));
        }
        await b.look(page, 'webhooks-secret');
        await b.close(page);
    });

    it('tells what is wrong with an address, and keeps it', async () => {
        const person = await resident(client);
        const page = await b.open('/webhooks', person);
        await page.getByRole('button', { name: 'New address' }).click();
        await page.getByRole('textbox', { name: 'Address' }).fill('http://example.com/');
        await page.getByRole('button', { name: 'Add the address' }).click();
        await page.getByText('This must be an https:// address').waitFor();
        b.expect(400);
        assert.equal(await page.getByRole('textbox', { name: 'Address' }).inputValue(), 'http://example.com/');
        for (const box of await page.getByRole('checkbox').all()) await box.uncheck();
        await page.getByRole('button', { name: 'Add the address' }).click();
        await page.getByText('Choose at least one event.').waitFor();
        assert.deepEqual(await endpoints(person), []);
        await b.close(page);
    });

    it('shows addresses as texts, and no more than five', async (t) => {
        const receiver = await receiving(t);
        const person = await resident(client);
        const hostile = receiver.url("/?a=%3Cimg%20src=x%20onerror=alert(1)%3E&lt;img&gt;&amp;'");
        await add(person, hostile);
        for (let i = 1; i < 5; i++) await add(person, receiver.url(`/${i}`));
        const page = await b.open('/webhooks', person);
        await page.getByRole('heading', { name: hostile, exact: true }).waitFor();
        await page.getByText('An account has at most five addresses.').waitFor();
        assert.ok(await page.getByRole('button', { name: 'New address' }).isDisabled());
        assert.equal(await page.locator('img').count(), 0);
        await b.close(page);
    });

    for (const [locale, title] of [['es-MX', 'Aún no hay direcciones'], ['fr-CA', 'Pas encore d’adresse']]) {
        it(`speaks ${locale}`, async () => {
            const page = await b.open('/webhooks', await signIn(client), { locale });
            await page.getByText(title).waitFor();
            await b.look(page, `webhooks-${locale}`);
            await b.close(page);
        });
    }

    for (const sight of SIGHTS) {
        it(`is accessible and fits: ${nameOf(sight)}`, async (t) => {
            const receiver = await receiving(t);
            const person = await resident(client);
            const page = await b.open('/webhooks', person, sight);
            await page.getByText('No addresses yet').waitFor();
            await b.look(page, `webhooks-none-${nameOf(sight)}`);
            await add(person, receiver.url(`/${'long-path/'.repeat(12)}`));
            const { id, url } = await add(person, receiver.url('/hooks/door'));
            ok(await person.client.request('POST', `/v1/webhooks/${id}/test`), 202);
            await eventually(() => receiver.requests.length > 0, 'a test');
            await page.reload();
            await page.getByRole('button', { name: 'New address' }).click();
            await b.look(page, `webhooks-new-${nameOf(sight)}`);
            await page.keyboard.press('Escape');
            await page.getByRole('button', { name: `Send a test to ${url}` }).click();
            await page.getByText('Delivered · attempt 1 of 5 · answer 200').nth(1).waitFor();
            await b.look(page, `webhooks-${nameOf(sight)}`);
            await b.close(page);
        });
    }
});
