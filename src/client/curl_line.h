/* A request as a curl command for a shell. */
#pragma once
#include <stdio.h>

#include "client/remote.h"

/* Prints one line. The key is $PORTERO_KEY there: no secret key is printed. */
void curl_line_print(const struct remote *r, const struct remote_call *call, FILE *out);
