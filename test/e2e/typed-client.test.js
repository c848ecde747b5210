// A client generated from the OpenAPI documents by a public generator (openapi-typescript): its types hold under a
// strict check, and a whole story told through it (typed/story.ts) works against a daemon.
// engine: sqlite, because it tests the documents
import { describe, it, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import openapiTS, { astToString } from 'openapi-typescript';
import { ok } from './lib/client.js';
import { cleanEnvironment, portero, temporaryDirectory } from './lib/daemon.js';
import { useWorld } from './lib/world.js';

const here = dirname(fileURLToPath(import.meta.url));
const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');

async function generate(directory, name, source) {
    writeFileSync(join(directory, `${name}.d.ts`), astToString(await openapiTS(source)));
}

/** Checks the program and, without errors, translates it to JavaScript: the errors. */
function compile(directory) {
    return spawnSync(process.execPath, [tsc, '-p', directory, '--noEmitOnError'], { encoding: 'utf8', timeout: 150_000 }).stdout;
}

/** The story's own process, which trusts the daemon's certificate: {code, stdout, stderr}. */
function tell(directory, daemon) {
    const env = cleanEnvironment({ STORY_URL: daemon.https, NODE_EXTRA_CA_CERTS: join(daemon.data, 'tls.crt') });
    const child = spawn(process.execPath, [join(directory, 'out/story.js')], { env, timeout: 120_000 });
    const ended = { stdout: '', stderr: '' };
    child.stdout.setEncoding('utf8').on('data', (text) => { ended.stdout += text; });
    child.stderr.setEncoding('utf8').on('data', (text) => { ended.stderr += text; });
    return new Promise((resolve, reject) => {
        child.on('error', reject);
        child.on('close', (code) => resolve({ ...ended, code }));
    });
}

describe('a generated client', () => {
    const w = useWorld({ config: { webhooks: { allow_private: true } } });
    let directory;
    let complaints;
    before(async () => {
        directory = temporaryDirectory();
        cpSync(join(here, 'typed'), directory, { recursive: true });
        symlinkSync(join(here, 'node_modules'), join(directory, 'node_modules'));
        writeFileSync(join(directory, 'package.json'), '{"type":"module"}');
        await generate(directory, 'contract', (await w.client.get('/openapi.json')).text);
        await generate(directory, 'sandbox', portero(['openapi', '--sandbox']).stdout);
        complaints = compile(directory);
    });
    after(() => rmSync(directory, { recursive: true, force: true }));

    it('has types under which a program that uses it is checked strictly', () => assert.equal(complaints, ''));

    it('tells a resident\'s whole story', async () => {
        const { code, stdout, stderr } = await tell(directory, w.daemon);
        assert.equal(code, 0, stderr);
        const came = JSON.parse(stdout);
        const held = ok(await w.client.get('/sandbox/numbers')).data.filter((row) => row.building_id === came.building);
        assert.deepEqual(held.map((row) => row.email), [came.email]);
    });
});
