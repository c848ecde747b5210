// A building's events as they happen: server-sent events, read by fetch, resumed after the last one.
import { ApiError, ConnectionError, PorteroError, RateLimitError, ServiceError, TimeoutError, UnexpectedAnswerError } from './errors.js';
import { backoff, linked, pause, refusalOf } from './transport.js';

/** docs/api.md lists the types and their members. `reset`: events were missed that cannot be sent any more; read the data again. */
export interface LiveEvent {
    /** Rises by one with each event of the building. */
    seq: number;
    type: string;
    at?: string;
    call_id?: string;
    caller?: string | null;
    number?: string;
    reason?: string;
    unlock_id?: string;
    label?: string;
    version?: number | null;
    outcome?: string;
    ended_by?: string;
}

export interface EventOptions {
    buildingId: string;
    /** The last event that is known; default: begin with the next one. */
    after?: number;
    /** Ends the iteration. */
    signal?: AbortSignal;
    /** The connection is made again if nothing arrives for so long; the service sends something every 15 seconds. */
    silenceMs?: number;
}

const LINE_MAX = 1 << 20;
const SILENCE_MS = 45_000;
const RETRY_MS = 2_000;
const RETRY_MAX_MS = 60_000;

/** The fields of each event of a stream, https://html.spec.whatwg.org/multipage/server-sent-events.html. */
export class EventParser {
    private text = '';
    private id: string | undefined;
    private data: string[] = [];
    /** As the service asks for. */
    retryMs = RETRY_MS;

    /** Takes a piece of the stream: the events that it completes. */
    take(piece: string): { id: string | undefined; data: string }[] {
        this.text += piece;
        const lines = this.text.split(/\r\n|\n|\r(?!$)/);
        this.text = lines.pop() ?? '';
        if (this.text.length > LINE_MAX) throw new ConnectionError('a line of the stream is too long');
        return lines.flatMap((line) => this.line(line));
    }

    private line(line: string): { id: string | undefined; data: string }[] {
        if (line === '') {
            const data = this.data.join('\n');
            this.data = [];
            return [{ id: this.id, data }];
        }
        const [, name, value = ''] = /^([^:]*)(?:: ?(.*))?$/.exec(line) ?? [];
        if (name === 'id') this.id = value;
        if (name === 'data') this.data.push(value);
        if (name === 'retry' && /^\d{1,9}$/.test(value)) this.retryMs = Math.min(Number(value), RETRY_MAX_MS);
        return [];
    }
}

interface Source {
    fetcher: typeof fetch;
    url: string;
    headers: Record<string, string>;
}

/** Waiting may help: the stream is asked for again. */
function mayReturn(error: unknown): boolean {
    if (error instanceof UnexpectedAnswerError) return error.status >= 500;
    return error instanceof ConnectionError || error instanceof ServiceError || error instanceof RateLimitError;
}

/** Iterates over one connection; `state.last` is the newest event's number. */
async function* connection(source: Source, options: EventOptions, state: { last: number | undefined; retryMs: number }): AsyncGenerator<LiveEvent, void, undefined> {
    const { controller, release } = linked(options.signal);
    const silenceMs = options.silenceMs ?? SILENCE_MS;
    const silence = (): void => controller.abort(new TimeoutError(`no event for ${silenceMs} ms`));
    let timer = setTimeout(silence, silenceMs);
    try {
        const headers = { ...source.headers, Accept: 'text/event-stream', ...(state.last !== undefined && { 'Last-Event-ID': String(state.last) }) };
        const response = await source.fetcher(source.url, { headers, signal: controller.signal, redirect: 'error' });
        if (!response.ok) throw await refusalOf(response);
        if (!/^text\/event-stream\b/.test(response.headers.get('content-type') ?? '') || !response.body) {
            throw new UnexpectedAnswerError(response.status, response.headers.get('content-type'));
        }
        const parser = new EventParser();
        const decoder = new TextDecoder();
        const reader = response.body.getReader();
        for (;;) {
            const { value, done } = await reader.read();
            if (done) return;
            clearTimeout(timer);
            timer = setTimeout(silence, silenceMs);
            for (const { id, data } of parser.take(decoder.decode(value, { stream: true }))) {
                state.retryMs = parser.retryMs;
                if (id !== undefined && /^\d+$/.test(id) && data === '') state.last = Math.max(state.last ?? 0, Number(id));
                if (data === '') continue;
                const event = JSON.parse(data) as LiveEvent;
                if (event.type !== 'reset' && state.last !== undefined && event.seq <= state.last) continue;
                state.last = event.seq;
                yield event;
            }
        }
    } catch (error) {
        if (error instanceof PorteroError) throw error;
        if (controller.signal.aborted) throw controller.signal.reason;
        throw new ConnectionError('the stream was cut off', { cause: error });
    } finally {
        clearTimeout(timer);
        release();
        controller.abort();
    }
}

/** Iterates until the signal is aborted or the service refuses for good. */
export async function* follow(source: Source, options: EventOptions): AsyncGenerator<LiveEvent, void, undefined> {
    const state = { last: options.after, retryMs: RETRY_MS };
    for (let failures = 0; ;) {
        try {
            for await (const event of connection(source, options, state)) {
                failures = 0;
                yield event;
            }
            failures = 0;
        } catch (error) {
            if (options.signal?.aborted) return;
            if (!mayReturn(error)) throw error;
            failures++;
            const asked = error instanceof ApiError ? (error.retryAfterS ?? 0) * 1000 : 0;
            await pause(Math.min(asked, RETRY_MAX_MS) + backoff(failures), options.signal).catch(() => {});
        }
        if (options.signal?.aborted) return;
        await pause(state.retryMs, options.signal).catch(() => {});
        if (options.signal?.aborted) return;
    }
}
