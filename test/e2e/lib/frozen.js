// A node that is frozen (SIGSTOP) in the middle of a transaction, which holds the row of a building.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { sql } from './store.js';
import { eventually } from './world.js';

const SEEN_MS = 50; // until the server shows what a transaction waits for

/** A transaction that holds the locks of a statement until release(). */
export async function hold(dsn, statement) {
    const child = spawn('psql', ['-X', '-q', '-A', '-t', '-v', 'ON_ERROR_STOP=1', '-d', dsn], { stdio: ['pipe', 'pipe', 'inherit'] });
    const closed = once(child, 'close');
    child.stdin.write(`BEGIN; ${statement}; SELECT 'held';\n`);
    await once(child.stdout, 'data');
    return {
        async release() {
            child.stdin.end('COMMIT;\n');
            await closed;
        },
    };
}

/** Freezes a service when a transaction of it holds the row of the person's building: {call, thaw(), holds(), end()}; the call is
 *  answered after thaw(). holds(): whether it still holds the row; end(): as the server does after store.idle_timeout_s. `dsn` is the database of the service, which no other service may use for that building meanwhile. */
export async function freezeInTransaction(w, dsn, person) {
    const transactions = (where) => sql({ dsn }, `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND ${where};`).trim().split('\n').filter(Boolean);
    const thaw = () => w.daemon.thaw();
    for (;;) {
        const blocker = await hold(dsn, `SELECT 1 FROM building WHERE id = '${person.building.id}' FOR UPDATE`);
        const call = w.client.post('/sandbox/calls', { to: person.number, from: '+15550001111' });
        const [pid] = await eventually(() => {
            const waiting = transactions("application_name = 'portero' AND wait_event_type = 'Lock'");
            return waiting.length && waiting;
        }, 'a call that waits for the lock', 10_000).finally(async () => {
            w.daemon.freeze();
            await blocker.release();
        });
        await new Promise((done) => { setTimeout(done, SEEN_MS); });
        const holds = () => transactions(`pid = ${pid} AND state = 'idle in transaction'`).length > 0;
        const end = () => sql({ dsn }, `SELECT pg_terminate_backend(${pid})`);
        if (holds()) return { call, thaw, holds, end };
        thaw(); // its time for the lock was over just before
        await call;
    }
}
