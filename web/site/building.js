// Building: the key that opens the door, greetings, phones, the letter to the manager, and a ring to test it all.
// texts: address. people. recording. setup. visit.
import { addressFields, addressOf, changed, line } from './lib/address.js';
import { CallError, call } from './lib/call.js';
import { dialog, toast } from './lib/dialog.js';
import { check, field, form } from './lib/form.js';
import { at, building, data, tellError } from './lib/page.js';
import { e164, PHONE_PATTERN, phoneText } from './lib/phone.js';
import { peopleCard, ringing } from './lib/people.js';
import { recordingNote, recordingOf, whenRecorded } from './lib/recording.js';
import { setPhone } from './lib/setup.js';
import { t } from './lib/texts.js';
import { date, now, when, zone } from './lib/time.js';
import { h, icon, patch } from './lib/view.js';
import { sentenceOf } from './lib/visits.js';

/**
 * @typedef {import('./contract.js').Schemas['ReleaseForm']} Release
 * @typedef {import('./contract.js').Schemas['BuildingSettings']} Settings
 * @typedef {import('./contract.js').Schemas['PhoneStatus']} Phone
 */

/** @type {Settings} */ let settings = data.settings;
/** @type {Phone} */ let phone = data.phone;
const path = /** @type {const} */ (`/v1/buildings/${building.id}/settings`);
const sandbox = document.querySelector('.try') !== null;

// ---- saving: the version that the person saw, and both versions if it is not the last ----

/** @type {Record<string, string>} */
const NAMES = {
    unlock_tone: t('tone'), mode: t('mode'), length_ms: t('length_ms'), gap_ms: t('gap_ms'), delay_ms: t('delay_ms'), repeat: t('repeat'), before_greeting: t('before'),
    greeting_welcome: t('greeting_welcome'), greeting_granted: t('greeting_granted'), greeting_denied: t('greeting_denied'), greeting_forwarding: t('greeting_forwarding'), greeting_message: t('greeting_message'),
    label: t('label'), address: t('place'), call_box_name: t('call_box_name'), timezone: t('timezone'), forward_phone: t('phone_give'), numbers: t('numbers'), strategy: t('strategy'), seconds: t('seconds'), accept: t('accept'), message: t('message'),
    mode_callers: t('callers'), numbers_callers: t('callers_numbers'), others_callers: t('callers_others'),
};
/** @type {Record<string, string>} */
const VALUES = { auto: t('auto'), events: t('events'), inband: t('inband'), info: t('info'), all: t('all'), order: t('order'), true: t('yes'), false: t('no'), any: t('callers_any'), listed: t('callers_listed'), forward: t('callers_forward'), reject: t('callers_reject') };

/** @param {string} name @param {any} value */
function shown(name, value) {
    if (name === 'forward_phone' && value === null) return t('phone_linked');
    const text = Array.isArray(value) ? value.map(phoneText).join(', ') : name === 'address' ? line(value) : String(value ?? '');
    return text === '' ? t('empty') : VALUES[text] ?? phoneText(text);
}

/** The fields of settings without their objects. @param {Record<string, any>} one @returns {Record<string, any>} */
const flat = (one) => Object.fromEntries(Object.entries(one).flatMap(([name, value]) => (name === 'release' || name === 'ring' ? Object.entries(value)
    : name === 'callers' ? Object.entries(value).map(([member, one]) => [`${member}_callers`, one]) : [[name, value]])));

/** Shows what differs. @param {Record<string, any>} mine @param {Settings} theirs @returns {Promise<boolean | undefined>} true: mine; undefined: not chosen */
async function chooseMine(mine, theirs) {
    const saved = flat(theirs);
    const differing = Object.entries(flat(mine)).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(saved[name]));
    if (differing.length === 0) return true;
    return dialog(t('conflict'), (/** @type {(value?: boolean) => void} */ close) => [
        h('p', null, t('conflict_hint')),
        h('dl', { class: 'versions' }, differing.map(([name, value]) => h('div', { key: name }, h('dt', null, NAMES[name] ?? name),
            h('dd', null, h('span', { class: 'small quiet' }, t('mine')), h('b', null, shown(name, value))),
            h('dd', null, h('span', { class: 'small quiet' }, t('theirs')), h('b', null, shown(name, saved[name])))))),
        h('div', { class: 'actions' },
            h('button', { class: 'primary', type: 'button', onclick: () => close(true) }, t('keep_mine')),
            h('button', { type: 'button', onclick: () => close(false) }, t('keep_theirs'))),
    ]);
}

/** @param {Record<string, any>} change @returns {Promise<boolean>} false if somebody else was faster, and no version was chosen */
async function save(change) {
    try {
        settings = await call('PATCH', path, change, { match: settings.version ?? '' });
    } catch (error) {
        if (!(error instanceof CallError) || error.code !== 'SETTINGS_VERSION_CONFLICT') throw error;
        const theirs = /** @type {Settings} */ (await call('GET', path));
        const mine = await chooseMine(change, theirs);
        if (mine === undefined) return false; // what was typed stays, and is asked about again
        settings = theirs;
        if (mine) return save(change);
        begin();
        toast(t('theirs_kept'));
        return true;
    }
    toast(t('saved'));
    return true;
}

// ---- all settings are one form, whose bar is seen while something is not saved ----

/** @param {any} mine @param {any} saved @returns {boolean} */
const differs = (mine, saved) => (mine === null || typeof mine !== 'object' || Array.isArray(mine) ? JSON.stringify(mine) !== JSON.stringify(saved)
    : Object.entries(mine).some(([name, one]) => differs(one, saved?.[name])));

/** What of the settings the fields change. @param {HTMLFormElement} element @returns {Record<string, any>} */
const changeOf = (element) => Object.fromEntries(Object.entries(valuesOf(element)).filter(([name, value]) => differs(value, settings[/** @type {keyof Settings} */ (name)])));

/** What the fields say, in the words of the service. @param {HTMLFormElement} element @returns {Record<string, any>} */
function valuesOf(element) {
    const all = [...new FormData(element)].map(([name, value]) => /** @type {[string, string]} */ ([name, String(value)]));
    const values = Object.fromEntries(all);
    const those = (/** @type {string} */ prefix) => all.filter(([name, value]) => name.startsWith(prefix) && value !== '').map(([, value]) => value);
    const callers = those('caller'), only = values.only === 'on' && callers.length > 0;
    return {
        unlock_tone: values.unlock_tone.trim() || null,
        release: {
            mode: values.mode, length_ms: Number(values.length_ms), gap_ms: Number(values.gap_ms), delay_ms: Number(values.delay_ms),
            repeat: Number(values.repeat), before_greeting: values.before_greeting === 'on',
        },
        ...Object.fromEntries(GREETINGS.map((name) => [name, oneLine(values[name])])),
        label: values.label.trim(), call_box_name: values.call_box_name.trim() || null, address: isGiven() ? addressOf(values) : null,
        timezone: values.timezone === zoneOf() ? settings.timezone : values.timezone,
        ring: { numbers: those('number').map(e164), strategy: values.strategy, seconds: Number(values.seconds), accept: values.accept === 'on', message: values.message === 'on' },
        ...values.others && { callers: { mode: only ? 'listed' : 'any', numbers: only ? callers : settings.callers.numbers, others: values.others } },
    };
}

/** @param {HTMLFormElement} element */
async function saveAll(element) {
    const { label, timezone } = settings;
    const change = changeOf(element);
    if (Object.keys(change).length > 0 && !await save(change)) return false;
    if (element.querySelector('.bar')?.contains(document.activeElement)) at('main').focus({ preventScroll: true });
    take();
    if (label !== settings.label || timezone !== settings.timezone) location.reload(); // all of the page has the name and the zone
    return true;
}

/** Shows the bar while something is not saved. */
function mark() {
    const element = /** @type {HTMLFormElement | null} */ (document.querySelector('form.settings'));
    if (element && !data.page.kept) element.classList.toggle('unsaved', Object.keys(changeOf(element)).length > 0);
}

const settingsForm = () => form({
    class: 'column settings', key: `settings-${forms}`, bar: true, errors: { INVALID_TONE: 'unlock_tone' },
    oninput: (/** @type {Event} */ event) => {
        if (!PLACE.includes(/** @type {HTMLInputElement} */ (event.target).name)) return mark();
        place = changed(place, event);
        draw();
    },
    submit: (_, __, element) => saveAll(element),
    more: [h('button', { class: 'plain', type: 'button', onclick: begin }, t('page.discard_do')), h('span', { class: 'small quiet' }, t('unsaved'))],
}, isNew && toneCard(), phoneCard(), greetingCard(), placeCard(), callersCard(), !isNew && toneCard());

/** The key comes first until it is set. */
const isNew = !settings.unlock_tone;
/** Counts the forms that have begun with the saved settings. */
let forms = 0;
/** @type {{key: number, value: string}[]} */
let numbers = [];
/** @type {Record<string, number>} */
let counts = {};
let nextNumber = 0;
/** The address as it is typed. @type {import('./lib/address.js').Address} */
let place = {};

function take() {
    place = settings.address ?? {};
    numbers = settings.ring.numbers.map((value) => ({ key: nextNumber += 1, value }));
    counts = {};
    draw();
}

/** Shows the saved settings in place of all that was typed. */
function begin() {
    forms += 1;
    take();
}

// ---- the key ----

/** @param {keyof Release} name @param {number} min @param {number} max @param {number} step */
const milliseconds = (name, min, max, step) => field({ name, label: NAMES[name], type: 'number', min, max, step, required: true, value: settings.release[name], inputmode: 'numeric' });

function toneCard() {
    const { release } = settings;
    return h('section', { class: 'card stack', 'aria-labelledby': 'tone', key: 'tone' }, h('h2', { id: 'tone' }, t('tone')), h('p', { class: 'quiet' }, t('tone_hint')),
        field({ name: 'unlock_tone', label: t('keys'), class: 'key', value: settings.unlock_tone ?? '', required: true, maxlength: 3, pattern: '[0-9#*]{1,3}', title: t('keys_hint'), autocomplete: 'off', hint: t('keys_hint') }),
        h('details', { class: 'more' }, h('summary', null, t('sending'), icon('down')),
            h('div', { class: 'stack' },
                field({ name: 'mode', label: t('mode'), value: release.mode, options: [['auto', t('auto')], ['events', t('events')], ['inband', t('inband')], ['info', t('info')]], hint: t('mode_hint') }),
                h('div', { class: 'fields' }, milliseconds('length_ms', 40, 2000, 10), milliseconds('gap_ms', 40, 2000, 10), milliseconds('delay_ms', 0, 3000, 10), milliseconds('repeat', 1, 3, 1)),
                check({ name: 'before_greeting', label: t('before'), checked: release.before_greeting }))));
}

// ---- greetings ----

const GREETING_MAX = 119;
const GREETINGS = /** @type {const} */ (['greeting_welcome', 'greeting_granted', 'greeting_denied', 'greeting_forwarding', 'greeting_message']);

/** In one line, as it is spoken. @param {string} text */
const oneLine = (text) => text.replace(/\s*[\r\n]+\s*/g, ' ').trim();

/** As in "greeting" of operations. @param {typeof GREETINGS[number]} name */
const nameOf = (name) => name.replace('greeting_', '');

/** @type {HTMLAudioElement | undefined} */
let playing;

/** The speech of a text, or of the saved greeting. Another one may be spoken at this moment. @param {object} body @returns {Promise<Blob>} */
async function speech(body, tries = 5) {
    try {
        return await call('POST', `/v1/buildings/${building.id}/greetings/preview`, body);
    } catch (error) {
        if (!(error instanceof CallError) || error.code !== 'RATE_LIMIT_EXCEEDED' || (error.retryAfterS ?? 9) > 1 || tries < 2) throw error;
        await new Promise((resolve) => { setTimeout(resolve, 1000); });
        return speech(body, tries - 1);
    }
}

/** Plays what is in the field as visitors hear it, or would without the recording that is shown below. @param {HTMLButtonElement} button @param {typeof GREETINGS[number]} name */
async function hear(button, name) {
    const text = oneLine(/** @type {HTMLTextAreaElement} */ (button.closest('.greeting')?.querySelector('textarea')).value);
    playing?.pause();
    if (text === '') {
        toast(t('unspoken'));
        return;
    }
    button.disabled = true;
    try {
        playing = new Audio(URL.createObjectURL(await speech({ greeting: nameOf(name), ...(text === settings[name] && !recordingOf(nameOf(name)) ? {} : { text }) })));
        const { src } = playing;
        playing.onended = playing.onpause = () => URL.revokeObjectURL(src);
        await playing.play();
    } catch (error) {
        if (error instanceof DOMException && error.name === 'AbortError') return; // another one was asked for before it began
        if (!(error instanceof CallError) || error.code !== 'NOT_FOUND') throw error;
        toast(t('provider_speaks'));
    } finally {
        button.disabled = false;
    }
}

/** @param {typeof GREETINGS[number]} name */
function greeting(name) {
    const count = counts[name] ?? settings[name].length;
    const recording = recordingOf(nameOf(name));
    return h('div', { class: 'greeting', key: name },
        field({
            name, label: NAMES[name], tag: 'textarea', rows: 2, maxlength: GREETING_MAX, value: settings[name], 'aria-describedby': `count-${name} f-${name}-note${recording ? ` recorded-${recording.greeting}` : ''}`,
            oninput: (/** @type {Event} */ event) => {
                counts[name] = /** @type {HTMLTextAreaElement} */ (event.target).value.length;
                draw();
            },
        }),
        h('div', { class: 'under' },
            h('button', { class: 'plain', type: 'button', 'aria-describedby': `f-${name}`, onclick: (/** @type {Event} */ event) => hear(/** @type {HTMLButtonElement} */ (event.currentTarget), name).catch(tellError) }, icon('play'), recording ? t('recording.hear') : t('hear')),
            h('span', { class: count > GREETING_MAX - 10 ? 'small num count near' : 'small quiet num count', id: `count-${name}` }, t('count', { count, max: GREETING_MAX }))),
        recording && recordingNote(recording, NAMES[name], settings[name]));
}

const greetingCard = () => h('section', { class: 'card stack', 'aria-labelledby': 'greetings', key: 'greetings' }, h('h2', { id: 'greetings' }, t('greetings')), h('p', { class: 'quiet' }, t('greetings_hint')),
    GREETINGS.map(greeting));

// ---- the place, and its clock ----

const PLACE = ['street', 'city', 'country', 'state', 'zip'];
const isGiven = () => PLACE.some((name) => name !== 'country' && place[name]);
const zoneOf = () => settings.timezone ?? zone;

function placeCard() {
    const zones = [...new Set([zoneOf(), ...Intl.supportedValuesOf('timeZone')])].sort();
    return h('section', { class: 'card stack', 'aria-labelledby': 'this', key: 'place' }, h('h2', { id: 'this' }, t('place')), h('p', { class: 'quiet' }, t('place_hint')),
        field({ name: 'label', label: t('label'), value: settings.label, required: true, maxlength: 120, autocomplete: 'off', hint: t('label_hint') }),
        field({ name: 'call_box_name', label: t('call_box_name'), value: settings.call_box_name ?? '', maxlength: 60, autocomplete: 'off', hint: t('call_box_hint') }),
        ...addressFields(place, isGiven()),
        field({ name: 'timezone', label: t('timezone_city'), value: zoneOf(), options: zones.map((name) => [name, name.replaceAll('_', ' ')]), hint: t('timezone_hint') }));
}

// ---- phones ----

async function changePhone() {
    if (!await setPhone()) return;
    phone = await call('GET', '/v1/account/phone');
    toast(t('phone_saved'));
    draw();
}

/** Gives the building a phone that is not the account's. Its code, if it needs one, makes it the account's too. */
async function givePhone() {
    await setPhone({
        title: t('phone_give'), lead: t('phone_give_lead'), use: (number) => save({ forward_phone: number }),
        note: h('p', { class: 'note' }, t('phone_give_note'), ' ', h('a', { href: '/account' }, t('phone_give_account')), '.'),
    });
    phone = await call('GET', '/v1/account/phone');
    draw();
}

async function followAccount() {
    await save({ forward_phone: null });
    draw();
    document.getElementById('change-phone')?.focus();
}

const ringFields = ({ ring } = settings) => h('div', { class: 'stack' },
    h('fieldset', { class: 'numbers', key: 'numbers' }, h('legend', null, t('numbers')), h('p', { class: 'hint' }, t('numbers_hint')),
        numbers.map(({ key, value }, i) => h('div', { class: 'number', key },
            h('input', { name: `number${key}`, type: 'tel', value: phoneText(value), 'aria-label': t('numbers_one', { count: i + 1 }), pattern: PHONE_PATTERN, title: t('number_hint'), autocomplete: 'off' }),
            h('button', {
                class: 'round plain', type: 'button', 'aria-label': t('numbers_remove', { count: i + 1 }),
                onclick: () => {
                    numbers = numbers.filter((one) => one.key !== key);
                    draw();
                },
            }, icon('no')))),
        numbers.length < 4 && h('button', {
            type: 'button', key: 'add',
            onclick: () => {
                numbers = [...numbers, { key: nextNumber += 1, value: '' }];
                draw();
                /** @type {HTMLElement | undefined} */ ([...document.querySelectorAll('.number input')].at(-1))?.focus();
            },
        }, t('numbers_add'))),
    h('div', { class: 'fields' },
        field({ name: 'strategy', label: t('strategy'), value: ring.strategy, options: [['all', t('all')], ['order', t('order')]] }),
        field({ name: 'seconds', label: t('seconds'), type: 'number', min: 10, max: 60, required: true, value: ring.seconds, inputmode: 'numeric' })),
    h('div', null, check({ name: 'accept', label: t('accept'), checked: ring.accept }), check({ name: 'message', label: t('message'), checked: ring.message })));

function phoneCard() {
    const own = settings.forward_phone;
    const { is_primary: primary } = building;
    const account = phone.phone_number;
    // A building that was added rings the account's phone, or one that is given here.
    const [change, text] = own ? [givePhone, t('change')] : primary || !account ? [changePhone, account ? t('change') : t('add')] : [givePhone, t('phone_another')];
    return h('section', { class: 'card', 'aria-labelledby': 'phones', key: 'phones' }, h('h2', { id: 'phones' }, t('phones')),
        h('ul', { class: 'rows' }, h('li', null, h('span', { class: 'sign' }, icon('phone')),
            h('div', null, h('b', { class: 'num' }, phoneText(own ?? account ?? t('no_phone'))), h('span', { class: 'small quiet' },
                own ? t('phone_own') : !account ? t('no_phone_hint') : primary ? t('phone_hint') : t('phone_linked'))),
            h('div', { class: 'actions' }, h('button', { id: 'change-phone', type: 'button', onclick: () => change().catch(tellError) }, text),
                own && h('button', { type: 'button', title: t('phone_follow'), onclick: () => followAccount().catch(tellError) }, t('phone_reset')))),
            ringing().map(({ id, name, phone: end }) => h('li', { key: id }, h('span', { class: 'sign' }, icon('phone')),
                h('div', null, h('b', { class: 'num' }, `…${end?.slice(-4)}`), h('span', { class: 'small quiet' }, t('phone_person', { name })))))),
        settings.version && ringFields());
}

// ---- the callers that may open: offered once a call has opened the door ----

function callersCard() {
    const { callers, known_callers: known } = settings;
    const offered = [...new Set([...callers.numbers, ...known])].slice(0, 20);
    const listed = callers.mode === 'listed';
    return offered.length > 0 && h('section', { class: 'card stack', 'aria-labelledby': 'callers', key: 'callers' }, h('h2', { id: 'callers' }, t('callers')), h('p', { class: 'quiet' }, t('callers_hint')),
        check({ name: 'only', label: offered.length === 1 ? t('callers_only_one') : t('callers_only'), checked: listed }),
        h('fieldset', { class: 'numbers' }, h('legend', null, t('callers_numbers')),
            offered.map((number, i) => check({ name: `caller${i}`, label: phoneText(number), value: number, checked: listed ? callers.numbers.includes(number) : i === 0 }))),
        field({ name: 'others', label: t('callers_others'), value: callers.others, options: [['forward', t('callers_forward')], ['reject', t('callers_reject')]], hint: t('callers_worth') }));
}

// ---- the letter, and a ring ----

function printLetter() {
    localStorage.setItem(`letter.${building.id}`, data.page.at); // a step of Home
    print();
}

const BLANK = '_'.repeat(22);

function letter() {
    return h('section', { class: 'card letter', 'aria-labelledby': 'letter', key: 'letter' },
        h('div', { class: 'head' }, h('h2', { id: 'letter' }, t('letter')), h('button', { type: 'button', onclick: printLetter }, icon('file'), t('print'))),
        !(settings.address && settings.call_box_name) && h('p', { class: 'note', key: 'whose' }, t('letter_whose')),
        h('div', { class: 'paper' },
            h('p', { class: 'num' }, date(now())),
            h('p', null, settings.address ? t('letter_at', { address: line(settings.address) }) : t('letter_to', { label: building.label })),
            h('p', null, t('letter_ask')),
            h('dl', { class: 'facts' }, h('dt', null, t('letter_number')), h('dd', { class: 'figure' }, phoneText(settings.virtual_number ?? '')),
                h('dt', null, t('letter_key')), h('dd', { class: 'figure' }, settings.unlock_tone ?? '______'),
                h('dt', null, t('letter_name')), h('dd', null, settings.call_box_name ?? BLANK)),
            h('p', null, t('letter_how')),
            h('ol', null, h('li', null, t('letter_one')), h('li', null, t('letter_two')), h('li', null, t('letter_three'))),
            h('p', null, t('letter_end')), h('p', { class: 'email' }, settings.call_box_name ?? BLANK, h('br'), data.account.email)));
}

/** @typedef {{outcome: string, tones: string | null, said: string[], recorded: string[], grant_label: string | null, rang: string[]}} Rung */
/** @type {Rung | undefined} */
let rung;

/** Rings in the sandbox. @param {Record<string, string>} values */
async function ring(values) {
    const answer = await fetch('/sandbox/calls', {
        method: 'POST', headers: { 'Content-Type': 'application/json' }, signal: AbortSignal.timeout(30_000),
        body: JSON.stringify({ to: settings.virtual_number, from: '+15550001111', digits: values.digits || null }),
    }).catch(() => { throw new CallError(0, 'offline'); });
    const found = await answer.json();
    if (!answer.ok) throw new CallError(answer.status, found?.error?.code ?? 'other');
    rung = found;
    draw();
}

/** @param {Rung} one */
function heard(one) {
    const opened = one.outcome === 'released';
    return h('div', { class: opened ? 'note good' : 'note', role: 'status', key: 'heard' },
        h('p', null, h('b', null, opened ? t('rang_open', { tones: one.tones ?? '', name: one.grant_label ?? '' }) : one.rang.length > 0 ? t('rang_phone', { number: one.rang.map(phoneText).join(', ') }) : t('rang_nobody'))),
        one.said.length > 0 && h('ul', { class: 'heard', 'aria-label': t('heard') }, one.said.map((text) => h('li', null, one.recorded.includes(text) ? t('recording.instead', { text }) : `“${text}”`))),
        h('p', null, h('a', { href: '/activity' }, t('see'))));
}

/** The last visit that opened; nothing where many visits since did not. */
function lastUse() {
    const [last] = data.visits.data;
    if (last) return t('last', { time: when(last.started_at), what: sentenceOf(last) });
    return data.visits.pagination.has_more ? '' : t('never');
}

function testCard() {
    return h('section', { class: 'card', 'aria-labelledby': 'test', key: 'test' }, h('h2', { id: 'test' }, t('test')),
        sandbox ? [h('p', { class: 'quiet' }, t('test_sandbox')),
            form({ class: 'stack', button: t('ring'), submit: ring }, field({ name: 'digits', label: t('digits'), inputmode: 'numeric', pattern: '[0-9*#]{0,64}', autocomplete: 'off', hint: t('digits_hint') }))]
            : h('ol', { class: 'doing' }, h('li', null, t('test_one', { number: phoneText(settings.virtual_number ?? '') })), h('li', null, t('test_two')), h('li', null, t('test_three'))),
        rung && heard(rung),
        h('p', { class: 'small quiet', key: 'last' }, lastUse()));
}

function waiting() {
    return h('section', { class: 'card', key: 'waiting' }, h('h2', null, t('waiting')), h('p', null, t('waiting_hint')), h('div', { class: 'actions' }, h('a', { class: 'button primary', href: '/billing' }, t('plan'))));
}

function title() {
    return h('header', { class: 'place', key: 'place' }, h('h1', null, building.label), h('p', { class: 'quiet num' }, settings.virtual_number ? t('dials', { number: phoneText(settings.virtual_number) }) : t('no_number')));
}

function draw() {
    const ready = settings.version !== null;
    patch(at('page'), [title(),
        ready ? settingsForm() : h('div', { class: 'column', key: 'door' }, waiting(), phoneCard()),
        h('div', { class: 'column', key: 'side' }, ready && testCard(), peopleCard(draw), ready && letter())]);
    mark();
}

take();
whenRecorded(draw);
// The page is drawn by now, as a link to a part of it needs.
document.getElementById(location.hash.slice(1))?.scrollIntoView();
