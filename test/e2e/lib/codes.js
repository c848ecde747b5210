// The table of error codes, and those of them that no test can provoke, each with its reason.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './daemon.js';

const EXCEPTIONS = '## 13. Error codes that no test provokes';

/** Every code of the table that the service's errors are expanded from. */
export function allCodes() {
    const table = readFileSync(join(root, 'src/tbl/errors.def'), 'utf8');
    return [...table.matchAll(/^E\((\w+), \d{3}, /gm)].map(([, code]) => code);
}

/** The codes of decisions section 13, each with its reason. */
export function exceptions() {
    const text = readFileSync(join(root, 'docs/decisions.md'), 'utf8');
    const section = text.slice(text.indexOf(EXCEPTIONS)).split(/^## /m)[1] ?? '';
    return [...section.matchAll(/^\| ([A-Z_]+) \| (\S.*) \|$/gm)].map(([, code]) => code);
}
