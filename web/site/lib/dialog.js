// Dialogs over the page, and the short messages at its bottom.
import { t } from './texts.js';
import { h, icon, patch } from './view.js';

/** @typedef {import('./view.js').Child} Child */

let count = 0;

/**
 * Shows a dialog until it is closed, by its own buttons, Escape, or a press next to it.
 * @template T
 * @param {string} title
 * @param {(close: (value?: T) => void, draw: () => void) => Child[]} render its content; `draw` asks for it again
 * @returns {Promise<T | undefined>} what was given to `close`
 */
export function dialog(title, render) {
    const element = document.createElement('dialog');
    const id = `dialog-${count += 1}`;
    element.setAttribute('aria-labelledby', id);
    /** @type {T | undefined} */
    let result;
    /** @param {T} [value] */
    const close = (value) => {
        result = value;
        element.close();
    };
    const draw = () => patch(element, h('div', { class: 'sheet' },
        h('div', { class: 'head' }, h('h2', { id, tabindex: '-1' }, title),
            h('button', { class: 'round plain', type: 'button', 'aria-label': t('page.close'), onclick: () => close() }, icon('no'))),
        render(close, draw)));
    element.addEventListener('click', (event) => { if (event.target === element) close(); });
    document.body.append(element);
    draw();
    element.showModal();
    /** @type {HTMLElement | null} */
    const first = element.querySelector('[autofocus]') ?? element.querySelector('input, select, textarea') ?? element.querySelector('h2');
    first?.focus();
    return new Promise((resolve) => {
        element.addEventListener('close', () => {
            element.remove();
            resolve(result);
        });
    });
}

/**
 * Asks before something that cannot be undone.
 * @param {string} title @param {string} text @param {string} yes the button's text
 * @returns {Promise<boolean>}
 */
export async function confirm(title, text, yes) {
    return await dialog(title, (close) => [
        h('p', null, text),
        h('div', { class: 'actions' },
            h('button', { class: 'danger', type: 'button', onclick: () => close(true) }, yes),
            h('button', { class: 'plain', type: 'button', onclick: () => close() }, t('page.cancel'))),
    ]) === true;
}

const SHOWN_MS = 8_000;

/** @type {{key: number, text: string, undo?: () => void, end: () => void}[]} */
let shown = [];

function drawToasts() {
    const place = document.getElementById('toasts');
    if (!place) return;
    patch(place, shown.map((one) => h('div', { class: 'toast', key: one.key }, h('span', null, one.text),
        one.undo && h('button', { class: 'plain', type: 'button', onclick: one.undo }, t('page.undo')))));
}

/**
 * @param {string} text
 * @param {boolean} undoable
 * @returns {Promise<boolean>} true if the person undid it; false when the message has gone, or the page is left
 */
function show(text, undoable) {
    return new Promise((resolve) => {
        const end = (/** @type {boolean} */ undone) => {
            removeEventListener('pagehide', leave);
            shown = shown.filter((one) => one !== toast);
            drawToasts();
            resolve(undone);
        };
        const leave = () => end(false);
        const toast = { key: count += 1, text, undo: undoable ? () => end(true) : undefined, end: leave };
        shown = [...shown, toast].slice(-3);
        addEventListener('pagehide', leave);
        drawToasts();
        const wait = () => setTimeout(() => {
            // Not while the pointer or the focus is on it.
            if (document.querySelector('#toasts:is(:hover, :focus-within)')) wait();
            else end(false);
        }, SHOWN_MS);
        wait();
    });
}

/** A short message that goes by itself. @param {string} text */
export function toast(text) {
    show(text, false);
}

/**
 * Does something after a moment in which it can be undone; at once if the page is left.
 * @param {string} text says that it is done @param {() => Promise<void>} act
 * @returns {Promise<boolean>} true if it was done
 */
export async function later(text, act) {
    if (await show(text, true)) return false;
    await act();
    return true;
}
