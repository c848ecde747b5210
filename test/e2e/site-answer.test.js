// A resident answers the door in a browser: Chromium with a microphone that beeps, baresip as the call box, which records.
// engine: sqlite, because live-call.test.js has both
import { after, afterEach, before, describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Browser, checkAccessible, SOUND } from './lib/browser.js';
import { address, Baresip, phonesAt } from './lib/phone.js';
import { freePort } from './lib/port.js';
import { openSigned, picture } from './lib/site-page.js';
import { changeSettings, resident, world } from './lib/world.js';

const PHONE = '+15550001234';

describe('a browser', () => {
    let w;
    let box;
    let phone;
    let browser;
    before(async () => {
        const port = await freePort();
        box = await Baresip.start({ record: true });
        phone = await Baresip.start({ account: `<sip:${PHONE}@127.0.0.1>;regint=0;audio_codecs=PCMU/8000/1`, listen: port });
        w = await world({ config: phonesAt(port) });
        browser = await Browser.startWhole(SOUND);
    });
    after(async () => {
        await browser?.close();
        await w?.close();
        await phone?.stop();
        await box?.stop();
    });
    afterEach(() => assert.deepEqual(browser.takeComplaints(), []));

    /** A page of a resident, while a visitor rings and the resident's phone, too. */
    async function ring(options) {
        const person = await resident(w.client, { tone: '5' });
        await changeSettings(person, { ring: { numbers: [PHONE], accept: false } });
        const page = await openSigned(browser, w, person, '/', options);
        const from = { box: box.events.length, phone: phone.events.length };
        box.command('dial', `sip:${person.number}@${address(w.daemon)};transport=udp`);
        await phone.event('CALL_INCOMING', from.phone);
        const bell = page.locator('.bell');
        await bell.getByRole('heading', { name: 'Someone is at the door' }).waitFor();
        return {
            page, bell, person,
            press: (name) => bell.getByRole('button', { name, exact: true }).and(page.locator(':enabled')).click(),
            title: (name) => bell.getByRole('heading', { name }).waitFor(),
            stopped: () => phone.event('CALL_CLOSED', from.phone),
            ended: () => box.event('CALL_CLOSED', from.box),
        };
    }
    const allowed = { permissions: ['microphone'] };

    /** The loudest second that the box heard. */
    function loudness() {
        const file = readdirSync(box.directory).filter((name) => name.endsWith('-dec.wav')).sort().at(-1);
        const bytes = readFileSync(join(box.directory, file)).subarray(44);
        let loudest = 0;
        for (let at = 0; at + 16000 <= bytes.length; at += 8000) {
            let power = 0;
            for (let i = 0; i < 16000; i += 2) power += bytes.readInt16LE(at + i) ** 2;
            loudest = Math.max(loudest, Math.sqrt(power / 8000));
        }
        return loudest;
    }

    // CALL-28
    it('listens, answers in place of the phone, talks and opens the door', async () => {
        const { page, bell, press, title, stopped, ended } = await ring(allowed);
        await press('Listen');
        await title('You are listening');
        await bell.getByText('The visitor does not hear you yet.').waitFor();
        await picture(page, 'door-listening');
        await press('Answer');
        await title('You are talking');
        await stopped();
        await checkAccessible(page);
        await picture(page, 'door-talking');
        await new Promise((done) => { setTimeout(done, 3000); }); // the microphone beeps each second
        await press('Open the door');
        await bell.getByText('You opened the door').waitFor();
        await page.setViewportSize({ width: 390, height: 800 });
        const [mute, end, open] = await Promise.all(['Mute', 'Hang up', 'Open the door'].map((name) => page.getByRole('button', { name }).boundingBox()));
        assert.ok(mute.y === end.y && open.width > 1.9 * end.width, JSON.stringify([mute, end, open]));
        await press('Hang up');
        await ended();
        await bell.getByLabel('The call so far').getByText('You answered here').waitFor();
        assert.ok(loudness() > 300, `the box heard ${loudness()}`);
        await page.context().close();
    });

    it('listens and opens without a microphone', async () => {
        const { page, bell, press, title, ended } = await ring({});
        await press('Answer');
        await bell.getByText('The browser does not let this page use the microphone.').waitFor();
        await title('You are listening');
        await press('Open the door');
        await title('The door opened');
        await ended();
        await page.context().close();
    });

    // CALL-31
    it('ends the call when it is closed while somebody talks', async () => {
        const { page, press, title, ended } = await ring(allowed);
        await press('Answer');
        await title('You are talking');
        await page.close();
        await ended();
        await page.context().close();
    });

    it('tells the other tab who has answered', async () => {
        const { page, press, title, ended } = await ring(allowed);
        const other = await page.context().newPage();
        await other.goto(`${w.daemon.https}/access`);
        await other.locator('.bell').getByRole('button', { name: 'Answer' }).waitFor();
        await press('Answer');
        await title('You are talking');
        await other.locator('.bell').getByRole('heading', { name: 'Answered in another window' }).waitFor();
        assert.equal(await other.locator('.bell').getByRole('button', { name: 'Answer' }).count(), 0);
        await press('Hang up');
        await ended();
        await page.context().close();
    });
});
