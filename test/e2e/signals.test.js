// The process: start, signals, the data directory: docs/behaviour/service.md.
import { describe, it, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, readFileSync, readdirSync, readlinkSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import tls from 'node:tls';
import { once } from 'node:events';
import { Client, idempotencyKey, ok } from './lib/client.js';
import { Daemon, engine, portero, temporaryDirectory } from './lib/daemon.js';
import { Baresip, QUICK, address, buzz } from './lib/phone.js';
import { productionOptions } from './lib/production.js';
import { RawConnection } from './lib/raw.js';
import { eventually, grant, resident, signIn, useWorld } from './lib/world.js';

describe('process', () => {
    const w = useWorld({ config: QUICK });
    let session;
    before(async () => {
        session = await signIn(w.client);
    });

    const restart = async () => {
        await w.daemon.start();
        w.client.close();
        w.client = new Client(w.daemon);
        session.client = w.client.as(session.key);
    };
    const post = (key, label) => {
        const body = JSON.stringify({ type: 'passcode', label });
        return `POST /v1/unlock HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${session.key}\r\nIdempotency-Key: ${key}\r\n`
            + `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    };

    describe('start', () => {
        // SERVICE-8
        it('prints one line when all listeners accept, and nothing more on standard output', async () => {
            assert.match(w.daemon.stdout, /^ready https:\/\/127\.0\.0\.1:\d+ http:\/\/127\.0\.0\.1:\d+ sip:127\.0\.0\.1:\d+\n$/);
            ok(await w.client.get('/v1/health'));
            assert.equal(w.daemon.stdout.split('\n').length, 2);
        });

        // SERVICE-11
        it('keeps the data directory and its files private', () => {
            assert.equal(statSync(w.daemon.data).mode & 0o777, 0o700);
            for (const name of readdirSync(w.daemon.data)) {
                assert.equal(statSync(join(w.daemon.data, name)).mode & 0o077, 0, `${name} can be read by others`);
            }
        });

        it('is refused on a data directory that another service uses, which goes on', async () => {
            const second = new Daemon({ directory: w.daemon.directory });
            second.dsn = w.daemon.dsn;
            second.spawn();
            const { code } = await second.exited();
            assert.notEqual(code, 0);
            assert.equal(second.stdout, '');
            assert.match(second.stderr.trim().split('\n').at(-1), /^portero: /);
            ok(await session.client.get('/v1/account'));
        });

        it('is refused on an address in use, naming it', async () => {
            const directory = temporaryDirectory();
            try {
                for (const flag of ['--https', '--http', '--sip']) {
                    const taken = { '--https': w.daemon.https, '--http': w.daemon.http, '--sip': w.daemon.sip }[flag].replace(/^[a-z]+:(\/\/)?/, '');
                    const free = ['--https', '--http', '--sip'].filter((other) => other !== flag).flatMap((other) => [other, '127.0.0.1:0']);
                    const args = ['serve', '--config', w.daemon.configPath, '--data', join(directory, 'data'), flag, taken, ...free];
                    const done = portero(args, { env: engine === 'postgresql' ? { PORTERO_STORE_ENGINE: 'sqlite' } : {}, timeout: 20_000 });
                    assert.ok(done.status === 1 || done.status === 2, `${flag}: exit ${done.status} ${done.stderr}`);
                    assert.ok(done.stderr.includes(taken) || done.stderr.includes(taken.split(':')[1]), `${flag}: ${done.stderr}`);
                }
            } finally {
                rmSync(directory, { recursive: true, force: true });
            }
        });

        it('takes every key from the environment before the file', async () => {
            const other = await Daemon.start({ config: { public_url: 'https://file.example' }, env: { PORTERO_PUBLIC_URL: 'https://environment.example', PORTERO_LIMITS_PLANS_PER_IP: '7' } });
            const client = new Client(other);
            try {
                assert.ok(ok(await client.get('/v1/health')).docs_url.startsWith('https://environment.example/'));
                assert.equal((await client.get('/v1/plans')).headers['ratelimit-limit'], '7');
            } finally {
                client.close();
                await other.stop();
            }
        });
    });

    for (const signal of ['SIGTERM', 'SIGINT']) {
        it(`${signal} ends it: accepted requests are answered, and answered writes are stored`, async () => {
            const connections = await Promise.all(Array.from({ length: 12 }, () => RawConnection.open(w.daemon.httpsPort)));
            const keys = connections.map(() => idempotencyKey());
            connections.forEach((connection, i) => connection.send(post(keys[i], `${signal} ${i}`)));
            await connections[0].reply(1);
            w.daemon.process.kill(signal);
            await Promise.all(connections.map((connection) => connection.end()));
            assert.deepEqual(await w.daemon.exited(), { code: 0, signal: null });
            await restart();
            for (const [i, connection] of connections.entries()) {
                if (connection.replies.length === 0) continue;
                assert.equal(connection.replies[0].status, 201);
                ok(await session.client.get(`/v1/unlock/${JSON.parse(connection.replies[0].body).id}`));
                assert.equal((await session.client.post('/v1/unlock', { type: 'passcode', label: `${signal} ${i}` }, { headers: { 'Idempotency-Key': keys[i] } })).status, 200);
            }
        });
    }

    it('SIGTERM lets a request finish that is on its way, and then takes no new connection', async () => {
        const connection = await RawConnection.open(w.daemon.httpsPort);
        const key = idempotencyKey();
        const request = post(key, 'finished');
        connection.send(request.slice(0, -4));
        ok(await w.client.get('/v1/health'));
        const { httpsPort } = w.daemon;
        w.daemon.process.kill('SIGTERM');
        await eventually(() => RawConnection.open(httpsPort).then((other) => { other.destroy(); return false; }, () => true), 'a closed port');
        connection.send(request.slice(-4));
        assert.equal((await connection.reply(1)).status, 201);
        assert.equal(connection.replies[0].headers.connection, 'close');
        assert.deepEqual(await w.daemon.exited(), { code: 0, signal: null });
        await restart();
        assert.ok(ok(await session.client.get('/v1/unlock')).data.some((row) => row.label === 'finished'));
    });

    // SERVICE-16
    it('SIGTERM lets a call end, takes others meanwhile, and serves HTTPS until then', async (t) => {
        const phone = await Baresip.start();
        t.after(() => phone.stop());
        const person = await resident(w.client, { tone: '9' });
        await grant(person, { type: 'passcode', access_code: '1234' });
        const open = await RawConnection.open(w.daemon.httpsPort);
        const health = async (connection) => {
            connection.send('GET /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n');
            const { status, headers } = await connection.reply(connection.replies.length + 1);
            assert.equal(status, 200);
            return headers.connection;
        };
        phone.command('dial', `sip:${person.number}@${address(w.daemon)}`);
        await phone.event('CALL_ESTABLISHED');
        w.daemon.process.kill('SIGTERM');
        assert.ok(await w.daemon.logged(/stopping signal=TERM/));
        const visitor = await Baresip.start();
        t.after(() => visitor.stop());
        visitor.command('dial', `sip:${person.number}@${address(w.daemon)}`); // is served, too
        await visitor.event('CALL_ESTABLISHED');
        await visitor.press('1234');
        await visitor.event('CALL_CLOSED');
        assert.equal(visitor.tones(), '9');
        const later = await RawConnection.open(w.daemon.httpsPort);
        assert.equal(await health(open), undefined);
        assert.equal(await health(later), undefined);
        assert.ok(ok(await person.client.get('/v1/account')));
        assert.ok(w.daemon.running());
        await phone.press('1234');
        await phone.event('CALL_CLOSED');
        assert.equal(phone.tones(), '9');
        await Promise.all([open.end(), later.end()]);
        assert.deepEqual(await w.daemon.exited(), { code: 0, signal: null });
        await restart();
    });

    // SERVICE-19
    it('a second signal ends it at once', async () => {
        const connection = await RawConnection.open(w.daemon.httpsPort);
        connection.send(post(idempotencyKey(), 'never finished').slice(0, -4));
        ok(await w.client.get('/v1/health'));
        w.daemon.process.kill('SIGTERM');
        await w.daemon.logged(/stopping/);
        const again = setInterval(() => w.daemon.process.kill('SIGTERM'), 20);
        await w.daemon.exited();
        clearInterval(again);
        connection.destroy();
        await restart();
        ok(await session.client.get('/v1/account'));
    });

    it('starts again after each of several crashes', async () => {
        const made = await grant(session, { type: 'passcode', label: 'kept' });
        for (let i = 0; i < 5; i++) {
            await w.daemon.crash();
            await restart();
        }
        assert.deepEqual(ok(await session.client.get(`/v1/unlock/${made.id}`)), made);
    });

    it('writes its log to no data file when it was started without standard error', async () => {
        const other = await Daemon.start({ wrap: ['sh', '-c', 'exec "$0" "$@" <&- 2>&-'] });
        const open = [0, 2].map((fd) => readlinkSync(`/proc/${other.process.pid}/fd/${fd}`));
        await other.stop();
        assert.deepEqual(open, ['/dev/null', '/dev/null']);
    });

    // SERVICE-24
    it('writes its log as JSON if asked, an object a line', async () => {
        const other = await Daemon.start({ config: { log: { format: 'json', requests: true } } });
        const client = new Client(other);
        ok(await client.get('/v1/health'));
        client.close();
        await other.stop();
        const records = other.stderr.trim().split('\n').map((line) => JSON.parse(line));
        for (const { time, level, message } of records) {
            assert.ok(Date.parse(time) > 0);
            assert.match(level, /^(error|warn|info)$/);
            assert.equal(typeof message, 'string');
        }
        assert.equal(records.find(({ message }) => message.startsWith('ready https://')).mode, 'sandbox');
        assert.equal(records.find(({ message }) => message.startsWith('request')).status, 200);
    });

    it('continues when its log is not read', async () => {
        const other = await Daemon.start({ config: { log_level: 'debug' } });
        const client = new Client(other);
        try {
            other.process.stderr.destroy();
            for (let i = 0; i < 200; i++) ok(await client.get('/v1/health'));
        } finally {
            client.close();
            await other.stop();
        }
    });
});

describe('certificates', () => {
    const directory = temporaryDirectory();
    const file = (name) => join(directory, name);
    let daemon;

    const make = (name) => {
        const done = spawnSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '30',
            '-subj', `/CN=${name}`, '-keyout', file(`${name}.key`), '-out', file(`${name}.pem`)], { encoding: 'utf8' });
        assert.equal(done.status, 0, done.stderr);
    };
    const use = (name) => {
        copyFileSync(file(`${name}.pem`), file('certificate.pem'));
        copyFileSync(file(`${name}.key`), file('key.pem'));
    };
    const served = async () => {
        const socket = tls.connect({ port: daemon.httpsPort, host: '127.0.0.1', rejectUnauthorized: false });
        await once(socket, 'secureConnect');
        const name = socket.getPeerCertificate().subject.CN;
        socket.destroy();
        return name;
    };

    before(async () => {
        make('first');
        make('second');
        use('first');
        daemon = await Daemon.start({ directory, config: { tls: { certificate: file('certificate.pem'), key: file('key.pem') } } });
    });
    after(async () => {
        await daemon?.stop();
        rmSync(directory, { recursive: true, force: true });
    });

    it('come from the configuration', async () => {
        assert.equal(await served(), 'first');
    });

    // SERVICE-13
    it('are read again at SIGHUP, while connections stay', async () => {
        const connection = await RawConnection.open(daemon.httpsPort);
        use('second');
        daemon.process.kill('SIGHUP');
        await eventually(async () => await served() === 'second', 'the second certificate');
        connection.send('GET /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n');
        assert.equal((await connection.reply(1)).status, 200);
        connection.destroy();
    });

    // SERVICE-13
    it('stay as they are when the new ones do not load', async () => {
        writeFileSync(file('certificate.pem'), 'nonsense');
        daemon.process.kill('SIGHUP');
        assert.ok(await daemon.logged(/reload certificates=kept reason=".*certificate\.pem: /));
        assert.equal(await served(), 'second');
        copyFileSync(file('first.pem'), file('certificate.pem')); // does not fit the key
        const before = daemon.stderr.length;
        daemon.process.kill('SIGHUP');
        await eventually(() => /reload certificates=kept reason=".*key\.pem: /.test(daemon.stderr.slice(before)), 'the second refusal');
        assert.equal(await served(), 'second');
    });

    it('that cannot be loaded stop the start', () => {
        const done = portero(['serve', '--config', daemon.configPath, '--data', join(directory, 'other'), '--https', '127.0.0.1:0', '--http', '127.0.0.1:0', '--sip', '127.0.0.1:0'],
            { env: { PORTERO_TLS_CERTIFICATE: join(directory, 'nowhere.pem'), PORTERO_STORE_ENGINE: 'sqlite' }, timeout: 20_000 });
        assert.ok(done.status === 1 || done.status === 2, done.stderr);
        assert.match(done.stderr, /portero: .*nowhere\.pem/);
    });
});

describe('production', () => {
    // SERVICE-12, STORE-12
    it('has no sandbox and leaves no core; its schema changes when the operator says so', async () => {
        const directory = temporaryDirectory();
        const options = productionOptions(directory);
        const { env } = options;
        const daemon = new Daemon(options);
        try {
            if (engine === 'postgresql') {
                daemon.spawn();
                assert.deepEqual(await daemon.exited(), { code: 1, signal: null });
                assert.match(daemon.stderr, /^portero: .*migrate/m);
                assert.equal(portero(['migrate', '--config', daemon.configPath, '--data', daemon.data], { env }).status, 0);
            }
            await daemon.start();
            assert.match(readFileSync(`/proc/${daemon.process.pid}/limits`, 'utf8'), /^Max core file size +0 +0 /m);
            const connection = await RawConnection.open(daemon.httpsPort);
            connection.send('GET /sandbox/clock HTTP/1.1\r\nHost: localhost\r\n\r\n');
            assert.equal((await connection.reply(1)).status, 404);
            connection.destroy();
        } finally {
            await daemon.stop();
            rmSync(directory, { recursive: true, force: true });
        }
    });
});
