// The form of a pass: who, with which code, on which days, at which hours, how often; and what is sent of it.
// texts: grant. pass.
import { CallError } from './call.js';
import { data } from './data.js';
import { isEasy } from './easy_code.js';
import { check, chips, field } from './form.js';
import { DAYS, later, overMidnight, sentence, spanText, timesText, today, WEEK } from './pass.js';
import { t } from './texts.js';
import { city, dayNamesShort, hour, length, now, zone } from './time.js';
import { h } from './view.js';

/** @typedef {import('./grant.js').Grant} Grant */
/** @typedef {import('./pass.js').Window} Window */
/** @typedef {Record<string, string>} Values of the fields: mode, code, label, span, first, last, hours, start, end, day-monday, uses, note, voice */
/** @typedef {{from?: string | null, until?: string | null, windows?: Window[] | null}} Calendar */

/** Whether codes that visitors say are understood. */
export const hears = () => Boolean(data.settings?.speech?.understood);

const HOUR_MS = 3_600_000;
const YEAR_DAYS = 366;
const HOURS = ['08:00-12:00', '09:00-12:00', '13:00-18:00', '22:00-06:00'];
const USES = ['', '1', '2', '3', '5', '10', '20', '50', '100'];
const SINGLE = ['today', 'tomorrow'];

/** What a new pass is for: the start of its form. @type {Record<string, Values>} */
const PURPOSES = {
    guest: { span: 'week' },
    parcel: { span: 'today', uses: '1' },
    cleaner: { span: 'none', hours: '09:00-12:00' },
    party: { span: 'today', mode: 'none' },
    next: { span: 'hour', mode: 'none', uses: '1' },
};

/** The values that a form begins with. @param {string} purpose @returns {Values} */
export function purposeValues(purpose) {
    /** @type {Values} */
    const names = { guest: t('grant.guest'), parcel: t('grant.parcel'), cleaner: t('grant.cleaner'), party: t('grant.party') };
    return { mode: 'new', hours: 'any', uses: '', start: '09:00', end: '12:00', label: names[purpose] ?? names.guest, ...PURPOSES[purpose] ?? PURPOSES.guest };
}

/** The only window of a grant that the form can show. @param {Grant} grant @returns {Window | undefined} */
function windowOf({ pass, days, start, end }) {
    if (pass) return pass.windows.length === 1 ? pass.windows[0] : undefined;
    return days && start && end ? { days, start, end } : undefined;
}

/** The values of a grant, to be edited, or for another like it. @param {Grant} grant @param {boolean} edited @returns {Values} */
export function grantValues(grant, edited) {
    const window = windowOf(grant), hours = window ? `${window.start}-${window.end}` : 'any';
    const days = window && window.days.length < 7 ? window.days : [];
    const several = (grant.pass?.windows.length ?? 0) > 1;
    return {
        ...purposeValues('guest'), label: grant.label, uses: String(grant.remaining_uses || ''), note: grant.pass?.note ?? '',
        mode: grant.type !== 'passcode' ? 'none' : edited ? 'own' : 'new', code: edited ? grant.access_code ?? '' : '', voice: grant.enter_code_with_voice ? 'on' : '',
        span: edited && (grant.pass?.from || grant.ends_at) ? 'keep' : grant.ends_at ? 'today' : 'none',
        hours: several ? 'keep' : hours === '00:00-00:00' ? 'any' : HOURS.includes(hours) || !window ? hours : 'other',
        ...window ? { start: window.start, end: window.end } : {}, ...Object.fromEntries(days.map((day) => [`day-${day}`, 'on'])),
    };
}

// ---- what is sent ----

/** A mistake in a field that the page finds itself. @param {string} code */
const wrong = (code) => new CallError(0, code);

/** The fields that the errors of the form belong to, by code. */
export const PASS_ERRORS = { past: 'last', start_far: 'last', pass_code: 'code', code_taken: 'code', no_name: 'label', no_hours: 'start' };

/** The first and the last day that are meant; '': no end. @param {Values} values @param {string} day today's @returns {[string, string]} */
function daysMeant({ span, first, last }, day) {
    const weekday = new Date(`${day}T00:00Z`).getUTCDay();
    const saturday = weekday === 0 ? day : later(day, 6 - weekday);
    const month = new Date(`${day}T00:00Z`);
    month.setUTCMonth(month.getUTCMonth() + 1);
    if (month.getUTCDate() !== Number(day.slice(8))) month.setUTCDate(0);
    /** @type {Record<string, [string, string]>} */
    const spans = {
        today: [day, day], tomorrow: [later(day, 1), later(day, 1)], weekend: [saturday, weekday === 0 ? day : later(saturday, 1)],
        week: [day, later(day, 7)], month: [day, month.toISOString().slice(0, 10)], dates: [first || day, last || ''],
    };
    return spans[span] ?? [day, ''];
}

/** @param {Values} values @returns {Window[] | null} */
function windowsOf(values) {
    const days = DAYS.filter((day) => values[`day-${day}`]);
    const any = values.hours === 'any';
    if (any && days.length % 7 === 0) return null;
    const [start, end] = any ? ['00:00', '00:00'] : values.hours === 'other' ? [values.start, values.end] : values.hours.split('-');
    if (!start || !end) throw wrong('no_hours');
    return [{ days: days.length > 0 ? days : DAYS, start, end }];
}

/** Is a single day meant, which has hours and no days of the week? @param {Values} values */
const isSingle = ({ span, first, last }) => SINGLE.includes(span) || (span === 'dates' && first !== undefined && first !== '' && first === last);

/** The calendar that the fields say, its times without offset. @param {Values} values @param {string} timezone @param {Grant} [grant] that is edited @returns {Calendar} */
function calendarOf(values, timezone, grant) {
    if (values.span === 'hour') return { from: null, until: new Date(now() + HOUR_MS).toISOString(), windows: null };
    const at = today(timezone);
    const [first, last] = daysMeant(values, at.slice(0, 10));
    const window = values.hours === 'keep' ? undefined : windowsOf(isSingle(values) ? Object.fromEntries(Object.entries(values).filter(([name]) => !name.startsWith('day-'))) : values)?.[0];
    const night = window !== undefined && overMidnight(window) && window.start !== '00:00';
    const exact = window && isSingle(values);
    const from = `${first}T${exact || night ? window?.start : '00:00'}`;
    const until = last && (exact || night ? `${night ? later(last, 1) : last}T${window?.end}` : `${later(last, 1)}T00:00`);
    if (last && until <= at) throw wrong('past');
    if (until && until <= from) throw wrong('past');
    if (later(at.slice(0, 10), YEAR_DAYS - 1) < (last || first)) throw wrong('start_far');
    const windows = values.hours === 'keep' ? grant?.pass?.windows : exact ? null : window ? [window] : null;
    if (values.span === 'keep') return { from: grant?.pass?.from ?? null, until: grant?.pass?.until ?? null, windows };
    return { from: from <= at ? null : from, until: until || null, windows };
}

/** What the fields say, as a pass is created. @param {Values} values @param {string} timezone @param {Grant} [grant] */
function bodyOf(values, timezone, grant) {
    const label = values.label.trim();
    const code = values.mode === 'own' ? (values.code ?? '').trim() : '';
    if (!label) throw wrong('no_name');
    if (values.mode === 'own' && !/^[0-9]{4,8}$/.test(code)) throw wrong('pass_code');
    const open = values.mode === 'none';
    return {
        label, ...calendarOf(values, timezone, grant), remaining_uses: values.uses ? Number(values.uses) : null, note: values.note?.trim() || null,
        ...code ? { access_code: code } : {}, ...hears() && !open ? { enter_code_with_voice: values.voice === 'on' } : {},
    };
}

/** The body that creates a pass. @param {Values} values */
export const passBody = (values) => ({ ...bodyOf(values, zone), timezone: zone, ...values.mode === 'none' ? { code: false } : {} });

/** The body that changes a pass: what differs from its values. @param {Values} values @param {Grant} grant */
export function passChange(values, grant) {
    const timezone = grant.pass?.timezone ?? zone;
    const had = /** @type {Record<string, unknown>} */ (bodyOf(grantValues(grant, true), timezone, grant));
    return Object.fromEntries(Object.entries(bodyOf(values, timezone, grant)).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(had[name])));
}

/** The sentence of what the fields say; empty while they say nothing that could be stored. @param {Values} values @param {Grant} [grant] that is edited */
function sentenceOf(values, grant) {
    const timezone = grant?.pass?.timezone ?? zone;
    try {
        return sentence({ ...bodyOf({ ...values, mode: '' }, timezone, grant), timezone, code: values.mode !== 'none' });
    } catch (error) {
        if (!(error instanceof CallError)) throw error;
        return '';
    }
}

// ---- fields ----

/** @param {string} text "09:00-12:00" */
const hoursText = (text) => text.split('-').map(hour).join(' – ');

/** What is said of a code that people try first; others may have it all the same. @param {string} [code] */
export const easyNote = (code = '') => h('p', { class: 'hint', role: 'status', key: 'easy' }, isEasy(code) && t('pass.easy'));

/** @param {Values} typed @param {Values} first @param {Grant} [grant] */
function codeFields(typed, first, grant) {
    if (typed.mode === 'none' && grant) return [];
    return [
        !grant && chips('mode', t('grant.code'), [['new', t('pass.code_new')], ['own', t('pass.code_own')], ['none', t('pass.code_none')]], first.mode),
        typed.mode === 'own' && field({
            name: 'code', label: t('pass.digits'), hint: t('pass.digits_hint'), class: 'digits', inputmode: 'numeric', maxlength: 8, autocomplete: 'off', value: first.code,
            ref: (/** @type {HTMLElement} */ input) => { if (!grant) queueMicrotask(() => input.focus()); },
        }),
        typed.mode === 'own' && easyNote(typed.code),
        typed.mode !== 'none' && hears() && check({ name: 'voice', label: t('grant.voice'), checked: first.voice === 'on' }),
    ];
}

/** @param {Values} first @param {Grant} [grant] */
function spanField(first, grant) {
    /** @type {[string, string][]} */
    const begin = !grant?.pass ? [['hour', length(HOUR_MS)]] : first.span === 'keep' ? [['keep', spanText(grant.pass)]] : [];
    return chips('span', t('pass.span'), [...begin,
        ['today', t('grant.today')], ['tomorrow', t('pass.tomorrow')], ['weekend', t('pass.this_weekend')], ['week', t('pass.a_week')],
        ['month', t('pass.a_month')], ['none', t('grant.no_end')], ['dates', t('pass.dates')],
    ], first.span);
}

/** @param {Values} first @param {Grant} [grant] */
function hoursField(first, grant) {
    const keep = first.hours === 'keep' && grant?.pass;
    return chips('hours', t('pass.at'), [
        ...keep ? [/** @type {[string, string]} */ (['keep', timesText({ windows: keep.windows, timezone: keep.timezone })])] : [],
        ['any', t('pass.any_time')], ...HOURS.map((text) => /** @type {[string, string]} */ ([text, hoursText(text)])), ['other', t('grant.custom')],
    ], first.hours);
}

/** @param {Values} typed @param {Values} first */
function daysField(typed, first) {
    return typed.hours !== 'keep' && h('fieldset', { class: 'chips week', key: 'days', 'aria-describedby': 'days-hint' }, h('legend', null, t('grant.days')),
        WEEK.map((day) => h('label', { key: day }, h('input', { type: 'checkbox', name: `day-${day}`, checked: first[`day-${day}`] === 'on' }), h('span', null, dayNamesShort[DAYS.indexOf(day)]))),
        h('p', { class: 'hint', id: 'days-hint' }, t('pass.days_hint')));
}

/** @param {Values} typed @param {Values} first @param {string} timezone */
function timeFields(typed, first, timezone) {
    const day = today(timezone).slice(0, 10);
    return [
        typed.span === 'dates' && h('div', { class: 'fields', key: 'dates' },
            field({ name: 'first', label: t('pass.first'), type: 'date', value: day, min: day, required: true }),
            field({ name: 'last', label: t('pass.last'), hint: t('pass.last_hint'), type: 'date', min: day })),
        typed.span !== 'hour' && !isSingle(typed) && daysField(typed, first),
    ];
}

/** @param {Values} first */
function usesField(first) {
    const options = USES.includes(first.uses) ? USES : [...USES, first.uses].sort((a, b) => Number(a) - Number(b));
    return field({
        name: 'uses', label: t('grant.uses_field'), value: first.uses,
        options: options.map((count) => [count, count === '' ? t('grant.unlimited') : count === '1' ? t('grant.once') : t('grant.times', { count })]),
    });
}

/** What the fields of a form say; a field that is not there yet says what it will begin with. @param {HTMLFormElement} form @param {Values} first @returns {Values} */
export const typedIn = (form, { mode, start, end }) => ({ mode, start, end, .../** @type {Values} */ (Object.fromEntries(new FormData(form))) });

/**
 * All fields of a pass's form, and under them what will be stored.
 * @param {Values} typed what they say now @param {Values} first what they began with @param {Grant} [grant] that is edited
 * @returns {import('./view.js').Child[]}
 */
export function passFields(typed, first, grant) {
    const timezone = grant?.pass?.timezone ?? zone;
    return [
        field({ name: 'label', label: t('grant.name'), value: first.label, maxlength: 120, autocomplete: 'off', required: true }),
        ...codeFields(typed, first, grant),
        spanField(first, grant),
        ...timeFields(typed, first, timezone),
        typed.span !== 'hour' && hoursField(first, grant),
        typed.span !== 'hour' && typed.hours === 'other' && h('div', { class: 'fields', key: 'other' },
            field({ name: 'start', label: t('grant.start'), type: 'time', required: true, value: first.start }),
            field({ name: 'end', label: t('grant.end'), hint: typed.end <= typed.start ? t('pass.next_day') : undefined, type: 'time', required: true, value: first.end })),
        h('details', { class: 'more', key: 'more' }, h('summary', null, t('pass.more')), usesField(first),
            field({ name: 'note', label: t('pass.note'), hint: t('pass.note_hint'), value: first.note, maxlength: 500, autocomplete: 'off' })),
        h('p', { class: 'says', role: 'status', key: 'says' }, sentenceOf(typed, grant), h('span', { class: 'small quiet' }, t('grant.hours_of', { city: city(timezone) }))),
    ];
}

/** A grant with the fields of a change, as it would be. @param {Grant} grant @param {Record<string, any>} body @returns {Grant} */
export function withChange(grant, { from, until, windows, note, ...body }) {
    if (!grant.pass) return { ...grant, ...body };
    const given = Object.fromEntries(Object.entries({ from, until, windows: windows ?? (windows === null ? [] : undefined), note }).filter(([, value]) => value !== undefined));
    return { ...grant, ...body, pass: { ...grant.pass, ...given } };
}
