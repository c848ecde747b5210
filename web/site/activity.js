// Activity: who came, why the door opened or not, messages, the log as a file, and what would happen at another time.
// texts: visit. verdict.
import { CallError, call } from './lib/call.js';
import { dialog, toast } from './lib/dialog.js';
import { field, form } from './lib/form.js';
import { whenSeen } from './lib/live.js';
import { at, building, data, refresh, tellError } from './lib/page.js';
import { save } from './lib/save.js';
import { errorText, t } from './lib/texts.js';
import { clock, date, fromField, now, toField, when, zoneNote } from './lib/time.js';
import { grantParts, verdictOf } from './lib/verdict.js';
import { h, icon, patch } from './lib/view.js';
import { hintOf, kindOf, player, sign, titleOf, why, whyCall } from './lib/visit.js';

/**
 * @typedef {import('./lib/visit.js').Entry} Entry
 * @typedef {import('./lib/visit.js').Call} Call
 * @typedef {{cursor: string | null, has_more: boolean}} Pagination
 * @typedef {{kind: string, unlock: string, period: string, from: string, to: string, q: string}} Filter
 */

/** @type {() => {id: string, label: string}[]} */
const grants = () => data.grants.data;
/** @param {string} [id] */
const nameOf = (id) => grants().find((grant) => grant.id === id)?.label;

/** @type {Filter} */
const ALL = { kind: '', unlock: '', period: '', from: '', to: '', q: '' };
const state = {
    filter: ALL,
    /** @type {Entry[]} */ entries: data.logs.data,
    /** @type {Pagination} */ pagination: data.logs.pagination,
    busy: false,
    /** @type {string | undefined} */ error: undefined,
};

// ---- the filter ----

/** @type {Record<string, string>} */
const KINDS = { opened: '&type=unlock&succeeded=true', wrong: '&type=unlock&succeeded=false', call: '&type=call' };
const DAY_MS = 86_400_000;

/** The first instant of a day of the building's calendar, such as "2026-11-21". @param {string} day */
const midnight = (day) => fromField(`${day}T00:00`);

/** @param {Filter} filter @returns {string} */
function periodOf({ period, from, to }) {
    const today = toField(now()).slice(0, 10);
    const days = { today: 0, week: 6, month: 29 }[period];
    let since = days === undefined ? NaN : midnight(toField(midnight(today) - days * DAY_MS + DAY_MS / 2).slice(0, 10));
    let until = NaN;
    if (period === 'days') {
        since = midnight(from);
        until = midnight(to) + DAY_MS - 1;
    }
    return (Number.isNaN(since) ? '' : `&since=${new Date(since).toISOString()}`) + (Number.isNaN(until) ? '' : `&until=${new Date(until).toISOString()}`);
}

/** The list's path for the filter. @param {Filter} filter @param {number} limit @param {string | null} [cursor] */
function pathOf(filter, limit, cursor) {
    return `/v1/logs?limit=${limit}${KINDS[filter.kind] ?? ''}${filter.unlock && `&unlock_id=${filter.unlock}`}${periodOf(filter)}`
        + `${filter.q && `&q=${encodeURIComponent(filter.q)}`}${cursor ? `&cursor=${cursor}` : ''}`;
}

let asked = 0;

/** Reads the list's first page, or its next one. @param {string | null} [cursor] */
async function load(cursor) {
    const mine = asked += 1;
    state.busy = true;
    state.error = undefined;
    draw();
    try {
        const page = await call('GET', pathOf(state.filter, 50, cursor));
        if (mine !== asked) return;
        state.entries = cursor ? [...state.entries, ...page.data] : page.data;
        state.pagination = page.pagination;
    } catch (error) {
        if (!(error instanceof CallError)) throw error;
        if (mine === asked) state.error = errorText(error.code);
    } finally {
        if (mine === asked) {
            state.busy = false;
            draw();
        }
    }
}

/** Shows newer entries above the others. The older ones stay, unless there is a gap between. @param {{data: Entry[], pagination: Pagination}} page */
function add(page) {
    const known = new Set(state.entries.map(({ id }) => id));
    const joins = page.data.some(({ id }) => known.has(id));
    const came = page.data.filter(({ id }) => !known.has(id));
    state.entries = joins ? [...came, ...state.entries] : page.data;
    if (!joins) state.pagination = page.pagination;
}

/** Reads what has happened, with all that the page tells of it. */
async function follow() {
    const mine = asked;
    const { filter } = state;
    if (!await refresh()) return;
    const page = isFiltered() ? await call('GET', pathOf(filter, 50)) : data.logs;
    if (mine === asked && filter === state.filter) add(page);
    draw();
}

const isFiltered = () => JSON.stringify(state.filter) !== JSON.stringify(ALL);

/** @param {HTMLFormElement} element */
function choose(element) {
    const values = /** @type {Filter} */ (Object.fromEntries(new FormData(element)));
    const filter = { ...ALL, ...values, q: values.q.trim() };
    if (filter.period === 'days') {
        const today = toField(now()).slice(0, 10);
        filter.to ||= today;
        filter.from ||= filter.to;
        if (filter.from > filter.to) [filter.from, filter.to] = [filter.to, filter.from];
    }
    if (JSON.stringify(filter) === JSON.stringify(state.filter)) return;
    state.filter = filter;
    load();
}

/** @type {ReturnType<typeof setTimeout> | undefined} */
let typing;

function filters() {
    const { filter } = state;
    return h('form', {
        class: 'filters', role: 'search', 'aria-label': t('search'), key: 'filters',
        onsubmit: (/** @type {Event} */ event) => {
            event.preventDefault();
            choose(/** @type {HTMLFormElement} */ (event.currentTarget));
        },
        onchange: (/** @type {Event} */ event) => choose(/** @type {HTMLFormElement} */ (event.currentTarget)),
        oninput: (/** @type {Event} */ event) => {
            const element = /** @type {HTMLFormElement} */ (event.currentTarget);
            clearTimeout(typing);
            if (/** @type {HTMLInputElement} */ (event.target).name === 'q') typing = setTimeout(() => choose(element), 400);
        },
    },
    field({ name: 'q', label: t('search'), type: 'search', maxlength: '100', autocomplete: 'off', placeholder: t('search_hint') }),
    field({ name: 'kind', label: t('kind'), value: filter.kind, options: [['', t('everything')], ['opened', t('opened')], ['call', t('rang')], ['wrong', t('wrong')]] }),
    field({ name: 'unlock', label: t('grant'), value: filter.unlock, options: [['', t('every_grant')], ...grants().map((grant) => /** @type {[string, string]} */ ([grant.id, grant.label]))] }),
    field({ name: 'period', label: t('period'), value: filter.period, options: [['', t('always')], ['today', t('today')], ['week', t('week')], ['month', t('month')], ['days', t('days')]] }),
    filter.period === 'days' && field({ name: 'from', label: t('from'), type: 'date', value: filter.from, max: toField(now()).slice(0, 10) }),
    filter.period === 'days' && field({ name: 'to', label: t('to'), type: 'date', value: filter.to, max: toField(now()).slice(0, 10) }));
}

// ---- the list ----

/** @param {Entry} entry */
function row(entry) {
    return h('li', { key: entry.id }, sign(entry),
        h('div', null, h('b', null, titleOf(entry)), h('span', { class: 'small quiet' }, hintOf(entry, data.calls.data))),
        h('div', { class: 'at' }, h('time', { class: 'num', datetime: entry.created_at }, clock(entry.created_at)),
            h('button', { class: 'plain why', type: 'button', 'aria-label': t('why_of', { name: titleOf(entry), time: when(entry.created_at) }), onclick: () => why(entry, nameOf) }, t('why'))));
}

/** @param {string} day @param {Entry} first */
function dayName(day, first) {
    if (day === toField(now()).slice(0, 10)) return t('today');
    return day === toField(now() - DAY_MS).slice(0, 10) ? t('yesterday') : date(first.created_at);
}

function days() {
    /** @type {Map<string, Entry[]>} */
    const groups = new Map();
    for (const entry of state.entries) {
        const day = toField(entry.created_at).slice(0, 10);
        groups.set(day, [...groups.get(day) ?? [], entry]);
    }
    return [...groups].map(([day, entries]) => h('section', { class: 'day', key: day },
        h('h3', null, dayName(day, entries[0])), h('ul', { class: 'rows' }, entries.map(row))));
}

function nothing() {
    const filtered = isFiltered();
    return h('div', { class: 'nothing', key: 'nothing' }, icon('list'), h('b', null, filtered ? t('none_found') : t('none')), h('p', { class: 'quiet' }, filtered ? t('none_found_hint') : t('none_hint')),
        filtered && h('button', {
            type: 'button',
            onclick: () => {
                state.filter = ALL;
                /** @type {HTMLFormElement | null} */ (document.querySelector('.filters'))?.reset();
                load();
            },
        }, t('clear')));
}

function log() {
    const note = zoneNote();
    const any = state.entries.length > 0 || state.busy || isFiltered();
    return h('section', { class: 'card log', 'aria-labelledby': 'log' },
        h('div', { class: 'head' }, h('h2', { id: 'log' }, t('visits')), any && h('button', { class: 'small', type: 'button', onclick: exportLog }, icon('file'), t('export'))),
        any && filters(),
        any && note && h('p', { class: 'small quiet', key: 'zone' }, note),
        state.error && h('p', { class: 'note bad', role: 'alert', key: 'error' }, state.error),
        h('div', { class: 'list', 'aria-busy': state.busy && 'true', key: 'list' },
            state.entries.length > 0 ? days() : !state.busy && !state.error && nothing(),
            h('p', { class: 'visually-hidden', role: 'status', key: 'status' }, state.busy ? t('page.loading') : t('shown', { count: state.entries.length }))),
        state.pagination.has_more && h('div', { class: 'actions', key: 'more' },
            h('button', { class: 'wide', type: 'button', 'aria-disabled': state.busy && 'true', onclick: () => { if (!state.busy) load(state.pagination.cursor); } }, t('more'))));
}

// ---- messages ----

function messageList() {
    /** @type {Call[]} */
    const messages = data.calls.data.filter((/** @type {Call} */ one) => one.message_seconds !== null).slice(0, 5);
    return messages.length > 0 && h('section', { class: 'card', 'aria-labelledby': 'messages' }, h('h2', { id: 'messages' }, t('messages')),
        h('ul', { class: 'rows' }, messages.map((one) => h('li', { key: one.id, class: 'said' },
            h('div', null, h('b', { class: 'num' }, one.caller ?? t('visit.withheld')), h('span', { class: 'small quiet num' }, when(one.started_at))),
            player(one.id, one.message_seconds ?? 0)))));
}

// ---- what would happen at another time ----

/** @type {import('./lib/verdict.js').Decision | undefined} */
let decision;

function question() {
    const [title, lead] = decision ? verdictOf(decision) : ['', ''];
    return h('section', { class: 'card', 'aria-labelledby': 'question' }, h('h2', { id: 'question' }, t('question')),
        h('p', { class: 'quiet' }, t('question_hint')),
        form({
            class: 'stack', button: t('ask'), errors: { INVALID_DATE: 'at' },
            submit: async ({ at: text }) => {
                const time = text === toField(now()) ? now() : fromField(text); // not the beginning of this minute
                if (Number.isNaN(time)) return;
                decision = await call('GET', `/v1/buildings/${building.id}/decision?at=${new Date(time).toISOString()}`);
                draw();
            },
        }, field({ name: 'at', label: t('at'), type: 'datetime-local', value: toField(now()), required: true, hint: zoneNote() || undefined })),
        decision && h('div', { class: 'answers', role: 'status', key: 'answers' },
            h('p', { class: `answer ${decision.verdict}` }, h('b', null, title), ' ', h('span', { class: 'quiet num' }, when(decision.at))), h('p', null, lead), grantParts(decision)));
}

// ---- the log as a file ----

const EXPORT_MAX = 5_000;
const EXPORT_PAGE = 100;

/** A cell that no spreadsheet takes for a formula. @param {string} text */
export function cell(text) {
    return `"${(/^[\s]*[=+\-@\t\r]/.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;
}

/** @param {Entry[]} entries */
function csv(entries) {
    const lines = [[t('csv_time'), t('csv_local'), t('csv_kind'), t('csv_name'), t('csv_type'), t('csv_opened'), 'grant_id', 'id'],
        ...entries.map((entry) => [entry.created_at, toField(entry.created_at).replace('T', ' '), kindOf(entry), entry.name, entry.unlock_type ?? '', String(entry.succeeded && entry.type === 'unlock'), entry.unlock_id ?? '', entry.id])];
    return `\ufeff${lines.map((line) => line.map(cell).join(',')).join('\r\n')}\r\n`;
}

async function exportLog() {
    let got = 0;
    let running = false;
    let stopped = false;
    /** Reads the list page by page. @param {() => void} tell @returns {Promise<{entries: Entry[], more: boolean}>} */
    const collect = async (tell) => {
        /** @type {Entry[]} */
        const entries = [];
        /** @type {Pagination} */
        let pagination = { cursor: null, has_more: true };
        const { filter } = state;
        while (pagination.has_more && entries.length < EXPORT_MAX && !stopped) {
            const page = await call('GET', pathOf(filter, EXPORT_PAGE, pagination.cursor));
            entries.push(...page.data);
            ({ pagination } = page);
            got = entries.length;
            tell();
        }
        return { entries, more: pagination.has_more };
    };
    await dialog(t('export'), (close, redraw) => [
        h('p', null, t('export_hint', { max: EXPORT_MAX })),
        form({
            button: running ? t('exporting') : t('export'),
            submit: async ({ format }) => {
                running = true;
                redraw();
                try {
                    const { entries, more } = await collect(redraw);
                    if (stopped) return;
                    if (format === 'json') save([JSON.stringify({ building_id: building.id, data: entries }, null, 1)], 'application/json', 'portero', 'json');
                    else save([csv(entries)], 'text/csv;charset=utf-8', 'portero', 'csv');
                    toast(more ? t('exported_part', { count: entries.length }) : t('exported', { count: entries.length }));
                    close();
                } finally {
                    running = false;
                    redraw();
                }
            },
        }, field({ name: 'format', label: t('format'), options: [['csv', t('csv')], ['json', 'JSON']] }),
        running && h('p', { class: 'progress', role: 'status', key: 'got' }, h('progress', { class: 'meter', 'aria-label': t('exporting') }), h('span', { class: 'num quiet' }, t('read', { count: got }))))]);
    stopped = true;
}

function draw() {
    patch(at('page'), [log(), h('div', { class: 'column' }, messageList(), question())]);
}

addEventListener('unhandledrejection', (event) => { if (event.reason instanceof CallError) tellError(event.reason); });
draw();
whenSeen(({ type }) => ['call.released', 'call.code_wrong', 'call.forwarded', 'call.opened', 'call.ended'].includes(type) || type.startsWith('grant.'), follow);

const wanted = new URLSearchParams(location.search).get('call'); // home leads here with it
if (wanted && /^[0-9a-f]{24}$/.test(wanted)) whyCall(wanted, nameOf);
