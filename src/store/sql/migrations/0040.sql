-- oldest program: 21
-- Listening to calls is a scope of its own (bit 1024). Keys that could listen before keep it: they have access:write (4)
-- and logs:read (8). An earlier program does not know it, and gives it to no key.

UPDATE api_key SET scopes = scopes | 1024 WHERE kind = 'agent' AND (scopes & 12) = 12 AND revoked_at IS NULL;
UPDATE oauth_grant SET scopes = scopes | 1024 WHERE (scopes & 12) = 12;
UPDATE oauth_code SET scopes = scopes | 1024 WHERE (scopes & 12) = 12;
