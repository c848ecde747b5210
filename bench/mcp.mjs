// Tool calls of assistants next to the same requests without the protocol: the CPU that each costs, on one server in turn.
import { join } from 'node:path';
import { median, result, sideBySide, stop } from './lib.mjs';
import { portero, root } from './peers.mjs';
import { ACCOUNTS } from './seed.mjs';

const KEYS = String(ACCOUNTS), ROUNDS = 9, SECONDS = 2;
const script = (name) => join(root, 'bench/load', `${name}.lua`);

/** Rounds of both loads, each with its script and the arguments of a round. */
async function pair(title, server, loads) {
  const entry = ([name, { script: file, args }]) => [name, { url: server.http, pid: server.pid, script: script(file), get args() { return args(); } }];
  const runs = await sideBySide(Object.fromEntries(Object.entries(loads).map(entry)), { seconds: SECONDS, rounds: ROUNDS });
  const us = (list) => median(list.map((one) => one.cpuPerRequest)) * 1e6;
  result(title, us(runs.mcp), 'us', us(runs.plain), 'the plain request', '<= 1.3',
    median(runs.mcp.map((one, i) => one.cpuPerRequest / runs.plain[i].cpuPerRequest)));
}

export async function mcp(data) {
  const server = await portero(data), keys = join(data, 'keys');
  let round = 0;
  const name = () => `${process.pid}-${round++}`; // no round repeats the creations of another
  await pair('tool call getUnlock, CPU', server, {
    plain: { script: 'read', args: () => [keys, 'one', KEYS] },
    mcp: { script: 'mcp', args: () => [keys, 'one', KEYS] },
  });
  await pair('tool call createUnlock, CPU', server, {
    plain: { script: 'create', args: () => [keys, KEYS, name()] },
    mcp: { script: 'mcp', args: () => [keys, 'create', KEYS, name()] },
  });
  await stop(server);
}
