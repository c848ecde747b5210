// Readers of the buildings' streams of events, which come back after each cut with the number of their last event, as
// browsers do. Each checks that the numbers have no gap and no repetition.
import https from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { within } from './cluster.js';

const SILENT_MS = 40_000; // a comment comes every 15 s
const PAUSE_MS = 200;
const CATCH_UP = 200; // HUB_CATCH_UP: with more missed events, the service says reset
const SETTLE_MS = 60_000;

class Follower {
    told = []; // {type, data} of each event
    connected = 0;
    resets = 0;
    missed = 0;
    twice = 0;
    problems = [];
    #running = true;

    /** A reader that takes these addresses by turns, beginning with the first. It has its position when `begun` resolves. */
    constructor(person, urls) {
        Object.assign(this, { person, urls });
        this.begun = new Promise((done) => { this.hasBegun = done; });
        this.loop = this.#follow();
    }

    async #follow() {
        for (let i = 0; this.#running; i++) {
            await this.#read(this.urls[i % this.urls.length]).catch((error) => { this.problem = error.message; });
            await sleep(PAUSE_MS);
        }
    }

    /** One connection, until its end. */
    #read(url) {
        return new Promise((done, fail) => {
            const headers = { host: 'localhost', authorization: `Bearer ${this.person.key}`, ...(this.last === undefined ? {} : { 'last-event-id': String(this.last) }) };
            const asked = https.get(`${url}/v1/buildings/${this.person.building.id}/events`, { agent: false, rejectUnauthorized: false, headers, timeout: SILENT_MS }, (answer) => {
                let text = '';
                answer.setEncoding('utf8').on('data', (chunk) => {
                    if (answer.statusCode !== 200) return;
                    const blocks = (text + chunk).split('\n\n');
                    text = blocks.pop(); // of a cut connection, the last one may be a part
                    for (const block of blocks) this.#block(block);
                }).on('close', done).on('error', fail);
                this.open = answer.statusCode === 200;
                if (this.open) this.connected++;
                else if (answer.statusCode < 500 && answer.statusCode !== 429) this.problems.push(`a stream got ${answer.statusCode}`);
            });
            this.cut = () => { this.open = false; asked.destroy(); };
            asked.on('timeout', () => asked.destroy(new Error('silent'))).on('close', () => { this.open = false; }).on('error', fail);
        });
    }

    #block(text) {
        const fields = Object.fromEntries(text.split('\n').map((line) => line.split(/: (.*)/s).slice(0, 2)));
        if (fields.id === undefined) return;
        const number = Number(fields.id);
        if (fields.data && fields.event !== 'reset') this.#event(number, fields);
        else if (fields.event === 'reset') this.#reset(number);
        else if (this.last !== undefined && number !== this.last) this.problems.push(`a stream began at ${number}, not ${this.last}`);
        this.last = number;
        this.hasBegun();
    }

    #event(number, { event, data }) {
        if (number > this.last + 1) this.missed += number - this.last - 1;
        if (number <= this.last) this.twice++;
        this.told.push({ type: event, data: JSON.parse(data) });
    }

    /** The service may say that only to a reader who is too far behind. */
    #reset(number) {
        this.resets++;
        if (this.last !== undefined && number - this.last <= CATCH_UP) this.problems.push(`reset from ${this.last} to ${number}`);
    }

    async stop() {
        this.#running = false;
        this.cut?.();
        await this.loop;
    }
}

export class Followers {
    /** `each` readers of each building for each of these addresses. */
    static async start(people, urls, each = 1) {
        const followers = new Followers();
        followers.all = people.flatMap((person) => Array.from({ length: urls.length * each }, (_, i) => new Follower(person, urls.map((_url, n) => urls[(i + n) % urls.length]))));
        await Promise.all(followers.all.map((one) => one.begun));
        return followers;
    }

    cuts = 0;

    /** Cuts the connection of one that is connected. */
    cutOne() {
        const one = this.all[Math.floor(Math.random() * this.all.length)];
        if (!one.open) return;
        one.cut();
        this.cuts++;
    }

    /** Waits until all have come to the end of their feeds, of which `newest(person)` gives the number, and compares with the
     *  IDs of the grants that `created(person)` has: {streams, told, connections, resets, missed, twice, problems}. */
    async finish(newest, created) {
        const result = { streams: this.all.length, told: 0, connections: 0, resets: 0, missed: 0, twice: 0, problems: [] };
        for (const one of this.all) {
            const end = await newest(one.person);
            if (!await within(SETTLE_MS, () => one.last >= end)) result.problems.push(`a stream is at ${one.last} of ${end}: ${one.problem}`);
            if (!one.resets) this.#compare(one, created(one.person), result);
            for (const count of ['resets', 'missed', 'twice']) result[count] += one[count];
            result.told += one.told.length;
            result.connections += one.connected;
            result.problems.push(...one.problems);
        }
        await this.stop();
        return result;
    }

    async stop() { await Promise.all(this.all.map((one) => one.stop())); }

    /** Each grant that a client knows of was told once. */
    #compare(one, ids, result) {
        const told = new Map();
        for (const { type, data } of one.told) if (type === 'grant.created') told.set(data.unlock_id, (told.get(data.unlock_id) ?? 0) + 1);
        const missed = ids.filter((id) => !told.has(id));
        const twice = [...told.values()].filter((count) => count > 1).length;
        if (missed.length || twice) result.problems.push(`${missed.length} grants were not told (${missed.slice(0, 3)}), ${twice} twice`);
        result.missed += missed.length;
        result.twice += twice;
    }
}
