// What the tests met, for run.js to say at the end what no test met: operations asked for, error codes answered.
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

/** The code of an answer's error envelope, if it is one. */
export function noteCode(body) {
    const code = body?.error?.code;
    if (typeof code === 'string') note(`code ${code}`);
}

/** All that the test processes noted in this directory: {operations, codes}. */
export function readHits(directory) {
    const lines = readdirSync(directory).flatMap((name) => readFileSync(join(directory, name), 'utf8').split('\n'));
    return {
        operations: new Set(lines.filter((line) => line && !line.startsWith('code '))),
        codes: new Set(lines.filter((line) => line.startsWith('code ')).map((line) => line.slice(5))),
    };
}
