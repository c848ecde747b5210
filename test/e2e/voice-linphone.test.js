// linphonec as the call box: a telephone that shares no code with the service or with the other telephones of the tests.
// engine: sqlite, because it tests telephones
import { describe, it, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ok } from './lib/client.js';
import { cleanEnvironment } from './lib/daemon.js';
import { address, QUICK } from './lib/phone.js';
import { freePort } from './lib/port.js';
import { eventually, grant, resident, world } from './lib/world.js';

/** linphonec without sound hardware, driven by its prompt. */
class Linphone {
    static async start() {
        const phone = new Linphone();
        phone.directory = mkdtempSync(join(tmpdir(), 'portero-linphone-'));
        mkdirSync(join(phone.directory, '.local/share/linphone'), { recursive: true }); // without its databases it makes no call
        const file = join(phone.directory, 'linphonerc');
        writeFileSync(file, `[sip]\nsip_port=${await freePort()}\nsip_tcp_port=0\nsip_tls_port=0\n`
            + `[rtp]\naudio_rtp_port=${await freePort()}\n`);
        phone.log = '';
        phone.process = spawn('linphonec', ['-c', file], {
            cwd: phone.directory, env: cleanEnvironment({ HOME: phone.directory, PULSE_RUNTIME_PATH: phone.directory, TERM: 'dumb' }),
        });
        phone.exited = once(phone.process, 'close');
        phone.process.stdin.on('error', () => {});
        for (const stream of [phone.process.stdout, phone.process.stderr]) stream.on('data', (chunk) => { phone.log += chunk; });
        phone.command('soundcard use files');
        await phone.says('Using wav files');
        return phone;
    }

    command(line) {
        this.process.stdin.write(`${line}\n`);
    }

    /** It loses a line that is typed before it prompts again. */
    async press(key) {
        const prompts = () => this.log.split('linphonec>').length;
        const before = prompts();
        this.command(key);
        await eventually(() => prompts() > before, `linphonec: the prompt after ${key}`);
    }

    says(text) {
        return eventually(() => this.log.includes(text), `linphonec: ${text}`).catch((error) => {
            throw new Error(`${error.message}\n${this.log.slice(-3000)}`, { cause: error });
        });
    }

    async stop() {
        this.process.kill('SIGKILL');
        await this.exited;
        rmSync(this.directory, { recursive: true, force: true });
    }
}

describe('linphonec as the call box', () => {
    let w;
    let phone;
    before(async () => {
        w = await world({ config: QUICK });
        phone = await Linphone.start();
    });
    after(async () => {
        await phone?.stop();
        await w?.close();
    });

    it('presses a code, hears the release tone, and is hung up on', async () => {
        const person = await resident(w.client, { tone: '9' });
        await grant(person, { type: 'passcode', access_code: '1234', label: 'Visitor' });
        phone.command(`call sip:${person.number}@${address(w.daemon)}`);
        await phone.says('connected');
        for (const key of '1234') await phone.press(key);
        await phone.says('Receiving tone 9');
        await phone.says('ended');
        const unlocks = ok(await person.client.get('/v1/logs?limit=100')).data.filter((entry) => entry.type === 'unlock' && entry.succeeded);
        assert.equal(unlocks.length, 1);
    });
});
