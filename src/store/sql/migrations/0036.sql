-- oldest program: 21
-- Clients of OAuth that are known by the address of their document (domain/oauth_client.h): the name in it that the
-- resident has agreed to, and whether several installations of a program share the address. Programs before this
-- migration issue no code to such clients, and refuse one of theirs.

ALTER TABLE oauth_code ADD COLUMN client_name TEXT;
ALTER TABLE oauth_code ADD COLUMN shared {int} NOT NULL DEFAULT 0;  -- 1: earlier grants of the client stay
