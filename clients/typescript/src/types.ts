// Types of calls, derived from the contract's types.
import type { components, operations } from './contract.js';

/** The objects of the contract, by name: `Schemas['Unlock']`. */
export type Schemas = components['schemas'];

export type OperationId = keyof operations;

/** A row of the generated table of operations. */
export interface Operation {
    readonly method: string;
    /** With parameters in braces. */
    readonly path: string;
    readonly query: readonly string[];
    readonly answer: 'json' | 'text' | 'bytes';
    /** Takes an Idempotency-Key. */
    readonly key: boolean;
    /** Takes If-Match. */
    readonly ifMatch: boolean;
    /** Takes the building's header. */
    readonly building: boolean;
    readonly paged: boolean;
    /** Reads what this one changes. */
    readonly reads?: string;
}

export interface CallOptions {
    /** Default: a random one for each logical call, kept over its retries. */
    idempotencyKey?: string;
    /** The building, where the account has several. */
    buildingId?: string;
    /** Ends the call and its waits. */
    signal?: AbortSignal;
    /** For each attempt, until its answer is complete. */
    timeoutMs?: number;
    /** Attempts after the first. */
    retries?: number;
}

export interface Versioned {
    /** The version that the change is based on: an ETag, or the number in a grant's `version`. */
    ifMatch: string | number;
}

type Parameters<K extends OperationId> = operations[K]['parameters'];
type Given<T> = [T] extends [never] ? unknown : T;
type Section<K extends OperationId, S extends 'path' | 'query'> = Given<NonNullable<Parameters<K>[S & keyof Parameters<K>]>>;
type Body<K extends OperationId> = operations[K] extends { requestBody: { content: { 'application/json': infer B } } } ? { body: B }
    : operations[K] extends { requestBody?: { content: { 'application/json': infer B } } } ? { body?: B } : unknown;

/** Parameters of path and query, and `body`. */
export type Args<K extends OperationId> = Section<K, 'path'> & Section<K, 'query'> & Body<K>;

type Success = 200 | 201 | 202;
type Content<A> = A extends { content: infer C }
    ? C extends { 'application/json': infer B } ? B : C extends { 'text/markdown': unknown } ? string : C extends { 'audio/wav': unknown } ? Uint8Array : never
    : never;

/** The body of an operation's success. */
export type Result<K extends OperationId> = { [S in keyof operations[K]['responses'] & Success]: Content<operations[K]['responses'][S]> }[keyof operations[K]['responses'] & Success];
