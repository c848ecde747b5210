// Access, in a browser: making, changing, sharing and revoking grants, with the mouse and with the keyboard alone.
// engine: sqlite
// PORTERO_E2E_PICTURES=directory keeps screenshots.
import { after, afterEach, before, describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { Browser, checkAccessible, checkFits, checkForcedColours } from './lib/browser.js';
import { ok } from './lib/client.js';
import { COOKIE, signInBrowser } from './lib/site.js';
import { written } from './lib/site-page.js';
import { changeSettings, DAY, eventually, grant, HOUR, iso, message, now, provisioned, resident, setSubscription, signIn, useWorld, visit } from './lib/world.js';

const SIGHTS = ['light', 'dark'].flatMap((colorScheme) => [320, 390, 1280].map((width) => ({ colorScheme, width })));

describe('the page Access', () => {
    const w = useWorld();
    const { client } = w;
    let browser;
    let url;
    before(async () => {
        // A request of a page that was left may need a connection of its own, and nobody is there then to let the certificate through.
        browser = await Browser.start(['--ignore-certificate-errors']);
        url = `${w.daemon.https}/access`;
    });
    after(() => browser?.close());
    afterEach(() => assert.deepEqual(browser.takeComplaints(), []));

    const closing = async (page) => page.context().close();
    const picture = async (page, name) => {
        if (process.env.PORTERO_E2E_PICTURES) await page.screenshot({ path: join(process.env.PORTERO_E2E_PICTURES, `access-${name}.png`), animations: 'disabled' });
    };

    /** The page of a person who is signed in. */
    async function open(person, options = {}, query = '') {
        const { cookie } = await signInBrowser(client, { email: person.email });
        const page = await browser.page('about:blank', options);
        await page.context().addCookies([{ name: COOKIE, value: cookie, url: w.daemon.https, secure: true, httpOnly: true, sameSite: 'Lax' }]);
        await page.goto(`${url}${query}`);
        await page.getByRole('heading', { name: 'Access', exact: true }).waitFor();
        return page;
    }

    const button = (page, name) => page.getByRole('button', { name, exact: true });
    const purpose = (page, name) => page.getByRole('button', { name }).click();
    const press = (page, name) => button(page, name).click();
    const rows = (page) => page.locator('.grants > li b').evaluateAll((all) => all.map((one) => one.firstChild.nodeValue));
    const shows = (page, ...labels) => eventually(async () => JSON.stringify(await rows(page)) === JSON.stringify(labels), `the rows ${labels}`);
    const details = (page, label) => page.locator('.grants .about', { hasText: label }).click();
    const all = async (person) => ok(await person.client.get('/v1/unlock?limit=100')).data;
    const only = async (person) => {
        const found = await all(person);
        assert.equal(found.length, 1);
        return found[0];
    };
    const isClosed = (page) => page.locator('dialog').waitFor({ state: 'detached' });

    it('keeps the Close button of a sheet in the window, however long the name is', async () => {
        const person = await resident(client);
        await grant(person, { type: 'passcode', label: 'W'.repeat(120) });
        const page = await open(person);
        await page.locator('.grants .sharing').first().click();
        await page.setViewportSize({ width: 390, height: 800 });
        const close = await button(page, 'Close').boundingBox();
        assert.ok(close.x + close.width <= 390, JSON.stringify(close));
        await page.context().close();
    });

    const SHUT = 'No code, timer or routine opens the door yet.';

    // BUILDING-32
    it('shares nothing as working that does not open, and mends what is missing', async () => {
        const session = await signIn(client), home = await provisioned(session);
        await grant(session, { type: 'passcode', label: 'Anna' });
        const page = await open(session);
        await page.getByText(SHUT).waitFor();
        const sheet = page.locator('dialog');
        await details(page, 'Anna');
        await page.locator('.code-card').click();
        await sheet.getByText(SHUT).waitFor();
        await page.keyboard.press('Escape');
        await isClosed(page);
        await press(page, 'Share Anna');
        await sheet.getByText('The key that releases the door is not set.').waitFor();
        assert.deepEqual([await sheet.getByRole('button', { name: 'Send' }).count(), await sheet.getByText('It works').count(), await sheet.locator('.invitation').count()], [0, 0, 0]);
        await sheet.getByRole('button', { name: 'Set the key' }).click();
        await page.getByLabel('Key', { exact: true }).fill('9');
        await press(page, 'Save');
        await sheet.getByRole('button', { name: 'Send' }).waitFor();
        assert.equal(await sheet.locator('.invitation').count(), 1);
        await sheet.getByText(`has opened the door by the number ${written(home.virtual_number)} yet`).waitFor();
        await page.keyboard.press('Escape');
        await isClosed(page);
        assert.equal(await page.getByText(SHUT).count(), 0);
        await page.setViewportSize({ width: 1280, height: 800 });
        const [note, list] = await Promise.all(['.missing', '#page > .card'].map((part) => page.locator(part).boundingBox()));
        assert.ok(list.y - note.y - note.height < 40, JSON.stringify([note, list])); // no hole between them
        await page.getByRole('link', { name: 'The letter to the manager' }).click();
        await page.getByRole('heading', { name: 'letter' }).first().waitFor();
        await closing(page);
    });

    // BUILDING-33, BUILDING-45
    it('tells a guest which door, which name on the call box, and until when by whose clock', async () => {
        const person = await resident(client);
        await changeSettings(person, { timezone: 'America/New_York', label: 'The Mill', address: { street: '1 Mill Lane', city: 'Salem', state: 'MA', zip: '01970' }, call_box_name: 'Ortega 4B' });
        const page = await open(person, { timezoneId: 'America/New_York' }); // elsewhere than whoever reads it
        const invited = async (name) => {
            await purpose(page, name);
            await press(page, 'Create');
            const text = await page.locator('.invitation').innerText();
            await page.keyboard.press('Escape');
            await isClosed(page);
            return text;
        };
        assert.match(await invited('A guest'), /^To get into The Mill \(1 Mill Lane, Salem\), buzz “Ortega 4B” at the call box\. When it answers, enter the code \d{4}\. It works: until [A-Z][a-z]+day \d+ [A-Z][a-z]+( \d{4})? \(New York time\)\.$/);
        assert.match(await invited('The cleaner'), /It works: every day from 09:00 to 12:00 \(New York time\)\.$/);
        await grant(person, { type: 'passcode', label: 'Aunt', access_code: '4711' });
        await page.reload();
        await press(page, 'Share Aunt');
        const sheet = page.locator('dialog');
        assert.match(await sheet.locator('.invitation').innerText(), /enter the code 4711\.$/);
        await sheet.getByRole('switch').click();
        await sheet.getByText('How to get into The Mill (1 Mill Lane, Salem):').waitFor();
        await closing(page);
    });

    it('shares nothing once the subscription has ended, and all while a payment is late', async () => {
        const person = await resident(client);
        await grant(person, { type: 'timer', label: 'Party', expires_in_minutes: 3000 });
        await visit(client, { to: person.number });
        await setSubscription(client, person.email, 'past_due');
        const page = await open(person, { viewport: { width: 390, height: 800 } });
        await press(page, 'Share Party');
        // The guest reads it another day, elsewhere.
        await page.getByText(/It works: until [A-Z][a-z]+day [0-9]+ [A-Z][a-z]+, [0-9]+:[0-9]+ \(.+ time\)\./u).waitFor();
        assert.equal(await page.locator('.missing').count(), 0);
        await setSubscription(client, person.email, 'canceled');
        await page.reload();
        await page.getByText(SHUT).waitFor();
        await press(page, 'Share Party');
        const sheet = page.locator('dialog');
        await sheet.getByText('A subscription is missing.').waitFor();
        assert.equal(await sheet.getByText('It works').count(), 0);
        await sheet.getByRole('button', { name: 'Choose a plan' }).click();
        await page.getByRole('heading', { name: 'Choose a plan' }).waitFor();
        await closing(page);
    });

    it('makes a code for a guest, once however often it is asked, and offers it to be shared', async () => {
        const person = await resident(client);
        const page = await open(person);
        await page.getByRole('heading', { name: 'Nobody but you opens the door yet' }).waitFor();
        await purpose(page, 'A guest');
        await page.getByLabel('Name', { exact: true }).fill('Anna & Tom');
        await page.locator('dialog form').evaluate((form) => { form.requestSubmit(); form.requestSubmit(); });
        await page.getByRole('heading', { name: 'Share: Anna & Tom' }).waitFor();
        const made = await only(person);
        assert.match(made.access_code, /^[0-9]{4}$/);
        assert.ok(made.request_id);
        await page.getByText(`enter the code ${made.access_code}`).waitFor();
        await page.keyboard.press('Escape');
        await shows(page, 'Anna & Tom');
        await press(page, 'Show the code of Anna & Tom');
        await page.getByText(made.access_code, { exact: true }).waitFor();
        await closing(page);
    });

    it('makes the same grant when an answer was lost and the person tries again', async () => {
        const person = await resident(client);
        const page = await open(person);
        await page.route('**/app/v1/passes', async (route) => {
            await route.fetch();
            await route.abort();
        }, { times: 1 });
        await purpose(page, 'A parcel');
        await press(page, 'Create');
        await page.getByText('The service does not answer.').waitFor();
        await press(page, 'Create');
        await page.getByRole('heading', { name: 'Share: Parcel' }).waitFor();
        assert.equal((await only(person)).remaining_uses, 1);
        assert.ok(browser.takeComplaints().every((line) => /ERR_FAILED/.test(line)));
        await closing(page);
    });

    it('makes a pass with the keyboard alone', async () => {
        const person = await resident(client);
        const page = await open(person);
        await page.getByRole('button', { name: 'The cleaner' }).focus();
        await page.keyboard.press('Enter');
        await page.waitForFunction(() => document.activeElement?.value === 'new');
        await page.keyboard.press('Shift+Tab');
        await page.keyboard.type('Maria'); // in place of the name, which is selected
        for (let i = 0; i < 3; i++) await page.keyboard.press('Tab'); // the code, when, Monday
        for (let i = 0; i < 6; i++) await page.keyboard.press('Tab'); // Sunday
        await page.keyboard.press('Space');
        await page.keyboard.press('Tab');
        for (let i = 0; i < 3; i++) await page.keyboard.press('ArrowLeft'); // other hours
        await page.getByLabel('To', { exact: true }).fill('11:30');
        await page.keyboard.press('Enter');
        await page.getByRole('heading', { name: 'Share: Maria' }).waitFor();
        await page.keyboard.press('Escape');
        await isClosed(page); // the sheet has the hours, too
        await page.getByText('Opens with the code on Sundays from 09:00 to 11:30.').waitFor();
        const made = await only(person);
        assert.deepEqual([made.type, made.pass.windows], ['passcode', [{ days: ['sunday'], start: '09:00', end: '11:30' }]]);
        await closing(page);
    });

    it('tells at the field what does not fit, and keeps the rest', async () => {
        const person = await resident(client);
        await grant(person, { type: 'passcode', label: 'Parcels', access_code: '4821' });
        const page = await open(person);
        await purpose(page, 'A guest');
        await page.locator('[name=mode][value=own] + span').click();
        for (const [code, text] of [['4821', 'Another code has these digits.'], ['123', 'Four to eight digits.']]) {
            await page.getByLabel('Digits', { exact: true }).fill(code);
            await press(page, 'Create');
            await page.getByText(text, { exact: true }).last().waitFor();
        }
        await page.getByLabel('Digits', { exact: true }).fill('04210');
        await page.locator('[name=span][value=dates] + span').click();
        const day = iso(await now(client) + 3 * DAY).slice(0, 10);
        await page.getByLabel('First day').fill(day);
        await page.getByLabel('Last day').fill(iso(await now(client) + 2 * DAY).slice(0, 10));
        await press(page, 'Create');
        await page.getByText('Choose a later time.').waitFor();
        await page.getByLabel('Last day').fill(day);
        await press(page, 'Create');
        await page.getByRole('heading', { name: 'Share: Guest' }).waitFor();
        assert.deepEqual((await all(person)).map((one) => one.access_code), ['04210', '4821']);
        await closing(page);
    });

    it('opens the door for a party, gives it more time, ends it, and opens it again', async () => {
        const person = await resident(client);
        const page = await open(person);
        await purpose(page, 'A party');
        await page.locator('[name=span][value=hour] + span').click();
        await press(page, 'Create');
        await page.getByRole('heading', { name: 'Share: Party' }).waitFor();
        await page.keyboard.press('Escape');
        await page.getByText('Open now').waitFor();
        const first = await only(person);
        await details(page, 'Party');
        await press(page, 'More time');
        await page.getByRole('button', { name: /^1 hr more/ }).click();
        await page.getByText('It has more time').waitFor();
        assert.equal(Date.parse((await only(person)).ends_at) - Date.parse(first.ends_at), HOUR);
        await press(page, 'End Party now');
        await page.getByText('Nobody gets in by themselves now.').waitFor();
        await press(page, 'Off or ended');
        await details(page, 'Party');
        await press(page, 'Open again');
        await page.getByRole('button', { name: /^15 mins? more/ }).click();
        await press(page, 'Active');
        await shows(page, 'Party');
        assert.equal((await only(person)).status, 'active');
        await closing(page);
    });

    it('switches a code off and on', async () => {
        const person = await resident(client);
        await grant(person, { type: 'passcode', label: 'Parcels', access_code: '4821' });
        const page = await open(person);
        await details(page, 'Parcels');
        const flip = page.getByRole('switch', { name: 'Switched on' });
        await flip.click();
        await page.locator('[role=switch][aria-checked=false]').waitFor();
        assert.equal((await only(person)).status, 'inactive');
        await flip.click();
        await page.locator('[role=switch][aria-checked=true]').waitFor();
        assert.equal((await only(person)).status, 'active');
        await closing(page);
    });

    it('revokes after a moment in which it can be undone', async () => {
        const person = await resident(client);
        await grant(person, { type: 'passcode', label: 'Parcels', access_code: '4821' });
        const page = await open(person);
        await details(page, 'Parcels');
        await press(page, 'Revoke');
        await page.getByText('Parcels is revoked').waitFor();
        await shows(page);
        await press(page, 'Undo');
        await shows(page, 'Parcels');
        assert.equal((await only(person)).status, 'active');
        await details(page, 'Parcels');
        await press(page, 'Revoke');
        await eventually(async () => (await all(person)).length === 0, 'the request after the moment');
        await shows(page);
        await closing(page);
    });

    it('revokes at once when the page is left', async () => {
        const person = await resident(client);
        await grant(person, { type: 'passcode', label: 'Parcels', access_code: '4821' });
        const page = await open(person);
        await details(page, 'Parcels');
        await press(page, 'Revoke');
        await page.getByText('Parcels is revoked').waitFor();
        await page.goto('about:blank');
        await eventually(async () => (await all(person)).length === 0, 'the request of the page that was left');
        await closing(page);
    });

    it('shows both versions when another tab was faster, and saves the one that is chosen', async () => {
        for (const [choose, label, code] of [['Keep mine', 'Mine', '0001'], ['Take the newer one', 'Theirs', '0001']]) {
            const person = await resident(client);
            await grant(person, { type: 'passcode', label: 'Parcels', access_code: '4821' });
            const page = await open(person);
            const other = await page.context().newPage();
            await other.goto(url);
            for (const [tab, name] of [[page, 'Mine'], [other, 'Theirs']]) {
                await details(tab, 'Parcels');
                await press(tab, 'Edit');
                await tab.getByLabel('Name', { exact: true }).fill(name);
            }
            await other.getByLabel('Code', { exact: true }).fill(code);
            await press(other, 'Save');
            await shows(other, 'Theirs');
            await press(page, 'Save');
            await page.getByText('Somebody has changed this while you edited it.').waitFor();
            await page.getByRole('row', { name: 'Name Mine Theirs' }).waitFor();
            await checkAccessible(page);
            await picture(page, 'conflict');
            await press(page, choose);
            await shows(page, label);
            const kept = await only(person);
            assert.deepEqual([kept.label, kept.access_code], [label, code]);
            assert.ok(browser.takeComplaints().every((line) => /status of 409/.test(line)));
            await closing(page);
        }
    });

    it('keeps what was typed when the session ends, and goes on after signing in again', async () => {
        const person = await resident(client);
        const page = await open(person);
        await purpose(page, 'A guest');
        await page.getByLabel('Name', { exact: true }).fill('Typed before');
        await page.context().addCookies([{ name: COOKIE, value: 'x'.repeat(43), url: w.daemon.https, secure: true, httpOnly: true, sameSite: 'Lax' }]);
        await press(page, 'Create');
        const earlier = await message(client, person.email);
        await page.getByRole('button', { name: `Send a code to ${person.email}` }).click();
        await eventually(async () => (await message(client, person.email)).id !== earlier.id, 'a mail');
        await page.getByLabel('Code from the e-mail').fill((await message(client, person.email)).code); // the last digit sends it
        await page.getByRole('heading', { name: 'Share: Typed before' }).waitFor();
        assert.equal((await only(person)).label, 'Typed before');
        assert.ok(browser.takeComplaints().every((line) => /status of 401/.test(line)));
        await closing(page);
    });

    it('finds grants by status, kind and words, and reads on where there are many', async () => {
        const person = await resident(client);
        await grant(person, { type: 'passcode', label: 'The oldest', access_code: '4821' });
        for (let i = 0; i < 55; i++) await grant(person, { type: 'passcode', label: `Guest ${i}`, enabled: false });
        await grant(person, { type: 'routine', label: 'Cleaner', days: ['monday'], start: '09:00', end: '12:00', timezone: 'UTC' });
        const at = await now(client);
        await grant(person, { type: 'timer', label: 'Party', starts_at: iso(at + DAY), ends_at: iso(at + DAY + HOUR) });
        const page = await open(person);
        await shows(page, 'Cleaner', 'The oldest');
        await press(page, 'Upcoming');
        await shows(page, 'Party');
        await press(page, 'All');
        await eventually(async () => (await rows(page)).length === 50, 'the first rows');
        await press(page, 'Show more');
        await eventually(async () => (await rows(page)).length === 58, 'all rows');
        await press(page, 'Every week');
        await shows(page, 'Cleaner');
        await press(page, 'Every kind');
        await page.getByLabel('Search by name or code').fill('4821');
        await shows(page, 'The oldest');
        await page.getByLabel('Search by name or code').fill('GUEST 7');
        await shows(page, 'Guest 7');
        await page.getByLabel('Search by name or code').fill('nobody');
        await page.getByText('Nothing matches.').waitFor();
        await press(page, 'Show all');
        await eventually(async () => (await rows(page)).length === 50, 'the first rows again');
        await closing(page);
    });

    // SITE-29
    it('keeps what is looked for in its address, and finds names without their accents', async () => {
        const person = await resident(client);
        await grant(person, { type: 'passcode', label: 'Nguyễn' });
        await grant(person, { type: 'passcode', label: 'Zoë', enabled: false });
        const page = await open(person);
        const search = page.getByLabel('Search by name or code');
        await search.fill('nguyen');
        await shows(page, 'Nguyễn');
        await search.fill('zoe');
        await page.getByText('Nothing matches.').waitFor();
        await press(page, 'Off or ended');
        await shows(page, 'Zoë');
        await page.reload();
        await shows(page, 'Zoë');
        assert.deepEqual([await search.inputValue(), await button(page, 'Off or ended').getAttribute('aria-pressed')], ['zoe', 'true']);
        await details(page, 'Zoë');
        await page.goBack(); // closes the sheet
        await isClosed(page);
        await shows(page, 'Zoë');
        await page.goBack();
        await page.getByText('Nothing matches.').waitFor();
        await page.goBack();
        await shows(page, 'Nguyễn');
        assert.deepEqual([await search.inputValue(), new URL(page.url()).search], ['', '']);
        await purpose(page, 'A guest');
        await page.getByLabel('Name', { exact: true }).fill('Anna');
        await press(page, 'Create');
        await page.getByRole('heading', { name: 'Share: Anna' }).waitFor();
        await press(page, 'Close');
        await isClosed(page);
        await shows(page, 'Anna', 'Nguyễn');
        await page.goto(`${url}?status=__proto__&kind=x&q=%3Cimg%3E`);
        await page.getByText('Nothing matches.').waitFor();
        assert.deepEqual([await search.inputValue(), await button(page, 'Active').getAttribute('aria-pressed')], ['<img>', 'true']);
        await closing(page);
    });

    it('makes another like one that was used up', async () => {
        const person = await resident(client);
        await grant(person, { type: 'passcode', label: 'Parcels', access_code: '4821', remaining_uses: 1, expires_in_minutes: 60 });
        await visit(client, { to: person.number, digits: '4821' });
        const page = await open(person);
        await page.getByText('Used up').waitFor();
        await details(page, 'Parcels');
        await press(page, 'Another like this');
        await press(page, 'Create');
        await page.getByRole('heading', { name: 'Share: Parcels' }).waitFor();
        assert.deepEqual((await all(person)).map((one) => one.status), ['active', 'exhausted']);
        await closing(page);
    });

    it('shows texts of residents as texts', async () => {
        const person = await resident(client);
        const label = '</script><img src=x onerror=alert(1)>"&amp;{{lang}}{label}<!--';
        await grant(person, { type: 'passcode', label, access_code: '4821' });
        const page = await open(person);
        await shows(page, label);
        await details(page, label);
        await page.getByRole('heading', { name: label }).waitFor();
        await press(page, 'Share');
        await page.getByRole('heading', { name: `Share: ${label}` }).waitFor();
        assert.equal(await page.locator('img').count(), 0);
        await closing(page);
    });

    // SITE-5
    it('speaks the browser\'s language', async () => {
        const person = await resident(client);
        for (const [locale, title] of [['es-MX', 'Acceso'], ['fr-CA', 'Accès']]) {
            const { cookie } = await signInBrowser(client, { email: person.email });
            const page = await browser.page('about:blank', { locale });
            await page.context().addCookies([{ name: COOKIE, value: cookie, url: w.daemon.https, secure: true, httpOnly: true, sameSite: 'Lax' }]);
            await page.goto(`${url}?new=party`);
            await page.getByRole('heading', { name: title, exact: true }).waitFor({ state: 'attached' });
            await page.getByRole('dialog').waitFor();
            await checkAccessible(page);
            await picture(page, `create-${locale}`);
            await closing(page);
        }
    });

    it('is accessible and fits, with each of its dialogs, at each width, light, dark and in forced colours', async () => {
        const person = await resident(client);
        const at = await now(client);
        await grant(person, { type: 'timer', label: 'Garden party', starts_at: iso(at + 3 * DAY), ends_at: iso(at + 3 * DAY + 5 * HOUR) });
        await grant(person, { type: 'passcode', label: 'Parcel', access_code: '0815', expires_in_minutes: 15, remaining_uses: 1 });
        await grant(person, { type: 'routine', label: 'Cleaner', days: ['monday', 'tuesday', 'wednesday', 'thursday', 'friday'], start: '09:00', end: '12:00', timezone: 'UTC' });
        await grant(person, { type: 'passcode', label: 'Off', access_code: '9999', enabled: false });
        await grant(person, { type: 'timer', label: 'Dog walker', expires_in_minutes: 60, remaining_uses: 2 });
        await grant(person, { type: 'passcode', label: 'Anna & Tom', access_code: '4821', expires_in_minutes: 2_880, remaining_uses: 10 });
        const page = await open(person);
        const small = () => page.evaluate(() => [...document.querySelectorAll('main button, dialog button, dialog input:not([type=radio], [type=checkbox]), dialog select, .chips span')]
            .filter((element) => element.checkVisibility()).filter((element) => element.getBoundingClientRect().height < 43.9 || element.getBoundingClientRect().width < 43.9).map((element) => element.outerHTML));
        const look = async (what) => {
            for (const { colorScheme, width } of SIGHTS) {
                await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
                await page.setViewportSize({ width, height: 844 });
                await picture(page, `${what}-${width}-${colorScheme}`);
                await checkFits(page);
                if (colorScheme === 'light') assert.deepEqual(await small(), []);
                if (colorScheme === 'light' || width === 390) await checkAccessible(page);
            }
            await checkForcedColours(page);
        };
        await shows(page, 'Anna & Tom', 'Dog walker', 'Cleaner', 'Parcel');
        await press(page, 'Show the code of Anna & Tom');
        await look('list');
        const within = async (what, begin) => {
            await begin();
            await page.getByRole('dialog').waitFor();
            await look(what);
            await page.keyboard.press('Escape');
            await isClosed(page);
        };
        await within('create', () => purpose(page, 'A guest'));
        await within('create-routine', () => purpose(page, 'The cleaner'));
        await within('details', () => details(page, 'Anna & Tom'));
        await within('edit', async () => { await details(page, 'Anna & Tom'); await press(page, 'Edit'); });
        await within('extend', async () => { await details(page, 'Dog walker'); await press(page, 'More time'); });
        await within('share', async () => { await details(page, 'Anna & Tom'); await press(page, 'Share'); });
        await within('large', async () => { await details(page, 'Anna & Tom'); await page.locator('.code-card').click(); });
        await closing(page);
    });
});
