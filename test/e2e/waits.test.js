// Waits for PostgreSQL: each has an end, and nothing that a retry solves is answered with an error.
// engine: postgresql
import { describe, it, before, after } from 'node:test';
import assert from 'node:assert/strict';
import https from 'node:https';
import { randomBytes } from 'node:crypto';
import { idempotencyKey, ok } from './lib/client.js';
import { Cluster } from './lib/cluster.js';
import { portero } from './lib/daemon.js';
import { freezeInTransaction } from './lib/frozen.js';
import { METRICS, ready } from './lib/metrics.js';
import { sql } from './lib/store.js';
import { assertUnavailable, create, list } from './lib/trouble.js';
import { eventually, grant, resident, visit, world } from './lib/world.js';

const WORKERS = 8;
const HUNG_MS = 15_000;
const LONE_MS = 20_000; // two hung connections, one after the other, would take 22 s
const STOP_MS = 20_000;
const MARGIN_MS = 10_000; // for a machine that is busy with other tests

const sleep = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

/** A world on the cluster, in a database of its own, whose client has a connection for each request. */
async function worldOn(cluster, store = {}, config = {}) {
    const name = `d${idempotencyKey().slice(4)}`;
    sql({ dsn: cluster.dsn }, `CREATE DATABASE ${name}`);
    const dsn = cluster.dsn.replace('dbname=postgres', `dbname=${name}`);
    const w = await world({ config: { ...config, store: { engine: 'postgresql', dsn, ...store } } });
    w.client.agent = new https.Agent({ keepAlive: true, rejectUnauthorized: false });
    w.daemon.dsn = dsn;
    return w;
}

const buzz = (w, person) => w.client.post('/sandbox/calls', { to: person.number, from: '+15550001111' });

/** The answer with the time it took. */
async function timed(request) {
    const began = Date.now();
    const answer = await request;
    return { ...answer, took: Date.now() - began, ended: Date.now() };
}

describe('a PostgreSQL server that hangs', () => {
    let cluster;
    let w;
    let person;
    before(async () => {
        cluster = new Cluster();
        w = await worldOn(cluster, { workers: 4 }, METRICS);
        person = await resident(w.client);
    });
    after(async () => {
        try {
            cluster.thaw();
            await w?.close();
        } finally {
            cluster?.stop();
        }
    });

    // HTTP-26
    it('leaves no request without an answer, and loses nothing', async () => {
        const rows = ok(await list(person)).data.length;
        const keys = Array.from({ length: 10 }, () => idempotencyKey());
        cluster.freeze();
        const answers = await Promise.all([
            ...Array.from({ length: 20 }, () => timed(list(person))),
            ...keys.map((key) => timed(create(person, key))),
            ...Array.from({ length: 3 }, () => timed(buzz(w, person))),
        ]);
        for (const answer of answers) {
            assertUnavailable(answer);
            assert.ok(answer.took < HUNG_MS + MARGIN_MS, `${answer.took} ms`);
        }
        assert.ok(await w.daemon.logged(/store failed what=(read|write) code=0 reason="PostgreSQL does not answer"/));
        cluster.thaw();
        for (const key of keys) await eventually(async () => (await create(person, key)).status < 300, 'creating again');
        assert.equal(ok(await list(person)).data.length, rows + keys.length);
        assert.equal((await visit(w.client, { to: person.number })).outcome, 'forwarded');
    });

    it('ends readiness with the reason, until the server goes on', async () => {
        await eventually(async () => (await ready(w.daemon)).ready, 'readiness');
        cluster.freeze();
        await eventually(async () => (await ready(w.daemon)).reasons.join() === 'the store did not respond within 1.5 s', 'the reason');
        assert.equal(portero(['health', '--data', w.daemon.data]).status, 1);
        cluster.thaw();
        await eventually(async () => (await ready(w.daemon)).ready, 'readiness again');
    });

    it('does not hold up a stop', async () => {
        const rows = ok(await list(person)).data;
        cluster.freeze();
        const asked = [list(person), create(person), list(person), create(person), list(person)].map((one) => one.catch(() => 'closed'));
        await sleep(500);
        const began = Date.now();
        const { code } = await w.daemon.terminate();
        const took = Date.now() - began;
        assert.equal(code, 0);
        assert.ok(took < STOP_MS + MARGIN_MS, `${took} ms`);
        await Promise.all(asked);
        cluster.thaw();
        await w.daemon.start();
        const now = ok(await list(person)).data;
        assert.deepEqual(now.filter((row) => rows.some((before) => before.id === row.id)), rows);
    });
});

describe('a lone request to a PostgreSQL server that hangs', () => {
    it('is answered as soon as one of many', async () => {
        const cluster = new Cluster();
        let w;
        try {
            w = await worldOn(cluster, { workers: 20 }); // only a request finds out that their connections are dead
            const person = await resident(w.client);
            for (const request of [list, create]) {
                cluster.freeze();
                const answer = await timed(request(person));
                cluster.thaw();
                assertUnavailable(answer);
                assert.ok(answer.took < LONE_MS, `${answer.took} ms`);
                await eventually(async () => (await list(person)).status === 200, 'answers');
            }
        } finally {
            cluster.thaw();
            await w?.close();
            cluster.stop();
        }
    });
});

describe('a primary that hangs while its standby answers', () => {
    // STORE-6
    it('is waited for, as in a failover', async () => {
        // For libpq, a server that is read-only by default is a standby.
        const [primary, standby] = [new Cluster(), new Cluster({ default_transaction_read_only: 'on' })];
        let w;
        try {
            const name = `d${idempotencyKey().slice(4)}`;
            sql({ dsn: primary.dsn }, `CREATE DATABASE ${name}`);
            sql({ dsn: standby.dsn }, `SET default_transaction_read_only = off; CREATE DATABASE ${name}`);
            const host = (cluster) => /host=(\S+)/.exec(cluster.dsn)[1];
            const dsn = `${primary.dsn.replace(host(primary), `${host(primary)},${host(standby)}`).replace('dbname=postgres', `dbname=${name}`)} connect_timeout=2`;
            w = await world({ config: { store: { engine: 'postgresql', dsn, workers: 4 } } });
            w.client.agent = new https.Agent({ keepAlive: true, rejectUnauthorized: false });
            const person = await resident(w.client);
            const rows = ok(await list(person)).data.length;
            primary.freeze();
            const asked = [...Array.from({ length: 10 }, () => list(person)), ...Array.from({ length: 10 }, () => create(person))];
            await sleep(HUNG_MS + 3_000);
            primary.thaw();
            for (const answer of await Promise.all(asked)) assert.ok(answer.status < 300, answer.text);
            assert.equal(ok(await list(person)).data.length, rows + 10);
        } finally {
            for (const cluster of [primary, standby]) cluster.thaw();
            await w?.close();
            for (const cluster of [primary, standby]) cluster.stop();
        }
    });
});

describe('a service that is frozen in a transaction', () => {
    let cluster;
    let here;
    let there;
    let person;
    let other;
    before(async () => {
        cluster = new Cluster();
        const secrets = { master_key: randomBytes(32).toString('hex') };
        here = await worldOn(cluster, { workers: WORKERS }, { secrets });
        there = await world({ config: { ...here.daemon.config, store: { ...here.daemon.config.store, idle_timeout_s: 600 } } });
        person = await resident(here.client);
        other = await resident(here.client);
        for (const one of [person, other]) await grant(one, { type: 'timer', expires_in_minutes: 60 });
    });
    after(async () => {
        try {
            if (there?.daemon.running()) there.daemon.thaw();
            await there?.close();
            await here?.close();
        } finally {
            cluster?.stop();
        }
    });

    // STORE-8
    it('holds up the calls of that building, not the others', async () => {
        const { call: theirs, thaw, holds, end } = await freezeInTransaction(there, here.daemon.dsn, person);
        const calls = [];
        let open = 0;
        const call = () => {
            open++;
            calls.push(buzz(here, person).finally(() => { open--; }));
        };
        const waiting = () => Number(sql({ dsn: here.daemon.dsn }, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"));
        await eventually(() => {
            while (open < 12) call();
            return waiting() === WORKERS / 4;
        }, 'twelve calls, of which a quarter of the workers run some');
        const others = await Promise.all(Array.from({ length: 4 }, () => [list(person), create(other), buzz(here, other)]).flat());
        for (const answer of others) assert.ok(answer.status < 300, answer.text);
        assert.ok(holds(), 'the others do not wait');
        end();
        for (const answer of await Promise.all(calls)) {
            if (answer.status === 503) assertUnavailable(answer); // its time was over before
            else assert.equal(ok(answer).outcome, 'released');
        }
        assert.equal(ok(await buzz(here, person)).outcome, 'released');
        thaw();
        assert.equal(ok(await theirs).outcome, 'released', 'the frozen service decides again');
    });
});

describe('a PostgreSQL server with fewer connections than workers', () => {
    let cluster;
    let w;
    let person;
    before(async () => {
        cluster = new Cluster({ max_connections: 12 });
        w = await worldOn(cluster, { workers: 16 });
        person = await resident(w.client);
    });
    after(async () => {
        try {
            await w?.close();
        } finally {
            cluster?.stop();
        }
    });

    it('serves all requests with the connections that it has, and warns once', async () => {
        const warning = /store connections=short workers=16/g;
        const until = Date.now() + 60_000;
        const statuses = new Set();
        const ask = async (one) => {
            while (Date.now() < until && !(w.daemon.stderr.match(warning) && statuses.size > 1)) statuses.add((await one()).status);
        };
        await Promise.all(Array.from({ length: 20 }, (_, i) => ask(i % 2 ? () => list(person) : () => create(person))));
        assert.deepEqual([...statuses].sort(), [200, 201]);
        await Promise.all(Array.from({ length: 100 }, async () => ok(await list(person))));
        assert.ok(await w.daemon.logged(/store connections=short workers=16/));
        assert.equal(w.daemon.stderr.match(warning).length, 1);
    });
});

describe('a PostgreSQL server that is gone for 20 seconds', () => {
    let cluster;
    let w;
    let small;
    let person;
    let guest;
    before(async () => {
        cluster = new Cluster();
        [w, small] = await Promise.all([worldOn(cluster), worldOn(cluster, { queue: 16, workers: 2 })]);
        [person, guest] = await Promise.all([resident(w.client), resident(small.client)]);
    });
    after(async () => {
        try {
            await w?.close();
            await small?.close();
        } finally {
            cluster?.stop();
        }
    });

    it('costs its clients time, and no error; a queue that is full refuses at once', async () => {
        const rows = ok(await list(person)).data.length;
        cluster.kill();
        const waiting = [
            ...Array.from({ length: 20 }, () => timed(list(person))),
            ...Array.from({ length: 20 }, () => timed(create(person))),
        ];
        const crowd = Array.from({ length: 60 }, () => timed(list(guest)));
        const calls = await Promise.all(Array.from({ length: 3 }, () => timed(buzz(w, person))));
        for (const answer of calls) assertUnavailable(answer);
        await sleep(15_000);
        cluster.start();
        const back = Date.now();
        for (const answer of await Promise.all(waiting)) assert.ok(answer.status < 300, answer.text);
        assert.equal(ok(await list(person)).data.length, rows + 20);
        const crowded = await Promise.all(crowd);
        const refused = crowded.filter(({ ended }) => ended < back);
        assert.ok(refused.length >= 60 - 16 - 2 - 1, `${refused.length} refused`);
        for (const answer of refused) assertUnavailable(answer);
        for (const answer of crowded) assert.ok(refused.includes(answer) || answer.status === 200, answer.text);
    });
});

describe('a commit that no standby has confirmed', () => {
    let cluster;
    let w;
    let person;
    const setStandby = (change) => sql({ dsn: cluster.dsn }, `ALTER SYSTEM ${change}; SELECT pg_reload_conf();`);
    const endWaits = (how) => sql({ dsn: cluster.dsn }, `SELECT ${how}(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND datname <> 'postgres'`);
    before(async () => {
        cluster = new Cluster();
        w = await worldOn(cluster, { workers: 4, wait_s: 10 });
        person = await resident(w.client);
    });
    after(async () => {
        setStandby('RESET synchronous_standby_names');
        await w?.close();
        cluster.stop();
    });

    for (const how of ['pg_cancel_backend', 'pg_terminate_backend']) {
        it(`is not acknowledged after ${how}`, async () => {
            const rows = ok(await list(person)).data.length;
            const key = idempotencyKey();
            setStandby("SET synchronous_standby_names = 'nobody'");
            let answer;
            create(person, key).then((got) => { answer = got; });
            while (!answer) {
                endWaits(how);
                await sleep(50);
            }
            assertUnavailable(answer);
            setStandby('RESET synchronous_standby_names');
            const again = await create(person, key);
            assert.ok([200, 201].includes(again.status), again.text);
            assert.equal(ok(await list(person)).data.length, rows + 1);
        });
    }

    // STORE-9
    it('holds up no read, and fails no write that competes with it', async () => {
        const waiting = () => Number(sql({ dsn: cluster.dsn }, "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND application_name = 'portero'"));
        setStandby("SET synchronous_standby_names = 'nobody'");
        const written = [];
        const writes = Promise.all(Array.from({ length: 12 }, () => create(person).then((answer) => written.push(answer))));
        try {
            await eventually(() => waiting() > 0, 'a commit that waits');
            await sleep(500); // more follow
            for (let i = 0; i < 20; i++)
                for (const path of ['unlock', 'logs', 'account', 'buildings']) ok(await person.client.get(`/v1/${path}`));
            assert.deepEqual(written, [], 'no write was answered before the reads');
        } finally {
            setStandby('RESET synchronous_standby_names');
            await writes;
        }
        for (const answer of written) assert.equal(answer.status, 201, answer.text);
    });
});
