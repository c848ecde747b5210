// The client: a method for each operation (operations.ts), and what several operations make together.
import { crypto } from '#crypto';
import { PorteroError } from './errors.js';
import { follow, type EventOptions, type LiveEvent } from './events.js';
import { OPERATIONS, type Methods } from './operations.js';
import { Pages } from './pages.js';
import { carryOut, type Answer } from './transport.js';
import type { Args, CallOptions, Operation, OperationId, Result, Versioned } from './types.js';

export interface Options {
    /** `https://door.example.com`, without `/v1`. */
    baseUrl: string;
    /** An agent key or a website session's key; not needed for signing in. */
    apiKey?: string | undefined;
    /** The building of calls that name none. */
    buildingId?: string | undefined;
    /** Default 30 s for each attempt. */
    timeoutMs?: number;
    /** Attempts after the first: default 2. */
    retries?: number;
    /** A longer Retry-After fails at once: default 60 s. */
    waitMaxMs?: number;
    /** In place of the global one, for example with another trust in certificates. */
    fetch?: typeof fetch;
}

/** The operations that change at a version. */
export type Change = { [K in keyof typeof OPERATIONS]: (typeof OPERATIONS)[K] extends { reads: string } ? K : never }[keyof typeof OPERATIONS];
type Read<K extends Change> = (typeof OPERATIONS)[K] extends { reads: infer R extends OperationId } ? R : never;
type Target<K extends Change> = Omit<Args<K>, 'body'>;
type Edited<K extends Change> = Args<K> extends { body: infer B } ? B : never;

type Values = Record<string, unknown>;

function randomKey(): string {
    return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function checkBase(baseUrl: string): string {
    const url = new URL(baseUrl);
    if (url.protocol !== 'https:') throw new PorteroError('baseUrl must begin with https://: keys are sent encrypted only');
    return url.href.replace(/\/+$/, '');
}

/** The methods are made from the table of operations. */
export interface Portero extends Methods {}

export class Portero {
    readonly #base: string;
    readonly #key: string | undefined;
    readonly #fetch: typeof fetch;
    readonly #options: Options;

    constructor(options: Options) {
        this.#base = checkBase(options.baseUrl);
        this.#key = options.apiKey;
        this.#fetch = options.fetch ?? ((input, init) => globalThis.fetch(input, init));
        this.#options = { ...options, apiKey: '' };
    }

    static {
        for (const [id, { paged }] of Object.entries(OPERATIONS)) {
            const one = function one(this: Portero, args?: Values, options?: CallOptions): unknown {
                const read = async (more: Values): Promise<unknown> => (await this.#carryOut(id as OperationId, { ...args, ...more }, options)).data;
                return paged ? new Pages((cursor) => read(cursor === undefined ? {} : { cursor })) : read({});
            };
            Object.defineProperty(this.prototype, id, { value: one, writable: true, configurable: true });
        }
    }

    /** The same client with another key, or without one. */
    withKey(apiKey: string | undefined): Portero {
        const { apiKey: _, ...rest } = this.#options;
        return new Portero({ ...rest, ...(apiKey !== undefined && { apiKey }) });
    }

    /** An operation with all of its answer: status and headers as well as `data`. */
    call<K extends keyof typeof OPERATIONS>(operation: K, args?: Args<K>, options?: CallOptions & Partial<Versioned>): Promise<Answer<Result<K>>> {
        return this.#carryOut<Result<K>>(operation, (args ?? {}) as Values, options);
    }

    /** Reads an object and changes it at that version. `edit` gets it as it was read and returns the change, or undefined for none. If
     *  somebody was faster, it fails with VersionConflictError: read again, then decide. */
    async change<K extends Change>(operation: K, target: Target<K>, edit: (current: Result<Read<K>>) => Edited<K> | undefined, options: CallOptions = {}): Promise<Result<K> | Result<Read<K>>> {
        const { reads } = OPERATIONS[operation] as { reads: OperationId };
        const current = await this.#carryOut<Result<Read<K>>>(reads, target as Values, options);
        const body = edit(current.data);
        if (body === undefined) return current.data;
        const ifMatch = current.headers.get('etag');
        if (ifMatch === null) throw new PorteroError('what was read has no version');
        return (await this.#carryOut<Result<K>>(operation, { ...target, body } as Values, { ...options, ifMatch })).data;
    }

    /** A building's events as they happen, resumed after interruptions. Ends with `signal`; fails when the service refuses. */
    events(options: EventOptions): AsyncGenerator<LiveEvent, void, undefined> {
        const url = `${this.#base}/v1/buildings/${encodeURIComponent(options.buildingId)}/events`;
        return follow({ fetcher: this.#fetch, url, headers: this.#headers() }, options);
    }

    #headers(): Record<string, string> {
        return { Accept: 'application/json', ...(this.#key !== undefined && { Authorization: `Bearer ${this.#key}` }) };
    }

    #url({ path, query }: Operation, args: Values): string {
        const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
            if (typeof args[name] !== 'string' || args[name] === '') throw new PorteroError(`${name} is missing`);
            return encodeURIComponent(args[name]);
        });
        const given = query.filter((name) => args[name] !== undefined && args[name] !== null).map((name) => [name, String(args[name])]);
        return `${this.#base}${filled}${given.length > 0 ? `?${new URLSearchParams(given)}` : ''}`;
    }

    #carryOut<T>(id: OperationId, args: Values, options: CallOptions & Partial<Versioned> = {}): Promise<Answer<T>> {
        const operation: Operation = OPERATIONS[id as keyof typeof OPERATIONS];
        const headers = this.#headers();
        const building = options.buildingId ?? this.#options.buildingId;
        if (building !== undefined && operation.building) headers['X-Service-Building-Id'] = building;
        if (operation.key) headers['Idempotency-Key'] = options.idempotencyKey ?? randomKey();
        if (options.ifMatch !== undefined) headers['If-Match'] = typeof options.ifMatch === 'number' ? `"${options.ifMatch}"` : options.ifMatch;
        if (args['body'] !== undefined) headers['Content-Type'] = 'application/json';
        return carryOut<T>(this.#fetch, {
            method: operation.method, url: this.#url(operation, args), headers, answer: operation.answer,
            repeatable: operation.key || operation.method === 'GET' || operation.method === 'DELETE',
            ...(args['body'] !== undefined && { body: JSON.stringify(args['body']) }),
        }, {
            timeoutMs: options.timeoutMs ?? this.#options.timeoutMs ?? 30_000,
            retries: options.retries ?? this.#options.retries ?? 2,
            waitMaxMs: this.#options.waitMaxMs ?? 60_000,
            signal: options.signal,
        });
    }
}
