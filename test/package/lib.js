// Shared by the tests of the package: the tree, the build, and commands that must succeed.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';

export const top = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
export const build = join(top, 'build');
/** The commands of residents and agents, and the service with its operator's commands. */
export const client = join(build, 'portero');
export const binary = join(build, 'porterod');

export function run(command, args, options = {}) {
    const done = spawnSync(command, args, { encoding: 'utf8', ...options });
    if (done.error) throw done.error;
    if (done.status !== 0) throw new Error(`${command} ${args.join(' ')}: exit ${done.status}\n${done.stdout}${done.stderr}`);
    return done;
}

export const read = (path) => readFileSync(join(top, path), 'utf8');

/** A directory that ends with the tests. */
export function temporary() {
    const path = mkdtempSync(join(tmpdir(), 'portero-package-'));
    after(() => rmSync(path, { recursive: true, force: true }));
    return path;
}

/** The files below a directory, sorted. */
export function filesBelow(directory) {
    return readdirSync(directory, { withFileTypes: true, recursive: true })
        .filter((entry) => !entry.isDirectory())
        .map((entry) => relative(directory, join(entry.path ?? entry.parentPath, entry.name)))
        .sort();
}

/** The commands that the help of a program lists. */
export function commands(program = binary) {
    return [...run(program, ['help']).stdout.matchAll(/^ {2}([a-z-]+) /gm)].map((line) => line[1]).filter((name) => name !== 'help');
}

/** The verbs of `admin`: ["key", "create"], ["request"]. */
export function verbs() {
    const list = run(binary, ['help', 'admin']).stdout.split('Every command has --help:\n')[1];
    return [...list.matchAll(/^ {2}([a-z]+)( [a-z]+)? /gm)].map((line) => [line[1], line[2]?.trim()].filter(Boolean));
}

/** The options that the help of a command lists: ["--config", …]. */
export function options(words, program = binary) {
    return [...run(program, ['help', ...words]).stdout.matchAll(/^ {2}(?:-h, )?(--[a-z-]+)/gm)].map((line) => line[1]);
}
