// Waits for PostgreSQL. A node that is frozen in a transaction holds a building's row: how long do the calls of that
// building wait, and all other requests? How long does a request, or a stop, wait for a server that hangs? And how long does
// the work of a node rest that was killed?
import { median, result, sized } from './lib.mjs';

process.env.PORTERO_E2E_ENGINE = 'postgresql';
const { Cluster } = await import('../test/e2e/lib/cluster.js');
const { eventually, grant, resident, world } = await import('../test/e2e/lib/world.js');
const { idempotencyKey, ok } = await import('../test/e2e/lib/client.js');
const { freezeInTransaction } = await import('../test/e2e/lib/frozen.js');
const { joined, secondsUntil } = await import('../test/e2e/lib/nodes.js');
const { execute, operation, owner, quote } = await import('../test/e2e/lib/buildings.js');
const { REACHABLE, Receiver } = await import('../test/e2e/lib/receiver.js');
const { sql } = await import('../test/e2e/lib/store.js');
const https = await import('node:https');

const FREEZES = sized(30, 1), CALLS = sized(12, 2), OTHERS = sized(60, 3), PAUSE_MS = 50;
const DEATHS = sized(5, 1), REST_MS = 120_000;
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
  const frozen = await joined(w);
  let errors = 0;
  const control = longest(await ask(w, other));
  for (let i = 0; i < FREEZES; i++) {
    const { call: late, thaw } = await freezeInTransaction(frozen, dsn, home);
    const calls = Array.from({ length: CALLS }, () => call(w, home));
    const others = await ask(w, other);
    const called = await Promise.all(calls);
    thaw();
    theirs.push(longest(called));
    rest.push(longest(others));
    errors += [await late, ...called, ...others].filter(({ status }) => status >= 300).length;
  }
  await frozen.close();
  result('calls of a building that a frozen node holds, longest', Math.max(...theirs), 'ms', 4000, 'asked for', '<= 1');
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

/** A node that is killed right after it has bought the unit of a new building: the seconds until another has finished it. */
async function operationRests(w) {
  const other = await joined(w);
  const person = await owner(w.client);
  const made = await quote(person);
  ok(await other.client.post('/sandbox/faults', { provider: 'billing', operation: 'set_quantity', fault: 'crash_after', count: 1 }));
  await execute({ keeper: other.client.as(person.keeper.key) }, made).catch(() => {});
  await other.daemon.exited();
  const seconds = await secondsUntil(async () => (await operation(person, made.id)).status === 'succeeded', 'the end of the operation', REST_MS);
  await other.close();
  return seconds;
}

/** A node that is killed while it sends an event: the seconds until another has sent it. */
async function deliveryRests(w, dsn, person) {
  let hold = true;
  const receiver = await Receiver.start((request, response) => hold || response.writeHead(200).end());
  const endpoint = ok(await person.client.post('/v1/webhooks', { url: receiver.url() }), 201);
  const other = await joined(w, { config: REACHABLE });
  w.daemon.process.kill('SIGSTOP'); // so that the other one sends it
  const { delivery_id: id } = ok(await other.client.as(person.key).post(`/v1/webhooks/${endpoint.id}/test`), 202);
  await eventually(() => receiver.requests.length > 0, 'the event');
  await other.daemon.crash();
  hold = false;
  w.daemon.process.kill('SIGCONT');
  const seconds = await secondsUntil(() => sql({ dsn }, `SELECT status FROM delivery WHERE id = '${id}';`).trim() === 'delivered', 'the delivery', REST_MS);
  await other.close();
  await receiver.close();
  return seconds;
}

async function deaths(w, dsn, home) {
  const [operations, deliveries] = [[], []];
  for (let i = 0; i < DEATHS; i++) {
    operations.push(await operationRests(w));
    deliveries.push(await deliveryRests(w, dsn, home));
  }
  result('an operation of a node that was killed rests, longest', Math.max(...operations), 's', 15, 'asked for', '<= 1');
  result('a delivery of a node that was killed rests, longest', Math.max(...deliveries), 's', 15, 'asked for', '<= 1');
  console.log(`  medians of ${DEATHS}: ${median(operations).toFixed(1)} and ${median(deliveries).toFixed(1)} s`);
}

export async function waits() {
  const cluster = new Cluster();
  const w = await world({ config: { store: { engine: 'postgresql', dsn: cluster.dsn }, ...REACHABLE } });
  w.client.agent = new https.Agent({ keepAlive: true, rejectUnauthorized: false });
  try {
    const [home, other] = [await resident(w.client), await resident(w.client)];
    for (const one of [home, other]) await grant(one, { type: 'timer', expires_in_minutes: 60 });
    await freezes(w, cluster.dsn, home, other);
    await deaths(w, cluster.dsn, home);
    await hangs(w, cluster, home, other);
  } finally {
    await w.close();
    cluster.stop();
  }
}
