/* Parts of a building's setup and settings that both revisions of the interface have. */
#pragma once
#include "api/route.h"

extern const struct shape settings_earlier_setup_shape; /* Setup, as the earlier revision has it */
/* The handler of GET for the selected building's setup. */
enum err settings_get_setup(struct request *q, struct reply *p) CHECKED;
