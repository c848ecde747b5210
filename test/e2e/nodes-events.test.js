// Streams of events on several nodes, while the server or the connection that carries the nodes' notices fails.
// engine: postgresql, because SQLite's store has one process
import { describe, it, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { ok } from './lib/client.js';
import { Cluster } from './lib/cluster.js';
import { joined } from './lib/nodes.js';
import { sql } from './lib/store.js';
import { Stream } from './lib/stream.js';
import { eventually, grant, resident, world } from './lib/world.js';

const ROLE = 'node'; // no superuser, so that the server can refuse its connections
const SOON_MS = 10_000; // less than the 15 s after which all feeds are read again, and enough for a busy machine
const LONG_MS = 90_000;
const STOP_MS = 20_000, MARGIN_MS = 10_000;

describe('events on two nodes', () => {
    let cluster;
    let here, there, person, stream, teller;
    const query = (text) => sql({ dsn: cluster.dsn }, text).trim();
    const processes = (last) => query(`SELECT pid FROM pg_stat_activity WHERE datname = 'events' AND ${last}`).split('\n').filter(Boolean).map(Number);
    /** The server's processes that listen for the node without writes. The other node's listens again whenever it was silent for 15 s. */
    const listeners = () => processes("query = 'LISTEN portero_feed'").filter((pid) => pid !== teller);

    before(async () => {
        cluster = new Cluster();
        query(`CREATE ROLE ${ROLE} LOGIN`);
        query(`CREATE DATABASE events OWNER ${ROLE}`);
        const dsn = cluster.dsn.replace('dbname=postgres', 'dbname=events').replace(/user=\S+/, `user=${ROLE}`);
        assert.match(dsn, /user=node/);
        here = await world({ config: { store: { engine: 'postgresql', dsn, workers: 3 } } });
        there = await joined(here);
        person = await resident(here.client);
        await change();
        await eventually(() => { [teller] = processes("query LIKE '%pg_notify%' AND pid <> pg_backend_pid()"); return teller; }, 'the notice');
        stream = await Stream.open(there.client.as(person.key), person.building.id);
        await stream.until(() => stream.last, 'a position');
        await eventually(() => listeners().length === 1, 'the connection for notices');
    });
    after(async () => {
        try {
            cluster.thaw();
            query(`ALTER ROLE ${ROLE} CONNECTION LIMIT -1`);
            stream?.cut();
            await there?.close();
            await here?.close();
        } finally {
            cluster.stop();
        }
    });

    const change = () => grant(person, { type: 'timer', expires_in_minutes: 5 });

    /** Creates a grant at one node, and waits until the stream of the other has told it. */
    async function told(ms) {
        const { id } = await change();
        await stream.until(() => stream.events.some(({ data }) => data.unlock_id === id), `grant ${id}`, ms);
    }

    // LOG-12
    it('come soon', async () => {
        for (let i = 0; i < 5; i++) await told(SOON_MS);
    });

    it('come soon again after the connection for notices hangs', async () => {
        const [pid] = listeners();
        process.kill(pid, 'SIGSTOP'); // its kernel goes on answering
        try {
            await eventually(() => listeners().some((one) => one !== pid), 'another connection', LONG_MS);
            for (let i = 0; i < 5; i++) await told(SOON_MS);
        } finally {
            process.kill(pid, 'SIGCONT');
        }
    });

    // LOG-12
    it('come later, but come, while the server has no connection for notices', async () => {
        query(`ALTER ROLE ${ROLE} CONNECTION LIMIT 0`);
        query(`SELECT pg_terminate_backend(${listeners()[0]})`);
        await eventually(() => listeners().length === 0, 'the end of the connection');
        try {
            for (let i = 0; i < 3; i++) await told(LONG_MS);
        } finally {
            query(`ALTER ROLE ${ROLE} CONNECTION LIMIT -1`);
        }
        await eventually(() => told(SOON_MS).then(() => true, () => false), 'an event that comes soon again', LONG_MS);
    });

    // LOG-13
    it('are neither missed nor doubled when the server hangs', async () => {
        const last = Number(stream.last);
        cluster.freeze();
        const refused = await Stream.open(there.client.as(person.key), person.building.id);
        assert.equal((await refused.refusal()).status, 503);
        assert.equal(stream.ended, false);
        cluster.thaw();
        for (let i = 0; i < 3; i++) await eventually(() => told(LONG_MS).then(() => true, () => false), 'an event after the hang', LONG_MS);
        const after = stream.events.map(({ id }) => Number(id)).filter((id) => id > last);
        assert.deepEqual(after, after.map((_, i) => last + 1 + i));
        assert.ok(after.length >= 3);
    });

    it('do not hold up the stop of a node while the server hangs', async () => {
        cluster.freeze();
        const began = Date.now();
        const { code } = await there.daemon.terminate();
        const took = Date.now() - began;
        cluster.thaw();
        assert.equal(code, 0);
        assert.ok(took < STOP_MS + MARGIN_MS, `${took} ms`);
        await stream.end();
        assert.ok(stream.retry > 0);
        ok(await person.client.get('/v1/account'));
    });
});
