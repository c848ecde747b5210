// Texts to send to somebody: by the system's own sheet where there is one, else by the clipboard.
import { dialog, toast } from './dialog.js';
import { t } from './texts.js';
import { h } from './view.js';

/** @param {string} text */
export async function copy(text) {
    try {
        await navigator.clipboard.writeText(text);
        toast(t('page.copied'));
    } catch {
        // Without the permission, the person copies it.
        await dialog(t('page.copy'), () => [h('textarea', { class: 'copy', readonly: true, rows: 6, 'aria-label': t('page.copy'), value: text, onfocus: (/** @type {Event} */ event) => /** @type {HTMLTextAreaElement} */ (event.target).select() })]);
    }
}

/** @param {{title: string, text: string, url?: string}} what */
export async function share(what) {
    const all = what.url ? `${what.text}\n${what.url}` : what.text;
    if (!navigator.share) {
        await copy(all);
        return;
    }
    try {
        await navigator.share(what);
    } catch (error) {
        if (!(error instanceof DOMException) || error.name !== 'AbortError') await copy(all);
    }
}
