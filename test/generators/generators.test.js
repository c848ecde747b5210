// Clients that public generators make of the OpenAPI document: they are generated, their types hold, and a resident's story told through
// each works against a daemon. openapi-typescript with openapi-fetch: test/e2e/typed-client.test.js. Run by `make check-generators`, apart
// from the other tests: the generators need Node.js 20.19 and 140 MB of packages.
import { describe, it, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createClient } from '@hey-api/openapi-ts';
import orval from 'orval';
import { ok } from '../e2e/lib/client.js';
import { cleanEnvironment, temporaryDirectory } from '../e2e/lib/daemon.js';
import { challenge, freshEmail, setSubscription, signIn, useWorld } from '../e2e/lib/world.js';

const here = dirname(fileURLToPath(import.meta.url));
const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');

const GENERATORS = {
    heyapi: (input, path) => createClient({ input, output: { path }, plugins: ['@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk'], logs: { level: 'silent' } }),
    orval: (input, path) => orval.generate({
        input, output: { target: join(path, 'client.ts'), client: 'fetch', mode: 'single', headers: true, override: { mutator: { path: join(path, '../../request.ts'), name: 'request' } } },
    }),
};

describe('the clients of public generators', () => {
    const w = useWorld({ config: { webhooks: { allow_private: true } } });
    let directory;
    before(async () => {
        directory = temporaryDirectory();
        for (const name of ['request.ts', 'story-heyapi.ts', 'story-orval.ts', 'tsconfig.json', 'package.json']) cpSync(join(here, name), join(directory, name));
        symlinkSync(join(here, 'node_modules'), join(directory, 'node_modules'));
        const document = join(directory, 'openapi.json');
        writeFileSync(document, (await w.client.get('/openapi.json')).text);
        for (const [name, generate] of Object.entries(GENERATORS)) await generate(document, join(directory, 'generated', name));
    });
    after(() => rmSync(directory, { recursive: true, force: true }));

    it('have types under which programs that use them are checked strictly', () => {
        assert.equal(spawnSync(process.execPath, [tsc, '-p', directory], { encoding: 'utf8', timeout: 150_000 }).stdout, '');
    });

    for (const name of Object.keys(GENERATORS)) {
        it(`tell a resident's story: ${name}`, async () => {
            const email = freshEmail();
            await signIn(w.client, email);
            await setSubscription(w.client, email);
            const sent = await challenge(w.client, email);
            const bundle = join(directory, `${name}.mjs`);
            const bundled = spawnSync('esbuild', ['--bundle', '--platform=node', '--format=esm', '--log-level=warning', `--outfile=${bundle}`, join(directory, `story-${name}.ts`)], { encoding: 'utf8' });
            assert.equal(bundled.status, 0, bundled.stderr);
            const env = cleanEnvironment({
                STORY_URL: w.daemon.https, STORY_EMAIL: email, STORY_CHALLENGE: sent.challenge, STORY_OTP: sent.otp, NODE_EXTRA_CA_CERTS: join(w.daemon.data, 'tls.crt'),
            });
            const told = spawnSync(process.execPath, [bundle], { env, encoding: 'utf8', timeout: 120_000 });
            assert.equal(told.status, 0, told.stderr);
            const { grant, over } = JSON.parse(told.stdout);
            assert.equal(over, 'INVALID_KEY');
            const session = await signIn(w.client, email);
            assert.equal(ok(await session.client.get(`/v1/unlock/${grant}`)).status, 'revoked');
        });
    }
});
