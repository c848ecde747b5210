// The engine under a daemon: a new database on PostgreSQL, and direct access to either engine for states that no
// operation of the interface can set up.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';

function run(command, args, input) {
    const done = spawnSync(command, args, { input, encoding: 'utf8', timeout: 30_000 });
    if (done.error) throw done.error;
    if (done.status !== 0) throw new Error(`${command}: ${done.stderr}`);
    return done.stdout;
}

/** A fresh database on the cluster that run.js started; its libpq connection string. The name has the file's, for lib/cover.js. */
export function createDatabase() {
    const cluster = process.env.PORTERO_E2E_DSN;
    if (!cluster) throw new Error('PORTERO_E2E_DSN is not set: run the suite with run.js --engine postgresql');
    const name = `e2e_${process.env.PORTERO_E2E_NAME.replaceAll('-', '_')}_${randomBytes(8).toString('hex')}`;
    run('psql', ['-X', '-q', '-d', cluster, '-c', `CREATE DATABASE ${name}`]);
    return `${cluster} dbname=${name}`;
}

/** Runs SQL next to the daemon, stopped or running; the rows as text, columns divided by |. {data, file}: another SQLite
 *  database. */
export function sql(daemon, text) {
    if (daemon.dsn) return run('psql', ['-X', '-q', '-A', '-t', '-v', 'ON_ERROR_STOP=1', '-d', daemon.dsn], text);
    return run('sqlite3', ['-bail', '-cmd', '.timeout 10000', join(daemon.data, daemon.file ?? 'portero.db')], text);
}

/** PostgreSQL: locks a table of the daemon for some seconds. Resolves to {unlocked}, a promise, when the lock is held. */
export async function lockTable(daemon, table, seconds) {
    const child = spawn('psql', ['-X', '-q', '-A', '-t', '-v', 'ON_ERROR_STOP=1', '-d', daemon.dsn], { stdio: ['pipe', 'pipe', 'inherit'] });
    const closed = once(child, 'close');
    child.stdin.end(`BEGIN; LOCK TABLE ${table}; SELECT 'locked'; SELECT pg_sleep(${seconds}); COMMIT;\n`);
    await once(child.stdout, 'data');
    return { unlocked: closed };
}

/** Ends the leases of the jobs and deliveries that a crashed daemon had, as time does where several share the store. */
export function endLeases(daemon) {
    sql(daemon, 'UPDATE job SET leased_until = 0; UPDATE delivery SET leased_until = 0; UPDATE delivery_lane SET due_at = 1; UPDATE building_webhook SET due_at = 1;');
}

/** PostgreSQL: shuts the daemon's database, as if it were gone, or opens it again. */
export function allowConnections(daemon, allowed) {
    const name = /dbname=(e2e_\w+)$/.exec(daemon.dsn)[1];
    run('psql', ['-X', '-q', '-d', process.env.PORTERO_E2E_DSN, '-c', `ALTER DATABASE ${name} ALLOW_CONNECTIONS ${allowed}`]);
    if (!allowed) run('psql', ['-X', '-q', '-d', process.env.PORTERO_E2E_DSN, '-c', `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`]);
}
