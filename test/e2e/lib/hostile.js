// Peers that keep a connection busy for ever (hostile.c), for all tests of a describe block.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import net from 'node:net';
import { rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { after, before } from 'node:test';
import assert from 'node:assert/strict';
import { temporaryDirectory } from './daemon.js';
import { authority } from './relay.js';
import { eventually } from './world.js';

const source = join(dirname(fileURLToPath(import.meta.url)), 'hostile.c');

export function useHostilePeers() {
    const peers = { ports: new Map(), output: '' };
    let server;
    before(async () => {
        peers.directory = temporaryDirectory();
        const { ca, issue } = authority(peers.directory);
        const { key, cert } = issue('peer', 'DNS:localhost,IP:127.0.0.1');
        const pem = join(peers.directory, 'both.pem');
        peers.ca = ca;
        peers.certificate = pem;
        writeFileSync(pem, Buffer.concat([cert, key]));
        peers.program = join(peers.directory, 'hostile');
        const built = spawnSync('cc', ['-O1', '-o', peers.program, source, '-lssl', '-lcrypto', '-lpthread'], { encoding: 'utf8' });
        assert.equal(built.status, 0, built.stderr);
        server = spawn(peers.program, ['serve', pem], { stdio: ['ignore', 'pipe', 'inherit'] });
        server.stdout.setEncoding('utf8').on('data', (text) => { peers.output += text; });
        await eventually(() => peers.output.includes('ready\n'), 'the peers');
        for (const [, name, port] of peers.output.matchAll(/^(\S+) (\d+)$/gm)) peers.ports.set(name, Number(port));
    });
    after(async () => {
        server?.kill('SIGKILL');
        if (server) await once(server, 'close');
        rmSync(peers.directory, { recursive: true, force: true });
    });
    /** The connections that a peer has had. */
    peers.met = (name) => peers.output.split('\n').filter((line) => line === `+ ${name}`).length;
    /** A server of plain HTTP: its connections go to the port `well`, and after turn() to the peers of these names, one after the other. */
    peers.front = async (names, well) => {
        const sockets = new Set();
        let turned = !well;
        let next = 0;
        const front = net.createServer((socket) => {
            const peer = net.connect(turned ? peers.ports.get(names[next++ % names.length]) : well, '127.0.0.1');
            for (const [one, other] of [[socket, peer], [peer, socket]]) {
                sockets.add(one);
                one.on('error', () => {}).on('close', () => { sockets.delete(one); other.destroy(); }).pipe(other);
            }
        });
        await once(front.listen(0, '127.0.0.1'), 'listening');
        const cut = () => sockets.forEach((socket) => socket.destroy());
        return {
            url: `http://127.0.0.1:${front.address().port}`,
            turn: () => { turned = true; cut(); },
            close: () => { front.close(); cut(); },
        };
    };
    /** Sends a server new TLS keys until it closes: what the client says then. */
    peers.flood = async (port) => {
        const client = spawn(peers.program, ['flood', String(port)], { stdio: ['ignore', 'pipe', 'inherit'] });
        let said = '';
        client.stdout.on('data', (text) => { said += text; });
        await once(client, 'close');
        return said;
    };
    return peers;
}
