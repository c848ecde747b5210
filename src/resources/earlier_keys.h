/* The earlier revision's rows for sign-in and keys (contract, Versioning 3; docs/behaviour/earlier.md). */
#pragma once
#include "api/route.h"

enum earlier_key_row { EARLIER_VERIFY, EARLIER_CREATE_KEY, EARLIER_KEY_ROWS };

/* For `earlier` of the current revision's rows. */
extern const struct route earlier_key_rows[EARLIER_KEY_ROWS];
