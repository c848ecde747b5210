-- When an endpoint may have a delivery to be taken, so that those that only wait are not looked at.

CREATE TABLE delivery_lane (
    webhook_id TEXT NOT NULL PRIMARY KEY,
    due_at {int} NOT NULL               -- on the service's clock, never later than there is one; the greatest: none is pending
) {clustered};
CREATE INDEX delivery_lane_due ON delivery_lane (due_at, webhook_id);
INSERT INTO delivery_lane (webhook_id, due_at)
SELECT webhook_id, min(due_at) FROM delivery WHERE status = 'pending' GROUP BY webhook_id;
