// Shared by the tests of building operations: an owner who may add buildings, quotes, their execution, and the state that must hold
// after each: one unit paid for each building, and no number bought that nobody has.
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { idempotencyKey, ok } from './client.js';
import { portero } from './daemon.js';
import { sql } from './store.js';
import { agent, message, resident } from './world.js';

export const US = { street: '1 Main Street', city: 'Portland', state: 'OR', zip: '97201' };
export const CA = { city: 'Ottawa', state: 'ON', zip: 'k1a0b1', country: 'CA' };

/** Verifies a phone for a subscribed account: its number. */
export async function verifyPhone(person) {
    const phone = `+1${randomInt(2_000_000_000, 10_000_000_000)}`;
    ok(await person.client.post('/v1/account/phone/verification', { phone_number: phone }));
    const { code } = await message(person.client, phone, 'sms');
    ok(await person.client.post('/v1/account/phone/confirmation', { code }));
    return phone;
}

/** A resident with a verified phone and a key for buildings that outlives the days a test lets pass: {…, phone, keeper}. */
export async function owner(client) {
    const person = await resident(client);
    const phone = await verifyPhone(person);
    const keeper = (await agent(person, ['account:read', 'buildings:write', 'access:read', 'access:write'], { expires_in_days: 90 })).client;
    return { ...person, phone, keeper };
}

export const addition = (more = {}) => ({ action: 'add', label: 'Cabin', address: US, unlock_tone: '5', ...more });
export const removal = (id) => ({ action: 'remove', building_id: id });
export const preview = (person, body) => person.keeper.post('/v1/buildings/preview', body);
export const quote = async (person, body = addition()) => ok(await preview(person, body), 201);
export const operation = async (person, id) => ok(await person.keeper.get(`/v1/buildings/operations/${id}`));
export const buildings = async (person) => ok(await person.keeper.get('/v1/buildings')).data;

/** Executes a quote, either way. */
export function execute(person, { id, action, building_id: building }, key = idempotencyKey()) {
    const options = { headers: { 'Idempotency-Key': key } };
    if (action === 'add') return person.keeper.post('/v1/buildings', { quote_id: id }, options);
    return person.keeper.delete(`/v1/buildings/${building}`, { json: { quote_id: id }, ...options });
}

/** Adds a building: its row in the list. */
export async function added(person, body = addition()) {
    const done = ok(await execute(person, await quote(person, body)), 201);
    return (await buildings(person)).find((row) => row.id === done.building_id);
}

export const quantity = (daemon, person) => Number(sql(daemon, `SELECT s.quantity FROM sandbox_subscription s
    JOIN account a ON a.subscription_id = s.id WHERE a.email = '${person.email}';`));

/** The numbers provider's rows that a building of the account holds, or that were got for one that is gone. */
async function numbersOf(client, person) {
    const ids = new Set((await buildings(person)).map((row) => row.id));
    const { data } = ok(await client.as(undefined).get('/sandbox/numbers'));
    return data.filter((row) => row.building_id && (row.building === null || ids.has(row.building_id)));
}

/** As many units as buildings, and exactly the numbers at the provider that the buildings have. */
export async function consistent(w, person, count) {
    const list = await buildings(person);
    assert.equal(list.length, count, 'buildings');
    assert.equal(quantity(w.daemon, person), count, 'quantity');
    const held = (await numbersOf(w.client, person)).map((row) => row.number).sort();
    assert.deepEqual(held, list.map((row) => row.virtual_number).filter(Boolean).sort(), 'numbers');
}

export function admin(w, ...args) {
    return portero(['admin', ...args, '--config', w.daemon.configPath, '--data', w.daemon.data, '--json']);
}
