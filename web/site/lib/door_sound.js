// How a page draws attention to the door: a bell, a telephone's vibration, the window's title. Browsers let a page make
// sounds only after somebody has pressed something on it.

const KEY = 'door.silent';
const EVERY_MS = 3_000;

/** Whether this browser may ring. */
export const mayRing = () => localStorage.getItem(KEY) === null;

/** @param {boolean} on */
export function setRing(on) {
    if (on) localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, '1');
}

/** @type {AudioContext | undefined} */
let audio;
/** The bell's two notes, in Hz, and when they begin, in seconds. */
const NOTES = [[659.3, 0], [523.3, 0.32]];

function strike() {
    if (!navigator.userActivation?.hasBeenActive) return;
    navigator.vibrate?.([220, 120, 320]);
    audio ??= new AudioContext();
    if (audio.state === 'suspended') audio.resume();
    for (const [hz, after] of NOTES) {
        const at = audio.currentTime + after;
        const tone = new OscillatorNode(audio, { type: 'sine', frequency: hz });
        const loud = new GainNode(audio, { gain: 0 });
        loud.gain.setValueAtTime(0, at);
        loud.gain.linearRampToValueAtTime(0.22, at + 0.015);
        loud.gain.exponentialRampToValueAtTime(0.001, at + 1.1);
        tone.connect(loud).connect(audio.destination);
        tone.start(at);
        tone.stop(at + 1.2);
    }
}

/** @type {(() => void) | undefined} */
let stop;

/** Rings, in one tab of the browser, until `on` is false. @param {boolean} on */
export function sound(on) {
    if (!on || !mayRing()) {
        stop?.();
        stop = undefined;
        return;
    }
    if (stop) return;
    /** @type {number | undefined} */
    let timer;
    let over = false;
    const ended = new Promise((resolve) => {
        stop = () => {
            over = true;
            resolve(undefined);
        };
    });
    navigator.locks.request('door.bell', { ifAvailable: true }, async (held) => {
        if (!held || over) return; // it may be over at once, as on a page that is opened during a conversation
        strike();
        timer = window.setInterval(strike, EVERY_MS);
        await ended;
        clearInterval(timer);
        navigator.vibrate?.(0);
    });
}

/** @type {number | undefined} */
let blinking;
let title = '';

/** Shows the text in the window's title, in turns with the page's own; undefined: no more. @param {string | undefined} text */
export function flash(text) {
    if (!text === !blinking) return;
    clearInterval(blinking);
    blinking = undefined;
    if (!text) {
        document.title = title;
        return;
    }
    title = document.title;
    document.title = text;
    const still = matchMedia('(prefers-reduced-motion: reduce)');
    blinking = window.setInterval(() => { document.title = still.matches || document.title !== text ? text : title; }, 1_000);
}
