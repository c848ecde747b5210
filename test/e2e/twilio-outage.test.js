// Calls through Twilio while the store cannot be written, or not even be read: the resident's telephones ring, and decide.
import { after, before, describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { breakable, FAULTS } from './lib/breakable.js';
import { ok } from './lib/client.js';
import { engine } from './lib/daemon.js';
import { Twiml, verbs } from './lib/twiml.js';
import { changeSettings, eventually, grant, resident } from './lib/world.js';

const VOICE = '/hooks/twilio/voice';
const PHONE = '+15550001234';
const BACK_MS = 60_000;

describe('a call through Twilio without the store', () => {
    const twilio = new Twiml();
    const people = []; // one for each test, made while mails arrive
    let w;
    let store;
    before(async () => {
        store = await breakable(twilio.config);
        w = store.w;
        twilio.daemon = w.daemon;
        for (let i = 0; i < FAULTS.length + 3; i++) {
            const person = await resident(w.client);
            await changeSettings(person, { ring: { numbers: [PHONE], seconds: 20 } });
            people.push(person);
        }
    });
    after(async () => {
        store?.mend();
        await store?.close();
        twilio.close();
    });

    let calls = 0;
    const newCall = () => `CA${String(++calls).padStart(32, '0')}`;
    const form = ({ number }, more) => ({
        CallSid: newCall(), AccountSid: twilio.account, From: '+15550001111', To: number, CallStatus: 'ringing', ...more,
    });
    const answer = async (...request) => verbs(await twilio.fetch(...request));
    const mended = async (person) => {
        store.mend();
        await eventually(async () => (await person.client.get('/v1/calls')).status === 200, 'the store', BACK_MS);
    };

    /** The document rings the telephones, and names no address: nothing of the call is stored. */
    function forwards([dial, ...rest], person, phones) {
        assert.deepEqual([dial.name, rest.length], ['Dial', 0]);
        assert.deepEqual([dial.attribs.callerId, dial.attribs.timeout, dial.attribs.action], [person.number, '20', undefined]);
        assert.deepEqual(dial.children.map((number) => [number.children[0].data, number.attribs.url]), phones.map((phone) => [phone, undefined]));
    }

    for (const name of FAULTS)
        // CALL-10
        it(`is forwarded ${name}, at its arrival and from the keypad, and uses no grant`, async () => {
            const person = people.pop();
            const pass = await grant(person, { type: 'passcode', access_code: '4821', expires_in_minutes: 60 });
            const first = form(person);
            const [welcome] = await answer(VOICE, first);
            assert.equal(welcome.name, 'Gather');
            store.faults[name]();
            const second = form(person);
            forwards(await answer(VOICE, second), person, [PHONE]);
            forwards(await answer(welcome.attribs.action, { ...first, CallStatus: 'in-progress', Digits: '4821' }), person, [PHONE]);
            assert.ok(await w.daemon.logged(new RegExp(`voice decision failed building=${person.building.id} call=forwarded id=${second.CallSid} caller=\\+15550001111 dialled=\\${person.number}`)));
            await mended(person);
            assert.equal(ok(await person.client.get(`/v1/unlock/${pass.id}`)).uses ?? 0, 0);
        });

    it('ends after the telephones, and connects a resident who was asked before', async () => {
        const person = people.pop();
        const first = form(person);
        const [dial] = await answer(VOICE, first);
        assert.equal(dial.name, 'Dial');
        store.faults[FAULTS[0]]();
        const leg = form(person, { CallStatus: 'in-progress' });
        const { url } = dial.children[0].attribs;
        const names = async (...request) => (await answer(...request)).map((verb) => verb.name);
        assert.deepEqual(await names(url, leg), engine === 'sqlite' ? ['Gather'] : []); // to ask is to read
        assert.deepEqual(await names(`${url}&answer=1`, { ...leg, Digits: '1' }), []);
        assert.deepEqual(await names(`${url}&answer=1`, { ...leg, Digits: '3' }), ['Hangup']);
        const left = { ...first, CallStatus: 'in-progress', DialCallStatus: 'no-answer' };
        assert.deepEqual(await names(dial.attribs.action, left), ['Hangup']);
        await mended(person);
    });

    it('is forwarded to a door that nobody has called before, as the store can be read', async () => {
        const person = people.pop();
        store.faults['on a full disk']();
        forwards(await answer(VOICE, form(person)), person, [PHONE]);
        await mended(person);
    });

    if (engine === 'postgresql') it('is refused where nothing is known of the door', async () => {
        const person = people.pop();
        store.faults[FAULTS[0]]();
        assert.equal((await twilio.send(VOICE, form(person))).status, 503);
        await mended(person);
    });
});
