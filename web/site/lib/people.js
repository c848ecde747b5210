// The people of a building: whom its owner lets sign in to it, as what, and until when.
// texts: people.
import { CallError, call } from './call.js';
import { building, data } from './data.js';
import { dialog, toast } from './dialog.js';
import { field, form } from './form.js';
import { tellError } from './page.js';
import { language, t } from './texts.js';
import { now, when } from './time.js';
import { h, icon } from './view.js';

/** @typedef {import('../contract.js').Schemas['Member']} Person */

const path = /** @type {const} */ (`/v1/buildings/${building.id}/people`);
/** @type {Record<string, string>} */
const ROLES = { resident: t('people.resident'), manager: t('people.manager') };
const ERRORS = { INVALID_EMAIL: 'email', MEMBER_EXISTS: 'email' };

/** @type {Person[]} */
let people = data.people?.data ?? [];

const nameField = (value = '') => field({ name: 'name', label: t('people.name'), value, required: true, maxlength: 120, autocomplete: 'off' });
const roleField = (value = 'resident') => field({ name: 'role', label: t('people.role'), value, options: Object.entries(ROLES), hint: t('people.role_hint') });

/** @param {() => void} draw */
function invite(draw) {
    return dialog(t('people.invite'), (close) => [h('p', { class: 'quiet' }, t('people.invite_hint')), form({
        button: t('people.send'), errors: ERRORS,
        submit: async ({ name, email, role }) => {
            people = [...people, await call('POST', path, { name, email, role, language })];
            draw();
            close();
            toast(t('people.invited', { email }));
        },
    }, nameField(), field({ name: 'email', label: t('people.email'), type: 'email', required: true, maxlength: 254, autocomplete: 'off' }), roleField())]);
}

/** @param {Person} person @param {() => void} draw */
function change(person, draw) {
    return dialog(person.name, (close) => [form({
        submit: async ({ name, role }) => {
            const changed = await call('PATCH', `${path}/${person.id}`, { name, role });
            people = people.map((one) => (one.id === person.id ? changed : one));
            draw();
            close();
        },
    }, nameField(person.name), roleField(person.role))]);
}

/** @param {Person} person @param {() => void} draw */
async function remove(person, draw) {
    const query = await dialog(t('people.remove_title', { name: person.name }), (/** @type {(query?: string) => void} */ close) => [
        h('p', null, t('people.remove_text')),
        h('div', { class: 'actions' },
            h('button', { class: 'danger', type: 'button', onclick: () => close('') }, t('people.remove')),
            h('button', { class: 'danger', type: 'button', onclick: () => close('?end_grants=true') }, t('people.remove_end')),
            h('button', { class: 'plain', type: 'button', onclick: () => close() }, t('page.cancel'))),
    ]);
    if (query === undefined) return;
    let text = t('people.removed', { name: person.name });
    try {
        const done = await call('DELETE', `${path}/${person.id}${query}`);
        if (done.grants_left) text = t('people.removed_left', { name: person.name, count: done.grants_left });
    } catch (error) {
        if (!(error instanceof CallError) || error.status !== 404) throw error;
    }
    people = people.filter((one) => one.id !== person.id);
    toast(text);
    draw();
    document.getElementById('people')?.focus();
}

/** @param {Person} person */
function stateOf({ created_at: since, invited_until: until }) {
    if (!until) return t('people.since', { when: when(since) });
    return Date.parse(until) > now() ? t('people.waits', { when: when(until) }) : t('people.ended');
}

/** @param {Person} person @param {() => void} draw */
const row = (person, draw) => h('li', { key: person.id }, h('span', { class: 'sign' }, icon('person')),
    h('div', null, h('b', null, person.name), h('span', { class: 'small quiet' }, `${person.email} · ${ROLES[person.role]} · ${stateOf(person)}`, person.phone && ` · ${t('people.phone', { number: person.phone.slice(-4) })}`)),
    h('div', { class: 'actions' },
        h('button', { type: 'button', 'aria-label': t('people.change_what', { name: person.name }), onclick: () => change(person, draw) }, t('people.change')),
        h('button', { class: 'danger', type: 'button', 'aria-label': t('people.remove_what', { name: person.name }), onclick: () => remove(person, draw).catch(tellError) }, t('people.remove'))));

/** The members whose phones ring. */
export const ringing = () => people.filter(({ role, phone }) => phone && role === 'resident');

/** The card. @param {() => void} draw draws the page again */
export function peopleCard(draw) {
    return h('section', { class: 'card', 'aria-labelledby': 'people', key: 'people' }, h('h2', { id: 'people', tabindex: -1 }, t('people.title')), h('p', { class: 'quiet' }, t('people.hint')),
        people.length > 0 && h('ul', { class: 'rows', key: 'rows' }, people.map((person) => row(person, draw))),
        h('div', { class: 'actions', key: 'invite' }, h('button', { type: 'button', onclick: () => invite(draw) }, t('people.invite'))));
}
