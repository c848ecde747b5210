// The statements of src/store/sql that the tests reach on PostgreSQL, by the server's log, which has the names of prepared
// statements, and the failures of statements and connections that the store must survive, by SQLSTATE.
import { createReadStream, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const sql = join(here, '../../../src/store/sql');
export const LIST = join(here, '../postgresql.txt');

/** The server's options (PG_CLUSTER_OPTIONS): it logs database, application and SQLSTATE, and no arguments. */
export const LOGGED = '-c log_statement=all -c log_parameter_max_length=0 -c log_line_prefix=%d|%a|%e|';
const LINE = /^e2e_(\w+)_[0-9a-f]{16}\|(portero|\[unknown\])\|(\w{5})\|(?:LOG: {2}execute (\w+): |ERROR:|FATAL:)/;

/** The names of all statements. */
export function statements() {
    const text = readdirSync(sql).filter((name) => name.endsWith('.sql')).map((name) => readFileSync(join(sql, name), 'utf8')).join('\n');
    return [...new Set([...text.matchAll(/^-- name: (\w+)/gm)].map(([, name]) => name))];
}

/** The statements and states that each file reached: names of statements, and "SQLSTATE 40001". Map of the file's name to a Set. */
export async function reached(log) {
    const known = new Set(statements());
    const found = new Map();
    for await (const line of createInterface({ input: createReadStream(log, 'utf8') })) {
        const [, file, , state, statement] = LINE.exec(line) ?? [];
        const met = statement ?? (state && `SQLSTATE ${state}`);
        if (!met || statement && !known.has(statement)) continue;
        const name = file.replaceAll('_', '-');
        if (!found.has(name)) found.set(name, new Set());
        found.get(name).add(met);
    }
    return found;
}

/** postgresql.txt: {files, excepted}, names of files that run on PostgreSQL too, and of statements that no test executes there. */
export function cover() {
    const lines = readFileSync(LIST, 'utf8').split('\n').filter((line) => line && !line.startsWith('#')).map((line) => line.split(/[ :]+/));
    const of = (excepted) => new Set(lines.filter(([first]) => (first === 'except') === excepted).map(([first, second]) => (excepted ? second : first)));
    return { files: of(false), excepted: of(true) };
}
