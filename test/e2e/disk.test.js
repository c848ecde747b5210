// A store that cannot write: every write is answered with 503 in the envelope, the service stays alive and says that it
// is not ready, nothing is acknowledged that is not stored, and it goes on by itself once the store can write again.
import { describe, it, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { idempotencyKey, ok } from './lib/client.js';
import { binary, configText, engine, portero, service, temporaryDirectory } from './lib/daemon.js';
import { diskFault } from './lib/diskfault.js';
import { METRICS, ready } from './lib/metrics.js';
import { allowConnections } from './lib/store.js';
import { edit, eventually, resident, signIn, useWorld, visit, world } from './lib/world.js';

const here = dirname(fileURLToPath(import.meta.url));

/** A world whose disk, or database, can be broken and mended. */
async function breakableWorld() {
    if (engine === 'postgresql') {
        const w = await world({ config: { store: { wait_s: 1 }, ...METRICS } });
        return { ...w, faults: { 'a database that is gone': () => allowConnections(w.daemon, false) }, mend: () => allowConnections(w.daemon, true) };
    }
    const directory = temporaryDirectory();
    const disk = diskFault(directory, join(directory, 'data'));
    const w = await world({ directory, config: METRICS, env: disk.env });
    return {
        ...w,
        faults: Object.fromEntries(Object.entries({ 'a full disk': 'ENOSPC', 'a disk that went read-only': 'EROFS', 'a disk that breaks': 'EIO' })
            .map(([name, error]) => [name, () => disk.refuse(error)])),
        mend: disk.mend,
        async close() {
            await w.close();
            rmSync(directory, { recursive: true, force: true });
        },
    };
}

describe('a store that cannot write', () => {
    let w;
    let person;
    before(async () => {
        w = await breakableWorld();
        person = await resident(w.client);
    });
    after(() => w?.close());

    const create = (key, label) => person.client.post('/v1/unlock', { type: 'passcode', label, enabled: false }, { headers: { 'Idempotency-Key': key } });
    const failed = (answer) => {
        assert.equal(answer.status, 503, answer.text);
        assert.equal(answer.body.error.retryable, true);
        assert.ok(Number(answer.headers['retry-after']) >= 1);
    };
    const list = async () => ok(await person.client.get('/v1/unlock?limit=100')).data;

    const reasons = engine === 'postgresql' ? { 'a database that is gone': /^not ready: the store (failed|did not respond)/m } : {
        'a full disk': /^not ready: the store cannot be written, the disk is full$/m,
        'a disk that went read-only': /^not ready: the store cannot be written, Read-only file system$/m,
        'a disk that breaks': /^not ready: the store cannot be written, Input\/output error$/m,
    };
    for (const [name, reason] of Object.entries(reasons)) {
        // STORE-5
        it(`(${name}) refuses writes, lives, and goes on when it can`, async () => {
            const before = await list();
            const kept = ok(await create(idempotencyKey(), 'kept'), 201);
            w.faults[name]();
            const keys = Array.from({ length: 10 }, () => idempotencyKey());
            for (const answer of await Promise.all(keys.map((key) => create(key, 'refused')))) failed(answer);
            failed(await edit(person, kept, { label: 'changed' }));
            failed(await person.client.delete(`/v1/unlock/${kept.id}`));
            failed(await w.client.post('/v1/auth/otp', { email: 'someone@example.com' }));
            const call = await w.client.post('/sandbox/calls', { to: person.number, from: '+15550001111', digits: '1111' });
            assert.ok(call.status >= 500 || call.body.outcome !== 'released', call.text);
            ok(await w.client.get('/v1/health'));
            assert.equal((await ready(w.daemon)).ready, false);
            const health = portero(['health', '--data', w.daemon.data]);
            assert.equal(health.status, 1);
            assert.match(health.stdout + health.stderr, reason);
            if (engine === 'sqlite') assert.deepEqual((await list()).find((row) => row.id === kept.id), kept, 'reads go on, and show nothing that was refused');

            w.mend();
            for (const key of keys) await eventually(async () => (await create(key, 'refused')).status < 300, 'writing again');
            // Each connection to a database finds out for itself, within a quarter of a second.
            const { body: { data: rows } } = await eventually(async () => {
                const answer = await person.client.get('/v1/unlock?limit=100');
                return answer.status === 200 && answer;
            }, 'reading again');
            assert.deepEqual(rows.find((row) => row.id === kept.id), kept);
            assert.equal(rows.length, before.length + 1 + keys.length);
            await eventually(async () => (await ready(w.daemon)).ready, 'readiness again');
        });
    }

    it('becomes ready by itself, although nothing else writes', async () => {
        w.faults[Object.keys(w.faults)[0]]();
        failed(await create(idempotencyKey(), 'refused'));
        assert.equal((await ready(w.daemon)).ready, false);
        w.mend();
        await eventually(async () => (await ready(w.daemon)).ready, 'readiness');
        if (engine === 'sqlite') {
            assert.ok(await w.daemon.logged(/ error store cannot be written reason="the disk is full" /));
            assert.ok(await w.daemon.logged(/ info store can be written again\n/));
        }
        ok(await create(idempotencyKey(), 'kept'), 201);
    });

    it('has lost nothing after a restart', async () => {
        const rows = await list();
        await w.daemon.terminate();
        await w.daemon.start();
        assert.deepEqual(await list(), rows);
        assert.equal((await visit(w.client, { to: person.number })).outcome, 'forwarded');
    });
});

if (engine === 'postgresql') describe('a database server that crashes and comes back', () => {
    const directory = temporaryDirectory();
    // The server crashes, the machine does not: no fsync.
    const env = { ...process.env, PG_CLUSTER_FSYNC: 'off' };
    const pg = (verb, ...args) => {
        const done = spawnSync(join(here, '../../scripts/pg-cluster'), [verb, directory, ...args], { encoding: 'utf8', timeout: 60_000, env });
        assert.equal(done.status, 0, done.stderr);
        return done.stdout.trim();
    };
    let w;
    before(async () => {
        const dsn = pg('start', String(process.pid));
        w = await world({ config: { store: { engine: 'postgresql', dsn, workers: 32 } } });
    });
    after(async () => {
        try {
            await w?.close();
        } finally {
            pg('stop');
        }
    });

    it('loses no write that was acknowledged, and applies no repeated write twice', async () => {
        const session = await signIn(w.client);
        const acknowledged = new Map();
        let over = false;
        const write = async (writer) => {
            for (let n = 0; !over; n++) {
                const label = `${writer}.${n}`;
                const key = idempotencyKey();
                const answer = await eventually(async () => {
                    const one = await session.client.post('/v1/unlock', { type: 'passcode', label, enabled: false }, { headers: { 'Idempotency-Key': key } });
                    assert.ok(one.status < 300 || one.status >= 500, one.text);
                    return one.status < 300 && one;
                }, 'writing again', 60_000);
                acknowledged.set(answer.body.id, label);
            }
        };
        const writers = Array.from({ length: 6 }, (_, writer) => write(writer));
        for (let i = 0; i < 3; i++) {
            const had = acknowledged.size;
            await eventually(() => acknowledged.size > had + 20, 'writes');
            pg('restart');
        }
        over = true;
        await Promise.all(writers);
        const stored = new Map();
        let cursor = '';
        do {
            const page = ok(await session.client.get(`/v1/unlock?limit=100${cursor && `&cursor=${cursor}`}`));
            for (const row of page.data) stored.set(row.id, row.label);
            cursor = page.pagination.cursor;
        } while (cursor);
        assert.deepEqual([...stored].sort(), [...acknowledged].sort());
    });

    // Most connections are idle meanwhile, and find out only when they are needed.
    it('makes no request fail once it is there', async () => {
        const session = await signIn(w.client);
        for (let round = 0; round < 8; round++) {
            pg('restart');
            const answers = await Promise.all(Array.from({ length: 40 }, () => session.client.get('/v1/unlock?limit=100')));
            for (const answer of answers) ok(answer);
        }
    });
});

if (engine === 'sqlite') describe('a start on a full disk', () => {
    const directory = temporaryDirectory();
    const data = join(directory, 'data');
    let mount; // a process in a namespace where the data directory is a file system of its own
    let inside;
    let w;
    before(async () => {
        mkdirSync(data, { mode: 0o700 });
        mount = spawn('unshare', ['--user', '--map-root-user', '--mount', 'sh', '-euc', 'mount -t tmpfs -o size=32m,mode=700 tmpfs "$0"; echo mounted; exec sleep 600', data], { stdio: ['ignore', 'pipe', 'inherit'] });
        await once(mount.stdout, 'data');
        const enter = ['nsenter', '--target', String(mount.pid), '--user', '--mount', '--preserve-credentials'];
        inside = (script) => spawnSync(enter[0], [...enter.slice(1), 'sh', '-uc', script, data], { encoding: 'utf8' });
        w = await world({ directory, config: METRICS, wrap: enter });
    });
    after(async () => {
        await w?.close();
        mount?.kill('SIGKILL');
        rmSync(directory, { recursive: true, force: true });
    });

    // dd ends with an error when there is no room left, even for a smaller block.
    const fill = () => inside('for i in 1 2 3; do dd if=/dev/zero of="$0/fill$(ls "$0" | wc -l)" bs=4k; done');
    const empty = () => inside('rm "$0"/fill*');

    it('reads and forwards', async () => {
        const person = await resident(w.client);
        const before = ok(await person.client.get('/v1/unlock')).data;
        await w.daemon.terminate();
        fill();
        await w.daemon.start();
        fill();
        assert.deepEqual(ok(await person.client.get('/v1/unlock')).data, before);
        let refused; // until then, there is room in the files
        do refused = await person.client.post('/v1/unlock', { type: 'passcode', label: 'x', enabled: false }, { headers: { 'Idempotency-Key': idempotencyKey() } });
        while (refused.status < 300);
        assert.equal(refused.status, 503, refused.text);
        assert.deepEqual((await ready(w.daemon)).reasons, ['the store cannot be written', 'the disk is full']);
        assert.equal(ok(await w.client.post('/sandbox/calls', { to: person.number, from: '+15550001111' })).outcome, 'forwarded');
        empty();
        await eventually(async () => (await ready(w.daemon)).ready, 'readiness');
    });

    it('waits for room if there is none at all, and needs no restart', async () => {
        await w.daemon.terminate();
        inside('rm -f "$0/portero.reserve"'); // as after an earlier start on the full disk
        fill();
        w.daemon.spawn();
        await w.daemon.logged(/waiting for store reason="[^"]*: the disk is full"/);
        const health = inside(`exec ${binary} health --data "$0"`);
        assert.match(health.stdout, /^not ready: starting, the disk is full, the store is not there yet$/m);
        empty();
        await w.daemon.ready();
        await eventually(async () => (await ready(w.daemon)).ready, 'readiness');
    });
});

if (engine === 'sqlite') describe('a database that is removed while the service uses it', () => {
    const w = useWorld();

    // STORE-4
    it('is named in the log, takes no write, and is whole when it is put back', async () => {
        const person = await resident(w.client);
        const create = () => person.client.post('/v1/unlock', { type: 'passcode', label: 'x', enabled: false }, { headers: { 'Idempotency-Key': idempotencyKey() } });
        const list = async () => ok(await person.client.get('/v1/unlock')).data;
        ok(await create(), 201);
        const before = await list();
        const path = join(w.daemon.data, 'portero.db');
        renameSync(path, `${path}.away`);
        assert.equal((await create()).status, 503);
        assert.ok(await w.daemon.logged(/ error store_lost path=\S+portero\.db hint=/));
        await w.daemon.terminate();
        renameSync(`${path}.away`, path);
        await w.daemon.start();
        assert.deepEqual(await list(), before);
        ok(await create(), 201);
    });
});

if (engine === 'sqlite') describe('a start on a disk that breaks at each commit', () => {
    it('reads and forwards, says so, and goes on without a restart', async () => {
        const directory = temporaryDirectory();
        const disk = diskFault(directory, join(directory, 'data'));
        const w = await world({ directory, config: METRICS, env: disk.env });
        try {
            const person = await resident(w.client);
            const list = async () => ok(await person.client.get('/v1/unlock')).data;
            const create = () => person.client.post('/v1/unlock', { type: 'passcode', label: 'x', enabled: false }, { headers: { 'Idempotency-Key': idempotencyKey() } });
            ok(await create(), 201);
            const before = await list();
            await w.daemon.terminate();
            disk.refuseSync('EIO');
            await w.daemon.start();
            assert.deepEqual(await list(), before);
            assert.equal((await create()).status, 503);
            assert.equal(ok(await w.client.post('/sandbox/calls', { to: person.number, from: '+15550001111' })).outcome, 'forwarded');
            assert.deepEqual((await ready(w.daemon)).reasons, ['the store cannot be written', 'Input/output error']);
            assert.ok(await w.daemon.logged(/ warn jobs wait: the store cannot be written reason="Input\/output error"\n/));
            disk.mend();
            assert.ok(await w.daemon.logged(/ info jobs begin: the store can be written\n/));
            await eventually(async () => (await ready(w.daemon)).ready, 'readiness');
            ok(await create(), 201);
            await resident(w.client); // whose mail is a job
            assert.equal((await visit(w.client, { to: person.number })).outcome, 'forwarded');
        } finally {
            disk.mend();
            await w.close();
            rmSync(directory, { recursive: true, force: true });
        }
    });
});

if (engine === 'sqlite') describe('a disk that fails at a sync, and then no more', () => {
    it('has its write-ahead log kept, says so once, and loses nothing', async () => {
        const directory = temporaryDirectory();
        const disk = diskFault(directory, join(directory, 'data'));
        const w = await world({ directory, env: disk.env });
        try {
            const person = await resident(w.client);
            const wal = join(w.daemon.data, 'portero.db-wal');
            const create = () => person.client.post('/v1/unlock', { type: 'passcode', label: 'x', enabled: false }, { headers: { 'Idempotency-Key': idempotencyKey() } });
            disk.refuseSync('EIO');
            await eventually(async () => (await create()).status === 503 && / error store_not_synced hint="/.test(w.daemon.stderr), 'the sync that fails');
            disk.mend();
            await eventually(async () => (await create()).status === 201, 'a write');
            for (let i = 0; i < 20; i++) ok(await create(), 201);
            const rows = ok(await person.client.get('/v1/unlock?limit=100')).data;
            await w.daemon.terminate();
            assert.ok(statSync(wal).size > 0, 'it outlives the service');
            assert.equal(w.daemon.stderr.match(/ store_not_synced /g).length, 1);
            await w.daemon.start();
            assert.deepEqual(ok(await person.client.get('/v1/unlock?limit=100')).data, rows);
        } finally {
            disk.mend();
            await w.close();
            rmSync(directory, { recursive: true, force: true });
        }
    });
});

describe('a data directory that cannot be written', () => {
    it('stops the start with one line that says so', () => {
        const directory = temporaryDirectory();
        try {
            const data = join(directory, 'data');
            mkdirSync(data, { mode: 0o500 });
            chmodSync(directory, 0o755);
            const config = join(directory, 'portero.conf');
            writeFileSync(config, configText({ data_dir: data, listen: { https: '127.0.0.1:0', http: '127.0.0.1:0', sip: '127.0.0.1:0' } }));
            // Root may write anywhere; so nobody starts it: the service's own program, which nobody may not find in root's home.
            const unprivileged = process.getuid() === 0 ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] : [];
            if (unprivileged.length) assert.equal(spawnSync('chown', ['65534', data]).status, 0);
            const done = portero(['serve', '--config', config], { wrap: unprivileged, cwd: '/', program: service });
            assert.equal(done.status, 2, done.stderr);
            assert.equal(done.stdout, '');
            const last = done.stderr.trim().split('\n').at(-1);
            assert.match(last, /^porterod: .*data/, done.stderr);
        } finally {
            rmSync(directory, { recursive: true, force: true });
        }
    });
});
