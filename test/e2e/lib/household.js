// The members of a building, as its owner's browser invites them and as they are in theirs.
import { ok } from './client.js';
import { signInBrowser } from './site.js';
import { freshEmail, message } from './world.js';

/** A person whom the owner's browser `theirs` has invited and who has signed in: {id of the member, email, site, …as signInBrowser}. */
export async function member(client, theirs, building, { name = 'Ana', role = 'resident', language, remember } = {}) {
    const email = freshEmail();
    const { id } = ok(await theirs.post(`/v1/buildings/${building.id}/people`, { name, email, role, language }), 201);
    return { ...await signInBrowser(client, { email, remember }), id };
}

/** Proves the phone of the person of a browser: its status. */
export async function verifyPhone(client, site, to) {
    ok(await site.post('/v1/person/phone/verification', { phone_number: to }));
    return ok(await site.post('/v1/person/phone/confirmation', { code: (await message(client, to, 'sms')).code }));
}
