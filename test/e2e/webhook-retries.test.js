// Misbehaving receivers: contract "Events" 2 and 3, "Webhook delivery"; docs/behaviour/webhooks.md.
import { describe, it, before, beforeEach } from 'node:test';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { ok, refused } from './lib/client.js';
import { portero } from './lib/daemon.js';
import { REACHABLE, Receiver, useReceiver, verify } from './lib/receiver.js';
import { advance, agent, eventually, MINUTE, resident, signIn, useWorld, visit } from './lib/world.js';

const SCHEDULE = [MINUTE, 5 * MINUTE, 30 * MINUTE, 120 * MINUTE];

const fail = (request, response) => response.writeHead(500).end('{}');

describe('webhook retries', () => {
    const w = useWorld({ config: REACHABLE });
    const { client } = w;
    const receiver = useReceiver();
    let owner;
    beforeEach(async () => {
        receiver.answer = undefined;
        receiver.requests.length = 0;
        const session = await signIn(client);
        owner = await agent(session, ['access:read', 'access:write'], { expires_in_days: 90 }); // the clock goes far
    });

    const listen = async (path, who = owner) => ok(await who.client.post('/v1/webhooks', { url: receiver.url(path) }), 201);
    const test = async (endpoint, who = owner) => ok(await who.client.post(`/v1/webhooks/${endpoint.id}/test`), 202).delivery_id;
    const replay = (endpoint, id) => owner.client.post(`/v1/webhooks/${endpoint.id}/deliveries/${id}/replay`);
    const row = async (endpoint, id) => ok(await owner.client.get(`/v1/webhooks/${endpoint.id}/deliveries`)).data.find((found) => found.id === id);
    /** The delivery once so many of its attempts have ended. */
    const attempted = (endpoint, id, attempts = 1) => eventually(async () => {
        const found = await row(endpoint, id);
        return found.attempts >= attempts && found;
    }, `${attempts} attempts`);

    // WEBHOOK-19
    it('come after 1, 5, 30 and 120 minutes of the service\'s clock, as the same event, and then no more', async () => {
        receiver.answer = fail;
        const endpoint = await listen();
        const id = await test(endpoint);
        for (const [i, pause] of SCHEDULE.entries()) {
            const found = await attempted(endpoint, id, i + 1);
            assert.deepEqual([found.status, found.attempts, found.last_status_code, found.last_error], ['pending', i + 1, 500, 'status']);
            assert.equal(Date.parse(found.next_attempt_at) - Date.parse(found.last_attempt_at), pause);
            await advance(client, pause / 1000 - 30);
            assert.equal(receiver.requests.length, i + 1, 'not before its time');
            await advance(client, 30);
            assert.equal(receiver.requests.length, i + 2);
        }
        const found = await attempted(endpoint, id, 5);
        assert.deepEqual([found.status, found.attempts, found.next_attempt_at, found.last_error], ['failed', 5, null, 'status']);
        await advance(client, 24 * 3600);
        assert.equal(receiver.requests.length, 5);
        for (const request of receiver.requests) {
            assert.deepEqual(request.raw, receiver.requests[0].raw);
            assert.ok(await verify(endpoint.secret, request), 'each attempt is signed anew, at its own real time');
        }
    });

    // SANDBOX-10
    it('are made though the clock moves while the attempt is still under way', async () => {
        const endpoint = await listen();
        for (let round = 0; round < 40; round++) {
            receiver.requests.length = 0;
            let moved;
            receiver.answer = (request, response) => {
                if (moved) return response.writeHead(200).end();
                moved = advance(client, 62);
                setTimeout(fail, round % 4, request, response);
            };
            const id = await test(endpoint);
            await receiver.count(1);
            await moved;
            const found = await row(endpoint, id);
            assert.deepEqual([found.status, found.attempts], ['delivered', 2], `round ${round}`);
        }
    });

    it('end with the first success', async () => {
        receiver.answer = (request, response) => response.writeHead(receiver.requests.length < 3 ? 503 : 204).end();
        const endpoint = await listen();
        const id = await test(endpoint);
        await attempted(endpoint, id, 1);
        await advance(client, 60);
        await attempted(endpoint, id, 2);
        await advance(client, 300);
        const found = await attempted(endpoint, id, 3);
        assert.deepEqual([found.status, found.last_status_code, found.last_error], ['delivered', 204, null]);
        await advance(client, 24 * 3600);
        assert.equal(receiver.requests.length, 3);
    });

    // WEBHOOK-31
    it('are canceled with their endpoint', async () => {
        receiver.answer = fail;
        const endpoint = await listen();
        const id = await test(endpoint);
        await attempted(endpoint, id);
        refused(await replay(endpoint, id), 409, 'DELIVERY_PENDING');
        ok(await owner.client.delete(`/v1/webhooks/${endpoint.id}`));
        const canceled = await row(endpoint, id);
        assert.deepEqual([canceled.status, canceled.attempts, canceled.next_attempt_at], ['canceled', 1, null]);
        await advance(client, 24 * 3600);
        assert.equal(receiver.requests.length, 1);
        refused(await replay(endpoint, id), 404, 'NOT_FOUND');
    });

    it('that have all failed can be replayed, which restarts the attempts', async () => {
        receiver.answer = fail;
        const endpoint = await listen();
        const id = await test(endpoint);
        for (const [i, pause] of SCHEDULE.entries()) {
            await attempted(endpoint, id, i + 1);
            await advance(client, pause / 1000);
        }
        await attempted(endpoint, id, 5);
        const admin = portero(['admin', 'delivery', 'list', '--config', w.daemon.configPath, '--data', w.daemon.data, '--json']);
        assert.ok(JSON.parse(admin.stdout).data.some((found) => found.id === id && found.status === 'failed'));
        receiver.answer = undefined;
        const again = ok(await replay(endpoint, id), 202).delivery_id;
        const found = await attempted(endpoint, again);
        assert.deepEqual([found.status, found.attempts, found.event_id], ['delivered', 1, (await row(endpoint, id)).event_id]);
        assert.equal((await row(endpoint, id)).status, 'failed');
        assert.equal(receiver.requests.at(-1).body.id, found.event_id);
    });

    const answers = [
        ['204', (request, response) => response.writeHead(204).end(), 'delivered', 204, null],
        ['299 with a body', (request, response) => response.writeHead(299).end('thanks'), 'delivered', 299, null],
        ['a redirect, which is not followed', (request, response, own) => response.writeHead(301, { location: own.url('/elsewhere') }).end(), 'pending', 301, 'status'],
        ['307 to the same', (request, response, own) => response.writeHead(307, { location: own.url() }).end(), 'pending', 307, 'status'],
        ['404', (request, response) => response.writeHead(404).end(), 'pending', 404, 'status'],
        ['410', (request, response) => response.writeHead(410).end(), 'pending', 410, 'status'],
        ['a connection closed without an answer', (request, response) => response.socket.destroy(), 'pending', null, 'broken'],
        ['a connection closed half-way through the head', (request, response) => response.socket.end('HTTP/1.1 200 OK\r\nContent-Le'), 'pending', null, 'broken'],
        ['what is no HTTP', (request, response) => response.socket.end('220 mail.example.com ESMTP\r\n'), 'pending', null, 'broken'],
        ['a 200 whose body breaks off', (request, response) => {
            response.writeHead(200, { 'content-length': 1000 });
            response.write('half', () => response.socket.destroy());
        }, 'delivered', 200, null],
    ];
    for (const [what, answer, status, code, error] of answers) {
        it(`take ${what} as ${status}`, async () => {
            const own = await Receiver.start();
            const endpoint = ok(await owner.client.post('/v1/webhooks', { url: own.url() }), 201);
            assert.equal((await attempted(endpoint, await test(endpoint))).status, 'delivered');
            own.answer = (request, response) => answer(request, response, own);
            const found = await attempted(endpoint, await test(endpoint));
            assert.deepEqual([found.status, found.last_status_code, found.last_error], [status, code, error]);
            assert.equal(own.requests.length, 2, 'one attempt, one request, also where its connection was kept from the one before');
            ok(await owner.client.delete(`/v1/webhooks/${endpoint.id}`));
            await own.close();
        });
    }

    it('come after a receiver that hangs for five seconds, which holds up nobody else', async () => {
        const hanging = [];
        receiver.answer = (request, response) => {
            if (request.path === '/hang') hanging.push({ began: Date.now(), response });
            else response.writeHead(200).end();
        };
        const endpoint = await listen('/hang');
        const other = await listen('/fine');
        const id = await test(endpoint);
        await eventually(() => hanging.length, 'the attempt');
        const closed = new Promise((done) => { hanging[0].response.on('close', () => done(Date.now())); });
        const found = await attempted(other, await test(other));
        assert.equal(found.status, 'delivered');
        assert.equal((await row(endpoint, id)).attempts, 0, 'the other was delivered while this one was hanging');
        const late = await attempted(endpoint, id);
        assert.deepEqual([late.status, late.last_status_code, late.last_error], ['pending', null, 'timeout']);
        assert.ok(await closed - hanging[0].began > 1000, 'it was given its time');
        ok(await owner.client.delete(`/v1/webhooks/${endpoint.id}`));
    });

    // WEBHOOK-22
    it('do not come of an answer of a gigabyte, which is cut', async () => {
        const piece = Buffer.alloc(1 << 20);
        let sent = 0;
        receiver.answer = (request, response) => {
            response.writeHead(200, { 'content-length': 1 << 30 });
            const more = () => {
                while (sent < 1 << 30 && !response.destroyed) {
                    sent += piece.length;
                    if (!response.write(piece)) {
                        response.once('drain', more);
                        return;
                    }
                }
            };
            more();
        };
        const residentKb = () => Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${w.daemon.process.pid}/status`, 'utf8'))[1]);
        const beforeKb = residentKb();
        const endpoint = await listen();
        const found = await attempted(endpoint, await test(endpoint));
        assert.equal(found.status, 'delivered');
        assert.ok(sent < 1 << 28, `${sent} bytes were taken`);
        assert.ok(residentKb() - beforeKb < 64 << 10, 'the daemon did not keep it');
    });

    it('wait for a receiver that is not there', async () => {
        const gone = await Receiver.start();
        const url = gone.url();
        await gone.close();
        const endpoint = ok(await owner.client.post('/v1/webhooks', { url }), 201);
        const found = await attempted(endpoint, await test(endpoint));
        assert.deepEqual([found.status, found.last_status_code, found.last_error], ['pending', null, 'connect']);
        ok(await owner.client.delete(`/v1/webhooks/${endpoint.id}`));
    });
});

describe('webhook receivers that may not be called', () => {
    const w = useWorld({ config: REACHABLE });
    const receiver = useReceiver();
    let owner;
    before(async () => {
        owner = await resident(w.client);
    });

    async function restart(webhooks, env = {}) {
        await w.daemon.terminate();
        w.daemon.config.webhooks = webhooks;
        w.daemon.env = env;
        await w.daemon.start();
        for (const endpoint of ok(await owner.client.get('/v1/webhooks')).data) ok(await owner.client.delete(`/v1/webhooks/${endpoint.id}`));
    }
    const only = async (endpoint) => {
        const id = ok(await owner.client.post(`/v1/webhooks/${endpoint.id}/test`), 202).delivery_id;
        return eventually(async () => {
            const found = ok(await owner.client.get(`/v1/webhooks/${endpoint.id}/deliveries`)).data.find((row) => row.id === id);
            return found.attempts > 0 && found;
        }, 'an attempt');
    };

    // WEBHOOK-4
    it('because their address, or their name\'s, is private now, are not connected to', async () => {
        const made = [];
        for (const host of ['127.0.0.1', 'localhost', '[::ffff:127.0.0.1]']) {
            made.push(ok(await owner.client.post('/v1/webhooks', { url: `https://${host}:${receiver.port}/` }), 201));
        }
        await w.daemon.terminate();
        w.daemon.config.webhooks = { allow_private: false, verify_tls: false };
        await w.daemon.start();
        for (const endpoint of made) {
            const found = await only(endpoint);
            assert.deepEqual([found.status, found.last_status_code, found.last_error], ['pending', null, 'address']);
        }
        assert.equal(receiver.connections, 0);
    });

    // WEBHOOK-21
    it('because their certificate has an unknown issuer, are told nothing', async () => {
        await restart({ allow_private: true });
        const endpoint = ok(await owner.client.post('/v1/webhooks', { url: receiver.url() }), 201);
        const found = await only(endpoint);
        assert.deepEqual([found.status, found.last_status_code, found.last_error], ['pending', null, 'tls']);
        assert.equal(receiver.requests.length, 0);
        assert.equal((await visit(w.client, { to: owner.number })).outcome, 'forwarded');
    });
});
