// Clients whose types are generated from the OpenAPI documents (contract.d.ts, sandbox.d.ts, made at test time).
import createClient, { type Client } from 'openapi-fetch';
import type { components, paths } from './contract.js';
import type { paths as SandboxPaths } from './sandbox.js';

export type Schemas = components['schemas'];
export type Api = Client<paths>;
export type Sandbox = Client<SandboxPaths>;

export function api(baseUrl: string, key?: string): Api {
    return createClient<paths>({ baseUrl, headers: key === undefined ? {} : { Authorization: `Bearer ${key}` } });
}

export function sandbox(baseUrl: string): Sandbox {
    return createClient<SandboxPaths>({ baseUrl });
}

interface Answer<Data, Refusal> {
    data?: Data;
    error?: Refusal;
    response: Response;
}

/** The body of a success; anything else ends the story. */
export function must<Data, Refusal>({ data, error, response }: Answer<Data, Refusal>): Data {
    if (!response.ok || data === undefined) throw new Error(`${response.status} ${response.url}: ${JSON.stringify(error)}`);
    return data;
}

/** The code of a refusal, one of the codes that the operation's document names; a success ends the story. */
export function refusal<Data, Code extends string>({ error, response }: Answer<Data, { error: { code: Code } }>): Code {
    if (response.ok || error === undefined) throw new Error(`${response.status} ${response.url} was to be refused`);
    return error.error.code;
}

/** A header that an answer of this kind always has. */
export function header({ response }: { response: Response }, name: string): string {
    const value = response.headers.get(name);
    if (value === null) throw new Error(`${response.url} has no ${name}`);
    return value;
}
