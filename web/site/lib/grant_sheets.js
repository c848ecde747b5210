// The dialogs about one access grant: sharing it, its code in large figures, more time, editing it.
// texts: grant. pass. setup.
import { CallError, call } from './call.js';
import { building } from './data.js';
import { dialog } from './dialog.js';
import { form } from './form.js';
import { change, doorText, invitation, lineOf, opensNow, passOf, reread, timeText, usesText } from './grant.js';
import { changeBody, FIELD_ERRORS, grantFields } from './grant_form.js';
import { missingNote, shut } from './missing.js';
import { sentence } from './pass.js';
import { grantValues, hears, PASS_ERRORS, passBody, passChange, passFields, purposeValues, typedIn, withChange } from './pass_form.js';
import { copy, share } from './share.js';
import { t } from './texts.js';
import { fromField, length, now, toField, when, zone } from './time.js';
import { h, icon } from './view.js';

/** @typedef {import('./grant.js').Grant} Grant */
/** @typedef {import('./view.js').Child} Child */

const MINUTE = 60_000;

/** @param {string} code */
const figures = (code) => h('p', { class: 'large-code', 'aria-label': t('grant.code_is', { code: code.split('').join(' ') }) }, code);

/** The code as large as the screen allows, to be read across a table. @param {Grant} grant */
export function showLarge(grant) {
    return dialog(grant.label, (_, draw) => [missingNote(draw), figures(grant.access_code ?? ''), h('p', { class: 'quiet centered' }, lineOf(grant))]);
}

// ---- creation ----

/** @typedef {import('./pass_form.js').Values} Values */

/**
 * The form of a pass, drawn again with every change.
 * @param {{first: Values, typed: Values, grant?: Grant}} state what its fields begin with, what they say, the pass that is edited
 * @param {() => void} draw
 * @param {{button?: string, submit: (values: Values, once: string) => Promise<unknown>}} more
 */
function passForm(state, draw, more) {
    const oninput = (/** @type {Event} */ event) => {
        state.typed = typedIn(/** @type {HTMLFormElement} */ (event.currentTarget), state.first);
        draw();
    };
    return form({ key: 'pass', class: 'grant-form', errors: PASS_ERRORS, oninput, ...more }, passFields(state.typed, state.first, state.grant));
}

/** @param {Record<string, unknown>} body @param {(code: string) => boolean} taken */
function refuseTaken({ access_code: code }, taken) {
    if (code && taken(String(code))) throw new CallError(0, 'code_taken');
}

/**
 * Makes a pass: for a purpose, or one like a grant that there is.
 * @param {string} purpose "guest", "parcel", "cleaner", "party" or "next", who buzzes next @param {Grant} [like]
 * @param {(code: string) => boolean} [taken] has another grant this code?
 * @returns {Promise<Grant | undefined>}
 */
export function create(purpose, like, taken = () => false) {
    const first = like ? grantValues(like, false) : purposeValues(purpose);
    const state = { first, typed: first };
    return dialog(like ? t('grant.another') : t('grant.new'), (/** @type {(made?: Grant) => void} */ close, draw) => [missingNote(draw), passForm(state, draw, {
        button: t('grant.create'),
        submit: async (typed, once) => {
            const body = passBody(typed);
            refuseTaken(body, taken);
            close(await call('POST', '/v1/passes', body, { once }));
        },
    })]);
}

// ---- editing ----

/** What of a grant people compare: [name, its text]. @param {Grant} grant @returns {[string, string][]} */
function aspects(grant) {
    return [
        [t('grant.name'), grant.label],
        [t('grant.code'), grant.access_code ?? ''],
        [t('grant.time'), timeText(grant)],
        [t('grant.uses_field'), usesText(grant)],
        ...hears() ? [/** @type {[string, string]} */ ([t('grant.voice_short'), grant.enter_code_with_voice ? t('grant.yes') : t('grant.no')])] : [],
        [t('grant.switch'), grant.enabled ? t('grant.on') : t('grant.off')],
    ];
}

/** @param {Grant} newer @param {Record<string, any>} body @returns {Grant} */
function changed(newer, { expires_in_minutes: minutes, ...body }) {
    const end = minutes ? { ends_at: new Date(now() + minutes * MINUTE).toISOString() } : {};
    return { ...withChange(newer, body), ...end };
}

/** Both versions of a grant, where they differ. @param {Grant} mine @param {Grant} newer */
function versions(mine, newer) {
    const theirs = aspects(newer);
    const rows = aspects(mine).map(([name, text], i) => ({ name, mine: text, newer: theirs[i][1] })).filter((row) => row.mine !== row.newer);
    return h('div', { class: 'scroll', key: 'versions' }, h('table', { class: 'compare' },
        h('thead', null, h('tr', null, h('td', null), h('th', { scope: 'col' }, t('grant.mine')), h('th', { scope: 'col' }, t('grant.newer')))),
        h('tbody', null, rows.map((row) => h('tr', { key: row.name }, h('th', { scope: 'row' }, row.name), h('td', null, row.mine), h('td', null, row.newer))))));
}

/**
 * Edits a grant. If somebody else has changed it meanwhile, shows both versions, and the person chooses.
 * @param {Grant} grant @param {(code: string) => boolean} [taken]
 * @returns {Promise<Grant | undefined>} as it is now, if it differs from what was given
 */
export function edit(grant, taken = () => false) {
    const first = grantValues(grant, true);
    const state = { first, typed: first, span: grant.ends_at ? 'keep' : 'none', grant };
    /** @type {{newer: Grant, body: Record<string, unknown>} | undefined} */
    let conflict;
    return dialog(t('grant.edit_title'), (/** @type {(made?: Grant) => void} */ close, draw) => {
        const save = async (/** @type {Grant} */ version, /** @type {Record<string, unknown>} */ body) => {
            try {
                close(Object.keys(body).length > 0 ? await change(version, body) : conflict?.newer);
            } catch (error) {
                if (!(error instanceof CallError) || error.code !== 'VERSION_CONFLICT') throw error;
                conflict = { newer: await reread(grant), body };
                draw();
            }
        };
        const submit = async (/** @type {Values} */ typed) => {
            const body = grant.pass ? passChange(typed, grant) : changeBody(typed, grant);
            refuseTaken(body, taken);
            await save(grant, body);
        };
        if (conflict) return choice(conflict, save, close);
        return [grant.pass ? passForm(state, draw, { submit }) : form({ key: 'edit', class: 'grant-form', errors: FIELD_ERRORS, submit }, grantFields(state, draw))];
    });
}

/**
 * @param {{newer: Grant, body: Record<string, unknown>}} conflict
 * @param {(version: Grant, body: Record<string, unknown>) => Promise<void>} save @param {(grant: Grant) => void} close
 */
function choice({ newer, body }, save, close) {
    return [form({
        key: 'conflict',
        button: t('grant.keep_mine'),
        submit: () => save(newer, body),
        more: h('button', { type: 'button', onclick: () => close(newer) }, t('grant.take_newer')),
    }, h('p', { class: 'note', role: 'alert', key: 'why' }, t('grant.conflict')), versions(changed(newer, body), newer))];
}

// ---- more time ----

/** The ends that it can be given: [text, end in milliseconds]. @param {Grant} grant @returns {[string, number][]} */
function laterEnds(grant) {
    const from = Math.max(now(), grant.ends_at ? Date.parse(grant.ends_at) : 0);
    const limit = Math.max(now(), grant.type === 'timer' && grant.starts_at ? Date.parse(grant.starts_at) : 0) + 10_080 * MINUTE;
    const midnight = fromField(`${toField(now()).slice(0, 10)}T23:59`);
    /** @type {[string, number][]} */
    const all = [15, 60, 1440].map((minutes) => [t('grant.plus', { time: length(minutes * MINUTE) }), from + minutes * MINUTE]);
    if (midnight > from) all.splice(2, 0, [t('grant.today'), midnight]);
    return all.filter(([, end]) => end <= limit);
}

/**
 * Gives it more time, or opens one again that has ended.
 * @param {Grant} grant @returns {Promise<Grant | undefined>} as it is now
 */
export function extend(grant) {
    return dialog(t('grant.extend_title', { label: grant.label }), (/** @type {(made?: Grant) => void} */ close, _, step) => {
        const give = (/** @type {number | null} */ end) => step(async () => {
            const body = { [grant.pass ? 'until' : 'ends_at']: end && new Date(end).toISOString() };
            try {
                close(await change(grant, grant.type === 'timer' ? { ...body, enabled: true } : body));
            } catch (error) {
                if (error instanceof CallError && error.code === 'VERSION_CONFLICT') grant = await reread(grant).catch(() => grant);
                throw error;
            }
        });
        return [
            h('p', { class: 'quiet' }, lineOf(grant)),
            h('ul', { class: 'rows ends' }, laterEnds(grant).map(([text, end]) => h('li', { key: text },
                h('button', { type: 'button', onclick: () => give(end) }, h('b', null, text), h('span', { class: 'quiet num' }, t('grant.until', { time: when(end) }))))),
            grant.type === 'passcode' && h('li', { key: 'none' }, h('button', { type: 'button', onclick: () => give(null) }, h('b', null, t('grant.no_end'))))),
        ];
    });
}

// ---- sharing ----

/** @typedef {{url: string | null}} Link */

/** The switch of the guest's page, and the way to it. @param {Link} link @param {(on: boolean) => void} flip */
function guestPage({ url }, flip) {
    return h('div', { class: 'guest-page', key: 'link' },
        h('button', { class: 'switch', type: 'button', role: 'switch', 'aria-checked': String(url !== null), 'aria-describedby': 'link-hint', onclick: () => flip(url === null) },
            h('span', null, t('grant.link')), h('i', null)),
        h('p', { class: 'hint', id: 'link-hint' }, url ? t('grant.link_on') : t('grant.link_hint'), ' ',
            url && h('a', { href: new URL(url).pathname, target: '_blank', rel: 'noopener' }, t('grant.link_see'))));
}

/**
 * How the guest gets in, to be sent to them: as a text, or by the link of a page that tells it in their language. Where
 * no grant opens the door, the sheet has what is missing in place of it.
 * @param {Grant} grant @param {number} [codesLeft] of four digits, if its creation told that they are few
 */
export function shareSheet(grant, codesLeft) {
    const path = /** @type {const} */ (`/v1/unlock/${grant.id}/link`);
    /** @type {Link | undefined} */
    let link;
    /** @type {Promise<void> | undefined} */
    let first;
    return dialog(t('grant.share_title', { label: grant.label }), (_, draw, step) => {
        const read = (/** @type {() => Promise<Link>} */ ask) => step(async () => { link = await ask(); });
        const flip = async (/** @type {boolean} */ on) => {
            await first;
            await read(on ? () => call('POST', path, { timezone: zone })
                : async () => {
                    await call('DELETE', path);
                    return { url: null };
                });
        };
        const opens = !shut();
        if (opens) first ??= read(() => call('GET', path));
        const url = link?.url ?? undefined, pass = passOf(grant);
        const text = url ? t('grant.invite_link', { building: doorText() }) : invitation(grant);
        return [
            grant.access_code && figures(grant.access_code),
            pass && h('p', { class: 'quiet', key: 'sentence' }, sentence(pass)),
            missingNote(draw),
            opens && h('p', { class: 'invitation', key: 'invitation' }, text, url && h('span', { class: 'url' }, url)),
            codesLeft !== undefined && h('p', { class: 'note', key: 'codes' }, t('grant.codes_left', { count: codesLeft })),
            grant.type === 'timer' && opensNow(grant) && h('p', { class: 'hint', key: 'timer' }, t('grant.timer_hint')),
            opens && guestPage(link ?? { url: null }, flip),
            opens && h('div', { class: 'actions', key: 'actions' },
                h('button', { class: 'primary', type: 'button', onclick: () => share({ title: building.label, text, url }) }, icon('share'), t('grant.send')),
                h('button', { type: 'button', onclick: () => copy(url ? `${text}\n${url}` : text) }, t('page.copy'))),
        ];
    });
}
