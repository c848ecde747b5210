// A node that has nothing to do asks its server for little: many may share one.
// engine: postgresql, because SQLite's store has no server
import { describe, it, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { Cluster } from './lib/cluster.js';
import { sql } from './lib/store.js';
import { resident, world } from './lib/world.js';

const MOST_A_SECOND = 2; // a heartbeat, a look for jobs and one for deliveries, every two seconds, and one for notices every ten
const WINDOW_S = 6, WINDOWS = 8;
const BUILDINGS = 100_000; // of which none does anything

describe('an idle node', () => {
    let cluster;
    let w;
    before(async () => {
        cluster = new Cluster({ autovacuum: 'off' }); // its transactions count, too
        sql({ dsn: cluster.dsn }, 'CREATE DATABASE idle');
        const dsn = cluster.dsn.replace('dbname=postgres', 'dbname=idle');
        w = await world({ config: { store: { engine: 'postgresql', dsn } } });
        w.daemon.dsn = dsn;
    });
    after(async () => {
        await w?.close();
        cluster.stop();
    });

    it('sends its server few transactions', async (t) => {
        await resident(w.client);
        sql(w.daemon, `INSERT INTO account (id, email, created_at) SELECT 'a' || lpad(to_hex(i), 23, '0'), 'r' || i || '@example.com', 0 FROM generate_series(1, ${BUILDINGS}) i;
            INSERT INTO building (account_id, id, created_at, is_primary, label) SELECT id, 'b' || substr(id, 2), 0, 1, 'Home' FROM account WHERE email LIKE 'r%@example.com'; ANALYZE;
            UPDATE job SET due_at = 0 WHERE kind = 'purge';`); // which comes each hour
        const count = () => Number(sql(w.daemon, 'SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = current_database();'));
        let fewest = Infinity;
        for (let i = 0; i < WINDOWS && fewest > MOST_A_SECOND; i++) { // jobs of the start may still run
            const before = count();
            await new Promise((done) => { setTimeout(done, WINDOW_S * 1000); });
            fewest = Math.min(fewest, (count() - before - 1) / WINDOW_S);
        }
        t.diagnostic(`${fewest.toFixed(1)} transactions a second`);
        assert.ok(fewest <= MOST_A_SECOND, `${fewest} a second`);
    });
});
