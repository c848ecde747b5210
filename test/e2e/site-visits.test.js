// Home, Activity, its files and Building tell the same of each visit: real calls, also two at once.
// engine: sqlite, because the list that they show is tested on both engines elsewhere
import { after, before, describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ok } from './lib/client.js';
import { Commands } from './lib/commands.js';
import { member, verifyPhone } from './lib/household.js';
import { sdks } from './lib/mcp.js';
import { BOX, buzz, startBuzz } from './lib/phone.js';
import { PHONE, useDoor } from './lib/site-door.js';
import { checkSights, openSigned, written } from './lib/site-page.js';
import { signInBrowser } from './lib/site.js';
import { Stream } from './lib/stream.js';
import { tone } from './lib/wav.js';
import { agent, changeSettings, edit, endedCall, eventually, grant, passMidnight, visit } from './lib/world.js';

const DAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];

describe('the pages that show visits', () => {
    const door = useDoor();
    const { withPhone, ring } = door;
    let w;
    let phone;
    let browser;
    let files;
    /** The assistants and the command lines of persons, by their addresses. */
    const programs = new Map();
    before(() => {
        ({ w, phone, browser } = door);
        files = mkdtempSync(join(tmpdir(), 'portero-visits-'));
        writeFileSync(join(files, 'message.wav'), tone(20)); // longer than the phone rings
    });
    after(async () => {
        for (const { assistant, commands } of programs.values()) await Promise.all([assistant.close(), commands.close()]);
        rmSync(files, { recursive: true, force: true });
    });

    async function programsOf(person) {
        if (!programs.has(person.email)) {
            const commands = new Commands();
            programs.set(person.email, { assistant: await sdks.current(w.daemon, (await agent(person, ['logs:read'])).key), commands });
            assert.equal((await commands.login(w.client, person.email, ['--scopes', 'logs:read'])).status, 0);
        }
        return programs.get(person.email);
    }

    /** The file that Activity saves. */
    async function saved(page, format) {
        await page.getByRole('button', { name: 'Export' }).click();
        const dialog = page.getByRole('dialog', { name: 'Export' });
        await dialog.getByLabel('File').selectOption(format);
        const [download] = await Promise.all([page.waitForEvent('download'), dialog.getByRole('button', { name: 'Export' }).click()]);
        await dialog.waitFor({ state: 'detached' });
        return readFileSync(await download.path(), 'utf8');
    }

    /** The visits, the newest first, as [outcome, sentence]: the same on pages, in files, for an assistant and for a command. */
    async function told(person) {
        const page = await openSigned(browser, w, person, '/activity', { acceptDownloads: true });
        const bell = page.getByRole('button', { name: 'Hide this call' }); // a call in progress covers the sheet on a phone
        await page.addLocatorHandler(bell, () => bell.click());
        const titles = await page.locator('.day li b').allInnerTexts();
        const [head, ...lines] = (await saved(page, 'csv')).slice(1).trimEnd().split('\r\n').map((line) => [...line.matchAll(/"((?:[^"]|"")*)"/g)].map(([, text]) => text.replaceAll('""', '"')));
        const { data } = JSON.parse(await saved(page, 'json'));
        const column = (name) => lines.map((line) => line[head.indexOf(name)]);
        assert.deepEqual(column('What happened'), titles);
        assert.deepEqual(column('outcome'), data.map(({ outcome }) => outcome));
        assert.deepEqual(column('opened_by'), data.map(({ opened_by: by }) => by?.kind ?? ''));
        assert.deepEqual(column('reason'), data.map(({ reason }) => reason?.code ?? ''));
        assert.deepEqual(data, ok(await person.client.get('/v1/visits?limit=100')).data);
        const { assistant, commands } = await programsOf(person);
        assert.deepEqual((await assistant.callTool({ name: 'listVisits', arguments: { limit: 100 } })).structuredContent.data, data);
        assert.deepEqual(JSON.parse((await commands.run(['visit', 'list', '--limit', '100', '--json'])).stdout).data, data);
        await page.goto(`${w.daemon.https}/`);
        assert.deepEqual(await page.locator('.visits li b').allInnerTexts(), titles.slice(0, 4));
        await page.goto(`${w.daemon.https}/building`);
        const last = data.findIndex(({ outcome }) => outcome === 'opened');
        await page.getByText(last < 0 ? 'The door has not been opened so far.' : `. ${titles[last]}.`).waitFor();
        await page.context().close();
        return data.map(({ outcome }, i) => [outcome, titles[i]]);
    }

    /** A visitor's call: `act` gets the call's ID while the phone rings. */
    async function rung(person, act, ...options) {
        const from = phone.events.length;
        const box = startBuzz(w.daemon, person.number, ...options);
        await phone.event('CALL_INCOMING', from);
        await act(ok(await person.client.get('/v1/visits?limit=1')).data[0].id, from);
        await box.ended;
        await endedCall(person);
    }
    /** The resident answers the phone, opens with the key if there is one, and hangs up. */
    const talk = (person, key = '') => async (id, from) => {
        phone.command('accept');
        await phone.event('CALL_ESTABLISHED', from);
        await phone.press(key);
        if (key) await eventually(async () => ok(await person.client.get('/v1/visits?limit=1')).data[0].outcome === 'opened', 'the door to open');
        phone.command('hangup');
    };
    const decline = async () => { phone.command('hangup'); };
    /** Opens by an operation, which ends the call. */
    const openBy = (client) => async (id) => { ok(await client.post(`/v1/calls/${id}/open`)); };

    describe('tell the same of each outcome of a call, as files, assistants and commands do:', () => {
        let person, ana, owners, neighbour;
        /** The visits so far, the newest first. */
        const all = [];
        const tells = async (...news) => {
            all.unshift(...news);
            assert.deepEqual(await told(person), all);
        };
        before(async () => {
            person = await withPhone();
            ({ site: owners } = await signInBrowser(w.client, { email: person.email }));
            ana = await member(w.client, owners, person.building);
            await grant(person, { type: 'passcode', label: 'Parcel', access_code: '3579', remaining_uses: 1 });
            neighbour = await grant(person, { type: 'passcode', label: 'Neighbour', access_code: '4711' });
        });

        // SITE-27
        it('codes, and nobody', async () => {
            await rung(person, talk(person), '--digits', '9999');
            await buzz(w.daemon, person.number, '--digits', '3579');
            await rung(person, decline, '--digits', '3579');
            await buzz(w.daemon, person.number, '--timeout', '3');
            await endedCall(person);
            await tells(['ended_by_visitor', 'The visitor hung up'], ['missed', 'Missed: the code of “Parcel”, used up'], ['opened', 'Opened by the code of “Parcel”'],
                ['forwarded', 'Went on to you: nobody’s code']);
        });

        // SITE-27
        it('residents and a program', async () => {
            const lamp = await agent(person, ['access:write'], { name: 'Lamp' });
            await rung(person, talk(person, '9'));
            for (const one of [owners, ana.site, lamp.client]) await rung(person, openBy(one));
            await tells(['opened', '“Lamp” opened the door'], ['opened', 'Ana opened in the browser'], ['opened', 'Opened in the browser'], ['opened', 'Opened on a phone (…1234)']);
        });

        // SITE-27
        it('a member\'s phone, a message, another caller and a timer', async () => {
            await changeSettings(person, { ring: { numbers: [], message: true } });
            await verifyPhone(w.client, ana.site, PHONE);
            await rung(person, talk(person, '9'));
            await edit(person, neighbour, { enabled: false }); // so that no code is asked for
            await rung(person, decline, '--wav', join(files, 'message.wav'));
            await changeSettings(person, { callers: { mode: 'listed', numbers: ['+15550009999'], others: 'reject' } });
            await buzz(w.daemon, person.number);
            await changeSettings(person, { callers: { mode: 'any', numbers: [], others: 'forward' } });
            await grant(person, { type: 'timer', label: 'Party', expires_in_minutes: 60, remaining_uses: 1 });
            await buzz(w.daemon, person.number);
            await tells(['opened', 'Opened by the timer “Party”'], ['refused', 'Refused: only listed call boxes may open'], ['message', 'Message left'], ['opened', 'Ana opened on the phone']);
        });

        // SITE-27
        it('a weekly plan, and a visitor who is there now', async () => {
            await passMidnight(w.client);
            const plan = await grant(person, { type: 'routine', label: 'Cleaner', days: DAYS, start: '00:00', end: '23:59', timezone: 'UTC' });
            await buzz(w.daemon, person.number);
            await edit(person, plan, { enabled: false });
            const stream = await Stream.open(person.client, person.building.id);
            await rung(person, async (id, from) => {
                phone.command('accept');
                await phone.event('CALL_ESTABLISHED', from);
                await stream.type('call.answered'); // pages ring until then
                await tells(['in_progress', 'At the door now'], ['opened', 'Opened by the weekly plan “Cleaner”']);
                phone.command('hangup');
            });
            stream.cut();
            all[0] = ['forwarded', 'Went on to you'];
        });

        it('Activity finds each by its outcome', async () => {
            const page = await openSigned(browser, w, person, '/activity');
            for (const [outcome] of new Map(all)) {
                await page.goto(`${w.daemon.https}/activity?kind=${outcome}`);
                const shown = all.filter(([one]) => one === outcome).map(([, sentence]) => sentence);
                await page.getByRole('status').filter({ hasText: `${shown.length} visits shown` }).waitFor();
                assert.deepEqual(await page.locator('.day li b').allInnerTexts(), shown);
            }
            await page.goto(`${w.daemon.https}/`);
            await page.locator('.visits li').first().waitFor();
            await checkSights(page, 'home-visits');
            await page.context().close();
        });
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
