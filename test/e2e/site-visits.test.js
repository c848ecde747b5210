// Home, Activity, its files and Building tell the same of each visit: real calls, also two at once.
// engine: sqlite, because the list that they show is tested on both engines elsewhere
import { before, describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { ok } from './lib/client.js';
import { Commands } from './lib/commands.js';
import { sdks } from './lib/mcp.js';
import { BOX, startBuzz } from './lib/phone.js';
import { useDoor } from './lib/site-door.js';
import { checkSights, openSigned, written } from './lib/site-page.js';
import { advance, agent, changeSettings, endedCall, eventually, grant, visit } from './lib/world.js';

describe('the pages that show visits', () => {
    const door = useDoor();
    const { withPhone, ring } = door;
    let w;
    let phone;
    let browser;
    before(() => { ({ w, phone, browser } = door); });

    /** The file that Activity saves. */
    async function saved(page, format) {
        await page.getByRole('button', { name: 'Export' }).click();
        const dialog = page.getByRole('dialog', { name: 'Export' });
        await dialog.getByLabel('File').selectOption(format);
        const [download] = await Promise.all([page.waitForEvent('download'), dialog.getByRole('button', { name: 'Export' }).click()]);
        await dialog.waitFor({ state: 'detached' });
        return readFileSync(await download.path(), 'utf8');
    }

    /** The visits, the newest first, as [outcome, sentence]: the same on pages and in files. */
    async function told(person) {
        const page = await openSigned(browser, w, person, '/activity', { acceptDownloads: true });
        const titles = await page.locator('.day li b').allInnerTexts();
        const [head, ...lines] = (await saved(page, 'csv')).slice(1).trimEnd().split('\r\n').map((line) => [...line.matchAll(/"((?:[^"]|"")*)"/g)].map(([, text]) => text.replaceAll('""', '"')));
        const { data } = JSON.parse(await saved(page, 'json'));
        const column = (name) => lines.map((line) => line[head.indexOf(name)]);
        assert.deepEqual(column('What happened'), titles);
        assert.deepEqual(column('outcome'), data.map(({ outcome }) => outcome));
        assert.deepEqual(column('opened_by'), data.map(({ opened_by: by }) => by?.kind ?? ''));
        assert.deepEqual(column('reason'), data.map(({ reason }) => reason?.code ?? ''));
        assert.deepEqual(data, ok(await person.client.get('/v1/visits?limit=100')).data);
        await page.goto(`${w.daemon.https}/`);
        assert.deepEqual(await page.locator('.visits li b').allInnerTexts(), titles.slice(0, 4));
        await page.goto(`${w.daemon.https}/building`);
        const last = data.findIndex(({ outcome }) => outcome === 'opened');
        await page.getByText(last < 0 ? 'The door has not been opened so far.' : `. ${titles[last]}.`).waitFor();
        await page.context().close();
        return data.map(({ outcome }, i) => [outcome, titles[i]]);
    }

    // SITE-27
    it('tell the same of each outcome, as files do', async () => {
        const person = await withPhone({ message: true });
        await grant(person, { type: 'passcode', label: 'Parcel', access_code: '3579', remaining_uses: 1 });
        await grant(person, { type: 'passcode', label: 'Neighbour', access_code: '4711' });
        const buzz = async (call) => {
            await visit(w.client, { to: person.number, ...call });
            await advance(w.client, 60);
        };
        await buzz({ digits: '9999', resident: 'answered' });
        assert.deepEqual(await told(person), [['forwarded', 'Went on to you: nobody’s code']]);
        await buzz({ digits: '3579' });
        await buzz({ digits: '3579', resident: 'busy' });
        await buzz({ digits: '3579', resident: 'no_answer', message_seconds: 3 });
        await buzz({ resident: 'opened' });
        const parcel = 'the code of “Parcel”, used up';
        const first = [['opened', 'Opened on a phone (…1234)'], ['message', `Message left: ${parcel}`], ['missed', `Missed: ${parcel}`], ['opened', 'Opened by the code of “Parcel”']];
        assert.deepEqual((await told(person)).slice(0, 4), first);
        await changeSettings(person, { callers: { mode: 'listed', numbers: ['+15550009999'], others: 'reject' } });
        await buzz({ digits: '3579' });
        await changeSettings(person, { callers: { mode: 'any', numbers: [], others: 'forward' } });
        await grant(person, { type: 'timer', label: 'Party', expires_in_minutes: 60 });
        await buzz({});
        assert.deepEqual((await told(person)).slice(0, 3), [['opened', 'Opened by the timer “Party”'], ['refused', 'Refused: only listed call boxes may open'], first[0]]);
        const page = await openSigned(browser, w, person, '/');
        await page.locator('.visits li').first().waitFor();
        await checkSights(page, 'home-visits');
        await page.context().close();
        const { data } = ok(await person.client.get('/v1/visits?limit=100'));
        const assistant = await sdks.current(w.daemon, (await agent(person, ['logs:read'])).key);
        assert.deepEqual((await assistant.callTool({ name: 'listVisits', arguments: { limit: 100 } })).structuredContent.data, data);
        await assistant.close();
        const commands = new Commands();
        assert.equal((await commands.login(w.client, person.email, ['--scopes', 'logs:read'])).status, 0);
        assert.deepEqual(JSON.parse((await commands.run(['visit', 'list', '--limit', '100', '--json'])).stdout).data, data);
        await commands.close();
    });

    it('say that the door opened when the resident opens it in the browser', async () => {
        const person = await withPhone({ message: true });
        const page = await openSigned(browser, w, person, '/');
        const ringing = ring(person);
        await page.locator('.bell').getByRole('button', { name: 'Open the door' }).and(page.locator(':enabled')).click();
        assert.equal((await (await ringing).box).tones, '5');
        await endedCall(person);
        await page.locator('.visits').getByText('Opened in the browser').waitFor();
        await page.goto(`${w.daemon.https}/activity`);
        await page.getByLabel('Show', { exact: true }).selectOption('The door opened');
        await page.getByRole('status').filter({ hasText: '1 visits shown' }).waitFor();
        await page.getByRole('button', { name: /^Why\? Opened in the browser/ }).click();
        await page.locator('.story').getByText('Opened in the browser').waitFor();
        await page.context().close();
        assert.deepEqual(await told(person), [['opened', 'Opened in the browser']]);
    });

    it('tell of each of two calls at once its own story', async () => {
        const person = await withPhone({ message: true });
        await grant(person, { type: 'passcode', label: 'Anna', access_code: '4711' });
        const from = phone.events.length;
        const other = startBuzz(w.daemon, person.number, '--digits', '9#');
        await phone.event('CALL_INCOMING', from);
        await visit(w.client, { to: person.number, from: '+15550000001', digits: '0000', resident: 'busy' });
        await visit(w.client, { to: person.number, from: '+15550000002', digits: '4711' });
        const page = await openSigned(browser, w, person, '/activity');
        const row = (number) => page.locator('.day li').filter({ hasText: written(number) });
        await row(BOX).getByText('At the door now').waitFor();
        for (const [number, name, step] of [['+15550000001', 'Missed: nobody’s code', 'Wrong code'], ['+15550000002', 'Opened by the code of “Anna”', '“Anna” released the door']]) {
            await row(number).getByText(name).waitFor();
            await row(number).getByRole('button').click();
            const dialog = page.getByRole('dialog', { name });
            await dialog.locator('.facts').getByText(written(number)).waitFor();
            await dialog.getByText(step, { exact: true }).waitFor();
            assert.ok(!(await dialog.locator('.stack').innerText()).includes(written(BOX))); // the dialog shows the other call, too, as it goes on
            await page.keyboard.press('Escape');
            await dialog.waitFor({ state: 'detached' });
        }
        phone.command('hangup');
        await other.ended;
        await eventually(async () => !(await row(BOX).getByText('At the door now').isVisible()), 'the end of the visit on the page');
        await page.context().close();
    });
});
