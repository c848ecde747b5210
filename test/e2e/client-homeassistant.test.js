// The Home Assistant integration of clients/homeassistant, by Debian's Python: its rules and files, its types, its entities and dialogs in an
// imitation of Home Assistant's interfaces, and a call that its lock opens, against a daemon.
// engine: sqlite, because it tests the client
import { describe, it, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { cleanEnvironment, root, temporaryDirectory } from './lib/daemon.js';
import { phonesAt, startBuzz, startPhone } from './lib/phone.js';
import { freePort } from './lib/port.js';
import { world } from './lib/world.js';

const PYTHON = '/usr/bin/python3';
const PHONE = '+15550001234';
const home = join(root, 'clients/homeassistant');
const tests = join(home, 'tests');
const PYTHONPATH = `${join(tests, 'fake')}:${home}:${tests}`;

function start(args, env = {}) {
    const child = spawn(PYTHON, args, { env: cleanEnvironment({ PYTHONDONTWRITEBYTECODE: '1', PYTHONPATH, ...env }), cwd: tests, timeout: 170_000 });
    const ended = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr']) child[name].setEncoding('utf8').on('data', (text) => { ended[name] += text; });
    child.ended = new Promise((resolve, reject) => {
        child.on('error', reject);
        child.on('close', (status) => resolve({ ...ended, status }));
    });
    return child;
}

/** Runs tests of a module; all of them, and more than none, pass. */
async function passes(module, env) {
    const { status, stderr } = await start(['-m', 'unittest', '-v', module], env).ended;
    assert.equal(status, 0, stderr);
    assert.match(stderr, /^Ran [1-9]\d* tests/m);
    assert.doesNotMatch(stderr, /skipped/);
}

describe('the Home Assistant integration', () => {
    let w;
    let port;
    let env;
    before(async () => {
        port = await freePort();
        w = await world({ config: phonesAt(port) });
        const { fingerprint256 } = new X509Certificate(readFileSync(join(w.daemon.data, 'tls.crt')));
        env = { PORTERO_TEST_URL: w.daemon.https, PORTERO_TEST_FINGERPRINT: fingerprint256, PORTERO_TEST_PHONE: PHONE };
    });
    after(() => w?.close());

    it('has rules, texts and descriptions that fit together', () => passes('test_logic'));

    it('has types that hold, against the imitated interfaces', async (t) => {
        const directory = temporaryDirectory();
        t.after(() => rmSync(directory, { recursive: true }));
        const { status, stdout, stderr } = await start(['-m', 'mypy', '--python-version', '3.11', '--strict', '--ignore-missing-imports', '--cache-dir', join(directory, 'cache'),
            '-p', 'custom_components.portero'], { MYPYPATH: PYTHONPATH }).ended;
        assert.equal(status, 0, stdout + stderr);
    });

    // CLI-11
    it('connects, locks, unlocks, rings, counts and tells no secret', () => passes('test_integration', env));

    // CLI-11
    it('opens the door in a call that rings the resident\'s phone', async () => {
        const phone = await startPhone('--listen', `127.0.0.1:${port}`, '--answer', '60000');
        const child = start(['door.py'], env);
        const lines = createInterface({ input: child.stdout });
        const first = await Promise.race([new Promise((resolve) => { lines.once('line', resolve); }), child.ended.then(({ stderr }) => assert.fail(stderr))]);
        const visitor = startBuzz(w.daemon, JSON.parse(first).number);
        const { status, stdout, stderr } = await child.ended;
        assert.equal(status, 0, stderr);
        const heard = await visitor.ended;
        assert.equal(heard.tones, '9', heard.stdout + heard.stderr);
        const told = JSON.parse(stdout.trim().split('\n').at(-1));
        for (const kind of ['ring', 'forwarded', 'opened', 'ended']) assert.ok(told.events.includes(kind), stdout);
        assert.deepEqual([told.grants, told.openable], [0, null], 'the call was opened; no timer was made');
        assert.match((await phone.ended).stdout, /canceled/);
    });
});
