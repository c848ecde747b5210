/* The calendar file of a guest (RFC 5545): when the grant of a link opens, for a year at most. */
#pragma once
#include "domain/guest_link.h"

/* Whether a calendar can show when the grant opens: it has windows or an end. */
bool guest_calendar_fits(const struct guest_view *v);
/* Appends the file of a grant that fits. */
void guest_calendar_put(struct tx *tx, const struct guest_view *v, struct buf *out);
