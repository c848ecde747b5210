// The page of keys for programs: made, copied, tried, revoked.
// engine: sqlite, because it tests pages in a browser
import { describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { ok, refused } from './lib/client.js';
import { portero } from './lib/daemon.js';
import { HOSTILE, nameOf, SIGHTS, useBrowser } from './lib/signed.js';
import { agent, challenge, eventually, grant, message, resident, signIn, useWorld } from './lib/world.js';

describe('the page of keys', () => {
    const w = useWorld();
    const { client } = w;
    const b = useBrowser(w);
    const keys = async (person) => ok(await person.client.get('/v1/auth/keys')).data.filter((key) => key.type === 'agent');
    const secretOf = (page) => page.getByRole('textbox', { name: 'Key', exact: true }).innerText();

    it('makes a key with the keyboard alone, shows it once, and revokes it', async () => {
        const person = await resident(client);
        const page = await b.open('/agents', person);
        await page.getByText('No keys yet').waitFor();
        await page.getByRole('button', { name: 'New key' }).focus();
        await page.keyboard.press('Enter');
        await page.waitForFunction(() => document.activeElement?.id === 'f-name');
        await page.keyboard.type('Parcels');
        await page.getByLabel('Valid for').selectOption('90');
        await page.getByLabel('See who came').uncheck();
        await page.getByLabel('Name').focus();
        await page.keyboard.press('Enter');
        await page.getByRole('heading', { name: '“Parcels” is ready' }).waitFor();
        await page.waitForFunction(() => document.activeElement?.id === 'fresh');
        const secret = await secretOf(page);
        const [made] = await keys(person);
        assert.deepEqual([made.name, made.scopes], ['Parcels', ['account:read', 'access:read', 'access:write']]);
        assert.equal(ok(await client.as(secret).get('/v1/account')).email, person.email);
        assert.ok((await page.getByRole('textbox', { name: 'Try it' }).first().innerText()).includes(`Bearer ${secret}`));
        await page.getByRole('button', { name: 'I have stored it' }).press('Enter');
        await page.waitForFunction(() => document.activeElement?.id === 'keys');
        assert.ok(!(await page.content()).includes(secret));
        await page.reload();
        assert.ok(!(await page.content()).includes(secret));
        await page.getByRole('button', { name: 'Revoke Parcels' }).press('Enter');
        await page.getByRole('button', { name: 'Cancel' }).press('Enter');
        assert.equal((await keys(person)).length, 1);
        await page.getByRole('button', { name: 'Revoke Parcels' }).press('Enter');
        await page.getByRole('dialog').getByRole('button', { name: 'Revoke', exact: true }).press('Enter');
        await page.getByText('Parcels was revoked').waitFor();
        await page.getByText('No keys yet').waitFor();
        refused(await client.as(secret).get('/v1/account'), 401, 'INVALID_KEY');
        await b.close(page);
    });

    it("lists and revokes an owner's credential of the earlier revision", async () => {
        const person = await resident(client);
        const chosen = portero(['admin', 'account', 'compat', person.email, '--revision', 'earlier', '--config', w.daemon.configPath, '--data', w.daemon.data]);
        assert.equal(chosen.status, 0, chosen.stderr);
        const sent = await challenge(client, person.email);
        const { apiKey } = ok(await client.post('/v1/auth/verify', { email: person.email, ...sent }, { check: false }));
        const page = await b.open('/agents', person);
        const row = page.getByRole('listitem').filter({ hasText: 'Owner key' }).first();
        await row.getByText('valid until you revoke it').waitFor();
        await row.getByText('Permissions: 9').click();
        await row.getByText('Everything that you can do yourself, except sign in and make keys').waitFor();
        await page.getByRole('button', { name: 'New key' }).click();
        assert.equal(await page.getByRole('checkbox').count(), 8);
        await page.keyboard.press('Escape');
        await page.getByRole('button', { name: 'Revoke Owner key' }).click();
        await page.getByRole('dialog').getByRole('button', { name: 'Revoke', exact: true }).click();
        await page.getByText('Owner key was revoked').waitFor();
        refused(await client.as(apiKey).get('/v1/account', { check: false }), 401, 'INVALID_KEY');
        await b.close(page);
    });

    it('copies the key', async () => {
        const person = await resident(client);
        const page = await b.open('/agents', person);
        await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
        await page.getByRole('button', { name: 'New key' }).click();
        await page.getByLabel('Name').fill('Robot');
        await page.getByRole('button', { name: 'Make the key' }).click();
        await page.getByRole('button', { name: 'Copy: Key' }).click();
        await page.getByText('Copied', { exact: true }).waitFor();
        assert.equal(await page.evaluate(() => navigator.clipboard.readText()), await secretOf(page));
        await b.close(page);
    });

    it('asks for a permission at least, and keeps what was typed', async () => {
        const person = await resident(client);
        const page = await b.open('/agents', person);
        await page.getByRole('button', { name: 'New key' }).click();
        await page.getByLabel('Name').fill('Robot');
        for (const box of await page.getByRole('checkbox').all()) await box.uncheck();
        await page.getByRole('button', { name: 'Make the key' }).click();
        await page.getByText('Give the key a name and at least one permission.').waitFor();
        assert.equal(await page.getByLabel('Name').inputValue(), 'Robot');
        assert.deepEqual(await keys(person), []);
        await b.close(page);
    });

    it('goes on after signing in again, with what was typed', async () => {
        const person = await resident(client);
        const page = await b.open('/agents', person);
        await page.getByRole('button', { name: 'New key' }).click();
        await page.getByLabel('Name').fill('Robot');
        await b.endSession(page);
        await page.getByRole('button', { name: 'Make the key' }).click();
        const earlier = (await message(client, person.email)).id;
        await page.getByRole('button', { name: `Send a code to ${person.email}` }).click();
        await eventually(async () => (await message(client, person.email)).id !== earlier, 'a mail');
        await page.getByLabel('Code from the e-mail').fill((await message(client, person.email)).code);
        await page.getByRole('heading', { name: '“Robot” is ready' }).waitFor();
        assert.deepEqual((await keys(person)).map((key) => key.name), ['Robot']);
        b.expect(401);
        await b.close(page);
    });

    it('revokes all keys after a leak, stays signed in, and says which codes they leave', async () => {
        const person = await resident(client);
        const robots = [await agent(person), await agent(person, ['logs:read'])];
        const make = () => grant(robots[0], { type: 'passcode', label: 'Cleaner' });
        await make();
        const page = await b.open('/agents', person);
        const all = async (name) => {
            await page.getByRole('button', { name: 'Revoke everything else' }).click();
            await page.getByRole('dialog').getByRole('button', { name }).click();
        };
        await all('Revoke everything else');
        await page.getByText('All keys were revoked. Codes, timers and plans made with them that still open the door: 1').waitFor();
        for (const robot of robots) refused(await robot.client.get('/v1/account'), 401, 'INVALID_KEY');
        robots[0] = await agent(await signIn(client, person.email));
        await make();
        await all('Revoke, and end what they made');
        await page.getByText('All keys were revoked, and what was made with them has ended: 1').waitFor();
        assert.equal(ok(await (await signIn(client, person.email)).client.get('/v1/unlock')).data.length, 1);
        for (const robot of robots) refused(await robot.client.get('/v1/account'), 401, 'INVALID_KEY');
        await page.reload();
        await page.getByText('No keys yet').waitFor();
        await b.close(page);
    });

    it('shows names as texts', async () => {
        const person = await resident(client);
        await agent(person, ['account:read'], { name: HOSTILE });
        const page = await b.open('/agents', person);
        await page.getByText(HOSTILE, { exact: true }).waitFor();
        await page.getByRole('button', { name: `Revoke ${HOSTILE}` }).click();
        await page.getByRole('heading', { name: HOSTILE }).waitFor();
        assert.equal(await page.locator('img').count(), 0);
        await b.close(page);
    });

    for (const [locale, title] of [['es-MX', 'Claves para programas'], ['fr-CA', 'Clés pour programmes']]) {
        it(`speaks ${locale}`, async () => {
            const page = await b.open('/agents', await signIn(client), { locale });
            await page.getByRole('heading', { name: title }).waitFor();
            await b.look(page, `agents-${locale}`);
            await b.close(page);
        });
    }

    for (const sight of SIGHTS) {
        it(`is accessible and fits: ${nameOf(sight)}`, async () => {
            const person = await resident(client);
            const page = await b.open('/agents', person, sight);
            await page.getByText('No keys yet').waitFor();
            await b.look(page, `agents-none-${nameOf(sight)}`);
            await agent(person, ['account:read', 'access:read', 'access:write', 'logs:read'], { name: 'Home assistant', expires_in_days: 90 });
            await agent(person, ['logs:read'], { name: 'W'.repeat(120), expires_in_days: 1 });
            await page.reload();
            await page.getByRole('button', { name: 'New key' }).click();
            await b.look(page, `agents-new-${nameOf(sight)}`);
            await page.getByLabel('Name').fill('Parcel assistant');
            await page.getByRole('button', { name: 'Make the key' }).click();
            await page.getByRole('heading', { name: 'is ready' }).waitFor();
            await page.locator('summary', { hasText: 'Permissions: 4' }).first().click();
            await b.look(page, `agents-${nameOf(sight)}`);
            await b.close(page);
        });
    }
});
