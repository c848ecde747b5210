// Several daemons on one PostgreSQL database, with one master key, and clocks of their own.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { portero } from './daemon.js';
import { eventually, world } from './world.js';

const here = dirname(fileURLToPath(import.meta.url));

/** Another node on the store of a running one. */
export async function joined(w, options = {}) {
    return world(nodeOptions(w, options));
}

export function nodeOptions(w, { config = {}, env = {}, ...rest } = {}) {
    const { store } = w.daemon.config;
    return { config: { ...config, store: { ...store, ...config.store }, secrets: { master_key: `file:${w.daemon.data}/master.key` } }, env, ...rest };
}

/** The nodes as one of them lists them: the nodes in the state, the oldest first. */
export function nodes(w, state) {
    const done = portero(['admin', 'node', 'list', '--config', w.daemon.configPath, '--data', w.daemon.data, '--json']);
    assert.equal(done.status, 0, done.stderr);
    return JSON.parse(done.stdout).data.filter((row) => !state || row.state === state);
}

/** A clock for a node that can be moved while it runs: {env, move(seconds), pass(seconds)}; `pass` moves the monotonic one. */
export function ownClock(directory) {
    const library = join(directory, 'clock.so'), file = join(directory, 'ahead'), passed = join(directory, 'passed');
    const built = spawnSync('cc', ['-shared', '-fPIC', '-O1', '-o', library, join(here, 'clock.c')], { encoding: 'utf8' });
    assert.equal(built.status, 0, built.stderr);
    const move = (seconds) => writeFileSync(file, `${seconds}\n`);
    move(0);
    const pass = (seconds) => writeFileSync(passed, `${seconds}\n`);
    return { env: { LD_PRELOAD: library, CLOCK_AHEAD: file, CLOCK_PASSED: passed }, move, pass };
}

/** The seconds until `probe` gives something. */
export async function secondsUntil(probe, what, ms) {
    const begun = Date.now();
    await eventually(probe, what, ms);
    return (Date.now() - begun) / 1000;
}
