// Keys for programs: make one, try it, revoke it.
// texts: scope.
import { CallError, call } from './lib/call.js';
import { dialog, toast } from './lib/dialog.js';
import { check, field, form } from './lib/form.js';
import { mark } from './lib/marks.js';
import { at, data, tellError } from './lib/page.js';
import { EARLIER_SCOPES, SCOPES } from './lib/scopes.js';
import { copied, secretCard } from './lib/secret.js';
import { t } from './lib/texts.js';
import { exactly, now, when } from './lib/time.js';
import { h, patch } from './lib/view.js';

/** @typedef {import('./contract.js').Schemas['Key']} Key */

/** The scopes that are chosen at first. */
const FIRST = 4;
const own = SCOPES.filter(([scope]) => data.account.capabilities.scopes.some((one) => one === scope || one === 'owner'));

/** @type {Key[]} */
let keys = data.keys.data.filter((key) => key.type === 'agent');
/** @type {{id: string, name: string, text: string} | undefined} */
let fresh;

const over = (/** @type {Key} */ key) => key.expires_at ? Date.parse(key.expires_at) <= now() : false;
const names = (/** @type {string[]} */ scopes) => [...SCOPES, ...EARLIER_SCOPES].filter(([scope]) => scopes.includes(scope)).map(([, text]) => text);

async function reread() {
    keys = (await call('GET', '/v1/auth/keys')).data.filter((key) => key.type === 'agent');
    draw();
}

/** @param {Record<string, string>} values */
async function make(values) {
    const scopes = own.map(([scope]) => scope).filter((scope) => values[scope]);
    const name = values.name.trim();
    if (scopes.length === 0 || !name) throw new CallError(400, 'INVALID_KEY_OPTIONS');
    try {
        const made = await call('POST', '/v1/auth/keys', { name, scopes, expires_in_days: Number(values.days) });
        fresh = { id: made.id, name, text: made.api_key };
        keys = [{ id: made.id, name, scopes: made.scopes, expires_at: made.expires_at, last_used_at: null, type: 'agent', current: false }, ...keys];
        draw();
    } catch (error) {
        // An answer that was lost may have made a key, which nobody can read again.
        if (error instanceof CallError && (error.status === 0 || error.status >= 500)) reread().catch(() => {});
        throw error;
    }
}

function ask() {
    return dialog(t('new'), (close) => [form({
        button: t('make'),
        submit: async (values) => {
            await make(values);
            close();
        },
    },
    field({ name: 'name', label: t('name'), hint: t('name_hint'), required: true, maxlength: 120, autocomplete: 'off' }),
    field({ name: 'days', label: t('expires'), options: [['7', t('week')], ['30', t('month')], ['90', t('quarter')]], value: '30' }),
    h('fieldset', { class: 'boxes', key: 'scopes' }, h('legend', null, t('may')),
        own.map(([scope, text], i) => check({ name: scope, label: text, checked: i < FIRST }))),
    h('p', { class: 'small quiet' }, t('reach')))]);
}

/**
 * Whether to revoke keys, and with them what they made: the query of the call, or undefined.
 * @param {string} title @param {string} text @param {string} revokes @param {string} ends
 */
const askRevoke = (title, text, revokes, ends) => dialog(title, (close) => [
    h('p', null, text),
    h('div', { class: 'actions' },
        h('button', { class: 'danger', type: 'button', onclick: () => close('') }, revokes),
        h('button', { class: 'danger', type: 'button', onclick: () => close('?end_grants=true') }, ends),
        h('button', { class: 'plain', type: 'button', onclick: () => close() }, t('page.cancel'))),
]);

/** @param {Key} key */
async function revoke(key) {
    const query = await askRevoke(t('revoke_title', { name: key.name }), t('revoke_text'), t('revoke'), t('revoke_end'));
    if (query === undefined) return;
    let text = t('revoked', { name: key.name });
    try {
        const done = await call('DELETE', `/v1/auth/keys/${key.id}${query}`);
        if (done.grants_ended) text = t('revoked_ended', { name: key.name, count: done.grants_ended });
        if (done.grants_left) text = t('revoked_left', { name: key.name, count: done.grants_left });
    } catch (error) {
        if (!(error instanceof CallError) || error.status !== 404) return tellError(error);
    }
    keys = keys.filter((one) => one.id !== key.id);
    if (fresh?.id === key.id) fresh = undefined;
    toast(text);
    draw();
    document.getElementById('keys')?.focus();
}

async function revokeAll() {
    const query = await askRevoke(t('leak_title'), t('leak_text'), t('leak_do'), t('leak_end'));
    if (query === undefined) return;
    let text = t('leak_done');
    try {
        const done = await call('POST', `/v1/auth/keys/revoke-others${query}`);
        if (done.grants_ended) text = t('leak_ended', { count: done.grants_ended });
        if (done.grants_left) text = t('leak_left', { count: done.grants_left });
    } catch (error) {
        return tellError(error);
    }
    keys = [];
    fresh = undefined;
    toast(text);
    draw();
    document.getElementById('keys')?.focus();
}

/** A command that shows that a key works. @param {string} key */
const curl = (key) => `curl -H 'Authorization: Bearer ${key}' ${location.origin}/v1/account`;
const prompt = () => t('prompt', { url: `${location.origin}/docs/agents` });

function newKey() {
    return fresh && secretCard({
        title: t('made', { name: fresh.name }), lead: t('once'), key: fresh.id,
        stored: () => {
            fresh = undefined;
            draw();
            document.getElementById('keys')?.focus();
        },
    }, copied(t('key'), fresh.text), copied(t('try'), curl(fresh.text)));
}

/** @param {Key} key */
function row(key) {
    const ended = over(key);
    return h('li', { key: key.id }, mark('key', ended ? '' : 'good'), h('div', null,
        h('b', null, key.name),
        h('span', { class: 'small quiet' }, key.last_used_at ? t('used', { when: when(key.last_used_at) }) : t('unused'), ' · ',
            key.expires_at ? h('time', { datetime: key.expires_at, title: exactly(key.expires_at) }, t(ended ? 'ended' : 'until', { when: when(key.expires_at) })) : t('endless')),
        h('details', { class: 'fold' }, h('summary', null, t('may_count', { count: key.scopes?.length ?? 0 })),
            h('ul', { class: 'small' }, names(key.scopes ?? []).map((text) => h('li', { key: text }, text))))),
    h('button', { class: 'danger', type: 'button', 'aria-label': t('revoke_what', { name: key.name }), onclick: () => revoke(key) }, t('revoke')));
}

function list() {
    return h('section', { class: 'card', 'aria-labelledby': 'keys', key: 'list' },
        h('div', { class: 'head' }, h('h2', { id: 'keys', tabindex: '-1' }, t('keys')),
            keys.length > 0 && h('button', { class: 'primary', type: 'button', onclick: ask }, t('new'))),
        keys.length > 0 ? h('ul', { class: 'rows' }, keys.map(row))
            : h('div', { class: 'blank' }, mark('key'), h('b', null, t('none')), h('p', { class: 'quiet' }, t('none_lead')),
                h('button', { class: 'primary', type: 'button', onclick: ask }, t('new'))));
}

function draw() {
    patch(at('page'), h('div', { class: 'columns' },
        h('div', { class: 'column' }, newKey(), list()),
        h('div', { class: 'column' },
            h('section', { class: 'card stack', 'aria-labelledby': 'use' }, h('h2', { id: 'use' }, t('use')), h('p', null, t('use_lead')),
                copied(t('tell'), prompt()), copied(t('try'), curl('…')),
                h('p', { class: 'links' }, h('a', { href: '/docs/agents' }, t('guide')), h('a', { href: '/openapi.json' }, 'OpenAPI'))),
            h('section', { class: 'card stack', 'aria-labelledby': 'leak' }, h('h2', { id: 'leak' }, t('leak')), h('p', null, t('leak_lead')),
                h('div', { class: 'actions' }, h('button', { class: 'danger', type: 'button', onclick: revokeAll }, t('leak_do')))))));
}

draw();
