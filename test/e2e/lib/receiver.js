// A webhook receiver: an HTTPS server with a self-signed certificate, which keeps the raw bytes of requests.
import https from 'node:https';
import { after, before } from 'node:test';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';
import { portero } from './clients.js';
import { eventually } from './world.js';

/** The configuration with which a daemon reaches receivers on this machine. */
export const REACHABLE = { webhooks: { allow_private: true, verify_tls: false } };

let identity;
function certificate() {
    if (identity) return identity;
    const directory = mkdtempSync(join(tmpdir(), 'portero-receiver-'));
    const [key, cert] = ['key.pem', 'cert.pem'].map((name) => join(directory, name));
    const made = spawnSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2',
        '-subj', '/CN=receiver', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1', '-keyout', key, '-out', cert], { encoding: 'utf8' });
    if (made.status !== 0) throw new Error(`openssl: ${made.stderr}`);
    identity = { key: readFileSync(key), cert: readFileSync(cert) };
    rmSync(directory, { recursive: true });
    return identity;
}

export class Receiver {
    /** answer: (request, response) => …, in place of an empty 200; may be replaced later. */
    static async start(answer, address) {
        const receiver = new Receiver(answer, address);
        await receiver.listen();
        return receiver;
    }

    constructor(answer, address = '127.0.0.1') {
        this.answer = answer;
        this.address = address;
        this.requests = [];
        this.connections = 0;
        this.server = https.createServer(certificate(), (incoming, response) => this.#take(incoming, response));
        this.server.on('connection', () => { this.connections++; });
        this.server.on('tlsClientError', () => {});
    }

    async listen() {
        this.server.listen(0, this.address);
        await once(this.server, 'listening');
        this.server.unref(); // it must not keep the process of a test that failed
    }

    #take(incoming, response) {
        const chunks = [];
        incoming.on('data', (chunk) => chunks.push(chunk));
        incoming.on('error', () => {});
        response.on('error', () => {});
        incoming.on('end', () => {
            const raw = Buffer.concat(chunks);
            const request = { at: Date.now(), method: incoming.method, path: incoming.url, headers: incoming.headers, raw, get body() { return JSON.parse(raw); } };
            this.requests.push(request);
            if (this.answer) this.answer(request, response);
            else response.writeHead(200).end();
        });
    }

    get certificate() { return certificate().cert; }
    get port() { return this.server.address().port; }
    url(path = '/hook') { return `https://${this.address}:${this.port}${path}`; }

    /** The requests of one path. */
    to(path) { return this.requests.filter((request) => request.path === path); }

    /** The first request that `wanted` takes. */
    async first(wanted = () => true, what = 'a delivery') {
        return eventually(() => this.requests.find(wanted), what);
    }

    /** At least n requests in all. */
    async count(n) {
        await eventually(() => this.requests.length >= n, `${n} deliveries`);
        return this.requests;
    }

    async close() {
        this.server.closeAllConnections();
        this.server.close();
        await once(this.server, 'close');
    }
}

/** A receiver for all tests of a describe block: starts before them and ends after them. */
export function useReceiver(answer) {
    const receiver = new Receiver(answer);
    before(() => receiver.listen());
    after(() => receiver.close());
    return receiver;
}

/** Whether a request bears this secret's signature, as a receiver with our TypeScript client finds out. */
export async function verify(secret, { headers, raw }, now = Date.now() / 1000) {
    const { verifyWebhook, WebhookVerificationError } = await portero();
    try {
        await verifyWebhook(raw, headers['service-signature'], secret, { now });
        return true;
    } catch (error) {
        if (error instanceof WebhookVerificationError) return false;
        throw error;
    }
}
