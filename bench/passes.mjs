// A decision with passes against one with passcodes, and how long a large store is locked by the migration that adds them.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { result, sized } from './lib.mjs';
import { binary, root } from './peers.mjs';

const ASKED_MS = 1000;

/** Back to the schema before passes. */
const EARLIER = `DROP TABLE pass; ALTER TABLE access_grant DROP COLUMN windows; ALTER TABLE access_grant DROP COLUMN note;`;
const KINDS = { sqlite: { int: 'INTEGER', blob: 'BLOB', clustered: 'WITHOUT ROWID' }, postgresql: { int: 'BIGINT', blob: 'BYTEA', clustered: '' } };

/** The time, in ms, for which a transaction with the migration holds its locks: with that of an empty one taken off. */
function locked(engine, run) {
  const text = readFileSync(join(root, 'src/store/sql/migrations/0048.sql'), 'utf8').replace(/\{(\w+)\}/g, (_, kind) => KINDS[engine][kind]);
  const timed = (statements) => {
    const began = process.hrtime.bigint();
    run(`BEGIN;\n${statements}\nCOMMIT;`);
    return Number(process.hrtime.bigint() - began) / 1e6;
  };
  run(EARLIER);
  const empty = timed('SELECT 1;');
  return Math.max(0, timed(text) - empty);
}

function decisions() {
  const out = execFileSync(join(root, 'build/bench_passes'), { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  for (const [, engine, ...times] of out.matchAll(/^(sqlite|postgresql) (.+) (.+) (.+) (.+)$/gm)) {
    const [arrival, arrivalControl, code, codeControl] = times.map(Number);
    result(`an arrival, 500 passes, ${engine}`, arrival, 'us', arrivalControl, '500 passcodes', '<= 1.2');
    result(`a right code, 500 passes, ${engine}`, code, 'us', codeControl, '500 passcodes', '<= 1.2');
  }
}

/** `big`: a copy of a SQLite store with as many grants as `rows` says. */
export function passes(big, work, rows) {
  decisions();
  const sqlite = locked('sqlite', (sql) => execFileSync('sqlite3', ['-bail', join(big, 'portero.db')], { input: sql }));
  result(`adding passes to ${rows} grants, SQLite`, sqlite, 'ms', ASKED_MS, 'asked for', '<= 1');

  const cluster = join(root, 'scripts/pg-cluster');
  const dir = mkdtempSync(join(process.env.PORTERO_BENCH_DIR ?? tmpdir(), 'portero-pg-')); // open to the server's user
  const env = { ...process.env, PG_CLUSTER_FSYNC: 'off', PG_CLUSTER_OPTIONS: `-c shared_buffers=${sized('1GB', '128MB')} -c max_wal_size=8GB` };
  const dsn = execFileSync(cluster, ['start', dir, String(process.pid)], { env, encoding: 'utf8' }).trim();
  try {
    const data = join(work, 'passes'), config = join(work, 'passes.conf');
    mkdirSync(data, { mode: 0o700 });
    writeFileSync(config, `data_dir = "${data}"\nstore { engine = "postgresql" dsn = "${dsn}" }\n`);
    execFileSync(binary, ['migrate', '--config', config]);
    execFileSync(join(root, 'build/bench_plans'), ['fill', dsn, String(rows)]);
    const there = locked('postgresql', (sql) => execFileSync('psql', ['-qXd', dsn, '-v', 'ON_ERROR_STOP=1'], { input: sql }));
    result(`adding passes to ${rows} grants, PostgreSQL`, there, 'ms', ASKED_MS, 'asked for', '<= 1');
  } finally {
    execFileSync(cluster, ['stop', dir]);
  }
}
