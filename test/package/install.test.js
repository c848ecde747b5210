// The files of `make install`.
import { describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { binary, build, client, commands, filesBelow, options, read, run, temporary, top } from './lib.js';

describe('an installation', () => {
    const root = temporary();
    const install = () => run('make', ['-f', 'build.mk', 'install', `BUILD=${build}`, 'PREFIX=/usr', `DESTDIR=${root}`], { cwd: top });
    install();

    it('has the files of packaging/installed.txt, and no others', () => {
        const pages = (directory) => readdirSync(join(top, directory)).filter((file) => file.endsWith('.md')).map((file) => basename(file, '.md'));
        const lists = { COMMAND: commands(client), SERVICE: commands(), PAGE: pages('docs'), BEHAVIOUR: pages('docs/behaviour'), CHOICE: pages('docs/why') };
        const paths = read('packaging/installed.txt').split('\n').filter((line) => line && !line.startsWith('#')).flatMap((line) => {
            const path = line.startsWith('/') ? line.slice(1) : `usr/${line}`;
            const name = Object.keys(lists).find((list) => path.includes(list));
            return name ? lists[name].map((word) => path.replace(name, word)) : [path];
        });
        assert.deepEqual(filesBelow(root), paths.sort());
    });

    it('has the file of each link between its documents', () => {
        const documents = join(root, 'usr/share/doc/porterod');
        const links = filesBelow(documents).filter((file) => file.endsWith('.md')).flatMap((file) =>
            [...readFileSync(join(documents, file), 'utf8').matchAll(/\]\((?![a-z]+:|#)([^)#\s]+)/g)].map(([, to]) => ({ file, to })));
        assert.ok(links.length > 100);
        assert.deepEqual(links.filter(({ file, to }) => !existsSync(join(documents, dirname(file), to))), []);
    });

    it('has the configuration of the tree, with a data directory of its own', () => {
        const installed = readFileSync(join(root, 'etc/portero/portero.conf'), 'utf8');
        assert.equal(installed, read('portero.conf').replace('\ndata_dir = "var"\n', '\ndata_dir = "/var/lib/portero"\n'));
        assert.match(installed.split('\n').filter((line) => /^[a-z]/.test(line))[0], /^mode = /);
        run(join(root, 'usr/bin/porterod'), ['check-config', '--config', join(root, 'etc/portero/portero.conf')], { env: { ...process.env, PORTERO_DATA_DIR: root + '/data' } });
    });

    it('keeps a configuration that was changed', () => {
        const path = join(root, 'etc/portero/portero.conf');
        writeFileSync(path, 'mode = production\n');
        install();
        assert.equal(readFileSync(path, 'utf8'), 'mode = production\n');
    });
});

describe('the units', () => {
    const root = temporary();
    const units = join(root, 'usr/lib/systemd/system');
    const unit = (name) => readFileSync(join(units, name), 'utf8');
    run('make', ['-f', 'build.mk', 'install', `BUILD=${build}`, 'PREFIX=/usr', `DESTDIR=${root}`], { cwd: top });

    it('start the program that was installed', () => {
        assert.match(unit('portero.service'), /^ExecStart=\/usr\/bin\/porterod serve$/m);
        const [, command] = /^ExecStart=\/usr\/bin\/porterod (.+)$/m.exec(unit('portero-backup.service'));
        run(binary, ['help', command.split(' ')[0]]);
        for (const option of command.match(/--[a-z]+/g)) assert.ok(options([command.split(' ')[0]]).includes(option), option);
    });

    it('run as the user and the group that the installation makes', () => {
        for (const name of ['portero.service', 'portero-backup.service']) assert.match(unit(name), /^User=portero\nGroup=portero$/m, name);
    });

    it('need no program but the installed one and programs that every Debian has', () => {
        const commands = ['portero.service', 'portero-backup.service'].flatMap((name) => [...unit(name).matchAll(/^Exec\w+=[-+!@:]*(\S+)/gm)].map((line) => line[1]));
        for (const command of new Set(commands.filter((path) => path !== '/usr/bin/porterod'))) {
            const [owner] = run('dpkg-query', ['-S', `*${command.replace(/^\/usr/, '')}`]).stdout.split('\n').map((line) => /^(\S+): (\/usr)?(\/bin\/\S+)$/.exec(line))
                .filter((line) => line?.[3] === command.replace(/^\/usr/, '')).map((line) => line[1]);
            assert.equal(run('dpkg-query', ['-W', '-f', '${Essential}', owner]).stdout, 'yes', `${command} of ${owner}`);
        }
    });

    it('load a credential for each secret and each file of TLS', () => {
        const keys = [...read('src/tbl/config.def').matchAll(/^(?:SECRET|PATH)\(([a-z]+), ([a-z_]+),/gm)].map((row) => `portero.${row[1]}.${row[2]}`);
        assert.deepEqual([...unit('portero.service').matchAll(/^LoadCredential=(.+)$/gm)].map((line) => line[1]).sort(), keys.sort());
    });

    it('are exposed by at most 1.5 of 10, as systemd-analyze counts', () => {
        for (const name of ['portero.service', 'portero-backup.service']) {
            assert.match(run('systemd-analyze', ['security', '--offline=true', '--no-pager', '--threshold=15', join(units, name)]).stdout, /Overall exposure level/);
        }
    });

    it('have only settings that systemd knows', () => {
        const copies = temporary();
        for (const name of ['portero.service', 'portero.socket', 'portero-backup.service', 'portero-backup.timer']) {
            writeFileSync(join(copies, name), unit(name).replace(/^ExecStart=\S+/m, `ExecStart=${binary}`));
        }
        const done = run('systemd-analyze', ['verify', '--man=no', join(copies, 'portero.service'), join(copies, 'portero.socket'), join(copies, 'portero-backup.timer')]);
        assert.equal(done.stderr, '');
    });
});
