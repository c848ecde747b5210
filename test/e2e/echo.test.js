// A resident's telephone that returns what it hears, as a two-wire line or a loudspeaker does: the visitor plays the tones
// of keys, which act as no key of the resident's. Kamailio is the provider; baresip and sipp are the telephones.
// engine: sqlite, because it tests telephones
import { describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { writeFileSync } from 'node:fs';
import { ok } from './lib/client.js';
import { temporaryDirectory } from './lib/daemon.js';
import { address, Baresip, BOX, QUICK, sippLoop, wav } from './lib/phone.js';
import { freePort } from './lib/port.js';
import { Provider } from './lib/provider.js';
import { changeSettings, eventually, resident, world } from './lib/world.js';

const PHONE = '+15550001234';
const RATE = 8000;
const TONES = { 1: [697, 1209], 5: [770, 1336], 9: [852, 1477], '*': [941, 1209] };
const PRESSES = [60, 100, 250, 1000].flatMap((ms) => ['9', '5', '*', '1'].map((key) => [key, ms]));
const BEFORE_MS = 2000; // silence of the file, which is played from the call's beginning
const AFTER_MS = 60_000; // the box hangs up at the file's end
const GAP_MS = 400;
const ALL_MS = BEFORE_MS + PRESSES.reduce((sum, [, ms]) => sum + ms + GAP_MS, 0);

/** A WAV file with the presses, as loud as a telephone makes them. */
function keys() {
    const samples = [];
    const add = (ms, ...tones) => {
        for (let i = 0; i < ms * (RATE / 1000); i++) samples.push(Math.round(tones.reduce((sum, f) => sum + 9000 * Math.sin((2 * Math.PI * f * i) / RATE), 0)));
    };
    add(BEFORE_MS);
    for (const [key, ms] of PRESSES) {
        add(ms, ...TONES[key]);
        add(GAP_MS);
    }
    add(AFTER_MS);
    const file = join(temporaryDirectory(), 'keys.wav');
    writeFileSync(file, wav(samples));
    return file;
}

const account = (user, codec) => `<sip:${user}@127.0.0.1>;regint=0;audio_codecs=${codec}/8000/1`;
const withTrunk = (trunk) => ({ config: { ...QUICK, voice: { ...QUICK.voice, 'peer trunk': trunk } } });

/** A visitor at a call box that plays the keys: {person, box, steps}. */
async function visit(w, codec) {
    const person = await resident(w.client, { tone: '5' });
    await changeSettings(person, { ring: { numbers: [PHONE], accept: false } });
    const box = await Baresip.start({ account: account(BOX, codec), play: keys() });
    box.command('dial', `sip:${person.number}@${address(w.daemon)};transport=udp`);
    const steps = async () => {
        const [{ id }] = ok(await person.client.get(`/v1/calls?building_id=${person.building.id}`)).data;
        return ok(await person.client.get(`/v1/calls/${id}`)).steps.map(({ step }) => step);
    };
    return { person, box, steps };
}

/** The visitor and the resident are still connected, and the door is closed. */
async function playedInVain(box) {
    await box.event('CALL_ESTABLISHED');
    await new Promise((done) => { setTimeout(done, ALL_MS + 1000); });
    assert.equal(box.tones(), '');
    assert.ok(!box.events.some(({ type }) => type === 'CALL_CLOSED'), JSON.stringify(box.events));
}

describe("a visitor's keys that the resident's telephone returns", { concurrency: 2 }, () => {
    // PHONE-42
    it('open nothing and end nothing through a proxy; the own key of the resident opens', async () => {
        const port = await freePort();
        const phone = await Baresip.start({ account: account(PHONE, 'PCMA'), listen: port });
        const provider = await Provider.start({ phones: `sip:127.0.0.1:${port}` });
        const w = await world(withTrunk({ server: provider.address, user: provider.user, password: provider.password, register: true }));
        let box;
        try {
            await eventually(() => w.daemon.stderr.includes('state=registered'), 'the registration');
            const visitor = await visit(w, 'PCMU');
            ({ box } = visitor);
            await phone.event('CALL_INCOMING');
            phone.command('accept');
            await playedInVain(box);
            await phone.press('9');
            await eventually(() => box.tones() === '5', 'the release tone');
            box.command('hangup');
            await phone.event('CALL_CLOSED');
            await eventually(async () => (await visitor.steps()).includes('ended'), 'the end of the call');
            assert.equal((await visitor.steps()).filter((step) => step === 'resident_opened').length, 1);
        } finally {
            await w.close();
            await provider.kill();
            await phone.stop();
            await box?.stop();
        }
    });

    it('open nothing and end nothing where the telephone has tones alone for its keys', async () => {
        const phone = await sippLoop();
        const w = await world(withTrunk({ server: `127.0.0.1:${phone.port}`, probe_s: 0 }));
        let box;
        try {
            const visitor = await visit(w, 'PCMA');
            ({ box } = visitor);
            await playedInVain(box);
            box.command('hangup');
            assert.equal((await phone.ended).status, 0);
            await eventually(async () => (await visitor.steps()).includes('ended'), 'the end of the call');
            assert.ok(!(await visitor.steps()).includes('resident_opened'));
        } finally {
            await w.close();
            await box?.stop();
        }
    });
});
