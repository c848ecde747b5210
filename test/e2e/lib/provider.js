// A SIP provider (kamailio) and a name server (dnsmasq), which nobody here wrote, on loopback.
import { spawn } from 'node:child_process';
import dgram from 'node:dgram';
import { mkdtempSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cleanEnvironment } from './daemon.js';
import { freePort } from './port.js';

const here = dirname(fileURLToPath(import.meta.url));
const PATIENCE_MS = 60_000;

/** A process group that ends with this process; `answers` resolves once it serves. */
class Peer {
    async launch(command, args, answers) {
        this.log = '';
        this.process = spawn(command, args, { env: cleanEnvironment(), stdio: ['ignore', 'pipe', 'pipe'], detached: true });
        for (const stream of [this.process.stdout, this.process.stderr]) stream.on('data', (chunk) => { this.log += chunk; });
        this.closed = once(this.process, 'close');
        this.onExit = () => this.signal('SIGKILL');
        process.on('exit', this.onExit);
        const until = Date.now() + PATIENCE_MS;
        while (!await answers()) {
            if (this.process.exitCode !== null || Date.now() > until) throw new Error(`${command} did not start:\n${this.log}`);
        }
    }

    signal(name) {
        try {
            process.kill(-this.process.pid, name);
        } catch {
            // it has ended
        }
    }

    /** At once, without a word to anybody. */
    async kill() {
        this.signal('SIGKILL');
        await this.closed;
        process.removeListener('exit', this.onExit);
    }
}

/** Sends a datagram and tells whether an answer comes. */
async function answersDatagram(port, text, ms = 200) {
    const socket = dgram.createSocket('udp4');
    try {
        socket.bind(0, '127.0.0.1');
        await once(socket, 'listening');
        const answer = once(socket, 'message');
        socket.send(text(socket.address().port), port, '127.0.0.1');
        return await Promise.race([answer.then(() => true), new Promise((done) => { setTimeout(done, ms, false); })]);
    } catch {
        return false;
    } finally {
        socket.close();
    }
}

const options = (port) => `OPTIONS sip:x SIP/2.0\r\nVia: SIP/2.0/UDP 127.0.0.1:${port};branch=z9hG4bK${port}${Date.now()};rport\r\n`
    + 'From: <sip:a@b>;tag=1\r\nTo: <sip:b@c>\r\nCall-ID: probe\r\nCSeq: 1 OPTIONS\r\nMax-Forwards: 9\r\nContent-Length: 0\r\n\r\n';

export class Provider extends Peer {
    /** user, password: of the trunk; edge: realm of the proxy, if it also asks; phones: URI where the trunk's calls go;
     *  tls: {key, certificate}, paths. */
    static async start({ user = 'door', password = 's3cret-of-the-trunk', edge = '', phones = 'sip:127.0.0.1:9', tls, port } = {}) {
        const provider = new Provider();
        provider.directory = mkdtempSync(join(tmpdir(), 'portero-kamailio-'));
        provider.port = port ?? await freePort();
        provider.address = `127.0.0.1:${provider.port}`;
        Object.assign(provider, { user, password });
        const define = (name, value) => ['-A', `${name}="${value}"`];
        const args = ['-f', join(here, '../kamailio/provider.cfg'), '-DD', '-E', '-m', '32', '-M', '4', '-Y', provider.directory,
            '-P', join(provider.directory, 'pid'), '-l', `udp:${provider.address}`, '-l', `tcp:${provider.address}`,
            ...define('USER', user), ...define('PASSWORD', password), ...define('PHONES', phones), ...(edge ? define('EDGE', edge) : [])];
        if (tls) {
            provider.tlsPorts = [await freePort(), await freePort(), await freePort()];
            args.push(...provider.tlsPorts.flatMap((tlsPort) => ['-l', `tls:127.0.0.1:${tlsPort}`]), '-A', 'WITH_TLS', ...define('TLS_KEY', tls.key), ...define('TLS_CERTIFICATE', tls.certificate));
        }
        await provider.launch('kamailio', args, () => answersDatagram(provider.port, options));
        return provider;
    }

    async kill() {
        await super.kill();
        rmSync(this.directory, { recursive: true, force: true });
    }
}

// A query for the address of "x".
const question = () => Buffer.from('000101000001000000000000017800' + '00010001', 'hex');

export class NameServer extends Peer {
    /** records: arguments of dnsmasq, such as --srv-host and --host-record. */
    static async start(...records) {
        const server = new NameServer();
        const port = await freePort();
        server.address = `127.0.0.1:${port}`;
        await server.launch('dnsmasq', ['--keep-in-foreground', '--conf-file=/dev/null', '--no-resolv', '--no-hosts', `--port=${port}`,
            '--listen-address=127.0.0.1', '--bind-interfaces', '--user=', '--group=', '--pid-file=', '--local=/#/', ...records],
        () => answersDatagram(port, question));
        return server;
    }
}
