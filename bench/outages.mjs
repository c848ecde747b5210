// The service while its store is away: how soon it says that it is not ready, and that it is again, and how long a visitor at
// the door hears nothing.
import dgram from 'node:dgram';
import { once } from 'node:events';
import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { result, sized } from './lib.mjs';
import { idempotencyKey } from '../test/e2e/lib/client.js';
import { Cluster } from '../test/e2e/lib/cluster.js';
import { temporaryDirectory } from '../test/e2e/lib/daemon.js';
import { diskFault } from '../test/e2e/lib/diskfault.js';
import { METRICS, ready } from '../test/e2e/lib/metrics.js';
import { BOX, address } from '../test/e2e/lib/phone.js';
import { changeSettings, resident, world } from '../test/e2e/lib/world.js';

const ROUNDS = sized(10, 1), POLL_MS = 10, AT_MOST_MS = 60_000, PHONE = '+15550001234';
const sleep = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

async function timeUntil(probe) {
  const began = performance.now();
  while (!(await probe())) {
    if (performance.now() - began > AT_MOST_MS) throw new Error(`not in ${AT_MOST_MS} ms: ${probe}`);
    await sleep(POLL_MS);
  }
  return performance.now() - began;
}

/** A socket that speaks SIP: {socket, port}. */
async function sipSocket() {
  const socket = dgram.createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return { socket, port: socket.address().port };
}
const header = (text, name) => new RegExp(`^${name}: (.*)\r$`, 'im').exec(text)?.[1];

/** A trunk whose telephone rings until it is given up. */
async function ringingTrunk() {
  const trunk = await sipSocket();
  trunk.socket.on('message', (packet, from) => {
    const text = packet.toString();
    const method = text.split(' ')[0];
    const answer = (status, contact = '') => trunk.socket.send(`SIP/2.0 ${status}\r\n${text.match(/^Via: .*\r\n/gim).join('')}From: ${header(text, 'From')}\r\n`
      + `To: ${header(text, 'To')};tag=phone\r\nCall-ID: ${header(text, 'Call-ID')}\r\nCSeq: ${header(text, 'CSeq')}\r\n${contact}Content-Length: 0\r\n\r\n`, from.port, from.address);
    if (method === 'INVITE') answer('180 Ringing', `Contact: <sip:phone@127.0.0.1:${trunk.port}>\r\n`);
    else if (method !== 'ACK' && method !== 'SIP/2.0') answer('200 OK');
  });
  return trunk;
}

/** A visitor's call: the time until he hears something, a ring-back or an answer. */
async function timeOfSilence(daemon, to) {
  const { socket, port } = await sipSocket();
  const host = address(daemon), [, at] = host.split(':'), id = randomUUID();
  const sdp = `v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio ${port} RTP/AVP 0 101\r\na=rtpmap:101 telephone-event/8000\r\n`;
  const ask = (method, body) => socket.send(`${method} sip:${to}@${host} SIP/2.0\r\nVia: SIP/2.0/UDP 127.0.0.1:${port};branch=z9hG4bK${id};rport\r\nMax-Forwards: 70\r\n`
    + `From: <sip:${BOX}@127.0.0.1>;tag=${id}\r\nTo: <sip:${to}@${host}>\r\nCall-ID: ${id}\r\nCSeq: 1 ${method}\r\nContact: <sip:box@127.0.0.1:${port}>\r\n`
    + `${body ? 'Content-Type: application/sdp\r\n' : ''}Content-Length: ${body.length}\r\n\r\n${body}`, Number(at), '127.0.0.1');
  const began = performance.now();
  ask('INVITE', sdp);
  try {
    for (;;) {
      const [packet] = await once(socket, 'message', { signal: AbortSignal.timeout(AT_MOST_MS) });
      const status = Number(packet.toString().split(' ')[1]);
      if (status >= 300) throw new Error(`the visitor is refused with ${status}`);
      if (status > 100) return performance.now() - began;
    }
  } finally {
    ask('CANCEL', '');
    await sleep(200); // the answer to it
    socket.close();
  }
}

const withPhone = (port, more) => ({ config: { ...METRICS, voice: { 'peer phones': { server: `127.0.0.1:${port}`, probe_s: 0 } }, ...more } });

/** A resident whose door somebody has called since the start. */
async function home(w) {
  const person = await resident(w.client);
  await changeSettings(person, { ring: { numbers: [PHONE], accept: false } });
  await timeOfSilence(w.daemon, person.number);
  return person;
}

async function fullDisk(trunk) {
  const directory = temporaryDirectory();
  const disk = diskFault(directory, join(directory, 'data'));
  const w = await world({ directory, env: disk.env, ...withPhone(trunk.port) });
  const times = { ends: [], back: [], silence: [] };
  try {
    const person = await home(w);
    const write = () => person.client.post('/v1/unlock', { type: 'passcode', label: 'x', enabled: false }, { headers: { 'Idempotency-Key': idempotencyKey() } });
    const isReady = async () => (await ready(w.daemon)).ready;
    for (let i = 0; i < ROUNDS; i++) {
      disk.refuse('ENOSPC');
      const refused = write();
      times.ends.push(await timeUntil(async () => !(await isReady())));
      await refused;
      times.silence.push(await timeOfSilence(w.daemon, person.number));
      disk.mend();
      times.back.push(await timeUntil(isReady));
    }
  } finally {
    await w.close();
    rmSync(directory, { recursive: true, force: true });
  }
  result('full disk, SQLite: a write to not ready, longest', Math.max(...times.ends), 'ms', 5000, 'asked for', '<= 1');
  result('room again to ready, longest', Math.max(...times.back), 'ms', 5000, 'asked for', '<= 1');
  result('a visitor hears nothing meanwhile, longest', Math.max(...times.silence), 'ms', 2000, 'asked for', '<= 1');
}

async function hungServer(trunk) {
  const cluster = new Cluster();
  const w = await world(withPhone(trunk.port, { store: { engine: 'postgresql', dsn: cluster.dsn } }));
  const times = { ends: [], back: [], silence: [] };
  try {
    const person = await home(w);
    const isReady = async () => (await ready(w.daemon)).ready;
    for (let i = 0; i < ROUNDS; i++) {
      cluster.freeze();
      const silence = timeOfSilence(w.daemon, person.number);
      times.ends.push(await timeUntil(async () => !(await isReady())));
      times.silence.push(await silence);
      cluster.thaw();
      times.back.push(await timeUntil(isReady));
    }
  } finally {
    await w.close();
    cluster.stop();
  }
  result('a hung PostgreSQL server: until not ready, longest', Math.max(...times.ends), 'ms', 5000, 'asked for', '<= 1');
  result('it goes on until ready, longest', Math.max(...times.back), 'ms', 5000, 'asked for', '<= 1');
  result('a visitor hears nothing meanwhile, longest', Math.max(...times.silence), 'ms', 2000, 'asked for', '<= 1');
}

export async function outages() {
  const trunk = await ringingTrunk();
  try {
    await fullDisk(trunk);
    await hungServer(trunk);
  } finally {
    trunk.socket.close();
  }
}
