/* Prompts: the jobs that residents give, for a client to offer. A prompt is a text for the assistant, with the
 * resident's words filled in. */
#pragma once
#include "base/json.h"

/* Appends the list of prompts: [{"name":…},…]. */
void mcp_put_prompts(struct buf *out);
/* Appends the members of the result of prompts/get. `arguments` is an object or NULL. Fails, with a message in *ret_why
 * (constant), for a name that is unknown, an argument that is missing, and arguments that are not texts. */
bool mcp_put_prompt(struct str name, json_t *arguments, struct buf *out, const char **ret_why);
