// Visits at the door: what the log says of them, and why they ended as they did.
// texts: visit. verdict.
import { CallError, call } from './call.js';
import { dialog } from './dialog.js';
import { errorText, language, t } from './texts.js';
import { clock, comingDay, exactly, length } from './time.js';
import { UNUSABLE } from './verdict.js';
import { h, icon } from './view.js';

/**
 * @typedef {import('./view.js').Child} Child
 * @typedef {{id: string, unlock_id?: string, type: string, unlock_type?: string, name: string, succeeded: boolean, created_at: string}} Entry of the log
 * @typedef {(id?: string) => string | undefined} NameOf the label of a grant, if it is known
 * @typedef {{at_ms: number, step: string, detail?: string, number?: string, grant_id?: string, key_id?: string, key_name?: string}} Step
 * @typedef {{id: string, started_at: string, ended_at: string | null, duration_ms: number | null, caller: string | null, outcome: string, reason: string,
 *   grant_id: string | null, resident_opened: boolean, ended_by: string | null, message_seconds: number | null, steps: Step[]}} Call
 */

/** The kind of an entry: 'opened', 'wrong' or 'call'. @param {Entry} entry */
export const kindOf = (entry) => (entry.type === 'call' ? 'call' : entry.succeeded ? 'opened' : 'wrong');

/** @type {Record<string, string>} */
const ICONS = { opened: 'ok', wrong: 'no', call: 'phone' };
/** @type {Record<string, string>} */
const WAYS = { timer: 'visit.by_timer', passcode: 'visit.by_code', routine: 'visit.by_routine' };

/** A wrong code of a grant is a right one outside its hours. @param {Entry} entry */
export function titleOf(entry) {
    const kind = kindOf(entry);
    return kind === 'call' ? t('visit.call') : kind === 'wrong' && !entry.unlock_id ? t('visit.wrong') : entry.name;
}

/** @param {Entry} entry @param {Call[]} calls of which one may be its own: only a single one that fits tells how the call ended */
export function hintOf(entry, calls) {
    const kind = kindOf(entry);
    if (kind === 'opened') return t(WAYS[entry.unlock_type ?? ''] ?? 'visit.opened');
    if (kind === 'wrong') return [t('visit.shut'), entry.unlock_id && t(UNUSABLE.outside_window)].filter(Boolean).join(' · ');
    const [record, other] = calls.filter((one) => isOf(entry, one));
    if (record?.resident_opened && !other) return t('visit.resident_opened');
    return record?.outcome === 'unreachable' && !other ? t('visit.unreachable') : t('visit.rang');
}

/** The round sign of a visit. @param {Entry} entry */
export function sign(entry) {
    const kind = kindOf(entry);
    return h('span', { class: `sign ${kind}` }, icon(ICONS[kind]));
}

// ---- why ----

/** A call takes at most ten minutes; its entries are written between its start and its end. */
const CALL_MS = 15 * 60_000;
const SLACK_MS = 2_000;

/** Whether the entry may be of this call. @param {Entry} entry @param {Call} one */
function isOf(entry, one) {
    const at = Date.parse(entry.created_at);
    if (Date.parse(one.started_at) > at + SLACK_MS || Date.parse(one.ended_at ?? entry.created_at) < at - SLACK_MS) return false;
    const kind = kindOf(entry);
    return kind === 'wrong' || (kind === 'call' ? ['forwarded', 'unreachable'].includes(one.outcome) : one.outcome === 'released' && one.grant_id === entry.unlock_id);
}

/** Whether the record has the entry's grant: a call in progress has no steps yet. @param {Entry} entry @param {Call} record */
const fits = ({ unlock_id: id }, { grant_id, steps }) => !id || steps.length === 0 || grant_id === id || steps.some((step) => step.grant_id === id);

/** The record of the call that made this entry, or undefined. @param {Entry} entry @returns {Promise<Call | undefined>} */
async function recordOf(entry) {
    const at = Date.parse(entry.created_at);
    const { data } = await call('GET', `/v1/calls?limit=100&since=${new Date(at - CALL_MS).toISOString()}&until=${new Date(at + SLACK_MS).toISOString()}`);
    for (const one of /** @type {Call[]} */ (data).filter((one) => isOf(entry, one))) {
        const record = await call('GET', `/v1/calls/${one.id}`);
        if (fits(entry, record)) return record;
    }
    return undefined;
}

/** @typedef {{at_ms: number, near?: Step, next?: Step}} Attempt a code that did not open: the step with the grant that has it, and with its next opening */

/** The codes that opened nothing in a call. Steps after it was forwarded name grants by a guess, so they do not count. @param {Step[]} steps */
function attemptsOf(steps) {
    /** @type {Attempt[]} */
    const all = [];
    for (const [i, step] of steps.entries()) {
        if (step.step === 'forwarded') break;
        if (step.step === 'not_usable' && steps[i - 1]?.step === 'code_wrong') all.pop();
        if (step.step === 'not_usable') all.push({ at_ms: step.at_ms, near: step, next: steps[i + 1]?.step === 'opens_next' ? steps[i + 1] : undefined });
        if (step.step === 'code_wrong') all.push({ at_ms: step.at_ms });
    }
    return all;
}

/** The attempt that the entry is about: of its grant, or the nearest in time; of a call, the last one. @param {Entry} entry @param {Call} record */
function attemptOf(entry, record) {
    const all = attemptsOf(record.steps);
    if (kindOf(entry) === 'call') return all.at(-1);
    if (entry.unlock_id) return all.find(({ near }) => near?.grant_id === entry.unlock_id);
    const at = Date.parse(entry.created_at) - Date.parse(record.started_at);
    return all.sort((a, b) => Math.abs(a.at_ms - at) - Math.abs(b.at_ms - at))[0];
}

/** @param {Step} step "opens_next" */
const opensText = ({ detail = '' }) => t('visit.opens_next', { day: comingDay(detail), time: clock(detail) });

/** Whose code it was, and why it did not open. @param {string} name @param {string} [result] @param {Step} [next] */
function nearText(name, result = '', next) {
    const why = t(UNUSABLE[result] ?? 'verdict.part_other');
    return `${[t('visit.near', { name, why: why[0].toLocaleLowerCase(language) + why.slice(1) }), next && opensText(next)].filter(Boolean).join('. ')}.`;
}

/** @type {Record<string, string>} */
const REASONS = {
    timer: 'visit.why_timer', routine: 'visit.why_routine', passcode: 'visit.why_passcode', no_grant: 'visit.why_no_grant', no_code: 'visit.why_no_code',
    wrong_code: 'visit.why_wrong_code', keypad_closed: 'visit.why_keypad', not_listed: 'visit.why_not_listed', no_tone: 'visit.why_no_tone', no_subscription: 'visit.why_no_plan',
    one_way: 'visit.why_one_way',
    outside_window: 'visit.why_not_then',
};

/** The sentence that answers "why?". @param {Entry} entry @param {NameOf} nameOf @param {Call} [record] */
function reason(entry, nameOf, record) {
    const kind = kindOf(entry);
    const { near, next } = (kind !== 'opened' && record && attemptOf(entry, record)) || {};
    const name = nameOf(near?.grant_id) ?? (kind === 'wrong' && entry.unlock_id ? entry.name : undefined);
    if (name && (near || kind === 'wrong')) return nearText(name, near?.detail ?? 'outside_window', next);
    if (near) return t('visit.why_not_then');
    if (kind === 'wrong') return t('visit.why_wrong');
    if (record?.outcome === 'none') return t('visit.why_none');
    const known = REASONS[(kind === 'opened' ? entry.unlock_type : record?.reason) ?? ''];
    return known ? t(known, { name: entry.name }) : t('visit.why_forwarded');
}

/** @type {Record<string, string>} */
const STEPS = {
    arrived: 'visit.arrived', answered: 'visit.answered', established: 'visit.established', said: 'visit.said', asked_code: 'visit.asked', spoken: 'visit.spoken',
    unclear: 'visit.unclear', code_wrong: 'visit.code_wrong', code_incomplete: 'visit.code_incomplete', silence: 'visit.silence', released: 'visit.released', forwarded: 'visit.forwarded',
    not_usable: 'visit.not_usable', tone_sent: 'visit.tone', tone_fallback: 'visit.fallback', ringing: 'visit.ringing', leg_answered: 'visit.leg_answered',
    leg_accepted: 'visit.leg_accepted', leg_busy: 'visit.leg_busy', leg_no_answer: 'visit.leg_no_answer', leg_declined: 'visit.leg_declined',
    leg_failed: 'visit.leg_failed', leg_cancelled: 'visit.leg_cancelled', connected: 'visit.connected', unanswered: 'visit.unanswered',
    resident_opened: 'visit.resident_opened', listening: 'visit.listening', message_fetched: 'visit.fetched', message: 'visit.message', refused: 'visit.refused', failed: 'visit.failed', omitted: 'visit.omitted', ended: 'visit.ended',
};
/** @type {Record<string, string>} */
const SAID = { welcome: 'visit.said_welcome', granted: 'visit.said_granted', denied: 'visit.said_denied', forwarding: 'visit.said_forwarding' };
/** @type {Record<string, string>} */
const ENDED = { caller: 'visit.ended_caller', resident: 'visit.ended_resident' };
/** Phones that were not called, or no longer. @type {Record<string, string>} */
const LEFT_OUT = { destination: 'visit.leg_destination', minutes: 'visit.leg_minutes' };
/** Which a person does not need: the answer on the line is not the resident's. */
const HIDDEN = ['answered', 'established'];

/** The text of a step. @param {Step} step @param {NameOf} nameOf @param {number} keys */
function stepText(step, nameOf, keys) {
    if (step.step === 'key') return keys === 1 ? t('visit.key') : t('visit.keys', { count: keys });
    if (step.step === 'said') return t(SAID[step.detail ?? ''] ?? 'visit.said');
    if (step.step === 'ended') return t(ENDED[step.detail ?? ''] ?? 'visit.ended');
    const name = nameOf(step.grant_id);
    if (step.step === 'not_usable' && name) return t('visit.not_usable_name', { name, why: t(UNUSABLE[step.detail ?? ''] ?? 'verdict.part_other') });
    if (step.step === 'opens_next' && step.detail) return opensText(step);
    if (step.step === 'released' && name) return t('visit.released_name', { name });
    if (step.key_name && step.step === 'message_fetched') return t('visit.fetched_by', { name: step.key_name });
    if (step.key_name) return t(step.detail === 'conversation' ? 'visit.joined_by' : 'visit.listening_by', { name: step.key_name });
    const text = t(LEFT_OUT[step.step === 'leg_failed' ? step.detail ?? '' : ''] ?? STEPS[step.step] ?? 'visit.other');
    return step.number ? `${text} (… ${step.number})` : text;
}

/** @param {number} ms */
function offset(ms) {
    const s = Math.floor(ms / 1000);
    return `${Math.floor(s / 60)}:${String(s % 60).padStart(2, '0')}`;
}

/** @param {Call} record @param {NameOf} nameOf */
function stepList(record, nameOf) {
    /** @type {{step: Step, keys: number}[]} */
    const shown = [];
    for (const step of record.steps) {
        const last = shown.at(-1);
        if (HIDDEN.includes(step.step)) continue;
        if (step.step === 'key' && last?.step.step === 'key') last.keys += 1;
        else shown.push({ step, keys: 1 });
    }
    return h('ol', { class: 'story', 'aria-label': t('visit.steps') }, shown.map(({ step, keys }) =>
        h('li', { class: ['released', 'resident_opened'].includes(step.step) ? 'good' : ['code_wrong', 'failed', 'refused'].includes(step.step) ? 'bad' : '' },
            h('span', { class: 'num quiet small' }, offset(step.at_ms)), h('span', null, stepText(step, nameOf, keys)))));
}

/** A player for what a visitor said. @param {string} id of the call @param {number} seconds */
export function player(id, seconds) {
    const label = t('visit.listen', { length: t('visit.seconds', { count: seconds }) });
    return h('div', { class: 'player', key: `player-${id}` }, h('button', {
        type: 'button',
        onclick: async (/** @type {Event} */ event) => {
            const button = /** @type {HTMLButtonElement} */ (event.currentTarget);
            if (button.ariaBusy === 'true') return;
            button.ariaBusy = 'true';
            try {
                const audio = document.createElement('audio');
                audio.controls = true;
                audio.setAttribute('aria-label', t('visit.message'));
                audio.src = URL.createObjectURL(await call('GET', `/v1/calls/${id}/message`));
                button.parentElement?.append(audio);
                button.hidden = true;
                audio.focus();
                await audio.play().catch(() => {}); // without permission, the person presses play
            } catch (error) {
                if (!(error instanceof CallError)) throw error;
                const note = button.parentElement?.querySelector('.wrong');
                if (note) note.textContent = errorText(error.code);
            } finally {
                button.ariaBusy = null;
            }
        },
    }, icon('play'), label), h('p', { class: 'wrong', role: 'alert' }));
}

/** @param {Entry} entry @param {Call} record @param {NameOf} nameOf */
function story(entry, record, nameOf) {
    return h('div', { class: 'stack' },
        h('p', { class: 'answer' }, reason(entry, nameOf, record)),
        record.message_seconds !== null && player(record.id, record.message_seconds),
        h('dl', { class: 'facts' },
            h('dt', null, t('visit.when')), h('dd', { class: 'num' }, exactly(entry.created_at)),
            h('dt', null, t('visit.caller')), h('dd', { class: 'num' }, record.caller ?? t('visit.withheld')),
            record.duration_ms !== null && h('dt', null, t('visit.length')), record.duration_ms !== null && h('dd', { class: 'num' }, offset(record.duration_ms)),
            record.resident_opened && h('dt', null, t('visit.door')), record.resident_opened && h('dd', null, t('visit.resident_opened')),
            record.outcome === 'unreachable' && h('dt', null, t('visit.phone')), record.outcome === 'unreachable' && h('dd', null, t('visit.unreachable'))),
        record.steps.length > 0 ? stepList(record, nameOf) : h('p', { class: 'quiet' }, t('visit.no_steps')));
}

/** @param {Entry} entry @param {NameOf} nameOf */
function untold(entry, nameOf) {
    return h('div', { class: 'stack' },
        h('p', { class: 'answer' }, reason(entry, nameOf)),
        h('dl', { class: 'facts' }, h('dt', null, t('visit.when')), h('dd', { class: 'num' }, exactly(entry.created_at))),
        h('p', { class: 'note' }, t('visit.no_record', { length: length(30 * 86_400_000) })));
}

/** Shows a dialog with what `find` gives. @param {string} title @param {() => Promise<Child>} find its content */
async function tell(title, find) {
    /** @type {Child} */
    let content = h('p', { class: 'quiet', role: 'status' }, t('page.loading'));
    let redraw = () => {};
    const shown = dialog(title, (_, draw) => {
        redraw = draw;
        return [content];
    });
    try {
        content = await find();
    } catch (error) {
        if (!(error instanceof CallError)) throw error;
        content = h('p', { class: 'note bad', role: 'alert' }, errorText(error.code));
    }
    redraw();
    await shown;
}

/** Tells in a dialog why a visit ended as it did. @param {Entry} entry @param {NameOf} [nameOf] */
export const why = (entry, nameOf = () => undefined) => tell(titleOf(entry), async () => {
    const record = await recordOf(entry);
    return record ? story(entry, record, nameOf) : untold(entry, nameOf);
});

/** The same for a call that may have no entry in the log. @param {string} id @param {NameOf} nameOf */
export const whyCall = (id, nameOf) => tell(t('visit.visit'), async () => {
    const record = /** @type {Call} */ (await call('GET', `/v1/calls/${id}`));
    const entry = {
        id, type: record.outcome === 'released' ? 'unlock' : 'call', unlock_type: record.reason, unlock_id: record.grant_id ?? undefined, succeeded: true,
        name: nameOf(record.grant_id ?? undefined) ?? t('visit.opened'), created_at: record.started_at,
    };
    return story(entry, record, nameOf);
});
