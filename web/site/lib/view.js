// Elements, made without HTML text: every child that is a string becomes a text node.

const SVG = 'http://www.w3.org/2000/svg';

/** @typedef {Node | string | false | null | undefined} Child */

/**
 * @param {Element} element
 * @param {Record<string, string | boolean | EventListener>} attributes a function is a listener: {onclick: f}
 * @param {Child[]} children
 */
function fill(element, attributes, children) {
    for (const [name, value] of Object.entries(attributes)) {
        if (typeof value === 'function') element.addEventListener(name.slice(2), value);
        else if (value !== false) element.setAttribute(name, value === true ? '' : value);
    }
    element.append(...children.filter((child) => child !== false && child !== null && child !== undefined));
    return element;
}

/**
 * An element of HTML.
 * @param {string} tag
 * @param {Record<string, string | boolean | EventListener>} [attributes]
 * @param {...Child} children
 */
export function h(tag, attributes = {}, ...children) {
    return fill(document.createElement(tag), attributes, children);
}

/**
 * An element of SVG.
 * @param {string} tag
 * @param {Record<string, string | boolean | EventListener>} [attributes]
 * @param {...Child} children
 */
export function s(tag, attributes = {}, ...children) {
    return fill(document.createElementNS(SVG, tag), attributes, children);
}

/** A drawing of the page's sprite; with a label if it says something. @param {string} name @param {string} [label] */
export function icon(name, label) {
    /** @type {Record<string, string>} */
    const named = label ? { role: 'img', 'aria-label': label } : { 'aria-hidden': 'true' };
    return s('svg', named, s('use', { href: `#i-${name}` }));
}
