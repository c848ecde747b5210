// The form that changes a grant of the contract: its fields by kind, and what is sent of them. Passes: pass_form.js.
// texts: grant. pass.
import { CallError } from './call.js';
import { dayChoices, WEEKDAYS } from './grant.js';
import { check, chips, field } from './form.js';
import { easyNote, hears } from './pass_form.js';
import { t } from './texts.js';
import { city, fromField, length, now, toField, when, zone, zoneNote } from './time.js';
import { h } from './view.js';

/** @typedef {import('./grant.js').Grant} Grant */
/** @typedef {import('./grant.js').Kind} Kind */
/** @typedef {Record<string, string>} Values */

const MINUTE = 60_000;
const WEEK = 10_080 * MINUTE;
const USES = ['', '1', '2', '3', '5', '10', '20', '50', '100'];
const MINUTES = ['15', '60', '1440', '10080'];

/** The last minute of today, in the building's zone. */
const endOfToday = () => fromField(`${toField(now()).slice(0, 10)}T23:59`);

/** @param {Kind} kind @param {Grant} grant @returns {[string, string][]} */
function spans(kind, grant) {
    /** @type {[string, string][]} */
    const all = [['15', length(15 * MINUTE)], ['60', length(60 * MINUTE)], ['today', t('grant.today')],
        ['1440', length(1440 * MINUTE)], ['10080', length(WEEK)]];
    if (grant.ends_at) all.unshift(['keep', when(grant.ends_at)]);
    if (kind === 'passcode') all.push(['none', t('grant.no_end')]);
    return [...all, ['custom', t('grant.custom')]];
}

/** @typedef {{span: string, grant: Grant, code?: string}} State of a form: what decides which fields are there */

/** @param {State} state @param {() => void} draw */
function timeFields(state, draw) {
    const { span, grant } = state;
    const more = zoneNote();
    const later = grant.type === 'timer' && Date.parse(grant.starts_at ?? '') > now();
    return [
        chips('span', t('grant.valid_until'), spans(grant.type, grant), span, (value) => { state.span = value; draw(); }),
        span === 'custom' && h('div', { class: 'fields', key: 'custom' },
            later && field({ name: 'starts', label: t('grant.from'), hint: t('grant.from_hint'), type: 'datetime-local', value: toField(grant.starts_at ?? '') }),
            field({ name: 'ends', label: t('grant.until_field'), hint: more || undefined, type: 'datetime-local', required: true, value: toField(grant.ends_at && Date.parse(grant.ends_at) > now() ? grant.ends_at : now() + 180 * MINUTE) })),
    ];
}

/** @param {Grant} grant */
function usesField(grant) {
    const left = String(grant.remaining_uses ?? '');
    const options = USES.includes(left) ? USES : [...USES, left].sort((a, b) => Number(a) - Number(b));
    /** @type {Record<string, string>} */
    const named = { '': t('grant.unlimited'), 0: t('grant.exhausted'), 1: t('grant.once') };
    return field({
        name: 'uses', label: t('grant.uses_field'), hint: grant.type === 'timer' ? t('grant.uses_timer') : undefined, value: left,
        options: options.map((count) => [count, named[count] ?? t('grant.times', { count })]),
    });
}

/** @param {Grant} grant */
function routineFields(grant) {
    const own = [...grant.days ?? WEEKDAYS].sort().join();
    const choices = dayChoices();
    return [
        field({ name: 'days', label: t('grant.days'), options: choices, value: choices.find(([value]) => value.split(' ').sort().join() === own)?.[0] }),
        h('div', { class: 'fields', key: 'hours' },
            field({ name: 'start', label: t('grant.start'), type: 'time', required: true, value: grant.start ?? '09:00' }),
            field({ name: 'end', label: t('grant.end'), type: 'time', required: true, value: grant.end ?? '12:00' })),
        h('p', { class: 'hint', key: 'zone' }, t('grant.hours_of', { city: city(grant.timezone ?? zone) })),
    ];
}

/** @param {State} state @param {() => void} draw */
function codeFields(state, draw) {
    const { grant, code = grant.access_code } = state;
    const oninput = (/** @type {Event} */ event) => {
        state.code = /** @type {HTMLInputElement} */ (event.target).value;
        draw();
    };
    return [
        field({ name: 'code', label: t('grant.code'), hint: t('grant.code_hint'), class: 'digits', inputmode: 'numeric', maxlength: 4, autocomplete: 'off', value: grant.access_code, oninput }),
        easyNote(code),
        hears() && check({ name: 'voice', label: t('grant.voice'), checked: Boolean(grant.enter_code_with_voice) }),
    ];
}

/** All fields of a grant's form. @param {State} state @param {() => void} draw draws them again @returns {import('./view.js').Child[]} */
export function grantFields(state, draw) {
    const { grant } = state;
    return [
        field({ name: 'label', label: t('grant.name'), hint: t('grant.name_hint'), value: grant.label, maxlength: 120, autocomplete: 'off', required: true }),
        ...grant.type === 'routine' ? routineFields(grant) : [...timeFields(state, draw), usesField(grant)],
        ...grant.type === 'passcode' ? codeFields(state, draw) : [],
    ];
}

/** A mistake in a field that the page finds itself. @param {string} code */
const wrong = (code) => new CallError(0, code);

/** The fields that the errors of a form belong to, by code. */
export const FIELD_ERRORS = { past: 'ends', far: 'ends', backwards: 'end', code_shape: 'code', code_taken: 'code', no_name: 'label', start_far: 'starts' };

/** @param {Values} values */
function checkTimes(values) {
    const start = values.starts ? Math.max(fromField(values.starts), now()) : now();
    const end = fromField(values.ends);
    if (start > now() + 365 * 1440 * MINUTE) throw wrong('start_far');
    if (!(end > start)) throw wrong('past');
    if (end > start + WEEK) throw wrong('far');
}

/** The end, and the start, that are asked for. @param {Values} values @param {Kind} kind */
function timesOf(values, kind) {
    const { span } = values;
    if (span === 'keep') return {};
    if (MINUTES.includes(span)) return { expires_in_minutes: Number(span) };
    if (span === 'none') return { ends_at: null };
    if (span === 'today') return { ends_at: new Date(endOfToday()).toISOString() };
    checkTimes(values);
    const start = kind === 'timer' && values.starts ? { starts_at: new Date(fromField(values.starts)).toISOString() } : {};
    return { ...start, ends_at: new Date(fromField(values.ends)).toISOString() };
}

/** What the fields say, in the words of the contract. @param {Values} values @param {Kind} kind */
function bodyOf(values, kind) {
    const label = values.label.trim();
    if (!label) throw wrong('no_name');
    if (kind === 'routine') {
        if (values.end <= values.start) throw wrong('backwards');
        return { label, days: values.days.split(' '), start: values.start, end: values.end };
    }
    const uses = values.uses === '0' ? {} : { remaining_uses: values.uses ? Number(values.uses) : null };
    if (kind === 'timer') return { label, ...timesOf(values, kind), ...uses };
    const code = values.code?.trim();
    if (code && !/^([02-9]|[0-9]{2,4})$/.test(code)) throw wrong('code_shape');
    return { label, ...timesOf(values, kind), ...uses, ...(code ? { access_code: code } : {}), ...(hears() ? { enter_code_with_voice: values.voice === 'on' } : {}) };
}

/** The body that changes a grant: what differs from it. @param {Values} values @param {Grant} grant */
export function changeBody(values, grant) {
    const wanted = /** @type {Record<string, unknown>} */ (bodyOf(values, grant.type));
    const had = /** @type {Record<string, unknown>} */ (grant);
    const text = (/** @type {unknown} */ value) => (Array.isArray(value) ? [...value].sort().join() : value ?? null);
    const body = Object.fromEntries(Object.entries(wanted).filter(([name, value]) => text(value) !== text(had[name])));
    // Both ends of the hours go together; a timer that has ended starts again with its new end.
    if ('start' in body || 'end' in body) Object.assign(body, { start: wanted.start, end: wanted.end });
    if (grant.type === 'timer' && ('ends_at' in body || 'expires_in_minutes' in body)) body.enabled = true;
    return body;
}
