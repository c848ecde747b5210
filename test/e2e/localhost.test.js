// `localhost:PORT` as an address to listen on, the default of a sandbox: a program reaches it by either address of this
// machine, also one that tries only the first, as Node.js 18 does where /etc/hosts has ::1 for localhost.
// engine: sqlite, because the addresses are bound before the store is asked
import { after, before, describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { cleanEnvironment, configText, Daemon, portero, temporaryDirectory } from './lib/daemon.js';
import { ownNames } from './lib/names.js';
import { RawConnection } from './lib/raw.js';

const LOCALHOST = ['--https', 'localhost:0', '--http', 'localhost:0', '--sip', '127.0.0.1:0'];
const WITHOUT_IPV6 = ['unshare', '--map-root-user', '--net', 'sh', '-c', 'ip link set lo up && ip address del ::1/128 dev lo && exec "$@"', 'sh'];

describe('a service on localhost', () => {
    let directory;
    let daemon;
    before(async () => {
        directory = temporaryDirectory();
        daemon = await Daemon.start({ args: LOCALHOST });
    });
    after(async () => {
        await daemon?.stop();
        rmSync(directory, { recursive: true, force: true });
    });

    it('says so', () => {
        assert.equal(daemon.https, `https://localhost:${daemon.httpsPort}`);
        assert.equal(daemon.http, `http://localhost:${daemon.httpPort}`);
    });

    // HTTP-54
    it('serves the sandbox on both addresses, with and without TLS', async () => {
        for (const [host, port, secure, status] of ['127.0.0.1', '::1'].flatMap((host) => [[host, daemon.httpsPort, true, 200], [host, daemon.httpPort, false, 426]])) {
            const connection = await RawConnection.open(port, { secure, host });
            connection.send('GET /sandbox/clock HTTP/1.1\r\nHost: localhost\r\n\r\n');
            assert.equal((await connection.reply(1)).status, status, `${host} ${port}`);
            connection.destroy();
        }
    });

    it('answers a program that tries only the first address of the name, ::1', async () => {
        const script = `require('node:net').setDefaultAutoSelectFamily?.(false); require('node:dns').setDefaultResultOrder('verbatim');
            fetch('https://localhost:${daemon.httpsPort}/v1/health').then((answer) => console.log(answer.status));`;
        const child = spawn(process.execPath, ['-e', script], { env: cleanEnvironment({ ...ownNames(directory).env, NODE_TLS_REJECT_UNAUTHORIZED: '0', NODE_NO_WARNINGS: '1' }), stdio: ['ignore', 'pipe', 'inherit'] });
        let output = '';
        child.stdout.setEncoding('utf8').on('data', (text) => { output += text; });
        assert.deepEqual(await once(child, 'close'), [0, null]);
        assert.equal(output, '200\n');
    });
});

describe('an address of localhost', () => {
    let directory;
    before(() => { directory = temporaryDirectory(); });
    after(() => rmSync(directory, { recursive: true, force: true }));

    const check = (listen) => {
        const path = join(directory, 'portero.conf');
        writeFileSync(path, configText({ data_dir: join(directory, 'data'), listen: { sip: '', ...listen } }));
        return portero(['check-config', '--config', path]);
    };

    // HTTP-54
    it('is 127.0.0.1 alone on a machine without IPv6', async () => {
        const daemon = await Daemon.start({ args: LOCALHOST, wrap: WITHOUT_IPV6 });
        assert.equal(daemon.https, `https://127.0.0.1:${daemon.httpsPort}`);
        await daemon.stop();
    });

    // HTTP-54
    it('is refused if another program has its port on ::1', async () => {
        const other = createServer().listen(0, '::1');
        await once(other, 'listening');
        const { port } = other.address();
        const daemon = new Daemon({ args: ['--https', `localhost:${port}`, '--http', '', '--sip', ''] });
        daemon.spawn();
        const { code } = await daemon.exited();
        rmSync(daemon.directory, { recursive: true });
        other.close();
        assert.equal(code, 1);
        assert.match(daemon.stderr, new RegExp(`\\[::1\\]:${port}: Address already in use`));
    });

    it('is the same as either of its addresses with that port', () => {
        for (const other of ['localhost', '127.0.0.1', '[::1]']) {
            assert.match(check({ https: 'localhost:49151', http: `${other}:49151` }).stderr, /listen\.http is the same address as listen\.https/, other);
        }
        assert.equal(check({ https: 'localhost:49151', http: '127.0.0.2:49151' }).status, 0);
    });

    // HTTP-54
    it('is none for calls, which have one address', () => {
        assert.match(check({ sip: 'localhost:5060' }).stderr, /listen\.sip must be ADDRESS:PORT/);
    });
});
