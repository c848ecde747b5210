// Readers of streams of events, in a process of their own, and a client that creates grants: told by messages of the parent.
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { connect } from 'node:tls';

const AT_ONCE = 50, LATE_MS = 10_000;
const BODY = JSON.stringify({ type: 'timer', label: 'Parcel', expires_in_minutes: 60, remaining_uses: 3 });
const sleep = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });
/** Of each stream: {key, building, seq, sent}. `sent`: when the request was sent whose event is to come. */
const streams = [];
let times = [];

/** Takes the events in a chunk; one of them is never in two, because the service sends it with one write of TLS. */
function take(stream, chunk) {
  const now = performance.now();
  for (const [, id] of chunk.matchAll(/^id: (\d+)\nevent: /gm)) {
    if (Number(id) !== stream.seq + 1) throw new Error(`event ${id} after ${stream.seq}`);
    stream.seq++;
    times.push(now - stream.sent);
    stream.came = now;
  }
}

function open(url, { key, building }) {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const stream = { key, building };
    const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false }, () => {
      socket.write(`GET /v1/buildings/${building}/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n\r\n`);
    });
    socket.setEncoding('utf8').on('error', reject).on('close', () => { throw new Error('a stream has ended'); }).on('data', (chunk) => {
      if (stream.seq !== undefined) return take(stream, chunk);
      const begun = chunk.match(/^id: (\d+)\n\n/m);
      if (!/^HTTP\/1.1 200 /.test(chunk) && stream.head === undefined) return reject(new Error(chunk.slice(0, 300)));
      stream.head = true;
      if (!begun) return undefined;
      stream.seq = Number(begun[1]);
      return resolve(stream);
    });
  });
}

const keysOf = (list, from, to) => readFileSync(list, 'utf8').split('\n').slice(from, to).map((line) => { const [key, building] = line.split(' '); return { key, building }; });

/** One request of each key where it will read, so that the service has all of them in its tables of keys and limits. */
async function ask({ urls, list, count }) {
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
  const one = ({ key }, i) => new Promise((resolve, reject) => {
    const options = { agent, headers: { Authorization: `Bearer ${key}`, 'X-Forwarded-Proto': 'https' } };
    request(`${urls[i % urls.length]}/v1/unlock?limit=1`, options, (answer) => answer.resume().on('end', resolve)).on('error', reject).end();
  });
  await Promise.all(keysOf(list, 0, count).map(one));
  agent.destroy();
}

/** One after the other at the services of `urls`, in turn. */
async function openAll({ urls, list, count }) {
  const keys = keysOf(list, streams.length, count);
  while (keys.length) streams.push(...(await Promise.all(keys.splice(0, AT_ONCE).map((one, i) => open(urls[i % urls.length], one)))));
}

const post = (agent, url, stream, requestKey) => new Promise((resolve, reject) => {
  stream.sent = performance.now();
  const headers = { Authorization: `Bearer ${stream.key}`, 'Content-Type': 'application/json', 'Idempotency-Key': requestKey, 'X-Forwarded-Proto': 'https' };
  const ask = request(`${url}/v1/unlock`, { agent, method: 'POST', headers }, (answer) => {
    answer.resume().on('end', () => (answer.statusCode === 201 ? resolve((stream.answered = performance.now()) - stream.sent) : reject(new Error(`POST: ${answer.statusCode}`))));
  });
  ask.on('error', reject).end(BODY);
});

/** Each grant is of another building, and created at the service that its reader does not read, if there is another one: how
 *  long each event took, and how long each answer. */
async function create({ urls, rate, count }) {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const began = performance.now(), asked = [];
  times = [];
  const step = Math.floor(streams.length / count);
  for (let i = 0; i < count; i++) {
    const wait = began + (i * 1000) / rate - performance.now();
    if (wait > 1) await sleep(wait);
    asked.push(post(agent, urls[(i * step + 1) % urls.length], streams[i * step], `bench-events-${process.pid}-${i}`));
  }
  const answers = await Promise.all(asked);
  for (const until = performance.now() + LATE_MS; times.length < count && performance.now() < until;) await sleep(10);
  if (times.length !== count) throw new Error(`${times.length} events came for ${count} grants`);
  agent.destroy();
  const after = streams.filter((stream) => stream.sent).map((stream) => stream.came - stream.answered);
  return { events: times, answers, after };
}

process.on('message', async ({ work, ...how }) => process.send(await { ask, open: openAll, create }[work](how) ?? {}));
