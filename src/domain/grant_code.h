/* Visitor codes: two enabled passcodes of a building never have the same one (decisions, section 6). */
#pragma once
#include "domain/grant.h"

/* Fails with ERR_INVALID_UNLOCK if another enabled passcode of the building has g's code. */
enum err grant_code_check(struct tx *tx, const struct id *building, const struct grant *g) CHECKED;
/* Sets g->code to four digits, chosen uniformly from those that no enabled passcode of the building has. Fails with
 * ERR_INVALID_UNLOCK if all are taken. */
enum err grant_code_generate(struct tx *tx, const struct id *building, struct grant *g) CHECKED;
