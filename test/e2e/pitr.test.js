// A PostgreSQL store goes back to a moment between two acknowledged writes: the drill of docs/operations.md, Backup.
// engine: postgresql, because SQLite has no archive
import { describe, it, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Client, idempotencyKey, ok } from './lib/client.js';
import { portero, root, temporaryDirectory } from './lib/daemon.js';
import { sql } from './lib/store.js';
import { Stream } from './lib/stream.js';
import { eventually, grant, resident, world } from './lib/world.js';

const [, SETTINGS] = /^```ini\n(# postgresql\.conf[^]*?)^```$/m.exec(readFileSync(join(root, 'docs/operations.md'), 'utf8'));
const [LEAP] = /UPDATE feed_counter [^`]*/.exec(readFileSync(join(root, 'docs/operations.md'), 'utf8'));
const cluster = join(root, 'scripts/pg-cluster');
// PostgreSQL does not run as root, see scripts/pg-cluster.
const asServer = process.getuid() === 0 ? ['setpriv', '--reuid=postgres', '--regid=postgres', '--init-groups'] : [];

function run(...command) {
    const done = spawnSync(command[0], command.slice(1), { cwd: '/', encoding: 'utf8', timeout: 120_000 });
    assert.equal(done.status, 0, `${command.join(' ')}: ${done.stderr}`);
    return done.stdout.trim();
}

describe('a PostgreSQL store', () => {
    const directory = temporaryDirectory();
    const programs = run(cluster, 'programs');
    const [first, second, archive] = ['first', 'second', 'archive'].map((name) => join(directory, name));
    let w;
    before(() => {
        chmodSync(directory, 0o711);
        mkdirSync(archive);
        chmodSync(archive, 0o777);
    });
    after(async () => {
        await w?.close();
        for (const dir of [first, second]) if (existsSync(dir)) run(cluster, 'stop', dir);
        rmSync(directory, { recursive: true, force: true });
    });

    it('is restored to a moment: what was acknowledged before it is there, what came later is not', async () => {
        const dsn = run(cluster, 'start', first, String(process.pid));
        const server = { dsn };
        for (const setting of SETTINGS.replaceAll('/archive/', `${archive}/`).split('\n').filter((line) => /^\w+ = /.test(line))) sql(server, `ALTER SYSTEM SET ${setting};`);
        run(cluster, 'restart', first);
        w = await world({ config: { store: { engine: 'postgresql', dsn } } });
        const person = await resident(w.client);
        const create = async (label) => ok(await person.client.post('/v1/unlock', { type: 'passcode', label, enabled: false }, { headers: { 'Idempotency-Key': idempotencyKey() } }), 201).id;
        const early = await create('before the base backup');
        // As in a copy of a cluster under Patroni; not loaded here.
        sql(server, "ALTER SYSTEM SET synchronous_standby_names = 'nobody';");
        mkdirSync(second);
        chmodSync(second, 0o777);
        run(...asServer, join(programs, 'pg_basebackup'), `--dbname=${dsn}`, `--pgdata=${second}/data`, '--checkpoint=fast');
        run(...asServer, join(programs, 'pg_verifybackup'), `${second}/data`);
        const kept = await create('before the moment');
        await new Promise((done) => { setTimeout(done, 50); });
        const moment = sql(server, 'SELECT clock_timestamp();').trim();
        await new Promise((done) => { setTimeout(done, 50); });
        const undone = await create('after the moment');
        const position = async (session, headers) => {
            const stream = await Stream.open(session.client, session.building.id, { headers });
            await stream.until(() => stream.last, 'a position');
            stream.cut();
            return stream;
        };
        const before = (await position(person)).last;
        const last = sql(server, 'SELECT pg_walfile_name(pg_switch_wal());').trim();
        await eventually(() => existsSync(join(archive, last)), 'the archived log');
        await w.daemon.terminate();
        run(cluster, 'stop', first);

        const settings = `restore_command = 'cp ${archive}/%f %p'\nrecovery_target_time = '${moment}'\nrecovery_target_action = 'promote'\n`
            + `synchronous_standby_names = ''\nprimary_slot_name = ''\narchive_command = ''\nunix_socket_directories = '${second}'\n`;
        run('sh', '-c', `printf '%s' "$1" >> "$2/data/postgresql.auto.conf"; touch "$2/data/recovery.signal"; chown --reference="$2/data" "$2/data/recovery.signal"`, '-', settings, second);
        const restored = run(cluster, 'start', second, String(process.pid));
        await eventually(() => sql({ dsn: restored }, 'SELECT pg_is_in_recovery();').trim() === 'f', 'the end of the recovery');
        sql({ dsn: restored }, LEAP);
        w.daemon.config.store = { engine: 'postgresql', dsn: restored };
        w.client.close();
        await w.daemon.start();
        w.client = new Client(w.daemon);
        const again = w.client.as(person.key);
        for (const id of [early, kept]) ok(await again.get(`/v1/unlock/${id}`));
        assert.equal((await again.get(`/v1/unlock/${undone}`)).status, 404);
        const session = { ...person, client: again };
        await grant(session, { type: 'timer', expires_in_minutes: 5 });
        await grant(session, { type: 'timer', expires_in_minutes: 5 });
        assert.deepEqual((await position(session, { 'Last-Event-ID': before })).events.map(({ type }) => type), ['reset']);
        const checked = portero(['check-store', '--config', w.daemon.configPath, '--data', w.daemon.data]);
        assert.equal(checked.status, 0, checked.stdout);
    });
});
