// Messages to the service manager (systemd): sd_notify(3). The tests play the manager.
import { describe, it, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, ok } from './lib/client.js';
import { Cluster } from './lib/cluster.js';
import { Daemon, engine, temporaryDirectory } from './lib/daemon.js';
import { Baresip, QUICK, address } from './lib/phone.js';
import { lockTable } from './lib/store.js';
import { eventually, resident, signIn } from './lib/world.js';

const here = dirname(fileURLToPath(import.meta.url));
const WATCHDOG_US = '2000000';

describe('the service manager', () => {
    let directory;
    let socket;
    let manager;
    let messages = '';
    let daemon;
    let server;
    before(async () => {
        directory = temporaryDirectory();
        socket = join(directory, 'notify');
        const program = join(directory, 'notified');
        const built = spawnSync('cc', ['-O1', '-o', program, join(here, 'lib/notified.c')], { encoding: 'utf8' });
        assert.equal(built.status, 0, built.stderr);
        manager = spawn(program, [socket], { stdio: ['ignore', 'pipe', 'inherit'] });
        manager.stdout.setEncoding('utf8').on('data', (text) => { messages += text; });
        await eventually(() => messages, 'the socket');
        if (engine === 'postgresql') server = new Cluster();
    });
    after(async () => {
        await daemon?.stop();
        server?.stop();
        manager?.kill();
        await once(manager, 'close');
        rmSync(directory, { recursive: true, force: true });
    });

    const told = (pattern, from = 0) => eventually(() => pattern.exec(messages.slice(from)), `a message ${pattern}`);
    const count = (pattern) => [...messages.matchAll(pattern)].length;

    // SERVICE-8, SERVICE-10
    it('is told of the start, and that the process is alive', async () => {
        const store = server ? { store: { engine, dsn: server.dsn } } : {};
        daemon = await Daemon.start({ config: { ...QUICK, ...store, http: { drain_s: 3 } }, env: { NOTIFY_SOCKET: socket, WATCHDOG_USEC: WATCHDOG_US } });
        await told(/^READY=1\nSTATUS=ready, calls 0\n/m);
        const ready = messages.indexOf('READY=1');
        assert.match(messages.slice(0, ready), /^STATUS=starting: (part|store reason)="/m);
        assert.match(messages.slice(0, ready), /^EXTEND_TIMEOUT_USEC=30000000\n/m);
        const alive = count(/^WATCHDOG=1$/gm);
        await eventually(() => count(/^WATCHDOG=1$/gm) > alive + 3, 'the next messages');
        assert.doesNotMatch(messages.slice(ready), /EXTEND_TIMEOUT_USEC/);
    });

    it('is told of a reload', async () => {
        const from = messages.length;
        daemon.process.kill('SIGHUP');
        await told(/^RELOADING=1\nMONOTONIC_USEC=\d+\n[^]*^READY=1\n/m, from);
    });

    if (engine === 'postgresql') it('is told that the process is alive while the database server hangs', async () => {
        const client = new Client(daemon);
        const session = await signIn(client);
        server.freeze();
        const waiting = session.client.get('/v1/account');
        const alive = count(/^WATCHDOG=1$/gm);
        await eventually(() => count(/^WATCHDOG=1$/gm) > alive + 6, 'messages for more than the time limit');
        server.thaw();
        await waiting;
        client.close();
    });

    it('is told of calls, and of a stop that waits for one', async (t) => {
        const phone = await Baresip.start();
        t.after(() => phone.stop());
        const client = new Client(daemon);
        const person = await resident(client, { tone: '9' });
        phone.command('dial', `sip:${person.number}@${address(daemon)}`);
        await phone.event('CALL_ESTABLISHED');
        await told(/^STATUS=ready, calls 1\n/m);
        const from = messages.length;
        daemon.process.kill('SIGTERM');
        await told(/^STOPPING=1\nSTATUS=draining, calls 1\nEXTEND_TIMEOUT_USEC=30000000\n/m, from);
        ok(await client.get('/v1/health'));
        await eventually(() => /EXTEND[^]*EXTEND/.test(messages.slice(from)), 'more patience');
        phone.command('hangup');
        await told(/^STATUS=stopping\n/m, from);
        client.close();
        assert.deepEqual(await daemon.exited(), { code: 0, signal: null });
    });
});
