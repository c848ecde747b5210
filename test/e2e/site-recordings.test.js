// Recorded greetings on the page of a building: what says that visitors hear one, plays it and removes it.
// PORTERO_E2E_PICTURES=directory keeps screenshots.
// engine: sqlite, because a decision, the operator's commands and the export use recordings on both engines elsewhere
import { after, afterEach, before, describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Browser, checkAccessible } from './lib/browser.js';
import { ok, refused } from './lib/client.js';
import { portero, temporaryDirectory } from './lib/daemon.js';
import { checkSights, openSigned } from './lib/site-page.js';
import { signInBrowser } from './lib/site.js';
import { tone } from './lib/wav.js';
import { changeSettings, grant, resident, UNKNOWN_ID, useWorld, visit } from './lib/world.js';

describe('recorded greetings on the page of a building', () => {
    const w = useWorld();
    const { client } = w;
    let browser;
    before(async () => { browser = await Browser.start(['--autoplay-policy=no-user-gesture-required']); });
    after(() => browser?.close());
    afterEach(() => assert.deepEqual(browser.takeComplaints(), []));

    const open = (person, options) => openSigned(browser, w, person, '/building', options);
    const closing = (page) => page.context().close();
    /** Stores a recording of so many seconds, as the operator does. */
    function record(person, which, seconds) {
        const directory = temporaryDirectory();
        const file = join(directory, 'greeting.wav');
        writeFileSync(file, tone(seconds));
        const set = portero(['admin', 'greeting', 'set', '--building', person.building.id, '--which', which, file, '--config', w.daemon.configPath, '--data', w.daemon.data]);
        rmSync(directory, { recursive: true });
        assert.equal(set.status, 0, set.stderr);
    }
    async function recorded(...list) {
        const person = await resident(client);
        for (const [which, seconds] of list) record(person, which, seconds);
        return person;
    }
    const GREETINGS = { welcome: 'Before a code is asked for', granted: 'When the door opens', denied: 'After a wrong code' };
    const greeting = (page, which) => page.locator('.greeting').filter({ has: page.getByLabel(GREETINGS[which], { exact: true }) });
    const told = (page, which) => greeting(page, which).getByText('Visitors hear a recording instead of this text');
    const play = (page, which) => greeting(page, which).getByRole('button', { name: 'Play the recording' });
    const remove = (page, which) => greeting(page, which).getByRole('button', { name: 'Remove the recording' });
    const gone = (page, which) => told(page, which).waitFor({ state: 'detached' });
    const question = (page) => page.getByRole('dialog', { name: 'Remove this recording?' });
    /** A page that is not told of changes elsewhere. */
    const deaf = { prepare: (context) => context.route('**/events?*', (route) => route.fulfill({ status: 204 })) };
    const refusals = (pattern) => assert.ok(browser.takeComplaints().every((text) => pattern.test(text)));

    // SITE-28
    it('say where visitors hear one, and are fetched and played once someone asks, with the keyboard', async () => {
        const person = await recorded(['granted', 3]);
        const page = await open(person);
        const asked = [];
        page.on('request', (request) => asked.push(new URL(request.url()).pathname));
        await told(page, 'granted').getByText('3 s').waitFor();
        assert.equal(await page.getByText('Visitors hear a recording').count(), 1);
        const described = await page.getByLabel(GREETINGS.granted, { exact: true }).evaluate((field) => field.getAttribute('aria-describedby').split(' ')
            .map((id) => document.getElementById(id).textContent).join(' '));
        assert.match(described, /Visitors hear a recording instead/);
        assert.equal(await page.locator('audio').count(), 0);
        assert.deepEqual(asked.filter((path) => path.includes('recordings')), []);
        await play(page, 'granted').focus();
        const [answer] = await Promise.all([page.waitForResponse((one) => one.url().includes('/recordings/')), page.keyboard.press('Enter')]);
        assert.deepEqual([answer.status(), answer.headers()['content-type']], [200, 'audio/wav']);
        const audio = page.locator('audio');
        await page.waitForFunction(() => document.querySelector('audio')?.currentTime > 0);
        assert.ok(await audio.evaluate((one) => one.duration > 2.5 && one.duration < 3.5 && one === document.activeElement && one.controls));
        assert.equal(await audio.getAttribute('aria-label'), 'Recording: When the door opens');
        await page.getByLabel(GREETINGS.granted, { exact: true }).fill('Come in.'); // redraws the page
        assert.equal(await audio.evaluate((one) => one.error), null);
        const [text] = await Promise.all([
            page.waitForRequest((one) => one.url().endsWith('/greetings/preview')),
            greeting(page, 'granted').getByRole('button', { name: 'Hear the text' }).click(),
        ]);
        assert.deepEqual(text.postDataJSON(), { greeting: 'granted', text: 'Come in.' });
        await checkAccessible(page);
        await closing(page);
    });

    // SITE-28
    it('go after a question, at once in every browser, and visitors hear the text', async () => {
        const person = await recorded(['granted', 1], ['welcome', 1]);
        const { greeting_granted: text } = ok(await person.client.get(`/v1/buildings/${person.building.id}/settings`));
        await grant(person, { type: 'timer', expires_in_minutes: 60 });
        assert.deepEqual((await visit(client, { to: person.number })).recorded, [text]);
        const [page, other] = [await open(person), await open(person)];
        await Promise.all([page, other].map((one) => told(one, 'granted').waitFor()));
        await remove(page, 'granted').click();
        await question(page).getByText(text).waitFor();
        await checkAccessible(page);
        await page.keyboard.press('Escape');
        await question(page).waitFor({ state: 'detached' });
        await remove(page, 'granted').click();
        await question(page).getByRole('button', { name: 'Remove the recording' }).click();
        await page.getByText('Removed. Visitors hear the text from the next call on.').waitFor();
        await gone(page, 'granted');
        assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Hear it');
        await gone(other, 'granted');
        assert.deepEqual((await visit(client, { to: person.number })).recorded, []);
        for (const one of [page, other]) {
            await one.reload();
            await told(one, 'welcome').waitFor();
            assert.equal(await told(one, 'granted').count(), 0);
            await closing(one);
        }
    });

    // SITE-28
    it('appear on a page that is open, and one that was replaced is neither played nor removed', async () => {
        const person = await recorded();
        const [page, late] = [await open(person), await open(person, deaf)];
        record(person, 'welcome', 2);
        await told(page, 'welcome').getByText('2 s').waitFor();
        assert.equal(await page.getByText('Visitors hear a recording').count(), 1);
        await late.reload();
        await told(late, 'welcome').waitFor();
        record(person, 'welcome', 4);
        await told(page, 'welcome').getByText('4 s').waitFor();
        assert.equal(await told(late, 'welcome').getByText('2 s').count(), 1);
        await play(late, 'welcome').click();
        await late.getByText('Someone else has removed or replaced this recording.').waitFor();
        await told(late, 'welcome').getByText('4 s').waitFor();
        record(person, 'welcome', 5);
        await remove(late, 'welcome').click();
        await question(late).getByRole('button', { name: 'Remove the recording' }).click();
        await told(late, 'welcome').getByText('5 s').waitFor();
        await told(page, 'welcome').getByText('5 s').waitFor();
        refusals(/status of 404/);
        await closing(page);
        await closing(late);
    });

    it('stay, and the page says why, while the service does not answer', async () => {
        const person = await recorded(['welcome', 1]);
        const page = await open(person);
        await page.context().setOffline(true);
        await play(page, 'welcome').click();
        await greeting(page, 'welcome').getByRole('alert').getByText('The service does not answer.').waitFor();
        await remove(page, 'welcome').click();
        await question(page).getByRole('button', { name: 'Remove the recording' }).click();
        await page.locator('#toasts').getByText('The service does not answer.').waitFor();
        assert.equal(await told(page, 'welcome').count(), 1);
        await page.context().setOffline(false);
        await play(page, 'welcome').click();
        await greeting(page, 'welcome').locator('audio').waitFor();
        assert.equal(await greeting(page, 'welcome').getByText('The service does not answer.').count(), 0);
        refusals(/net::ERR_/);
        await closing(page);
    });

    // PHONE-47, SITE-28
    it('are not heard where the text is empty, which the page says once it is saved', async () => {
        const person = await recorded(['granted', 1]);
        await grant(person, { type: 'timer', expires_in_minutes: 60 });
        const page = await open(person);
        await page.getByLabel(GREETINGS.granted, { exact: true }).fill('');
        assert.equal(await told(page, 'granted').count(), 1);
        await page.getByRole('button', { name: 'Save' }).click();
        await greeting(page, 'granted').getByText('visitors hear nothing here, because the text is empty').waitFor();
        const { said, recorded: played } = await visit(client, { to: person.number });
        assert.deepEqual([said, played], [[], []]);
        await remove(page, 'granted').click();
        await question(page).getByText('Visitors hear nothing here either way').waitFor();
        await question(page).getByRole('button', { name: 'Remove the recording' }).click();
        await page.getByText('The recording is removed.').waitFor();
        await closing(page);
    });

    it('are told apart where a ring shows what was heard', async () => {
        const person = await recorded(['welcome', 1]);
        await changeSettings(person, { greeting_welcome: 'Hello.', greeting_denied: 'Sorry.' });
        await grant(person, { type: 'passcode', access_code: '1234' });
        const page = await open(person);
        await page.getByLabel('Keys that the visitor presses').fill('9876');
        await page.getByRole('button', { name: 'Ring' }).click();
        const heard = page.getByRole('list', { name: 'What the visitor heard' });
        await heard.getByText('A recording instead of “Hello.”').waitFor();
        assert.ok((await heard.getByRole('listitem').allInnerTexts()).includes('“Sorry.”'));
        await closing(page);
    });

    // SITE-28
    it('belong to their building, and to its owner', async () => {
        const [person, other] = [await recorded(['welcome', 1]), await resident(client)];
        const { site } = await signInBrowser(client, { email: person.email });
        const { site: stranger } = await signInBrowser(client, { email: other.email });
        const path = `/v1/buildings/${person.building.id}/recordings`;
        const { data } = ok(await site.get(path));
        assert.deepEqual(data.map((one) => [one.greeting, one.seconds]), [['welcome', 1]]);
        for (const method of ['get', 'delete']) {
            refused(await stranger[method](`${path}/${data[0].id}`), 404, 'BUILDING_NOT_FOUND');
            refused(await stranger[method](`/v1/buildings/${other.building.id}/recordings/${data[0].id}`), 404, 'NOT_FOUND');
            refused(await site[method](`${path}/${UNKNOWN_ID}`), 404, 'NOT_FOUND');
            refused(await site[method](`${path}/welcome`), 400, 'INVALID_ID');
        }
        refused(await stranger.get(path), 404, 'BUILDING_NOT_FOUND');
        assert.deepEqual(ok(await site.delete(`${path}/${data[0].id}`)), { id: data[0].id, deleted: true });
        assert.deepEqual(ok(await site.get(path)).data, []);
    });

    for (const [locale, text] of [['es', 'Los visitantes oyen una grabación'], ['fr', 'Les visiteurs entendent un enregistrement']]) {
        it(`say so in the page's language: ${locale}`, async () => {
            const page = await open(await recorded(['welcome', 1]), { locale });
            await page.getByText(text).waitFor();
            await closing(page);
        });
    }

    it('are accessible and fit, light and dark', async () => {
        const person = await recorded(['welcome', 8], ['denied', 3]);
        await changeSettings(person, { greeting_denied: '' });
        const page = await open(person);
        await play(page, 'welcome').click();
        await page.locator('audio').waitFor();
        await checkSights(page, 'recordings');
        await closing(page);
    });
});
