// nginx and Caddy in front of a service, with the configurations of docs/operations.md.
// engine: sqlite, because nothing here depends on the store
import { describe, it, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import http2 from 'node:http2';
import { Agent, request } from 'node:https';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './lib/daemon.js';
import { idempotencyKey } from './lib/client.js';
import { freePort } from './lib/port.js';
import { eventually, freshEmail, signIn, useWorld } from './lib/world.js';

const CLIENTS = 4;
const RESTARTS = 3;
const PAUSE_MS = 20;
const MAX_BODY = 102_400;

const documented = (language) => new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\`$`, 'm').exec(readFileSync(join(root, 'docs/operations.md'), 'utf8'))[1];

/** How each proxy runs: its configuration, made from the documentation's, and its command. `at` has the directory, the port, the
 *  service's HTTP port, and the files of the certificate. */
const PROXIES = {
    nginx: {
        configuration: (at) => `pid ${at.directory}/nginx.pid;\nerror_log stderr warn;\nevents {}\nhttp {\naccess_log off;\n${
            ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${at.directory}/${kind};\n`).join('')}${
            documented('nginx').replace(':8080', `:${at.http}`).replace('listen 443', `listen 127.0.0.1:${at.port}`)
                .replace(/\/\S+\/fullchain\.pem/, at.certificate).replace(/\/\S+\/privkey\.pem/, at.key)}}\n`,
        // One process, so that it runs as the tests' user.
        command: (at, file) => ['nginx', '-p', at.directory, '-e', 'stderr', '-c', file, '-g', 'daemon off; master_process off;'],
    },
    caddy: {
        configuration: (at) => `{\nadmin off\nauto_https off\nlog {\nlevel WARN\n}\n}\n${documented('caddy').replace(':8080', `:${at.http}`)
            .replace('door.example.com {', `https://localhost:${at.port}, https://127.0.0.1:${at.port} {\nbind 127.0.0.1\ntls ${at.certificate} ${at.key}`)}`,
        command: (at, file) => ['caddy', 'run', '--adapter', 'caddyfile', '--config', file],
    },
};

for (const [name, proxy] of Object.entries(PROXIES)) {
    describe(`${name} in front of the service`, () => {
        const holder = join(root, 'test/e2e/lib/holder.pl');
        const w = useWorld({
            wrap: ['perl', holder, 'http'],
            config: { trusted_proxies: ['127.0.0.1/32'], http: { drain_s: 1 }, limits: { otp_per_ip: 2 } },
        });
        const agent = new Agent({ keepAlive: true, rejectUnauthorized: false });
        let port;
        let child;

        /** A request to the proxy: {status, body}, or the name of the error. */
        function ask(method, path, { key, body, headers = {}, ...options } = {}) {
            return new Promise((done) => {
                const fields = { ...(key && { Authorization: `Bearer ${key}` }), ...(body && { 'Content-Type': 'application/json', 'Idempotency-Key': idempotencyKey() }), ...headers };
                const sent = request({ agent, rejectUnauthorized: false, host: '127.0.0.1', port, method, path, headers: fields, timeout: 60_000, ...options }, (answer) => {
                    let text = '';
                    answer.setEncoding('utf8').on('data', (more) => { text += more; }).on('end', () => done({ status: answer.statusCode, text }))
                        .on('error', (error) => done({ status: error.code }));
                });
                sent.on('error', (error) => done({ status: error.code })).on('timeout', () => sent.destroy(new Error('timed out')));
                sent.end(body);
            });
        }

        before(async () => {
            port = await freePort();
            const at = { port, http: w.daemon.httpPort, directory: join(w.daemon.directory, name), certificate: join(w.daemon.data, 'tls.crt'), key: join(w.daemon.data, 'tls.key') };
            const file = join(at.directory, 'proxy.conf');
            mkdirSync(at.directory);
            writeFileSync(file, proxy.configuration(at));
            const [command, ...args] = proxy.command(at, file);
            child = spawn(command, args, { stdio: ['ignore', 'ignore', 'inherit'], env: { ...process.env, PATH: `${process.env.PATH}:/usr/sbin`, HOME: at.directory } });
            await eventually(async () => (await ask('GET', '/v1/health')).status === 200, name);
        });
        after(async () => {
            agent.destroy();
            child?.kill();
            if (child && child.exitCode === null) await once(child, 'exit');
        });

        it('speaks HTTP/2 to clients', async () => {
            const session = http2.connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false });
            const stream = session.request({ ':path': '/v1/health' });
            const [headers] = await once(stream, 'response');
            assert.equal(headers[':status'], 200);
            assert.equal(session.alpnProtocol, 'h2');
            stream.resume();
            await once(stream, 'end');
            session.destroy();
        });

        it('names the client, whose address has limits of its own, and which cannot choose another', async () => {
            const code = (localAddress, headers) => ask('POST', '/v1/auth/otp', { agent: false, localAddress, headers, body: JSON.stringify({ email: freshEmail() }) });
            const statuses = async (from, ...headers) => {
                const list = [];
                for (const fields of headers) list.push((await code(from, fields)).status);
                return list;
            };
            assert.deepEqual(await statuses('127.0.0.5', {}, { 'X-Forwarded-For': '198.51.100.1' }, { 'X-Forwarded-For': '198.51.100.2' }), [200, 200, 429]);
            assert.deepEqual(await statuses('127.0.0.6', {}), [200]);
        });

        it('passes on the largest body, and the refusal of a larger one', async () => {
            const { key } = await signIn(w.client);
            const grant = (length) => ask('POST', '/v1/unlock', { key, body: JSON.stringify({ type: 'passcode', label: 'x' }).padEnd(length) });
            assert.equal((await grant(MAX_BODY)).status, 201);
            const refused = await grant(MAX_BODY + 1);
            assert.equal(refused.status, 413);
            assert.equal(JSON.parse(refused.text).error.code, 'PAYLOAD_TOO_LARGE');
        });

        it('closes idle connections to the service before the service does', () => {
            const idle = Number(/seconds between requests on a connection.*\n *#idle_timeout_s = (\d+)/.exec(readFileSync(join(root, 'portero.conf'), 'utf8'))[1]);
            const kept = Number(/^ *keepalive(?:_timeout)? (\d+)s/m.exec(documented(name))[1]);
            assert.ok(kept < idle, `${kept} s, ${idle} s`);
        });

        it('shows its clients no error while a service restarts whose port systemd holds', async () => {
            const { key } = await signIn(w.client);
            const answers = new Map();
            let over = false;
            const clients = Array.from({ length: CLIENTS }, async () => {
                while (!over) {
                    const made = await ask('POST', '/v1/unlock', { key, body: JSON.stringify({ type: 'passcode', label: 'x' }) });
                    const read = await ask('GET', '/v1/account', { key });
                    for (const { status } of [made, read]) answers.set(status, (answers.get(status) ?? 0) + 1);
                    await new Promise((done) => { setTimeout(done, PAUSE_MS); });
                }
            });
            const starts = () => w.daemon.stdout.split('\n').filter((line) => line.startsWith('ready ')).length;
            try {
                for (let i = 0; i < RESTARTS; i++) {
                    w.daemon.process.kill('SIGUSR1');
                    await eventually(() => starts() === i + 2, 'the next start');
                    const earlier = answers.get(201);
                    await eventually(() => answers.get(201) > earlier + CLIENTS, 'answers');
                }
            } finally {
                over = true;
                await Promise.all(clients);
            }
            assert.deepEqual([...answers.keys()].sort(), [200, 201], JSON.stringify([...answers]));
        });
    });
}
