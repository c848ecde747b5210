/* The challenges of a SIP server. libre gives up at the first one that it cannot answer, though another may do (RFC
 * 7616, section 3.7). */
#pragma once
#include <re/re.h>

/* Before libre reads a response 401 or 407: removes the challenges that it cannot answer, if it can answer one. */
void challenge_choose(const struct sip_msg *msg);
