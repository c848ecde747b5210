// The package's units under a systemd that is process 1: make check-systemd. Each test goes on where the one before ended,
// as an operator would: installation, start, calls, copies, failures, upgrade, removal.
import { describe, it, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, ok } from '../../e2e/lib/client.js';
import { Baresip, buzz, sipp } from '../../e2e/lib/phone.js';
import { eventually, grant, resident } from '../../e2e/lib/world.js';
import { run, temporary, top } from '../lib.js';
import { attempt, CONF, CONFIG, CREDENTIAL, DATA, dropIn, health, inside, install, journal, LIMIT_MS, makePackages, PACKAGES, pid, printed, put, show, state, systemctl }
    from './container.js';

/** The commands that operations.md prints for this test. */
const COMMANDS = run(join(top, 'scripts/blocks'), ['docs/operations.md', 'systemd']).stdout.split('\n\n');
const dpkg = (...args) => inside(['dpkg', ...args]);

const untyped = new Set(COMMANDS);

/** Types the block with this line: its output. */
function type(line) {
    const block = COMMANDS.find((text) => text.includes(line));
    assert.ok(block, `no block has: ${line}`);
    untyped.delete(block);
    return inside(['bash', '--norc', '-euo', 'pipefail', '-c', block]);
}

describe('the units under systemd', () => {
    assert.ok(process.env.PORTERO_SYSTEMD, 'run this with test/package/systemd/boot');
    const work = temporary();
    const service = { https: 'https://127.0.0.1:8443', http: 'http://127.0.0.1:8080', sip: 'sip:127.0.0.1:5060' };
    const client = new Client(service);
    let person;
    before(makePackages);
    after(() => client.close());
    /** A call with the passcode must open the door. */
    const opens = async () => assert.equal((await buzz(service, person.number, '--digits', '1234')).tones, '9');

    it('are installed, and neither enabled nor started', () => {
        install();
        for (const unit of ['portero.service', 'portero.socket', 'portero-backup.timer']) {
            assert.equal(attempt(['systemctl', 'is-enabled', unit]).stdout, 'disabled\n', unit);
            assert.equal(state(unit), 'inactive', unit);
        }
        assert.equal(inside(['systemd-analyze', 'verify', 'portero.service', 'portero.socket', 'portero-backup.timer']), '');
    });

    it('do not start the service again and again when its configuration is wrong', async () => {
        const good = inside(['cat', CONF]);
        put(CONF, `${good}\nno_such_key = 1\n`);
        assert.notEqual(attempt(['systemctl', 'start', 'portero']).status, 0);
        assert.equal(state('portero'), 'failed');
        assert.equal(show('portero', 'NRestarts'), '0');
        assert.match(journal('portero'), /no_such_key/);
        put(CONF, good);
        systemctl('reset-failed', 'portero');
    });

    it('start the service, which says that it is ready, with a secret that is a credential', async () => {
        type(`/etc/credstore/${CREDENTIAL}`);
        assert.equal(inside(['stat', '-c', '%U %a', '/etc/credstore', `/etc/credstore/${CREDENTIAL}`]), 'root 700\nroot 600');
        put(CONF, CONFIG, '640');
        inside(['chgrp', 'portero', CONF]);
        systemctl('enable', '--now', 'portero');
        assert.equal(systemctl('is-enabled', 'portero'), 'enabled');
        assert.equal(state('portero'), 'active');
        assert.equal(show('portero', 'StatusText'), 'ready, calls 0');
        assert.equal(inside(['stat', '-c', '%U:%G %a', DATA]), 'portero:portero 700');
        assert.notEqual(attempt(['test', '-e', `${DATA}/master.key`]).status, 0, 'the service made a key of its own');
        assert.equal(inside(['porterod', 'health']).split('\n').length, 1);
        assert.equal(await health(8443), 200);
        assert.match(type('systemctl status portero'), /Status: "ready, calls 0"/);
    });

    it('let the service listen below 1024 with the capability', async (t) => {
        dropIn(t, 'portero.service', printed('ini', 'CAP_NET_BIND_SERVICE'));
        put(CONF, `${CONFIG}listen { https = "127.0.0.1:443" }\n`, '640');
        systemctl('restart', 'portero');
        assert.equal(await health(443), 200);
        put(CONF, CONFIG, '640');
        inside(['rm', '/run/systemd/system/portero.service.d/test.conf']);
        systemctl('daemon-reload');
        systemctl('restart', 'portero');
        assert.equal(await health(8443), 200);
    });

    it('hold the port of plain HTTP for a proxy', async () => {
        put('/etc/systemd/system/portero-http.socket', printed('ini', 'FileDescriptorName=http'));
        type('portero-http.socket');
        for (const unit of ['portero.service', 'portero-http.socket']) assert.equal(state(unit), 'active', unit);
        assert.equal(inside(['curl', '-s', '-o', '/dev/null', '-w', '%{http_code}', 'http://127.0.0.1:8080/v1/health']), '426'); // no proxy asks
        systemctl('disable', '--now', 'portero-http.socket');
        inside(['rm', '/etc/systemd/system/portero-http.socket']);
        systemctl('restart', 'portero');
    });

    it('serve behind the firewall', async () => {
        put('/etc/nftables.conf', printed('nft', 'policy drop'), '755');
        type('nft -c -f /etc/nftables.conf');
        assert.match(inside(['nft', 'list', 'ruleset']), /policy drop/);
        assert.equal(await health(8443), 200);
        systemctl('disable', '--now', 'nftables');
        assert.equal(inside(['nft', 'list', 'ruleset']), '');
    });

    it('give the service no privilege', () => {
        const status = Object.fromEntries(inside(['cat', `/proc/${pid()}/status`]).split('\n').map((line) => line.split(/:\s+/)));
        for (const set of ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb']) assert.match(status[set], /^0+$/, set);
        assert.equal(status.NoNewPrivs, '1');
        assert.equal(status.Seccomp, '2');
        for (const namespace of ['mnt', 'user', 'uts']) {
            assert.notEqual(inside(['readlink', `/proc/${pid()}/ns/${namespace}`]), inside(['readlink', `/proc/1/ns/${namespace}`]), namespace);
        }
    });

    for (const unit of ['portero', 'portero-backup']) {
        it(`refuse attacks from within ${unit}.service`, () => {
            const program = join(work, 'probe');
            run('cc', ['-O1', '-o', program, join(top, 'test/package/systemd/probe.c')]);
            put('/usr/local/bin/probe', readFileSync(program), '755');
            const text = inside(['cat', `/lib/systemd/system/${unit}.service`]).replace(/^ExecStart=.*/m, 'ExecStart=/usr/local/bin/probe\nStandardOutput=file:/run/probe')
                .replace(/^Type=.*/m, 'Type=oneshot').replaceAll(/^(Restart|WatchdogSec).*/gm, '');
            put('/run/systemd/system/probe.service', text);
            systemctl('daemon-reload');
            systemctl('start', 'probe');
            const got = Object.fromEntries(inside(['cat', '/run/probe']).split('\n').map((line) => line.split(': ')));
            const may = (attempts) => Object.fromEntries(attempts.map((name) => [name, 'done']));
            const allowed = may(['local socket', 'write /var/lib/portero/probe', 'write /tmp/probe',
                ...(unit === 'portero' ? ['internet socket', 'lower priority'] : [])]);
            assert.deepEqual(Object.fromEntries(Object.entries(got).filter(([, result]) => result === 'done')), allowed);
            assert.equal(Object.keys(got).length, 26);
            inside(['rm', '-f', '/run/probe', `${DATA}/probe`]);
        });
    }

    it('let a call with tones open a door', async () => {
        person = await resident(client);
        await grant(person, { type: 'passcode', access_code: '1234', label: 'Visitor' });
        await opens();
        await sipp(service, 'events', person.number, { keys: { digits: '1234' } });
    });

    it('reload the certificates without a restart', () => {
        const process = pid();
        systemctl('reload', 'portero');
        assert.equal(pid(), process);
        assert.equal(state('portero'), 'active');
    });

    it('copy the store every night', async (t) => {
        const copies = () => inside(['find', '/var/backups/portero', '-type', 'f', '-printf', '%f %u %m\\n']).split('\n').filter(Boolean);
        systemctl('start', 'portero-backup.service');
        assert.equal(copies().length, 1);
        assert.match(copies()[0], /^portero-\d{8}T\d{6}Z\.db portero 600$/);
        systemctl('enable', '--now', 'portero-backup.timer');
        assert.match(show('portero-backup.timer', 'NextElapseUSecRealtime'), / 03:(0\d|1[0-5]):\d\d /);
        dropIn(t, 'portero-backup.timer', '[Timer]\nOnCalendar=\nOnCalendar=*-*-* *:*:*\nRandomizedDelaySec=0\nAccuracySec=1us\n');
        systemctl('restart', 'portero-backup.timer');
        await eventually(() => copies().length > 1, 'a copy by the timer', LIMIT_MS);
        assert.equal(show('portero-backup.service', 'Result'), 'success');
    });

    it('start the service again after a crash, and when it hangs', async () => {
        for (const [signal, result] of [['KILL', /killed, status=9/], ['STOP', /Watchdog timeout/]]) {
            const process = pid();
            systemctl('kill', '--kill-whom=main', `--signal=${signal}`, 'portero');
            await eventually(() => state('portero') === 'active' && ![0, process].includes(pid()), `the start after ${signal}`, LIMIT_MS);
            assert.match(inside(['journalctl', '--no-pager', '-o', 'cat', '_PID=1']), result);
        }
        assert.equal(show('portero', 'NRestarts'), '2');
        await opens();
    });

    it('stop the service when its call has ended', async (t) => {
        const phone = await Baresip.start();
        t.after(() => phone.stop());
        const from = phone.events.length;
        phone.command('dial', `sip:${person.number}@127.0.0.1:5060;transport=udp`);
        await phone.event('CALL_ESTABLISHED', from);
        await eventually(() => show('portero', 'StatusText') === 'ready, calls 1', 'the status');
        systemctl('stop', '--no-block', 'portero');
        await eventually(() => /^(stopping|draining).* calls 1/.test(show('portero', 'StatusText')), 'the status of the stop');
        assert.equal(state('portero'), 'deactivating');
        phone.command('hangup');
        await eventually(() => state('portero') === 'inactive', 'the end', LIMIT_MS);
        assert.equal(show('portero', 'Result'), 'success');
        assert.equal(show('portero', 'ExecMainStatus'), '0');
    });

    it('hold the HTTPS port while the service restarts, and start it at the first connection', async () => {
        type('portero.socket');
        systemctl('stop', 'portero');
        assert.equal(state('portero'), 'inactive');
        assert.equal(await health(443), 200);
        assert.equal(state('portero'), 'active');
        const answers = new Map();
        let over = false;
        const clients = Array.from({ length: 4 }, async () => {
            while (!over) {
                const answer = await health(443);
                answers.set(answer, (answers.get(answer) ?? 0) + 1);
            }
        });
        const restarted = async (restart) => {
            const process = pid();
            restart();
            await eventually(() => ![0, process].includes(pid()), 'the new process', LIMIT_MS);
            const before = answers.get(200) ?? 0;
            await eventually(() => (answers.get(200) ?? 0) > before + 8, `answers: ${JSON.stringify([...answers])}`, LIMIT_MS);
        };
        try {
            await restarted(() => systemctl('restart', 'portero'));
            await restarted(install);
        } finally {
            over = true;
            await Promise.all(clients);
        }
        // The old process may close a connection that it has accepted before the request has come.
        answers.delete('ECONNRESET');
        assert.deepEqual([...answers.keys()], [200], JSON.stringify([...answers]));
    });

    it('go on after an upgrade of the package, with what was stored', async () => {
        for (const unit of ['portero.service', 'portero.socket', 'portero-backup.timer']) assert.equal(state(unit), 'active', unit);
        await opens();
    });

    it('keep the earlier process where the new program would not start; apt fails, and goes on when that is repaired', async () => {
        const process = pid(), right = `${inside(['cat', CONF])}\n`;
        put(CONF, `${right}nothing = 1\n`, '640');
        const failed = attempt(['dpkg', '--install', ...PACKAGES]);
        assert.notEqual(failed.status, 0);
        assert.match(failed.stderr, /nothing/);
        assert.match(failed.stderr, /the earlier one still runs\. Repair this, then: dpkg --configure porterod/);
        assert.equal(pid(), process);
        await opens();
        put(CONF, right, '640');
        dpkg('--configure', 'porterod');
        await eventually(() => state('portero') === 'active' && ![0, process].includes(pid()), 'the new process', LIMIT_MS);
        await opens();
    });

    it('are used by each command that the page has for this test', () => {
        assert.deepEqual([...untyped], []);
    });

    it('are stopped by a removal, which keeps the data', async () => {
        dpkg('--remove', 'porterod');
        for (const unit of ['portero.service', 'portero.socket', 'portero-backup.timer']) assert.notEqual(state(unit), 'active', unit);
        assert.equal(await health(443), 'ECONNREFUSED');
        inside(['test', '-e', `${DATA}/portero.db`]);
        dpkg('--purge', 'porterod');
        inside(['test', '-e', `${DATA}/portero.db`]);
        assert.equal(inside(['find', '/etc/systemd/system', '-name', 'portero*']), '');
        assert.equal(show('portero', 'LoadState'), 'not-found');
    });
});
