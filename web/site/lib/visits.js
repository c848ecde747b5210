// Visits at the door, one for each time that somebody buzzed: GET /v1/visits in words and as rows.
// texts: visit.
import { phoneText } from './phone.js';
import { language, t } from './texts.js';
import { h, icon } from './view.js';

/**
 * @typedef {import('./view.js').Child} Child
 * @typedef {import('../contract.js').Schemas['VisitOpener']} Opener
 * @typedef {import('../contract.js').Schemas['VisitReason']} Reason
 * @typedef {import('../contract.js').Schemas['Visit']} Visit
 * @typedef {import('../contract.js').Schemas['VisitPage']} VisitPage
 */

/** The text, the drawing and the class of each outcome. @type {Record<string, [string, string, string]>} */
const OUTCOMES = {
    opened: ['visit.opened', 'ok', 'opened'], forwarded: ['visit.forwarded', 'phone', ''], missed: ['visit.missed', 'todo', 'wrong'], message: ['visit.message', 'play', ''],
    refused: ['visit.refused', 'no', 'wrong'], ended_by_visitor: ['visit.ended_by_visitor', 'person', ''], in_progress: ['visit.in_progress', 'door', ''],
};
/** As the service tells them. @type {[string, string][]} */
export const outcomes = Object.entries(OUTCOMES).map(([name, [text]]) => [name, t(text)]);

/** Who opened: with a name or the end of a number, and without. @type {Record<string, [string, string]>} */
const OPENERS = {
    code: ['visit.by_code', 'visit.by_some_code'], timer: ['visit.by_timer', 'visit.by_some_timer'], routine: ['visit.by_routine', 'visit.by_some_routine'],
    phone: ['visit.by_phone', 'visit.by_some_phone'], browser: ['visit.by_browser', 'visit.by_some_browser'], program: ['visit.by_program', 'visit.by_some_program'],
};

/** Why a grant cannot be used, in visits, decisions and the steps of a call. @type {Record<string, string>} */
export const UNUSABLE = {
    switched_off: 'visit.part_off', used_up: 'visit.part_used', expired: 'visit.part_expired', not_begun: 'visit.part_not_begun', outside_window: 'visit.part_outside', revoked: 'visit.part_revoked',
};
/** @type {Record<string, string>} */
const REASONS = {
    wrong_code: 'visit.wrong_code', keypad_closed: 'visit.keypad', no_code: 'visit.no_code', no_grant: 'visit.no_grant', not_listed: 'visit.not_listed', no_tone: 'visit.no_tone',
    no_subscription: 'visit.no_plan', one_way: 'visit.one_way', error: 'visit.failed', owner: 'visit.owner',
};
/** Which are as usual, so that only the whole story tells them. */
const USUAL = ['no_code', 'no_grant'];

/** The name of a key, but for the website's, which all have the same (src/domain/session.h). @param {string | null} [name] */
export const keyName = (name) => (name === 'Website session' ? null : name);

/** @param {string} text */
const within = (text) => text[0].toLocaleLowerCase(language) + text.slice(1);

/** @param {Opener} opener */
function openerText({ kind, name, number }) {
    if (kind === 'phone' && name) return t('visit.by_person', { name });
    const who = kind === 'phone' ? number?.replace(/^\.+/, '') : keyName(name);
    const [named, unnamed] = OPENERS[kind] ?? ['visit.opened', 'visit.opened'];
    return who ? t(named, { name: who }) : t(unnamed);
}

/** Why no grant opened the door; empty if one did, or it is not known. @param {Reason | null} reason */
export function reasonText(reason) {
    if (!reason) return '';
    const unusable = UNUSABLE[reason.code];
    if (!unusable) return REASONS[reason.code] ? t(REASONS[reason.code]) : '';
    const why = within(t(unusable));
    return reason.name ? t('visit.near', { name: reason.name, why }) : t('visit.near_some', { why });
}

/** @param {Visit} visit */
const unusual = ({ reason }) => (USUAL.includes(reason?.code ?? '') ? '' : reasonText(reason));

/** A visit in one sentence. @param {Visit} visit */
export function sentenceOf(visit) {
    if (visit.opened_by) return openerText(visit.opened_by);
    const what = t(OUTCOMES[visit.outcome]?.[0] ?? 'visit.visit');
    const why = visit.outcome === 'opened' ? '' : unusual(visit);
    return why ? t('visit.because', { what, why: within(why) }) : what;
}

/** The caller's number, as people write it; empty if it is not known any more. @param {Visit} visit */
export const callerOf = ({ caller, call_id: record }) => (caller ? phoneText(caller) : record ? t('visit.withheld') : '');

/** @param {Visit} visit @param {string} time @param {Child} [more] */
export function row(visit, time, more) {
    const [, drawing, kind] = OUTCOMES[visit.outcome] ?? ['', 'list', ''];
    const facts = [visit.opened_by && unusual(visit), visit.message_seconds && t('visit.seconds', { count: visit.message_seconds }), callerOf(visit)];
    return h('li', { key: visit.id }, h('span', { class: `sign ${kind}` }, icon(drawing)),
        h('div', null, h('b', null, sentenceOf(visit)), h('span', { class: 'small quiet num' }, facts.filter(Boolean).join(' · '))),
        h('div', { class: 'at' }, h('time', { class: 'num small', datetime: visit.started_at }, time), more));
}
