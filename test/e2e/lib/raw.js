// Bytes on a connection, and the replies that come back, without an HTTP client in between that would tidy them up.
import net from 'node:net';
import tls from 'node:tls';
import { once } from 'node:events';
import { noteCode } from './hits.js';

/** One reply at the start of `text`: {status, headers, body, rest}; undefined while it is incomplete. */
function parseReply(text) {
    const end = text.indexOf('\r\n\r\n');
    if (end < 0) return undefined;
    const [line, ...fields] = text.slice(0, end).split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(line)?.[1]);
    if (!status) throw new Error(`not a reply: ${JSON.stringify(text.slice(0, 200))}`);
    const headers = Object.fromEntries(fields.map((field) => [field.slice(0, field.indexOf(':')).toLowerCase(), field.slice(field.indexOf(':') + 1).trim()]));
    const length = status < 200 ? 0 : Number(headers['content-length'] ?? 0);
    const from = end + 4;
    if (text.length < from + length) return undefined;
    const body = text.slice(from, from + length);
    if (status >= 400 && headers['content-type'] === 'application/json') noteCode(JSON.parse(body));
    return { status, headers, body, rest: text.slice(from + length) };
}

export class RawConnection {
    static async open(port, { secure = true, ...options } = {}) {
        const socket = secure ? tls.connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ...options })
            : net.connect({ port, host: '127.0.0.1', ...options });
        await once(socket, secure ? 'secureConnect' : 'connect');
        return new RawConnection(socket);
    }

    constructor(socket) {
        this.socket = socket;
        this.text = '';
        this.replies = [];
        this.closed = false;
        this.waiting = [];
        socket.setEncoding('latin1');
        socket.on('data', (chunk) => {
            this.text += chunk;
            for (let reply = parseReply(this.text); reply; reply = parseReply(this.text)) {
                this.text = reply.rest;
                this.replies.push(reply);
            }
            this.wake();
        });
        const end = () => { this.closed = true; this.wake(); };
        socket.on('end', end).on('close', end).on('error', end);
    }

    wake() {
        for (const check of this.waiting.splice(0)) check();
    }

    send(bytes) {
        if (!this.socket.destroyed) this.socket.write(bytes);
    }

    /** Waits for the condition; fails with the received bytes if it does not come. */
    async until(condition, what, ms = 60_000) {
        const over = Date.now() + ms;
        while (!condition()) {
            const left = over - Date.now();
            if (left <= 0) throw new Error(`${what} never came; ${this.describe()}`);
            await new Promise((done) => {
                const timer = setTimeout(done, left);
                this.waiting.push(() => { clearTimeout(timer); done(); });
            });
        }
    }

    /** The n-th reply (from 1). */
    async reply(n) {
        await this.until(() => this.replies.length >= n || this.closed, `reply ${n}`);
        if (this.replies.length < n) throw new Error(`closed before reply ${n}; ${this.describe()}`);
        return this.replies[n - 1];
    }

    async end() {
        await this.until(() => this.closed, 'the end of the connection');
    }

    describe() {
        return `replies: ${this.replies.map((reply) => `${reply.status} ${reply.body.slice(0, 80)}`).join(', ') || 'none'}, `
            + `${this.closed ? 'closed' : 'open'}, left over: ${JSON.stringify(this.text.slice(0, 100))}`;
    }

    destroy() {
        this.socket.destroy();
    }
}
