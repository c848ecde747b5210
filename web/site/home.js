// Home: what happens if someone buzzes now, and what the door still needs.
import { data } from './lib/page.js';
import { t } from './lib/texts.js';
import { h, icon, patch } from './lib/view.js';

/**
 * @typedef {{id: string, type: string, label: string, result: string}} Grant
 * @typedef {{verdict: string, reason: string, grant_id: string | null, grant_label: string | null, keypad_closed_until: string | null, grants: Grant[]}} Decision
 * @typedef {{virtual_number: string | null, unlock_tone: string | null, last_successful_buzz_at: string | null}} Setup
 */

const { account } = data;
/** @type {Setup} */ const setup = data.setup;
/** @type {Decision} */ const decision = data.decision;

/** The door of the picture. @param {boolean} open */
function drawing(open) {
    return h('svg', { viewBox: '0 0 160 150', 'aria-hidden': 'true', class: open ? 'open' : 'shut' },
        h('path', { class: 'beam', d: 'M72 128 8 150h152l-48-22z' }),
        h('path', { class: 'sill', d: 'M66 128V40a26 26 0 0 1 52 0v88z' }),
        h('path', { class: 'light', d: 'M72 128V42a20 20 0 0 1 40 0v86z' }),
        h('path', { class: 'leaf', d: open ? 'M72 128V42a20 20 0 0 1 15-19.4V136z' : 'M72 128V42a20 20 0 0 1 40 0v86z' }),
        h('circle', { class: 'knob', cx: open ? '82' : '106', cy: '86', r: '1.8' }));
}

/** The title and the sentence for a decision. @returns {[string, string]} */
function verdict() {
    if (!setup.virtual_number) return [t('not_yet'), t('not_yet_lead')];
    if (decision.verdict === 'release') return [t('opens'), t('opens_lead')];
    if (decision.verdict === 'ask_code') return [t('code'), t('code_lead')];
    if (decision.reason === 'no_tone') return [t('rings'), t('rings_no_tone')];
    if (decision.reason === 'no_subscription') return [t('rings'), t('rings_no_plan')];
    if (decision.reason === 'keypad_closed') return [t('rings'), t('rings_keypad')];
    return [t('rings'), t('rings_lead')];
}

/** @type {Record<string, string>} */
const KINDS = { timer: t('timer'), passcode: t('passcode'), routine: t('routine') };

/** One line of the order in which the door decides. @param {string} name @param {string} title @param {string} hint @param {boolean} on */
function rung(name, title, hint, on) {
    return h('li', { class: on ? 'rung on' : 'rung' }, icon(name), h('div', null, h('b', null, title), h('br'), h('span', { class: 'small' }, hint)));
}

function rungs() {
    const opening = decision.grants.find((grant) => grant.id === decision.grant_id);
    const codes = decision.grants.filter((grant) => grant.type === 'passcode' && ['needs_code', 'not_asked', 'comes_later'].includes(grant.result));
    const names = codes.map((grant) => grant.label).join(', ');
    return h('ol', { class: 'rungs', 'aria-label': t('order') },
        opening && rung(opening.type, opening.label, KINDS[opening.type], true),
        codes.length > 0 && rung('passcode', codes.length === 1 ? t('one_code') : t('codes', { count: codes.length }), names, decision.verdict === 'ask_code'),
        rung('phone', t('phone'), t('phone_hint'), decision.verdict === 'forward'));
}

function door() {
    const [title, lead] = verdict();
    return h('section', { class: 'door', 'aria-labelledby': 'now' }, drawing(decision.verdict === 'release'),
        h('h1', { id: 'now' }, title), h('p', {}, lead), setup.virtual_number && rungs());
}

function steps() {
    const active = account.subscription.status !== 'none';
    /** @type {[boolean, string, string][]} */
    const all = [
        [active, active ? t('plan_done') : t('plan'), t('plan_hint')],
        [Boolean(setup.virtual_number), setup.virtual_number ? t('number_done', { number: setup.virtual_number }) : t('number'), t('number_hint')],
        [Boolean(setup.unlock_tone), setup.unlock_tone ? t('tone_done', { tone: setup.unlock_tone }) : t('tone'), t('tone_hint')],
        [Boolean(setup.last_successful_buzz_at), setup.last_successful_buzz_at ? t('buzz_done') : t('buzz'), t('buzz_hint')],
    ];
    const done = all.filter(([is]) => is).length;
    return h('section', { class: 'card', 'aria-labelledby': 'steps' },
        h('div', { class: 'head' }, h('h2', { id: 'steps' }, t('steps')), h('span', { class: 'small quiet num' }, t('done_of', { done, all: all.length }))),
        h('progress', { class: 'meter', value: String(done), max: String(all.length), 'aria-labelledby': 'steps' }),
        h('ul', { class: 'steps' }, ...all.map(([is, title, hint]) => h('li', { class: is ? 'done' : 'todo' }, icon(is ? 'done' : 'todo', is ? t('done') : t('todo')),
            h('div', null, h('b', { class: 'num' }, title), !is && h('br'), !is && h('span', { class: 'small quiet' }, hint))))));
}

patch(document.getElementById('page') ?? document.body, [door(), steps()]);
