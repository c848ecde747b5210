// The texts of the page, in its language: its own by their names alone, the texts of all pages with their prefix, such as
// "page.undo".
import texts from 'texts';

/** The page's language. */
export const language = document.documentElement.lang;

/**
 * A text with its {names} filled in.
 * @param {string} key
 * @param {Record<string, string | number>} [values]
 */
export function t(key, values = {}) {
    const text = texts[key];
    if (text === undefined) throw new Error(`no text ${key}`);
    return text.replace(/\{(\w+)\}/g, (_, name) => String(values[name]));
}

/** The text of an error code. @param {string} code */
export function errorText(code) {
    return texts[`error.${code}`] ?? t('error.other');
}
