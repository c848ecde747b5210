/* Parts of building operations' handlers that both revisions of the interface have. */
#pragma once
#include "api/route.h"

enum err operation_preview(struct request *q, struct reply *p) CHECKED;
