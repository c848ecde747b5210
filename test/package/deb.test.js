// The Debian packages, made of the build that exists: their form, their files, their version. `make deb-twice` shows that two real
// builds are the same, `make fresh FRESH=install` that they can be installed, upgraded, removed and purged.
import { describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
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

describe('the packages', () => {
    run(join(top, 'scripts/deb'), ['--from', build]);
    const debs = readdirSync(join(build, 'deb')).filter((file) => file.endsWith('.deb')).map((file) => join(build, 'deb', file));
    const named = (name) => debs.find((file) => basename(file).startsWith(`${name}_`));
    const [contents, laptop] = ['porterod', 'portero'].map((name) => run('dpkg-deb', ['-c', named(name)]).stdout);
    const field = (name, of) => run('dpkg-deb', ['-f', named(name), of]).stdout.trim();

    it('have nothing that lintian reports as an error or a warning', () => {
        // .ci/run links without what debuggers read.
        assert.equal(run('lintian', ['--allow-root', '--fail-on', 'error,warning', '--suppress-tags', 'debug-file-with-no-debug-symbols', ...debs]).stdout, '');
    });

    it('have the files of an installation in the places of Debian', () => {
        for (const file of ['./usr/bin/porterod', './usr/lib/sysusers.d/portero.conf', './usr/share/doc/porterod/portero.conf', './usr/share/man/man1/porterod-admin.1.gz',
            './usr/share/man/man5/portero.conf.5.gz', './usr/share/zsh/vendor-completions/_porterod', './usr/share/doc/porterod/CHANGELOG.md', './usr/share/doc/porterod/docs/operations.md']) {
            assert.ok(contents.includes(` ${file}\n`), file);
        }
        for (const file of ['./usr/bin/portero', './usr/share/man/man1/portero-unlock.1.gz', './usr/share/bash-completion/completions/portero',
            './usr/share/fish/vendor_completions.d/portero.fish', './usr/share/zsh/vendor-completions/_portero']) assert.ok(laptop.includes(` ${file}\n`), file);
        assert.equal(contents.match(/ \.\/(usr\/)?lib\/systemd\/system\/portero\.service\n/g)?.length, 1);
        assert.doesNotMatch(laptop, /porterod|systemd|\.conf/);
        assert.doesNotMatch(contents + laptop, / \.\/usr\/(share\/zsh\/site-functions|local)/);
        assert.doesNotMatch(contents, / \.\/etc\//); // dpkg would ask about a file that `porterod setup` writes
    });

    it('need for the command line nothing but C, OpenSSL, libcurl and jansson', () => {
        assert.deepEqual(field('portero', 'Depends').split(', ').map((one) => one.split(' ')[0].replace(/t64$/, '')), ['libc6', 'libcurl4', 'libjansson4', 'libssl3']);
    });

    it('let an upgrade of the package of both bring the service along', () => {
        assert.match(field('portero', 'Recommends'), /\bporterod\b/);
        for (const relation of ['Breaks', 'Replaces']) assert.equal(field('porterod', relation), 'portero (<< 0.2.0)');
    });

    it('stop neither the socket nor the timer while they are upgraded', () => {
        const control = temporary();
        run('dpkg-deb', ['-e', named('porterod'), control]);
        for (const script of filesBelow(control).filter((file) => /^(pre|post)(inst|rm)$/.test(file))) {
            const text = readFileSync(join(control, script), 'utf8');
            assert.ok(!/(stop|restart) .*portero(\.socket|-backup\.timer)/.test(text) || /"\$1" = remove/.test(text), script);
        }
    });

    it('have the symbols of the debugger in packages of their own', () => {
        assert.equal(debs.length, 4);
        for (const name of ['portero', 'porterod']) assert.match(run('dpkg-deb', ['-c', named(`${name}-dbgsym`)]).stdout, /usr\/lib\/debug\/\.build-id\/.*\.debug/);
    });

    it('are built with the packages that the build installs', () => {
        const needed = packagesOf('[build]');
        assert.deepEqual(packagesOf('[package: build]'), ['build-essential', 'debhelper']);
        const running = ['tzdata', 'ca-certificates'];
        const implied = ['gcc', 'libc6-dev', 'make', ...running]; // of build-essential
        const named = /^Build-Depends: ((?:.*\n )*.*)/m.exec(read('debian/control'))[1].split(/,\s*/);
        assert.deepEqual(named.filter((name) => !name.startsWith('debhelper-compat')).sort(), needed.filter((name) => !implied.includes(name)).sort());
        for (const name of [...running, 'libflite1']) assert.match(read('debian/control'), new RegExp(`^Depends: (?:.*\n )*.*\\b${name}\\b`, 'm'));
    });
});
