// A backup while clients write: the time that they wait, against that without a backup in the same run.
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { median, paced, result, sized, stop } from './lib.mjs';
import { binary, portero, root } from './peers.mjs';

const RATE = 500, ROUNDS = sized(5, 1), QUIET_S = 8;

function request(keys, name, i) {
  const headers = {
    Authorization: `Bearer ${keys[(i * 7919) % keys.length]}`, 'X-Forwarded-Proto': 'https', 'Content-Type': 'application/json',
    'Idempotency-Key': `bench-backup-${process.pid}-${name}-${i}`,
  };
  return { path: '/v1/unlock', method: 'POST', headers, body: '{"type":"timer","label":"Parcel","expires_in_minutes":60,"remaining_uses":3}' };
}

/** Runs a command to its end: the seconds that it took. */
function timed(command, args) {
  const began = performance.now();
  return new Promise((resolve, reject) => {
    spawn(command, args, { stdio: ['ignore', 'ignore', 'inherit'] }).on('error', reject)
      .on('close', (status) => (status === 0 ? resolve((performance.now() - began) / 1000) : reject(new Error(`${command}: ${status}`))));
  });
}

function run(command, args) {
  const done = spawnSync(command, args, { encoding: 'utf8' });
  if (done.status !== 0) throw new Error(`${command} ${args[0]}: ${done.stderr}`);
  return done.stdout.trim();
}

/** The store to PostgreSQL, read back and compared; beside it the same grants by COPY from a table of that server. */
async function moved(big) {
  const dir = mkdtempSync(join(tmpdir(), 'portero-move-'));
  const cluster = join(root, 'scripts/pg-cluster');
  run('chmod', ['711', dir]);
  const server = run(cluster, ['start', join(dir, 'pg'), String(process.pid)]);
  try {
    const seconds = await timed(binary, ['migrate', '--data', big, '--from', `sqlite:${join(big, 'portero.db')}`, '--to', `postgresql:${server}`]);
    run('psql', ['-Xq', '-d', server, '-c', 'CREATE TABLE again (LIKE access_grant INCLUDING ALL)']);
    const bare = await timed('sh', ['-c', `psql -Xq -d '${server}' -c 'COPY access_grant TO STDOUT (FORMAT binary)' | psql -Xq -d '${server}' -c 'COPY again FROM STDIN (FORMAT binary)'`]);
    result('1M grants from SQLite to PostgreSQL, compared', seconds, 's', 60, 'asked for', '<= 1');
    console.log(`  the grants alone from one table of PostgreSQL to another by COPY ${bare.toFixed(1)} s: ${(seconds / bare).toFixed(2)} times`);
  } finally {
    run(cluster, ['stop', join(dir, 'pg')]);
    rmSync(dir, { recursive: true, force: true });
  }
}

const p99 = (times) => times[Math.floor(times.length * 0.99)];

export async function backup(big) {
  const keys = readFileSync(join(big, 'keys'), 'utf8').split('\n').slice(0, 10_000).map((line) => line.split(' ')[0]);
  const copy = join(big, 'copy.db'), database = join(big, 'portero.db');
  const server = await portero(big, { free: true });
  const load = (name, seconds) => paced(server.http, { rate: RATE, seconds, make: (i) => request(keys, name, i) });
  await load('warm', 3);
  // Longer than a copy, cut to its time: the writes that were due while it ran.
  const beside = async (name, command, args) => {
    rmSync(copy, { force: true });
    let seconds = 0;
    const copying = timed(command, args).then((s) => (seconds = s));
    const times = [];
    for (let part = 0; seconds === 0; part++) times.push(...(await load(`${name}-${part}`, 1)));
    await copying;
    return { seconds, p99: p99(times.sort((a, b) => a - b)) };
  };
  const [quiet, ours, vacuum, wal] = [[], [], [], []];
  for (let round = 0; round < ROUNDS; round++) {
    quiet.push(p99(await load(`quiet-${round}`, QUIET_S)));
    ours.push(await beside(`ours-${round}`, binary, ['backup', '--data', big, copy]));
    wal.push(statSync(`${database}-wal`).size);
    vacuum.push(await beside(`vacuum-${round}`, 'sqlite3', ['-readonly', database, `VACUUM INTO '${copy}'`]));
  }
  await stop(server);
  rmSync(copy, { force: true });
  const ratio = median(ours.map((run, i) => run.p99 / quiet[i]));
  const seconds = median(ours.map((run) => run.seconds));
  result(`POST, ${RATE}/s, during a backup, p99`, median(ours.map((run) => run.p99)), 'ms', median(quiet), 'no backup', '<= 3', ratio);
  result('a backup of 1M grants meanwhile', seconds, 's', 10, 'asked for', '<= 1');
  console.log(`  VACUUM INTO: ${median(vacuum.map((run) => run.seconds)).toFixed(1)} s, p99 ${median(vacuum.map((run) => run.p99)).toFixed(1)} ms; `
    + `the WAL after a backup ${(Math.max(...wal) / 1e6).toFixed(0)} MB at most`);
  run(binary, ['check-store', '--data', big]);
  await moved(big);
}

const EVERY_S = 5, COPIES = sized(6, 2);

/** Seconds of processor time that the thread has had. */
function spent(pid, thread) {
  for (const id of readdirSync(`/proc/${pid}/task`)) {
    const [, name, rest] = /^\d+ \((.*)\) (.*)/.exec(readFileSync(`/proc/${pid}/task/${id}/stat`, 'utf8'));
    if (name === thread) return (Number(rest.split(' ')[11]) + Number(rest.split(' ')[12])) / 100;
  }
  throw new Error(`no thread ${thread}`);
}

const changes = (directory) => readdirSync(directory).filter((name) => name.endsWith('.pages'));

/** A directory that follows the store: its cost for each file, and for those who write meanwhile. */
export async function follow(big) {
  const keys = readFileSync(join(big, 'keys'), 'utf8').split('\n').slice(0, 10_000).map((line) => line.split(' ')[0]);
  const directory = join(big, 'copies'), database = join(big, 'portero.db');
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory);
  const [quiet, copied] = [[], []];
  let each = 0, size = 0;
  const measure = async (name, env, into) => {
    const server = await portero(big, { free: true, env });
    const load = (part, seconds) => paced(server.http, { rate: RATE, seconds, make: (i) => request(keys, `follow-${name}-${part}`, i) });
    await load('warm', 3);
    if (env) {
      while (changes(directory).length === 0) await load('whole', 1);
    }
    const [had, before] = env ? [changes(directory).length, spent(server.pid, 'copies')] : [0, 0];
    into.push(p99(await load('measured', COPIES * EVERY_S)));
    if (env) {
      const made = changes(directory);
      each = (spent(server.pid, 'copies') - before) / (made.length - had);
      size = median(made.slice(had).map((file) => statSync(join(directory, file)).size));
    }
    await stop(server);
  };
  for (let round = 0; round < sized(3, 1); round++) {
    await measure(`quiet-${round}`, undefined, quiet);
    await measure(`copied-${round}`, { PORTERO_BACKUP_DIRECTORY: directory, PORTERO_BACKUP_EVERY_S: String(EVERY_S) }, copied);
  }
  const hashed = await timed('sha256sum', [database]);
  result(`POST, ${RATE}/s, copied every ${EVERY_S} s, p99`, median(copied), 'ms', median(quiet), 'not copied', '<= 3', median(copied.map((one, i) => one / quiet[i])));
  result('processor time for a file of changes', each, 's', hashed, 'sha256sum', '<= 3');
  console.log(`  the store ${(statSync(database).size / 1e6).toFixed(0)} MB, a file of changes ${(size / 1e6).toFixed(1)} MB`);
  rmSync(directory, { recursive: true, force: true });
}
