// A conversation through Twilio in which the resident presses keys: the service moves the resident's call to a
// conference (src/twiml/room.h). The rest of a forwarded call is in twilio-voice.test.js.
import { after, before, beforeEach, describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { ok } from './lib/client.js';
import { sql } from './lib/store.js';
import { Twilio } from './lib/twilio.js';
import { PUBLIC_URL, Twiml } from './lib/twiml.js';
import { changeSettings, resident, useWorld } from './lib/world.js';

const sdk = createRequire(import.meta.url)('twilio');
const RequestClient = createRequire(import.meta.url)('twilio/lib/base/RequestClient.js');

describe('a conversation through Twilio', () => {
    let rest;
    let twilio;
    before(async () => {
        rest = await Twilio.start();
        twilio = new Twiml({ rest });
    });
    after(async () => {
        twilio?.close();
        await rest?.close();
    });
    const w = useWorld(() => ({ config: { ...twilio.config, voice: { ...twilio.config.voice, account_minutes_per_day: 0 } } }));
    const { client } = w;
    beforeEach(() => {
        rest.clear();
        sql(w.daemon, "DELETE FROM job WHERE kind = 'twilio_talk'");
    });

    const host = async (options, ring = {}) => {
        const person = await resident(client, options);
        await changeSettings(person, { ring: { numbers: ['+15551110001'], accept: true, ...ring } });
        return person;
    };
    const call = (person, options = {}) => {
        twilio.daemon = w.daemon;
        return twilio.call({ to: person.number, from: '+15550001111', ...options });
    };
    const record = async (person) => ok(await person.client.get(`/v1/calls/${ok(await person.client.get('/v1/calls')).data[0].id}`));
    const steps = async (person) => (await record(person)).steps.map(({ step, detail }) => (detail ? `${step} ${detail}` : step));

    // PHONE-57
    it('opens the door with star and 9, and goes on', async () => {
        const person = await host();
        const heard = await call(person, { talk: '*9*9' });
        assert.match(heard.whispered, /star and then 9/);
        assert.match(heard.askedResident, /Press 9 to open the door/);
        assert.deepEqual([heard.tones, heard.talks], ['99', 3]);
        assert.deepEqual((await steps(person)).slice(-6), ['connected', 'resident_opened', 'tone_sent', 'resident_opened', 'tone_sent', 'ended caller']);
        assert.equal((await record(person)).resident_opened, true);
    });

    it('opens the door with a release tone of one key', async () => {
        const person = await host({ tone: '#' });
        assert.equal((await call(person, { talk: '*#' })).tones, '#');
    });

    it('goes on after another key, or none', async () => {
        const person = await host({}, { accept: false });
        const heard = await call(person, { talk: '*-*5' });
        assert.deepEqual([heard.tones, heard.talks], [null, 3]);
    });

    // PHONE-57
    it("takes no key of the visitor's that the resident's line returns", async () => {
        for (const echo of ['9', '*']) {
            const person = await host();
            const heard = await call(person, { talk: '*-', echo });
            assert.deepEqual([heard.tones, heard.talks], [null, 2]);
            assert.equal((await steps(person)).at(-1), 'ended caller');
        }
    });

    it('ends with star twice, or when the resident hangs up', async () => {
        for (const talk of ['**', 'h', '*9h']) {
            const person = await host();
            const heard = await call(person, { talk });
            assert.equal(heard.tones, talk === '*9h' ? '9' : null);
            assert.equal((await steps(person)).at(-1), 'ended resident', talk);
        }
    });

    it('moves the call of the resident alone, to an address of the service', async () => {
        const person = await host();
        const heard = await call(person, { talk: '*9' });
        const moves = rest.requests.filter(({ method, path }) => method === 'POST' && path.includes('/Calls/'));
        assert.equal(moves.length, 1);
        assert.ok(!moves[0].path.includes(heard.call_id));
        assert.deepEqual(moves[0].form, {
            Url: `${PUBLIC_URL}/hooks/twilio/resident?call=${heard.call_id}&answer=2`, Method: 'POST',
            StatusCallback: `${PUBLIC_URL}/hooks/twilio/status?call=${heard.call_id}`, StatusCallbackMethod: 'POST',
        });
    });

    it('is moved as its SDK moves a call', async () => {
        const person = await host();
        await call(person, { talk: '' });
        const ours = rest.requests.find(({ method, path }) => method === 'POST' && path.includes('/Calls/'));
        const { Url: url, Method: method, StatusCallback: statusCallback, StatusCallbackMethod: statusCallbackMethod } = ours.form;
        const leg = /CA[0-9a-f]{32}/.exec(ours.path)[0];
        class Here extends RequestClient {
            request(options) {
                return super.request({ ...options, uri: options.uri.replace('https://api.twilio.com', rest.url) });
            }
        }
        rest.clear();
        rest.calls.set(leg, () => {});
        const moved = await sdk(rest.account, rest.token, { httpClient: new Here({ timeout: 10_000 }) }).calls(leg).update({ url, method, statusCallback, statusCallbackMethod });
        assert.equal(moved.sid, leg);
        const essence = (request) => [request.method, request.path, request.form, request.authorization];
        assert.deepEqual(essence(ours), essence(rest.requests[0]));
    });

    it('continues in documents as its SDK writes them', async () => {
        const person = await host();
        const { documents, call_id } = await call(person, { talk: '*9' });
        const room = { beep: 'false', waitUrl: '', startConferenceOnEnter: true, endConferenceOnExit: true, maxParticipants: 2 };
        const document = documents.find((text) => text.includes('<Play digits'));
        const step = Number(/step=(\d+)/.exec(document)[1]);
        const opened = new sdk.twiml.VoiceResponse();
        opened.play({ digits: 'w9' }, '');
        opened.dial({ action: `/hooks/twilio/voice?step=${step}`, method: 'POST', timeLimit: 7200 }).conference(room, call_id);
        assert.equal(document, opened.toString());
    });

    it('changes nothing when requests are repeated', async () => {
        const person = await host();
        const repeated = new Twiml({ rest, repeated: true });
        try {
            repeated.daemon = w.daemon;
            const heard = await repeated.call({ to: person.number, from: '+15550001111', talk: '*9*-*9' });
            assert.deepEqual([heard.tones, heard.talks], ['99', 4]);
            assert.equal((await steps(person)).filter((step) => step === 'resident_opened').length, 2);
        } finally {
            repeated.close();
        }
    });

    // PHONE-58
    it('is moved although Twilio fails at first', async () => {
        const person = await host();
        rest.order({ status: 503, body: 'busy' }, { method: 'POST', resource: 'Calls', count: 1 });
        assert.equal((await call(person, { talk: '*9' })).tones, '9');
    });

    // PHONE-58
    it('goes on without keys if Twilio refuses to move it', async () => {
        const person = await host();
        await call(person, { stay: (sid) => w.daemon.logged(new RegExp(`warn resident's keys are not heard provider_call=${sid}\n`)) });
        assert.equal((await steps(person)).at(-1), 'ended caller');
    });

    it('is not moved where no key opens the door', async () => {
        const person = await host();
        sql(w.daemon, `UPDATE building SET unlock_tone = NULL WHERE id = '${person.building.id}'`);
        const heard = await call(person);
        assert.doesNotMatch(heard.whispered, /star/);
        assert.equal(sql(w.daemon, "SELECT count(*) FROM job WHERE kind = 'twilio_talk'").trim(), '0');
    });
});
