// The account: the phone that rings, the browsers that are signed in, and what is kept of the person.
// texts: person.
import { CallError, call } from './lib/call.js';
import { confirm, toast } from './lib/dialog.js';
import { codeField, field, form } from './lib/form.js';
import { forget } from './lib/keep.js';
import { mark } from './lib/marks.js';
import { at, building, data, has, tellError } from './lib/page.js';
import { personCard } from './lib/person.js';
import { e164, phoneText } from './lib/phone.js';
import { t } from './lib/texts.js';
import { date, exactly, when } from './lib/time.js';
import { h, patch } from './lib/view.js';

/**
 * @typedef {import('./contract.js').Schemas['Browser']} Browser
 * @typedef {import('./contract.js').Schemas['PhoneStatus']} Phone
 */

/** @type {Phone} null for a manager of codes, who answers no calls */ let phone = data.phone;
/** @type {Browser[]} */ let browsers = data.browsers.data;
let { subscription, virtual_number: number } = data.account;
/** The account's end and its copy are the owner's. */
const owner = has('/building');
/** Another phone is entered in place of the one that is shown. */
let changing = false;

// ---- the return from the checkout ----

const end = new URLSearchParams(location.search).get('checkout');
const WAIT_MS = 2_000;
let tries = end === 'success' ? 15 : 0;

/** A payment that has just arrived becomes a subscription, and that a number, soon. */
function wait() {
    if (tries <= 0 || (subscription.status !== 'none' && number)) return;
    tries -= 1;
    setTimeout(async () => {
        ({ subscription, virtual_number: number } = await call('GET', '/v1/account').catch(() => ({ subscription, virtual_number: number })));
        draw();
        wait();
    }, WAIT_MS);
}

function returned() {
    if (end === 'cancel' && subscription.status === 'none') return h('p', { class: 'note', role: 'status', key: 'returned' }, t('cancelled'), ' ', h('a', { href: '/billing' }, t('cancelled_link')));
    if (end !== 'success') return false;
    if (subscription.status === 'none') return h('p', { class: 'note', role: 'status', key: 'returned' }, t('paying'));
    return h('p', { class: 'note good', role: 'status', key: 'returned' }, number ? t('paid_number', { number: phoneText(number) }) : t('paid'), ' ', h('a', { href: '/' }, t('paid_link')));
}

// ---- the phone ----

async function rereadPhone() {
    phone = await call('GET', '/v1/person/phone');
}

/** A member's phone rings no more. */
async function giveUp() {
    phone = await call('DELETE', '/v1/person/phone');
    changing = false;
    toast(t('phone_given_up'));
    draw();
    document.getElementById('phone')?.focus();
}

/** @param {string} to */
async function send(to) {
    await call('POST', '/v1/person/phone/verification', { phone_number: to });
    await rereadPhone();
    changing = false;
    draw();
}

function enterPhone() {
    return form({
        key: 'number', class: 'stack', button: t('send'), errors: { INVALID_PHONE_NUMBER: 'phone_number', PHONE_IN_USE: 'phone_number', ALREADY_VERIFIED: 'phone_number' },
        submit: (values) => send(e164(values.phone_number)),
        more: (phone.verified || phone.pending) && h('button', { class: 'plain', type: 'button', onclick: () => { changing = false; draw(); } }, t('back')),
    }, field({ name: 'phone_number', label: t('phone_number'), hint: t('phone_hint'), type: 'tel', autocomplete: 'tel', inputmode: 'tel', required: true, maxlength: 40 }),
    h('p', { class: 'small quiet' }, t('send_hint')));
}

/** @param {NonNullable<Phone['pending']>} pending */
function enterCode(pending) {
    const again = async () => {
        try {
            await send(pending.phone_number);
            toast(t('sent_again'));
        } catch (error) {
            tellError(error);
        }
    };
    const buttons = [h('button', { class: 'plain', type: 'button', onclick: again }, t('again')),
        h('button', { class: 'plain', type: 'button', onclick: () => { changing = true; draw(); } }, t('other'))];
    if (pending.attempts_left === 0) return h('div', { class: 'stack', key: 'spent' }, h('p', { class: 'note bad' }, t('spent')), h('div', { class: 'actions' }, buttons));
    return form({
        key: 'code', class: 'stack', button: t('confirm'), errors: { INVALID_PHONE_CODE: 'code', PHONE_CODE_EXPIRED: 'code', PHONE_CODE_ATTEMPTS: 'code' },
        submit: async ({ code }) => {
            phone = await call('POST', '/v1/person/phone/confirmation', { code: code.replace(/\D/g, '') });
            toast(t('confirmed'));
            draw();
            document.getElementById('phone')?.focus();
        },
        more: h('div', { class: 'actions' }, buttons),
    }, h('p', { role: 'status' }, t('sent', { number: phoneText(pending.phone_number), when: when(pending.expires_at) })),
    codeField('code', t('code'), { ref: undefined }));
}

function phonePart() {
    if (changing) return enterPhone();
    if (phone.pending) return enterCode(phone.pending);
    if (phone.verified) return false;
    if (!owner || (subscription.status === 'active' && number)) return enterPhone();
    return h('p', { class: 'quiet', key: 'later' }, t('phone_later'), ' ', subscription.status === 'none' && h('a', { href: '/billing' }, t('phone_later_link')));
}

function phoneCard() {
    const may = (!owner || subscription.status === 'active') && !changing && !phone.pending;
    return h('section', { class: 'card', 'aria-labelledby': 'phone', key: 'phone' },
        h('h2', { id: 'phone', tabindex: '-1' }, t('phone')), h('p', { class: 'quiet' }, t(owner ? 'phone_lead' : 'phone_member_lead', { building: building.label })),
        phone.verified && h('ul', { class: 'rows' }, h('li', null, mark('handset', 'good'),
            h('div', null, h('b', { class: 'num' }, phoneText(phone.phone_number ?? '')), h('span', { class: 'small quiet' }, phone.verified_at ? t('verified_at', { when: date(phone.verified_at) }) : t('verified'))),
            h('div', { class: 'actions' }, may && h('button', { type: 'button', onclick: () => { changing = true; draw(); document.getElementById('f-phone_number')?.focus(); } }, t('change')),
                !owner && h('button', { class: 'danger', type: 'button', onclick: () => giveUp().catch(tellError) }, t('phone_give_up'))))),
        phonePart());
}

// ---- the browsers ----

/** @param {Browser} one */
const nameOf = (one) => (one.browser && one.system ? t('on', { browser: one.browser, system: one.system }) : one.browser ?? one.system ?? t('unknown'));

/** @param {Browser} one */
async function signOut(one) {
    try {
        await call('DELETE', `/v1/browsers/${one.id}`);
    } catch (error) {
        if (!(error instanceof CallError) || error.status !== 404) return tellError(error);
    }
    browsers = browsers.filter((other) => other !== one);
    toast(t('signed_out', { browser: nameOf(one) }));
    draw();
    document.getElementById('browsers')?.focus();
}

async function signOutEverywhere() {
    if (!await confirm(t('everywhere_title'), t('everywhere_text'), t('everywhere'))) return;
    try {
        await call('DELETE', '/v1/browsers');
    } catch (error) {
        return tellError(error);
    }
    await forget();
    location.replace('/');
}

/** @param {Browser} one */
function browserRow(one) {
    const touched = ['Android', 'iOS', 'iPadOS', 'iPhone', 'iPad'].includes(one.system ?? '');
    return h('li', { key: one.id }, mark(touched ? 'handset' : 'screen', one.current ? 'good' : ''), h('div', null,
        h('b', null, nameOf(one), one.current && h('span', { class: 'badge' }, t('this'))),
        h('span', { class: 'small quiet' }, h('time', { datetime: one.last_used_at, title: exactly(one.last_used_at) }, t('last_used', { when: when(one.last_used_at) })), ' · ', t('since', { when: when(one.signed_in_at) }),
            one.remembered && ` · ${t('remembered')}`)),
    !one.current && h('button', { class: 'danger', type: 'button', 'aria-label': t('sign_out_what', { browser: nameOf(one), when: when(one.signed_in_at) }), onclick: () => signOut(one) }, t('sign_out')));
}

function browserCard() {
    return h('section', { class: 'card', 'aria-labelledby': 'browsers', key: 'browsers' },
        h('h2', { id: 'browsers', tabindex: '-1' }, t('browsers')), h('ul', { class: 'rows' }, browsers.map(browserRow)),
        h('div', { class: 'actions' }, h('button', { class: 'danger', type: 'button', onclick: signOutEverywhere }, t('everywhere')), h('span', { class: 'small quiet' }, t('everywhere_hint'))));
}

// ---- the rest ----

function person() {
    const { email, created_at: since } = data.account;
    return h('section', { class: 'card who', 'aria-labelledby': 'who', key: 'who' }, h('span', { class: 'initial', 'aria-hidden': 'true' }, email.slice(0, 1).toUpperCase()),
        h('div', null, h('h2', { id: 'who', class: 'email' }, email), h('p', { class: 'small quiet' }, t('member', { when: date(since) }), ' ', t('email_hint'))));
}

function links() {
    /** @type {[string, string, string, string][]} */
    const all = [['card', '/billing', t('billing'), { none: t('no_plan'), active: t('plan_active'), past_due: t('plan_late') }[subscription.status] ?? ''],
        ['door', '/buildings', t('buildings'), t('buildings_hint', { count: data.buildings.data.length })],
        ['key', '/agents', t('agents'), t('agents_hint')], ['hook', '/webhooks', t('webhooks'), t('webhooks_hint')]];
    const ways = all.filter(([, href]) => has(href));
    return ways.length > 0 && h('nav', { class: 'card', 'aria-label': t('more'), key: 'links' }, h('ul', { class: 'rows ways' }, ways.map(([name, href, title, hint]) => h('li', { key: href },
        h('a', { href }, mark(name), h('span', null, h('b', null, title), h('span', { class: 'small quiet' }, hint)), h('svg', { 'aria-hidden': 'true' }, h('use', { href: '#i-down' })))))));
}

function draw() {
    const came = returned();
    patch(at('page'), [came, h('div', { class: 'columns', key: 'columns' },
        h('div', { class: 'column' }, person(), phone && phoneCard(), browserCard()),
        h('div', { class: 'column' }, links(), owner && personCard(draw)))]);
}

draw();
wait();
