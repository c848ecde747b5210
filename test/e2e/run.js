// Runs the end-to-end tests: node run.js [--engine sqlite|postgresql] [--cover] [--again] [--reached JSON] [FILE…]
// Each file runs on both store engines unless --engine names one. A file with a line "// engine: sqlite" (or postgresql)
// runs on that engine only, because its subject does not depend on the store; naming the file and --engine overrides it.
// A file with "// engine: both" expects something else of each, so it runs on both with --cover, too.
// With --cover, of the files of both engines only the ones in postgresql.txt run on PostgreSQL too, and a run of all files fails
// if a statement of src/store/sql is not executed there, unless postgresql.txt excepts it.
// With --again, files that failed run once more, alone: "unstable: NAME" tells of one that passes then.
// With --reached, each file's costs and what it reached on PostgreSQL are written to JSON.
// In .ci/run, a file that passed before with the same content of all that it depends on is left out (lib/passes.js).
// A run of all files also fails if no test called an operation of the OpenAPI documents, no answer matched the example of
// one, or no test provoked an error code that lib/codes.js does not except.
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { cover, LOGGED, reached, statements } from './lib/cover.js';
import { hitsOf, readHits } from './lib/hits.js';
import { keepPass, passOf, readPass } from './lib/passes.js';

const ENGINES = ['sqlite', 'postgresql'];
// The files that take longest start first, so that the run does not end with one slow file alone.
const LONGEST = ['waits', 'stripe', 'nodes', 'nodes-events', 'setup', 'trunks', 'forward', 'account-delete', 'spoken-code', 'start', 'rolling', 'crash',
    'docs-examples', 'site-guest', 'site-access', 'site-door', 'docs-pages', 'buildings-faults', 'twilio', 'spoken', 'names', 'voice-buzz', 'sandbox-page', 'site-faults'];
const AT_ONCE = Math.max(4, 3 * availableParallelism()); // tests wait more than they compute
const FILE_LIMIT_MS = 600_000;
const SILENCE_LIMIT_MS = 180_000; // longer than any single wait of a test: it hangs, or left something open after its end
const KILL_AFTER_MS = 10_000;
const TICKS_PER_SECOND = 100; // USER_HZ, of all processors

const here = dirname(fileURLToPath(import.meta.url));
const { values: options, positionals } = parseArgs({
    allowPositionals: true,
    options: { engine: { type: 'string' }, cover: { type: 'boolean' }, again: { type: 'boolean' }, reached: { type: 'string' } },
});
const { engine } = options;
if (engine !== undefined && !ENGINES.includes(engine)) {
    console.error('usage: run.js [--engine sqlite|postgresql] [--cover] [--again] [--reached JSON] [FILE…]');
    process.exit(2);
}
const whole = positionals.length === 0;
const files = whole ? readdirSync(here).filter((name) => name.endsWith('.test.js')).sort().map((name) => join(here, name))
    : positionals.map((file) => resolve(file));

/** sipp sends tones through a raw socket. Without root, the run moves into its own network, where it may open one: a user
 *  namespace with loopback and that one capability. */
function obtainRawSockets() {
    const needed = files.some((file) => ['voice-peers.test.js', 'voice-proxy.test.js'].includes(basename(file)));
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

/** The runs of all files, the longest first: {file, name, engine}. */
function plan() {
    const covers = options.cover ? cover().files : undefined;
    const rank = ({ name }) => (LONGEST.includes(name) ? LONGEST.indexOf(name) : LONGEST.length);
    return files.flatMap((file) => {
        const said = /^\/\/ engine: (\w+)/m.exec(readFileSync(file, 'utf8'))?.[1];
        if (said && said !== 'both' && !ENGINES.includes(said)) throw new Error(`${file}: unknown engine ${said}`);
        const only = said === 'both' ? undefined : said;
        const name = basename(file, '.test.js');
        const both = covers && !said && !covers.has(name) ? ['sqlite'] : ENGINES;
        const engines = only && (whole || !engine) ? [only] : both;
        return engines.filter((one) => !engine || one === engine).map((one) => ({ file, name, engine: one }));
    }).sort((a, b) => rank(a) - rank(b));
}

const scratch = mkdtempSync(join(tmpdir(), 'portero-e2e-run-'));
const hits = join(scratch, 'hits'), documents = join(scratch, 'documents');
for (const directory of [hits, documents]) mkdirSync(directory);
chmodSync(scratch, 0o711); // PostgreSQL runs as another user

// Whether the PostgreSQL server logs each statement.
const logs = whole && options.cover || options.reached !== undefined;

/** The private PostgreSQL server, which ends with this process at the latest. No test cuts its power: fsync is off. */
function cluster(verb) {
    const done = spawnSync(resolve(here, '../../scripts/pg-cluster'), [verb, join(scratch, 'pg'), String(process.pid)],
        { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, PG_CLUSTER_FSYNC: 'off', ...(logs && { PG_CLUSTER_OPTIONS: LOGGED }) } });
    if (done.error || done.status !== 0) throw done.error ?? new Error(`scripts/pg-cluster ${verb} failed`);
    return done.stdout.trim();
}

// PostgreSQL's own programs: Debian's psql is a script in front of it, which costs more than most statements.
const PATH = [spawnSync(resolve(here, '../../scripts/pg-cluster'), ['programs'], { encoding: 'utf8' }).stdout.trim(), process.env.PATH].filter(Boolean).join(':');

const running = new Set();

/** Sends a signal to a test file and to everything that it started. */
function signalGroup(child, signal) {
    try {
        process.kill(-child.pid, signal);
    } catch (error) {
        if (error.code !== 'ESRCH') throw error;
    }
}
for (const signal of ['SIGINT', 'SIGTERM']) {
    process.on(signal, () => {
        for (const child of running) signalGroup(child, 'SIGTERM');
        setTimeout(() => process.exit(1), 2_000).unref();
    });
}

/** The processor time of all processes that this one, or another, has waited for, and that its children have waited for: seconds. */
function processorTime(pid = 'self') {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /, '').split(' '); // from field 3, state
    return (Number(fields[13]) + Number(fields[14])) / TICKS_PER_SECOND;
}
let counted = 0;

/** Runs one file in its own process, which is ended when it hangs: {output, ok, cpu, hits}. cpu: seconds of the file and of
 *  what it started, but not of PostgreSQL. */
function runFile({ file, name, engine: on }, dsn) {
    const noted = join(hits, `${name}-${on}`);
    mkdirSync(noted, { recursive: true });
    const env = { ...process.env, PATH, PORTERO_E2E_ENGINE: on, PORTERO_E2E_HITS: noted, PORTERO_E2E_DOCUMENTS: documents, PORTERO_E2E_NAME: name, ...(on === 'postgresql' && { PORTERO_E2E_DSN: dsn }) };
    const child = spawn(process.execPath, ['--test-reporter=spec', file], { env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    running.add(child);
    let output = '';
    const end = (why) => {
        output += `\n${why}: ended\n`;
        signalGroup(child, 'SIGTERM');
        setTimeout(() => signalGroup(child, 'SIGKILL'), KILL_AFTER_MS).unref();
    };
    const limit = setTimeout(end, FILE_LIMIT_MS, `still running after ${FILE_LIMIT_MS / 1000} s`);
    const silence = setTimeout(end, SILENCE_LIMIT_MS, `silent for ${SILENCE_LIMIT_MS / 1000} s`);
    for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding('utf8').on('data', (text) => {
            output += text;
            silence.refresh();
        });
    }
    return new Promise((resolve, reject) => {
        let cpu = 0;
        child.on('error', reject);
        child.on('exit', () => {
            const now = processorTime();
            cpu = now - counted;
            counted = now;
        });
        child.on('close', (code) => {
            clearTimeout(limit);
            clearTimeout(silence);
            running.delete(child);
            resolve({ output, ok: code === 0, cpu, hits: readHits(noted) });
        });
    });
}

/** A number of the summary at the end of a file's output. */
const count = (output, kind) => Number(output.match(new RegExp(`^. ${kind} (\\d+)$`, 'gm'))?.at(-1).split(' ').at(-1) ?? 0);

const nameOf = (run) => `${run.name} on ${run.engine}`;

/** Runs everything given, so many files at once: the runs that failed. */
async function suite(runs, dsn, atOnce) {
    const queue = [...runs];
    const failed = [];
    const total = { tests: 0, pass: 0, skipped: 0 };
    const began = processorTime();
    counted = began;
    const work = async () => {
        for (let next = queue.shift(); next; next = queue.shift()) {
            const at = Date.now();
            const { output, ok, cpu, hits: met } = await runFile(next, dsn);
            next.cpu = cpu;
            next.hits = met;
            const tests = count(output, 'tests');
            const passed = ok && tests > 0; // a file that lost its tests must not pass
            for (const kind of Object.keys(total)) total[kind] += count(output, kind);
            if (!passed) {
                failed.push(next);
                next.failing = output.slice(Math.max(0, output.lastIndexOf('failing tests:')));
                console.log(output);
            }
            console.log(`${passed ? 'ok    ' : 'FAILED'} ${nameOf(next)}: ${tests} tests, ${((Date.now() - at) / 1000).toFixed(1)} s, ${cpu.toFixed(1)} s of processor`);
        }
    };
    await Promise.all(Array.from({ length: atOnce }, work));
    for (const [kind, sum] of Object.entries(total)) console.log(`# ${kind} ${sum}`);
    console.log(`# processor ${(processorTime() - began).toFixed(0)} s`);
    if (dsn) console.log(`# processor of PostgreSQL ${processorTime(Number.parseInt(readFileSync(join(scratch, 'pg/data/postmaster.pid'), 'utf8'), 10)).toFixed(0)} s`);
    return failed;
}

/** Everything that some test must meet and no test met, and each exception that a test met: one line each. */
async function gaps() {
    const { contract } = await import('./lib/contract.js');
    const { allCodes, exceptions } = await import('./lib/codes.js');
    const met = hitsOf(runs.flatMap((run) => run.hits));
    const excepted = new Set(exceptions());
    return [
        ...contract().flatMap((document) => document.operations()).filter((name) => !met.operations.has(name)).map((name) => `no test called ${name}`),
        ...allCodes().filter((code) => !met.codes.has(code) && !excepted.has(code)).map((code) => `no test provoked ${code}`),
        ...contract().flatMap((document) => document.examples()).filter((name) => !met.examples.has(name))
            .map((name) => `no answer had the members that src/resources/examples.json shows of ${name}`),
        ...[...excepted].filter((code) => met.codes.has(code)).map((code) => `${code} was provoked: remove it from the exceptions of lib/codes.js`),
    ];
}

/** With --reached, writes what each file cost and reached on PostgreSQL. The statements that none executed there: one line each. */
function unreached() {
    const there = runs.filter((run) => run.engine === 'postgresql');
    if (options.reached) writeFileSync(options.reached, JSON.stringify(Object.fromEntries(there.map(({ name, cpu, reached }) => [name, { cpu, reached }])), undefined, 1));
    if (!whole || !options.cover || there.length === 0) return [];
    const met = new Set(there.flatMap((run) => run.reached));
    const excepted = cover().excepted;
    return statements().filter((name) => !met.has(name) && !excepted.has(name)).map((name) => `no file executed ${name} on PostgreSQL: run make e2e-cover`);
}

const runs = plan();
for (const run of runs) {
    run.pass = options.reached ? undefined : passOf(run.file, run.engine, logs ? 'logged' : '');
    Object.assign(run, readPass(run.pass)); // hits and reached
}
const todo = runs.filter((run) => !run.hits);
const withPostgresql = todo.some((one) => one.engine === 'postgresql');
let failed = ['the start'];
try {
    const dsn = withPostgresql ? cluster('start') : undefined;
    console.log(`end to end: ${todo.length} runs of ${files.length} files, ${AT_ONCE} at once; ${runs.length - todo.length} runs passed before`);
    let failures = await suite(todo, dsn, AT_ONCE);
    const steady = todo.filter((run) => !failures.includes(run));
    if (options.again && failures.length > 0) {
        const first = failures;
        failures = await suite(first, dsn, 1);
        for (const run of first) if (!failures.includes(run)) console.log(`unstable: ${nameOf(run)} failed, then passed`);
    }
    failed = failures.map((run) => `${nameOf(run)}: ${run.failing}`); // again, after hundreds of lines of what passed
    const byName = logs && withPostgresql ? await reached(join(scratch, 'pg/log')) : new Map();
    for (const run of todo) run.reached = run.engine === 'postgresql' ? [...byName.get(run.name) ?? []].sort() : [];
    for (const { pass, hits, reached } of steady) if (pass) keepPass(pass, { hits, reached });
    // Files of one engine are left out of a run on the other, so their operations and codes are missing there.
    if (whole && engine !== 'postgresql') failed.push(...await gaps());
    if (logs) failed.push(...unreached());
} finally {
    if (withPostgresql) cluster('stop');
    rmSync(scratch, { recursive: true, force: true });
}
for (const line of failed) console.log(`failed: ${line}`);
console.log(`end to end: ${failed.length === 0 ? 'passed' : 'FAILED'}`);
process.exitCode = failed.length === 0 ? 0 : 1;
