-- oldest program: 21
-- A building has a time zone from its first moment: that of its address. Those without an address get the one of their
-- owner's browser.

ALTER TABLE building_operation ADD COLUMN timezone TEXT; -- of an addition: IANA name; NULL: quoted by an earlier program

UPDATE building SET settings_version = settings_version + 1, timezone = CASE
    WHEN state IN ('CT', 'DC', 'DE', 'FL', 'GA', 'KY', 'MA', 'MD', 'ME', 'NC', 'NH', 'NJ', 'NY', 'OH', 'PA', 'RI',
        'SC', 'VA', 'VT', 'WV')
        THEN 'America/New_York'
    WHEN state IN ('AL', 'AR', 'IA', 'IL', 'KS', 'LA', 'MN', 'MO', 'MS', 'ND', 'NE', 'OK', 'SD', 'TN', 'TX', 'WI')
        THEN 'America/Chicago'
    WHEN state IN ('CO', 'MT', 'NM', 'UT', 'WY')
        THEN 'America/Denver'
    WHEN state IN ('CA', 'NV', 'OR', 'WA')
        THEN 'America/Los_Angeles'
    WHEN state IN ('AB', 'NT')
        THEN 'America/Edmonton'
    WHEN state IN ('NS', 'PE')
        THEN 'America/Halifax'
    WHEN state IN ('PR', 'VI')
        THEN 'America/Puerto_Rico'
    WHEN state IN ('ON', 'QC')
        THEN 'America/Toronto'
    WHEN state IN ('GU', 'MP')
        THEN 'Pacific/Guam'
    WHEN state IN ('AS', 'UM')
        THEN 'Pacific/Pago_Pago'
    WHEN state = 'AK' THEN 'America/Anchorage'
    WHEN state = 'ID' THEN 'America/Boise'
    WHEN state = 'MI' THEN 'America/Detroit'
    WHEN state = 'IN' THEN 'America/Indiana/Indianapolis'
    WHEN state = 'NU' THEN 'America/Iqaluit'
    WHEN state = 'NB' THEN 'America/Moncton'
    WHEN state = 'AZ' THEN 'America/Phoenix'
    WHEN state = 'SK' THEN 'America/Regina'
    WHEN state = 'NL' THEN 'America/St_Johns'
    WHEN state = 'BC' THEN 'America/Vancouver'
    WHEN state = 'YT' THEN 'America/Whitehorse'
    WHEN state = 'MB' THEN 'America/Winnipeg'
    WHEN state = 'HI' THEN 'Pacific/Honolulu'
    END
WHERE timezone IS NULL AND state IS NOT NULL;
