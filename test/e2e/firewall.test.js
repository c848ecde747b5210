// The firewall rules of docs/operations.md.
// engine: sqlite, because they do not depend on the service
import { describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './lib/daemon.js';

describe('the firewall rules', () => {
    const page = readFileSync(join(root, 'docs/operations.md'), 'utf8');
    const rules = /^```nft\n([^]*?)^```$/m.exec(page)[1];
    const section = page.slice(page.indexOf('\n## Firewall and ports\n')).split('\n## ')[1];
    const configuration = readFileSync(join(root, 'portero.conf'), 'utf8');
    const key = (name) => new RegExp(`^ *#?${name} = "?(?:[a-z0-9.]+:)?([0-9]+)"?$`, 'm').exec(configuration)[1];

    it('are valid for nft', () => {
        const done = spawnSync('unshare', ['--map-root-user', '--net', 'nft', '-c', '-f', '-'], { input: rules, encoding: 'utf8', env: { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` } });
        assert.equal(done.stderr, '');
        assert.equal(done.status, 0);
    });

    it('open the ports that the configuration has by default', () => {
        const audio = `${key('rtp_port_low')}-${key('rtp_port_high')}`;
        assert.match(rules, new RegExp(`tcp dport ${key('https')} accept`));
        assert.match(rules, new RegExp(`udp dport \\{ ${key('sip')}, ${audio} \\} accept`));
        assert.match(rules, new RegExp(`tcp dport \\{ ${key('sip')}, `));
        assert.ok(!rules.includes(key('http')), 'plain HTTP is for proxies on this machine');
        for (const name of ['https', 'sip', 'http']) assert.match(section, new RegExp(`^\\| ${key(name)} .*\`listen.${name}\``, 'm'));
        assert.match(section, new RegExp(`^\\| ${audio.replace('-', ' to ')} UDP `, 'm'));
    });
});
