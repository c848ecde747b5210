// Clients of POST /mcp: the official SDKs', over a connection that trusts the daemon's certificate, and one by hand.
import https from 'node:https';
import { Readable } from 'node:stream';
import { Client as OlderClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OlderTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { Client as CurrentClient, StreamableHTTPClientTransport as CurrentTransport } from '@modelcontextprotocol/client';
import { Stream } from './stream.js';

export const REVISION = '2026-07-28';
const META = 'io.modelcontextprotocol/';
const NAMED = { 'tools/call': 'name', 'prompts/get': 'name', 'resources/read': 'uri' };

/** fetch() for a daemon's certificate; `note` sees each request and its answer. */
export function fetchFor(note = () => {}) {
    const agent = new https.Agent({ keepAlive: true, rejectUnauthorized: false });
    const fetch = (input, init = {}) => new Promise((resolve, reject) => {
        const request = new Request(input, { ...init, signal: undefined });
        const headers = Object.fromEntries(new Headers(init.headers ?? request.headers));
        const outgoing = https.request(new URL(request.url), { method: request.method, headers, agent }, (incoming) => {
            const chunks = [];
            if (/^text\/event-stream/.test(incoming.headers['content-type'])) {
                resolve(new Response(Readable.toWeb(incoming), { status: incoming.statusCode, headers: { 'content-type': incoming.headers['content-type'] } }));
                return;
            }
            incoming.on('data', (chunk) => chunks.push(chunk)).on('error', reject).on('end', () => {
                const body = [204, 304].includes(incoming.statusCode) ? null : Buffer.concat(chunks);
                note({ method: request.method, headers, text: init.body, status: incoming.statusCode, answer: body?.toString() });
                const pairs = Object.entries(incoming.headers).flatMap(([name, value]) => [value].flat().map((one) => [name, one]));
                resolve(new Response(body, { status: incoming.statusCode, headers: pairs }));
            });
        });
        const abort = () => outgoing.destroy(new DOMException('aborted', 'AbortError'));
        init.signal?.addEventListener('abort', abort);
        outgoing.on('close', () => init.signal?.removeEventListener('abort', abort));
        outgoing.on('error', reject).end(init.body);
    });
    return { fetch, close: () => agent.destroy() };
}

const WHO = { name: 'portero-e2e', version: '1' };

/** Each official client: connects to the daemon with the key. */
export const sdks = {
    async older(daemon, key, note) {
        return connected(new OlderClient(WHO), OlderTransport, daemon, key, note);
    },
    async current(daemon, key, note) {
        return connected(new CurrentClient(WHO, { versionNegotiation: { mode: { pin: REVISION } } }), CurrentTransport, daemon, key, note);
    },
};

async function connected(client, Transport, daemon, key, note) {
    const { fetch, close } = fetchFor(note);
    const transport = new Transport(new URL('/mcp', daemon.https), { fetch, requestInit: { headers: { Authorization: `Bearer ${key}` } } });
    await client.connect(transport);
    const end = client.close.bind(client);
    client.close = async () => {
        await end();
        close();
    };
    return client;
}

/** A POST by hand: the answer of the daemon, whatever the message. */
export function post(client, message, { headers = {}, ...options } = {}) {
    const text = typeof message === 'string' ? message : JSON.stringify(message);
    return client.request('POST', '/mcp', { text, check: false, headers: { accept: 'application/json, text/event-stream', ...headers }, ...options });
}

/** A request of the current revision with everything that it needs: its text and its head. */
function currentRequest(method, params, { id = 1, headers = {}, meta = {} }) {
    const _meta = { [`${META}protocolVersion`]: REVISION, [`${META}clientCapabilities`]: {}, ...meta };
    const named = NAMED[method] && params[NAMED[method]] !== undefined ? { 'Mcp-Name': String(params[NAMED[method]]) } : {};
    return {
        message: { jsonrpc: '2.0', id, method, params: { ...params, _meta } },
        headers: { 'MCP-Protocol-Version': REVISION, 'Mcp-Method': method, ...named, ...headers },
    };
}

export function current(client, method, params = {}, options = {}) {
    const { message, headers } = currentRequest(method, params, options);
    return post(client, message, { headers });
}

/** The stream of a subscription, by hand. */
export function listen(client, notifications, options = {}) {
    const { message, headers } = currentRequest('subscriptions/listen', { notifications }, options);
    return Stream.send(client, 'POST', '/mcp', {
        text: JSON.stringify(message),
        headers: { accept: 'application/json, text/event-stream', 'content-type': 'application/json', ...headers },
    });
}
