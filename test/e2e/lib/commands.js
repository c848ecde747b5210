// The commands of residents and agents, run beside a daemon with a configuration directory of their own.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { noteCode } from './hits.js';
import { binary, cleanEnvironment, temporaryDirectory } from './daemon.js';
import { eventually, message } from './world.js';

export class Commands {
    constructor({ directory = temporaryDirectory(), env = {} } = {}) {
        this.directory = directory;
        this.env = { XDG_CONFIG_HOME: join(directory, 'config'), ...env };
        this.running = new Set();
    }

    /** Starts a command: {process, stdout, stderr, ended, type(text)}. */
    start(args, { env = {}, program = binary } = {}) {
        const child = spawn(program, args, { env: cleanEnvironment({ ...this.env, ...env }), cwd: this.directory, stdio: 'pipe', timeout: 120_000, killSignal: 'SIGKILL' });
        const run = { process: child, stdout: '', stderr: '', type: (text) => child.stdin.write(text) };
        child.stdin.on('error', () => { /* it has ended */ });
        for (const name of ['stdout', 'stderr']) child[name].setEncoding('utf8').on('data', (more) => { run[name] += more; });
        this.running.add(run);
        run.ended = once(child, 'close').then(([status, signal]) => {
            this.running.delete(run);
            noteCode({ error: { code: /^portero: .* \(([A-Z_]+)\)$/m.exec(run.stderr)?.[1] } });
            return { status, signal, stdout: run.stdout, stderr: run.stderr };
        });
        return run;
    }

    /** Runs a command to its end: {status, stdout, stderr}. */
    run(args, options = {}) {
        const run = this.start(args, options);
        run.process.stdin.end(options.input ?? '');
        return run.ended;
    }

    /** Logs in with the code from the sandbox's mailbox, which it types when it is asked: {status, stdout, stderr}. */
    async login(client, email, args = []) {
        const run = this.start(['login', '--url', client.daemon.https, '--ca-file', join(client.daemon.data, 'tls.crt'), '--email', email, ...args]);
        await eventually(() => run.stderr.includes('The six digits') || run.process.exitCode !== null, 'the question for the code');
        if (run.process.exitCode === null) run.type(`${(await message(client, email)).code}\n`);
        return run.ended;
    }

    async close() {
        for (const run of this.running) run.process.kill('SIGKILL');
        await Promise.all([...this.running].map((run) => run.ended));
    }
}
