// Telephone numbers, as people write them.

/** In E.164: without spaces, with the country's code; ten digits are of North America. @param {string} typed */
export function e164(typed) {
    const digits = typed.replace(/[^\d+]/g, '').replace(/^00/, '+');
    return /^\d{10}$/.test(digits) ? `+1${digits}` : /^1\d{10}$/.test(digits) ? `+${digits}` : digits;
}
