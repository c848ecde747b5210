// The guides, typed as they stand: every shell block of a page, from top to bottom in one shell next to a fresh sandbox.
// engine: sqlite, because it tests the documents
import { describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { admin } from './lib/buildings.js';
import { binary, cleanEnvironment, root, temporaryDirectory } from './lib/daemon.js';
import { address, QUICK } from './lib/phone.js';
import { freePort } from './lib/port.js';
import { eventually, visit, world } from './lib/world.js';

const LIMIT_MS = 120_000;

/** The commands that a page prints for a stage of scripts/fresh. */
function blocks(path, stage) {
    const done = spawnSync('scripts/blocks', [path, stage], { cwd: root, encoding: 'utf8' });
    assert.equal(done.status, 0, done.stderr);
    return done.stdout;
}

/** Cuts the command off that starts the service, where it comes first: {env: its variables, typed: the other commands}. */
function afterStart(typed) {
    const [line, variables] = /^((?:[A-Z_]+=\S+ )*)make run\n/.exec(typed);
    return { env: Object.fromEntries(variables.split(' ').filter(Boolean).map((word) => word.split('='))), typed: typed.slice(line.length) };
}

/** The text to type, and the responses that its comments promise: `# 201 {…}` on its line and `#      …` on more, or `# 201` at a line's end. */
function promises(typed) {
    const shown = [...typed.matchAll(/(?:^| )# (\d{3})(?: ([^\n]*(?:\n# {2,}[^\n]*)*)|$)/gm)].map(([, status, text = '']) => ({ status, text }));
    return { typed, shown, promised: shown.map(({ status }) => status) };
}

/** The members of JSON in the order of the text: [name, value], without a value where it is a list or an object. */
const members = (json) => [...json.matchAll(/"(\w+)"\s*:\s*("(?:[^"\\]|\\.)*"|[\w.-]+)?/g)].map(([, name, value]) => [name, value]);

/** Whether a value is as it is shown: its text up to …; values that have digits differ from run to run. */
function isAsShown(shown, value) {
    if (shown === undefined || /\d/.test(shown)) return true;
    const [start] = shown.split('…');
    if (start === shown) return value === shown;
    return value?.startsWith(start.includes(' ') ? start : start.replace(/[^_/]*$/, '')); // of an ID or a secret the prefix
}

/** Fails unless a response has all members that the page shows, in that order, with the values that it shows. */
function checkShown({ text }, body) {
    const there = members(body);
    let at = 0;
    for (const [name, value] of members(text)) {
        const found = there.findIndex(([other, actual], i) => i >= at && other === name && isAsShown(value, actual));
        assert.ok(found >= 0, `the response has no ${name}: ${value} where the page shows it\n${text}\n${body}`);
        at = found + 1;
    }
}

/** Types it in a new directory: {code, output, statuses, bodies}, the last two of all responses to curl. */
async function type(text, daemon, env, answer) {
    const directory = temporaryDirectory();
    const statuses = join(directory, 'statuses');
    writeFileSync(statuses, '');
    const bodies = join(directory, 'bodies');
    mkdirSync(bodies);
    const noting = `set -o pipefail\ncurl() { command curl "$@" -w '\\n%{stderr}%{http_code}\\n' 2>>'${statuses}' | tee "${bodies}/$(ls ${bodies} | wc -l)"; }\n`;
    const script = join(directory, 'typed.sh');
    writeFileSync(script, `set -eu\n${noting}${text}`);
    const child = spawn('bash', [script], {
        cwd: directory, timeout: LIMIT_MS, detached: true, stdio: 'pipe',
        env: cleanEnvironment({ BASE: daemon.https, CA: join(daemon.data, 'tls.crt'), ...env }),
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (more) => { output += more; });
    const closed = once(child, 'close');
    try {
        await answer?.(child.stdin, () => output);
        const [code] = await closed;
        return {
            code, output, statuses: readFileSync(statuses, 'utf8').split('\n').filter((line) => /^\d{3}$/.test(line)),
            bodies: readdirSync(bodies).sort((a, b) => a - b).map((name) => readFileSync(join(bodies, name), 'utf8')),
        };
    } finally {
        try { process.kill(-child.pid, 'SIGKILL'); } catch { /* it has ended, with all that it started */ }
        rmSync(directory, { recursive: true, force: true });
    }
}

/** Without outside accounts. */
const FREE = { accounts: { signup: 'listed' }, billing: { provider: 'none' }, numbers: { provider: 'pool' } };

describe('the guides, typed into a shell from top to bottom, answer as they say', () => {
    it('docs/api.md', { timeout: LIMIT_MS }, async () => {
        const { env, typed: rest } = afterStart(blocks('docs/api.md', 'api'));
        const w = await world({ env });
        try {
            const { typed, shown, promised } = promises(rest);
            const { code, output, statuses, bodies } = await type(typed, w.daemon, { PORT: String(await freePort()) });
            assert.deepEqual(statuses, promised, output);
            assert.equal(code, 0, output);
            assert.ok(promised.length > 30);
            shown.forEach((one, i) => checkShown(one, bodies[i]));
            for (const told of [/"outcome":"released"/, /^authentic .*webhook\.test/m]) assert.ok(told.test(output), `${told}`);
        } finally {
            await w.close();
        }
    });

    it('docs/calls.md: the door is opened while a telephone rings', { timeout: LIMIT_MS }, async () => {
        const port = await freePort();
        const w = await world({ config: { ...QUICK, voice: { ...QUICK.voice, 'peer phone': { server: `127.0.0.1:${port}`, probe_s: 0 } } } });
        try {
            const { typed, shown, promised } = promises(blocks('docs/calls.md', 'api'));
            const PATH = `${dirname(binary)}:${process.env.PATH}`;
            const { code, output, statuses, bodies } = await type(typed, w.daemon, { SIP: address(w.daemon), PHONE: `127.0.0.1:${port}`, PATH });
            assert.deepEqual(statuses, promised, output);
            assert.equal(code, 0, output);
            shown.forEach((one, i) => checkShown(one, bodies[i]));
            assert.match(output, /^tone 9$/m);
        } finally {
            await w.close();
        }
    });

    it('docs/agents.md', { timeout: LIMIT_MS }, async () => {
        const w = await world();
        const EMAIL = 'grace@example.com';
        try {
            const { typed, shown, promised } = promises(blocks('docs/agents.md', 'agents'));
            const env = { EMAIL, PATH: `${dirname(binary)}:${process.env.PATH}`, XDG_CONFIG_HOME: join(w.daemon.directory, 'config') };
            const { code, output, statuses, bodies } = await type(typed, w.daemon, env, async (stdin) => {
                for (const sent of [1, 2]) { // to the program, then to the shell
                    const mails = await eventually(async () => {
                        const { data } = (await w.client.get(`/sandbox/messages?to=${EMAIL}`)).body;
                        return data.length === sent && data;
                    }, `e-mail ${sent}`);
                    stdin.write(`${mails[0].code}\n`);
                }
                stdin.end();
            });
            assert.deepEqual(statuses, promised, output);
            assert.equal(code, 0, output);
            assert.ok(promised.length > 10);
            shown.forEach((one, i) => checkShown(one, bodies[i]));
            assert.ok(output.includes('ask the resident: POST /v1/billing/checkout'));
        } finally {
            await w.close();
        }
    });

    it('docs/cli.md', { timeout: LIMIT_MS }, async () => {
        const w = await world();
        const EMAIL = 'ada@example.com';
        try {
            const events = /^portero listen .*\n/m; // goes on until Ctrl-C: test/fresh/cli types it
            const made = /^scripts\/portable .*\n.*\n/m; // of the project's directory: test/fresh/cli types it, too
            const commands = afterStart(blocks('docs/cli.md', 'cli')).typed;
            for (const elsewhere of [events, made]) assert.match(commands, elsewhere);
            const typed = `ln -s "$DATA" var\nln -s "$BIN" build\n${commands.replace(events, '').replace(made, '')}`;
            const PORTERO_URL = w.daemon.https.replace('127.0.0.1', 'localhost');
            const { code, output } = await type(typed, w.daemon, { DATA: w.daemon.data, BIN: dirname(binary), PORTERO_URL, XDG_CONFIG_HOME: join(w.daemon.directory, 'config') }, async (stdin) => {
                const mail = await eventually(async () => (await w.client.get(`/sandbox/messages?to=${EMAIL}`)).body.data[0], 'the e-mail');
                stdin.write(`${mail.code}\n`);
            });
            assert.equal(code, 0, output);
            for (const shown of [/^label +Parcel$/m, /^Cleaner\nPlumber\nParcel$/m, /--request PATCH/, /^Logged out of /m]) assert.match(output, shown);
        } finally {
            await w.close();
        }
    });

    it('docs/first-door.md, with a call before its last block', { timeout: LIMIT_MS }, async () => {
        const w = await world({ config: FREE });
        const EMAIL = 'joan@example.com';
        try {
            for (const given of [['account', 'add', EMAIL], ['number', 'add', '4711', '--account', EMAIL]]) assert.equal(admin(w, ...given).status, 0);
            // From the resident's address on, with this service's address and certificate, and a pause for the call.
            const typed = blocks('docs/first-door.md', 'first-door')
                .replace(/^[^]*?(?=^read )/m, '').replace('https://$(hostname --fqdn):8443', '$BASE').replace('/etc/portero/tls.pem', '"$CA"')
                .replace(/^portero log list/m, 'read -r\n$&');
            const env = {
                PATH: `${dirname(binary)}:${process.env.PATH}`, BASE: w.daemon.https.replace('127.0.0.1', 'localhost'),
                XDG_CONFIG_HOME: join(w.daemon.directory, 'config'), PORTERO_DATA_DIR: w.daemon.data,
            };
            const { code, output } = await type(typed, w.daemon, env, async (stdin, shown) => {
                stdin.write(`${EMAIL}\n`);
                const mail = await eventually(async () => (await w.client.get(`/sandbox/messages?to=${EMAIL}`)).body.data.find(({ subject }) => /^\d{6} /.test(subject)), 'the e-mail with a code');
                stdin.write(`${mail.code}\n`);
                const [, digits] = await eventually(async () => /^access_code +(\d+)$/m.exec(shown()), 'the passcode');
                await eventually(async () => /\+15550001234/.test(shown()), 'the phone');
                await visit(w.client, { to: '4711', digits });
                stdin.end('\n');
            });
            assert.equal(code, 0, output);
            assert.match(output, /unlock .*Parcel.* yes/);
            assert.match(output, /released/);
        } finally {
            await w.close();
        }
    });
});
