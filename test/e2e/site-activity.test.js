// Activity, in a browser: filters, why, messages, files, and what would happen at another time.
// PORTERO_E2E_PICTURES=directory keeps screenshots.
// engine: sqlite, because what the page reads is tested on both engines elsewhere
import { after, afterEach, before, describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { Browser, checkAccessible } from './lib/browser.js';
import { idempotencyKey, ok } from './lib/client.js';
import { checkSights, checkTargets, HOSTILE, openSigned, picture, written } from './lib/site-page.js';
import { advance, changeSettings, DAY, grant, now, resident, useWorld, visit } from './lib/world.js';

describe('the page of visits', () => {
    const w = useWorld();
    const { client } = w;
    let browser;
    before(async () => { browser = await Browser.start(); });
    after(() => browser?.close());
    afterEach(() => assert.deepEqual(browser.takeComplaints(), []));

    const open = (person, options) => openSigned(browser, w, person, '/activity', options);
    const closing = (page) => page.context().close();
    const rows = (page) => page.locator('.day li');
    const titles = (page) => page.locator('.day li b').allInnerTexts();
    const settle = (page, count) => page.getByRole('status').filter({ hasText: `${count} visits shown` }).waitFor();

    /** A resident with a code, a wrong code, a call and a message, the newest last. */
    async function visited(options) {
        const person = await resident(client, options);
        await changeSettings(person, { ring: { message: true } });
        const code = await grant(person, { type: 'passcode', label: 'Anna & Tom', access_code: '4711' });
        await visit(client, { to: person.number, digits: '4711' });
        await visit(client, { to: person.number, digits: '9999', resident: 'busy', message_seconds: 3 });
        return { ...person, code };
    }

    it('lists visits by day and says why each ended as it did', async () => {
        const person = await visited();
        const page = await open(person);
        assert.deepEqual(await titles(page), ['Message left: nobody’s code', 'Opened by the code of “Anna & Tom”']);
        await page.getByRole('heading', { name: 'Today' }).waitFor();
        await page.getByRole('button', { name: /^Why\? Opened by the code of “Anna & Tom”/ }).click();
        const dialog = page.getByRole('dialog', { name: 'Opened by the code of “Anna & Tom”' });
        await dialog.getByText('The visitor entered the code of “Anna & Tom”.').waitFor();
        await dialog.getByText('The visitor pressed 4 keys').waitFor();
        await dialog.getByText('“Anna & Tom” released the door').waitFor();
        await dialog.getByText(written('+15550001111')).waitFor();
        assert.ok(!(await dialog.innerText()).includes('4711'));
        await checkAccessible(page);
        await checkTargets(page);
        await picture(page, 'activity-why');
        await page.keyboard.press('Escape');
        await dialog.waitFor({ state: 'detached' });
        await page.getByRole('button', { name: /^Why\? Message left/ }).click();
        await page.getByText('The keys were nobody’s code.').waitFor();
        await closing(page);
    });

    // PASS-11
    it('says of a code that could not open whose it was, why, and when it opens next by the building\'s clock', async () => {
        const person = await resident(client);
        await changeSettings(person, { timezone: 'Europe/Madrid' });
        const call = async (digits, from) => {
            await visit(client, { to: person.number, digits, ...from && { from } });
            await advance(client, 60);
        };
        const day = new Date(await now(client) + 2 * DAY).getUTCDay();
        const names = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
        ok(await person.client.post('/v1/passes', { label: 'Ana', access_code: '48213', windows: [{ days: [names[day]], start: '08:00', end: '11:00' }], timezone: 'Europe/London' },
            { headers: { 'Idempotency-Key': idempotencyKey() } }), 201);
        await grant(person, { type: 'passcode', label: 'Parcel', access_code: '3579', remaining_uses: 1 });
        await grant(person, { type: 'passcode', label: 'Neighbour', access_code: '4711' });
        for (const [digits, from] of [['3579'], ['48213'], ['3579'], ['9999'], ['48213', '+15550002222']]) await call(digits, from);
        const dayIn = (locale) => new Intl.DateTimeFormat(locale, { weekday: 'long', timeZone: 'UTC' }).format(Date.UTC(2000, 0, 2 + day));
        for (const [locale, outside, used, nobodys, missed] of [
            ['en-GB', `The code of “Ana”, outside its hours. It opens next on ${dayIn('en')} at 09:00.`, 'The code of “Parcel”, used up.', 'The keys were nobody’s code.', 'Missed: the code of “Ana”, outside its hours'],
            ['es-ES', `El código de «Ana», fuera de su horario. Abrirá el ${dayIn('es')} a las 9:00.`, 'El código de «Parcel», agotado.', 'Las teclas no eran el código de nadie.', 'Perdida: el código de «Ana», fuera de su horario'],
            ['fr-FR', `Le code de « Ana », hors de ses heures. Prochaine ouverture : ${dayIn('fr')} à 09:00.`, 'Le code de « Parcel », épuisé.', 'Les touches n’étaient le code de personne.', 'Manquée : le code de « Ana », hors de ses heures'],
        ]) {
            const page = await open(person, { locale, timezoneId: 'America/New_York' });
            const answer = async (why) => {
                await why.click();
                const text = await page.locator('dialog .answer').innerText();
                if (text === outside) await page.locator('dialog .story li', { hasText: outside.split('. ')[1].slice(0, -1) }).first().waitFor();
                await page.keyboard.press('Escape');
                await page.locator('dialog').waitFor({ state: 'detached' });
                return text;
            };
            const whys = page.locator('.day .why');
            for (const [i, expected] of [[0, outside], [1, nobodys], [2, used], [3, outside]]) assert.ok((await answer(whys.nth(i))).startsWith(expected), `${locale} ${i}: ${expected}`);
            assert.equal((await titles(page))[0], missed);
            await page.goto(`${w.daemon.https}/`);
            const visits = page.locator('.visits li').filter({ hasText: missed });
            assert.equal(await visits.count(), 2);
            await visits.first().getByRole('link').click();
            assert.equal(await page.locator('dialog .answer').innerText(), outside);
            await checkAccessible(page);
            await closing(page);
        }
    });

    it('says of each call that went on how it ended', async () => {
        const person = await resident(client);
        await changeSettings(person, { ring: { numbers: ['+15551110001'] } });
        for (const part of ['opened', 'busy', 'unreachable']) {
            await visit(client, { to: person.number, resident: part });
            await advance(client, 60);
        }
        const page = await open(person);
        assert.deepEqual(await titles(page), ['Missed', 'Missed', 'Opened on a phone (…0001)']);
        await page.locator('.day .why').first().click();
        await page.getByRole('dialog').getByText('Your phone could not be reached').waitFor();
        await picture(page, 'activity-ended');
        await closing(page);
    });

    it('explains the call that a link names', async () => {
        const person = await visited();
        const { call_id } = await visit(client, { to: person.number, digits: '4711' });
        const page = await openSigned(browser, w, person, `/activity?call=${call_id}`);
        await page.getByRole('dialog').getByText('The visitor entered the code of “Anna & Tom”.').waitFor();
        await closing(page);
    });

    it('is worked with the keyboard alone', async () => {
        const person = await visited();
        const page = await open(person);
        await page.getByRole('searchbox').focus();
        await page.keyboard.type('ANNA');
        await settle(page, 1);
        await page.getByRole('button', { name: /^Why\?/ }).focus();
        await page.keyboard.press('Enter');
        await page.getByText('“Anna & Tom” released the door').waitFor();
        await page.keyboard.press('Escape');
        await page.waitForFunction(() => document.activeElement?.classList.contains('why'));
        await closing(page);
    });

    it('plays the message that a visitor left', async () => {
        const person = await visited();
        const page = await open(person);
        const messages = page.getByRole('region', { name: 'Messages' });
        await messages.getByRole('button', { name: 'Listen · 3 s' }).click();
        const audio = messages.locator('audio');
        await audio.waitFor();
        await page.waitForFunction(() => Math.round(document.querySelector('audio').duration) === 3);
        await closing(page);
    });

    // SITE-29
    it('filters by what happened, access and period, and keeps that in its address', async () => {
        const person = await visited();
        const page = await open(person);
        const show = page.getByLabel('Show', { exact: true });
        await show.selectOption('The door opened');
        await settle(page, 1);
        assert.deepEqual(await titles(page), ['Opened by the code of “Anna & Tom”']);
        await show.selectOption('Wrong codes');
        await page.locator('.day').getByText('Message left').waitFor();
        await page.getByLabel('Access').selectOption('Anna & Tom');
        await page.getByText('No visit matches').waitFor();
        await picture(page, 'activity-nothing');
        await page.goBack();
        await settle(page, 1);
        await page.goBack();
        await page.locator('.day').getByText('Opened by the code').waitFor();
        assert.equal(await show.inputValue(), 'opened');
        await page.reload();
        await settle(page, 1);
        assert.deepEqual([await show.inputValue(), await titles(page)], ['opened', ['Opened by the code of “Anna & Tom”']]);
        await page.goBack();
        await settle(page, 2);
        await page.getByLabel('Period').selectOption('Today');
        await settle(page, 2);
        await page.getByLabel('Period').selectOption('Yesterday');
        await page.getByText('No visit matches').waitFor();
        await page.getByLabel('Period').selectOption('Choose days');
        await page.getByLabel('To', { exact: true }).fill('2020-01-02T06:00');
        await page.getByLabel('From').fill('2020-01-01T22:00');
        await page.getByText('No visit matches').waitFor();
        await page.getByRole('button', { name: 'Show everything' }).click();
        await settle(page, 2);
        assert.equal(new URL(page.url()).search, '');
        await closing(page);
    });

    // VISIT-4
    it('filters by the phone that opened, and finds a number as it is written', async () => {
        const person = await resident(client);
        await changeSettings(person, { ring: { numbers: ['+15551110001'] } });
        await visit(client, { to: person.number, resident: 'opened', from: '+15145550142' });
        await changeSettings(person, { ring: { numbers: ['+15551110002'] } });
        await visit(client, { to: person.number, resident: 'opened' });
        await visit(client, { to: person.number, resident: 'busy' });
        const page = await open(person);
        await page.getByLabel('Opened by').selectOption('Opened on a phone (…0001)');
        await settle(page, 1);
        await rows(page).getByText('+1 (514) 555-0142').waitFor();
        await page.reload();
        await settle(page, 1);
        await checkSights(page, 'activity-opener');
        await page.getByLabel('Opened by').selectOption('Anybody');
        await settle(page, 3);
        await page.getByRole('searchbox').fill('(514) 555-0142');
        await settle(page, 1);
        await rows(page).getByText('+1 (514) 555-0142').waitFor();
        await closing(page);
    });

    it('filters by hours of the building\'s clock, a minute with its last moment', async () => {
        const person = await visited();
        await changeSettings(person, { timezone: 'Asia/Tokyo' });
        const [{ started_at: at }] = ok(await person.client.get('/v1/visits')).data;
        const minute = (offset) => new Intl.DateTimeFormat('sv', { timeZone: 'Asia/Tokyo', dateStyle: 'short', timeStyle: 'short' }).format(Date.parse(at) + offset * 60_000).replace(' ', 'T');
        const page = await openSigned(browser, w, person, `/activity?period=days&from=${minute(-2)}&to=${minute(0)}`, { timezoneId: 'America/New_York' });
        await settle(page, 2);
        await page.getByLabel('To', { exact: true }).fill(minute(-2));
        await page.getByText('No visit matches').waitFor();
        await page.getByLabel('To', { exact: true }).fill(minute(1));
        await settle(page, 2);
        await page.getByLabel('From').fill(minute(1));
        await page.getByText('No visit matches').waitFor();
        await closing(page);
    });

    it('takes from its address only what it knows', async () => {
        const person = await visited();
        const page = await openSigned(browser, w, person, '/activity?kind=__proto__&unlock=x&opener=+&period=days&from=2020-99-99&to=2020-01-01&q=%3Cimg%3E');
        await page.getByText('No visit matches').waitFor();
        assert.deepEqual([await page.getByLabel('From').inputValue(), await page.getByLabel('To', { exact: true }).inputValue(), await page.getByRole('searchbox').inputValue()], ['2020-01-01T00:00', '2020-01-01T23:59', '<img>']);
        await closing(page);
    });

    it('finds names without their accents, and yesterday by the building\'s days', async () => {
        const person = await resident(client);
        await changeSettings(person, { timezone: 'Asia/Tokyo' });
        await grant(person, { type: 'passcode', label: 'Nguyễn', access_code: '4711' });
        await visit(client, { to: person.number, digits: '4711' });
        const day = new Intl.DateTimeFormat('sv', { timeZone: 'Asia/Tokyo' });
        const before = day.format(await now(client));
        while (day.format(await now(client)) === before) await advance(client, 3600);
        const page = await open(person, { timezoneId: 'America/New_York' });
        await page.getByRole('heading', { name: 'Yesterday' }).waitFor();
        await page.getByRole('searchbox').fill('nguyen');
        await settle(page, 1);
        await page.getByLabel('Period').selectOption('Yesterday');
        await settle(page, 1);
        assert.deepEqual(await titles(page), ['Opened by the code of “Nguyễn”']);
        await page.getByLabel('Period').selectOption('Today');
        await page.getByText('No visit matches').waitFor();
        await closing(page);
    });

    it('shows older visits page by page', async () => {
        const person = await resident(client);
        await grant(person, { type: 'timer', label: 'Party', expires_in_minutes: 60 });
        for (let i = 0; i < 53; i++) await visit(client, { to: person.number });
        const page = await open(person);
        assert.equal(await rows(page).count(), 50);
        await page.getByRole('button', { name: 'Show older visits' }).click();
        await settle(page, 53);
        assert.equal(await page.getByRole('button', { name: 'Show older visits' }).count(), 0);
        await closing(page);
    });

    it('saves the log as a file that no spreadsheet runs', async () => {
        const person = await resident(client);
        await grant(person, { type: 'timer', label: '=HYPERLINK("http://evil.example","a"),', expires_in_minutes: 60 });
        for (let i = 0; i < 102; i++) await visit(client, { to: person.number });
        const page = await open(person);
        const saved = async (format) => {
            await page.getByRole('button', { name: 'Export' }).click();
            const dialog = page.getByRole('dialog', { name: 'Export' });
            await dialog.getByLabel('File').selectOption(format);
            const [download] = await Promise.all([page.waitForEvent('download'), dialog.getByRole('button', { name: 'Export' }).click()]);
            await dialog.waitFor({ state: 'detached' });
            return { name: download.suggestedFilename(), text: readFileSync(await download.path(), 'utf8') };
        };
        const table = await saved('csv');
        assert.match(table.name, /^portero-\d{4}-\d\d-\d\d\.csv$/);
        const lines = table.text.trimEnd().split('\r\n');
        assert.equal(lines.length, 103);
        assert.equal(lines[0], '\ufeff"Time (UTC)","Time at the building","Time zone","What happened","Caller","outcome","opened_by","opened_by_name","reason","reason_name","unlock_id","call_id","id"');
        assert.match(lines[1], /^"\d{4}-\d\d-\d\dT[^"]+Z","\d{4}-\d\d-\d\d \d\d:\d\d","UTC","Opened by the timer “=HYPERLINK\(""http:\/\/evil\.example"",""a""\),”","'\+15550001111","opened","timer","'=HYPERLINK\(""http:\/\/evil\.example"",""a""\),","","","[0-9a-f]{24}","([0-9a-f]{24})","\1"$/);
        const { data } = JSON.parse((await saved('json')).text);
        assert.equal(new Set(data.map((entry) => entry.id)).size, 102);
        await closing(page);
    });

    it('says what would happen at another time, by the building\'s clock', async () => {
        const person = await resident(client);
        await grant(person, { type: 'timer', label: 'Dog walker', expires_in_minutes: 60 });
        const page = await open(person);
        await page.getByRole('button', { name: 'Ask the door' }).click();
        await page.getByText('The caller gets in').waitFor();
        await page.getByText('“Dog walker” opens the door.').waitFor();
        const tomorrow = new Date(await now(client) + DAY).toISOString().slice(0, 16);
        await page.getByLabel('Day and time').fill(tomorrow);
        await page.getByRole('button', { name: 'Ask the door' }).click();
        await page.getByText('Over by then').waitFor();
        await page.getByText('Nobody gets in by themselves then.').waitFor();
        await picture(page, 'activity-question');
        await closing(page);
    });

    // CALL-13
    it('says whose code does not open, and why', async () => {
        const person = await resident(client);
        await grant(person, { type: 'passcode', label: 'Parcel', access_code: '3579', enabled: false });
        await grant(person, { type: 'passcode', label: 'Neighbour', access_code: '4711' });
        const page = await open(person);
        const answers = page.locator('.answers');
        for (const [digits, title, ...texts] of [['3579', 'The code does not open', 'The code of “Parcel”, switched off.'], ['0000', 'The code does not open', 'Nobody’s code.'],
            ['4711', 'The caller gets in', '“Neighbour” opens the door with this code.']]) {
            await page.getByLabel('Code', { exact: true }).fill(digits);
            await page.getByRole('button', { name: 'Ask the door' }).click();
            for (const text of [title, ...texts]) await answers.getByText(text, { exact: true }).waitFor();
            assert.ok(!(await answers.innerText()).includes(digits));
        }
        assert.equal(await answers.locator('.whose').count(), 0);
        await page.getByLabel('Code', { exact: true }).fill('');
        await page.getByRole('button', { name: 'Ask the door' }).click();
        await answers.getByText('A code opens the door', { exact: true }).waitFor();
        await closing(page);
    });

    it('shows texts of residents as texts', async () => {
        const person = await resident(client);
        await grant(person, { type: 'timer', label: HOSTILE, expires_in_minutes: 60 });
        await visit(client, { to: person.number });
        const page = await open(person);
        await page.locator('.day').getByText(`Opened by the timer “${HOSTILE}”`, { exact: true }).waitFor();
        await page.getByRole('button', { name: 'Ask the door' }).click();
        await page.locator('.parts').getByText(HOSTILE, { exact: true }).waitFor();
        await page.getByRole('button', { name: /^Why\?/ }).click();
        await page.getByText(`“${HOSTILE}” released the door`).waitFor();
        assert.equal(await page.locator('main img, dialog img').count(), 0);
        await closing(page);
    });

    it('tells what failed, and what is not known any more', async () => {
        const person = await visited();
        const page = await open(person);
        await page.route('**/app/v1/calls/*', (route) => route.fulfill({ status: 404, json: { error: { code: 'CALL_NOT_FOUND' } } }));
        await page.getByRole('button', { name: /^Why\? Opened/ }).click();
        await page.getByText('There is no record of this call any more.').waitFor();
        await page.keyboard.press('Escape');
        await page.route('**/app/v1/visits?**', (route) => route.abort());
        await page.getByLabel('Period').selectOption('Today');
        await page.getByText('The service does not answer.').waitFor();
        assert.equal(await rows(page).count(), 0);
        browser.takeComplaints();
        await closing(page);
    });

    it('says that nobody has come', async () => {
        const person = await resident(client);
        const page = await open(person, { viewport: { width: 390, height: 800 } });
        await page.getByText('Nobody has come yet').waitFor();
        await checkAccessible(page);
        await picture(page, 'activity-empty');
        await closing(page);
    });

    for (const [locale, text] of [['es-MX', '¿Por qué?'], ['fr-CA', 'Pourquoi ?']]) {
        it(`speaks ${locale}`, async () => {
            const page = await open(await visited(), { locale });
            await page.getByText(text).first().click();
            await page.locator('dialog .answer').waitFor();
            await checkAccessible(page);
            await closing(page);
        });
    }

    it('is accessible and fits, light and dark', async () => {
        const person = await visited();
        await grant(person, { type: 'routine', label: 'Cleaner', days: ['tuesday'], start: '09:00', end: '12:00', timezone: 'America/Toronto' });
        await advance(client, 1.5 * DAY / 1000);
        await visit(client, { to: person.number, digits: '4711' });
        const page = await open(person);
        await page.getByRole('button', { name: 'Ask the door' }).click();
        await page.locator('.answers').waitFor();
        await checkSights(page, 'activity');
        await closing(page);
    });
});
