// For all measurements: processes pinned to a core, their CPU time, load from wrk, and the table of results.
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { createInterface } from 'node:readline';

export const SERVER_CORE = '0';
export const LOAD_CORE = '1';
/** Without a figure to judge, a smoke run only shows that everything can run: of each pair it takes the second. */
export const SMOKE = process.env.PORTERO_BENCH_SMOKE === '1';
export const sized = (full, smoke) => (SMOKE ? smoke : full);
const SMOKE_MS = 300;
const TICKS_PER_S = Number(spawnSync('getconf', ['CLK_TCK']).stdout);

const rows = [];

/** One figure and its limit from the same run. `target` is the value that `ratio`, usually value / limit, must reach. */
export function result(name, value, unit, limit, limitName, target, ratio = limit ? value / limit : NaN) {
  rows.push({ name, value, unit, limit, limitName, ratio, target });
  const beside = limit ? `  limit ${format(limit)} (${limitName})  ratio ${ratio.toFixed(2)}` : '';
  console.log(`${name.padEnd(52)} ${format(value).padStart(10)} ${unit.padEnd(6)}${beside}  target ${target}`);
}

export const format = (n) => (Math.abs(n) >= 1000 ? Math.round(n).toLocaleString('en-US') : n.toPrecision(3));

/** Servers that run: they end with this process, also when a measurement throws. */
const running = new Set();
process.on('exit', () => running.forEach((child) => child.kill('SIGKILL')));

/** Starts a server; resolves with the process once `ready` matches a line of its output. */
export function start(command, args, { core, ready, env } = {}) {
  const [file, list] = core ? ['taskset', ['-c', core, command, ...args]] : [command, args];
  const child = spawn(file, list, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } });
  running.add(child);
  child.on('exit', () => running.delete(child));
  let errors = '';
  child.stderr.on('data', (d) => (errors = (errors + d).slice(-4000)));
  return new Promise((resolve, reject) => {
    child.on('exit', (code) => reject(new Error(`${command} ended with ${code}: ${errors}`)));
    if (!ready) return void setTimeout(() => resolve({ child, pid: child.pid }), 400);
    createInterface({ input: child.stdout }).on('line', (line) => {
      const match = line.match(ready);
      if (match) resolve({ child, pid: child.pid, match });
    });
  });
}

export async function stop(server) {
  server.child.removeAllListeners('exit');
  if (server.child.exitCode !== null) return;
  const ended = new Promise((resolve) => server.child.on('exit', resolve));
  server.child.kill('SIGTERM');
  await ended;
}

/** CPU seconds a process has used. */
export function cpu(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_S;
}

/** Resident memory in bytes: all (VmRSS), or RssAnon, RssFile. */
export function memoryOf(pid, kind = 'VmRSS') {
  return Number(readFileSync(`/proc/${pid}/status`, 'utf8').match(new RegExp(`${kind}:\\s+(\\d+)`))[1]) * 1024;
}

/** One run of wrk. Fails if any answer was not 2xx or 3xx. `cut`: it ends as soon as it can. */
async function wrkOnce(url, load, cut = SMOKE) {
  const { script, args = [], connections = 64, seconds = 4, pid } = load;
  const before = pid ? cpu(pid) : 0;
  const list = ['-c', LOAD_CORE, 'wrk', '-t1', `-c${sized(connections, 4)}`, `-d${seconds}s`, '--timeout', '10s', ...(script ? ['-s', script] : []), url,
    ...(args.length ? ['--', ...args] : [])];
  const child = spawn('taskset', list, { stdio: ['ignore', 'pipe', 'inherit'] });
  let out = '';
  child.stdout.on('data', (d) => (out += d));
  const timer = cut && setInterval(() => child.kill('SIGINT'), SMOKE_MS); // wrk prints its results
  await new Promise((resolve) => child.on('close', resolve));
  clearInterval(timer);
  const bad = out.match(/Non-2xx or 3xx responses: (\d+)/) ?? out.match(/Socket errors: .*/);
  if (bad) throw new Error(`${url}: ${bad[0]}`);
  const requests = Number(out.match(/(\d+) requests in/)?.[1]);
  if (!requests && cut) return wrkOnce(url, load, false);
  if (!requests) throw new Error(`${url}: no request was answered: ${out}`);
  const rate = Number(out.match(/Requests\/sec:\s+([\d.]+)/)[1]);
  return { rate, cpuPerRequest: pid ? (cpu(pid) - before) / requests : NaN };
}

export function median(list) {
  return [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];
}

/** Load from wrk: the medians of `rounds` runs. */
export async function wrk(url, { rounds = 3, ...load } = {}) {
  const runs = [];
  for (let i = 0; i < sized(rounds, 1); i++) runs.push(await wrkOnce(url, load));
  return { rate: median(runs.map((r) => r.rate)), cpuPerRequest: median(runs.map((r) => r.cpuPerRequest)) };
}

/** The same load on several servers in turn, round after round, so that machine noise affects all equally. Returns the
 * runs for each name. The first round only warms up. */
export async function sideBySide(servers, { rounds = 9, ...load }) {
  const runs = Object.fromEntries(Object.keys(servers).map((name) => [name, []]));
  for (let i = 0; i <= sized(rounds, 1); i++) {
    for (const [name, { url, pid, ...own }] of Object.entries(servers)) {
      const run = await wrkOnce(url, { ...load, ...own, pid });
      if (i > 0) runs[name].push(run);
    }
  }
  return runs;
}

/** The rates of two servers that were loaded in turn. The ratio is the median of the ratios of the rounds. */
export function compare(name, mine, limit, limitName, target) {
  const ratio = median(mine.map((run, i) => run.rate / limit[i].rate));
  result(name, median(mine.map((r) => r.rate)), 'req/s', median(limit.map((r) => r.rate)), limitName, target, ratio);
}

/** Requests at a fixed rate over kept connections, even if answers are late. Returns the times in ms from when each
 * request was due to its answer, ascending. Fails if any answer was not 2xx. */
export async function paced(url, { rate, seconds, make }) {
  const agent = new Agent({ keepAlive: true, maxSockets: 512 });
  const times = [], all = sized(rate * seconds, 20), began = performance.now();
  await new Promise((resolve, reject) => {
    const send = (i) => {
      const { body, ...options } = make(i), due = began + (i * 1000) / rate;
      const ask = request(url + options.path, { ...options, agent }, (answer) => {
        if (answer.statusCode >= 300) return reject(new Error(`${options.path}: ${answer.statusCode}`));
        answer.resume().on('end', () => times.push(performance.now() - due) === all && resolve());
      });
      ask.on('error', reject).end(body);
    };
    let sent = 0;
    const timer = setInterval(() => {
      while (sent < all && began + (sent * 1000) / rate <= performance.now()) send(sent++);
      if (sent === all) clearInterval(timer);
    }, 1);
  });
  agent.destroy();
  return times.sort((a, b) => a - b);
}

/** True if every target was reached. */
export function summary() {
  const missed = rows.filter((r) => !reached(r));
  console.log(`\n${rows.length} figures, ${rows.length - missed.length} reached their target`);
  for (const r of missed) console.log(`missed: ${r.name}: ${Number.isNaN(r.ratio) ? format(r.value) : r.ratio.toFixed(2)}, target ${r.target}`);
}

function reached({ value, ratio, target }) {
  const match = target.match(/^(>=|<=) ([\d.]+)/);
  const measured = Number.isNaN(ratio) ? value : ratio;
  return match[1] === '>=' ? measured >= Number(match[2]) : measured <= Number(match[2]);
}
