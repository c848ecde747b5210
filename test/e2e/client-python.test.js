// The Python client of clients/python, by Debian's Python: its own tests, its types, its package, and a resident's story against a daemon.
// engine: sqlite, because it tests the client
import { describe, it, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { clients } from './lib/clients.js';
import { cleanEnvironment, root, temporaryDirectory } from './lib/daemon.js';
import { freshEmail, useWorld } from './lib/world.js';

const PYTHON = '/usr/bin/python3';
const tests = join(root, 'clients/python/tests');

/** Runs Debian's Python, or an environment's, to its end: {status, stdout, stderr}. */
async function python(args, env = {}, cwd = undefined, program = PYTHON) {
    const child = spawn(program, args, { env: cleanEnvironment({ PYTHONDONTWRITEBYTECODE: '1', ...env }), cwd, timeout: 150_000 });
    const ended = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr']) child[name].setEncoding('utf8').on('data', (text) => { ended[name] += text; });
    return new Promise((resolve, reject) => {
        child.on('error', reject);
        child.on('close', (status) => resolve({ ...ended, status }));
    });
}

describe('the Python client', () => {
    const w = useWorld();
    let directory;
    let installed; // the Python of an environment with the wheel that would be published
    let made;
    before(async () => {
        directory = temporaryDirectory();
        const certificate = spawnSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2', '-subj', '/CN=localhost',
            '-addext', 'subjectAltName=DNS:localhost', '-keyout', 'tls.key', '-out', 'tls.crt'], { cwd: directory, encoding: 'utf8' });
        assert.equal(certificate.status, 0, certificate.stderr);
        const source = join(directory, 'source');
        cpSync(join(clients(), 'python'), source, { recursive: true });
        const built = await python(['-m', 'build', '--no-isolation', '--outdir', join(directory, 'dist'), source]);
        assert.equal(built.status, 0, built.stdout + built.stderr);
        made = readdirSync(join(directory, 'dist')).sort();
        const environment = await python(['-m', 'venv', join(directory, 'venv')]);
        assert.equal(environment.status, 0, environment.stdout + environment.stderr);
        installed = join(directory, 'venv/bin/python');
        const done = await python(['-m', 'pip', 'install', '--no-index', '--no-cache-dir', join(directory, 'dist', made.find((name) => name.endsWith('.whl')))], {}, undefined, installed);
        assert.equal(done.status, 0, done.stdout + done.stderr);
    });
    after(() => rmSync(directory, { recursive: true, force: true }));

    it('is a wheel and its source, with licence, description and the mark of types', async () => {
        const version = /^VERSION := ([0-9.]+)$/m.exec(readFileSync(join(root, 'build.mk'), 'utf8'))[1];
        // Later releases of setuptools write the source's name like the wheel's.
        assert.deepEqual(made.map((name) => name.replace('portero-client', 'portero_client')).sort(),
            [`portero_client-${version}-py3-none-any.whl`, `portero_client-${version}.tar.gz`]);
        const { stdout } = await python(['-c', `import importlib.metadata as m, json; d = m.distribution('portero-client')
print(json.dumps({'files': [str(f) for f in d.files], 'requires': d.requires, 'text': d.metadata.get_payload(), 'license': d.metadata['License']}))`], {}, undefined, installed);
        const { files, requires, text, license } = JSON.parse(stdout);
        for (const name of ['portero/py.typed', 'portero/types.py', 'portero/webhooks.py']) assert.ok(files.includes(name), `${name}: ${files}`);
        assert.ok(files.some((name) => name.endsWith('/LICENSE')));
        assert.deepEqual([requires, license], [null, 'Apache-2.0']);
        assert.equal(text.trim(), readFileSync(join(clients(), 'python/README.md'), 'utf8').trim());
    });

    it('passes its own tests where it is installed', async () => {
        const { status, stderr } = await python(['-m', 'unittest', '-v', join(tests, 'test_unit.py')], { PORTERO_TEST_TLS: directory }, undefined, installed);
        assert.equal(status, 0, stderr);
        assert.match(stderr, /^Ran [1-9]\d+ tests/m);
    });

    it('has types, for Python 3.9 too, under which right uses pass and wrong ones do not', async () => {
        const use = (lines) => writeFileSync(join(directory, 'use.py'), `from portero import Portero\n\ndef use(portero: Portero) -> None:\n${lines.map((line) => `    ${line}\n`).join('')}`);
        const check = () => python(['-m', 'mypy', '--strict', '--python-version', '3.9', '--cache-dir', join(directory, 'cache'), '--python-executable', installed, '-p', 'portero', '-m', 'use'],
            { MYPYPATH: directory });
        use(['grant = portero.create_unlock({"type": "timer", "expires_in_minutes": 5})', 'label: str = grant["label"]', 'for entry in portero.iterate_logs(q=label):', '    print(entry["succeeded"])',
            'one = portero.create_pass({"from": "2026-12-05T10:00", "until": None})', 'portero.change_pass(one["id"], lambda each: {"note": each["pass"]["note"]})']);
        const right = await check();
        assert.equal(right.status, 0, right.stdout + right.stderr);
        const examples = [...readFileSync(join(clients(), 'python/README.md'), 'utf8').matchAll(/^```python\n(.*?)^```$/gms)].map(([, code]) => code);
        assert.equal(examples.length, 4);
        writeFileSync(join(directory, 'use.py'), `api_key: str\nbuilding_id: str\nraw_body: bytes\nheaders: dict[str, str]\nsecret: str\n${examples.join('\n')}`);
        const shown = await check();
        assert.equal(shown.status, 0, shown.stdout + shown.stderr);
        use(['portero.create_unlock({"type": "weekly"})', 'portero.get_unlock()', 'portero.list_unlocks(status="open")', 'portero.update_unlock("x", {"label": "x"})', 'portero.get_account()["emial"]',
            'portero.create_pass({"windows": [{"days": ["monday"]}]})', 'portero.update_pass("x", {"label": "x"})']);
        const { stdout } = await check();
        assert.deepEqual([...new Set([...stdout.matchAll(/^.*use\.py:(\d+): error/gm)].map(([, line]) => Number(line)))], [4, 5, 6, 7, 8, 9, 10]);
    });

    it('tells a resident\'s story, from sign-in to the end of the key', async () => {
        const env = { PORTERO_TEST_URL: w.daemon.https.replace('127.0.0.1', 'localhost'), PORTERO_TEST_CA: join(w.daemon.data, 'tls.crt'), PORTERO_TEST_EMAIL: freshEmail() };
        const { status, stdout, stderr } = await python([join(tests, 'story.py')], env, undefined, installed);
        assert.equal(status, 0, stderr);
        const { types, ...rest } = JSON.parse(stdout);
        for (const type of ['settings.changed', 'grant.created', 'call.ring', 'call.released', 'call.ended']) assert.ok(types.includes(type), `${type}: ${types}`);
        assert.deepEqual(rest, {
            cleaner: { code: '751004', windows: true, opens: true, listed: true, end: '13:00', conflict: true, over: 'revoked', left: [] },
            tone: '9', same: true, names: ['Parcel'], guide: true, label: 'faster', revoked: 'revoked',
            missing: ['NotFoundError', 404, 'NOT_FOUND', true], over: ['AuthenticationError', 401, 'INVALID_KEY', true],
        });
    });
});
