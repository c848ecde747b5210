// Drawings in a soft square, before the title of a thing in a list.
import { h } from './view.js';

/** @type {Record<string, string>} */
const DRAWINGS = {
    key: 'M15.5 8.5h.01M14 14a5.500 5.500 0 1 0-5.200-3.700L3 16v5h5v-2.500h2.500V16z',
    card: 'M3 7.500A2.500 2.500 0 0 1 5.500 5h13A2.500 2.500 0 0 1 21 7.500v9a2.500 2.500 0 0 1-2.500 2.500h-13A2.500 2.500 0 0 1 3 16.500zM3 10h18M7 15h3',
    hook: 'M13 3 5 13.500h6L10.500 21 19 10.500h-6z',
    screen: 'M4 5h16v11H4zM9 20h6M12 16v4',
    handset: 'M8 3h8a1.500 1.500 0 0 1 1.500 1.500v15A1.500 1.500 0 0 1 16 21H8a1.500 1.500 0 0 1-1.500-1.500v-15A1.500 1.500 0 0 1 8 3zM11 18h2',
    phone: 'M7 3.500h2.500l1.500 4-2 1.500a12 12 0 0 0 6 6l1.500-2 4 1.500V17a3.500 3.500 0 0 1-3.500 3.500C10 20.500 3.500 14 3.500 7A3.500 3.500 0 0 1 7 3.500z',
    ok: 'm5 12.500 4.500 4.500L19 7.500',
    no: 'M6.500 6.500l11 11m0-11-11 11',
    wait: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 7v5l3.500 2',
    door: 'M6 21V4.500A1.500 1.500 0 0 1 7.500 3h9A1.500 1.500 0 0 1 18 4.500V21M3.500 21h17M14.500 12h.01',
};

/** @param {keyof typeof DRAWINGS & string} name @param {'' | 'good' | 'bad' | 'warn'} [tone] */
export function mark(name, tone = '') {
    return h('span', { class: `mark ${tone}`.trim(), 'aria-hidden': 'true' }, h('svg', { viewBox: '0 0 24 24' }, h('path', { d: DRAWINGS[name] })));
}
