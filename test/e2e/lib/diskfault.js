// A disk that refuses writes, or is slow: lib/diskfault.c, preloaded.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The environment of a process whose writes below a directory `refuse` makes fail with an error ('ENOSPC'), until `mend`; `refuseSync`: only
 *  what makes them durable, as a commit does. `hold`: what changes the file with that path waits, until another one is held or `letGo`. */
export function diskFault(directory, below) {
    const library = join(directory, 'diskfault.so'), trigger = join(directory, 'fault'), held = join(directory, 'held');
    const built = spawnSync('cc', ['-shared', '-fPIC', '-O1', '-o', library, join(dirname(fileURLToPath(import.meta.url)), 'diskfault.c'), '-ldl'], { encoding: 'utf8' });
    assert.equal(built.status, 0, built.stderr);
    return {
        env: { LD_PRELOAD: library, DISKFAULT: trigger, DISKFAULT_BELOW: below, DISKFAULT_HELD: held },
        refuse: (error) => writeFileSync(trigger, String(constants.errno[error])),
        refuseSync: (error) => writeFileSync(trigger, `${constants.errno[error]} sync`),
        hold(path) {
            writeFileSync(`${held}.new`, path);
            renameSync(`${held}.new`, held);
        },
        letGo: () => rmSync(held, { force: true }),
        mend: () => rmSync(trigger, { force: true }),
    };
}
