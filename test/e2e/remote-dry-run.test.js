// `--dry-run` of every operation: the line that it prints, pasted into sh, sends what the command itself sends, whatever the values are.
// engine: sqlite, because a server of the test receives the requests
import { describe, it, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import http from 'node:http';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { Commands } from './lib/commands.js';
import { cleanEnvironment } from './lib/daemon.js';

const ID = 'f0f0f0f0f0f0f0f0f0f0f0f0';
const KEY = 'svc_agent_"$(id)\'`';
const HOSTILE = ['it\'s "$HOME" `id` $(id) \\', '-rf --output=/tmp/x', '@/etc/passwd', 'two\nlines\r\ttab', 'Zoë 東京 🚪 \u202e', '!! ~ * ? [a-z] {1,2} & | ; # %s %0A + =', '\'', '\'\'; exit 1 #'];
/** Options whose text has a form, by the command or for all, and options that exclude others. */
const FORMS = {
    'phone-number': '+15550001111', code: '123456', otp: '123456', start: '09:00', end: '11:00', timezone: 'America/New_York', url: 'https://receiver.test/', 'ring-numbers': '+15550001111',
    email: 'ada@example.com', 'unlock-tone': '9', cursor: 'YWJj', challenge: 'c'.repeat(43), plan: 'weekly', 'quote-id': ID, 'building-id': ID, sdp: 'v=0', days: 'tuesday', events: 'access.granted', scopes: 'account:read',
};
const BODIES = {
    'unlock create': ['--type', 'passcode', '--code', '4711'],
    'building preview': ['--body', '{"action":"remove","building_id":"f0f0f0f0f0f0f0f0f0f0f0f0"}'],
    'settings update': ['--address-city', 'Reno', '--address-state', 'NV', '--address-zip', '89501'],
};

describe('--dry-run', () => {
    const commands = new Commands();
    const seen = [];
    let server, env;
    before(async () => {
        server = http.createServer(async (request, response) => {
            let body = '';
            for await (const part of request.setEncoding('utf8')) body += part;
            const { authorization, 'content-type': type, 'idempotency-key': key, 'if-match': match, 'x-service-building-id': building } = request.headers;
            seen.push({ method: request.method, url: request.url, authorization, type, key, match, building, body });
            response.writeHead(200, { 'Content-Type': 'application/json', ETag: '"7"' }).end('{"data":[]}');
        }).listen(0, '127.0.0.1');
        await once(server, 'listening');
        env = { PORTERO_URL: `http://127.0.0.1:${server.address().port}/at/[1-2]`, PORTERO_KEY: KEY };
    });
    after(async () => {
        server.closeAllConnections();
        server.close();
        await commands.close();
        rmSync(commands.directory, { recursive: true, force: true });
    });

    const run = (args) => commands.run(args, { env });
    async function help(...words) {
        const done = await run([...words, '--help']);
        assert.equal(done.status, 0, done.stderr);
        return done.stdout;
    }

    /** Every operation: {words, parameters, options: {name: kind}}. */
    async function operations() {
        const nouns = (await run(['help'])).stdout.split('Commands of residents and agents')[1].match(/^ {2}\w+/gm).map((word) => word.trim());
        const all = [];
        for (const noun of nouns) {
            for (const [, call] of (await help(noun)).split('has --help:\n')[1].matchAll(/^ {2}(\S.*?)(?: {2,}|$)/gm)) {
                const words = [noun, ...call.split(' ').filter((word) => /^[a-z-]+$/.test(word))];
                const text = await help(...words);
                if (!text.includes('--dry-run')) continue; // log tail
                all.push({ words, parameters: call.match(/[A-Z][A-Z_-]*/g) ?? [], options: Object.fromEntries([...text.matchAll(/^ {2}--([a-z-]+) (\S+) +(.*)/gm)].map(([, name, kind, doc]) => [name, { kind, word: /[a-z_.:]+/.exec(doc)?.[0] }])) });
            }
        }
        return all;
    }

    const plain = { 'true|false': 'true', N: '1', TIME: '2030-01-01T00:00:00Z', ID };
    /** Arguments with the hostile text in each place that takes it. */
    async function argumentsOf({ words, parameters, options }, hostile) {
        const args = [...words, ...parameters.map(() => hostile.replace(/^-/, '_'))];
        const fixed = BODIES[words.join(' ')];
        if (fixed) args.push(...fixed);
        const candidates = [];
        for (const [name, { kind, word }] of Object.entries(options)) {
            if (['json', 'dry-run', 'profile', 'ca-file', 'body', 'output', 'building', 'idempotency-key', 'if-match', 'all'].includes(name) || fixed?.includes(`--${name}`) || fixed?.includes('--body')) continue;
            const one = FORMS[name] ?? plain[kind] ?? (kind === 'WORD' ? word : undefined);
            if (one !== undefined) candidates.push([name, [one]]);
            else if (kind === 'TEXT') candidates.push([name, [hostile, hostile.replace(/[\r\n\t\u202e]/g, ' '), 'text']]);
        }
        if ('building' in options) args.push(`--building=${hostile.replace(/[\r\n\t]/g, ' ')}`);
        if ('idempotency-key' in options) args.push(`--idempotency-key=${hostile.replace(/[\r\n\t]/g, ' ')}`);
        if ('if-match' in options) args.push('--if-match', '7');
        // All that it accepts together; what excludes another is left out.
        let best = args;
        for (const [name, values] of candidates) {
            for (const value of values) {
                const more = [...best, `--${name}=${value}`];
                const done = await run([...more, '--dry-run']);
                if (done.status !== 0 && !/is required/.test(done.stderr)) continue;
                best = more;
                break;
            }
        }
        return best;
    }

    async function shell(line) {
        const child = spawn('sh', ['-s'], { env: cleanEnvironment({ PORTERO_KEY: KEY }), cwd: commands.directory });
        let told = '';
        child.stderr.setEncoding('utf8').on('data', (text) => { told += text; });
        child.stdin.end(line);
        const [status] = await once(child, 'close');
        assert.equal(status, 0, `${line}${told}`);
    }

    it('prints a line that sends the same request as the command, for every operation', async () => {
        const all = await operations();
        assert.ok(all.length > 40, String(all.length));
        let hostileSent = 0;
        for (const [i, operation] of all.entries()) {
            const name = operation.words.join(' ');
            const hostile = HOSTILE[i % HOSTILE.length];
            const args = await argumentsOf(operation, hostile);
            const dry = await run([...args, '--dry-run']);
            assert.equal(dry.status, 0, `${name}: ${dry.stderr}`);
            assert.ok(!dry.stdout.includes(KEY), 'the key is not in the line');
            seen.length = 0;
            await shell(dry.stdout);
            assert.equal(seen.length, 1, name);
            const own = commands.start(args, { env });
            own.process.stdin.end();
            for (let n = 0; n < 500 && seen.length < 2 && own.process.exitCode === null; n++) await new Promise((resolve) => { setTimeout(resolve, 20); });
            own.process.kill('SIGKILL');
            await own.ended;
            assert.ok(seen.length >= 2, `${name} sends it, too: ${own.stderr}`); // and asks what is missing, after a grant
            const [pasted, sent] = seen.map(({ key, ...rest }) => ({ ...rest, key: key?.startsWith('cli-') ? 'made' : key }));
            assert.deepEqual(pasted, sent, name);
            hostileSent += JSON.stringify(sent).includes(JSON.stringify(hostile).slice(1, -1)) || sent.url.includes(encodeURIComponent(hostile.replace(/^-/, '_')).slice(0, 8)) ? 1 : 0;
        }
        assert.ok(hostileSent > all.length / 2, `${hostileSent} of ${all.length} had hostile text`);
    });

    it('sends each hostile text as it is', async () => {
        for (const label of HOSTILE) {
            const dry = await run(['unlock', 'create', '--type', 'timer', '--minutes', '5', `--label=${label}`, '--dry-run']);
            assert.equal(dry.status, 0, dry.stderr);
            seen.length = 0;
            await shell(dry.stdout);
            assert.equal(JSON.parse(seen[0].body).label, label);
            assert.equal(seen[0].authorization, `Bearer ${KEY}`);
        }
    });

    it('refuses values that would be left out of the request or name another resource', async () => {
        seen.length = 0;
        for (const args of [['unlock', 'list', '--building', ''], ['unlock', 'list', '--building', `${ID}\n`], ['unlock', 'create', '--type', 'timer', '--minutes', '5', '--idempotency-key', 'a\r\nX: y'],
            ['unlock', 'update', ID, '--label', 'x', '--if-match', ''], ['unlock', 'show', ''], ['unlock', 'revoke', '..'], ['unlock', 'link', 'delete', '.'], ['log', 'tail', '--building', '']]) {
            const done = await run(args);
            assert.equal(done.status, 2, args.join(' '));
            assert.match(done.stderr, /^portero: [^\n]*(must not be empty or have control characters|is not a valid argument)\n$/);
        }
        for (const url of ['https://localhost?a=b', 'https://localhost/#a', 'https://localhost/a b', 'https://']) {
            assert.equal((await commands.run(['login', '--url', url, '--email', 'ada@example.com'])).status, 2, url);
        }
        assert.deepEqual(seen, [], 'nothing was sent');
    });
});
