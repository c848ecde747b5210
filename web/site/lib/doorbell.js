// The bell of all pages: hears of calls at the building's door. door.js, which shows them, is loaded when the first one
// comes.
import { building, data } from './data.js';
import { live } from './live.js';
import { signInAgain } from './session.js';
import { now } from './time.js';

/** @typedef {import('./live.js').LiveEvent} LiveEvent */

/** @type {LiveEvent[]} that door.js has not been told yet */
const waiting = [];
/** @type {Promise<void> | undefined} */
let telling;
let failures = 0;

/** A module that could not be loaded is not asked for again under its address. @param {HTMLElement} place */
async function tell(place) {
    const { take } = await import(`${place.dataset.script}${failures ? `?${failures}` : ''}`);
    for (let event = waiting.shift(); event; event = waiting.shift()) take(event, { place, now, signIn: signInAgain });
}

/** @param {LiveEvent[]} events */
function ring(events) {
    const place = document.getElementById('doorbell');
    waiting.push(...events);
    if (place && waiting.length > 0) telling ??= tell(place).catch(() => { failures += 1; }).finally(() => { telling = undefined; });
}

/** A notice that was clicked leads to its door (worker.js). @param {MessageEvent} event */
function come({ data: { building: wanted } }) {
    if (wanted !== building.id && /^[0-9a-f]{24}$/.test(wanted)) location.assign(`/?building=${wanted}`);
    else document.getElementById('doorbell')?.scrollIntoView({ block: 'nearest' });
}

/** Shows calls of the door from now on, also calls in progress. @param {() => Promise<boolean>} refresh */
export function attend(refresh) {
    navigator.serviceWorker?.addEventListener('message', come);
    navigator.serviceWorker?.startMessages();
    if (!building.virtual_number || data.account.subscription.status !== 'active') return; // nobody can call
    if (!data.account.capabilities.scopes.includes('calls:listen')) return; // this person answers none
    ring(data.page.door);
    live((event) => {
        if (event.type.startsWith('call.')) ring([event]);
        else if (event.type === 'reset') refresh().then(() => ring([event, ...data.page.door]), () => {});
    });
}
