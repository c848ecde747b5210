// A service whose store can be broken.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { Cluster } from './cluster.js';
import { engine, temporaryDirectory } from './daemon.js';
import { diskFault } from './diskfault.js';
import { sql } from './store.js';
import { world } from './world.js';

const FULL = 'on a full disk';
export const FAULTS = engine === 'sqlite' ? [FULL] : ['while the server is gone', 'while the server hangs', 'while the server is read-only', FULL];

/** Every write finds the disk of the server full, as if no table had a page with room left. */
const FILL = `CREATE FUNCTION find_full() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RAISE 'could not extend file' USING ERRCODE = 'disk_full'; END$$;
    DO $$DECLARE one record; BEGIN FOR one IN SELECT oid::regclass AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace LOOP
        EXECUTE format('CREATE TRIGGER find_full BEFORE INSERT OR UPDATE OR DELETE ON %s EXECUTE FUNCTION find_full()', one.name);
    END LOOP; END$$`;

/** A service, and the ways to break its store, each undone by `mend`: {w, faults, mend, close}. */
export async function breakable(config) {
    const directory = temporaryDirectory();
    if (engine === 'sqlite') {
        const disk = diskFault(directory, join(directory, 'data'));
        const w = await world({ directory, config, env: disk.env });
        const close = () => w.close().finally(() => rmSync(directory, { recursive: true, force: true }));
        const hang = () => disk.hold(join(directory, 'data/portero.db-wal'));
        const mend = () => { disk.mend(); disk.letGo(); };
        return { w, faults: { [FULL]: () => disk.refuse('ENOSPC'), 'while the disk hangs': hang }, mend, close };
    }
    const cluster = new Cluster();
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
            [FULL]: () => { sql(cluster, FILL); undo = () => sql(cluster, 'DROP FUNCTION find_full() CASCADE'); },
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
