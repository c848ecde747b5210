// Kamailio as the proxy between call boxes and a daemon.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import dgram from 'node:dgram';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cleanEnvironment } from './daemon.js';
import { address } from './phone.js';
import { freePort } from './port.js';

const here = dirname(fileURLToPath(import.meta.url));
const END_MS = 10_000;

export class Kamailio {
    /** {sip}: its address, to be called in place of the daemon's. */
    static async start(daemon) {
        const proxy = new Kamailio();
        const listen = `127.0.0.1:${await freePort()}`;
        proxy.sip = `sip:${listen}`;
        proxy.directory = mkdtempSync(join(tmpdir(), 'portero-kamailio-'));
        const text = readFileSync(join(here, '../kamailio/kamailio.cfg'), 'utf8');
        const file = join(proxy.directory, 'kamailio.cfg');
        writeFileSync(file, text.replaceAll('@LISTEN@', listen).replaceAll('@SERVICE@', address(daemon)));
        // Its processes are a group of their own: they end together.
        proxy.process = spawn('kamailio', ['-DD', '-E', '-f', file, '-Y', proxy.directory, '-m', '16', '-M', '4'],
            { detached: true, stdio: ['ignore', 'pipe', 'pipe'], env: cleanEnvironment() });
        proxy.log = '';
        for (const stream of [proxy.process.stdout, proxy.process.stderr]) stream.on('data', (chunk) => { proxy.log += chunk; });
        proxy.exited = once(proxy.process, 'close');
        proxy.onExit = () => proxy.signal('SIGKILL');
        process.on('exit', proxy.onExit);
        await proxy.answers(listen);
        return proxy;
    }

    signal(name) {
        try {
            process.kill(-this.process.pid, name);
        } catch (error) {
            if (error.code !== 'ESRCH') throw error;
        }
    }

    /** Waits until it forwards an OPTIONS to the service. */
    async answers(listen) {
        const [host, port] = listen.split(':');
        const socket = dgram.createSocket('udp4');
        socket.bind(0, '127.0.0.1');
        await once(socket, 'listening');
        const me = `127.0.0.1:${socket.address().port}`;
        const answer = once(socket, 'message');
        let tries = 0;
        const ask = () => socket.send(`OPTIONS sip:${listen} SIP/2.0\r\nVia: SIP/2.0/UDP ${me};branch=z9hG4bK${++tries}\r\nFrom: <sip:${me}>;tag=1\r\n`
            + `To: <sip:${listen}>\r\nCall-ID: ${tries}@${me}\r\nCSeq: 1 OPTIONS\r\nMax-Forwards: 70\r\nContent-Length: 0\r\n\r\n`, Number(port), host);
        const timer = setInterval(ask, 100);
        const late = setTimeout(() => socket.emit('message', undefined), 60_000);
        const [message] = await answer;
        clearInterval(timer);
        clearTimeout(late);
        socket.close();
        if (!message) throw new Error(`kamailio did not start:\n${this.log}`);
    }

    async stop() {
        this.signal('SIGTERM');
        const timer = setTimeout(() => this.signal('SIGKILL'), END_MS);
        await this.exited;
        clearTimeout(timer);
        this.signal('SIGKILL'); // processes that outlived the first
        process.off('exit', this.onExit);
        rmSync(this.directory, { recursive: true, force: true });
    }
}
