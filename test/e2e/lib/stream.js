// A reader of a stream of events, as a browser's EventSource reads it, but without reconnecting by itself.
import https from 'node:https';
import { checkAnswer } from './contract.js';
import { noteCode } from './hits.js';

export class Stream {
    /** Opens the stream of a building. `headers` are added; `client` has the daemon and the key. Resolves at the head. */
    static open(client, building, { headers = {}, query = '', prefix = '' } = {}) {
        const target = `${prefix}/v1/buildings/${building}/events${query}`;
        return Stream.send(client, 'GET', target, { headers, key: client.key && !prefix, checked: !prefix });
    }

    /** Sends a request that a stream may answer. `checked`: the answer is one of the OpenAPI document. */
    static send(client, method, target, { headers = {}, text, key = client.key, checked = false } = {}) {
        const all = { ...(key ? { authorization: `Bearer ${client.key}` } : {}), ...headers };
        const base = new URL(client.base ?? client.daemon.https);
        const options = { method, host: base.hostname, port: base.port, path: target, headers: all, agent: false, rejectUnauthorized: false };
        return new Promise((resolve, reject) => {
            const outgoing = https.request(options, (incoming) => resolve(new Stream(outgoing, incoming, target, checked)));
            outgoing.on('error', reject);
            outgoing.end(text);
        });
    }

    constructor(outgoing, incoming, target, checked) {
        this.outgoing = outgoing;
        this.incoming = incoming;
        this.status = incoming.statusCode;
        this.headers = incoming.headers;
        this.events = [];
        this.comments = 0;
        this.last = undefined;
        this.ended = false;
        this.text = '';
        this.waiting = [];
        if (this.status === 200 && checked) checkAnswer('GET', target, { status: 200, headers: this.headers, text: '', bytes: Buffer.alloc(0) });
        incoming.setEncoding('utf8').on('data', (chunk) => this.take(chunk));
        const end = () => { this.ended = true; this.wake(); };
        incoming.on('end', end).on('close', end).on('error', end);
        outgoing.on('error', end);
    }

    take(chunk) {
        this.text += chunk;
        for (let at = this.text.indexOf('\n\n'); at >= 0 && this.status === 200; at = this.text.indexOf('\n\n')) {
            this.block(this.text.slice(0, at));
            this.text = this.text.slice(at + 2);
        }
        this.wake();
    }

    /** https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation */
    block(text) {
        const event = { type: 'message', data: '' };
        for (const line of text.split('\n')) {
            const [, name, value] = /^([^:]*)(?:: ?(.*))?$/.exec(line);
            if (name === '') this.comments++;
            if (name === 'retry') this.retry = Number(value);
            if (name === 'id') this.last = value;
            if (name === 'event') event.type = value;
            if (name === 'data') event.data += value;
        }
        if (event.data) this.events.push({ id: this.last, type: event.type, data: JSON.parse(event.data) });
    }

    wake() {
        for (const check of this.waiting.splice(0)) check();
    }

    /** Waits for the condition; fails with what was received. */
    async until(condition, what, ms = 60_000) {
        const over = Date.now() + ms;
        while (!condition()) {
            const left = over - Date.now();
            if (left <= 0) throw new Error(`${what} never came: ${JSON.stringify(this.events)}${this.ended ? ', ended' : ''}`);
            await new Promise((done) => {
                const timer = setTimeout(done, Math.min(left, 1000));
                this.waiting.push(() => { clearTimeout(timer); done(); });
            });
        }
        return this;
    }

    /** The first n events, or the events that came before the end. */
    async read(n) {
        await this.until(() => this.events.length >= n || this.ended, `event ${n}`);
        if (this.events.length < n) throw new Error(`ended before event ${n}: ${JSON.stringify(this.events)}`);
        return this.events.slice(0, n);
    }

    /** Waits for an event of that type. */
    async type(type) {
        await this.until(() => this.events.some((event) => event.type === type), type);
        return this.events.find((event) => event.type === type);
    }

    async end() {
        await this.until(() => this.ended, 'the end of the stream');
        return this;
    }

    /** The answer, if it is an error. */
    async refusal() {
        await this.end();
        const body = JSON.parse(this.text);
        noteCode(body);
        return { status: this.status, headers: this.headers, text: this.text, body };
    }

    /** Cuts the connection. */
    cut() {
        this.outgoing.destroy();
    }
}
