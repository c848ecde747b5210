// Several processes on one database: they know of each other, and a dead one's work goes on.
// engine: postgresql, because SQLite's store has one process
import { describe, it, after } from 'node:test';
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { temporaryDirectory } from './lib/daemon.js';
import { joined, nodeOptions, nodes, ownClock, secondsUntil } from './lib/nodes.js';
import { ID, TIMESTAMP, useWorld, world } from './lib/world.js';

const LONG_MS = 40_000; // a dead node's work goes on after about 12 s

describe('nodes', () => {
    const w = useWorld();
    const directory = temporaryDirectory();
    after(() => rmSync(directory, { recursive: true, force: true }));

    it('list each other, with version, address, heartbeat and clock', async () => {
        const other = await joined(w);
        try {
            const list = nodes(w, 'running');
            assert.deepEqual(nodes(other, 'running').map(({ id }) => id), list.map(({ id }) => id));
            assert.deepEqual(list.map(({ address }) => `https://${address}`), [w.daemon.https, other.daemon.https]);
            for (const node of list) {
                assert.match(node.id, ID);
                assert.match(node.version, /^\d+\.\d+/);
                assert.match(node.heartbeat_at, TIMESTAMP);
                assert.equal(node.ended_at, null);
                assert.ok(Math.abs(node.clock_ahead_ms) < 2000, `${node.clock_ahead_ms} ms`);
            }
        } finally {
            await other.close();
        }
        assert.equal(nodes(w, 'running').length, 1);
        assert.equal(nodes(w, 'ended').length, 1);
    });

    it('end one that was killed, and live on', async (t) => {
        const other = await joined(w);
        await other.daemon.crash();
        const ended = nodes(w, 'ended').length;
        t.diagnostic(`ended after ${await secondsUntil(() => nodes(w, 'ended').length > ended, 'the end of the dead node', LONG_MS)} s`);
        assert.equal(nodes(w, 'running').length, 1);
        await other.close();
    });

    it('join again when others have taken them for dead', async () => {
        const other = await joined(w);
        const [, { id }] = nodes(w, 'running');
        other.daemon.process.kill('SIGSTOP');
        await secondsUntil(() => nodes(w, 'ended').some((node) => node.id === id), 'the end of the frozen node', LONG_MS);
        other.daemon.process.kill('SIGCONT');
        await secondsUntil(() => nodes(w, 'running').length === 2, 'the return', LONG_MS);
        assert.ok(await other.daemon.logged(/node lost its leases/));
        await other.close();
    });

    it('do not start with a clock that is more than 30 s wrong, and warn over 2 s', async () => {
        const clock = ownClock(directory);
        clock.move(200);
        await assert.rejects(world(nodeOptions(w, { env: clock.env })), /this machine's clock is (199|200|201) s ahead of that of the database server/);
        clock.move(-40);
        await assert.rejects(world(nodeOptions(w, { env: clock.env })), /clock is (39|40|41) s behind/);
        clock.move(5);
        const other = await joined(w, { env: clock.env });
        assert.ok(await other.daemon.logged(/warn clock differs from that of the database server ahead_ms=[45]\d\d\d /));
        clock.move(100);
        assert.ok(await other.daemon.logged(/error clock differs from that of the database server ahead_ms=/));
        clock.move(0);
        assert.ok(await other.daemon.logged(/clock agrees/));
        await other.close();
    });
});
