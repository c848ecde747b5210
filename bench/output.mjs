// The cost of replies that the client does not read.
import { connect as tcp } from 'node:net';
import { connect as tls } from 'node:tls';
import { memoryOf, result, sized, stop } from './lib.mjs';
import { portero } from './peers.mjs';

const CONNECTIONS = sized(1000, 50), REQUESTS = 20;
const SETTLE_MS = sized(2000, 100), CLOSE_MS = sized(3000, 100);
const REQUEST = 'GET /openapi.json HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-Proto: https\r\n\r\n';
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** A connection whose client sends many requests, or no request, and reads nothing. */
function open(url, requests) {
  const { hostname, port, protocol } = new URL(url);
  const options = { host: hostname, port: Number(port), rejectUnauthorized: false };
  return new Promise((resolve, reject) => {
    const ready = () => {
      socket.pause();
      if (requests) socket.write(REQUEST.repeat(requests));
      resolve(socket);
    };
    const socket = protocol === 'https:' ? tls(options, ready) : tcp(options, ready);
    socket.on('error', reject);
  });
}

async function openAll(url, requests) {
  const sockets = [];
  while (sockets.length < CONNECTIONS) sockets.push(...(await Promise.all(Array.from({ length: 50 }, () => open(url, requests)))));
  await wait(SETTLE_MS);
  sockets.forEach((socket) => socket.removeAllListeners('error').on('error', () => {}));
  return sockets;
}

export async function output(data) {
  for (const [name, scheme] of [['plain, behind a proxy', 'http'], ['TLS', 'https']]) {
    const server = await portero(data);
    const memory = () => memoryOf(server.pid) / 1e6;
    const close = async (sockets) => (sockets.forEach((s) => s.destroy()), wait(CLOSE_MS));
    await close(await openAll(server[scheme], 0));
    const before = memory();
    const idle = await openAll(server[scheme], 0);
    const idling = memory() - before;
    await close(idle);
    const start = memory();
    const greedy = await openAll(server[scheme], REQUESTS);
    const held = memory() - start;
    result(`1,000 that ask ${REQUESTS} times and never read, ${name}`, held - idling, 'MB', 20, 'asked for', '<= 1');
    await close(greedy);
    console.log(`  not counted is what 1,000 idle ones have, ${idling.toFixed(1)} MB; after the greedy ones have gone ${(memory() - start).toFixed(1)} MB more than before`);
    await stop(server);
  }
}
