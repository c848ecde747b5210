// One logical call: its attempts, their time, and the waits between them.
import { ConnectionError, errorOf, PorteroError, TimeoutError, UnexpectedAnswerError } from './errors.js';

export interface Attempted {
    method: string;
    url: string;
    headers: Record<string, string>;
    body?: string;
    answer: 'json' | 'text' | 'bytes';
    /** Repeating it after it may have been carried out does no harm. */
    repeatable: boolean;
}

export interface Limits {
    timeoutMs: number;
    retries: number;
    /** A longer Retry-After is left to the caller. */
    waitMaxMs: number;
    signal?: AbortSignal | undefined;
}

export interface Answer<T> {
    data: T;
    status: number;
    headers: Headers;
}

const FIRST_WAIT_MS = 250;
const WAIT_MS = 8_000;

/** Ends when the time is over or the signal is aborted, then with its reason. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        const stop = (): void => {
            clearTimeout(timer);
            reject(signal?.reason);
        };
        const timer = setTimeout(() => {
            signal?.removeEventListener('abort', stop);
            resolve();
        }, ms);
        return signal?.addEventListener('abort', stop, { once: true });
    });
}

/** Exponential, with full jitter. */
export function backoff(attempt: number): number {
    return Math.random() * Math.min(WAIT_MS, FIRST_WAIT_MS * 2 ** attempt);
}

/** Retry-After in seconds; the service sends no dates. */
function retryAfter(headers: Headers): number | undefined {
    const value = headers.get('retry-after');
    return value !== null && /^\d{1,9}$/.test(value) ? Number(value) : undefined;
}

/** A signal that is aborted with the caller's, or by the returned function. */
export function linked(signal?: AbortSignal): { controller: AbortController; release: () => void } {
    const controller = new AbortController();
    const stop = (): void => controller.abort(signal?.reason);
    if (signal?.aborted) stop();
    signal?.addEventListener('abort', stop, { once: true });
    return { controller, release: () => signal?.removeEventListener('abort', stop) };
}

const isJson = (headers: Headers): boolean => /^application\/json\b/.test(headers.get('content-type') ?? '');

async function read(response: Response, answer: Attempted['answer']): Promise<unknown> {
    if (answer === 'bytes') return new Uint8Array(await response.arrayBuffer());
    const text = await response.text();
    if (answer === 'text') return text;
    try {
        return JSON.parse(text);
    } catch {
        throw new UnexpectedAnswerError(response.status, response.headers.get('content-type'));
    }
}

/** The error that an unsuccessful response is. */
export async function refusalOf(response: Response): Promise<PorteroError> {
    const body = isJson(response.headers) ? await read(response, 'json').catch(() => undefined) : undefined;
    return errorOf(response.status, response.headers.get('content-type'), body, retryAfter(response.headers));
}

async function attempt<T>(fetcher: typeof fetch, call: Attempted, limits: Limits): Promise<Answer<T>> {
    const { controller, release } = linked(limits.signal);
    const late = new TimeoutError(`no answer in ${limits.timeoutMs} ms: ${call.method} ${new URL(call.url).pathname}`);
    const timer = setTimeout(() => controller.abort(late), limits.timeoutMs);
    try {
        const response = await fetcher(call.url, {
            method: call.method, headers: call.headers, signal: controller.signal, redirect: 'error', ...(call.body !== undefined && { body: call.body }),
        });
        if (!response.ok) throw await refusalOf(response);
        if (call.answer === 'json' && !isJson(response.headers)) throw new UnexpectedAnswerError(response.status, response.headers.get('content-type'));
        return { data: await read(response, call.answer) as T, status: response.status, headers: response.headers };
    } catch (error) {
        if (error instanceof PorteroError) throw error;
        if (controller.signal.aborted) throw controller.signal.reason;
        throw new ConnectionError(`connection failed: ${call.method} ${new URL(call.url).pathname}`, { cause: error });
    } finally {
        clearTimeout(timer);
        release();
    }
}

/** How long to wait before the next attempt, in milliseconds; undefined: do not make it. A request that is not repeatable is repeated only
 *  after 429, since the service then has not carried it out. */
function waitAfter(error: unknown, call: Attempted, tried: number, limits: Limits): number | undefined {
    if (tried >= limits.retries) return undefined;
    if (error instanceof ConnectionError) return call.repeatable ? backoff(tried) : undefined;
    const { status, retryAfterS } = error as { status?: number; retryAfterS?: number };
    const asked = retryAfterS === undefined ? undefined : retryAfterS * 1000;
    if (asked !== undefined && asked > limits.waitMaxMs) return undefined;
    if (status === 429) return asked;
    if ((status === 502 || status === 503 || status === 504) && call.repeatable) return asked ?? backoff(tried);
    return undefined;
}

/** Makes attempts until one succeeds, or none may follow. */
export async function carryOut<T>(fetcher: typeof fetch, call: Attempted, limits: Limits): Promise<Answer<T>> {
    for (let tried = 0; ; tried++) {
        try {
            return await attempt<T>(fetcher, call, limits);
        } catch (error) {
            const wait = waitAfter(error, call, tried, limits);
            if (wait === undefined) throw error;
            await pause(wait, limits.signal);
        }
    }
}
