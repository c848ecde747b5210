// The sandbox's receiver of webhooks: deliveries to https://receiver.test/ are listed, with the verdict on their
// signature, and shown on the sandbox's page.
// engine: sqlite, because the receiver keeps its list in memory
import { describe, it, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { Browser } from './lib/browser.js';
import { ok, refused } from './lib/client.js';
import { eventually, grant, resident, signIn, useWorld } from './lib/world.js';

describe('the sandbox\'s receiver', () => {
    const w = useWorld();
    const { client } = w;
    const received = async () => ok(await client.get('/sandbox/webhooks')).data;
    const endpoint = async (who, url) => ok(await who.client.post('/v1/webhooks', { url }), 201);
    const outcome = async (who, id) => ok(await who.client.get(`/v1/webhooks/${id}/deliveries`)).data[0];

    // WEBHOOK-34
    it('gets events, and checks their signatures as a receiver should', async () => {
        const person = await resident(client, { tone: '9' });
        const { id, secret } = await endpoint(person, 'https://receiver.test/');
        await grant(person, { type: 'timer', expires_in_minutes: 5 });
        ok(await client.post('/sandbox/calls', { to: person.number }));
        await eventually(async () => (await outcome(person, id))?.status === 'delivered', 'the delivery');
        const [webhook] = await received();
        const { type, data } = JSON.parse(webhook.body);
        assert.equal(type, 'access.granted');
        assert.equal(data.building_id, person.building.id);
        const [, time, signature] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(webhook.signature);
        assert.equal(createHmac('sha256', secret).update(`${time}.${webhook.body}`).digest('hex'), signature);
        assert.deepEqual([webhook.genuine, webhook.status, webhook.url], [true, 200, 'https://receiver.test/']);
    });

    it('answers as the URL says, so that a failure can be seen', async () => {
        const person = await signIn(client);
        const { id } = await endpoint(person, 'https://receiver.test/503');
        ok(await person.client.post(`/v1/webhooks/${id}/test`), 202);
        await eventually(async () => (await outcome(person, id))?.last_status_code === 503, 'the failed attempt');
        assert.equal((await received())[0].status, 503);
    });

    it('has no other name', async () => {
        const person = await signIn(client);
        for (const url of ['https://other.test/', 'https://receiver.test:8443/', 'http://receiver.test/'])
            refused(await person.client.post('/v1/webhooks', { url }), 400, 'INVALID_WEBHOOK_URL');
    });

    describe('in a browser', () => {
        let browser;
        before(async () => { browser = await Browser.start(); });
        after(() => browser?.close());

        it('shows what came', async () => {
            const person = await signIn(client);
            const { id } = await endpoint(person, 'https://receiver.test/seen');
            ok(await person.client.post(`/v1/webhooks/${id}/test`), 202);
            const page = await browser.page(`${w.daemon.https}/sandbox/`);
            const item = page.locator('#webhooks > li').filter({ hasText: 'webhook.test' }).filter({ hasText: 'Answered 200' }).first();
            await item.waitFor();
            assert.match(await item.innerText(), /The signature is right\./);
            await item.getByText('Request').click();
            assert.match(await item.locator('pre').innerText(), /^POST https:\/\/receiver\.test\/seen\nService-Signature: t=\d+,v1=/);
            await page.context().close();
            assert.deepEqual(browser.takeComplaints(), []);
        });
    });
});
