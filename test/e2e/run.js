// Runs the suite on one store engine: node run.js [--engine sqlite|postgresql] [FILE…]
// At the end of a whole run, fails if an operation of the OpenAPI documents was asked for by no test, if none got an answer
// like the example of one, or if an error code was provoked by none that docs/decisions.md does not except.
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readHits } from './lib/hits.js';

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

/** sipp presses keys through a raw socket. Without root, the run moves into a network of its own, where it may have one:
 *  a user namespace with loopback and that one capability. */
function obtainRawSockets() {
    const needed = files.some((file) => basename(file) === 'voice-peers.test.js');
    if (!needed || process.getuid() === 0 || process.env.PORTERO_E2E_NAMESPACE) return;
    const only = '-all,+net_raw';
    const command = ['unshare', '--user', '--map-current-user', '--keep-caps', '--net', '--', 'sh', '-c',
        `ip link set lo up && ip address add 10.255.255.1/32 dev lo && exec setpriv --inh-caps=${only} --ambient-caps=${only} -- "$@"`, 'sh'];
    const start = (...words) => spawnSync(command[0], [...command.slice(1), ...words], { stdio: 'inherit', env: { ...process.env, PORTERO_E2E_NAMESPACE: '1' } });
    if (start('true').status !== 0) {
        console.error('end to end: sipp needs a raw socket, and this system gives a user neither that nor a user namespace (user.max_user_namespaces, '
            + 'kernel.unprivileged_userns_clone): run the tests as root');
        process.exit(1);
    }
    process.exit(start(process.execPath, ...process.argv.slice(1)).status ?? 1);
}
obtainRawSockets();

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

/** What no test met although it should, and what one met although it is said that none can: one line each. */
async function gaps() {
    const { contract } = await import('./lib/contract.js');
    const { allCodes, exceptions } = await import('./lib/codes.js');
    const met = readHits(hits);
    const excepted = new Set(exceptions());
    return [
        ...contract().flatMap((document) => document.operations()).filter((name) => !met.operations.has(name)).map((name) => `no test asked for ${name}`),
        ...allCodes().filter((code) => !met.codes.has(code) && !excepted.has(code)).map((code) => `no test provoked ${code}`),
        ...contract().flatMap((document) => document.examples()).filter((name) => !met.examples.has(name))
            .map((name) => `no answer had the members that src/api/examples.json shows of ${name}`),
        ...[...excepted].filter((code) => met.codes.has(code)).map((code) => `${code} was provoked: it is no exception of docs/decisions.md`),
    ];
}

// Those that take longest begin first, so that none of them is left alone at the end.
const LONGEST = ['crash', 'buildings-faults', 'twilio', 'sandbox-page', 'hosted-pages', 'stripe', 'mail', 'voice-buzz', 'voice-peers', 'typed-client', 'webhook-crash'];
function rank(file) {
    const at = LONGEST.indexOf(basename(file, '.test.js'));
    return at < 0 ? LONGEST.length : at;
}

function suite() {
    let failed = false;
    const stream = run({ files: files.sort((a, b) => rank(a) - rank(b)), concurrency: 4, timeout: 600_000 });
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
    if (!args.length) {
        const missing = await gaps();
        for (const line of missing) console.error(line);
        passed &&= missing.length === 0;
    }
} finally {
    if (engine === 'postgresql') cluster('stop');
    rmSync(scratch, { recursive: true, force: true });
}
console.log(`end to end, ${engine}: ${passed ? 'passed' : 'FAILED'}`);
process.exitCode = passed ? 0 : 1;
