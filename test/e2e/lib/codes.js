// The table of error codes, and the ones that no test can provoke, each with its reason.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './daemon.js';

/** Codes of the table that no test can provoke, each with its reason. A whole run fails if another one never occurred, or one of these did. */
const EXCEPTIONS = { PLAN_UPGRADE_REQUIRED: 'every plan includes every grant type (EARLIER-32)' };

/** Every code of the table that the service's errors are expanded from. */
export function allCodes() {
    const table = readFileSync(join(root, 'src/tbl/errors.def'), 'utf8');
    return [...table.matchAll(/^E\((\w+), \d{3}, /gm)].map(([, code]) => code);
}

export const exceptions = () => Object.keys(EXCEPTIONS);
