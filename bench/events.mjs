// Streams of events: from a grant's request to its event with thousands of readers, on the same node and on another, and memory.
import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync } from 'node:fs';
import { once } from 'node:events';
import { join } from 'node:path';
import { LOAD_CORE, SERVER_CORE, cpu, memoryOf, result, sized, stop } from './lib.mjs';
import { portero, root } from './peers.mjs';
import { onPostgresql } from './postgresql.mjs';

const STREAMS = sized(Number(process.env.PORTERO_BENCH_STREAMS ?? 10_000), 20), WARM = sized(1_000, 5);
const RATE = 200, GRANTS = sized(2_000, 10);
const SETTLE_MS = sized(2000, 100), QUIET_S = sized(20, 0.1);
const sleep = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });
const env = { PORTERO_HTTP_CONNECTIONS: '40000' };

/** A process of readers: (work, how) => its answer. */
function readers() {
  const child = spawn('taskset', ['-c', LOAD_CORE, process.execPath, '--max-old-space-size=6000', join(root, 'bench/load/streams.mjs')], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const failed = once(child, 'exit').then(([status]) => { throw new Error(`the readers ended with ${status}`); });
  failed.catch(() => {});
  const tell = async (work, how) => {
    child.send({ work, ...how });
    const [answer] = await Promise.race([once(child, 'message'), failed]);
    return answer;
  };
  return { tell, end: () => child.kill('SIGKILL') };
}

const at = (times, p) => times.sort((a, b) => a - b)[Math.floor((times.length - 1) * p)];

const sum = (servers, of) => servers.reduce((all, server) => all + of(server.pid), 0);

/** `count` readers at the servers in turn. Grants are created at the other server, if there is one. */
async function follow(name, servers, list, count) {
  const all = readers(), memory = () => sum(servers, (pid) => memoryOf(pid, 'RssAnon'));
  const [https, http] = ['https', 'http'].map((scheme) => servers.map((server) => server[scheme]));
  try {
    await all.tell('ask', { urls: http, list, count });
    await all.tell('open', { urls: https, list, count: WARM });
    await sleep(SETTLE_MS);
    const warm = memory();
    await all.tell('open', { urls: https, list, count });
    await sleep(SETTLE_MS);
    const bytes = (memory() - warm) / (count - WARM);
    const before = sum(servers, cpu);
    await sleep(QUIET_S * 1000);
    const quiet = (sum(servers, cpu) - before) / QUIET_S;
    const { events: came, answers, after } = await all.tell('create', { urls: http, rate: RATE, count: Math.min(GRANTS, count) });
    result(`a grant's request to its event, ${count} streams${name}, p99`, at(came, 0.99), 'ms', 100, 'asked for', '<= 1');
    result(`memory of a stream over TLS${name}`, bytes, 'bytes', 16 * 1024, 'asked for', '<= 1');
    console.log(`  event p50 ${at(came, 0.5).toFixed(1)} ms; after the answer p50 ${at(after, 0.5).toFixed(1)} ms, p99 ${at(after, 0.99).toFixed(1)} ms; the request's answer p50 ${at(answers, 0.5).toFixed(1)} ms, p99 ${at(answers, 0.99).toFixed(1)} ms; `
      + `CPU of ${count} quiet streams ${(quiet * 100).toFixed(1)} % of a core`);
  } finally {
    all.end();
  }
}

/** A process has half of its descriptors for connections, and three of four connections for streams. */
function mostStreams() {
  const files = Number(readFileSync('/proc/self/limits', 'utf8').match(/^Max open files\s+\d+\s+(\d+)/m)[1]);
  return Math.min(STREAMS, Math.floor((files / 2) * 0.75) - 50);
}

export async function events(work, big) {
  const count = mostStreams();
  if (count < STREAMS) console.log(`  one process: ${count} streams, because this machine allows it too few descriptors for ${STREAMS}`);
  const server = await portero(big, { env });
  await follow('', [server], join(big, 'keys'), count);
  await stop(server);
  await onPostgresql(work, async ({ data, store }) => {
    const node = (dir) => portero(dir, { free: true, env: { ...store, ...env } });
    const first = await node(data), other = mkdtempSync(join(work, 'other-'));
    cpSync(join(data, 'master.key'), join(other, 'master.key'));
    const nodes = [first, await node(other)];
    await follow(' of two nodes on PostgreSQL, created at the other', nodes, join(data, 'keys'), Math.min(STREAMS, 2 * count));
    for (const one of nodes) await stop(one);
  });
}
