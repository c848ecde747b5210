// Recorded greetings of the building: where visitors hear one instead of a text, what says so, plays it and removes it.
// texts: recording. visit.
import { CallError, call } from './call.js';
import { confirm, toast } from './dialog.js';
import { whenSeen } from './live.js';
import { building, data, tellError } from './page.js';
import { player } from './player.js';
import { t } from './texts.js';
import { when } from './time.js';
import { h } from './view.js';

/** @typedef {import('../contract.js').Schemas['Recording']} Recording greeting: "welcome" ... */

const path = /** @type {const} */ (`/v1/buildings/${building.id}/recordings`);
/** @type {Recording[]} */
let recordings = data.recordings.data;
let tell = () => {};

/** @param {string} greeting @returns {Recording | undefined} */
export const recordingOf = (greeting) => recordings.find((one) => one.greeting === greeting);

/** @param {Recording[]} now */
function take(now) {
    recordings = now;
    tell();
}

const read = async () => take((await call('GET', path)).data);

/** Calls `draw` when recordings have changed, here or elsewhere. @param {() => void} draw */
export function whenRecorded(draw) {
    tell = draw;
    whenSeen(({ type }) => type === 'settings.changed', read);
}

/** Whether the recording is there no more: then the page shows what there is now. @param {unknown} error */
async function isGone(error) {
    if (!(error instanceof CallError) || error.code !== 'NOT_FOUND') return false;
    await read();
    toast(t('recording.gone'));
    return true;
}

/** @param {Recording} one @param {string} text @param {Element} greeting */
async function remove(one, text, greeting) {
    if (!await confirm(t('recording.remove_title'), text ? t('recording.remove_text', { text }) : t('recording.remove_silent'), t('recording.remove'))) return;
    try {
        await call('DELETE', `${path}/${one.id}`);
    } catch (error) {
        if (await isGone(error)) return;
        throw error;
    }
    take(recordings.filter(({ id }) => id !== one.id));
    /** @type {HTMLElement | null} */ (greeting.querySelector('button'))?.focus();
    toast(text ? t('recording.removed') : t('recording.removed_silent'));
}

/** @param {Recording} one @param {string} name the greeting's @param {string} text the one that is saved */
export function recordingNote(one, name, text) {
    const listen = () => call('GET', `${path}/${one.id}`).catch(async (error) => {
        await isGone(error);
        throw error;
    });
    const values = { length: t('visit.seconds', { count: one.seconds }), time: when(one.created_at) };
    return h('div', { class: 'note', key: `recording-${one.id}` },
        h('p', { id: `recorded-${one.greeting}` }, text ? t('recording.heard', values) : t('recording.unheard', values)),
        h('div', { class: 'actions' },
            player({ key: one.id, label: t('recording.play'), name: t('recording.name', { name }), read: listen }),
            h('button', {
                type: 'button', 'aria-describedby': `recorded-${one.greeting}`,
                onclick: (/** @type {Event} */ event) => remove(one, text, /** @type {Element} */ (/** @type {Element} */ (event.currentTarget).closest('.greeting'))).catch(tellError),
            }, t('recording.remove'))));
}
