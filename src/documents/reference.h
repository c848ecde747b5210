/* The reference of the operations. */
#pragma once
#include "documents/rows.h"

/* Appends the page of a tag: its operations, and for "Webhooks" the events that the service posts. */
void docs_put_tag(const struct docs_reference *r, const char *tag, struct docs_out *out);
