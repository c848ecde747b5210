// What is kept of a person: all of it as a file, and its end with the account.
// texts: person.
import { call, whenSignedOut } from './call.js';
import { data } from './data.js';
import { dialog, toast } from './dialog.js';
import { field, form } from './form.js';
import { forget } from './keep.js';
import { tellError } from './page.js';
import { save } from './save.js';
import { t } from './texts.js';
import { h } from './view.js';

// ---- the file ----

/** Bytes that are read so far; undefined while nothing is read. @type {number | undefined} */
let read;

/** Reads the document part by part (src/privacy/personal_document.h), as large as it is. @param {() => void} draw */
async function saveAll(draw) {
    if (read !== undefined) return;
    read = 0;
    draw();
    try {
        /** @type {string[]} */
        const parts = [];
        for (let cursor = /** @type {string | null} */ (''); cursor !== null;) {
            const part = await call('GET', `/v1/account/export${cursor && `?cursor=${encodeURIComponent(cursor)}`}`);
            parts.push(part.text);
            read += part.text.length;
            ({ cursor } = part.pagination);
            draw();
        }
        save(parts, 'application/json', 'portero-account', 'json');
        toast(t('person.saved'));
    } catch (error) {
        tellError(error);
    } finally {
        read = undefined;
        draw();
    }
}

// ---- the end ----

/** Everything here has ended with the account: nothing of it stays in the browser. */
async function leave() {
    whenSignedOut(async () => false);
    await forget();
    document.cookie = '__Host-building=; Path=/; Secure; SameSite=Lax; Max-Age=0';
    sessionStorage.setItem('deleted', '1'); // for sign_in.js
    location.replace('/');
}

function end() {
    const { email } = data.account;
    let challenge = '';
    const losses = [t('person.lose_doors'), t('person.lose_plan'), t('person.lose_data')];
    dialog(t('person.delete_title'), (close, draw) => {
        const stay = h('button', { class: 'plain', type: 'button', onclick: () => close() }, t('person.stay'));
        const send = async () => {
            ({ challenge } = await call('POST', '/v1/auth/otp', { email }));
            draw();
        };
        return [
            h('p', null, t('person.delete_lead')), h('ul', { class: 'losses' }, losses.map((one) => h('li', { key: one }, one))),
            challenge ? form({
                key: 'code', class: 'stack', kind: 'danger', button: t('person.delete_now'), errors: { INVALID_OTP: 'otp' }, more: stay,
                submit: async ({ otp }) => {
                    await call('POST', '/v1/account/deletion', { challenge, otp: otp.replace(/\D/g, '') });
                    await leave();
                },
            }, h('p', { class: 'quiet', role: 'status' }, t('session.sent', { email })),
            field({ name: 'otp', label: t('session.code'), class: 'digits', autocomplete: 'one-time-code', inputmode: 'numeric', pattern: '[0-9 ]{6,}', required: true,
                ref: (/** @type {HTMLElement} */ input) => queueMicrotask(() => input.focus()) }))
                : form({ key: 'send', class: 'stack', button: t('session.send', { email }), submit: send, more: stay }, h('p', { class: 'small quiet' }, t('person.delete_code'))),
        ];
    });
}

// ---- the card ----

/** @param {number} bytes */
const size = (bytes) => new Intl.NumberFormat(document.documentElement.lang, { style: 'unit', unit: 'kilobyte', maximumFractionDigits: 0 }).format(bytes / 1000);

/** @param {() => void} draw draws the page that has the card */
export function personCard(draw) {
    return h('section', { class: 'card stack', 'aria-labelledby': 'yours', key: 'yours' }, h('h2', { id: 'yours' }, t('person.title')),
        h('p', { class: 'quiet' }, t('person.export_hint')),
        h('div', { class: 'actions' }, h('button', { type: 'button', 'aria-busy': read !== undefined && 'true', onclick: () => saveAll(draw) }, t('person.export')),
            h('span', { class: 'small quiet num', role: 'status' }, read === undefined ? '' : t('person.read', { size: size(read) }))),
        h('p', { class: 'quiet' }, t('person.delete_hint')),
        h('div', { class: 'actions' }, h('button', { class: 'danger', type: 'button', onclick: end }, t('person.delete'))));
}
