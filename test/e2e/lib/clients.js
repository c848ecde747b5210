// The packages of clients/, made of the program that is tested. Several test files may ask for them at once.
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { binary, cleanEnvironment, root } from './daemon.js';

/** The directory of the packages: typescript, python. */
export function clients() {
    mkdirSync(join(root, 'build'), { recursive: true });
    const args = [join(root, 'build/clients.lock'), process.execPath, join(root, 'clients/build.mjs')];
    const done = spawnSync('flock', args, { env: cleanEnvironment({ PORTERO_BIN: binary }), encoding: 'utf8', timeout: 170_000 });
    if (done.error) throw done.error;
    if (done.status !== 0) throw new Error(`clients/build.mjs: ${done.stderr}`);
    return join(root, 'build/clients');
}

let loaded;
/** The exports of the TypeScript client. */
export function portero() {
    loaded ??= import(pathToFileURL(join(clients(), 'typescript/dist/index.js')));
    return loaded;
}
