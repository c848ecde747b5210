// The write-ahead log of SQLite belongs to the service: no command copies it into the database or ends it, and deleted data
// leaves it (docs/operations.md, "The SQLite files").
// engine: sqlite, because PostgreSQL keeps its log itself
import { describe, it, after } from 'node:test';
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ok, refused } from './lib/client.js';
import { portero } from './lib/daemon.js';
import { eventually, grant, resident, useWorld } from './lib/world.js';

describe('the write-ahead log', () => {
    const w = useWorld({ config: { listen: { metrics: '127.0.0.1:0' } } });
    const { client, daemon } = w;
    const file = (name) => join(daemon.data, name);
    const hash = () => ['portero.db', 'portero.db-wal'].map((name) => createHash('sha256').update(readFileSync(file(name))).digest('hex'));
    const run = (...args) => portero([...args, '--config', daemon.configPath], { timeout: 20_000, env: { PORTERO_DATA_DIR: daemon.data } });
    const copy = join(daemon.directory, 'copy.db');
    after(() => rmSync(copy, { force: true }));

    /** Commands that open the store, and the status that they end with while the service has it. */
    const commands = [[['backup', copy], 0], [['check-store'], 0], [['check-store', copy], 0], [['check-config', '--store'], 0],
        [['migrate'], 2], [['restore', copy, '--force'], 2]];
    const leavesAlone = (args, status) => {
        const before = hash();
        const done = run(...args);
        if (status !== undefined) assert.equal(done.status, status, done.stderr);
        assert.deepEqual(hash(), before, args.join(' '));
    };

    it('belongs to an SQLite whose version the log tells at the start, with advice for one that has the bug', async () => {
        assert.match(daemon.stderr, / (?:warn sqlite version=3\.\d+\.\d+ advice="let no other program write or checkpoint|info sqlite version=3\.\d+\.\d+\n)/);
    });

    // STORE-1
    it('is left alone by every command while the service runs', async () => {
        const person = await resident(client);
        await grant(person, { type: 'passcode', label: 'Ana', access_code: '7350' });
        assert.ok(statSync(file('portero.db-wal')).size > 0);
        daemon.freeze(); // so that only the command can change the files
        try {
            for (const [args, status] of commands) leavesAlone(args, status);
        } finally {
            daemon.thaw();
        }
    });

    it('is left alone by copies and checks after a crash', async () => {
        const person = await resident(client);
        await grant(person, { type: 'passcode', label: 'Ana', access_code: '7350' });
        await daemon.crash();
        assert.ok(statSync(file('portero.db-wal')).size > 0);
        rmSync(copy, { force: true });
        for (const [args, status] of [...commands.slice(0, 4), [['admin', 'account', 'export', person.email], 0]]) leavesAlone(args, status);
        await daemon.start();
    });

    // STORE-2
    it('loses deleted data within a minute', async () => {
        const person = await resident(client);
        const label = 'Aurelia Hortensia Quimby';
        const has = () => ['portero.db', 'portero.db-wal'].some((name) => readFileSync(file(name)).includes(label));
        const made = await grant(person, { type: 'passcode', label, access_code: '4711' });
        assert.ok(has());
        assert.equal(ok(await person.client.patch(`/v1/unlock/${made.id}`, { label: 'x' }, { headers: { 'If-Match': `"${made.version}"` } })).label, 'x');
        await eventually(() => !has(), 'files without it');
    });

    // STORE-3
    it('has one writer: another is named in the log, /ready and the metrics', async () => {
        const page = async (path) => (await fetch(`http://${daemon.metrics.replace(/^metrics:/, '')}${path}`)).text();
        assert.equal(JSON.parse(await page('/ready')).warnings, undefined);
        const write = spawnSync('sqlite3', [file('portero.db'), '.timeout 10000', "INSERT INTO setting (name, value) VALUES ('theirs', '1');"], { encoding: 'utf8' });
        assert.equal(write.status, 0, write.stderr);
        await grant(await resident(client), { type: 'passcode', label: 'Ana', access_code: '7350' });
        assert.match(daemon.stderr, /error store_written_by_others path=/);
        const ready = JSON.parse(await page('/ready'));
        assert.deepEqual(ready, { ready: true, reasons: [], warnings: ['another program writes the database'] });
        assert.match(await page('/metrics'), /^portero_store_foreign_commits_total 1$/m);
    });

    it('refuses a write while another program has it locked, with a time to try again', async () => {
        const person = await resident(client);
        const other = spawn('sqlite3', [file('portero.db')], { stdio: ['pipe', 'pipe', 'inherit'] });
        other.stdin.write("BEGIN IMMEDIATE;\nSELECT 'locked';\n");
        assert.equal(String((await once(other.stdout, 'data'))[0]), 'locked\n');
        const same = { headers: { 'Idempotency-Key': 'while-others-lock-it' } };
        const create = () => person.client.post('/v1/unlock', { type: 'timer', label: 'Later', expires_in_minutes: 5 }, same);
        const answer = await create();
        refused(answer, 503, 'SERVICE_UNAVAILABLE');
        assert.ok(Number(answer.headers['retry-after']) > 0);
        ok(await person.client.get('/v1/unlock')); // reads go on
        other.stdin.end('ROLLBACK;\n');
        await once(other, 'exit');
        ok(await create(), 201);
    });
});
