// What people look for: kept in the page's address, and found without accents.
import { language } from './texts.js';

/** The page's address with these in its query, without empty ones. @param {Record<string, string>} values */
export function addressWith(values) {
    const url = new URL(location.href);
    for (const [name, value] of Object.entries(values)) {
        if (value.trim()) url.searchParams.set(name, value);
        else url.searchParams.delete(name);
    }
    return url;
}

/** In small letters without accents, as texts are compared. @param {string} text */
export const folded = (text) => text.trim().normalize('NFD').replace(/\p{M}/gu, '').toLocaleLowerCase(language);
