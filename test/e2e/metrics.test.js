// listen.metrics: the metrics page, readiness, and `portero health`.
import { describe, it, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { ok } from './lib/client.js';
import { Daemon, portero, temporaryDirectory } from './lib/daemon.js';
import { METRICS, page, promtool, ready, samples } from './lib/metrics.js';
import { sql } from './lib/store.js';
import { eventually, useWorld } from './lib/world.js';

describe('the metrics page', () => {
    const w = useWorld({ config: METRICS });

    it('is what Prometheus reads', async () => {
        ok(await w.client.get('/v1/health'));
        const done = promtool(['check', 'metrics'], await page(w.daemon));
        assert.equal(done.stderr, '');
    });

    it('says what is running, and since when', async () => {
        const found = samples(await page(w.daemon));
        const build = Object.keys(found).find((name) => name.startsWith('portero_build_info'));
        assert.match(build, /\{version="\d+\.\d+\.\d+",engine="(sqlite|postgresql)",mode="sandbox"\}$/);
        assert.ok(Math.abs(found.portero_start_time_seconds - Date.now() / 1000) < 600);
    });

    it('has no other paths and takes no other methods', async () => {
        const at = `http://${w.daemon.metrics}`;
        assert.equal((await fetch(`${at}/v1/health`)).status, 404);
        assert.equal((await fetch(`${at}/`)).status, 404);
        const put = await fetch(`${at}/metrics`, { method: 'POST' });
        assert.equal(put.status, 405);
        assert.equal(put.headers.get('allow'), 'GET, HEAD');
        assert.equal((await fetch(`${at}/metrics`, { method: 'POST', body: 'x'.repeat(200_000) })).status, 413);
        assert.equal((await fetch(`${w.daemon.http}/metrics`)).status, 426);
    });

    it('stays in reach while others hold all of its connections', async () => {
        const [host, port] = w.daemon.metrics.split(':');
        const held = Array.from({ length: 40 }, () => connect(Number(port), host).on('error', () => {}));
        try {
            await Promise.all(held.map((socket) => once(socket, 'connect')));
            const again = () => eventually(() => page(w.daemon).catch(() => null), 'an answer'); // an idle connection made room
            assert.match(await again(), /portero_build_info/);
            assert.equal((await ready(w.daemon)).ready, true);
        } finally {
            for (const socket of held) socket.destroy();
        }
    });
});

describe('readiness', () => {
    const w = useWorld({ config: { ...METRICS, http: { drain_s: 3 } } });
    const health = (daemon = w.daemon) => portero(['health', '--data', daemon.data]);
    const reasons = async () => (await ready(w.daemon)).reasons;
    const isReady = () => eventually(async () => (await ready(w.daemon)).ready, 'readiness');

    it('is given to balancers and to `portero health`', async () => {
        assert.deepEqual(await ready(w.daemon), { ready: true, reasons: [] });
        const done = health();
        assert.deepEqual([done.status, done.stdout, done.stderr], [0, 'ready\n', '']);
        const configured = portero(['health', '--config', w.daemon.configPath, '--data', w.daemon.data]);
        assert.equal(configured.stdout, 'ready\n');
    });

    it('ends while the store has a schema for later programs', async () => {
        sql(w.daemon, 'INSERT INTO schema_version (version, oldest) VALUES (9999, 9999)');
        await eventually(async () => (await reasons())[0] === 'the schema does not fit this program', 'the reason');
        const done = health();
        assert.deepEqual([done.status, done.stdout], [1, 'not ready: the schema does not fit this program\n']);
        sql(w.daemon, 'UPDATE schema_version SET oldest = 1 WHERE version = 9999'); // one that admits this program
        await isReady();
        sql(w.daemon, 'DELETE FROM schema_version WHERE version = 9999');
    });

    it('ends while the secrets are sealed with another master key', async () => {
        const [[, value]] = [sql(w.daemon, "SELECT value FROM setting WHERE name = 'master_key'").match(/(.*)\n/)];
        sql(w.daemon, "UPDATE setting SET value = 'another' WHERE name = 'master_key'");
        await eventually(async () => (await reasons())[0] === "the master key is not the store's", 'the reason');
        assert.equal(health().status, 1);
        sql(w.daemon, `UPDATE setting SET value = '${value}' WHERE name = 'master_key'`);
        await isReady();
    });

    it('does not change what /v1/health says', async () => {
        sql(w.daemon, 'INSERT INTO schema_version (version, oldest) VALUES (9999, 9999)');
        await eventually(async () => !(await ready(w.daemon)).ready, 'the end of readiness');
        ok(await w.client.get('/v1/health'));
        sql(w.daemon, 'DELETE FROM schema_version WHERE version = 9999');
        await isReady();
    });

    it('ends at SIGTERM, before connections are closed', async () => {
        const daemon = await Daemon.start({ config: { ...METRICS, http: { drain_s: 5 } } });
        const [host, port] = new URL(daemon.http).host.split(':');
        const idle = connect(Number(port), host);
        await once(idle, 'connect');
        daemon.process.kill('SIGTERM');
        await eventually(async () => (await ready(daemon)).reasons[0] === 'stopping', 'the reason');
        idle.destroy();
        assert.equal((await daemon.exited()).code, 0);
        await daemon.stop();
    });

    it('is denied by `portero health` when no service is running', () => {
        const done = portero(['health', '--data', join(w.daemon.directory, 'nothing')]);
        assert.deepEqual([done.status, done.stdout], [1, '']);
        assert.match(done.stderr, /^portero: the service is not running: /);
    });
});
