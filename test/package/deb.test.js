// The Debian package, made of the build that exists: its form, its files, its version. `make deb-twice` shows that two real
// builds are the same, `make fresh FRESH=install` that it can be installed, upgraded, removed and purged.
import { describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { binary, build, client, filesBelow, read, run, temporary, top } from './lib.js';

const changelog = (field) => run('dpkg-parsechangelog', ['-l', join(top, 'debian/changelog'), '-S', field]).stdout.trim();

const packagesOf = (section) => read('packaging/debian-packages.txt').split(`${section}\n`)[1].split('\n[')[0].split('\n').filter((line) => line && !line.startsWith('#'));

describe('a user without root', () => {
    it('reads which packages all commands of the README need, and which this one', () => {
        const nothing = temporary();
        for (const [name, text] of [['id', 'echo 1000'], ['sudo', 'exit 1'], ['dpkg-query', 'exit 1']]) writeFileSync(join(nothing, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
        const done = spawnSync(join(top, 'scripts/setup'), ['build'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], env: { PATH: `${nothing}:/usr/bin:/bin` } });
        assert.equal(done.status, 1);
        const [, all] = /apt-get install --no-install-recommends (.+)/.exec(done.stderr);
        const [, enough] = /these are enough: (.+)/.exec(done.stderr);
        for (const name of [...packagesOf('[build]'), 'build-essential', 'debhelper', 'libcmocka-dev', 'sip-tester']) assert.ok(all.split(' ').includes(name), name);
        for (const name of ['lintian', 'mandoc', 'fish', 'zsh', 'clang']) assert.ok(!all.split(' ').includes(name), name);
        assert.deepEqual(enough.split(' '), packagesOf('[build]'));
    });
});

describe('the version', () => {
    it('is the same in build.mk, the program, CHANGELOG.md and debian/changelog', () => {
        const version = /^VERSION := ([0-9.]+)$/m.exec(read('build.mk'))[1];
        assert.equal(run(client, ['--version']).stdout, `portero ${version}\n`);
        assert.equal(run(binary, ['--version']).stdout, `porterod ${version}\n`);
        assert.equal(changelog('Version'), version);
        const [, newest, date] = /^## \[(.+?)\](?: - (.+))?$/m.exec(read('CHANGELOG.md'));
        if (newest === 'Unreleased') {
            assert.equal(changelog('Distribution'), 'UNRELEASED');
        } else {
            assert.equal(newest, version);
            assert.notEqual(changelog('Distribution'), 'UNRELEASED');
            assert.equal(new Date(changelog('Date')).toISOString().slice(0, 10), date);
        }
    });
});

describe('the package', () => {
    run(join(top, 'scripts/deb'), ['--from', build]);
    const debs = readdirSync(join(build, 'deb')).filter((file) => file.endsWith('.deb')).map((file) => join(build, 'deb', file));
    const deb = debs.find((file) => !file.includes('dbgsym'));
    const contents = run('dpkg-deb', ['-c', deb]).stdout;

    it('has nothing that lintian reports as an error or a warning', () => {
        assert.equal(run('lintian', ['--allow-root', '--fail-on', 'error,warning', ...debs]).stdout, '');
    });

    it('has the files of an installation in the places of Debian', () => {
        for (const file of ['./usr/bin/portero', './usr/lib/sysusers.d/portero.conf', './usr/share/doc/portero/portero.conf',
            './usr/share/man/man5/portero.conf.5.gz', './usr/share/zsh/vendor-completions/_portero', './usr/share/doc/portero/CHANGELOG.md', './usr/share/doc/portero/docs/operations.md']) {
            assert.ok(contents.includes(` ${file}\n`), file);
        }
        assert.equal(contents.match(/ \.\/(usr\/)?lib\/systemd\/system\/portero\.service\n/g)?.length, 1);
        assert.doesNotMatch(contents, / \.\/usr\/(share\/zsh\/site-functions|local)/);
        assert.doesNotMatch(contents, / \.\/etc\//); // dpkg would ask about a file that `portero setup` writes
    });

    it('stops neither the socket nor the timer while it is upgraded', () => {
        const control = temporary();
        run('dpkg-deb', ['-e', deb, control]);
        for (const script of filesBelow(control).filter((file) => /^(pre|post)(inst|rm)$/.test(file))) {
            const text = readFileSync(join(control, script), 'utf8');
            assert.ok(!/(stop|restart) .*portero(\.socket|-backup\.timer)/.test(text) || /"\$1" = remove/.test(text), script);
        }
    });

    it('has the symbols of the debugger in a package of their own', () => {
        assert.equal(debs.length, 2);
        assert.match(run('dpkg-deb', ['-c', debs.find((file) => file !== deb)]).stdout, /usr\/lib\/debug\/\.build-id\/.*\.debug/);
    });

    it('is built with the packages that the build installs', () => {
        const needed = packagesOf('[build]');
        assert.deepEqual(packagesOf('[package: build]'), ['build-essential', 'debhelper']);
        const running = ['tzdata', 'ca-certificates'];
        const implied = ['gcc', 'libc6-dev', 'make', ...running]; // of build-essential
        const named = /^Build-Depends: ((?:.*\n )*.*)/m.exec(read('debian/control'))[1].split(/,\s*/);
        assert.deepEqual(named.filter((name) => !name.startsWith('debhelper-compat')).sort(), needed.filter((name) => !implied.includes(name)).sort());
        for (const name of [...running, 'libflite1']) assert.match(read('debian/control'), new RegExp(`^Depends: (?:.*\n )*.*\\b${name}\\b`, 'm'));
    });
});
