// Says that the service cannot be reached: on a page that was open before, and on one that the worker has kept, where nobody
// can change anything.
import { data } from './data.js';
import { keptFor } from './keep.js';
import { whenAway } from './live.js';
import { registered } from './registration.js';
import { t } from './texts.js';
import { when } from './time.js';
import { h, patch } from './view.js';

/** @typedef {import('./view.js').Child} Child */

const CONTROLS = 'button, input, select, textarea';

/** @param {ParentNode} place */
function disable(place) {
    for (const control of /** @type {NodeListOf<HTMLButtonElement>} */ (place.querySelectorAll(CONTROLS))) control.disabled = true;
}

/** A note above the page, which is heard. @param {...Child} text */
function showNote(...text) {
    const note = document.createElement('div');
    note.className = 'note warn offline';
    note.setAttribute('role', 'status');
    document.getElementById('main')?.prepend(note);
    patch(note, [h('p', null, text)]);
    return note;
}

function showKept() {
    showNote(t('page.kept', { time: when(data.page.at) }), ' ', h('a', { href: location.href }, t('page.kept_again')));
    disable(document);
    new MutationObserver(() => disable(document)).observe(document.body, { childList: true, subtree: true });
    addEventListener('online', () => location.reload());
}

/** A browser that is to be remembered keeps this page, also where the worker came after it. */
async function keepThis() {
    if (!('serviceWorker' in navigator) || await keptFor() === undefined) return;
    const late = !navigator.serviceWorker.controller;
    const { active } = await registered();
    if (late) active?.postMessage('keep');
}

/** @type {HTMLElement | undefined} */
let note;
whenAway((away) => {
    if (away) note ??= showNote(t('page.away'));
    else note = void note?.remove();
});

if (data.page.kept) showKept();
else keepThis().catch(() => {}); // refused, as with a certificate that is not trusted
