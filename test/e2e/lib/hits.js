// Records the operations, error codes and examples that tests met, so that run.js can list the others at the end.
import { appendFileSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const noted = new Set();

function note(line) {
    if (noted.has(line)) return;
    noted.add(line);
    if (process.env.PORTERO_E2E_HITS) appendFileSync(join(process.env.PORTERO_E2E_HITS, `${process.pid}`), `${line}\n`);
}

/** An operation of a document, "GET /v1/health". */
export function noteOperation(operation) {
    note(operation);
}

/** An operation whose example has the members of an answer that a test got. */
export function noteExample(operation) {
    note(`example ${operation}`);
}

/** The code of an answer's error envelope, if it is one. */
export function noteCode(body) {
    const code = body?.error?.code;
    if (typeof code === 'string') note(`code ${code}`);
}

/** The lines that test processes noted in this directory. */
export function readHits(directory) {
    const lines = readdirSync(directory).flatMap((name) => readFileSync(join(directory, name), 'utf8').split('\n'));
    return [...new Set(lines)].filter(Boolean).sort();
}

/** The lines by their kinds: {operations, codes, examples}. */
export function hitsOf(lines) {
    const of = (kind) => new Set(lines.filter((line) => line.startsWith(`${kind} `)).map((line) => line.slice(kind.length + 1)));
    return { operations: new Set(lines.filter((line) => !/^(code|example) /.test(line))), codes: of('code'), examples: of('example') };
}
