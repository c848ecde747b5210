// The faults, one row each. `fault` breaks and mends while the clients of the record write; `alone` runs without them.
// times, quick: how often, in a whole and in a short run. errors: whether clients may see errors of the service (5xx).
// targets: the nodes that clients talk to, `haproxy` stands for either. gap: the longest time without an acknowledged write
// is compared with the gap of a bare libpq loop. unbroken: no client sees a broken connection. readers: of each building's events
// for each of these targets (1); cuts: the fault cuts their connections.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { binary, Daemon, root } from '../e2e/lib/daemon.js';
import { ownClock } from '../e2e/lib/nodes.js';
import { within } from './cluster.js';

const BOTH = ['node1', 'node2', 'haproxy'];

/** Waits until a write was acknowledged after now. */
async function writes(record, ms = 120_000) {
    const from = Date.now();
    assert.ok(await within(ms, () => record.writes.at(-1) > from), `no write was acknowledged in ${ms / 1000} s`);
}

/** Breaks the primary, and waits until the service writes again. */
async function failOver({ cluster, record, control, gaps }, breakIt) {
    await cluster.healthy();
    await writes(record);
    const old = await cluster.primary();
    const from = Date.now();
    await breakIt(old);
    await cluster.primary(old);
    await writes(record);
    await within(60_000, () => control.successes.at(-1) > record.writes.at(-1) - 1_000);
    await sleep(1_000);
    gaps.push({ service: record.gap(from), control: control.gap(from) });
    return old;
}

async function seconds(n) { await sleep(n * 1000); }

/** Signals the server's processes without its Patroni. */
const server = (name) => name.replace('pg', 'server');

const backends = "FROM pg_stat_activity WHERE usename = 'portero' AND pid <> pg_backend_pid()";

async function frozenWithTransaction(cluster, name, address) {
    const open = `SELECT count(*) ${backends} AND client_addr = '${address}' AND state LIKE 'idle in transaction%'`;
    for (let i = 0; i < 200; i++) {
        await cluster.freeze(name);
        if (await cluster.sql(open) !== '0') return true;
        await cluster.thaw(name);
        await sleep(20);
    }
    return false;
}

/** The program of an earlier revision, which scripts/earlier builds. */
function earlier() {
    const built = spawnSync(join(root, 'scripts/earlier'), { encoding: 'utf8' });
    assert.equal(built.status, 0, built.stderr);
    return join(root, 'build/earlier/portero');
}

/** Nodes of their own on a new database, all started at once: how many came up. */
async function startTogether(cluster, count, database) {
    await cluster.sql(`CREATE DATABASE ${database} OWNER portero`, { database: 'postgres' });
    const config = { store: { engine: 'postgresql', dsn: cluster.dsn({ database }) }, secrets: { master_key: '5a'.repeat(32) } };
    const nodes = Array.from({ length: count }, () => new Daemon({ config, args: ['--https', '127.0.0.1:0', '--http', '127.0.0.1:0', '--sip', '127.0.0.1:0'] }));
    const up = await Promise.allSettled(nodes.map((node) => node.start()));
    await Promise.all(nodes.map((node) => node.stop()));
    await cluster.sql(`DROP DATABASE ${database} WITH (FORCE)`, { database: 'postgres' });
    for (const { status, reason } of up) if (status === 'rejected') throw reason;
}

/** Ends the primary server, but not its Patroni, and waits until clients write again and all servers follow. */
async function endPrimary({ cluster, record }, end) {
    await end(await cluster.primary());
    await seconds(1);
    await writes(record);
    await cluster.healthy();
}

export const SCENARIOS = {
    failover: {
        about: 'kill -9 of the primary and its Patroni; another server takes over',
        times: 20, quick: 1, gap: true, targets: BOTH,
        async fault(all) { await all.cluster.revive(await failOver(all, (old) => all.cluster.crash(old))); },
    },
    'server-kill': {
        about: 'kill -9 of the primary server; its Patroni starts it again, or another takes over',
        times: 5, quick: 0, targets: BOTH,
        async fault(all) { await endPrimary(all, (primary) => all.cluster.crash(server(primary))); },
    },
    'immediate-stop': {
        about: 'the primary server stops at once and says so (WARNING before the end of connections)',
        times: 5, quick: 0, targets: BOTH,
        async fault(all) { await endPrimary(all, (primary) => process.kill(all.cluster.serverPid(primary), 'SIGQUIT')); },
    },
    'node-kill': {
        about: 'kill -9 of a node every 5 s, for 10 min',
        times: 120, quick: 4, targets: BOTH,
        async fault({ cluster, time }) {
            const node = `node${1 + time % 2}`;
            await cluster.crash(node);
            await cluster.revive(node);
            await seconds(5);
        },
    },
    streams: {
        about: '50 connections of readers of events cut, and a node killed, 20 times',
        times: 20, quick: 2, targets: BOTH, cuts: 50,
        async fault({ cluster, record, time }) {
            const node = `node${1 + time % 2}`;
            const cutting = (async () => {
                for (const until = record.followers.cuts + this.cuts; record.followers.cuts < until;) {
                    record.followers.cutOne();
                    await sleep(50 + Math.random() * 100);
                }
            })();
            await sleep(Math.random() * 3_000);
            await cluster.crash(node);
            await sleep(500);
            await cluster.revive(node);
            await cutting;
            await cluster.healthy([node]);
        },
    },
    restart: {
        about: 'a node stops in order and starts again, by turns, behind HAProxy: no connection breaks',
        times: 10, quick: 2, unbroken: true, targets: ['haproxy'],
        async fault({ cluster, time }) {
            const node = `node${1 + time % 2}`;
            await cluster.end(node);
            await cluster.revive(node);
            await cluster.healthy([node]);
            await seconds(3); // until the balancer has seen it
        },
    },
    'etcd-away': {
        about: 'kill -9 of etcd for 40 s: the primary stays, because the other servers answer it (failsafe_mode)',
        times: 3, quick: 1, targets: BOTH,
        async fault({ cluster, record }) {
            const primary = await cluster.primary();
            await cluster.crash('etcd');
            await seconds(40); // beyond the time after which a primary without etcd steps down
            await writes(record, 20_000);
            await cluster.revive('etcd');
            await cluster.healthy();
            assert.equal(await cluster.primary(), primary);
            await writes(record);
        },
    },
    'node-freeze': {
        about: 'SIGSTOP of a node for 10 s',
        times: 10, quick: 1, targets: ['node1', 'node2'],
        async fault({ cluster, record }) {
            await cluster.freeze('node2');
            await writes(record);
            await seconds(10);
            await cluster.thaw('node2');
            await seconds(2);
        },
    },
    cut: {
        about: 'a node with an open transaction is cut off for 5, 25 and 60 s: frozen first, so that the transaction is open, then cut',
        times: 3, quick: 1, needs: 'network', errors: ['node3'], targets: ['node1', 'node2', 'node3'],
        async fault({ cluster, time, quick }) {
            const found = await frozenWithTransaction(cluster, 'node3', '10.77.1.2');
            assert.ok(found || quick, 'no transaction was open in 200 tries');
            cluster.cable('down');
            await cluster.thaw('node3');
            await seconds([5, 25, 60][time % 3]);
            cluster.cable('up');
            await cluster.healthy(['node1', 'node2', 'node3']);
        },
    },
    'primary-freeze': {
        about: 'SIGSTOP of the primary and its Patroni until another has taken over, then SIGCONT',
        times: 5, quick: 0, gap: false, targets: BOTH,
        async fault(all) {
            const old = await failOver(all, (name) => all.cluster.freeze(name));
            await seconds(5);
            await all.cluster.thaw(old);
        },
    },
    'server-freeze': {
        about: 'SIGSTOP of the primary server alone for 15 s: it hangs, its kernel answers',
        times: 5, quick: 0, targets: BOTH,
        async fault({ cluster, record }) {
            const old = await cluster.primary();
            await cluster.freeze(server(old));
            await seconds(15);
            await cluster.thaw(server(old));
            await writes(record);
            await cluster.healthy();
        },
    },
    'standby-freeze': {
        about: 'SIGSTOP of the synchronous standby and its Patroni, until commits wait for another',
        times: 5, quick: 0, targets: BOTH,
        async fault({ cluster, record }) {
            const standby = await within(60_000, () => cluster.inRole('synchronous'));
            await cluster.freeze(standby);
            await seconds(1);
            await writes(record);
            await cluster.thaw(standby);
            await cluster.healthy();
        },
    },
    'commit-cut': {
        about: 'pg_terminate_backend of connections in COMMIT, and of others',
        times: 300, quick: 30, targets: BOTH,
        async fault({ cluster }) {
            await cluster.sql(`SELECT pg_terminate_backend(pid) ${backends} AND state = 'active' ORDER BY query NOT ILIKE 'commit%', random() LIMIT 1`);
            await sleep(50);
        },
    },
    'few-connections': {
        about: 'the server admits 12 connections of two nodes with 8 workers each, for 20 s',
        times: 2, quick: 1, targets: ['node1', 'node2'],
        async fault({ cluster }) {
            await cluster.sql('ALTER ROLE portero CONNECTION LIMIT 12');
            await cluster.sql(`SELECT pg_terminate_backend(pid) ${backends}`);
            await seconds(20);
            await cluster.sql('ALTER ROLE portero CONNECTION LIMIT -1');
        },
    },
    clock: {
        about: 'the clock of a node jumps 200 s ahead for 40 s while it runs',
        times: 1, quick: 0, targets: ['node1', 'node2', 'node4'],
        async before({ cluster }) {
            this.clock = ownClock(dirname(cluster.directory));
            const env = Object.entries(this.clock.env).map(([name, value]) => `${name}=${value}`).join(' ');
            await cluster.revive('node4', { CLUSTER_WRAP: `env ${env}` });
            await cluster.healthy(['node4']);
        },
        async fault() {
            await seconds(5);
            this.clock.move(200);
            await seconds(40);
            this.clock.move(0);
            await seconds(5);
        },
    },
    versions: {
        about: 'a node of the earlier program that scripts/earlier builds, and this one, started by turns',
        times: 4, quick: 0, targets: ['node1', 'node2', 'haproxy'], readers: 0, // the earlier program has no events
        async before() { this.earlier = earlier(); },
        async fault({ cluster, time }) {
            const node = `node${1 + time % 2}`;
            const program = time % 4 < 2 ? this.earlier : binary;
            await cluster.end(node);
            await cluster.revive(node, { PORTERO_BIN: program });
            await cluster.healthy([node]);
            await seconds(10);
        },
    },
    starts: {
        about: '8 nodes start at once on an empty database',
        times: 20, quick: 1, alone: true,
        async fault({ cluster, time }) { await startTogether(cluster, 8, `starts_${time}`); },
    },
};

/** Why a scenario cannot run here. */
export function missing(scenario, { network }) {
    return scenario.needs === 'network' && !network ? 'this system gives no network namespace to this user (unshare --net)' : undefined;
}
