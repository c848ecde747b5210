// A resident answers the door in Firefox, over a network that loses packets, and in a browser that dies. baresip is the call
// box, which plays a tone of 300 Hz and records.
// engine: sqlite, because live-call.test.js has both
import './lib/namespace.js';
import { after, before, describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Browser, SOUND } from './lib/browser.js';
import { temporaryDirectory } from './lib/daemon.js';
import { Firefox } from './lib/firefox.js';
import { LossyRelay } from './lib/lossy.js';
import { address, Baresip, QUICK } from './lib/phone.js';
import { freePort } from './lib/port.js';
import { openSigned } from './lib/site-page.js';
import { purityOf, tone } from './lib/wav.js';
import { changeSettings, endedCall, eventually, resident, world } from './lib/world.js';

const PHONE = '+15550001234';
const LOSS = 15; // percent
const CONSENT_MS = 30_000; // a browser is gone after that time without a check

/** Runs in the page: keeps its connection for soundOf; with a port, the service is reached at that port. */
function watch(port) {
    const { setRemoteDescription } = RTCPeerConnection.prototype;
    RTCPeerConnection.prototype.setRemoteDescription = function setAndKeep({ type, sdp }) {
        globalThis.line = this;
        return setRemoteDescription.call(this, { type, sdp: port ? sdp.replace(/^(a=candidate:\S+ 1 udp \d+ \S+) \d+/gm, `$1 ${port}`) : sdp });
    };
}

/** The sound of the page's connection: {state, received, lost, level, sent}. */
const soundOf = (page) => page.evaluate(async () => {
    const all = [...(await globalThis.line.getStats()).values()];
    const heard = all.find(({ type }) => type === 'inbound-rtp');
    const said = all.find(({ type }) => type === 'outbound-rtp');
    return { state: globalThis.line.iceConnectionState, received: heard?.packetsReceived ?? 0, lost: heard?.packetsLost ?? 0, level: heard?.audioLevel ?? 0, sent: said?.packetsSent ?? 0 };
});

/** Waits until the page hears the box's tone, and until so many packets went each way. */
const talks = (page, packets) => eventually(async () => {
    const sound = await soundOf(page);
    return sound.level > 0.1 && sound.received >= packets && sound.sent >= packets && sound;
}, 'sound each way');

/** How many quarters of a second of what the box heard are loud, and how many of them are the tone. */
function heardBy(box) {
    const all = box.heard();
    const parts = Array.from({ length: Math.floor(all.length / 2000) }, (_, i) => all.subarray(2000 * i, 2000 * (i + 1)))
        .filter((part) => Math.sqrt(part.reduce((sum, v) => sum + v * v, 0) / part.length) > 300);
    return { loud: parts.length, tone: parts.filter((part) => purityOf(part) > 0.9).length };
}

describe('a browser', () => {
    const directory = temporaryDirectory();
    const open = []; // to be closed in the end
    const keep = (one) => { open.unshift(one); return one; };
    let w;
    let webrtc;
    let firefox;
    before(async () => {
        const port = await freePort();
        webrtc = await freePort();
        writeFileSync(join(directory, 'tone.wav'), tone(120));
        const phone = await Baresip.start({ account: `<sip:${PHONE}@127.0.0.1>;regint=0;audio_codecs=PCMU/8000/1`, listen: port });
        keep({ close: () => phone.stop() });
        w = keep(await world({ config: { ...QUICK, listen: { webrtc: `127.0.0.1:${webrtc}` }, voice: { ...QUICK.voice, 'peer phones': { server: `127.0.0.1:${port}`, probe_s: 0 } } } }));
        firefox = keep(await Firefox.start());
    });
    after(async () => {
        for (const one of open) await one.close();
        rmSync(directory, { recursive: true, force: true });
    });

    /** A visitor at a box of their own rings at the page that `show` opens for the resident. */
    async function ring(show) {
        const person = await resident(w.client, { tone: '5' });
        await changeSettings(person, { ring: { numbers: [PHONE], accept: false } });
        const page = await show(person);
        const box = await Baresip.start({ record: true, play: join(directory, 'tone.wav') });
        keep({ close: () => box.stop() });
        box.command('dial', `sip:${person.number}@${address(w.daemon)};transport=udp`);
        return { person, page, box, ended: () => box.event('CALL_CLOSED') };
    }

    const ringFirefox = async () => {
        const rung = await ring((person) => firefox.openSigned(w, person, '/', watch));
        return {
            ...rung,
            press: (name) => rung.page.locator(`.bell button ::-p-text(${name})`).click(),
            title: (name) => rung.page.locator(`.bell h2 ::-p-text(${name})`).wait(),
        };
    };

    async function opened({ person, box }) {
        const { outcome, resident_opened: by, ended_by: end } = await endedCall(person);
        assert.deepEqual([outcome, by, end], ['forwarded', true, 'resident']);
        assert.match(box.tones(), /^5$/);
    }

    it('that is Firefox answers, talks and opens the door', async () => {
        const rung = await ringFirefox();
        const { page, box, press, title, ended } = rung;
        await title('Someone is at the door');
        await press('Answer');
        await title('You are talking');
        const sound = await talks(page, 150);
        assert.equal(sound.lost, 0, JSON.stringify(sound));
        await press('Open the door');
        await page.locator('.bell ::-p-text(You opened the door)').wait();
        await eventually(() => box.tones() === '5', 'the tone at the box');
        await press('Hang up');
        await ended();
        await opened(rung);
        const heard = heardBy(box);
        assert.ok(heard.tone >= 4, JSON.stringify(heard));
    });

    describe('keeps its call or loses it:', { concurrency: true }, () => {
        it(`${LOSS} % of the packets are lost each way, and it goes on talking`, async () => {
            const relay = keep(await LossyRelay.start(webrtc, LOSS));
            const chromium = keep(await Browser.startWhole(SOUND));
            const rung = await ring((person) => openSigned(chromium, w, person, '/', { permissions: ['microphone'], prepare: (context) => context.addInitScript(watch, relay.port) }));
            const { page, box, ended } = rung;
            const press = (name) => page.locator('.bell').getByRole('button', { name, exact: true }).and(page.locator(':enabled')).click();
            await press('Answer');
            await page.locator('.bell').getByRole('heading', { name: 'You are talking' }).waitFor();
            const before = await talks(page, 50);
            await new Promise((done) => { setTimeout(done, CONSENT_MS + 5_000); });
            const later = await talks(page, before.received + 500);
            assert.equal(later.state, 'connected');
            const share = later.lost / (later.received + later.lost);
            assert.ok(share > 0.1 && share < 0.25, JSON.stringify(later));
            assert.ok(relay.lost.there > 100 && relay.lost.back > 100, JSON.stringify(relay.lost));
            await press('Open the door');
            await eventually(() => box.tones() === '5', 'the tone at the box');
            await press('Hang up');
            await ended();
            await opened(rung);
            const heard = heardBy(box);
            assert.ok(heard.loud >= 10, JSON.stringify(heard));
            assert.deepEqual(chromium.takeComplaints(), []);
        });

        // CALL-31
        it('it is killed, and the call ends when its checks stay away', async () => {
            const { person, page, press, title, ended } = await ringFirefox();
            await press('Answer');
            await title('You are talking');
            await talks(page, 50);
            await firefox.kill();
            await ended();
            assert.ok(await w.daemon.logged(/gone reason=silent/));
            const { outcome, resident_opened: by, ended_by: end } = await endedCall(person);
            assert.deepEqual([outcome, by, end], ['forwarded', false, 'resident']);
        });
    });
});
