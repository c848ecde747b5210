// A newcomer's way to a service without outside accounts: `porterod setup`, the start in production mode, a visitor at the door.
import { describe, it, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname, networkInterfaces, userInfo } from 'node:os';
import { join } from 'node:path';
import { Client, idempotencyKey, ok } from './lib/client.js';
import { admin } from './lib/buildings.js';
import { binary, cleanEnvironment, Daemon, engine, portero, temporaryDirectory } from './lib/daemon.js';
import { Baresip, startBuzz } from './lib/phone.js';
import { freePort } from './lib/port.js';
import { Provider } from './lib/provider.js';
import { Relay } from './lib/relay.js';
import { createDatabase } from './lib/store.js';
import { eventually } from './lib/world.js';

const PHONE = '+15550001234';
const EMAIL = 'ada@example.com';

describe('porterod setup', () => {
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
        mail_url: `smtp://127.0.0.1:${relay.port}`, callers: '127.0.0.1', pbx: `127.0.0.1:${ports.pbx}`, residents: EMAIL, numbers: '4711',
        data_dir: join(directory, 'data'), ...more,
    });

    /** The answer for the engine of this run. */
    const store = () => (engine === 'postgresql' ? { store_dsn: createDatabase() } : {});

    /** Runs it: {status, stdout, stderr}. Not synchronous, since the relay is in this process. */
    async function setup(given, ...options) {
        const file = join(directory, 'answers');
        writeFileSync(file, Object.entries(given).map(([name, answer]) => `${name} = ${answer}\n`).join(''));
        const done = { stdout: '', stderr: '' };
        const child = spawn(binary, ['setup', '--user', userInfo().username, ...(options.includes('--config') ? [] : ['--config', path()]), '--answers', file, ...options], { env: cleanEnvironment(), stdio: ['ignore', 'pipe', 'pipe'] });
        for (const stream of ['stdout', 'stderr']) child[stream].setEncoding('utf8').on('data', (text) => { done[stream] += text; });
        [done.status] = await once(child, 'close');
        return done;
    }

    it('refuses answers that are no values of their keys, and writes nothing', async () => {
        for (const [more, complaint] of [
            [{ https: 'door' }, /^portero: https must be/m],
            [{ numbers: '4711, x' }, /^portero: numbers must be/m],
            [{ residents: 'ada' }, /^portero: residents must be e-mail addresses/m],
            [{ plan: 'free' }, /^portero: plan must be/m],
            [{ store_dsn: 'mysql' }, /^portero: store_dsn is not a valid libpq connection string/m],
            [{ certificate: '/nowhere/tls.pem', key: '/nowhere/tls.key' }, /^portero: certificate: \/nowhere\/tls\.pem: No such file/m],
            [{ data_dir: '/nowhere/data' }, /^portero: data_dir \/nowhere\/data: No such file/m],
            [{ metrics: '9464' }, /^portero: metrics must be/m],
            [{ nonsense: '1' }, /no question is called `nonsense`/],
        ]) {
            const done = await setup(answers(more));
            assert.equal(done.status, 2, done.stdout);
            assert.match(done.stderr, complaint);
            assert.ok(!existsSync(path()));
        }
    });

    // SERVICE-37
    it('names each thing around the service that is not as it must be', async () => {
        const done = await setup(answers({ mail_url: `smtp://127.0.0.1:${await freePort()}`, pbx: `127.0.0.1:${await freePort()}`, public_url: 'https://door.invalid' }));
        assert.equal(done.status, 1, done.stderr);
        for (const line of [/^failed +name: door\.invalid: /m, /^failed +mail: smtp:.*connect/m, /^failed +trunk: 127\.0\.0\.1:\d+: /m]) assert.match(done.stdout, line);
    });

    it('takes the answers from standard input, one a line, and the default for an empty one', async () => {
        const other = join(directory, 'other');
        const child = spawn(binary, ['setup', '--user', userInfo().username, '--config', join(other, 'portero.conf'), '--data', join(directory, 'more')], { env: cleanEnvironment(), stdio: ['pipe', 'ignore', 'inherit'] });
        const { public_url: url, sip, mail_url: mail, pbx } = answers();
        child.stdin.end([url, sip, '', mail, '', '', '', '', '4711', pbx, '', '', ''].map((line) => `${line}\n`).join(''));
        assert.deepEqual(await once(child, 'close'), [0, null]);
        const text = readFileSync(join(other, 'portero.conf'), 'utf8');
        for (const line of [`public_url = "${url}"`, `https = "0.0.0.0:${ports.https}"`, 'engine = sqlite', 'certificate = "', 'provider = call', 'free_plan = "weekly"']) assert.ok(text.includes(line), text);
    });

    // SERVICE-15
    it('makes a certificate for a host or an address, and again when the name changes', async () => {
        const own = { config: join(directory, 'named', 'portero.conf'), data_dir: join(directory, 'named-data') };
        const certified = async (public_url, ...options) => (await setup(answers({ public_url, data_dir: own.data_dir }), '--config', own.config, ...options)).stdout;
        for (const [url, ...options] of [['https://127.0.0.2:8443'], ['https://door.invalid:8443', '--force']]) {
            const told = await certified(url, ...options);
            assert.match(told, /^warning +certificate: is self-signed/m);
            assert.match(told, /^written .*tls\.pem/m);
        }
        const { subjectAltName } = new X509Certificate(readFileSync(join(directory, 'named', 'tls.pem')));
        const machine = Object.values(networkInterfaces()).flat().filter(({ internal, family }) => !internal && family === 'IPv4').map(({ address }) => `IP Address:${address}`);
        for (const name of ['DNS:door.invalid', 'DNS:localhost', `DNS:${hostname()}`, ...machine]) assert.ok(subjectAltName.split(', ').includes(name), `${name}: ${subjectAltName}`);
        const told = await certified(`https://[::1]:${ports.https}`, '--force'); // each certificate has the loopback addresses
        assert.match(told, /^warning +name: ::1 is ::1 here: no other machine reaches this one by that/m);
        assert.doesNotMatch(told, /^written .*tls\.pem|^250 /m);
    });

    // SERVICE-38
    it('tells whether the PBX accepts the registration, and repeats the checks alone', async () => {
        const provider = await Provider.start();
        const config = join(directory, 'trunk', 'portero.conf');
        const login = (pbx_password) => answers({ pbx: provider.address, pbx_user: provider.user, pbx_password, data_dir: join(directory, 'trunk-data') });
        try {
            const good = await setup(login(provider.password), '--config', config);
            assert.match(good.stdout, /^ok +trunk: \S+ answers, and accepts the registration of door$/m);
            const wrong = await setup(login('not-the-passw0rd'), '--config', config);
            assert.equal(wrong.status, 1);
            assert.match(wrong.stdout, /^failed +trunk: \S+ refuses the registration of door: 40[13] /m);
            assert.match(wrong.stdout, /porterod setup --check --config /);
            assert.doesNotMatch(wrong.stdout + wrong.stderr, /not-the-passw0rd/);
            assert.equal(statSync(join(directory, 'trunk', 'pbx_password')).mode & 0o777, 0o600);
            const again = portero(['setup', '--check', '--user', userInfo().username, '--config', config]);
            assert.equal(again.status, 1, again.stderr);
            assert.match(again.stdout, /^failed +trunk: /m);
            assert.doesNotMatch(again.stdout, /^written/m);
        } finally {
            await provider.kill();
        }
    });

    it('names a database that cannot be reached, and keeps its password out of the configuration', async () => {
        const config = join(directory, 'database', 'portero.conf');
        const dsn = `host=127.0.0.1 port=${await freePort()} dbname=x user=y password=h1dden`;
        const done = await setup(answers({ store_dsn: dsn, data_dir: join(directory, 'database-data') }), '--config', config);
        assert.equal(done.status, 1, done.stderr);
        assert.match(done.stdout, /^failed +store: .*refused/m);
        assert.doesNotMatch(done.stdout + done.stderr + readFileSync(config, 'utf8'), /h1dden/);
    });

    it('writes a service that starts in production mode, opens a door, and verifies a phone by a call', async () => {
        const done = await setup(answers(store()), '--force');
        assert.equal(done.status, 0, done.stdout + done.stderr);
        for (const line of [/^kept +.*master\.key$/m, /^ok +mail: /m, /^ok +trunk: /m, /^warning +name: localhost is .* here: no other machine/m, /^warning +certificate: is self-signed/m,
            /^ +porterod serve --config /m, /^ +porterod admin account add ada@example\.com --config /m, /^ +porterod admin number add 4711 --account ada@example\.com --config /m]) assert.match(done.stdout, line);
        const mode = (name) => (statSync(join(directory, name)).mode & 0o777).toString(8);
        assert.deepEqual(['portero.conf', 'master.key', 'tls.key'].map(mode), ['640', '600', '600']);
        assert.match(readFileSync(path(), 'utf8'), /^mode = production$/m);

        if (engine === 'postgresql') {
            assert.match(done.stdout, /^ok +store: PostgreSQL \d+, database e2e_/m);
            assert.match(done.stdout, /^ +(runuser -u portero -- )?porterod migrate --config /m);
            const migrated = portero(['migrate', '--config', path()]);
            assert.equal(migrated.status, 0, migrated.stderr);
        }
        const daemon = new Daemon({ directory, args: ['--http', '127.0.0.1:0'] });
        daemon.writeConfig = () => {};
        const w = { daemon, client: new Client(daemon) };
        try {
            await daemon.start();
            const email = EMAIL;
            ok(await w.client.post('/v1/auth/otp', { email: 'stranger@example.com' }));
            assert.equal(admin(w, 'account', 'add', email).status, 0);
            const { challenge } = ok(await w.client.post('/v1/auth/otp', { email }));
            const { mail } = await eventually(() => relay.mails.find(({ to }) => to.includes(email)), 'a mail');
            const [otp] = /^\d{6}/.exec(mail.subject);
            const client = w.client.as(ok(await w.client.post('/v1/auth/verify', { email, purpose: 'web', challenge, otp })).apiKey);
            assert.equal(admin(w, 'number', 'add', '4711', '--account', email).status, 0);
            const home = await eventually(async () => {
                const [found] = ok(await client.get('/v1/buildings')).data;
                return found.provisioned && found;
            }, 'a number');
            assert.equal(home.virtual_number, '4711');

            assert.deepEqual(relay.mails.flatMap(({ to }) => to), [email], 'none to a stranger');

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

            const check = () => portero(['setup', '--check', '--user', userInfo().username, '--config', path()]).stdout;
            const status = () => JSON.parse(admin(w, 'status', '--json').stdout);
            const { fingerprint256 } = new X509Certificate(readFileSync(join(directory, 'tls.pem')));
            assert.deepEqual([status().to_apply, status().certificate_sha256, status().certificate_file], [[], fingerprint256, join(directory, 'tls.pem')]);
            assert.match(check(), /^ok +service: runs with the configuration/m);
            const loaded = readFileSync(path(), 'utf8');
            writeFileSync(path(), `# a comment\n${loaded}`);
            assert.deepEqual(status().to_apply, [], 'a comment changes nothing');
            const again = await setup({ callers: '127.0.0.1, 10.0.0.9' });
            assert.match(again.stdout, /^warning +service: .*portero\.conf, or a secret that it names, has changed .*: restart to apply$/m);
            assert.match(again.stdout, /^Next, end the running service, and start it again/m);
            assert.match(again.stdout, /^ +(runuser -u \S+ -- )?porterod serve --config /m);
            daemon.process.kill('SIGHUP');
            assert.ok(await daemon.logged(/reload configuration=kept advice="it has changed: restart to apply"/));
            assert.match(check(), /^warning +service: .*restart to apply$/m);
            writeFileSync(path(), loaded);
            assert.match((await setup({})).stdout, /^kept .*portero\.conf$/m);
            assert.deepEqual(status().to_apply, []);
        } finally {
            w.client.close();
            await daemon.stop();
        }
    });
});
