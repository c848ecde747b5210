// The subscription: the plan, its price, and what the door does with it.
import { CallError, call, newKey } from './lib/call.js';
import { confirm, toast } from './lib/dialog.js';
import { mark } from './lib/marks.js';
import { at, data, tellError } from './lib/page.js';
import { language, t } from './lib/texts.js';
import { h, patch } from './lib/view.js';

/**
 * @typedef {import('./contract.js').Schemas['Plan']} Plan
 * @typedef {import('./contract.js').Schemas['Checkout']} Checkout
 */

/** @type {Plan[]} */ const plans = data.plans.data;
/** @type {Checkout} */ let checkout = data.checkout;
let { subscription } = data.account;
let busy = false;
const count = data.buildings.data.length;

/** @type {Record<string, string>} */
const NAMES = { weekly: t('weekly'), yearly: t('yearly') };
/** @type {Record<string, string>} */
const EVERY = { day: t('a_day'), week: t('a_week'), month: t('a_month'), year: t('a_year') };
const WEEKS = 365.25 / 7;

/** An amount in the currency's minor unit. @param {number} minor @param {string} currency */
function money(minor, currency) {
    const format = new Intl.NumberFormat(navigator.languages.find((one) => one.startsWith(language)) ?? language, { style: 'currency', currency });
    return format.format(minor / 10 ** (format.resolvedOptions().maximumFractionDigits ?? 2));
}

/** @param {Plan} plan @param {number} [times] */
function price(plan, times = 1) {
    if (plan.amount === null) return t('no_price');
    const amount = money(plan.amount * times, plan.currency);
    const one = (plan.interval_count ?? 1) === 1;
    return one ? `${amount} ${EVERY[plan.interval ?? ''] ?? ''}`.trim() : t('every', { amount, count: plan.interval_count ?? 1, every: EVERY[plan.interval ?? ''] ?? '' });
}

/** The sandbox's pages are of this service, and lead back to where the browser is signed in: by the name it came by. @param {string} url */
function addressOf(url) {
    const { pathname } = new URL(url);
    return pathname.startsWith('/sandbox/') ? pathname : url;
}

/** One thing at a time; what fails is told. @param {() => Promise<void>} act */
async function once(act) {
    if (busy) return;
    busy = true;
    draw();
    try {
        await act();
    } catch (error) {
        tellError(error);
    } finally {
        busy = false;
        draw();
    }
}
// The provider's page is left with the browser's Back.
addEventListener('pageshow', (event) => { if (event.persisted) location.reload(); });

/** The same key for each try of one plan. @type {Record<string, string>} */
const keys = {};

/** @param {string} plan @param {string} [key] the key of a checkout that is being prepared */
const subscribe = (plan, key) => once(async () => {
    keys[plan] ??= newKey();
    try {
        checkout = await call('POST', '/v1/billing/checkout', { plan }, { once: key ?? keys[plan] });
    } catch (error) {
        const known = error instanceof CallError && error.status === 409;
        if (known) await reread().catch(() => {});
        throw error;
    }
    if (checkout.status !== 'preparing') delete keys[plan];
    if (checkout.url) location.assign(addressOf(checkout.url));
});

const manage = () => once(async () => {
    location.assign(addressOf((await call('POST', '/v1/billing/portal')).url));
});

const giveUp = () => once(async () => {
    if (!await confirm(t('give_up_title'), t('give_up_text'), t('give_up'))) return;
    await call('POST', `/v1/billing/checkout/${checkout.id}/expire`);
    await reread();
    toast(t('gave_up'));
});

async function reread() {
    checkout = await call('GET', '/v1/billing/checkout');
    ({ subscription } = await call('GET', '/v1/account'));
}

const WAIT_MS = 2_000;
let tries = 15;
/** A payment that has just arrived becomes a subscription soon. */
function wait() {
    if (subscription.status !== 'none' || checkout.status !== 'complete' || (tries -= 1) < 0) return;
    setTimeout(() => reread().catch(() => {}).then(() => { draw(); wait(); }), WAIT_MS);
}

/** @param {string} text @param {() => void} onclick @param {string} [kind] */
const button = (text, onclick, kind = 'primary') => h('button', { class: kind, type: 'button', disabled: busy, onclick }, text);

function pass() {
    const plan = plans.find((one) => one.id === subscription.type);
    const late = subscription.status === 'past_due';
    return h('section', { class: 'plan', 'aria-labelledby': 'plan', key: 'pass' },
        h('span', { class: late ? 'state late' : 'state' }, late ? t('late') : t('active')),
        h('h2', { id: 'plan' }, NAMES[subscription.type] ?? subscription.type),
        plan && h('p', { class: 'figure' }, price(plan, count)),
        plan && plan.amount !== null && h('p', { class: 'quiet' }, count > 1 ? t('sum', { count, price: price(plan) }) : t('per_building'), ' ', t('before_tax')),
        late && h('p', null, t('late_lead')),
        h('div', { class: 'actions' }, button(late ? t('repair') : t('manage'), manage), h('span', { class: 'small quiet' }, t('manage_hint'))));
}

function pending() {
    const name = NAMES[checkout.plan ?? ''] ?? checkout.plan ?? '';
    if (checkout.status === 'open' && checkout.url) {
        return h('section', { class: 'card pending stack', 'aria-labelledby': 'pending', key: 'pending' }, h('h2', { id: 'pending' }, t('open', { plan: name })), h('p', null, t('open_lead')),
            h('div', { class: 'actions' }, h('a', { class: 'button primary', href: addressOf(checkout.url) }, t('go_on')), button(t('give_up'), giveUp, 'danger')));
    }
    if (checkout.status === 'preparing') {
        return h('section', { class: 'card pending stack', 'aria-labelledby': 'pending', key: 'pending' }, h('h2', { id: 'pending' }, t('preparing')), h('p', null, t('preparing_lead')),
            h('div', { class: 'actions' }, button(t('again'), () => subscribe(checkout.plan ?? '', checkout.request_id))));
    }
    if (checkout.status === 'complete') return h('p', { class: 'note good', role: 'status', key: 'pending' }, t('paid'));
    if (checkout.status === 'failed') return h('p', { class: 'note bad', role: 'status', key: 'pending' }, t('failed'));
    return checkout.status === 'expired' && h('p', { class: 'note', role: 'status', key: 'pending' }, t('expired'));
}

/** @param {Plan} plan */
function offer(plan) {
    const weekly = plan.interval === 'year' && plan.amount !== null && plan.available;
    return h('li', { class: 'offer', key: plan.id }, h('h3', null, NAMES[plan.id] ?? plan.id),
        h('p', { class: 'figure' }, price(plan)),
        h('p', { class: 'small quiet' }, t('per_building'), weekly && ' ', weekly && t('about', { price: `${money(Math.round((plan.amount ?? 0) / WEEKS), plan.currency)} ${EVERY.week}` }),
            count > 1 && ' ', count > 1 && t('sum_of', { count, price: price(plan, count) })),
        plan.available ? button(t('choose', { plan: NAMES[plan.id] ?? plan.id }), () => subscribe(plan.id)) : h('p', { class: 'small' }, t('unavailable')));
}

function offers() {
    if (checkout.status === 'complete') return false;
    return h('section', { class: 'card', 'aria-labelledby': 'offers', key: 'offers' },
        h('h2', { id: 'offers' }, t('offers')), h('p', { class: 'quiet' }, t('offers_lead')),
        h('ul', { class: 'offers' }, plans.map(offer)), h('p', { class: 'small quiet' }, t('offers_note'), ' ', t('before_tax')));
}

/** What the door does in each state. */
function states() {
    /** @type {['active' | 'past_due' | 'none', 'ok' | 'wait' | 'phone', '' | 'good' | 'warn', string, string][]} */
    const all = [
        ['active', 'ok', 'good', t('active'), t('active_door')],
        ['past_due', 'wait', 'warn', t('late'), t('late_door')],
        ['none', 'phone', '', t('ended'), t('ended_door')],
    ];
    return h('section', { class: 'card', 'aria-labelledby': 'states', key: 'states' }, h('h2', { id: 'states' }, t('states')),
        h('ul', { class: 'rows states' }, all.map(([status, name, tone, title, text]) => h('li', { key: status, 'aria-current': status === subscription.status && 'true' },
            mark(name, tone), h('div', null, h('b', null, title, status === subscription.status && h('span', { class: 'badge' }, t('now'))), h('span', { class: 'small quiet' }, text))))));
}

function buildings() {
    return h('section', { class: 'card', 'aria-labelledby': 'buildings', key: 'buildings' }, h('h2', { id: 'buildings' }, t('buildings', { count })),
        h('p', null, t('buildings_lead')), h('p', { class: 'links' }, h('a', { href: '/buildings' }, t('buildings_link'))));
}

function draw() {
    patch(at('page'), h('div', { class: busy ? 'columns busy' : 'columns', 'aria-busy': busy && 'true' },
        h('div', { class: 'column' }, subscription.status === 'none' ? [pending(), offers()] : [pass(), buildings()]),
        h('div', { class: 'column' }, states(), subscription.status === 'none' && buildings())));
}

draw();
wait();
