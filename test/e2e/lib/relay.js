// A mail relay (smtp-server) on loopback that keeps the received mail, parsed (mailparser), and certificates for it.
import { once } from 'node:events';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { simpleParser } from 'mailparser';
import { SMTPServer } from 'smtp-server';

/** An SMTP reply of that code, as the error of a handler. */
export function reply(responseCode, message = 'no') {
    return Object.assign(new Error(message), { responseCode });
}

export class Relay {
    /** options: of smtp-server, over the defaults: no TLS, no authentication. */
    static async start(options = {}) {
        const relay = new Relay();
        relay.server = new SMTPServer({
            authOptional: true,
            disabledCommands: options.key ? [] : ['STARTTLS', 'AUTH'],
            onConnect: (session, callback) => relay.#step('connect', session, callback),
            onAuth: (auth, session, callback) => {
                relay.auths.push({ method: auth.method, username: auth.username, password: auth.password, secure: session.secure });
                const fine = auth.username === relay.user && auth.password === relay.password;
                callback(fine ? null : reply(535, 'authentication failed'), { user: auth.username });
            },
            onMailFrom: (address, session, callback) => relay.#step('from', session, callback),
            onRcptTo: (address, session, callback) => relay.#step('to', session, callback),
            onData: (stream, session, callback) => relay.#data(stream, session, callback),
            ...options,
        });
        relay.server.on('error', (error) => relay.errors.push(error));
        relay.server.listen(0, '127.0.0.1');
        await once(relay.server.server, 'listening');
        relay.server.server.unref(); // it must not keep the process of a test that failed
        relay.port = relay.server.server.address().port;
        return relay;
    }

    user = 'portero';
    password = 'pass word';
    mails = []; // {mail: as parsed, raw, from, to, secure, user}
    received = []; // every message's text, also of messages that were refused then
    steps = []; // 'connect', 'from', 'to', 'data'
    auths = [];
    errors = [];
    #refusals = [];

    /** The next `count` times that a step is reached it is refused with that code. */
    refuse(step, code, count = 1) {
        this.#refusals.push({ step, code, count });
    }

    #refusal(step) {
        this.steps.push(step);
        const found = this.#refusals.find((refusal) => refusal.step === step);
        if (found && --found.count === 0) this.#refusals.splice(this.#refusals.indexOf(found), 1);
        return found && reply(found.code);
    }

    #step(step, session, callback) {
        callback(this.#refusal(step));
    }

    async #data(stream, session, callback) {
        const chunks = [];
        for await (const chunk of stream) chunks.push(chunk);
        const raw = Buffer.concat(chunks);
        this.received.push(raw.toString('latin1'));
        const refusal = this.#refusal('data');
        if (refusal) return callback(refusal);
        const { mailFrom, rcptTo } = session.envelope;
        this.mails.push({ mail: await simpleParser(raw), raw: raw.toString('latin1'), from: mailFrom.address, to: rcptTo.map(({ address }) => address), secure: session.secure, user: session.user });
        return callback();
    }

    close() {
        return new Promise((done) => { this.server.close(done); });
    }
}

/** An authority in the directory, and its certificates: {ca, issue(name, subjectAltName) -> {key, cert}}. */
export function authority(directory) {
    const file = (name) => join(directory, name);
    const openssl = (...args) => {
        const done = spawnSync('openssl', args, { encoding: 'utf8' });
        if (done.status !== 0) throw new Error(done.stderr);
    };
    const keyOptions = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
    openssl('req', '-x509', ...keyOptions, '-days', '30', '-subj', '/CN=Test authority', '-keyout', file('ca.key'), '-out', file('ca.pem'));
    return {
        ca: file('ca.pem'),
        issue(name, subjectAltName) {
            openssl('req', '-x509', ...keyOptions, '-days', '30', '-subj', `/CN=${name}`, '-CA', file('ca.pem'), '-CAkey', file('ca.key'),
                '-addext', `subjectAltName=${subjectAltName}`, '-addext', 'basicConstraints=critical,CA:FALSE', '-keyout', file(`${name}.key`), '-out', file(`${name}.pem`));
            return { key: readFileSync(file(`${name}.key`)), cert: readFileSync(file(`${name}.pem`)) };
        },
    };
}
