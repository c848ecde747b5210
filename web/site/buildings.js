// Buildings: the account's doors, one more with its price in plain money, and one less with what goes with it.
// texts: address.
import { addressFields, addressOf, changed, line } from './lib/address.js';
import { CallError, call, newKey } from './lib/call.js';
import { dialog } from './lib/dialog.js';
import { field, form } from './lib/form.js';
import { at, building, choose, data, drawPlaces, tellError } from './lib/page.js';
import { phoneText } from './lib/phone.js';
import { addressWith, folded } from './lib/search.js';
import { t } from './lib/texts.js';
import { city, clock, money } from './lib/time.js';
import { h, icon, patch } from './lib/view.js';

/**
 * @typedef {import('./lib/data.js').Building & {address: Record<string, string> | null}} Place
 * @typedef {import('./contract.js').Schemas['BuildingOperation']} Operation
 * @typedef {import('./contract.js').Schemas['BuildingAddOperation']} Addition
 */

let places = /** @type {Place[]} */ (data.buildings.data);

// ---- the change that runs, also after the page was left ----

const KEPT = `portero-operation-${data.account.id}`;
/** @type {Operation | undefined} */
let operation;

/** @param {string} id of an operation */
const read = (id) => call('GET', `/v1/buildings/operations/${id}`);

/** Shows the operation, and reads it again until it has ended. @param {Operation} now */
async function follow(now) {
    operation = now;
    localStorage.setItem(KEPT, now.id);
    draw();
    let wait = 1_000;
    while (operation?.status === 'running') {
        await new Promise((done) => { setTimeout(done, wait); });
        wait = Math.min(wait * 1.5, 15_000);
        try {
            operation = await read(now.id);
        } catch (error) {
            if (!(error instanceof CallError)) throw error; // asked again a little later
        }
        draw();
    }
    if (operation && ['succeeded', 'failed'].includes(operation.status)) localStorage.removeItem(KEPT);
    if (operation?.status !== 'succeeded') return;
    places = data.buildings.data = (await call('GET', '/v1/buildings')).data;
    data.places = await call('GET', '/v1/places');
    drawPlaces();
    draw();
    if (!places.some((one) => one.id === building.id)) choose(places[0].id);
}

/** @type {Record<string, [string, string, string]>} */
const STATES = {
    running: ['', t('adding'), t('removing')],
    succeeded: ['good', t('added'), t('removed')],
    failed: ['bad', t('add_failed'), t('remove_failed')],
    reconciliation_required: ['bad', t('stuck'), t('stuck')],
};

function progress() {
    const state = operation && STATES[operation.status];
    if (!operation || !state) return false;
    const { input, status, id } = operation;
    const adding = operation.action === 'add';
    const added = operation.action === 'add' && status === 'succeeded' ? operation.result : null;
    return h('section', { class: `note ${state[0]}`, role: 'status', key: 'progress' },
        h('p', null, h('b', null, input.label), ' · ', state[adding ? 1 : 2]),
        status === 'running' && h('progress', { class: 'meter', 'aria-label': state[adding ? 1 : 2] }),
        status === 'running' && h('p', { class: 'small quiet' }, t('running_hint')),
        status === 'reconciliation_required' && h('p', null, t('stuck_hint'), ' ', h('code', null, id)),
        added && h('p', { class: 'num' }, added.virtual_number ? t('added_hint', { number: phoneText(added.virtual_number) }) : t('added_waits')),
        added && h('div', { class: 'actions' }, h('button', { class: 'primary', type: 'button', onclick: () => choose(added.building_id, '/building') }, t('set_up'))));
}

// ---- the quote ----

/** @type {Record<string, string>} */
const EVERY = { day: t('every_day'), week: t('every_week'), month: t('every_month'), year: t('every_year') };

/** What the change costs, in words. @param {Operation} quote */
function price({ action, billing }) {
    const one = billing.per_building_amount;
    const every = EVERY[billing.interval ?? ''];
    return h('dl', { class: 'facts price' },
        one !== null && h('dt', null, t('each')), one !== null && h('dd', null, h('span', { class: 'figure' }, money(one, billing.currency)), every && ` ${every}`),
        h('dt', null, t('count')), h('dd', { class: 'num' }, t('from_to', { before: billing.current_quantity, after: billing.new_quantity })),
        h('dt', null, t('invoice')), h('dd', null, h('span', { class: 'figure' }, money(billing.next_invoice_amount_due, billing.currency)), ' ', h('span', { class: 'small quiet' }, action === 'add' ? t('invoice_hint') : t('invoice_less'))));
}

/** Confirms the quote that is shown. @param {Operation} quote @param {string} once @returns {Promise<Operation>} */
const execute = (quote, once) => (quote.action === 'add'
    ? call('POST', '/v1/buildings', { quote_id: quote.id }, { once })
    : call('DELETE', `/v1/buildings/${quote.input.building_id}`, { quote_id: quote.id }, { once }));

/** A quote that cannot be confirmed any more needs another one. */
const STALE = ['QUOTE_EXPIRED', 'QUOTE_STALE', 'INVALID_QUOTE'];

/**
 * The form that confirms a quote.
 * @param {Operation} quote @param {string} once the key of this quote's execution @param {() => Promise<void>} again asks for another quote
 * @param {(done: Operation) => void} done
 */
function confirmation(quote, once, again, done) {
    return form({
        key: 'confirmation', class: 'stack', button: quote.action === 'add' ? t('add') : t('remove'),
        submit: async () => {
            try {
                done(await execute(quote, once));
            } catch (error) {
                if (error instanceof CallError && STALE.includes(error.code)) await again();
                throw error;
            }
        },
    }, price(quote), h('p', { class: 'small quiet num' }, t('valid', { time: clock(quote.expires_at) })));
}

// ---- one more ----

async function add() {
    /** @type {Record<string, any>} */
    let input = { country: 'US' };
    /** @type {Addition | undefined} */
    let quote;
    let once = newKey();
    const preview = async () => {
        quote = /** @type {Addition} */ (await call('POST', '/v1/buildings/preview', { action: 'add', label: input.label, unlock_tone: input.unlock_tone, address: addressOf(input), ...(input.timezone && { timezone: input.timezone }) }));
        once = newKey();
    };
    const done = await dialog(t('add_title'), (/** @type {(value?: Operation) => void} */ close, redraw) => [quote ? h('div', { class: 'stack', key: 'quote' },
        h('p', null, h('b', null, quote.input.label), h('br'), h('span', { class: 'quiet' }, line(quote.input.address))),
        clocks(quote.input, async (timezone) => {
            input = { ...input, timezone };
            await preview();
            redraw();
        }),
        confirmation(quote, once, () => preview().then(redraw), close),
        h('button', {
            class: 'plain', type: 'button', onclick: () => {
                quote = undefined;
                input = { ...input, timezone: undefined };
                redraw();
            },
        }, t('back')))
        : form({
            key: 'input', class: 'stack', button: t('see_price'),
            oninput: (/** @type {Event} */ event) => {
                const { country } = input;
                input = changed(input, event);
                if (input.country !== country) redraw();
            },
            submit: async (values) => {
                input = { ...values, unlock_tone: values.unlock_tone.trim() };
                await preview();
                redraw();
            },
        },
        field({ name: 'label', label: t('label'), value: input.label, required: true, maxlength: 120, autocomplete: 'off', hint: t('label_hint') }),
        ...addressFields(input, true),
        field({ name: 'unlock_tone', label: t('tone'), value: input.unlock_tone, required: true, maxlength: 3, pattern: '[0-9#*]{1,3}', autocomplete: 'off' }))]);
    if (done) await follow(done);
}

/**
 * Asks for the building's clock where its state has more than one; else tells it.
 * @param {{timezone?: string, timezones?: string[]}} input @param {(timezone: string) => Promise<void>} choose
 */
const clocks = ({ timezone = '', timezones = [] }, choose) => (timezones.length > 1
    ? field({
        name: 'timezone', label: t('clock'), value: timezone, options: [...new Set([timezone, ...timezones])].map((name) => [name, city(name)]),
        onchange: (/** @type {Event} */ event) => choose(/** @type {HTMLSelectElement} */ (event.target).value).catch(tellError),
    })
    : h('p', { class: 'small quiet', key: 'clock' }, t('clock_of', { city: city(timezone) })));

// ---- one less ----

/** @param {Place} place */
async function remove(place) {
    /** @type {Operation} */
    let quote = await call('POST', '/v1/buildings/preview', { action: 'remove', building_id: place.id });
    let once = newKey();
    const preview = async () => {
        quote = await call('POST', '/v1/buildings/preview', { action: 'remove', building_id: place.id });
        once = newKey();
    };
    const done = await dialog(t('remove_title'), (/** @type {(value?: Operation) => void} */ close, redraw) => [
        h('p', null, h('b', null, place.label)),
        h('ul', { class: 'effects' }, place.virtual_number && h('li', null, t('loses_number', { number: phoneText(place.virtual_number) })), h('li', null, t('loses_grants')), h('li', null, t('loses_keys'))),
        confirmation(quote, once, () => preview().then(redraw), close)]);
    if (done) await follow(done);
}

// ---- the page ----

/** Its state in a word, by what it lacks until grants open the door. @param {Place} place */
function badge({ id }) {
    const missing = data.places.data.find((one) => one.id === id)?.missing ?? [];
    const [kind, text] = missing.length === 0 ? ['open', t('works')] : missing.every((part) => part === 'call_box') ? ['', t('untried')] : ['off', t('shut')];
    return h('span', { class: `badge ${kind}` }, text);
}

/** @param {Place} place */
function row(place) {
    const here = place.id === building.id;
    const busy = operation?.status === 'running' || operation?.status === 'reconciliation_required';
    return h('li', { class: 'card place-card', key: place.id },
        h('div', null, h('div', { class: 'names' }, h('h2', null, place.label), here && h('span', { class: 'badge' }, t('here')), place.is_primary && h('span', { class: 'badge' }, t('primary')), badge(place)),
            place.address && h('p', { class: 'quiet' }, line(place.address)),
            h('p', { class: 'num' }, icon('phone'), phoneText(place.virtual_number ?? t('no_number')))),
        h('div', { class: 'actions' },
            here ? h('a', { class: 'button', href: '/building' }, t('settings')) : h('button', { type: 'button', 'aria-label': t('switch_to', { name: place.label }), onclick: () => choose(place.id) }, t('switch')),
            !place.is_primary && h('button', { class: 'danger', type: 'button', disabled: busy, 'aria-label': t('remove_of', { name: place.label }), onclick: () => remove(place).catch(tellError) }, t('remove'))));
}

// ---- one of many ----

const FEW = 5; // so many are seen without a search
let typed = new URLSearchParams(location.search).get('q') ?? '';

/** @param {Place} place */
const matches = (place) => folded(`${place.label} ${line(place.address)} ${place.virtual_number ?? ''} ${phoneText(place.virtual_number ?? '')}`).includes(folded(typed));

/** @param {number} count */
const search = (count) => places.length > FEW && h('div', { class: 'wide', key: 'search' },
    h('input', {
        type: 'search', 'aria-label': t('search'), placeholder: t('search'), maxlength: 120, value: typed, autocomplete: 'off',
        oninput: (/** @type {Event} */ event) => {
            typed = /** @type {HTMLInputElement} */ (event.target).value;
            history.replaceState(history.state, '', addressWith({ q: typed }));
            draw();
        },
    }),
    h('p', { class: 'small quiet num', role: 'status' }, count === 0 ? t('none_found') : t('shown', { count, all: places.length })));

function draw() {
    const shown = places.filter(matches);
    const busy = operation?.status === 'running' || operation?.status === 'reconciliation_required';
    const subscribed = data.account.subscription.status === 'active';
    patch(at('page'), [
        h('div', { class: 'head wide', key: 'head' }, h('h1', null, t('title')), subscribed && h('button', { class: 'primary', type: 'button', disabled: busy, onclick: () => add().catch(tellError) }, t('add'))),
        progress(),
        !subscribed && h('p', { class: 'note', key: 'plan' }, t('needs_plan'), ' ', h('a', { href: '/billing' }, t('plan'))),
        search(shown.length),
        h('ul', { class: 'places', key: 'places' }, shown.map(row)),
        h('p', { class: 'quiet small', key: 'hint' }, t('hint'))]);
}

draw();
const kept = localStorage.getItem(KEPT);
if (kept) read(kept).then((found) => (found.status === 'quoted' || found.status === 'expired' ? localStorage.removeItem(KEPT) : follow(found))).catch(tellError);
