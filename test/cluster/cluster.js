// The cluster of scripts/cluster for a run of the scenarios, and the faults that are more than one of its commands.
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { binary, cleanEnvironment, configText, root } from '../e2e/lib/daemon.js';
import { Client } from '../e2e/lib/client.js';

const here = dirname(fileURLToPath(import.meta.url));
export const NETWORK = '10.77.0.1'; // in the run's own network namespace
const CUT = { name: 'node3', inside: '10.77.1.2', outside: '10.77.1.1' };
const READY_MS = 180_000;

/** Tries until `probe` gives something; undefined when the time has run out. */
export async function within(ms, probe, pause = 100) {
    const until = Date.now() + ms;
    for (;;) {
        const found = await probe();
        if (found || Date.now() > until) return found || undefined;
        await sleep(pause);
    }
}

/** Runs a command, while the clients in this process go on: {status, stdout, stderr}. */
function output(command, words, options) {
    return new Promise((resolve, reject) => {
        const child = spawn(command, words, { stdio: ['ignore', 'pipe', 'pipe'], ...options });
        let stdout = '';
        let stderr = '';
        child.stdout.on('data', (text) => { stdout += text; });
        child.stderr?.on('data', (text) => { stderr += text; });
        child.on('error', reject);
        child.on('close', (status) => resolve({ status, stdout, stderr }));
    });
}

export class Cluster {
    /** address: where all listen; times: {ttl, loop_wait, retry_timeout} of Patroni; config: sections of the nodes' configuration. */
    constructor({ directory, address, times, config }) {
        this.directory = join(directory, 'cluster');
        this.address = address;
        const configFile = join(directory, 'nodes.conf');
        writeFileSync(configFile, configText(config));
        this.env = {
            ...cleanEnvironment(), PORTERO_BIN: binary, CLUSTER_DIR: this.directory, CLUSTER_ADDRESS: address, CLUSTER_CONFIG: configFile, CLUSTER_TTL: times.ttl,
            CLUSTER_LOOP_WAIT: times.loop_wait, CLUSTER_RETRY_TIMEOUT: times.retry_timeout,
        };
    }

    /** Runs a command of scripts/cluster: its output. */
    async run(words, env = {}) {
        const done = await output(join(root, 'scripts/cluster'), words, { env: { ...this.env, ...env }, stdio: ['ignore', 'pipe', 'inherit'] });
        if (done.status !== 0) throw new Error(`scripts/cluster ${words.join(' ')}: status ${done.status}`);
        return done.stdout.trim();
    }

    start() { return this.run(['start', String(process.pid)]); }
    stop() { return this.run(['stop']); }
    crash(name) { return this.run(['crash', name]); }
    freeze(name) { return this.run(['freeze', name]); }
    thaw(name) { return this.run(['thaw', name]); }
    end(name) { return this.run(['end', name]); }
    revive(name, env) { return this.run(['revive', name], env); }

    ports() { return new Map(readFileSync(join(this.directory, 'ports'), 'utf8').trim().split('\n').map((line) => line.split(' '))); }
    port(name) { return Number(this.ports().get(name)); }
    url(name) { return `https://${name === CUT.name ? CUT.inside : '127.0.0.1'}:${this.port(name)}`; }
    pid(name) { return Number(readFileSync(join(this.directory, `${name}.pid`), 'utf8').split(' ')[0]); }
    log(name) { return readFileSync(join(this.directory, `${name}.log`), 'utf8'); }
    serverPid(name) { return Number(readFileSync(join(this.directory, 'postgres', name, 'postmaster.pid'), 'utf8').split('\n')[0]); }

    /** The status that Patroni's interface of a server answers with; 0 without an answer. */
    role(server, path) {
        return new Promise((done) => {
            const request = http.get({ host: this.address, port: this.port(`patroni${server.slice(2)}`), path: `/${path}`, timeout: 2_000 }, (answer) => {
                answer.resume();
                done(answer.statusCode);
            });
            request.on('timeout', () => request.destroy());
            request.on('error', () => done(0));
        });
    }

    async inRole(path, except) {
        for (const server of ['pg1', 'pg2', 'pg3']) if (server !== except && await this.role(server, path) === 200) return server;
        return undefined;
    }

    /** The server that takes writes, once there is one other than `except`. */
    async primary(except) {
        const found = await within(READY_MS, () => this.inRole('primary', except));
        if (!found) throw new Error('no server took over');
        return found;
    }

    /** Until one server leads, two follow it, one of them synchronously, and the nodes answer. */
    async healthy(nodes = ['node1', 'node2']) {
        const ready = await within(READY_MS, async () => {
            const primary = await this.inRole('primary');
            return primary && await this.inRole('synchronous') && await this.sql("SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'", { quiet: true }) === '2';
        }, 500);
        if (!ready) throw new Error(`the servers did not recover:\n${await this.run(['status'])}`);
        for (const node of nodes) {
            const client = new Client(undefined, { base: this.url(node) });
            const answers = await within(READY_MS, () => client.get('/v1/account', { check: false, timeout: 5_000 }).then(({ status }) => status < 500, () => false));
            client.close();
            if (!answers) throw new Error(`${node} did not recover`);
        }
    }

    dsn({ user = 'portero', database = 'portero' } = {}) {
        return readFileSync(join(this.directory, 'dsn'), 'utf8').trim().replace(/user=\S+/, `user=${user}`).replace(/dbname=\S+/, `dbname=${database}`);
    }

    /** Rows of SQL that the superuser runs on the primary. */
    async sql(text, { database = 'portero', quiet = false } = {}) {
        const done = await output('psql', ['-XqAt', '-v', 'ON_ERROR_STOP=1', '-d', this.dsn({ user: 'postgres', database }), '-c', text], { timeout: 30_000 });
        if (done.status !== 0 && !quiet) throw new Error(`psql: ${done.stderr}`);
        return done.stdout.trim();
    }

    // ---- a node that can be cut off: it has a network of its own, and one cable ----

    async addCable() {
        this.holder = spawn('unshare', ['--net', 'sleep', 'infinity'], { stdio: 'ignore' });
        this.holder.unref();
        process.on('exit', () => this.holder?.kill('SIGKILL'));
        const ip = (...words) => this.#must('ip', words);
        const inside = (...words) => this.#must('nsenter', ['--net', '--target', String(this.holder.pid), 'ip', ...words]);
        // The child is in its own namespace once that differs from ours.
        const mine = this.#must('readlink', ['/proc/self/ns/net']);
        while (this.#must('readlink', [`/proc/${this.holder.pid}/ns/net`]) === mine);
        ip('link', 'add', 'cable', 'type', 'veth', 'peer', 'name', 'plug', 'netns', String(this.holder.pid));
        ip('address', 'add', `${CUT.outside}/30`, 'dev', 'cable');
        ip('link', 'set', 'cable', 'up');
        inside('address', 'add', `${CUT.inside}/30`, 'dev', 'plug');
        inside('link', 'set', 'lo', 'up');
        inside('link', 'set', 'plug', 'up');
        inside('route', 'add', 'default', 'via', CUT.outside);
        const enter = ['--net', '--target', String(this.holder.pid)];
        await this.revive(CUT.name, { CLUSTER_WRAP: `nsenter ${enter.join(' ')}` });
        this.passing = spawn('nsenter', [...enter, process.execPath, join(here, 'pass.js'), CUT.inside, String(this.port(CUT.name))], { stdio: 'inherit' });
        this.passing.unref();
        process.on('exit', () => this.passing?.kill('SIGKILL'));
    }

    /** The node at the cable's end ends with the cluster. */
    removeCable() {
        if (!this.holder) return;
        this.#must('ip', ['link', 'delete', 'cable']);
        this.passing?.kill('SIGKILL');
        this.holder.kill('SIGKILL');
        this.holder = this.passing = undefined;
    }

    cable(state) { this.#must('ip', ['link', 'set', 'cable', state]); }

    #must(command, words) {
        const done = spawnSync(command, words, { encoding: 'utf8' });
        if (done.error || done.status !== 0) throw done.error ?? new Error(`${command} ${words.join(' ')}: ${done.stderr}`);
        return done.stdout.trim();
    }
}

/** A bare libpq loop beside the service: psql inserts a row again and again. `gap(from)` is the longest time in ms
 *  between two successes since then. */
export class Control {
    static async start(cluster) {
        await cluster.sql('DROP DATABASE IF EXISTS control WITH (FORCE)', { database: 'postgres' });
        await cluster.sql('CREATE DATABASE control OWNER portero', { database: 'postgres' });
        return new Control(cluster);
    }

    constructor(cluster) {
        this.dsn = cluster.dsn({ database: 'control' });
        this.successes = [];
        this.running = true;
        this.done = this.#loop();
    }

    #insert(text) {
        return new Promise((done) => {
            const child = spawn('psql', ['-Xq', '-v', 'ON_ERROR_STOP=1', '-d', this.dsn, '-c', text], { stdio: 'ignore' });
            const timer = setTimeout(() => child.kill('SIGKILL'), 10_000);
            child.on('close', (status) => {
                clearTimeout(timer);
                done(status === 0);
            });
        });
    }

    async #loop() {
        await within(READY_MS, () => this.#insert('CREATE TABLE IF NOT EXISTS row (at timestamptz)'));
        while (this.running) {
            if (await this.#insert('INSERT INTO row VALUES (now())')) this.successes.push(Date.now());
            await sleep(100);
        }
    }

    gap(from) { return longestGap(this.successes, from); }

    async stop() {
        this.running = false;
        await this.done;
    }
}

export function longestGap(times, from) {
    const since = times.filter((at) => at >= from);
    return since.reduce((longest, at, i) => Math.max(longest, at - (i ? since[i - 1] : from)), 0);
}
