// HTTP/1.1 framing over TLS and over the plain port: RFC 9112; every ambiguous request is refused and the connection closed.
// engine: sqlite, because the parser does not use the store
import { describe, it, before } from 'node:test';
import assert from 'node:assert/strict';
import { framingCases } from './lib/framing.js';
import { RawConnection } from './lib/raw.js';
import { ok } from './lib/client.js';
import { signIn, useWorld } from './lib/world.js';

const GET = '/v1/account';
const POST = '/v1/auth/verify';

describe('framing', () => {
    const w = useWorld({ config: { trusted_proxies: ['127.0.0.1'] } });
    let session;
    before(async () => {
        session = await signIn(w.client);
    });

    const told = (reply) => (reply.status < 400 ? String(reply.status) : `${reply.status} ${JSON.parse(reply.body).error.code}`);

    /** Sends the bytes, compares the replies with the expected ones and checks the state of the connection. */
    async function check(secure, bytes, expected, stands, probe) {
        const connection = await RawConnection.open(secure ? w.daemon.httpsPort : w.daemon.httpPort, { secure });
        try {
            connection.send(Buffer.from(bytes, 'latin1'));
            const alternatives = stands === 'closed' && expected.length > 1;
            const count = alternatives ? 1 : expected.length;
            const replies = [];
            for (let n = 1; n <= count; n++) replies.push(told(await connection.reply(n)));
            if (alternatives) assert.ok(expected.includes(replies[0]), `${replies[0]} is none of ${expected}`);
            else assert.deepEqual(replies, expected);
            for (const reply of connection.replies) {
                assert.match(reply.headers['x-request-id'], /^req_[0-9a-f]{24}$/);
                assert.equal(reply.headers['x-content-type-options'], 'nosniff');
            }
            if (stands === 'open') {
                connection.send(probe);
                assert.equal((await connection.reply(count + 1)).status, 200, 'the connection still works');
            } else if (stands === 'closed') {
                await connection.end();
                assert.equal(connection.replies.length, count, connection.describe());
            }
        } finally {
            connection.destroy();
        }
    }

    for (const secure of [true, false]) {
        describe(secure ? 'over TLS' : 'over the plain port, behind a trusted proxy', () => {
            const proto = secure ? '' : 'X-Forwarded-Proto: https\r\n';
            const names = framingCases({ get: GET, post: POST, key: '', proto }).map(([name]) => name);
            names.forEach((name, i) => {
                // HTTP-40
                it(name, async () => {
                    const [, bytes, expected, stands] = framingCases({ get: GET, post: POST, key: session.key, proto })[i];
                    await check(secure, bytes, expected, stands, `GET /v1/health HTTP/1.1\r\nHost: localhost\r\n${proto}\r\n`);
                });
            });
        });
    }

    it('reads the same requests when they come byte by byte', async () => {
        for (const [name, bytes, expected, stands] of framingCases({ get: GET, post: POST, key: session.key })) {
            if (bytes.length > 1000 || stands !== 'open') continue;
            const connection = await RawConnection.open(w.daemon.httpsPort);
            for (const byte of bytes) connection.send(Buffer.from(byte, 'latin1'));
            const replies = [];
            for (let n = 1; n <= expected.length; n++) replies.push(told(await connection.reply(n)));
            assert.deepEqual(replies, expected, name);
            connection.destroy();
        }
    });

    it('asks for the body with 100 Continue, then answers it', async () => {
        const connection = await RawConnection.open(w.daemon.httpsPort);
        connection.send(`POST ${POST} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n`);
        assert.equal((await connection.reply(1)).status, 100);
        connection.send('"abc"');
        assert.equal(told(await connection.reply(2)), '400 INVALID_JSON');
        connection.destroy();
    });

    // HTTP-10
    it('asks for no body that it will not read', async () => {
        const connection = await RawConnection.open(w.daemon.httpsPort);
        connection.send('POST /v1/nothing HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n');
        assert.equal(told(await connection.reply(1)), '404 NOT_FOUND');
        connection.destroy();
    });

    it('refuses a TLS hello on the plain port, and plain HTTP on the TLS port, and lives on', async () => {
        const hello = Buffer.concat([Buffer.from('1603010200010001fc0303', 'hex'), Buffer.alloc(40), Buffer.from('\r\n\r\n')]);
        const plain = await RawConnection.open(w.daemon.httpPort, { secure: false });
        plain.send(hello);
        await plain.end();
        const secure = await RawConnection.open(w.daemon.httpsPort, { secure: false });
        secure.socket.removeAllListeners('data');
        secure.socket.resume();
        secure.send('GET /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n');
        await secure.end();
        ok(await w.client.get('/v1/health'));
    });

    it('logs no error for a version or a coding that it does not support', async () => {
        for (const [status, request] of [[505, 'GET /v1/health HTTP/2.0\r\nHost: localhost\r\n\r\n'],
            [501, 'POST /v1/unlock HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip, chunked\r\n\r\n']]) {
            const connection = await RawConnection.open(w.daemon.httpsPort);
            connection.send(request);
            await connection.end();
            assert.equal(connection.replies[0].status, status);
            const { requestId } = JSON.parse(connection.replies[0].body);
            assert.ok(!w.daemon.stderr.includes(requestId), 'a stranger does not fill the error log');
        }
    });

    it('lives on after random bytes on every port', async () => {
        let seed = 12345;
        const random = () => { seed = (Math.imul(seed, 1103515245) + 12345) >>> 0; return seed >>> 24; };
        for (let round = 0; round < 40; round++) {
            for (const secure of [true, false]) {
                const connection = await RawConnection.open(secure ? w.daemon.httpsPort : w.daemon.httpPort, { secure });
                connection.socket.removeAllListeners('data');
                connection.socket.resume();
                connection.send(Buffer.from(Array.from({ length: 200 }, random)));
                connection.send('\r\n\r\n');
                connection.socket.end();
                await connection.end();
            }
        }
        ok(await w.client.get('/v1/health'));
    });
});
