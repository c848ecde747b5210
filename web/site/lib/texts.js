// The texts that the page brings with it, in its language.

/** @type {Record<string, string>} */
const texts = JSON.parse(document.getElementById('texts')?.textContent ?? '{}');

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
    return texts[code] ?? t('other');
}
