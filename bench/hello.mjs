// ClientHellos (RFC 8446, RFC 5246) that cost the client no computation: made once, sent many times.
import { createECDH, generateKeyPairSync, randomBytes } from 'node:crypto';

const X25519 = 0x1d, P256 = 0x17, P384 = 0x18, FFDHE8192 = 0x104;
const COUNT = 60_000; // about the maximum of a list in a ClientHello, in bytes

const u16 = (n) => Buffer.from([n >> 8, n & 255]);
const counted = (bytes, width) => Buffer.concat([Buffer.from([n24(bytes.length)].flat().slice(3 - width)), bytes]);
const n24 = (n) => [(n >> 16) & 255, (n >> 8) & 255, n & 255];
const list = (numbers) => counted(Buffer.concat(numbers.map(u16)), 2);
const repeat = (bytes, size) => Buffer.concat(Array.from({ length: Math.floor(size / bytes.length) }, () => bytes));

const point = (curve) => createECDH(curve).generateKeys();
const x25519 = () => generateKeyPairSync('x25519').publicKey.export({ type: 'spki', format: 'der' }).subarray(-32);
const prime = () => Buffer.concat([Buffer.from([1]), randomBytes(1023)]); // below the group's prime
const share = (group, key) => Buffer.concat([u16(group), counted(key, 2)]);
const SHARES = {
  [X25519]: () => share(X25519, x25519()), [P256]: () => share(P256, point('prime256v1')),
  [P384]: () => share(P384, point('secp384r1')), [FFDHE8192]: () => share(FFDHE8192, prime()),
};

const extension = (type, bytes) => Buffer.concat([u16(type), counted(bytes, 2)]);

/** A handshake message in as many records as necessary. */
function records(message) {
  const out = [];
  for (let at = 0; at < message.length; at += 16384) {
    out.push(Buffer.concat([Buffer.from([22, 3, 1]), counted(message.subarray(at, at + 16384), 2)]));
  }
  return Buffer.concat(out);
}

function hello({ version = 0x304, groups = [X25519], shares = groups.slice(0, 1).map((g) => SHARES[g]()), ciphers, signatures, identities }) {
  const modern = version === 0x304;
  const extensions = [
    extension(10, list(groups)),
    extension(11, Buffer.from([1, 0])),
    extension(13, signatures ?? list([0x0403, 0x0804, 0x0401])),
    ...(modern ? [extension(43, Buffer.from([2, 3, 4])), extension(45, Buffer.from([1, 1])), extension(51, counted(Buffer.concat(shares), 2))] : []),
    ...(identities ? [extension(41, identities)] : []),
  ];
  const body = Buffer.concat([
    u16(0x303), randomBytes(32), counted(randomBytes(32), 1),
    ciphers ?? list(modern ? [0x1302, 0x1303, 0x1301] : [0xc02b, 0xc02f, 0xcca9, 0xcca8]),
    Buffer.from([1, 0]), counted(Buffer.concat(extensions), 2),
  ]);
  return records(Buffer.concat([Buffer.from([1]), counted(body, 3)]));
}

/** That many bytes of pre-shared keys, each with the name of a ticket key of the server. */
function identities(ticket, size) {
  const name = ticket ? ticket.subarray(0, 16) : randomBytes(16);
  const identity = Buffer.concat([counted(Buffer.concat([name, randomBytes(16 + 32)]), 2), randomBytes(4)]);
  const all = repeat(identity, size);
  const binders = repeat(counted(randomBytes(32), 1), (all.length / identity.length) * 33);
  return Buffer.concat([counted(all, 2), counted(binders, 2)]);
}

/** Each hello by name: the flights to send, the next one after each answer. `ticket`: issued by the server. */
export function hellos(ticket) {
  const retried = { groups: [P384, P256], shares: [SHARES[P384]()] };
  return {
    X25519: [hello({})],
    'P-256': [hello({ groups: [P256] })],
    'TLS 1.2, X25519': [hello({ version: 0x303, groups: [X25519, P256] })],
    'TLS 1.2, P-256': [hello({ version: 0x303, groups: [P256] })],
    'asked to try again with P-256': [hello(retried), hello({ ...retried, shares: [SHARES[P256]()] })],
    '1,000 key shares': [hello({ groups: [...Array(1000).fill(0x6a6a), X25519], shares: [...Array.from({ length: 1000 }, () => share(0x6a6a, randomBytes(32))), SHARES[X25519]()] })],
    '30,000 cipher suites': [hello({ ciphers: counted(Buffer.concat([u16(0x1301), repeat(u16(0xc02b), COUNT)]), 2) })],
    '30,000 signature schemes': [hello({ signatures: counted(Buffer.concat([u16(0x0403), repeat(u16(0x0807), COUNT)]), 2) })],
    '400 tickets': [hello({ identities: identities(ticket, COUNT / 2) })],
    'lists as long as they may be': [hello({
      groups: [...Array(200).fill(0x6a6a), X25519],
      ciphers: counted(Buffer.concat([repeat(u16(0xc02b), 1020), u16(0x1301)]), 2), signatures: counted(Buffer.concat([u16(0x0403), repeat(u16(0x0807), 2040)]), 2),
      identities: identities(ticket, 1300), shares: [...Array.from({ length: 200 }, () => share(0x6a6a, randomBytes(32))), SHARES[X25519]()],
    })],
    'P-384': [hello({ groups: [P384] })],
    ffdhe8192: [hello({ groups: [FFDHE8192] })],
  };
}
