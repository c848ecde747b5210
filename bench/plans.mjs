// Frequent statements on PostgreSQL, in a large store against a small one.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { result, sized } from './lib.mjs';
import { binary, root } from './peers.mjs';

const SMALL = sized('10000', '1000');

/** `rows` grants and log entries in the large store. */
export function plans(work, rows) {
  const cluster = join(root, 'scripts/pg-cluster'), bench = join(root, 'build/bench_plans');
  const dir = mkdtempSync(join(process.env.PORTERO_BENCH_DIR ?? tmpdir(), 'portero-pg-')); // open to the server's user
  const env = { ...process.env, PG_CLUSTER_FSYNC: 'off', PG_CLUSTER_OPTIONS: `-c shared_buffers=${sized('1GB', '128MB')} -c max_wal_size=8GB -c autovacuum=off` };
  const server = execFileSync(cluster, ['start', dir, String(process.pid)], { env, encoding: 'utf8' }).trim();
  const store = (name, size) => {
    const data = join(work, name), config = join(work, `${name}.conf`), dsn = server.replace(/dbname=\S+/, `dbname=${name}`);
    mkdirSync(data, { mode: 0o700 });
    writeFileSync(config, `data_dir = "${data}"\nstore { engine = "postgresql" dsn = "${dsn}" }\n`);
    execFileSync('psql', ['-qd', server, '-c', `CREATE DATABASE ${name}`]);
    execFileSync(binary, ['migrate', '--config', config]);
    execFileSync(bench, ['fill', dsn, size]);
    execFileSync('psql', ['-qd', dsn, '-c', 'VACUUM']);
    return [dsn, size];
  };
  try {
    const large = store('large', String(rows)), small = store('small', SMALL);
    const out = execFileSync(bench, [...large, ...small], { encoding: 'utf8' });
    for (const line of out.trim().split('\n')) {
      const [name, , , us, few] = line.split(' ');
      result(`${name}, ${rows} grants and entries, p50`, Number(us), 'us', Number(few), `${SMALL} of each`, '<= 2');
    }
  } finally {
    execFileSync(cluster, ['stop', dir]);
  }
}
