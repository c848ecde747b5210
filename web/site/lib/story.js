// Why a visit ended as it did: the call step by step, as GET /v1/calls/{call_id} has it, and what the visitor said.
// texts: story. visit. verdict.
import { CallError, call } from './call.js';
import { dialog } from './dialog.js';
import { errorText, t } from './texts.js';
import { player } from './player.js';
import { clock, comingDay, exactly, length } from './time.js';
import { h } from './view.js';
import { callerOf, keyName, reasonText, sentenceOf, UNUSABLE } from './visits.js';

/**
 * @typedef {import('./view.js').Child} Child
 * @typedef {import('./visits.js').Visit} Visit
 * @typedef {(id?: string) => string | undefined} NameOf the label of a grant, if it is known
 * @typedef {import('../contract.js').Schemas['CallStep']} Step
 * @typedef {import('../contract.js').Schemas['Call']} Call
 */

/** @param {Step} step "opens_next" */
const opensText = ({ detail = '' }) => t('story.opens_next', { day: comingDay(detail), time: clock(detail) });

/** How a grant opened. @type {Record<string, string>} */
const WAYS = { code: 'story.by_code', timer: 'story.by_timer', routine: 'story.by_routine' };

/** The sentences that answer "why?". @param {Visit} visit @param {Call} [record] */
function answerOf({ opened_by: by, reason, ...visit }, record) {
    if (by?.name && WAYS[by.kind]) return t(WAYS[by.kind], { name: by.name });
    if (reason?.code === 'wrong_code') return t('story.wrong');
    if (visit.outcome === 'ended_by_visitor') return t('story.none');
    const next = record?.steps.find(({ step }, i) => step === 'opens_next' && reason?.unlock_id && record.steps[i - 1]?.grant_id === reason.unlock_id);
    const why = reasonText(reason) || sentenceOf({ ...visit, opened_by: by, reason });
    return `${[why, next && opensText(next)].filter(Boolean).join('. ')}.`;
}

/** @type {Record<string, string>} */
const STEPS = {
    arrived: 'story.arrived', answered: 'story.answered', established: 'story.established', said: 'story.said', asked_code: 'story.asked', spoken: 'story.spoken',
    unclear: 'story.unclear', code_wrong: 'story.code_wrong', code_incomplete: 'story.code_incomplete', silence: 'story.silence', released: 'story.released', forwarded: 'story.forwarded',
    not_usable: 'story.not_usable', tone_sent: 'story.tone', tone_fallback: 'story.fallback', ringing: 'story.ringing', leg_answered: 'story.leg_answered',
    leg_accepted: 'story.leg_accepted', leg_busy: 'story.leg_busy', leg_no_answer: 'story.leg_no_answer', leg_declined: 'story.leg_declined',
    leg_failed: 'story.leg_failed', leg_cancelled: 'story.leg_cancelled', connected: 'story.connected', unanswered: 'story.unanswered',
    resident_opened: 'story.resident_opened', listening: 'story.listening', message_fetched: 'story.fetched', message: 'story.message', refused: 'story.refused', failed: 'story.failed', omitted: 'story.omitted', ended: 'story.ended',
};
/** @type {Record<string, string>} */
const SAID = { welcome: 'story.said_welcome', granted: 'story.said_granted', denied: 'story.said_denied', forwarding: 'story.said_forwarding' };
/** @type {Record<string, string>} */
const ENDED = { caller: 'story.ended_caller', resident: 'story.ended_resident' };
/** Phones that were not called, or no longer. @type {Record<string, string>} */
const LEFT_OUT = { destination: 'story.leg_destination', minutes: 'story.leg_minutes', quiet: 'story.leg_quiet' };
/** Which a person does not need: the answer on the line is not the resident's. */
const HIDDEN = ['answered', 'established'];

/** The text of a step. @param {Step} step @param {NameOf} nameOf @param {number} keys */
function stepText(step, nameOf, keys) {
    if (step.step === 'key') return keys === 1 ? t('story.key') : t('story.keys', { count: keys });
    if (step.step === 'said') return t(SAID[step.detail ?? ''] ?? 'story.said');
    if (step.step === 'ended') return t(ENDED[step.detail ?? ''] ?? 'story.ended');
    const name = nameOf(step.grant_id);
    if (step.step === 'not_usable' && name) return t('story.not_usable_name', { name, why: t(UNUSABLE[step.detail ?? ''] ?? 'verdict.part_other') });
    if (step.step === 'opens_next' && step.detail) return opensText(step);
    if (step.step === 'released' && name) return t('story.released_name', { name });
    const key = keyName(step.key_name);
    if (step.step === 'resident_opened' && step.detail === 'no_tone') return t('visit.no_tone');
    if (step.step === 'resident_opened' && step.key_id) return key ? t('story.opened_by', { name: key }) : t('story.opened_in');
    if (key && step.step === 'message_fetched') return t('story.fetched_by', { name: key });
    if (step.step === 'listening' && step.detail === 'conversation') return key ? t('story.joined_by', { name: key }) : t('story.joined');
    if (key) return t('story.listening_by', { name: key });
    const text = t(LEFT_OUT[step.step === 'leg_failed' ? step.detail ?? '' : ''] ?? STEPS[step.step] ?? 'story.other');
    return step.number ? `${text} (…${step.number.replace(/^\.+/, '')})` : text;
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
    return h('ol', { class: 'story', 'aria-label': t('story.steps') }, shown.map(({ step, keys }) =>
        h('li', { class: ['released', 'resident_opened'].includes(step.step) ? 'good' : ['code_wrong', 'failed', 'refused'].includes(step.step) ? 'bad' : '' },
            h('span', { class: 'num quiet small' }, offset(step.at_ms)), h('span', null, stepText(step, nameOf, keys)))));
}

/** A player for what a visitor said. @param {string} id of the call @param {number} seconds */
export const message = (id, seconds) => player({
    key: id, label: t('story.listen', { length: t('visit.seconds', { count: seconds }) }), name: t('story.message'), read: () => call('GET', `/v1/calls/${id}/message`),
});

/** @param {Visit} visit @param {Call} record @param {NameOf} nameOf */
function story(visit, record, nameOf) {
    return h('div', { class: 'stack' },
        h('p', { class: 'answer' }, answerOf(visit, record)),
        record.message_seconds !== null && message(record.id, record.message_seconds),
        h('dl', { class: 'facts' },
            h('dt', null, t('story.when')), h('dd', { class: 'num' }, exactly(visit.started_at)),
            h('dt', null, t('story.caller')), h('dd', { class: 'num' }, callerOf(visit)),
            record.duration_ms !== null && h('dt', null, t('story.length')), record.duration_ms !== null && h('dd', { class: 'num' }, offset(record.duration_ms)),
            record.outcome === 'unreachable' && h('dt', null, t('story.phone')), record.outcome === 'unreachable' && h('dd', null, t('story.unreachable'))),
        record.steps.length > 0 ? stepList(record, nameOf) : h('p', { class: 'quiet' }, t('story.no_steps')));
}

/** @param {Visit} visit */
function untold(visit) {
    const caller = callerOf(visit);
    return h('div', { class: 'stack' },
        h('p', { class: 'answer' }, answerOf(visit)),
        h('dl', { class: 'facts' }, h('dt', null, t('story.when')), h('dd', { class: 'num' }, exactly(visit.started_at)),
            caller && h('dt', null, t('story.caller')), caller && h('dd', { class: 'num' }, caller)),
        h('p', { class: 'note' }, t('story.no_record', { length: length(30 * 86_400_000) })));
}

/** @param {Visit} visit @returns {Promise<Call | undefined>} undefined: there is none any more */
async function recordOf({ call_id: id }) {
    try {
        return id ? await call('GET', `/v1/calls/${id}`) : undefined;
    } catch (error) {
        if (!(error instanceof CallError) || error.status !== 404) throw error;
        return undefined;
    }
}

/** Tells in a dialog why a visit ended as it did. @param {Visit} visit @param {NameOf} nameOf */
export async function why(visit, nameOf) {
    /** @type {Child} */
    let content = h('p', { class: 'quiet', role: 'status' }, t('page.loading'));
    let redraw = () => {};
    const shown = dialog(sentenceOf(visit), (_, draw) => {
        redraw = draw;
        return [content];
    });
    try {
        const record = await recordOf(visit);
        content = record ? story(visit, record, nameOf) : untold(visit);
    } catch (error) {
        if (!(error instanceof CallError)) throw error;
        content = h('p', { class: 'note bad', role: 'alert' }, errorText(error.code));
    }
    redraw();
    await shown;
}
