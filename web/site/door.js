// Someone is at the door: shown by lib/doorbell.js on every page. First listen, then talk: a page asks for the microphone
// only when somebody answers, and without it one can still listen and open.
import { CallError, call, whenSignedOut } from './lib/call.js';
import { building, data } from './lib/data.js';
import { after, duration, isStale } from './lib/door_call.js';
import { drawing } from './lib/drawing.js';
import { flash, mayRing, setRing, sound } from './lib/door_sound.js';
import { Line } from './lib/door_talk.js';
import { phoneText } from './lib/phone.js';
import { errorText, t } from './lib/texts.js';
import { toField } from './lib/time.js';
import { h, icon, patch } from './lib/view.js';

/**
 * @typedef {import('./lib/door_call.js').DoorCall} DoorCall
 * @typedef {import('./lib/live.js').LiveEvent} LiveEvent
 * @typedef {import('./lib/view.js').Child} Child
 */

/** What this page does with a call. @typedef {'' | 'joining' | 'listening' | 'answering' | 'talking'} Part */

/** @typedef {object} Visit
 * @property {DoorCall} call
 * @property {Part} part
 * @property {boolean} elsewhere another page of this browser has answered
 * @property {'answered' | 'answered_here' | 'answered_window'} answered what is known of who answered
 * @property {'opened' | 'resident_opened'} opener what is known of who opened
 * @property {boolean} hidden by the person
 * @property {boolean} resting in the person's quiet hours, while others can answer
 * @property {boolean} deaf browsers cannot hear this call
 * @property {boolean} phoneOnly nothing can be done here
 * @property {boolean} muted
 * @property {boolean} opening
 * @property {string} note
 * @property {boolean} bad the note tells of a failure
 * @property {number} shown when it was shown first, by the page's clock, as `over`
 * @property {number} [over] when it was over
 * @property {Line} [line]
 */

const LINGERS_MS = 8_000;
/** A press that early was meant for what was there before the view. */
const UNMEANT_MS = 500;

/** @type {Map<string, Visit>} */
const visits = new Map();
/** @type {HTMLElement} */
let place;
/** @type {() => number} */
let now = Date.now;

// ---- other pages of this browser ----

const others = new BroadcastChannel(`door.${building.id}`);
others.addEventListener('message', ({ data: { asks, id, has } }) => {
    const asked = visits.get(id);
    if (asks) return asked && asked.part === 'talking' && others.postMessage({ id, has: true });
    if (!asked) return undefined;
    asked.elsewhere = has;
    if (has) asked.answered = 'answered_window';
    return draw();
});

// ---- what is done ----

/** @param {Visit} visit @param {string} note @param {boolean} [bad] */
function say(visit, note, bad = false) {
    visit.note = note;
    visit.bad = bad;
    draw();
}

/** @type {Record<string, string>} */
const FAILURES = {
    NotAllowedError: 'microphone_refused', NotFoundError: 'microphone_missing', NotReadableError: 'microphone_missing',
};

/** Tells why something could not be done. @param {Visit} visit @param {unknown} error */
function tellFailure(visit, error) {
    if (error instanceof CallError) return say(visit, errorText(error.code), true);
    if (!(error instanceof DOMException)) throw error;
    return say(visit, t(FAILURES[error.name] === 'microphone_refused' ? 'microphone_refused' : 'microphone_missing'), true);
}

/** Ends the sound here. @param {Visit} visit @param {boolean} [over] the call has ended for all */
function leave(visit, over = false) {
    if (over) visit.line?.close();
    else visit.line?.leave();
    visit.line = undefined;
    if (visit.part === 'talking') others.postMessage({ id: visit.call.id, has: false });
    visit.part = '';
}

/** @param {Visit} visit @returns {Promise<boolean>} */
async function join(visit) {
    if (visit.line) return true;
    const line = new Line(visit.call.id, () => {
        leave(visit);
        say(visit, t('lost'), true);
    });
    visit.line = line;
    visit.part = 'joining';
    say(visit, '');
    try {
        await line.listen();
    } catch (error) {
        leave(visit);
        visit.deaf = error instanceof CallError && error.code === 'CALL_ELSEWHERE';
        if (visit.deaf) draw();
        else tellFailure(visit, error);
        return false;
    }
    if (visit.line !== line) return false;
    visit.part = 'listening';
    draw();
    return true;
}

/** @param {Visit} visit */
async function answer(visit) {
    if (['answering', 'talking'].includes(visit.part) || !await join(visit)) return;
    const { line } = visit;
    visit.part = 'answering';
    draw();
    try {
        await line?.openMicrophone();
        if (visit.line !== line) return;
        await line?.answer();
        if (visit.line !== line) return;
        visit.part = 'talking';
        visit.answered = 'answered_here';
        others.postMessage({ id: visit.call.id, has: true });
        say(visit, '');
    } catch (error) {
        if (visit.line !== line) return;
        visit.part = 'listening';
        tellFailure(visit, error);
    }
}

/** @param {Visit} visit */
async function open(visit) {
    if (visit.opening) return;
    visit.opening = true;
    say(visit, '');
    try {
        const listener = visit.line?.listener;
        await call('POST', `/v1/calls/${visit.call.id}/open`, listener ? { listener_id: listener } : {});
        visit.opener = 'resident_opened';
        say(visit, t('tone_sent'));
    } catch (error) {
        visit.phoneOnly = error instanceof CallError && error.code === 'CALL_ELSEWHERE';
        tellFailure(visit, error);
    } finally {
        visit.opening = false;
        draw();
    }
}

/** Leaves the bell out if these are the person's quiet hours, by the building's clock. @param {Visit} visit */
async function rest(visit) {
    visit.resting = true; // until it is known
    const { from, until } = await call('GET', '/v1/person/quiet_hours').catch(() => ({ from: null, until: null }));
    const time = toField(now()).slice(11);
    visit.resting = from !== null && until !== null && (from <= until ? from <= time && time < until : from <= time || time < until);
    draw();
}

/** @param {Visit} visit */
function hide(visit) {
    leave(visit);
    visit.hidden = true;
    draw();
}

// ---- the words ----

/** @param {Visit} visit */
function titleOf({ call: { phase, opened, steps }, part, elsewhere, answered }) {
    if (phase === 'over') return opened ? t('opened') : steps.some(({ type }) => type === 'call.message') ? t('message_left') : t('over');
    if (part === 'talking') return t('talking');
    if (elsewhere) return t('answered_window');
    if (phase === 'answered' && part === '') return t(answered);
    return part === 'listening' || part === 'answering' ? t('listening') : t('title');
}

/** @param {DoorCall} call */
const callerOf = ({ caller }) => (caller === undefined ? '' : phoneText(caller ?? t('withheld')));

/** @param {LiveEvent} event @param {Visit} visit */
function stepText({ type, label, number, outcome, ended_by: by }, visit) {
    switch (type) {
    case 'call.ring': return t('ring');
    case 'call.greeting': return t('greeting');
    case 'call.code_wrong': return t('code_wrong');
    case 'call.released': return t('released', { label: label ?? '' });
    case 'call.forwarded': return t('forwarded');
    case 'call.ringing': return number ? t('ringing', { number: number.replace(/^\.+/, '') }) : t('ringing_phone');
    case 'call.answered': return t(visit.answered);
    case 'call.listening': return t('listener');
    case 'call.opened': return t(visit.opener);
    case 'call.unanswered': return t('unanswered');
    case 'call.message': return t('message_left');
    case 'call.ended': return by === 'caller' && outcome !== 'released' ? t('left') : t('over');
    default: return '';
    }
}

// ---- the view ----

/** Of the buttons. @type {Record<string, string>} */
const SIGNS = {
    ear: 'M7 9a5 5 0 0 1 10 0c0 3.500-3.500 4.200-3.500 7.500A2.700 2.700 0 0 1 8.300 18M10 9.500a2 2 0 0 1 4 0',
    phone: 'M7 3.500h2.500l1.500 4-2 1.500a12 12 0 0 0 6 6l1.500-2 4 1.500V17a3.500 3.500 0 0 1-3.500 3.500C10 20.500 3.500 14 3.500 7A3.500 3.500 0 0 1 7 3.500z',
    mute: 'M12 3a3 3 0 0 1 3 3v5a3 3 0 0 1-6 0V6a3 3 0 0 1 3-3zM6 11a6 6 0 0 0 12 0M12 17v4M4 4l16 16',
    door: 'M6 21V4.500A1.500 1.500 0 0 1 7.500 3h9A1.500 1.500 0 0 1 18 4.500V21M3.500 21h17M14.500 12h.01',
    hang: 'M3 14.500c5-4.700 13-4.700 18 0l-2 3-4-1.500v-2.500a11 11 0 0 0-6 0V16l-4 1.500z',
};

/** @param {string} name */
const sign = (name) => h('svg', { viewBox: '0 0 24 24', 'aria-hidden': 'true' }, h('path', { d: SIGNS[name] }));

/** @type {Record<string, string>} */
const MARKS = { 'call.code_wrong': 'bad', 'call.unanswered': 'bad', 'call.released': 'good', 'call.opened': 'good', 'call.answered': 'good' };
const STEPS_SHOWN = 4;

/** @param {Visit} visit */
function steps(visit) {
    const { steps: all, began } = visit.call;
    return h('ol', { class: 'bell-steps', 'aria-label': t('steps') }, all.slice(-STEPS_SHOWN).map((event) => h('li', { key: event.seq, class: MARKS[event.type] ?? '' },
        h('span', { class: 'num' }, duration(Date.parse(event.at ?? '') - began)), h('span', null, stepText(event, visit)))));
}

/** @param {string} kind @param {string} name @param {string} text @param {() => void} act @param {Record<string, unknown>} [more] */
function press(kind, name, text, act, more = {}) {
    return h('button', { type: 'button', key: name, class: `bell-${kind}`, onclick: act, ...more }, sign(name), text);
}

/** The visitor is with the resident: before, the door decides by itself. @param {Visit} visit @returns {Child[]} */
function buttons(visit) {
    const { call: { phase, steps: all }, part, deaf, elsewhere, opening, phoneOnly } = visit;
    if (phase === 'over' || phoneOnly || !all.some(({ type }) => ['call.forwarded', 'call.ringing', 'call.answered'].includes(type))) return [];
    const early = performance.now() - visit.shown < UNMEANT_MS;
    const free = phase === 'rings' && !elsewhere && !deaf;
    return [
        free && !['listening', 'answering', 'talking'].includes(part)
            && press('quiet', 'ear', part === 'joining' ? t('joining') : t('listen'), () => join(visit), { 'aria-busy': part === 'joining' && 'true' }),
        free && part !== 'talking' && press('answer', 'phone', part === 'answering' ? t('answering') : t('answer'), () => answer(visit), { disabled: early, 'aria-busy': part === 'answering' && 'true' }),
        part === 'talking' && press('quiet', 'mute', t('mute'), () => {
            visit.muted = !visit.muted;
            visit.line?.mute(visit.muted);
            draw();
        }, { 'aria-pressed': String(visit.muted) }),
        ['listening', 'answering', 'talking'].includes(part) && press('end', 'hang', part === 'talking' ? t('hang_up') : t('stop'), () => {
            leave(visit);
            draw();
        }),
        press('open', 'door', opening ? t('opening') : t('open'), () => open(visit), { disabled: early, 'aria-busy': opening && 'true' }),
    ];
}

/** @param {Visit} visit @param {number} more calls that are not shown */
function card(visit, more) {
    const { call: { id, phase, began, last }, note, bad } = visit;
    const over = phase === 'over';
    const facts = [callerOf(visit.call), data.buildings.data.length > 1 && building.label].filter(Boolean).join(' · ');
    return h('section', { class: over ? 'bell over' : 'bell', key: id, 'aria-labelledby': 'bell-title' }, drawing(visit.call.opened),
        h('p', { class: 'bell-live' }, h('span', { class: 'bell-dot' }), h('span', { class: 'num' }, duration((over ? last : now()) - began))),
        h('button', { class: 'round plain bell-hide', type: 'button', 'aria-label': t('hide'), title: t('hide'), onclick: () => hide(visit) }, icon('no')),
        h('h2', { id: 'bell-title' }, titleOf(visit)),
        facts && h('p', { class: 'bell-facts num' }, facts),
        steps(visit),
        note && h('p', { class: bad ? 'bell-note bad' : 'bell-note' }, note),
        !over && visit.deaf && h('p', { class: 'bell-note' }, t('deaf')),
        !over && h('div', { class: 'bell-actions' }, buttons(visit)),
        !over && visit.part === 'listening' && h('p', { class: 'bell-hint' }, t('unheard')),
        more > 0 && h('p', { class: 'bell-hint' }, more === 1 ? t('one_more') : t('more', { count: more })),
        !over && h('label', { class: 'bell-sound' }, h('input', {
            type: 'checkbox', role: 'switch', checked: mayRing(), onchange: (/** @type {Event} */ event) => {
                setRing(/** @type {HTMLInputElement} */ (event.currentTarget).checked);
                draw();
            },
        }), h('span', null, t('sound'))));
}

/** The calls to show, the one that matters most first. */
function shown() {
    const weight = (/** @type {Visit} */ { part, call: { phase } }) => (part === '' ? ['over', 'answered', 'rings'].indexOf(phase) : 3);
    return [...visits.values()].filter((visit) => !visit.hidden).sort((a, b) => weight(b) - weight(a) || b.call.began - a.call.began);
}

let announced = '';

/** Where the view is: in a dialog while one is open, since nothing outside of it can be pressed then. */
function settle() {
    home ??= place.parentElement;
    const open = [...document.querySelectorAll('dialog[open]')].at(-1);
    const wanted = open ?? home;
    if (place.parentElement === wanted) return;
    wanted?.prepend(place);
    open?.addEventListener('close', () => home?.prepend(place), { once: true });
}
/** @type {HTMLElement | null | undefined} */
let home;

function draw() {
    for (const [id, visit] of visits) {
        const done = visit.over !== undefined && performance.now() - visit.over > LINGERS_MS && !place.matches(':hover, :focus-within');
        if (done || (visit.part === '' && visit.over === undefined && isStale(visit.call, now()))) visits.delete(id);
    }
    const [first, ...more] = shown();
    settle();
    const focused = place.contains(document.activeElement);
    const words = first ? [titleOf(first), first.call.phase === 'rings' && first.part === '' && callerOf(first.call), first.note].filter(Boolean).join('. ') : '';
    patch(place, [
        h('p', { class: 'visually-hidden', role: 'alert', key: 'alert' }, words === announced ? words : ''),
        first && card(first, more.filter(({ call: { phase } }) => phase !== 'over').length),
    ]);
    if (focused && !first) document.getElementById('main')?.focus();
    const rings = shown().some(({ call: { phase }, part, elsewhere, resting }) => phase === 'rings' && part === '' && !elsewhere && !resting);
    sound(rings);
    flash(rings ? t('window') : undefined);
    if (words !== announced) { // an alert is heard when its text comes, not when it is there with its element
        announced = words;
        setTimeout(draw, 100);
    }
    if (!ticking && first) ticking = window.setInterval(draw, 1_000);
    if (!first) {
        clearInterval(ticking);
        ticking = undefined;
    }
}
/** @type {number | undefined} */
let ticking;

/**
 * Takes an event of the building's stream.
 * @param {LiveEvent} event
 * @param {{place: HTMLElement, now: () => number, signIn: () => Promise<boolean>}} page
 */
export function take(event, page) {
    ({ place, now } = page);
    whenSignedOut(page.signIn);
    if (event.type === 'reset') { // the events of calls in progress follow
        for (const [of, { part, hidden }] of visits) if (part === '' && !hidden) visits.delete(of);
        return draw();
    }
    const id = event.call_id ?? '';
    const known = visits.get(id);
    const next = after(known?.call, event);
    if (!known && (event.type === 'call.ended' || isStale(next, now()))) return undefined;
    const visit = known ?? {
        call: next, part: /** @type {Part} */ (''), elsewhere: false, answered: 'answered', opener: 'opened', hidden: false, resting: false, deaf: false, phoneOnly: false, muted: false, opening: false, note: '', bad: false, shown: performance.now(),
    };
    visit.call = next;
    visits.set(id, visit);
    if (event.quiet) rest(visit);
    if (!known) {
        others.postMessage({ asks: true, id });
        setTimeout(draw, UNMEANT_MS);
    }
    if (next.phase === 'over') {
        visit.over ??= performance.now();
        leave(visit, true);
        visit.note = '';
    }
    return draw();
}

addEventListener('pagehide', () => { for (const visit of visits.values()) leave(visit); });
