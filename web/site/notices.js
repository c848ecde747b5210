// Notices of the building's door: in this browser, and by e-mail. Off until somebody asks for them.
import { call } from './lib/call.js';
import { toast } from './lib/dialog.js';
import { check, field, form } from './lib/form.js';
import { at, building, data, has, tellError } from './lib/page.js';
import { registered } from './lib/registration.js';
import { t } from './lib/texts.js';
import { date, when } from './lib/time.js';
import { h, patch } from './lib/view.js';

/**
 * @typedef {import('./contract.js').Schemas['NoticeBrowser']} Subscribed
 * @typedef {import('./contract.js').Schemas['Notices']} Notices
 * @typedef {import('./contract.js').Schemas['QuietHours']} Quiet
 */

/** @type {Notices} */ let notices = data.notices;
/** @type {Quiet | null} null for a manager of codes, whom nothing rings */ let quiet = data.quiet;
let lost = false;
const path = /** @type {const} */ (`/v1/buildings/${building.id}/notices`);

/** The names of notices, as the service has them, and their texts: all that this person may have. @type {[Subscribed['notices'][number], string][]} */
const KINDS = [['ring', t('ring')], ['opened', t('opened')], ['refused', t('refused')], ['last_use', t('last_use')], ['guessing', t('guessing')]];
if (!data.account.capabilities.scopes.includes('calls:listen')) KINDS.shift(); // who answers no calls gets no ring
const BY_MAIL = KINDS.filter(([name]) => name !== 'guessing');

const mine = () => notices.browsers.find((one) => one.current);
const able = 'serviceWorker' in navigator && 'PushManager' in window && 'Notification' in window;

// ---- this browser ----

/** @param {string} text */
const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), (one) => one.charCodeAt(0));

/** The browser's subscription at its push service, for the service's key alone. */
async function subscription() {
    const { pushManager } = await registered();
    const options = { userVisibleOnly: true, applicationServerKey: bytes(notices.application_server_key) };
    return pushManager.subscribe(options).catch(async () => {
        // It belongs to another key, as after a change of the store.
        await (await pushManager.getSubscription())?.unsubscribe();
        return pushManager.subscribe(options);
    });
}

/** Asks the person, as the browser does it once. A browser may have no push service, and fail after that. */
async function subscribe(/** @type {string[]} */ chosen) {
    if (await Notification.requestPermission() !== 'granted') return toast(t('blocked'));
    const found = await subscription().catch(() => null);
    if (!found) return toast(t('failed'));
    await store(found, chosen);
    return toast(t('saved'));
}

async function store(/** @type {PushSubscription} */ found, /** @type {string[]} */ chosen) {
    const { endpoint, keys } = found.toJSON();
    notices = await call('PUT', `${path}/push`, { endpoint, p256dh: keys?.p256dh, auth: keys?.auth, notices: chosen });
    lost = false;
}

/** A browser may have lost the subscription that the service knows, as with cleared data or a restored phone. */
async function renew() {
    const here = mine();
    if (!able || !here || await registered().then(({ pushManager }) => pushManager.getSubscription()).catch(() => true)) return;
    const found = Notification.permission === 'granted' && await subscription().catch(() => null);
    lost = !found;
    if (found) await store(found, here.notices);
    draw();
}

/** @param {[string, string][]} kinds @param {string} prefix @param {Record<string, string>} values */
const chosenOf = (kinds, prefix, values) => kinds.map(([name]) => name).filter((name) => values[`${prefix}-${name}`]);

async function choose(/** @type {Record<string, string>} */ values) {
    const chosen = chosenOf(KINDS, 'push', values);
    if (chosen.length > 0) {
        await subscribe(chosen);
    } else {
        notices = await call('DELETE', `${path}/push`);
        lost = false;
        toast(t('ended'));
    }
    draw();
}

/** A push service has answered by then, as a rule. */
const ANSWERED_MS = 4_000;

async function reread() {
    notices = await call('GET', path);
    draw();
}

async function test() {
    try {
        await call('POST', `${path}/push/test`);
        toast(t('tested'));
        setTimeout(() => reread().catch(tellError), ANSWERED_MS);
    } catch (error) {
        tellError(error);
    }
}

/** @param {[string, string][]} kinds @param {string} prefix @param {string[]} wanted */
const boxes = (kinds, prefix, wanted) => kinds.map(([name, label]) => check({ name: `${prefix}-${name}`, label, checked: wanted.includes(name) }));

/** That a browser's push service did not take the last notice. @param {Subscribed} [one] @returns {string | false} */
const refusal = (one) => Boolean(one?.refused_at) && t(one?.refused_with ? 'refusal' : 'no_answer', { time: when(one?.refused_at ?? ''), status: one?.refused_with ?? '' });

function browserCard() {
    const here = mine();
    return h('section', { class: 'card', 'aria-labelledby': 'here', key: 'here' }, h('h2', { id: 'here' }, t('here')),
        able ? form({
            submit: choose, more: here && h('button', { type: 'button', onclick: test }, t('test')),
        }, lost ? h('p', { class: 'note', role: 'status' }, t('lost')) : h('p', { class: 'quiet' }, t('here_lead')),
        refusal(here) && h('p', { class: 'note bad', role: 'status', key: 'refusal' }, refusal(here)), ...boxes(KINDS, 'push', here?.notices ?? []))
            : h('p', { class: 'note' }, t('unable')));
}

// ---- do not disturb ----

async function rest(/** @type {Quiet} */ hours) {
    quiet = await call('PUT', '/v1/person/quiet_hours', hours);
    toast(t(hours.from ? 'saved' : 'quiet_ended'));
    draw();
}

/** @param {Quiet} hours */
function quietCard({ from, until }) {
    return h('section', { class: 'card', 'aria-labelledby': 'quiet', key: 'quiet' }, h('h2', { id: 'quiet', tabindex: -1 }, t('quiet')),
        form({
            submit: (values) => rest({ from: values.from, until: values.until }),
            more: from && h('button', { type: 'button', onclick: () => rest({ from: null, until: null }).catch(tellError) }, t('quiet_end')),
        }, h('p', { class: 'quiet' }, t('quiet_lead')),
        h('div', { class: 'fields' }, field({ name: 'from', label: t('quiet_from'), type: 'time', required: true, value: from ?? '22:00' }),
            field({ name: 'until', label: t('quiet_to'), type: 'time', required: true, value: until ?? '07:00' }))));
}

// ---- by e-mail, and elsewhere ----

async function mail(/** @type {Record<string, string>} */ values) {
    notices = await call('PUT', `${path}/email`, { notices: chosenOf(BY_MAIL, 'mail', values) });
    toast(t('saved'));
    draw();
}

function mailCard() {
    return h('section', { class: 'card', 'aria-labelledby': 'mail', key: 'mail' }, h('h2', { id: 'mail' }, t('mail')),
        form({ submit: mail }, h('p', { class: 'quiet' }, t(has('/building') ? 'mail_lead' : 'mail_lead_member', { email: data.account.email })), ...boxes(BY_MAIL, 'mail', notices.email)));
}

function othersCard() {
    const others = notices.browsers.filter((one) => !one.current);
    return others.length > 0 && h('section', { class: 'card', 'aria-labelledby': 'others', key: 'others' }, h('h2', { id: 'others' }, t('others')),
        h('ul', { class: 'rows' }, others.map((one) => h('li', { key: one.id }, h('div', null,
            h('b', null, [one.browser, one.system].filter(Boolean).join(' · ') || t('unknown')),
            h('span', { class: 'small quiet' }, KINDS.filter(([name]) => one.notices.includes(name)).map(([, text]) => text).join(' · '), ' · ', date(one.since)),
            refusal(one) && h('span', { class: 'small' }, refusal(one)))))),
        h('p', { class: 'small quiet' }, t('others_hint')));
}

function draw() {
    patch(at('page'), h('div', { class: 'columns' }, h('div', { class: 'column' }, browserCard(), quiet && quietCard(quiet)), h('div', { class: 'column' }, mailCard(), othersCard())));
}

at('place-lead').textContent = t('lead', { building: building.label });
draw();
renew().catch(tellError);
