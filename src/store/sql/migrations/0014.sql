-- What requests ask of keys and checkouts is found without those that are over: they are kept, and grow with use.

CREATE INDEX api_key_live ON api_key (account_id, created_at DESC, id DESC) WHERE revoked_at IS NULL;
CREATE INDEX checkout_subscription ON checkout (subscription_id)
    WHERE subscription_id IS NOT NULL AND canceled_at IS NULL;
