// A real daemon for a test file: free ports, a fresh store, a generated configuration.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, writeFileSync, readFileSync, existsSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { noteCode } from './hits.js';
import { createDatabase } from './store.js';

const here = dirname(fileURLToPath(import.meta.url));
export const root = resolve(here, '../../..');
export const binary = resolve(process.env.PORTERO_BIN ?? join(root, 'build/portero'));
export const service = join(dirname(binary), 'porterod');
export const engine = process.env.PORTERO_E2E_ENGINE ?? 'sqlite';

// A command that every daemon runs under, as one that restricts what it may do.
const WRAP = process.env.PORTERO_E2E_WRAP ? [process.env.PORTERO_E2E_WRAP] : [];
const START_MS = 60_000;
const STOP_MS = 90_000; // calls may take 30 s to end
const TROUBLES_MAX = 40; // lines of a log

// Limits that no test meets by accident, and no pause at the end; a file that tests them sets its own.
const GENEROUS = {
    http: { drain_s: 0 },
    limits: {
        requests_active: 1_000_000, requests_free: 1_000_000,
        auth_per_ip: 1_000_000, otp_per_ip: 1_000_000, otp_per_email: 1_000_000, plans_per_ip: 1_000_000, guest_per_ip: 1_000_000, oauth_per_ip: 1_000_000,
    },
};

/** The command line of a process; empty if it has ended. */
function commandOf(pid) {
    try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    } catch {
        return [];
    }
}

/** Waits before the next look at something that has been waited for since then: a tenth of that time, so that a test which waits
 *  for long leaves the processor to the others. */
export const nextTry = (begun) => new Promise((done) => { setTimeout(done, Math.min(200, Math.max(5, (Date.now() - begun) / 10))); });

export function temporaryDirectory() {
    return mkdtempSync(join(tmpdir(), 'portero-e2e-'));
}

/** libconfuse text of {key: value, section: {key: value, 'subsection title': {key: value}}}, without undefined values. */
export function configText(config) {
    const value = (v) => {
        if (Array.isArray(v)) return `{${v.map(value).join(', ')}}`;
        return typeof v === 'string' ? JSON.stringify(v) : String(v);
    };
    return Object.entries(config).filter(([, v]) => v !== undefined).map(([key, v]) => {
        if (v === null || typeof v !== 'object' || Array.isArray(v)) return `${key} = ${value(v)}\n`;
        return `${key} {\n${configText(v)}}\n`;
    }).join('');
}

/** The environment without this machine's own overrides of the service. */
export function cleanEnvironment(extra = {}) {
    const env = Object.fromEntries(Object.entries(process.env)
        .filter(([name]) => !name.startsWith('PORTERO_') && !name.startsWith('NODE_TEST')));
    return { ...env, ...extra };
}

/** Runs one command of the binary, or of `program`, to its end: {status, stdout, stderr}. */
export function portero(args, { env = {}, cwd, input, wrap = [], timeout = 60_000, program = binary } = {}) {
    const [command, ...rest] = [...wrap, program, ...args];
    const done = spawnSync(command, rest, { env: cleanEnvironment(env), cwd, input, timeout, encoding: 'utf8', maxBuffer: 1 << 26 });
    if (done.error) throw done.error;
    noteCode({ error: { code: /^portero: .* \(([A-Z_]+)\)$/m.exec(done.stderr)?.[1] } });
    return done;
}

// A failed test must not leave its daemon behind: daemons do not keep this process alive, and end with it.
const running = new Set();
const started = new Set();
process.on('exit', (code) => {
    if (code !== 0) tellTroubles();
    for (const daemon of running) {
        daemon.process.kill('SIGKILL');
        if (daemon.ownsDirectory) rmSync(daemon.directory, { recursive: true, force: true });
    }
});
for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => process.exit(1));

/** After a failed test: the last warnings and errors of each service of the file. */
function tellTroubles() {
    for (const { stderr } of started) {
        const troubles = stderr.split('\n').filter((line) => / (warn|error) (?!running_as_root)/.test(line)).slice(-TROUBLES_MAX);
        if (troubles.length > 0) writeSync(2, ['a service of this file logged:', ...troubles, ''].join('\n'));
    }
}

export class Daemon {
    /**
     * config: sections over the generous defaults; env: extra variables; directory: an existing one to start on again;
     * wrap: a command to run the binary under, e.g. ['setpriv', '--reuid=65534']; program: another binary.
     */
    static async start(options = {}) {
        const daemon = new Daemon(options);
        await daemon.start();
        return daemon;
    }

    constructor({ config = {}, env = {}, directory, args, wrap = [], program = binary } = {}) {
        this.ownsDirectory = !directory;
        this.directory = directory ?? temporaryDirectory();
        this.data = join(this.directory, 'data');
        this.configPath = join(this.directory, 'portero.conf');
        this.env = env;
        this.wrap = wrap;
        this.program = program;
        this.args = args ?? ['--https', '127.0.0.1:0', '--http', '127.0.0.1:0', '--sip', '127.0.0.1:0'];
        this.configure({ config });
        this.stderr = '';
        this.stdout = '';
    }

    configure({ config = {} }) {
        this.config = { ...config, http: { ...GENEROUS.http, ...config.http }, limits: { ...GENEROUS.limits, ...config.limits } };
    }

    writeConfig() {
        if (engine === 'postgresql' && !this.config.store?.dsn) {
            const dsnFile = join(this.directory, 'dsn');
            if (!existsSync(dsnFile)) writeFileSync(dsnFile, createDatabase());
            this.dsn = readFileSync(dsnFile, 'utf8');
            this.config.store = { ...this.config.store, engine: 'postgresql', dsn: `file:${dsnFile}` };
        }
        writeFileSync(this.configPath, configText(this.config));
    }

    /** Starts the process (again); resolves once it printed its ready line. */
    async start() {
        this.spawn();
        return this.ready();
    }

    /** Resolves once the process has printed its ready line. */
    async ready() {
        const ready = await this.outcome(() => /^ready (\S+) (\S+) (\S+)(?: metrics:(\S+))?\n/.exec(this.stdout), START_MS);
        if (!ready) throw new Error(`the daemon did not start (exit ${this.process.exitCode}):\n${this.stdout}${this.stderr}`);
        [, this.https, this.http, this.sip, this.metrics] = ready;
        return this;
    }

    spawn() {
        this.writeConfig();
        this.stdout = '';
        const [command, ...args] = [...WRAP, ...this.wrap, this.program, 'serve', '--config', this.configPath, '--data', this.data, ...this.args];
        this.process = spawn(command, args, { env: cleanEnvironment(this.env), stdio: ['ignore', 'pipe', 'pipe'], cwd: this.directory });
        this.process.stdout.setEncoding('utf8').on('data', (text) => { this.stdout += text; });
        this.process.stderr.setEncoding('utf8').on('data', (text) => { this.stderr += text; });
        for (const handle of [this.process, this.process.stdout, this.process.stderr]) handle.unref();
        running.add(this);
        started.add(this);
        this.closed = once(this.process, 'close').then(([code, signal]) => {
            running.delete(this);
            return { code, signal };
        });
    }

    /** The first truthy result of `probe`; undefined if the process ends or the time runs out before. */
    async outcome(probe, ms) {
        const begun = Date.now();
        let ended = false;
        this.closed.then(() => { ended = true; });
        while (Date.now() - begun < ms) {
            const found = probe();
            if (found) return found;
            if (ended) return probe() || undefined;
            await nextTry(begun);
        }
        return undefined;
    }

    running() {
        return this.process && this.process.exitCode === null && this.process.signalCode === null;
    }

    /** The end of the process, which is killed when it does not come: {code, signal}. */
    async exited() {
        const timer = setTimeout(() => this.process.kill('SIGKILL'), STOP_MS);
        const end = await this.closed;
        clearTimeout(timer);
        return end;
    }

    /** SIGTERM and the end. */
    terminate(signal = 'SIGTERM') {
        if (this.running()) this.process.kill(signal);
        return this.exited();
    }

    /** kill -9, as a power switch. */
    crash() {
        return this.terminate('SIGKILL');
    }

    /** SIGSTOP and SIGCONT, which no wrapper can pass on. */
    freeze() { process.kill(this.#pid(), 'SIGSTOP'); }
    thaw() { process.kill(this.#pid(), 'SIGCONT'); }

    /** The service gets no more descriptors, until the returned function is called. */
    takeDescriptors() {
        const limit = (...args) => {
            const done = spawnSync('prlimit', ['--pid', String(this.#pid()), ...args], { encoding: 'utf8' });
            if (done.status !== 0) throw new Error(`prlimit: ${done.stderr}`);
            return done.stdout.trim();
        };
        const before = limit('--nofile', '--raw', '--noheadings', '--output', 'SOFT');
        limit('--nofile=3:');
        return () => limit(`--nofile=${before}:`);
    }

    /** Of the program, under a wrapper, too. */
    #pid() {
        const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name)).map(Number);
        return pids.find((pid) => {
            const [program, ...args] = commandOf(pid);
            return program === this.program && args.includes(this.data);
        }) ?? this.process.pid;
    }

    /** Ends the daemon gracefully, checks that it did so cleanly and told no secrets, and removes its directory. */
    async stop() {
        try {
            if (this.running()) {
                const { code, signal } = await this.terminate();
                if (code !== 0) throw new Error(`the daemon ended with ${code ?? signal}:\n${this.stderr.slice(-4000)}`);
            }
            const secret = /(svc_(web|agent)_[0-9A-Za-z]{43}|whsec_[0-9A-Za-z]{43}|(Address|Thread|Leak)Sanitizer|runtime error:)/.exec(this.stderr);
            if (secret) throw new Error(`standard error has ${secret[0]}:\n${this.stderr.slice(-4000)}`);
        } finally {
            if (this.ownsDirectory) rmSync(this.directory, { recursive: true, force: true });
        }
    }

    /** Waits until standard error has a match of the pattern. */
    logged(pattern, ms = 60_000) {
        return this.outcome(() => pattern.exec(this.stderr), ms);
    }

    get sipPort() { return Number(/:(\d+)$/.exec(this.sip)[1]); }
    get httpsPort() { return Number(new URL(this.https).port); }
    get httpPort() { return Number(new URL(this.http).port); }
}
