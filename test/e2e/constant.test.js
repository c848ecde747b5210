// Documents and pages that never change: compressed for who asks, revalidated by their tags, and cheap for those who never read them.
// engine: sqlite, because these texts are not in the store
import { describe, it } from 'node:test';
import assert from 'node:assert/strict';
import https from 'node:https';
import net from 'node:net';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { readFileSync } from 'node:fs';
import { once } from 'node:events';
import { eventually, useWorld } from './lib/world.js';

const TEXTS = ['/openapi.json', '/docs/agents', '/account', '/sandbox/'];

describe('a text that never changes', () => {
    const w = useWorld({ config: { trusted_proxies: ['127.0.0.0/8'] } });

    const ask = (path, headers = {}, method = 'GET') => new Promise((resolve, reject) => {
        const options = { port: w.daemon.httpsPort, host: '127.0.0.1', path, method, headers, rejectUnauthorized: false };
        https.request(options, (answer) => {
            const parts = [];
            answer.on('data', (d) => parts.push(d)).on('end', () => resolve({ status: answer.statusCode, headers: answer.headers, body: Buffer.concat(parts) }));
        }).on('error', reject).end();
    });

    /** The paths of the scripts and style sheets that a page names. */
    const assetsOf = async (path) => (await ask(path)).body.toString().match(/(?<=")\/a\/[^"]+/g);

    // HTTP-51
    it('is kept for ever where its name has a hash of it, in brotli for browsers', async () => {
        const assets = [...await assetsOf('/account'), ...await assetsOf('/sandbox/')];
        assert.ok(assets.length >= 4);
        for (const path of assets) {
            assert.match(path, /^\/a\/[a-z_-]+\.[0-9a-f]{12}\.(css|js)$/);
            const plain = await ask(path);
            assert.equal(plain.status, 200);
            assert.equal(plain.headers['content-type'], path.endsWith('css') ? 'text/css; charset=utf-8' : 'text/javascript; charset=utf-8');
            const encodings = [['gzip, deflate, br, zstd', 'br', brotliDecompressSync], ['br;q=0.5, gzip', 'gzip', gunzipSync]];
            for (const [encoding, coding, decompress] of encodings) {
                const answer = await ask(path, { 'Accept-Encoding': encoding });
                assert.equal(answer.headers['content-encoding'], coding);
                assert.ok(decompress(answer.body).equals(plain.body), `${path} ${coding}`);
                assert.equal(answer.headers['cache-control'], 'public, max-age=31536000, immutable');
                assert.equal(answer.headers.vary, 'Accept-Encoding');
                assert.notEqual(answer.headers.etag, plain.headers.etag);
                const again = await ask(path, { 'Accept-Encoding': encoding, 'If-None-Match': answer.headers.etag });
                assert.deepEqual([again.status, again.body.length], [304, 0]);
                const head = await ask(path, { 'Accept-Encoding': encoding }, 'HEAD');
                assert.deepEqual([head.status, head.body.length, head.headers['content-length']], [200, 0, String(answer.body.length)]);
            }
        }
    });

    // HTTP-51
    it('answers to the hash of another version, which is not kept', async () => {
        const [path] = await assetsOf('/account');
        const [mine, other] = [await ask(path), await ask(path.replace(/[0-9a-f]{12}/, '0123456789ab'))];
        assert.equal(other.status, 200);
        assert.ok(other.body.equals(mine.body));
        assert.equal(other.headers['cache-control'], 'no-cache');
        for (const missing of ['/a/', '/a/site-style.css', '/a/nothing.0123456789ab.css', `${path}/`, '/a/..%2faccount']) {
            const answer = await ask(missing);
            assert.equal(answer.status, 404, missing);
            assert.equal(answer.headers['cache-control'], 'no-store');
            assert.equal(JSON.parse(answer.body).error.code, 'NOT_FOUND');
        }
    });

    // HTTP-49, HTTP-50
    it('is sent plain, or in gzip to clients that prefer it, each with its own tag', async () => {
        for (const path of TEXTS) {
            const plain = await ask(path);
            const gzip = await ask(path, { 'Accept-Encoding': 'br;q=0.5, gzip' });
            assert.equal(plain.status, 200, path);
            assert.equal(plain.headers['content-encoding'], undefined);
            assert.equal(gzip.headers['content-encoding'], 'gzip');
            assert.ok(gunzipSync(gzip.body).equals(plain.body));
            assert.ok(gzip.body.length < plain.body.length);
            assert.match(plain.headers.etag, /^"[^"]+"$/);
            assert.notEqual(plain.headers.etag, gzip.headers.etag);
            assert.equal(plain.headers['content-type'], gzip.headers['content-type']);
            for (const answer of [plain, gzip]) {
                const varies = { '/account': 'Accept-Language, Cookie, Accept-Encoding', '/docs/agents': 'Accept, Accept-Encoding' };
                assert.equal(answer.headers.vary, varies[path] ?? 'Accept-Encoding');
                assert.match(answer.headers['cache-control'], /^(no-cache|public, max-age=60)$/);
            }
            const refusing = await ask(path, { 'Accept-Encoding': 'gzip;q=0, *' });
            assert.equal(refusing.headers['content-encoding'], undefined);
        }
    });

    // HTTP-49
    it('is not sent again to a client that has it', async () => {
        for (const path of TEXTS) {
            for (const encoding of [{}, { 'Accept-Encoding': 'gzip' }]) {
                const { headers: { etag } } = await ask(path, encoding);
                for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
                    const answer = await ask(path, { ...encoding, 'If-None-Match': known });
                    assert.equal(answer.status, 304, `${path} ${known}`);
                    assert.equal(answer.body.length, 0);
                    assert.equal(answer.headers.etag, etag);
                    assert.match(answer.headers.vary, /(^|, )Accept-Encoding$/);
                    assert.equal(answer.headers['content-type'], undefined);
                }
                assert.equal((await ask(path, { ...encoding, 'If-None-Match': '"other"' })).status, 200);
            }
        }
    });

    it('is described by HEAD as GET sends it', async () => {
        for (const path of TEXTS) {
            for (const encoding of [{}, { 'Accept-Encoding': 'gzip' }]) {
                const [get, head] = [await ask(path, encoding), await ask(path, encoding, 'HEAD')];
                const stable = ({ date, connection, 'x-request-id': id, ...rest }) => rest;
                assert.equal(head.status, 200);
                assert.equal(head.body.length, 0);
                assert.deepEqual(stable(head.headers), stable(get.headers));
                assert.equal(Number(head.headers['content-length']), get.body.length);
                assert.equal((await ask(path, { ...encoding, 'If-None-Match': get.headers.etag }, 'HEAD')).status, 304);
            }
        }
    });

    it('costs little memory for clients that ask often and never read, and frees it when they have gone', async () => {
        const COUNT = 300;
        const memory = () => Number(readFileSync(`/proc/${w.daemon.process.pid}/status`, 'utf8').match(/VmRSS:\s+(\d+)/)[1]) * 1024;
        await ask('/openapi.json');
        const start = memory();
        const sockets = await Promise.all(Array.from({ length: COUNT }, async () => {
            const socket = net.connect({ port: w.daemon.httpPort, host: '127.0.0.1' });
            socket.pause();
            await once(socket, 'connect');
            socket.on('error', () => {});
            socket.write('GET /openapi.json HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-Proto: https\r\n\r\n'.repeat(20));
            return socket;
        }));
        await new Promise((done) => { setTimeout(done, 1000); });
        const most = memory() - start;
        assert.ok(most < COUNT * 40_000, `${most} bytes`); // a copy for each would be 400,000
        assert.equal((await ask('/v1/health')).status, 200);
        sockets.forEach((socket) => socket.destroy());
        await eventually(() => memory() - start < 6_000_000, 'memory given back');
    });
});
