// Commands of the program that start no service: the CPU that the shortest of them costs, loading included.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { LOAD_CORE, median, result, sized } from './lib.mjs';
import { root } from './peers.mjs';

const TIMES = sized(50, 2), ROUNDS = sized(9, 1);

/** Milliseconds of CPU that a run of the command takes. The second line of the shell's `times` has its children's. */
function cpuOf(command) {
  const script = `i=0; while [ $i -lt ${TIMES} ]; do "$@" || exit; i=$((i + 1)); done >/dev/null; times`;
  const done = spawnSync('taskset', ['-c', LOAD_CORE, 'sh', '-c', script, 'sh', ...command], { encoding: 'utf8' });
  if (done.status !== 0) throw new Error(`${command.join(' ')}: ${done.stderr}`);
  const [, children] = done.stdout.trim().split('\n');
  return [...children.matchAll(/(\d+)m([\d.]+)s/g)].reduce((sum, [, m, s]) => sum + Number(m) * 60 + Number(s), 0) * 1000 / TIMES;
}

export function command() {
  const mine = [], bare = [];
  for (let round = 0; round < ROUNDS; round++) {
    mine.push(cpuOf([join(root, 'build/portero'), '--version']));
    bare.push(cpuOf(['env', 'true']));
  }
  result('portero --version, CPU', median(mine), 'ms', 5, 'asked for', '<= 1');
  console.log(`  env true, in turn: ${median(bare).toFixed(2)} ms`);
}
