// Searches of a long log, and their effect on the reads and writes of other clients.
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { median, result, sized, stop } from './lib.mjs';
import { portero, root } from './peers.mjs';
import { hex } from './seed.mjs';

const ENTRIES = sized(1_000_000, 5_000), LABELS = 500;
const ROUNDS = sized(7, 1), SECONDS = sized(4, 0.5), ASKED = sized(300, 3);

/** A log of a million entries in the first account's building: visitors with a grant each, wrong codes and calls. */
function fill(data) {
  const building = hex('b', 0);
  const done = spawnSync('sqlite3', ['-batch', '-bail', join(data, 'portero.db')], { encoding: 'utf8', input: `
PRAGMA synchronous=OFF; PRAGMA cache_size=-200000; BEGIN;
INSERT INTO activity_kind (building_id, kind, type, unlock_type, name, name_folded, succeeded) VALUES
  ('${building}', 1, 'call', '', 'Forwarded call', 'forwarded call', 1), ('${building}', 2, 'unlock', 'passcode', 'Wrong passcode', 'wrong passcode', 0);
WITH RECURSIVE n(i) AS (SELECT 3 UNION ALL SELECT i + 1 FROM n WHERE i < ${LABELS})
INSERT INTO activity_kind (building_id, kind, type, unlock_type, name, name_folded, succeeded)
  SELECT '${building}', i, 'unlock', 'passcode', 'Visitor ' || i, 'visitor ' || i, 1 FROM n;
WITH RECURSIVE n(i) AS (SELECT ${ENTRIES} UNION ALL SELECT i - 1 FROM n WHERE i > 1),
  e(i, kind) AS (SELECT i, CASE i % 10 WHEN 0 THEN 1 WHEN 1 THEN 2 ELSE 3 + i * 7919 % ${LABELS - 2} END FROM n)
INSERT INTO activity (building_id, created_at, id, kind, unlock_id)
  SELECT '${building}', 1700000000000000 + i * 10000000, printf('e%023x', i), kind, CASE WHEN kind > 2 THEN printf('d%023x', kind) END FROM e;
COMMIT; PRAGMA wal_checkpoint(TRUNCATE);` });
  if (done.status !== 0) throw new Error(`sqlite3: ${done.stderr}`);
}

const SEARCHES = {
  'a name that nobody has': 'q=nobody', 'a rare name': 'q=visitor+499', 'most names': 'q=visitor',
  'what never was': 'type=call&succeeded=false', 'wrong codes': 'succeeded=false',
  "another's name in a grant's entries": `unlock_id=d${(7).toString(16).padStart(23, '0')}&q=visitor+8`,
  'a rare name, long ago': 'q=visitor+499&until=2024-01-01T00:00:00Z',
};

/** Clients with kept connections. `call` resolves with the time in ms from `since` to the answer. */
function clients(base, sockets) {
  const { hostname, port } = new URL(base), agent = new Agent({ keepAlive: true, maxSockets: sockets });
  const call = (key, path, { body, since = performance.now(), idempotency } = {}) => new Promise((resolve, reject) => {
    const headers = { Authorization: `Bearer ${key}`, 'X-Forwarded-Proto': 'https' };
    if (body) Object.assign(headers, { 'Content-Type': 'application/json', 'Idempotency-Key': idempotency });
    const req = request({ hostname, port, agent, path, method: body ? 'POST' : 'GET', headers }, (res) => {
      if (res.statusCode >= 300) reject(new Error(`${path}: ${res.statusCode}`));
      res.resume().on('end', () => resolve(performance.now() - since));
    });
    req.on('error', reject).end(body);
  });
  return { call, close: () => agent.destroy() };
}

/** `rate` requests a second for SECONDS, even if answers are late; their times, sorted. */
async function paced(rate, one) {
  const began = performance.now(), running = [];
  while (running.length < rate * SECONDS) {
    const due = (performance.now() - began) * rate / 1000;
    while (running.length < due && running.length < rate * SECONDS) running.push(one(running.length, began + running.length * 1000 / rate));
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  return (await Promise.all(running)).sort((a, b) => a - b);
}

const at = (times, part) => times[Math.min(times.length - 1, Math.floor(times.length * part))];

/** That many clients search without pause, in another process, until the returned function is called: searches a second. */
function search(server, key, count) {
  const child = spawn('wrk', ['-t1', `-c${count}`, `-d${SECONDS * 10}s`, '-s', join(root, 'bench/load/search.lua'), server.http, '--', key, ...Object.values(SEARCHES)],
    { stdio: ['ignore', 'pipe', 'inherit'] });
  let out = '';
  child.stdout.on('data', (d) => (out += d));
  const ended = new Promise((resolve) => child.on('close', resolve));
  return async () => {
    child.kill('SIGINT'); // wrk prints its results
    await ended;
    if (/Non-2xx|Socket errors/.test(out)) throw new Error(out);
    return Number(out.match(/Requests\/sec:\s+([\d.]+)/)[1]);
  };
}

/** The load alone, and with that many clients that search without pause; in turn, so that machine noise affects both. */
async function beside(server, key, searchers, load) {
  const alone = [], busy = [], searched = [];
  await load();
  for (let i = 0; i < ROUNDS; i++) {
    alone.push(await load());
    const searching = search(server, key, searchers);
    busy.push(await load());
    searched.push(await searching());
  }
  const p99 = (runs) => runs.map((times) => at(times, 0.99));
  const ratio = median(p99(busy).map((ms, i) => ms / p99(alone)[i]));
  const p50 = (runs) => median(runs.map((times) => at(times, 0.5))).toFixed(2);
  const detail = `p50 ${p50(busy)} ms, alone ${p50(alone)} ms; ${Math.round(median(searched))} searches a second`;
  return { alone: median(p99(alone)), busy: median(p99(busy)), ratio, detail };
}

export async function searches(big) {
  fill(big);
  const keys = readFileSync(join(big, 'keys'), 'utf8').trim().split('\n').map((line) => line.split(' '));
  const server = await portero(big, { free: true }), key = keys[0][0], c = clients(server.http, 64);
  for (const [name, query] of Object.entries(SEARCHES)) {
    const times = [];
    for (let i = 0; i < ASKED; i++) times.push(await c.call(key, `/v1/logs?${query}`));
    times.sort((a, b) => a - b);
    result(`search of 1M entries: ${name}, p99`, at(times, 0.99), 'ms', 50, 'asked for', '<= 1');
  }
  const other = (n) => keys[1 + (n * 7919) % (keys.length - 1)];
  const read = await beside(server, key, 1, () => paced(500, (n, since) => {
    const [k, , , prefix] = other(n);
    return c.call(k, `/v1/unlock/d${prefix}${'0'.repeat(12)}`, { since });
  }));
  result('GET 500/s beside a client that searches, p99', read.busy, 'ms', read.alone, 'alone, in pairs', '<= 1.5', read.ratio);
  console.log(`  ${read.detail}`);
  let posted = 0;
  const body = '{"type":"timer","label":"Parcel","expires_in_minutes":60,"remaining_uses":3}';
  let longest = 0;
  const write = await beside(server, key, 2, async () => {
    const times = await paced(1000, (n, since) => c.call(other(n)[0], '/v1/unlock', { since, body, idempotency: `bench-search-${String(posted++).padStart(12, '0')}` }));
    longest = Math.max(longest, statSync(join(big, 'portero.db-wal')).size);
    return times;
  });
  result('POST 1,000/s beside two clients that search, p99', write.busy, 'ms', write.alone, 'alone, in pairs', '<= 2', write.ratio);
  console.log(`  ${write.detail}; the WAL was ${(longest / 1e6).toFixed(0)} MB at most`);
  c.close();
  await stop(server);
}
