// A copy of the store while clients write, and what it is good for.
import { describe, it, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { idempotencyKey, ok } from './lib/client.js';
import { binary, cleanEnvironment, engine, portero, temporaryDirectory } from './lib/daemon.js';
import { sql } from './lib/store.js';
import { eventually, resident, useWorld } from './lib/world.js';

const skip = engine === 'postgresql' && 'PostgreSQL has its own tools';

function complains(done, status, pattern) {
    assert.equal(done.status, status, done.stderr);
    assert.match(done.stderr, pattern);
    assert.equal(done.stderr.trim().split('\n').length, 1, done.stderr);
}

describe('backup', { skip }, () => {
    const w = useWorld();
    const directory = temporaryDirectory();
    let person;
    before(async () => {
        person = await resident(w.client);
    });
    after(() => rmSync(directory, { recursive: true, force: true }));

    const options = () => ['--config', w.daemon.configPath, '--data', w.daemon.data];
    const backup = (...args) => portero(['backup', ...args, ...options()]);
    const create = async (label) => ok(await person.client.post('/v1/unlock', { type: 'passcode', label, enabled: false },
        { headers: { 'Idempotency-Key': idempotencyKey() } }), 201).id;
    const look = (name, text) => sql({ data: directory, file: name }, text);

    /** Clients that write until they are told to stop: {acknowledged, stop}. */
    function writing() {
        const acknowledged = [];
        let ended = false;
        const writers = Array.from({ length: 4 }, async (_, n) => {
            for (let i = 0; !ended; i++) acknowledged.push(await create(`${n}.${i}`));
        });
        return { acknowledged, stop: async () => { ended = true; await Promise.all(writers); } };
    }

    it('has all that was acknowledged before it began, and ends while clients write', async () => {
        // A store of some size, so that the copy takes many steps.
        sql(w.daemon, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) INSERT INTO event (account_id, id, type, created_at, data) SELECT 'filler', printf('evt_%024x', i), 'access.denied', 9e15, hex(randomblob(400)) FROM n;");
        const clients = writing();
        await eventually(() => clients.acknowledged.length > 100, 'writes');
        for (let round = 0; round < 3; round++) {
            const before = [...clients.acknowledged];
            const child = spawn(binary, ['backup', join(directory, `${round}.db`), ...options()], { env: cleanEnvironment(), stdio: ['ignore', 'pipe', 'inherit'] });
            const [status] = await once(child, 'close');
            assert.equal(status, 0);
            assert.ok(clients.acknowledged.length > before.length, 'the clients did not write meanwhile');
            const path = join(directory, `${round}.db`);
            const found = new Set(look(`${round}.db`, 'SELECT lower(hex(id)) FROM access_grant;').trim().split('\n'));
            for (const id of before) assert.ok(found.has(id), `${id} was acknowledged before the backup, and is not in it`);
            assert.equal(statSync(path).mode & 0o777, 0o600);
            assert.ok(!existsSync(`${path}-wal`) && !existsSync(`${path}.partial`));
        }
        await clients.stop();
        assert.match(look('0.db', 'PRAGMA integrity_check;'), /^ok/);
    });

    it('works while the service does not run, and changes nothing there', async () => {
        await w.daemon.terminate();
        try {
            const files = readdirSync(w.daemon.data);
            const done = backup(join(directory, 'stopped.db'), '--json');
            assert.equal(done.status, 0, done.stderr);
            const { bytes, master_key: key } = JSON.parse(done.stdout);
            assert.equal(bytes, statSync(join(directory, 'stopped.db')).size);
            assert.match(key, /^[0-9a-f]{32}$/);
            for (const name of readdirSync(w.daemon.data)) if (!files.includes(name)) assert.ok(/^(last_backup|portero\.db-(wal|shm))$/.test(name), name);
        } finally {
            await w.daemon.start();
        }
    });

    it('leaves no file where it fails, and overwrites none', () => {
        const path = join(directory, 'kept.db');
        writeFileSync(path, 'kept');
        complains(backup(path), 1, /kept\.db: already exists/);
        assert.equal(statSync(path).size, 4);
        complains(backup(join(directory, 'absent/x.db')), 1, /absent\/x\.db\.partial: No such file or directory/);
        complains(backup('/dev/full/x.db'), 1, /Not a directory/);
        // A limit of the file's size stands for a full disk.
        const full = portero(['backup', join(directory, 'full.db'), ...options()], { wrap: ['sh', '-c', 'trap "" XFSZ; ulimit -f 2000; exec "$@"', '-'] });
        complains(full, 1, /full\.db\.partial: /);
        assert.deepEqual(readdirSync(directory).filter((name) => name.startsWith('full')), []);
        complains(backup(), 2, /FILE or --directory/);
        complains(backup(path, '--keep', '3'), 2, /--keep needs --directory/);
    });

    it('keeps the newest of a directory, and removes what a killed one has left', async () => {
        const kept = join(directory, 'kept');
        mkdirSync(kept);
        for (const name of ['portero-20200101T000000Z.db', 'portero-20210101T000000Z.db', 'portero-20200101T000000Z.db.partial', 'other.db']) writeFileSync(join(kept, name), 'x');
        const done = backup('--directory', kept, '--keep', '2');
        assert.equal(done.status, 0, done.stderr);
        const names = readdirSync(kept).sort();
        assert.equal(names.length, 3, names.join());
        assert.equal(names[0], 'other.db');
        assert.equal(names[1], 'portero-20210101T000000Z.db');
        assert.match(names[2], /^portero-\d{8}T\d{6}Z\.db$/);
    });

    it('leaves no file under its name when it is killed, and the next one does not mind', async () => {
        const path = join(directory, 'killed.db');
        for (let round = 0; round < 10; round++) {
            const child = spawn(binary, ['backup', path, ...options()], { env: cleanEnvironment(), stdio: 'ignore' });
            const closed = once(child, 'close');
            await new Promise((done) => { setTimeout(done, round * 20); });
            child.kill('SIGKILL');
            await closed;
            if (existsSync(path)) assert.match(look('killed.db', 'PRAGMA quick_check;'), /^ok/);
            rmSync(path, { force: true });
        }
        const done = backup(path);
        assert.equal(done.status, 0, done.stderr);
        assert.ok(!existsSync(`${path}.partial`));
    });
});

describe('backup of a PostgreSQL store', { skip: engine === 'sqlite' && 'of PostgreSQL' }, () => {
    const w = useWorld();
    it('is refused, and names the tools to use', () => {
        complains(portero(['backup', '/nowhere/x.db', '--config', w.daemon.configPath, '--data', w.daemon.data]), 2, /pg_basebackup or pg_dump .*docs\/operations\.md/);
    });
});
