-- oldest program: 21
-- While no provider bills (billing.provider none), every account is active. These keep the subscription that it has at its
-- provider, for when one bills again. NULL: the provider's subscription is in force.

ALTER TABLE account ADD COLUMN billed_status TEXT;
ALTER TABLE account ADD COLUMN billed_plan TEXT;
CREATE INDEX account_unbilled ON account (id) WHERE billed_status IS NOT NULL;
