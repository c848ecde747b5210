// Spoken codes are promised only where they are understood: one fact for the settings, the guest's page, the form, the
// record of a call and the sandbox's call. Recognition itself is in spoken.test.js and twilio-voice.test.js.
import { describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { ok } from './lib/client.js';
import { Browser } from './lib/browser.js';
import { buzz, QUICK } from './lib/phone.js';
import { openSigned } from './lib/site-page.js';
import { Twiml } from './lib/twiml.js';
import { eventually, grant, resident, useWorld, visit } from './lib/world.js';

const PLACES = [
    { name: 'without a model', understood: false, options: { config: QUICK }, heard: [] },
    { name: 'with Twilio', understood: true, options: { config: { ...QUICK, ...new Twiml().config } }, heard: ['speech'] },
];

for (const { name, understood, options, heard } of PLACES) describe(`speech ${name}`, () => {
    const w = useWorld(options);
    const { client } = w;
    const withVoice = async () => {
        const person = await resident(client, { tone: '9' });
        const made = await grant(person, { type: 'passcode', access_code: '7350', label: 'Guest', enter_code_with_voice: true });
        assert.equal(made.enter_code_with_voice, true); // stored in any case
        return { person, made };
    };
    const asked = async (person) => {
        const [call] = ok(await person.client.get('/v1/calls?limit=1')).data;
        return ok(await person.client.get(`/v1/calls/${call.id}`)).steps.filter(({ step }) => step === 'asked_code').map(({ detail }) => detail ?? null);
    };

    // CALL-42
    it(`is ${understood ? '' : 'not '}understood, say the settings`, async () => {
        const { person } = await withVoice();
        assert.deepEqual(ok(await person.client.get(`/v1/buildings/${person.building.id}/settings`)).speech, { understood });
    });

    // CALL-42
    it(`is ${understood ? '' : 'not '}offered on the page of the guest`, async () => {
        const { person, made } = await withVoice();
        const link = ok(await person.client.post(`/v1/unlock/${made.id}/link`), 201);
        const page = await client.as(undefined).get(new URL(link.url).pathname, { headers: { Accept: 'text/html' } });
        assert.ok(page.text.includes('7350'));
        assert.equal(page.text.includes('You may also say the digits.'), understood);
    });

    it(`opens ${understood ? 'the door' : 'nothing'} in the sandbox, and the record says so`, async () => {
        const { person } = await withVoice();
        assert.equal((await visit(client, { to: person.number, speech: 'seven three five oh' })).outcome, understood ? 'released' : 'forwarded');
        assert.deepEqual(await asked(person), understood ? ['speech'] : [null]);
    });

    // CALL-42
    it('is never in the record of a call over SIP that does not understand it', async () => {
        const { person } = await withVoice();
        await buzz(w.daemon, person.number, '--digits', '7350');
        await eventually(async () => (await asked(person)).length > 0, 'the record');
        assert.deepEqual(await asked(person), [null]);
    });

    it(`is ${understood ? '' : 'not '}offered in the form of a code, which keeps what is stored`, async () => {
        const { person, made } = await withVoice();
        const browser = await Browser.start();
        try {
            const page = await openSigned(browser, w, person, '/access');
            await page.locator('.grants .about', { hasText: 'Guest' }).click();
            await page.getByRole('button', { name: 'Edit', exact: true }).click();
            await page.getByLabel('Name', { exact: true }).waitFor();
            assert.equal(await page.getByLabel('The code may also be spoken').count(), heard.length);
            await page.getByLabel('Name', { exact: true }).fill('Visitor');
            await page.getByRole('button', { name: 'Save', exact: true }).click();
            await eventually(async () => ok(await person.client.get(`/v1/unlock/${made.id}`)).label === 'Visitor', 'the change');
            assert.equal(ok(await person.client.get(`/v1/unlock/${made.id}`)).enter_code_with_voice, true);
            await page.context().close();
        } finally {
            await browser.close();
        }
    });
});
