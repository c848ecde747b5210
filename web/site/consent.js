// An assistant asks for access: the resident allows some of it, or refuses.
// texts: scope. agents.title
import { CallError, call } from './lib/call.js';
import { check, form } from './lib/form.js';
import { mark } from './lib/marks.js';
import { at, data } from './lib/page.js';
import { SCOPES } from './lib/scopes.js';
import { errorText, t } from './lib/texts.js';
import { h, patch } from './lib/view.js';

/**
 * @typedef {import('./contract.js').Schemas['AuthorizationRequest']} Asked
 */

/** The request as this page was opened with it: its data can be read again, but this stays. @type {Asked} */
let asked = data.request;
let leaving = false;

// The choice of a building would lose the request, and makes no difference to it.
at('where').remove();

/** @param {boolean} allow @param {string[]} [scopes] */
async function decide(allow, scopes) {
    const { redirect_to: to } = await call('POST', '/v1/oauth/decision', { request: location.search.slice(1), allow, scopes, voucher: asked.voucher ?? undefined });
    leaving = true;
    draw();
    location.replace(to);
}

/** @param {Record<string, string>} values */
async function submit(values) {
    const scopes = asked.scopes.filter((scope) => values[scope]);
    at('refused').textContent = scopes.length === 0 ? t('least') : '';
    if (scopes.length > 0) await decide(true, scopes);
}

/** @param {Event} event */
async function refuse(event) {
    const button = /** @type {HTMLButtonElement} */ (event.currentTarget);
    button.disabled = true;
    try {
        await decide(false);
    } catch (error) {
        button.disabled = false;
        if (!(error instanceof CallError)) throw error;
        at('refused').textContent = errorText(error.code);
    }
}

function facts() {
    const names = data.buildings.data.map((one) => one.label).join(', ');
    return h('dl', { class: 'facts' },
        asked.client_host !== null && [h('dt', null, t('by')), h('dd', null, h('b', null, asked.client_host))],
        h('dt', null, t('account')), h('dd', null, data.account.email),
        h('dt', null, t('reach')), h('dd', null, t('buildings', { names })),
        h('dt', null, t('then')), h('dd', null, h('b', null, asked.this_device ? `${t('this_device')} (${asked.host})` : asked.host)));
}

function question() {
    return h('section', { class: 'card stack', 'aria-labelledby': 'ask', key: 'ask' }, h('h1', { id: 'ask' }, t('ask', { client: `${asked.client}` })),
        h('p', { class: 'note' }, asked.client_host === null ? t('chosen') : t('vouched', { host: asked.client_host }),
            asked.this_device && ` ${t('local')}`, asked.this_device && asked.client_host !== null && ` ${t('impostor', { host: asked.client_host })}`),
        facts(),
        form({
            button: t('allow'), submit,
            more: h('button', { type: 'button', onclick: refuse }, t('refuse')),
        },
        h('fieldset', { class: 'boxes', key: 'scopes' }, h('legend', null, t('may')),
            SCOPES.filter(([scope]) => asked.scopes.includes(scope)).map(([scope, text]) => check({ name: scope, label: text, checked: true }))),
        h('p', { class: 'small quiet' }, t('leave', { page: t('agents.title') }))),
        h('p', { class: 'note bad', id: 'refused', role: 'alert' }));
}

/** The reason why there is nothing to decide. No browser is sent anywhere without a press: anybody can register an address. */
function mistake() {
    const why = asked.reason !== null ? t('unreadable', { host: `${asked.client_host}` }) : asked.client === null ? t('unknown') : asked.host === null ? t('elsewhere') : t('mistake');
    return h('section', { class: 'card blank', 'aria-labelledby': 'bad', key: 'bad' }, mark('key'), h('h1', { id: 'bad' }, t('bad')),
        h('p', { class: 'quiet' }, why,
            (asked.host ?? asked.reason) !== null && h('span', { class: 'small' }, ` (${asked.reason ?? asked.error})`)),
        asked.back !== null && h('p', null, h('a', { class: 'button', href: asked.back, rel: 'noreferrer' }, t('back', { host: `${asked.host}` }))));
}

/** @param {string} text */
function waiting(text) {
    return h('section', { class: 'card blank', key: 'going' }, h('p', { role: 'status' }, text));
}

function draw() {
    patch(at('page'), leaving ? waiting(t('going')) : asked.unread ? waiting(t('reading', { host: `${asked.client_host}` }))
        : asked.error === null ? question() : mistake());
}

/** The service reads the assistant's document at its address: not before the page is there, because that may take seconds. */
async function read() {
    try {
        asked = await call('POST', '/v1/oauth/client', { request: location.search.slice(1) });
        draw();
    } catch (error) {
        if (!(error instanceof CallError)) throw error;
        patch(at('page'), h('p', { class: 'note bad', role: 'alert', key: 'failed' }, errorText(error.code)));
    }
}

draw();
if (asked.unread) read();
