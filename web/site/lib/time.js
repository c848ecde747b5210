// Times as the building's people read them: in its zone, by its clock, in the page's language.
import { building, data } from './data.js';
import { language, t } from './texts.js';

/** With the browser's habits, such as 24 hours, if it speaks the page's language. */
const locale = navigator.languages.find((one) => one.startsWith(language)) ?? language;
export const browserZone = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** The building's time zone. One whose owner never signed in with a browser has none, and is read by this browser's. */
export const zone = building?.timezone ?? browserZone;

const ahead = data.page ? Date.parse(data.page.at) - Date.now() : 0;
/** Now by the service's clock, in milliseconds. */
export const now = () => Date.now() + ahead;

/** @typedef {string | number} Instant RFC 3339, or milliseconds */

/** Made when it is needed first: each costs a phone some milliseconds. @param {Intl.DateTimeFormatOptions} options @param {string} [of] */
function formatter(options, of = locale) {
    /** @type {Intl.DateTimeFormat | undefined} */
    let format;
    return (/** @type {Instant} */ at) => {
        format ??= new Intl.DateTimeFormat(of, { timeZone: zone, ...options });
        return format.format(new Date(at));
    };
}

/** "17:30" */
export const clock = formatter({ timeStyle: 'short' });
/** "21 November 2026" */
export const date = formatter({ day: 'numeric', month: 'long', year: 'numeric' });
/** "21 November 2026 at 17:30:05" */
export const exactly = formatter({ dateStyle: 'long', timeStyle: 'medium' });
const weekday = formatter({ weekday: 'short' });
const longWeekday = formatter({ weekday: 'long' });
const day = formatter({ day: 'numeric', month: 'short' });
const year = formatter({ day: 'numeric', month: 'short', year: 'numeric' });

/** "2026-11-21" */
const isoDay = formatter({ year: 'numeric', month: '2-digit', day: '2-digit' }, 'sv');

/** Days from today to that day, by the building's calendar. @param {Instant} at */
function daysFromNow(at) {
    return Math.round((Date.parse(isoDay(at)) - Date.parse(isoDay(now()))) / 86_400_000);
}

/** @type {Record<string, Intl.DateTimeFormat>} */
const parts = {};

/** A zone's time for a datetime-local field: "2026-11-21T17:30". @param {Instant} at @param {string} [timezone] default: the building's */
export function toField(at, timezone = zone) {
    parts[timezone] ??= new Intl.DateTimeFormat('en-CA', { timeZone: timezone, hourCycle: 'h23', year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit' });
    const part = Object.fromEntries(parts[timezone].formatToParts(new Date(at)).map(({ type, value }) => [type, value]));
    return `${part.year}-${part.month}-${part.day}T${part.hour}:${part.minute}`;
}

/** The time of a datetime-local field by the building's clock, in milliseconds; of two of that name, the first; of one that the clock leaves out, as much later; NaN without a time. @param {string} text */
export function fromField(text) {
    const wanted = Date.parse(`${text}Z`);
    if (Number.isNaN(wanted)) return NaN;
    const shift = (/** @type {number} */ at) => Date.parse(`${toField(at)}Z`) - Math.floor(at / 60_000) * 60_000;
    const first = wanted - shift(wanted - 86_400_000);
    if (toField(first) === text) return first;
    const second = wanted - shift(wanted + 86_400_000);
    return toField(second) === text ? second : first;
}

/** A date and time in a zone, as "2026-11-21T17:30"; one without offset is in it. @param {string} at @param {string} timezone */
export const local = (at, timezone) => (/(Z|[+-]\d\d:\d\d)$/.test(at) ? toField(at, timezone) : at.slice(0, 16));

/** The day of a time without offset: "1 December", with the year if that is another, and with its name if it is `named`. @param {string} at @param {boolean} [named] */
export function plainDay(at, named = false) {
    const other = at.slice(0, 4) !== toField(now()).slice(0, 4);
    return new Intl.DateTimeFormat(locale, { timeZone: 'UTC', day: 'numeric', month: 'long', ...named ? { weekday: 'long' } : {}, ...other ? { year: 'numeric' } : {} })
        .format(new Date(`${at.slice(0, 10)}T00:00Z`));
}

/** As short as it is clear: "17:30", "tomorrow, 17:30", "Fri 09:02", "12 Nov, 09:02", "12 Nov 2025". @param {Instant} at */
export function when(at) {
    const days = daysFromNow(at);
    if (days === 0) return clock(at);
    if (Math.abs(days) === 1) return `${new Intl.RelativeTimeFormat(locale, { numeric: 'auto' }).format(days, 'day')}, ${clock(at)}`;
    if (Math.abs(days) < 7) return `${weekday(at)} ${clock(at)}`;
    return Math.abs(days) < 300 ? `${day(at)}, ${clock(at)}` : year(at);
}

/** The day of a time that comes, within a sentence: "Tuesday" in the next six days, else "Tuesday 1 December". @param {Instant} at */
export function comingDay(at) {
    const days = daysFromNow(at);
    return days >= 0 && days < 7 ? longWeekday(at) : plainDay(toField(at), true);
}

/** The time of day "17:30" of a routine. @param {string} text */
export const hour = (text) => new Intl.DateTimeFormat(locale, { timeZone: 'UTC', timeStyle: 'short' }).format(new Date(`2000-01-01T${text}Z`));

/** An amount in a currency's smallest unit. @param {number} minor @param {string} currency */
export function money(minor, currency) {
    const format = new Intl.NumberFormat(locale, { style: 'currency', currency });
    return format.format(minor / 10 ** (format.resolvedOptions().maximumFractionDigits ?? 2));
}

/** A length of time: "42 min", "3 hr", "2 days". @param {number} ms */
export function length(ms) {
    const minutes = Math.max(1, Math.round(ms / 60_000));
    const [value, unit] = minutes < 120 && minutes !== 60 ? [minutes, 'minute'] : minutes < 2_880 ? [Math.round(minutes / 60), 'hour'] : [Math.round(minutes / 1_440), 'day'];
    return new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'short' }).format(value);
}

/** @param {'long' | 'short'} weekday */
const namesOf = (weekday) => [...Array(7).keys()].map((n) => new Intl.DateTimeFormat(locale, { timeZone: 'UTC', weekday }).format(new Date(Date.UTC(2000, 0, 2 + n))));
/** The names of the days of the week, from Sunday. */
export const dayNames = namesOf('long');
export const dayNamesShort = namesOf('short');

/** "Toronto", of "America/Toronto". @param {string} name */
export const city = (name) => name.replace(/.*\//, '').replaceAll('_', ' ');

/** "Toronto time" @param {string} timezone */
export const placeNote = (timezone) => t('page.zone', { city: city(timezone) });

/** "Toronto time" where it is not the browser's own; else empty. @param {string} [timezone] */
export const zoneNote = (timezone = zone) => (timezone === browserZone ? '' : placeNote(timezone));

/** As clear another day, and elsewhere: "Friday 21 November, 17:30 (Toronto time)". @param {Instant} at */
export const exactTime = (at) => `${plainDay(toField(at), true)}, ${clock(at)} (${placeNote(zone)})`;
