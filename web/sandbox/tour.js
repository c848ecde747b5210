// The tour of the sandbox: from nothing to an open door. A step is one request, described once: its button sends it, and
// its line for a terminal is written from it. The page asks the service which steps are done, so a step that was done in
// a terminal counts, too. The browser keeps the test account.
import { errorText, t } from '../site/lib/texts.js';
import { h, patch } from '../site/lib/view.js';

/**
 * @typedef {{method: string, path: string, headers: Record<string, string>, body?: object}} Request
 * @typedef {{status: number, body: any}} Answer
 * @typedef {{email: string, once: string, key?: string, building?: string, answers: Record<string, Answer>}} Kept
 * @typedef {{number: string | null, tone: string | null, version: string, code: string | null, grant: string | null, rang: string | null}} Found
 *   of the service; rang: the tone of the last call that opened the door
 * @typedef {{key: string, done: boolean, ready: boolean, title: string, hint: string, button: string, request: () => Request, more?: () => Child}} Step
 * @typedef {import('../site/lib/view.js').Child} Child
 */

const KEPT = 'portero.tour';
const TONE = '9';
const CALLER = '+15550001111';
const page = /** @type {HTMLElement} */ (document.getElementById('page'));

// ---- what the browser keeps ----

/** @returns {Kept} */
function fresh() {
    const random = [...crypto.getRandomValues(new Uint8Array(8))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
    return { email: `tour-${random.slice(0, 6)}@example.com`, once: `tour-${random}`, answers: {} };
}

/** @returns {Kept} */
function read() {
    try {
        const found = JSON.parse(localStorage.getItem(KEPT) ?? '');
        if (typeof found.email === 'string' && typeof found.once === 'string' && found.answers) return found;
    } catch {
        // Nothing is kept, or the browser keeps nothing: then the tour lasts as long as the page.
    }
    return fresh();
}

function keep() {
    try {
        localStorage.setItem(KEPT, JSON.stringify(kept));
    } catch {
        // As above.
    }
}

let kept = read();
/** @type {Found} */
let found = nothing();
/** The step that runs, and the one that failed with its text. */
let busy = '';
let wrong = ['', ''];
let copied = '';

/** @returns {Found} */
function nothing() {
    return { number: null, tone: null, version: '', code: null, grant: null, rang: null };
}

// ---- requests ----

/** @param {string} method @param {string} path @param {object} [body] @param {Record<string, string>} [more] @returns {Request} */
function request(method, path, body, more = {}) {
    const headers = path.startsWith('/v1/') ? { Authorization: `Bearer ${kept.key}`, ...more } : { ...more };
    return { method, path, headers: body ? { ...headers, 'Content-Type': 'application/json' } : headers, body };
}

/** For a shell: between single quotes only these have a meaning. @param {string} text */
const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

/** The same request as a line for a terminal. @param {Request} what */
function lineOf({ method, path, headers, body }) {
    return [`curl -k${method === 'POST' ? '' : ` -X ${method}`} ${quoted(location.origin + path)}`,
        ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
        ...(body ? [`-d ${quoted(JSON.stringify(body))}`] : [])].join(' \\\n  ');
}

/** @param {Request} what @returns {Promise<Answer>} */
async function send({ method, path, headers, body }) {
    const answer = await fetch(path, { method, headers, body: body && JSON.stringify(body), credentials: 'same-origin', signal: AbortSignal.timeout(30_000) });
    return { status: answer.status, body: await answer.json().catch(() => null) };
}

/** The body of an answer; fails with the error's code. @param {Request} what */
async function ask(what) {
    const { status, body } = await send(what).catch(() => ({ status: 0, body: { error: { code: 'offline' } } }));
    if (status < 200 || status >= 300) throw new Error(body?.error?.code ?? 'other');
    return body;
}

const account = () => request('POST', '/sandbox/accounts', { email: kept.email });

/** Takes the account's key from an answer. @param {any} body */
function enter(body) {
    kept.key = body.key;
    kept.building = body.building_id;
    keep();
}

/** Asks the service what is done. A key that has ended is replaced, and an account that has gone is made again. */
async function look() {
    if (!kept.key) return;
    try {
        await readAll();
    } catch (error) {
        if (!(error instanceof Error) || !['INVALID_KEY', 'AUTH_REQUIRED', 'AUTHENTICATION_REQUIRED', 'BUILDING_NOT_FOUND'].includes(error.message)) throw error;
        enter(await ask(account()));
        await readAll();
    }
}

async function readAll() {
    const now = nothing();
    const settings = await ask(request('GET', `/v1/buildings/${kept.building}/settings`));
    Object.assign(now, { number: settings.virtual_number, tone: settings.unlock_tone, version: settings.version });
    if (now.tone) {
        const [grant] = (await ask(request('GET', '/v1/unlock?type=passcode&status=active&limit=1'))).data;
        if (grant) Object.assign(now, { code: grant.access_code, grant: grant.id });
        else if (kept.answers.code) { // it was revoked: the next one is another
            delete kept.answers.code;
            kept.once = fresh().once;
            keep();
        }
    }
    if (now.code) {
        const [call] = (await ask(request('GET', '/v1/calls?limit=1&outcome=released'))).data;
        if (call) now.rang = now.tone;
    }
    found = now;
}

// ---- the steps ----

/** @returns {Step[]} */
function steps() {
    const { number, tone, version, code, rang } = found;
    const call = kept.answers.ring?.body;
    return [
        { key: 'account', done: Boolean(kept.key), ready: true, title: kept.key ? t('account_done', { email: kept.email }) : t('account'), hint: t('account_hint'), button: t('account_do'), request: account },
        { key: 'plan', done: Boolean(number), ready: Boolean(kept.key), title: number ? t('plan_done', { number }) : t('plan'), hint: t('plan_hint'), button: t('plan_do'),
            request: () => request('POST', '/sandbox/subscriptions', { email: kept.email, status: 'active' }) },
        { key: 'tone', done: Boolean(tone), ready: Boolean(number), title: tone ? t('tone_done', { tone }) : t('tone'), hint: t('tone_hint'), button: t('tone_do'),
            request: () => request('PATCH', `/v1/buildings/${kept.building}/settings`, { unlock_tone: TONE }, { 'If-Match': version }) },
        { key: 'code', done: Boolean(code), ready: Boolean(tone && number), title: code ? t('code_done', { code }) : t('code'), hint: t('code_hint'), button: t('code_do'),
            request: () => request('POST', '/v1/unlock', { type: 'passcode', label: t('code_name') }, { 'Idempotency-Key': kept.once }) },
        { key: 'ring', done: Boolean(rang), ready: Boolean(code && tone && number), title: rang ? t('ring_done', { tone: rang }) : t('ring'), hint: t('ring_hint'), button: rang ? t('ring_again') : t('ring_do'),
            request: () => request('POST', '/sandbox/calls', { to: number, from: CALLER, digits: code }),
            more: () => call?.said?.length > 0 && h('div', { class: 'heard' }, h('span', { class: 'small quiet' }, t('heard')), h('ul', null, call.said.map((/** @type {string} */ text) => h('li', null, `“${text}”`)))) },
    ];
}

/** @param {Step} step */
async function run(step) {
    if (busy) return;
    busy = step.key;
    wrong = ['', ''];
    draw();
    try {
        const what = step.request();
        const answer = await send(what);
        kept.answers[step.key] = answer;
        keep();
        if (answer.status >= 300) throw new Error(answer.body?.error?.code ?? 'other');
        if (step.key === 'account') enter(answer.body);
        await look();
        if (step.key === 'ring' && answer.body.outcome !== 'released') wrong = ['ring', t('ring_shut')];
    } catch (error) {
        const code = error instanceof TypeError || error instanceof DOMException ? 'offline' : error instanceof Error ? error.message : 'other';
        wrong = [step.key, t('failed', { error: errorText(code) })];
        await look().catch(() => {});
    }
    busy = '';
    draw();
    const next = page.querySelector('.now button.primary, #end');
    if (!wrong[0] && next instanceof HTMLElement) next.focus();
}

/** The account that was kept is forgotten, not deleted. */
function again() {
    kept = fresh();
    keep();
    found = nothing();
    wrong = ['', ''];
    draw();
    scrollTo({ top: 0 });
}

/** Signs this browser in to the website. */
async function website() {
    try {
        await ask(request('POST', '/sandbox/accounts', { email: kept.email, browser: true, timezone: Intl.DateTimeFormat().resolvedOptions().timeZone }));
        location.assign('/');
    } catch (error) {
        wrong = ['end', t('failed', { error: errorText(error instanceof Error ? error.message : 'other') })];
        draw();
    }
}

/** @param {Step} step */
async function copyLine(step) {
    const text = lineOf(step.request());
    try {
        await navigator.clipboard.writeText(text);
    } catch { // without the permission, the person copies what is selected
        const shown = page.querySelector(`#line-${step.key}`);
        if (shown) getSelection()?.selectAllChildren(shown);
        return;
    }
    copied = step.key;
    draw();
}

// ---- the page ----

/** @param {boolean} open */
function door(open) {
    return h('svg', { viewBox: '0 0 160 150', role: 'img', 'aria-label': open ? t('door_open') : t('door_shut'), class: open ? 'open' : 'shut' },
        h('path', { class: 'beam', d: 'M72 128 8 150h152l-48-22z' }),
        h('path', { class: 'sill', d: 'M66 128V40a26 26 0 0 1 52 0v88z' }),
        h('path', { class: 'light', d: 'M72 128V42a20 20 0 0 1 40 0v86z' }),
        h('path', { class: 'leaf', d: open ? 'M72 128V42a20 20 0 0 1 15-19.4V136z' : 'M72 128V42a20 20 0 0 1 40 0v86z' }),
        h('circle', { class: 'knob', cx: open ? '82' : '106', cy: '86', r: '1.8' }));
}

/** @param {Step} step */
function line(step) {
    return h('div', { class: 'line-of', key: 'line' },
        h('div', { class: 'bar' }, h('span', { class: 'small', id: `label-${step.key}` }, t('line')),
            h('button', { class: 'plain', type: 'button', 'aria-label': t('copy_line', { step: step.title }), onclick: () => copyLine(step) }, copied === step.key ? t('copied') : t('page.copy'))),
        h('pre', { tabindex: '0', role: 'region', 'aria-labelledby': `label-${step.key} title-${step.key}` }, h('code', { id: `line-${step.key}` }, lineOf(step.request()))));
}

/** @param {Step} step @param {number} i @param {Step | undefined} next */
function stepCard(step, i, next) {
    const now = step === next;
    const answer = kept.answers[step.key];
    const shown = step.done || now;
    return h('li', { class: step.done ? 'card done' : now ? 'card now' : 'card later', key: step.key, 'aria-current': now && 'step' },
        h('i', { class: 'count', 'aria-hidden': 'true' }, step.done ? '✓' : String(i + 1)),
        h('div', { class: 'what' }, h('h2', { id: `title-${step.key}` }, step.title),
            !step.done && h('p', { class: 'quiet', key: 'hint' }, step.hint),
            step.done && step.more?.(),
            (now || (step.done && step.key === 'ring')) && h('p', { class: 'actions', key: 'act' },
                h('button', { class: now && 'primary', type: 'button', 'aria-disabled': busy !== '' && 'true', onclick: () => run(step) }, step.button)),
            h('p', { class: 'note bad', role: 'alert', key: 'wrong' }, wrong[0] === step.key && wrong[1])),
        shown && h('div', { class: 'how', key: 'how' }, line(step),
            answer && h('details', { key: 'answer' }, h('summary', null, `${t('answer')} ${answer.status}`), h('pre', { tabindex: '0' }, h('code', null, JSON.stringify(answer.body, null, 2))))));
}

function draw() {
    const all = steps();
    const done = all.filter((step) => step.done).length;
    const next = all.find((step) => !step.done && step.ready);
    const open = Boolean(found.rang);
    patch(page, [
        h('section', { class: 'door', key: 'door' }, door(open), h('h1', null, t('title')), h('p', null, t('lead')),
            h('div', { class: 'far' }, h('progress', { class: 'meter', value: done, max: all.length, 'aria-label': t('progress', { done, all: all.length }) }),
                h('span', { class: 'small num', role: 'status' }, t('progress', { done, all: all.length })),
                done > 0 && h('button', { class: 'plain', type: 'button', onclick: again }, t('again')))),
        open && h('section', { class: 'card end', key: 'end', 'aria-labelledby': 'end' }, h('h2', { id: 'end', tabindex: '-1' }, t('end')), h('p', null, t('end_hint')),
            h('p', { class: 'actions' }, h('button', { class: 'primary', type: 'button', onclick: website }, t('website'))),
            h('p', { class: 'note bad', role: 'alert', key: 'wrong' }, wrong[0] === 'end' && wrong[1]),
            h('h3', null, t('more')), h('ul', { class: 'next' },
                h('li', null, h('a', { href: '/sandbox/' }, t('more_page'))),
                h('li', null, h('a', { href: '/sandbox/#webhooks-title' }, t('more_hooks'))),
                h('li', null, h('a', { href: '/docs/agents' }, t('more_guide'))))),
        h('ol', { class: 'stages', key: 'stages' }, all.map((step, i) => stepCard(step, i, next))),
        h('p', { class: 'quiet small', key: 'note' }, t('note')),
    ]);
}

/** Asks the service again when the person comes back from the terminal or another page. */
async function comeBack() {
    if (document.hidden || busy) return;
    await look().catch(() => {});
    draw();
}

addEventListener('focus', comeBack);
addEventListener('pageshow', comeBack);
document.addEventListener('visibilitychange', comeBack);
addEventListener('storage', (event) => {
    if (event.key !== KEPT && event.key !== null) return;
    kept = read();
    found = nothing();
    comeBack();
});
draw();
