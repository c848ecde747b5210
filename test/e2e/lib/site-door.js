// Pages of residents whose telephone rings, over SIP on loopback.
import { after, afterEach, before } from 'node:test';
import assert from 'node:assert/strict';
import { Browser } from './browser.js';
import { Baresip, phonesAt, startBuzz } from './phone.js';
import { freePort } from './port.js';
import { changeSettings, resident, world } from './world.js';

export const PHONE = '+15550001234';

/** The world, phone and browser of a suite, which exist from its first test to its last; pages may not complain. */
export function useDoor() {
    const door = {
        /** A resident whose phone rings, with more of `ring`'s settings. */
        async withPhone(ring = {}) {
            const person = await resident(door.w.client, { tone: '5' });
            await changeSettings(person, { ring: { numbers: [PHONE], accept: false, seconds: 60, ...ring } });
            return person;
        },
        /** A visitor calls, and the resident's phone rings until `end`. */
        async ring(person) {
            const from = door.phone.events.length;
            const box = startBuzz(door.w.daemon, person.number);
            await door.phone.event('CALL_INCOMING', from);
            return {
                box: box.ended,
                answer: async () => {
                    door.phone.command('accept');
                    await door.phone.event('CALL_ESTABLISHED', from);
                },
                end: async () => {
                    door.phone.command('hangup');
                    await box.ended;
                },
            };
        },
    };
    before(async () => {
        const port = await freePort();
        door.phone = await Baresip.start({ account: `<sip:${PHONE}@127.0.0.1>;regint=0;audio_codecs=PCMU/8000/1`, listen: port });
        door.w = await world({ config: phonesAt(port) });
        door.browser = await Browser.start();
    });
    after(async () => {
        await door.browser?.close();
        await door.w?.close();
        await door.phone?.stop();
    });
    afterEach(() => assert.deepEqual(door.browser.takeComplaints(), []));
    return door;
}
