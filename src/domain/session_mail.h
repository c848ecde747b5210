/* The e-mail with a sign-in code. */
#pragma once
#include "domain/mail.h"

/* The mail to an address, in the arena. The code is in the subject, the text and the HTML. */
struct mail_intent session_mail(struct tx *tx, struct str email, struct str code, int64_t expires_us);
