-- What webhook deliveries are made from.

-- name: event_insert
INSERT INTO event (account_id, id, building_id, type, created_at, data) VALUES ($1, $2, $3, $4, $5, $6)
