// Twilio's voice webhooks: calls that arrive, are asked for a code and are released, beside reads on the same server.
import { createHmac } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compare, median, paced, result, sized, stop, wrk } from './lib.mjs';
import { portero, root } from './peers.mjs';
import { ACCOUNTS } from './seed.mjs';

const ORIGIN = 'https://door.example', TOKEN = '0123456789abcdef0123456789abcdef', ACCOUNT = `AC${TOKEN}`;
const VOICE = '/hooks/twilio/voice';
const ROUNDS = sized(5, 1), CALLS = sized(20_000, 2_048), BLOCK = 512;

/** A signed request: its path, its signature and its body. */
function signed(target, fields) {
  const form = { AccountSid: ACCOUNT, ...fields };
  const text = ORIGIN + target + Object.keys(form).sort().map((name) => name + form[name]).join('');
  return { path: target, signature: createHmac('sha1', TOKEN).update(text).digest('base64'), body: new URLSearchParams(form).toString() };
}

/** The two requests of a call to one of the buildings. The second has a right code. */
function call(name, i) {
  const fields = {
    CallSid: `CA${Buffer.from(name.padEnd(8)).toString('hex')}${i.toString(16).padStart(16, '0')}`, From: '+15550001111',
    To: `+1999${String((i * 7919) % ACCOUNTS).padStart(7, '0')}`, Direction: 'inbound', ApiVersion: '2010-04-01',
  };
  return [signed(VOICE, { ...fields, CallStatus: 'ringing' }), signed(`${VOICE}?step=1`, { ...fields, CallStatus: 'in-progress', Digits: '0005' })];
}

/** Requests of calls, the codes of a block behind its arrivals. */
function list(name, file) {
  const lines = [];
  for (let first = 0; first < CALLS; first += BLOCK) {
    const block = Array.from({ length: BLOCK }, (_, i) => call(name, first + i));
    for (const step of [0, 1]) for (const one of block) lines.push(`${one[step].path} ${one[step].signature} ${one[step].body}`);
  }
  writeFileSync(file, lines.join('\n') + '\n');
}

/** `read` and `create` are loads of wrk. */
export async function hooks(data, read, create) {
  const env = { PORTERO_TWILIO_ACCOUNT_SID: ACCOUNT, PORTERO_TWILIO_AUTH_TOKEN: TOKEN, PORTERO_PUBLIC_URL: ORIGIN };
  const server = await portero(data, { free: true, env });
  const script = join(root, 'bench/load/hooks.lua'), file = join(data, 'hooks');
  const mine = [], grants = [], reads = [];
  for (let round = 0; round < ROUNDS; round++) {
    list(`run${round}`, file);
    mine.push(await wrk(server.http, { script, args: [file], rounds: 1, seconds: 2, pid: server.pid }));
    grants.push(await wrk(server.http, { ...create(`hooks-${round}`), rounds: 1, seconds: 2, pid: server.pid }));
    reads.push(await wrk(server.http, { ...read, rounds: 1, seconds: 2, pid: server.pid }));
  }
  compare('voice webhooks of calls, durable, 64 clients', mine, grants, 'POST /v1/unlock, durable', '>= 0.3');
  result('the same, at least', median(mine.map((run) => run.rate)), '/s', 2000, 'asked for', '>= 1');

  const calls = Array.from({ length: 1500 }, (_, i) => call('paced', i));
  const make = (i) => {
    const { path, signature, body } = calls[i % calls.length][i < calls.length ? 0 : 1];
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded', 'X-Forwarded-Proto': 'https', 'X-Twilio-Signature': signature };
    return { path, method: 'POST', headers, body };
  };
  const times = await paced(server.http, { rate: 500, seconds: 6, make });
  result('a voice webhook, 500 a second, p99', times[Math.floor(times.length * 0.99)], 'ms', 100, 'asked for', '<= 1');
  const us = (runs) => (median(runs.map((run) => run.cpuPerRequest)) * 1e6).toFixed(1);
  console.log(`  its p50 ${median(times).toFixed(2)} ms; CPU a webhook ${us(mine)} us, a grant ${us(grants)} us, a read ${us(reads)} us; ${Math.round(median(reads.map((run) => run.rate)))} reads/s`);
  await stop(server);
}
