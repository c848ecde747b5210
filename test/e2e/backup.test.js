// A copy of the store while clients write, and what it is good for.
import { describe, it, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, idempotencyKey, ok } from './lib/client.js';
import { binary, cleanEnvironment, engine, portero, temporaryDirectory } from './lib/daemon.js';
import { Stream } from './lib/stream.js';
import { sql } from './lib/store.js';
import { eventually, resident, useWorld } from './lib/world.js';

const SEAL_LEN = 86; // bytes of a copy's checksum, behind its last page
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

    // STORE-19
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

    // STORE-19
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

    it('makes a good copy, and removes old ones, where the store has no room to note it', () => {
        const kept = join(directory, 'noted');
        mkdirSync(kept);
        writeFileSync(join(kept, 'portero-20200101T000000Z.db'), 'x');
        const note = join(w.daemon.data, 'last_backup');
        rmSync(note);
        mkdirSync(note); // no file can take its place
        const done = backup('--directory', kept, '--keep', '1');
        assert.equal(done.status, 0, done.stderr);
        assert.match(done.stderr, /^portero: the copy is good, but `porterod admin status` will not tell of it: .*last_backup: .+\n$/);
        const names = readdirSync(kept);
        assert.equal(names.length, 1, names.join());
        assert.equal(portero(['check-store', join(kept, names[0])]).status, 0);
        rmSync(note, { recursive: true });
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

describe('restore', { skip }, () => {
    const w = useWorld();
    const directory = temporaryDirectory();
    const file = join(directory, 'copy.db');
    const key = '11'.repeat(32);
    let person;
    before(async () => {
        person = await resident(w.client);
    });
    after(() => rmSync(directory, { recursive: true, force: true }));

    const options = (data = w.daemon.data) => ['--config', w.daemon.configPath, '--data', data];
    /** The copy without its checksum, as earlier versions made them. */
    const unsealed = (name) => writeFileSync(join(directory, name), readFileSync(file).subarray(0, -SEAL_LEN));
    const restore = (...args) => portero(['restore', ...args, ...options()]);
    const create = async (label) => ok(await person.client.post('/v1/unlock', { type: 'passcode', label, enabled: false },
        { headers: { 'Idempotency-Key': idempotencyKey() } }), 201).id;
    const found = async (id) => (await person.client.get(`/v1/unlock/${id}`)).status === 200;
    const grants = (place) => Number(sql(place, 'SELECT count(*) FROM access_grant;'));

    /** Starts the daemon (again) on a data directory. */
    async function start(data = w.daemon.data) {
        w.daemon.data = data;
        w.client.close();
        await w.daemon.start();
        w.client = new Client(w.daemon);
        person.client = w.client.as(person.key);
    }

    it('gives back all that was acknowledged before the backup, in an empty directory', async () => {
        const acknowledged = [];
        let ended = false;
        const writers = Array.from({ length: 4 }, async (_, n) => {
            for (let i = 0; !ended; i++) acknowledged.push(await create(`${n}.${i}`));
        });
        await eventually(() => acknowledged.length > 100, 'writes');
        const before = [...acknowledged];
        const child = spawn(binary, ['backup', file, ...options()], { env: cleanEnvironment(), stdio: ['ignore', 'ignore', 'inherit'] });
        assert.deepEqual((await once(child, 'close'))[0], 0);
        ended = true;
        await Promise.all(writers);
        const late = await create('after the backup');
        const position = async (headers) => {
            const stream = await Stream.open(person.client, person.building.id, { headers });
            await stream.until(() => stream.last, 'a position');
            stream.cut();
            return stream;
        };
        const { last } = await position();

        complains(restore(file), 2, /in use by another portero process/);
        await w.daemon.terminate();
        const empty = join(directory, 'data');
        complains(portero(['restore', file, ...options(empty)]), 2, /master\.key: not found/);
        assert.deepEqual(readdirSync(empty).filter((name) => name !== 'portero.lock'), []);
        copyFileSync(join(w.daemon.data, 'master.key'), join(empty, 'master.key'));
        const done = portero(['restore', file, ...options(empty)]);
        assert.equal(done.status, 0, done.stderr);
        assert.deepEqual(readdirSync(empty).sort(), ['master.key', 'portero.db', 'portero.lock']);
        const old = w.daemon.data;
        await start(empty);
        for (const id of before) assert.ok(await found(id), `${id} was acknowledged before the backup, and is gone`);
        assert.ok(!await found(late));
        // A reader of events that the copy lacks is not given others under their numbers.
        for (let i = 0; i <= acknowledged.length - before.length; i++) await create('after the restore');
        assert.deepEqual((await position({ 'Last-Event-ID': last })).events.map(({ type }) => type), ['reset']);
        await w.daemon.terminate();
        await start(old);
        assert.ok(await found(late));
    });

    if (process.getuid() === 0) it('and the copy belong to the service, if root runs the commands', () => {
        const SERVICE = 65534;
        const at = join(directory, 'of-the-service');
        const [data, copies] = ['data', 'copies'].map((name) => join(at, name));
        const owner = (path) => statSync(path).uid;
        for (const path of [at, data, copies]) mkdirSync(path, { mode: 0o755 });
        for (const path of [data, copies]) chownSync(path, SERVICE, SERVICE);
        copyFileSync(join(w.daemon.data, 'master.key'), join(data, 'master.key'));
        assert.equal(portero(['backup', join(copies, 'copy.db'), '--config', w.daemon.configPath, '--data', w.daemon.data]).status, 0);
        assert.equal(owner(join(copies, 'copy.db')), SERVICE);
        const done = portero(['restore', join(copies, 'copy.db'), '--config', w.daemon.configPath, '--data', data]);
        assert.equal(done.status, 0, done.stderr);
        for (const name of ['portero.db', 'portero.lock']) assert.equal(owner(join(data, name)), SERVICE, name);
    });

    // STORE-21
    it('refuses a store that is there, another key, and files that are no good copy; then all is as before', async () => {
        const last = await create('the last');
        await w.daemon.terminate();
        const before = grants(w.daemon);
        complains(restore(file), 2, /portero\.db: already exists; with --force/);
        complains(portero(['restore', file, '--force', ...options()], { env: { PORTERO_SECRETS_MASTER_KEY: key } }), 2, /sealed with another master key/);
        complains(restore('--force', join(directory, 'absent.db')), 1, /absent\.db: No such file/);
        const damaged = join(directory, 'damaged.db');
        const bytes = readFileSync(file);
        for (const [content, pattern] of [[bytes.subarray(0, bytes.length / 2), /damaged|malformed/], ['not a database'.repeat(1000), /not a database/], ['', /not a copy of a store/]]) {
            writeFileSync(damaged, content);
            complains(restore('--force', damaged), 1, pattern);
        }
        const other = join(directory, 'other.db');
        sql({ data: directory, file: 'other.db' }, 'CREATE TABLE x (y);');
        complains(restore('--force', other), 1, /not a copy of a store/);
        unsealed('newer.db');
        sql({ data: directory, file: 'newer.db' }, 'INSERT INTO schema_version (version, oldest) VALUES (999, 999);');
        complains(restore('--force', join(directory, 'newer.db')), 2, /version 999/);
        copyFileSync(file, join(directory, 'live.db'));
        writeFileSync(join(directory, 'live.db-wal'), 'x');
        complains(restore('--force', join(directory, 'live.db')), 2, /write-ahead log next to it/);
        assert.ok(!existsSync(join(w.daemon.data, 'restoring')));
        assert.equal(grants(w.daemon), before);
        await start();
        assert.ok(await found(last));
    });

    // STORE-21
    it('keeps the store that was there aside, with what its write-ahead log had', async () => {
        const last = await create('only in the log');
        await w.daemon.crash();
        const before = grants(w.daemon);
        const done = restore('--force', file);
        assert.equal(done.status, 0, done.stderr);
        const aside = readdirSync(w.daemon.data).filter((name) => name.includes('.before-'));
        assert.equal(aside.length, 1);
        assert.equal(grants({ data: w.daemon.data, file: aside[0] }), before);
        await start();
        assert.ok(!await found(last));
    });

    it('replaces a damaged store, which does not reach the new one', async () => {
        await create('in the log');
        await w.daemon.crash();
        writeFileSync(join(w.daemon.data, 'portero.db'), 'x'.repeat(100_000));
        const done = restore('--force', file);
        assert.equal(done.status, 0, done.stderr);
        assert.match(sql(w.daemon, 'PRAGMA integrity_check;'), /^ok/);
        await start();
        assert.equal(sql(w.daemon, 'SELECT count(*) FROM access_grant;'), sql({ data: directory, file: 'copy.db' }, 'SELECT count(*) FROM access_grant;'));
    });

    // STORE-21
    it('leaves the old store or the new one when it is killed', async () => {
        const copied = grants({ data: directory, file: 'copy.db' });
        await w.daemon.terminate();
        const began = Date.now();
        const whole = restore('--force', file);
        assert.equal(whole.status, 0, whole.stderr);
        const took = Date.now() - began;
        await start();
        for (let round = 0; round < 12; round++) {
            await create('one more than the copy has');
            await w.daemon.crash();
            const before = grants(w.daemon);
            const child = spawn(binary, ['restore', '--force', file, ...options()], { env: cleanEnvironment(), stdio: 'ignore' });
            const closed = once(child, 'close');
            await new Promise((done) => { setTimeout(done, Math.random() * took * 1.2); });
            child.kill('SIGKILL');
            await closed;
            const now = grants(w.daemon);
            assert.match(sql(w.daemon, 'PRAGMA integrity_check;'), /^ok/);
            assert.ok(now === before || now === copied, `${now}, neither ${before} nor ${copied}`);
            await start();
        }
        await w.daemon.terminate();
        const last = restore('--force', file);
        assert.equal(last.status, 0, last.stderr);
        assert.equal(grants(w.daemon), copied);
    });

    const hostile = [
        ['trigger', 'CREATE TRIGGER steal AFTER INSERT ON access_grant BEGIN UPDATE setting SET value = NEW.access_code; END;', 'trigger steal'],
        ['trigger that runs at once', 'CREATE TRIGGER steal AFTER INSERT ON schema_version BEGIN DELETE FROM account; END;', 'trigger steal'],
        ['view', 'CREATE VIEW spy AS SELECT access_code FROM access_grant;', 'view spy'],
        ['view in place of a table', 'ALTER TABLE setting RENAME TO setting_of; CREATE VIEW setting AS SELECT * FROM setting_of;', '(table|view|index) \\w+'],
        ['view of the version that does not end', 'DROP TABLE schema_version; CREATE VIEW schema_version AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS version FROM n;', 'no schema version'],
        ['table', 'CREATE TABLE loot (code TEXT);', 'table loot'],
        ['column', 'ALTER TABLE account ADD COLUMN note TEXT;', 'table account'],
        ['generated column', 'ALTER TABLE account ADD COLUMN note TEXT AS (upper(email));', 'table account'],
        ['index', 'CREATE INDEX slow ON account (lower(email));', 'index slow'],
        ['index of another column', 'DROP INDEX member_email; CREATE INDEX member_email ON member (name);', 'index member_email'],
        ['lack of a trigger', 'DROP TRIGGER building_webhook_gone;', 'trigger building_webhook_gone'],
        ['escape in a name', `CREATE TABLE "loot\u001b[31m" (code TEXT);`, 'table loot[ ?]\\[31m'],
    ];
    for (const [what, change, named] of hostile) { // the service is stopped
        it(`refuses a copy with another ${what}, and runs nothing of it`, () => {
            const before = readFileSync(join(w.daemon.data, 'portero.db'));
            unsealed('hostile.db');
            sql({ data: directory, file: 'hostile.db' }, change);
            complains(restore('--force', join(directory, 'hostile.db')), 1, new RegExp(`hostile\\.db: not a copy of a store: .*${named}`));
            assert.deepEqual(readFileSync(join(w.daemon.data, 'portero.db')), before);
            assert.ok(!existsSync(join(w.daemon.data, 'restoring')));
        });
    }

    // STORE-20
    it('finds one bit that flipped in a copy, wherever it is, and so does check-store', () => {
        const bytes = readFileSync(file);
        const flipped = join(directory, 'flipped.db');
        assert.match(portero(['check-store', file]).stdout, /^checksum: good\nschema: good\nintegrity: good\n$/);
        for (let n = 0; n < 40; n++) {
            const at = n < 4 ? bytes.length - SEAL_LEN + n * 20 : Math.floor(bytes.length * n / 40) + n;
            bytes[at] ^= 1 << n % 8;
            writeFileSync(flipped, bytes);
            bytes[at] ^= 1 << n % 8;
            complains(restore('--force', flipped), 1, /damaged|not a copy of a store/);
            complains(portero(['check-store', flipped]), 1, /damaged|not a copy of a store/);
        }
        for (const length of [bytes.length - 1, bytes.length - SEAL_LEN + 1, bytes.length - SEAL_LEN - 1]) {
            writeFileSync(flipped, bytes.subarray(0, length));
            complains(restore('--force', flipped), 1, /damaged/);
        }
    });

    // STORE-20
    it('says of a copy that an earlier version made that it has no checksum', () => {
        unsealed('earlier.db');
        assert.match(portero(['check-store', join(directory, 'earlier.db')]).stdout, /^checksum: none, an earlier version made the copy\n/);
        const done = restore('--force', join(directory, 'earlier.db'));
        assert.equal(done.status, 0, done.stderr);
        assert.match(done.stdout, /earlier\.db, which has no checksum: an earlier version made it\n/);
    });

    it('takes a copy that was analysed', () => {
        unsealed('analysed.db');
        sql({ data: directory, file: 'analysed.db' }, 'ANALYZE;');
        const done = restore('--force', join(directory, 'analysed.db'));
        assert.equal(done.status, 0, done.stderr);
    });
});

if (engine === 'postgresql') describe('backup of a PostgreSQL store', () => {
    const w = useWorld();
    it('is refused, and names the tools to use', () => {
        complains(portero(['backup', '/nowhere/x.db', '--config', w.daemon.configPath, '--data', w.daemon.data]), 2, /pg_basebackup or pg_dump .*docs\/operations\.md/);
    });
});
