// Breaks a cluster while clients write, and compares what they were told with what is there.
//
// usage: run.js [--quick] [--again] [--times N] [--ttl S --loop-wait S --retry-timeout S] [SCENARIO…]   `--list` shows the scenarios
//
// Prints one line for each scenario. Exits 0 if none lost, doubled or halved a write, no stream of events missed
// or repeated an event, and clients saw no error of the service but 503 with Retry-After, and not that either
// where the scenario allows none. Times are printed and not judged, except the gap of --strict. With --again, a scenario that failed
// without such a finding runs once more, on a new cluster, and is reported as unstable if it passes then.
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Cluster, Control, NETWORK } from './cluster.js';
import { Record } from './record.js';
import { missing, SCENARIOS } from './scenarios.js';

const PATRONI = { whole: { ttl: 20, loop_wait: 3, retry_timeout: 5 }, quick: { ttl: 10, loop_wait: 1, retry_timeout: 3 } };
const GAP_RATIO = 1.2;

const { values: options, positionals: names } = parseArgs({
    allowPositionals: true,
    options: {
        quick: { type: 'boolean' }, again: { type: 'boolean' }, strict: { type: 'boolean' }, list: { type: 'boolean' }, times: { type: 'string' },
        ttl: { type: 'string' }, 'loop-wait': { type: 'string' }, 'retry-timeout': { type: 'string' },
    },
});
const unknown = names.find((name) => !SCENARIOS[name]);
if (options.list || unknown) {
    for (const [name, { times, quick, about }] of Object.entries(SCENARIOS)) console.log(`${name.padEnd(16)} ${about}; ${times} times, ${quick} in a short run`);
    if (unknown) console.error(`test-cluster: unknown scenario ${unknown}`);
    process.exit(unknown ? 2 : 0);
}

/** Moves the run into a network of its own, where it may make a second one and cut the cable between them. Without that
 *  right it stays, on loopback. */
function enterNetwork() {
    if (process.env.CLUSTER_TEST_NETWORK) return process.env.CLUSTER_TEST_NETWORK === 'own';
    const user = process.getuid() === 0 ? [] : ['--user', '--map-current-user', '--keep-caps'];
    const setUp = `ip link set lo up && ip address add ${NETWORK}/32 dev lo && unshare --net true && exec "$@"`;
    const start = (words, stdio) => spawnSync('unshare', [...user, '--net', '--', 'sh', '-c', setUp, 'sh', ...words],
        { stdio, env: { ...process.env, CLUSTER_TEST_NETWORK: 'own' } });
    if (start(['true'], 'ignore').status !== 0) return false;
    process.exit(start([process.execPath, ...process.argv.slice(1)], 'inherit').status ?? 1);
    return true;
}
const network = enterNetwork();

const times = { ...PATRONI[options.quick ? 'quick' : 'whole'] };
for (const name of Object.keys(times)) times[name] = Number(options[name.replace('_', '-')] ?? times[name]);

const directory = mkdtempSync(join(tmpdir(), 'portero-cluster-'));
chmodSync(directory, 0o711); // PostgreSQL runs as another user
const cluster = new Cluster({
    directory, times, address: network ? NETWORK : '127.0.0.1',
    config: {
        limits: { requests_active: 1e8, requests_free: 1e8, auth_per_ip: 1e8, otp_per_ip: 1e8, plans_per_ip: 1e8 },
        webhooks: { allow_private: true, verify_tls: false },
    },
});
const finish = async () => {
    try {
        await cluster.stop();
    } finally {
        rmSync(directory, { recursive: true, force: true });
    }
};
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => finish().finally(() => process.exit(1)));

const list = (numbers) => numbers.map((ms) => (ms / 1000).toFixed(1)).join(' ');

/** The gaps of all times in seconds, as text, and the median of their ratios: the loop of psql may miss its moment. */
function describeGaps(gaps) {
    if (gaps.length === 0) return { text: '', ratio: 0 };
    const ratio = gaps.map((gap) => gap.service / gap.control).sort((a, b) => a - b)[Math.floor(gaps.length / 2)];
    return { text: ` gap="${list(gaps.map((gap) => gap.service))}" libpq="${list(gaps.map((gap) => gap.control))}" ratio=${ratio.toFixed(2)}`, ratio };
}

/** {good, finding}: a finding is a write or an event that was lost, doubled or halved. `all` gets what must be ended if this throws. */
async function runScenario(name, all) {
    const scenario = SCENARIOS[name];
    const count = Number(options.times ?? (options.quick ? scenario.quick : scenario.times));
    if (count === 0 && names.length === 0) return { good: true };
    const why = missing(scenario, { network });
    if (why) {
        console.log(`${name}: NOT RUN: ${why}`);
        return { good: names.length === 0 };
    }
    const began = Date.now();
    if (!scenario.alone) {
        if (scenario.targets.includes('node3') && !cluster.holder) {
            await cluster.addCable();
            await cluster.healthy(['node3']);
        }
        await cluster.healthy();
        await scenario.before?.(all);
        all.control = await Control.start(cluster);
        all.record = await Record.start(cluster, scenario.targets, { readers: scenario.readers });
    }
    let failure;
    try {
        for (let time = 0; time < Math.max(1, count); time++) await scenario.fault({ ...all, time });
    } catch (error) {
        failure = error;
    }
    await all.control?.stop();
    await cluster.healthy().catch((error) => { failure ??= error; });
    const result = await all.record?.finish({ delivered: !options.quick }) ?? { acknowledged: 0, open: 0, lost: 0, doubled: 0, half: 0, longest_ms: 0, call_ms: 0, errors: {}, problems: [] };
    const gap = describeGaps(all.gaps);
    const errors = Object.entries(result.errors).map(([kind, n]) => `${n} x ${kind}`).join(', ') || '0';
    const fiveHundreds = Object.entries(result.errors).filter(([kind]) => kind.startsWith('5')).reduce((n, [, more]) => n + more, 0);
    const followed = result.followed ?? { problems: [], missed: 0, twice: 0 };
    const streams = result.followed ? ` streams=${followed.streams} told=${followed.told} connections=${followed.connections}${scenario.cuts ? ` cut=${all.record.followers.cuts}` : ''} `
        + `resets=${followed.resets} missed=${followed.missed} twice=${followed.twice}` : '';
    result.problems.push(...followed.problems);
    const finding = Boolean(followed.missed || followed.twice || result.lost || result.doubled || result.half);
    const good = !failure && !finding && result.problems.length === 0
        && !(scenario.unbroken && result.errors['broken connection']) && (options.quick || scenario.errors || !fiveHundreds) && !(options.strict && gap.ratio > GAP_RATIO);
    console.log(`${name}: ${good ? 'passed' : 'FAILED'} times=${count} acknowledged=${result.acknowledged} open=${result.open} lost=${result.lost} `
        + `doubled=${result.doubled} half=${result.half} 5xx=${fiveHundreds} errors="${errors}" longest=${(result.longest_ms / 1000).toFixed(1)} s call=${(result.call_ms / 1000).toFixed(1)} s${gap.text}${streams} `
        + `took=${((Date.now() - began) / 1000).toFixed(0)} s`);
    if (failure) console.log(failure.stack);
    for (const line of result.problems.slice(0, 10)) console.log(`    ${line.slice(0, 400)}`);
    return { good, finding };
}

/** A scenario that failed may leave a broken cluster, so the next one gets a new one. */
async function renew() {
    cluster.removeCable();
    await cluster.stop();
    await cluster.start();
}

/** A scenario that could not be set up or compared has failed without a finding. */
async function outcome(name) {
    const all = { cluster, quick: options.quick, gaps: [] };
    try {
        return await runScenario(name, all);
    } catch (error) {
        console.log(`${name}: FAILED\n${error.stack}`);
        await all.control?.stop();
        await all.record?.abandon();
        return { good: false };
    }
}

/** Whether the scenario passed. */
async function judge(name) {
    const first = await outcome(name);
    if (first.good) return true;
    await renew();
    if (!options.again || first.finding) return false;
    const second = await outcome(name);
    if (second.good) console.log(`unstable: cluster ${name}: passed when it ran again; the first failure is above`);
    else await renew();
    return second.good;
}

let failed = 1;
try {
    const began = Date.now();
    await cluster.start();
    console.log(`cluster: started after ${((Date.now() - began) / 1000).toFixed(0)} s, Patroni ${JSON.stringify(times)}, ${network ? 'in a network of its own' : 'on loopback'}`);
    failed = 0;
    for (const name of names.length ? names : Object.keys(SCENARIOS)) if (!await judge(name)) failed++;
} finally {
    await finish();
}
console.log(`cluster: ${failed ? `${failed} FAILED` : 'passed'}`);
process.exit(failed ? 1 : 0);
