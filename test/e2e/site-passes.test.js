// Passes on the website: the form, its sentence in three languages, and how many taps it takes.
// engine: sqlite
// PORTERO_E2E_PICTURES=directory keeps screenshots.
import { after, afterEach, before, describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Browser, checkAccessible, checkFits, checkForcedColours } from './lib/browser.js';
import { idempotencyKey, ok } from './lib/client.js';
import { openSigned } from './lib/site-page.js';
import { sql } from './lib/store.js';
import { changeSettings, DAY, eventually, HOUR, iso, now, resident, useWorld } from './lib/world.js';

const SITE = new URL('../../web/site/', import.meta.url).pathname;
const ZONE = 'Europe/Madrid';
const START = '2027-02-24T10:30:00Z'; // a Wednesday, 11:30 in Madrid

/** The texts of the pages in a language. */
const textsOf = (language) => Object.fromEntries(readFileSync(join(SITE, 'texts', `${language}.txt`), 'utf8').split('\n')
    .filter((line) => /^[a-z_]+\.\w+ = /.test(line)).map((line) => [line.slice(0, line.indexOf(' = ')), line.slice(line.indexOf(' = ') + 3)]));

describe('the sentence of a pass', () => {
    let browser;
    let directory;
    const pages = {};
    before(async () => {
        directory = mkdtempSync(join(tmpdir(), 'portero-pass-'));
        browser = await Browser.start();
        for (const [language, locale] of [['en', 'en-GB'], ['es', 'es-ES'], ['fr', 'fr-FR']]) {
            writeFileSync(join(directory, 'texts.json'), JSON.stringify(textsOf(language)));
            writeFileSync(join(directory, 'all.js'), ['pass', 'pass_form', 'easy_code'].map((name) => `export * from '${join(SITE, 'lib', name)}.js';`).join('\n'));
            const script = execFileSync('esbuild', [join(directory, 'all.js'), '--bundle', '--format=iife', '--global-name=lib', `--alias:texts=${join(directory, 'texts.json')}`, '--log-level=warning'], { encoding: 'utf8' });
            const page = await browser.page('about:blank', { timezoneId: 'Asia/Tokyo', locale });
            const data = { page: { at: START, building: 'b' }, account: {}, buildings: { data: [{ id: 'b', label: 'Home', timezone: ZONE }] } };
            await page.setContent(`<!doctype html><html lang="${language}"><script type="application/json" id="data">${JSON.stringify(data)}</script></html>`);
            await page.addScriptTag({ content: script });
            pages[language] = page;
        }
    });
    after(async () => {
        await browser?.close();
        rmSync(directory, { recursive: true });
    });

    /** The body that the values make, and its sentence. */
    const said = (language, values) => pages[language].evaluate((values) => {
        const body = lib.passBody({ ...lib.purposeValues('guest'), label: 'Ana', ...values });
        return { body, text: lib.sentence({ ...body, code: body.code ?? true }) };
    }, values);
    const days = (...names) => Object.fromEntries(names.map((name) => [`day-${name}`, 'on']));

    const CASES = [
        [{ span: 'none', hours: '09:00-12:00', ...days('tuesday', 'friday') },
            { from: null, until: null, windows: [{ days: ['tuesday', 'friday'], start: '09:00', end: '12:00' }] },
            'Ana can open with the code on Tuesdays and Fridays from 09:00 to 12:00.',
            'Ana puede abrir con el código los martes y viernes de 9:00 a 12:00.',
            'Ana peut ouvrir avec le code le mardi et le vendredi de 09:00 à 12:00.'],
        [{ span: 'tomorrow', hours: '08:00-12:00' },
            { from: '2027-02-25T08:00', until: '2027-02-25T12:00', windows: null },
            'Ana can open with the code on Thursday 25 February, from 08:00 to 12:00.',
            'Ana puede abrir con el código el jueves, 25 de febrero, de 8:00 a 12:00.',
            'Ana peut ouvrir avec le code le jeudi 25 février, de 08:00 à 12:00.'],
        [{ span: 'dates', first: '2027-08-01', last: '2027-08-31', hours: 'any' },
            { from: '2027-08-01T00:00', until: '2027-09-01T00:00', windows: null },
            'Ana can open with the code from 1 August until 31 August.',
            'Ana puede abrir con el código desde el 1 de agosto hasta el 31 de agosto.',
            'Ana peut ouvrir avec le code du 1 août jusqu’au 31 août.'],
        [{ span: 'month', hours: '22:00-06:00', mode: 'none' },
            { from: '2027-02-24T22:00', until: '2027-03-25T06:00', windows: [{ days: ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'], start: '22:00', end: '06:00' }], code: false },
            'For Ana, the door opens to anyone who buzzes every day from 22:00 to 06:00 the next morning, from 24 February until 24 March.',
            'Para Ana, la puerta se abre a cualquiera que llame todos los días de 22:00 a 6:00 de la mañana siguiente, desde el 24 de febrero hasta el 24 de marzo.',
            'Pour Ana, la porte s’ouvre à toute personne qui sonne tous les jours de 22:00 à 06:00 le lendemain matin, du 24 février jusqu’au 24 mars.'],
        [{ span: 'weekend', uses: '1' },
            { from: '2027-02-27T00:00', until: '2027-03-01T00:00', windows: null, remaining_uses: 1 },
            'Ana can open with the code from 27 February until 28 February, once.',
            'Ana puede abrir con el código desde el 27 de febrero hasta el 28 de febrero, una vez.',
            'Ana peut ouvrir avec le code du 27 février jusqu’au 28 février, une fois.'],
        [{ span: 'today', hours: 'other', start: '20:00', end: '02:00', uses: '20', mode: 'own', code: '48210' },
            { from: '2027-02-24T20:00', until: '2027-02-25T02:00', windows: null, remaining_uses: 20, access_code: '48210' },
            'Ana can open with the code from 24 February at 20:00 until 25 February at 02:00, at most 20 times.',
            'Ana puede abrir con el código desde el 24 de febrero a las 20:00 hasta el 25 de febrero a las 2:00, 20 veces como máximo.',
            'Ana peut ouvrir avec le code du 24 février à 20:00 jusqu’au 25 février à 02:00, 20 fois au plus.'],
        [{ span: 'week', hours: 'any', ...days('saturday', 'sunday') },
            { from: null, until: '2027-03-04T00:00', windows: [{ days: ['sunday', 'saturday'], start: '00:00', end: '00:00' }] },
            'Ana can open with the code on weekends, until 3 March.',
            'Ana puede abrir con el código los fines de semana, hasta el 3 de marzo.',
            'Ana peut ouvrir avec le code le week-end, jusqu’au 3 mars.'],
        [{ span: 'none' }, { from: null, until: null, windows: null },
            'Ana can open with the code at any time, until you revoke it.',
            'Ana puede abrir con el código a cualquier hora, hasta que usted lo revoque.',
            'Ana peut ouvrir avec le code à toute heure, jusqu’à ce que vous le révoquiez.'],
    ];

    it('says in each language what is sent, in the building\'s zone', async () => {
        for (const [values, expected, ...texts] of CASES) {
            for (const [i, language] of ['en', 'es', 'fr'].entries()) {
                const { body, text } = await said(language, values);
                for (const [name, value] of Object.entries(expected)) assert.deepEqual(body[name], value, `${name} of ${JSON.stringify(values)}`);
                assert.equal(body.timezone, ZONE);
                assert.equal(text, texts[i]);
            }
        }
    });

    // GRANT-8
    it('warns of the codes that are never generated, and of no other', async () => {
        const never = [...readFileSync(join(SITE, '../../src/tbl/easy_codes.def'), 'utf8').matchAll(/^EASY_CODE\("(\d+)"\)$/gm)].map(([, code]) => code);
        const steps = [-3, -2, -1, 0, 1, 2, 3].flatMap((step) => [...'0123456789'].map((digit) => [0, 1, 2, 3].map((n) => Number(digit) + n * step)))
            .filter((digits) => digits.every((digit) => digit >= 0 && digit < 10)).map((digits) => digits.join(''));
        const all = Array.from({ length: 10_000 }, (_, n) => String(n).padStart(4, '0'));
        const longer = ['123456', '000000', '654321', '87654321', '123457', '020202', '12345670'];
        const warned = await pages.en.evaluate((codes) => codes.filter(lib.isEasy), [...all, ...never.filter((code) => code.length > 4), ...longer]);
        assert.deepEqual(warned.sort(), [...new Set([...never, ...steps]), ...longer.slice(0, 4)].sort());
    });

    it('refuses what no pass can be, by the field', async () => {
        for (const [values, code] of [
            [{ label: ' ' }, 'no_name'], [{ mode: 'own', code: '123' }, 'pass_code'], [{ mode: 'own', code: '12a45' }, 'pass_code'],
            [{ span: 'today', hours: '08:00-12:00', start: '', end: '' }, undefined], [{ span: 'today', hours: 'other', start: '08:00', end: '11:30' }, 'past'],
            [{ span: 'dates', first: '2027-03-05', last: '2027-03-04' }, 'past'], [{ span: 'dates', first: '2027-03-05', last: '2028-03-04' }, 'start_far'],
            [{ span: 'week', hours: 'other', start: '', end: '11:30' }, 'no_hours'],
        ]) {
            const got = await pages.en.evaluate((values) => {
                try {
                    lib.passBody({ ...lib.purposeValues('guest'), ...values });
                    return undefined;
                } catch (error) {
                    return error.code;
                }
            }, values);
            assert.equal(got, code, JSON.stringify(values));
        }
    });
});

describe('passes on the page Access', () => {
    const w = useWorld();
    const { client } = w;
    let browser;
    before(async () => { browser = await Browser.start(['--ignore-certificate-errors']); });
    after(() => browser?.close());
    afterEach(() => assert.deepEqual(browser.takeComplaints(), []));

    const picture = async (page, name) => {
        if (process.env.PORTERO_E2E_PICTURES) await page.screenshot({ path: join(process.env.PORTERO_E2E_PICTURES, `pass-${name}.png`), animations: 'disabled' });
    };
    const all = async (person) => ok(await person.client.get('/v1/passes')).data;
    const make = async (person, body) => ok(await person.client.post('/v1/passes', body, { headers: { 'Idempotency-Key': idempotencyKey() } }), 201);
    const button = (page, name) => page.getByRole('button', { name, exact: true });
    const chip = (page, name) => page.locator('dialog .chips label > span').getByText(name, { exact: true });
    const says = (page) => page.locator('.says').innerText();

    /** A resident of a building in Madrid. */
    async function madrid() {
        const person = await resident(client);
        await changeSettings(person, { timezone: ZONE });
        return person;
    }

    // PASS-11
    it('makes each of the four passes that households ask for in at most six taps of a small screen', async () => {
        const person = await madrid();
        const page = await openSigned(browser, w, person, '/access', { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
        let taps;
        const tap = async (place) => {
            taps += 1;
            await place.tap();
        };
        const type = async (place, text) => {
            await tap(place);
            await place.fill(text);
        };
        const day = (ms) => new Intl.DateTimeFormat('sv', { timeZone: ZONE }).format(new Date(ms));
        const at = await now(client);
        const year = Number(day(at).slice(0, 4)) + (day(at).slice(5) >= '08-01' ? 1 : 0);
        const start = (name) => tap(page.getByRole('button', { name }));
        const name = (text) => type(page.getByLabel('Name', { exact: true }), text);
        const wishes = {
            Cleaner: async () => {
                await start('The cleaner');
                await tap(chip(page, 'Tue'));
                await tap(chip(page, 'Fri'));
                await tap(chip(page, 'Your own'));
                await page.keyboard.type('48213'); // the field has the focus
            },
            Plumber: async () => {
                await start('A guest');
                await name('Plumber');
                await tap(chip(page, 'Tomorrow'));
                await tap(chip(page, '08:00 – 12:00'));
            },
            Sister: async () => {
                await start('A guest');
                await name('Sister');
                await tap(chip(page, 'Dates …'));
                await page.getByLabel('First day').fill(`${year}-08-01`);
                taps += 1;
                await page.getByLabel('Last day').fill(`${year}-08-31`);
                taps += 1;
            },
            'Night nurse': async () => {
                await start('A guest');
                await name('Night nurse');
                await tap(chip(page, 'No end'));
                await tap(chip(page, '22:00 – 06:00'));
            },
        };
        for (const [label, wish] of Object.entries(wishes)) {
            taps = 0;
            await wish();
            const told = (await says(page)).split('\n')[0];
            await tap(button(page, 'Create'));
            await page.getByRole('heading', { name: `Share: ${label}` }).waitFor();
            assert.ok(taps <= 6, `${label}: ${taps} taps`);
            await page.getByText(told, { exact: true }).waitFor(); // the share sheet says it of what was stored
            await page.getByRole('button', { name: 'Close' }).tap();
            const listed = told.replace(`${label} can open`, 'Opens');
            await eventually(async () => (await page.locator('.grants').innerText()).includes(listed), listed);
        }
        const [nurse, sister, plumber, cleaner] = await all(person);
        const everyDay = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
        assert.deepEqual([cleaner.access_code, cleaner.pass.windows, cleaner.pass.until, cleaner.pass.timezone],
            ['48213', [{ days: ['tuesday', 'friday'], start: '09:00', end: '12:00' }], null, ZONE]);
        const clock = (text) => new Intl.DateTimeFormat('sv', { timeZone: ZONE, dateStyle: 'short', timeStyle: 'short' }).format(new Date(text));
        assert.deepEqual([clock(plumber.pass.from), clock(plumber.pass.until), plumber.pass.windows], [`${day(at + DAY)} 08:00`, `${day(at + DAY)} 12:00`, []]);
        assert.deepEqual([clock(sister.pass.from), clock(sister.pass.until), sister.status], [`${year}-08-01 00:00`, `${year}-09-01 00:00`, 'scheduled']);
        assert.deepEqual([nurse.pass.windows, nurse.pass.until], [[{ days: everyDay, start: '22:00', end: '06:00' }], null]);
        await page.context().close();
    });

    // PASS-6
    it('says after a creation how many four-digit codes are left when they are few', async () => {
        const person = await madrid();
        const rows = Array.from({ length: 9600 }, (_, n) => `('${person.building.id}', x'${String(n).padStart(24, '0')}', 1, 'x', 1, 0, 0, 9223372036854775807, '${String(n).padStart(4, '0')}', 'UTC', '')`);
        for (let from = 0; from < rows.length; from += 2400)
            sql(w.daemon, `INSERT INTO pass (building_id, id, type, label, enabled, created_at, starts_at, ends_at, access_code, timezone, windows) VALUES ${rows.slice(from, from + 2400).join()}`);
        for (const [locale, sentence] of [['en-GB', 'Few four-digit codes are left: 399.'], ['es-ES', 'Quedan pocos códigos de cuatro cifras: 398.'], ['fr-FR', 'Il reste peu de codes à quatre chiffres : 397.']]) {
            const texts = textsOf(locale.slice(0, 2));
            const page = await openSigned(browser, w, person, '/access', { locale });
            await page.getByRole('button', { name: texts['access.guest'] }).click();
            await chip(page, texts['grant.today']).click();
            await button(page, texts['grant.create']).click();
            await page.getByText(sentence, { exact: true }).waitFor();
            await checkAccessible(page);
            await page.keyboard.press('Escape');
            await page.locator('dialog').waitFor({ state: 'detached' });
            await page.locator('.grants .sharing').first().click();
            await page.locator('dialog .invitation').waitFor();
            assert.equal(await page.getByText(sentence).count(), 0); // it was told once
            await page.context().close();
        }
    });

    // GRANT-8
    it('warns of a code that people try first, and takes it', async () => {
        const person = await madrid();
        const page = await openSigned(browser, w, person, '/access');
        await page.getByRole('button', { name: 'A guest' }).click();
        await chip(page, 'Your own').click();
        const warning = page.getByText('Many people try this code first.');
        for (const [code, count] of [['4821', 0], ['1986', 1], ['19863', 0], ['2345', 1]]) {
            await page.getByLabel('Digits', { exact: true }).fill(code);
            assert.equal(await warning.count(), count, code);
        }
        await button(page, 'Create').click();
        await page.getByRole('heading', { name: 'Share: Guest' }).waitFor();
        assert.deepEqual((await all(person)).map((pass) => pass.access_code), ['2345']);
        const contract = ok(await person.client.post('/v1/unlock', { type: 'passcode', label: 'Postman', access_code: '4821' }, { headers: { 'Idempotency-Key': idempotencyKey() } }), 201);
        await page.goto(`${w.daemon.https}/access`);
        await page.locator('.grants .about', { hasText: contract.label }).click();
        await button(page, 'Edit').click();
        assert.equal(await warning.count(), 0);
        await page.getByLabel('Code', { exact: true }).fill('1212');
        assert.equal(await warning.count(), 1);
        await page.context().close();
    });

    it('changes a pass, tells which version won, switches it and ends it', async () => {
        const person = await madrid();
        const pass = await make(person, { label: 'Cleaner', access_code: '48213', windows: [{ days: ['tuesday'], start: '09:00', end: '12:00' }], note: 'Has a dog' });
        const page = await openSigned(browser, w, person, '/access');
        const details = () => page.locator('.grants .about', { hasText: 'Cleaner' }).click();
        await page.getByText('Opens with the code on Tuesdays from 09:00 to 12:00.').waitFor();
        await details();
        await page.getByText('Has a dog').waitFor();
        await button(page, 'Edit').click();
        await chip(page, 'Fri').click();
        await page.getByText('Cleaner can open with the code on Tuesdays and Fridays from 09:00 to 12:00.').waitFor();
        ok(await person.client.patch(`/v1/passes/${pass.id}`, { note: 'Has two dogs' }, { headers: { 'If-Match': '"0"' } }));
        await button(page, 'Save').click();
        await page.getByText('Somebody has changed this while you edited it.').waitFor();
        await page.getByRole('row', { name: /on Tuesdays and Fridays from 09:00 to 12:00/ }).waitFor();
        await button(page, 'Keep mine').click();
        await page.getByText('Opens with the code on Tuesdays and Fridays').waitFor();
        const [kept] = await all(person);
        assert.deepEqual([kept.version, kept.pass.note, kept.pass.windows[0].days, kept.access_code], [2, 'Has two dogs', ['tuesday', 'friday'], '48213']);
        await details();
        await page.getByRole('switch', { name: 'Switched on' }).click();
        await eventually(async () => (await all(person))[0].status === 'inactive', 'a pass that is off');
        await button(page, 'Revoke').click();
        await eventually(async () => (await all(person)).length === 0, 'the end of the pass');
        assert.ok(browser.takeComplaints().every((line) => /status of 409/.test(line)));
        await page.context().close();
    });

    it('shows calendars that its form cannot make, and leaves them as they are', async () => {
        const person = await madrid();
        const at = await now(client);
        const windows = [{ days: ['monday'], start: '08:00', end: '10:00' }, { days: ['friday'], start: '20:00', end: '20:00' }];
        await make(person, { label: 'Trainer', code: false, from: iso(at - HOUR), until: iso(at + 30 * DAY), windows, timezone: 'America/New_York' });
        const page = await openSigned(browser, w, person, '/access');
        await page.getByText(/Opens to anyone who buzzes on Mondays from 08:00 to 10:00; on Fridays from 20:00 to 20:00 the next day, from .* \(New York time\)\./).waitFor();
        await page.locator('.grants .about', { hasText: 'Trainer' }).click();
        await button(page, 'Edit').click();
        await page.getByLabel('Name', { exact: true }).fill('Coach');
        await button(page, 'Save').click();
        await page.locator('.grants .about', { hasText: 'Coach' }).waitFor();
        const [pass] = await all(person);
        assert.deepEqual([pass.pass.windows, pass.pass.timezone, pass.pass.until], [windows, 'America/New_York', iso(at + 30 * DAY)]);
        await page.context().close();
    });

    it('is accessible and fits, with the form of each purpose, at each width, light, dark and in forced colours', async () => {
        const person = await madrid();
        const at = await now(client);
        await make(person, { label: 'Sister', from: iso(at + 20 * DAY), until: iso(at + 50 * DAY) });
        await make(person, { label: 'Night nurse', code: false, windows: [{ days: ['monday', 'wednesday', 'sunday'], start: '22:00', end: '06:00' }] });
        await make(person, { label: 'x'.repeat(120), windows: [{ days: ['tuesday', 'friday'], start: '09:00', end: '12:00' }], remaining_uses: 5 });
        const page = await openSigned(browser, w, person, '/access');
        const look = async (what) => {
            for (const colorScheme of ['light', 'dark']) for (const width of [320, 390, 1280]) {
                await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
                await page.setViewportSize({ width, height: 844 });
                await picture(page, `${what}-${width}-${colorScheme}`);
                await checkFits(page);
                if (colorScheme === 'light' || width === 390) await checkAccessible(page);
            }
            await checkForcedColours(page);
        };
        await page.getByRole('button', { name: 'All', exact: true }).click();
        await look('list');
        for (const [purpose, change] of [['A guest', 'Dates …'], ['The cleaner', 'Other …'], ['A party', 'This weekend'], ['A parcel', 'Your own']]) {
            await page.getByRole('button', { name: purpose }).click();
            await page.getByRole('dialog').waitFor();
            await chip(page, change).click();
            await page.locator('summary', { hasText: 'Number of uses' }).click();
            await look(purpose.replaceAll(' ', '-').toLowerCase());
            await page.locator('dialog .says').scrollIntoViewIfNeeded();
            await picture(page, `${purpose.replaceAll(' ', '-').toLowerCase()}-end`);
            await page.keyboard.press('Escape');
            await page.locator('dialog').waitFor({ state: 'detached' });
        }
        await page.context().close();
    });
});
