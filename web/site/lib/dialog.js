// Dialogs over the page, and the short messages at its bottom.
import { CallError } from './call.js';
import { errorText, t } from './texts.js';
import { h, icon, patch } from './view.js';

/** @typedef {import('./view.js').Child} Child */

let count = 0;

// ---- Back closes the sheet on top: while sheets are open, the history has an entry more ----

/** What asks each sheet to close, the one on top last. @type {(() => void)[]} */
let open = [];
let leaving = false;

/** Gives the page the entry, or takes it again, as the sheets demand. */
function settle() {
    if (leaving) return;
    if (open.length > 0 && !history.state?.sheet) history.pushState({ sheet: true }, '');
    else if (open.length === 0 && history.state?.sheet) {
        leaving = true;
        history.back();
    }
}

addEventListener('popstate', (event) => {
    if (leaving || open.length > 0) event.stopImmediatePropagation(); // the page stays where it is
    if (!leaving) open.at(-1)?.();
    leaving = false;
    settle();
});

// The page was left, or loaded again, with a sheet open.
if (history.state?.sheet) history.replaceState(null, '');

/** What a person types, and would have to type again. @param {Event} event */
const isTyped = ({ target }) => /** @type {Element} */ (target).matches('textarea, input:not([type=radio], [type=checkbox], [autocomplete=one-time-code])');

/**
 * Shows a dialog until it is closed, by its own buttons, or by Escape, Back, or a press next to it: these ask first if
 * something was typed.
 * @template T
 * @param {string} title
 * @param {(close: (value?: T) => void, draw: () => void, step: (act: () => Promise<unknown>) => Promise<void>) => Child[]} render
 *   its content; `draw` asks for it again; `step` does one thing at a time, draws, and the dialog tells why it failed
 * @returns {Promise<T | undefined>} what was given to `close`
 */
export function dialog(title, render) {
    const element = document.createElement('dialog');
    const id = `dialog-${count += 1}`;
    element.setAttribute('aria-labelledby', id);
    /** @type {T | undefined} */
    let result;
    let typed = false;
    /** @param {T} [value] */
    const close = (value) => {
        result = value;
        open = open.filter((one) => one !== ask);
        element.close();
    };
    let busy = false, problem = '';
    const step = async (/** @type {() => Promise<unknown>} */ act) => {
        if (busy) return;
        busy = true;
        problem = '';
        try {
            await act();
        } catch (error) {
            if (!(error instanceof CallError)) throw error;
            problem = errorText(error.code);
        } finally {
            busy = false;
            draw();
        }
    };
    const ask = async () => {
        if (!typed || await confirm(t('page.discard'), t('page.discard_hint'), t('page.discard_do'))) close();
    };
    const draw = () => patch(element, h('div', { class: 'sheet' },
        h('div', { class: 'head' }, h('h2', { id, tabindex: '-1' }, title),
            h('button', { class: 'round plain', type: 'button', 'aria-label': t('page.close'), onclick: () => close() }, icon('no'))),
        problem && h('p', { class: 'note bad', role: 'alert', key: 'problem' }, problem),
        render(close, draw, step)));
    element.addEventListener('click', (event) => { if (event.target === element) ask(); });
    element.addEventListener('input', (event) => { typed ||= isTyped(event); });
    element.addEventListener('cancel', (event) => {
        if (event.target !== element) return;
        event.preventDefault();
        ask();
    });
    document.body.append(element);
    draw();
    element.showModal();
    open.push(ask);
    settle();
    /** @type {HTMLElement | null} */
    const first = element.querySelector('[autofocus]') ?? element.querySelector('input, select, textarea') ?? element.querySelector('h2');
    first?.focus();
    return new Promise((resolve) => {
        element.addEventListener('close', () => {
            open = open.filter((one) => one !== ask); // the browser closes at a second Escape
            element.remove();
            resolve(result);
            setTimeout(settle); // not if another one follows
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

/** @type {{key: number, about: string, text: string, undo?: () => void, end: () => void}[]} */
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
 * @param {string} about an earlier message about the same goes
 * @returns {Promise<boolean>} true if the person undid it; false when the message has gone, or the page is left
 */
function show(text, undoable, about) {
    return new Promise((resolve) => {
        const end = (/** @type {boolean} */ undone) => {
            removeEventListener('pagehide', leave);
            shown = shown.filter((one) => one !== toast);
            drawToasts();
            resolve(undone);
        };
        const leave = () => end(false);
        for (const one of shown) if (one.about === about) one.end();
        const toast = { key: count += 1, about, text, undo: undoable ? () => end(true) : undefined, end: leave };
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

/** A short message that goes by itself. @param {string} text @param {string} [about] the ID of what it is about: only the last message is shown */
export function toast(text, about = text) {
    show(text, false, about);
}

/**
 * Does something after a moment in which it can be undone; at once if the page is left.
 * @param {string} text says that it is done @param {() => Promise<unknown>} act @param {string} [about] as of `toast`
 * @returns {Promise<boolean>} true if it was done
 */
export async function later(text, act, about = text) {
    if (await show(text, true, about)) return false;
    await act();
    return true;
}
