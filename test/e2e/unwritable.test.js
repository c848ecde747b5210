// A PostgreSQL server that answers, but cannot be written; and a clock that is not the server's. Each ends readiness.
// engine: postgresql
import { describe, it, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { ok } from './lib/client.js';
import { Cluster } from './lib/cluster.js';
import { portero, temporaryDirectory } from './lib/daemon.js';
import { METRICS, ready } from './lib/metrics.js';
import { ownClock } from './lib/nodes.js';
import { sql } from './lib/store.js';
import { assertUnavailable, create, list } from './lib/trouble.js';
import { eventually, resident, world } from './lib/world.js';

const READY_MS = 15_000; // five, and time for a machine that is busy with other tests

describe('a PostgreSQL server that does not write', () => {
    const directory = temporaryDirectory();
    const clock = ownClock(directory);
    let cluster;
    let w;
    let person;
    before(async () => {
        cluster = new Cluster({}, { disk: true });
        w = await world({ config: { ...METRICS, store: { engine: 'postgresql', dsn: cluster.dsn, workers: 4, wait_s: 6 } }, env: clock.env });
        person = await resident(w.client);
    });
    after(async () => {
        try {
            await w?.close();
        } finally {
            cluster?.stop();
            rmSync(directory, { recursive: true, force: true });
        }
    });

    const reasons = async () => (await ready(w.daemon)).reasons;
    const setting = (change) => sql({ dsn: cluster.dsn }, `SET default_transaction_read_only = off; ALTER SYSTEM ${change}; SELECT pg_reload_conf();`);

    // HTTP-26, SERVICE-22
    it('ends readiness with a full disk, answers 503, and goes on when there is room', async () => {
        cluster.disk.refuse('ENOSPC');
        let answer; // until then, there is room in the files
        do answer = await create(person);
        while (answer.status < 300);
        assertUnavailable(answer);
        assert.deepEqual(await reasons(), ['the store cannot be written', 'the disk of the database server is full']);
        ok(await list(person));
        cluster.disk.mend();
        ok(await create(person), 201);
        await eventually(async () => (await ready(w.daemon)).ready, 'readiness');
    });

    // STORE-5
    it('ends readiness while it is read-only', async () => {
        setting('SET default_transaction_read_only = on');
        await eventually(async () => (await reasons()).includes('the database server is read-only'), 'the reason', READY_MS);
        setting('RESET default_transaction_read_only');
        await eventually(async () => (await ready(w.daemon)).ready, 'readiness');
        ok(await create(person), 201);
    });

    // SERVICE-21
    it('ends readiness while no standby confirms commits', async () => {
        setting("SET synchronous_standby_names = 'nobody'");
        await eventually(async () => (await reasons()).join() === 'the database server confirms no heartbeat', 'the reason', READY_MS);
        setting('RESET synchronous_standby_names');
        await eventually(async () => (await ready(w.daemon)).ready, 'readiness');
        ok(await create(person), 201);
    });

    it('ends readiness while the clocks differ', async () => {
        clock.move(200);
        await eventually(async () => (await reasons()).join() === 'the clock differs from that of the database server by more than 30 s', 'the reason', READY_MS);
        assert.match(portero(['health', '--data', w.daemon.data]).stdout, /not ready: the clock differs/);
        clock.move(0);
        await eventually(async () => (await ready(w.daemon)).ready, 'readiness');
    });
});
