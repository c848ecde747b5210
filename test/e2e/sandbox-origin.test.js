// The sandbox's operations answer programs and its own pages on this machine, and no other origin's page that a
// browser here has open, by whatever name that reaches it (docs/behaviour/sandbox.md, loopback).
// engine: sqlite, because the origin is checked before the store
import { describe, it, before } from 'node:test';
import assert from 'node:assert/strict';
import { createServer } from 'node:https';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Browser } from './lib/browser.js';
import { RawConnection } from './lib/raw.js';
import { useWorld } from './lib/world.js';

const PUBLIC_URL = 'https://door.example.com:8443';

describe('the sandbox', () => {
    const w = useWorld({ config: { public_url: PUBLIC_URL, trusted_proxies: ['127.0.0.0/8'] } });
    let port;
    before(async () => {
        port = w.daemon.httpsPort;
    });

    /** The status of a request with these lines after the first, in TLS or to the plain port. */
    const ask = async (lines, { first = 'GET /sandbox/clock HTTP/1.1', secure = true } = {}) => {
        const connection = await RawConnection.open(secure ? port : w.daemon.httpPort, { secure });
        connection.send(`${[first, ...lines].join('\r\n')}\r\n\r\n`);
        const reply = await connection.reply(1);
        connection.destroy();
        if (reply.status === 403) assert.equal(JSON.parse(reply.body).error.code, 'LOOPBACK_REQUIRED');
        return reply.status;
    };
    const own = (...lines) => [`Host: localhost:${port}`, ...lines];

    it('answers as this machine, and as the host it is published under', async () => {
        for (const host of ['localhost', `LocalHost:${port}`, '127.0.0.1', `127.0.0.1:${port}`, '[::1]', `[::1]:${port}`, 'door.example.com', 'Door.Example.com:8443']) {
            assert.equal(await ask([`Host: ${host}`]), 200, host);
        }
    });

    // SANDBOX-1
    it('does not answer under another name, which may have been rebound', async () => {
        for (const host of ['evil.example', `evil.example:${port}`, 'localhost.evil.example', 'xlocalhost', 'door.example.com.evil.example', '127.0.0.1.evil.example', '[::2]', '128.0.0.1', '']) {
            assert.notEqual(await ask([`Host: ${host}`]), 200, host);
            assert.notEqual(await ask([`Host: ${host}`, `Origin: https://${host}`, 'Sec-Fetch-Site: same-origin']), 200, host);
        }
    });

    // SANDBOX-1
    it('does not answer forwarded requests, whatever their headers say', async () => {
        for (const field of ['X-Forwarded-For: 127.0.0.1', 'X-Forwarded-Proto: https', 'X-Forwarded-Host: localhost', 'Forwarded: for=127.0.0.1', 'X-Real-IP: 127.0.0.1', 'Via: 1.1 proxy']) {
            assert.equal(await ask(own(field)), 403, field);
        }
        assert.equal(await ask(['Host: localhost', 'X-Forwarded-Proto: https'], { secure: false }), 403);
    });

    it('does not answer another origin', async () => {
        const site = (value) => [`Sec-Fetch-Site: ${value}`, 'Sec-Fetch-Mode: cors', 'Sec-Fetch-Dest: empty'];
        const refused = [['Origin: https://evil.example'], ['Origin: null'], [`Origin: http://localhost:${port}`], ['Origin: https://localhost:1'],
            site('cross-site'), site('same-site'), ['Sec-Fetch-Site: none', 'Sec-Fetch-Site: cross-site'], [`Origin: https://localhost:${port}`, 'Origin: https://evil.example']];
        for (const lines of refused) {
            assert.equal(await ask(own(...lines)), 403, lines.join());
            const form = { first: 'POST /sandbox/clock HTTP/1.1' };
            assert.equal(await ask(own(...lines, 'Content-Type: text/plain', 'Content-Length: 0'), form), 403, lines.join());
        }
        for (const lines of [[`Origin: https://localhost:${port}`], site('same-origin'), ['Sec-Fetch-Site: none']]) assert.equal(await ask(own(...lines)), 200, lines.join());
    });

    it('lets links from elsewhere lead to its pages, and to nothing else', async () => {
        const visit = own('Sec-Fetch-Site: cross-site', 'Sec-Fetch-Mode: navigate', 'Sec-Fetch-Dest: document');
        const frame = own('Sec-Fetch-Site: cross-site', 'Sec-Fetch-Mode: navigate', 'Sec-Fetch-Dest: iframe');
        const page = { first: 'GET /sandbox/ HTTP/1.1' };
        assert.equal(await ask(visit, page), 200);
        assert.equal(await ask(frame, page), 403);
        assert.equal(await ask(visit), 403);
        assert.equal(await ask(visit, { first: 'GET /sandbox/messages HTTP/1.1' }), 403);
    });

    it('gives nothing to a page of another origin in a browser', async () => {
        const [key, cert] = ['tls.key', 'tls.crt'].map((name) => readFileSync(join(w.daemon.data, name)));
        const elsewhere = createServer({ key, cert }, (request, response) => response.setHeader('Content-Type', 'text/html').end('<!doctype html><title>elsewhere</title>')).listen(0, '127.0.0.1');
        await once(elsewhere, 'listening');
        const browser = await Browser.start();
        try {
            const page = await browser.page(`https://localhost:${elsewhere.address().port}/`);
            const before = (await w.client.get('/sandbox/clock')).body.offset_s;
            const outcome = await page.evaluate(async (url) => {
                const attempts = [fetch(`${url}/sandbox/messages`), fetch(`${url}/sandbox/clock`, { method: 'POST', mode: 'no-cors', body: '{"advance_s":86400}' })];
                return (await Promise.allSettled(attempts)).map((r) => r.value?.type ?? 'failed');
            }, `https://localhost:${port}`);
            assert.deepEqual(outcome, ['failed', 'opaque']);
            assert.equal((await w.client.get('/sandbox/clock')).body.offset_s, before);
            browser.takeComplaints();
        } finally {
            await browser.close();
            elsewhere.close();
        }
    });
});
