// The picture of the door.
import { h } from './view.js';

/** @param {boolean} open */
export function drawing(open) {
    return h('svg', { viewBox: '0 0 160 150', 'aria-hidden': 'true', class: open ? 'open' : 'shut' },
        h('path', { class: 'beam', d: 'M72 128 8 150h152l-48-22z' }),
        h('path', { class: 'sill', d: 'M66 128V40a26 26 0 0 1 52 0v88z' }),
        h('path', { class: 'light', d: 'M72 128V42a20 20 0 0 1 40 0v86z' }),
        h('path', { class: 'leaf', d: open ? 'M72 128V42a20 20 0 0 1 15-19.4V136z' : 'M72 128V42a20 20 0 0 1 40 0v86z' }),
        h('circle', { class: 'knob', cx: open ? '82' : '106', cy: '86', r: '1.8' }));
}
