// Imitates the messages and numbers of Twilio's REST API 2010-04-01 as one HTTP server on loopback: it answers as
// Twilio's own SDK understands it (twilio.test.js drives it with that), keeps every request, and misbehaves on order.
import http from 'node:http';
import { once } from 'node:events';
import { randomBytes } from 'node:crypto';

const BASE = '/2010-04-01/Accounts/';
const sid = (kind) => kind + randomBytes(16).toString('hex');
const text = (ms) => new Date(ms).toUTCString().replace('GMT', '+0000');

class Refusal extends Error {
    constructor(status, code, message) {
        super(message);
        Object.assign(this, { status, code });
    }
}

export class Twilio {
    /** The server, on a free port. */
    static async start() {
        const twilio = new Twilio();
        twilio.server = http.createServer((request, response) => twilio.#serve(request, response));
        twilio.server.listen(0, '127.0.0.1');
        await once(twilio.server, 'listening');
        twilio.server.unref(); // it must not keep the process of a test that failed
        twilio.url = `http://127.0.0.1:${twilio.server.address().port}`;
        return twilio;
    }

    account = sid('AC');
    token = randomBytes(16).toString('hex');
    from = '+15005550006';
    requests = []; // {method, path, query, form, authorization}
    messages = [];
    numbers = []; // that the account has, oldest first
    recordings = []; // {sid, call_sid, status, wav, …}
    calls = new Map(); // by sid, of calls that can be moved: a function that gets the form
    available = { US: [], CA: [] };
    pageSize = 50; // at most
    #faults = [];

    /** The service's configuration that comes here. */
    get config() {
        return { url: this.url, account_sid: this.account, auth_token: this.token, from: this.from, timeout_s: 1 };
    }

    /**
     * The next `count` requests that fit `method` and `resource` (both are optional) do this instead: {status, body,
     * headers}: that answer; {silent}: no answer; {close}: the connection is closed; with `act` after having done as asked.
     */
    order(fault, { method, resource, count = 1 } = {}) {
        this.#faults.push({ fault, method, resource, count });
    }

    clear() {
        this.#faults = [];
        this.requests.length = 0;
    }

    /** Offers fresh numbers of a country, and returns them. */
    offer(country, count = 1) {
        const prefix = country === 'US' ? '+1201' : '+1416';
        const fresh = Array.from({ length: count }, () => prefix + String(randomBytes(4).readUInt32BE() % 10_000_000).padStart(7, '0'));
        this.available[country].push(...fresh);
        return fresh;
    }

    async close() {
        this.server.closeAllConnections();
        this.server.close();
        await once(this.server, 'close');
    }

    #take(method, resource) {
        const found = this.#faults.find((f) => (!f.method || f.method === method) && (!f.resource || f.resource === resource));
        if (found && --found.count === 0) this.#faults.splice(this.#faults.indexOf(found), 1);
        return found?.fault;
    }

    async #serve(request, response) {
        const chunks = [];
        for await (const chunk of request) chunks.push(chunk);
        const url = new URL(request.url, this.url);
        const seen = {
            method: request.method,
            path: url.pathname,
            query: Object.fromEntries(url.searchParams),
            form: Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString())),
            authorization: request.headers.authorization,
            type: request.headers['content-type'],
        };
        this.requests.push(seen);
        const resource = /^\/2010-04-01\/Accounts\/[^/]+\/(\w+)/.exec(url.pathname)?.[1];
        const fault = this.#take(request.method, resource);
        const answer = !fault || fault.act ? this.#answer(seen) : {};
        if (fault?.silent) return;
        if (fault?.close) {
            response.destroy();
            return;
        }
        const { status, body, headers = { 'Content-Type': 'application/json' } } = { ...answer, ...fault };
        response.writeHead(status, headers);
        response.end(body === undefined || typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body));
    }

    #answer(seen) {
        try {
            return this.#perform(seen);
        } catch (error) {
            if (!(error instanceof Refusal)) throw error;
            const { status, code, message } = error;
            return { status, body: { code, message, more_info: `https://www.twilio.com/docs/errors/${code}`, status } };
        }
    }

    #perform({ method, path, query, form, authorization }) {
        if (authorization !== `Basic ${Buffer.from(`${this.account}:${this.token}`).toString('base64')}`) throw new Refusal(401, 20003, 'Authenticate');
        const root = `${BASE}${this.account}`;
        const at = path.startsWith(`${root}/`) ? path.slice(root.length) : '';
        const operation = `${method} ${at.replace(/\b(PN|CA|RE)[0-9a-f]{32}/, '{sid}').replace(/AvailablePhoneNumbers\/\w+/, 'AvailablePhoneNumbers/{country}')}`;
        switch (operation) {
            case 'POST /Messages.json': return { status: 201, body: this.#send(form) };
            case 'GET /AvailablePhoneNumbers/{country}/Local.json': return { status: 200, body: this.#search(at.split('/')[2], query) };
            case 'GET /IncomingPhoneNumbers.json': return { status: 200, body: this.#list(query) };
            case 'POST /IncomingPhoneNumbers.json': return { status: 201, body: this.#buy(form) };
            case 'DELETE /IncomingPhoneNumbers/{sid}.json': return this.#remove(this.numbers, /PN[0-9a-f]{32}/.exec(at)[0]);
            case 'GET /Calls/{sid}/Recordings.json': return { status: 200, body: this.#listRecordings(/CA[0-9a-f]{32}/.exec(at)[0]) };
            case 'POST /Calls/{sid}.json': return { status: 200, body: this.#move(/CA[0-9a-f]{32}/.exec(at)[0], form) };
            case 'GET /Recordings/{sid}.wav': return this.#play(/RE[0-9a-f]{32}/.exec(at)[0]);
            case 'DELETE /Recordings/{sid}.json': return this.#remove(this.recordings, /RE[0-9a-f]{32}/.exec(at)[0]);
            default: throw new Refusal(404, 20404, `The requested resource ${path} was not found`);
        }
    }

    #send({ To, From, MessagingServiceSid, Body }) {
        if (!/^\+[1-9]\d{6,14}$/.test(To ?? '')) throw new Refusal(400, 21211, `Invalid 'To' Phone Number: ${To}`);
        if (!Body) throw new Refusal(400, 21602, 'Message body is required.');
        if (MessagingServiceSid ? !/^MG[0-9a-f]{32}$/.test(MessagingServiceSid) : From !== this.from) throw new Refusal(400, 21606, 'The From phone number is not valid');
        const message = {
            account_sid: this.account, api_version: '2010-04-01', body: Body, date_created: text(Date.now()), date_sent: null, date_updated: text(Date.now()),
            direction: 'outbound-api', error_code: null, error_message: null, from: MessagingServiceSid ? null : From, messaging_service_sid: MessagingServiceSid ?? null,
            num_media: '0', num_segments: '1', price: null, price_unit: 'USD', sid: sid('SM'), status: MessagingServiceSid ? 'accepted' : 'queued', to: To,
        };
        message.uri = `${BASE}${this.account}/Messages/${message.sid}.json`;
        message.subresource_uris = { media: `${BASE}${this.account}/Messages/${message.sid}/Media.json` };
        this.messages.push(message);
        return message;
    }

    #search(country, { PageSize = 50 }) {
        if (!this.available[country]) throw new Refusal(404, 20404, `The requested resource for ${country} was not found`);
        const list = this.available[country].slice(0, Number(PageSize)).map((phone_number) => ({
            friendly_name: phone_number.replace(/^\+1(\d{3})(\d{3})/, '($1) $2-'), phone_number, lata: '100', locality: 'Somewhere', rate_center: 'SOMEWHERE',
            latitude: '40.0', longitude: '-74.0', region: 'NJ', postal_code: '07001', iso_country: country, address_requirements: 'none', beta: false,
            capabilities: { voice: true, SMS: true, MMS: true },
        }));
        return { available_phone_numbers: list, uri: `${BASE}${this.account}/AvailablePhoneNumbers/${country}/Local.json` };
    }

    #list({ FriendlyName, PhoneNumber, PageSize = 50, Page = 0 }) {
        const found = this.numbers.filter((n) => (!FriendlyName || n.friendly_name === FriendlyName) && (!PhoneNumber || n.phone_number.includes(PhoneNumber)));
        const size = Math.min(Number(PageSize), this.pageSize);
        const page = Number(Page);
        const uri = (n) => {
            const query = new URLSearchParams({ ...(FriendlyName && { FriendlyName }), ...(PhoneNumber && { PhoneNumber }), PageSize: size, Page: n, PageToken: `PA${n}` });
            return `${BASE}${this.account}/IncomingPhoneNumbers.json?${query}`;
        };
        const more = (page + 1) * size < found.length;
        return {
            incoming_phone_numbers: found.slice(page * size, (page + 1) * size), page, page_size: size, start: page * size, end: Math.min(found.length, (page + 1) * size) - 1,
            uri: uri(page), first_page_uri: uri(0), previous_page_uri: page ? uri(page - 1) : null, next_page_uri: more ? uri(page + 1) : null,
        };
    }

    #buy({ PhoneNumber, FriendlyName, VoiceUrl = '', VoiceMethod = 'POST', VoiceFallbackUrl = '', VoiceFallbackMethod = 'POST', StatusCallback = '', StatusCallbackMethod = 'POST' }) {
        const country = Object.keys(this.available).find((name) => this.available[name].includes(PhoneNumber));
        if (!country) throw new Refusal(400, 21422, `${PhoneNumber} is not available`);
        this.available[country] = this.available[country].filter((number) => number !== PhoneNumber);
        const bought = {
            sid: sid('PN'), account_sid: this.account, friendly_name: FriendlyName ?? PhoneNumber, phone_number: PhoneNumber, voice_url: VoiceUrl, voice_method: VoiceMethod,
            voice_fallback_url: VoiceFallbackUrl, voice_fallback_method: VoiceFallbackMethod, voice_caller_id_lookup: false, date_created: text(Date.now()), date_updated: text(Date.now()),
            sms_url: '', sms_method: 'POST', sms_fallback_url: '', sms_fallback_method: 'POST', address_requirements: 'none', beta: false,
            capabilities: { voice: true, sms: true, mms: true, fax: false }, voice_receive_mode: 'voice', status_callback: StatusCallback, status_callback_method: StatusCallbackMethod,
            api_version: '2010-04-01', voice_application_sid: '', sms_application_sid: '', origin: 'twilio', trunk_sid: null, emergency_status: 'Active',
            emergency_address_sid: null, emergency_address_status: 'unregistered', address_sid: null, identity_sid: null, bundle_sid: null, status: 'in-use', type: 'local',
        };
        bought.uri = `${BASE}${this.account}/IncomingPhoneNumbers/${bought.sid}.json`;
        this.numbers.push(bought);
        return bought;
    }

    #remove(list, which) {
        const at = list.findIndex((entry) => entry.sid === which);
        if (at < 0) throw new Refusal(404, 20404, 'The requested resource was not found');
        list.splice(at, 1);
        return { status: 204, headers: {} };
    }

    /** A recording of that call, as <Record> leaves it. */
    record(call_sid, wav, more) {
        const recording = {
            account_sid: this.account, api_version: '2010-04-01', call_sid, conference_sid: null, date_created: text(Date.now()), date_updated: text(Date.now()),
            start_time: text(Date.now()), duration: String(Math.round((wav.length - 44) / 16000)), sid: sid('RE'), price: '-0.00250', price_unit: 'USD',
            status: 'completed', channels: 1, source: 'RecordVerb', error_code: null, encryption_details: null, wav, ...more,
        };
        recording.uri = `${BASE}${this.account}/Recordings/${recording.sid}.json`;
        recording.media_url = `https://api.twilio.com${BASE}${this.account}/Recordings/${recording.sid}`;
        this.recordings.push(recording);
        return recording;
    }

    #listRecordings(call) {
        const uri = `${BASE}${this.account}/Calls/${call}/Recordings.json?PageSize=50&Page=0`;
        const recordings = this.recordings.filter(({ call_sid }) => call_sid === call).map(({ wav, ...recording }) => recording);
        return { recordings, page: 0, page_size: 50, start: 0, end: recordings.length - 1, uri, first_page_uri: uri, previous_page_uri: null, next_page_uri: null };
    }

    /** A call in progress continues with the document at another address. */
    #move(which, { Url, Method = 'POST', StatusCallback = '', StatusCallbackMethod = 'POST' }) {
        const move = this.calls.get(which);
        if (!move) throw new Refusal(404, 20404, 'The requested resource was not found');
        if (!/^https:\/\//.test(Url ?? '')) throw new Refusal(400, 21205, `Url is not a valid URL: ${Url}`);
        move({ Url, Method, StatusCallback, StatusCallbackMethod });
        return {
            sid: which, account_sid: this.account, api_version: '2010-04-01', status: 'in-progress', direction: 'outbound-dial', date_created: text(Date.now()),
            date_updated: text(Date.now()), answered_by: null, duration: null, price: null, uri: `${BASE}${this.account}/Calls/${which}.json`,
        };
    }

    #play(which) {
        const recording = this.recordings.find((entry) => entry.sid === which && entry.status === 'completed');
        if (!recording) throw new Refusal(404, 20404, 'The requested resource was not found');
        return { status: 200, body: recording.wav, headers: { 'Content-Type': 'audio/x-wav' } };
    }
}
