// The voice part of Twilio, as calls meet it: posts signed webhooks to a daemon and performs the TwiML it gets, with a
// visitor and residents who do as they are told. An answer that Twilio would not understand fails the test.
import assert from 'node:assert/strict';
import http from 'node:http';
import https from 'node:https';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import { parseDocument } from 'htmlparser2';
import { noteCode } from './hits.js';

const { getExpectedTwilioSignature } = createRequire(import.meta.url)('twilio/lib/webhooks/webhooks.js');

export const PUBLIC_URL = 'https://door.example';
const VOICE = '/hooks/twilio/voice';
const STATUS = '/hooks/twilio/status';
const ROUNDS_MAX = 200;
const PATIENCE_MS = 60_000;

// The verbs and attributes in use, with the values that Twilio documents.
const seconds = /^[1-9]\d{0,3}$/;
const VERBS = {
    Say: { language: /^[a-z]{2}-[A-Z]{2}$/, voice: /^[\w.-]+$/ },
    Play: { digits: /^w*[0-9*#][0-9*#w]*$/ }, // or an address as its text
    Gather: {
        input: /^(dtmf|dtmf speech)$/, numDigits: /^[1-4]$/, finishOnKey: /^#?$/, timeout: seconds, speechTimeout: seconds, hints: /^[a-z, ]{1,500}$/,
        language: /^[a-z]{2}-[A-Z]{2}$/, action: /^\/hooks\//, method: /^POST$/, actionOnEmptyResult: /^true$/,
    },
    Dial: { callerId: /^\+\d+$/, timeout: seconds, timeLimit: seconds, action: /^\/hooks\//, method: /^POST$/, answerOnBridge: /^true$/, hangupOnStar: /^true$/ },
    Conference: { beep: /^false$/, waitUrl: /^$/, startConferenceOnEnter: /^true$/, endConferenceOnExit: /^true$/, maxParticipants: /^2$/ },
    Pause: { length: seconds },
    Number: { url: /^\/hooks\//, method: /^POST$/ },
    Record: {
        maxLength: /^30$/, timeout: seconds, playBeep: /^true$/, trim: /^do-not-trim$/, finishOnKey: /^1234567890\*#$/, action: /^\/hooks\//, method: /^POST$/,
        recordingStatusCallback: /^\/hooks\//, recordingStatusCallbackMethod: /^POST$/,
    },
    Redirect: { method: /^POST$/ },
    Reject: { reason: /^(rejected|busy)$/ },
    Hangup: {},
};
const NESTED = { Response: ['Say', 'Play', 'Gather', 'Dial', 'Record', 'Redirect', 'Reject', 'Hangup', 'Pause'], Gather: ['Say', 'Play'], Dial: ['Number', 'Conference'] };

// Without digits: a test that looks for a code in the log must not find one in an identifier.
const newSid = (kind = 'CA') => kind + Array.from(randomBytes(32), (byte) => 'abcdef'[byte % 6]).join('');

/** Fails unless the text is well-formed XML, which htmlparser2 does not require. */
async function checkWellFormed(text) {
    const lint = spawn('xmllint', ['--noout', '-'], { stdio: ['pipe', 'ignore', 'pipe'] });
    let complaints = '';
    lint.stderr.on('data', (chunk) => { complaints += chunk; });
    lint.stdin.end(text);
    const [status] = await once(lint, 'close');
    assert.equal(status, 0, `${text}\n${complaints}`);
}

function children(parent) {
    const allowed = NESTED[parent.name] ?? [];
    return parent.children.filter((node) => node.type !== 'text').map((node) => {
        assert.ok(allowed.includes(node.name), `<${node.name}> in <${parent.name}>`);
        for (const [name, value] of Object.entries(node.attribs)) {
            assert.ok(VERBS[node.name][name], `<${node.name} ${name}>`);
            assert.match(value, VERBS[node.name][name], `<${node.name} ${name}>`);
        }
        return node;
    });
}

/** The verbs of a document: nodes with `name`, `attribs` and `children`. */
export function verbs(text) {
    const root = parseDocument(text, { xmlMode: true }).children.filter((node) => node.type === 'tag');
    assert.deepEqual(root.map((node) => node.name), ['Response'], text);
    return children(root[0]);
}

const textOf = (node) => node.children.map((child) => child.data ?? '').join('');

export class Twiml {
    account = newSid('AC');
    token = randomBytes(16).toString('hex');
    agent = new https.Agent({ keepAlive: true, rejectUnauthorized: false, maxSockets: 32 });

    /** `repeated`: every request is sent three times, two of them at once. `rest`: the REST API, which has recordings. */
    constructor({ repeated = false, rest } = {}) {
        this.repeated = repeated;
        this.rest = rest;
        if (rest) Object.assign(this, { account: rest.account, token: rest.token });
    }

    get config() {
        const url = this.rest?.url ?? 'http://127.0.0.1:9'; // without one, nobody answers
        return { public_url: PUBLIC_URL, twilio: { url, timeout_s: 1, account_sid: this.account, auth_token: this.token } };
    }

    close() {
        this.agent.destroy();
    }

    sign(url, form) {
        return getExpectedTwilioSignature(this.token, url, form);
    }

    set daemon(daemon) { this.daemons = [daemon]; }

    /** Of several nodes, each gets one request after the other, as behind a balancer. */
    #next() {
        this.daemons.push(this.daemons.shift());
        return this.daemons[0].https;
    }

    /** Posts a form: {status, type, text}. */
    async send(target, form, { signature = this.sign(PUBLIC_URL + target, form), headers = {}, base = this.#next(), body = new URLSearchParams(form).toString() } = {}) {
        const { hostname, port, protocol } = new URL(base);
        const all = { 'content-type': 'application/x-www-form-urlencoded; charset=UTF-8', 'content-length': Buffer.byteLength(body), ...(signature && { 'x-twilio-signature': signature }), ...headers };
        const to = { host: hostname, port, method: 'POST', path: target, headers: all };
        const request = protocol === 'http:' ? http.request(to) : https.request({ ...to, agent: this.agent });
        request.end(body);
        const [response] = await once(request, 'response');
        const chunks = [];
        for await (const chunk of response) chunks.push(chunk);
        const type = response.headers['content-type'], text = Buffer.concat(chunks).toString('utf8');
        if (type === 'application/json') noteCode(JSON.parse(text));
        return { status: response.statusCode, type, text };
    }

    /** Posts a webhook and gives the document of the answer. `changing`: what the other person does may change it meanwhile. */
    async fetch(target, form, { changing = false } = {}) {
        const answers = this.repeated ? await Promise.all([this.send(target, form), this.send(target, form)]) : [await this.send(target, form)];
        if (this.repeated) answers.push(await this.send(target, form));
        const [{ status, type, text }, ...others] = answers;
        assert.deepEqual([status, type], [200, 'text/xml'], text);
        for (const other of changing ? [] : others) assert.equal(other.text, text, `${target} ${JSON.stringify(form)}`);
        await checkWellFormed(text);
        return text;
    }

    /**
     * A visitor's call, from ringing to its end, with the options of POST /sandbox/calls; `hangUp`: the visitor hangs up
     * when asked for a code; `silent`: Twilio does not report the end. `resident` may be a list, for phones that ring one
     * after the other; 'silent' answers and presses nothing, a key presses that. `message` {wav, end, reported, …} is what
     * the visitor leaves when asked to: `end` is the key, or 'hangup'; `reported` is when Twilio reports the recording:
     * false, 'early', or 'alone' without a request to the action. `talk` is what happens in a conversation with the first
     * resident, one character after the other: `*` is pressed, which Twilio reports if it was told to, then the key that
     * is asked for (`-`: none); `h`: the resident hangs up; at the end the visitor does. `echo`: a key
     * that comes in the second after the resident left the room. `stay`
     * resolves when a visitor who talks without that hangs up. Gives {call_id, said, tones, rang, …}.
     */
    async call(options) {
        const call = new Call(this, options);
        await call.run();
        return call.result;
    }
}

class Call {
    constructor(twilio, { to, from, digits = '', speech, resident = 'answered', hangUp = false, silent = false, message, talk, echo, stay, sid = newSid() }) {
        Object.assign(this, { twilio, to, from, digits, speech, resident, hangUp, silent, message, talk: talk?.split(''), echo, stay, sid });
        this.result = { call_id: sid, said: [], tones: null, rang: [], rejected: null, documents: [], asked: [] };
        this.over = false;
        this.visitorLeft = new Promise((left) => { this.leave = left; }); // all requests of the visitor's call are answered
    }

    form(more) {
        return {
            CallSid: this.sid, AccountSid: this.twilio.account, From: this.from ?? 'anonymous', To: this.to, CallStatus: 'in-progress', ApiVersion: '2010-04-01',
            Direction: 'inbound', CallerName: 'Gate & <Box>', Called: this.to, Caller: this.from ?? 'anonymous', ...more,
        };
    }

    async run() {
        let next = { target: VOICE, form: { CallStatus: 'ringing' } };
        for (let round = 0; next; round++) {
            assert.ok(round < ROUNDS_MAX, 'the call does not end');
            const document = await this.twilio.fetch(next.target, this.form(next.form), { changing: Boolean(this.room) });
            this.result.documents.push(document);
            next = this.over ? undefined : await this.#perform(verbs(document));
        }
        this.leave();
        await this.otherLeg;
        if (!this.silent) await this.twilio.fetch(STATUS, this.form({ CallStatus: 'completed', CallDuration: '5' }));
        if (this.reportLate) await this.report();
    }

    /** Performs a document up to a verb that asks for another one: its address and fields. */
    async #perform(list) {
        for (const verb of list) {
            switch (verb.name) {
                case 'Say': this.#hear(verb); break;
                case 'Play':
                    if (!verb.attribs.digits) this.#hear(verb);
                    else Object.assign(this.result, { tones: (this.result.tones ?? '') + verb.attribs.digits.replaceAll('w', ''), played: verb.attribs.digits });
                    break;
                case 'Pause': await pause(100); break; // a tenth of what Twilio does
                case 'Gather': return this.#gather(verb);
                case 'Dial': return this.#dial(verb);
                case 'Record':
                    if (this.message) return this.#record(verb);
                    if (this.hangUp) return undefined;
                    break; // nothing is heard
                case 'Redirect': return { target: textOf(verb), form: {} };
                case 'Reject': this.result.rejected = verb.attribs.reason; return undefined;
                case 'Hangup': return undefined;
                default: assert.fail(verb.name);
            }
        }
        return undefined;
    }

    /** The visitor leaves a message, ends it with a key or by hanging up, and Twilio records it. */
    async #record(verb) {
        const { wav, end = '', reported = true, ...more } = this.message;
        const { action, recordingStatusCallback } = verb.attribs;
        const { sid: RecordingSid, duration: RecordingDuration } = this.twilio.rest.record(this.sid, wav, more);
        const form = { RecordingUrl: `https://api.twilio.com/2010-04-01/Accounts/${this.twilio.account}/Recordings/${RecordingSid}`, RecordingSid, RecordingDuration };
        this.report = () => this.twilio.fetch(recordingStatusCallback, {
            AccountSid: this.twilio.account, CallSid: this.sid, ...form, RecordingStatus: 'completed', RecordingChannels: '1', RecordingSource: 'RecordVerb',
            RecordingStartTime: new Date().toUTCString(), ErrorCode: '0', RecordingTrack: 'inbound',
        });
        this.result.recording = RecordingSid;
        this.result.report = this.report;
        if (reported === 'early') await this.report();
        else if (reported) this.reportLate = true;
        this.over = end === 'hangup';
        if (reported === 'alone') return undefined;
        return { target: action, form: { ...form, Digits: end, ...(this.over && { CallStatus: 'completed' }) } };
    }

    /** A text, or the address of a recording. */
    #hear(verb) {
        const text = textOf(verb);
        if (verb.name === 'Play') assert.equal(new URL(text).origin, PUBLIC_URL);
        this.result.said.push(text);
    }

    #gather(verb) {
        for (const greeting of children(verb)) this.#hear(greeting);
        this.result.asked.push(verb.attribs);
        if (this.hangUp) return undefined;
        const { input, numDigits, finishOnKey, action } = verb.attribs;
        const keys = this.digits.slice(0, Number(numDigits));
        const end = keys.indexOf(finishOnKey);
        const Digits = end < 0 ? keys : keys.slice(0, end);
        this.digits = this.digits.slice(Digits.length + (end < 0 ? 0 : 1));
        const spoken = !Digits && input.includes('speech') && this.speech;
        if (spoken) this.speech = undefined;
        return { target: action, form: { Digits, FinishedOnKey: end < 0 ? '' : finishOnKey, ...(spoken && { SpeechResult: spoken, Confidence: '0.9' }) } };
    }

    async #dial(verb) {
        const { action } = verb.attribs;
        const numbers = children(verb);
        if (numbers[0].name === 'Conference') return this.#talkInRoom('visitor', verb);
        this.result.rang.push(...numbers.map(textOf));
        this.result.dialled = verb.attribs;
        const resident = Array.isArray(this.resident) ? this.resident.shift() : this.resident;
        const status = { no_answer: 'no-answer', busy: 'busy', unreachable: 'failed' }[resident];
        if (status) return { target: action, form: { DialCallStatus: status } };
        const connected = await this.#whisper(numbers[0].attribs.url, resident);
        if (connected && this.talk) return this.#talk(action);
        if (connected) await this.stay?.(this.sid);
        this.over = connected; // the visitor hangs up after the conversation
        return { target: action, form: { DialCallStatus: 'completed', DialCallDuration: '3', ...(connected && { CallStatus: 'completed' }) } };
    }

    /** The first resident answers: whether the visitor is connected. */
    async #whisper(url, resident) {
        const leg = newSid();
        const form = (more) => ({ ...this.form(more), CallSid: leg, ParentCallSid: this.sid, Direction: 'outbound-dial' });
        const [gather, ...rest] = verbs(await this.twilio.fetch(url, form({})));
        assert.deepEqual([gather.name, rest.length], ['Gather', 0]);
        this.result.whispered = children(gather).map(textOf).join(' ');
        if (resident === 'declined') return false;
        const Digits = { answered: '1', opened: '9', silent: '' }[resident] ?? resident;
        const answer = verbs(await this.twilio.fetch(gather.attribs.action, form({ Digits })));
        assert.ok(answer.length === 0 || answer[0].name === 'Hangup');
        if (answer.length === 0) this.leg = leg;
        return answer.length === 0;
    }

    legForm(more) {
        return { ...this.form(more), CallSid: this.leg, ParentCallSid: this.sid, Direction: 'outbound-dial' };
    }

    /** The conversation that <Dial> has connected, until Twilio is told to move the resident's call. */
    async #talk(action) {
        const { calls } = this.twilio.rest;
        let moved;
        calls.set(this.leg, (form) => { moved ??= form; });
        for (const until = Date.now() + PATIENCE_MS; !moved; await pause(20)) assert.ok(Date.now() < until, 'the call of the resident is not moved');
        this.room = new Room();
        this.otherLeg = this.#resident(moved).finally(() => calls.delete(this.leg));
        return { target: action, form: { DialCallStatus: 'completed', DialCallSid: this.leg } };
    }

    /** The resident's call after it was moved. */
    async #resident({ Url, StatusCallback }) {
        const path = (url) => (url.startsWith(PUBLIC_URL) ? url.slice(PUBLIC_URL.length) : url);
        let next = { target: path(Url), form: {} };
        for (let round = 0; next; round++) {
            assert.ok(round < ROUNDS_MAX, 'the call of the resident does not end');
            const list = verbs(await this.twilio.fetch(next.target, this.legForm(next.form), { changing: true }));
            const paused = list[0].name === 'Pause' && list.shift();
            assert.equal(list.length, 1);
            const [verb] = list;
            if (next.form.CallStatus || verb.name === 'Hangup') break;
            if (verb.name === 'Dial') {
                next = await this.#talkInRoom('resident', verb);
            } else {
                assert.equal(verb.name, 'Gather');
                this.result.askedResident = children(verb).map(textOf).join(' ');
                // A key that came before <Gather> is lost.
                const key = (!paused && this.echo) || this.talk.shift();
                if (this.over) await this.visitorLeft; // Twilio waits for a key for seconds
                next = { target: verb.attribs.action, form: { Digits: key === '-' ? '' : key ?? '' } };
            }
        }
        this.room.end('resident');
        await this.twilio.fetch(path(StatusCallback), this.legForm({ CallStatus: 'completed' }));
    }

    /** A conference, until one of the two leaves: the next request of that call. */
    async #talkInRoom(who, { attribs, children: [conference] }) {
        assert.equal(textOf(conference), this.sid);
        assert.equal(attribs.hangupOnStar, who === 'resident' ? 'true' : undefined);
        const talking = await this.room.enter(who);
        if (talking && who === 'resident') {
            this.result.talks = (this.result.talks ?? 0) + 1;
            this.left = this.talk.shift();
            assert.ok([undefined, '*', 'h'].includes(this.left), this.left);
            if (this.left === undefined) this.over = true;
            this.room.end(this.left ? 'resident' : 'visitor');
        }
        await this.room.ended(who);
        const gone = who === 'visitor' ? this.over : this.left === 'h';
        return { target: attribs.action, form: { DialCallStatus: 'answered', ...(gone && { CallStatus: 'completed' }) } };
    }
}

/** A conference of two, which ends when one of them leaves. */
class Room {
    #inside = new Map(); // who: what to do when the other one comes, and at the end

    /** Resolves when both are there, with true; with false, if the other one never comes. */
    enter(who) {
        assert.ok(!this.#inside.has(who));
        return new Promise((resolve) => {
            const entry = { met: resolve };
            entry.over = new Promise((end) => { entry.end = end; });
            this.#inside.set(who, entry);
            if (this.#inside.size === 2) for (const { met } of this.#inside.values()) met(true);
        });
    }

    /** Resolves when the conference that this one is in has ended. */
    async ended(who) {
        await this.#inside.get(who)?.over;
    }

    end(who) {
        const all = [...this.#inside.values()];
        this.#inside.clear();
        for (const { met, end } of all) { met(false); end(); }
        return who;
    }
}
