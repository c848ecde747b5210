// The address of a building: its fields in a form, and its line.
// texts: address.
import { field } from './form.js';
import { t } from './texts.js';
import { h } from './view.js';

/** @typedef {Record<string, string | undefined>} Address */

/** @type {[string, string[]][]} */
const COUNTRIES = [['US', ['AL', 'AK', 'AZ', 'AR', 'CA', 'CO', 'CT', 'DE', 'DC', 'FL', 'GA', 'HI', 'ID', 'IL', 'IN', 'IA', 'KS', 'KY', 'LA', 'ME', 'MD', 'MA', 'MI', 'MN', 'MS', 'MO', 'MT', 'NE', 'NV', 'NH', 'NJ', 'NM', 'NY', 'NC', 'ND', 'OH', 'OK', 'OR', 'PA', 'PR', 'RI', 'SC', 'SD', 'TN', 'TX', 'UT', 'VT', 'VA', 'WA', 'WV', 'WI', 'WY']],
    ['CA', ['AB', 'BC', 'MB', 'NB', 'NL', 'NS', 'NT', 'NU', 'ON', 'PE', 'QC', 'SK', 'YT']]];

/**
 * The fields of an address; `required` is for all but the street. The states follow the country, so a form draws them
 * again after its `change()`.
 * @param {Address} now @param {boolean} required
 */
export const addressFields = (now, required) => [
    field({ name: 'street', label: t('address.street'), value: now.street, required, maxlength: 200, autocomplete: 'address-line1' }),
    field({ name: 'city', label: t('address.city'), value: now.city, required, maxlength: 120, autocomplete: 'address-level2' }),
    h('div', { class: 'fields', key: 'place' },
        field({ name: 'country', label: t('address.country'), value: now.country ?? 'US', options: [['US', t('address.us')], ['CA', t('address.ca')]], autocomplete: 'country' }),
        field({ name: 'state', label: t('address.state'), value: now.state ?? '', required, key: now.country, autocomplete: 'address-level1', options: [['', ''], ...(COUNTRIES.find(([name]) => name === (now.country ?? 'US'))?.[1] ?? []).map((one) => /** @type {[string, string]} */ ([one, one]))] }),
        field({ name: 'zip', label: t('address.zip'), value: now.zip, required, maxlength: 10, autocomplete: 'postal-code' })),
];

/** What a form has after a field changed: another country has other states. @template {Address} T @param {T} now @param {Event} event @returns {T} */
export function changed(now, event) {
    const { name, value } = /** @type {HTMLInputElement} */ (event.target);
    return { ...now, [name]: value, ...(name === 'country' ? { state: '' } : {}) };
}

/** The address of a form's values. @param {Address} values */
export const addressOf = ({ street = '', city = '', state, zip = '', country }) => ({ street: street.trim(), city: city.trim(), state, zip: zip.trim(), country });

/** "1 Main Street, Portland, OR, 97201" @param {Address | null} one */
export const line = (one) => (one ? [one.street, one.city, one.state, one.zip].filter(Boolean).join(', ') : '');
