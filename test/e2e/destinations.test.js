// Where the telephone may dial: voice.destinations, for verification and forwarding alike.
// engine: sqlite, because the configuration decides, not the store
import { describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { ok, refused } from './lib/client.js';
import { addition, admin, preview, quote } from './lib/buildings.js';
import { agent, resident, useWorld, visit } from './lib/world.js';
import { sql } from './lib/store.js';

const PREMIUM = '+19005551234';
const ISLAND = '+18765551234';
const ABROAD = '+442079460000';
const HOME = '+12125551234';

describe('numbers that may not be called', () => {
    const w = useWorld({ config: { voice: { destinations: ['+1', '!+1900', '!+1876', '+449', '!+44'] } } });
    const { client } = w;
    const withPhone = async (number) => {
        const person = await resident(client);
        assert.equal(admin(w, 'phone', 'verify', person.email, '--number', number).status, 0);
        return person;
    };
    const reason = /may not be called from here: voice\.destinations/;

    // ACCOUNT-25
    it('are refused when a phone is verified, by a code and by the operator', async () => {
        const person = await resident(client);
        for (const number of [PREMIUM, ISLAND, ABROAD]) {
            const answer = await person.client.post('/v1/account/phone/verification', { phone_number: number });
            refused(answer, 400, 'INVALID_PHONE_NUMBER');
            assert.match(answer.body.error.message, reason);
            const done = admin(w, 'phone', 'verify', person.email, '--number', number);
            assert.equal(done.status, 1);
            assert.match(done.stderr, reason);
            assert.deepEqual(ok(await client.as(undefined).get(`/sandbox/messages?channel=sms&to=${encodeURIComponent(number)}`)).data, []);
        }
        ok(await person.client.post('/v1/account/phone/verification', { phone_number: HOME }));
        assert.equal(admin(w, 'phone', 'verify', person.email, '--number', '+449155512345').status, 0, 'the longest prefix counts');
    });

    // ACCOUNT-26
    it('are refused among the numbers that ring', async () => {
        const person = await resident(client);
        const path = `/v1/buildings/${person.building.id}/settings`;
        const { version } = ok(await person.client.get(path));
        const answer = await person.client.patch(path, { ring: { numbers: [HOME, PREMIUM] } }, { headers: { 'If-Match': version } });
        refused(answer, 400, 'INVALID_PHONE_NUMBER');
        assert.match(answer.body.error.message, reason);
    });

    // ACCOUNT-26
    it('do not ring where they were set before, and the record of the call tells so', async () => {
        const person = await withPhone('+12125550001');
        sql(w.daemon, `UPDATE building SET ring_numbers = '${HOME} ${PREMIUM}' WHERE id = '${person.building.id}';`);
        const call = await visit(client, { to: person.number });
        assert.deepEqual(call.rang, ['+12125550001', HOME]);
        const steps = async () => ok(await person.client.get(`/v1/calls/${ok(await person.client.get('/v1/calls?limit=1')).data[0].id}`)).steps.map(({ step, detail }) => `${step} ${detail}`);
        assert.ok((await steps()).includes('leg_failed destination'), await steps());
        sql(w.daemon, `UPDATE account SET phone = '${ABROAD}' WHERE email = '${person.email}'; UPDATE building SET ring_numbers = NULL WHERE id = '${person.building.id}';`);
        assert.deepEqual((await visit(client, { to: person.number })).rang, []);
    });

    it('are refused for a building that is added', async () => {
        const person = await withPhone('+12125550002');
        const keeper = (await agent(person, ['account:read', 'buildings:write'])).client;
        refused(await preview({ keeper }, addition({ phone_number: ABROAD })), 400, 'INVALID_PHONE_NUMBER');
        await quote({ keeper });
    });
});
