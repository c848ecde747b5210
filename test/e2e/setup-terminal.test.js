// engine: sqlite, because no service runs
// `porterod setup` at a terminal: wrong answers, changes of a configuration, ends before its end.
import { describe, it, before, after, afterEach } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { binary, temporaryDirectory } from './lib/daemon.js';
import { freePort } from './lib/port.js';
import { END_OF_INPUT, INTERRUPT, Terminal } from './lib/terminal.js';

const HOST = 'door.home.arpa';
const root = userInfo().uid === 0;

describe('porterod setup at a terminal', () => {
    let directory;
    let https;
    const file = (...names) => join(directory, ...names);
    let terminal;

    /** A certificate and its key, NAME.pem and NAME.key, that every user can read. */
    function certificate(name, host, ...options) {
        const made = spawnSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-subj', `/CN=${host}`,
            '-addext', `subjectAltName=DNS:${host}`, '-keyout', file(`${name}.key`), '-out', file(`${name}.pem`), ...options], { encoding: 'utf8' });
        assert.equal(made.status, 0, made.stderr);
        chmodSync(file(`${name}.key`), 0o644);
    }

    before(async () => {
        directory = temporaryDirectory();
        chmodSync(directory, 0o755);
        https = await freePort();
        certificate('good', HOST, '-days', '30');
        certificate('other', 'elsewhere.home.arpa', '-days', '30');
        certificate('secret', HOST, '-days', '30');
        chmodSync(file('secret.pem'), root ? 0o600 : 0);
        writeFileSync(file('openssl.cnf'), '[ca]\ndefault_ca = a\n[a]\ndatabase = index\nserial = serial\nnew_certs_dir = .\ndefault_md = sha256\npolicy = p\n[p]\ncommonName = supplied\n[v]\n'
            + `subjectAltName = DNS:${HOST}\n`);
        writeFileSync(file('index'), '');
        const expired = spawnSync('sh', ['-c', `openssl req -new -key good.key -subj /CN=${HOST} -out expired.csr && openssl ca -batch -config openssl.cnf -extensions v \
            -selfsign -keyfile good.key -in expired.csr -create_serial -startdate 20200101000000Z -enddate 20210101000000Z -out expired.pem`], { cwd: directory, encoding: 'utf8' });
        assert.equal(expired.status, 0, expired.stderr);
    });
    afterEach(() => terminal?.kill());
    after(() => rmSync(directory, { recursive: true, force: true }));

    /** Starts it for the configuration NAME/portero.conf; the files are another user's if this is root. */
    function start(name, ...options) {
        const user = root ? ['--user', 'nobody'] : [];
        terminal = new Terminal([binary, 'setup', '--config', file(name, 'portero.conf'), ...user, ...options].join(' '));
        return terminal;
    }

    /** Answers all questions by their first words; '' to questions that are not in `given`. */
    async function answerAll(given = {}) {
        const questions = ['Address of the website', 'Address and port for calls', 'TLS certificate', ...(given.key === undefined ? [] : ['PEM file of its private key']), 'Mail server',
            'User at the mail server', 'Sender of e-mail', 'IP addresses of the call boxes', 'E-mail addresses of the residents', 'Numbers or extensions', 'SIP server of the PBX',
            ...(/^[^-]/.test(given['SIP server of the PBX'] ?? '') ? ['User at that server', 'Prefixes of the telephone numbers'] : []), 'Database'];
        for (const question of questions) await terminal.answer(question, given[question] ?? '');
    }

    const url = () => `https://${HOST}:${https}`;

    // SERVICE-37
    it('refuses every wrong answer at its question, with the rule, and asks again', async () => {
        const long = `https://${'a'.repeat(1100)}`;
        start('wrong', '--data', file('wrong-data'));
        for (const [question, wrong, right] of [
            ['Address of the website', [
                ['http://door.home:8443', /public_url must begin with https: in production/],
                ['https://:8443', /public_url must be a URL with a host/], ['https://door.home:99999', /public_url must be a URL/], ['door.home', /public_url must be a URL/],
                ['https://me@door.home', /public_url must be a URL/], ['-', /public_url must begin with https/], [long, /public_url must be at most 1000 bytes long/],
                ['https://door\x01.home', /public_url must be UTF-8 without control characters/], ['https://door\0.home', /public_url must be UTF-8 without control/],
                [Buffer.from([0x68, 0xff, 0xfe]), /public_url must be UTF-8/], ['https://döör.home', /public_url must be a URL/],
            ], url()],
            ['Address and port for calls', [
                ['0.0.0.0', /sip must be ADDRESS:PORT/], ['0.0.0.0:99999', /sip must be ADDRESS:PORT/], ['localhost:5060', /sip must be ADDRESS:PORT/], ['::1:5060', /sip must be ADDRESS:PORT/],
                ['203.0.113.9:5060', /sip: cannot listen on 203\.0\.113\.9:5060/], [`0.0.0.0:${https}`, /sip is the same address as listen\.https/],
            ], '127.0.0.1:0'],
            ['TLS certificate', [
                ['/nowhere/tls.pem', /certificate: \/nowhere\/tls\.pem: No such file/], [file('good.key'), /certificate: .*good\.key: /], [directory, /certificate: /],
                [file('secret.pem'), /certificate: .*secret\.pem: .*Permission denied/], [file('expired.pem'), /certificate: .*expired\.pem: has expired: renew it/],
                [file('other.pem'), /certificate: .*other\.pem: is not for door\.home\.arpa: get one for this name/], ['selfsigned', /certificate: selfsigned: No such file/],
            ], file('good.pem')],
            ['PEM file of its private key', [
                ['', /key must not be empty/], ['/nowhere/tls.key', /key: \/nowhere\/tls\.key: No such file/], [file('other.key'), /key: .*other\.key: .*mismatch/],
                [file('good.pem'), /tls\.certificate: .*good\.pem: /],
            ], file('good.key')],
            ['Mail server', [
                ['https://mail.home', /mail_url must be a URL with a host and one of the schemes smtp, smtps/], ['smtp:/mail', /mail_url must be a URL/], ['smtp://', /mail_url must be a URL/],
                ['mail.home', /mail_url must be a URL/], ['smtp://mail.home:99999', /mail_url must be a URL/], ['-', /mail_url is required/],
            ], 'smtp://127.0.0.1:1'],
            ['User at the mail server', [['a\x02b', /mail_user must be UTF-8 without control/], ['x'.repeat(1001), /mail_user must be at most 1000 bytes/]], 'me'],
            ['Password at the mail server', [['', /mail_password must not be empty/], ['env:NO_SUCH_VARIABLE', /mail_password: environment variable NO_SUCH_VARIABLE is not set/],
                ['file:/nowhere/x', /mail_password: \/nowhere\/x: No such file/], ['cred:../x', /mail_password: cred:NAME must/]], 'pass"w\\ord$'],
            ['Sender of e-mail', [['smtp:/mail', /mail_from must be like Portero <portero@example\.com>/], ['Portero', /mail_from must be like/], ['Portero <portero>', /mail_from must be like/]], '"Door, Home" <door@home.arpa>'],
            ['IP addresses of the call boxes', [['the box', /callers must be a list of CIDR blocks/], ['10.0.0.0/33', /callers must be/], ['10.0.0.1 10.0.0.2', /callers must be/], ['10.0.0.1"}', /callers must be/]], '10.0.0.1, 10.0.1.0/24'],
            ['E-mail addresses of the residents', [['ada', /residents must be e-mail addresses/], ['ada@example.com; bob@example.com', /residents must be/], ['ada@example.com,', /residents must be/]], 'ada@example.com, bob@example.com'],
            ['Numbers or extensions', [['4711, x', /numbers must be like/], ['1', /numbers must be like/], ['+0123456', /numbers must be like/], ['4711;4712', /numbers must be like/], ['4711,', /numbers must be like/]], '4711, +15550100000'],
            ['SIP server of the PBX', [['192.168.7.3:99999', /pbx must be a host name or an address/], ['sip:192.168.7.3', /pbx must be/], ['a b', /pbx must be/]], '127.0.0.1:1'],
            ['User at that server', [['a\x1bb', /pbx_user must be UTF-8/]], 'door'],
            ['Password at that server', [['', /pbx_password must not be empty/]], 'h1dden'],
            ['Prefixes of the telephone numbers', [['1', /destinations must be a list of prefixes, like \+1 or !\+1900/], ['+1 +44', /destinations must be/], ['+1x', /destinations must be/], ['+1234567890123456', /destinations must be/]], '+1, !+1900'],
            ['Database', [['mysql', /store_dsn is not a valid libpq connection string/], ['host=localhost dbnam=x', /store_dsn is not a valid libpq/], ['-', /store_dsn is required/]], 'sqlite'],
        ]) {
            let before;
            for (const [answer, rule] of wrong) {
                const text = await terminal.answer(question, answer);
                if (before) assert.match(text, before);
                before = new RegExp(`portero: ${rule.source}`);
            }
            const text = await terminal.answer(question, right);
            assert.match(text, before);
        }
        const shown = await terminal.see(/^written .*portero\.conf$/m);
        assert.doesNotMatch(terminal.shown, /h1dden|pass"w/);
        assert.ok(shown);
        assert.equal(await terminal.end(), 1, 'neither the mail server nor the PBX answers');
        const text = readFileSync(file('wrong', 'portero.conf'), 'utf8');
        for (const line of [`public_url = "${url()}"`, 'from = "\\"Door, Home\\" <door@home.arpa>"', 'peers = {"10.0.0.1", "10.0.1.0/24"}', 'destinations = {"+1", "!+1900"}', 'register = true', 'provider = call']) assert.ok(text.includes(line), text);
        assert.equal(readFileSync(file('wrong', 'mail_password'), 'utf8'), 'pass"w\\ord$');
    });

    it('leaves nothing behind when the input ends, or at Ctrl-C', async () => {
        for (const [key, status] of [[END_OF_INPUT, 2], [INTERRUPT, 130]]) {
            for (const questions of [0, 4, 9]) {
                start('nothing', '--data', file('nothing-data'));
                const all = ['Address of the website', 'Address and port for calls', 'TLS certificate', 'Mail server', 'User at the mail server', 'Sender of e-mail', 'IP addresses of the call boxes',
                    'E-mail addresses of the residents', 'Numbers or extensions', 'SIP server of the PBX', 'Database'];
                for (const question of all.slice(0, questions)) await terminal.answer(question, question.startsWith('Address of') ? url() : question.startsWith('Address and') ? '127.0.0.1:0' : '');
                await terminal.see(new RegExp(`${all[questions]}[^\\n]*: $`));
                terminal.type(key);
                assert.equal(await terminal.ended, status, terminal.shown);
                if (key === END_OF_INPUT) assert.match(terminal.shown, /the input ended before the last question; nothing was written/);
                assert.deepEqual([file('nothing'), file('nothing-data')].filter((path) => existsSync(path)), []);
            }
        }
    });

    it('shows what is typed again after Ctrl-C at a password', async () => {
        const user = root ? '--user nobody' : '';
        terminal = new Terminal(`sh -c '${binary} setup --config ${file('echo', 'portero.conf')} ${user} --data ${file('echo-data')}; stty -a'`);
        terminal.process.stdin.setDefaultEncoding('utf8');
        const given = { 'Address of the website': url(), 'Address and port for calls': '127.0.0.1:0', 'User at the mail server': 'me' };
        for (const question of ['Address of the website', 'Address and port for calls', 'TLS certificate', 'Mail server', 'User at the mail server']) await terminal.answer(question, given[question] ?? '');
        await terminal.see(/Password at the mail server: $/);
        spawnSync('sh', ['-c', `for p in $(pgrep -f ${file('echo', 'portero.conf')}); do [ "$(cat /proc/$p/comm)" = porterod ] && kill -INT $p; done`]);
        await terminal.see(/\becho\b/);
        assert.doesNotMatch(terminal.shown, /-echo\b/);
        assert.ok(!existsSync(file('echo')));
    });

    // SERVICE-37
    it('keeps the answers when something fails at the end, and tries again', async () => {
        start('late', '--data', file('late-data'));
        writeFileSync(file('late'), ''); // in place of the directory
        await answerAll({ 'Address of the website': url(), 'Address and port for calls': '127.0.0.1:0' });
        await terminal.see(/portero: .*Not a directory\nAll is as before\..*: $/s);
        assert.ok(!existsSync(file('late-data')));
        rmSync(file('late'));
        terminal.type('\r');
        await terminal.see(/^written .*portero\.conf$/m);
        await terminal.end();
        assert.deepEqual(readdirSync(file('late')).sort(), ['master.key', 'portero.conf', 'tls.key', 'tls.pem']);
    });

    // SERVICE-37
    it('changes a configuration: Enter keeps everything, an answer changes only its keys', async () => {
        start('again', '--data', file('again-data'));
        await answerAll({ 'Address of the website': url(), 'Address and port for calls': '127.0.0.1:0', 'IP addresses of the call boxes': '10.0.0.1' });
        await terminal.see(/^written .*portero\.conf$/m);
        await terminal.end();
        const path = file('again', 'portero.conf');
        const own = readFileSync(path, 'utf8')
            .replace('voice {', 'voice {\n    # the lift\n    peer lift { addresses = {"10.0.0.9"} calls = 2 }\n    any_events = true # for the old box')
            .replace('listen {', 'listen {\n    metrics = "127.0.0.1:9464"')
            .replace('activity_days = 400', 'activity_days = 7 /* the tenants wish it */');
        assert.match(own, /the tenants wish it/);
        writeFileSync(path, own);

        start('again');
        const intro = await terminal.see(/Address of the website[^\n]*: $/);
        assert.match(intro, new RegExp(`This changes .*portero\\.conf\\. Enter keeps.*\\[${url()}\\]: $`, 's'));
        terminal.read = 0;
        await answerAll();
        await terminal.see(/^kept .*portero\.conf$/m);
        await terminal.end();
        assert.equal(readFileSync(path, 'utf8'), own);
        assert.ok(!existsSync(`${path}.old`));

        start('again');
        await answerAll({ 'SIP server of the PBX': '127.0.0.1:1' });
        await terminal.see(/^written .*portero\.conf$/m);
        await terminal.end();
        assert.equal(readFileSync(path, 'utf8'), own
            .replace(/(voice \{.*?)\n\}/s, '$1\n    peer pbx {\n        server = "127.0.0.1:1"\n    }\n}')
            .replace('provider = none\n}\n\nretention', 'provider = call\n}\n\nretention'));
        assert.equal(readFileSync(`${path}.old`, 'utf8'), own);

        start('again');
        await answerAll({ 'SIP server of the PBX': '-' });
        await terminal.see(/^written .*portero\.conf$/m);
        await terminal.end();
        assert.equal(readFileSync(path, 'utf8'), own);
    });

    it('refuses before the first question if root has no user to give the files to, or the configuration has errors', async () => {
        mkdirSync(file('broken'));
        writeFileSync(file('broken', 'portero.conf'), 'mode = production\nlisten { sip = nowhere }\n');
        for (const [name, user, complaint] of [['user', 'no-such-user', /user no-such-user, whom the service runs as, does not exist; make it with `(systemd-sysusers|useradd .*)`/],
            ['broken', userInfo().username, /portero\.conf:2: listen\.sip must be.*\n.*repair .* first; --force replaces it/s]]) {
            terminal = new Terminal([binary, 'setup', '--config', file(name, 'portero.conf'), '--user', user].join(' '));
            assert.equal(await terminal.ended, 2);
            assert.match(terminal.shown, complaint);
            assert.doesNotMatch(terminal.shown, /Address of the website/);
        }
        assert.ok(!existsSync(file('user')));
    });
});
