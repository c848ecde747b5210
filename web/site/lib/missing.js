// The parts that the door lacks until grants open it, in sentences, with the buttons that mend it.
// texts: setup.
import { data, has } from './data.js';
import { refresh, tellError } from './page.js';
import { phoneText } from './phone.js';
import { choosePlan, setTone } from './setup.js';
import { t } from './texts.js';
import { h } from './view.js';

/** @typedef {'subscription' | 'number' | 'unlock_tone' | 'call_box'} Part */

/** @returns {Part[]} */
const missing = () => (data.setup?.missing ?? []).map((/** @type {{code: Part}} */ one) => one.code);

/** @param {Part} part */
export const lacks = (part) => missing().includes(part);

/** Does no grant open the door? Through a call box that was not tried yet, they may. */
export const shut = () => missing().some((part) => part !== 'call_box');

/** A note of all that is missing. @param {() => void} draw shows its place again */
export function missingNote(draw) {
    const mend = (/** @type {() => Promise<boolean>} */ ask) => async () => {
        try {
            if (await ask() && await refresh()) draw();
        } catch (error) {
            tellError(error);
        }
    };
    const button = (/** @type {string} */ text, /** @type {() => Promise<boolean>} */ ask) => h('button', { type: 'button', onclick: mend(ask) }, text);
    const number = data.setup?.virtual_number;
    const lines = {
        subscription: () => [t('setup.lacks_subscription'), has('/billing') && button(t('setup.plan'), choosePlan)],
        number: () => [t('setup.lacks_number')],
        unlock_tone: () => [t('setup.lacks_tone'), number && has('/building') && button(t('setup.tone_do'), setTone)],
        call_box: () => (number ? [t('setup.lacks_call_box', { number: phoneText(number) }), has('/building') && h('a', { class: 'button', href: '/building#letter' }, t('setup.letter'))] : []),
    };
    return missing().length > 0 && h('div', { class: 'note missing', key: 'missing' }, shut() && h('p', { key: 'shut' }, h('b', null, t('setup.shut'))),
        missing().map((part) => [part, lines[part]()]).map(([part, [text, act]]) => text && h('p', { key: part, class: 'num' }, text, act && ' ', act)));
}
