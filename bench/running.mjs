// An operator's view of the running service: what its metrics cost, and how long it is away while it is started again.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { compare, median, result, sized, stop, wrk } from './lib.mjs';
import { binary, portero } from './peers.mjs';

const PAIRS = sized(11, 1), LOAD_S = 3, SCRAPE_MS = 1000;
const RESTARTS = sized(5, 1), ASK_MS = 50;
const sleep = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

/** The status of a GET on a connection of its own; 0 if there was no answer. */
function get(url, headers = {}) {
  return new Promise((resolve) => {
    const ask = request(url, { headers, agent: false, timeout: 10_000 }, (answer) => {
      answer.resume().on('end', () => resolve(answer.statusCode)).on('error', () => resolve(0));
    });
    ask.on('timeout', () => ask.destroy()).on('error', () => resolve(0)).end();
  });
}

/** Does `work` while something asks for the metrics each second, as Prometheus would: its result, and how many pages came. */
async function scraped(server, work) {
  const pages = [];
  const scrape = () => pages.push(get(`http://${server.metrics}/metrics`));
  scrape();
  const timer = setInterval(scrape, SCRAPE_MS);
  const done = await work().finally(() => clearInterval(timer));
  if ((await Promise.all(pages)).some((status) => status !== 200)) throw new Error('a metrics page did not come');
  return { ...done, pages: pages.length };
}

/** Two equal stores; `read` gives a load of wrk for one. The two servers are loaded in turn, and take turns at being first. */
export async function metrics(stores, read) {
  const without = { ...(await portero(stores[0])), load: read(stores[0]) };
  const scrapes = { ...(await portero(stores[1], { env: { PORTERO_LISTEN_METRICS: '127.0.0.1:0' } })), load: read(stores[1]) };
  const load = (server) => wrk(server.http, { ...server.load, rounds: 1, seconds: LOAD_S, pid: server.pid });
  const runs = { without: [], scrapes: [] };
  const measure = {
    without: async () => runs.without.push(await load(without)),
    scrapes: async () => runs.scrapes.push(await scraped(scrapes, () => load(scrapes))),
  };
  for (let pair = 0; pair <= PAIRS; pair++) {
    for (const name of pair % 2 ? ['without', 'scrapes'] : ['scrapes', 'without']) await measure[name]();
    if (pair === 0) for (const list of Object.values(runs)) list.pop(); // it only warms up
  }
  for (const server of [without, scrapes]) await stop(server);
  compare('GET /v1/unlock/{id}, metrics read each second', runs.scrapes, runs.without, 'no listen.metrics', '>= 0.99');
  // Steadier than the rate, while other programs use the machine.
  const cpu = (list) => median(list.map((one) => one.cpuPerRequest)) * 1e6;
  const inPairs = (field) => runs.scrapes.map((one, i) => one[field] / runs.without[i][field]).sort((a, b) => a - b);
  result('the same, CPU a request', cpu(runs.scrapes), 'us', cpu(runs.without), 'no listen.metrics', '<= 1.01', median(inPairs('cpuPerRequest')));
  const rates = inPairs('rate');
  console.log(`  rates in the ${PAIRS} pairs from ${rates[0].toFixed(2)} to ${rates.at(-1).toFixed(2)}; ${runs.scrapes.reduce((sum, one) => sum + one.pages, 0)} pages`);
}

/** A visitor who hears the greeting and then presses the code: `answered` and `ended`, the exit status, are promises. */
function visitor(server, number, code) {
  const args = ['buzz', '--sip', server.sip, '--to', number, '--from', '+15550001111', '--digits', code];
  const child = spawn(binary, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'close').then(([status]) => status);
  const answered = Promise.race([once(child.stdout, 'data'), ended.then((status) => { throw new Error(`a call was not answered: ${status}`); })]);
  answered.catch(() => {});
  return { answered, ended };
}

/** Asks each ASK_MS until it is stopped, which gives the longest time, in ms, from one good answer to the next. */
function watch(url, headers) {
  const asked = [];
  let last = performance.now(), longest = 0;
  const answered = (status) => {
    if (status !== 200) return;
    const now = performance.now();
    [longest, last] = [Math.max(longest, now - last), now];
  };
  const timer = setInterval(() => asked.push(get(url, headers).then(answered)), ASK_MS);
  return async () => {
    clearInterval(timer);
    await Promise.all(asked);
    return Math.max(longest, performance.now() - last);
  };
}

/** SIGTERM, and a new process on the same ports as soon as the old one has ended, as a service manager does it: the new
 *  server, the longest time without a good answer, and how long the old one served on. `visit`: a call at that moment. */
async function again(data, server, { path, headers }, visit) {
  const at = { https: new URL(server.https).host, http: new URL(server.http).host, sip: server.sip };
  const unwatch = watch(server.http + path, headers);
  await sleep(500);
  const call = visit?.(server);
  await call?.answered;
  const signalled = performance.now();
  await stop(server);
  const served = performance.now() - signalled;
  const next = await portero(data, { at });
  await sleep(500);
  const gap = await unwatch();
  if (call && (await call.ended) !== 0) throw new Error('the call did not open its door');
  return { next, gap, served };
}

/** `grant`: a GET that answers 200. `door`: a number and its code. */
export async function restarts(data, grant, door) {
  const runs = { call: [], none: [] };
  let server = await portero(data);
  for (let i = 0; i < RESTARTS; i++) {
    for (const [name, visit] of [['none', undefined], ['call', (one) => visitor(one, door.number, door.code)]]) {
      const done = await again(data, server, grant, visit);
      runs[name].push(done);
      server = done.next;
    }
  }
  await stop(server);
  const gaps = (list) => list.map((one) => one.gap);
  result('longest time away, restart with a call at the door', Math.max(...gaps(runs.call)), 'ms', 1000, 'asked for', '<= 1');
  console.log(`  median ${median(gaps(runs.call)).toFixed(0)} ms; with no call ${median(gaps(runs.none)).toFixed(0)} ms, longest ${Math.max(...gaps(runs.none)).toFixed(0)} ms; `
    + `the old process served on for ${(median(runs.call.map((one) => one.served)) / 1000).toFixed(1)} s, with no call ${(median(runs.none.map((one) => one.served)) / 1000).toFixed(1)} s`);
}
