// A name server that does not answer for the host of store.dsn: each wait has an end all the same.
// engine: postgresql
import { describe, it, before, after } from 'node:test';
import assert from 'node:assert/strict';
import https from 'node:https';
import { rmSync } from 'node:fs';
import { ok } from './lib/client.js';
import { Cluster } from './lib/cluster.js';
import { temporaryDirectory } from './lib/daemon.js';
import { ownNames } from './lib/names.js';
import { freePort } from './lib/port.js';
import { sql } from './lib/store.js';
import { eventually, resident, world } from './lib/world.js';

const ANSWER_MS = 15_000;
const STOP_MS = 20_000;
const MARGIN_MS = 10_000; // for a machine that is busy with other tests

describe('a name server that does not answer', () => {
    let directory;
    let names;
    let cluster;
    let w;
    let person;
    before(async () => {
        directory = temporaryDirectory();
        names = ownNames(directory);
        const port = await freePort();
        cluster = new Cluster({ listen_addresses: '127.0.0.1', port });
        const dsn = `host=database.example port=${port} user=portero dbname=postgres`;
        w = await world({ config: { store: { engine: 'postgresql', dsn } }, env: names.env });
        w.client.agent = new https.Agent({ keepAlive: true, rejectUnauthorized: false });
        w.server = `${cluster.dsn} port=${port}`;
        person = await resident(w.client);
    });
    after(async () => {
        try {
            names.answer();
            await w?.close();
        } finally {
            cluster?.stop();
            rmSync(directory, { recursive: true, force: true });
        }
    });

    const list = () => person.client.get('/v1/unlock');

    /** The service must connect again, to a server that it cannot find. */
    function cut() {
        names.silence();
        sql({ dsn: w.server }, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'portero'");
    }

    it('leaves no request without an answer; when it answers, the service continues', async () => {
        cut();
        const began = Date.now();
        const answers = await Promise.all(Array.from({ length: 8 }, list));
        assert.ok(Date.now() - began < ANSWER_MS + MARGIN_MS, `${Date.now() - began} ms`);
        for (const answer of answers) assert.equal(answer.status, 503, answer.text);
        assert.ok(await w.daemon.logged(/could not translate host name "database.example" to address/));
        names.answer();
        await eventually(async () => (await list()).status === 200, 'a read');
    });

    it('does not hold up a stop, and a start names the host', async () => {
        cut();
        const asked = Array.from({ length: 4 }, () => list().catch(() => 'closed'));
        const began = Date.now();
        const { code } = await w.daemon.terminate();
        assert.equal(code, 0);
        assert.ok(Date.now() - began < STOP_MS + MARGIN_MS, `${Date.now() - began} ms`);
        await Promise.all(asked);

        w.daemon.stderr = '';
        w.daemon.spawn();
        assert.ok(await w.daemon.logged(/waiting for store reason="PostgreSQL: could not translate host name 'database.example' to address/));
        assert.equal((await w.daemon.terminate()).code, 0);

        w.daemon.stderr = '';
        w.daemon.spawn();
        assert.ok(await w.daemon.logged(/waiting for store reason="PostgreSQL: could not/));
        names.answer();
        await w.daemon.ready();
        ok(await list());
    });
});
