// A start that takes long, because its disk does: what it says that it waits for.
// engine: sqlite, because start.test.js has the reasons of PostgreSQL
import { describe, it, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { existsSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Client, ok } from './lib/client.js';
import { Daemon, portero, temporaryDirectory } from './lib/daemon.js';
import { diskFault } from './lib/diskfault.js';
import { ownClock } from './lib/nodes.js';
import { sql } from './lib/store.js';
import { signIn } from './lib/world.js';

const SCHEMA_KIB = 700; // room for the first migrations, and not for all
const FREE_BYTES = 4 << 20;

describe('a start whose disk is slow', () => {
    const directory = temporaryDirectory();
    const disk = diskFault(directory, join(directory, 'data'));
    const clock = ownClock(directory);
    const service = new Daemon({ directory, env: { ...disk.env, ...clock.env, LD_PRELOAD: `${disk.env.LD_PRELOAD} ${clock.env.LD_PRELOAD}` } });
    const database = join(service.data, 'portero.db');
    const said = (reason) => service.stderr.split(` warn waiting for ${reason}\n`).length - 1;
    const says = async (reason, times = 1) => assert.ok(await service.outcome(() => said(reason) === times, 60_000), service.stderr);

    /** A store of an earlier schema with many free pages: a limit of the files' size ends its migration in the middle. */
    before(() => {
        service.writeConfig();
        const ended = portero(['migrate', '--config', service.configPath, '--data', service.data], { wrap: ['sh', '-c', `trap "" XFSZ; ulimit -f ${2 * SCHEMA_KIB}; exec "$@"`, '-'] });
        assert.match(ended.stderr, /migration \d+ failed/);
        sql(service, `CREATE TABLE filler (bytes BLOB); INSERT INTO filler VALUES (zeroblob(${FREE_BYTES})); DROP TABLE filler;`);
    });
    after(async () => {
        disk.letGo();
        if (service.running()) await service.crash();
        rmSync(directory, { recursive: true, force: true });
    });

    it('is refused on a disk without room for the copy and the migration, with the figures', () => {
        const kib = Math.ceil(statSync(database).size / 1024);
        const small = `cp -a "$0" "$0.kept"; mount -t tmpfs -o size=${2 * kib}k,mode=700 none "$0"; cp -a "$0.kept/." "$0"; rm -r "$0.kept"; exec "$@"`;
        const ended = portero(['migrate', '--config', service.configPath, '--data', service.data],
            { wrap: ['unshare', '--user', '--map-root-user', '--mount', 'sh', '-euc', small, service.data] });
        assert.equal(ended.status, 1, ended.stderr);
        const [, needed, room] = /a copy and the migration of \S+ need (\d+) KiB, and the disk has (\d+): free some/.exec(ended.stderr) ?? assert.fail(ended.stderr);
        assert.ok(needed >= 2 * kib && room < needed, ended.stderr);
    });

    it('says that the database is being copied, again after a minute, and ends on SIGTERM', async () => {
        const reason = 'store reason="the database is being copied"';
        disk.hold(`${database}.before-migration.partial`);
        service.spawn();
        await says(reason);
        clock.pass(50);
        await new Promise((done) => { setTimeout(done, 3000); }); // it looks once a second
        assert.equal(said(reason), 1);
        clock.pass(61);
        await says(reason, 2);
        assert.deepEqual(await service.terminate(), { code: 0, signal: null });
        assert.match(service.stderr, /stopping signal=TERM during=start[^]*stopped during=start/);
    });

    it('says that the database is being compacted, and which part it starts, and goes on', async () => {
        service.stderr = '';
        disk.hold(`${database}.before-migration.partial`);
        service.spawn();
        await says('store reason="the database is being copied"');
        disk.hold(database);
        await says('store reason="the database is being compacted"');
        disk.hold(join(service.data, 'portero.reserve'));
        await says('part="store"');
        disk.letGo();
        await service.ready();
        assert.ok(existsSync(`${database}.before-migration`));
        assert.ok(statSync(database).size < FREE_BYTES);
        const client = new Client(service);
        ok(await (await signIn(client)).client.get('/v1/account'));
        client.close();
        await service.stop();
    });
});
