// A service whose store can be broken.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { Cluster } from './cluster.js';
import { engine, temporaryDirectory } from './daemon.js';
import { diskFault } from './diskfault.js';
import { sql } from './store.js';
import { world } from './world.js';

export const FAULTS = engine === 'sqlite' ? ['on a full disk'] : ['while the server is gone', 'while the server hangs', 'while the server is read-only'];

/** A service, and the ways to break its store, each undone by `mend`: {w, faults, mend, close}. */
export async function breakable(config) {
    const directory = temporaryDirectory();
    if (engine === 'sqlite') {
        const disk = diskFault(directory, join(directory, 'data'));
        const w = await world({ directory, config, env: disk.env });
        const close = () => w.close().finally(() => rmSync(directory, { recursive: true, force: true }));
        return { w, faults: { 'on a full disk': () => disk.refuse('ENOSPC') }, mend: disk.mend, close };
    }
    const cluster = new Cluster({}, { disk: true });
    const w = await world({ config: { ...config, store: { engine: 'postgresql', dsn: cluster.dsn, workers: 4 } } });
    const readOnly = (how) => sql({ dsn: cluster.dsn }, `SET default_transaction_read_only = off; ALTER SYSTEM ${how}; SELECT pg_reload_conf();
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'portero'`);
    let undo;
    return {
        w,
        faults: {
            'while the server is gone': () => { cluster.kill(); undo = () => cluster.start(); },
            'while the server hangs': () => { cluster.freeze(); undo = () => cluster.thaw(); },
            'while the server is read-only': () => { readOnly('SET default_transaction_read_only = on'); undo = () => readOnly('RESET default_transaction_read_only'); },
        },
        mend: () => { undo?.(); undo = undefined; },
        async close() {
            try {
                await w.close();
            } finally {
                cluster.stop();
                rmSync(directory, { recursive: true, force: true });
            }
        },
    };
}
