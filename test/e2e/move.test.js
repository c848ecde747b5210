// A SQLite store moves into a PostgreSQL database, with all that it has.
// engine: postgresql, because it is the target
import { describe, it, before } from 'node:test';
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { idempotencyKey, Client, ok } from './lib/client.js';
import { binary, cleanEnvironment, portero } from './lib/daemon.js';
import { createDatabase, sql } from './lib/store.js';
import { resident, useWorld, visit } from './lib/world.js';

describe('migrate --from sqlite --to postgresql', () => {
    const w = useWorld({ config: { store: { engine: 'sqlite', dsn: 'dbname=unused' } } });
    let person;
    let stored;
    let target;
    const from = () => `sqlite:${w.daemon.data}/portero.db`;
    const args = (dsn) => ['migrate', '--config', w.daemon.configPath, '--data', w.daemon.data, '--from', from(), '--to', `postgresql:${dsn}`];
    const grants = async () => ok(await person.client.get('/v1/unlock?limit=100')).data;
    const refused = (done, status, pattern) => {
        assert.equal(done.status, status, done.stderr);
        assert.match(done.stderr, pattern);
    };

    before(async () => {
        person = await resident(w.client);
        for (const [label, more] of [['Schlüssel 🔑', { access_code: '4711' }], ['\\N\t"quoted\\', { enabled: false }], ['x'.repeat(80), { remaining_uses: 3, access_code: '4712' }]])
            ok(await person.client.post('/v1/unlock', { type: 'passcode', label, ...more }, { headers: { 'Idempotency-Key': idempotencyKey() } }), 201);
        stored = await grants();
        target = createDatabase();
    });

    it('is refused while the service runs', () => {
        refused(portero(args(target)), 2, /in use by another portero process/);
    });

    // STORE-16
    it('refuses a database that has rows, and half an option', async () => {
        await w.daemon.terminate();
        sql(w.daemon, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30000) INSERT INTO event (account_id, id, type, created_at, data) SELECT 'filler', printf('evt_%024x', i), 'access.denied', 9e15, hex(randomblob(200)) FROM n;");
        const other = createDatabase();
        assert.equal(portero(['migrate'], { env: { PORTERO_STORE_ENGINE: 'postgresql', PORTERO_STORE_DSN: other, PORTERO_DATA_DIR: w.daemon.data } }).status, 0);
        sql({ dsn: other }, "INSERT INTO setting VALUES ('x', 'y');");
        refused(portero(args(other)), 2, /not empty: table setting has rows/);
        refused(portero(['migrate', '--config', w.daemon.configPath, '--from', from()]), 2, /--from sqlite:FILE and --to postgresql:DSN/);
    });

    // STORE-16
    it('goes on after it was killed; no service starts on the half of it', async () => {
        let halves = 0;
        for (let round = 0; round < 6; round++) {
            const child = spawn(binary, args(target), { env: cleanEnvironment(), stdio: ['ignore', 'pipe', 'ignore'] });
            const closed = once(child, 'close');
            // Killed when some tables are done: after the first lines, and a little later.
            await Promise.race([once(child.stdout, 'data'), closed]);
            await new Promise((done) => { setTimeout(done, round * 40); });
            child.kill('SIGKILL');
            const [status] = await closed;
            if (status === 0) break;
            const half = sql({ dsn: target }, "SELECT count(*) FROM pg_class WHERE relname = 'moving';").trim();
            if (half !== '1') continue;
            halves++;
            const started = portero(['serve', '--config', w.daemon.configPath, '--data', w.daemon.data],
                { env: { PORTERO_STORE_ENGINE: 'postgresql', PORTERO_STORE_DSN: target } });
            refused(started, 1, /half of a SQLite store/);
        }
        assert.ok(halves > 0, 'no run was killed half-way');
        const done = portero(args(target));
        assert.equal(done.status, 0, done.stderr);
        assert.match(done.stdout, /^event: 300\d\d rows/m);
        refused(portero(args(target)), 2, /not empty/);
    });

    // STORE-16
    it('has the same rows in every table', () => {
        const tables = sql(w.daemon, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT IN ('schema_version', 'commit_mark', 'node') AND name NOT LIKE 'sqlite%';").trim().split('\n');
        assert.ok(tables.length > 25);
        for (const table of tables) {
            const count = `SELECT count(*) FROM "${table}";`;
            assert.equal(sql({ dsn: target }, count), sql(w.daemon, count), table);
        }
        const codes = 'SELECT label, access_code, ends_at, remaining_uses, enabled FROM access_grant ORDER BY label;';
        assert.equal(sql({ dsn: target }, `SET client_encoding = 'UTF8'; ${codes}`), sql(w.daemon, codes));
    });

    it('is served by a node, and sound', async () => {
        w.daemon.config.store = { engine: 'postgresql', dsn: target };
        w.client.close();
        await w.daemon.start();
        w.client = new Client(w.daemon);
        person.client = w.client.as(person.key);
        assert.deepEqual(await grants(), stored);
        assert.equal((await visit(w.client, { to: person.number, digits: '4711' })).outcome, 'released');
        const checked = portero(['check-store', '--config', w.daemon.configPath, '--data', w.daemon.data]);
        assert.equal(checked.status, 0, checked.stdout + checked.stderr);
    });
});
