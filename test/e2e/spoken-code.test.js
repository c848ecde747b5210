// The code that verifies a phone, told in a call: baresip answers and records, and its audio is compared with the same words
// in greetings.
// engine: sqlite, because it tests telephones
import { describe, it, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { ok } from './lib/client.js';
import { admin } from './lib/buildings.js';
import { address, Baresip, BOX, QUICK, refusing } from './lib/phone.js';
import { freePort } from './lib/port.js';
import { grant, resident, signIn, world } from './lib/world.js';

const PHONE = '+15550001234';
const WORDS = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'];
const FRAME = 160;

/** The stretches of sound between silences of a quarter of a second. */
function stretches(heard) {
    const found = [];
    let begin = -1;
    let quiet = 0;
    for (let at = 0; at + FRAME <= heard.length; at += FRAME) {
        let energy = 0;
        for (let i = at; i < at + FRAME; i++) energy += heard[i] ** 2;
        const loud = Math.sqrt(energy / FRAME) > 100;
        if (loud && begin < 0) begin = at;
        quiet = loud ? 0 : quiet + 1;
        if (begin >= 0 && quiet === 12) {
            found.push(heard.slice(begin, at - 11 * FRAME));
            begin = -1;
        }
    }
    return found;
}

/** How like two stretches of sound are at the best place: 0 to 1. */
function likeness(a, b) {
    let best = 0;
    for (let shift = -2 * FRAME; shift <= 2 * FRAME; shift++) {
        let both = 0;
        let one = 0;
        let other = 0;
        for (let i = 0; i < Math.max(a.length, b.length); i++) {
            const x = a[i] ?? 0;
            const y = b[i + shift] ?? 0;
            both += x * y;
            one += x * x;
            other += y * y;
        }
        best = Math.max(best, both / Math.sqrt(one * other || 1));
    }
    return best;
}

/** A configuration whose codes are told in calls by the telephones at that port. */
const calling = (port, sms = {}) => ({
    ...QUICK, sms: { provider: 'call', ...sms }, voice: { ...QUICK.voice, 'peer phones': { server: `127.0.0.1:${port}`, probe_s: 0 } },
});
const account = (user) => `<sip:${user}@127.0.0.1>;regint=0;audio_codecs=PCMU/8000/1`;
const verification = (person, number = PHONE) => person.client.post('/v1/account/phone/verification', { phone_number: number });

describe('a code that is told in a call', () => {
    let w;
    let box;
    let phone;
    let person;
    let digits;
    before(async () => {
        const port = await freePort();
        phone = await Baresip.start({ account: account(PHONE), listen: port, record: true });
        box = await Baresip.start({ account: account(BOX), record: true });
        w = await world({ config: calling(port) });
        person = await resident(w.client);
        await grant(person, { type: 'passcode', label: 'Parcel' }); // so that the greeting asks for a code, and silence follows
        digits = [];
        for (const word of WORDS) digits.push(await spoken(word));
    });
    after(async () => {
        await w?.close();
        await box?.stop();
        await phone?.stop();
    });

    /** The sound that a call box hears as the greeting. */
    async function spoken(word) {
        const path = `/v1/buildings/${person.building.id}/settings`;
        const { etag } = (await person.client.get(path)).headers;
        ok(await person.client.patch(path, { greeting_welcome: word }, { headers: { 'If-Match': etag } }));
        const from = box.events.length;
        box.command('dial', `sip:${person.number}@${address(w.daemon)};transport=udp`);
        await box.event('CALL_ESTABLISHED', from);
        await new Promise((done) => { setTimeout(done, 1800); });
        box.command('hangup');
        await box.event('CALL_CLOSED', from);
        const heard = stretches(box.heard());
        assert.equal(heard.length, 1, `${word}: ${heard.length} stretches of sound`);
        return heard[0];
    }

    /** The digits that the phone has heard in its last call. */
    function told() {
        return stretches(phone.heard()).map((sound) => {
            const like = digits.map((digit) => likeness(digit, sound));
            const best = Math.max(...like);
            return best > 0.8 ? String(like.indexOf(best)) : '-';
        }).join('');
    }

    it('is not told to a phone that declines', async () => {
        const from = phone.events.length;
        const asked = verification(person);
        await phone.event('CALL_INCOMING', from);
        phone.command('hangup');
        await phone.event('CALL_CLOSED', from);
        await asked; // 200 if the phone's ringing came before its answer
        assert.ok(await w.daemon.logged(/code call id=[0-9a-f]{24} result="failed" status=(4|6)\d\d/));
    });

    // ACCOUNT-22
    it('is an error for a number that nobody has', async () => {
        const { port, ended } = await refusing(404, { rings: false });
        const other = await world({ config: calling(port) });
        try {
            const answer = await verification(await resident(other.client), '+15550001235');
            assert.equal(`${answer.status} ${answer.body.error?.code}`, '400 INVALID_PHONE_NUMBER');
            assert.equal((await ended).status, 0);
        } finally {
            await other.close();
        }
    });

    // ACCOUNT-21
    it('is said twice, digit by digit, and verifies the phone', async () => {
        const from = phone.events.length;
        const asked = verification(person);
        await phone.event('CALL_INCOMING', from);
        assert.match(ok(await asked).message, /is called/);
        phone.command('accept');
        await phone.event('CALL_ESTABLISHED', from);
        await phone.event('CALL_CLOSED', from);
        const [, first, second] = /^-+(\d{6})-+(\d{6})-+$/.exec(told()) ?? assert.fail(told());
        assert.equal(first, second);
        const status = ok(await person.client.post('/v1/account/phone/confirmation', { code: first }));
        assert.equal(status.phone_number, PHONE);
        assert.equal(status.verified, true);
        assert.ok(await w.daemon.logged(/code call id=[0-9a-f]{24} result="told"/));
        assert.doesNotMatch(w.daemon.stderr, new RegExp(`${first}|${PHONE.slice(1)}`));
        const { data } = ok(await w.client.as(undefined).get(`/sandbox/messages?to=${encodeURIComponent(PHONE)}&channel=sms&limit=1`));
        assert.equal(data.length, 0);
    });

    // ACCOUNT-22
    it('is not told more often in one hour than the operator allows', async () => {
        const other = await world({ config: calling(9, { calls_per_hour: 1 }) });
        try {
            for (const reason of [/code call .* result="(failed|not answered)"/, /code call .* result=refused reason="too many calls"/]) {
                const answer = await verification(await resident(other.client), '+15550001236');
                assert.equal(`${answer.status} ${answer.body.error.code}`, '500 PHONE_CODE_SEND_FAILED');
                assert.ok(await other.daemon.logged(reason));
            }
        } finally {
            await other.close();
        }
    });
});

describe('a service that sends no codes', () => {
    // ACCOUNT-20
    it('lets its operator verify the phone', async () => {
        const w = await world({ config: { sms: { provider: 'none' } } });
        try {
            const person = await resident(w.client);
            const answer = await verification(person);
            assert.equal(`${answer.status} ${answer.body.error.code}`, '500 PHONE_CODE_SEND_FAILED');
            assert.match(ok(await person.client.get('/v1/account/phone')).next_action, /operator/);
            const done = admin(w, 'phone', 'verify', person.email, '--number', PHONE);
            assert.equal(done.status, 0, done.stderr);
            const { phone_number: number, verified } = ok(await person.client.get('/v1/account/phone'));
            assert.deepEqual([number, verified], [PHONE, true]);
            const taken = admin(w, 'phone', 'verify', (await resident(w.client)).email, '--number', PHONE);
            assert.match(taken.stderr, /PHONE_IN_USE/);
            assert.match(admin(w, 'phone', 'verify', (await signIn(w.client)).email, '--number', '123').stderr, /INVALID_PHONE_NUMBER/);
        } finally {
            await w.close();
        }
    });
});
