// Connections and their deadlines, TLS, and clients that disconnect: contract "HTTPS only"; docs/behaviour/http.md.
import { describe, it, before } from 'node:test';
import assert from 'node:assert/strict';
import tls from 'node:tls';
import { once } from 'node:events';
import { idempotencyKey, ok } from './lib/client.js';
import { RawConnection } from './lib/raw.js';
import { eventually, grant, signIn, useWorld } from './lib/world.js';

const HEALTH = 'GET /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n';

describe('connections', () => {
    const w = useWorld();
    let session;
    before(async () => {
        session = await signIn(w.client);
    });

    const open = (options) => RawConnection.open(w.daemon.httpsPort, options);
    const create = (label, key = idempotencyKey()) => {
        const body = JSON.stringify({ type: 'passcode', label });
        return `POST /v1/unlock HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${session.key}\r\nIdempotency-Key: ${key}\r\n`
            + `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    };
    const read = (path) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${session.key}\r\n\r\n`;

    describe('deadlines', { concurrency: true }, () => {
        const LIMIT_S = 3; // enough time for the client's part
        const quick = useWorld({ config: { http: { header_timeout_s: LIMIT_S, body_timeout_s: LIMIT_S, idle_timeout_s: LIMIT_S } } });
        const open = () => RawConnection.open(quick.daemon.httpsPort);

        it('end a header that comes byte by byte for ever', async () => {
            const connection = await open();
            const drip = setInterval(() => connection.send('X'), 50);
            connection.send('GET /v1/health HTTP/1.1\r\nX-Slow: ');
            await connection.end();
            clearInterval(drip);
            assert.ok(connection.replies.length <= 1);
            if (connection.replies.length) assert.equal(connection.replies[0].status, 408);
        });

        it('end a body that comes byte by byte for ever', async () => {
            const connection = await open();
            const drip = setInterval(() => connection.send('x'), 50);
            connection.send('POST /v1/auth/otp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 5000\r\n\r\n');
            await connection.end();
            clearInterval(drip);
            if (connection.replies.length) assert.equal(connection.replies[0].status, 408);
        });

        it('end a connection on which nothing comes, before and between requests', async () => {
            const silent = await open();
            await silent.end();
            assert.equal(silent.replies.length, 0);
            const used = await open();
            used.send(HEALTH);
            await used.end();
            assert.deepEqual(used.replies.map((reply) => reply.status), [200]);
        });

        it('end a TLS handshake that does not go on', async () => {
            const connection = await RawConnection.open(quick.daemon.httpsPort, { secure: false });
            await connection.end();
        });

        it('do not touch a connection that is in use', async () => {
            const connection = await open();
            for (let n = 1; n <= 25 * LIMIT_S; n++) {
                connection.send(HEALTH);
                assert.equal((await connection.reply(n)).status, 200);
                await new Promise((done) => { setTimeout(done, 50); });
            }
            connection.destroy();
        });
    });

    describe('without a place', () => {
        const MOST = 16;
        const few = useWorld({ config: { http: { connections: MOST } } });

        // HTTP-48
        it('wait for a descriptor, which the log tells, and the others go on', async () => {
            const early = await open();
            const give = w.daemon.takeDescriptors();
            const late = open();
            assert.ok(await w.daemon.logged(/ warn http connections refused limit=descriptors count=\d+\n/));
            early.send(HEALTH);
            assert.equal((await early.reply(1)).status, 200);
            give();
            (await late).send(HEALTH);
            assert.equal((await (await late).reply(1)).status, 200);
        });

        // HTTP-48
        it('are closed at the limit, which the log tells', async () => {
            const all = await Promise.all(Array.from({ length: MOST + 1 }, () => RawConnection.open(few.daemon.httpsPort, { secure: false })));
            assert.ok(await few.daemon.logged(/ warn http connections refused limit=all count=\d+\n/));
            for (const one of all) one.destroy();
        });
    });

    describe('pipelined requests', () => {
        it('are answered in their order, reads behind a write too, and a read sees the write before it', async () => {
            const connection = await open();
            const key = idempotencyKey();
            connection.send(create('first', key) + HEALTH + read('/v1/unlock?limit=1') + create('second') + read('/v1/unlock?limit=1') + read('/v1/nothing'));
            await connection.reply(6);
            const bodies = connection.replies.map((reply) => JSON.parse(reply.body));
            assert.deepEqual(connection.replies.map((reply) => reply.status), [201, 200, 200, 201, 200, 404]);
            assert.equal(bodies[2].data[0].label, 'first');
            assert.equal(bodies[4].data[0].label, 'second');
            connection.destroy();
        });

        it('may be many', async () => {
            const connection = await open();
            connection.send(HEALTH.repeat(500));
            await connection.reply(500);
            assert.ok(connection.replies.every((reply) => reply.status === 200));
            connection.destroy();
        });

        it('wait for a client that reads slowly, without harm to others', async () => {
            const connection = await open();
            connection.socket.pause();
            connection.send(read('/v1/account').repeat(1000));
            for (let i = 0; i < 20; i++) ok(await w.client.get('/v1/health'));
            connection.socket.resume();
            await connection.reply(1000);
            connection.destroy();
        });
    });

    describe('a client that goes away', () => {
        it('having closed its sending side still gets its answers', async () => {
            const connection = await open({ allowHalfOpen: true });
            connection.send(create('half-closed') + HEALTH);
            connection.socket.end();
            assert.equal((await connection.reply(1)).status, 201);
            assert.equal((await connection.reply(2)).status, 200);
            await connection.end();
        });

        it('while its write is under way leaves the service well, and the write either whole or not there', async () => {
            const keys = Array.from({ length: 40 }, () => idempotencyKey());
            for (const key of keys) {
                const connection = await open();
                connection.send(create('gone away', key));
                connection.destroy();
            }
            for (const key of keys) {
                const answer = await session.client.post('/v1/unlock', { type: 'passcode', label: 'gone away' }, { headers: { 'Idempotency-Key': key } });
                assert.ok(answer.status === 201 || answer.status === 200, answer.text);
            }
            assert.ok(w.daemon.running());
        });

        it('in the middle of a request leaves nothing behind', async () => {
            for (const part of ['GET', HEALTH.slice(0, 30), create('x').slice(0, -3)]) {
                const connection = await open();
                connection.send(part);
                connection.destroy();
            }
            ok(await w.client.get('/v1/health'));
        });
    });

    describe('TLS', () => {
        const handshake = async (options) => {
            const socket = tls.connect({ port: w.daemon.httpsPort, host: '127.0.0.1', rejectUnauthorized: false, ...options });
            try {
                await once(socket, 'secureConnect');
                return socket.getProtocol();
            } finally {
                socket.destroy();
            }
        };

        // HTTP-39
        it('is spoken in versions 1.2 and 1.3, and in no older one', async () => {
            assert.equal(await handshake({ maxVersion: 'TLSv1.2' }), 'TLSv1.2');
            assert.equal(await handshake({ minVersion: 'TLSv1.3' }), 'TLSv1.3');
            await assert.rejects(handshake({ minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' }));
        });

        it('offers HTTP/1.1 to a client that asks which protocols there are', async () => {
            const socket = tls.connect({ port: w.daemon.httpsPort, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: ['h2', 'http/1.1'] });
            await once(socket, 'secureConnect');
            assert.notEqual(socket.alpnProtocol, 'h2');
            socket.destroy();
        });

        it('resumes a session', async () => {
            const first = tls.connect({ port: w.daemon.httpsPort, host: '127.0.0.1', rejectUnauthorized: false });
            const ticket = once(first, 'session');
            first.write(HEALTH);
            first.resume();
            const [sessionData] = await ticket;
            first.destroy();
            const second = tls.connect({ port: w.daemon.httpsPort, host: '127.0.0.1', rejectUnauthorized: false, session: sessionData });
            await once(second, 'secureConnect');
            assert.equal(second.isSessionReused(), true);
            second.destroy();
        });
    });

    it('carry hundreds of requests at once, reads and writes, each with its own answer', async () => {
        const made = await Promise.all(Array.from({ length: 150 }, (_, i) => grant(session, { type: 'passcode', label: `grant ${i}` })));
        assert.deepEqual(made.map((row) => row.label), Array.from({ length: 150 }, (_, i) => `grant ${i}`));
        const rows = await Promise.all(made.map(async ({ id }) => ok(await session.client.get(`/v1/unlock/${id}`))));
        assert.deepEqual(rows, made);
    });
});

describe('the limit of connections', () => {
    const MOST = 30;
    const w = useWorld({ config: { http: { connections: MOST, threads: 1 } } });

    const open = () => RawConnection.open(w.daemon.httpsPort);
    const stillOpen = (all) => all.filter((connection) => !connection.closed).length;

    // HTTP-48
    it('makes the longest idle give way to new ones, all of which are served', async () => {
        const all = [];
        for (let i = 0; i < 2 * MOST; i++) {
            all.push(await open());
            all[i].send(HEALTH);
            assert.equal((await all[i].reply(1)).status, 200);
        }
        await eventually(() => stillOpen(all) <= MOST, 'the first ones closed');
        assert.ok(!all.at(-1).closed && all[0].closed);
        for (const connection of all) connection.destroy();
    });

    it('refuses new ones while all are busy, and accepts them again when others end', async () => {
        const busy = [];
        await eventually(async () => {
            const connection = await open().catch(() => null);
            if (!connection) return true;
            connection.send('POST /v1/auth/otp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{');
            busy.push(connection);
            assert.ok(busy.length <= MOST);
            return false;
        }, 'a refusal');
        assert.ok(busy.length > MOST / 2);
        for (const connection of busy) connection.destroy();
        await eventually(() => w.client.get('/v1/health').then((answer) => answer.status === 200, () => false), 'room again');
    });
});
