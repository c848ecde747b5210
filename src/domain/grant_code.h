/* Visitor codes: no two enabled passcodes of a building have the same one (decisions section 6). */
#pragma once
#include "domain/grant.h"

/* ERR_INVALID_UNLOCK if another enabled passcode of the building has g's code. */
enum err grant_code_check(struct tx *tx, const struct id *building, const struct grant *g) CHECKED;
/* Four digits, uniform among those no enabled passcode of the building has. ERR_INVALID_UNLOCK when none is left. */
enum err grant_code_generate(struct tx *tx, const struct id *building, struct grant *g) CHECKED;
