// Socket activation: listening sockets of systemd, which stay open while the service restarts.
// engine: sqlite, because the sockets do not depend on the store
import { describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { Agent, request } from 'node:https';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, ok } from './lib/client.js';
import { Daemon } from './lib/daemon.js';
import { freePort } from './lib/port.js';
import { eventually } from './lib/world.js';

const holder = join(dirname(fileURLToPath(import.meta.url)), 'lib/holder.pl');
const CLIENTS = 4;
const RESTARTS = 3;

/** A daemon whose socket of that name is opened by the holder. */
const held = (name) => new Daemon({ wrap: ['perl', holder, name], config: { http: { drain_s: 0 } } });

/** GET on a new connection: its status, or the name of the error. */
function get(port) {
    return new Promise((done) => {
        const agent = new Agent({ keepAlive: false, rejectUnauthorized: false });
        const sent = request({ agent, host: '127.0.0.1', port, path: '/v1/health', timeout: 60_000 }, (answer) => {
            answer.resume().on('end', () => done(answer.statusCode)).on('error', (error) => done(error.code));
        });
        sent.on('error', (error) => done(error.code)).on('timeout', () => sent.destroy(new Error('timed out')));
        sent.end();
    });
}

describe('socket activation', () => {
    // SERVICE-9
    it('takes the socket of its name in place of the address', async () => {
        const daemon = held('https');
        await daemon.start();
        assert.match(daemon.stderr, new RegExp(`^holder: port ${daemon.httpsPort}$`, 'm'));
        const client = new Client(daemon);
        ok(await client.get('/v1/health'));
        client.close();
        await daemon.stop();
    });

    it('works with systemd-socket-activate, at the first connection', async () => {
        const port = await freePort();
        const daemon = new Daemon({ wrap: ['systemd-socket-activate', '--listen', `127.0.0.1:${port}`, '--fdname', 'https'] });
        const started = daemon.start();
        await daemon.logged(/Listening on/);
        assert.equal(await get(port), 200);
        await started;
        assert.equal(daemon.httpsPort, port);
        await daemon.stop();
    });

    // SERVICE-9
    it('refuses no connection while the service restarts', async () => {
        const daemon = held('https');
        await daemon.start();
        const { httpsPort } = daemon;
        const answers = new Map();
        let over = false;
        const clients = Array.from({ length: CLIENTS }, async () => {
            while (!over) {
                const answer = await get(httpsPort);
                answers.set(answer, (answers.get(answer) ?? 0) + 1);
            }
        });
        const starts = () => daemon.stdout.split('\n').filter((line) => line.startsWith('ready ')).length;
        try {
            for (let i = 0; i < RESTARTS; i++) {
                daemon.process.kill('SIGUSR1');
                await eventually(() => starts() === i + 2, 'the next start');
                const before = answers.get(200) ?? 0;
                await eventually(() => answers.get(200) > before + CLIENTS, 'answers');
            }
        } finally {
            over = true;
            await Promise.all(clients);
        }
        await daemon.stop();
        assert.deepEqual([...answers.keys()], [200], JSON.stringify([...answers]));
    });

    it('does not start with a socket that it cannot use', async () => {
        const daemon = held('sip');
        daemon.spawn();
        assert.deepEqual(await daemon.exited(), { code: 1, signal: null });
        assert.match(daemon.stderr, /^portero: socket 3: FileDescriptorName=sip: must be https, http or metrics$/m);
    });
});
