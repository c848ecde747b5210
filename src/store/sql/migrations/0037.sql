-- oldest program: 21
-- Endpoints of the earlier revision of the interface (domain/building_webhook.h). In a table of their own, because an
-- earlier program would send them deliveries of the current revision. It does not find these endpoints, nor when their
-- deliveries are due, and deletes them with their building.

CREATE TABLE building_webhook (
    building_id TEXT NOT NULL,
    id TEXT NOT NULL,
    account_id TEXT NOT NULL,
    created_at {int} NOT NULL,
    url TEXT NOT NULL,
    events {int} NOT NULL,              -- bits in the order of tbl/earlier_events.def
    description TEXT,
    active {int} NOT NULL DEFAULT 1,
    failures {int} NOT NULL DEFAULT 0,  -- deliveries that have failed since the last success
    secret {blob} NOT NULL,             -- sealed
    request_id TEXT,                    -- the creation's Idempotency-Key
    request_hash {blob},                -- SHA-256 of its canonical body
    deleted_at {int},                   -- kept, for the creation's receipt
    due_at {int} NOT NULL DEFAULT 9223372036854775807, -- as in delivery_lane
    PRIMARY KEY (building_id, id),
    FOREIGN KEY (account_id, building_id) REFERENCES building (account_id, id) ON DELETE CASCADE
) {clustered};
CREATE UNIQUE INDEX building_webhook_id ON building_webhook (id);
CREATE UNIQUE INDEX building_webhook_request ON building_webhook (building_id, request_id) WHERE request_id IS NOT NULL;
CREATE INDEX building_webhook_live ON building_webhook (building_id, id, events) WHERE deleted_at IS NULL;
CREATE INDEX building_webhook_account ON building_webhook (account_id, id);
CREATE INDEX building_webhook_due ON building_webhook (due_at, id);

-- A deleted building's deliveries end, whichever program deletes it.
{sqlite
CREATE TRIGGER building_webhook_gone AFTER DELETE ON building_webhook BEGIN
    UPDATE delivery SET status = 'canceled' WHERE webhook_id = OLD.id AND status = 'pending';
END;
}
{postgresql
CREATE FUNCTION building_webhook_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE delivery SET status = 'canceled' WHERE webhook_id = OLD.id AND status = 'pending';
    RETURN NULL;
END $$;
CREATE TRIGGER building_webhook_gone AFTER DELETE ON building_webhook
FOR EACH ROW EXECUTE FUNCTION building_webhook_gone();
}

ALTER TABLE delivery ADD COLUMN took_ms {int};  -- the last attempt; earlier programs leave it
