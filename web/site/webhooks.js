// Endpoints that are told of events: make, change, test and delete one, see what was delivered, and send it again.
import { CallError, call, newKey } from './lib/call.js';
import { confirm, dialog, toast } from './lib/dialog.js';
import { check, field, form } from './lib/form.js';
import { mark } from './lib/marks.js';
import { at, data, tellError } from './lib/page.js';
import { copied, secretCard } from './lib/secret.js';
import { errorText, t } from './lib/texts.js';
import { exactly, when } from './lib/time.js';
import { h, patch } from './lib/view.js';

/**
 * @typedef {import('./contract.js').Schemas['WebhookEndpoint']} Endpoint
 * @typedef {import('./contract.js').Schemas['WebhookDelivery']} Delivery
 * @typedef {{open: boolean, busy: boolean, error: string, list: Delivery[], cursor: string | null, looks: number}} Log
 */

const MAX = 5;
const ATTEMPTS = 5;
/** @type {[Endpoint['events'][number], string][]} */
const EVENTS = [['access.granted', t('granted')], ['access.denied', t('denied')], ['access.call_forwarded', t('forwarded')], ['unlock.no_uses_remaining', t('used_up')]];
const NAMES = Object.fromEntries([...EVENTS, ['webhook.test', t('tested')]]);
/** @type {Record<string, {mark: string, tone: '' | 'good' | 'bad' | 'warn', text: string}>} */
const STATUSES = {
    pending: { mark: 'wait', tone: 'warn', text: t('pending') },
    delivered: { mark: 'ok', tone: 'good', text: t('delivered') },
    failed: { mark: 'no', tone: 'bad', text: t('failed') },
    canceled: { mark: 'no', tone: '', text: t('canceled') },
};

/** Why no answer came: last_error of docs/operations.md. @type {Record<string, string>} */
const REASONS = { timeout: t('why_timeout'), resolve: t('why_resolve'), address: t('why_address'), tls: t('why_tls'), broken: t('why_broken') };

/** @type {Endpoint[]} */
let endpoints = data.webhooks.data;
/** A secret that is shown once. @type {{id: string, title: string, lead: string, secret: string} | undefined} */
let fresh;
/** @type {Record<string, Log>} */
const logs = {};

const focusList = () => document.getElementById('endpoints')?.focus();

// ---- deliveries ----

const LOOK_MS = 2_000;
const LOOKS = 20;
const PAGE = 10;

/** @param {string} id */
const logOf = (id) => logs[id] ??= { open: false, busy: false, error: '', list: [], cursor: null, looks: 0 };

/** Reads the newest page, or the one after the shown pages. @param {string} id @param {boolean} [next] */
async function read(id, next = false) {
    const log = logOf(id);
    log.busy = true;
    log.error = '';
    draw();
    try {
        const page = await call('GET', `/v1/webhooks/${id}/deliveries?limit=${PAGE}${next ? `&cursor=${log.cursor}` : ''}`);
        const known = new Set(page.data.map((one) => one.id));
        log.list = next ? [...log.list, ...page.data] : [...page.data, ...log.list.filter((one) => !known.has(one.id))];
        if (next || log.list.length === page.data.length) log.cursor = page.pagination.cursor;
    } catch (error) {
        if (!(error instanceof CallError)) throw error;
        log.error = errorText(error.code);
    }
    log.busy = false;
    draw();
}

/** Looks again for a while, as long as one is on its way. @param {string} id */
function follow(id) {
    const log = logOf(id);
    const running = log.looks > 0;
    log.looks = LOOKS;
    if (running) return;
    const look = () => setTimeout(async () => {
        log.looks -= 1;
        if (log.open && !document.hidden) await read(id);
        if (!log.list.some((one) => one.status === 'pending')) log.looks = 0;
        if (log.looks > 0) look();
    }, LOOK_MS);
    look();
}

/** @param {string} id @param {boolean} open */
async function show(id, open) {
    const log = logOf(id);
    if (log.open === open) return;
    log.open = open;
    if (open) await read(id);
    if (open && log.list.some((one) => one.status === 'pending')) follow(id);
}

/** @param {string} id @param {string} path @param {string} text */
async function queue(id, path, text) {
    try {
        await call('POST', path);
    } catch (error) {
        tellError(error);
        return;
    }
    toast(text);
    logOf(id).open = true;
    await read(id);
    follow(id);
}

/** How the last attempt went. @param {Delivery} one */
function outcome(one) {
    if (one.last_status_code) return t('answered', { code: one.last_status_code });
    return one.last_error ? REASONS[one.last_error] ?? REASONS.broken : '';
}

/** @param {Endpoint} endpoint @param {Delivery} one */
function delivery(endpoint, one) {
    const status = STATUSES[one.status] ?? STATUSES.canceled;
    return h('li', { key: one.id }, mark(status.mark, status.tone), h('div', null,
        h('b', null, NAMES[one.type] ?? one.type), h('span', { class: 'small quiet' },
            [status.text, one.attempts > 0 && t('attempts', { count: one.attempts, all: ATTEMPTS }), outcome(one), one.status === 'pending' && one.attempts > 0 && one.next_attempt_at && t('next', { when: when(one.next_attempt_at) })].filter(Boolean).join(' · ')),
        h('span', { class: 'small quiet id' }, h('time', { datetime: one.created_at, title: exactly(one.created_at) }, when(one.created_at)), ' · ', h('code', null, one.event_id))),
    ['delivered', 'failed'].includes(one.status) && h('button', {
        type: 'button', 'aria-label': t('replay_what', { event: NAMES[one.type] ?? one.type, when: when(one.created_at) }),
        onclick: () => queue(endpoint.id, `/v1/webhooks/${endpoint.id}/deliveries/${one.id}/replay`, t('replayed')),
    }, t('replay')));
}

/** @param {Endpoint} endpoint */
function deliveries(endpoint) {
    const log = logOf(endpoint.id);
    return h('details', { class: 'fold', open: log.open, ontoggle: (/** @type {Event} */ event) => show(endpoint.id, /** @type {HTMLDetailsElement} */ (event.target).open) },
        h('summary', null, t('deliveries')),
        h('div', { 'aria-busy': log.busy && 'true' },
            log.error && h('p', { class: 'note bad', role: 'alert' }, log.error),
            !log.error && log.list.length === 0 && h('p', { class: 'quiet' }, log.busy ? t('loading') : t('no_deliveries')),
            log.list.length > 0 && h('ul', { class: 'rows' }, log.list.map((one) => delivery(endpoint, one))),
            h('div', { class: 'actions' }, h('button', { type: 'button', onclick: () => read(endpoint.id) }, t('reread')),
                log.cursor && h('button', { type: 'button', onclick: () => read(endpoint.id, true) }, t('older')))));
}

// ---- endpoints ----

/** @param {Record<string, string>} values */
function chosen(values) {
    const events = EVENTS.map(([name]) => name).filter((name) => values[name]);
    if (events.length === 0) throw new CallError(400, 'INVALID_WEBHOOK_EVENTS');
    return events;
}

/** @param {Record<string, string>} values @param {string} once */
async function make(values, once) {
    const made = await call('POST', '/v1/webhooks', { url: values.url.trim(), events: chosen(values) }, { once });
    fresh = { id: made.id, title: t('made'), lead: t('once', { url: made.url }), secret: made.secret };
    endpoints = [made, ...endpoints.filter((one) => one.id !== made.id)];
    draw();
}

/** @param {Endpoint} endpoint @param {object} body @param {string} text */
async function change(endpoint, body, text) {
    const changed = await call('PATCH', `/v1/webhooks/${endpoint.id}`, body);
    endpoints = endpoints.map((one) => (one.id === changed.id ? changed : one));
    toast(text);
    draw();
}

/** The form of a new endpoint, or of one that is there. @param {Endpoint} [endpoint] */
function ask(endpoint) {
    const test = endpoint?.events.filter((name) => name === 'webhook.test') ?? [];
    return dialog(endpoint ? t('edit_title') : t('new'), (close) => [form({
        button: endpoint ? t('save') : t('make'),
        errors: { INVALID_WEBHOOK_URL: 'url' },
        submit: async (values, once) => {
            if (endpoint) await change(endpoint, { url: values.url.trim(), events: [...chosen(values), ...test] }, t('changed'));
            else await make(values, once);
            close();
        },
    },
    field({ name: 'url', label: t('url'), hint: t('url_hint'), type: 'url', required: true, maxlength: 2048, placeholder: 'https://', autocomplete: 'off', spellcheck: 'false', value: endpoint?.url ?? '' }),
    h('fieldset', { class: 'boxes', key: 'events' }, h('legend', null, t('events')),
        EVENTS.map(([name, text]) => check({ name, label: text, checked: endpoint ? endpoint.events.includes(name) : true }))))]);
}

/** @param {Endpoint} endpoint */
async function turn(endpoint) {
    if (endpoint.active && !await confirm(t('off_title'), t('off_text', { url: endpoint.url }), t('off'))) return;
    try {
        await change(endpoint, { active: !endpoint.active }, endpoint.active ? t('is_off') : t('is_on'));
    } catch (error) {
        tellError(error);
    }
}

/** @param {Endpoint} endpoint */
async function rotate(endpoint) {
    if (!await confirm(t('rotate_title'), t('rotate_text'), t('rotate'))) return;
    try {
        const { id, url, secret } = await call('POST', `/v1/webhooks/${endpoint.id}/secret`, {}, { once: newKey() });
        fresh = { id, title: t('rotated'), lead: t('rotated_once', { url }), secret };
    } catch (error) {
        tellError(error);
        return;
    }
    draw();
}

/** @param {Endpoint} endpoint */
async function remove(endpoint) {
    if (!await confirm(t('delete_title'), t('delete_text', { url: endpoint.url }), t('delete'))) return;
    try {
        await call('DELETE', `/v1/webhooks/${endpoint.id}`);
    } catch (error) {
        tellError(error);
        return;
    }
    endpoints = endpoints.filter((one) => one.id !== endpoint.id);
    if (fresh?.id === endpoint.id) fresh = undefined;
    toast(t('deleted'));
    draw();
    focusList();
}

function secret() {
    return fresh && secretCard({
        title: fresh.title, lead: fresh.lead, key: fresh.secret,
        stored: () => {
            fresh = undefined;
            draw();
            focusList();
        },
    }, copied(t('secret'), fresh.secret));
}

/** @param {string[]} events */
function eventsOf(events) {
    if (EVENTS.every(([name]) => events.includes(name))) return t('all');
    return events.filter((name) => name !== 'webhook.test').map((name) => NAMES[name] ?? name).join(' · ');
}

/** @param {Endpoint} endpoint */
function card(endpoint) {
    return h('li', { key: endpoint.id },
        h('div', { class: 'title' }, mark('hook'), h('div', null, h('h3', null, endpoint.url),
            h('p', { class: 'small quiet' }, [!endpoint.active && t('is_off_now'), eventsOf(endpoint.events)].filter(Boolean).join(' · ')))),
        h('div', { class: 'actions' },
            h('button', { type: 'button', 'aria-label': t('test_what', { url: endpoint.url }), onclick: () => queue(endpoint.id, `/v1/webhooks/${endpoint.id}/test`, t('sent')) }, t('test')),
            h('button', { type: 'button', 'aria-label': t('edit_what', { url: endpoint.url }), onclick: () => ask(endpoint) }, t('edit')),
            h('button', { type: 'button', 'aria-label': t('rotate_what', { url: endpoint.url }), onclick: () => rotate(endpoint) }, t('rotate')),
            h('button', { type: 'button', 'aria-label': t(endpoint.active ? 'off_what' : 'on_what', { url: endpoint.url }), onclick: () => turn(endpoint) }, t(endpoint.active ? 'off' : 'on')),
            h('button', { class: 'danger plain', type: 'button', 'aria-label': t('delete_what', { url: endpoint.url }), onclick: () => remove(endpoint) }, t('delete'))),
        deliveries(endpoint));
}

function list() {
    const full = endpoints.length >= MAX;
    return h('section', { class: 'card', 'aria-labelledby': 'endpoints', key: 'list' },
        h('div', { class: 'head' }, h('h2', { id: 'endpoints', tabindex: '-1' }, t('endpoints')), endpoints.length > 0 && h('button', { class: 'primary', type: 'button', disabled: full, onclick: () => ask() }, t('new'))),
        full && h('p', { class: 'small quiet' }, t('full')),
        endpoints.length > 0 ? h('ul', { class: 'things' }, endpoints.map(card))
            : h('div', { class: 'blank' }, mark('hook'), h('b', null, t('none')), h('p', { class: 'quiet' }, t('none_lead')), h('button', { class: 'primary', type: 'button', onclick: () => ask() }, t('new'))));
}

const EXAMPLE = `{
  "id": "evt_…",
  "type": "access.granted",
  "created_at": "…",
  "api_version": "v1",
  "data": { … }
}`;

function draw() {
    patch(at('page'), h('div', { class: 'columns' },
        h('div', { class: 'column' }, secret(), list()),
        h('div', { class: 'column' }, h('section', { class: 'card stack', 'aria-labelledby': 'how' }, h('h2', { id: 'how' }, t('how')),
            h('p', null, t('how_lead')), h('pre', { class: 'text', tabindex: '0', role: 'region', 'aria-label': t('example') }, EXAMPLE),
            h('p', null, t('how_sign')), h('p', null, t('how_again')),
            h('p', { class: 'links' }, h('a', { href: '/docs/agents' }, t('guide')))))));
}

draw();
