// The Home Assistant integration in Home Assistant itself, with its own test harness, against a daemon: its users' dialogs, entities, actions
// and events, and a call that its lock opens. Run by `make check-homeassistant`, apart from the other tests: Home Assistant comes from PyPI,
// and needs a later Python than Debian 12 has. HOMEASSISTANT_PYTHON names one that has it.
import { describe, it, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';
import { cleanEnvironment, root } from '../e2e/lib/daemon.js';
import { QUICK, startBuzz, startPhone } from '../e2e/lib/phone.js';
import { freePort } from '../e2e/lib/port.js';
import { world } from '../e2e/lib/world.js';

const PHONE = '+15550001234';
const home = join(root, 'clients/homeassistant');
const python = process.env.HOMEASSISTANT_PYTHON ?? join(root, 'build/homeassistant/bin/python');

describe('the integration in Home Assistant', () => {
    let w, caller, port;
    before(async () => {
        port = await freePort();
        w = await world({ config: { ...QUICK, voice: { ...QUICK.voice, 'peer phones': { server: `127.0.0.1:${port}`, probe_s: 0 } } } });
        // Calls a number and answers with the tones that the call box heard; the resident's phone rings meanwhile.
        caller = http.createServer(async (request, response) => {
            const phone = await startPhone('--listen', `127.0.0.1:${port}`, '--answer', '60000');
            const { tones } = await startBuzz(w.daemon, decodeURIComponent(request.url.slice(1))).ended;
            response.end(JSON.stringify({ tones, phone: (await phone.ended).stdout }));
        }).listen(0, '127.0.0.1');
        await once(caller, 'listening');
    });
    after(async () => {
        caller?.close();
        await w?.close();
    });

    it('does what its users do with it', async () => {
        const { fingerprint256 } = new X509Certificate(readFileSync(join(w.daemon.data, 'tls.crt')));
        const child = spawn(python, ['-m', 'pytest', '-p', 'no:cacheprovider', '-c', 'pytest.ini'], {
            cwd: join(home, 'tests/core'), timeout: 600_000, stdio: ['ignore', 'pipe', 'inherit'],
            env: cleanEnvironment({
                PYTHONDONTWRITEBYTECODE: '1', PYTHONPATH: `${home}:${join(home, 'tests')}`, PORTERO_TEST_URL: w.daemon.https,
                PORTERO_TEST_FINGERPRINT: fingerprint256, PORTERO_TEST_PHONE: PHONE, PORTERO_TEST_CALLER: `http://127.0.0.1:${caller.address().port}/`,
            }),
        });
        let told = '';
        child.stdout.setEncoding('utf8').on('data', (text) => { told += text; });
        const [status] = await once(child, 'close');
        assert.equal(status, 0, told);
        assert.match(told, /^=+ [1-9]\d* passed in/m, 'and none is skipped');
    });
});
