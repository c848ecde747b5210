// Building operations when providers fail, at every step: contract "Building operation"; docs/behaviour/buildings.md
// (provider faults, reconciliation). However one ends: as many units as buildings, and no number that nobody has.
import { describe, it, afterEach } from 'node:test';
import assert from 'node:assert/strict';
import { idempotencyKey, ok, refused } from './lib/client.js';
import { added, addition, admin, buildings, consistent, execute, operation, owner, preview, quote, removal } from './lib/buildings.js';
import { endLeases, sql } from './lib/store.js';
import { advance, building, eventually, setSubscription, signIn, useWorld, visit } from './lib/world.js';

const FOR_EVER = 100_000;
const STALLED = 5 * 60 + 1;

describe('building operations and failing providers', () => {
    const w = useWorld();
    const { client } = w;
    const fault = async (provider, operationName, kind, count = 1) =>
        ok(await client.post('/sandbox/faults', { provider, operation: operationName, fault: kind, count }));
    const noFaults = async () => {
        for (const provider of ['billing', 'numbers']) ok(await client.post('/sandbox/faults', { provider, fault: 'none' }));
    };
    afterEach(async () => {
        if (w.daemon.running()) await noFaults();
    });

    /** The process has ended as by a crash; starts it again. */
    async function restart() {
        assert.equal((await w.daemon.exited()).signal, 'SIGKILL');
        endLeases(w.daemon);
        await w.daemon.start();
    }
    const ended = (person, id) => eventually(async () => {
        const seen = await operation(person, id);
        return !['quoted', 'running'].includes(seen.status) && seen;
    }, 'the operation\'s end');
    const told = (done) => {
        assert.equal(done.status, 0, done.stderr);
        return JSON.parse(done.stdout);
    };
    const resolve = (id, outcome) => admin(w, 'operation', 'resolve', id, '--outcome', outcome);
    const complains = (done, code) => {
        assert.equal(done.status, 1, done.stdout);
        assert.ok(done.stderr.includes(`(${code})`), done.stderr);
    };
    const stuck = () => told(admin(w, 'operation', 'list')).data;

    /** The one job that fits has failed and waits for its next attempt. */
    const postponed = (which) => eventually(() =>
        sql(w.daemon, `SELECT count(*) FROM job WHERE ${which} AND attempts > 0 AND leased_until = 0;`).trim() === '1',
    'the job waits');

    /** Executes a quote while a provider is silent, until it needs the operator. */
    async function stall(person, made, provider, operationName, key) {
        await fault(provider, operationName, 'timeout', FOR_EVER);
        const answer = execute(person, made, key);
        await postponed(`id = 'building_operation-${made.id}'`);
        const begun = await operation(person, made.id);
        assert.deepEqual([begun.status, begun.result, begun.request_id], ['running', null, key]);
        assert.ok(begun.next_action.includes(made.id));
        await advance(client, STALLED);
        const seen = await operation(person, made.id);
        assert.equal(seen.status, 'reconciliation_required');
        assert.ok(seen.next_action.includes('support'));
        assert.deepEqual(ok(await answer, 202), seen);
    }

    describe('an addition', () => {
        for (const [provider, operationName] of [['billing', 'set_quantity'], ['numbers', 'acquire']]) {
            for (const kind of ['timeout', 'error']) {
                it(`asks again when ${operationName} had one ${kind}`, async () => {
                    const person = await owner(client);
                    await fault(provider, operationName, kind);
                    ok(await execute(person, await quote(person)), 201);
                    await consistent(w, person, 2);
                });
            }

            it(`goes on after a crash behind ${operationName}`, async () => {
                const person = await owner(client);
                const made = await quote(person);
                const key = idempotencyKey();
                await fault(provider, operationName, 'crash_after');
                await assert.rejects(execute(person, made, key));
                await restart();
                assert.equal((await ended(person, made.id)).status, 'succeeded');
                await consistent(w, person, 2);
                assert.equal(ok(await execute(person, made, key)).status, 'succeeded');
                await consistent(w, person, 2);
            });

            it(`waits for the operator when ${operationName} is silent, who undoes it`, async () => {
                const person = await owner(client);
                const made = await quote(person), other = await quote(person);
                const key = idempotencyKey();
                await stall(person, made, provider, operationName, key);
                refused(await execute(person, other), 409, 'BUILDING_BUSY');
                await quote(person);
                assert.equal(ok(await execute(person, made, key), 202).status, 'reconciliation_required');
                const [row] = stuck().filter((r) => r.id === made.id);
                assert.deepEqual([row.email, row.action, row.status, row.label], [person.email, 'add', 'reconciliation_required', 'Cabin']);

                for (const outcome of ['succeeded', 'failed']) {
                    await fault(provider, undefined, 'timeout', FOR_EVER);
                    complains(resolve(made.id, outcome), 'PROVIDER_UNAVAILABLE');
                    assert.equal((await operation(person, made.id)).status, 'reconciliation_required');
                }
                await noFaults();
                assert.deepEqual(told(resolve(made.id, 'failed')), { id: made.id, action: 'add', status: 'failed', error: 'BUILDING_ADD_FAILED' });
                refused(await execute(person, made, key), 409, 'BUILDING_ADD_FAILED');
                assert.deepEqual(stuck().filter((r) => r.id === made.id), []);
                await consistent(w, person, 1);
                complains(resolve(made.id, 'failed'), 'BAD_REQUEST');
                ok(await execute(person, await quote(person)), 201);
                await consistent(w, person, 2);
            });

            it(`waits for the operator when ${operationName} is silent, who carries it on`, async () => {
                const person = await owner(client);
                const made = await quote(person);
                const key = idempotencyKey();
                await stall(person, made, provider, operationName, key);
                await noFaults();
                assert.equal(told(resolve(made.id, 'succeeded')).status, 'succeeded');
                const done = ok(await execute(person, made, key));
                assert.equal(done.result.virtual_number, (await buildings(person))[1].virtual_number);
                await consistent(w, person, 2);
            });
        }

        // BUILDING-13
        it('that takes longer than ten seconds is accepted and goes on by itself', async () => {
            const person = await owner(client);
            const made = await quote(person);
            await fault('numbers', 'acquire', 'timeout', 6);
            const begun = ok(await execute(person, made), 202);
            assert.deepEqual([begun.status, begun.result, begun.building_id], ['running', null, (await buildings(person))[1].id]);
            await advance(client, 11);
            assert.equal((await operation(person, made.id)).status, 'succeeded');
            await consistent(w, person, 2);
        });

        it('ends as PAYMENT_FAILED when the payment is declined, for every replay', async () => {
            const person = await owner(client);
            const made = await quote(person);
            const key = idempotencyKey();
            await fault('billing', 'set_quantity', 'decline');
            refused(await execute(person, made, key), 402, 'PAYMENT_FAILED');
            const seen = await operation(person, made.id);
            assert.deepEqual([seen.status, seen.building_id, seen.result, seen.request_id], ['failed', null, null, key]);
            assert.ok(seen.next_action.includes('payment'));
            refused(await execute(person, made, key), 402, 'PAYMENT_FAILED');
            await consistent(w, person, 1);
            await added(person);
        });

        // BUILDING-27
        it('is rolled back when no number is to be had', async () => {
            const person = await owner(client);
            const made = await quote(person);
            const key = idempotencyKey();
            await fault('numbers', 'acquire', 'decline');
            refused(await execute(person, made, key), 409, 'BUILDING_ADD_FAILED');
            const seen = await operation(person, made.id);
            assert.deepEqual([seen.status, seen.building_id, seen.result], ['failed', null, null]);
            refused(await execute(person, made, key), 409, 'BUILDING_ADD_FAILED');
            await consistent(w, person, 1);
            ok(await person.client.get('/v1/unlock'));
        });

        it('is rolled back at every other refusal of the numbers provider', async () => {
            const person = await owner(client);
            await fault('numbers', undefined, 'decline', FOR_EVER);
            refused(await execute(person, await quote(person)), 409, 'BUILDING_ADD_FAILED');
            await noFaults();
            await consistent(w, person, 1);
        });

        /** An addition that waits for its number, and is refused one when the clock moves; `then` runs before that. */
        async function rollBack(person, then) {
            const made = await quote(person);
            const key = idempotencyKey();
            await fault('numbers', 'acquire', 'timeout', 3);
            await fault('numbers', 'acquire', 'decline');
            const answer = execute(person, made, key).catch(() => undefined);
            await postponed(`id = 'building_operation-${made.id}'`);
            assert.equal((await buildings(person)).length, 2);
            await then();
            await advance(client, 6).catch(() => undefined);
            return { made, key, answer };
        }

        // BUILDING-14
        it('is rolled back also when that crashes', async () => {
            const person = await owner(client);
            const { made, key } = await rollBack(person, () => fault('billing', 'set_quantity', 'crash_after'));
            await restart();
            assert.equal((await ended(person, made.id)).status, 'failed');
            refused(await execute(person, made, key), 409, 'BUILDING_ADD_FAILED');
            await consistent(w, person, 1);
        });

        it('is rolled back also when that is refused at first', async () => {
            const person = await owner(client);
            const { made, key } = await rollBack(person, () => fault('billing', 'set_quantity', 'decline'));
            await advance(client, 11);
            assert.equal((await operation(person, made.id)).status, 'failed');
            refused(await execute(person, made, key), 409, 'BUILDING_ADD_FAILED');
            await consistent(w, person, 1);
        });

        it('whose roll-back is stuck waits for the operator, who may still turn it round', async () => {
            for (const [outcome, count] of [['failed', 1], ['succeeded', 2]]) {
                const person = await owner(client);
                const { made, answer } = await rollBack(person, () => fault('billing', 'set_quantity', 'timeout', FOR_EVER));
                await advance(client, STALLED);
                await answer;
                assert.equal((await operation(person, made.id)).status, 'reconciliation_required');
                await noFaults();
                assert.equal(told(resolve(made.id, outcome)).status, outcome);
                await consistent(w, person, count);
            }
        });
    });

    describe('a removal', () => {
        let person;
        let child;
        const begin = async () => {
            person = await owner(client);
            child = await added(person);
            return quote(person, removal(child.id));
        };

        for (const [provider, operationName] of [['numbers', 'release'], ['billing', 'set_quantity']]) {
            for (const kind of ['timeout', 'error']) {
                it(`asks again when ${operationName} had one ${kind}`, async () => {
                    const made = await begin();
                    await fault(provider, operationName, kind);
                    assert.equal(ok(await execute(person, made)).result.released_number, child.virtual_number);
                    await consistent(w, person, 1);
                });
            }

            it(`asks again, later, when ${operationName} was refused`, async () => {
                const made = await begin();
                await fault(provider, operationName, 'decline');
                const answer = execute(person, made);
                await postponed(`id = 'building_operation-${made.id}'`);
                await advance(client, 6);
                assert.equal(ok(await answer).status, 'succeeded');
                await consistent(w, person, 1);
            });

            it(`goes on after a crash behind ${operationName}`, async () => {
                const made = await begin();
                const key = idempotencyKey();
                await fault(provider, operationName, 'crash_after');
                await assert.rejects(execute(person, made, key));
                await restart();
                assert.equal((await ended(person, made.id)).status, 'succeeded');
                await consistent(w, person, 1);
                assert.equal(ok(await execute(person, made, key)).result.released_number, child.virtual_number);
            });

            it(`waits for the operator when ${operationName} is silent, who carries it on`, async () => {
                const made = await begin();
                const key = idempotencyKey();
                await stall(person, made, provider, operationName, key);
                await quote(person, removalOrAddition(await buildings(person)));
                complains(resolve(made.id, 'succeeded'), 'PROVIDER_UNAVAILABLE');
                await noFaults();
                assert.equal(told(resolve(made.id, 'succeeded')).status, 'succeeded');
                assert.equal(ok(await execute(person, made, key)).result.released_number, child.virtual_number);
                await consistent(w, person, 1);
            });
        }
        const removalOrAddition = (list) => (list.length > 1 ? removal(list[1].id) : addition());

        // BUILDING-23
        it('whose number is not given back yet can be undone: the building has it again', async () => {
            const made = await begin();
            const key = idempotencyKey();
            await stall(person, made, 'numbers', 'release', key);
            assert.equal((await visit(client, { to: child.virtual_number })).outcome, 'rejected');
            await noFaults();
            assert.deepEqual(told(resolve(made.id, 'failed')), { id: made.id, action: 'remove', status: 'failed', error: null });
            const seen = ok(await execute(person, made, key));
            assert.deepEqual([seen.status, seen.result], ['failed', null]);
            assert.equal((await buildings(person))[1].virtual_number, child.virtual_number);
            assert.notEqual((await visit(client, { to: child.virtual_number })).outcome, 'rejected');
            await consistent(w, person, 2);
            ok(await execute(person, await quote(person, removal(child.id))));
            await consistent(w, person, 1);
        });

        // BUILDING-23
        it('whose building is deleted cannot be undone any more', async () => {
            const made = await begin();
            await stall(person, made, 'billing', 'set_quantity', idempotencyKey());
            assert.equal((await buildings(person)).length, 1);
            await noFaults();
            complains(resolve(made.id, 'failed'), 'BAD_REQUEST');
            assert.equal((await operation(person, made.id)).status, 'reconciliation_required');
            told(resolve(made.id, 'succeeded'));
            await consistent(w, person, 1);
        });
    });

    describe('a billing provider that does not answer', () => {
        for (const operationName of ['subscription_get', 'preview']) {
            // BUILDING-6
            it(`leaves no quote behind (${operationName})`, async () => {
                const person = await owner(client);
                await fault('billing', operationName, 'timeout', FOR_EVER);
                refused(await preview(person, addition()), 500, 'INTERNAL_ERROR');
                await noFaults();
                await fault('billing', operationName, 'error');
                await quote(person);
            });
        }

        // BUILDING-6
        it('that refuses to price a change prevents its quote', async () => {
            const person = await owner(client);
            await fault('billing', 'preview', 'decline');
            refused(await preview(person, addition()), 409, 'BUILDING_BILLING_MISMATCH');
            await quote(person);
        });

        // BUILDING-6
        it('leaves a quote as it is: the same key executes it later', async () => {
            const person = await owner(client);
            const made = await quote(person);
            const key = idempotencyKey();
            await fault('billing', 'subscription_get', 'error', FOR_EVER);
            refused(await execute(person, made, key), 500, 'INTERNAL_ERROR');
            assert.deepEqual(await operation(person, made.id), made);
            await noFaults();
            ok(await execute(person, made, key), 201);
            await consistent(w, person, 2);
        });
    });

    describe('the operator', () => {
        it('gets an error for an operation that cannot be resolved', async () => {
            const person = await owner(client);
            const made = await quote(person);
            complains(resolve(made.id, 'failed'), 'BAD_REQUEST');
            complains(resolve('f'.repeat(24), 'failed'), 'NOT_FOUND');
            complains(resolve('nonsense', 'failed'), 'INVALID_ID');
            complains(resolve(made.id, 'perhaps'), 'BAD_REQUEST');
        });
    });

    describe('numbers of a subscription', () => {
        const bought = async (id) => ok(await client.get('/sandbox/numbers')).data.filter((row) => row.building_id === id).map((row) => row.number);

        it('are got in the end, and once, when the provider fails or the service crashes', async () => {
            for (const kind of ['timeout', 'error', 'decline']) {
                const person = await signIn(client);
                await fault('numbers', 'acquire', kind);
                const home = await building(person);
                await setSubscription(client, person.email);
                assert.deepEqual(await bought(home.id), []);
                await advance(client, 6);
                assert.deepEqual(await bought(home.id), [(await building(person)).virtual_number]);
            }
            const person = await signIn(client);
            const home = await building(person);
            await fault('numbers', 'acquire', 'crash_after');
            await assert.rejects(setSubscription(client, person.email));
            await restart();
            const number = await eventually(async () => (await building(person)).virtual_number, 'a number');
            assert.deepEqual(await bought(home.id), [number]);
        });

        it('are given back in the end, once the operator or the 30 days took them', async () => {
            const person = await owner(client);
            const { id } = person.building;
            await fault('numbers', 'release', 'timeout');
            assert.equal(admin(w, 'number', 'release', person.number).status, 0);
            assert.equal((await building(person)).virtual_number, null); // until the provider has the old one back
            await postponed("kind = 'release_number'");
            assert.deepEqual(await bought(id), [person.number]);
            const another = await eventually(async () => {
                await advance(client, 6);
                return (await building(person)).virtual_number;
            }, 'another number');
            assert.notEqual(another, person.number);
            assert.deepEqual(await bought(id), [another]);
            await setSubscription(client, person.email, 'canceled');
            await fault('numbers', 'release', 'crash_after');
            await assert.rejects(advance(client, 31 * 86400));
            await restart();
            await eventually(async () => (await bought(id)).length === 0, 'the number is given back');
            const list = told(admin(w, 'number', 'list')).data.filter((row) => [person.number, another].includes(row.number));
            assert.deepEqual(list, []);
        });
    });
});
