// A secret that is shown once: a card that stays until the person has stored what it has.
import { copy } from './share.js';
import { t } from './texts.js';
import { h } from './view.js';

/** @typedef {import('./view.js').Child} Child */

/** A text to copy, with its label. @param {string} label @param {string} text */
export function copied(label, text) {
    const id = `copy-${label.replace(/\W+/g, '-')}`;
    return h('div', { class: 'copied', key: label }, h('span', { class: 'label', id }, label),
        h('div', { class: 'line' }, h('code', { class: 'text', tabindex: '0', role: 'textbox', 'aria-readonly': 'true', 'aria-multiline': 'true', 'aria-labelledby': id }, text),
            h('button', { type: 'button', 'aria-label': t('page.copy_what', { what: label }), onclick: () => copy(text) }, t('page.copy'))));
}

/**
 * @param {{title: string, lead: string, key: string, stored: () => void}} card key: another one for another secret;
 *   stored: the person says so
 * @param {...Child} children
 */
export function secretCard({ title, lead, key, stored }, ...children) {
    return h('section', { class: 'card fresh stack', 'aria-labelledby': 'fresh', key: `fresh-${key}` },
        h('h2', { id: 'fresh', tabindex: '-1', ref: (/** @type {HTMLElement} */ title) => setTimeout(() => title.focus()) }, title),
        h('p', null, lead), ...children,
        h('div', { class: 'actions' }, h('button', { class: 'primary', type: 'button', onclick: stored }, t('page.stored'))));
}
