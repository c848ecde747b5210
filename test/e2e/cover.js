// Writes postgresql.txt, the files of both engines that run on PostgreSQL in CI: node cover.js [JSON…]
// Runs all files on PostgreSQL twice, or takes what runs of `run.js --reached JSON` have written, and chooses files until
// they reach all that any file reaches in each run, thus not by chance: each time the one that reaches most for its processor
// time. The files that run on PostgreSQL alone are there in any case.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LIST, statements } from './lib/cover.js';

const here = dirname(fileURLToPath(import.meta.url));
const WIDTH = 120;

/** {name: {cpu, reached: [what]}} of each file on PostgreSQL. */
function measure() {
    const scratch = mkdtempSync(join(tmpdir(), 'portero-e2e-cover-'));
    const json = join(scratch, 'reached.json');
    try {
        const { status } = spawnSync(process.execPath, [join(here, 'run.js'), '--engine', 'postgresql', '--again', '--reached', json], { stdio: 'inherit' });
        if (status !== 0) throw new Error('a file failed, so it may reach more: repair it first');
        return JSON.parse(readFileSync(json, 'utf8'));
    } finally {
        rmSync(scratch, { recursive: true, force: true });
    }
}

const alone = (name) => /^\/\/ engine: (postgresql|both)/m.test(readFileSync(join(here, `${name}.test.js`), 'utf8'));
/** The reach of the files, without the left-out ones. */
const union = (files, ...out) => new Set(files.filter((file) => !out.includes(file)).flatMap((file) => file.reached));

/** The files to add to `there`, so that both reach all that `rest` reaches. */
function choose(there, rest) {
    const missing = union(rest);
    for (const what of union(there)) missing.delete(what);
    const chosen = [];
    while (missing.size > 0) {
        const worth = ({ cpu, reached }) => reached.filter((what) => missing.has(what)).length / cpu;
        const best = rest.reduce((one, other) => (worth(other) > worth(one) ? other : one));
        chosen.push(best);
        for (const what of best.reached) missing.delete(what);
    }
    // A file that was chosen early may have become superfluous.
    for (const file of [...chosen].sort((a, b) => b.cpu - a.cpu)) {
        const others = union([...there, ...chosen], file);
        if (file.reached.every((what) => others.has(what))) chosen.splice(chosen.indexOf(file), 1);
    }
    return chosen.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Words as lines of a comment. */
function comment(words) {
    const lines = [];
    for (const word of words) {
        if (lines.length > 0 && `${lines.at(-1)}, ${word}`.length < WIDTH) lines.push(`${lines.pop()}, ${word}`);
        else lines.push(`#   ${word}`);
    }
    return lines.map((line) => `${line}\n`).join('');
}

const given = process.argv.slice(2).map((json) => JSON.parse(readFileSync(json, 'utf8')));
const [first, ...others] = given.length > 0 ? given : [measure(), measure()];
const files = Object.entries(first).map(([name, { cpu, reached }]) => ({
    name, cpu, reached: reached.filter((what) => others.every((run) => !run[name] || run[name].reached.includes(what))),
}));
const there = files.filter(({ name }) => alone(name));
const rest = files.filter((file) => !there.includes(file));
const chosen = choose(there, rest);
const reached = union(files);
const never = statements().filter((name) => !reached.has(name)).sort();

writeFileSync(LIST, `# Written by \`make e2e-cover\` on ${new Date().toISOString().slice(0, 10)}. In CI (run.js --cover), of the end-to-end files of both engines these run on
# PostgreSQL too. With the files that run there alone, they reach each statement of src/store/sql, and each SQLSTATE of a failed
# statement or connection, that all files reach. Below a name: what no other of them reaches.
${chosen.map((file) => `${file.name}\n${comment(file.reached.filter((what) => !union([...there, ...chosen], file).has(what)))}`).join('')}
# Statements that no file executes on PostgreSQL, or only by chance.
${never.map((name) => `except ${name}\n`).join('')}`);
const cost = (some) => some.reduce((sum, { cpu }) => sum + cpu, 0).toFixed(0);
console.log(`${chosen.length} of ${rest.length} files (${cost(chosen)} of ${cost(rest)} s of processor) with the ${there.length} that run on PostgreSQL alone (${cost(there)} s)`);
