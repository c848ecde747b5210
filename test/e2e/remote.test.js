// The command line of residents and agents: `portero login`, then a command for each operation of the interface.
import { describe, it, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import { existsSync, readFileSync, rmSync, statSync, chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ok } from './lib/client.js';
import { Commands } from './lib/commands.js';
import { binary, cleanEnvironment, Daemon, temporaryDirectory } from './lib/daemon.js';
import { freePort } from './lib/port.js';
import { eventually, freshEmail, ID, message, provisioned, setSubscription, signIn, useWorld, visit, world } from './lib/world.js';

const ALL_SCOPES = 'account:read,access:read,access:write,logs:read,setup:write,billing:write,buildings:write';
/** A key and a certificate for localhost that is signed by itself. */
function selfSigned(directory, name) {
    const [key, cert] = ['key', 'crt'].map((end) => join(directory, `${name}.${end}`));
    const made = spawnSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2', '-subj', '/CN=localhost',
        '-addext', 'subjectAltName=DNS:localhost', '-keyout', key, '-out', cert], { encoding: 'utf8' });
    assert.equal(made.status, 0, made.stderr);
    return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
}

const KEY = /svc_(web|agent)_[0-9A-Za-z]{43}/;

describe('the command line', () => {
    const w = useWorld();
    const { client } = w;
    const directory = temporaryDirectory();
    const commands = new Commands({ directory });
    const email = freshEmail();
    const file = join(directory, 'config/portero/default.json');
    let home;

    before(async () => {
        const done = await commands.login(client, email, ['--scopes', ALL_SCOPES, '--days', '7']);
        assert.equal(done.status, 0, done.stderr);
        assert.match(done.stdout, new RegExp(`^Logged in to ${client.daemon.https} as ${email} until .*\\n$`));
        assert.doesNotMatch(done.stdout + done.stderr, KEY);
        home = await provisioned({ ...await signIn(client, email) });
    });
    after(async () => {
        await commands.close();
        rmSync(directory, { recursive: true, force: true });
    });

    /** Runs a command that must succeed: its output, which must not have the key. */
    async function run(...args) {
        const done = await commands.run(args);
        assert.equal(done.status, 0, `${args.join(' ')}: ${done.stderr}`);
        assert.doesNotMatch(done.stdout + done.stderr, KEY);
        return done.stdout;
    }
    const json = async (...args) => JSON.parse(await run(...args, '--json'));
    async function fails(status, ...args) {
        const done = await commands.run(args);
        assert.equal(done.status, status, `${args.join(' ')}: ${done.stdout}${done.stderr}`);
        assert.match(done.stderr, /^(portero: [^\n]+\n)+$/);
        return done;
    }

    // CLI-1
    it('keeps the key for its user alone, and no session besides', async () => {
        assert.equal(statSync(file).mode & 0o777, 0o600);
        assert.equal(statSync(join(directory, 'config/portero')).mode & 0o777, 0o700);
        const kept = JSON.parse(readFileSync(file, 'utf8'));
        assert.deepEqual([kept.url, kept.email], [client.daemon.https, email]);
        const session = await signIn(client, email);
        const keys = ok(await session.client.get('/v1/auth/keys')).data;
        assert.deepEqual(keys.filter((key) => key.type === 'agent').map((key) => key.scopes), [ALL_SCOPES.split(',')]);
        assert.equal(keys.find((key) => key.type === 'agent').name.startsWith('portero on '), true);
        chmodSync(file, 0o644);
        try {
            assert.match((await fails(3, 'unlock', 'list')).stderr, /others may read it/);
        } finally {
            chmodSync(file, 0o600);
        }
    });

    it('does the jobs of a resident', async () => {
        assert.match(await run('settings', 'update', '--unlock-tone', '9', '--ring-seconds', '25'), /^unlock_tone +9$/m);
        assert.equal((await json('settings', 'show')).ring.seconds, 25);
        const made = await json('unlock', 'create', '--type', 'passcode', '--label', 'Parcel', '--minutes', '60', '--code', '4711');
        assert.match(made.id, ID);
        assert.deepEqual([made.label, made.access_code, Date.parse(made.ends_at) - Date.parse(made.created_at)], ['Parcel', '4711', 3_600_000]);
        assert.match(await run('unlock', 'create', '--type', 'routine', '--days', 'tuesday', '--start', '09:00', '--end', '11:00', '--timezone', 'America/New_York', '--enabled', 'false'), /^days +tuesday$/m);
        assert.match(await run('unlock', 'list', '--type', 'passcode'), /^id +type +label .*\n[0-9a-f]{24} +passcode +Parcel .*\n$/);
        assert.equal((await json('unlock', 'update', made.id, '--label', 'Parcels', '--uses', '2')).version, 1);
        assert.equal((await json('unlock', 'update', made.id, '--uses', 'null', '--if-match', '1')).remaining_uses, null);
        assert.equal((await json('unlock', 'show', made.id)).label, 'Parcels');
        assert.match((await json('unlock', 'link', 'create', made.id)).url, /^https:/);
        await visit(client, { to: home.virtual_number, digits: '4711' });
        assert.match(await run('log', 'list', '--limit', '1'), /Parcels/);
        const [call] = (await json('call', 'list')).data;
        assert.match(await run('call', 'show', call.id), /^steps$/m);
        assert.match(await run('building', 'list'), new RegExp(home.id));
        assert.match(await run('building', 'decision', '--digits', '4711'), /^verdict +release$/m);
        assert.equal((await json('account', 'show')).email, email);
        assert.match(await run('plan', 'list'), /weekly/);
        assert.match(await run('service', 'health'), /^status +ok$/m);
        assert.match(await run('service', 'guide'), /^# Portero for agents$/m);
        assert.match(await run('service', 'contract'), /^https:\/\/\S+\/openapi\.json\n$/);
        assert.equal((await json('unlock', 'revoke', made.id)).status, 'revoked');
        assert.match(await run('unlock', 'list', '--status', 'exhausted'), /^none$/m);
    });

    it('fits the terminal, and is a table in a pipe', async () => {
        const shownIn = (columns, ...args) => {
            const done = spawnSync('script', ['--quiet', '--return', '--command', `stty cols ${columns}; exec ${binary} ${args.join(' ')}`, '/dev/null'],
                { encoding: 'utf8', env: cleanEnvironment({ XDG_CONFIG_HOME: join(directory, 'config'), TERM: 'xterm' }) });
            assert.equal(done.status, 0, done.stdout);
            assert.doesNotMatch(done.stdout, /\u001b/);
            const lines = done.stdout.split('\r\n');
            for (const line of lines) assert.ok([...line].length <= columns, `${args.join(' ')}: ${line}`);
            return lines;
        };
        const shown = (...args) => shownIn(80, ...args);
        const { id } = await json('unlock', 'create', '--type', 'timer', '--minutes', '60', '--label', 'Narrow');
        const [head, ...grants] = shown('unlock', 'list').filter(Boolean);
        assert.match(head, /^id +type +label +enabled +status/);
        assert.equal(grants.length, (await json('unlock', 'list')).data.length, 'a line for each grant');
        assert.match(grants[0], new RegExp(`^${id}  timer +Narrow `));
        assert.ok(shown('unlock', 'show', id).some((line) => /^label +Narrow$/.test(line)));
        assert.match(shownIn(120, 'unlock', 'list', '--type', 'routine')[0], / start +end/);
        shown('building', 'list');
        shown('plan', 'list');
        shown('log', 'list');
        for (const words of [['help'], ['unlock', '--help'], ['unlock', 'create', '--help'], ['webhook', '--help']]) shown(...words);
        assert.match(await run('unlock', 'list'), /^id +type +label /);
        assert.match(await run('account', 'show'), /^subscription\.status +active$/m);
        await run('unlock', 'revoke', id);
    });

    it('reads all pages', async () => {
        for (const label of ['a', 'b', 'c', 'd', 'e']) await run('unlock', 'create', '--type', 'timer', '--minutes', '5', '--label', label);
        const labels = (page) => page.data.filter((one) => one.type === 'timer').map((one) => one.label);
        assert.deepEqual(labels(await json('unlock', 'list', '--type', 'timer', '--limit', '2')), ['e', 'd']);
        assert.deepEqual(labels(await json('unlock', 'list', '--type', 'timer', '--limit', '2', '--all')), ['e', 'd', 'c', 'b', 'a']);
        assert.equal((await run('unlock', 'list', '--type', 'timer', '--limit', '2', '--all')).match(/ timer /g).length, 5);
    });

    it('checks values before anything is sent, as the service does', async () => {
        const nowhere = { env: { PORTERO_URL: 'http://127.0.0.1:9', PORTERO_KEY: 'k' } };
        for (const [args, said] of [
            [['--minutes', '60'], /type is required/],
            [['--type', 'window'], /type must be/],
            [['--type', 'timer', '--minutes', '0'], /expires_in_minutes must be an integer from 1 to 10080/],
            [['--type', 'timer', '--minutes', 'ten'], /--minutes must be an integer/],
            [['--type', 'timer', '--expires-in-minutes', '1e9'], /--minutes must be an integer/],
            [['--type', 'timer', '--enabled', 'yes'], /--enabled must be true or false/],
            [['--type', 'passcode', '--code', '12345'], /access_code/],
            [['--type', 'timer', '--starts-at', 'tomorrow'], /starts_at/],
            [['--body', '[]'], /--body must be a JSON object/],
            [['--colour', 'red'], /unknown option/],
        ]) {
            const done = await commands.run(['unlock', 'create', ...args], nowhere);
            assert.equal(done.status, 2, `${args.join(' ')}: ${done.stderr}`);
            assert.match(done.stderr, said);
        }
        for (const args of [['unlock', 'list', '--limit', '0'], ['unlock', 'list', '--status', 'open'], ['log', 'list', '--succeeded', '1'],
            ['unlock', 'show'], ['unlock', 'show', 'a', 'b'], ['unlock', 'dance'], ['unlock']]) {
            assert.equal((await commands.run(args, nowhere)).status, 2, args.join(' '));
        }
    });

    // CLI-29
    it('tells an error with its code, the next step and the request', async () => {
        const id = 'f0f0f0f0f0f0f0f0f0f0f0f0';
        const done = await fails(1, 'unlock', 'show', id);
        assert.match(done.stderr, /^portero: .+ \(NOT_FOUND\)\nportero: next: .+\nportero: request: req_[0-9a-f]{24}\n$/);
        assert.equal(done.stdout, '');
        assert.equal(JSON.parse((await fails(1, 'unlock', 'show', id, '--json')).stdout).error.code, 'NOT_FOUND');
        assert.match((await fails(1, 'unlock', 'update', id, '--label', 'x')).stderr, /NOT_FOUND/);
        const conflict = await json('unlock', 'create', '--type', 'timer', '--minutes', '5');
        assert.match((await fails(1, 'unlock', 'update', conflict.id, '--label', 'x', '--if-match', '7')).stderr, /\(VERSION_CONFLICT\)/);
        assert.match((await fails(1, 'key', 'list')).stderr, /\(WEB_SESSION_REQUIRED\)\nportero: next: Sign in at https:\/\/\S+ with a browser: no key of a login may do this\.\n/);
    });

    // CLI-5
    it('tells by its exit status that a key is missing or wrong, and that nobody answers', async () => {
        const other = { env: { PORTERO_URL: 'http://127.0.0.1:9' } };
        const missing = await commands.run(['unlock', 'list'], other);
        assert.equal(missing.status, 3);
        assert.match(missing.stderr, /there is no key for http:\/\/127\.0\.0\.1:9/);
        const wrong = await commands.run(['unlock', 'list'], { env: { PORTERO_KEY: 'svc_agent_no' } });
        assert.equal(wrong.status, 3);
        assert.match(wrong.stderr, /\(INVALID_KEY\)/);
        const absent = await commands.run(['unlock', 'create', '--type', 'timer', '--minutes', '1'], { env: { ...other.env, PORTERO_KEY: 'k' } });
        assert.equal(absent.status, 4);
        assert.match(absent.stderr, /--idempotency-key cli-[0-9a-f]{32}\n$/);
        for (const url of ['http://example.com', 'ftp://localhost', 'localhost', 'https://user@localhost']) {
            assert.equal((await commands.run(['unlock', 'list'], { env: { PORTERO_URL: url, PORTERO_KEY: 'k' } })).status, 2, url);
        }
        const elsewhere = await commands.run(['service', 'health'], { env: { XDG_CONFIG_HOME: join(directory, 'empty'), PORTERO_URL: client.daemon.https } });
        assert.equal(elsewhere.status, 4);
        assert.match(elsewhere.stderr, /its certificate is not trusted/);
        assert.equal((await commands.run(['service', 'health', '--ca-file', join(client.daemon.data, 'tls.crt')],
            { env: { XDG_CONFIG_HOME: join(directory, 'empty'), PORTERO_URL: client.daemon.https } })).status, 0);
    });

    it('prints a request that a shell can send, without the key', async () => {
        const label = 'it\'s "$HOME" `id` \\ é';
        const line = await run('unlock', 'create', '--type', 'timer', '--minutes', '5', '--label', label, '--dry-run');
        assert.ok(line.includes('Bearer $PORTERO_KEY'));
        const { key } = JSON.parse(readFileSync(file, 'utf8'));
        const send = () => spawnSync('sh', ['-c', line], { env: cleanEnvironment({ PORTERO_KEY: key }), encoding: 'utf8' });
        const sent = JSON.parse(send().stdout);
        assert.equal(sent.label, label);
        assert.equal(JSON.parse(send().stdout).id, sent.id, 'the same Idempotency-Key');
        const change = await run('unlock', 'update', sent.id, '--label', 'changed', '--dry-run');
        assert.equal(JSON.parse(spawnSync('sh', ['-c', change], { env: cleanEnvironment({ PORTERO_KEY: key }), encoding: 'utf8' }).stdout).version, 1);
        const read = await run('log', 'list', '--q', 'a&b=c', '--dry-run');
        assert.equal(JSON.parse(spawnSync('sh', ['-c', read], { env: cleanEnvironment({ PORTERO_KEY: key }), encoding: 'utf8' }).stdout).data.length, 0);
    });

    // CLI-4
    it('sends a request again with the same Idempotency-Key when its answer is lost', async () => {
        const seen = [];
        const server = http.createServer((request, response) => {
            seen.push(`${request.method} ${request.headers['idempotency-key']} ${request.headers.authorization}`);
            request.resume().on('end', () => {
                if (seen.length === 1) request.socket.destroy();
                else if (seen.length === 2) response.writeHead(503, { 'Retry-After': '1', 'Content-Type': 'application/json' }).end('{"error":{"code":"SERVICE_UNAVAILABLE","message":"m"}}');
                else response.writeHead(201, { 'Content-Type': 'application/json' }).end('{"id":"made"}');
            });
        }).listen(0, '127.0.0.1');
        await once(server, 'listening');
        try {
            const env = { PORTERO_URL: `http://127.0.0.1:${server.address().port}`, PORTERO_KEY: 'secret' };
            const done = await commands.run(['unlock', 'create', '--type', 'timer', '--minutes', '5', '--json'], { env });
            assert.equal(done.status, 0, done.stderr);
            assert.equal(seen.length, 3);
            assert.equal(new Set(seen).size, 1);
            seen.length = 0;
            const once_ = await commands.run(['unlock', 'update', 'f0f0f0f0f0f0f0f0f0f0f0f0', '--label', 'x', '--if-match', '1'], { env });
            assert.equal(once_.status, 4, 'a change without an Idempotency-Key is not repeated');
            assert.equal(seen.length, 1);
        } finally {
            server.closeAllConnections();
            server.close();
        }
    });

    // CLI-2
    it('asks before it trusts a certificate that is signed by itself, and then trusts that one', async () => {
        const other = new Commands({ directory: temporaryDirectory() });
        const who = freshEmail();
        try {
            const certificate = readFileSync(join(client.daemon.data, 'tls.crt'), 'utf8').trim();
            const refusing = await other.run(['login', '--url', client.daemon.https, '--email', who], { input: 'no\n' });
            assert.equal(refusing.status, 4);
            assert.equal(ok(await client.get(`/sandbox/messages?to=${encodeURIComponent(who)}`)).data.length, 0);
            const run = other.start(['login', '--url', `${client.daemon.https}/`, '--email', who]);
            await eventually(() => run.stderr.includes('Type yes'), 'the question');
            const { stdout } = spawnSync('openssl', ['x509', '-noout', '-fingerprint', '-sha256', '-in', join(client.daemon.data, 'tls.crt')], { encoding: 'utf8' });
            assert.ok(run.stderr.includes(stdout.trim().split('=')[1]));
            run.type('yes\n');
            await eventually(() => run.stderr.includes('The six digits'), 'the question for the code');
            run.type(`${(await message(client, who)).code}\n`);
            assert.equal((await run.ended).status, 0, run.stderr);
            assert.equal(readFileSync(join(other.directory, 'config/portero/default.pem'), 'utf8').trim(), certificate);
            assert.equal((await other.run(['account', 'show'])).status, 0);
        } finally {
            await other.close();
            rmSync(other.directory, { recursive: true, force: true });
        }
    });

    // CLI-2
    it('needs no name in a certificate whose fingerprint a person accepted, and takes no other', async () => {
        const other = new Commands({ directory: temporaryDirectory() });
        const who = freshEmail();
        const [first, second] = ['first', 'second'].map((name) => selfSigned(other.directory, name)); // for localhost alone
        const { hostname, port } = new URL(client.daemon.https);
        const server = https.createServer(first, (request, response) => {
            const on = https.request({ hostname, port, path: request.url, method: request.method, headers: request.headers, rejectUnauthorized: false }, (answer) => {
                response.writeHead(answer.statusCode, answer.headers);
                answer.pipe(response);
            });
            request.pipe(on);
        });
        await once(server.listen(0, '127.0.0.1'), 'listening');
        try {
            const run = other.start(['login', '--url', `https://127.0.0.1:${server.address().port}`, '--email', who]);
            await eventually(() => run.stderr.includes('Type yes'), 'the question');
            assert.match(run.stderr, /`porterod admin status` shows it as certificate_sha256/);
            run.type('yes\n');
            await eventually(() => run.stderr.includes('The six digits'), 'the question for the code');
            run.type(`${(await message(client, who)).code}\n`);
            assert.equal((await run.ended).status, 0, run.stderr);
            assert.equal((await other.run(['account', 'show'])).status, 0);
            server.setSecureContext(second);
            server.closeAllConnections();
            const refused = await other.run(['account', 'show']);
            assert.equal(refused.status, 4);
            assert.match(refused.stderr, /certificate/);
        } finally {
            server.closeAllConnections();
            server.close();
            await other.close();
            rmSync(other.directory, { recursive: true, force: true });
        }
    });

    // CLI-1
    it('keeps several logins apart, and revokes a key at logout', async () => {
        const who = freshEmail();
        assert.equal((await commands.login(client, who, ['--profile', 'second'])).status, 0);
        const { key } = JSON.parse(readFileSync(join(directory, 'config/portero/second.json'), 'utf8'));
        assert.equal((await json('account', 'show', '--profile', 'second')).email, who);
        assert.equal((await json('account', 'show')).email, email);
        assert.equal((await commands.login(client, who, ['--profile', 'second'])).status, 0);
        assert.equal((await client.as(key).get('/v1/account')).status, 401, 'a login ends the one before');
        const next = JSON.parse(readFileSync(join(directory, 'config/portero/second.json'), 'utf8')).key;
        assert.match(await run('logout', '--profile', 'second'), /^Logged out of /);
        assert.equal((await client.as(next).get('/v1/account')).status, 401);
        assert.equal(existsSync(join(directory, 'config/portero/second.json')), false);
        await fails(3, 'logout', '--profile', 'second');
        await fails(3, 'account', 'show', '--profile', 'second');
        await fails(2, 'account', 'show', '--profile', '../second');
    });

    // CLI-3
    it('tells to log in again when the key has ended, which takes nothing but the code', async () => {
        const who = freshEmail();
        const again = ['--profile', 'short'];
        assert.equal((await commands.login(client, who, [...again, '--days', '1', '--scopes', 'account:read'])).status, 0);
        const { key } = JSON.parse(readFileSync(join(directory, 'config/portero/short.json'), 'utf8'));
        const session = await signIn(client, who);
        const { id } = ok(await session.client.get('/v1/auth/keys')).data.find((one) => one.type === 'agent');
        ok(await session.client.delete(`/v1/auth/keys/${id}`));
        const ended = await fails(3, 'account', 'show', ...again);
        assert.match(ended.stderr, /\(INVALID_KEY\)\nportero: next: Log in again: `portero login --profile short`\.\n/);
        assert.match((await commands.run(['account', 'show'], { env: { PORTERO_KEY: key } })).stderr, /next: Set PORTERO_KEY to a key that is valid\.\n/);
        const run = commands.start(['login', ...again]);
        await eventually(() => run.stderr.includes('The six digits'), 'the question for the code, and no other');
        assert.match(run.stderr, new RegExp(`^The six digits from the e-mail to ${who}: $`));
        run.type(`${(await message(client, who)).code}\n`);
        assert.equal((await run.ended).status, 0, run.stderr);
        assert.equal((await json('account', 'show', ...again)).email, who);
        assert.equal(statSync(join(directory, 'config/portero/short.json')).mode & 0o777, 0o600);
    });

    it('logs in at an address with a path, and asks again when the certificate is another one', async () => {
        const other = new Commands({ directory: temporaryDirectory() });
        const [first, second] = ['first', 'second'].map((name) => selfSigned(other.directory, name));
        const seen = [];
        const proxy = https.createServer(first, (request, response) => {
            seen.push(request.url);
            const forward = https.request(`${client.daemon.https}${request.url.replace(/^\/door/, '')}`, { method: request.method, headers: request.headers, rejectUnauthorized: false },
                (answer) => { response.writeHead(answer.statusCode, answer.headers); answer.pipe(response); });
            request.pipe(forward);
        }).listen(0, '127.0.0.1');
        await once(proxy, 'listening');
        const url = `https://localhost:${proxy.address().port}/door`;
        const who = freshEmail();
        const login = async (...args) => {
            const run = other.start(['login', ...args]);
            await eventually(() => /Type yes|The six digits/.test(run.stderr), 'a question');
            if (run.stderr.includes('Type yes')) run.type('yes\n');
            await eventually(() => run.stderr.includes('The six digits'), 'the question for the code');
            run.type(`${(await message(client, who)).code}\n`);
            assert.equal((await run.ended).status, 0, run.stderr);
            return run.stderr;
        };
        try {
            assert.match(await login('--url', `${url}/`, '--email', who), /is signed by itself/);
            assert.equal((await other.run(['account', 'show'])).status, 0);
            assert.ok(seen.every((path) => path.startsWith('/door/v1/')), seen.join(' '));
            assert.doesNotMatch(await login(), /Type yes/, 'it is known');
            proxy.setSecureContext(second);
            proxy.closeAllConnections();
            assert.equal((await other.run(['account', 'show'])).status, 4);
            assert.match(await login(), /^portero: the certificate is not the one that was trusted before\n/);
            assert.equal(readFileSync(join(other.directory, 'config/portero/default.pem'), 'utf8').trim(), second.cert.trim());
            assert.equal((await other.run(['account', 'show'])).status, 0);
        } finally {
            proxy.closeAllConnections();
            proxy.close();
            await other.close();
            rmSync(other.directory, { recursive: true, force: true });
        }
    });

    it('refuses a wrong code, and scopes that nobody can have', async () => {
        const run = commands.start(['login', '--url', client.daemon.https, '--ca-file', join(client.daemon.data, 'tls.crt'), '--email', freshEmail(), '--profile', 'third']);
        run.process.stdin.end('000000\n');
        const done = await run.ended;
        assert.equal(done.status, 3);
        assert.match(done.stderr, /\(INVALID_OTP\)/);
        const nobody = freshEmail();
        for (const scopes of ['everything', 'account:read,keys:write', 'account:read,,logs:read', '']) {
            const wrong = await commands.login(client, nobody, ['--profile', 'third', '--scopes', scopes]);
            assert.equal(wrong.status, 2, scopes);
            assert.match(wrong.stderr, /^portero: login: ".*" is not a scope of a key: account:read, access:read, access:write, logs:read, setup:write, billing:write, buildings:write, calls:listen\n$/);
        }
        assert.equal(ok(await client.get(`/sandbox/messages?to=${encodeURIComponent(nobody)}`)).data.length, 0, 'no code was sent');
        const silent = await commands.run(['login', '--url', client.daemon.https, '--ca-file', join(client.daemon.data, 'tls.crt'), '--email', freshEmail(), '--profile', 'third']);
        assert.match(silent.stderr, /^The six digits from the e-mail to \S+: \nportero: no code was typed\n$/);
        assert.equal(existsSync(join(directory, 'config/portero/third.json')), false);
    });

    /** Answers the questions of a command at a terminal: {status, stdout}. */
    const atTerminal = async (line, answers) => {
        const run = commands.start(['-qec', line, '/dev/null'], { program: 'script' });
        for (const [question, answer] of answers) {
            await eventually(() => run.stdout.includes(question) || run.process.exitCode !== null, question);
            run.type(`${await answer()}\n`);
        }
        return run.ended;
    };

    it('tells what is missing until a grant opens the door, in words of this program', async () => {
        const newcomer = freshEmail();
        assert.equal((await commands.login(client, newcomer, ['--profile', 'early', '--scopes', ALL_SCOPES])).status, 0);
        const create = (...more) => commands.run(['unlock', 'create', '--type', 'timer', '--minutes', '60', '--profile', 'early', ...more]);
        const early = await create();
        assert.equal(early.status, 0, early.stderr);
        assert.match(early.stderr, /^portero: note: it cannot open the door yet\nportero: next: `portero checkout create`: Subscribe: .*\nportero: next: `portero settings update [0-9a-f]{24}`: .*unlock_tone.*\n$/);
        assert.equal((await create('--json')).stderr, '');
        const { stdout } = await commands.run(['account', 'show', '--profile', 'early']);
        assert.match(stdout, /`portero checkout create`/);
        assert.match(stdout, /`portero building setup [0-9a-f]{24}`/);
        assert.doesNotMatch(stdout, /\/v1\//);
        await setSubscription(client, newcomer);
        const { id } = await provisioned(await signIn(client, newcomer));
        assert.equal((await commands.run(['settings', 'update', id, '--unlock-tone', '9', '--profile', 'early'])).status, 0);
        assert.equal((await create()).stderr, '');
    });

    it('takes the days of a routine as people type them', async () => {
        const days = async (text) => {
            const made = await commands.run(['unlock', 'create', '--type', 'routine', '--days', text, '--start', '09:00', '--end', '11:00', '--timezone', 'Europe/Paris', '--enabled', 'false', '--dry-run']);
            assert.equal(made.status, 0, made.stderr);
            return /"days":\[([^\]]*)\]/.exec(made.stdout)[1].replaceAll('"', '');
        };
        const week = 'monday,tuesday,wednesday,thursday,friday';
        for (const text of ['weekdays', 'Weekdays', 'mon-fri', 'monday-friday', 'mon, tue, wed, thu, fri', 'Mon,Tues,We,Thur-Fri', week]) assert.equal(await days(text), week, text);
        for (const text of ['weekend', 'sat,sun', 'Sat-Sun', 'sunday,saturday']) assert.equal(await days(text), 'sunday,saturday', text);
        for (const text of ['daily', 'sun-sat', 'weekdays,weekend', 'wed-tue']) assert.equal(await days(text), `sunday,${week},saturday`, text);
        assert.equal(await days('tue'), 'tuesday');
        for (const text of ['t', 'someday', 'mon-', '-fri', 'mon-fri-sun', '']) {
            const refused = await commands.run(['unlock', 'create', '--type', 'routine', '--days', text, '--start', '09:00', '--end', '11:00', '--timezone', 'Europe/Paris']);
            assert.equal(refused.status, 2, text);
            assert.match(refused.stderr, /^portero: unlock create: days.* must be one of sunday/, text);
        }
    });

    // CLI-3
    it('asks for the scopes at a terminal, where the door can be set up by default, and names the command for more', async () => {
        const newcomer = freshEmail();
        const login = `${binary} login --url ${client.daemon.https} --ca-file ${join(client.daemon.data, 'tls.crt')} --profile newcomer`;
        const code = ['The six digits', async () => (await message(client, newcomer)).code];
        const nothing = ['Separated by commas', () => ''];
        const first = await atTerminal(`${login} --email ${newcomer}`, [nothing, code]);
        assert.equal(first.status, 0, first.stdout);
        await setSubscription(client, newcomer);
        await provisioned(await signIn(client, newcomer));
        const tone = await commands.run(['settings', 'update', '--unlock-tone', '9', '--profile', 'newcomer']);
        assert.equal(tone.status, 0, tone.stderr);
        const poor = await commands.run(['checkout', 'create', '--plan', 'weekly', '--profile', 'newcomer']);
        assert.match(poor.stderr, /The key lacks the scope billing:write\. \(INSUFFICIENT_SCOPE\)/);
        const scopes = 'account:read,access:read,access:write,logs:read,setup:write,billing:write';
        const { key } = JSON.parse(readFileSync(join(directory, 'config/portero/newcomer.json'), 'utf8'));
        const given = await commands.run(['checkout', 'create', '--plan', 'weekly', '--ca-file', join(client.daemon.data, 'tls.crt')], { env: { PORTERO_URL: client.daemon.https, PORTERO_KEY: key } });
        assert.match(given.stderr, /portero: next: Set PORTERO_KEY to a key that has the scope billing:write\.\n/);
        const next = /^portero: next: Log in again: `portero (login .*)`\.$/m.exec(poor.stderr)[1];
        assert.equal(next, `login --profile newcomer --scopes ${scopes}`);
        assert.equal((await atTerminal(`${binary} ${next} --ca-file ${join(client.daemon.data, 'tls.crt')}`, [code])).status, 0);
        assert.match((await commands.run(['checkout', 'create', '--plan', 'weekly', '--profile', 'newcomer'])).stderr, /\(SUBSCRIPTION_EXISTS\)/);
        const again = await atTerminal(login, [nothing, code]);
        assert.ok(again.stdout.includes(`[${scopes}]`), again.stdout);
        const keys = ok(await (await signIn(client, newcomer)).client.get('/v1/auth/keys')).data;
        assert.deepEqual(keys.filter(({ type }) => type === 'agent').map((key) => key.scopes), [scopes.split(',')]);
    });
});

describe('portero log tail', () => {
    it('prints each new entry once, also after the service was away', async () => {
        const ports = [await freePort(), await freePort()];
        const w = await world({ args: ['--https', `127.0.0.1:${ports[0]}`, '--http', `127.0.0.1:${ports[1]}`, '--sip', '127.0.0.1:0'] });
        const commands = new Commands();
        const email = freshEmail();
        try {
            assert.equal((await commands.login(w.client, email, ['--scopes', ALL_SCOPES])).status, 0);
            const session = await signIn(w.client, email);
            const home = await provisioned(session);
            const done = await commands.run(['settings', 'update', '--unlock-tone', '9']);
            assert.equal(done.status, 0, done.stderr);
            await commands.run(['unlock', 'create', '--type', 'passcode', '--label', 'Parcel', '--code', '4711']);
            const call = (digits) => visit(w.client, { to: home.virtual_number, digits });
            await call('4711');
            const tail = commands.start(['log', 'tail']);
            const stream = commands.start(['event', 'stream', '--json']);
            const lines = () => tail.stdout.split('\n').filter(Boolean).map((line) => line.split(/ {2,}/).slice(1).join(' '));
            await eventually(() => lines().length === 1, 'the first entry');
            await call('0000');
            await eventually(() => lines().length >= 2, 'a second entry');
            assert.deepEqual(lines().slice(0, 2), ['opened Parcel', 'refused Wrong passcode']);
            assert.doesNotMatch(readFileSync(`/proc/${tail.process.pid}/cmdline`, 'utf8'), /svc_/);
            assert.equal(readFileSync(`/proc/${tail.process.pid}/task/${tail.process.pid}/children`, 'utf8'), '', 'it starts no other program');
            const before = lines().length;
            assert.equal((await w.daemon.terminate()).code, 0);
            await w.daemon.start();
            await call('4711');
            await eventually(() => lines().length > before && lines().at(-1) === 'opened Parcel', 'the entry after the restart');
            await call('4711');
            await eventually(() => lines().filter((line) => line === 'opened Parcel').length === 3, 'another entry');
            const events = () => stream.stdout.split('\n').filter(Boolean).map((line) => JSON.parse(line));
            await eventually(() => events().filter((event) => event.type === 'call.released').length >= 2, 'the events');
            const numbers = events().map((event) => event.seq);
            assert.deepEqual(numbers, numbers.map((_, i) => numbers[0] + i), 'none is missing and none comes twice');
        } finally {
            await commands.close();
            rmSync(commands.directory, { recursive: true, force: true });
            await w.close();
        }
    });

    it('goes on when a proxy in front of the service fails for a moment', async () => {
        const w = await world();
        const commands = new Commands();
        let refused = 0, failing = false;
        const proxy = http.createServer((request, response) => {
            if (failing && request.url.startsWith('/v1/logs')) {
                refused++;
                response.writeHead(502, { 'Content-Type': 'text/html' }).end('<h1>Bad Gateway</h1>');
                return;
            }
            request.pipe(https.request(w.daemon.https + request.url, { method: request.method, headers: request.headers, rejectUnauthorized: false },
                (answer) => { response.writeHead(answer.statusCode, answer.headers); answer.pipe(response); }).on('error', () => response.destroy()));
        }).listen(0, '127.0.0.1');
        await once(proxy, 'listening');
        try {
            const email = freshEmail();
            const home = await provisioned(await signIn(w.client, email));
            assert.equal((await commands.login(w.client, email, ['--scopes', ALL_SCOPES])).status, 0);
            const { key } = JSON.parse(readFileSync(join(commands.directory, 'config/portero/default.json'), 'utf8'));
            const env = { PORTERO_URL: `http://127.0.0.1:${proxy.address().port}`, PORTERO_KEY: key };
            assert.equal((await commands.run(['settings', 'update', '--unlock-tone', '9'])).status, 0);
            await visit(w.client, { to: home.virtual_number });
            const tail = commands.start(['log', 'tail'], { env });
            const entries = () => tail.stdout.split('\n').filter(Boolean).length;
            await eventually(() => entries() === 1, 'the first entry');
            await eventually(async () => {
                if (entries() < 2) await visit(w.client, { to: home.virtual_number });
                return entries() >= 2;
            }, 'a second one, so that the stream is followed');
            const before = entries();
            failing = true;
            await visit(w.client, { to: home.virtual_number });
            await eventually(() => refused > 0, 'a refused request');
            failing = false;
            await eventually(() => entries() > before, 'the entry of that time');
            await eventually(() => /responded 502; trying again/.test(tail.stderr), 'the reason, which comes by another pipe than the entry');
            failing = true;
            const start = await commands.run(['log', 'tail'], { env });
            assert.equal(start.status, 1);
            assert.match(start.stderr, /^portero: the service responded 502, which is not an answer of this interface\n$/);
        } finally {
            await commands.close();
            rmSync(commands.directory, { recursive: true, force: true });
            proxy.closeAllConnections();
            proxy.close();
            await w.close();
        }
    });
});
