// Hosts of the documents of OAuth clients, with certificates of an authority of their own, on this machine.
import https from 'node:https';
import { after, before } from 'node:test';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';

function openssl(directory, ...args) {
    const made = spawnSync('openssl', args, { cwd: directory, encoding: 'utf8' });
    if (made.status !== 0) throw new Error(`openssl: ${made.stderr}`);
}

/** A directory with ca.pem, and host.pem with host.key, which ca.pem has signed for localhost alone. */
function authority() {
    const directory = mkdtempSync(join(tmpdir(), 'portero-documents-'));
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
    openssl(directory, 'req', '-x509', ...key, '-days', '2', '-subj', '/CN=authority', '-keyout', 'ca.key', '-out', 'ca.pem');
    openssl(directory, 'req', ...key, '-subj', '/CN=documents', '-keyout', 'host.key', '-out', 'host.csr');
    writeFileSync(join(directory, 'host.ext'), 'subjectAltName=DNS:localhost\n');
    openssl(directory, 'x509', '-req', '-in', 'host.csr', '-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2', '-extfile', 'host.ext', '-out', 'host.pem');
    return directory;
}

const directory = authority();
process.on('exit', () => rmSync(directory, { recursive: true, force: true }));

/** The configuration with which a daemon trusts these hosts. */
export const TRUSTED = { oauth: { allow_private: true, ca: join(directory, 'ca.pem') } };

/** A host for all tests of a describe block. `put(path, document, head)` publishes one and gives its address. */
export function useDocuments() {
    const answers = new Map(), requests = [];
    const server = https.createServer({ key: readFileSync(join(directory, 'host.key')), cert: readFileSync(join(directory, 'host.pem')) }, (request, response) => {
        requests.push(request.url);
        const answer = answers.get(request.url);
        if (!answer) response.writeHead(404).end();
        else answer(request, response);
    });
    server.on('tlsClientError', () => {});
    before(async () => {
        server.listen(0, '127.0.0.1');
        await once(server, 'listening');
    });
    after(() => {
        server.closeAllConnections();
        server.close();
    });
    const host = {
        requests, server,
        url: (path) => `https://localhost:${server.address().port}${path}`,
        answer: (path, answer) => {
            answers.set(path, answer);
            return host.url(path);
        },
        /** `document` may be a text; an object gets the members that it lacks. */
        put: (path, document = {}, head = {}, status = 200) => host.answer(path, (_, response) => {
            const whole = { client_id: host.url(path), client_name: 'Kitchen robot', redirect_uris: ['https://assistant.example/callback'], ...document };
            response.writeHead(status, { 'Content-Type': 'application/json', ...head });
            response.end(typeof document === 'string' ? document : JSON.stringify(whole));
        }),
        /** How often the path was asked for. */
        count: (path) => requests.filter((one) => one === path).length,
    };
    return host;
}
