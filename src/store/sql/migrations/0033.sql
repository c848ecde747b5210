-- oldest program: 21
-- The purge finds old events of all buildings by their time. A walk from building to building read every building each
-- hour, also those without events.

CREATE INDEX feed_at ON feed (at);
