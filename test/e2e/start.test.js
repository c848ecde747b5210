// The start of several services on one PostgreSQL database, and migrations that end in the middle.
// PORTERO_E2E_STARTS: how often eight start at once (3).
// engine: postgresql, because a SQLite store has one service
import { describe, it, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { Client, ok } from './lib/client.js';
import { Cluster } from './lib/cluster.js';
import { Daemon, binary, cleanEnvironment, configText, portero, root, temporaryDirectory } from './lib/daemon.js';
import { hold } from './lib/frozen.js';
import { freePort } from './lib/port.js';
import { createDatabase, sql } from './lib/store.js';
import { eventually, signIn } from './lib/world.js';

const TIMES = Number(process.env.PORTERO_E2E_STARTS ?? 3);
const AT_ONCE = 8;
const ROUNDS = 5;
const NEWEST = readdirSync(join(root, 'src/store/sql/migrations')).length;

describe('the reasons for which a start waits', () => {
    it('are all in the table of the page', () => {
        const page = readFileSync(join(root, 'docs/operations.md'), 'utf8').split('| `reason` | meaning |')[1].split('\n\n')[0];
        const sources = readdirSync(join(root, 'src/store')).filter((name) => name.endsWith('.c')).map((name) => readFileSync(join(root, 'src/store', name), 'utf8')).join('');
        const reasons = [...sources.matchAll(/store_note_(?:wait|answer)\([^;"]*"([^"]+)"|NO_ANSWER +"([^"]+)"/g)].map(([, one, other]) => one ?? other);
        assert.ok(reasons.length >= 6);
        for (const reason of reasons) assert.ok(page.includes(`\`${reason}\``), reason);
    });
});

describe('services on one database', () => {
    let directory;
    const secrets = { master_key: randomBytes(32).toString('hex') };
    before(() => { directory = temporaryDirectory(); });
    after(() => rmSync(directory, { recursive: true, force: true }));

    const service = (dsn, i) => new Daemon({ directory: join(directory, String(i)), config: { secrets, store: { engine: 'postgresql', dsn, workers: 4 } } });
    const versions = (dsn) => sql({ dsn }, 'SELECT version FROM schema_version ORDER BY version').trim().split('\n').map(Number);
    const all = Array.from({ length: NEWEST }, (_, i) => i + 1);

    /** Starts `porterod migrate`: {child, ended}, which resolves to {code, output}. */
    function migrate(dsn, i) {
        const path = join(directory, `migrate-${i}.conf`);
        writeFileSync(path, configText({ secrets, store: { engine: 'postgresql', dsn } }));
        const child = spawn(binary, ['migrate', '--config', path, '--data', join(directory, `migrate-${i}`)], { env: cleanEnvironment(), stdio: ['ignore', 'pipe', 'pipe'] });
        let output = '';
        for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => { output += text; });
        return { child, ended: once(child, 'close').then(([code]) => ({ code, output })) };
    }

    before(async () => {
        for (let i = 0; i < AT_ONCE; i++) mkdirSync(join(directory, String(i)));
    });

    /** A database whose migration was ended by kill -9 once it had table `node`. */
    async function olderDatabase() {
        for (;;) {
            const dsn = createDatabase();
            const { child, ended } = migrate(dsn, 0);
            await eventually(() => child.exitCode !== null || sql({ dsn }, "SELECT to_regclass('node')").trim() === 'node', 'a part of the schema');
            child.kill('SIGKILL');
            await ended;
            if (versions(dsn).length < NEWEST) return dsn;
        }
    }

    async function startAll(dsn) {
        const services = Array.from({ length: AT_ONCE }, (_, i) => service(dsn, i));
        try {
            await Promise.all(services.map((one) => one.start()));
            assert.deepEqual(versions(dsn), all);
            const client = new Client(services[0]);
            const { key } = await signIn(client);
            for (const one of services) {
                const other = new Client(one);
                ok(await other.as(key).get('/v1/account'));
                other.close();
            }
            client.close();
            for (const one of services) assert.doesNotMatch(one.stderr, / error /);
        } finally {
            await Promise.all(services.map((one) => one.running() && one.terminate()));
        }
    }

    for (let time = 1; time <= TIMES; time++) {
        it(`all start at once on an empty database, time ${time}`, () => startAll(createDatabase()));
        it(`all start at once on an older schema, time ${time}`, async () => startAll(await olderDatabase()));
    }

    for (let time = 1; time <= TIMES; time++) {
        it(`migrate all at once, time ${time}`, async () => {
            const dsn = createDatabase();
            const ends = await Promise.all(Array.from({ length: AT_ONCE }, (_, i) => migrate(dsn, i).ended));
            for (const { code, output } of ends) {
                assert.equal(code, 0, output);
                assert.match(output, new RegExp(`^schema version ${NEWEST} of ${NEWEST}\n$`));
            }
            assert.deepEqual(versions(dsn), all);
        });
    }

    it('say that the schema is being migrated, and go on', async () => {
        const dsn = await olderDatabase();
        const lock = await hold(dsn, 'LOCK TABLE schema_version IN SHARE MODE');
        const one = service(dsn, 0);
        one.spawn();
        try {
            assert.ok(await one.logged(/ warn waiting for store reason="the schema is being migrated"\n/), one.stderr);
        } finally {
            await lock.release();
        }
        await one.ready();
        assert.deepEqual(versions(dsn), all);
        await one.terminate();
    });

    it('complete a migration that kill -9 has ended, wherever it was', async () => {
        const began = Date.now();
        await migrate(createDatabase(), 0).ended;
        const whole = Date.now() - began;
        for (let round = 0; round < ROUNDS; round++) {
            const dsn = createDatabase();
            const { child, ended } = migrate(dsn, 0);
            setTimeout(() => child.kill('SIGKILL'), (whole * (round + 1)) / (ROUNDS + 1));
            await ended;
            const { code, output } = await migrate(dsn, 1).ended;
            assert.equal(code, 0, output);
            assert.deepEqual(versions(dsn), all);
        }
    });
});

describe('a start on a server that does not answer', () => {
    let directory;
    let server;
    let services = 0;
    const secrets = { master_key: randomBytes(32).toString('hex') };
    function spawned() {
        const own = join(directory, String(services++));
        mkdirSync(own);
        const service = new Daemon({ directory: own, config: { secrets, store: { engine: 'postgresql', dsn: server.dsn, workers: 4 } } });
        service.spawn();
        return service;
    }

    before(() => {
        directory = temporaryDirectory();
        server = new Cluster();
    });
    after(() => {
        server.stop();
        rmSync(directory, { recursive: true, force: true });
    });

    describe('to commits', () => {
        before(() => sql(server, "ALTER SYSTEM SET synchronous_standby_names = 'nobody'; SELECT pg_reload_conf();"));
        after(() => sql(server, 'ALTER SYSTEM RESET synchronous_standby_names; SELECT pg_reload_conf();'));

        // STORE-11
        it('says so, and ends on SIGTERM', async () => {
            const service = spawned();
            assert.ok(await service.logged(/ warn waiting for store reason="PostgreSQL does not confirm a commit: see synchronous_standby_names"\n/), service.stderr);
            assert.deepEqual(await service.terminate(), { code: 0, signal: null });
            assert.match(service.stderr, /stopping signal=TERM during=start/);
            assert.equal(service.stdout, '');
        });

        it('says that another start migrates', async () => {
            const service = spawned();
            assert.ok(await service.logged(/ warn waiting for store reason="another process migrates the schema"\n/), service.stderr);
            assert.deepEqual(await service.terminate(), { code: 0, signal: null });
        });

        it('ends at once on a second signal', async () => {
            const service = spawned();
            assert.ok(await service.logged(/ warn waiting for store /), service.stderr);
            service.process.kill('SIGTERM');
            assert.ok(await service.logged(/stopping signal=TERM during=start/), service.stderr);
            assert.deepEqual(await service.terminate(), { code: null, signal: 'SIGTERM' });
        });
    });

    it('at all ends on SIGTERM', async () => {
        server.freeze();
        try {
            const service = spawned();
            assert.ok(await service.logged(/ warn waiting for store reason="PostgreSQL does not answer"\n/), service.stderr);
            assert.deepEqual(await service.terminate(), { code: 0, signal: null });
        } finally {
            server.thaw();
        }
    });

    // STORE-11
    it('goes on when the server does', async () => {
        const service = spawned();
        assert.ok(await service.outcome(() => /^ready /.exec(service.stdout), 60_000), service.stderr);
        await service.stop();
    });
});

describe('a start while the server is away', () => {
    let directory;
    let server;
    let socket;
    const secrets = { master_key: randomBytes(32).toString('hex') };
    before(() => {
        directory = temporaryDirectory();
        server = new Cluster({ max_connections: 12 });
        socket = join(server.directory, '.s.PGSQL.5432');
    });
    after(() => {
        server.stop();
        rmSync(directory, { recursive: true, force: true });
    });

    /** In place of the server, one that answers each connection with this error. */
    async function impostor(state, message) {
        server.kill();
        const text = `SFATAL\0VFATAL\0C${state}\0M${message}\0\0`;
        const answer = Buffer.alloc(5);
        answer.write('E');
        answer.writeInt32BE(4 + text.length, 1);
        const other = createServer((peer) => peer.on('error', () => {}).once('data', () => peer.end(Buffer.concat([answer, Buffer.from(text)]))));
        rmSync(socket, { force: true });
        other.listen(socket);
        await once(other, 'listening');
        return async () => {
            other.close();
            await once(other, 'close');
            server.start();
        };
    }

    /** How it is away, resolving to its way back; and what the log says. */
    const AWAY = {
        'is stopped': [() => { server.kill(); return () => server.start(); }, /connection to server .* failed/],
        'hangs': [() => { server.freeze(); return () => server.thaw(); }, /PostgreSQL does not answer|timeout expired/],
        'is starting': [() => impostor('57P03', 'the database system is starting up'), /starting up/],
        'has no connection left': [() => impostor('53300', 'sorry, too many clients already'), /too many clients/],
        'is read-only': [() => {
            sql(server, 'ALTER SYSTEM SET default_transaction_read_only = on; SELECT pg_reload_conf();');
            return () => sql(server, 'ALTER SYSTEM RESET default_transaction_read_only; SELECT pg_reload_conf();');
        }, /session is read-only/],
    };

    for (const [name, [leave, words]] of Object.entries(AWAY)) {
        // STORE-11
        it(`(it ${name}) waits, says so everywhere, ends on SIGTERM, and goes on when the server is back`, async () => {
            const own = join(directory, name.replaceAll(' ', '-'));
            mkdirSync(own);
            const [https, http, metrics] = [await freePort(), await freePort(), await freePort()];
            const service = new Daemon({
                directory: own, args: ['--https', `127.0.0.1:${https}`, '--http', `127.0.0.1:${http}`, '--sip', '127.0.0.1:0'],
                config: { secrets, listen: { metrics: `127.0.0.1:${metrics}` }, store: { engine: 'postgresql', dsn: server.dsn, workers: 4 } },
            });
            const client = new Client({ https: `https://127.0.0.1:${https}`, http: `http://127.0.0.1:${http}` });
            const waits = async () => {
                service.stderr = '';
                service.spawn();
                assert.ok(await service.logged(/ warn waiting for store reason="/), service.stderr);
                await eventually(() => client.get('/v1/health').then(({ status }) => status === 200, (error) => assert.equal(error.code, 'ECONNREFUSED')), 'the listeners');
            };
            const back = await leave();
            try {
                await waits();
                const refused = await client.as('svc_agent_x').get('/v1/account', { check: false });
                assert.equal(refused.status, 503, refused.text);
                assert.equal(refused.body.error.code, 'SERVICE_UNAVAILABLE');
                assert.equal(refused.headers['retry-after'], '1');
                assert.equal(refused.headers['x-request-id'], refused.body.requestId);
                const ready = await fetch(`http://127.0.0.1:${metrics}/ready`);
                assert.equal(ready.status, 503);
                assert.deepEqual(await ready.json(), { ready: false, reasons: ['starting', 'the store is not there yet'] });
                const health = portero(['health', '--data', service.data]);
                assert.equal(health.status, 1);
                assert.equal(health.stdout, 'not ready: starting, the store is not there yet\n');
                const told = await service.outcome(() => new RegExp(`waiting for store reason="[^"]*(${words.source})`).test(service.stderr), 60_000);
                assert.ok(told, service.stderr);
                assert.deepEqual(await service.terminate(), { code: 0, signal: null });
                assert.match(service.stderr, /stopping signal=TERM during=start[^]*stopped during=start/);
                assert.equal(service.stdout, '');
                await waits();
            } finally {
                await back();
            }
            assert.ok(await service.outcome(() => /^ready /.test(service.stdout), 60_000), service.stderr);
            ok(await (await signIn(client)).client.get('/v1/account'));
            assert.equal((await fetch(`http://127.0.0.1:${metrics}/ready`)).status, 200);
            client.close();
            await service.stop();
        });
    }
});
