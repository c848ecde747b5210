// A button that fetches a sound, and the browser's player once it is there.
import { CallError } from './call.js';
import { errorText } from './texts.js';
import { h, icon } from './view.js';

/**
 * Nothing is fetched before the button is pressed.
 * @param {{key: string, label: string, name: string, read: () => Promise<Blob>}} sound label: the button's text; name: the player's
 */
export function player({ key, label, name, read }) {
    return h('div', { class: 'player', key: `player-${key}` }, h('button', {
        type: 'button',
        onclick: async (/** @type {Event} */ event) => {
            const button = /** @type {HTMLButtonElement} */ (event.currentTarget);
            if (button.ariaBusy === 'true') return;
            button.ariaBusy = 'true';
            const note = /** @type {HTMLElement} */ (button.parentElement?.querySelector('.wrong'));
            try {
                const audio = document.createElement('audio');
                audio.controls = true;
                audio.setAttribute('aria-label', name);
                audio.src = URL.createObjectURL(await read());
                button.parentElement?.append(audio);
                button.hidden = true;
                note.textContent = '';
                audio.focus();
                await audio.play().catch(() => {}); // without permission, the person presses play
            } catch (error) {
                if (!(error instanceof CallError)) throw error;
                note.textContent = errorText(error.code);
            } finally {
                button.ariaBusy = null;
            }
        },
    }, icon('play'), label), h('p', { class: 'wrong', role: 'alert' }));
}
