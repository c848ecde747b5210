// A household of four at one door: phones and browsers that ring together, and what each reads of it afterwards. Chromium with a
// microphone that beeps; baresip is the call box and the phones.
// engine: sqlite, because what is stored is tested on both engines elsewhere
import { after, afterEach, before, describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { Browser, SOUND } from './lib/browser.js';
import { ok } from './lib/client.js';
import { member, verifyPhone } from './lib/household.js';
import { address, Baresip, phonesAt, Switch } from './lib/phone.js';
import { freePort } from './lib/port.js';
import { openSigned } from './lib/site-page.js';
import { signInBrowser } from './lib/site.js';
import { changeSettings, eventually, now, resident, world } from './lib/world.js';

const OWNERS = '+15550001234', ANAS = '+15550005678';

describe('a household of four', () => {
    let w, browser, trunk, box, owner, theirs;
    const phones = {}, people = {}, pages = {};

    async function phone(number, listen) {
        return Baresip.start({ account: `<sip:${number}@127.0.0.1>;regint=0;audio_codecs=PCMU/8000/1`, listen });
    }

    before(async () => {
        const ports = [await freePort(), await freePort()];
        phones.owner = await phone(OWNERS, ports[0]);
        phones.ana = await phone(ANAS, ports[1]);
        trunk = await Switch.start({ [OWNERS]: ports[0], [ANAS]: ports[1] });
        box = await Baresip.start();
        w = await world({ config: phonesAt(trunk.port) });
        browser = await Browser.startWhole(SOUND);
        owner = await resident(w.client, { tone: '5' });
        ({ site: theirs } = await signInBrowser(w.client, { email: owner.email }));
        await changeSettings(owner, { ring: { strategy: 'all', seconds: 60 } });
        for (const [name, role] of [['Ana', 'resident'], ['Ben', 'resident'], ['Max', 'manager']]) people[name] = await member(w.client, theirs, owner.building, { name, role });
        await verifyPhone(w.client, theirs, OWNERS);
        await verifyPhone(w.client, people.Ana.site, ANAS);
        for (const [name, person] of [['owner', owner], ['Ben', people.Ben], ['Max', people.Max]]) {
            pages[name] = await openSigned(browser, w, person, '/', { permissions: ['microphone'] });
        }
    });
    after(async () => {
        await browser?.close();
        await w?.close();
        trunk?.close();
        for (const one of [box, phones.owner, phones.ana]) await one?.stop();
    });
    afterEach(() => assert.deepEqual(browser.takeComplaints(), []));

    const bell = (name) => pages[name].locator('.bell');
    const says = (name, heading) => bell(name).getByRole('heading', { name: heading }).waitFor();
    const press = (name, button) => bell(name).getByRole('button', { name: button, exact: true }).and(pages[name].locator(':enabled')).click();

    /** A visitor calls: where the events of each telephone begin. */
    function visitor() {
        const from = { box: box.events.length, owner: phones.owner.events.length, ana: phones.ana.events.length };
        box.command('dial', `sip:${owner.number}@${address(w.daemon)};transport=udp`);
        return from;
    }

    /** Everybody reads this of the newest visit. */
    async function allRead(sentence) {
        for (const person of [owner, ...Object.values(people)]) {
            const page = await openSigned(browser, w, person, '/activity');
            assert.equal(await page.locator('.day li b').first().innerText(), sentence);
            await page.context().close();
        }
    }

    // ACCOUNT-45
    it('rings on all phones and browsers at once, and one answers in the browser', async () => {
        const from = visitor();
        await phones.owner.event('CALL_INCOMING', from.owner);
        await phones.ana.event('CALL_INCOMING', from.ana);
        await says('owner', 'Someone is at the door');
        await says('Ben', 'Someone is at the door');
        assert.equal(await bell('Max').getByRole('button', { name: 'Answer' }).count(), 0); // a manager of codes answers nobody
        await press('Ben', 'Answer');
        await says('Ben', 'You are talking');
        await phones.owner.event('CALL_CLOSED', from.owner);
        await phones.ana.event('CALL_CLOSED', from.ana);
        await says('owner', 'Somebody answered');
        await press('Ben', 'Open the door');
        await bell('owner').getByLabel('The call so far').getByText('The door opened').waitFor();
        await bell('Ben').getByLabel('The call so far').getByText('You opened the door').waitFor();
        await press('Ben', 'Hang up');
        await box.event('CALL_CLOSED', from.box);
        assert.equal(box.tones(from.box), '5');
        await allRead('Ben opened in the browser');
    });

    // ACCOUNT-45
    it('opens on the phone of a member', async () => {
        const from = visitor();
        await phones.owner.event('CALL_INCOMING', from.owner);
        await phones.ana.event('CALL_INCOMING', from.ana);
        phones.ana.command('accept');
        await phones.ana.event('CALL_ESTABLISHED', from.ana);
        await phones.ana.press('1');
        await phones.owner.event('CALL_CLOSED', from.owner);
        await says('owner', 'Somebody answered');
        await phones.ana.press('9');
        await bell('owner').getByLabel('The call so far').getByText('The door opened').waitFor();
        phones.ana.command('hangup');
        await box.event('CALL_CLOSED', from.box);
        assert.equal(box.tones(from.box), '5');
        await allRead('Ana opened on the phone');
    });

    // ACCOUNT-46
    it('rings on no page of a person in quiet hours, unless nobody else can answer', async () => {
        const RINGS = '● Someone is at the door', site = people.Ben.site;
        const hour = new Date(await now(w.client)).getUTCHours();
        const clock = (ahead) => `${String((hour + ahead + 24) % 24).padStart(2, '0')}:00`;
        const rest = async (one, hours) => ok(await one.put('/v1/person/quiet_hours', hours));
        const [none, these] = [{ from: null, until: null }, { from: clock(-2), until: clock(2) }];
        await changeSettings(owner, { timezone: 'Etc/UTC' });
        for (const name of ['owner', 'Ben']) {
            await pages[name].reload();
            await pages[name].emulateMedia({ reducedMotion: 'reduce' }); // the title then does not change back while it rings
        }
        const rings = (name) => eventually(async () => await pages[name].title() === RINGS, `${name}'s page to ring`);
        const ended = async (from) => {
            phones.owner.command('hangup');
            phones.ana.command('hangup');
            await box.event('CALL_CLOSED', from.box);
            await eventually(async () => await pages.owner.title() !== RINGS, 'the end of the ringing');
        };
        await rest(site, these);
        const asked = pages.Ben.waitForResponse((answer) => answer.url().endsWith('/v1/person/quiet_hours'));
        const first = visitor();
        await phones.owner.event('CALL_INCOMING', first.owner);
        await rings('owner');
        await asked;
        await says('Ben', 'Someone is at the door');
        assert.notEqual(await pages.Ben.title(), RINGS);
        await ended(first);
        await rest(theirs, these);
        await rest(people.Ana.site, these);
        const second = visitor();
        await phones.owner.event('CALL_INCOMING', second.owner);
        await rings('Ben');
        await ended(second);
        for (const one of [site, theirs, people.Ana.site]) await rest(one, none);
        for (const name of ['owner', 'Ben']) await pages[name].emulateMedia({ reducedMotion: null });
    });

    // ACCOUNT-45
    it('rings for nobody who was removed', async () => {
        const told = pages.Ben.waitForResponse((answer) => answer.url().includes('/events?') && answer.status() === 401);
        for (const name of ['Ana', 'Ben']) {
            ok(await theirs.delete(`/v1/buildings/${owner.building.id}/people/${people[name].id}`));
            delete people[name];
        }
        await told;
        const from = visitor();
        await phones.owner.event('CALL_INCOMING', from.owner);
        await says('owner', 'Someone is at the door');
        await press('owner', 'Open the door');
        await box.event('CALL_CLOSED', from.box);
        assert.deepEqual([phones.ana.events.slice(from.ana), await bell('Ben').getByRole('button', { name: 'Answer' }).count()], [[], 0]);
        await allRead('Opened in the browser');
        await pages.Ben.context().close();
        browser.takeComplaints(); // of the page that is signed out
    });
});
