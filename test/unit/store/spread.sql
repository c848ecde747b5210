-- Fills an empty store on PostgreSQL for spread_test.c and bench/plans.c. portero.rows grants and log entries, in a tenth as
-- many buildings; the first building has portero.more besides. Rows are inserted building after building, round after
-- round, as they arrive in use. Of each kind that a statement searches for, a store of 10,000 grants has more than the
-- statement takes, so that it takes no more of a larger store.
--
-- The functions give the IDs of the building number portero.at, from 0, for the arguments in spread.def.

CREATE FUNCTION size() RETURNS bigint LANGUAGE sql STABLE AS $$SELECT current_setting('portero.rows')::bigint$$;
CREATE FUNCTION buildings() RETURNS bigint LANGUAGE sql STABLE AS $$SELECT size() / 10$$;
-- Grants and log entries of the large building, besides its share of the others.
CREATE FUNCTION more() RETURNS bigint LANGUAGE sql STABLE AS $$SELECT current_setting('portero.more')::bigint$$;
-- IDs ascend with time, so they are inserted in their order.
CREATE FUNCTION id_of(kind text, i bigint) RETURNS text LANGUAGE sql IMMUTABLE AS
    $$SELECT kind || lpad(to_hex(i), 14, '0') || right(md5(i::text), 9)$$;
CREATE FUNCTION grant_of(i bigint) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$SELECT decode(id_of('d', i), 'hex')$$;
CREATE FUNCTION pass_of(i bigint) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$SELECT decode(id_of('e', i), 'hex')$$;
CREATE FUNCTION now_us() RETURNS bigint LANGUAGE sql IMMUTABLE AS $$SELECT 1760000000000000$$;
CREATE FUNCTION at() RETURNS bigint LANGUAGE sql STABLE AS $$SELECT current_setting('portero.at')::bigint$$;
CREATE FUNCTION account() RETURNS text LANGUAGE sql STABLE AS $$SELECT id_of('a', at())$$;
CREATE FUNCTION building() RETURNS text LANGUAGE sql STABLE AS $$SELECT id_of('b', at())$$;
CREATE FUNCTION building_number() RETURNS bigint LANGUAGE sql STABLE AS $$SELECT at() + 1$$;
CREATE FUNCTION email() RETURNS text LANGUAGE sql STABLE AS $$SELECT 'resident' || at() || '@example.com'$$;
CREATE FUNCTION phone() RETURNS text LANGUAGE sql STABLE AS $$SELECT '+1888' || lpad(at()::text, 8, '0')$$;
CREATE FUNCTION virtual_number() RETURNS text LANGUAGE sql STABLE AS $$SELECT '+1999' || lpad(at()::text, 8, '0')$$;
CREATE FUNCTION caller() RETURNS text LANGUAGE sql STABLE AS $$SELECT '+1777' || lpad(at()::text, 8, '0')$$;
CREATE FUNCTION subscription() RETURNS text LANGUAGE sql STABLE AS $$SELECT 'sub_' || at()$$;
CREATE FUNCTION key_hash() RETURNS bytea LANGUAGE sql STABLE AS $$SELECT sha256(at()::text::bytea)$$;
-- Of the account's browser.
CREATE FUNCTION browser_hash() RETURNS bytea LANGUAGE sql STABLE AS $$SELECT sha256((at() + buildings())::text::bytea)$$;
CREATE FUNCTION key_id() RETURNS text LANGUAGE sql STABLE AS $$SELECT id_of('c', at())$$;
-- The grant of the fifth round, and the like.
CREATE FUNCTION pass_id() RETURNS bytea LANGUAGE sql STABLE AS $$SELECT pass_of(at() + 4 * buildings())$$;
CREATE FUNCTION grant_id() RETURNS bytea LANGUAGE sql STABLE AS $$SELECT grant_of(at() + 4 * buildings())$$;
CREATE FUNCTION grant_text() RETURNS text LANGUAGE sql STABLE AS $$SELECT id_of('d', at() + 4 * buildings())$$;
CREATE FUNCTION call_id() RETURNS text LANGUAGE sql STABLE AS $$SELECT id_of('c', at() + buildings())$$;
CREATE FUNCTION event_id() RETURNS text LANGUAGE sql STABLE AS $$SELECT id_of('e', at() + buildings())$$;
CREATE FUNCTION webhook_id() RETURNS text LANGUAGE sql STABLE AS $$SELECT id_of('w', at() / 5 * 5)$$;
CREATE FUNCTION webhook_account() RETURNS text LANGUAGE sql STABLE AS $$SELECT id_of('a', at() / 5 * 5)$$;
CREATE FUNCTION hook_id() RETURNS text LANGUAGE sql STABLE AS $$SELECT id_of('f', at() / 5 * 5)$$;
CREATE FUNCTION hook_building() RETURNS text LANGUAGE sql STABLE AS $$SELECT id_of('b', at() / 5 * 5)$$;
CREATE FUNCTION delivery_id() RETURNS text LANGUAGE sql STABLE AS $$SELECT id_of('e', at() / 5 * 5 + buildings())$$;

INSERT INTO account (id, email, created_at, plan, subscription_status, phone, phone_verified_at, customer_id, subscription_id)
SELECT id_of('a', i), 'resident' || i || '@example.com', now_us(), 'weekly', 'active', '+1888' || lpad(i::text, 8, '0'), now_us(),
    'cus_' || i, 'sub_' || i
FROM generate_series(0, buildings() - 1) AS i;

INSERT INTO building (account_id, id, created_at, is_primary, label, street, city, virtual_number, unlock_tone)
SELECT id_of('a', i), id_of('b', i), now_us(), 1, 'Home', i || ' Main Street', 'Springfield', '+1999' || lpad(i::text, 8, '0'), '9'
FROM generate_series(0, buildings() - 1) AS i;

INSERT INTO number (number, country, building_id, held_since, pooled)
SELECT '+1999' || lpad(i::text, 8, '0'), 'US', CASE WHEN i < buildings() THEN id_of('b', i) END, now_us(), 1
FROM generate_series(0, buildings() * 11 / 10) AS i;

-- A session and an agent's key each, and a key that was revoked.
INSERT INTO api_key (hash, id, account_id, kind, name, prefix, scopes, created_at, expires_at, last_used_at, revoked_at)
SELECT sha256(i::text::bytea), id_of('c', i), id_of('a', i % buildings()), CASE i / buildings() WHEN 1 THEN 'web_session' ELSE 'agent' END,
    'Key', 'svc_agent_000000', 255, now_us(), CASE i / buildings() WHEN 1 THEN now_us() + 86400000000 END, now_us(),
    CASE i / buildings() WHEN 2 THEN now_us() END
FROM generate_series(0, 3 * buildings() - 1) AS i;

-- The sessions belong to browsers.
INSERT INTO browser (hash, id, account_id, program, system, remembered, created_at)
SELECT hash, id, account_id, 'Firefox', 'Linux', 1, created_at FROM api_key WHERE kind = 'web_session';

-- The agents' keys belong to connected assistants, and each account has a code.
INSERT INTO oauth_grant (account_id, key_id, family, token, client, scopes, resource, created_at, expires_at)
SELECT account_id, id, hash, sha256(''), sha256('client'), 1, 1, created_at, now_us() + 86400000000 FROM api_key WHERE kind = 'agent';
INSERT INTO oauth_code (hash, account_id, client, redirect, challenge, scopes, resource, expires_at, used)
SELECT hash, account_id, sha256('client'), sha256(''), '', 1, 1, now_us() + get_byte(hash, 0), 1 FROM api_key WHERE revoked_at IS NULL AND kind = 'agent';

-- All of them get notices, and some have a message that waits.
INSERT INTO push (building_id, hash, account_id, notices, language, endpoint, p256dh, auth, created_at)
SELECT 'b' || substr(account_id, 2), hash, account_id, 7, 'en', 'https://push.example.com/' || id, sha256(''), sha256(''), created_at FROM browser;
INSERT INTO push_message (building_id, hash, notice, account_id, at, payload, due_at)
SELECT building_id, hash, 0, account_id, now_us(), '{}', now_us() + get_byte(hash, 0) FROM push WHERE get_byte(hash, 1) < 16;
INSERT INTO notice (id, building_id, notices, at, minutes) SELECT id_of('n', i), id_of('b', i), 1, now_us(), 0 FROM generate_series(0, buildings() / 4) AS i;
INSERT INTO notice_mail (building_id, account_id, notices, language, paid_until)
SELECT id_of('b', i), id_of('a', i), 1, 'en', 0 FROM generate_series(0, buildings() - 1, 2) AS i;

INSERT INTO member (building_id, id, account_id, name, email, created_at)
SELECT id_of('b', i), id_of('m', i), id_of('a', i), 'Member', 'member' || i || '@example.com', now_us()
FROM generate_series(0, buildings() - 1) AS i;

INSERT INTO challenge (id, email, otp_mac, expires_at)
SELECT id_of('c', i), 'resident' || i || '@example.com', sha256(''), now_us() - i FROM generate_series(0, buildings() / 4) AS i;

INSERT INTO grant_building (id, number) SELECT id_of('b', i), i + 1 FROM generate_series(0, buildings() - 1) AS i;

-- Of five grants one was revoked, one is disabled, one has no uses left, one has ended; timers, passcodes and routines.
INSERT INTO access_grant (building, revoked, id, type, label, enabled, created_at, starts_at, ends_at, remaining_uses, access_code,
    request_id, request_key, request_hash)
SELECT CASE WHEN i < size() THEN i % buildings() + 1 ELSE 1 END, (r % 5 = 0)::int, grant_of(i), CASE WHEN i < size() THEN r % 3 ELSE 0 END,
    'Visitor ' || i % 1000, (r % 5 <> 1)::int, now_us() + i, 0,
    CASE WHEN r % 5 = 2 OR i >= size() THEN now_us() - 1 - i % 1000000 ELSE 9223372036854775807 END,
    CASE WHEN r % 5 = 3 THEN 0 WHEN r % 2 = 0 THEN 3 END, CASE WHEN r % 3 = 1 AND i < size() THEN lpad(r::text, 4, '0') END,
    'request-' || lpad(i::text, 24, '0'), ('x' || left(md5(i::text), 15))::bit(60)::bigint, decode(md5(i::text), 'hex')
FROM (SELECT i, CASE WHEN i < size() THEN i / buildings() ELSE i END AS r FROM generate_series(0, size() + more() - 1) AS i) AS rounds;
-- Every fourth grant has a link.
INSERT INTO guest_link (building_id, grant_id, hash, token, created_at)
SELECT id_of('b', i % buildings()), grant_of(i), encode(sha256(grant_of(i)), 'hex'), decode(repeat('ab', 54), 'hex'), now_us()
FROM generate_series(0, size() - 1, 4) AS i;
-- Half as many passes.
INSERT INTO pass (building_id, revoked, id, type, label, enabled, created_at, starts_at, ends_at, remaining_uses, access_code, timezone, windows,
    request_id, request_key, request_hash)
SELECT id_of('b', i % buildings()), (r % 5 = 0)::int, pass_of(i), r % 3, 'Visitor ' || i % 1000, (r % 5 <> 1)::int, now_us() + i, 0,
    CASE WHEN r % 5 = 2 THEN now_us() - 1 - i % 1000000 ELSE 9223372036854775807 END,
    CASE WHEN r % 5 = 3 THEN 0 WHEN r % 2 = 0 THEN 3 END, CASE WHEN r % 3 = 1 THEN lpad(r::text, 6, '0') END, 'UTC', '',
    'request-' || lpad(i::text, 24, '0'), ('x' || left(md5(i::text), 15))::bit(60)::bigint, decode(md5(i::text), 'hex')
FROM (SELECT i, i / buildings() AS r FROM generate_series(0, size() / 2 - 1) AS i) AS rounds;
INSERT INTO grant_count (building, enabled)
SELECT building, count(*) FROM access_grant WHERE revoked = 0 AND enabled = 1 GROUP BY building;

INSERT INTO activity_kind (building_id, kind, type, unlock_type, name, name_folded, succeeded)
SELECT id_of('b', i % buildings()), i / buildings() + 1, CASE i / buildings() WHEN 4 THEN 'call' ELSE 'unlock' END, 'passcode',
    'Visitor ' || i / buildings(), 'visitor ' || i / buildings(), (i / buildings() <> 3)::int
FROM generate_series(0, 5 * buildings() - 1) AS i;
INSERT INTO activity (building_id, created_at, id, kind, unlock_id)
SELECT id_of('b', CASE WHEN i < size() THEN i % buildings() ELSE 0 END), now_us() + i, id_of('e', i), i / buildings() % 5 + 1,
    CASE WHEN i % 2 = 0 THEN id_of('d', i) END
FROM generate_series(0, size() + more() - 1) AS i;

INSERT INTO call_record (building_id, id, account_id, started_at, ended_at, front_end, source, dialled, caller, outcome, reason, grant_id,
    resident_opened, ended_by, steps)
SELECT id_of('b', i % buildings()), id_of('c', i), id_of('a', i % buildings()), now_us() + i, now_us() + i + 20000000, 'sip', '198.51.100.7',
    '+1999' || lpad((i % buildings())::text, 8, '0'), '+1777' || lpad((i % buildings())::text, 8, '0'), 'released', 'code', id_of('d', i), 0,
    'service', repeat('a line of the story' || chr(10), 12)
FROM generate_series(0, 2 * buildings() - 1) AS i;
INSERT INTO visit (building_id, id, started_at, outcome, opened_by, grant_id, grant_name)
SELECT building_id, id, started_at, 'opened', 'code', grant_id, 'Visitor' FROM call_record;
INSERT INTO feed (building_id, seq, at, type, data)
SELECT id_of('b', i % buildings()), i / buildings() + 1, now_us() + i, 'call.released', repeat('"a": "field", ', 12)
FROM generate_series(0, 4 * buildings() - 1) AS i;
INSERT INTO feed_counter (building_id, seq) SELECT id_of('b', i), 1000 FROM generate_series(0, buildings() - 1) AS i;
INSERT INTO call_message (call_id, building_id, seconds, audio)
SELECT id_of('c', i), id_of('b', i % buildings()), 5, sha256('') FROM generate_series(0, buildings() / 4) AS i;
INSERT INTO recording (building_id, which, id, created_at, length, audio)
SELECT id_of('b', i), 0, id_of('r', i), now_us(), 32, sha256('') FROM generate_series(0, buildings() / 4) AS i;
INSERT INTO door_caller (building_id, number, released_at)
SELECT id_of('b', i % buildings()), '+1777' || lpad(i::text, 8, '0'), now_us() + i FROM generate_series(0, 3 * buildings() - 1) AS i;
INSERT INTO door_guard (building_id, known, failed_1) SELECT id_of('b', i), 0, now_us() + i FROM generate_series(0, buildings() - 1, 2) AS i;
INSERT INTO twilio_call (sid, step, updated_at, ended, state, answer)
SELECT 'CA' || md5(i::text), 1, now_us() + i, 0, '{}', '<Response/>' FROM generate_series(0, buildings() / 4) AS i;

-- An endpoint for one of five accounts, a delivery for each of their events; one of ten deliveries waits.
INSERT INTO webhook (account_id, id, created_at, url, events, secret, request_id, request_hash)
SELECT id_of('a', i), id_of('w', i), now_us(), 'https://example.com/hook', 255, sha256(''), 'request', sha256('')
FROM generate_series(0, buildings() - 1, 5) AS i;
INSERT INTO event (account_id, id, building_id, type, created_at, data)
SELECT id_of('a', i % buildings()), id_of('e', i), id_of('b', i % buildings()), 'unlock.succeeded', now_us() + i, repeat('"a": "field", ', 20)
FROM generate_series(0, 2 * buildings() - 1) AS i;
INSERT INTO delivery (webhook_id, id, account_id, event_id, created_at, status, attempts, due_at)
SELECT id_of('w', i % buildings()), id_of('e', i), id_of('a', i % buildings()), id_of('e', i), now_us() + i,
    CASE WHEN i % 50 = 0 THEN 'pending' ELSE 'delivered' END, 1, now_us() + i
FROM generate_series(0, 2 * buildings() - 1, 5) AS i;
INSERT INTO delivery_lane (webhook_id, due_at)
SELECT id_of('w', i), CASE WHEN i % 50 = 0 THEN now_us() + i ELSE 9223372036854775807 END FROM generate_series(0, buildings() - 1, 5) AS i;
INSERT INTO building_webhook (account_id, building_id, id, created_at, url, events, secret, request_id, request_hash, due_at)
SELECT id_of('a', i), id_of('b', i), id_of('f', i), now_us(), 'https://example.com/hook', 31, sha256(''), 'request', sha256(''), now_us() + i
FROM generate_series(0, buildings() - 1, 5) AS i;
INSERT INTO job (id, kind, created_at, due_at, payload)
SELECT 'job-' || i, 'mail', now_us(), now_us() + i * 1000000, '' FROM generate_series(0, buildings() / 4) AS i;
-- A node that has died.
INSERT INTO node (id, version, schema_version, host, address, started_at, heartbeat_at, ahead_us) VALUES ('dead', '', 1, '', '', 0, 0, 0);

INSERT INTO building_operation (account_id, id, action, status, created_at, expires_at, building_id, label, building_count, subscription_id,
    price_id, current_quantity, new_quantity, currency, next_invoice_minor, proration_s, request_id)
SELECT id_of('a', i), id_of('o', i), 'add', CASE WHEN i % 1000 = 0 THEN 'running' ELSE 'succeeded' END, now_us(), now_us(), id_of('b', i), 'Home', 1,
    'sub_' || i, 'price', 1, 2, 'usd', 100, 0, 'request'
FROM generate_series(0, buildings() - 1, 2) AS i;
INSERT INTO phone_code (account_id, id, phone, code_mac, created_at, expires_at, sent_at)
SELECT id_of('a', i), id_of('p', i), '+1888' || lpad(i::text, 8, '0'), sha256(''), now_us(), now_us() + i, now_us()
FROM generate_series(0, buildings() / 4) AS i;
INSERT INTO phone_change (account_id, id, phone, created_at)
SELECT id_of('a', i), id_of('p', i), '+1888' || lpad(i::text, 8, '0'), now_us() FROM generate_series(0, buildings() - 1) AS i;
INSERT INTO checkout (account_id, id, request_id, request_hash, status, created_at, checked_at, plan, quantity, email, return_url, session_id,
    subscription_id)
SELECT id_of('a', i), id_of('x', i), 'request', sha256(''), CASE WHEN i % 100 = 0 THEN 'open' ELSE 'complete' END, now_us() + i, now_us() + i,
    'weekly', 1, 'resident' || i || '@example.com', 'https://example.com', 'cs_' || i, 'sub_' || i
FROM generate_series(0, buildings() - 1) AS i;
INSERT INTO checkout_alias (account_id, request_id, request_hash, checkout_id)
SELECT id_of('a', i), 'alias', sha256(''), id_of('x', i) FROM generate_series(0, buildings() - 1, 5) AS i;
INSERT INTO billing_event (id, received_at) SELECT 'evt_' || i, now_us() + i FROM generate_series(0, buildings() - 1) AS i;
INSERT INTO commit_mark (worker, mark, created_at) SELECT i / 256, i, now_us() FROM generate_series(0, 20000) AS i;
