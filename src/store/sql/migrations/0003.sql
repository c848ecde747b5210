-- Billing: what the provider knows an account by, and checkouts.

ALTER TABLE account ADD COLUMN customer_id TEXT;      -- the provider's; NULL until a checkout was completed
ALTER TABLE account ADD COLUMN subscription_id TEXT;  -- the provider's; NULL without one
CREATE INDEX account_customer ON account (customer_id) WHERE customer_id IS NOT NULL;
CREATE INDEX account_subscription ON account (subscription_id) WHERE subscription_id IS NOT NULL;
