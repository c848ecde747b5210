// The CPU time of hostile ClientHellos, and the latency of new connections during them.
import { readdirSync, readFileSync } from 'node:fs';
import { connect as tcp } from 'node:net';
import { connect as tls } from 'node:tls';
import { median, result, sized, stop } from './lib.mjs';
import { hellos } from './hello.mjs';
import { portero } from './peers.mjs';

const ROUNDS = sized(5, 1), AT_ONCE = 8, REPLAYS = sized(160, 8);
const HOSTILE_PER_S = 16, SECONDS = sized(8, 0.3);

/** CPU milliseconds a process has used, to the nanosecond of its threads. */
function cpuMs(pid) {
  const spent = (thread) => Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]);
  return readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => sum + spent(thread), 0) / 1e6;
}

/** Sends each flight after the answer to the previous one; true if all were answered. `leave`: closes after the first. */
function replay(port, flights, leave) {
  return new Promise((resolve) => {
    let sent = 0;
    const socket = tcp(port, '127.0.0.1');
    const next = () => (leave ? socket.end(flights[sent++]) : socket.write(flights[sent++]));
    const finish = (answered) => (socket.destroy(), resolve(answered));
    socket.on('connect', next).on('error', () => finish(false)).on('end', () => finish(false));
    socket.on('data', (d) => (d[0] === 21 ? finish(false) : sent < flights.length ? next() : finish(true)));
  });
}

async function cost(server, flights, leave = false) {
  const port = Number(new URL(server.https).port);
  const before = cpuMs(server.pid);
  let answered = 0;
  const worker = async () => {
    for (let i = 0; i < REPLAYS / AT_ONCE; i++) answered += await replay(port, flights, leave);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return { ms: (cpuMs(server.pid) - before) / REPLAYS, answered };
}

/** One request on a new connection: its time in ms (Infinity: it failed), and its TLS session. */
function request(server) {
  const began = performance.now();
  return new Promise((resolve, reject) => {
    let session;
    const socket = tls({ port: Number(new URL(server.https).port), host: '127.0.0.1', rejectUnauthorized: false });
    socket.on('session', (s) => (session = s));
    socket.on('secureConnect', () => socket.write('GET /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n'));
    socket.on('error', () => resolve({ ms: Infinity })).setTimeout(10_000, () => (socket.destroy(), resolve({ ms: Infinity })));
    socket.once('data', () => (socket.destroy(), resolve({ ms: performance.now() - began, session })));
  });
}

/** A ticket of the server: the longest opaque string of a session that looks like one (its start names its key). */
async function ticketOf(server) {
  const { session } = await request(server);
  const at = session?.indexOf(Buffer.from([0xaa, 0x81])) ?? -1; // [10] OCTET STRING of a session's ASN.1
  return at < 0 ? undefined : session.subarray(at + 6);
}

/** p50 and p99 of new connections while HOSTILE_PER_S of the hellos arrive each second. */
async function newConnections(server, hostile) {
  const port = Number(new URL(server.https).port);
  let sent = 0;
  const attack = hostile && setInterval(() => replay(port, hostile[sent++ % hostile.length], false), 1000 / HOSTILE_PER_S);
  const times = [], until = performance.now() + SECONDS * 1000;
  while (performance.now() < until) {
    times.push((await request(server)).ms);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  clearInterval(attack);
  times.sort((a, b) => a - b);
  return { p50: times[times.length >> 1], p99: times[Math.floor(times.length * 0.99)] };
}

export async function handshakes(data) {
  const server = await portero(data);
  const all = hellos(await ticketOf(server));
  const costs = {}, answered = {};
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [name, flights] of [...Object.entries(all), ['X25519, gone at once', all.X25519]]) {
      const one = await cost(server, flights, name.endsWith('gone at once'));
      if (round > 0) (costs[name] ??= []).push(one.ms);
      answered[name] = one.answered > 0;
    }
  }
  for (const name of Object.keys(costs)) {
    const ratio = median(costs[name].map((ms, i) => ms / costs.X25519[i]));
    result(`CPU of a ClientHello: ${name}${answered[name] ? '' : ' (refused)'}`, median(costs[name]), 'ms', median(costs.X25519), 'X25519', '<= 2', ratio);
  }
  const calm = await newConnections(server), beside = await newConnections(server, Object.values(all));
  result(`new connection, ${HOSTILE_PER_S} hostile hellos a second, p50`, beside.p50, 'ms', calm.p50, 'without', '<= 2');
  result('its p99', beside.p99, 'ms', calm.p99, 'without', '<= 2');
  await stop(server);
}
