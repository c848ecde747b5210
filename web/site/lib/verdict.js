// What the door would do, in words: GET /v1/buildings/{buildingId}/decision.
// texts: verdict. visit.
import { t } from './texts.js';
import { when } from './time.js';
import { h, icon } from './view.js';
import { reasonText, UNUSABLE } from './visits.js';

/**
 * @typedef {import('../contract.js').Schemas['DecisionGrant']} Part
 * @typedef {import('../contract.js').Schemas['Decision']} Decision
 */

/** @type {Record<string, [string, string]>} */
const REASONS = {
    no_tone: ['verdict.rings', 'verdict.no_tone'], no_subscription: ['verdict.rings', 'verdict.no_plan'], keypad_closed: ['verdict.rings', 'verdict.keypad'],
};

const WRONG = ['wrong_code', 'incomplete_code'];

/** The title and the sentence of a decision. @param {Decision} decision @returns {[string, string]} */
export function verdictOf(decision) {
    if (decision.verdict === 'release') return [t('verdict.opens'), t(decision.reason === 'passcode' ? 'verdict.opens_code' : 'verdict.opens_lead', { name: decision.grant_label ?? '' })];
    if (decision.verdict === 'ask_code') return [t('verdict.code'), t('verdict.code_lead')];
    if (WRONG.includes(decision.verdict) && decision.reason !== 'keypad_closed') return [t('verdict.wrong'), t('verdict.wrong_lead')];
    const [title, lead] = REASONS[decision.reason] ?? ['verdict.rings', 'verdict.rings_lead'];
    return [t(title), t(lead)];
}

/** Whose code the digits are, and why it opens nothing; empty if it could open, or there are none. @param {Decision} decision */
export const codeText = ({ code }) => (code ? `${reasonText({ ...code, code: code.result })}.` : '');

/** @type {Record<string, string>} */
const RESULTS = {
    ...UNUSABLE,
    opens: 'verdict.part_opens', comes_later: 'verdict.part_later', needs_code: 'verdict.part_code', wrong_digits: 'verdict.part_code', keypad_closed: 'verdict.part_keypad',
    not_asked: 'verdict.part_not_asked',
};

/** @param {Part} part */
function partText(part) {
    if (part.next_at) return t('verdict.part_next', { time: when(part.next_at) });
    return t(RESULTS[part.result] ?? 'verdict.part_other');
}

const SHOWN = 8;

/** The grants, each with its part in the decision. @param {Decision} decision */
export function grantParts({ grants, more_grants: more }) {
    const hidden = more + Math.max(0, grants.length - SHOWN);
    return grants.length > 0 && h('ul', { class: 'rows parts' }, grants.slice(0, SHOWN).map((part) => h('li', { key: part.id, class: part.result === 'opens' ? 'on' : '' }, icon(part.type),
        h('div', null, h('b', null, part.label), h('span', { class: 'small quiet' }, partText(part))))),
    hidden > 0 && h('li', { key: 'more' }, h('div', null, h('span', { class: 'small quiet' }, t('verdict.more', { count: hidden })))));
}
