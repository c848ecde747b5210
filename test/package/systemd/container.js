// The systemd that test/package/systemd/boot has started, for the tests of the package's units.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { basename, join } from 'node:path';
import { build, read, run, top } from '../lib.js';

export const LIMIT_MS = 180_000; // systemd itself waits for up to 90 s
export const CONF = '/etc/portero/portero.conf';
export const DATA = '/var/lib/portero';
export const CREDENTIAL = 'portero.secrets.master_key';
/** The block of operations.md with this language and this line. */
export const printed = (language, line) => [...read('docs/operations.md').matchAll(new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\`$`, 'gm'))]
    .map(([, text]) => text).find((text) => text.includes(line));
export const CONFIG = `
mode = sandbox
data_dir = "${DATA}"
${printed('conf', CREDENTIAL)}
greetings {
    welcome = ""
    granted = ""
    denied = "No."
    forwarding = ""
}
voice {
    tone_ms = 80
    tone_gap_ms = 80
}
limits {
    requests_active = 1000000
    requests_free = 1000000
}
`;

/** A command in the container: {status, stdout, stderr}. */
export function attempt(args, input) {
    const done = spawnSync('nsenter', ['--target', process.env.PORTERO_SYSTEMD, '--mount', '--uts', '--ipc', '--pid', '--cgroup', '--', ...args],
        { encoding: 'utf8', input, timeout: LIMIT_MS, env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C.UTF-8', DEBIAN_FRONTEND: 'noninteractive' } });
    if (done.error) throw done.error;
    return done;
}

/** Runs a command in the container, which must succeed: its output. */
export function inside(args, input) {
    const { status, stdout, stderr } = attempt(args, input);
    assert.equal(status, 0, `${args.join(' ')}: exit ${status}\n${stdout}${stderr}`);
    return stdout.trim();
}

export const systemctl = (...args) => inside(['systemctl', ...args]);
export const show = (unit, property) => systemctl('show', '--value', '-p', property, unit);
export const put = (path, text, mode = '644') => inside(['sh', '-c', 'mkdir -p "${1%/*}" && cat >"$1" && chmod "$2" "$1"', 'sh', path, mode], text);
export const state = (unit) => show(unit, 'ActiveState');
export const pid = () => Number(show('portero', 'MainPID'));
export const journal = (unit) => inside(['journalctl', '--no-pager', '-o', 'cat', '-u', unit]);

/** Adds settings to a unit until the end of the test. */
export function dropIn(t, unit, text) {
    const path = `/run/systemd/system/${unit}.d/test.conf`;
    const remove = () => { inside(['rm', '-f', path]); systemctl('daemon-reload'); };
    put(path, text);
    systemctl('daemon-reload');
    t.after(remove);
}

/** The status of GET /v1/health over a new connection, or the name of the error. */
export function health(port, host = '127.0.0.1') {
    return new Promise((done) => {
        const agent = new Agent({ keepAlive: false, rejectUnauthorized: false });
        const sent = request({ agent, host, port, path: '/v1/health', timeout: LIMIT_MS }, (answer) => {
            answer.resume().on('end', () => done(answer.statusCode)).on('error', (error) => done(error.code));
        });
        sent.on('error', (error) => done(error.code)).on('timeout', () => sent.destroy(new Error('timed out')));
        sent.end();
    });
}

export const PACKAGES = ['/srv/porterod.deb', '/srv/portero.deb'];
/** Makes the packages of the build, and puts them into the container. */
export function makePackages() {
    run(join(top, 'scripts/deb'), ['--from', build]);
    const debs = readdirSync(join(build, 'deb'));
    for (const path of PACKAGES) put(path, readFileSync(join(build, 'deb', debs.find((file) => file.startsWith(`${basename(path, '.deb')}_`) && file.endsWith('.deb')))));
}
export const install = () => inside(['dpkg', '--install', ...PACKAGES]);
