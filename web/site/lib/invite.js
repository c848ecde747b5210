// Letting somebody in with a pass, for one of its purposes.
// texts: invite. grant. pass. setup.
import { dialog } from './dialog.js';
import { create, shareSheet } from './grant_sheets.js';
import { t } from './texts.js';
import { h, icon } from './view.js';

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
