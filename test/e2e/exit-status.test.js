// The exit status of a service that cannot start: the table of docs/operations.md, each row provoked.
import { describe, it, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { Daemon, configText, engine, portero, root, temporaryDirectory } from './lib/daemon.js';
import { diskFault } from './lib/diskfault.js';
import { ownClock } from './lib/nodes.js';
import { createDatabase, sql } from './lib/store.js';

const ABSENT = '192.0.2.1'; // RFC 5737: no machine has it
const READ_ONLY = ['unshare', '--user', '--map-root-user', '--mount', 'sh', '-euc', 'mount --bind "$0" "$0"; mount -o remount,bind,ro "$0"; exec "$@"'];

/** The rows of the page: {name: status}. `PostgreSQL: …` are of that engine. */
const PAGE = Object.fromEntries([...readFileSync(join(root, 'docs/operations.md'), 'utf8').split('| a start finds | exit status |')[1].split('\n\n')[0]
    .matchAll(/^\| ([^|]+) \| (\d) \|$/gm)].map(([, name, status]) => [name, Number(status)]));

describe('the exit status of a start', () => {
    let directory;
    let taken;
    const dsn = engine === 'postgresql' ? createDatabase() : undefined;
    before(async () => {
        directory = temporaryDirectory();
        taken = createServer().listen(0, '127.0.0.1');
        await once(taken, 'listening');
    });
    after(() => {
        taken.close();
        rmSync(directory, { recursive: true, force: true });
    });

    let count = 0;
    const store = (text) => ({ store: { engine: 'postgresql', dsn: text } });
    const listening = (https, sip = '') => ['--https', https, '--http', '', '--sip', sip];

    /** A service that has run once, and its directory. */
    async function used(options) {
        const daemon = made(options);
        await daemon.start();
        await daemon.terminate();
        daemon.stderr = '';
        return daemon;
    }
    function made({ config = {}, ...options } = {}) {
        const own = join(directory, String(count++));
        mkdirSync(own);
        const daemon = new Daemon({ directory: own, config, ...options });
        if (engine === 'postgresql' && !config.store) daemon.config.store = store(createDatabase()).store;
        return daemon;
    }
    function withDisk(error) {
        const disk = diskFault(directory, directory);
        disk.refuse(error);
        return { env: disk.env };
    }

    /** For each row: a service that meets it, and the words that say so. */
    const ROWS = {
        'an unknown key, or a value that is not allowed': [() => made({ config: { nothing: 'x' } }), /nothing/],
        'a certificate or a secret that cannot be read': [() => made({ config: { tls: { certificate: '/nowhere/a.pem', key: '/nowhere/b.pem' } } }), /No such file/],
        'a data directory that is open to other users': [() => {
            const daemon = made();
            mkdirSync(daemon.data);
            chmodSync(daemon.data, 0o777);
            return daemon;
        }, /shared with all users/],
        'the port of HTTPS in use': [() => made({ args: listening(`127.0.0.1:${taken.address().port}`) }), /Address already in use/],
        'the port of the metrics in use': [() => made({ config: { listen: { metrics: `127.0.0.1:${taken.address().port}` } } }), /Address already in use/],
        'the port of SIP in use': [() => made({ args: listening('127.0.0.1:0', `127.0.0.1:${taken.address().port}`) }), /Address already in use/],
        'an address that the machine does not have, for HTTPS': [() => made({ args: listening(`${ABSENT}:0`) }), /Cannot assign requested address/],
        'an address that the machine does not have, for SIP': [() => made({ args: listening('127.0.0.1:0', `${ABSENT}:5060`) }), /Cannot assign requested address/],
        'the earlier process on the same data directory': [async (t) => {
            const first = made();
            await first.start();
            t.after(() => first.terminate());
            const second = new Daemon({ directory: first.directory });
            second.config.store = first.config.store;
            return second;
        }, /in use/],
        'a full disk': [() => made(withDisk('ENOSPC')), /No space left on device|disk is full|cannot be/],
        'a disk that is read-only': [async () => {
            const daemon = await used();
            daemon.wrap = [...READ_ONLY, daemon.data];
            return daemon;
        }, /Read-only file system/],
        "another master key than the store's": [async () => {
            const daemon = await used({ config: { secrets: { master_key: randomBytes(32).toString('hex') } } });
            daemon.config.secrets = { master_key: randomBytes(32).toString('hex') };
            return daemon;
        }, /master key/],
        'a schema that this program cannot use': [async () => {
            const daemon = await used();
            sql({ dsn: engine === 'postgresql' && daemon.config.store.dsn, data: daemon.data }, 'INSERT INTO schema_version (version, oldest) VALUES (9999, 9999)');
            return daemon;
        }, /install a newer one/],
        'a socket of systemd that it cannot use': [() => made({ env: { LISTEN_FDS: '9999' }, wrap: ['sh', '-c', 'LISTEN_PID=$$ exec "$@"', 'sh'] }), /LISTEN_FDS/],
        'PostgreSQL: no such database': [() => made({ config: store(dsn.replace(/dbname=\S+$/, 'dbname=nothing')) }), /database "nothing" does not exist/],
        'PostgreSQL: a role or password that the server refuses': [() => made({ config: store(`${dsn.replaceAll(/user=\S+/g, '')} user=nobody`) }), /role "nobody" does not exist/],
        "PostgreSQL: a clock more than 30 s off the server's": [() => {
            const clock = ownClock(directory);
            clock.move(200);
            return made({ env: clock.env });
        }, /clock is .* ahead/],
    };

    /** Errors that check-config finds too, if it asks the store. */
    const OF_STORE = ['a schema that this program cannot use', 'PostgreSQL: no such database', 'PostgreSQL: a role or password that the server refuses'];

    // SERVICE-7
    it('is in the table of the page for each reason', () => assert.deepEqual(Object.keys(PAGE), Object.keys(ROWS)));

    for (const [name, [meet, words]] of Object.entries(ROWS)) {
        if (name.startsWith('PostgreSQL') && engine !== 'postgresql') continue;
        // SERVICE-7
        it(`is ${PAGE[name]} after ${name}`, async (t) => {
            const daemon = await meet(t);
            daemon.spawn();
            const { code } = await daemon.exited();
            assert.match(daemon.stderr, words);
            assert.equal(code, PAGE[name], daemon.stderr);
            assert.equal(daemon.stdout, '');
            if (PAGE[name] === 2) {
                writeFileSync(daemon.configPath, configText({ data_dir: daemon.data, ...daemon.config }));
                assert.equal(portero(['check-config', '--config', daemon.configPath]).status, 2);
            }
            if (OF_STORE.includes(name)) {
                writeFileSync(daemon.configPath, configText({ data_dir: daemon.data, ...daemon.config }));
                const checked = portero(['check-config', '--store', '--config', daemon.configPath]);
                assert.match(checked.stderr, words);
                assert.equal(checked.status, 1);
            }
        });
    }

    it('is 0 after SIGTERM', async () => {
        const daemon = made();
        await daemon.start();
        assert.deepEqual(await daemon.terminate(), { code: 0, signal: null });
    });
});
