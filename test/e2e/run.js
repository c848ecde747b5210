// Runs the suite on one store engine: node run.js [--engine sqlite|postgresql] [FILE…]
// At the end, fails if an operation of the OpenAPI documents was asked for by no test.
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const args = process.argv.slice(2);
const at = args.indexOf('--engine');
const engine = at < 0 ? 'sqlite' : args.splice(at, 2)[1];
if (!['sqlite', 'postgresql'].includes(engine)) {
    console.error('usage: run.js [--engine sqlite|postgresql] [FILE…]');
    process.exit(2);
}
const files = args.length ? args.map((file) => resolve(file))
    : readdirSync(here).filter((name) => name.endsWith('.test.js')).sort().map((name) => join(here, name));
const scratch = mkdtempSync(join(tmpdir(), 'portero-e2e-run-'));
const hits = join(scratch, 'hits');
mkdirSync(hits);
chmodSync(scratch, 0o711); // PostgreSQL runs as a user of its own
Object.assign(process.env, { PORTERO_E2E_ENGINE: engine, PORTERO_E2E_HITS: hits });

/** The private PostgreSQL server, which ends with this process at the latest. Nothing here pulls its plug: no fsync. */
function cluster(verb) {
    const done = spawnSync(resolve(here, '../../scripts/pg-cluster'), [verb, join(scratch, 'pg'), String(process.pid)],
        { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, PG_CLUSTER_FSYNC: 'off' } });
    if (done.error || done.status !== 0) throw done.error ?? new Error(`scripts/pg-cluster ${verb} failed`);
    return done.stdout.trim();
}

/** The operations that no test asked for. */
async function unasked() {
    const { contract } = await import('./lib/contract.js');
    const asked = new Set(readdirSync(hits).flatMap((name) => readFileSync(join(hits, name), 'utf8').split('\n')));
    return contract().flatMap((document) => document.operations()).filter((operation) => !asked.has(operation));
}

function suite() {
    let failed = false;
    const stream = run({ files, concurrency: 3, timeout: 180_000 });
    stream.on('test:fail', () => { failed = true; });
    const report = stream.compose(new spec());
    report.pipe(process.stdout);
    return new Promise((done) => { report.on('end', () => done(!failed)); });
}

let passed = false;
try {
    if (engine === 'postgresql') process.env.PORTERO_E2E_DSN = cluster('start');
    console.log(`end to end, ${engine}, ${files.length} files`);
    passed = await suite();
    if (passed && !args.length) {
        const missing = await unasked();
        for (const operation of missing) console.error(`no test asked for ${operation}`);
        passed = missing.length === 0;
    }
} finally {
    if (engine === 'postgresql') cluster('stop');
    rmSync(scratch, { recursive: true, force: true });
}
console.log(`end to end, ${engine}: ${passed ? 'passed' : 'FAILED'}`);
process.exitCode = passed ? 0 : 1;
