// Assistants that ask a resident for access: as clients of OAuth that nobody here wrote, and by hand.
import assert from 'node:assert/strict';
import { createHash, randomBytes, webcrypto } from 'node:crypto';
import { ok } from './client.js';
import { signInBrowser } from './site.js';

globalThis.crypto ??= webcrypto; // both libraries expect it, as browsers have it

export const CALLBACK = 'https://assistant.example/callback';
export const FIRST = ['account:read', 'access:read', 'access:write', 'logs:read'];

/** The service's name, which is not always the address that it is reached by. */
export const publicOf = (w) => w.daemon.https.replace('//127.0.0.1', '//localhost');

/** A fetch() that reaches the daemon, whatever its certificate. */
export const fetchOf = (client) => async (address, init) => {
    const request = new Request(address, init);
    const { pathname, search } = new URL(request.url);
    const text = request.body ? await request.text() : undefined;
    const answer = await client.as(undefined).request(request.method, pathname + search, { text, headers: Object.fromEntries(request.headers), check: false });
    return new Response([204, 304].includes(answer.status) ? null : answer.bytes, { status: answer.status, headers: Object.entries(answer.headers).map(([name, value]) => [name, String(value)]) });
};

/** A form's answer; its body is not in the document. */
export const post = (client, path, fields) => client.as(undefined).request('POST', path,
    { text: new URLSearchParams(fields).toString(), headers: { 'content-type': 'application/x-www-form-urlencoded' }, check: false });
export const register = (client, body) => client.as(undefined).post('/oauth/register', body, { check: false });

/** The answer is this error of an RFC. */
export function failed(answer, error) {
    assert.equal(`${answer.status} ${answer.body?.error}`, `400 ${error}`, answer.text);
    assert.equal(answer.headers['cache-control'], 'no-store');
}

export const challengeOf = (verifier) => createHash('sha256').update(verifier).digest('base64url');

/** An assistant that has registered. */
export async function assistant(client, { name = 'Assistant', redirect = CALLBACK, uris = [redirect], ...more } = {}) {
    return known(client, ok(await register(client, { client_name: name, redirect_uris: uris, ...more }), 201).client_id, redirect);
}

/** The assistant with that ID: `ask` gives the query of its request, `redeem` and `refresh` the answers. */
export function known(client, id, redirect = CALLBACK) {
    const a = {
        id, redirect, verifier: randomBytes(32).toString('base64url'),
        ask: (change = {}) => {
            const all = {
                response_type: 'code', client_id: id, redirect_uri: a.redirect, code_challenge: challengeOf(a.verifier),
                code_challenge_method: 'S256', state: 'a state', ...change,
            };
            return new URLSearchParams(Object.entries(all).filter(([, value]) => value !== undefined)).toString();
        },
        redeem: (code, change = {}) => post(client, '/oauth/token', {
            grant_type: 'authorization_code', client_id: id, code, redirect_uri: a.redirect, code_verifier: a.verifier, ...change,
        }),
        refresh: (token, change = {}) => post(client, '/oauth/token', { grant_type: 'refresh_token', client_id: id, refresh_token: token, ...change }),
        revoke: (token, change = {}) => post(client, '/oauth/revoke', { client_id: id, token, ...change }),
    };
    return a;
}

/** The browser's person decides on a request: the parameters that the assistant gets, with its address. */
export async function decide(site, request, more = {}) {
    const to = new URL(ok(await site.post('/v1/oauth/decision', { request, allow: true, ...more })).redirect_to);
    return { address: to.origin + to.pathname, ...Object.fromEntries(to.searchParams) };
}

/** Connects an assistant to a new account, or to the account of `person`: {assistant, site, email, tokens}. */
export async function connected(client, { person, scope, ...options } = {}) {
    const one = await assistant(client, options);
    const { site, email } = await signInBrowser(client, person ? { email: person.email } : {});
    const { code } = await decide(site, one.ask({ scope }));
    return { assistant: one, site, email, tokens: ok(await one.redeem(code)) };
}
