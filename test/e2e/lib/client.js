// Talks to a daemon over TLS with keep-alive; every answer is held against the contract before a test sees it.
import https from 'node:https';
import http from 'node:http';
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { checkAnswer } from './contract.js';
import { noteCode } from './hits.js';

/** An Idempotency-Key that nobody used before. */
export function idempotencyKey() {
    return `e2e-${randomBytes(16).toString('hex')}`;
}

/** How long a connection is kept without a request: less than http.idle_timeout_s, so that no request meets its end. */
const IDLE_MS = 30_000;

export class Client {
    /** check: whether answers are held against the contract. An earlier program's answers may lack members. */
    constructor(daemon, { key, base, check = true } = {}) {
        this.daemon = daemon;
        this.key = key;
        this.base = base;
        this.check = check;
        const kept = { keepAlive: true, timeout: IDLE_MS };
        this.agent = new https.Agent({ ...kept, rejectUnauthorized: false, maxSockets: 32 });
        this.plainAgent = new http.Agent(kept);
    }

    /** The same daemon and connections with another key (undefined: without a key). */
    as(key) {
        const other = Object.create(this);
        other.key = key;
        return other;
    }

    /**
     * json: sent as such; text: sent as is. headers: added; a value of undefined takes the header away.
     * Gives {status, headers, bytes, text, body}; body is the parsed JSON, if it is JSON.
     */
    async request(method, target, { json, text, headers = {}, plain = false, check = this.check, timeout = 60_000 } = {}) {
        const payload = json !== undefined ? JSON.stringify(json) : text;
        const all = {
            ...(this.key ? { authorization: `Bearer ${this.key}` } : {}),
            ...(payload !== undefined ? { 'content-type': 'application/json', 'content-length': Buffer.byteLength(payload) } : {}),
            ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
        };
        for (const name of Object.keys(all)) if (all[name] === undefined) delete all[name];
        const base = this.base ?? (plain ? this.daemon.http : this.daemon.https);
        const answer = await exchange(new URL(base), method, target, all, payload, plain ? this.plainAgent : this.agent, timeout);
        noteCode(answer.body);
        if (check) checkAnswer(method, target, answer, payload);
        return answer;
    }

    get(target, options) { return this.request('GET', target, options); }
    head(target, options) { return this.request('HEAD', target, options); }
    post(target, json, options) { return this.request('POST', target, { json, ...options }); }
    patch(target, json, options) { return this.request('PATCH', target, { json, ...options }); }
    delete(target, options) { return this.request('DELETE', target, options); }

    close() {
        this.agent.destroy();
        this.plainAgent.destroy();
    }
}

/** The client with another source address: over the plain port, as behind a TLS proxy that the service trusts. */
export function behindProxy(client, address) {
    const other = Object.create(client);
    other.request = function request(method, target, options = {}) {
        const headers = { 'X-Forwarded-Proto': 'https', 'X-Forwarded-For': address, ...options.headers };
        return Client.prototype.request.call(this, method, target, { ...options, plain: true, headers });
    };
    return other;
}

function exchange(base, method, target, headers, payload, agent, timeout) {
    const { request } = base.protocol === 'https:' ? https : http;
    return new Promise((resolve, reject) => {
        const outgoing = request({ host: base.hostname, port: base.port, method, path: target, headers, agent, timeout }, (incoming) => {
            const chunks = [];
            incoming.on('data', (chunk) => chunks.push(chunk));
            incoming.on('error', reject);
            incoming.on('end', () => {
                const bytes = Buffer.concat(chunks);
                const text = bytes.toString('utf8');
                const answer = { status: incoming.statusCode, headers: incoming.headers, bytes, text };
                if (text && /^application\/json/.test(incoming.headers['content-type'] ?? '')) {
                    try {
                        answer.body = JSON.parse(text);
                    } catch (error) {
                        return reject(new Error(`${method} ${target}: the answer is not JSON: ${text}`, { cause: error }));
                    }
                }
                return resolve(answer);
            });
        });
        outgoing.on('timeout', () => outgoing.destroy(new Error(`${method} ${target}: no answer in ${timeout / 1000} s`)));
        outgoing.on('error', reject);
        outgoing.end(payload);
    });
}

/** The answer is a success of this status; its body. */
export function ok(answer, status = 200) {
    assert.equal(answer.status, status, answer.text);
    return answer.body;
}

/** The answer is this error; its message. `names` must stand in the message. */
export function refused(answer, status, code, names) {
    assert.equal(`${answer.status} ${answer.body?.error?.code}`, `${status} ${code}`, answer.text);
    if (names) assert.ok(answer.body.error.message.includes(names), `the message does not name ${names}: ${answer.body.error.message}`);
    return answer.body.error.message;
}
