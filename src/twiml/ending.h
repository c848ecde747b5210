/* The end of a call: its line in the log. */
#pragma once
#include "twiml/session.h"

/* Any thread, after the commit. */
void twiml_log(const struct twiml_session *s, int64_t now_us);
