export const crypto = globalThis.crypto;
