// Waits for PostgreSQL. A service that is frozen in a transaction holds a building's row: how long do the calls of that
// building wait, and all other requests? And how long does a request, or a stop, wait for a server that hangs?
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { median, result } from './lib.mjs';
import { root } from './peers.mjs';

process.env.PORTERO_E2E_ENGINE = 'postgresql';
const { Cluster } = await import('../test/e2e/lib/cluster.js');
const { grant, resident, world } = await import('../test/e2e/lib/world.js');
const { idempotencyKey } = await import('../test/e2e/lib/client.js');
const https = await import('node:https');

const FREEZES = 30, CALLS = 12, OTHERS = 60, PAUSE_MS = 50;
const IDLE_S = readFileSync(`${root}/src/tbl/config.def`, 'utf8').match(/\(store, idle_timeout_s, (\d+),/)[1];
const sleep = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

async function timed(request) {
  const began = performance.now();
  const { status } = await request;
  return { status, took: performance.now() - began };
}

const list = (one) => timed(one.client.get('/v1/unlock?limit=100'));
const create = (one) => timed(one.client.post('/v1/unlock', { type: 'passcode', label: 'x', enabled: false }, { headers: { 'Idempotency-Key': idempotencyKey() } }));
const call = (w, one) => timed(w.client.post('/sandbox/calls', { to: one.number, from: '+15550001111' }));
const longest = (answers) => Math.max(...answers.map(({ took }) => took));

/** Holds the building's row until the server ends the transaction, as it does with that of a frozen service. */
async function freeze(dsn, home) {
  const child = spawn('psql', ['-X', '-q', '-A', '-t', '-d', dsn], { stdio: ['pipe', 'pipe', 'ignore'] });
  child.stdin.write(`SET idle_in_transaction_session_timeout = '${IDLE_S}s'; BEGIN; UPDATE building SET unlock_count = unlock_count WHERE id = '${home.id}'; SELECT 'held';\n`);
  await once(child.stdout, 'data');
  return async () => {
    child.stdin.end();
    await once(child, 'close');
  };
}

/** Reads, writes and calls of another account, one each 50 ms. */
async function ask(w, other) {
  const asked = [];
  for (let i = 0; i < OTHERS; i++) {
    asked.push([() => list(other), () => create(other), () => call(w, other)][i % 3]());
    await sleep(PAUSE_MS);
  }
  return Promise.all(asked);
}

async function freezes(w, dsn, home, other) {
  const [theirs, rest] = [[], []];
  let errors = 0;
  const control = longest(await ask(w, other));
  for (let i = 0; i < FREEZES; i++) {
    const end = await freeze(dsn, home.building);
    const calls = Array.from({ length: CALLS }, () => call(w, home));
    const others = await ask(w, other);
    const called = await Promise.all(calls);
    await end();
    theirs.push(longest(called));
    rest.push(longest(others));
    errors += [...called, ...others].filter(({ status }) => status >= 300).length;
  }
  result('calls of a building that a frozen service holds, longest', Math.max(...theirs), 'ms', 4000, 'asked for', '<= 1');
  result('all other requests meanwhile, longest', Math.max(...rest), 'ms', 1000, 'asked for', '<= 1');
  console.log(`  median of ${FREEZES} freezes ${median(theirs).toFixed(0)} and ${median(rest).toFixed(0)} ms; others without a freeze ${control.toFixed(0)} ms; ${errors} errors`);
}

async function hangs(w, cluster, home, other) {
  cluster.freeze();
  const answers = await Promise.all(Array.from({ length: 30 }, (_, i) => [() => list(other), () => create(home), () => call(w, other)][i % 3]()));
  result('an answer while the server hangs, longest', longest(answers), 'ms', 15_000, 'asked for', '<= 1');
  const began = performance.now();
  await w.daemon.terminate();
  result('a stop while the server hangs', performance.now() - began, 'ms', 20_000, 'asked for', '<= 1');
  cluster.thaw();
}

export async function waits() {
  const cluster = new Cluster();
  const w = await world({ config: { store: { engine: 'postgresql', dsn: cluster.dsn } } });
  w.client.agent = new https.Agent({ keepAlive: true, rejectUnauthorized: false });
  try {
    const [home, other] = [await resident(w.client), await resident(w.client)];
    for (const one of [home, other]) await grant(one, { type: 'timer', expires_in_minutes: 60 });
    await freezes(w, cluster.dsn, home, other);
    await hangs(w, cluster, home, other);
  } finally {
    await w.close();
    cluster.stop();
  }
}
