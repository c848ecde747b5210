// A keyed view: a page is described again after every change, and `patch` changes only what differs, so that focus,
// typed text and scroll positions stay. Made without HTML text: every child that is a string becomes a text node.

/**
 * @typedef {{tag: string, props: Props, children: VNode[], key: string | undefined}} VElement
 * @typedef {VElement | string} VNode
 * @typedef {VNode | number | boolean | null | undefined} Child
 * @typedef {Record<string, any>} Props a function named on... is a listener: {onclick: f}; `key` names an element among
 *   its siblings; `ref` is called with the element when it is made
 */

const SVG = 'http://www.w3.org/2000/svg';
/** Kept as properties, and written only if the description changes: what a person has typed since stays. */
const PROPERTIES = new Set(['value', 'checked', 'selected', 'indeterminate']);

/** What a node was last made of. @type {WeakMap<Node, VNode>} */
const made = new WeakMap();
/** @type {WeakMap<Element, Record<string, (event: Event) => void>>} */
const listeners = new WeakMap();

/**
 * Describes an element. Children that are false, null or undefined are left out, lists are flattened.
 * @param {string} tag
 * @param {Props | null} [props]
 * @param {...(Child | Child[])} children
 * @returns {VElement}
 */
export function h(tag, props, ...children) {
    /** @type {VNode[]} */
    const kept = [];
    for (const child of children.flat(3)) {
        if (child === false || child === true || child === null || child === undefined) continue;
        kept.push(typeof child === 'number' ? String(child) : child);
    }
    return { tag, props: props ?? {}, children: kept, key: props?.key === undefined ? undefined : String(props.key) };
}

/** A drawing of the page's sprite; with a label if it says something. @param {string} name @param {string} [label] */
export function icon(name, label) {
    const named = label ? { role: 'img', 'aria-label': label } : { 'aria-hidden': 'true' };
    return h('svg', named, h('use', { href: `#i-${name}` }));
}

/** @param {Event} event */
function hear(event) {
    const element = /** @type {Element} */ (event.currentTarget);
    listeners.get(element)?.[event.type]?.call(element, event);
}

/** @param {Element} element @param {string} name @param {any} value */
function listen(element, name, value) {
    const all = listeners.get(element) ?? {};
    listeners.set(element, all);
    if (value && !(name in all)) element.addEventListener(name, hear);
    all[name] = value || undefined;
}

/** @param {Element} element @param {Props} before @param {Props} now */
function setProps(element, before, now) {
    for (const name of new Set([...Object.keys(before), ...Object.keys(now)])) {
        const value = now[name];
        if (value === before[name] || name === 'key' || name === 'ref') continue;
        if (name.startsWith('on')) listen(element, name.slice(2), value);
        else if (PROPERTIES.has(name) && element.namespaceURI !== SVG) Object.assign(element, { [name]: value ?? '' });
        else if (value === false || value === null || value === undefined) element.removeAttribute(name);
        else element.setAttribute(name, value === true ? '' : String(value));
    }
}

/** @param {VNode} vnode @param {Element} parent @returns {Node} */
function create(vnode, parent) {
    if (typeof vnode === 'string') return document.createTextNode(vnode);
    const drawn = vnode.tag === 'svg' || (parent.namespaceURI === SVG && parent.tagName !== 'foreignObject');
    const element = drawn ? document.createElementNS(SVG, vnode.tag) : document.createElement(vnode.tag);
    const { value, ...props } = vnode.props; // a select's options come first, a range's bounds too
    setProps(element, {}, props);
    patchChildren(element, vnode.children);
    if (value !== undefined) setProps(element, {}, { value });
    vnode.props.ref?.(element);
    return element;
}

/** @param {Node} node @param {VNode} vnode */
function update(node, vnode) {
    const before = made.get(node);
    if (typeof vnode === 'string') {
        if (node.nodeValue !== vnode) node.nodeValue = vnode;
    } else if (before !== vnode && typeof before === 'object') {
        patchChildren(/** @type {Element} */ (node), vnode.children);
        setProps(/** @type {Element} */ (node), before.props, vnode.props);
    }
}

/** @param {VNode | undefined} before @param {VNode} vnode */
function fits(before, vnode) {
    if (typeof before !== 'object' || typeof vnode === 'string') return typeof before === typeof vnode;
    return before.tag === vnode.tag && before.key === vnode.key;
}

/** @param {Element} parent @param {VNode[]} children */
function patchChildren(parent, children) {
    const old = [...parent.childNodes].filter((node) => made.has(node));
    /** @type {Map<string, Node>} */
    const keyed = new Map();
    /** @type {Node[]} */
    const unkeyed = [];
    for (const node of old) {
        const vnode = made.get(node);
        if (typeof vnode === 'object' && vnode.key !== undefined) keyed.set(vnode.key, node);
        else unkeyed.push(node);
    }
    const kept = new Set();
    const nodes = children.map((vnode) => {
        const key = typeof vnode === 'object' ? vnode.key : undefined;
        const at = key === undefined ? unkeyed.findIndex((node) => !kept.has(node) && fits(made.get(node), vnode)) : -1;
        const found = key === undefined ? unkeyed[at] : keyed.get(key);
        if (!found || kept.has(found) || !fits(made.get(found), vnode)) return undefined;
        kept.add(found);
        return found;
    });
    for (const node of old) if (!kept.has(node)) parent.removeChild(node);
    // From the end, so that each is put before one that is in its place.
    /** @type {Node | null} */
    let next = null;
    for (let i = children.length - 1; i >= 0; i--) {
        const node = nodes[i] ?? create(children[i], parent);
        if (nodes[i]) update(node, children[i]);
        made.set(node, children[i]);
        if (node.parentNode !== parent || node.nextSibling !== next) parent.insertBefore(node, next);
        next = node;
    }
}

/**
 * Makes the element's children as described. An element that only moves keeps its focus. Nodes that `patch` has not
 * made are left before them.
 * @param {Element} parent
 * @param {Child | Child[]} children
 */
export function patch(parent, children) {
    const focused = /** @type {HTMLElement | null} */ (document.activeElement);
    patchChildren(parent, h('', null, children).children);
    if (focused && focused !== document.activeElement && parent.contains(focused)) focused.focus({ preventScroll: true });
}
