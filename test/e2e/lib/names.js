// Names of hosts as a test wants them, for a program that it starts.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const source = join(dirname(fileURLToPath(import.meta.url)), 'names.c');

/** {env, silence(), answer()}: the environment of the program (see names.c); whether the name server answers. */
export function ownNames(directory) {
    const library = join(directory, 'names.so');
    const silent = join(directory, 'silent');
    const built = spawnSync('cc', ['-shared', '-fPIC', '-O1', '-o', library, source, '-ldl'], { encoding: 'utf8' });
    assert.equal(built.status, 0, built.stderr);
    return {
        env: { LD_PRELOAD: library, NAMES_SILENT: silent },
        silence: () => writeFileSync(silent, ''),
        answer: () => rmSync(silent, { force: true }),
    };
}
