// Passes in one sentence: what is stored, or is about to be, as people say it.
// texts: pass.
import { language, t } from './texts.js';
import { hour, local, now, placeNote, plainDay, zone, zoneNote } from './time.js';

/**
 * @typedef {{days: string[], start: string, end: string}} Window
 * @typedef {{from?: string | null, until?: string | null, windows?: Window[] | null, timezone?: string}} Calendar
 * @typedef {Calendar & {label: string, code: boolean, remaining_uses?: number | null}} Pass its times RFC 3339, or without offset in its zone
 */

export const DAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
/** The days as a week is read: from Monday. */
export const WEEK = [...DAYS.slice(1), DAYS[0]];

const DAY_MS = 86_400_000;

/** The day that many days later: "2026-12-01". @param {string} day @param {number} count */
export const later = (day, count) => new Date(Date.parse(`${day}T00:00Z`) + count * DAY_MS).toISOString().slice(0, 10);

/** @param {Window} window */
export const overMidnight = ({ start, end }) => end <= start;

/** @param {string[]} parts */
const list = (parts) => new Intl.ListFormat(language, { type: 'conjunction' }).format(parts);

/** @param {string[]} days */
function daysText(days) {
    const is = (/** @type {string[]} */ all) => all.length === days.length && all.every((day) => days.includes(day));
    if (is(DAYS)) return t('pass.every_day');
    if (is(WEEK.slice(0, 5))) return t('pass.weekdays');
    if (is(WEEK.slice(5))) return t('pass.weekend');
    const each = t('pass.each').split('|');
    return t('pass.days', { days: list(WEEK.filter((day) => days.includes(day)).map((day) => each[DAYS.indexOf(day)])) });
}

/** @param {Window} window */
function windowText({ days, start, end }) {
    const texts = { days: daysText(days), start: hour(start), end: hour(end) };
    if (start === '00:00' && end === '00:00') return days.length === 7 ? '' : texts.days;
    if (end > start) return t('pass.window', texts);
    return end <= '12:00' ? t('pass.window_morning', texts) : t('pass.window_next', texts);
}

/** @param {string} at without offset @param {boolean} named */
const moment = (at, named) => t('pass.moment', { day: plainDay(at, named), time: hour(at.slice(11)) });

/** From when until when, in words; empty: always. @param {Calendar} pass @param {boolean} [named] with the names of all days */
export function spanText({ from, until, windows, timezone = zone }, named = false) {
    const begin = from ? local(from, timezone) : '', end = until ? local(until, timezone) : '';
    const nights = windows?.every(overMidnight) ? windows : [];
    const first = begin.slice(0, 10), behind = end.slice(0, 10);
    const wholeFrom = begin.endsWith('T00:00') || (nights.length > 0 && nights.every(({ start }) => begin.endsWith(`T${start}`)));
    const wholeUntil = end.endsWith('T00:00') || (nights.length > 0 && nights.every((night) => end.endsWith(`T${night.end}`)));
    const last = end && wholeUntil ? later(behind, -1) : behind;
    if (!windows?.length && begin && end && first === last && !(wholeFrom && wholeUntil)) return t('pass.hours', { day: plainDay(first, true), start: hour(begin.slice(11)), end: hour(end.slice(11)) });
    if (begin && end && first === last && wholeFrom && wholeUntil) return t('pass.day', { day: plainDay(first, true) });
    const texts = { from: wholeFrom ? plainDay(first, named) : begin && moment(begin, named), until: wholeUntil ? plainDay(last, named) : end && moment(end, named) };
    return begin && end ? t('pass.from_until', texts) : begin ? t('pass.from', texts) : end ? t('pass.until', texts) : '';
}

/**
 * When and how often it opens, and nothing else: "on Tuesdays from 9:00 to 12:00, until 31 August".
 * @param {Calendar & {remaining_uses?: number | null}} pass
 * @param {boolean} [sent] to somebody who reads it another day, elsewhere: with days, dates and zone; empty if it always opens
 */
export function timesText(pass, sent = false) {
    const { windows, timezone = zone, remaining_uses: uses } = pass;
    const times = [(windows ?? []).map(windowText).filter(Boolean).join('; '), spanText(pass, sent)].filter(Boolean).join(', ');
    const often = typeof uses !== 'number' || uses === 0 ? '' : uses === 1 ? t('pass.once') : t('pass.times', { count: uses });
    const place = times && (sent ? placeNote(timezone) : timezone === zone ? '' : zoneNote(timezone));
    return [times || (sent ? '' : t('pass.always')), often].filter(Boolean).join(', ') + (place && ` (${place})`);
}

/** The sentence about a pass. @param {Pass} pass */
export const sentence = (pass) => t('pass.sentence', { who: t(pass.code ? 'pass.by_code' : 'pass.open', { label: pass.label }), times: timesText(pass) });

/** The same without its name, for a place that has it. @param {Pass} pass */
export const shortSentence = (pass) => t('pass.sentence', { who: t(pass.code ? 'pass.by_code_short' : 'pass.open_short'), times: timesText(pass) });

/** Today in a zone: "2026-12-01T09:30". @param {string} timezone */
export const today = (timezone) => local(new Date(now()).toISOString(), timezone);
