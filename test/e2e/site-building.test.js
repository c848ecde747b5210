// The page of a building, in a browser: key, greetings, phones, the letter, and a ring.
// PORTERO_E2E_PICTURES=directory keeps screenshots.
// engine: sqlite, because what the page reads and writes is tested on both engines elsewhere
import { after, afterEach, before, describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { Browser, checkAccessible, checkFits } from './lib/browser.js';
import { added, owner, verifyPhone } from './lib/buildings.js';
import { ok } from './lib/client.js';
import { checkSights, HOSTILE, openSigned, picture, written } from './lib/site-page.js';
import { eventually, grant, message, provisioned, resident, signIn, useWorld, visit } from './lib/world.js';

describe('the page of a building', () => {
    const w = useWorld();
    const { client } = w;
    let browser;
    before(async () => { browser = await Browser.start(); });
    after(() => browser?.close());
    afterEach(() => assert.deepEqual(browser.takeComplaints(), []));

    const open = (person, options) => openSigned(browser, w, person, '/building', options);
    const closing = (page) => page.context().close();
    const settingsOf = async (person) => ok(await person.client.get(`/v1/buildings/${person.building.id}/settings`));
    const part = (page, name) => page.getByRole('region', { name, exact: true });
    const save = (page) => page.locator('.bar').getByRole('button', { name: 'Save' }).click();
    const saved = (page) => page.getByRole('status').getByText('Saved', { exact: true }).first().waitFor();

    it('saves the key and how it is sent, with the keyboard alone', async () => {
        const person = await resident(client);
        const page = await open(person);
        await page.getByLabel('Key', { exact: true }).focus();
        await page.keyboard.press('Control+A');
        await page.keyboard.type('6#');
        await page.keyboard.press('Tab');
        await page.keyboard.press('Enter');
        await page.getByLabel('How it is sent').selectOption('As a sound in the call');
        await page.getByLabel('Length of a key (ms)').fill('300');
        await page.getByLabel('Send the key before the greeting').focus();
        await page.keyboard.press('Space');
        await page.keyboard.press('Enter');
        await saved(page);
        const { unlock_tone: tone, release } = await settingsOf(person);
        assert.deepEqual([tone, release.mode, release.length_ms, release.before_greeting], ['6#', 'inband', 300, true]);
        await closing(page);
    });

    // BUILDING-45
    it('names the door, for the head of the page and the letter to the manager', async () => {
        const person = await resident(client);
        const page = await open(person);
        const card = part(page, 'This door');
        await card.getByLabel('Name', { exact: true }).fill('The Mill');
        await card.getByLabel('Name on the call box').fill('Ortega 4B');
        await card.getByLabel('Street, number and flat').fill('1 Mill Lane');
        await card.getByLabel('City').fill('Salem');
        await card.getByLabel('State or province').selectOption('OR');
        await card.getByLabel('Postal code').fill('97301');
        await Promise.all([page.waitForEvent('load'), save(page)]);
        await page.getByRole('heading', { name: 'The Mill', level: 1 }).waitFor();
        await page.locator('#place').getByText('The Mill').waitFor();
        const letter = await part(page, 'Letter to the manager').innerText();
        for (const text of ['1 Mill Lane, Salem, OR, 97301', 'Ortega 4B', person.email]) assert.ok(letter.includes(text), letter);
        await checkAccessible(page);
        await picture(page, 'building-named');
        await part(page, 'This door').getByLabel('City').fill('');
        await save(page);
        assert.ok(await part(page, 'This door').getByLabel('City').evaluate((input) => input.matches(':invalid')));
        const { label, address, call_box_name: name } = await settingsOf(person);
        assert.deepEqual([label, name, address.street], ['The Mill', 'Ortega 4B', '1 Mill Lane']);
        await closing(page);
    });

    it('offers, once a call has opened the door, that only its call box may open', async () => {
        const person = await resident(client);
        const fresh = await open(person);
        await fresh.getByLabel('Key', { exact: true }).waitFor();
        assert.equal(await part(fresh, 'Who may open').count(), 0);
        await closing(fresh);
        await grant(person, { type: 'timer', expires_in_minutes: 60 });
        await visit(client, { to: person.number, from: '+15553330000' });
        const page = await open(person);
        await page.getByLabel('Only this call box may open').check();
        await page.getByLabel('Calls from other numbers').selectOption('Are rejected');
        await checkAccessible(page);
        await picture(page, 'building-callers');
        await save(page);
        await saved(page);
        assert.deepEqual((await settingsOf(person)).callers, { mode: 'listed', numbers: ['+15553330000'], others: 'reject' });
        assert.equal((await visit(client, { to: person.number, from: '+18005550199' })).outcome, 'rejected');
        await page.getByLabel('Only this call box may open').uncheck();
        await save(page);
        await eventually(async () => (await settingsOf(person)).callers.mode === 'any', 'any caller');
        await closing(page);
    });

    it('counts greetings as the service does, and saves them in one line', async () => {
        const person = await resident(client);
        const page = await open(person);
        const welcome = page.getByLabel('Before a code is asked for');
        await welcome.fill('🚪'.repeat(60));
        await page.getByText('118 of 119').waitFor(); // a whole door more would be 120
        await welcome.fill('Hello.\nCode, please.');
        await page.getByLabel('After a wrong code').fill('');
        await page.getByText('20 of 119').waitFor();
        await save(page);
        await saved(page);
        const settings = await settingsOf(person);
        assert.deepEqual([settings.greeting_welcome, settings.greeting_denied], ['Hello. Code, please.', '']);
        await closing(page);
    });

    it('plays a greeting before it is saved, and sets the time zone', async () => {
        const person = await resident(client);
        const page = await open(person);
        await page.getByLabel('When the door opens').fill('Come up, please.');
        const [answer] = await Promise.all([
            page.waitForResponse((one) => one.url().endsWith('/greetings/preview')),
            page.getByRole('button', { name: 'Hear it' }).nth(1).click(),
        ]);
        assert.deepEqual([answer.status(), answer.headers()['content-type']], [200, 'audio/wav']);
        assert.deepEqual(answer.request().postDataJSON(), { greeting: 'granted', text: 'Come up, please.' });
        await page.getByLabel('After a wrong code').fill('');
        await page.getByRole('button', { name: 'Hear it' }).nth(2).click();
        await page.getByText('An empty greeting is not spoken.').waitFor();
        await page.getByLabel('The building’s time zone').selectOption('Asia/Tokyo');
        await Promise.all([page.waitForEvent('load'), save(page)]);
        assert.equal(await page.getByLabel('The building’s time zone').inputValue(), 'Asia/Tokyo');
        assert.equal((await settingsOf(person)).timezone, 'Asia/Tokyo');
        await closing(page);
    });

    // SITE-29
    it('has the key first until it is set, then what is used most, and saves all at once or discards it', async () => {
        const session = await signIn(client);
        const person = { ...session, building: await provisioned(session) };
        const page = await open(person);
        const cards = () => page.locator('.settings h2').allInnerTexts();
        const KEY = 'The key that opens the door', OTHERS = ['Phones', 'Greetings', 'This door'];
        assert.deepEqual(await cards(), [KEY, ...OTHERS]);
        const bar = page.locator('.bar');
        assert.equal(await bar.isVisible(), false);
        await page.getByLabel('Key', { exact: true }).fill('9');
        await bar.getByText('Not saved yet').waitFor();
        const { y, height } = await bar.boundingBox(), tabs = await page.locator('.tabs').boundingBox();
        assert.ok(y + height <= tabs.y, 'it is seen above the pages');
        await page.getByLabel('When the door opens').fill('Come up.');
        await page.getByLabel('Ring for (seconds)').fill('45');
        await page.getByLabel('Name on the call box').fill('Ortega 4B');
        const changes = [];
        page.on('request', (one) => { if (one.method() === 'PATCH') changes.push(one.postDataJSON()); });
        await checkAccessible(page);
        await picture(page, 'building-unsaved');
        await page.evaluate(() => { document.documentElement.style.fontSize = '200%'; });
        await checkFits(page);
        await page.evaluate(() => { document.documentElement.style.fontSize = ''; });
        await save(page);
        await saved(page);
        await bar.waitFor({ state: 'hidden' });
        assert.deepEqual(changes.map((one) => Object.keys(one)), [['unlock_tone', 'greeting_granted', 'call_box_name', 'ring']]);
        const { unlock_tone: tone, greeting_granted: greeting, call_box_name: name, ring } = await settingsOf(person);
        assert.deepEqual([tone, greeting, name, ring.seconds], ['9', 'Come up.', 'Ortega 4B', 45]);
        await page.reload();
        await page.getByLabel('Key', { exact: true }).waitFor();
        assert.deepEqual(await cards(), [...OTHERS, KEY]);
        await page.getByLabel('Key', { exact: true }).fill('8');
        await page.getByLabel('City').fill('Salem');
        await page.getByRole('button', { name: 'Add a phone' }).click();
        await page.keyboard.type('(514) 555-0199');
        await bar.getByRole('button', { name: 'Discard' }).click();
        await bar.waitFor({ state: 'hidden' });
        assert.deepEqual([await page.getByLabel('Key', { exact: true }).inputValue(), await page.getByLabel('City').inputValue(), await page.locator('.number').count()], ['9', '', 0]);
        await page.getByLabel('Key', { exact: true }).fill('8');
        await page.getByLabel('Key', { exact: true }).fill('9');
        await bar.waitFor({ state: 'hidden' });
        await closing(page);
    });

    it('shows both versions when somebody else has saved meanwhile', async () => {
        const person = await resident(client);
        const page = await open(person);
        const path = `/v1/buildings/${person.building.id}/settings`;
        const other = async (body) => ok(await person.client.patch(path, body, { headers: { 'If-Match': (await settingsOf(person)).version } }));
        await other({ unlock_tone: '7' });
        await page.getByLabel('Key', { exact: true }).fill('5');
        await save(page);
        const dialog = page.getByRole('dialog', { name: 'Someone else changed this' });
        await dialog.waitFor();
        assert.deepEqual(await dialog.locator('dd b').allInnerTexts(), ['5', '7']);
        await checkAccessible(page);
        await picture(page, 'building-conflict');
        await page.keyboard.press('Escape');
        await dialog.waitFor({ state: 'detached' });
        assert.equal(await page.getByLabel('Key', { exact: true }).inputValue(), '5');
        await page.waitForFunction(() => document.querySelector('form[aria-busy=true]') === null);
        await save(page);
        await dialog.getByRole('button', { name: 'Keep the others' }).click();
        await page.waitForFunction(() => document.querySelector('[name=unlock_tone]').value === '7');
        assert.equal((await settingsOf(person)).unlock_tone, '7');
        await other({ unlock_tone: '8' });
        await page.getByLabel('Key', { exact: true }).fill('5');
        await save(page);
        await page.getByRole('button', { name: 'Save yours' }).click();
        await saved(page);
        assert.equal((await settingsOf(person)).unlock_tone, '5');
        assert.ok(browser.takeComplaints().every((text) => /status of 409/.test(text)));
        await closing(page);
    });

    it('saves the phones that ring and how', async () => {
        const person = await resident(client);
        const page = await open(person);
        await page.getByRole('button', { name: 'Add a phone' }).click();
        await page.keyboard.type('+1 514 555-0199');
        await page.getByRole('button', { name: 'Add a phone' }).click();
        await page.keyboard.type('(514) 555-0198');
        await page.getByLabel('They ring').selectOption('One after the other');
        await page.getByLabel('Visitors may leave a message').check();
        await save(page);
        await saved(page);
        const { ring } = await settingsOf(person);
        assert.deepEqual([ring.numbers, ring.strategy, ring.message], [['+15145550199', '+15145550198'], 'order', true]);
        await page.getByRole('button', { name: 'Remove phone 1' }).click();
        await save(page);
        await page.waitForFunction(() => document.querySelectorAll('.number input').length === 1);
        await page.waitForFunction(() => document.querySelector('form[aria-busy=true]') === null);
        assert.deepEqual((await settingsOf(person)).ring.numbers, ['+15145550198']);
        await closing(page);
    });

    it('verifies the phone that rings', async () => {
        const person = await resident(client);
        const page = await open(person);
        await page.getByText('No phone yet').waitFor();
        await part(page, 'Phones').getByRole('button', { name: 'Add', exact: true }).click();
        const number = `+1514${String(Date.now()).slice(-7)}`;
        await page.getByRole('dialog').getByRole('textbox').fill(number);
        await page.keyboard.press('Enter');
        await page.locator('dialog [name=code]').waitFor();
        await page.locator('dialog [name=code]').fill((await message(client, number, 'sms')).code);
        await part(page, 'Phones').getByText(written(number)).waitFor();
        await closing(page);
    });

    describe('a building that was added', () => {
        /** An owner with a cabin, and its page: `settings` are the cabin's, `give` opens the dialog for its phone. */
        async function withCabin(options) {
            const person = await owner(client);
            const cabin = await added(person);
            const path = `/v1/buildings/${cabin.id}/settings`;
            const settings = async () => ok(await person.client.get(path));
            const set = async (forward_phone) => ok(await person.client.patch(path, { forward_phone }, { headers: { 'If-Match': (await settings()).version } }));
            const page = await openSigned(browser, w, person, `/building?building=${cabin.id}`, options);
            const dialog = page.locator('dialog').first();
            const type = async (name, text) => {
                await dialog.locator(`[name=${name}]`).fill(text);
                if (name !== 'code') await page.keyboard.press('Enter');
            };
            const give = async (button = 'Another phone') => {
                await part(page, 'Phones').getByRole('button', { name: button, exact: true }).click();
                await dialog.locator('input').waitFor();
            };
            return { person, cabin, settings, set, page, dialog, type, give, accountPhone: async () => ok(await person.client.get('/v1/account/phone')).phone_number };
        }
        const freshPhone = () => `+1514${randomInt(2_000_000, 10_000_000)}`;
        const refusals = (status) => assert.ok(browser.takeComplaints().every((text) => text.includes(`status of ${status}`)));

        // SITE-8
        it('gets a phone that was never confirmed, by its code and with the keyboard alone', async () => {
            const { cabin, settings, page, dialog, type, accountPhone } = await withCabin();
            const number = freshPhone();
            await page.getByRole('button', { name: 'Another phone' }).focus();
            await page.keyboard.press('Enter');
            await dialog.locator('[name=phone_number]').waitFor();
            await page.keyboard.type(`${number.slice(2, 5)} ${number.slice(5, 8)}-${number.slice(8)}`);
            await page.keyboard.press('Enter');
            await dialog.locator('[name=code]').waitFor();
            const { code } = await message(client, number, 'sms');
            await type('code', code === '000000' ? '111111' : '000000');
            await dialog.getByText('This code is wrong.').waitFor();
            assert.equal(await dialog.locator('[name=code]').getAttribute('aria-invalid'), 'true');
            await page.keyboard.press('Control+A');
            await page.keyboard.type(code);
            await part(page, 'Phones').getByText('Given for this building alone').waitFor();
            await part(page, 'Phones').getByText(written(number)).waitFor();
            await dialog.waitFor({ state: 'detached' });
            assert.equal((await settings()).forward_phone, number);
            assert.equal(await accountPhone(), number);
            assert.equal((await visit(client, { to: cabin.virtual_number })).forwarded_to, number);
            refusals(400);
            await closing(page);
        });

        // BUILDING-35, SITE-8
        it('gets a phone that was confirmed before, without a code, and the account keeps its own', async () => {
            const { person, settings, page, dialog, type, give, accountPhone } = await withCabin();
            const next = await verifyPhone(person);
            await give();
            await type('phone_number', person.phone);
            await part(page, 'Phones').getByText('Given for this building alone').waitFor();
            await dialog.waitFor({ state: 'detached' });
            assert.equal((await settings()).forward_phone, person.phone);
            assert.equal(await accountPhone(), next);
            await part(page, 'Phones').getByRole('button', { name: 'Remove', exact: true }).click();
            await part(page, 'Phones').getByText(written(next)).waitFor();
            assert.equal((await settings()).forward_phone, null);
            assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Another phone');
            await closing(page);
        });

        it('goes on with a code that was sent before the page was loaded again', async () => {
            const { settings, page, dialog, type, give } = await withCabin();
            const number = freshPhone();
            await give();
            await type('phone_number', number);
            await dialog.locator('[name=code]').waitFor();
            await page.reload();
            await give();
            await dialog.getByText(`We sent a code to ${written(number)}.`).waitFor();
            await type('code', (await message(client, number, 'sms')).code);
            await part(page, 'Phones').getByText('Given for this building alone').waitFor();
            assert.equal((await settings()).forward_phone, number);
            refusals(400);
            await closing(page);
        });

        it('says at the field why a number or a code is refused', async () => {
            const { person, page, dialog, type, give } = await withCabin();
            const taken = (await owner(client)).phone;
            await give();
            for (const [number, why] of [['12', 'This is not a telephone number'], [taken, 'Another account uses this number.']]) {
                await type('phone_number', number);
                await dialog.locator('#f-phone_number-note').getByText(why).waitFor();
                assert.equal(await page.evaluate(() => document.activeElement.name), 'phone_number');
            }
            await checkAccessible(page);
            const number = freshPhone();
            await type('phone_number', number);
            await dialog.locator('[name=code]').waitFor();
            // The newer code, for another number, is the one that counts: it confirms that, but not the one of this tab.
            const other = freshPhone();
            ok(await person.client.post('/v1/account/phone/verification', { phone_number: other }));
            await type('code', (await message(client, other, 'sms')).code);
            await dialog.locator('#f-code-note').getByText('has not confirmed this number').waitFor();
            await dialog.getByRole('button', { name: 'Another number' }).click();
            await type('phone_number', other);
            await part(page, 'Phones').getByText(written(other)).waitFor();
            browser.takeComplaints();
            await closing(page);
        });

        it('shows both phones when another tab was faster, and asks for no second code', async () => {
            const { person, settings, set, page, dialog, type, give } = await withCabin();
            const second = page.getByRole('dialog', { name: 'Someone else changed this' });
            const number = freshPhone();
            await give();
            await type('phone_number', number);
            await dialog.locator('[name=code]').waitFor();
            await set(person.phone);
            await type('code', (await message(client, number, 'sms')).code);
            await second.waitFor();
            assert.deepEqual(await second.locator('dt').allInnerTexts(), ['This building’s phone']);
            assert.deepEqual(await second.locator('dd b').allInnerTexts(), [number, person.phone].map(written));
            await checkAccessible(page);
            await picture(page, 'building-phone-conflict');
            await page.keyboard.press('Escape');
            await second.waitFor({ state: 'detached' });
            await page.waitForFunction(() => document.querySelector('form[aria-busy=true]') === null);
            await dialog.getByRole('button', { name: 'Confirm' }).click();
            await second.getByRole('button', { name: 'Save yours' }).click();
            await part(page, 'Phones').getByText(written(number)).waitFor();
            await dialog.waitFor({ state: 'detached' });
            assert.equal((await settings()).forward_phone, number);
            await set(null);
            await give('Change');
            await type('phone_number', person.phone);
            await second.waitFor();
            assert.deepEqual(await second.locator('dd b').allInnerTexts(), [written(person.phone), 'Your account’s phone']);
            await second.getByRole('button', { name: 'Keep the others' }).click();
            await part(page, 'Phones').getByText('Your account’s phone').waitFor();
            assert.equal((await settings()).forward_phone, null);
            browser.takeComplaints();
            await closing(page);
        });

        it('has a form for its phone that is accessible and fits, light and dark', async () => {
            const { person, set, page, dialog, type, give } = await withCabin();
            await give();
            await checkSights(page, 'building-phone-number');
            await type('phone_number', freshPhone());
            await dialog.locator('[name=code]').waitFor();
            await checkSights(page, 'building-phone-code');
            await set(person.phone);
            await page.reload();
            await part(page, 'Phones').getByRole('button', { name: 'Change', exact: true }).waitFor();
            await checkSights(page, 'building-phone-given');
            refusals(400);
            await closing(page);
        });
    });

    it('rings the sandbox\'s bell and tells what the visitor heard', async () => {
        const person = await resident(client, { tone: '9#' });
        await grant(person, { type: 'passcode', label: 'Anna & Tom', access_code: '4711' });
        const page = await open(person);
        const test = part(page, 'Test the door');
        await test.getByLabel('Keys that the visitor presses').fill('4711');
        await test.getByRole('button', { name: 'Ring the bell' }).click();
        await test.getByText('Anna & Tom: the key 9# was sent to the door.').waitFor();
        await test.getByText('“Welcome. The door is open.”').waitFor();
        await picture(page, 'building-rang');
        await closing(page);
    });

    it('prints the letter alone, with the number and the key', async () => {
        const person = await resident(client, { tone: '9' });
        const page = await open(person);
        await page.emulateMedia({ media: 'print' });
        const text = await page.locator('body').innerText();
        assert.ok(text.includes(written(person.number)) && text.includes('Please set up my entry'), text);
        assert.ok(!/Test the door|Greetings|Ring the bell|Settings/.test(text), text);
        await picture(page, 'building-letter');
        for (const format of ['Letter', 'A4']) assert.equal((await page.pdf({ format })).toString('latin1').match(/\/Type \/Page\b/g).length, 1, format);
        await closing(page);
    });

    it('asks before unsaved greetings are lost', async () => {
        const person = await resident(client);
        const page = await open(person);
        const asked = [];
        page.on('dialog', (dialog) => {
            asked.push(dialog.type());
            dialog.accept();
        });
        const greeting = page.getByLabel('Before a code is asked for');
        await greeting.fill('Hello');
        await page.reload();
        await greeting.fill('Hello');
        await save(page);
        await saved(page);
        await page.reload();
        await greeting.waitFor();
        assert.deepEqual(asked, ['beforeunload']);
        await closing(page);
    });

    it('waits for the number without a subscription', async () => {
        const session = await signIn(client);
        const page = await open(session, { viewport: { width: 390, height: 800 } });
        await page.getByText('First, a number for your door').waitFor();
        assert.equal(await page.getByRole('button', { name: 'Save' }).count(), 0);
        await checkAccessible(page);
        await picture(page, 'building-waiting');
        await closing(page);
    });

    it('shows texts of residents as texts', async () => {
        const person = await resident(client);
        const path = `/v1/buildings/${person.building.id}/settings`;
        const greeting = HOSTILE.slice(0, 119);
        ok(await person.client.patch(path, { greeting_welcome: greeting }, { headers: { 'If-Match': (await settingsOf(person)).version } }));
        await grant(person, { type: 'passcode', label: HOSTILE, access_code: '4711' });
        const page = await open(person);
        assert.equal(await page.getByLabel('Before a code is asked for').inputValue(), greeting);
        await page.getByLabel('Keys that the visitor presses').fill('4711');
        await page.getByRole('button', { name: 'Ring the bell' }).click();
        await page.getByText(`${HOSTILE}: the key 9`).waitFor();
        assert.equal(await page.locator('main img').count(), 0);
        await closing(page);
    });

    for (const [locale, text] of [['es-MX', 'La tecla que abre la puerta'], ['fr-CA', 'La touche qui ouvre la porte']]) {
        it(`speaks ${locale}`, async () => {
            const page = await open(await resident(client), { locale });
            await page.getByRole('heading', { name: text, exact: true }).waitFor();
            await checkAccessible(page);
            await closing(page);
        });
    }

    it('is accessible and fits, light and dark', async () => {
        const page = await open(await resident(client, { tone: '9' }));
        await page.getByText('If the door does not hear the key').click();
        await page.getByRole('button', { name: 'Add a phone' }).click();
        await checkSights(page, 'building');
        await closing(page);
    });
});
