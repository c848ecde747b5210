-- How many grants of a building are enabled and not revoked: what GET /v1/account shows, without counting them.

CREATE TABLE grant_count (
    building {int} NOT NULL PRIMARY KEY, -- its number in grant_building
    enabled {int} NOT NULL
) {clustered};
INSERT INTO grant_count (building, enabled)
SELECT building, count(*) FROM access_grant WHERE revoked = 0 AND enabled = 1 GROUP BY building;
