// Someone is at the door: each page shows a call as it goes on, over SIP with telephones on loopback.
// PORTERO_E2E_PICTURES=directory keeps screenshots.
// engine: sqlite, because events.test.js has both
import { before, describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { BOX, startBuzz } from './lib/phone.js';
import { useDoor } from './lib/site-door.js';
import { checkSights, openSigned, picture, written } from './lib/site-page.js';
import { eventually, grant, resident, visit } from './lib/world.js';

describe('a page, while someone is at the door,', () => {
    const door = useDoor();
    const { withPhone, ring } = door;
    let w;
    let browser;
    before(() => { ({ w, browser } = door); });
    const bell = (page) => page.locator('.bell');
    const title = (page, name) => bell(page).getByRole('heading', { name }).waitFor();

    // SITE-23
    it('tells who calls and each step, until a phone answers and the call ends', async () => {
        const person = await withPhone();
        const home = await openSigned(browser, w, person, '/');
        const other = await home.context().newPage();
        await other.goto(`${w.daemon.https}/access`);
        const call = await ring(person);
        for (const page of [home, other]) {
            await page.bringToFront();
            await title(page, 'Someone is at the door');
            await bell(page).getByText(written(BOX)).waitFor();
            await bell(page).getByText('The phone … 1234 rings').waitFor();
            await page.waitForFunction(() => document.title.startsWith('●'));
            assert.match(await page.getByRole('alert').first().textContent(), /^Someone is at the door/);
            assert.equal(await page.evaluate(() => document.activeElement === document.body), true, 'the focus was taken');
        }
        await call.answer();
        for (const page of [home, other]) {
            await title(page, 'Somebody answered');
            await page.waitForFunction(() => !document.title.startsWith('●'));
            assert.equal(await bell(page).getByRole('button', { name: 'Answer' }).count(), 0);
        }
        await call.end();
        await title(home, 'The call has ended');
        await bell(home).waitFor({ state: 'detached' });
        await home.context().close();
    });

    // SITE-25
    it('opens the door while the phone rings, with the keyboard', async () => {
        const person = await withPhone();
        const page = await openSigned(browser, w, person, '/access');
        const call = await ring(person);
        const button = bell(page).getByRole('button', { name: 'Open the door' });
        await button.and(page.locator(':enabled')).waitFor(); // a press that is too early was not meant for it
        await button.focus();
        await page.keyboard.press('Enter');
        await title(page, 'The door opened');
        await bell(page).getByText('You opened the door').waitFor();
        assert.equal((await call.box).tones, '5');
        await page.context().close();
    });

    it('opens the door while somebody talks on the phone, in Spanish', async () => {
        const person = await withPhone();
        const page = await openSigned(browser, w, person, '/', { locale: 'es-ES' });
        const call = await ring(person);
        await title(page, 'Llaman a la puerta');
        await call.answer();
        await title(page, 'Alguien contestó');
        await bell(page).getByRole('button', { name: 'Abrir la puerta' }).click();
        await bell(page).getByText('Usted abrió la puerta').waitFor();
        await call.end();
        assert.equal((await call.box).tones, '5');
        await page.context().close();
    });

    // SITE-25
    it('offers nothing while the visitor is asked for a code', async () => {
        const person = await withPhone();
        await grant(person, { type: 'passcode', access_code: '1357', label: 'Florist' });
        const page = await openSigned(browser, w, person, '/');
        const box = startBuzz(w.daemon, person.number, '--timeout', '5');
        await title(page, 'Someone is at the door');
        assert.equal(await bell(page).getByRole('button', { name: 'Open the door' }).count(), 0);
        await box.ended;
        await title(page, 'The call has ended');
        await page.context().close();
    });

    // SITE-24
    it('shows a call that began before the page was opened, and hides it when asked to', async () => {
        const person = await withPhone();
        const call = await ring(person);
        const page = await openSigned(browser, w, person, '/building');
        await title(page, 'Someone is at the door');
        await bell(page).getByText('Your phones are called').waitFor();
        await page.keyboard.press('Tab'); // from the top of the page
        await bell(page).getByRole('button', { name: 'Hide this call' }).focus();
        await page.keyboard.press('Enter');
        await bell(page).waitFor({ state: 'detached' });
        assert.equal(await page.evaluate(() => document.activeElement?.id), 'main');
        await page.waitForFunction(() => !document.title.startsWith('●'));
        await call.end();
        await page.context().close();
    });

    it('tells of a code that opened the door, and of a wrong one', async () => {
        const person = await resident(w.client);
        await grant(person, { type: 'passcode', access_code: '1357', label: 'Florist <b>' });
        const page = await openSigned(browser, w, person, '/');
        await visit(w.client, { to: person.number, digits: '9999' });
        await bell(page).getByText('A wrong code was entered').waitFor();
        await visit(w.client, { to: person.number, digits: '1357' });
        await title(page, 'The door opened');
        await bell(page).getByText('“Florist <b>” opened the door').waitFor();
        await page.context().close();
    });

    // SITE-23
    it('shows it in a dialog too, where a form is filled in', async () => {
        const person = await withPhone();
        const page = await openSigned(browser, w, person, '/');
        await page.getByRole('button', { name: 'Make a code' }).first().click();
        const sheet = page.getByRole('dialog');
        await sheet.getByRole('textbox').first().fill('Gardener');
        const call = await ring(person);
        await sheet.getByRole('heading', { name: 'Someone is at the door' }).waitFor();
        assert.equal(await sheet.getByRole('textbox').first().inputValue(), 'Gardener');
        await page.keyboard.press('Escape');
        await title(page, 'Someone is at the door');
        await call.end();
        await page.context().close();
    });

    // SITE-26
    it('rings after somebody has used the page, in one of its tabs, unless it is switched off', async () => {
        const person = await withPhone();
        const page = await openSigned(browser, w, person, '/', {
            prepare: (context) => context.addInitScript(() => {
                globalThis.struck = 0;
                // Playwright's own calls count as somebody's touch.
                let hasBeenActive = false;
                addEventListener('pointerdown', () => { hasBeenActive = true; });
                Object.defineProperty(navigator, 'userActivation', { value: { get hasBeenActive() { return hasBeenActive; } } });
                const start = globalThis.OscillatorNode.prototype.start;
                globalThis.OscillatorNode.prototype.start = function (...when) {
                    globalThis.struck += 1;
                    return start.apply(this, when);
                };
            }),
        });
        const struck = () => page.evaluate(() => globalThis.struck);
        let call = await ring(person);
        await title(page, 'Someone is at the door');
        assert.equal(await struck(), 0);
        await call.end();
        await page.locator('#main').click({ position: { x: 3, y: 3 } });
        call = await ring(person);
        await eventually(async () => await struck() >= 2, 'the bell');
        await bell(page).getByLabel('Ring in this browser').uncheck();
        const before = await struck();
        await call.end();
        call = await ring(person);
        await page.waitForFunction(() => document.title.startsWith('●'));
        assert.equal(await struck(), before);
        await call.end();
        await page.context().close();
    });

    for (const [name, path] of [['home', '/'], ['page', '/access']]) {
        it(`is accessible and fits: ${name}`, async () => {
            const person = await withPhone();
            const page = await openSigned(browser, w, person, path);
            const call = await ring(person);
            await title(page, 'Someone is at the door');
            await checkSights(page, `door-${name}-rings`);
            await call.answer();
            await title(page, 'Somebody answered');
            await picture(page, `door-${name}-answered`);
            await call.end();
            await title(page, 'The call has ended');
            await picture(page, `door-${name}-over`);
            await page.context().close();
        });
    }
});
