// `portero mcp`: an assistant that starts a program and speaks over its standard input and output reaches POST /mcp.
// engine: sqlite, because the store is behind the same requests as without the program
import { describe, it, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { Client as OlderClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as OlderTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { Client as CurrentClient } from '@modelcontextprotocol/client';
import { StdioClientTransport as CurrentTransport } from '@modelcontextprotocol/client/stdio';
import { ok } from './lib/client.js';
import { binary, cleanEnvironment, portero } from './lib/daemon.js';
import { REVISION } from './lib/mcp.js';
import { agent, eventually, resident, useWorld, world } from './lib/world.js';

const WHO = { name: 'portero-e2e', version: '1' };
const request = (id, method, params = {}) => ({ jsonrpc: '2.0', id, method, params });
const lines = (...messages) => messages.map((one) => (typeof one === 'string' ? one : JSON.stringify(one))).join('\n').concat('\n');

describe('portero mcp', () => {
    const w = useWorld();
    let person;
    let environment;
    let arguments_;
    before(async () => {
        person = await resident(w.client);
        const { key } = await agent(person, ['account:read', 'access:read', 'access:write', 'logs:read']);
        environment = { PORTERO_URL: w.daemon.https, PORTERO_KEY: key, XDG_CONFIG_HOME: w.daemon.directory };
        arguments_ = ['mcp', '--ca-file', join(w.daemon.data, 'tls.crt')];
    });

    /** The program with this input, to its end: {status, stderr, replies}. */
    const talk = (input, { env = environment, args = arguments_ } = {}) => {
        const { status, stdout, stderr } = portero(args, { env, input });
        const written = stdout.split('\n');
        assert.equal(written.pop(), '');
        return { status, stderr, replies: written.map((line) => JSON.parse(line)) };
    };

    const clients = {
        [`revision ${REVISION}`]: () => ({ client: new CurrentClient(WHO, { versionNegotiation: { mode: { pin: REVISION } } }), Transport: CurrentTransport }),
        'the revision that both know, which it finds out': () => ({ client: new CurrentClient(WHO, { versionNegotiation: { mode: 'auto' } }), Transport: CurrentTransport }),
        'older revisions': () => ({ client: new OlderClient(WHO), Transport: OlderTransport }),
    };
    for (const [name, make] of Object.entries(clients)) {
        it(`gives the official client of ${name} tools, prompts and resources`, async () => {
            const { client, Transport } = make();
            await client.connect(new Transport({ command: binary, args: arguments_, env: cleanEnvironment(environment) }));
            try {
                const { tools } = await client.listTools();
                assert.ok(tools.some((tool) => tool.name === 'createUnlock'));
                const made = await client.callTool({ name: 'createUnlock', arguments: { type: 'timer', label: `Über ${name}`, expires_in_minutes: 60 } });
                assert.deepEqual(ok(await person.client.get(`/v1/unlock/${made.structuredContent.id}`)), made.structuredContent);
                const refused = await client.callTool({ name: 'createUnlock', arguments: { type: 'routine' } });
                assert.equal(JSON.parse(refused.content[0].text).error.code, 'INVALID_UNLOCK');
                const { messages } = await client.getPrompt({ name: 'revoke', arguments: { who: 'the cleaner' } });
                assert.match(messages[0].content.text, /the cleaner/);
                const { contents } = await client.readResource({ uri: 'portero://account' });
                assert.equal(JSON.parse(contents[0].text).email, person.email);
                await assert.rejects(client.callTool({ name: 'schlüssel ', arguments: {} }), /Unknown tool/);
                const many = await Promise.all(Array.from({ length: 20 }, (_, i) => client.callTool({ name: 'listUnlocks', arguments: { limit: i + 1 } })));
                assert.ok(many.every((one) => one.structuredContent.data.length >= 1));
            } finally {
                await client.close();
            }
        });
    }

    describe('with a subscription', () => {
        const ALL = ['portero://account', 'portero://grants/active', 'portero://activity/latest'];
        const connected = async (env = environment, args = arguments_) => {
            const { client, Transport } = clients[`revision ${REVISION}`]();
            await client.connect(new Transport({ command: binary, args, env: cleanEnvironment(env) }));
            const seen = [];
            client.setNotificationHandler('notifications/resources/updated', ({ params }) => { seen.push(params.uri); });
            return { client, seen };
        };
        const made = (client, label) => client.callTool({ name: 'createUnlock', arguments: { type: 'timer', label, expires_in_minutes: 5 } });

        it('announces changes while tools are called, and no more once it is cancelled', async () => {
            const { client, seen } = await connected();
            try {
                const first = await client.listen({ resourceSubscriptions: [ALL[1]] });
                const second = await client.listen({ resourceSubscriptions: [ALL[0]] });
                assert.deepEqual([first.honoredFilter, second.honoredFilter], [{ resourceSubscriptions: [ALL[1]] }, { resourceSubscriptions: [ALL[0]] }]);
                await made(client, 'first');
                await eventually(() => seen.includes(ALL[0]) && seen.includes(ALL[1]), 'both resources');
                await first.close();
                assert.equal(await first.closed, 'local');
                seen.length = 0;
                await made(client, 'second');
                await eventually(() => seen.includes(ALL[0]), 'the other subscription');
                assert.ok(!seen.includes(ALL[1]));
            } finally {
                await client.close();
            }
        });

        it('tells what ends one: a stop of the service, or its death', async () => {
            for (const [signal, how] of [['SIGTERM', 'graceful'], ['SIGKILL', 'remote']]) {
                const own = await world();
                try {
                    const someone = await resident(own.client);
                    const { key } = await agent(someone, ['account:read', 'access:read']);
                    const { client } = await connected({ ...environment, PORTERO_URL: own.daemon.https, PORTERO_KEY: key }, ['mcp', '--ca-file', join(own.daemon.data, 'tls.crt')]);
                    const subscription = await client.listen({ resourceSubscriptions: ALL });
                    own.daemon.process.kill(signal);
                    assert.equal(await subscription.closed, how);
                    await own.daemon.exited();
                    await client.close();
                } finally {
                    await own.close();
                }
            }
        });

        /** The program with these messages: what it wrote when there are so many lines, and how it ended with its input. */
        const spoken = async (count, ...messages) => {
            const child = spawn(binary, arguments_, { env: cleanEnvironment(environment), stdio: ['pipe', 'pipe', 'inherit'] });
            let text = '';
            child.stdout.setEncoding('utf8').on('data', (chunk) => { text += chunk; });
            const written = () => text.split('\n').slice(0, -1).map((line) => JSON.parse(line));
            child.stdin.write(lines(...messages));
            await eventually(() => written().length === count, `${count} messages`);
            child.stdin.end();
            assert.deepEqual(await once(child, 'exit'), [0, null]);
            return written();
        };

        it('has five at most, and ends with its input', async () => {
            const _meta = { 'io.modelcontextprotocol/protocolVersion': REVISION, 'io.modelcontextprotocol/clientCapabilities': {} };
            const asked = [1, 2, 3, 4, 5, 6].map((id) => request(id, 'subscriptions/listen', { _meta, notifications: { resourceSubscriptions: ALL } }));
            const written = await spoken(6, ...asked);
            const acknowledged = written.filter(({ method }) => method === 'notifications/subscriptions/acknowledged');
            assert.deepEqual(acknowledged.map(({ params }) => params._meta['io.modelcontextprotocol/subscriptionId']).sort(), [1, 2, 3, 4, 5]);
            assert.deepEqual(written.filter(({ error }) => error).map(({ id, error }) => [id, error.code]), [[6, -32603]]);
        });

        it('passes on why there is none', async () => {
            const [{ id, error }] = await spoken(1, request(1, 'subscriptions/listen', { notifications: {} }));
            assert.deepEqual([id, error.code], [1, -32601]);
        });
    });

    it('answers each message in its turn, a line each, and nothing to a notification', () => {
        const { status, replies } = talk(lines(request(1, 'ping'), { jsonrpc: '2.0', method: 'notifications/initialized' }, '', '   ', request('b', 'nothing'), request(3, 'ping')));
        assert.equal(status, 0);
        assert.deepEqual(replies.map(({ id, error }) => [id, error?.code]), [[1, undefined], ['b', -32601], [3, undefined]]);
    });

    it('goes on after a line that is no message, or too long, and reads a last line without an end', () => {
        const { status, replies } = talk(`${lines('{', 'null', '[]', 'x'.repeat(300_000), JSON.stringify(request(2, 'ping', { a: 'x'.repeat(200_000) })))}${JSON.stringify(request(3, 'ping'))}`);
        assert.equal(status, 0);
        assert.deepEqual(replies.map(({ id, error }) => [id, error?.code]), [[undefined, -32700], [undefined, -32600], [undefined, -32600], [undefined, -32600], [undefined, -32600], [3, undefined]]);
    });

    it('ends at the end of its input, also without any', () => assert.deepEqual(talk(''), { status: 0, stderr: '', replies: [] }));

    it('tells the assistant that its key is refused, and shows it nowhere', () => {
        const secret = 'svc_agent_nosuchkeynosuchkeynosuchkey';
        const { status, stderr, replies } = talk(lines(request(1, 'tools/list'), { jsonrpc: '2.0', method: 'notifications/x' }), { env: { ...environment, PORTERO_KEY: secret } });
        assert.equal(status, 0);
        assert.deepEqual([replies.length, replies[0].id, replies[0].error.data.code], [1, 1, 'INVALID_KEY']);
        assert.match(stderr, /responded 401/);
        assert.ok(!stderr.includes(secret) && !JSON.stringify(replies).includes(secret));
    });

    it('tells the assistant that the service cannot be reached or trusted', () => {
        const gone = talk(lines(request(1, 'ping')), { env: { ...environment, PORTERO_URL: 'https://127.0.0.1:1' } });
        assert.equal(gone.replies[0].error.code, -32603);
        assert.doesNotMatch(gone.replies[0].error.message, /carried out/);
        const stranger = talk(lines(request(1, 'ping')), { args: ['mcp'] });
        assert.match(stranger.replies[0].error.message, /certificate/);
    });

    it('takes the address as an option', () => {
        const { replies } = talk(lines(request(1, 'ping')), { env: { ...environment, PORTERO_URL: 'https://127.0.0.1:1' }, args: [...arguments_, '--url', w.daemon.https] });
        assert.deepEqual(replies, [{ jsonrpc: '2.0', id: 1, result: {} }]);
    });

    it('does not start without a key, or with an address that does not protect it', () => {
        const keyless = portero(arguments_, { env: { ...environment, PORTERO_KEY: '' }, input: '' });
        assert.deepEqual([keyless.status, keyless.stdout], [3, '']);
        assert.match(keyless.stderr, /PORTERO_KEY/);
        assert.equal(portero(arguments_, { env: { ...environment, PORTERO_URL: 'http://door.example.com' }, input: '' }).status, 2);
    });

    it('ends when the assistant no longer reads', async () => {
        const child = spawn(binary, arguments_, { env: cleanEnvironment(environment), stdio: ['pipe', 'pipe', 'ignore'] });
        child.stdin.on('error', () => {});
        child.stdout.destroy();
        child.stdin.write(lines(request(1, 'ping'), request(2, 'ping')));
        await once(child, 'exit');
    });

    describe('at a service that breaks off', () => {
        let server;
        let asked = 0;
        before(async () => {
            server = createServer((incoming) => {
                asked++;
                incoming.on('data', () => {}).on('end', () => incoming.socket.destroy());
            }).listen(0, '127.0.0.1');
            await once(server, 'listening');
        });
        after(() => server.close());

        it('sends a call once and says that it may have been carried out', async () => {
            const child = spawn(binary, ['mcp', '--url', `http://127.0.0.1:${server.address().port}`], { env: cleanEnvironment(environment), stdio: ['pipe', 'pipe', 'ignore'] });
            let text = '';
            child.stdout.setEncoding('utf8').on('data', (chunk) => { text += chunk; });
            child.stdin.end(lines(request(7, 'tools/call', { name: 'openCall', arguments: {} })));
            await once(child, 'close');
            assert.match(JSON.parse(text).error.message, /may have been carried out/);
            assert.equal(asked, 1);
        });
    });
});
