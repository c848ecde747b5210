// A page that the worker has kept, shown because the service cannot be reached: says so, and lets nobody change anything.
import { data } from './data.js';
import { keptFor } from './keep.js';
import { registered } from './registration.js';
import { t } from './texts.js';
import { when } from './time.js';
import { h, patch } from './view.js';

const CONTROLS = 'button, input, select, textarea';

/** @param {ParentNode} place */
function disable(place) {
    for (const control of /** @type {NodeListOf<HTMLButtonElement>} */ (place.querySelectorAll(CONTROLS))) control.disabled = true;
}

function showKept() {
    const note = document.createElement('div');
    note.className = 'note warn offline';
    note.setAttribute('role', 'status');
    patch(note, [h('p', null, t('page.kept', { time: when(data.page.at) }), ' ', h('a', { href: location.href }, t('page.kept_again')))]);
    document.getElementById('main')?.prepend(note);
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

if (data.page.kept) showKept();
else keepThis().catch(() => {}); // refused, as with a certificate that is not trusted
