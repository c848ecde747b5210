// The packages take over the one before 0.2.0, portero, which had the service, too: make check-systemd.
import { describe, it, before } from 'node:test';
import assert from 'node:assert/strict';
import { eventually } from '../../e2e/lib/world.js';
import { attempt, CONF, CONFIG, CREDENTIAL, health, inside, LIMIT_MS, makePackages, PACKAGES, pid, put, state, systemctl } from './container.js';

const EARLIER = '/srv/earlier';
const dpkg = (...args) => inside(['dpkg', ...args]);

/** One package of the files of both, whose purge removes the configuration, as the earlier one's does. */
function makeEarlier() {
    for (const path of PACKAGES) inside(['dpkg-deb', '--extract', path, EARLIER]);
    put(`${EARLIER}/DEBIAN/control`, 'Package: portero\nVersion: 0.1.0\nArchitecture: all\nMaintainer: nobody <nobody@portero.example>\nDescription: earlier\n');
    put(`${EARLIER}/DEBIAN/postrm`, `#!/bin/sh\n[ "$1" != purge ] || rm -f ${CONF}\n`, '755');
    inside(['dpkg-deb', '--build', EARLIER, `${EARLIER}.deb`]);
}

describe('the packages over the earlier one', () => {
    assert.ok(process.env.PORTERO_SYSTEMD, 'run this with test/package/systemd/boot');
    before(() => {
        makePackages();
        makeEarlier();
        inside(['systemd-sysusers', `${EARLIER}/usr/lib/sysusers.d/portero.conf`]);
        inside(['install', '-d', '-m', '700', '/etc/credstore']);
        put(`/etc/credstore/${CREDENTIAL}`, 'ab'.repeat(32), '600');
        put(CONF, CONFIG, '640');
        inside(['chgrp', 'portero', CONF]);
    });

    it('restart its service, and own its files', async () => {
        dpkg('--install', `${EARLIER}.deb`);
        systemctl('daemon-reload');
        systemctl('enable', '--now', 'portero');
        const process = pid();
        dpkg('--auto-deconfigure', '--install', ...PACKAGES);
        await eventually(() => state('portero') === 'active' && ![0, process].includes(pid()), 'the new process', LIMIT_MS);
        assert.equal(await health(8443), 200);
        assert.equal(systemctl('is-enabled', 'portero'), 'enabled');
        assert.match(dpkg('--search', '/usr/bin/porterod'), /^porterod:/);
        assert.match(dpkg('--search', '/usr/bin/portero'), /^portero:/);
        dpkg('--purge', 'porterod', 'portero');
    });

    it('keep the configuration when it is purged, which was removed before', () => {
        put(CONF, CONFIG, '640');
        dpkg('--install', `${EARLIER}.deb`);
        dpkg('--remove', 'portero');
        dpkg('--install', PACKAGES[0]);
        dpkg('--purge', 'portero');
        assert.doesNotMatch(attempt(['dpkg-query', '-W', '-f', '${db:Status-Status}', 'portero']).stdout, /config-files|^installed/);
        assert.equal(`\n${inside(['cat', CONF])}\n`, CONFIG);
    });
});
