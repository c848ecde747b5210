// A service whose texts would command the terminal: none of them does, in whatever part of an answer they are.
// engine: sqlite, because a server of the test answers
import { describe, it, before, after } from 'node:test';
import assert from 'node:assert/strict';
import http from 'node:http';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { Commands } from './lib/commands.js';
import { binary } from './lib/daemon.js';
import { Terminal } from './lib/terminal.js';
import { eventually } from './lib/world.js';

const ID = 'f0f0f0f0f0f0f0f0f0f0f0f0';
/** Sets the title, clears the screen with an 8-bit control, turns the rest of the line round, hides, begins a line. */
const E = '\u001b]0;title\u0007\u009b2J\u202e\u200b\u2028\r\nportero: logged in';
// eslint-disable-next-line no-control-regex
const COMMANDS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufffd]/;
const ROW = { id: ID, label: E, [`${E}name`]: 'x', within: { [E]: { [E]: E } }, list: [E, { [E]: E }], rows: [{ [E]: E }], created_at: `2030-01-01T00:00:00Z${E}`, name: E, type: E };
const PAGE = { data: [ROW, { ...ROW, id: ID.replace('f', 'e') }], pagination: { cursor: null, has_more: false }, building_id: ID };

describe('a hostile service', () => {
    const commands = new Commands();
    let server, env, answer;
    before(async () => {
        server = http.createServer((request, response) => {
            request.resume();
            const { status = 200, type = 'application/json', body, end = true } = answer(request);
            // Header values as bytes: Node.js does not send control characters of its own accord.
            request.socket.write(Buffer.concat([Buffer.from(`HTTP/1.1 ${status} OK\r\nConnection: close\r\nContent-Type: `), Buffer.from(type), Buffer.from('\r\n\r\n'), Buffer.from(body)]));
            if (end) request.socket.end();
        }).listen(0, '127.0.0.1');
        await once(server, 'listening');
        env = { PORTERO_URL: `http://127.0.0.1:${server.address().port}`, PORTERO_KEY: 'svc_agent_0' };
    });
    after(async () => {
        server.closeAllConnections();
        server.close();
        await commands.close();
        rmSync(commands.directory, { recursive: true, force: true });
    });
    const says = (body, more) => { answer = () => ({ body: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body), ...more }); };
    /** Runs a command: its output, which must not command a terminal. */
    async function harmless(status, ...args) {
        const done = await commands.run(args, { env });
        assert.equal(done.status, status, `${args.join(' ')}: ${done.stdout}${done.stderr}`);
        assert.doesNotMatch(done.stdout + done.stderr, COMMANDS, args.join(' '));
        assert.match(done.stderr, /^(?:(?:portero: |There are more)[^\n]*\n)*$/);
        assert.doesNotMatch(done.stdout + done.stderr, /^portero: logged in/m);
        return done;
    }
    /** Runs a command at a terminal: its output, which must not command it. */
    async function shown(...args) {
        const terminal = new Terminal([binary, ...args].join(' '), { env: { ...commands.env, ...env } });
        await terminal.end();
        assert.doesNotMatch(terminal.shown, COMMANDS);
        return terminal.shown;
    }

    const LISTS = [['unlock', 'list'], ['unlock', 'list', '--all'], ['building', 'list'], ['call', 'list'], ['webhook', 'list'], ['key', 'list'], ['log', 'list']];
    const OBJECTS = [['account', 'show'], ['unlock', 'show', ID], ['call', 'show', ID], ['building', 'setup', ID], ['building', 'decision', ID], ['settings', 'show', ID], ['service', 'health']];

    // SERVICE-31
    it('cannot command the terminal by names and values of lists and objects', async () => {
        says(PAGE);
        for (const words of LISTS) assert.match((await harmless(0, ...words)).stdout, /logged in/);
        says(ROW);
        for (const words of OBJECTS) assert.match((await harmless(0, ...words)).stdout, /logged in/);
    });

    it('cannot by errors', async () => {
        says({ error: { code: E, message: E, next_action: E }, requestId: E }, { status: 400 });
        for (const words of [...LISTS, ...OBJECTS]) assert.match((await harmless(1, ...words)).stderr, /logged in/);
        says(Buffer.from(JSON.stringify({ error: { message: 'x\xff' } }), 'latin1'), { status: 500 });
        await harmless(1, 'account', 'show');
    });

    it('cannot by the list of buildings that one is chosen from', async () => {
        says(PAGE);
        assert.match((await harmless(2, 'building', 'decision')).stderr, /name one/);
    });

    it('cannot by its type of content', async () => {
        says('{}', { type: 'audio/x\u009b2J\u202e' });
        assert.match(await shown('service', 'document'), /the answer is audio\/x\?2J\?/);
    });

    it('cannot by documents, at a terminal', async () => {
        says(`# Title\n\n\tcode ${E}\n`, { type: 'text/markdown' });
        assert.match(await shown('service', 'document'), /^# Title\n\n\tcode \?/);
    });

    // CLI-9
    it('cannot by events, and what is not JSON is no event', async () => {
        const event = (data) => `id: 2\nevent: x\ndata: ${data}\n\n`;
        const body = `id: 1\n\n${event(`${String.fromCharCode(27)}[31mraw`)}${event(JSON.stringify({ at: E, type: E, [E]: E, last: 'last' }))}`;
        says(body, { type: 'text/event-stream', end: false });
        for (const more of [[], ['--json']]) {
            const run = commands.start(['event', 'stream', ...more, ID], { env });
            await eventually(() => run.stdout.includes('last') || run.process.exitCode !== null, 'an event');
            run.process.kill('SIGTERM');
            await run.ended;
            assert.ok(run.stdout.includes('last') && !run.stdout.includes('raw'), run.stdout + run.stderr);
            if (more.length) assert.equal(JSON.parse(run.stdout).at, E);
            else assert.doesNotMatch(run.stdout, COMMANDS);
        }
    });

    it('gives --json exactly to a program, and escaped to a terminal', async () => {
        const body = JSON.stringify(ROW);
        says(body);
        const done = await commands.run(['account', 'show', '--json'], { env });
        assert.equal(done.stdout, `${body}\n`);
        assert.deepEqual(JSON.parse(await shown('account', 'show', '--json')), ROW);
        says(PAGE);
        assert.deepEqual(JSON.parse(await shown('unlock', 'list', '--json')), PAGE);
        assert.deepEqual(JSON.parse(await shown('unlock', 'list', '--all', '--json')).data, PAGE.data);
        says({ error: { code: E, message: E } }, { status: 400 });
        assert.match(await shown('unlock', 'list', '--json'), /\\u009b2J\\u202e/);
    });
});
