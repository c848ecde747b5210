// Fills an SQLite store with accounts, keys and grants for the measurements, and lists them for the load.
import { createHash } from 'node:crypto';
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { sized } from './lib.mjs';

/** Of a store for measurements, unless it is the grown one. */
export const ACCOUNTS = sized(10_000, 200);
export const hex = (kind, n) => kind + n.toString(16).padStart(23, '0');
export const NOW = 1_760_000_000_000_000;

/** `accounts` residents, each with a primary building, an active subscription and one key, and `grants` shared among them.
 * The order of the list spreads every prefix of it over the whole store. */
export async function seed(database, { accounts, grants, list }) {
  const sqlite = spawn('sqlite3', ['-batch', '-bail', database], { stdio: ['pipe', 'ignore', 'inherit'] });
  const ended = new Promise((resolve, reject) => sqlite.on('close', (code) => (code ? reject(new Error('sqlite3 failed')) : resolve())));
  const write = (text) => new Promise((resolve) => (sqlite.stdin.write(text) ? resolve() : sqlite.stdin.once('drain', resolve)));
  const each = Math.ceil(grants / accounts);
  const lines = [];
  await write(`PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA cache_size=-200000;
CREATE TEMP TABLE start (i INTEGER PRIMARY KEY, bytes BLOB); -- of the IDs of a building's grants
CREATE TEMP TABLE ending (i INTEGER PRIMARY KEY, bytes BLOB);
BEGIN;\n`);
  for (let i = 0; i < each; i++) await write(`INSERT INTO ending VALUES (${i}, X'${i.toString(16).padStart(12, '0')}');\n`);
  for (let i = 0; i < accounts; i++) {
    const account = hex('a', i), building = hex('b', i), key = `svc_agent_${String(i).padStart(43, '0')}`;
    const hash = createHash('sha256').update(key).digest('hex'), prefix = i.toString(16).padStart(11, '0');
    await write(`
INSERT INTO account (id, email, created_at, plan, subscription_status) VALUES ('${account}', 'resident${i}@example.com', ${NOW}, 'weekly', 'active');
INSERT INTO building (account_id, id, created_at, is_primary, label, virtual_number, unlock_tone)
  VALUES ('${account}', '${building}', ${NOW}, 1, 'Home', '+1999${String(i).padStart(7, '0')}', '9');
INSERT INTO api_key (hash, id, account_id, kind, name, prefix, scopes, created_at, expires_at, last_used_at)
  VALUES (x'${hash}', '${hex('c', i)}', '${account}', 'agent', 'bench', '${key.slice(0, 16)}', 255, ${NOW}, NULL, ${4e15});
INSERT INTO grant_building (id, number) VALUES ('${building}', ${i + 1});
INSERT INTO start VALUES (${i}, X'd${prefix}');
`);
    lines.push(`${key} ${building} ${Math.max(0, Math.min(each, grants - i * each))} ${prefix}`);
  }
  await write(`
INSERT INTO access_grant (building, id, type, label, enabled, version, created_at, ends_at, access_code, request_id, request_key, request_hash)
  SELECT b.i + 1, CAST(b.bytes || e.bytes AS BLOB), 1, 'Visitor ' || e.i, 1, 0, ${NOW}, 9223372036854775807, printf('%04d', e.i),
         printf('seed-request-%011x-%012x', b.i, e.i), random(), zeroblob(16)
  FROM start b CROSS JOIN ending e WHERE b.i * ${each} + e.i < ${grants};
INSERT INTO grant_count (building, enabled) SELECT building, count(*) FROM access_grant GROUP BY building;
COMMIT;
PRAGMA journal_mode=WAL;\n`);
  sqlite.stdin.end();
  await ended;
  const step = Math.ceil(accounts / 10_000), spread = [];
  for (let first = 0; first < step; first++) for (let i = first; i < accounts; i += step) spread.push(lines[i]);
  writeFileSync(list, spread.join('\n') + '\n');
}
