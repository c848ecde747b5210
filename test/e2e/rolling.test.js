// A rolling restart of two nodes behind HAProxy, with the configuration of docs/nodes.md.
// engine: postgresql, because SQLite's store has one process
import { describe, it, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:https';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './lib/daemon.js';
import { idempotencyKey } from './lib/client.js';
import { joined } from './lib/nodes.js';
import { freePort } from './lib/port.js';
import { eventually, freshEmail, signIn, useWorld } from './lib/world.js';

const CLIENTS = 8;
const RESTARTS = 4;
const SLEEP_MS = 20;

/** HAProxy's configuration in docs/nodes.md, with these addresses: [{https, metrics}]. One certificate does for all. */
function configuration(tls, port, nodes) {
    writeFileSync(`${tls.certificate}.pem`, readFileSync(tls.certificate, 'utf8') + readFileSync(tls.key, 'utf8'));
    const text = /^```haproxy\n([^]*?)^```$/m.exec(readFileSync(join(root, 'docs/nodes.md'), 'utf8'))[1]
        .replace('bind :443', `bind 127.0.0.1:${port}`).replace(' port 9464', '')
        .replace(/crt \S+/, `crt ${tls.certificate}.pem`).replace(/ca-file \S+/, `ca-file ${tls.certificate}`)
        .replace(/10\.0\.0\.(\d):8443/g, (_, i) => `127.0.0.1:${nodes[i - 1].https} port ${nodes[i - 1].metrics}`);
    return `defaults\n    timeout connect 5s\n    timeout client 1h\n    timeout server 1h\n${text}`;
}

describe('two nodes behind HAProxy', () => {
    const config = { trusted_proxies: ['127.0.0.1/32'], limits: { otp_per_ip: 5 }, http: { drain_s: 5 }, listen: { metrics: '127.0.0.1:0' } };
    const first = useWorld({ config });
    let second;
    let balancer;
    let port;
    before(async () => {
        const tls = { certificate: join(first.daemon.data, 'tls.crt'), key: join(first.daemon.data, 'tls.key') };
        second = await joined(first, { config: { ...config, tls } });
        const nodes = [first, second].map(({ daemon }) => ({ daemon, https: daemon.httpsPort, metrics: Number(/:(\d+)$/.exec(daemon.metrics)[1]) }));
        for (const { daemon, https, metrics } of nodes) { // the same ports after a restart
            daemon.args = ['--https', `127.0.0.1:${https}`, '--http', '127.0.0.1:0', '--sip', '127.0.0.1:0'];
            daemon.config.listen = { metrics: `127.0.0.1:${metrics}` };
        }
        port = await freePort();
        const path = join(first.daemon.directory, 'haproxy.cfg');
        writeFileSync(path, configuration(tls, port, nodes));
        const checked = spawnSync('/usr/sbin/haproxy', ['-c', '-f', path], { encoding: 'utf8' });
        assert.equal(checked.status, 0, checked.stderr);
        balancer = spawn('/usr/sbin/haproxy', ['-db', '-f', path], { stdio: ['ignore', 'ignore', 'inherit'] });
    });
    after(async () => {
        balancer?.kill();
        if (balancer) await once(balancer, 'close');
        await second?.close();
    });

    /** One request through the balancer: its status, or the name of the error. */
    function ask(agent, key, method, path, body, localAddress) {
        return new Promise((done) => {
            const headers = { ...(key && { Authorization: `Bearer ${key}` }), ...(body && { 'Content-Type': 'application/json', 'Idempotency-Key': idempotencyKey() }) };
            const sent = request({ agent, localAddress, rejectUnauthorized: false, host: '127.0.0.1', port, method, path, headers, timeout: 60_000 }, (answer) => {
                answer.resume().on('end', () => done(answer.statusCode)).on('error', (error) => done(error.code));
            });
            sent.on('error', (error) => done(error.code)).on('timeout', () => sent.destroy(new Error('timed out')));
            sent.end(body && JSON.stringify(body));
        });
    }

    it('know the clients, whose addresses have limits of their own', async () => {
        const code = (localAddress) => ask(false, undefined, 'POST', '/v1/auth/otp', { email: freshEmail() }, localAddress);
        await eventually(async () => await ask(false, undefined, 'GET', '/v1/health') === 200, 'the balancer');
        await eventually(async () => await code('127.0.0.5') === 429, 'the limit'); // each node counts for itself
        assert.equal(await code('127.0.0.6'), 200);
    });

    // SERVICE-18
    it('restart in turn without an error for their clients', async () => {
        const { key } = await signIn(first.client);
        const answers = new Map();
        let over = false;
        const client = async () => {
            const agent = new Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false });
            while (!over) {
                for (const answer of [await ask(agent, key, 'POST', '/v1/unlock', { type: 'passcode', label: 'x' }), await ask(agent, key, 'GET', '/v1/account')]) {
                    answers.set(answer, (answers.get(answer) ?? 0) + 1);
                }
                await new Promise((done) => { setTimeout(done, SLEEP_MS); });
            }
            agent.destroy();
        };
        await eventually(async () => await ask(false, key, 'GET', '/v1/account') === 200, 'the balancer');
        const clients = Array.from({ length: CLIENTS }, client);
        try {
            for (let i = 0; i < RESTARTS; i++) {
                const { daemon } = [first, second][i % 2];
                assert.deepEqual(await daemon.terminate(), { code: 0, signal: null });
                await daemon.start();
                await new Promise((done) => { setTimeout(done, 3000); }); // the balancer's checks
            }
        } finally {
            over = true;
            await Promise.all(clients);
        }
        assert.deepEqual([...answers.keys()].sort(), [200, 201], `answers: ${JSON.stringify([...answers])}`);
        console.log(`answers: ${JSON.stringify([...answers])}`);
    });
});
