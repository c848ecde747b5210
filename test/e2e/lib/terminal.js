// A command at a terminal of its own, answered as a person does it: question by question.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cleanEnvironment } from './daemon.js';
import { eventually } from './world.js';

export const END_OF_INPUT = '\x04';
export const INTERRUPT = '\x03';

export class Terminal {
    /** command: for the shell. */
    constructor(command, { env = {}, cwd } = {}) {
        this.shown = '';
        this.read = 0;
        this.process = spawn('script', ['--quiet', '--return', '--command', command, '/dev/null'], { env: cleanEnvironment(env), cwd, stdio: ['pipe', 'pipe', 'inherit'] });
        this.process.stdout.setEncoding('utf8').on('data', (text) => { this.shown += text.replaceAll('\r\n', '\n'); });
        this.process.stdin.on('error', () => {}); // the command has ended
        this.ended = once(this.process, 'close').then(([status]) => { this.status = status; return status; });
    }

    /** Waits for the pattern behind what was seen before: the text up to its end. */
    async see(pattern) {
        const found = await eventually(() => {
            const match = pattern.exec(this.shown.slice(this.read));
            if (!match && this.status !== undefined) throw new Error(`ended without ${pattern}:\n${this.shown}`);
            return match;
        }, `${pattern} at the terminal`).catch((error) => { throw new Error(`${error.message}\n${this.shown}`); });
        const text = this.shown.slice(this.read, this.read + found.index + found[0].length);
        this.read += text.length;
        return text;
    }

    /** Types the text, a string or bytes, as it is. */
    type(text) {
        this.process.stdin.write(text);
    }

    /** Answers the question, which must be the next: what was shown before it. */
    async answer(question, text) {
        const before = await this.see(new RegExp(`${question}[^\\n]*: $`));
        this.type(Buffer.concat([Buffer.from(text), Buffer.from('\r')]));
        return before;
    }

    async end() {
        this.process.stdin.end();
        return this.ended;
    }

    kill() {
        this.process.kill('SIGKILL');
    }
}
