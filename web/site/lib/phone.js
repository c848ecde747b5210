// Telephone numbers, as people write them.

/** In E.164: without spaces, with the country's code; ten digits are of North America. @param {string} typed */
export function e164(typed) {
    const digits = typed.replace(/^(\s*(?:\+|00)[\d\s]+)\(0\)/, '$1').replace(/[^\d+]/g, '').replace(/^00/, '+');
    return /^\d{10}$/.test(digits) ? `+1${digits}` : /^1\d{10}$/.test(digits) ? `+${digits}` : digits;
}

/** What may be typed: the pattern of a field. */
export const PHONE_PATTERN = '[+0-9 .\\(\\)\\/\\-]{7,40}';

const COUNTRY = /^\+(7|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]|[2-9]\d\d)(\d{4,})$/;

/** To be read: "+1 (514) 555-0142", "+34 612 345 678"; what is no number in E.164, as it is. @param {string} number */
export function phoneText(number) {
    const [, area, office, line] = /^\+1(\d{3})(\d{3})(\d{4})$/.exec(number) ?? [];
    if (area) return `+1 (${area}) ${office}-${line}`;
    const [, country, rest] = COUNTRY.exec(number) ?? [];
    return country ? `+${country} ${rest.replace(/\d{3}(?=\d\d)/g, '$& ')}` : number;
}
