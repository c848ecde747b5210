/* Replies about webhook deliveries, for the API and for the operator. */
#pragma once
#include "api/request.h"
#include "domain/delivery_log.h"

/* A delivery. The field tables of the API and of the operator each show a part of it. */
struct delivery_body {
    struct val id, account_id, webhook_id, event_id, type, status, attempts, created_at, next_attempt_at;
    struct val last_attempt_at, last_status_code, last_error;
};

/* Refers to *d, which must live as long as the reply. */
struct delivery_body delivery_entry_body(const struct delivery_entry *d);

/* `{"delivery_id": …}`, of a queued delivery. */
extern const struct shape delivery_queued_shape;
const void *delivery_queued_body(struct request *q, const struct id *delivery);
