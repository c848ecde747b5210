// The operator's records of requests: log lines if configured, and error answers by the request ID that a customer quotes.
// engine: sqlite, because these records are in files
import { describe, it, before } from 'node:test';
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ok, refused } from './lib/client.js';
import { portero } from './lib/daemon.js';
import { current } from './lib/mcp.js';
import { eventually, signIn, UNKNOWN_ID, useWorld, world } from './lib/world.js';

const admin = (w, ...args) => portero(['admin', ...args, '--config', w.daemon.configPath, '--data', w.daemon.data]);

describe('requests', () => {
    const w = useWorld({ config: { log: { requests: true } } });
    let session;
    before(async () => {
        session = await signIn(w.client);
    });

    const show = (id, ...options) => admin(w, 'request', id, ...options);
    const lineOf = async (id) => {
        const pattern = new RegExp(`^.* info request request=${id} .*$`, 'm');
        await eventually(() => pattern.test(w.daemon.stderr), 'the line');
        return pattern.exec(w.daemon.stderr)[0];
    };

    // SERVICE-25
    it('that failed are found by the ID their answer carries', async () => {
        const answer = await session.client.get(`/v1/unlock/${UNKNOWN_ID}`);
        refused(answer, 404, 'NOT_FOUND');
        const found = JSON.parse(show(answer.body.requestId, '--json').stdout);
        const { account_id: account, key_id: key, at, duration_us: duration, ...rest } = found;
        assert.deepEqual(rest, {
            request_id: answer.body.requestId, method: 'GET', path: '/v1/unlock/{id}', status: 404, code: 'NOT_FOUND',
            message: answer.body.error.message, building_id: rest.building_id, peer: '127.0.0.1',
        });
        assert.equal(account, ok(await session.client.get('/v1/account')).id);
        assert.match(key, /^[0-9a-f]{24}$/);
        assert.ok(duration > 0 && Math.abs(Date.parse(at) - Date.now()) < 600_000);
        const text = show(answer.body.requestId);
        assert.equal(text.status, 0, text.stderr);
        for (const word of ['NOT_FOUND', '/v1/unlock/{id}', account]) assert.ok(text.stdout.includes(word), word);
    });

    // SERVICE-28
    it('have the trace of their client in the log', async () => {
        const trace = '0af7651916cd43dd8448eb211c80319c';
        const traced = (value) => session.client.get(`/v1/unlock/${UNKNOWN_ID}`, { headers: { traceparent: value } });
        const line = await lineOf((await traced(`00-${trace}-b7ad6b7169203331-01`)).body.requestId);
        assert.match(line, new RegExp(` trace_id=${trace} parent_id=b7ad6b7169203331$`));
        for (const malformed of [`00-${trace}`, `00-${'0'.repeat(32)}-b7ad6b7169203331-01`, 'x level=error']) {
            const answer = await traced(malformed);
            refused(answer, 404, 'NOT_FOUND');
            assert.doesNotMatch(await lineOf(answer.body.requestId), /trace_id|level=/);
        }
    });

    it('without a key, or for a path that there is not, are found as well', async () => {
        for (const [path, pattern] of [['/v1/account', '/v1/account'], ['/v1/unlok/secret/more?code=1234', '/v1/unlok']]) {
            const answer = await w.client.get(path);
            const found = JSON.parse(show(answer.body.requestId, '--json').stdout);
            assert.deepEqual([found.path, found.status, found.account_id], [pattern, answer.status, undefined]);
        }
    });

    // SERVICE-26
    it('of an unknown path or method have no part that could be a secret', async () => {
        const secret = session.key;
        const paths = [
            [`/${secret}`, '/-'], [`/v1/${secret}`, '/v1/-'], [`/G/${secret}`, '/-/-'], [`/nope/${secret}/x`, '/nope/-'], ['/4711', '/-'], ['/v1/4711', '/v1/-'],
            [`/g%2f${secret}`, '/-'], ['/ada@example.com/%2b15550001111', '/-/-'], [`/${'a'.repeat(26)}/b`, '/-/b'], ['/wp-login.php', '/wp-login.php'], ['/', '/'],
            ['/v1/', '/v1/'], ['//x', '//x'],
        ];
        for (const [path, kept] of paths) {
            const answer = await w.client.get(path);
            const id = answer.headers['x-request-id'];
            assert.match(await lineOf(id), new RegExp(` path=${kept.replaceAll('.', '\\.')} status=`), path);
            if (answer.status !== 200) assert.equal(JSON.parse(show(id, '--json').stdout).path, kept);
        }
        const odd = await w.client.request(secret, '/v1/account');
        assert.match(await lineOf(odd.headers['x-request-id']), / method=- path=/);
        assert.equal(JSON.parse(show(odd.headers['x-request-id'], '--json').stdout).method, '-');
        assert.ok(!w.daemon.stderr.includes(secret.slice(0, 16)));
    });

    it('of an ID that is not known are told so', () => {
        for (const id of [`req_${UNKNOWN_ID}`, 'req_', '"']) {
            const done = show(id);
            assert.equal(done.status, 1);
            assert.match(done.stderr, /^portero: no error response with this request ID, or it has expired .*\n$/);
        }
    });

    it('are found after a restart, in files that are the service\'s alone', async () => {
        const answer = await session.client.get(`/v1/unlock/${UNKNOWN_ID}`);
        await w.daemon.terminate();
        await w.daemon.start();
        assert.equal(show(answer.body.requestId).status, 0);
        const directory = join(w.daemon.data, 'requests');
        assert.equal(statSync(directory).mode & 0o777, 0o700);
        for (const name of readdirSync(directory)) assert.equal(statSync(join(directory, name)).mode & 0o777, 0o600);
    });

    // DOC-12, SERVICE-27
    it('leave one line each, without the contents', async () => {
        const good = await session.client.get('/v1/logs?limit=7');
        const line = await lineOf(good.headers['x-request-id']);
        assert.match(line, /method=GET path=\/v1\/logs status=200 us=\d+ bytes=\d+ account=[0-9a-f]{24} key=[0-9a-f]{24} peer=127\.0\.0\.1$/);
        const called = await current(session.client, 'tools/call', { name: 'getAccount', arguments: {} });
        assert.match(await lineOf(called.headers['x-request-id']), /path=\/v1\/account status=200 .* via=mcp/);
        const bad = await session.client.get('/v1/logs?limit=hush');
        assert.match(await lineOf(bad.headers['x-request-id']), /path=\/v1\/logs status=400 code=[A-Z_]+ us=/);
        const directory = join(w.daemon.data, 'requests');
        const kept = readdirSync(directory).map((name) => readFileSync(join(directory, name), 'utf8')).join('');
        for (const secret of ['limit=7', 'hush', 'code=1234', 'secret', session.key]) {
            assert.ok(!w.daemon.stderr.includes(secret), secret);
            assert.ok(!kept.includes(secret), secret);
        }
    });

    it('leave nothing where neither is configured', async () => {
        const quiet = await world({ config: { log: { keep_requests_h: 0 } } });
        const answer = await quiet.client.get('/v1/account');
        const done = admin(quiet, 'request', answer.body.requestId);
        assert.equal(done.status, 1);
        assert.match(done.stderr, /log\.keep_requests_h is 0/);
        assert.ok(!quiet.daemon.stderr.includes(answer.body.requestId));
        await quiet.close();
    });
});
