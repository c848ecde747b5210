-- Quiet hours of persons (domain/quiet.h).

-- columns: quiet
quiet_from:int?, quiet_to:int?

-- name: quiet_owner
SELECT {quiet} FROM account WHERE id = $id:id

-- name: quiet_owner_put
UPDATE account SET quiet_from = $quiet_from:int?, quiet_to = $quiet_to:int? WHERE id = $id:id

-- name: quiet_member
SELECT {quiet} FROM member WHERE id = $id:id AND account_id = $account_id:id

-- name: quiet_member_put
UPDATE member SET quiet_from = $quiet_from:int?, quiet_to = $quiet_to:int?
WHERE id = $id:id AND account_id = $account_id:id
