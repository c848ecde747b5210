// Letting somebody in: whoever buzzes next, or with a pass.
// texts: invite. grant. pass. setup.
import { call } from './call.js';
import { dialog, toast } from './dialog.js';
import { field, form } from './form.js';
import { create, shareSheet } from './grant_sheets.js';
import { missingNote, shut } from './missing.js';
import { t } from './texts.js';
import { length, when } from './time.js';
import { h, icon } from './view.js';

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
    return await dialog(uses === 1 ? t('invite.next') : t('invite.open'), (close, draw) => [
        missingNote(draw),
        h('p', { class: 'quiet' }, uses === 1 ? t('invite.next_lead') : t('invite.open_lead')),
        form({
            button: t('invite.let_in'),
            submit: async (values, once) => {
                const body = { type: 'timer', label: values.label.trim() || t('invite.visitor'), expires_in_minutes: Number(values.minutes), remaining_uses: uses };
                const { id, ends_at } = await call('POST', '/v1/unlock', body, { once });
                if (!shut()) toast(t('invite.until', { time: when(/** @type {string} */ (ends_at)) }), id);
                close(true);
            },
        }, lengths('minutes', minutes, minutes[0]),
        field({ name: 'label', label: t('invite.name'), hint: t('invite.name_hint'), value: label, maxlength: 100, autocomplete: 'off' })),
    ]) === true;
}

/**
 * Makes a pass, and offers it to be shared.
 * @param {string} purpose as of `create`
 * @returns {Promise<boolean>} true if it was made
 */
export async function letIn(purpose) {
    const made = await create(purpose);
    if (made) await shareSheet(made, made.codes_left);
    return Boolean(made);
}

/** Asks for whom the door should open. @returns {Promise<boolean>} true if something was made */
export async function expect() {
    /** @type {string | undefined} */
    const chosen = await dialog(t('invite.expect'), (/** @type {(value?: string) => void} */ close) => [
        h('ul', { class: 'rows choices' },
            choice('passcode', t('invite.guest'), t('invite.guest_hint'), () => close('guest')),
            choice('door', t('invite.parcel'), t('invite.parcel_hint'), () => close('parcel')),
            choice('routine', t('invite.weekly'), t('invite.weekly_hint'), () => close('cleaner')),
            choice('timer', t('invite.party'), t('invite.party_hint'), () => close('party'))),
    ]);
    return chosen ? letIn(chosen) : false;
}

/** @param {string} name @param {string} title @param {string} hint @param {() => void} onclick */
function choice(name, title, hint, onclick) {
    return h('li', null, h('button', { type: 'button', onclick }, icon(name), h('div', null, h('b', null, title), h('span', { class: 'small quiet' }, hint))));
}
