// Telephones: our own call box (porterod buzz), sipp and baresip, each against a daemon.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import dgram from 'node:dgram';
import net from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { binary, cleanEnvironment } from './daemon.js';
import { freePort } from './port.js';

const here = dirname(fileURLToPath(import.meta.url));
export const BOX = '+15557654321'; // the caller's number

/** Short tones, and of the greetings only the denial: `buzz` hears it and then presses the next code. */
export const QUICK = {
    greetings: { welcome: '', granted: '', denied: 'No.', forwarding: '' },
    voice: { tone_ms: 80, tone_gap_ms: 80 },
};

/** QUICK, with the residents' telephones on a port of this machine. */
export const phonesAt = (port) => ({ ...QUICK, voice: { ...QUICK.voice, 'peer phones': { server: `127.0.0.1:${port}`, probe_s: 0 } } });

export const address = (daemon) => daemon.sip.replace(/^sip:/, '');

function run(command, args, { ms = 180_000, onOutput = () => {}, ...options } = {}) {
    const child = spawn(command, args, { env: cleanEnvironment(), stdio: ['ignore', 'pipe', 'pipe'], ...options });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (chunk) => { stdout += chunk; onOutput(stdout); });
    child.stderr.on('data', (chunk) => { stderr += chunk; });
    const timer = setTimeout(() => child.kill('SIGKILL'), ms);
    return once(child, 'close').then(([status]) => {
        clearTimeout(timer);
        return { status, stdout, stderr };
    });
}

/** Places a call with `porterod buzz`: {answered, ended}, both promises. Between two codes it waits until it has heard the
 *  denial, however slow the machine is. */
export function startBuzz(daemon, to, ...options) {
    let onOutput;
    const answered = new Promise((done) => { onOutput = (stdout) => { if (stdout.startsWith('answered')) done(); }; });
    const args = ['buzz', '--sip', address(daemon), '--to', to, '--from', BOX, '--wait', '120000', '--timeout', '150', ...options];
    const ended = run(binary, args, { onOutput }).then((done) => {
        const heard = done.stdout.split('\n').filter(Boolean);
        return { ...done, heard, tones: heard.filter((line) => line.startsWith('tone ')).map((line) => line.slice(5)).join('') };
    });
    return { answered, ended };
}

/** Places a call and waits for its end: {status, heard: ['answered', 'tone 9', 'hangup'], tones: '9'}. */
export function buzz(daemon, to, ...options) {
    return startBuzz(daemon, to, ...options).ended;
}

/** Starts `porterod phone`; resolves once it listens, to {ended}, a promise of {status, stdout, stderr}. */
export async function startPhone(...options) {
    let onOutput;
    const listening = new Promise((done) => { onOutput = (stdout) => { if (stdout.includes('\n')) done(); }; });
    const ended = run(binary, ['phone', '--timeout', '150', ...options], { onOutput });
    await Promise.race([listening, ended]);
    return { ended };
}

/** Runs a scenario of test/e2e/sipp; throws with sipp's output unless every call followed the scenario. */
export async function sipp(daemon, scenario, to, { calls = 1, transport = 'u1', keys = {}, extra = [] } = {}) {
    const directory = mkdtempSync(join(tmpdir(), 'portero-sipp-'));
    try {
        const args = [address(daemon), '-sf', join(here, '../sipp', `${scenario}.xml`), '-s', to, '-m', String(calls), '-i', '127.0.0.1', '-t', transport,
            '-nostdin', '-timeout', '120', '-timeout_error', '-trace_err', '-key', 'caller', BOX,
            ...Object.entries(keys).flatMap(([name, value]) => ['-key', name, value]), ...extra];
        const done = await run('sipp', args, { cwd: directory, env: cleanEnvironment({ TERM: 'dumb' }) });
        assert.equal(done.status, 0, `sipp ${scenario}: exit ${done.status}\n${done.stdout.slice(-2500)}${done.stderr}`);
    } finally {
        rmSync(directory, { recursive: true, force: true });
    }
}

/** A resident's phone at a port (sipp): answers a call, presses 9, hangs up; or another scenario. Resolves with the messages that it had. */
export async function sippResident(port, scenario = 'resident') {
    const directory = mkdtempSync(join(tmpdir(), 'portero-sipp-'));
    try {
        const done = await run('sipp', ['-sf', join(here, '../sipp', `${scenario}.xml`), '-m', '1', '-i', '127.0.0.1', '-p', String(port), '-nostdin',
            '-timeout', '120', '-timeout_error', '-trace_msg', '-message_file', join(directory, 'messages')], { cwd: directory, env: cleanEnvironment({ TERM: 'dumb' }) });
        assert.equal(done.status, 0, `sipp resident: exit ${done.status}\n${done.stdout.slice(-2500)}${done.stderr}`);
        return readFileSync(join(directory, 'messages'), 'utf8');
    } finally {
        rmSync(directory, { recursive: true, force: true });
    }
}

/** Starts sipp as a resident's phone that sends each packet of audio back: {port, ended}. */
export async function sippLoop() {
    const port = await freePort();
    const media = await freePort();
    const directory = mkdtempSync(join(tmpdir(), 'portero-sipp-'));
    const ended = run('sipp', ['-sf', join(here, '../sipp/resident-loop.xml'), '-m', '1', '-i', '127.0.0.1', '-p', String(port), '-mp', String(media), '-rtp_echo',
        '-nostdin', '-timeout', '120', '-timeout_error'], { cwd: directory, env: cleanEnvironment({ TERM: 'dumb' }) })
        .finally(() => rmSync(directory, { recursive: true, force: true }));
    return { port, ended };
}

/** The samples of a WAV file: 16 bits, mono. */
export function samples(wav) {
    const at = wav.indexOf('data') + 8;
    return Int16Array.from({ length: (wav.length - at) >> 1 }, (_, i) => wav.readInt16LE(at + 2 * i));
}

/** A WAV file of 8 kHz. */
export function wav(values) {
    const file = Buffer.alloc(44 + 2 * values.length);
    file.write('RIFF', 0);
    file.writeUInt32LE(file.length - 8, 4);
    file.write('WAVEfmt ', 8);
    for (const [at, value] of [[16, 16], [24, 8000], [28, 16000], [40, 2 * values.length]]) file.writeUInt32LE(value, at);
    for (const [at, value] of [[20, 1], [22, 1], [32, 2], [34, 16]]) file.writeUInt16LE(value, at);
    file.write('data', 36);
    values.forEach((value, i) => file.writeInt16LE(value, 44 + 2 * i));
    return file;
}

/** Starts sipp as a telephone that refuses one call with that status: {port, ended}. It rings first, or only says
 *  that it tries. contact: a URI where the call should go instead. */
export async function refusing(status, { rings = true, contact } = {}) {
    const port = await freePort();
    const directory = mkdtempSync(join(tmpdir(), 'portero-sipp-'));
    // sipp reads the status before it replaces keywords.
    writeFileSync(join(directory, 'refuse.xml'), readFileSync(join(here, '../sipp/refuse.xml'), 'utf8')
        .replace('180 Ringing', rings ? '180 Ringing' : '100 Trying')
        .replace('[status] Refused', contact ? `${status} Refused\nContact: <${contact}>` : `${status} Refused`));
    const ended = run('sipp', ['-sf', 'refuse.xml', '-m', '1', '-i', '127.0.0.1', '-p', String(port), '-nostdin', '-timeout', '120',
        '-timeout_error', '-trace_err'], { cwd: directory, env: cleanEnvironment({ TERM: 'dumb' }) })
        .finally(() => rmSync(directory, { recursive: true, force: true }));
    return { port, ended };
}

/** baresip as a call box; driven over its control port with netstrings of JSON. */
export class Baresip {
    /** account: a line of baresip's file `accounts`, in place of the line in test/e2e/baresip. record: it writes what it hears to
     *  a file …-dec.wav in its directory, complete when the call has ended. play: the WAV file that it plays, in place of its echo. listen: its SIP port. nameserver: ADDRESS:PORT, in place of the system's. */
    static async start({ account, record = false, play, listen = 0, nameserver } = {}) {
        const phone = new Baresip();
        phone.directory = mkdtempSync(join(tmpdir(), 'portero-baresip-'));
        const port = await freePort();
        let config = readFileSync(join(here, '../baresip/config'), 'utf8').replace(/^(ctrl_tcp_listen\s+).*$/m, `$1127.0.0.1:${port}`)
            .replace(/^(sip_listen\s+).*$/m, `$1127.0.0.1:${listen}`);
        if (nameserver) config += `dns_server ${nameserver}\n`;
        if (play) config = config.replace(/^(audio_source\s+).*$/m, `$1aufile,${play}`).replace(/^module\s+aubridge\.so$/m, '$&\nmodule aufile.so');
        const recording = `module sndfile.so\nsnd_path ${phone.directory}\n`;
        writeFileSync(join(phone.directory, 'config'), record ? config + recording : config);
        if (account) writeFileSync(join(phone.directory, 'accounts'), `${account}\n`);
        else copyFileSync(join(here, '../baresip/accounts'), join(phone.directory, 'accounts'));
        writeFileSync(join(phone.directory, 'contacts'), '');
        phone.process = spawn('baresip', ['-f', phone.directory], { stdio: ['pipe', 'pipe', 'pipe'], env: cleanEnvironment({ HOME: phone.directory }) });
        phone.log = '';
        for (const stream of [phone.process.stdout, phone.process.stderr]) stream.on('data', (chunk) => { phone.log += chunk; });
        phone.exited = once(phone.process, 'close');
        await phone.connect(port);
        return phone;
    }

    async connect(port) {
        for (let tries = 0; ; tries++) {
            const socket = net.connect(port, '127.0.0.1');
            try {
                await once(socket, 'connect');
                this.socket = socket;
                break;
            } catch (error) {
                if (tries === 1200) throw new Error(`baresip did not start:\n${this.log}`, { cause: error });
                await new Promise((done) => { setTimeout(done, 50); });
            }
        }
        this.events = [];
        let text = '';
        this.socket.setEncoding('utf8').on('data', (chunk) => {
            text += chunk;
            for (let head = /^(\d+):/.exec(text); head && text.length > head[0].length + Number(head[1]); head = /^(\d+):/.exec(text)) {
                const from = head[0].length;
                this.events.push(JSON.parse(text.slice(from, from + Number(head[1]))));
                text = text.slice(from + Number(head[1]) + 1);
            }
        });
    }

    command(command, params) {
        const text = JSON.stringify({ command, params });
        this.socket.write(`${Buffer.byteLength(text)}:${text},`);
    }

    /** Waits for an event of that type, from the given position on. */
    async event(type, from = 0, ms = 60_000) {
        const until = Date.now() + ms;
        for (;;) {
            const found = this.events.slice(from).find((event) => event.type === type);
            if (found) return found;
            if (Date.now() > until) throw new Error(`baresip: no ${type}; ${JSON.stringify(this.events.slice(from))}\n${this.log.slice(-2000)}`);
            await new Promise((done) => { setTimeout(done, 20); });
        }
    }

    async press(digits) {
        for (const digit of digits) {
            this.command('sndcode', digit);
            await new Promise((done) => { setTimeout(done, 250); });
        }
    }

    tones(from = 0) {
        return this.events.slice(from).filter((event) => event.type === 'CALL_DTMF_START').map((event) => event.param).join('');
    }

    /** The samples that were heard in the last call. */
    heard() {
        const name = readdirSync(this.directory).filter((file) => file.endsWith('-dec.wav')).sort().at(-1);
        return samples(readFileSync(join(this.directory, name)));
    }

    async stop() {
        this.socket.destroy();
        this.process.kill('SIGKILL');
        await this.exited;
        rmSync(this.directory, { recursive: true, force: true });
    }
}

/** A trunk that passes each call on to the telephone of the number dialled, packet for packet; requests within a call go
 *  to the telephone itself. */
export class Switch {
    static async start(phones) {
        const trunk = new Switch();
        trunk.socket = dgram.createSocket('udp4');
        trunk.socket.bind(0, '127.0.0.1');
        await once(trunk.socket, 'listening');
        trunk.port = trunk.socket.address().port;
        trunk.socket.on('message', (packet, from) => {
            const text = packet.toString('latin1');
            if (Object.values(phones).includes(from.port)) {
                if (trunk.service) trunk.socket.send(packet, trunk.service, '127.0.0.1');
                return;
            }
            trunk.service = from.port;
            const to = phones[/^\w+ sip:(\+\d+)@/.exec(text)?.[1]];
            if (to) trunk.socket.send(packet, to, '127.0.0.1');
        });
        return trunk;
    }

    close() {
        this.socket.close();
    }
}
