// Activity: who came, why the door opened or not, messages, the visits as a file, and what would happen at another time.
// texts: visit. story. verdict.
import { CallError, call } from './lib/call.js';
import { dialog, toast } from './lib/dialog.js';
import { field, form } from './lib/form.js';
import { whenSeen } from './lib/live.js';
import { at, building, data, refresh, tellError } from './lib/page.js';
import { save } from './lib/save.js';
import { message, why } from './lib/story.js';
import { errorText, t } from './lib/texts.js';
import { clock, date, fromField, now, toField, when, zone, zoneNote } from './lib/time.js';
import { codeText, grantParts, verdictOf } from './lib/verdict.js';
import { h, icon, patch } from './lib/view.js';
import { addressOf, ALL, dayAfter, filterOf, isSame, pathOf, today, whole } from './lib/visit_filter.js';
import { callerOf, outcomes, row, sentenceOf } from './lib/visits.js';

/**
 * @typedef {import('./lib/visits.js').Visit} Visit
 * @typedef {import('./lib/visits.js').VisitPage} VisitPage
 * @typedef {import('./lib/visit_filter.js').Filter} Filter
 */

const state = {
    filter: filterOf(location.search),
    /** @type {Visit[]} */ visits: data.visits.data,
    /** @type {VisitPage['pagination']} */ pagination: data.visits.pagination,
    busy: false,
    /** @type {string | undefined} */ error: undefined,
};

/** The labels of grants by their IDs: also of passes, and of grants that are gone, if a visit has told them. @type {Map<string, string>} */
const told = new Map();
function names() {
    for (const { opened_by: by, reason } of [...data.visits.data, ...state.visits]) for (const one of [by, reason]) if (one?.unlock_id && one.name) told.set(one.unlock_id, one.name);
    for (const { id, label } of data.grants.data) told.set(id, label);
    return told;
}
/** The phones, browsers and programs that have opened, by their names or numbers. @type {Map<string, string>} */
const openers = new Map();
function openersOf() {
    for (const visit of [...data.visits.data, ...state.visits]) {
        const by = visit.opened_by;
        const who = by && !by.unlock_id && (by.name ?? by.number);
        if (who) openers.set(who, sentenceOf(visit));
    }
    return openers;
}
/** @param {string} [id] */
const nameOf = (id) => names().get(id ?? '');

// ---- reading ----

let asked = 0;

/** Reads the list's first page, or its next one. A page may be empty though more follows. @param {string | null} [cursor] */
async function load(cursor) {
    const mine = asked += 1;
    const { filter } = state;
    state.busy = true;
    state.error = undefined;
    draw();
    try {
        /** @type {VisitPage} */
        let page = await call('GET', pathOf(filter, 50, cursor));
        while (page.data.length === 0 && page.pagination.has_more && mine === asked) page = await call('GET', pathOf(filter, 50, page.pagination.cursor));
        if (mine !== asked) return;
        state.visits = cursor ? [...state.visits, ...page.data] : page.data;
        state.pagination = page.pagination;
    } catch (error) {
        if (!(error instanceof CallError)) throw error;
        if (mine !== asked) return;
        state.error = errorText(error.code);
        if (!cursor) Object.assign(state, { visits: [], pagination: { cursor: null, has_more: false } }); // the others are of another filter
    } finally {
        if (mine === asked) {
            state.busy = false;
            draw();
        }
    }
}

/** Shows the newest page in place of what it has. Older visits stay, unless there is a gap between. @param {VisitPage} page */
function add({ data: newest, pagination }) {
    const last = newest.at(-1);
    if (pagination.has_more && !last) return;
    const joins = state.visits.some(({ id }) => newest.some((one) => one.id === id));
    const older = pagination.has_more && joins ? state.visits.filter(({ id }) => id < (last?.id ?? '')) : [];
    state.visits = [...newest, ...older];
    if (older.length === 0) state.pagination = pagination;
}

/** Reads what has happened, with all that the page tells of it. */
async function follow() {
    const mine = asked;
    const { filter } = state;
    if (!await refresh()) return;
    const page = isFiltered() ? await call('GET', pathOf(filter, 50)) : data.visits;
    if (mine === asked && !state.busy) add(page);
    draw();
}

const isFiltered = () => !isSame(state.filter, ALL);

// ---- the filter ----

/** @param {Filter} filter @param {'push' | 'replace' | ''} [entry] of the browser's history */
function show(filter, entry) {
    const same = isSame(filter, state.filter);
    state.filter = filter;
    if (same) return;
    if (entry === 'push') history.pushState(null, '', addressOf(filter));
    if (entry === 'replace') history.replaceState(null, '', addressOf(filter));
    load();
}

/** @param {HTMLFormElement} element @param {boolean} [typing] */
function choose(element, typing = false) {
    clearTimeout(pause);
    const filter = whole({ ...ALL, .../** @type {Filter} */ (Object.fromEntries(new FormData(element))) });
    show(filter, typing && state.filter.q ? 'replace' : 'push');
}

/** @type {ReturnType<typeof setTimeout> | undefined} */
let pause;

/** Options, with the chosen one where it is not known. @param {Map<string, string>} known @param {string} chosen @returns {[string, string][]} */
const optionsOf = (known, chosen) => [...known, ...chosen && !known.has(chosen) ? [/** @type {[string, string]} */ ([chosen, chosen])] : []];

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
            clearTimeout(pause);
            if (/** @type {HTMLInputElement} */ (event.target).name === 'q') pause = setTimeout(() => choose(element, true), 400);
        },
    },
    field({ name: 'q', label: t('search'), type: 'search', value: filter.q, maxlength: '100', autocomplete: 'off', placeholder: t('search_hint') }),
    field({ name: 'kind', label: t('kind'), value: filter.kind, options: [['', t('everything')], ...outcomes, ['wrong_code', t('wrong')]] }),
    field({ name: 'unlock', label: t('grant'), value: filter.unlock, options: [['', t('every_grant')], ...optionsOf(names(), filter.unlock)] }),
    (openersOf().size > 0 || filter.opener) && field({ name: 'opener', label: t('opener'), value: filter.opener, options: [['', t('anybody')], ...optionsOf(openers, filter.opener)] }),
    field({ name: 'period', label: t('period'), value: filter.period, options: [['', t('always')], ['today', t('today')], ['yesterday', t('yesterday')], ['week', t('week')], ['month', t('month')], ['days', t('days')]] }),
    filter.period === 'days' && field({ name: 'from', label: t('from'), type: 'datetime-local', value: filter.from, max: `${today()}T23:59` }),
    filter.period === 'days' && field({ name: 'to', label: t('to'), type: 'datetime-local', value: filter.to, max: `${today()}T23:59` }));
}

// ---- the list ----

/** @param {string} day @param {Visit} first */
function dayName(day, first) {
    if (day === today()) return t('today');
    return day === dayAfter(today(), -1) ? t('yesterday') : date(first.started_at);
}

/** @param {Visit} visit */
const whyButton = (visit) => h('button', { class: 'plain why', type: 'button', 'aria-label': t('why_of', { name: sentenceOf(visit), time: when(visit.started_at) }), onclick: () => why(visit, nameOf) }, t('why'));

function days() {
    /** @type {Map<string, Visit[]>} */
    const groups = new Map();
    for (const visit of state.visits) {
        const day = toField(visit.started_at).slice(0, 10);
        groups.set(day, [...groups.get(day) ?? [], visit]);
    }
    return [...groups].map(([day, visits]) => h('section', { class: 'day', key: day },
        h('h3', null, dayName(day, visits[0])), h('ul', { class: 'rows' }, visits.map((visit) => row(visit, clock(visit.started_at), whyButton(visit))))));
}

function nothing() {
    const filtered = isFiltered();
    return h('div', { class: 'nothing', key: 'nothing' }, icon('list'), h('b', null, filtered ? t('none_found') : t('none')), h('p', { class: 'quiet' }, filtered ? t('none_found_hint') : t('none_hint')),
        filtered && h('button', { type: 'button', onclick: () => show(ALL, 'push') }, t('clear')));
}

function list() {
    const note = zoneNote();
    const any = state.visits.length > 0 || state.busy || isFiltered();
    return h('section', { class: 'card log', 'aria-labelledby': 'log' },
        h('div', { class: 'head' }, h('h2', { id: 'log' }, t('visits')), any && h('button', { class: 'small', type: 'button', onclick: exportVisits }, icon('file'), t('export'))),
        any && filters(),
        any && note && h('p', { class: 'small quiet', key: 'zone' }, note),
        state.error && h('p', { class: 'note bad', role: 'alert', key: 'error' }, state.error),
        h('div', { class: 'list', 'aria-busy': state.busy && 'true', key: 'list' },
            state.visits.length > 0 ? days() : !state.busy && !state.error && nothing(),
            h('p', { class: 'visually-hidden', role: 'status', key: 'status' }, state.busy ? t('page.loading') : t('shown', { count: state.visits.length }))),
        state.pagination.has_more && h('div', { class: 'actions', key: 'more' },
            h('button', { class: 'wide', type: 'button', 'aria-disabled': state.busy && 'true', onclick: () => { if (!state.busy) load(state.pagination.cursor); } }, t('more'))));
}

// ---- messages ----

function messageList() {
    /** @type {Visit[]} */
    const messages = data.visits.data.filter((one) => one.message_seconds !== null && one.call_id).slice(0, 5);
    return messages.length > 0 && h('section', { class: 'card', 'aria-labelledby': 'messages' }, h('h2', { id: 'messages' }, t('messages')),
        h('ul', { class: 'rows' }, messages.map((one) => h('li', { key: one.id, class: 'said' },
            h('div', null, h('b', { class: 'num' }, callerOf(one)), h('span', { class: 'small quiet num' }, when(one.started_at))),
            message(one.id, one.message_seconds ?? 0)))));
}

// ---- what would happen at another time ----

/** @type {import('./lib/verdict.js').Decision | undefined} */
let decision;

function question() {
    const [title, lead] = decision ? verdictOf(decision) : ['', ''];
    return h('section', { class: 'card', 'aria-labelledby': 'question' }, h('h2', { id: 'question' }, t('question')),
        h('p', { class: 'quiet' }, t('question_hint')),
        form({
            class: 'stack', button: t('ask'), errors: { INVALID_DATE: 'at', INVALID_FILTER: 'digits' },
            submit: async ({ at: text, digits }) => {
                const time = text === toField(now()) ? now() : fromField(text); // not the beginning of this minute
                if (Number.isNaN(time)) return;
                decision = await call('GET', `/v1/buildings/${building.id}/decision?at=${new Date(time).toISOString()}${digits && `&digits=${digits}`}`);
                draw();
            },
        }, field({ name: 'at', label: t('at'), type: 'datetime-local', value: toField(now()), required: true, hint: zoneNote() || undefined }),
        field({ name: 'digits', label: t('digits'), hint: t('digits_hint'), class: 'digits', inputmode: 'numeric', pattern: '[0-9]{1,8}', maxlength: 8, autocomplete: 'off' })),
        decision && h('div', { class: 'answers', role: 'status', key: 'answers' },
            h('p', { class: `answer ${decision.verdict}` }, h('b', null, title), ' ', h('span', { class: 'quiet num' }, when(decision.at))), h('p', null, lead), decision.code && h('p', { class: 'whose' }, codeText(decision)), grantParts(decision)));
}

// ---- the visits as a file ----

const EXPORT_MAX = 5_000;
const EXPORT_PAGE = 100;

/** A cell that no spreadsheet takes for a formula. @param {string} text */
export function cell(text) {
    return `"${(/^[\s]*[=+\-@\t\r]/.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;
}

/** @param {Visit[]} visits */
function csv(visits) {
    const lines = [[t('csv_time'), t('csv_local'), t('csv_zone'), t('csv_what'), t('csv_caller'), 'outcome', 'opened_by', 'opened_by_name', 'reason', 'reason_name', 'unlock_id', 'call_id', 'id'],
        ...visits.map((visit) => {
            const { started_at: time, opened_by: by, reason } = visit;
            return [time, toField(time).replace('T', ' '), zone, sentenceOf(visit), visit.caller ?? callerOf(visit), visit.outcome, by?.kind, by?.name ?? by?.number, reason?.code, reason?.name,
                by?.unlock_id ?? reason?.unlock_id, visit.call_id, visit.id].map((value) => value ?? '');
        })];
    return `\ufeff${lines.map((line) => line.map(cell).join(',')).join('\r\n')}\r\n`;
}

async function exportVisits() {
    let got = 0;
    let running = false;
    let stopped = false;
    /** Reads the list page by page. @param {() => void} tell @returns {Promise<{visits: Visit[], more: boolean}>} */
    const collect = async (tell) => {
        /** @type {Visit[]} */
        const visits = [];
        /** @type {VisitPage['pagination']} */
        let pagination = { cursor: null, has_more: true };
        const { filter } = state;
        while (pagination.has_more && visits.length < EXPORT_MAX && !stopped) {
            const page = await call('GET', pathOf(filter, EXPORT_PAGE, pagination.cursor));
            visits.push(...page.data);
            ({ pagination } = page);
            got = visits.length;
            tell();
        }
        return { visits, more: pagination.has_more };
    };
    await dialog(t('export'), (close, redraw) => [
        h('p', null, t('export_hint', { max: EXPORT_MAX })),
        form({
            button: running ? t('exporting') : t('export'),
            submit: async ({ format }) => {
                running = true;
                redraw();
                try {
                    const { visits, more } = await collect(redraw);
                    if (stopped) return;
                    if (format === 'json') save([JSON.stringify({ building_id: building.id, timezone: zone, data: visits }, null, 1)], 'application/json', 'portero', 'json');
                    else save([csv(visits)], 'text/csv;charset=utf-8', 'portero', 'csv');
                    toast(more ? t('exported_part', { count: visits.length }) : t('exported', { count: visits.length }));
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
    patch(at('page'), [list(), h('div', { class: 'column' }, messageList(), question())]);
}

addEventListener('unhandledrejection', (event) => { if (event.reason instanceof CallError) tellError(event.reason); });
addEventListener('popstate', () => show(filterOf(location.search)));
if (isFiltered()) load();
else draw();
whenSeen(({ type }) => /^call\.(ring|released|code_wrong|forwarded|opened|message|ended)$|^grant\./.test(type), follow);

/** Explains the visit of a call, which Home leads to. @param {string} id */
async function explain(id) {
    const known = [...data.visits.data, ...state.visits].find((visit) => visit.call_id === id);
    if (known) return why(known, nameOf);
    const { started_at: time } = await call('GET', `/v1/calls/${id}`);
    const page = await call('GET', `/v1/visits?limit=100&since=${time}&until=${time}`);
    const found = page.data.find((visit) => visit.id === id);
    return found && why(found, nameOf);
}

const wanted = new URLSearchParams(location.search).get('call');
if (wanted && /^[0-9a-f]{24}$/.test(wanted)) explain(wanted).then(() => history.replaceState(null, '', addressOf(state.filter)));
