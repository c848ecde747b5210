/* Visitor codes: two enabled passcodes of a building never have the same one (GRANT-8 to GRANT-10). A code belongs to
 * a passcode that can open, or will without a change. grant_code_check() and grant_code_generate() switch off another
 * one that has g's code and cannot open any more, so that switching it on again asks for its code. */
#pragma once
#include "domain/grant.h"

/* Fails with ERR_INVALID_UNLOCK if another enabled passcode of the building has g's code. */
enum err grant_code_check(struct tx *tx, const struct id *building, const struct grant *g) CHECKED;
/* Is the code one that people try first: of tbl/easy_codes.def, or with the same step from each digit to the next? */
bool grant_code_is_easy(struct str code);
/* Sets g->code to four digits, chosen uniformly from the codes that no enabled passcode of the building has and that
 * are not easily guessed; to six for a pass without end, or with one more than 31 days later. Fails with
 * ERR_INVALID_UNLOCK if all are taken. */
enum err grant_code_generate(struct tx *tx, const struct id *building, struct grant *g) CHECKED;
/* Sets g->few_codes and g->codes_left: the four-digit codes that no enabled passcode of the building has. */
enum err grant_codes_count(struct tx *tx, const struct id *building, struct grant *g) CHECKED;
