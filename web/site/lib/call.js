// Calls of the service's operations with the browser's cookie.

/** An answer that is an error; `code` is that of the error envelope, or "offline". */
export class CallError extends Error {
    /** @param {number} status @param {string} code */
    constructor(status, code) {
        super(code);
        this.status = status;
        this.code = code;
    }
}

/**
 * @param {string} method
 * @param {string} path below /app
 * @param {object} [body]
 * @returns {Promise<any>}
 */
export async function call(method, path, body) {
    const answer = await fetch(`/app${path}`, {
        method,
        headers: body ? { 'Content-Type': 'application/json' } : {},
        body: body && JSON.stringify(body),
        signal: AbortSignal.timeout(30_000),
    }).catch(() => { throw new CallError(0, 'offline'); });
    const data = await answer.json().catch(() => undefined);
    if (!answer.ok) throw new CallError(answer.status, data?.error?.code ?? 'other');
    return data;
}
