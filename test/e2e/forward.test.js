// Forwarded calls between independent telephones: baresip as the call box, baresip and sipp as the resident's phone.
// engine: sqlite, because it tests telephones
import { describe, it, before, after } from 'node:test';
import assert from 'node:assert/strict';
import dgram from 'node:dgram';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ok } from './lib/client.js';
import { address, Baresip, BOX, buzz, QUICK, refusing, samples, sippResident, startBuzz, startPhone, Switch, wav } from './lib/phone.js';
import { freePort } from './lib/port.js';
import { changeSettings, eventually, resident, world } from './lib/world.js';

const PHONE = '+15550001234';
const SECONDS = 6;

/** Noise below 2 kHz that repeats itself nowhere: no key is heard in it. */
function noise(seed) {
    let state = seed;
    let low = 0;
    return Array.from({ length: SECONDS * 8000 }, () => {
        state = (state * 1103515245 + 12345) % 2147483648;
        low += ((state / 2147483648 - 0.5) * 24000 - low) * 0.3;
        return Math.round(low);
    });
}

/** How like the played samples half a second from the middle of the heard ones is, at the best place: 0 to 1. */
function likeness(heard, played) {
    const n = 4000;
    const from = Math.floor(heard.length / 2);
    let best = 0;
    for (let at = 0; at + n <= played.length; at++) {
        let both = 0;
        let one = 0;
        let other = 0;
        for (let i = 0; i < n; i++) {
            both += heard[from + i] * played[at + i];
            one += heard[from + i] ** 2;
            other += played[at + i] ** 2;
        }
        best = Math.max(best, both / Math.sqrt(one * other || 1));
    }
    return best;
}

async function withPhone(w, ring = {}) {
    const person = await resident(w.client, { tone: '5' });
    await changeSettings(person, { ring: { numbers: [PHONE], accept: false, ...ring } });
    return person;
}

const account = (user, codec) => `<sip:${user}@127.0.0.1>;regint=0;audio_codecs=${codec}/8000/1`;

const withTrunk = (port, more = {}, spare = undefined) => ({
    config: {
        ...QUICK,
        voice: { ...QUICK.voice, 'peer phones': { server: `127.0.0.1:${port}`, probe_s: 0, ...more }, ...(spare && { 'peer spare': spare }) },
    },
});

describe('a forwarded call', () => {
    let directory;
    let w;
    let box;
    let phone;
    const played = { box: noise(1), phone: noise(2) };
    before(async () => {
        directory = mkdtempSync(join(tmpdir(), 'portero-forward-'));
        for (const name of ['box', 'phone']) writeFileSync(join(directory, `${name}.wav`), wav(played[name]));
        const port = await freePort();
        phone = await Baresip.start({ account: account(PHONE, 'PCMA'), listen: port, record: true, play: join(directory, 'phone.wav') });
        box = await Baresip.start({ account: account(BOX, 'PCMU'), record: true, play: join(directory, 'box.wav') });
        w = await world(withTrunk(port));
    });
    after(async () => {
        await w?.close();
        await box?.stop();
        await phone?.stop();
        rmSync(directory, { recursive: true, force: true });
    });

    const dial = (person) => box.command('dial', `sip:${person.number}@${address(w.daemon)};transport=udp`);

    /** The box calls, and the phone answers. `from` is where the events of this call begin. */
    async function talk() {
        const person = await withPhone(w);
        const from = { box: box.events.length, phone: phone.events.length };
        dial(person);
        await phone.event('CALL_INCOMING', from.phone);
        phone.command('accept');
        await box.event('CALL_ESTABLISHED', from.box);
        return { person, from };
    }

    /** The resident opens the door; the call goes on until the resident hangs up. */
    async function openWith9(from) {
        await phone.press('9');
        await eventually(() => box.tones(from.box) === '5', 'the release tone');
        assert.equal(box.events.slice(from.box).filter((event) => event.type === 'CALL_CLOSED').length, 0);
        phone.command('hangup');
        await box.event('CALL_CLOSED', from.box);
    }

    it('carries the audio both ways, in another format on each side', async () => {
        const person = await withPhone(w);
        dial(person);
        await phone.event('CALL_INCOMING');
        await box.event('CALL_RINGING');
        assert.equal(box.events.filter((event) => event.type === 'CALL_ESTABLISHED').length, 0);
        phone.command('accept');
        await box.event('CALL_ESTABLISHED');
        await phone.event('CALL_ESTABLISHED');
        await new Promise((done) => { setTimeout(done, 4000); });
        box.command('hangup');
        await phone.event('CALL_CLOSED');
        for (const [hears, speaks] of [['box', 'phone'], ['phone', 'box']]) {
            const found = likeness((hears === 'box' ? box : phone).heard(), samples(wav(played[speaks])));
            assert.ok(found > 0.9, `${hears} hears ${speaks}: ${found.toFixed(3)}`);
        }
    });

    it('opens the door with 9, and goes on', async () => {
        const { person, from } = await talk();
        await openWith9(from);
        const calls = ok(await person.client.get(`/v1/calls?building_id=${person.building.id}`)).data;
        assert.equal(calls.length, 1);
        const { steps } = ok(await person.client.get(`/v1/calls/${calls[0].id}`));
        const names = steps.map((step) => step.step);
        for (const name of ['ringing', 'leg_answered', 'connected', 'resident_opened', 'tone_sent']) assert.ok(names.includes(name), `${name}: ${names}`);
    });

    it('goes on after the resident held it', async () => {
        const { from } = await talk();
        for (const command of ['hold', 'resume']) {
            phone.command(command);
            await new Promise((done) => { setTimeout(done, 1000); });
        }
        await openWith9(from);
    });

    it('is accepted with 1', async () => {
        const person = await withPhone(w, { accept: true });
        const from = { box: box.events.length, phone: phone.events.length };
        dial(person);
        await phone.event('CALL_INCOMING', from.phone);
        phone.command('accept');
        await phone.event('CALL_ESTABLISHED', from.phone);
        await new Promise((done) => { setTimeout(done, 1000); });
        assert.equal(box.events.slice(from.box).filter((event) => event.type === 'CALL_ESTABLISHED').length, 0);
        await phone.press('1');
        await box.event('CALL_ESTABLISHED', from.box);
        box.command('hangup');
        await phone.event('CALL_CLOSED', from.phone);
    });
});

describe('a forwarded call over a trunk with encrypted audio', () => {
    it('carries the audio both ways, and the resident opens the door', async () => {
        const directory = mkdtempSync(join(tmpdir(), 'portero-forward-'));
        const played = noise(3);
        const port = await freePort();
        let phone;
        let box;
        let w;
        try {
            writeFileSync(join(directory, 'sound.wav'), wav(played));
            const options = { record: true, play: join(directory, 'sound.wav') };
            phone = await Baresip.start({ ...options, account: `${account(PHONE, 'PCMA')};mediaenc=srtp-mand`, listen: port });
            box = await Baresip.start({ ...options, account: account(BOX, 'PCMA') });
            w = await world(withTrunk(port, { srtp: 'required' }));
            const person = await withPhone(w);
            box.command('dial', `sip:${person.number}@${address(w.daemon)};transport=udp`);
            await phone.event('CALL_INCOMING');
            phone.command('accept');
            await box.event('CALL_ESTABLISHED');
            await phone.event('CALL_ESTABLISHED');
            await new Promise((done) => { setTimeout(done, 4000); });
            await phone.press('9');
            await eventually(() => box.tones() === '5', 'the release tone');
            box.command('hangup');
            await phone.event('CALL_CLOSED');
            assert.match(phone.log, /SRTP is Enabled/i);
            for (const [name, telephone] of Object.entries({ box, phone })) {
                const found = likeness(telephone.heard(), samples(wav(played)));
                assert.ok(found > 0.9, `the ${name} hears the other: ${found.toFixed(3)}`);
            }
        } finally {
            await w?.close();
            await box?.stop();
            await phone?.stop();
            rmSync(directory, { recursive: true, force: true });
        }
    });
});

describe('a phone with a session timer', () => {
    it('refreshes the session, holds the call, resumes it and opens the door', async () => {
        const port = await freePort();
        const w = await world(withTrunk(port));
        try {
            const person = await withPhone(w);
            const phone = sippResident(port, 'resident-hold');
            const call = await buzz(w.daemon, person.number);
            await phone;
            assert.equal(call.tones, '5');
        } finally {
            await w.close();
        }
    });
});

describe('a trunk that redirects a call', () => {
    // PHONE-27
    it('is not followed: the next trunk is called', async () => {
        const premium = dgram.createSocket('udp4').bind(0, '127.0.0.1');
        const called = [];
        premium.on('message', (message) => called.push(String(message)));
        await once(premium, 'listening');
        const first = await refusing(302, { contact: `sip:+15559009999@127.0.0.1:${premium.address().port}` });
        const second = await freePort();
        const w = await world(withTrunk(first.port, {}, { server: `127.0.0.1:${second}`, probe_s: 0 }));
        try {
            const person = await withPhone(w);
            const phone = sippResident(second);
            const call = await buzz(w.daemon, person.number);
            await phone;
            assert.equal(call.tones, '5');
            assert.equal((await first.ended).status, 0);
            assert.deepEqual(called, []);
        } finally {
            premium.close();
            await w.close();
        }
    });
});

describe('visitors beyond voice.forwards_per_building', () => {
    it('hear that the line is busy while another one is forwarded', async () => {
        const port = await freePort();
        const options = withTrunk(port);
        options.config.voice.forwards_per_building = 1;
        const w = await world(options);
        try {
            const person = await withPhone(w);
            const phone = await startPhone('--listen', `127.0.0.1:${port}`, '--answer', '6000', '--digits', '9', '--hangup', '1000');
            const first = startBuzz(w.daemon, person.number);
            const calls = async () => ok(await person.client.get(`/v1/calls?building_id=${person.building.id}`)).data;
            await eventually(async () => (await calls()).length === 1, 'the record of the first call');
            const second = await buzz(w.daemon, person.number);
            assert.deepEqual(second.heard, ['answered', 'hangup']);
            const refused = (await calls()).find((call) => call.ended_at);
            const { steps } = ok(await person.client.get(`/v1/calls/${refused.id}`));
            assert.ok(steps.some((step) => step.step === 'unanswered' && step.detail === 'busy'), JSON.stringify(steps));
            assert.equal((await first.ended).tones, '5');
            assert.equal((await phone.ended).status, 0);
        } finally {
            await w.close();
        }
    });
});

describe('several telephones of residents', () => {
    const OTHER = '+15550005678';

    /** The call of a visitor, while telephones with these options wait; {call, phones, steps}. */
    async function ring(settings, ...options) {
        const ports = [await freePort(), await freePort()];
        const trunk = await Switch.start({ [PHONE]: ports[0], [OTHER]: ports[1] });
        const w = await world(withTrunk(trunk.port));
        try {
            const person = await withPhone(w, { numbers: [PHONE, OTHER], ...settings });
            const phones = [];
            for (const [i, more] of options.entries()) phones.push(await startPhone('--listen', `127.0.0.1:${ports[i]}`, ...more));
            const call = await buzz(w.daemon, person.number);
            const ended = await Promise.all(phones.map((phone) => phone.ended));
            const [{ id }] = ok(await person.client.get(`/v1/calls?building_id=${person.building.id}`)).data;
            return { call, ended, steps: ok(await person.client.get(`/v1/calls/${id}`)).steps.map(({ step, number }) => `${step} ${number ?? ''}`) };
        } finally {
            await w.close();
            trunk.close();
        }
    }

    it('ring at once: the first that answers talks, the other stops', async () => {
        const { call, ended, steps } = await ring({ strategy: 'all' }, ['--answer', '60000'], ['--answer', '1500', '--digits', '9', '--hangup', '1000']);
        assert.deepEqual([call.tones, ended.map(({ status }) => status)], ['5', [3, 0]], JSON.stringify(steps));
        assert.ok(steps.some((step) => /^leg_cancelled .*1234$/.test(step)), JSON.stringify(steps));
    });

    it('ring in turn: the next when one is busy', async () => {
        const { call, ended, steps } = await ring({ strategy: 'order' }, ['--answer', '300', '--refuse', '486'], ['--answer', '300', '--digits', '9', '--hangup', '1000']);
        assert.deepEqual([call.tones, ended.map(({ status }) => status)], ['5', [3, 0]], JSON.stringify(steps));
        const at = ['ringing', 'leg_busy', 'ringing', 'leg_answered'].map((step) => steps.findIndex((one) => one.startsWith(step)));
        assert.ok(at[1] > at[0] && at[3] > at[1], JSON.stringify(steps));
    });

    // BUILDING-36
    it('must accept: an answering machine does not keep the call from the other', async () => {
        const { call, ended, steps } = await ring({ strategy: 'all', accept: true }, ['--answer', '100'], ['--answer', '4000', '--digits', '1,9', '--hangup', '1000']);
        assert.deepEqual([call.tones, ended.map(({ status }) => status)], ['5', [0, 0]], JSON.stringify(steps));
        assert.ok(steps.findIndex((step) => step.startsWith('leg_accepted')) > steps.findIndex((step) => step.startsWith('leg_answered')), JSON.stringify(steps));
    });
});

describe('a phone that refuses', () => {
    for (const [status, step] of [[486, 'leg_busy'], [603, 'leg_declined']]) {
        // CALL-38
        it(`with ${status} ends the call, and its record says why`, async () => {
            const phone = await refusing(status);
            const w = await world(withTrunk(phone.port));
            try {
                const person = await withPhone(w);
                const call = await buzz(w.daemon, person.number);
                assert.deepEqual(call.heard, ['answered', 'hangup']);
                const done = await phone.ended;
                assert.equal(done.status, 0, `${done.stdout.slice(-2500)}${done.stderr}`);
                const { data } = ok(await person.client.get(`/v1/calls?building_id=${person.building.id}`));
                const { steps } = ok(await person.client.get(`/v1/calls/${data[0].id}`));
                assert.ok(steps.some((one) => one.step === step), JSON.stringify(steps));
            } finally {
                await w.close();
            }
        });
    }
});
