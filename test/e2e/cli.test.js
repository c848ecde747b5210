// The commands. Errors are lines on standard error that begin with "portero: "; exit status 0: done, 1: failed, 2: wrong usage.
import { describe, it, after } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ok, refused } from './lib/client.js';
import { binary, Daemon, portero, root, temporaryDirectory } from './lib/daemon.js';
import { building, eventually, provisioned, resident, setSubscription, signIn, useWorld, visit } from './lib/world.js';

const COMMANDS = ['serve', 'buzz', 'phone', 'openapi', 'check-config', 'migrate', 'admin', 'rekey', 'health', 'backup', 'restore', 'check-store', 'login', 'logout', 'listen', 'mcp', 'unlock', 'log', 'webhook'];

function complains(done, status = 2) {
    assert.equal(done.status, status, `exit ${done.status}: ${done.stderr}`);
    assert.equal(done.stdout, '');
    assert.match(done.stderr, /^(portero: [^\n]+\n)+$/);
    return done.stderr;
}

describe('commands', () => {
    it('tell the version', () => {
        const done = portero(['--version']);
        assert.equal(done.status, 0);
        assert.match(done.stdout, /^portero \d+\.\d+\.\d+\n$/);
        assert.equal(done.stderr, '');
    });

    it('are listed by help, and each explains itself', () => {
        for (const args of [['help'], ['--help'], ['-h']]) {
            const done = portero(args);
            assert.equal(done.status, 0);
            for (const command of COMMANDS) assert.ok(done.stdout.includes(command), command);
        }
        for (const command of COMMANDS) {
            const done = portero(['help', command]);
            assert.equal(done.status, 0);
            assert.match(done.stdout, /--/);
            for (const asked of ['--help', '-h']) assert.equal(portero([command, asked]).stdout, done.stdout);
        }
    });

    it('have verbs that explain themselves', () => {
        const verb = portero(['help', 'admin', 'key', 'create']);
        assert.equal(verb.status, 0);
        assert.match(verb.stdout, /^Usage: portero admin key create /);
        assert.equal(portero(['admin', 'key', 'create', '--help']).stdout, verb.stdout);
        for (const args of [['help', 'admin', 'key'], ['admin', 'key', '--help']]) assert.match(portero(args).stdout, /key create /);
        for (const line of portero(['help', 'admin']).stdout.matchAll(/^ {2}([a-z]+) ([a-z]+) /gm)) {
            assert.equal(portero(['help', 'admin', line[1], line[2]]).status, 0, line[0]);
        }
        assert.equal(portero(['help', 'help']).stdout, portero(['help']).stdout);
    });

    it('refuse unknown options and arguments', () => {
        complains(portero(['help', 'serve', 'extra']));
        complains(portero(['help', 'admin', 'key', 'create', 'extra']));
        complains(portero(['help', 'admin', 'door', 'open']));
        complains(portero([]));
        complains(portero(['dance']));
        complains(portero(['help', 'dance']));
        complains(portero(['help', 'admin', 'dance']));
        complains(portero(['admin', 'dance', '--help']));
        for (const command of COMMANDS) assert.ok(complains(portero([command, '--colour=red'])).includes('colour'), command);
        complains(portero(['check-config', '--config']));
        complains(portero(['admin', 'door', 'open']));
        complains(portero(['admin']));
        complains(portero(['openapi', 'extra']));
    });

    /* CLI-28 */
    it('of the service are run by porterod: next to portero, behind a link, or in PATH', () => {
        const directory = temporaryDirectory(), both = join(directory, 'both'), alone = join(directory, 'alone');
        for (const path of [both, alone]) mkdirSync(path);
        for (const name of ['portero', 'porterod']) symlinkSync(join(dirname(binary), name), join(both, name));
        copyFileSync(binary, join(alone, 'portero'));
        const run = (path, PATH, args = ['help', 'serve']) => {
            const done = spawnSync(path, args, { env: { PATH }, encoding: 'utf8', argv0: path });
            assert.equal(done.error, undefined);
            return done;
        };
        const helped = portero(['help', 'serve']).stdout;
        assert.match(helped, /^Usage: portero serve /);
        for (const [path, PATH] of [[join(both, 'portero'), '/nowhere'], [join(alone, 'portero'), both], ['portero', both]]) assert.equal(run(path, PATH).stdout, helped, path);
        for (const args of [['serve'], ['help', 'serve'], ['admin', 'status']]) {
            const lacking = complains(run(join(alone, 'portero'), alone, args), 1);
            assert.equal(lacking, `portero: ${args.at(-1) === 'status' ? 'admin' : 'serve'} is a command of the service: the program porterod is not installed; it is in the package of this name\n`);
        }
        assert.equal(run(join(both, 'porterod'), '/nowhere', ['dance']).stderr, 'porterod: unknown command: dance; see `porterod help`\n');
        assert.match(run(join(both, 'porterod'), '/nowhere', ['--version']).stdout, /^porterod \d+\.\d+\.\d+\n$/);
        rmSync(directory, { recursive: true });
    });

    it('fail when their output cannot be written', () => {
        const done = portero(['openapi'], { wrap: ['sh', '-c', 'exec "$@" >/dev/full', 'sh'] });
        assert.equal(done.status, 1);
    });
});

describe('check-config', () => {
    const directory = temporaryDirectory();
    const path = join(directory, 'portero.conf');
    after(() => rmSync(directory, { recursive: true, force: true }));

    const check = (text, env) => {
        writeFileSync(path, text);
        return portero(['check-config', '--config', path], { env });
    };

    it('accepts the shipped sample, an empty file and every default', () => {
        copyFileSync(join(root, 'portero.conf'), path);
        assert.equal(portero(['check-config', '--config', path]).status, 0);
        assert.equal(check('').status, 0);
        assert.equal(check('mode = sandbox\nlimits {\n    otp_per_ip = 5\n}\ntrusted_proxies = {"10.0.0.0/8", "::1"}\n').status, 0);
    });

    const wrong = {
        'an unknown key': ['mode = sandbox\ncolour = red\n', 2],
        'an unknown key in a section': ['limits {\n    otp_per_ip = 5\n    colour = 1\n}\n', 3],
        'an unknown section': ['\n\ndoors {\n}\n', 3],
        'a word for a number': ['limits {\n    otp_per_ip = many\n}\n', 2],
        'a number out of range': ['limits {\n    requests_free = 100\n    otp_per_ip = 0\n}\n', 3],
        'a number out of every range': ['limits {\n    otp_per_ip = 99999999999999999999\n}\n', 2],
        'an unknown mode': ['mode = party\n', 1],
        'an unknown engine': ['store {\n    engine = paper\n}\n', 2],
        'an address without a port': ['listen {\n    https = "127.0.0.1"\n}\n', 2],
        'a port out of range': ['listen {\n    http = "127.0.0.1:70000"\n}\n', 2],
        'a proxy that is no network': ['trusted_proxies = {"10.0.0.0/33"}\n', 1],
        'a log level that is none': ['log_level = loud\n', 1],
        'an unknown key behind comments': ['# one\n# two\n/* three\n*/\ncolour = red # four\n', 5],
        'a section that is never closed': ['# cut off\nlimits {\n    otp_per_ip = 5\n', 2],
        'a list that is given twice': ['trusted_proxies = {"10.0.0.0/8"}\ntrusted_proxies = {"::1"}\n', 2],
        'a stray word': ['mode = sandbox\nnonsense\n', 2],
    };
    for (const [name, [text, line]] of Object.entries(wrong)) {
        it(`names file and line of ${name}`, () => {
            const complaint = complains(check(text));
            const found = new RegExp(`${path.replace(/\./g, '\\.')}:(\\d+): `).exec(complaint);
            assert.ok(found, complaint);
            // A stray word is noticed where the next one should have been.
            assert.ok(Math.abs(Number(found[1]) - line) <= (name.includes('stray') ? 1 : 0), complaint);
        });
    }

    it('names the variable of the environment that is wrong', () => {
        for (const [name, value] of [['PORTERO_LIMITS_OTP_PER_IP', 'many'], ['PORTERO_LIMITS_OTP_PER_IP', '0'], ['PORTERO_MODE', 'party']]) {
            assert.ok(complains(check('', { [name]: value })).includes(name));
        }
    });

    // SERVICE-6
    it('refuses production without the settings that it requires', () => {
        complains(check('mode = production\n'));
    });

    it('refuses a file that is not there', () => {
        assert.ok(complains(portero(['check-config', '--config', join(directory, 'nowhere.conf')])).includes('nowhere.conf'));
    });

    // SERVICE-1
    it('reports all errors at once: in the file, in the environment, and in the files that they name', () => {
        const complaint = complains(check('colour = red\nlimits {\n    otp_per_ip = 0\n}\ntls {\n    certificate = "/nonexistent/a.pem"\n    key = "/nonexistent/b.pem"\n}\n'
            + 'mail {\n    provider = smtp\n    url = "smtp://127.0.0.1"\n    from = nobody\n}\n', { PORTERO_LIMTS_OTP_PER_IP: '1' }));
        assert.deepEqual(complaint.replaceAll(path, 'F').trimEnd().split('\n').map((line) => line.slice('portero: '.length)), [
            'F:1: no such option \'colour\'',
            'F:3: limits.otp_per_ip must be from 1 to 100000000',
            'environment: PORTERO_LIMTS_OTP_PER_IP is not a key; did you mean PORTERO_LIMITS_OTP_PER_IP?',
            'F:6: tls.certificate: /nonexistent/a.pem: No such file or directory',
            'F:12: mail.from must be like Portero <portero@example.com>',
        ]);
    });

    // A configuration of free ports, so that only the addition of a row can be wrong.
    const base = `data_dir = "${join(directory, 'data')}"\nlisten { https = "127.0.0.1:0" http = "127.0.0.1:0" sip = "127.0.0.1:0" }\n`;
    const smtp = (more) => `mail { provider = smtp url = "smtp://127.0.0.1" ${more} }`;
    const twilio = (more) => `numbers { provider = twilio } twilio { ${more} }`;
    const stripe = (more, price = 'price_1') => `billing { provider = stripe plan weekly { stripe_price = "${price}" } } stripe { ${more} }`;
    const sid = `AC${'0'.repeat(32)}`;
    /** The base with an existing directory of this mode, which may have a file. */
    function dataIn(name, mode, file) {
        const at = join(directory, name);
        mkdirSync(at);
        if (file) writeFileSync(join(at, file), '');
        chmodSync(at, mode);
        return base.replace(/^.*\n/, `data_dir = "${at}"\n`);
    }
    const refusals = {
        'an unknown variable': [base, /PORTERO_COLOUR/, { PORTERO_COLOUR: 'red' }],
        'a data directory that is a file': [base.replace(/^.*\n/, `data_dir = "${path}"\n`), /data_dir/],
        'a data directory whose parent is not there': [base.replace(/^.*\n/, 'data_dir = "/nonexistent/data"\n'), /data_dir/],
        'a data directory with files of another program': [dataIn('foreign', 0o755, 'other.conf'), /data_dir.*not yet used as a data directory/],
        'an empty data directory that is sticky, as /tmp is': [dataIn('sticky', 0o1777), /data_dir.*shared with all users/],
        'an empty data directory that all users may write': [dataIn('open', 0o777), /data_dir.*shared with all users/],
        'a used data directory that all users may write': [dataIn('used', 0o757, 'portero.db'), /data_dir.*shared with all users/],
        'a data directory too long for a socket': [base.replace(/^.*\n/, `data_dir = "${directory}/${'d'.repeat(100)}"\n`), /data_dir/],
        'a master key that is too short': [`${base}secrets { master_key = "abc" }`, /secrets\.master_key/],
        'a master key whose file is not there': [`${base}secrets { master_key = "file:/nonexistent/key" }`, /secrets\.master_key/],
        'a master key whose variable is not there': [`${base}secrets { master_key = "env:NONEXISTENT_KEY" }`, /secrets\.master_key/],
        'a certificate that is not there': [`${base}tls { certificate = "/nonexistent/a.pem" key = "/nonexistent/b.pem" }`, /tls\.certificate/],
        'a certificate that is none': [`${base}tls { certificate = "${path}" key = "${path}" }`, /tls\.certificate/],
        'a certificate without a key': [`${base}tls { certificate = "/nonexistent/a.pem" }`, /tls\.key/],
        'a key that is not the certificate\'s': [`${base}tls { certificate = "${join(directory, 'a.pem')}" key = "${join(directory, 'b.key')}" }`, /tls\.key: .*key values mismatch/],
        'an address given twice': [base.replaceAll('127.0.0.1:0', '127.0.0.1:49151'), /listen\.http is the same address as listen\.https/],
        'too few ports for the audio of call boxes and phones': [`${base}voice { calls = 20 rtp_port_low = 20000 rtp_port_high = 20060 }`, /voice\.rtp_port_high must be at least 80 above voice\.rtp_port_low: four for each call/],
        'no address to listen on': [base.replaceAll('127.0.0.1:0', ''), /listen\.https/],
        'a sender that is no address': [base + smtp('from = "not an address"'), /mail\.from/],
        'a mail password that is not there': [base + smtp('password = "env:NONEXISTENT_KEY"'), /mail\.password/],
        'mail authorities that are not there': [base + smtp('ca = "/nonexistent/ca.pem"'), /mail\.ca/],
        'an account of Twilio that is none': [base + twilio('account_sid = AC1 auth_token = t'), /twilio\.account_sid/],
        'a token of Twilio that is not there': [base + twilio(`account_sid = ${sid} auth_token = "file:/nonexistent/t"`), /twilio\.auth_token/],
        'no account of Twilio': [base + twilio(''), /twilio\.account_sid/],
        'no account of Stripe': [base + stripe(''), /stripe\.secret_key/],
        'a secret of Stripe that is not there': [base + stripe('secret_key = sk_1 webhook_secret = "env:NONEXISTENT_KEY"'), /stripe\.webhook_secret/],
        'a key of Stripe that is none': [base + stripe('secret_key = "a b" webhook_secret = whsec_1'), /stripe\.secret_key/],
        'a price of Stripe that is none': [base + stripe('secret_key = sk_1 webhook_secret = whsec_1', 'price/1'), /billing\.plan\.weekly\.stripe_price/],
        'no price of Stripe': [base + stripe('secret_key = sk_1 webhook_secret = whsec_1', ''), /billing\.plan\.weekly\.stripe_price/],
        'a connection string that is none': [`${base}store { engine = postgresql dsn = "host" }`, /store\.dsn/],
        'a connection string that is not there': [`${base}store { engine = postgresql dsn = "file:/nonexistent/dsn" }`, /store\.dsn/],
        'production with nothing else': [`mode = production\n${base}`, /public_url/],
    };
    for (const [name, [text, names, env]] of Object.entries(refusals)) {
        // SERVICE-1
        it(`refuses ${name} in the same words as the service, and both make nothing`, () => {
            for (const pair of ['a', 'b']) {
                if (name.includes('certificate\'s')) makeCertificate(pair);
            }
            const complaint = complains(check(text, env));
            assert.match(complaint, names);
            assert.equal(complains(portero(['serve', '--config', path], { env })), complaint);
            assert.ok(!existsSync(join(directory, 'data')));
        });
    }

    // The machine may get the address later, so a start with it ends with 1: exit-status.test.js.
    const later = {
        'an address that this machine does not have': [base.replace('127.0.0.1:0', '192.0.2.1:0'), /listen\.https: cannot listen on 192\.0\.2\.1:0: Cannot assign requested address/],
        'a SIP address that this machine does not have': [base.replace('sip = "127.0.0.1:0"', 'sip = "192.0.2.1:0"'), /listen\.sip: cannot listen on 192\.0\.2\.1:0: Cannot assign requested address/],
    };
    for (const [name, [text, names]] of Object.entries(later)) {
        it(`check-config refuses ${name}, and makes nothing`, () => {
            assert.match(complains(check(text)), names);
            assert.ok(!existsSync(join(directory, 'data')));
        });
    }

    it('leave the mode of a directory that they refuse', () => {
        assert.deepEqual(['foreign', 'sticky', 'open', 'used'].map((name) => (statSync(join(directory, name)).mode & 0o7777).toString(8)), ['755', '1777', '777', '757']);
    });

    function makeCertificate(name) {
        const made = spawnSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '1', '-subj', '/CN=localhost',
            '-keyout', join(directory, `${name}.key`), '-out', join(directory, `${name}.pem`)], { encoding: 'utf8' });
        assert.equal(made.status, 0, made.stderr);
    }

    it('finds credentials where systemd puts a service\'s', async () => {
        makeCertificate('credential');
        const files = join(directory, 'credentials');
        mkdirSync(files);
        copyFileSync(join(directory, 'credential.pem'), join(files, 'certificate'));
        copyFileSync(join(directory, 'credential.key'), join(files, 'key'));
        const config = { tls: { certificate: 'cred:certificate', key: 'cred:key' }, secrets: { master_key: 'cred:master' } };
        const text = 'tls { certificate = "cred:certificate" key = "cred:key" } secrets { master_key = "cred:master" }\n';
        const env = { CREDENTIALS_DIRECTORY: files };
        assert.match(complains(check(text, env)), /secrets\.master_key: .*credentials\/master: No such file or directory/);
        writeFileSync(join(files, 'master'), 'ab'.repeat(32) + '\n');
        assert.equal(check(text, env).status, 0);
        const daemon = await Daemon.start({ config, env });
        try {
            assert.ok(!existsSync(join(daemon.data, 'master.key')));
            assert.ok(!existsSync(join(daemon.data, 'tls.key')));
        } finally {
            await daemon.stop();
        }
    });

    it('is content while the service runs, on the ports it has', async () => {
        const daemon = new Daemon();
        try {
            await daemon.start();
            const text = `data_dir = "${join(directory, 'other')}"\nlisten { https = "127.0.0.1:${daemon.httpsPort}" sip = "${daemon.sip.replace('sip:', '')}" http = "" }\n`;
            assert.equal(check(text).status, 0);
        } finally {
            await daemon.stop();
        }
    });

    it('stops the service with the same errors, before it creates anything', () => {
        writeFileSync(path, 'colour = red\n');
        const data = join(directory, 'data');
        complains(portero(['serve', '--config', path, '--data', data]));
        assert.ok(!existsSync(data));
    });
});

describe('serve', () => {
    const directory = temporaryDirectory();
    const path = join(directory, 'portero.conf');
    const data = join(directory, 'data');
    after(() => rmSync(directory, { recursive: true, force: true }));

    const serve = (text, ...args) => {
        writeFileSync(path, text);
        return complains(portero(['serve', '--config', path, '--data', data, ...args]));
    };

    it('refuses wrong options by name, before it makes anything', () => {
        for (const option of ['--https', '--http', '--sip']) {
            for (const value of ['nonsense', '127.0.0.1', 'door.example.com:0', '127.0.0.1:70000']) {
                assert.ok(serve('', option, value).startsWith(`portero: ${option} must be ADDRESS:PORT`));
            }
        }
        assert.match(serve('', '--data', ''), /data_dir must not be empty/);
        assert.match(serve('', '--https', '', '--http', ''), /must not both be empty/);
        assert.ok(!existsSync(data));
    });

    it('names the key, the place and the reason of a secret that is not there', () => {
        assert.match(serve('secrets { master_key = "file:/nonexistent/key" }'), /secrets\.master_key: \/nonexistent\/key: No such file/);
        assert.match(serve('secrets { master_key = "env:NONEXISTENT_KEY" }'), /secrets\.master_key: .*NONEXISTENT_KEY/);
        assert.match(serve('store { engine = postgresql dsn = "file:/nonexistent/dsn" }'), /store\.dsn: \/nonexistent\/dsn: No such file/);
        assert.match(serve('mail { provider = smtp url = "smtp://127.0.0.1" password = "env:NONEXISTENT_KEY" }'), /mail\.password: .*NONEXISTENT_KEY/);
    });

    it('names the file of a certificate or key that does not load, and the reason', () => {
        const tls = (certificate, key) => serve(`store { engine = sqlite } tls { certificate = "${certificate}" key = "${key}" }`);
        assert.match(tls('/nonexistent/a.pem', path), /\/nonexistent\/a\.pem: No such file or directory/);
        assert.ok(tls(path, path).includes(`${path}: no start line`));
    });

    it('says in one line why PostgreSQL cannot be reached, without the password, and waits', async () => {
        const daemon = new Daemon({ config: { store: { engine: 'postgresql', dsn: 'host=/nonexistent password=hush' } } });
        try {
            daemon.spawn();
            assert.ok(await daemon.logged(/ warn waiting for store reason="[^"\n]*\/nonexistent[^"\n]*"\n/), daemon.stderr);
            assert.deepEqual(await daemon.terminate(), { code: 0, signal: null });
            assert.ok(!daemon.stderr.includes('hush'));
        } finally {
            await daemon.stop();
        }
    });

    // SERVICE-5
    it('leaves out a port that has no address', async () => {
        const daemon = new Daemon({ args: ['--https', '127.0.0.1:0', '--http', '', '--sip', ''] });
        try {
            daemon.spawn();
            await daemon.outcome(() => daemon.stdout.includes('\n'), 30_000);
            assert.match(daemon.stdout, /^ready https:\/\/127\.0\.0\.1:\d+\n$/, daemon.stderr);
        } finally {
            await daemon.stop();
        }
    });
});

describe('buzz', () => {
    it('refuses wrong options before it places a call', () => {
        const wrong = [[], ['--to', ''], ['--to', 'a b'], ['--to', '1', '--digits', '12x'], ['--to', '1', '--sip', 'nonsense'],
            ['--to', '1', '--sip', '127.0.0.1:0'], ['--to', '1', '--sip', ':5060'], ['--to', '1', '--sip', '::1:5060'], ['--to', '1', '--sip', '[::1]5060'], ['--to', '1', '--sip', '127.0.0.1:5060;transport=tls'],
            ['--to', '1', '--from', 'a\r\nX: b'], ['--to', '1'.repeat(65)], ['--to', '1', '--inband', '--info'], ['--to', '1', '--tone', '5']];
        for (const args of wrong) assert.match(complains(portero(['buzz', ...args])), /^portero: buzz: --/);
    });

    it('fails without a response', () => {
        complains(portero(['buzz', '--to', '1', '--sip', 'tcp:127.0.0.1:9', '--timeout', '5']), 1);
    });
});

describe('openapi', () => {
    // DOC-6
    it('prints two documents, with the address that is asked for', () => {
        const v1 = JSON.parse(portero(['openapi']).stdout);
        const sandbox = JSON.parse(portero(['openapi', '--sandbox']).stdout);
        assert.ok(v1.paths['/v1/unlock'] && !v1.paths['/sandbox/clock']);
        assert.ok(sandbox.paths['/sandbox/clock'] && !sandbox.paths['/v1/unlock']);
        for (const document of [v1, sandbox]) assert.match(document.openapi, /^3\.1\.\d+$/);
        const [named] = JSON.parse(portero(['openapi', '--url', 'https://door.example.com/']).stdout).servers;
        assert.equal(named.url, 'https://door.example.com');
        for (const wrong of ['', 'door.example.com', 'ftp://door.example.com', 'https://', 'https://a b']) complains(portero(['openapi', '--url', wrong]));
    });
});

describe('migrate', () => {
    // STORE-12
    it('makes the schema, and does nothing the second time', async () => {
        const daemon = new Daemon();
        try {
            daemon.writeConfig();
            const run = () => portero(['migrate', '--config', daemon.configPath, '--data', daemon.data, '--json']);
            const first = run();
            assert.equal(first.status, 0, first.stderr);
            const versions = JSON.parse(first.stdout);
            assert.equal(versions.version, versions.wanted);
            assert.deepEqual(JSON.parse(run().stdout), versions);
            await daemon.start();
        } finally {
            await daemon.stop();
        }
    });
});

describe('admin', () => {
    const w = useWorld();
    const { client } = w;

    const admin = (...args) => portero(['admin', ...args, '--config', w.daemon.configPath, '--data', w.daemon.data]);
    const json = (...args) => {
        const done = admin(...args, '--json');
        assert.equal(done.status, 0, done.stderr);
        return JSON.parse(done.stdout);
    };

    // KEY-22
    it('issues a key for a building, which works at once', async () => {
        const session = await signIn(client);
        const home = await building(session);
        const made = json('key', 'create', '--building', home.id, '--scopes', 'access:read,logs:read', '--name', 'Front desk', '--days', '7');
        assert.match(made.api_key, /^svc_agent_[0-9A-Za-z]{43}$/);
        assert.deepEqual([...made.scopes].sort(), ['access:read', 'logs:read']);
        const robot = client.as(made.api_key);
        assert.equal((await robot.get('/v1/unlock')).headers['x-service-building-id'], home.id);
        refused(await robot.get('/v1/account'), 403, 'INSUFFICIENT_SCOPE');
    });

    // KEY-23
    it('refuses an invalid building, scope or lifetime', async () => {
        const home = await building(await signIn(client));
        complains(admin('key', 'create', '--building', 'f0f0f0f0f0f0f0f0f0f0f0f0'), 1);
        complains(admin('key', 'create', '--building', home.id, '--scopes', 'nonsense'), 1);
        complains(admin('key', 'create', '--building', home.id, '--days', '0'));
        complains(admin('key', 'create', '--building', home.id, '--days', 'many'));
        complains(admin('key', 'create'), 1);
    });

    it('name an option that has to be given, in their usage and when it is missing', () => {
        for (const [verb, option] of [[['member', 'add'], '--building ID'], [['operation', 'resolve', 'ID'], '--outcome OUTCOME'],
            [['checkout', 'resolve', 'ID'], '--outcome OUTCOME']]) {
            const [noun, action] = verb;
            assert.match(portero(['help', 'admin', noun, action]).stdout, new RegExp(`^Usage: portero admin ${noun} ${action} ${option} `));
            assert.ok(complains(admin(...verb)).includes(option), verb);
        }
    });

    // SERVICE-30
    it('logs its change, the account and the outcome, and no secret', async () => {
        const home = await building(await signIn(client));
        const member = json('member', 'add', '--building', home.id, '--name', 'Kim Doe', '--email', 'kim@example.com');
        const key = json('key', 'create', '--member', member.id);
        complains(admin('delivery', 'replay', home.id), 1);
        complains(admin('operation', 'resolve', home.id, '--outcome', 'failed'), 1);
        json('member', 'remove', member.id);
        for (const line of [
            `operator operation=adminAddMember building=${home.id} member=${member.id} result=done `,
            `operator operation=adminCreateKey building=${home.id} key=${key.id} result=done `,
            `operator operation=adminReplayDelivery delivery=${home.id} result=NOT_FOUND `,
            `operator operation=adminResolveOperation id=${home.id} outcome=failed result=NOT_FOUND `,
            `operator operation=adminRemoveMember member=${member.id} result=done `,
        ]) assert.ok(await w.daemon.logged(new RegExp(`info ${line}request=req_[0-9a-f]{24}\n`)), line);
        assert.doesNotMatch(w.daemon.stderr, /Kim|kim@example|operation=adminList(?!Members|Calls)/);
    });

    // ACCOUNT-8
    it('adds a member once', async () => {
        const home = await building(await signIn(client));
        const add = (email) => ['member', 'add', '--building', home.id, '--name', 'Lou', '--email', email];
        json(...add('lou@example.com'));
        complains(admin(...add('LOU@example.com')), 1);
        assert.equal(json('member', 'list', '--building', home.id).data.length, 1);
    });

    it('does not take a mistyped account for one without checkouts or deliveries', async () => {
        const person = await resident(client);
        for (const noun of ['checkout', 'delivery']) {
            assert.deepEqual(json(noun, 'list', '--account', person.email), { data: [] });
            assert.match(complains(admin(noun, 'list', '--account', `x${person.email}`), 1), /ACCOUNT_NOT_FOUND/);
        }
    });

    it('adds a number, which a building that waits for one gets at once', async () => {
        const person = await signIn(client);
        ok(await client.post('/sandbox/faults', { provider: 'numbers', operation: 'acquire', fault: 'decline', count: 1000 }));
        await setSubscription(client, person.email);
        assert.equal((await building(person)).provisioned, false);
        json('number', 'add', '+15550180003');
        await eventually(async () => (await building(person)).virtual_number === '+15550180003', 'the number');
        ok(await client.post('/sandbox/faults', { provider: 'numbers', fault: 'none' }));
    });

    // BUILDING-30
    it('lists, adds and releases numbers', async () => {
        const session = await signIn(client);
        const home = await provisioned(session);
        const held = json('number', 'list').data.find((row) => row.number === home.virtual_number);
        assert.equal(held.building_id, home.id);
        assert.ok(admin('number', 'list').stdout.includes(home.virtual_number));
        json('number', 'add', '+15550180001');
        assert.ok(json('number', 'list').data.some((row) => row.number === '+15550180001' && !row.building_id));
        json('number', 'add', '+15550180001', '--country', 'us');
        complains(admin('number', 'add', '+15550180001', '--country', 'CA'), 1);
        complains(admin('number', 'add', home.virtual_number), 1);
        complains(admin('number', 'add', 'nonsense'), 1);
        json('number', 'release', home.virtual_number);
        assert.notEqual((await building(session)).virtual_number, home.virtual_number);
        assert.equal((await visit(client, { to: home.virtual_number })).outcome, 'rejected');
        complains(admin('number', 'release', '+15550180002'), 1);
    });

    it('shows an account', async () => {
        const person = await resident(client);
        const shown = json('account', 'show', person.email);
        assert.equal(shown.email, person.email);
        assert.ok(admin('account', 'show', person.email).stdout.includes(person.email));
        complains(admin('account', 'show', 'nobody@example.com'), 1);
    });

    it('says so when no service runs', () => {
        const directory = temporaryDirectory();
        try {
            mkdirSync(join(directory, 'data'));
            const done = portero(['admin', 'number', 'list', '--config', w.daemon.configPath, '--data', join(directory, 'data')]);
            assert.match(complains(done, 1), /the service is not running: nothing is listening on/);
        } finally {
            rmSync(directory, { recursive: true, force: true });
        }
    });

    it('says so when the socket cannot be opened', () => {
        const done = portero(['admin', 'number', 'list', '--config', w.daemon.configPath, '--data', w.daemon.configPath]);
        assert.match(complains(done, 1), /Not a directory/);
    });

    // SERVICE-29
    it('is reached through a socket that only its owner may open, and by no other way', async () => {
        refused(await client.get('/v1/admin/numbers'), 404, 'NOT_FOUND');
        for (const path of ['/admin/numbers', '/admin/accounts?email=a%40b.example', '/admin/members']) {
            const answer = await client.get(path);
            assert.equal(answer.status, 404, path);
        }
        for (const method of ['PUT', 'PATCH', 'OPTIONS']) refused(await client.request(method, '/admin/numbers'), 404, 'NOT_FOUND');
        const post = await client.post('/admin/keys', { building_id: 'f0f0f0f0f0f0f0f0f0f0f0f0' });
        assert.equal(post.status, 404);
        ok(await client.get('/v1/health'));
    });
});
