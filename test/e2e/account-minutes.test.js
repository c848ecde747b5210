// The minutes of calls to telephones that an account may cause in a day: voice.account_minutes_per_day.
import { after, describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { ok } from './lib/client.js';
import { address, Baresip, BOX, buzz, QUICK, startPhone } from './lib/phone.js';
import { freePort } from './lib/port.js';
import { Twiml } from './lib/twiml.js';
import { advance, changeSettings, eventually, resident, useWorld, visit, world } from './lib/world.js';

const PHONES = ['+15550001234', '+15550001235', '+15550001236'];
const DAY_S = 24 * 60 * 60;
const SUBJECT = /do not ring until tomorrow/;

const withPhones = async (client, numbers = PHONES.slice(0, 1), ring = {}) => {
    const person = await resident(client, { tone: '5' });
    await changeSettings(person, { ring: { numbers, accept: false, ...ring } });
    return person;
};
const lastCall = async (person) => ok(await person.client.get(`/v1/calls/${ok(await person.client.get('/v1/calls?limit=1')).data[0].id}`));
const told = ({ steps }) => steps.map(({ step, detail }) => (detail ? `${step} ${detail}` : step));
const mails = async (client, { email }) => ok(await client.as(undefined).get(`/sandbox/messages?channel=email&to=${encodeURIComponent(email)}`)).data
    .filter(({ subject }) => SUBJECT.test(subject));

describe('the minutes of an account', () => {
    const w = useWorld({ config: { voice: { account_minutes_per_day: 4 } } });
    const { client } = w;
    async function restart() {
        await w.daemon.terminate();
        await w.daemon.start();
    }

    // ACCOUNT-27
    it('are taken by phones that answer, also before a restart, and come back after a day; the record and a mail tell when none are left', async () => {
        const person = await withPhones(client);
        const ring = () => visit(client, { to: person.number });
        for (let i = 0; i < 3; i++) {
            assert.deepEqual((await visit(client, { to: person.number, resident: 'no_answer' })).rang, PHONES.slice(0, 1));
        }
        for (let i = 0; i < 4; i++) {
            assert.deepEqual((await ring()).rang, PHONES.slice(0, 1), `call ${i}`);
            if (i === 2) await restart();
        }
        assert.deepEqual(await mails(client, person), []);
        assert.deepEqual((await ring()).rang, []);
        assert.deepEqual((await ring()).rang, []);
        const record = await lastCall(person);
        assert.deepEqual(told(record).filter((step) => step.startsWith('leg_') || step === 'ringing'), ['leg_failed minutes']);
        await eventually(async () => (await mails(client, person)).length === 1, 'the mail to the owner');
        assert.match((await mails(client, person))[0].text, /took 4 minutes in 24 hours/);
        const other = await withPhones(client);
        assert.deepEqual((await visit(client, { to: other.number })).rang, PHONES.slice(0, 1));
        await advance(client, DAY_S);
        assert.deepEqual((await ring()).rang, PHONES.slice(0, 1));
    });

    // ACCOUNT-29
    it('let no more phones ring than are left', async () => {
        const person = await withPhones(client, PHONES, { strategy: 'all' });
        for (const count of [3, 3, 2, 1, 0]) assert.equal((await visit(client, { to: person.number })).rang.length, count);
    });
});

describe('the minutes of an account whose codes are told in calls', () => {
    const w = useWorld({ config: { ...QUICK, sms: { provider: 'call' }, voice: { ...QUICK.voice, account_minutes_per_day: 1, 'peer phones': { server: '127.0.0.1:9', probe_s: 0 } } } });

    // ACCOUNT-27
    it('are taken by a code, and the next one is refused with the reason', async () => {
        const person = await resident(w.client);
        const verification = () => person.client.post('/v1/account/phone/verification', { phone_number: PHONES[1] });
        assert.equal((await verification()).body.error.code, 'PHONE_CODE_SEND_FAILED', 'no telephone is there');
        const refused = await verification();
        assert.equal(`${refused.status} ${refused.body.error.code}`, '400 INVALID_PHONE_NUMBER');
        assert.match(refused.body.error.message, /no minutes of calls left \(voice\.account_minutes_per_day\)/);
    });
});

describe('the minutes of an account through Twilio', () => {
    const twilio = new Twiml();
    const w = useWorld({ config: { ...twilio.config, voice: { account_minutes_per_day: 2 } } });
    after(() => twilio.close());

    // ACCOUNT-29
    it('bound the time of each call, and are taken by answered calls', async () => {
        const person = await withPhones(w.client);
        twilio.daemon = w.daemon;
        const call = (resident) => twilio.call({ to: person.number, from: '+15550001111', resident });
        assert.equal((await call('no_answer')).dialled.timeLimit, '120');
        assert.equal((await call('answered')).dialled.timeLimit, '120');
        assert.equal((await call('answered')).dialled.timeLimit, '60');
        assert.deepEqual((await call('answered')).rang, []);
        assert.ok(told(await lastCall(person)).includes('leg_failed minutes'));
    });
});

describe('the minutes of an account over SIP', () => {
    it('end a conversation when they are used up, and let no phone ring after that', async () => {
        const port = await freePort();
        const w = await world({ config: { ...QUICK, voice: { ...QUICK.voice, account_minutes_per_day: 1, 'peer phones': { server: `127.0.0.1:${port}`, probe_s: 0 } } } });
        const box = await Baresip.start({ account: `<sip:${BOX}@127.0.0.1>;regint=0;audio_codecs=PCMU/8000/1` });
        try {
            const person = await withPhones(w.client);
            const phone = await startPhone('--listen', `127.0.0.1:${port}`, '--answer', '0', '--hangup', '120000');
            box.command('dial', `sip:${person.number}@${address(w.daemon)};transport=udp`);
            await box.event('CALL_ESTABLISHED');
            assert.deepEqual((await buzz(w.daemon, person.number)).heard, ['answered', 'hangup'], 'the minute is reserved');
            assert.ok(told(await lastCall(person)).includes('leg_failed minutes'));
            await box.event('CALL_CLOSED', 0, 90_000);
            assert.equal((await phone.ended).status, 0);
            const { data } = ok(await person.client.get('/v1/calls'));
            const talked = ok(await person.client.get(`/v1/calls/${data.at(-1).id}`));
            assert.equal(talked.ended_by, 'limit');
            assert.deepEqual(told(talked).slice(-2), ['leg_failed minutes', 'ended limit']);
            assert.deepEqual((await buzz(w.daemon, person.number)).heard, ['answered', 'hangup']);
        } finally {
            await box.stop();
            await w.close();
        }
    });
});
