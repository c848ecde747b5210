// The documents for developers at /docs: the reference made of the API's own table, the guides, and what programs read.
// engine: sqlite, because it tests pages
import { after, before, describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { Browser, checkAccessible, checkFits, checkForcedColours } from './lib/browser.js';
import { ok } from './lib/client.js';
import { contract } from './lib/contract.js';
import { root } from './lib/daemon.js';
import { operationsOf, pagePaths, partsOfMarkdown, partsOfPage, readPage, referenceOperations } from './lib/docs.js';
import { production } from './lib/production.js';
import { checkTargets, picture, WIDTHS } from './lib/site-page.js';
import { signIn, useWorld } from './lib/world.js';

const documented = (documents) => documents.flatMap((doc) => doc.operations().map((name) => {
    const [method, template] = name.split(' ');
    return { name, operation: doc.document.paths[template][method.toLowerCase()], doc };
}));

describe('the documents for developers', () => {
    const w = useWorld();
    const { client } = w;

    // DOC-7
    it('describe each operation of the API and of the sandbox on one page, and no other', async () => {
        const [sandbox, service] = contract();
        const wanted = documented([service, sandbox]).map(({ name, operation }) => `${operation.operationId} ${name}`).sort();
        const found = (await referenceOperations(client)).map(({ id, line }) => `${id} ${line}`).sort();
        assert.deepEqual(found, wanted);
    });

    it('name each operation\'s parameters, fields, scopes and errors, with what an error means and what to do', async () => {
        const [sandbox, service] = contract();
        const pages = new Map((await referenceOperations(client)).map((found) => [found.id, found.text]));
        const { text: errors } = await readPage(client, '/docs/errors');
        for (const { operation, doc } of documented([service, sandbox])) {
            const text = pages.get(operation.operationId);
            const follow = (node) => doc.resolve(node, '').node;
            const parameters = (operation.parameters ?? []).map((parameter) => follow(parameter).name);
            const body = follow(operation.requestBody?.content['application/json'].schema ?? {});
            const fields = [body, ...(body.oneOf ?? []).map(follow)].flatMap((schema) => Object.keys(schema.properties ?? {}));
            const codes = Object.values(operation.responses).flatMap((response) =>
                follow(response).content?.['application/json']?.schema?.allOf?.[1].properties.error.properties.code.enum ?? []);
            for (const word of [...parameters, ...fields, ...operation['x-required-scopes'] ?? [], ...codes]) assert.ok(text.includes(word), `${operation.operationId}: ${word}`);
            for (const code of codes) assert.ok(errors.includes(code), code);
        }
        assert.match(pages.get('createUnlock'), /timer required\s+label string, at most 120 characters\s+default: the type/);
        assert.match(pages.get('createUnlock'), /IDEMPOTENCY_CONFLICT 409\s+This Idempotency-Key was already used .*\s+Next: Use a new key/);
    });

    it('have no broken link, no anchor twice, and a page for each guide and its Markdown', async () => {
        const paths = await pagePaths(client);
        const pages = new Map();
        for (const path of new Set(paths)) pages.set(path, await readPage(client, path));
        assert.ok(paths.length > 20, `${paths}`);
        const others = new Set();
        for (const { path, links, ids } of pages.values()) {
            assert.equal(new Set(ids).size, ids.length, `${path}: an ID is there twice`);
            for (const link of links) {
                const [target, anchor] = link.split('#');
                if (/^(https?|data):/.test(target)) continue;
                const page = pages.get(target || path);
                if (!page) others.add(target);
                else if (anchor !== undefined) assert.ok(page.ids.includes(decodeURIComponent(anchor)), `${path}: ${link}`);
            }
        }
        for (const target of others) {
            const answer = await client.as(undefined).get(target, { check: false });
            assert.ok(answer.status === 200 || target === '/', `${target}: ${answer.status}`);
        }
        const guides = paths.filter((path) => /^\/docs\/(behaviour\/)?[a-z-]+$/.test(path) && path !== '/docs/errors');
        assert.ok(guides.length >= 8 && guides.includes('/docs/behaviour/grants'), `${guides}`);
        for (const guide of guides) {
            const raw = await client.as(undefined).get(`${guide}.md`, { check: false });
            assert.equal(raw.headers['content-type'], 'text/markdown; charset=utf-8');
            assert.equal(raw.text, readFileSync(join(root, 'docs', `${guide.slice('/docs/'.length)}.md`), 'utf8'));
        }
        for (const missing of ['/docs/nothing', '/docs/nothing.md', '/docs/behaviour', '/docs/behaviour/nothing', '/docs/why/stop', '/docs/api/nothing', '/docs/api/', '/docs/how-to', '/docs/..%2fREADME.md']) {
            assert.equal((await client.as(undefined).get(missing, { check: false })).status, 404, missing);
        }
    });

    // DOC-8
    it('are also Markdown, which says the same, where the page, the path and the header Accept lead to it', async () => {
        const anonymous = client.as(undefined);
        const twins = new Map();
        for (const path of new Set(['/docs', ...await pagePaths(client)])) {
            const page = await readPage(client, path);
            const raw = await anonymous.get(`${path}.md`, { check: false });
            assert.equal(raw.headers['content-type'], 'text/markdown; charset=utf-8', path);
            assert.deepEqual(page.alternates, [{ type: 'text/markdown', href: `${path}.md` }]);
            const asked = await anonymous.get(path, { check: false, headers: { accept: 'text/markdown, text/html;q=0.9' } });
            assert.match(asked.headers.vary, /Accept\b(?!-)/);
            assert.equal(asked.text, raw.text, path);
            twins.set(`${path}.md`, raw.text);
            if (/^\/docs(\/api\/.*|\/errors)?$/.test(path)) assert.deepEqual(partsOfMarkdown(raw.text), partsOfPage(page), path);
        }
        for (const [path, text] of twins) {
            for (const [, target, anchor] of text.matchAll(/\]\((\/docs[^)#]*\.md)(?:#([^)]+))?\)/g)) {
                assert.ok(twins.has(target), `${path}: ${target}`);
                if (anchor) assert.ok(twins.get(target).includes(`<a id="${anchor}"></a>`), `${path}: ${target}#${anchor}`);
            }
        }
        const { text: contents } = await anonymous.get('/llms.txt', { check: false });
        for (const path of twins.keys()) assert.ok(contents.includes(`${path})`), path);
    });

    // DOC-8
    it('give the guide for agents to programs as Markdown, and to browsers as a page', async () => {
        const raw = await client.as(undefined).get('/docs/agents');
        assert.match(raw.headers['content-type'], /^text\/markdown/);
        assert.match(raw.headers.vary, /Accept\b/);
        const { answer } = await readPage(client, '/docs/agents');
        assert.match(answer.headers['content-security-policy'], /require-trusted-types-for 'script'/);
        assert.match(answer.text, /<h1 id="portero-for-agents">/);
    });

    it('are tagged and compressed like other texts, and run no inline script', async () => {
        for (const path of ['/docs', '/docs/api/access-grants', '/docs/operations', '/docs/agents.md', '/llms.txt']) {
            const plain = await client.as(undefined).get(path, { check: false });
            const small = await client.as(undefined).get(path, { check: false, headers: { 'accept-encoding': 'br' } });
            assert.equal(small.headers['content-encoding'], 'br', path);
            assert.ok(brotliDecompressSync(small.bytes).equals(plain.bytes), path);
            assert.ok(small.bytes.length < plain.bytes.length / 2, path);
            const known = await client.as(undefined).get(path, { check: false, headers: { 'accept-encoding': 'br', 'if-none-match': small.headers.etag } });
            assert.equal(known.status, 304, path);
            assert.doesNotMatch(plain.text, / style=| on[a-z]+="|<script(?! type="module" src=)/, path);
        }
    });

    // DOC-7, DOC-10, HTTP-53
    it('have their contents in the form of llmstxt.org, whose links lead to them', async () => {
        const { text } = await client.as(undefined).get('/llms.txt', { check: false });
        assert.match(text, /^# Portero\n\n> .+\n\n[^#]+## Guides\n\n- \[Portero for agents\]\(https:/);
        const links = [...text.matchAll(/^- \[[^\]]+\]\((https:\/\/localhost:\d+)(\/[^)]*)\): .+$/gm)];
        assert.equal(links.length, text.match(/^- /gm).length);
        for (const [, , path] of links) assert.equal((await client.as(undefined).get(path, { check: false })).status, 200, path);
        assert.equal((await client.as(undefined).get('/robots.txt', { check: false })).text, 'User-agent: *\nDisallow: /\n');
    });
});

describe('the documents of a service in production', () => {
    // DOC-10, HTTP-53
    it('have no sandbox and no forms, and may be found', async () => {
        const p = await production();
        try {
            const paths = await pagePaths(p.client);
            assert.ok(!paths.includes('/docs/api/sandbox'));
            const page = await readPage(p.client, '/docs/api/access-grants');
            assert.deepEqual(operationsOf(page).filter(({ form }) => form), []);
            assert.doesNotMatch(page.answer.text, /sandbox-docs/);
            assert.match(operationsOf(page)[0].samples.curl, /^curl 'https:\/\/door\.example\/v1\/unlock/);
            assert.match((await p.client.get('/robots.txt', { check: false })).text, /^Allow: \/docs$/m);
        } finally {
            await p.close();
        }
    });
});

describe('the documents in a browser', () => {
    const w = useWorld();
    let browser;
    before(async () => { browser = await Browser.start(); });
    after(() => browser?.close());
    const open = (path, options) => browser.page(`${w.daemon.https}${path}`, options);
    const close = async (page) => {
        assert.deepEqual(browser.takeComplaints(), []);
        await page.context().close();
    };

    for (const [name, path] of Object.entries({ overview: '/docs', grants: '/docs/api/access-grants', errors: '/docs/errors', guide: '/docs/telephony' })) {
        it(`are accessible and fit, light and dark, from 320 to 1280 pixels: the ${name}`, { timeout: 600_000 }, async () => {
            const page = await open(path, { reducedMotion: 'reduce' });
            for (const colorScheme of ['light', 'dark']) {
                await page.emulateMedia({ colorScheme });
                for (const width of WIDTHS) {
                    await page.setViewportSize({ width, height: 800 });
                    await picture(page, `docs-${name}-${width}-${colorScheme}`);
                    await checkFits(page);
                    await checkTargets(page);
                    if (width !== 320) await checkAccessible(page);
                }
            }
            await page.setViewportSize({ width: 390, height: 800 });
            await page.emulateMedia({ colorScheme: 'light' });
            await checkForcedColours(page);
            await close(page);
        });
    }

    it('can be read without scripts', async () => {
        const page = await open('/docs/api/access-grants', { javaScriptEnabled: false, viewport: { width: 390, height: 800 } });
        const grant = page.locator('section', { has: page.locator('#createUnlock') });
        await grant.getByText('curl https://').waitFor();
        await grant.getByText('Python', { exact: true }).click();
        await grant.getByText('from urllib.request import').waitFor();
        assert.ok(!await page.getByRole('searchbox').isVisible());
        await page.getByRole('link', { name: 'Contents', exact: true }).click();
        await page.getByRole('link', { name: 'Errors', exact: true }).click();
        await page.getByRole('heading', { name: 'Errors', level: 1 }).waitFor();
        await close(page);
    });

    it('are searched, copied, and keep the language of the examples', async () => {
        const page = await open('/docs');
        await page.keyboard.press('/');
        await page.getByRole('searchbox').pressSequentially('revoke grant');
        await page.getByRole('link', { name: /DELETE \/v1\/unlock\/\{id\}$/ }).click();
        await page.waitForURL('**/docs/api/access-grants#revokeUnlock');
        const revoke = page.locator('section', { has: page.locator('#revokeUnlock') });
        await revoke.getByText('Python', { exact: true }).click();
        await revoke.getByText('from urllib.request import').waitFor();
        const [code, copy] = await Promise.all([revoke.locator('[data-language=python] pre').boundingBox(),
            revoke.locator('[data-language=python]').getByRole('button', { name: 'Copy' }).boundingBox()]);
        assert.ok(copy.y + copy.height <= code.y + 1, `the button covers no code: ${JSON.stringify([copy, code])}`);
        await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
        await revoke.locator('[data-language=python]').getByRole('button', { name: 'Copy' }).click();
        await revoke.getByRole('button', { name: 'Copied' }).waitFor();
        assert.match(await page.evaluate(() => navigator.clipboard.readText()), /^import json\nimport os\nfrom urllib/);
        await page.goto(`${w.daemon.https}/docs/api/calls`);
        await page.locator('[data-language=python][open]').first().waitFor();
        assert.equal(await page.locator('[data-language=curl][open]').count(), 0);
        const first = page.locator('.found a').first();
        for (const [words, path] of [['IDEMPOTENCY_CONFLICT', '/docs/errors#IDEMPOTENCY_CONFLICT-409'], ['remaining_uses', '/docs/api/access-grants#createUnlock'],
            ['unlock', '/docs/api/access-grants#listUnlocks'], ['webhook signature', '/docs/api/webhooks#rotateWebhookSecret']]) {
            await page.getByRole('searchbox').fill(words);
            await page.locator(`.found li:first-child a[href="${path}"]`).waitFor();
        }
        await page.setViewportSize({ width: 390, height: 800 });
        const box = await first.boundingBox();
        assert.ok(box.x >= 0 && box.x + box.width <= 390, `the results are within the window of a phone: ${JSON.stringify(box)}`);
        await page.getByRole('searchbox').fill('zzzz nothing');
        await page.getByText('0 results').waitFor();
        await close(page);
    });

    // DOC-9
    it('answer what owners ask, in their words, before pages that are of use to few', async () => {
        const page = await open('/docs');
        const answers = {
            'which call boxes work?': 'questions', 'supported call boxes': 'questions', intercom: 'questions', Akuvox: 'questions', 'Fritz!Box': 'questions',
            PSTN: 'questions', landline: 'questions', 'my box dials only telephone numbers': 'questions',
            nginx: 'operations#a-proxy-in-front questions', 'behind nginx': 'operations#a-proxy-in-front questions',
            flatmate: 'questions', 'add my flatmate': 'questions', roommate: 'questions',
            'parcels on weekdays': 'questions', weekdays: 'questions', 'power failure': 'questions', 'the server is down': 'questions',
            'new machine': 'questions operations#restoring-a-copy', Docker: 'questions', 'Raspberry Pi': 'questions', arm64: 'questions',
            'what does it cost?': 'questions', 'is it free': 'questions', 'no mail server': 'questions', strangers: 'questions', uninstall: 'questions',
            'why did the door not open?': 'questions operations#why-did-the-door-not-open',
        };
        for (const [words, places] of Object.entries(answers)) {
            for (const typed of ['', words]) await page.getByRole('searchbox').fill(typed); // without words, no results are shown
            await page.locator('.found li').first().waitFor();
            const { pathname, hash } = new URL(await page.locator('.found a').first().evaluate((a) => /** @type {HTMLAnchorElement} */ (a).href));
            assert.ok(places.split(' ').some((place) => place === 'questions' ? pathname === '/docs/questions' && hash : `${pathname}${hash}` === `/docs/${place}`), `${words}: ${pathname}${hash}`);
        }
        await page.getByRole('searchbox').fill('rate limits');
        await page.locator('.found li:last-child a[href^="/docs/behaviour"]').waitFor(); // found, after all others
        await close(page);
    });

    // DOC-10
    it('send an operation to the sandbox, with a key that the page alone keeps', async () => {
        const page = await open('/docs/api/access-grants#createUnlock');
        const form = page.locator('section', { has: page.locator('#createUnlock') });
        await form.getByText('Send it to this sandbox').click();
        await form.getByRole('button', { name: 'Make a test account' }).click();
        await page.waitForFunction(() => /** @type {HTMLInputElement} */ (document.querySelector('#createUnlock')?.closest('section')?.querySelector('input[type=password]')).value.startsWith('svc_web_'));
        const key = await form.getByLabel('Key', { exact: true }).inputValue();
        await form.getByLabel('Body').fill('{"type": "passcode", "label": "<img src=x onerror=alert(1)>"}');
        await form.getByRole('button', { name: 'Send' }).click();
        await form.getByText(/^201 ETag: "0"/).waitFor();
        const [made] = ok(await w.client.as(key).get('/v1/unlock')).data;
        assert.equal(made.label, '<img src=x onerror=alert(1)>');
        await form.getByText(`"id": "${made.id}"`).waitFor();
        const list = page.locator('section', { has: page.locator('#listUnlocks') });
        await list.getByText('Send it to this sandbox').click();
        assert.equal(await list.getByLabel('Key', { exact: true }).inputValue(), key);
        await checkAccessible(page);
        assert.equal(await page.evaluate(() => JSON.stringify([localStorage, sessionStorage, document.cookie])), '[{},{},""]');
        await page.reload();
        assert.ok(!(await page.content()).includes(key));
        await close(page);
    });

    it('show a stream as it comes, until it is stopped', async () => {
        const person = await signIn(w.client);
        const building = ok(await person.client.get('/v1/buildings')).data[0].id;
        const page = await open('/docs/api/events');
        await page.getByText('Send it to this sandbox').click();
        await page.getByLabel('Key', { exact: true }).fill(person.key);
        await page.getByLabel('buildingId').fill(building);
        await page.getByRole('button', { name: 'Send' }).click();
        await page.locator('.send output').getByText(/^200/).waitFor();
        ok(await person.client.post('/v1/unlock', { type: 'passcode', label: 'Seen' }, { headers: { 'Idempotency-Key': 'docs-stream-0000001' } }), 201);
        await page.locator('.send').getByText('grant.created').waitFor();
        await page.getByRole('button', { name: 'Stop' }).click();
        await page.getByText('Stopped.').waitFor();
        await close(page);
    });
});
