// Letting somebody in: for a while, or with a code; and the code to show and send.
// texts: invite.
import { call } from './call.js';
import { building, data } from './data.js';
import { dialog, toast } from './dialog.js';
import { field, form } from './form.js';
import { copy, share } from './share.js';
import { t } from './texts.js';
import { length, when } from './time.js';
import { h, icon } from './view.js';

/** @typedef {{id: string, type: string, label: string, version: number, ends_at?: string | null, starts_at?: string, access_code?: string, remaining_uses?: number | null, end?: string}} Grant */

/** The choices of a length, in minutes. @param {string} name @param {number[]} minutes @param {number} chosen */
function lengths(name, minutes, chosen) {
    return h('fieldset', { class: 'chips', key: name }, h('legend', null, t('invite.how_long')), minutes.map((one) => h('label', { key: one },
        h('input', { type: 'radio', name, value: String(one), checked: one === chosen }), h('span', null, length(one * 60_000)))));
}

/**
 * Opens the door for whoever buzzes next.
 * @param {{label?: string, minutes?: number[], uses?: number | null}} [purpose]
 * @returns {Promise<boolean>} true if it was made
 */
export async function openFor({ label = '', minutes = [15, 60, 180], uses = 1 } = {}) {
    return await dialog(uses === 1 ? t('invite.next') : t('invite.open'), (close) => [
        h('p', { class: 'quiet' }, uses === 1 ? t('invite.next_lead') : t('invite.open_lead')),
        form({
            button: t('invite.let_in'),
            submit: async (values, once) => {
                const body = { type: 'timer', label: values.label.trim() || t('invite.visitor'), expires_in_minutes: Number(values.minutes), remaining_uses: uses };
                const { ends_at } = await call('POST', '/v1/unlock', body, { once });
                toast(t('invite.until', { time: when(ends_at) }));
                close(true);
            },
        }, lengths('minutes', minutes, minutes[0]),
        field({ name: 'label', label: t('invite.name'), hint: t('invite.name_hint'), value: label, maxlength: 100, autocomplete: 'off' })),
    ]) === true;
}

/**
 * Makes a code and shows it.
 * @param {{label?: string, minutes?: number}} [purpose]
 * @returns {Promise<boolean>} true if it was made
 */
export async function makeCode({ label = '', minutes = 1_440 } = {}) {
    /** @type {Grant | undefined} */
    const made = await dialog(t('invite.code'), (/** @type {(value?: Grant) => void} */ close) => [
        h('p', { class: 'quiet' }, t('invite.code_lead')),
        form({
            button: t('invite.make'),
            submit: async (values, once) => close(await call('POST', '/v1/unlock',
                { type: 'passcode', label: values.label.trim() || t('invite.visitor'), expires_in_minutes: Number(values.minutes) }, { once })),
        }, field({ name: 'label', label: t('invite.name'), hint: t('invite.name_hint'), value: label, maxlength: 100, autocomplete: 'off' }),
        lengths('minutes', [180, 1_440, 4_320, 10_080], minutes)),
    ]);
    if (made) await showCode(made);
    return Boolean(made);
}

/** How to use a code, to send to its visitor. @param {Grant} grant */
function letter(grant) {
    const until = grant.ends_at ? t('invite.letter_until', { time: when(grant.ends_at) }) : '';
    return [t('invite.letter', { building: building.label }), t('invite.letter_code', { code: grant.access_code ?? '' }), until].filter(Boolean).join('\n');
}

/** @param {Grant} grant */
export const shareCode = (grant) => share({ title: building.label, text: letter(grant) });

/** Shows a code in large figures. @param {Grant} grant */
export async function showCode(grant) {
    await dialog(grant.label, () => [
        h('p', { class: 'large-code' }, grant.access_code ?? ''),
        h('p', { class: 'quiet centered' }, grant.ends_at ? t('invite.valid', { time: when(grant.ends_at) }) : t('invite.no_end')),
        !data.setup?.virtual_number && h('p', { class: 'note' }, t('invite.not_connected')),
        h('div', { class: 'actions centered' },
            h('button', { class: 'primary', type: 'button', onclick: () => shareCode(grant) }, icon('share'), t('invite.share')),
            h('button', { type: 'button', onclick: () => copy(letter(grant)) }, t('page.copy'))),
    ]);
}

/** Asks for whom the door should open. @returns {Promise<boolean>} true if something was made */
export async function expect() {
    /** @type {(() => Promise<boolean>) | undefined} */
    const chosen = await dialog(t('invite.expect'), (/** @type {(value?: () => Promise<boolean>) => void} */ close) => [
        h('ul', { class: 'rows choices' },
            choice('door', t('invite.parcel'), t('invite.parcel_hint'), () => close(() => openFor({ label: t('invite.parcel'), minutes: [180, 360, 720], uses: null }))),
            choice('passcode', t('invite.guest'), t('invite.guest_hint'), () => close(() => makeCode({ minutes: 4_320 }))),
            h('li', null, h('a', { href: '/access?new=routine' }, icon('routine'), h('div', null, h('b', null, t('invite.weekly')), h('span', { class: 'small quiet' }, t('invite.weekly_hint')))))),
    ]);
    return chosen ? chosen() : false;
}

/** @param {string} name @param {string} title @param {string} hint @param {() => void} onclick */
function choice(name, title, hint, onclick) {
    return h('li', null, h('button', { type: 'button', onclick }, icon(name), h('div', null, h('b', null, title), h('span', { class: 'small quiet' }, hint))));
}
