// The TypeScript client of clients/typescript: its rules of repetition, errors, pages, events and webhooks alone, its package, and a
// resident's story against a daemon.
// engine: sqlite, because it tests the client
import { describe, it, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { execFile, spawn, spawnSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import Stripe from 'stripe';
import { Browser } from './lib/browser.js';
import { clientOf, clients, portero } from './lib/clients.js';
import { cleanEnvironment, root, temporaryDirectory } from './lib/daemon.js';
import { REACHABLE, useReceiver } from './lib/receiver.js';
import { agent, freshEmail, message, resident, setSubscription, useWorld, visit } from './lib/world.js';

const { ApiError, AuthenticationError, ConnectionError, NotFoundError, Portero, PorteroError, RateLimitError, ServiceError, TimeoutError,
    UnexpectedAnswerError, VersionConflictError, VersionRequiredError, verifyWebhook, WebhookVerificationError } = await portero();
const ID = '0123456789abcdef01234567';
const BASE = 'https://door.test';

const json = (status, body, headers = {}) => () => new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json', ...headers } });
const refusal = (status, code, headers) => json(status, {
    error: { type: 'x', message: `about ${code}`, code, retryable: status >= 429, next_action: 'do' }, requestId: 'req_1',
}, headers);
const cut = () => { throw new TypeError('fetch failed'); };

/** A client whose requests get these answers in turn, and the requests that it made. */
function scripted(answers, options = {}) {
    const requests = [];
    const queue = [...answers];
    const fetch = async (url, init) => {
        requests.push({ url, ...init });
        assert.ok(queue.length > 0, `an unexpected request: ${init.method} ${url}`);
        return queue.shift()(init);
    };
    return { client: new Portero({ baseUrl: BASE, apiKey: 'svc_agent_x', fetch, ...options }), requests };
}

const grant = { body: { type: 'passcode' } };

describe('the TypeScript client', () => {
    // CLI-10
    it('makes one Idempotency-Key for a call, keeps it over repetitions, and makes another for the next call', async () => {
        const { client, requests } = scripted([cut, refusal(503, 'SERVICE_UNAVAILABLE', { 'retry-after': '0' }), json(201, { id: ID }), json(201, { id: ID })]);
        assert.equal((await client.createUnlock(grant)).id, ID);
        await client.createUnlock(grant);
        const keys = requests.map(({ headers }) => headers['Idempotency-Key']);
        assert.equal(keys[0], keys[1]);
        assert.equal(keys[0], keys[2]);
        assert.notEqual(keys[0], keys[3]);
        for (const key of keys) assert.match(key, /^[a-zA-Z0-9_-]{16,100}$/);
        assert.equal(requests[0].body, requests[2].body);
    });

    // CLI-10
    it('never repeats a request that may have been carried out and has no key', async () => {
        for (const [answer, kind] of [[cut, ConnectionError], [refusal(503, 'SERVICE_UNAVAILABLE', { 'retry-after': '0' }), ServiceError], [refusal(500, 'INTERNAL_ERROR'), ServiceError]]) {
            for (const call of [(c) => c.updateUnlock({ id: ID, body: { label: 'x' } }, { ifMatch: 0 }), (c) => c.openCall({ id: ID }), (c) => c.createKey({ body: {} })]) {
                const { client, requests } = scripted([answer]);
                await assert.rejects(call(client), kind);
                assert.equal(requests.length, 1);
            }
        }
    });

    it('waits as 429 says, whatever the request, but not longer than allowed, and not without Retry-After', async () => {
        const limited = (seconds) => refusal(429, 'RATE_LIMIT_EXCEEDED', seconds === undefined ? {} : { 'retry-after': seconds });
        const patient = scripted([limited('0'), json(200, { id: ID })]);
        await patient.client.updateUnlock({ id: ID, body: { label: 'x' } }, { ifMatch: 3 });
        assert.deepEqual(patient.requests.map(({ headers }) => headers['If-Match']), ['"3"', '"3"']);
        for (const seconds of ['61', undefined]) {
            const { client, requests } = scripted([limited(seconds)]);
            await assert.rejects(client.getAccount(), (error) => error instanceof RateLimitError && error.retryAfterS === (seconds && Number(seconds)));
            assert.equal(requests.length, 1);
        }
    });

    it('gives up after the allowed repetitions', async () => {
        const { client, requests } = scripted([cut, cut], { retries: 1 });
        await assert.rejects(client.getAccount(), ConnectionError);
        assert.equal(requests.length, 2);
        await assert.rejects(scripted([cut]).client.getAccount({}, { retries: 0 }), ConnectionError);
    });

    it('tells refusals apart, with all that the envelope says', async () => {
        const kinds = [[401, 'INVALID_KEY', AuthenticationError], [404, 'NOT_FOUND', NotFoundError], [409, 'VERSION_CONFLICT', VersionConflictError],
            [409, 'SETTINGS_VERSION_CONFLICT', VersionConflictError], [428, 'VERSION_REQUIRED', VersionRequiredError], [500, 'INTERNAL_ERROR', ServiceError]];
        for (const [status, code, kind] of kinds) {
            await assert.rejects(scripted([refusal(status, code)]).client.getAccount(), (error) => {
                assert.ok(error instanceof kind && error instanceof ApiError);
                assert.deepEqual([error.status, error.code, error.message, error.next_action, error.requestId, error.retryable],
                    [status, code, `about ${code}`, 'do', 'req_1', status >= 429]);
                return true;
            });
        }
    });

    it('says that an answer is not the service\'s', async () => {
        const page = (status) => () => new Response('<h1>Bad gateway</h1>', { status, headers: { 'content-type': 'text/html' } });
        for (const answer of [page(404), page(200), () => new Response('{', { status: 200, headers: { 'content-type': 'application/json' } })]) {
            await assert.rejects(scripted([answer]).client.getAccount(), UnexpectedAnswerError);
        }
        const { client, requests } = scripted([page(502), json(200, { id: ID })]);
        await client.getAccount();
        assert.equal(requests.length, 2);
    });

    it('ends an attempt that takes too long, and a call whose signal is aborted', async () => {
        const never = ({ signal }) => new Promise((_, reject) => { signal.addEventListener('abort', () => reject(signal.reason)); });
        const { client, requests } = scripted([never, never], { timeoutMs: 20, retries: 1 });
        await assert.rejects(client.getAccount(), TimeoutError);
        assert.equal(requests.length, 2);
        const stop = new AbortController();
        const call = scripted([never]).client.getAccount({}, { signal: stop.signal });
        stop.abort(new Error('enough'));
        await assert.rejects(call, /enough/);
        const waiting = scripted([refusal(429, 'RATE_LIMIT_EXCEEDED', { 'retry-after': '60' })]).client.getAccount({}, { signal: AbortSignal.timeout(20) });
        await assert.rejects(waiting, { name: 'TimeoutError' });
    });

    it('iterates over all entries of all pages, with the same filters, and stops at a list that does not advance', async () => {
        const page = (data, cursor) => json(200, { data, pagination: { cursor, has_more: cursor !== null } });
        const { client, requests } = scripted([page([1, 2], 'c1'), page([], 'c2'), page([3], null)]);
        const seen = [];
        for await (const entry of client.listLogs({ q: 'a b', succeeded: false })) seen.push(entry);
        assert.deepEqual(seen, [1, 2, 3]);
        assert.deepEqual(requests.map(({ url }) => url.slice(BASE.length)),
            ['/v1/logs?q=a+b&succeeded=false', '/v1/logs?q=a+b&succeeded=false&cursor=c1', '/v1/logs?q=a+b&succeeded=false&cursor=c2']);
        assert.deepEqual((await scripted([page([1], 'c1')]).client.listLogs()).data, [1]);
        await assert.rejects(async () => { for await (const _ of scripted([page([1], 'c1'), page([1], 'c1')]).client.listLogs()); }, PorteroError);
    });

    it('sends the building\'s header where it belongs, and a key over HTTPS only', async () => {
        const { client, requests } = scripted([json(200, {}), json(200, { data: [] }), json(200, {})], { buildingId: ID });
        await client.getUnlock({ id: ID });
        await client.listBuildings();
        await client.getUnlock({ id: ID }, { buildingId: 'f'.repeat(24) });
        assert.deepEqual(requests.map(({ headers }) => headers['X-Service-Building-Id']), [ID, undefined, 'f'.repeat(24)]);
        assert.throws(() => new Portero({ baseUrl: 'http://door.test' }), PorteroError);
        await assert.rejects(client.getUnlock({ id: '' }), PorteroError);
        assert.ok(!JSON.stringify(client).includes('svc_agent'));
    });

    it('resumes a stream after its last event, gives each event once, and surfaces a reset', async () => {
        const stream = (...blocks) => () => new Response(blocks.join(''), { headers: { 'content-type': 'text/event-stream' } });
        const event = (seq, type = 'call.ring') => `id: ${seq}\nevent: ${type}\ndata: {"seq":${seq},"type":"${type}"}\n\n`;
        const { client, requests } = scripted([
            stream('retry: 1\nid: 4\n\n', ': quiet\n\n', event(5), event(6)), stream('retry: 1\n', event(6), event(9, 'reset')), cut,
            stream(event(10)), refusal(401, 'INVALID_KEY'),
        ]);
        const seen = [];
        await assert.rejects(async () => { for await (const one of client.events({ buildingId: ID })) seen.push([one.seq, one.type]); }, AuthenticationError);
        assert.deepEqual(seen, [[5, 'call.ring'], [6, 'call.ring'], [9, 'reset'], [10, 'call.ring']]);
        assert.deepEqual(requests.map(({ headers }) => headers['Last-Event-ID']), [undefined, '6', '9', '9', '10']);
    });

    it('reads events however their bytes are cut into pieces', async () => {
        const bytes = Buffer.from('id: 1\ndata: {"seq":1,"type":"grant.created","label":"Ada 📦"}\n\n');
        const pieces = () => new Response(new ReadableStream({
            start(controller) {
                for (const byte of bytes) controller.enqueue(Uint8Array.of(byte));
                controller.close();
            },
        }), { headers: { 'content-type': 'text/event-stream' } });
        for await (const event of scripted([pieces]).client.events({ buildingId: ID })) {
            assert.equal(event.label, 'Ada 📦');
            break;
        }
    });

    describe('verifies webhooks', () => {
        const SECRET = 'whsec_one', OTHER = 'whsec_two', NOW = 1_800_000_000;
        const body = '{"id":"evt_1","type":"webhook.test","data":{}}';
        const sign = (secret, t = NOW, text = body) => createHmac('sha256', secret).update(`${t}.`).update(text).digest('hex');
        const good = `t=${NOW},v1=${sign(SECRET)}`;

        it('on the raw body, with one of several secrets and signatures', async () => {
            for (const [raw, header, secrets] of [[body, good, SECRET], [Buffer.from(body), good, [OTHER, SECRET]],
                [body, `t=${NOW},v1=${sign(OTHER)},v1=${sign(SECRET)}`, SECRET], [body, ` t=${NOW}, v1=${sign(SECRET)} ,v0=ab`, [SECRET]],
                [body, `t=${NOW},v1=zz,v1=${sign(SECRET)},v1=${sign(SECRET)}0`, SECRET]]) {
                assert.equal((await verifyWebhook(raw, header, secrets, { now: NOW + 300 })).type, 'webhook.test');
            }
        });

        it('as Stripe\'s library signs them, with characters of all lengths in body and secret', async () => {
            const payload = '{"id":"evt_1","type":"webhook.test","data":{"label":"Zoë’s 📦 \\u0000"}}', secret = 'whsec_ключ🔑';
            const header = Stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp: NOW });
            for (const raw of [payload, Buffer.from(payload)]) {
                assert.equal((await verifyWebhook(raw, header, secret, { now: NOW })).data.label, 'Zoë’s 📦 \u0000');
            }
            assert.equal(Stripe.webhooks.constructEvent(body, good, SECRET, 300, undefined, NOW * 1000).id, 'evt_1');
        });

        const bad = {
            'another secret': [body, good, OTHER], 'no secret': [body, good, []], 'another body': [`${body} `, good, SECRET],
            'another time': [body, `t=${NOW + 1},v1=${sign(SECRET)}`, SECRET], 'no header': [body, undefined, SECRET], 'an empty header': [body, '', SECRET],
            'no signature': [body, `t=${NOW}`, SECRET], 'a short signature': [body, `t=${NOW},v1=${sign(SECRET).slice(2)}`, SECRET],
            'two times': [body, `t=${NOW},${good}`, SECRET], 'too many signatures': [body, `t=${NOW}${`,v1=${sign(SECRET)}`.repeat(9)}`, SECRET],
            'a time that is no number': [body, `t=1e9,v1=${sign(SECRET, '1e9')}`, SECRET], 'a time in other digits': [body, `t=१${NOW},v1=${sign(SECRET, `१${NOW}`)}`, SECRET],
            'a long signature': [body, `${good}00`, SECRET], 'a signature in capitals': [body, `t=${NOW},v1=${sign(SECRET).toUpperCase()}`, SECRET],
            'another version alone': [body, `t=${NOW},v0=${sign(SECRET)}`, SECRET], 'a header that came twice': [body, `${good}, ${good}`, SECRET],
            'a header as a list': [body, [good], SECRET], 'a long header': [body, `${good},${'x'.repeat(4096)}`, SECRET],
            'an empty secret': [body, `t=${NOW},v1=${sign('')}`, ''], 'an empty secret among others': [body, good, [SECRET, '']],
            'a secret that is not set': [body, good, undefined],
        };
        for (const [what, args] of Object.entries(bad)) {
            it(`and refuses ${what}`, () => assert.rejects(verifyWebhook(...args, { now: NOW }), WebhookVerificationError));
        }

        it('and refuses what is too old or from the future', async () => {
            for (const now of [NOW + 301, NOW - 301, NaN]) await assert.rejects(verifyWebhook(body, good, SECRET, { now }), WebhookVerificationError);
        });
    });
});

/** npm, which reaches no registry. */
function npm(directory, ...args) {
    const done = spawnSync(join(root, 'scripts/npm'), [...args, '--offline', '--no-audit', '--no-fund', '--no-update-notifier', '--registry', 'http://127.0.0.1:9/'],
        { cwd: directory, encoding: 'utf8', timeout: 60_000, env: cleanEnvironment() });
    assert.equal(done.status, 0, done.stderr);
    return done;
}

/** Installs the client in a new project from the file that would be published. */
function install(directory) {
    const { stdout } = npm(join(clients(), 'typescript'), 'pack', '--pack-destination', directory);
    writeFileSync(join(directory, 'package.json'), '{"type":"module"}');
    npm(directory, 'install', '--ignore-scripts', join(directory, stdout.trim().split('\n').at(-1)));
    return join(directory, 'node_modules/portero-client');
}

describe('npm, on a machine without it', () => {
    it('is refused from a registry that has another content, and nothing of it stays', async (t) => {
        const directory = temporaryDirectory(), bin = join(directory, 'bin'), cache = join(directory, 'cache'), asked = [];
        t.after(() => rmSync(directory, { recursive: true }));
        mkdirSync(bin);
        for (const tool of ['sh', 'node', 'dirname', 'realpath', 'mkdir', 'mktemp', 'curl', 'sha512sum', 'tar', 'gzip', 'mv', 'rm']) {
            symlinkSync(process.env.PATH.split(delimiter).map((at) => join(at, tool)).find(existsSync), join(bin, tool));
        }
        const registry = createServer(({ url }, response) => { asked.push(url); response.end('not npm'); }).listen(0, '127.0.0.1');
        t.after(() => registry.close());
        await once(registry, 'listening');
        const env = { PATH: bin, npm_config_cache: cache, npm_config_registry: `http://127.0.0.1:${registry.address().port}/` };
        await assert.rejects(promisify(execFile)(join(root, 'scripts/npm'), ['--version'], { env }), { code: 1, stderr: /npm\.tgz: FAILED|did NOT match/ });
        assert.match(asked.join(), /^\/npm\/-\/npm-[\d.]+\.tgz$/);
        assert.deepEqual(readdirSync(cache), []);
    });
});

describe('the package of the TypeScript client', () => {
    it('would be published as it is', () => {
        const { stdout, stderr } = npm(join(clients(), 'typescript'), 'publish', '--dry-run', '--access', 'public');
        assert.match(stdout, /^\+ portero-client@\d/m);
        assert.doesNotMatch(stderr, /auto-corrected|npm error/);
    });

    it('has what a user needs, its types included, and installs without dependencies', () => {
        const [{ files, version }] = JSON.parse(npm(join(clients(), 'typescript'), 'pack', '--json', '--dry-run').stdout);
        const names = files.map(({ path }) => path);
        for (const name of ['LICENSE', 'README.md', 'package.json', 'dist/index.js', 'dist/index.d.ts', 'dist/contract.d.ts', 'dist/crypto.js']) assert.ok(names.includes(name), name);
        assert.ok(names.every((name) => /^(dist\/|LICENSE|README\.md|package\.json)/.test(name)), names.join());
        const manifest = JSON.parse(readFileSync(join(clients(), 'typescript/package.json')));
        assert.equal(manifest.version, version);
        assert.match(readFileSync(new URL('../../build.mk', import.meta.url), 'utf8'), new RegExp(`^VERSION := ${version}$`, 'm'));
        assert.deepEqual([manifest.dependencies, manifest.license], [undefined, 'Apache-2.0']);
    });

    it('is typed: its examples and a program that uses it rightly compile, and each wrong use is an error', () => {
        const directory = temporaryDirectory();
        const installed = install(directory);
        writeFileSync(join(directory, 'use.ts'), `import { Portero, type Schemas } from 'portero-client';
export async function use(portero: Portero): Promise<void> {
    const grant: Schemas['Unlock'] = await portero.createUnlock({ body: { type: 'timer', expires_in_minutes: 5 } });
    for await (const entry of portero.listLogs({ unlock_id: grant.id })) console.log(entry.succeeded);
    const { data } = await portero.listUnlocks({ status: 'active' });
    const changed = await portero.change('updateUnlock', { id: grant.id }, ({ label }) => ({ label: label + data.length }));
    const wav: Uint8Array = await portero.getCallMessage({ id: changed.id });
    const replayed: string | null = (await portero.call('getAccount')).headers.get('x-request-id');
    console.log(wav.length, replayed);
    // @ts-expect-error: a timer needs an end
    await portero.createUnlock({ body: { type: 'timer' } });
    // @ts-expect-error: a grant has an ID
    await portero.getUnlock({});
    // @ts-expect-error: there is no such filter
    await portero.listUnlocks({ state: 'active' });
    // @ts-expect-error: a change needs a version
    await portero.updateUnlock({ id: grant.id, body: { label: 'x' } });
    const pass: Schemas['Unlock'] = await portero.createPass({ body: { from: '2026-12-05T10:00', until: null } });
    await portero.change('updatePass', { id: pass.id }, (one) => ({ note: one.pass?.note ?? null }));
    // @ts-expect-error: a window has hours
    await portero.createPass({ body: { windows: [{ days: ['monday'] }] } });
    // @ts-expect-error: a change of a pass needs a version
    await portero.updatePass({ id: pass.id, body: { label: 'x' } });
    // @ts-expect-error: a log is not changed
    await portero.change('listLogs', {}, () => ({}));
}
`);
        const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc'), types = join(root, 'test/e2e/node_modules/@types');
        const examples = [...readFileSync(join(installed, 'README.md'), 'utf8').matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code]) => code);
        assert.equal(examples.length, 4);
        writeFileSync(join(directory, 'examples.ts'), `import type { IncomingMessage } from 'node:http';
declare const buildingId: string, signal: AbortSignal, rawBody: Buffer, request: IncomingMessage, readEverythingAgain: () => Promise<void>;
${examples.join('\n').replaceAll('const event = await', 'const delivered = await')}console.log(page, delivered);
`);
        const compilerOptions = { noEmit: true, strict: true, exactOptionalPropertyTypes: true, module: 'NodeNext', target: 'ES2022', lib: ['ES2022', 'DOM', 'DOM.Iterable'], types: ['node'], typeRoots: [types] };
        writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['use.ts', 'examples.ts'] }));
        const compiled = spawnSync(process.execPath, [tsc, '-p', directory], { encoding: 'utf8', timeout: 150_000 });
        assert.equal(compiled.stdout, '');
        rmSync(directory, { recursive: true });
    });
});

describe('the TypeScript client and a daemon', () => {
    const w = useWorld({ config: REACHABLE });
    const receiver = useReceiver();
    let directory;
    before(() => {
        directory = temporaryDirectory();
        install(directory);
    });
    after(() => rmSync(directory, { recursive: true, force: true }));

    /** Runs a program that has the installed client as `Portero` and `options` for it, in a process that trusts the daemon: the JSON that it prints. */
    async function run(program, { trust = true, given = {} } = {}) {
        const path = join(directory, `${Math.random()}.mjs`);
        writeFileSync(path, `import * as client from 'portero-client';\nconst { Portero } = client;\nconst given = ${JSON.stringify(given)};\nconst baseUrl = ${JSON.stringify(w.daemon.https)};\n${program}`);
        const env = cleanEnvironment(trust ? { NODE_EXTRA_CA_CERTS: join(w.daemon.data, 'tls.crt') } : {});
        const child = spawn(process.execPath, [path], { env, timeout: 120_000 });
        const output = { stdout: '', stderr: '' };
        for (const name of ['stdout', 'stderr']) child[name].setEncoding('utf8').on('data', (text) => { output[name] += text; });
        const code = await new Promise((done) => { child.on('close', done); });
        assert.equal(code, 0, output.stderr);
        return JSON.parse(output.stdout);
    }

    it('tell a resident\'s story, from sign-in to the end of the key', async () => {
        const email = freshEmail();
        const asked = await run('console.log(JSON.stringify(await new Portero({ baseUrl }).requestOtp({ body: { email: given.email } })))', { given: { email } });
        const { code } = await message(w.client, email);
        const made = await run(`
            const { apiKey } = await new Portero({ baseUrl }).verifyOtp({ body: { ...given, purpose: 'web' } });
            const owner = new Portero({ baseUrl, apiKey });
            const scopes = ['account:read', 'access:read', 'access:write', 'logs:read', 'setup:write'];
            const { api_key } = await owner.createKey({ body: { name: 'Client', scopes, expires_in_days: 1 } });
            console.log(JSON.stringify({ apiKey, api_key }));`, { given: { email, otp: code, challenge: asked.challenge } });
        await setSubscription(w.client, email);
        const story = await run(`
            const portero = new Portero({ baseUrl, apiKey: given.api_key });
            const { data: [home] } = await portero.listBuildings();
            const set = await portero.change('updateSettings', { buildingId: home.id }, () => ({ unlock_tone: '9' }));
            const grant = await portero.createUnlock({ body: { type: 'passcode', label: 'Parcel', remaining_uses: 2 } }, { idempotencyKey: 'client-story-00000001' });
            const again = await portero.call('createUnlock', { body: { type: 'passcode', label: 'Parcel', remaining_uses: 2 } }, { idempotencyKey: 'client-story-00000001' });
            const hours = { days: ['tuesday', 'friday'], start: '09:00', end: '12:00' };
            const cleaner = await portero.createPass({ body: { label: 'Cleaner', access_code: '751004', windows: [hours], timezone: 'Europe/Madrid' } });
            const listed = [];
            for await (const one of portero.listPasses({ limit: 1 })) listed.push(one.id === cleaner.id);
            const later = await portero.change('updatePass', { id: cleaner.id }, ({ pass }) => ({ windows: pass.windows.map((one) => ({ ...one, end: '13:00' })) }));
            const conflict = await portero.updatePass({ id: cleaner.id, body: { label: 'x' } }, { ifMatch: cleaner.version }).catch((error) => error.constructor.name);
            const { status } = await portero.revokePass({ id: cleaner.id });
            const { data: left } = await portero.listPasses();
            const pass = { code: cleaner.access_code, opens: !!cleaner.pass.next_opening, listed, windows: later.pass.windows, conflict, status, left };
            const endpoint = await portero.createWebhook({ body: { url: given.url } });
            console.log(JSON.stringify({ home, tone: set.unlock_tone, grant, again: [again.status, again.headers.get('idempotency-replayed'), again.data.id], pass, endpoint }));`,
        { given: { api_key: made.api_key, url: receiver.url() } });
        assert.deepEqual([story.tone, story.again], ['9', [200, 'true', story.grant.id]]);
        assert.deepEqual(story.pass, {
            code: '751004', opens: true, listed: [true], windows: [{ days: ['tuesday', 'friday'], start: '09:00', end: '13:00' }],
            conflict: 'VersionConflictError', status: 'revoked', left: [],
        });
        assert.equal((await visit(w.client, { to: story.home.virtual_number, digits: story.grant.access_code })).outcome, 'released');
        const delivered = await receiver.first(({ body }) => body.type === 'access.granted');
        const event = await verifyWebhook(delivered.raw, delivered.headers['service-signature'], story.endpoint.secret);
        assert.equal(event.data.unlock_id, story.grant.id);
        const end = await run(`
            const portero = new Portero({ baseUrl, apiKey: given.api_key });
            const entries = [];
            for await (const entry of portero.listLogs({ limit: 1 })) entries.push(entry.name);
            const changed = await portero.change('updateUnlock', { id: given.id }, ({ label }) => ({ label: label + '!' }));
            const conflict = await portero.updateUnlock({ id: given.id, body: { label: 'x' } }, { ifMatch: 0 }).catch((error) => error.constructor.name);
            const { status } = await portero.revokeUnlock({ id: given.id });
            await portero.revokeOwnKey();
            const over = await portero.getAccount().catch(({ status, code, requestId }) => ({ status, code, known: requestId.startsWith('req_') }));
            console.log(JSON.stringify({ entries, label: changed.label, conflict, status, over }));`, { given: { api_key: made.api_key, id: story.grant.id } });
        assert.deepEqual(end, {
            entries: ['Parcel'], label: 'Parcel!', conflict: 'VersionConflictError', status: 'revoked', over: { status: 401, code: 'INVALID_KEY', known: true },
        });
    });

    it('verify deliveries with either secret while one replaces the other', async () => {
        const person = await resident(w.client);
        const api = await clientOf(person.client);
        const endpoint = await api.createWebhook({ body: { url: receiver.url('/rotation') } });
        const { secret } = await api.rotateWebhookSecret({ id: endpoint.id });
        await api.testWebhook({ id: endpoint.id });
        const { raw, headers } = await receiver.first(({ path }) => path === '/rotation');
        for (const known of [endpoint.secret, secret, [endpoint.secret, secret]]) {
            assert.equal((await verifyWebhook(raw, headers['service-signature'], known)).type, 'webhook.test');
        }
        await assert.rejects(verifyWebhook(raw, headers['service-signature'], 'whsec_other'), WebhookVerificationError);
    });

    it('follow the building\'s events through an interruption', async () => {
        const person = await resident(w.client);
        const { key } = await agent(person, ['logs:read', 'access:write']);
        const seen = await run(`
            const portero = new Portero({ baseUrl, apiKey: given.key, fetch: (url, init) => fetch(url, init).then((response) => cutting(response)) });
            let cuts = 0;
            function cutting(response) { // the first stream ends after its first piece that has an event
                if (!response.headers.get('content-type').startsWith('text/event-stream') || cuts++ > 0) return response;
                const reader = response.body.getReader();
                return new Response(new ReadableStream({ async pull(controller) {
                    const { value, done } = await reader.read();
                    if (value) controller.enqueue(value);
                    if (done || new TextDecoder().decode(value).includes('data:')) { controller.close(); await reader.cancel(); }
                } }), response);
            }
            const stop = new AbortController();
            const labels = ['a', 'b', 'c'];
            const seen = [];
            const grant = () => portero.createUnlock({ body: { type: 'timer', expires_in_minutes: 5, label: labels[seen.length] } });
            await grant();
            for await (const event of portero.events({ buildingId: given.building, after: 0, signal: stop.signal })) {
                if (event.type !== 'grant.created') continue;
                seen.push(event.seq);
                if (seen.length === labels.length) stop.abort();
                else await grant();
            }
            console.log(JSON.stringify({ seen, cuts }));`, { given: { key, building: person.building.id } });
        assert.equal(seen.seen.length, 3);
        assert.equal(new Set(seen.seen).size, 3);
        assert.ok(seen.cuts >= 2);
    });

    it('work in a browser, bundled without anything of Node.js', async () => {
        const person = await resident(w.client);
        const bundled = spawnSync('esbuild', ['--bundle', '--platform=browser', '--format=iife', '--global-name=client', '--log-level=warning', join(clients(), 'typescript/dist/index.js')], { encoding: 'utf8' });
        assert.equal(bundled.status, 0, bundled.stderr);
        const t = Math.floor(Date.now() / 1000);
        const header = `t=${t},v1=${createHmac('sha256', 'whsec_x').update(`${t}.{"id":"evt_1"}`).digest('hex')}`;
        const browser = await Browser.start();
        try {
            const page = await browser.page(`${w.daemon.https}/v1/health`, { bypassCSP: true });
            await page.addScriptTag({ content: bundled.stdout });
            const came = await page.evaluate(async ({ key, building, header }) => {
                const { Portero, verifyWebhook } = globalThis.client;
                const portero = new Portero({ baseUrl: location.origin, apiKey: key });
                const grant = await portero.createUnlock({ body: { type: 'timer', expires_in_minutes: 5 } });
                const events = portero.events({ buildingId: building, after: 0 });
                let event;
                do ({ value: event } = await events.next()); while (event.type !== 'grant.created');
                await events.return();
                return { grant: grant.id, event: event.unlock_id, delivery: (await verifyWebhook('{"id":"evt_1"}', header, 'whsec_x')).id };
            }, { key: person.key, building: person.building.id, header });
            assert.deepEqual([came.event, came.delivery], [came.grant, 'evt_1']);
        } finally {
            await browser.close();
        }
    });

    it('do not trust a certificate that nobody vouches for', async () => {
        const said = await run('console.log(JSON.stringify(await new Portero({ baseUrl, retries: 0 }).getHealth().catch((error) => error.constructor.name)))', { trust: false });
        assert.equal(said, 'ConnectionError');
    });
});
