// The files of `make install`.
import { describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { binary, build, commands, filesBelow, read, run, temporary, top } from './lib.js';

describe('an installation', () => {
    const root = temporary();
    const install = () => run('cmake', ['--install', build, '--prefix', '/usr'], { env: { ...process.env, DESTDIR: root } });
    install();

    it('has the files of packaging/installed.txt, and no others', () => {
        const lists = { COMMAND: commands(), PAGE: readdirSync(join(top, 'docs')).filter((file) => file.endsWith('.md')).map((file) => basename(file, '.md')) };
        const paths = read('packaging/installed.txt').split('\n').filter((line) => line && !line.startsWith('#')).flatMap((line) => {
            const path = line.startsWith('/') ? line.slice(1) : `usr/${line}`;
            const name = Object.keys(lists).find((list) => path.includes(list));
            return name ? lists[name].map((word) => path.replace(name, word)) : [path];
        });
        assert.deepEqual(filesBelow(root), paths.sort());
    });

    it('has the configuration of the tree, with a data directory of its own', () => {
        const installed = readFileSync(join(root, 'etc/portero/portero.conf'), 'utf8');
        assert.equal(installed, read('portero.conf').replace('\ndata_dir = "var"\n', '\ndata_dir = "/var/lib/portero"\n'));
        assert.match(installed.split('\n').filter((line) => /^[a-z]/.test(line))[0], /^mode = /);
        run(join(root, 'usr/bin/portero'), ['check-config', '--config', join(root, 'etc/portero/portero.conf')], { env: { ...process.env, PORTERO_DATA_DIR: root + '/data' } });
    });

    it('keeps a configuration that was changed', () => {
        const path = join(root, 'etc/portero/portero.conf');
        writeFileSync(path, 'mode = production\n');
        install();
        assert.equal(readFileSync(path, 'utf8'), 'mode = production\n');
    });
});

describe('the unit', () => {
    const root = temporary();
    const unit = join(root, 'usr/lib/systemd/system/portero.service');
    run('cmake', ['--install', build, '--prefix', '/usr'], { env: { ...process.env, DESTDIR: root } });

    it('starts the program that was installed', () => {
        assert.match(readFileSync(unit, 'utf8'), /^ExecStart=\/usr\/bin\/portero serve$/m);
    });

    it('is exposed by at most 1.5 of 10, as systemd-analyze counts', () => {
        assert.match(run('systemd-analyze', ['security', '--offline=true', '--no-pager', '--threshold=15', unit]).stdout, /Overall exposure level/);
    });

    it('has only settings that systemd knows', () => {
        const copy = join(temporary(), 'portero.service');
        writeFileSync(copy, readFileSync(unit, 'utf8').replace(/^ExecStart=\S+/m, `ExecStart=${binary}`).replace(/^Documentation=.*\n/m, ''));
        const done = run('systemd-analyze', ['verify', '--man=no', copy]);
        assert.equal(done.stderr, '');
    });
});
