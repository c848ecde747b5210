// The library of the website's pages in a browser: what stays over a change of the view, and times in a building's zone.
// engine: sqlite, because no store is asked
import { after, before, describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Browser } from './lib/browser.js';

const LIB = new URL('../../web/site/lib/', import.meta.url).pathname;

describe('the library of the pages', () => {
    let browser;
    let directory;
    let page;
    before(async () => {
        directory = mkdtempSync(join(tmpdir(), 'portero-lib-'));
        writeFileSync(join(directory, 'texts.json'), JSON.stringify({ 'page.zone': '{city} time', 'error.other': 'That did not work.', 'error.INVALID_TONE': 'Wrong key.', 'page.save': 'Save', 'page.undo': 'Undo' }));
        const names = ['view', 'form', 'call', 'dialog', 'time', 'phone'];
        writeFileSync(join(directory, 'all.js'), names.map((name) => `export * from '${join(LIB, name)}.js';`).join('\n'));
        const script = execFileSync('esbuild', [join(directory, 'all.js'), '--bundle', '--format=iife', '--global-name=lib', `--alias:texts=${join(directory, 'texts.json')}`, '--log-level=warning'], { encoding: 'utf8' });
        browser = await Browser.start();
        page = await browser.page('about:blank', { timezoneId: 'Europe/Madrid' });
        await page.route('https://pages.test/', (route) => route.fulfill({ contentType: 'text/html', body: '' })); // crypto needs a secure origin
        await page.goto('https://pages.test/');
        const data = { page: { at: '2026-11-23T16:00:00Z', building: 'b' }, account: {}, buildings: { data: [{ id: 'b', label: 'Home', timezone: 'America/Toronto' }] } };
        await page.setContent(`<!doctype html><html lang="en"><div id="toasts"></div><div id="root"></div><script type="application/json" id="data">${JSON.stringify(data)}</script></html>`);
        await page.addScriptTag({ content: script });
    });
    after(async () => {
        await browser?.close();
        rmSync(directory, { recursive: true });
    });

    /** Runs in the page, with an empty place for a view: `root`. */
    const inPage = (run, argument) => page.evaluate(`(${run})(lib, document.getElementById('root'), ${JSON.stringify(argument)}, lib.patch(document.getElementById('root'), []))`);

    it('keeps the element, the focus and what was typed when rows come, go and move', async () => {
        assert.deepEqual(await inPage(({ h, patch }, root) => {
            const row = (key) => h('li', { key }, h('input', { name: key, value: '' }));
            patch(root, ['a', 'b', 'c'].map(row));
            const input = root.querySelector('[name=b]');
            input.focus();
            input.value = 'half a wo';
            input.setSelectionRange(2, 4);
            const seen = [];
            for (const keys of [['x', 'a', 'b', 'c'], ['c', 'b'], ['b', 'c', 'y', 'z'], ['z', 'y', 'c', 'b']]) {
                patch(root, keys.map(row));
                const now = root.querySelector('[name=b]');
                seen.push([[...root.children].map((li) => li.firstChild.name).join(''), now === input, document.activeElement === input, now.value, now.selectionStart, now.selectionEnd]);
            }
            return seen;
        }), ['xabc', 'cb', 'bcyz', 'zycb'].map((order) => [order, true, true, 'half a wo', 2, 4]));
    });

    it('changes a field only when its description changes', async () => {
        assert.deepEqual(await inPage(({ h, patch }, root) => {
            const view = (value, checked) => [h('input', { value }), h('input', { type: 'checkbox', checked }), h('select', { value }, h('option', { value: 'a' }), h('option', { value: 'b' }))];
            patch(root, view('a', false));
            const [text, box, select] = root.children;
            const state = () => [text.value, box.checked, select.value];
            const first = state();
            text.value = 'typed';
            box.checked = true;
            patch(root, view('a', false));
            const kept = state();
            patch(root, view('b', true));
            return [first, kept, state()];
        }), [['a', false, 'a'], ['typed', true, 'a'], ['b', true, 'b']]);
    });

    it('sets, changes and takes away attributes and listeners', async () => {
        assert.deepEqual(await inPage(({ h, patch }, root) => {
            const heard = [];
            const button = (props, ...children) => patch(root, h('button', props, ...children));
            button({ class: 'a', disabled: false, onclick: () => heard.push(1) }, 'One');
            const element = root.firstChild;
            element.click();
            button({ class: 'b', 'aria-label': 'x', onclick: () => heard.push(2) }, 'Two', 3, false, null, [undefined, ['!']]);
            element.click();
            const second = element.outerHTML;
            button({}, 'Three');
            element.click();
            return [heard, second, root.innerHTML, root.firstChild === element];
        }), [[1, 2], '<button class="b" aria-label="x">Two3!</button>', '<button>Three</button>', true]);
    });

    it('makes texts of texts, drawings in their namespace, and leaves what it has not made', async () => {
        assert.deepEqual(await inPage(({ h, icon, patch }, root) => {
            root.innerHTML = '<noscript></noscript>';
            patch(root, ['<img src=x onerror=alert(1)>', icon('door', 'Door')]);
            const found = [root.childNodes.length, root.querySelector('img'), root.querySelector('use').namespaceURI];
            patch(root, []);
            found.push(root.innerHTML);
            root.innerHTML = '';
            return found;
        }), [3, null, 'http://www.w3.org/2000/svg', '<noscript></noscript>']);
    });

    it('tells an error at its field, keeps what was typed, and tries again with the same key', async () => {
        assert.deepEqual(await inPage(async ({ CallError, field, form, patch }, root) => {
            const tries = [];
            const errors = ['INVALID_TONE', 'NEW_CODE', undefined];
            patch(root, form({
                errors: { INVALID_TONE: 'tone' },
                submit: async ({ tone }, once) => {
                    tries.push([tone, once]);
                    const code = errors.shift();
                    if (code) throw new CallError(400, code);
                },
            }, field({ name: 'tone', label: 'Key' })));
            const element = root.querySelector('form'), input = root.querySelector('input');
            const submit = async () => {
                element.requestSubmit();
                await new Promise((resolve) => { setTimeout(resolve); });
                return [root.querySelector('.wrong').textContent, root.querySelector('.form-note').textContent, input.getAttribute('aria-invalid'), input.value];
            };
            input.value = '9';
            const seen = [await submit(), await submit()];
            input.value = '9#';
            seen.push(await submit());
            const [first, second, third] = tries;
            return [seen, first[1] === second[1], first[1] === third[1], tries.map(([tone]) => tone)];
        }), [[['Wrong key.', '', 'true', '9'], ['', 'That did not work.', null, '9'], ['', '', null, '9#']], true, false, ['9', '9', '9#']]);
    });

    it('reads and writes telephone numbers as people do', async () => {
        assert.deepEqual(await inPage(({ e164 }) => ['(514) 555-0142', '514.555.0142', '1 514 555 0142', '+1 (514) 555-0142', '00 34 612 345 678', '+44 (0)20 7946 0018', '+34612345678', '12'].map(e164)),
            [...Array(4).fill('+15145550142'), '+34612345678', '+442079460018', '+34612345678', '12']);
        const written = ['+1 (514) 555-0142', '+34 612 345 678', '+44 207 946 0018', '+33 612 345 678', '+353 861 234 567', '+7 912 345 6789', 'No phone yet', '+15'];
        assert.deepEqual(await inPage(({ phoneText }) => ['+15145550142', '+34612345678', '+442079460018', '+33612345678', '+353861234567', '+79123456789', 'No phone yet', '+15'].map(phoneText)), written);
        assert.deepEqual(await inPage(({ PHONE_PATTERN }, root, numbers) => numbers.map((number) => new RegExp(`^(?:${PHONE_PATTERN})$`, 'v').test(number)), [...written.slice(0, 6), '(514) 555-0142', 'No phone yet']), [...Array(7).fill(true), false]);
    });

    it('undoes in time, else acts when the page is left', async () => {
        assert.deepEqual(await inPage(async ({ later }) => {
            const acted = [];
            const first = later('Revoked', async () => { acted.push(1); });
            document.querySelector('#toasts button').click();
            const second = later('Revoked', async () => { acted.push(2); });
            dispatchEvent(new Event('pagehide'));
            return [await first, await second, acted, document.querySelectorAll('.toast').length];
        }), [false, true, [2], 0]);
    });

    it('tells times by the building\'s zone and the service\'s clock', async () => {
        assert.deepEqual(await inPage(({ when, length, zoneNote, hour, money, now }) => [
            '2026-11-23T22:30:00Z', '2026-11-24T04:59:00Z', '2026-11-24T05:00:00Z', '2026-11-22T22:30:00Z', '2026-11-20T14:02:00Z', '2026-12-24T14:02:00Z', '2025-11-20T14:02:00Z',
        ].map(when).concat(length(42 * 60_000), length(3_600_000), length(3 * 3_600_000), length(3 * 86_400_000), zoneNote(), hour('09:30'), money(19900, 'USD'), Math.abs(now() - Date.parse('2026-11-23T16:00:00Z')) < 600_000)),
        ['17:30', '23:59', 'tomorrow, 00:00', 'yesterday, 17:30', 'Fri 09:02', '24 Dec, 09:02', '20 Nov 2025', '42 mins', '1 hr', '3 hrs', '3 days', 'Toronto time', '09:30', 'US$199.00', true]);
    });

    it('reads and writes times of fields by the building\'s clock, also when that changes', async () => {
        assert.deepEqual(await inPage(({ fromField, toField }) => [
            toField('2026-11-23T16:00:59Z'),
            ...['2026-11-23T11:00', '2026-07-01T00:00', '2026-11-01T01:30', '2026-11-01T05:30', '2026-03-08T03:30', '2026-03-08T02:30', '2026-03-08T10:30'].map((text) => new Date(fromField(text)).toISOString()),
            Number.isNaN(fromField('')),
        ]), ['2026-11-23T11:00', '2026-11-23T16:00:00.000Z', '2026-07-01T04:00:00.000Z', '2026-11-01T05:30:00.000Z', '2026-11-01T10:30:00.000Z', '2026-03-08T07:30:00.000Z', '2026-03-08T07:30:00.000Z', '2026-03-08T14:30:00.000Z', true]);
    });
});
