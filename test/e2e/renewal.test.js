// Renewal of the certificate with the deploy hook of docs/operations.md, as certbot calls it.
// engine: sqlite, because certificates do not depend on the store
import { describe, it, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import tls from 'node:tls';
import { Daemon, cleanEnvironment, root, temporaryDirectory } from './lib/daemon.js';
import { freePort } from './lib/port.js';
import { eventually } from './lib/world.js';

const HOOK = /^cat >\/etc\/letsencrypt\/renewal-hooks\/deploy\/portero <<'END'\n([^]*?)^END$/m;
const HTTP = 'GET /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n';
const options = (n) => `OPTIONS sip:127.0.0.1 SIP/2.0\r\nVia: SIP/2.0/TLS 127.0.0.1:5061;branch=z9hG4bK${n}\r\nFrom: <sip:box@127.0.0.1>;tag=1\r\n`
    + `To: <sip:127.0.0.1>\r\nCall-ID: renewal\r\nCSeq: ${n} OPTIONS\r\nMax-Forwards: 70\r\nContent-Length: 0\r\n\r\n`;

describe('a renewal of the certificate', () => {
    const directory = temporaryDirectory();
    const live = join(directory, 'live'); // certbot's, for root alone
    const copies = join(directory, 'tls');
    const open = [];
    let daemon;
    let port;

    const issue = (name) => {
        const done = spawnSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '90',
            '-subj', `/CN=${name}`, '-keyout', join(live, 'privkey.pem'), '-out', join(live, 'fullchain.pem')], { encoding: 'utf8' });
        assert.equal(done.status, 0, done.stderr);
    };
    /** Runs the hook; systemctl signals the service, if it runs, as the unit says. */
    const deploy = (...expected) => {
        const bin = join(directory, 'bin');
        mkdirSync(bin, { recursive: true });
        writeFileSync(join(bin, 'systemctl'), `#!/bin/sh\necho "$*" >>'${join(directory, 'asked')}'\n${daemon?.running() ? `kill -HUP ${daemon.process.pid}` : ''}\n`, { mode: 0o755 });
        const hook = join(directory, 'hook');
        writeFileSync(hook, HOOK.exec(readFileSync(join(root, 'docs/operations.md'), 'utf8'))[1]
            .replaceAll('/etc/portero/tls', copies).replaceAll('-g portero', `-g ${process.getgid()}`), { mode: 0o755 });
        const done = spawnSync(hook, { encoding: 'utf8', env: cleanEnvironment({ PATH: `${bin}:${process.env.PATH}`, RENEWED_LINEAGE: live }) });
        assert.equal(done.status, 0, done.stderr);
        assert.equal(readFileSync(join(directory, 'asked'), 'utf8'), expected.map((line) => `${line}\n`).join(''));
    };
    const connect = async (to) => {
        const socket = tls.connect({ port: to, host: '127.0.0.1', rejectUnauthorized: false });
        open.push(socket);
        await once(socket, 'secureConnect');
        return socket;
    };
    const served = async (to) => {
        const socket = await connect(to);
        const { CN } = socket.getPeerCertificate().subject;
        socket.destroy();
        return CN;
    };
    const answered = async (socket, request, answer) => {
        let text = '';
        const read = (more) => { text += more; };
        socket.setEncoding('latin1').on('data', read);
        socket.write(request);
        await eventually(() => answer.test(text) || socket.destroyed, 'an answer');
        socket.off('data', read);
        assert.match(text, answer);
    };

    before(async () => {
        mkdirSync(live, { mode: 0o700 });
        issue('first');
        deploy('try-reload-or-restart portero');
        port = await freePort();
        daemon = await Daemon.start({ directory, config: {
            listen: { sips: `127.0.0.1:${port}` }, tls: { certificate: join(copies, 'fullchain.pem'), key: join(copies, 'privkey.pem') },
        } });
    });
    after(async () => {
        for (const socket of open) socket.destroy();
        await daemon?.stop();
        rmSync(directory, { recursive: true, force: true });
    });

    it('is served by HTTPS and SIP over TLS, and keeps the connections of both', async () => {
        const [https, sip] = [await connect(daemon.httpsPort), await connect(port)];
        await answered(https, HTTP, /^HTTP\/1\.1 200 /);
        await answered(sip, options(1), /^SIP\/2\.0 \d/);
        assert.deepEqual([await served(daemon.httpsPort), await served(port)], ['first', 'first']);

        issue('second');
        deploy('try-reload-or-restart portero', 'try-reload-or-restart portero');
        await eventually(async () => await served(daemon.httpsPort) === 'second' && await served(port) === 'second', 'the renewed certificate');
        await answered(https, HTTP, /^HTTP\/1\.1 200 /);
        await answered(sip, options(2), /^SIP\/2\.0 \d/);
    });

    it('leaves the key to the service and root alone', () => {
        assert.equal(statSync(join(copies, 'privkey.pem')).mode & 0o777, 0o640);
        assert.equal(statSync(copies).mode & 0o777, 0o750);
    });
});
