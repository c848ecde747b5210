// The required figures of the service, each with its limit measured in the same run: bench/run [--smoke] [NAME…].
import { cpSync, existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { Agent as TlsAgent, request as tlsRequest } from 'node:https';
import { connect as tcp } from 'node:net';
import { connect as tls } from 'node:tls';
import { dirname, join } from 'node:path';
import { cpus, tmpdir } from 'node:os';
import { assets } from './assets.mjs';
import { backup, follow } from './backup.mjs';
import { command } from './command.mjs';
import { events } from './events.mjs';
import { handshakes } from './handshakes.mjs';
import { hooks } from './hooks.mjs';
import { mcp } from './mcp.mjs';
import { output } from './output.mjs';
import { passes } from './passes.mjs';
import { plans } from './plans.mjs';
import { LOAD_CORE, SERVER_CORE, SMOKE, compare, median, memoryOf, paced, result, sideBySide, sized, stop, summary, wrk } from './lib.mjs';
import { binary, constant, fastify, nginx, portero, root } from './peers.mjs';
import { postgresql } from './postgresql.mjs';
import { metrics, restarts } from './running.mjs';
import { searches } from './searches.mjs';
import { ACCOUNTS, seed } from './seed.mjs';

const read = join(root, 'bench/load/read.lua'), create = join(root, 'bench/load/create.lua');
const KEYS = String(ACCOUNTS);
const GROWN = sized(Number(process.env.PORTERO_BENCH_GRANTS ?? 10_000_000), 2_000);
let work; // a directory for all stores of a run

function run(command, args, options = {}) {
  const done = spawnSync(command, args, { encoding: 'utf8', ...options });
  if (done.status !== 0) throw new Error(`${command} ${args[0] ?? ''}: ${done.error?.message ?? done.stderr}`);
  return done.stdout;
}

async function store(name, grants, accounts = ACCOUNTS) {
  const dir = join(work, name);
  mkdirSync(dir, { mode: 0o700 });
  run(binary, ['migrate', '--data', dir]);
  await seed(join(dir, 'portero.db'), { accounts, grants, list: join(dir, 'keys') });
  return dir;
}

/** A copy of a store that no service has open. */
function copyOf(data, name) {
  const dir = join(work, name);
  mkdirSync(dir, { mode: 0o700 });
  for (const file of ['portero.db', 'portero.db-wal'].filter((one) => existsSync(join(data, one)))) cpSync(join(data, file), join(dir, file));
  return dir;
}

/** A GET of one grant. */
function grantOf(data) {
  const [key, , , prefix] = run('head', ['-n1', join(data, 'keys')]).trim().split(' ');
  return { path: `/v1/unlock/d${prefix}${'0'.repeat(12)}`, headers: { Authorization: `Bearer ${key}`, 'X-Forwarded-Proto': 'https' } };
}

/** An answer of the usual size: its head and its body. */
function sample(base, data) {
  const { path, headers } = grantOf(data);
  const args = ['-si', ...Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]), base + path];
  const [head, body] = run('curl', args).split('\r\n\r\n');
  return { head, body };
}

const one = (data) => ({ script: read, args: [join(data, 'keys'), 'one', KEYS] });
const list = (data) => ({ script: read, args: [join(data, 'keys'), 'list', KEYS] });

/** The HTTP engine with a constant answer as long as the service's. */
async function constantLike({ head, body }, data) {
  let server = await constant(body.length);
  const missing = head.length - sample(server.http, data).head.length;
  await stop(server);
  return constant(body.length + missing);
}

async function reads(big, small) {
  const mine = await portero(big), few = await portero(small);
  const answer = sample(mine.http, big);
  const same = await constantLike(answer, big), other = await nginx(join(work, 'nginx'), answer.body, big);
  const plain = await sideBySide({
    mine: { url: mine.http, pid: mine.pid, ...one(big) },
    few: { url: few.http, pid: few.pid, ...one(small) },
    same: { url: same.http, pid: same.pid, ...one(big) },
    nginx: { url: other.http, pid: other.pid, ...one(big) },
  }, { seconds: 2 });
  const secure = await sideBySide({
    mine: { url: mine.https, pid: mine.pid, ...one(big) },
    nginx: { url: other.https, pid: other.pid, ...one(big) },
  }, { seconds: 2 });
  const page = await wrk(mine.http, { ...list(big), pid: mine.pid, seconds: 2, rounds: 5 });
  for (const server of [mine, few, same, other]) await stop(server);

  const name = 'GET /v1/unlock/{id}, 1M grants, 10,000 keys';
  compare(name, plain.mine, plain.same, 'same engine, constant', '>= 0.6');
  compare(name, plain.mine, plain.nginx, 'nginx return 200', '>= 0.8');
  compare('GET /v1/unlock/{id} over TLS', secure.mine, secure.nginx, 'nginx return 200, TLS', '>= 0.7');
  compare('GET /v1/unlock/{id}, 1M grants against 1,000', plain.mine, plain.few, '1,000 grants', '>= 0.8');
  const us = (runs) => (median(runs.map((r) => r.cpuPerRequest)) * 1e6).toFixed(1);
  console.log(`  CPU a request: ${us(plain.mine)} us, constant ${us(plain.same)} us, nginx ${us(plain.nginx)} us; TLS ${us(secure.mine)} us, nginx ${us(secure.nginx)} us`);
  result('GET /v1/unlock, 50 grants, CPU a request', page.cpuPerRequest * 1e6, 'us', 150, 'asked for', '<= 1');
}

/** The control has a store of its own: while the service runs, no other program writes to its store. */
async function writes(big) {
  const bareStore = copyOf(big, 'bare');
  const server = await portero(big, { free: true });
  const post = (name) => wrk(server.http, { script: create, args: [join(big, 'keys'), KEYS, name], rounds: 1, seconds: 4, pid: server.pid });
  const bare = () => ({ rate: Number(run(join(root, 'build/bench_commit'), [bareStore, '32', sized('4', '1')]).match(/^rate (\d+)/m)[1]) });
  const mine = [], limit = [];
  for (const name of sized(['a', 'b', 'c', 'd', 'e'], ['a'])) {
    mine.push(await post(name));
    limit.push(bare());
  }
  await stop(server);
  compare('POST /v1/unlock, durable, 64 clients', mine, limit, 'bare SQLite, 32 rows a commit', '>= 0.5');
}

/** The time, in ms, to decide calls at doors whose keys are not used otherwise; one call each 10 ms. */
async function decide(server, count) {
  const agent = new TlsAgent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false });
  const call = (n) => new Promise((resolve, reject) => {
    const began = process.hrtime.bigint();
    const options = { agent, method: 'POST', headers: { 'Content-Type': 'application/json' } };
    const asked = tlsRequest(`${server.https}/sandbox/calls`, options, (answer) => {
      answer.resume();
      answer.on('end', () => (answer.statusCode === 200 ? resolve(Number(process.hrtime.bigint() - began) / 1e6) : reject(new Error(`a call: ${answer.statusCode}`))));
    });
    asked.on('error', reject);
    asked.end(JSON.stringify({ to: `+1999${String(ACCOUNTS - 1 - n % (ACCOUNTS / 10)).padStart(7, '0')}`, from: '+15550001111' }));
  });
  const times = [];
  for (let n = 0; n < count; n++) {
    times.push(await call(n));
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  agent.destroy();
  return times.sort((a, b) => a - b);
}

async function decisions(big) {
  const server = await portero(big, { free: true });
  const [idle, busy, rates] = [[], [], []];
  for (const name of sized(['e', 'f', 'g', 'h', 'i'], ['e'])) {
    idle.push(await decide(server, sized(250, 5)));
    const load = wrk(server.http, { script: create, args: [join(big, 'keys'), String(ACCOUNTS * 0.9), `door-${name}`], rounds: 1, seconds: 6, connections: 256 });
    await new Promise((resolve) => setTimeout(resolve, sized(500, 100)));
    busy.push(await decide(server, sized(150, 5)));
    rates.push((await load).rate);
  }
  await stop(server);
  const at = (runs, p) => median(runs.map((times) => times[Math.floor((times.length - 1) * p)]));
  result('a door call, 256 clients creating grants, p99', at(busy, 0.99), 'ms', 20, 'asked for', '<= 1');
  console.log(`  its p50 ${at(busy, 0.5).toFixed(2)} ms; with no clients p50 ${at(idle, 0.5).toFixed(2)} ms, p99 ${at(idle, 0.99).toFixed(2)} ms; ${Math.round(median(rates))} grants/s`);
}

function queue() {
  const out = run(join(root, 'build/bench_queue'), []);
  const [p50, p99, otherP50, otherP99, idleP50, idleP99, rate] = out.match(/(?<!p)\b[\d.]+/g).map(Number);
  result('an urgent write beside 256 clients, p99', p99, 'ms', 20, 'asked for', '<= 1');
  result('the same, p50', p50, 'ms', otherP50, 'not urgent', '<= 0.6');
  console.log(`  p99 if it is not urgent ${otherP99} ms; with no clients p50 ${idleP50} ms, p99 ${idleP99} ms; clients ${rate} writes/s`);
}

/** The time, in ms, that a single client waits for each of its grants. */
async function createSlowly(server, data, name, count) {
  const [key] = run('head', ['-n1', join(data, 'keys')]).split(' ');
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const body = '{"type":"timer","label":"Parcel","expires_in_minutes":60,"remaining_uses":3}';
  const times = [];
  for (let n = 0; n < count; n++) {
    const headers = { Authorization: `Bearer ${key}`, 'X-Forwarded-Proto': 'https', 'Content-Type': 'application/json', 'Idempotency-Key': `bench-slowly-${name}-${n}` };
    const began = process.hrtime.bigint();
    await new Promise((resolve, reject) => {
      const asked = request(`${server.http}/v1/unlock`, { agent, method: 'POST', headers }, (answer) => {
        answer.resume();
        answer.on('end', () => (answer.statusCode === 201 ? resolve() : reject(new Error(`a grant: ${answer.statusCode}`))));
      });
      asked.on('error', reject);
      asked.end(body);
    });
    times.push(Number(process.hrtime.bigint() - began) / 1e6);
    await new Promise((resolve) => setTimeout(resolve, 3));
  }
  agent.destroy();
  return times.sort((a, b) => a - b);
}

async function purge() {
  const OLD = sized(250_000, 20_000), ROUNDS = sized(3, 1), ASKED = sized(500, 5);
  const dir = await store('purge', 1_000);
  const sql = (text, ...options) => run('sqlite3', [...options, '-cmd', '.timeout 10000', join(dir, 'portero.db')], { input: text });
  sql(`WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ${OLD})
INSERT INTO event (account_id, id, type, created_at, data) SELECT printf('a%023x', i % ${ACCOUNTS}), printf('evt_%024x', i), 'access.denied', 0, '{}' FROM n;
INSERT INTO delivery (webhook_id, id, account_id, event_id, created_at, status, attempts, due_at)
  SELECT 'd' || substr(account_id, 2), substr(id, 5), account_id, id, 0, 'delivered', 1, 0 FROM event;
DELETE FROM job WHERE kind = 'purge';`);
  const [idle, busy] = [[], []];
  let gone = 0, seconds = 0;
  for (let i = 0; i < ROUNDS; i++) {
    // The purge begins at the start, unless its job is in the far future.
    sql("INSERT OR REPLACE INTO job (id, kind, created_at, due_at, payload) VALUES ('purge', 'purge', 0, 9e18, x'');");
    let server = await portero(dir, { free: true });
    idle.push(await createSlowly(server, dir, `idle-${i}`, ASKED));
    await stop(server);
    sql("DELETE FROM job WHERE id = 'purge';");
    const count = () => Number(sql('SELECT (SELECT count(*) FROM event) + (SELECT count(*) FROM delivery);', '-readonly')); // beside the service
    const before = count(), began = Date.now();
    server = await portero(dir, { free: true });
    busy.push(await createSlowly(server, dir, `busy-${i}`, ASKED));
    const after = count();
    if (after === 0 && !SMOKE) throw new Error('the purge ended before the measurement');
    [gone, seconds] = [gone + before - after, seconds + (Date.now() - began) / 1000];
    await stop(server);
  }
  const at = (runs, p) => median(runs.map((times) => times[Math.floor((times.length - 1) * p)]));
  result('POST while 500,000 old rows are purged, p50', at(busy, 0.5), 'ms', at(idle, 0.5), 'nothing to purge', '<= 2');
  console.log(`  its p99 ${at(busy, 0.99).toFixed(1)} ms, with nothing to purge ${at(idle, 0.99).toFixed(1)} ms; ${Math.round(gone / seconds)} rows/s go`);
}

async function beside(big) {
  const copy = copyOf(big, 'peer');
  const post = (server, name) => wrk(server.http, { script: create, args: [join(big, 'keys'), KEYS, name], rounds: 1, seconds: 6, pid: server.pid });
  const peer = await fastify(join(copy, 'portero.db'));
  const peerRead = await wrk(peer.http, { ...one(big), pid: peer.pid });
  const peerWrite = await post(peer, 'p');
  await stop(peer);
  const server = await portero(big);
  const ourRead = await wrk(server.http, { ...one(big), pid: server.pid });
  const ourWrite = await post(server, 'q');
  await stop(server);
  result('reads a second of CPU, beside Fastify', 1 / ourRead.cpuPerRequest, 'req/s', 1 / peerRead.cpuPerRequest, 'Fastify + better-sqlite3', '>= 3');
  result('durable writes a second of CPU, beside Fastify', 1 / ourWrite.cpuPerRequest, 'req/s', 1 / peerWrite.cpuPerRequest, 'Fastify + better-sqlite3', '>= 3');
  result('durable writes a second, beside Fastify', ourWrite.rate, 'req/s', peerWrite.rate, 'Fastify + better-sqlite3', '>= 3');
}

/** Opens connections that each had one answer and are idle. */
async function idle(url, key, count) {
  const { hostname, port, protocol } = new URL(url);
  const request = `GET /v1/unlock?limit=1 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\nX-Forwarded-Proto: https\r\n\r\n`;
  const open = () => new Promise((resolve, reject) => {
    const options = { host: hostname, port: Number(port), rejectUnauthorized: false };
    const socket = protocol === 'https:' ? tls(options, () => socket.write(request)) : tcp(options, () => socket.write(request));
    socket.on('error', reject).once('data', () => resolve(socket));
  });
  const sockets = [];
  while (sockets.length < count) sockets.push(...(await Promise.all(Array.from({ length: 50 }, open))));
  return sockets;
}

async function memory(big) {
  const WARM = sized(100, 50), IDLE = sized(5000, 50);
  const key = run('head', ['-n1', join(big, 'keys')]).split(' ')[0];
  for (const [name, scheme, target] of [['plain', 'http', 5 * 1024], ['TLS', 'https', 20 * 1024]]) {
    const server = await portero(big);
    const before = memoryOf(server.pid);
    if (scheme === 'http') result('resident memory, idle, 1M grants', before / 1e6, 'MB', 40, 'asked for', '<= 1');
    (await idle(server[scheme], key, WARM)).forEach((s) => s.destroy());
    const warm = memoryOf(server.pid);
    const sockets = await idle(server[scheme], key, IDLE);
    await new Promise((resolve) => setTimeout(resolve, sized(1500, 100)));
    result(`memory of an idle connection, ${name}`, (memoryOf(server.pid) - warm) / IDLE, 'bytes', target, 'asked for', '<= 1');
    sockets.forEach((s) => s.destroy());
    await new Promise((resolve) => setTimeout(resolve, sized(2500, 100)));
    const mb = (kind) => (memoryOf(server.pid, kind) / 1e6).toFixed(1);
    console.log(`  after they have gone: ${mb('RssAnon')} MB of its own, ${mb('RssFile')} MB of program and mapped database`);
    await stop(server);
  }
}

/** Ten times the grants, in ten times the buildings, against a million; the load draws from as many keys, spread over all. */
async function grants(big) {
  const grown = await store('grown', GROWN, Math.max(GROWN / 100, ACCOUNTS)), database = join(grown, 'portero.db');
  const size = (names) => Number(run('sqlite3', [database, `SELECT sum(pgsize) FROM dbstat WHERE ${names}`]));
  result(`bytes on disk for one of ${GROWN / 1e6}M grants`, size("name LIKE '%grant%'") / GROWN, 'bytes', 300, 'asked for', '<= 1');
  console.log(`  of them the table ${(size("name = 'access_grant'") / GROWN).toFixed(0)} bytes, its indexes ${(size("name LIKE 'access_grant_%'") / GROWN).toFixed(0)}`);

  const few = await portero(big), many = await portero(grown);
  for (const dir of [big, grown]) run('sh', ['-c', `cat ${dir}/portero.db > /dev/null`]); // into the page cache
  const read = await sideBySide({
    many: { url: many.http, pid: many.pid, ...one(grown) }, few: { url: few.http, pid: few.pid, ...one(big) },
  }, { seconds: 2 });
  compare(`GET /v1/unlock/{id}, ${GROWN / 1e6}M grants against 1M`, read.many, read.few, '1M grants', '>= 0.7');
  const us = (runs) => (median(runs.map((r) => r.cpuPerRequest)) * 1e6).toFixed(1);
  console.log(`  CPU a request: ${us(read.many)} us, of 1M ${us(read.few)} us`);
  for (const server of [few, many]) await stop(server);

  const keys = (dir) => run('head', [`-n${KEYS}`, join(dir, 'keys')]).trim().split('\n').map((line) => line.split(' ')[0]);
  const servers = [];
  for (const dir of [big, grown]) servers.push({ ...(await portero(dir, { free: true })), keys: keys(dir), p99: [] });
  for (let round = 0; round < sized(6, 2); round++) {
    for (const server of servers) {
      const times = await paced(server.http, { rate: 1000, seconds: 8, make: (i) => grantRequest(server.keys, `${round}-${i}`, i) });
      if (round > 0) server.p99.push(times[Math.floor(times.length * 0.99)]);
    }
  }
  for (const server of servers) await stop(server);
  const [fewer, more] = servers.map((server) => median(server.p99));
  const ratio = median(servers[1].p99.map((p99, i) => p99 / servers[0].p99[i]));
  result(`POST /v1/unlock, 1,000/s, p99, ${GROWN / 1e6}M grants`, more, 'ms', fewer, '1M grants', '<= 2', ratio);
}

/** A grant's create, as one of the clients with these keys. */
function grantRequest(keys, name, i) {
  const headers = {
    Authorization: `Bearer ${keys[(i * 7919) % keys.length]}`, 'X-Forwarded-Proto': 'https', 'Content-Type': 'application/json',
    'Idempotency-Key': `bench-paced-${process.pid}-${name}`,
  };
  return { path: '/v1/unlock', method: 'POST', headers, body: '{"type":"timer","label":"Parcel","expires_in_minutes":60,"remaining_uses":3}' };
}

async function starting(big) {
  const times = [];
  for (let i = 0; i < sized(5, 1); i++) {
    const began = process.hrtime.bigint();
    const server = await portero(big, { free: true });
    times.push(Number(process.hrtime.bigint() - began) / 1e6);
    await stop(server);
  }
  result('start to ready line, existing store', median(times), 'ms', 300, 'asked for', '<= 1');
}

function calls() {
  run('sync', []); // so that this does not wait for pages that other measurements wrote
  const out = run('taskset', ['-c', '0,1', join(root, 'build/bench_calls')]);
  const p99 = Number(out.match(/p99 ([\d.]+) ms/)[1]);
  result('last digit to release tone, 100 calls, p99', p99, 'ms', 20, 'asked for', '<= 1');
}

/** Runs a command while this process goes on. */
async function runBeside(command, args) {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let out = '';
  child.stdout.on('data', (chunk) => { out += chunk; });
  const [status] = await once(child, 'close');
  if (status !== 0) throw new Error(`${command} failed`);
  return out;
}

/** Calls to a whole service that also answers 1,000 requests a second; without them, and 200 new calls a second. */
async function doors(big) {
  const buildings = "(SELECT id FROM building WHERE virtual_number < '+19990000200')";
  run('sqlite3', [join(big, 'portero.db'), `UPDATE building SET greeting_welcome = '', greeting_granted = '' WHERE id IN ${buildings};
UPDATE access_grant SET access_code = '1234' WHERE access_code = '0000' AND building <= 100;
UPDATE access_grant SET type = 0, access_code = NULL WHERE access_code = '0001' AND building > 100 AND building <= 200;`]);
  const server = await portero(big, { env: { PORTERO_VOICE_CALLS: '2000', PORTERO_VOICE_CALLS_PER_SOURCE: '2000' } });
  const keys = readFileSync(join(big, 'keys'), 'utf8').split('\n', 10_000).filter(Boolean).map((line) => line.split(' '));
  const make = (i) => {
    const [key, , , prefix] = keys[i % keys.length];
    return { path: `/v1/unlock/d${prefix}${'0'.repeat(12)}`, headers: { Authorization: `Bearer ${key}`, 'X-Forwarded-Proto': 'https' } };
  };
  const p99 = (out, line) => Number(out.match(new RegExp(`^${line}: .*p99 ([\\d.]+) ms`, 'm'))[1]);
  const calls = () => runBeside('taskset', ['-c', '1', join(root, 'build/bench_calls'), sized('100', '2'), sized('2', '1'), server.sip]);
  const alone = await calls();
  const requests = paced(server.http, { rate: 1000, seconds: 40, make });
  const beside = await calls();
  const times = await requests;
  await stop(server);
  const line = 'last digits in a second';
  result('last digit to release tone, 100 calls, 1,000 requests/s, p99', p99(beside, line), 'ms', 20, 'asked for', '<= 1');
  console.log(`  without requests ${p99(alone, line)} ms; the requests' p99 ${times[Math.floor(times.length * 0.99)].toFixed(1)} ms`);
  const open = '200 calls a second, INVITE to tone';
  result('200 new calls a second, INVITE to release tone, p99', p99(alone, open), 'ms', 20, 'asked for', '<= 1');
  console.log(`  with 1,000 requests/s ${p99(beside, open)} ms`);
}

function greetings() {
  const out = run('taskset', ['-c', '0,1', join(root, 'build/bench_greetings')]);
  const numbers = (start) => out.match(new RegExp(`^${start}: .*`, 'm'))?.[0].match(/[\d.]+/g).map(Number);
  const [, , , , setUp] = numbers('set-up'); // as in "400 calls, p50 0.30 ms, p99 4.00 ms": 50 and 99 are numbers, too
  const [, , , , spacing] = numbers('spacing'), [, , , timer] = numbers('timer');
  result('call set-up, 400 calls that hear greetings, p99', setUp, 'ms', 20, 'asked for', '<= 1');
  result('spacing of their packets, p99', spacing, 'ms', timer, 'a bare timer', '<= 1.25');
  const [mine, its] = numbers('cpu') ?? [];
  if (mine) result('CPU of a second of a call', mine, 'us', its, 'sipp play_pcap_audio', '<= 0.5');
}

/** Figures of a whole run each; the quietest of three counts. */
function forward() {
  const runs = sized([0, 1, 2], [0]).map(() => run('taskset', ['-c', '0,1', join(root, 'build/bench_forward')]));
  const figures = runs.map((out) => ({
    cpu: Number(out.match(/^cpu: ([\d.]+)/m)[1]),
    added: Number(out.match(/^delay: p50 ([\d.]+)/m)[1]) - Number(out.match(/control p50 ([\d.]+)/)[1]),
    ring: Number(out.match(/^ring-back: .* max ([\d.]+)/m)[1]),
  }));
  const least = (name) => Math.min(...figures.map((figure) => figure[name]));
  result('100 forwarded calls, CPU of a core', least('cpu'), '%', 15, 'asked for', '<= 1');
  result('100 forwarded calls, added delay, p50', least('added'), 'ms', 5, 'asked for', '<= 1');
  result('100 forwarded calls, first ring-back, max', least('ring'), 'ms', 150, 'asked for', '<= 1');
}

/** Browsers in calls: the service's processor time for each, next to its time for the same packets without encryption. */
function webrtc() {
  const runs = sized([0, 1, 2], [0]).map(() => run('taskset', ['-c', '0,1', join(root, 'build/bench_webrtc')]));
  const figure = (out, name) => Number(out.match(new RegExp(`^${name} .*cpu_percent_a_call=([\\d.]+)`, 'm'))[1]);
  const least = (name) => Math.min(...runs.map((out) => figure(out, name)));
  result('a browser in a call (30 calls), CPU of a core', least('webrtc'), '%', 0.3, 'asked for', '<= 1');
  result('the same packets without encryption', least('control'), '%', 0.3, 'asked for', '<= 1');
}

function flood() {
  const out = run('taskset', ['-c', '0,1', join(root, 'build/bench_flood')]);
  for (const [, name, p99] of out.matchAll(/^(\d.*): p99 ([\d.]+) ms/gm))
    result(`call set-up, ${name}, p99`, Number(p99), 'ms', 500, 'asked for', '<= 1');
  const late = [...out.matchAll(/(\d+) dead, (-?\d+) uses lost$/gm)].reduce((sum, [, dead, lost]) => sum + Number(dead) + Math.abs(lost), 0);
  result('calls with a late ACK: dead, or without their use', late, '', 0, '', '<= 0');
  process.stdout.write(out.replace(/^\d.*\n/gm, ''));
}

function deliveries() {
  const out = run(join(root, 'build/bench_deliveries'), []);
  const numbers = (start) => out.match(new RegExp(`^${start}: .*`, 'm'))[0].slice(start.length).match(/[\d.]+/g).map(Number);
  const [rate, bare, rateRatio, cpu, bareCpu] = numbers('rate');
  const [hanging, without, hangingRatio] = numbers('hanging');
  const [, , , , p99] = numbers('latency'); // as in "1000 events, p50 2.06 ms, p99 7.78 ms"
  const [, waiting, many, none, doorRatio, , waitingP99, noneP99] = numbers('door'); // p50 and p99 are numbers, too
  const [, sending, , sendingP99] = numbers('door while they are sent');
  result('webhook deliveries to 45 receivers', rate, '/s', bare, 'bare libcurl multi', '>= 0.5', rateRatio);
  result('the same, at least', rate, '/s', 2000, 'asked for', '>= 1');
  result('deliveries while 5 of 50 receivers hang', hanging, '/s', without, 'without the 5', '>= 0.9', hangingRatio);
  const [waitingCpu, manyWait, noneCpu, waitingRatio, , waitingP50, noneP50] = numbers('waiting');
  result(`CPU of an event, ${manyWait} endpoints waiting`, waitingCpu, 'us', noneCpu, 'with none', '<= 1.2', waitingRatio);
  result('the same, event made to delivery received, p50', waitingP50, 'ms', noneP50, 'with none', '<= 1.2');
  result('event made to delivery received, p99', p99, 'ms', 100, 'asked for', '<= 1');
  console.log(`  CPU a delivery, store and signature included: ${cpu} us, bare libcurl multi ${bareCpu} us`);
  result(`a door call's decision, ${many} deliveries waiting, p50`, waiting, 'ms', none, 'with none', '<= 1.1', doorRatio);
  console.log(`  its p99: ${waitingP99} ms, with none ${noneP99} ms; while the deliveries are sent p50 ${sending} ms, p99 ${sendingP99} ms`);
}

/** The share of keys that are heard, and how many are heard in speech of `flite` that nobody pressed. */
function keys() {
  const wav = join(work, 'speech.wav'), raw = join(work, 'speech.raw');
  run('flite', ['-voice', 'slt', '-t', 'The parcel is for apartment four. Please leave it with the doorman.', '-o', wav]);
  run('sox', [wav, '-r', '8000', '-c', '1', '-b', '16', '-e', 'signed', raw]);
  process.stdout.write(run(join(root, 'build/bench_keys'), [raw]));
}

function spoken() {
  const speech = join(work, 'spoken'), clear = join(work, 'scores');
  const node = (...args) => run(process.execPath, args);
  node(join(root, 'bench/spoken-speech.mjs'), speech, sized('12', '1'));
  const models = ['/usr/share/pocketsphinx/test/data/tidigits/hmm', '/usr/share/pocketsphinx/model/en-us/en-us'];
  const out = openSync(clear, 'w');
  run(join(root, 'build/bench_spoken'), [...models, '0', '30', sized('15', '1')], { stdio: [openSync(join(speech, 'list')), out, 'inherit'] });
  process.stdout.write(node(join(root, 'bench/spoken.mjs'), clear));
}

/* ---- the table ---- */

const MILLION = sized(1_000_000, 2_000), FEW = sized(1_000, 2_000);
const hookLoad = (big) => (name) => ({ script: create, args: [join(big, 'keys'), KEYS, name] });

/** All measurements in their order. `files`: of this directory, that measure nothing else; a program of each `.c` is built
 *  first. `grants`: in the store that `run` gets. `modules`: the directory of npm packages that it needs. */
const BENCHES = {
  reads: { files: ['http.c'], grants: MILLION, run: async (big) => reads(big, await store('small', 1_000)) },
  writes: { files: ['commit.c'], grants: MILLION, run: writes },
  queue: { files: ['queue.c'], run: queue },
  decisions: { files: [], grants: MILLION, run: decisions },
  hooks: { files: ['hooks.mjs'], grants: MILLION, run: (big) => hooks(big, one(big), hookLoad(big)) },
  purge: { files: [], run: purge },
  beside: { files: [], grants: MILLION, run: beside, modules: 'bench/peer' },
  searches: { files: ['searches.mjs'], grants: MILLION, run: searches },
  grants: { files: [], grants: MILLION, run: grants },
  assets: { files: ['assets.mjs'], grants: FEW, run: (big) => assets(big, work) },
  backup: { files: ['backup.mjs'], grants: MILLION, run: backup },
  follow: { files: [], grants: MILLION, run: follow },
  memory: { files: [], grants: MILLION, run: memory },
  events: { files: ['events.mjs'], grants: FEW, run: (big) => events(work, big) },
  handshakes: { files: ['handshakes.mjs', 'hello.mjs'], grants: FEW, run: handshakes },
  output: { files: ['output.mjs'], grants: FEW, run: output },
  starting: { files: [], grants: MILLION, run: starting },
  metrics: { files: ['running.mjs'], run: async () => metrics([await store('metrics-off', 1_000), await store('metrics-on', 1_000)], one) },
  command: { files: ['command.mjs'], run: command },
  mcp: { files: ['mcp.mjs'], run: async () => mcp(await store('mcp', 10_000)) },
  restarts: { files: [], grants: MILLION, run: (big) => restarts(big, grantOf(big), { number: '+19990000005', code: '0005' }) },
  calls: { files: ['calls.c'], run: calls },
  doors: { files: ['calls.c'], grants: MILLION, run: doors },
  greetings: { files: ['greetings.c'], run: greetings },
  forward: { files: ['forward.c'], run: forward },
  webrtc: { files: ['webrtc.c'], run: webrtc },
  flood: { files: ['flood.c'], run: flood },
  deliveries: { files: ['deliveries.c'], run: deliveries },
  passes: { files: ['passes.c', 'passes.mjs'], grants: MILLION, run: (big) => passes(copyOf(big, 'earlier'), work, MILLION) },
  pages: { files: ['pages.mjs'], run: async () => (await import('./pages.mjs')).pages(await store('pages', 20, 2)), modules: 'test/e2e' },
  plans: { files: ['plans.c', 'plans.mjs'], run: () => plans(work, GROWN) },
  // Imported late, because it chooses the engine of the end-to-end tests.
  waits: { files: ['waits.mjs'], run: async () => (await import('./waits.mjs')).waits(), modules: 'test/e2e' },
  outages: { files: ['outages.mjs'], run: async () => (await import('./outages.mjs')).outages(), modules: 'test/e2e' },
  postgresql: { files: ['postgresql.mjs'], run: () => postgresql(work) },
  store: { files: ['store.c'], run: () => process.stdout.write(run(join(root, 'build/bench_store'), [])) },
  keys: { files: ['keys.c'], run: keys },
  spoken: { files: ['spoken.c', 'spoken.mjs', 'spoken-speech.mjs'], run: spoken },
};
const HELPERS = ['lib.mjs', 'peers.mjs', 'run.mjs', 'seed.mjs'];
const COMPILED = { 'bench/peer': 'node_modules/better-sqlite3/build/Release/better_sqlite3.node', 'test/e2e': 'node_modules/.package-lock.json' };

function checkTable() {
  const listed = [...HELPERS, ...Object.values(BENCHES).flatMap(({ files }) => files)];
  const there = readdirSync(join(root, 'bench')).filter((name) => /\.(c|mjs)$/.test(name));
  const wrong = [...there.filter((name) => !listed.includes(name)), ...listed.filter((name) => !there.includes(name))];
  if (wrong.length) throw new Error(`bench/run.mjs: not in the table, or not there: ${wrong.join(', ')}`);
}

/** Builds the service and the programs of these measurements. */
function build(names) {
  const programs = names.flatMap((name) => BENCHES[name].files).filter((file) => file.endsWith('.c')).map((file) => `build/bench_${file.slice(0, -2)}`);
  run('make', ['-f', 'build.mk', `-j${cpus().length}`, 'build/portero', 'build/porterod', ...new Set(programs)], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
}

const lacksModules = (name) => BENCHES[name].modules && !existsSync(join(root, BENCHES[name].modules, COMPILED[BENCHES[name].modules]));

/** No package runs a script when it is installed, but for better-sqlite3, which is compiled against the headers of the Node.js that runs it. */
function installModules(directory) {
  const env = { ...process.env, npm_config_nodedir: dirname(dirname(process.execPath)) };
  const npm = (...args) => run(join(root, 'scripts/npm'), [...args, '--prefix', join(root, directory)], { env, stdio: ['ignore', 'ignore', 'inherit'] });
  npm('ci', '--no-audit', '--no-fund', '--ignore-scripts');
  if (directory === 'bench/peer') npm('rebuild', 'better-sqlite3');
}

async function measure(names) {
  work = mkdtempSync(join(process.env.PORTERO_BENCH_DIR ?? tmpdir(), 'portero-bench-'));
  try {
    const cpuName = run('sh', ['-c', 'grep -m1 "model name" /proc/cpuinfo | cut -d: -f2']).trim();
    console.log(`${new Date().toISOString().slice(0, 10)}  ${cpuName}, ${run('nproc', []).trim()} cores; server on core ${SERVER_CORE}, load on core ${LOAD_CORE}`);
    const grants = Math.max(...names.map((name) => BENCHES[name].grants ?? 0));
    const big = grants ? await store('big', grants) : null;
    for (const name of names) await BENCHES[name].run(big);
    if (!SMOKE) summary();
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/* ---- a smoke run ---- */

const SMOKE_LIMIT_MS = 180_000, SMOKE_AT_ONCE = 3; // they wait more than they compute
const SLOWEST = ['waits', 'events', 'postgresql', 'plans'];
const groups = new Set();
const end = (group) => { try { process.kill(-group, 'SIGKILL'); } catch { /* it has ended */ } };

/** Runs a measurement with tiny counts in a process group of its own: its result, and its output. */
async function smokeOne(name) {
  const began = performance.now();
  const env = { ...process.env, PORTERO_BENCH_SMOKE: '1', PG_CLUSTER_FSYNC: 'off' };
  const child = spawn(process.execPath, [join(root, 'bench/run.mjs'), name], { detached: true, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let out = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => { out += chunk; });
  groups.add(child.pid);
  let late = false;
  const timer = setTimeout(() => { late = true; end(child.pid); }, SMOKE_LIMIT_MS);
  const [status] = await once(child, 'exit');
  clearTimeout(timer);
  groups.delete(child.pid);
  end(child.pid); // processes that it left behind
  const seconds = `${((performance.now() - began) / 1000).toFixed(1)} s`;
  if (status === 0) console.log(`ok      ${name.padEnd(12)} ${seconds}`);
  else console.log(`FAILED  ${name.padEnd(12)} ${seconds}${late ? ': it did not end' : ''}\n${out}`);
  return status === 0;
}

async function smoke(names) {
  const able = names.filter((name) => !lacksModules(name));
  for (const name of names.filter(lacksModules)) console.log(`left out ${name}: it needs ${BENCHES[name].modules}/${COMPILED[BENCHES[name].modules]} (bench/run ${name} installs it)`);
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => { groups.forEach(end); process.exit(1); });
  const waiting = [...able].sort((a, b) => SLOWEST.includes(b) - SLOWEST.includes(a));
  let failed = 0;
  const worker = async () => {
    while (waiting.length) if (!(await smokeOne(waiting.shift()))) failed++;
  };
  await Promise.all(Array.from({ length: SMOKE_AT_ONCE }, worker));
  console.log(`${able.length - failed} measurements can run, ${failed} cannot, ${names.length - able.length} left out`);
  process.exitCode = failed ? 1 : 0;
}

const args = process.argv.slice(2), asked = args.filter((arg) => arg !== '--smoke');
checkTable();
const unknown = asked.filter((name) => !Object.hasOwn(BENCHES, name));
if (unknown.length) {
  console.error(`usage: bench/run [--smoke] [NAME…]; there is no ${unknown.join(', ')}; names: ${Object.keys(BENCHES).join(' ')}`);
  process.exit(2);
}
const names = Object.keys(BENCHES).filter((name) => !asked.length || asked.includes(name));
if (!SMOKE) build(names);
if (args.includes('--smoke')) {
  await smoke(names);
} else {
  for (const name of names.filter((one) => lacksModules(one) && !SMOKE)) installModules(BENCHES[name].modules);
  await measure(names);
}
