// Which runs of a file passed before with the same content of all that decides their result (scripts/once): the packages of
// the root, the programs, the file itself, and what else of this tree a test can read. Kept with a pass: what the tests met,
// for the checks of a whole run. Without ONCE_PASSES and ONCE_ROOT every file runs.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../../..');
const PROGRAMS = ['build/portero', 'build/porterod'];

// The sources of the programs, which are hashed themselves, and the files of other tests.
const NOT_READ = /^(src\/.*\.[ch]|test\/e2e\/[^/]+\.test\.js|test\/(unit|crash|fuzz|cluster|package|fresh|generators|homeassistant|peers)\/.*|bench\/.*|\.ci\/.*)$/;

const { ONCE_PASSES, ONCE_ROOT } = process.env;

const digest = (...parts) => parts.reduce((hash, part) => hash.update(`${part.length} `).update(part), createHash('sha256')).digest('hex');

/** The hash of what all files depend on. */
function surroundings() {
    const { stdout } = spawnSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' });
    const files = stdout.split('\0').filter((name) => name && !NOT_READ.test(name));
    return digest(ONCE_ROOT, ...[...PROGRAMS, ...files].flatMap((name) => [name, readFileSync(join(root, name))]));
}
let common;

/** The file of a run's pass: of its test file, and of words, such as its engine. Undefined where none are kept. */
export function passOf(file, ...words) {
    if (!ONCE_PASSES || !ONCE_ROOT) return undefined;
    common ??= surroundings();
    return join(ONCE_PASSES, digest(common, ...words, relative(root, file), readFileSync(file)));
}

/** The kept content, or undefined. */
export function readPass(pass) {
    if (!pass || !existsSync(pass)) return undefined;
    utimesSync(pass, new Date(), new Date());
    return JSON.parse(readFileSync(pass, 'utf8'));
}

export function keepPass(pass, met) {
    writeFileSync(`${pass}.${process.pid}`, JSON.stringify(met));
    renameSync(`${pass}.${process.pid}`, pass);
}
