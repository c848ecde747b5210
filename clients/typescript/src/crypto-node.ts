// Node.js 18 has no global Web Crypto.
export { webcrypto as crypto } from 'node:crypto';
