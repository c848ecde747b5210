// The service on PostgreSQL, next to pgbench, which runs the statements of a request one after the other.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compare, cpu, format, median, result, sized, stop, wrk } from './lib.mjs';
import { binary, portero, root } from './peers.mjs';
import { ACCOUNTS, NOW } from './seed.mjs';

const GRANTS_EACH = 30;
const CLIENTS = 64, WORKERS = 16;
const ROUNDS = sized(5, 1), SECONDS = sized(4, 1), IDLE_S = sized(60, 0.1), START_S = sized(30, 0); // jobs of the start run before
const programs = '/usr/lib/postgresql';

function run(command, args, options = {}) {
  const done = spawnSync(command, args, { encoding: 'utf8', maxBuffer: 1 << 28, ...options });
  if (done.status !== 0) throw new Error(`${command}: ${done.stderr}`);
  return done.stdout;
}

const psql = (dsn, sql) => run('psql', ['-X', '-q', '-A', '-t', '-v', 'ON_ERROR_STOP=1', '-d', dsn], { input: sql });
const ID = (kind, n) => `'${kind}' || lpad(to_hex(${n}), 23, '0')`;
const KEY = (n) => `'svc_agent_' || lpad((${n})::text, 43, '0')`;
const HASH = (n) => `sha256(convert_to(${KEY(n)}, 'UTF8'))`;
const GRANT = (b, e) => `decode('d' || lpad(to_hex(${b}), 11, '0') || lpad(to_hex(${e}), 12, '0'), 'hex')`;

/** The same rows as seed.mjs makes for SQLite. */
function seed(dsn, list) {
  psql(dsn, `BEGIN;
INSERT INTO account (id, email, created_at, plan, subscription_status)
  SELECT ${ID('a', 'i')}, 'resident' || i || '@example.com', ${NOW}, 'weekly', 'active' FROM generate_series(0, ${ACCOUNTS - 1}) i;
INSERT INTO building (account_id, id, created_at, is_primary, label, virtual_number, unlock_tone)
  SELECT ${ID('a', 'i')}, ${ID('b', 'i')}, ${NOW}, 1, 'Home', '+1999' || lpad(i::text, 7, '0'), '9' FROM generate_series(0, ${ACCOUNTS - 1}) i;
INSERT INTO api_key (hash, id, account_id, kind, name, prefix, scopes, created_at, expires_at, last_used_at)
  SELECT ${HASH('i')}, ${ID('c', 'i')}, ${ID('a', 'i')}, 'agent', 'bench', left(${KEY('i')}, 16), 255, ${NOW}, NULL, 4000000000000000 FROM generate_series(0, ${ACCOUNTS - 1}) i;
INSERT INTO grant_building (id, number) SELECT ${ID('b', 'i')}, i + 1 FROM generate_series(0, ${ACCOUNTS - 1}) i;
INSERT INTO access_grant (building, id, type, label, enabled, version, created_at, ends_at, access_code, request_id, request_key, request_hash)
  SELECT b + 1, ${GRANT('b', 'e')}, 1, 'Visitor ' || e, 1, 0, ${NOW}, 9223372036854775807, lpad(e::text, 4, '0'), 'seed-' || b || '-' || e, b * 1000 + e, decode(repeat('00', 16), 'hex')
  FROM generate_series(0, ${ACCOUNTS - 1}) b, generate_series(0, ${GRANTS_EACH - 1}) e;
INSERT INTO grant_count (building, enabled) SELECT building, count(*) FROM access_grant GROUP BY building;
COMMIT; VACUUM ANALYZE; CHECKPOINT;`);
  const lines = Array.from({ length: ACCOUNTS }, (_, i) => `svc_agent_${String(i).padStart(43, '0')} b${i.toString(16).padStart(23, '0')} ${GRANTS_EACH} ${i.toString(16).padStart(11, '0')}`);
  writeFileSync(list, `${lines.join('\n')}\n`);
}

const AUTHENTICATE = `SELECT k.id, k.account_id, k.building_id, k.member_id, k.kind, k.scopes, k.expires_at, k.revoked_at, k.last_used_at, a.subscription_status,
  (SELECT b.id FROM building b WHERE b.account_id = k.account_id AND b.is_primary = 1) AS primary_id,
  (SELECT count(*) FROM building b WHERE b.account_id = k.account_id) AS buildings,
  (SELECT b.id FROM building b WHERE b.account_id = k.account_id AND b.id = k.building_id) AS building_found,
  (SELECT n.number FROM grant_building n WHERE n.id = coalesce(k.building_id, (SELECT b.id FROM building b WHERE b.account_id = k.account_id AND b.is_primary = 1))) AS building_number
  FROM api_key k LEFT JOIN account a ON a.id = k.account_id WHERE k.hash = ${HASH(':b::int')};`;
const COLUMNS = 'id, revoked, type, label, enabled, version, created_at, updated_at, starts_at, ends_at, remaining_uses, access_code, voice, days, start_minute, end_minute, timezone, request_id';

// pgbench hashes the key and makes the IDs on the server; the service sends them ready.
const READ = `\\set b random(0, ${ACCOUNTS - 1})
\\set e random(0, ${GRANTS_EACH - 1})
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
${AUTHENTICATE}
SELECT ${COLUMNS} FROM access_grant WHERE building = :b + 1 AND revoked IN (0, 1) AND id = ${GRANT(':b::int', ':e::int')};
COMMIT;
`;
const CREATE = `\\set b random(0, ${ACCOUNTS - 1})
\\set e random(1000000, 9000000000000000000)
BEGIN ISOLATION LEVEL SERIALIZABLE READ WRITE;
INSERT INTO commit_mark (worker, mark, created_at) VALUES (:client_id, :e, 0);
${AUTHENTICATE}
INSERT INTO access_grant (building, id, type, label, enabled, created_at, starts_at, ends_at, remaining_uses, access_code, voice, days, start_minute, end_minute, timezone, request_id, request_key, request_hash)
  SELECT number, decode(lpad(to_hex(:e::bigint), 24, '0'), 'hex'), 0, 'Parcel', 1, 0, 0, 1, 3, NULL, 0, NULL, NULL, NULL, NULL, 'pgbench', :e, decode(repeat('00', 16), 'hex')
  FROM grant_building WHERE id = ${ID('b', ':b::int')} ON CONFLICT DO NOTHING;
INSERT INTO grant_count (building, enabled) SELECT number, 1 FROM grant_building WHERE id = ${ID('b', ':b::int')}
  ON CONFLICT (building) DO UPDATE SET enabled = grant_count.enabled + excluded.enabled;
INSERT INTO feed_counter (building_id, seq) VALUES (${ID('b', ':b::int')}, 1) ON CONFLICT (building_id) DO UPDATE SET seq = feed_counter.seq + 1;
INSERT INTO feed (building_id, seq, at, type, data) SELECT building_id, seq, 0, 'grant.created', '{"unlock_id":"d00000000000000000000000","version":0}'
  FROM feed_counter WHERE building_id = ${ID('b', ':b::int')};
COMMIT;
`;

function pgbench(dsn, script) {
  const version = readdirSync(programs).sort((a, b) => a - b).pop();
  const args = ['-n', '-M', 'prepared', '-c', String(WORKERS), '-j', '1', '-T', String(SECONDS), '--max-tries=100', '-f', script, dsn];
  return { rate: Number(run(join(programs, version, 'bin/pgbench'), args).match(/^tps = ([\d.]+)/m)[1]) };
}

/** CPU seconds of the server's processes, ended ones included. */
function serverCpu(dir) {
  const postmaster = Number(run('head', ['-n1', join(dir, 'data/postmaster.pid')]));
  const children = run('pgrep', ['-P', String(postmaster)]).trim().split('\n').map(Number);
  const ended = readFileSync(`/proc/${postmaster}/stat`, 'utf8').split(') ')[1].split(' ');
  return [postmaster, ...children].reduce((sum, pid) => { try { return sum + cpu(pid); } catch { return sum; } }, 0) + (Number(ended[13]) + Number(ended[14])) / 100;
}

/** Gives `use` a migrated and seeded store of a server of its own: its data directory, the settings, the server's directory and its address. */
export async function onPostgresql(work, use) {
  const cluster = mkdtempSync(join(tmpdir(), 'portero-bench-pg-')); // not below `work`, which the server's user must not enter
  const options = { env: { ...process.env, PG_CLUSTER_OPTIONS: `-c shared_buffers=${sized('1GB', '128MB')} -c max_wal_size=4GB -c autovacuum_naptime=3600` } };
  try {
    const dsn = run(join(root, 'scripts/pg-cluster'), ['start', cluster, String(process.pid)], options).trim();
    const data = mkdtempSync(join(work, 'postgresql-'));
    const store = { PORTERO_STORE_ENGINE: 'postgresql', PORTERO_STORE_DSN: dsn, PORTERO_STORE_WORKERS: String(WORKERS) };
    run(binary, ['migrate', '--data', data], { env: { ...process.env, ...store } });
    seed(dsn, join(data, 'keys'));
    await use({ data, store, cluster, dsn });
  } finally {
    run(join(root, 'scripts/pg-cluster'), ['stop', cluster]);
    rmSync(cluster, { recursive: true, force: true });
  }
}

export const postgresql = (work) => onPostgresql(work, measure);

async function measure({ data, store, cluster, dsn }) {
  writeFileSync(join(data, 'read.sql'), READ);
  writeFileSync(join(data, 'create.sql'), CREATE);
  const server = await portero(data, { free: true, env: store });
  await new Promise((resolve) => setTimeout(resolve, START_S * 1000));
  const count = () => Number(psql(dsn, 'SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = current_database();'));
  const before = count();
  await new Promise((resolve) => setTimeout(resolve, IDLE_S * 1000));
  result('transactions a second of an idle node', (count() - before - 1) / IDLE_S, '/s', 2, 'asked for', '<= 1');
  const loads = {
    read: () => ({ script: join(root, 'bench/load/read.lua'), args: [join(data, 'keys'), 'one', String(ACCOUNTS)] }),
    create: (i) => ({ script: join(root, 'bench/load/create.lua'), args: [join(data, 'keys'), String(ACCOUNTS), `pg-${i}`] }),
  };
  for (const [load, name, target] of [['read', 'GET /v1/unlock/{id} on PostgreSQL', '>= 1.5'], ['create', 'POST /v1/unlock on PostgreSQL, durable', '>= 1']]) {
    const mine = [], limit = [], theirs = [];
    for (let i = 0; i <= ROUNDS; i++) {
      const before = serverCpu(cluster), began = Date.now();
      const one = await wrk(server.http, { ...loads[load](i), rounds: 1, seconds: SECONDS, connections: CLIENTS, pid: server.pid });
      const spent = (serverCpu(cluster) - before) / (one.rate * (Date.now() - began) / 1000);
      const other = pgbench(dsn, join(data, `${load}.sql`));
      if (i === 0) continue;
      mine.push(one);
      theirs.push(spent);
      limit.push(other);
    }
    compare(name, mine, limit, `pgbench -c${WORKERS}, the same statements in turn`, target);
    console.log(`  CPU a request: ${format(median(mine.map((r) => r.cpuPerRequest)) * 1e6)} us, and PostgreSQL ${format(median(theirs) * 1e6)} us`);
  }
  await stop(server);
}
