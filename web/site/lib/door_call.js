// A call at the door, as its events tell it.

/** @typedef {import('./live.js').LiveEvent} LiveEvent */

/**
 * @typedef {object} DoorCall
 * @property {string} id
 * @property {number} began in milliseconds, by the service's clock
 * @property {number} last its last event
 * @property {string | null | undefined} caller null: withheld; undefined: not known
 * @property {'rings' | 'answered' | 'over'} phase
 * @property {LiveEvent[]} steps
 * @property {boolean} opened the tone was sent
 */

/** @type {Record<string, DoorCall['phase']>} */
const PHASES = { 'call.answered': 'answered', 'call.released': 'over', 'call.ended': 'over' };

/** The call after one more event; of a call's first event, `call` is undefined. @param {DoorCall | undefined} call @param {LiveEvent} event @returns {DoorCall} */
export function after(call, event) {
    const at = Date.parse(event.at ?? '');
    const before = call ?? { id: event.call_id ?? '', began: at, last: at, caller: undefined, phase: 'rings', steps: [], opened: false };
    return {
        ...before,
        began: Math.min(before.began, at),
        last: Math.max(before.last, at),
        caller: event.type === 'call.ring' ? event.caller : before.caller,
        phase: before.phase === 'over' ? 'over' : PHASES[event.type] ?? before.phase,
        // A step may come after one that it preceded.
        steps: [...before.steps.filter(({ seq }) => seq !== event.seq), event].sort((a, b) => Date.parse(a.at ?? '') - Date.parse(b.at ?? '') || a.seq - b.seq),
        opened: before.opened || ['call.released', 'call.opened'].includes(event.type),
    };
}

const SILENT_MS = 150_000;
/** The longest call has ten minutes. */
const LONGEST_MS = 660_000;

/** Whether the call has ended unheard, as when the service stopped. @param {DoorCall} call @param {number} now */
export function isStale(call, now) {
    return now - call.last > (call.phase === 'answered' ? LONGEST_MS : SILENT_MS);
}

/** "1:05" @param {number} ms */
export function duration(ms) {
    const s = Math.max(0, Math.floor(ms / 1000));
    return `${Math.floor(s / 60)}:${String(s % 60).padStart(2, '0')}`;
}
