// Picks the thresholds of spoken codes and tests them on other speakers: the scores come from bench_spoken.
//   node bench/spoken.mjs CLEAR [OTHER…]
// CLEAR: the scores at 30 dB, for picking. OTHER: scores at other levels, tested with the thresholds picked from CLEAR.
import { readFileSync } from 'node:fs';
import { sized } from './lib.mjs';

const TIDIGITS_WEIGHT = 0.5; // as in src/speech/spoken_ear.c
const SPLITS = sized(40, 2);
const [clear, ...others] = process.argv.slice(2);

/** Utterances with their trials; `ratio` and `margin` weigh both models. */
function load(file) {
  const utterances = [];
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    const [kind, ...f] = line.split(' ');
    if (kind === 'U') utterances.push({ voice: f[0], speaker: f[1], code: f[2], trials: [] });
    if (kind === 'T') {
      const [r0, r1, t0, t1, e0, e1] = f.slice(2).map(Number);
      const made = f[1] !== '-';
      utterances.at(-1).trials.push({ kind: f[0], code: f[1], ratio: made ? r1 + TIDIGITS_WEIGHT * r0 : -99, margin: made ? Math.min(t1 + TIDIGITS_WEIGHT * t0, e1 + TIDIGITS_WEIGHT * e0) : -99 });
    }
  }
  return utterances.filter((u) => u.trials.length);
}

const accepted = (t, { ratio, margin }) => t.ratio >= ratio && t.margin >= margin;

/** Upper 95 % bound of Wilson for k of n, two-sided. */
function upper(k, n, z = 1.96) {
  const p = k / n;
  return (p + (z * z) / (2 * n) + z * Math.sqrt((p * (1 - p)) / n + (z * z) / (4 * n * n))) / (1 + (z * z) / n);
}

function count(utterances, limits) {
  const c = Object.fromEntries(['true', 'near', 'random'].map((kind) => [kind, { k: 0, n: 0 }]));
  for (const u of utterances)
    for (const t of u.trials)
      if (c[t.kind]) {
        c[t.kind].n++;
        // A set of random codes may hold the one that was said: it is then accepted rightly.
        if (t.code === u.code ? t.kind === 'true' : t.kind !== 'true') c[t.kind].k += accepted(t, limits);
      }
  return c;
}

/** Upper bound that takes the trials of one utterance for one draw: utterances are drawn again with replacement. */
function bootstrap(utterances, limits, kind) {
  const rates = [];
  for (let i = 0; i < sized(400, 4); i++) {
    let k = 0, n = 0;
    for (let j = 0; j < utterances.length; j++) {
      const u = utterances[random(utterances.length)];
      for (const t of u.trials) if (t.kind === kind) { n++; k += accepted(t, limits) && t.code !== u.code; }
    }
    rates.push(k / n);
  }
  return rates.sort((a, b) => a - b)[Math.floor(0.975 * rates.length)];
}

let state = 1;
function random(n) {
  state = (Math.imul(state, 1103515245) + 12345) >>> 0;
  return Math.floor((state / 4294967296) * n);
}

/** The limits with the most accepted callers among the limits that let in at most `goal` of either kind of wrong code. */
function pick(utterances, goal) {
  let best = null;
  for (let margin = -1; margin <= 6; margin += 0.25)
    for (let ratio = -6; ratio <= 0; ratio += 0.5) {
      const c = count(utterances, { ratio, margin });
      if (c.near.k / c.near.n > goal || c.random.k / c.random.n > goal) continue;
      if (!best || c.true.k > best.k) best = { k: c.true.k, limits: { ratio, margin } };
    }
  return best?.limits ?? { ratio: 0, margin: 6 };
}

const percent = (x) => `${(100 * x).toFixed(1)} %`;
const rate = ({ k, n }) => `${percent(k / n)} (${k}/${n}, upper ${percent(upper(k, n))})`;

function report(name, utterances, limits) {
  const c = count(utterances, limits);
  console.log(`${name}: ratio >= ${limits.ratio}, margin >= ${limits.margin}: accepted ${percent(c.true.k / c.true.n)} of ${c.true.n}; one digit off ${rate(c.near)}, by utterance ${percent(bootstrap(utterances, limits, 'near'))}; `
    + `random ${rate(c.random)}, by utterance ${percent(bootstrap(utterances, limits, 'random'))}`);
}

const all = load(clear);
const speakers = [...new Set(all.map((u) => u.speaker))];
console.log(`${all.length} utterances, speakers ${speakers.join(' ')}`);

console.log('\ntrade-off, thresholds picked and counted on the same utterances');
for (const margin of [-2, -1, 0, 0.5, 1, 1.5, 2, 3, 4, 5]) report('all', all, { ratio: -4, margin });
console.log('\nby voice');
for (const voice of new Set(all.map((u) => u.voice))) for (const margin of [1, 2]) report(voice, all.filter((u) => u.voice === voice), { ratio: -4, margin });

for (const goal of [0.01, 0.005, 0.0025]) {
  const runs = [];
  for (let i = 0; i < SPLITS; i++) {
    const shuffled = speakers.map((s) => [random(1000000), s]).sort((a, b) => a[0] - b[0]).map(([, s]) => s);
    const held = new Set(shuffled.slice(0, Math.floor(speakers.length / 2)));
    const limits = pick(all.filter((u) => !held.has(u.speaker)), goal);
    const c = count(all.filter((u) => held.has(u.speaker)), limits);
    runs.push({ accept: c.true.k / c.true.n, near: c.near.k / c.near.n, random: c.random.k / c.random.n });
  }
  const stats = (key, worst) => `${percent(runs.reduce((s, r) => s + r[key], 0) / runs.length)} mean, ${percent(worst(...runs.map((r) => r[key])))} worst`;
  console.log(`\nheld out, ${SPLITS} splits, picked for ${percent(goal)}: accepted ${stats('accept', Math.min)}; one digit off ${stats('near', Math.max)}; random ${stats('random', Math.max)}`);
  const limits = pick(all, goal);
  report('picked on all', all, limits);
  for (const other of others) report(other, load(other), limits);
}

console.log('\ndigits heard freely by both models: as said, and counted as a wrong code if they are not valid');
for (const margin of [0, 1, 2, 3, 4]) {
  const free = all.map((u) => ({ u, t: u.trials.find((t) => t.kind === 'free') }));
  const sure = free.filter(({ t }) => t.margin >= margin);
  console.log(`margin >= ${margin}: sure ${percent(sure.length / free.length)}, of these wrong ${percent(sure.filter(({ u, t }) => t.code !== u.code).length / free.length)} of all`);
}
