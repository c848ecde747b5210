// What happens at the building, as it happens. All tabs of a browser share one stream: a browser opens few connections to
// a host, and a stream occupies one. The tab that has the lock reads the stream and tells the others; when it closes, the
// next one takes over where that ended.
import { CallError } from './call.js';
import { building, data } from './data.js';

const AGAIN_MS = 15_000;
/** A stream that ends is opened again sooner. */
const AWAY_MS = 5_000;
/** As src/tbl/feed.def. */
const TYPES = ['call.ring', 'call.greeting', 'call.code_wrong', 'call.released', 'call.forwarded', 'call.ringing', 'call.answered', 'call.listening', 'call.opened',
    'call.unanswered', 'call.message', 'call.ended', 'grant.created', 'grant.changed', 'grant.revoked', 'settings.changed', 'reset'];

/**
 * @typedef {{seq: number, type: string, at?: string, call_id?: string, caller?: string | null, quiet?: boolean, number?: string | null, reason?: string, label?: string,
 *   outcome?: string, ended_by?: string,
 *   unlock_id?: string, version?: number | null}} LiveEvent `reset`: events were missed
 */

let heard = 0;
/** The last event that this tab knows, from the stream or in the page's data. */
const known = () => Math.max(heard, data.page.seq);

/** Reads the stream for all tabs until it cannot be opened any more. @param {(event: LiveEvent) => void} take @param {(is: boolean) => void} reach */
function read(take, reach) {
    return new Promise((resolve) => {
        const stream = new EventSource(`/app/v1/buildings/${building.id}/events?after=${known()}`);
        for (const type of TYPES) stream.addEventListener(type, (message) => take(JSON.parse(message.data)));
        stream.addEventListener('open', () => reach(true));
        stream.addEventListener('error', () => {
            if (stream.readyState === EventSource.CLOSED) resolve(undefined);
            else reach(false);
        });
    });
}

/** Whether the service answers, and no proxy in its place. */
const answers = () => fetch('/manifest.webmanifest', { cache: 'no-store', signal: AbortSignal.timeout(AWAY_MS) }).then(({ status }) => status < 500, () => false);

/** @type {(away: boolean) => void} */
let tellAway = () => {};
/** Calls `tell` when the service has not been reached for some seconds, and when it is again. @param {(away: boolean) => void} tell */
export function whenAway(tell) {
    tellAway = tell;
}

/** @type {((event: LiveEvent) => void)[]} */
const listeners = [];

/** Calls `tell` for each event that the page's data do not have. @param {(event: LiveEvent) => void} tell */
export function live(tell) {
    if (listeners.push(tell) === 1 && !data.page.kept) follow();
}

const SOON_MS = 500;
const MOST = 100;

/**
 * Calls `act` soon after events that are wanted, once for all that happen together, and only while somebody looks. If it
 * fails, it gets them again with the next one.
 * @param {(event: LiveEvent) => boolean} wanted not asked about `reset`, which always is
 * @param {(events: LiveEvent[]) => Promise<unknown>} act
 */
export function whenSeen(wanted, act) {
    /** @type {LiveEvent[]} */
    let events = [];
    let waits = false;
    const catchUp = () => {
        if (document.hidden || waits || events.length === 0) return;
        waits = true;
        setTimeout(async () => {
            const some = events;
            events = [];
            try {
                await act(some);
            } catch (error) {
                if (!(error instanceof CallError)) throw error;
                return void events.unshift(...some);
            } finally {
                waits = false;
            }
            catchUp();
        }, SOON_MS);
    };
    live((event) => {
        if (event.type !== 'reset' && !wanted(event)) return;
        if (events.push(event) > MOST) events = [{ seq: event.seq, type: 'reset' }];
        catchUp();
    });
    document.addEventListener('visibilitychange', catchUp);
}

function follow() {
    const name = `live.${building.id}`;
    const tabs = new BroadcastChannel(name);
    let leads = false;
    /** @param {LiveEvent} event */
    const take = (event) => {
        if (leads) tabs.postMessage(event);
        if (event.type !== 'reset' && event.seq <= known()) return;
        heard = event.seq;
        for (const tell of listeners) tell(event);
    };
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let away;
    /** @param {boolean} is */
    const reach = (is) => {
        if (leads) tabs.postMessage({ type: is ? 'here' : 'away' });
        if (!is) return void (away ??= setTimeout(() => tellAway(true), AWAY_MS));
        clearTimeout(away);
        away = undefined;
        return tellAway(false);
    };
    // A tab that comes later may have missed what the others were told.
    tabs.addEventListener('message', ({ data: event }) => {
        if (event.type === 'here' || event.type === 'away') return reach(event.type === 'here');
        if (event.type === 'came') return leads && event.seq < known() && tabs.postMessage({ type: 'at', seq: known() });
        if (event.type !== 'at') return take(event);
        return event.seq > known() && take({ type: 'reset', seq: event.seq });
    });
    tabs.postMessage({ type: 'came', seq: known() });
    navigator.locks.request(name, async () => {
        leads = true;
        for (;;) {
            await read(take, reach);
            reach(await answers());
            await new Promise((done) => { setTimeout(done, AGAIN_MS); });
        }
    });
}
