// Calls as the website's pages make them: below /app, with the browser's cookie, from the same origin.
import assert from 'node:assert/strict';
import { ok } from './client.js';
import { challenge, freshEmail } from './world.js';

export const COOKIE = '__Host-portero';
export const SAME_ORIGIN = { 'sec-fetch-site': 'same-origin' };

/** The cookie that an answer sets: {value, attributes}, or undefined. */
export function cookieOf(answer) {
    const lines = answer.headers['set-cookie'] ?? [];
    assert.ok(lines.length <= 1, lines.join('\n'));
    if (lines.length === 0) return undefined;
    const [pair, ...attributes] = lines[0].split('; ');
    assert.ok(pair.startsWith(`${COOKIE}=`), lines[0]);
    return { value: pair.slice(COOKIE.length + 1), attributes };
}

/** A browser with this cookie value at a daemon: the methods of a Client, with paths below /app. */
export function browser(client, cookie) {
    const call = (method, target, { headers, ...options } = {}) => client.as(undefined).request(method, `/app${target}`,
        { ...options, headers: { ...SAME_ORIGIN, ...(cookie === undefined ? {} : { cookie: `${COOKIE}=${cookie}` }), ...headers } });
    return {
        cookie,
        request: call,
        get: (target, options) => call('GET', target, options),
        post: (target, json, options) => call('POST', target, { json, ...options }),
        put: (target, json, options) => call('PUT', target, { json, ...options }),
        patch: (target, json, options) => call('PATCH', target, { json, ...options }),
        delete: (target, options) => call('DELETE', target, options),
        at: (other) => browser(other, cookie),
    };
}

/** Signs a browser in: {email, id, cookie, site, answer}; `site` makes its calls. */
export async function signInBrowser(client, { email = freshEmail(), remember, timezone, headers, cookie } = {}) {
    const sent = await challenge(client, email, browser(client, cookie));
    const answer = await browser(client, cookie).post('/v1/auth/verify', { email, purpose: 'web', ...sent, remember, timezone }, { headers });
    const { id } = ok(answer), { value } = cookieOf(answer);
    return { email, id, cookie: value, site: browser(client, value), answer };
}
