// A PostgreSQL server of a test file's own, which it may stop, freeze and start again.
import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryDirectory } from './daemon.js';
import { diskFault } from './diskfault.js';

const script = join(dirname(fileURLToPath(import.meta.url)), '../../../scripts/pg-cluster');

export class Cluster {
    /** options: settings of the server, {max_connections: 12}; disk: its tables are on a disk that can be made to fail. */
    constructor(options = {}, { disk = false } = {}) {
        this.directory = temporaryDirectory();
        // The server crashes, the machine does not: no fsync.
        const settings = Object.entries(options).map(([name, value]) => `-c ${name}=${value}`).join(' ');
        if (disk) this.disk = diskFault(this.directory, join(this.directory, 'data/base'));
        this.env = { ...process.env, ...this.disk?.env, PG_CLUSTER_FSYNC: 'off', PG_CLUSTER_OPTIONS: settings };
        this.dsn = this.#run('start', String(process.pid));
    }

    #run(verb, ...args) {
        const done = spawnSync(script, [verb, this.directory, ...args], { encoding: 'utf8', timeout: 60_000, env: this.env });
        if (done.status !== 0) throw new Error(`pg-cluster ${verb}: ${done.stderr}`);
        return done.stdout.trim();
    }

    /** Stops at once, as in a crash. */
    kill() { this.#run('kill'); }
    start() { this.#run('start'); }

    #signal(name) {
        const [postmaster] = readFileSync(join(this.directory, 'data/postmaster.pid'), 'utf8').split('\n');
        const children = readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && parentOf(pid) === postmaster);
        process.kill(Number(postmaster), name);
        for (const pid of children) {
            try {
                process.kill(Number(pid), name);
            } catch (error) {
                if (error.code !== 'ESRCH') throw error; // it has ended
            }
        }
    }

    /** Stops all its processes where they are; the kernel keeps their connections. */
    freeze() { this.#signal('SIGSTOP'); }
    thaw() { this.#signal('SIGCONT'); }

    stop() {
        try {
            this.thaw();
        } catch {
            // It does not run.
        }
        this.#run('stop');
        rmSync(this.directory, { recursive: true, force: true });
    }
}

function parentOf(pid) {
    try {
        return /^PPid:\t(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    } catch {
        return undefined; // it has ended
    }
}
