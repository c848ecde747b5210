// Who may enter: all grants of the building, new ones, and what can be done with each.
// texts: grant. pass. setup.
import { CallError, call } from './lib/call.js';
import { dialog, later, toast } from './lib/dialog.js';
import { change, hasEnded, lineOf, nextOf, opensNow, reread, statusOf, statusText, timeText, usesText } from './lib/grant.js';
import { create, edit, extend, shareSheet, showLarge } from './lib/grant_sheets.js';
import { whenSeen } from './lib/live.js';
import { missingNote } from './lib/missing.js';
import { hears } from './lib/pass_form.js';
import { at, data, refresh, tellError } from './lib/page.js';
import { addressWith, folded } from './lib/search.js';
import { errorText, t } from './lib/texts.js';
import { exactly, when } from './lib/time.js';
import { h, icon, patch } from './lib/view.js';

/** @typedef {import('./lib/grant.js').Grant} Grant */
/** @typedef {import('./contract.js').Schemas['UnlockPage']} Page */

const PAGE = 50;
const AT_ONCE = 4; // pages that one press reads at most

const FEW = 5; // so many are seen without choosing a kind

const VIEWS = ['active', 'scheduled', 'ended', 'all'];
const KINDS = ['', 'passcode', 'timer', 'routine'];

/** Everything known, by ID. @type {Map<string, Grant>} */
const grants = new Map();
/** IDs of grants that are being revoked: hidden while it can be undone. @type {Set<string>} */
const leaving = new Set();
/** IDs of codes that are shown. @type {Set<string>} */
const revealed = new Set();

let usual = 'active', view = '', kind = '', typed = '', room = PAGE, loading = false, problem = '';

// ---- reading ----

/** The lists that were read, by their filters: the lowest ID that was read, and what comes next. @type {Map<string, {floor: string, cursor: string | null, more: boolean}>} */
const lists = new Map();

/** @param {string} filters @param {Page} page */
function keep(filters, page) {
    for (const grant of page.data) grants.set(grant.id, grant);
    lists.set(filters, { floor: page.data.at(-1)?.id ?? '', cursor: page.pagination.cursor, more: page.pagination.has_more });
}

/** The filters of the shortest list that has all that the view shows. */
function filtersNow() {
    if (!lists.get('')?.more) return '';
    const status = ['active', 'scheduled'].includes(view) ? `&status=${view}` : '';
    return status + (kind && `&type=${kind}`);
}

/** @param {Grant} grant */
function matches(grant) {
    if (leaving.has(grant.id)) return false;
    if (kind && grant.type !== kind) return false;
    if (!folded(`${grant.label} ${grant.access_code ?? ''}`).includes(folded(typed))) return false;
    return view === 'all' || (view === 'ended' ? hasEnded(grant) : statusOf(grant) === view);
}

/** What the view shows, newest first. */
function matching() {
    const list = lists.get(filtersNow());
    return [...grants.values()].filter((grant) => (!list?.more || grant.id >= list.floor) && matches(grant)).sort((a, b) => (a.id < b.id ? 1 : -1));
}

/** Reads on until the view is full, some pages at most. */
async function fill() {
    if (loading) return;
    loading = true;
    problem = '';
    draw();
    try {
        for (let i = 0; i < AT_ONCE; i++) {
            const filters = filtersNow();
            const list = lists.get(filters);
            if (list && (!list.more || matching().length >= room)) break;
            keep(filters, await call('GET', `/v1/unlock?limit=100${filters}${list?.cursor ? `&cursor=${list.cursor}` : ''}`));
        }
    } catch (error) {
        if (!(error instanceof CallError)) throw error;
        problem = errorText(error.code);
    } finally {
        loading = false;
        draw();
    }
}

// ---- what is looked for, in the page's address ----

/** Shows the grants that the page's address asks for. Values that the page does not have count as not given. */
function look() {
    const query = new URLSearchParams(location.search);
    view = VIEWS.find((one) => one === query.get('status')) ?? usual;
    kind = KINDS.find((one) => one === query.get('kind')) ?? '';
    typed = (query.get('q') ?? '').slice(0, 120);
    room = PAGE;
}

/** Looks for something else. @param {{status?: string, kind?: string, q?: string}} values @param {boolean} [typing] */
function lookFor({ status = view, ...values }, typing = false) {
    const url = addressWith({ kind, q: typed, ...values, status: status === usual ? '' : status });
    if (history.state?.sheet || (typing && typed)) history.replaceState(null, '', url); // the entry of a sheet that was closed
    else if (url.href !== location.href) history.pushState(null, '', url);
    look();
    fill();
}

// ---- changing ----

/** @param {Grant | undefined} grant @param {string} [text] */
function put(grant, text) {
    if (!grant) return;
    grants.set(grant.id, grant);
    draw();
    if (text) toast(text, grant.id);
}

/** @param {string} code @param {string} [except] the ID of the grant that may have it */
const taken = (code, except) => [...grants.values()].some((one) => one.access_code === code && one.id !== except && one.enabled && one.status !== 'revoked');

/** Shares it; what is missing may be mended there. @param {Grant} grant @param {number} [codesLeft] */
async function offer(grant, codesLeft) {
    await shareSheet(grant, codesLeft);
    draw();
}

/** @param {string} purpose @param {Grant} [like] */
async function make(purpose, like) {
    const made = await create(purpose, like, (code) => taken(code));
    if (!made) return;
    put(made);
    await offer(made, made.codes_left);
    lookFor({ status: statusOf(made) === 'scheduled' ? 'scheduled' : 'active', kind: '', q: '' });
}

/** @param {Grant} grant @param {object} body @param {string} text */
async function write(grant, body, text) {
    try {
        put(await change(grant, body), text);
    } catch (error) {
        if (error instanceof CallError && ['VERSION_CONFLICT', 'GRANT_REVOKED'].includes(error.code)) put(await reread(grant).catch(() => undefined));
        tellError(error);
    }
}

/** @param {Grant} grant */
async function revoke(grant) {
    leaving.add(grant.id);
    draw();
    try {
        const done = await later(t('revoked', { label: grant.label }), () => call('DELETE', `/v1/unlock/${grant.id}`), grant.id);
        if (done) grants.delete(grant.id);
    } catch (error) {
        tellError(error);
    } finally {
        leaving.delete(grant.id);
        draw();
    }
}

// ---- one grant ----

/** @param {Grant} grant */
function facts(grant) {
    return h('dl', { class: 'facts' },
        h('dt', null, t('status')), h('dd', null, badge(grant)),
        h('dt', null, t('grant.time')), h('dd', { class: 'num' }, timeText(grant)),
        nextOf(grant) && [h('dt', null, t('next')), h('dd', { class: 'num' }, nextOf(grant))],
        grant.pass?.note && [h('dt', null, t('note')), h('dd', null, grant.pass.note)],
        grant.type !== 'routine' && [h('dt', null, t('grant.uses_field')), h('dd', null, usesText(grant))],
        grant.type === 'passcode' && hears() && [h('dt', null, t('grant.voice_short')), h('dd', null, grant.enter_code_with_voice ? t('grant.yes') : t('grant.no'))],
        h('dt', null, t('made')), h('dd', null, h('time', { datetime: grant.created_at, title: exactly(grant.created_at) }, when(grant.created_at))));
}

/** @typedef {'share' | 'large' | 'extend' | 'edit' | 'another' | 'revoke'} Action */

/** @param {Grant} first */
async function details(first) {
    const { id } = first;
    /** @type {Action | undefined} */
    const action = await dialog(first.label, (/** @type {(value?: Action) => void} */ close, draw) => {
        const grant = grants.get(id) ?? first;
        const flip = async () => {
            await write(grant, { enabled: !grant.enabled }, '');
            draw();
        };
        const item = (/** @type {Action} */ name, /** @type {string} */ text, style = '') => h('button', { type: 'button', class: style, key: name, onclick: () => close(name) }, name === 'share' && icon('share'), text);
        const live = !hasEnded(grant);
        return [
            grant.access_code && h('button', { class: 'code-card', type: 'button', onclick: () => close('large') },
                h('span', { class: 'large-code' }, grant.access_code), h('span', { class: 'small quiet' }, t('large'))),
            facts(grant),
            (grant.type !== 'timer' || grant.pass) && h('button', { class: 'switch', type: 'button', role: 'switch', 'aria-checked': String(grant.enabled), onclick: flip },
                h('span', null, t('grant.switch')), h('i', null)),
            h('div', { class: 'actions todo' },
                live && item('share', t('share'), 'primary'),
                item('edit', t('edit')),
                (grant.type !== 'routine' || grant.pass) && grant.ends_at && grant.remaining_uses !== 0 && item('extend', live ? t('extend') : t('reopen')),
                item('another', t('another')),
                item('revoke', t('revoke'), 'danger')),
        ];
    });
    const grant = grants.get(id) ?? first;
    if (action === 'share') await offer(grant);
    if (action === 'large') await showLarge(grant);
    if (action === 'extend') put(await extend(grant), t('extended'));
    if (action === 'edit') put(await edit(grant, (code) => taken(code, id)), t('saved'));
    if (action === 'another') await make('', grant);
    if (action === 'revoke') await revoke(grant);
}

/** @param {Grant} grant */
function badge(grant) {
    const status = opensNow(grant) ? 'open' : statusOf(grant);
    return h('span', { class: `badge ${status}` }, statusText(grant));
}

/** @param {Grant} grant */
function pin(grant) {
    const is = revealed.has(grant.id);
    const flip = () => {
        if (!revealed.delete(grant.id)) revealed.add(grant.id);
        draw();
    };
    return h('button', { class: 'pin', type: 'button', onclick: flip, 'aria-label': is ? t('hide', { code: grant.access_code ?? '', label: grant.label }) : t('show', { label: grant.label }) }, is ? grant.access_code : '••••');
}

/** @param {Grant} grant */
function row(grant) {
    const status = statusOf(grant);
    const open = opensNow(grant);
    const plain = status === 'active' && !open;
    return h('li', { key: grant.id, class: hasEnded(grant) ? 'over' : open ? 'open' : '' },
        h('button', { class: 'about', type: 'button', onclick: () => details(grant) }, h('i', null, icon(grant.type)),
            h('span', null, h('b', null, grant.label, !plain && ' ', !plain && badge(grant)), h('span', { class: 'small quiet num' }, lineOf(grant)))),
        grant.type === 'passcode' && !hasEnded(grant) && pin(grant),
        !hasEnded(grant) && h('button', { class: 'round sharing', type: 'button', 'aria-label': t('share_of', { label: grant.label }), onclick: () => offer(grant) }, icon('share')),
        grant.type === 'timer' && open && h('button', { type: 'button', class: 'end', 'aria-label': t('end_of', { label: grant.label }), onclick: () => write(grant, { enabled: false }, t('ended', { label: grant.label })) }, t('end')));
}

// ---- the page ----

/** @type {Record<string, string>} */
const DRAWINGS = {
    guest: 'M12 4a4 4 0 1 1 0 8 4 4 0 0 1 0-8zM4.500 20.500a7.500 7.500 0 0 1 15 0',
    parcel: 'M12 3 4 7v10l8 4 8-4V7zM4 7l8 4 8-4M12 11v10M8 5l8 4',
    cleaner: 'M12 3v8M8 11h8l1.500 10h-11zM10 21v-4M14 21v-4',
    party: 'M12 3a5 5 0 0 1 5 5c0 3.500-2.500 6.500-5 6.500S7 11.500 7 8a5 5 0 0 1 5-5zM12 14.500v1.500c0 2-2 2.500-1 5',
};

/** @param {string} d */
const drawing = (d) => h('svg', { viewBox: '0 0 24 24', 'aria-hidden': 'true' }, h('path', { d }));

function purposes() {
    /** @type {[string, string, string][]} */
    const all = [['guest', t('guest'), t('guest_hint')], ['parcel', t('parcel'), t('parcel_hint')], ['cleaner', t('cleaner'), t('cleaner_hint')], ['party', t('party'), t('party_hint')]];
    return h('section', { class: 'purposes', 'aria-labelledby': 'new', key: 'new' }, h('h2', { id: 'new' }, t('new')),
        h('div', { class: 'acts' }, all.map(([name, title, hint]) => h('button', { class: 'act', type: 'button', key: name, onclick: () => make(name) },
            h('i', null, drawing(DRAWINGS[name])), h('span', null, h('b', null, title), h('span', { class: 'small quiet' }, hint))))));
}

/** @param {string} legend @param {string[]} values @param {string[]} texts @param {string} chosen @param {(value: string) => void} choose */
function filter(legend, values, texts, chosen, choose) {
    return h('div', { class: 'filter', role: 'group', 'aria-label': legend }, values.map((value, i) => h('button', { type: 'button', key: value, 'aria-pressed': String(value === chosen), onclick: () => choose(value) }, texts[i])));
}

function filters() {
    return h('div', { class: 'finder', key: 'finder' },
        h('div', { class: 'search' }, drawing('M10.500 4a6.500 6.500 0 1 1 0 13 6.500 6.500 0 0 1 0-13zM15.500 15.500 20 20'),
            h('input', { type: 'search', 'aria-label': t('search'), placeholder: t('search'), maxlength: 120, value: typed, autocomplete: 'off', oninput: (/** @type {Event} */ event) => lookFor({ q: /** @type {HTMLInputElement} */ (event.target).value }, true) })),
        filter(t('status'), VIEWS, [t('active'), t('scheduled'), t('over'), t('all')], view, (status) => lookFor({ status })),
        (grants.size > FEW || kind !== '') && filter(t('kind'), KINDS, [t('every'), t('codes'), t('timers'), t('routines')], kind, (one) => lookFor({ kind: one })));
}

function empty() {
    const filtered = typed !== '' || kind !== '';
    return h('div', { class: 'empty', key: 'empty' }, h('p', null, filtered ? t('none_found') : { active: t('none_active'), scheduled: t('none_scheduled'), ended: t('none_ended'), all: t('none_active') }[view]),
        (filtered || view !== 'all') && h('button', { type: 'button', onclick: () => lookFor({ q: '', kind: '', status: 'all' }) }, t('show_all')));
}

function list() {
    const all = matching();
    const more = all.length > room || Boolean(lists.get(filtersNow())?.more);
    return h('section', { class: 'card', 'aria-label': t('title'), key: 'list', 'aria-busy': loading && 'true' }, filters(),
        h('p', { class: 'visually-hidden', role: 'status', key: 'count' }, loading ? t('loading') : all.length === 1 ? t('one') : t('count', { count: all.length })),
        h('ul', { class: 'rows grants', key: 'rows' }, all.slice(0, room).map(row)),
        all.length === 0 && !loading && !problem && !more && empty(),
        problem && h('p', { class: 'note bad', role: 'alert', key: 'problem' }, problem, ' ', h('button', { class: 'plain', type: 'button', onclick: fill }, t('again'))),
        loading && h('p', { class: 'quiet loading', key: 'loading' }, t('loading')),
        more && !loading && !problem && h('div', { class: 'actions', key: 'more' }, h('button', { type: 'button', onclick: () => { room += PAGE; fill(); } }, t('more'))));
}

function nothingYet() {
    return h('section', { class: 'card first', key: 'first' }, h('svg', { viewBox: '0 0 160 150', 'aria-hidden': 'true', class: 'open' },
        h('path', { class: 'sill', d: 'M66 128V40a26 26 0 0 1 52 0v88z' }), h('path', { class: 'light', d: 'M72 128V42a20 20 0 0 1 40 0v86z' }),
        h('path', { class: 'leaf', d: 'M72 128V42a20 20 0 0 1 15-19.4V136z' }), h('circle', { class: 'knob', cx: '82', cy: '86', r: '1.8' })),
    h('div', null, h('h2', null, t('first')), h('p', { class: 'quiet' }, t('first_hint'))));
}

function draw() {
    const none = grants.size === leaving.size && !lists.get('')?.more;
    patch(at('page'), [missingNote(draw), purposes(), none ? nothingYet() : list()]);
}

keep('', data.grants);
if (![...grants.values()].some((grant) => statusOf(grant) === 'active')) usual = 'all';
look();
addEventListener('popstate', () => {
    look();
    fill();
});
draw();
if (lists.get('')?.more) fill();
setInterval(draw, 20_000);

// ---- as it happens ----

const READ_MOST = 5;

/** Reads all again. */
async function restart() {
    if (!await refresh()) return;
    grants.clear();
    lists.clear();
    keep('', data.grants);
    await fill();
}

/** Reads a grant that was made, changed, used or revoked. @param {string} id */
async function follow(id) {
    try {
        grants.set(id, await call('GET', `/v1/unlock/${id}`));
    } catch (error) {
        if (!(error instanceof CallError) || error.status !== 404) throw error;
        grants.delete(id);
    }
}

/** This page's own changes are known. @param {import('./lib/live.js').LiveEvent} event */
const isNews = ({ type, unlock_id: id = '', version }) => (type.startsWith('grant.') ? version !== (grants.get(id)?.version ?? null) : type === 'call.released');

whenSeen(isNews, async (events) => {
    const ids = [...new Set(events.filter((event) => event.type !== 'grant.revoked').map((event) => event.unlock_id ?? ''))];
    for (const event of events) if (event.type === 'grant.revoked') grants.delete(event.unlock_id ?? '');
    if (ids.length > READ_MOST || ids.includes('')) await restart();
    else await Promise.all(ids.map(follow));
    draw();
});

// Home leads here to make something.
const wanted = new URLSearchParams(location.search).get('new');
if (wanted !== null) {
    history.replaceState(null, '', addressWith({ new: '' }));
    make(wanted);
}
