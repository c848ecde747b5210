// Each row of the table of starts in operations.md, under a systemd that is process 1: make check-systemd. With status 2 the
// service stays down. After everything else it comes back by itself, without a command, once the cause is gone.
import { describe, it, before } from 'node:test';
import assert from 'node:assert/strict';
import events from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { eventually } from '../../e2e/lib/world.js';
import { read, run, temporary, top } from '../lib.js';
import { attempt, CONF, CONFIG, CREDENTIAL, DATA, dropIn, health, inside, install, journal, LIMIT_MS, makePackages, pid, printed, put, show, state, systemctl }
    from './container.js';

const ABSENT = '192.0.2.1'; // RFC 5737: no machine has it
const OTHER = `${DATA}/other`; // a directory for data of a test's own
const PAGE = Object.fromEntries([...read('docs/operations.md').split('| a start finds | exit status |')[1].split('\n\n')[0]
    .matchAll(/^\| ([^|]+) \| (\d|none)/gm)].map(([, name, status]) => [name, Number(status)])); // NaN: it waits

const otherData = CONFIG.replace(`"${DATA}"`, `"${OTHER}"`);
const postgres = (...args) => inside(['runuser', '-u', 'postgres', '--', ...args]);
const program = (name) => inside(['sh', '-c', `echo /usr/lib/postgresql/*/bin/${name}`]);
const database = (verb, options = '') => postgres(program('pg_ctl'), '-D', '/srv/pg/data', '-w', ...verb.split(' '), '-o', `-k /srv/pg -c listen_addresses= ${options}`, '-l', '/srv/pg/log');
/** Runs statements as the database's superuser, one by one. */
const sql = (text) => inside(['runuser', '-u', 'postgres', '--', 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-h', '/srv/pg', '-d', 'postgres'], text);
const stored = (dsn = '') => `${CONFIG}store {\n    engine = postgresql\n    dsn = "host=/srv/pg user=portero dbname=postgres connect_timeout=2 ${dsn}"\n}\n`;

/** The function, which does nothing when it is called again. */
function once(act) {
    let first = true;
    return () => {
        if (first) act();
        first = false;
    };
}

/** Keeps a port of TCP in use: what frees it. */
async function hold(port) {
    const server = createServer().listen(port, '127.0.0.1');
    await events.once(server, 'listening');
    return () => server.close();
}

const right = () => configure(CONFIG);
function configure(text) {
    put(CONF, text, '640');
    inside(['chgrp', 'portero', CONF]);
}

/** A disk of a few megabytes for the data. */
function disk() {
    inside(['install', '-d', '-o', 'portero', '-g', 'portero', OTHER]);
    inside(['mount', '-t', 'tmpfs', '-o', 'size=16m,mode=700,uid=portero,gid=portero', 'portero', OTHER]);
}
const unmount = () => attempt(['umount', '-l', OTHER]);
const address = (verb) => run('ip', ['address', verb, `${ABSENT}/32`, 'dev', 'lo']);

/** For each row: the configuration, and what brings the cause about and returns what ends it; the words of the log. */
const ROWS = {
    'an unknown key, or a value that is not allowed': { config: `${CONFIG}no_such_key = 1\n`, cause: () => right, words: /no_such_key/ },
    'a certificate or a secret that cannot be read': { config: `${CONFIG}tls {\n    certificate = "/nowhere/a.pem"\n    key = "/nowhere/b.pem"\n}\n`, cause: () => right, words: /No such file/ },
    'a data directory that is open to other users': {
        config: otherData,
        cause: () => {
            inside(['install', '-d', '-o', 'portero', '-g', 'portero', '-m', '777', OTHER]);
            return () => inside(['chmod', '700', OTHER]);
        },
        words: /shared with all users/,
    },
    'the port of HTTPS in use': { cause: () => hold(8443), words: /Address already in use/ },
    'the port of the metrics in use': { config: `${CONFIG}listen { metrics = "127.0.0.1:9464" }\n`, cause: () => hold(9464), words: /Address already in use/ },
    'the port of SIP in use': { cause: () => hold(5060), words: /Address already in use/ },
    'an address that the machine does not have, for HTTPS': {
        config: `${CONFIG}listen { https = "${ABSENT}:8443" }\n`, cause: () => () => address('add'), after: () => address('del'), host: ABSENT, words: /Cannot assign requested address/,
    },
    'an address that the machine does not have, for SIP': {
        config: `${CONFIG}listen { sip = "${ABSENT}:5060" }\n`, cause: () => () => address('add'), after: () => address('del'), words: /Cannot assign requested address/,
    },
    'the earlier process on the same data directory': {
        cause: async () => {
            inside(['systemd-run', '--unit=earlier', '--uid=portero', '--gid=portero', '-p', `LoadCredential=${CREDENTIAL}`, '/usr/bin/portero', 'serve', '--config', CONF,
                '--https', '127.0.0.1:9443', '--http', '', '--sip', '']);
            await eventually(async () => await health(9443) === 200, 'the earlier process', LIMIT_MS);
            return () => systemctl('stop', 'earlier');
        },
        words: /in use/,
    },
    'a full disk': {
        config: otherData,
        cause: () => {
            disk();
            attempt(['dd', 'if=/dev/zero', `of=${OTHER}/filler`, 'bs=64k']);
            attempt(['dd', 'if=/dev/zero', `of=${OTHER}/filler2`, 'bs=1']);
            return () => inside(['rm', `${OTHER}/filler`]);
        },
        after: unmount,
        words: /No space left on device|disk is full|cannot be/,
    },
    'a disk that is read-only': {
        config: otherData,
        cause: () => {
            disk();
            inside(['mount', '-o', 'remount,ro', OTHER]);
            return () => inside(['mount', '-o', 'remount,rw', OTHER]);
        },
        after: unmount,
        words: /Read-only file system/,
    },
    "another master key than the store's": { config: CONFIG.replace(printed('conf', CREDENTIAL), `secrets { master_key = "${'1'.repeat(64)}" }\n`), cause: () => right, words: /master key/ },
    'a schema that this program cannot use': {
        cause: () => {
            inside(['sqlite3', `${DATA}/portero.db`, 'INSERT INTO schema_version (version, oldest) VALUES (9999, 9999)']);
            return () => inside(['sqlite3', `${DATA}/portero.db`, 'DELETE FROM schema_version WHERE version = 9999']);
        },
        words: /install a newer one/,
    },
    'a socket of systemd that it cannot use': {
        cause: () => {
            put('/etc/systemd/system/portero-wrong.socket', '[Socket]\nListenDatagram=127.0.0.1:9999\nFileDescriptorName=https\nService=portero.service\n');
            systemctl('daemon-reload');
            systemctl('start', 'portero-wrong.socket');
            return () => {
                systemctl('stop', 'portero-wrong.socket');
                inside(['rm', '/etc/systemd/system/portero-wrong.socket']);
                systemctl('daemon-reload');
            };
        },
        words: /socket/,
    },
    'PostgreSQL: no such database': { config: stored('dbname=later'), cause: () => () => sql('CREATE DATABASE later'), words: /database "later" does not exist/ },
    'PostgreSQL: a role or password that the server refuses': { config: stored('user=later'), cause: () => () => sql('CREATE ROLE later SUPERUSER LOGIN'), words: /role "later" does not exist/ },
    "PostgreSQL: a clock more than 30 s off the server's": {
        config: stored(),
        cause: (t) => {
            const library = join(temporary(), 'clock.so');
            run('cc', ['-shared', '-fPIC', '-O1', '-o', library, join(top, 'test/e2e/lib/clock.c')]);
            put('/srv/clock.so', readFileSync(library), '755');
            put('/srv/ahead', '200\n');
            dropIn(t, 'portero.service', '[Service]\nEnvironment=LD_PRELOAD=/srv/clock.so CLOCK_AHEAD=/srv/ahead\n');
            return () => put('/srv/ahead', '0\n');
        },
        words: /clock is .* ahead/,
    },
};

/** The last row: for each state of a database, what brings it about and returns what ends it. */
const WAITS = {
    'is not there': () => {
        database('stop -m fast');
        return () => database('start');
    },
    'does not answer': () => {
        const server = inside(['head', '-n', '1', '/srv/pg/data/postmaster.pid']);
        inside(['kill', '-STOP', server]);
        return () => inside(['kill', '-CONT', server]);
    },
    'has no connection left': () => {
        sql('ALTER ROLE portero NOSUPERUSER CONNECTION LIMIT 0');
        return () => sql('ALTER ROLE portero SUPERUSER CONNECTION LIMIT -1');
    },
    'is read-only': () => {
        sql('ALTER ROLE portero SET default_transaction_read_only = on');
        return () => sql('ALTER ROLE portero RESET default_transaction_read_only');
    },
    'has a name that is not found': () => {
        configure(stored().replace('host=/srv/pg', 'host=database.example'));
        return () => {
            database('stop -m fast');
            database('start', '-c listen_addresses=127.0.0.1');
            inside(['sh', '-c', 'echo 127.0.0.1 database.example >>/etc/hosts']);
        };
    },
};

describe('a start under systemd', () => {
    assert.ok(process.env.PORTERO_SYSTEMD, 'run this with test/package/systemd/boot');
    const serves = (host) => eventually(async () => state('portero') === 'active' && await health(8443, host) === 200, 'the service', LIMIT_MS);
    before(() => {
        makePackages();
        install();
        inside(['install', '-d', '-m', '700', '/etc/credstore']);
        put(`/etc/credstore/${CREDENTIAL}`, 'ab'.repeat(32), '600');
        inside(['install', '-d', '-o', 'postgres', '/srv/pg']);
        postgres(program('initdb'), '-D', '/srv/pg/data', '-A', 'trust', '-U', 'postgres');
        database('start');
        sql('CREATE ROLE portero SUPERUSER LOGIN');
    });

    /** Stopped, with this configuration, as if it had never failed. */
    const prepare = (config) => {
        attempt(['systemctl', 'stop', 'portero']);
        attempt(['systemctl', 'reset-failed', 'portero']);
        configure(config);
    };

    it('has a test for each row of the page', () => assert.deepEqual(Object.keys(PAGE).slice(0, -1), Object.keys(ROWS)));

    it('serves where nothing is wrong', async () => {
        prepare(CONFIG);
        systemctl('start', 'portero');
        await serves();
    });

    for (const [name, { config = CONFIG, cause, words, host, after = () => {} }] of Object.entries(ROWS)) {
        it(`ends with ${PAGE[name]} after ${name}, and ${PAGE[name] === 2 ? 'is not repeated' : 'is repeated until that is over'}`, async (t) => {
            t.after(after);
            prepare(config);
            const end = once(await cause(t));
            t.after(end);
            const since = inside(['date', '+%s']);
            systemctl('start', '--no-block', 'portero');
            if (PAGE[name] === 2) {
                await eventually(() => state('portero') === 'failed', 'the failure', LIMIT_MS);
                assert.equal(show('portero', 'NRestarts'), '0');
            } else {
                await eventually(() => Number(show('portero', 'NRestarts')) >= 2, 'two more starts', LIMIT_MS);
            }
            const log = inside(['journalctl', '--no-pager', '-o', 'cat', '-u', 'portero', '--since', `@${since}`]);
            assert.deepEqual(new Set(log.match(/(?<=Main process exited, code=exited, status=)\d+/g)), new Set([String(PAGE[name])]));
            assert.match(log, words);
            end();
            if (PAGE[name] === 2) systemctl('start', 'portero');
            await serves(host);
        });
    }

    for (const [name, cause] of Object.entries(WAITS)) {
        it(`waits for a database that ${name}, and then goes on`, async (t) => {
            prepare(stored());
            const end = once(cause());
            t.after(end);
            systemctl('start', '--no-block', 'portero');
            await eventually(() => pid() && /^starting: store reason="PostgreSQL: /.test(show('portero', 'StatusText')), 'the wait', LIMIT_MS);
            assert.equal(state('portero'), 'activating');
            assert.equal(await health(8443), 200);
            assert.match(attempt(['porterod', 'health']).stdout, /^not ready: starting, the store is not there yet$/m);
            const process = pid();
            end();
            await serves();
            assert.equal(pid(), process);
        });
    }

    it('waits after a power cut for the database, which starts a minute later', async () => {
        prepare(stored());
        systemctl('start', 'portero');
        await serves();
        database('stop -m immediate');
        const before = pid();
        systemctl('kill', '--kill-whom=main', '--signal=KILL', 'portero');
        await eventually(() => ![0, before].includes(pid()) && /^starting: store/.test(show('portero', 'StatusText')), 'the wait', LIMIT_MS);
        const process = pid();
        await new Promise((done) => { setTimeout(done, 60_000); });
        assert.equal(pid(), process, 'neither the watchdog nor the time of a start ended it');
        database('start');
        await serves();
        assert.equal(pid(), process);
        assert.doesNotMatch(journal('portero'), /Watchdog timeout/);
    });
});
