// Calls of the service's operations with the browser's cookie.
import { data } from './data.js';

/** An answer that is an error; `code` is the error envelope's code, or "offline". */
export class CallError extends Error {
    /** @param {number} status @param {string} code @param {number} [retryAfterS] */
    constructor(status, code, retryAfterS) {
        super(code);
        this.status = status;
        this.code = code;
        this.retryAfterS = retryAfterS;
    }
}

/** A key for Idempotency-Key: the same for each try of one intent. */
export const newKey = () => crypto.randomUUID();

/** @type {(() => Promise<boolean>) | undefined} */
let signIn;
/** Sets how a person signs in again when the session has ended: true if they did, and the call is tried once more. @param {() => Promise<boolean>} ask */
export function whenSignedOut(ask) {
    signIn = ask;
}

/** These operations take the building from a header. */
const OF_BUILDING = /^\/v1\/(unlock|visits|calls)\b/;

/**
 * @template {string} Method
 * @template {string} Path
 * @param {Method} method
 * @param {Path} path below /app, with its query
 * @param {object} [body]
 * @param {{once?: string, match?: string | number}} [options] once: the Idempotency-Key, of newKey(); match: the version
 *   that is changed
 * @returns {Promise<import('../contract.js').Answer<Method, Path>>} the body of the answer, a Blob if it is not JSON; fails with a CallError
 */
export async function call(method, path, body, options = {}) {
    try {
        return await send(method, path, body, options);
    } catch (error) {
        const ended = error instanceof CallError && ['INVALID_KEY', 'AUTH_REQUIRED'].includes(error.code);
        if (!ended || !signIn || !await signIn()) throw error;
        return send(method, path, body, options);
    }
}

/** @param {string} method @param {string} path @param {object | undefined} body @param {{once?: string, match?: string | number}} options */
async function send(method, path, body, { once, match }) {
    /** @type {Record<string, string>} */
    const headers = {};
    if (body) headers['Content-Type'] = 'application/json';
    if (data.page && OF_BUILDING.test(path)) headers['X-Service-Building-Id'] = data.page.building;
    if (once) headers['Idempotency-Key'] = once;
    if (match !== undefined) headers['If-Match'] = /^"/.test(`${match}`) ? `${match}` : `"${match}"`;
    const answer = await fetch(`/app${path}`, {
        method,
        headers,
        body: body && JSON.stringify(body),
        keepalive: method !== 'GET', // so that leaving the page does not undo what it asked for
        signal: AbortSignal.timeout(30_000),
    }).catch(() => { throw new CallError(0, 'offline'); });
    const json = answer.headers.get('Content-Type')?.startsWith('application/json');
    const found = await (json ? answer.json() : answer.blob()).catch(() => undefined);
    if (!answer.ok) throw new CallError(answer.status, found?.error?.code ?? 'other', Number(answer.headers.get('Retry-After')) || undefined);
    return found;
}
