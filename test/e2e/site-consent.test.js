// The page on which a resident allows an assistant to act, or refuses: in a browser, to the end.
// engine: sqlite, because it tests pages in a browser
import { describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { ok, refused } from './lib/client.js';
import { TRUSTED, useDocuments } from './lib/documents.js';
import { assistant, connected, known } from './lib/oauth.js';
import { HOSTILE, nameOf, SIGHTS, useBrowser } from './lib/signed.js';
import { agent, message, resident, signIn, useWorld } from './lib/world.js';

describe('the page of consent', () => {
    const w = useWorld();
    const { client } = w;
    const b = useBrowser(w);
    const page = (one, change) => `/oauth/authorize?${one.ask(change)}`;
    const keysOf = async (person) => ok(await person.client.get('/v1/auth/keys')).data.filter((key) => key.type === 'agent');

    /** The assistant's page, which the browser is sent to: the parameters that it gets, once the page has loaded. */
    async function callback(tab, address) {
        await tab.context().route(`${address}**`, (route) => route.fulfill({ contentType: 'text/html', body: '<!doctype html><title>Connected</title>' }));
        return async () => {
            await tab.waitForURL(`${address}**`);
            return Object.fromEntries(new URL(tab.url()).searchParams);
        };
    }

    it('signs the resident in first, then allows some of what is asked', async () => {
        const one = await assistant(client, { name: 'Kitchen robot' });
        const person = await signIn(client);
        const tab = await b.browser.page(`${w.daemon.https}${page(one, { scope: 'account:read access:read access:write' })}`);
        const back = await callback(tab, one.redirect);
        await tab.getByLabel('E-mail address').fill(person.email);
        await tab.getByRole('button', { name: 'Send me a code' }).click();
        await tab.getByLabel('Code from the e-mail').waitFor();
        await tab.getByLabel('Code from the e-mail').fill((await message(client, person.email)).code);
        await tab.getByRole('heading', { name: 'Kitchen robot wants to look after your door' }).waitFor();
        for (const text of ['assistant.example', person.email, 'Home']) await tab.getByRole('main').getByText(text).first().waitFor();
        assert.equal(await tab.getByRole('checkbox').count(), 3);
        await tab.getByLabel('Let people in').uncheck();
        await tab.getByRole('button', { name: 'Allow', exact: true }).click();
        const { code, state } = await back();
        assert.equal(state, 'a state');
        const tokens = ok(await one.redeem(code));
        assert.equal(tokens.scope, 'account:read access:read');
        await tab.goto(`${w.daemon.https}/agents`);
        await tab.getByText('Kitchen robot').waitFor();
        await tab.getByRole('button', { name: 'Revoke Kitchen robot' }).click();
        await tab.getByRole('dialog').getByRole('button', { name: 'Revoke', exact: true }).click();
        await tab.getByText('Kitchen robot was revoked').waitFor();
        refused(await client.as(tokens.access_token).get('/v1/account'), 401, 'INVALID_KEY');
        await b.close(tab);
    });

    it('refuses with the keyboard, and the assistant is told', async () => {
        const one = await assistant(client);
        const person = await resident(client);
        const tab = await b.open(page(one), person);
        const back = await callback(tab, one.redirect);
        await tab.getByRole('button', { name: 'Do not allow' }).press('Enter');
        const { error, code } = await back();
        assert.deepEqual([error, code], ['access_denied', undefined]);
        assert.deepEqual(await keysOf(person), []);
        await b.close(tab);
    });

    it('asks for a permission at least', async () => {
        const one = await assistant(client);
        const tab = await b.open(page(one), await resident(client));
        for (const box of await tab.getByRole('checkbox').all()) await box.uncheck();
        await tab.getByRole('button', { name: 'Allow', exact: true }).click();
        await tab.getByText('Choose at least one permission.').waitFor();
        assert.ok(tab.url().includes('/oauth/authorize'));
        await b.close(tab);
    });

    it('says that the limit of keys is reached', async () => {
        const one = await assistant(client);
        const person = await resident(client);
        for (let i = 0; i < 20; i++) await agent(person, ['account:read']);
        const tab = await b.open(page(one), person);
        await tab.getByRole('button', { name: 'Allow', exact: true }).click();
        await tab.getByText('There are already 20 active keys').waitFor();
        b.expect(409);
        await b.close(tab);
    });

    // OAUTH-9
    it('sends no browser anywhere by itself: not for a mistake, not without a known address', async () => {
        const one = await assistant(client);
        const person = await resident(client);
        for (const [change, text, leads] of [[{ client_id: 'unknown' }, 'not known here', false], [{ redirect_uri: 'https://evil.example/' }, 'not one of the assistant’s', false],
            [{ code_challenge_method: 'plain' }, 'has made a mistake', true]]) {
            const tab = await b.open(page(one, change), person);
            await tab.getByText(text).waitFor();
            assert.equal(await tab.getByRole('button', { name: 'Allow', exact: true }).count(), 0);
            const links = await tab.getByRole('main').getByRole('link').evaluateAll((all) => all.map((link) => link.href));
            assert.equal(links.length, leads ? 1 : 0);
            if (leads) assert.ok(links[0].startsWith(`${one.redirect}?error=invalid_request&state=a%20state&iss=`), links[0]);
            assert.ok(tab.url().startsWith(w.daemon.https));
            await b.close(tab);
        }
    });

    it('shows the names of assistants as texts', async () => {
        const one = await assistant(client, { name: HOSTILE, client_uri: 'javascript:alert(1)', logo_uri: 'https://evil.example/x.png' });
        const person = await resident(client);
        const tab = await b.open(page(one, { state: HOSTILE }), person);
        const back = await callback(tab, one.redirect);
        await tab.getByRole('heading', { name: HOSTILE }).waitFor();
        assert.equal(await tab.locator('img').count(), 0);
        assert.ok(!(await tab.content()).includes('javascript:'));
        await tab.getByRole('button', { name: 'Allow', exact: true }).click();
        const { state, code } = await back();
        assert.equal(state, HOSTILE);
        ok(await one.redeem(code));
        await tab.goto(`${w.daemon.https}/agents`);
        await tab.getByText(HOSTILE, { exact: true }).waitFor();
        await b.close(tab);
    });

    it('is in no frame, and its address leads no further', async () => {
        const one = await assistant(client);
        const answer = await client.as(undefined).get(page(one), { headers: { accept: 'text/html' }, check: false });
        assert.match(answer.headers['content-security-policy'], /frame-ancestors 'none'/);
        assert.equal(answer.headers['referrer-policy'], 'same-origin');
        assert.equal(answer.headers['cross-origin-opener-policy'], 'same-origin');
    });

    // OAUTH-10
    it('says that a program on this device gets the access', async () => {
        const one = await assistant(client, { redirect: 'http://127.0.0.1:45001/callback' });
        const tab = await b.open(page(one), await resident(client));
        await tab.getByText('a program on this device (127.0.0.1)').waitFor();
        await tab.getByText('Go on only if you started this on this device.').waitFor();
        await b.close(tab);
    });

    it('says so of an assistant with a scheme of its own, which gets a code', async () => {
        const redirect = 'cursor://anysphere.cursor-mcp/oauth/callback';
        const one = await assistant(client, { redirect });
        const tab = await b.open(page(one, { scope: 'openid email' }), await resident(client));
        await tab.getByText('a program on this device (cursor)').waitFor();
        assert.equal(await tab.getByRole('checkbox', { checked: true }).count(), 4); // a new key's scopes
        const answer = tab.waitForResponse('**/v1/oauth/decision');
        await tab.getByRole('button', { name: 'Allow', exact: true }).click();
        const to = new URL((await (await answer).json()).redirect_to);
        assert.ok(to.href.startsWith(`${redirect}?code=`), to.href);
        ok(await one.redeem(to.searchParams.get('code')));
        await b.close(tab);
    });

    for (const [locale, title, scope] of [['es-MX', 'Robot quiere ocuparse de su puerta', 'Ver quién vino'], ['fr-CA', 'Robot veut s’occuper de votre porte', 'Voir qui est venu']]) {
        it(`speaks ${locale}`, async () => {
            const one = await assistant(client, { name: 'Robot' });
            const tab = await b.open(page(one), await signIn(client), { locale });
            await tab.getByRole('heading', { name: title }).waitFor();
            await tab.getByLabel(scope).waitFor();
            await b.look(tab, `consent-${locale}`);
            await b.close(tab);
        });
    }

    for (const sight of SIGHTS) {
        it(`is accessible and fits: ${nameOf(sight)}`, async () => {
            const person = await resident(client);
            const one = await assistant(client, { name: 'W'.repeat(80) });
            const all = 'account:read access:read access:write logs:read setup:write buildings:write billing:write';
            const tab = await b.open(page(one, { scope: all }), person, sight);
            await tab.getByRole('button', { name: 'Allow', exact: true }).waitFor();
            await b.look(tab, `consent-${nameOf(sight)}`);
            await tab.goto(`${w.daemon.https}${page(one, { code_challenge_method: 'plain' })}`);
            await tab.getByText('has made a mistake').waitFor();
            await b.look(tab, `consent-mistake-${nameOf(sight)}`);
            await connected(client, { person, name: 'Kitchen robot' });
            await tab.goto(`${w.daemon.https}/agents`);
            await tab.getByText('Kitchen robot').waitFor();
            await b.look(tab, `consent-agents-${nameOf(sight)}`);
            await b.close(tab);
        });
    }
});

describe('the page of consent of an assistant that is known by an address', () => {
    const w = useWorld({ config: TRUSTED });
    const { client } = w;
    const host = useDocuments();
    const b = useBrowser(w);
    const page = (one) => `/oauth/authorize?${one.ask()}`;
    const LOCAL = 'http://127.0.0.1:45001/callback';

    it('shows the host that vouches for the name, and allows', async () => {
        const one = known(client, host.put('/robot.json'));
        const person = await resident(client);
        const tab = await b.open(page(one), person);
        await tab.getByRole('heading', { name: 'Kitchen robot wants to look after your door' }).waitFor();
        const own = new URL(host.url('/')).host;
        await tab.getByText(`${own} says that this is its assistant`).waitFor();
        await tab.getByText(own, { exact: true }).waitFor();
        assert.equal(await tab.getByText('can ask in the name of').count(), 0);
        await tab.context().route(`${one.redirect}**`, (route) => route.fulfill({ contentType: 'text/html', body: '<!doctype html><title>Connected</title>' }));
        await tab.getByRole('button', { name: 'Allow', exact: true }).click();
        await tab.waitForURL(`${one.redirect}**`);
        ok(await one.redeem(new URL(tab.url()).searchParams.get('code')));
        await b.close(tab);
    });

    // OAUTH-10
    it('warns that any program on this device can ask in that name', async () => {
        const one = known(client, host.put('/local.json', { redirect_uris: [LOCAL] }), LOCAL);
        const tab = await b.open(page(one), await resident(client));
        await tab.getByText(`Any program on this device can ask in the name of ${new URL(host.url('/')).host}.`).waitFor();
        await tab.getByText('Go on only if you started this on this device.').waitFor();
        await b.look(tab, 'consent-document');
        await b.close(tab);
    });

    it('says that a description cannot be used, and why, and leads nowhere', async () => {
        const one = known(client, host.put('/bad.json', { client_name: HOSTILE, client_id: 'https://evil.example/x' }));
        const tab = await b.open(page(one), await resident(client));
        await tab.getByText('cannot be used').waitFor();
        await tab.getByText('client_id is not the address of the document').waitFor();
        assert.equal(await tab.getByRole('main').getByRole('link').count(), 0);
        assert.equal(await tab.getByRole('button', { name: 'Allow', exact: true }).count(), 0);
        await b.look(tab, 'consent-unreadable');
        await b.close(tab);
    });
});
