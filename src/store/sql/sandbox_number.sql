-- Numbers of the built-in numbers provider.

-- name: sandbox_number_find
SELECT number:text FROM sandbox_number WHERE reference = $reference:text

-- name: sandbox_number_highest
SELECT max(number) AS number:text FROM sandbox_number WHERE country = $country:text

-- name: sandbox_number_is_ours
SELECT 1 FROM number WHERE number = $number:text

-- name: sandbox_number_insert
INSERT INTO sandbox_number (number, country, reference, held_since) VALUES ($number:text, $country:text,
    $reference:text, $held_since:time)

-- name: sandbox_number_free
SELECT number:text FROM sandbox_number WHERE country = $country:text AND reference IS NULL ORDER BY released_at,
    number LIMIT 1

-- name: sandbox_number_hold
UPDATE sandbox_number SET reference = $reference:text,
    held_since = $held_since:time WHERE number = $number:text AND reference IS NULL

-- name: sandbox_number_release
UPDATE sandbox_number SET reference = NULL, held_since = NULL, released_at = $released_at:time
WHERE number = $number:text AND reference IS NOT NULL

-- name: sandbox_number_list
-- The numbers of the provider, and of the operator's pool. The columns must equal number_list's.
SELECT n.number:text, n.country:text, n.reference AS building_id:id, n.held_since:time?,
    CAST(0 AS BIGINT) AS pooled:bool, b.account_id:id,
    b.label:text, a.email:text
FROM sandbox_number n
    LEFT JOIN building b ON b.id = n.reference
    LEFT JOIN account a ON a.id = b.account_id
UNION ALL
SELECT n.number, n.country, n.building_id, n.held_since, n.pooled, b.account_id, b.label, a.email
FROM number n
    LEFT JOIN building b ON b.id = n.building_id
    LEFT JOIN account a ON a.id = b.account_id
WHERE n.pooled = 1
ORDER BY 1
