// Forms: labels, errors by the code of the answer, and one submission at a time. What was typed stays until it worked.
import { CallError, newKey } from './call.js';
import { errorText, t } from './texts.js';
import { h } from './view.js';

/**
 * @typedef {import('./view.js').Child} Child
 * @typedef {import('./view.js').Props} Props
 */

/**
 * A field with its label, hint and place for an error. The other properties are the input's.
 * @param {{name: string, label: string, hint?: string, tag?: string, options?: [string, string][]} & Props} field
 *   options: of a select, [value, text]
 */
export function field({ name, label, hint, tag, options, ...props }) {
    const id = `f-${name}`;
    const input = h(options ? 'select' : tag ?? 'input', {
        id, name, 'aria-describedby': hint ? `${id}-hint ${id}-note` : `${id}-note`, ...props,
    }, options?.map(([value, text]) => h('option', { value, key: value }, text)));
    return h('div', { class: 'field', key: `field-${name}` }, h('label', { for: id }, label), input,
        hint && h('span', { class: 'hint', id: `${id}-hint` }, hint),
        h('p', { class: 'wrong', id: `${id}-note`, role: 'alert' }));
}

/** How long a code is that is sent by mail or as a message. */
const CODE_LENGTH = 6;

/**
 * The field of a code that was sent: its form is sent by itself with the last digit.
 * @param {string} name @param {string} label @param {Props} [more] of the input
 */
export const codeField = (name, label, more) => field({
    name, label, class: 'digits', autocomplete: 'one-time-code', inputmode: 'numeric', pattern: '[0-9 ]{6,}', required: true,
    ref: (/** @type {HTMLElement} */ input) => queueMicrotask(() => input.focus()),
    ...more,
    oninput: (/** @type {Event} */ event) => {
        const input = /** @type {HTMLInputElement} */ (event.target);
        if (input.value.replace(/\D/g, '').length === CODE_LENGTH) input.form?.requestSubmit();
    },
});

/**
 * A box to check.
 * @param {{name: string, label: string} & Props} box
 */
export function check({ name, label, ...props }) {
    const id = `f-${name}`;
    return h('div', { class: 'check', key: `field-${name}` }, h('input', { id, name, type: 'checkbox', ...props }), h('label', { for: id }, label));
}

/**
 * A choice of one, as buttons in a row.
 * @param {string} name @param {string} legend @param {[string, string][]} options value, text
 * @param {string} chosen @param {(value: string) => void} [onchange]
 */
export function chips(name, legend, options, chosen, onchange) {
    return h('fieldset', { class: 'chips', key: name, onchange: onchange && ((/** @type {Event} */ event) => onchange(/** @type {HTMLInputElement} */ (event.target).value)) },
        h('legend', null, legend),
        options.map(([value, text]) => h('label', { key: value },
            h('input', { type: 'radio', name, value, checked: value === chosen, autofocus: name === 'mode' && value === chosen }),
            h('span', null, text))));
}

/** The key of a form's present intent: another one once its content differs. @type {WeakMap<HTMLFormElement, {content: string, key: string}>} */
const intents = new WeakMap();

/** @param {HTMLFormElement} form */
const contentOf = (form) => JSON.stringify([...new FormData(form)]);

/** What is saved of a form, or what it said when the person came to it. @type {WeakMap<HTMLFormElement, string>} */
const saved = new WeakMap();

/** @param {FocusEvent} event */
function come(event) {
    const element = /** @type {HTMLFormElement} */ (event.currentTarget);
    if (!saved.has(element)) saved.set(element, contentOf(element));
}

addEventListener('beforeunload', (event) => {
    if ([...document.forms].some((one) => saved.has(one) && one.ariaBusy !== 'true' && saved.get(one) !== contentOf(one))) event.preventDefault();
});

/** @param {HTMLFormElement} form */
function intentOf(form) {
    const content = contentOf(form);
    const earlier = intents.get(form);
    const intent = earlier?.content === content ? earlier : { content, key: newKey() };
    intents.set(form, intent);
    return intent.key;
}

/** @param {HTMLFormElement} form @param {string} name @param {string} text */
function tell(form, name, text) {
    const input = /** @type {HTMLInputElement | null} */ (form.querySelector(`[name="${name}"]`));
    const note = (input && document.getElementById(`f-${name}-note`)) ?? form.querySelector('.form-note');
    if (note) note.textContent = text;
    if (!input) return;
    input.setAttribute('aria-invalid', 'true');
    input.focus();
}

/** @param {HTMLFormElement} form */
function forget(form) {
    for (const note of form.querySelectorAll('.wrong, .form-note')) note.textContent = '';
    for (const input of form.querySelectorAll('[aria-invalid]')) input.removeAttribute('aria-invalid');
}

/**
 * A form.
 * @param {{
 *   submit: (values: Record<string, string>, once: string, form: HTMLFormElement) => Promise<unknown>,
 *   errors?: Record<string, string>, button?: string, kind?: string, more?: Child | Child[], bar?: boolean
 * } & Props} form
 *   submit: does it, with the fields' values (a checked box is "on") and a key for Idempotency-Key that is the same for
 *   each try of the same values; its CallError is told at the field that `errors` names for its code ({INVALID_TONE:
 *   'tone'}), else below all fields. It answers false if nothing was saved: the browser then asks before the page is left. button: the text of its button; kind: "danger" for an end; more: next to it;
 *   bar: both are in a bar, with the error
 * @param {...(Child | Child[])} children
 */
export function form({ submit, errors = {}, button, kind = 'primary', more, bar, ...props }, ...children) {
    const onsubmit = async (/** @type {SubmitEvent} */ event) => {
        event.preventDefault();
        const element = /** @type {HTMLFormElement} */ (event.currentTarget);
        if (element.ariaBusy === 'true') return;
        element.ariaBusy = 'true';
        forget(element);
        try {
            const values = /** @type {Record<string, string>} */ (Object.fromEntries(new FormData(element)));
            if (await submit(values, intentOf(element), element) !== false) saved.set(element, contentOf(element));
            intents.delete(element);
        } catch (error) {
            if (!(error instanceof CallError)) throw error;
            tell(element, errors[error.code] ?? '', errorText(error.code));
        } finally {
            element.ariaBusy = null;
        }
    };
    const end = [h('p', { class: 'note bad form-note', role: 'alert' }), h('div', { class: 'actions' }, h('button', { class: kind }, button ?? t('page.save')), more)];
    return h('form', { ...props, onsubmit, onfocusin: come }, ...children, bar ? h('div', { class: 'bar', key: 'bar' }, end) : end);
}
