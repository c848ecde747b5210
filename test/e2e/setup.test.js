// A newcomer's way to a service without outside accounts: `portero setup`, the start in production mode, a visitor at the door.
// engine: sqlite, because setup writes a configuration with SQLite
import { describe, it, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, idempotencyKey, ok } from './lib/client.js';
import { admin } from './lib/buildings.js';
import { binary, cleanEnvironment, Daemon, temporaryDirectory } from './lib/daemon.js';
import { Baresip, startBuzz } from './lib/phone.js';
import { freePort } from './lib/port.js';
import { Relay } from './lib/relay.js';
import { eventually } from './lib/world.js';

const PHONE = '+15550001234';

describe('portero setup', () => {
    let directory;
    let relay;
    let pbx;
    const path = () => join(directory, 'portero.conf');
    const ports = {};
    before(async () => {
        directory = temporaryDirectory();
        relay = await Relay.start();
        for (const name of ['https', 'sip', 'pbx']) ports[name] = await freePort();
        pbx = await Baresip.start({ account: `<sip:${PHONE}@127.0.0.1>;regint=0;audio_codecs=PCMU/8000/1`, listen: ports.pbx });
    });
    after(async () => {
        await pbx?.stop();
        await relay?.close();
        rmSync(directory, { recursive: true, force: true });
    });

    const answers = (more = {}) => ({
        public_url: `https://localhost:${ports.https}`, https: `127.0.0.1:${ports.https}`, sip: `127.0.0.1:${ports.sip}`,
        mail_url: `smtp://127.0.0.1:${relay.port}`, callers: '127.0.0.1', pbx: `127.0.0.1:${ports.pbx}`, numbers: '4711, 4712',
        data_dir: join(directory, 'data'), ...more,
    });

    /** Runs it: {status, stdout, stderr}. Not synchronous, since the relay is in this process. */
    async function setup(given, ...options) {
        const file = join(directory, 'answers');
        writeFileSync(file, Object.entries(given).map(([name, answer]) => `${name} = ${answer}\n`).join(''));
        const done = { stdout: '', stderr: '' };
        const child = spawn(binary, ['setup', '--config', path(), '--answers', file, ...options], { env: cleanEnvironment(), stdio: ['ignore', 'pipe', 'pipe'] });
        for (const stream of ['stdout', 'stderr']) child[stream].setEncoding('utf8').on('data', (text) => { done[stream] += text; });
        [done.status] = await once(child, 'close');
        return done;
    }

    it('refuses answers that are no values of their keys, and writes nothing', async () => {
        for (const [more, complaint] of [
            [{ https: 'door' }, /^portero: https must be/m],
            [{ numbers: '4711, x' }, /^portero: numbers must be/m],
            [{ plan: 'free' }, /^portero: plan must be/m],
            [{ certificate: '/nowhere/tls.pem' }, /^portero: key must not be empty/m],
            [{ certificate: '/nowhere/tls.pem', key: '/nowhere/tls.key' }, /tls\.certificate: \/nowhere\/tls\.pem/],
            [{ nonsense: '1' }, /no question is called `nonsense`/],
        ]) {
            const done = await setup(answers(more));
            assert.equal(done.status, 2, done.stdout);
            assert.match(done.stderr, complaint);
            assert.ok(!existsSync(path()));
        }
    });

    it('names each thing around the service that is not as it must be', async () => {
        const done = await setup(answers({ mail_url: `smtp://127.0.0.1:${await freePort()}`, pbx: `127.0.0.1:${await freePort()}`, public_url: 'https://door.invalid' }));
        assert.equal(done.status, 1, done.stderr);
        for (const line of [/^failed +name: door\.invalid: /m, /^failed +mail: smtp:.*connect/m, /^failed +trunk: 127\.0\.0\.1:\d+: /m]) assert.match(done.stdout, line);
    });

    it('takes the answers from standard input, one a line, and the default for an empty one', async () => {
        const other = join(directory, 'other');
        const child = spawn(binary, ['setup', '--config', join(other, 'portero.conf')], { env: cleanEnvironment(), stdio: ['pipe', 'ignore', 'pipe'] });
        const { public_url: url, https, sip, mail_url: mail, pbx } = answers();
        child.stdin.end([url, https, sip, '', mail, '', '', '', pbx, '', '4711', '', join(directory, 'more')].map((line) => `${line}\n`).join(''));
        assert.deepEqual(await once(child, 'close'), [0, null]);
        const text = readFileSync(join(other, 'portero.conf'), 'utf8');
        for (const line of [`public_url = "${url}"`, 'certificate = "', 'provider = call', 'free_plan = "weekly"']) assert.ok(text.includes(line), text);
    });

    it('writes a service that starts in production mode, opens a door, and verifies a phone by a call', async () => {
        rmSync(join(directory, 'tls.pem'), { force: true }); // for another name
        assert.match((await setup(answers())).stderr, /exists; --force replaces it/);
        const done = await setup(answers(), '--force');
        assert.equal(done.status, 0, done.stdout + done.stderr);
        for (const line of [/^kept +.*master\.key$/m, /^ok +mail: /m, /^ok +trunk: /m, /^ok +name: localhost is /m, /^warning +certificate: is self-signed/m,
            /systemctl enable --now portero/, /^ +portero admin number add 4711$/m, /^ +portero admin number add 4712$/m]) assert.match(done.stdout, line);
        const mode = (name) => (statSync(join(directory, name)).mode & 0o777).toString(8);
        assert.deepEqual(['portero.conf', 'master.key', 'tls.key'].map(mode), ['640', '600', '600']);
        assert.match(readFileSync(path(), 'utf8'), /^mode = production$/m);

        const daemon = new Daemon({ directory, args: ['--http', '127.0.0.1:0'] });
        daemon.writeConfig = () => {};
        const w = { daemon, client: new Client(daemon) };
        try {
            await daemon.start();
            const email = 'ada@example.com';
            const { challenge } = ok(await w.client.post('/v1/auth/otp', { email }));
            const { mail } = await eventually(() => relay.mails.find(({ to }) => to.includes(email)), 'a mail');
            const [otp] = /^\d{6}/.exec(mail.subject);
            const client = w.client.as(ok(await w.client.post('/v1/auth/verify', { email, purpose: 'web', challenge, otp })).apiKey);
            assert.equal(admin(w, 'number', 'add', '4711').status, 0);
            const home = await eventually(async () => {
                const [found] = ok(await client.get('/v1/buildings')).data;
                return found.provisioned && found;
            }, 'a number');
            assert.equal(home.virtual_number, '4711');

            const settings = `/v1/buildings/${home.id}/settings`;
            const { etag } = (await client.get(settings)).headers;
            ok(await client.patch(settings, { unlock_tone: '9' }, { headers: { 'If-Match': etag } }));
            const { access_code: code } = ok(await client.post('/v1/unlock', { type: 'passcode', label: 'Parcel' }, { headers: { 'Idempotency-Key': idempotencyKey() } }), 201);
            assert.equal((await startBuzz(daemon, '4711', '--digits', code).ended).tones, '9');

            const asked = client.post('/v1/account/phone/verification', { phone_number: PHONE });
            await pbx.event('CALL_INCOMING');
            assert.equal(ok(await asked).status, 'code_sent');
            pbx.command('accept');
            await pbx.event('CALL_ESTABLISHED');
            await pbx.event('CALL_CLOSED');
            assert.ok(await daemon.logged(/code call id=[0-9a-f]{24} result="told"/));
            assert.equal(admin(w, 'phone', 'verify', email, '--number', PHONE).status, 0);
            assert.equal(ok(await client.get('/v1/account/phone')).verified, true);
        } finally {
            w.client.close();
            await daemon.stop();
        }
    });
});
