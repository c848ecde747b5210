// Home: what happens if someone buzzes now, letting somebody in, the first steps, the last visits and the codes.
// texts: invite. setup. grant. pass. visit.
import { toast } from './lib/dialog.js';
import { drawing } from './lib/drawing.js';
import { change, lineOf } from './lib/grant.js';
import { shareSheet } from './lib/grant_sheets.js';
import { expect, letIn } from './lib/invite.js';
import { whenSeen } from './lib/live.js';
import { lacks } from './lib/missing.js';
import { at, building, data, refresh, tellError } from './lib/page.js';
import { phoneText } from './lib/phone.js';
import { choosePlan, setPhone, setTone } from './lib/setup.js';
import { t } from './lib/texts.js';
import { hour, length, now, when, zoneNote } from './lib/time.js';
import { h, icon, patch } from './lib/view.js';
import { row, sentenceOf } from './lib/visits.js';

/**
 * @typedef {import('./lib/grant.js').Grant} Grant
 * @typedef {import('./contract.js').Schemas['DecisionGrant']} Part
 * @typedef {import('./contract.js').Schemas['Decision']} Decision
 * @typedef {import('./lib/visits.js').Visit} Visit
 * @typedef {import('./lib/view.js').Child} Child
 */

/** @type {() => Decision} */ const decision = () => data.decision;
/** @type {() => Grant[]} */ const grants = () => data.grants.data;

/** Does something that a person asked for; then the page shows the new state. @param {() => Promise<unknown>} act */
async function run(act) {
    try {
        if (await act() !== false) await refresh();
    } catch (error) {
        tellError(error);
    }
    draw();
}

/** A listener for `run`. @param {() => Promise<unknown>} act */
const on = (act) => () => run(act);

// ---- the door ----

const opening = () => grants().find((grant) => grant.id === decision().grant_id);

/** When the grant that opens now ends, as text; empty if it is not known. @param {Grant | undefined} grant */
function endOf(grant) {
    if (grant?.ends_at) return when(grant.ends_at);
    return grant?.end ? hour(grant.end) : '';
}

/** "17:30 (Toronto time)" @param {string} time */
const placed = (time) => (zoneNote() ? `${time} (${zoneNote()})` : time);

/** The title and the sentence for the decision. @returns {[string, string]} */
function verdict() {
    const { verdict: taken, reason, keypad_closed_until: closed } = decision();
    if (!data.setup.virtual_number) return [t('not_yet'), t('not_yet_lead')];
    if (taken === 'release') {
        const end = endOf(opening());
        return [t('opens'), end ? t('opens_until', { time: placed(end) }) : t('opens_lead')];
    }
    if (taken === 'ask_code') return [t('code'), !data.phone ? t('code_others') : phone() ? t('code_lead') : t('code_alone')];
    const title = !data.phone ? t('rings_others') : phone() ? t('rings') : t('closed');
    if (reason === 'no_tone') return [title, t('rings_no_tone')];
    if (reason === 'no_subscription') return [title, t('rings_no_plan')];
    if (reason === 'keypad_closed') return [title, closed ? t('rings_keypad_until', { time: placed(when(closed)) }) : t('rings_keypad')];
    return [title, phone() || !data.phone ? t('rings_lead') : t('closed_lead')];
}

/** The account's phone, which members do not see. @type {() => string | null | undefined} */
const phone = () => data.phone?.phone_number;
/** A number without its middle. @param {string} number */
const masked = (number) => `${phoneText(number).slice(0, -8).trim()} ··· ${number.slice(-4)}`;

/** @type {Record<string, string>} */
const KINDS = { timer: t('timer'), passcode: t('passcode'), routine: t('routine') };

/** One line of the order in which the door decides. @param {string} name @param {string} title @param {string} hint @param {boolean} on @param {...Child} more */
function rung(name, title, hint, on, ...more) {
    return h('li', { key: name, class: on ? 'rung on' : 'rung' }, icon(name), h('div', null, h('b', null, title), h('br'), h('span', { class: 'small num' }, hint)), ...more);
}

/** @param {Part} part */
function openRung(part) {
    const grant = opening();
    const ends = grant?.ends_at ? Date.parse(grant.ends_at) : 0;
    const begins = Date.parse(grant?.starts_at ?? data.page.at);
    const left = Math.max(0, ends - now());
    const facts = [KINDS[part.type], ends > 0 && t('left', { time: length(left) }), !ends && endOf(grant) && t('until', { time: endOf(grant) }), grant && uses(grant)];
    const close = async () => {
        if (!grant) return;
        await change(grant, { enabled: false });
        toast(t('ended', { label: grant.label }), grant.id);
    };
    return rung(part.type, part.label, facts.filter(Boolean).join(' · '), true,
        part.type === 'timer' && grant && h('button', { class: 'end', type: 'button', 'aria-label': t('end_now', { label: part.label }), onclick: on(close) }, t('end')),
        ends > 0 && h('progress', { value: Math.round(left / 1000), max: Math.max(1, Math.round((ends - begins) / 1000)), 'aria-label': t('left', { time: length(left) }) }));
}

/** How often a grant opens the door; empty if that is not limited. @param {Grant} grant */
function uses({ remaining_uses: count }) {
    if (typeof count !== 'number') return '';
    return count === 1 ? t('one_use') : t('uses', { count });
}

const NAMED = 3;

function rungs() {
    const { grants: parts, more_grants: more, verdict: taken, grant_id: id } = decision();
    const open = parts.find((part) => part.id === id);
    const codes = parts.filter((part) => part.type === 'passcode' && ['needs_code', 'not_asked', 'comes_later'].includes(part.result));
    // Only the newest grants are named (src/domain/access_explain.h), so there may be more codes.
    const count = codes.length === 1 ? t('one_code') : t(more > 0 ? 'codes_least' : 'codes', { count: codes.length });
    const names = codes.slice(0, NAMED).map((part) => part.label).join(', ');
    const named = codes.length > NAMED ? t('codes_named', { names, count: codes.length - NAMED }) : names;
    const grant = opening();
    const end = grant?.remaining_uses ? '' : endOf(grant);
    const title = taken !== 'release' ? count : end ? t('from', { time: end, what: count }) : t('then', { what: count });
    const number = phone();
    return h('ol', { class: 'rungs', 'aria-label': t('order') },
        open && openRung(open),
        codes.length > 0 && rung('passcode', title, named, taken === 'ask_code'),
        !data.phone ? rung('phone', t('phone_others'), '', taken === 'forward') : number ? rung('phone', codes.length > 0 ? t('phone_no_code') : t('phone'), masked(number), taken === 'forward') : rung('phone', t('no_phone'), t('no_phone_hint'), false));
}

function door() {
    const [title, lead] = verdict();
    return h('section', { class: 'door', 'aria-labelledby': 'now', key: 'door' }, drawing(decision().verdict === 'release'),
        h('h1', { id: 'now' }, title), h('p', { class: 'num' }, lead), data.setup.virtual_number && rungs());
}

// ---- letting somebody in ----

/** @param {string} name @param {string} title @param {string} hint @param {() => Promise<unknown>} act */
function act(name, title, hint, act) {
    return h('button', { class: 'act', type: 'button', key: name, onclick: on(act) }, h('i', null, icon(name)),
        h('span', null, h('b', null, title), h('span', { class: 'small quiet' }, hint)));
}

function acts() {
    return h('section', { class: 'acts', 'aria-label': t('acts'), key: 'acts' },
        act('timer', t('act_next'), t('act_next_hint'), () => letIn('next')),
        act('passcode', t('act_code'), t('act_code_hint'), () => letIn('guest')),
        act('person', t('act_expect'), t('act_expect_hint'), () => expect()));
}

// ---- the first steps ----

const OPENED = `opened.${building.id}`;
let opened = localStorage.getItem(OPENED) !== null;

async function sawItOpen() {
    localStorage.setItem(OPENED, data.page.at);
    opened = true;
    toast(t('complete'));
    return false;
}

async function seeLetter() {
    location.assign(`/building?building=${building.id}#letter`);
    return false;
}

/** A door to press in the sandbox; elsewhere a person walks to it. */
function buzzHint() {
    const number = data.setup.virtual_number;
    const sandbox = document.querySelector('.try') !== null;
    return [number && h('span', { class: 'small quiet num' }, t('buzz_number', { number: phoneText(number) }), ' '), h('span', { class: 'small quiet' }, t('buzz_hint')),
        number && sandbox && h('span', { class: 'small quiet' }, ' ', h('a', { href: '/sandbox/#bell' }, t('buzz_sandbox')))];
}

/** @typedef {{key: string, done: boolean, title: string, hint?: Child | Child[], button?: [string, () => Promise<unknown>], wait?: boolean}} Step */

/** The owner's steps. @returns {Step[]} */
function steps() {
    if (!data.phone) return [];
    const { setup, phone: { pending } } = data;
    const active = !lacks('subscription');
    const number = setup.virtual_number;
    return [
        { key: 'plan', done: active, title: active ? t('plan_done') : t('plan'), hint: t('plan_hint'), button: [t('plan_do'), choosePlan] },
        { key: 'number', done: Boolean(number), title: number ? t('number_done', { number: phoneText(number) }) : t('number'), hint: active ? t('number_wait') : t('number_hint') },
        { key: 'tone', done: Boolean(setup.unlock_tone), title: setup.unlock_tone ? t('tone_done', { tone: setup.unlock_tone }) : t('tone'), hint: t('tone_hint'), button: [t('tone_do'), setTone], wait: !number },
        { key: 'phone', done: Boolean(phone()), title: phone() ? t('phone_done') : t('phone_step'), hint: t('phone_hint'), button: [pending ? t('phone_confirm') : t('phone_do'), setPhone], wait: !number },
        { key: 'letter', done: Boolean(setup.last_successful_buzz_at) || localStorage.getItem(`letter.${building.id}`) !== null, title: t('letter'), hint: t('letter_hint'), button: [t('letter_do'), seeLetter], wait: !setup.unlock_tone },
        { key: 'first', done: grants().length > 0 || Boolean(setup.last_successful_buzz_at), title: t('first'), hint: t('first_hint'), button: [t('act_code'), () => letIn('guest')], wait: !number },
        { key: 'buzz', done: opened && !lacks('call_box'), title: t('buzz'), hint: buzzHint(), button: [t('buzz_do'), sawItOpen], wait: !setup.last_successful_buzz_at },
    ];
}

/** @param {Step[]} all */
function checklist(all) {
    const done = all.filter((step) => step.done).length;
    const next = all.find((step) => !step.done && !step.wait);
    return h('section', { class: 'card side', 'aria-labelledby': 'steps', key: 'steps' },
        h('div', { class: 'head' }, h('h2', { id: 'steps' }, t('steps')), h('span', { class: 'small quiet num' }, t('done_of', { done, all: all.length }))),
        h('progress', { class: 'meter', value: done, max: all.length, 'aria-labelledby': 'steps' }),
        h('ul', { class: 'steps' }, all.map((step) => h('li', { class: step.done ? 'done' : 'todo', key: step.key },
            icon(step.done ? 'done' : 'todo', step.done ? t('done') : t('todo')),
            h('div', null, h('b', { class: 'num' }, step.title), !step.done && h('br'), !step.done && (typeof step.hint === 'string' ? h('span', { class: 'small quiet' }, step.hint) : step.hint),
                !step.done && !step.wait && step.button && h('p', { class: 'actions' },
                    h('button', { class: step === next && 'primary', type: 'button', onclick: on(step.button[1]) }, step.button[0])))))));
}

// ---- the last visits ----

/** @param {Visit} visit */
const whyLink = (visit) => visit.call_id && h('a', { class: 'why', href: `/activity?call=${visit.call_id}`, 'aria-label': t('why_of', { title: sentenceOf(visit), time: when(visit.started_at) }) }, t('why'));

function visits() {
    /** @type {Visit[]} */
    const all = data.visits.data;
    return h('section', { class: 'card visits-card', 'aria-labelledby': 'visits', key: 'visits' },
        h('div', { class: 'head' }, h('h2', { id: 'visits' }, t('visits')), h('a', { class: 'small', href: '/activity' }, t('all_visits'))),
        all.length === 0 ? h('p', { class: 'quiet' }, t('no_visits')) : h('ul', { class: 'rows visits' }, all.map((visit) => row(visit, when(visit.started_at), whyLink(visit)))));
}

// ---- the codes ----

/** @type {Set<string>} the IDs of the codes that are shown */
const shown = new Set();

/** @param {Grant} grant */
function code(grant) {
    const is = shown.has(grant.id);
    const flip = () => {
        if (!shown.delete(grant.id)) shown.add(grant.id);
        draw();
    };
    return h('li', { key: grant.id }, h('div', null, h('b', null, grant.label), h('span', { class: 'small quiet num' }, lineOf(grant))),
        h('button', { class: 'pin', type: 'button', 'aria-label': is ? t('hide_code', { code: grant.access_code ?? '', label: grant.label }) : t('show_code', { label: grant.label }), onclick: flip }, is ? grant.access_code : '••••'),
        h('button', { class: 'round', type: 'button', 'aria-label': t('share_code', { label: grant.label }), onclick: on(() => shareSheet(grant).then(() => false)) }, icon('share')));
}

const CODES_SHOWN = 4;

function codes() {
    const all = grants().filter((grant) => grant.type === 'passcode');
    return h('section', { class: 'card side', 'aria-labelledby': 'codes', key: 'codes' },
        h('div', { class: 'head' }, h('h2', { id: 'codes' }, t('your_codes')), h('a', { class: 'small', href: '/access' }, t('all_access'))),
        all.length === 0 ? [h('p', { class: 'quiet', key: 'none' }, t('no_codes')), h('p', { class: 'actions', key: 'make' }, h('button', { type: 'button', onclick: on(() => letIn('guest')) }, t('act_code')))]
            : h('ul', { class: 'rows codes' }, all.slice(0, CODES_SHOWN).map(code)));
}

// ---- the page ----

function draw() {
    const all = steps();
    const ready = all.every((step) => step.done);
    const place = at('page');
    place.className = ready ? 'ready' : '';
    const connected = data.setup.virtual_number !== null;
    patch(place, [door(), connected && acts(), !ready && checklist(all), connected && visits(), connected && codes()]);
}

draw();

// The time that is left goes on, and what ends is shown at once, while somebody looks.
setInterval(() => {
    if (document.hidden) return;
    const ends = opening()?.ends_at;
    if (ends && Date.parse(ends) <= now()) run(async () => true);
    else draw();
}, 20_000);

whenSeen(() => true, () => refresh().then(draw));
