// Which visits a person wants to see: in the page's address, so that Back and reload keep it, and as a query of
// GET /v1/visits. Days are the building's.
import { addressWith } from './search.js';
import { fromField, now, toField } from './time.js';
import { outcomes } from './visits.js';

/** @typedef {{kind: string, unlock: string, opener: string, period: string, from: string, to: string, q: string}} Filter */

/** @type {Filter} */
export const ALL = { kind: '', unlock: '', opener: '', period: '', from: '', to: '', q: '' };

/** The query of each kind. @type {Record<string, string>} */
const KINDS = { ...Object.fromEntries(outcomes.map(([name]) => [name, `&outcome=${name}`])), wrong_code: '&reason=wrong_code' };
/** How many days before today a period begins and ends. @type {Record<string, [number, number]>} */
const PERIODS = { today: [0, 0], yesterday: [1, 1], week: [6, 0], month: [29, 0] };
/** A day, perhaps with a time. @param {string} text */
const isMoment = (text) => /^\d{4}-\d\d-\d\d(T\d\d:\d\d)?$/.test(text) && !Number.isNaN(Date.parse(text));

/** The day that is `count` days after another, such as "2026-11-21". @param {string} day @param {number} count */
export const dayAfter = (day, count) => new Date(Date.parse(day) + count * 86_400_000).toISOString().slice(0, 10);
export const today = () => toField(now()).slice(0, 10);

/** The filter of an address: what it does not know is left out. @param {string} search */
export function filterOf(search) {
    const query = new URLSearchParams(search);
    /** @param {string} name @param {(value: string) => boolean} fits */
    const take = (name, fits) => [query.get(name) ?? ''].find(fits) ?? '';
    const filter = {
        kind: take('kind', (value) => Object.hasOwn(KINDS, value)), unlock: take('unlock', (value) => /^[0-9a-f]{24}$/.test(value)), opener: take('opener', (value) => value.trim() !== '' && value.length <= 120),
        period: take('period', (value) => Object.hasOwn(PERIODS, value) || value === 'days'),
        from: take('from', isMoment), to: take('to', isMoment), q: (query.get('q') ?? '').slice(0, 100),
    };
    return whole(filter);
}

/** With both ends, in their order, where they count: whole days, if no time is given. @param {Filter} filter @returns {Filter} */
export function whole(filter) {
    if (filter.period !== 'days') return { ...filter, from: '', to: '' };
    const { from, to } = filter;
    const [first, last] = [(from || to || today()).slice(0, 10), (to || from || today()).slice(0, 10)].sort();
    const ends = [`${first}T${from.slice(11) || '00:00'}`, `${last}T${to.slice(11) || '23:59'}`].sort();
    return { ...filter, from: ends[0], to: ends[1] };
}

/** The page's address for the filter. @param {Filter} filter */
export const addressOf = (filter) => addressWith({ ...filter, call: '' });

/** @param {Filter} a @param {Filter} b */
export const isSame = (a, b) => JSON.stringify({ ...a, q: a.q.trim() }) === JSON.stringify({ ...b, q: b.q.trim() });

/** @param {Filter} filter */
function periodOf({ period, from, to }) {
    const [first, last] = PERIODS[period] ?? [];
    const ends = period === 'days' ? [from, to] : first === undefined || last === undefined ? [] : [`${dayAfter(today(), -first)}T00:00`, `${dayAfter(today(), -last)}T23:59`];
    if (ends.length === 0) return '';
    const [since, until] = [fromField(ends[0]), fromField(ends[1]) + 59_999];
    return `&since=${new Date(since).toISOString()}${until < now() ? `&until=${new Date(until).toISOString()}` : ''}`;
}

/** Without the signs with which people write telephone numbers, if it is a part of one. @param {string} text */
const plain = (text) => (/^[+\d\s().\/-]*$/.test(text) && text.replace(/\D/g, '').length >= 5 ? text.replace(/[^+\d]/g, '') : text.trim());

/** The operation's path. @param {Filter} filter @param {number} limit @param {string | null} [cursor] */
export function pathOf(filter, limit, cursor) {
    const q = plain(filter.q);
    return `/v1/visits?limit=${limit}${KINDS[filter.kind] ?? ''}${filter.unlock && `&unlock_id=${filter.unlock}`}${filter.opener && `&opened_by=${encodeURIComponent(filter.opener)}`}${periodOf(filter)}${q && `&q=${encodeURIComponent(q)}`}${cursor ? `&cursor=${cursor}` : ''}`;
}
