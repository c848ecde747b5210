/* The e-mail with a sign-in code. */
#pragma once
#include "domain/mail.h"

/* The mail to an address, in the arena. The code is in the text, the HTML and, with mail.code_in_subject, the subject.
 */
struct mail_intent session_mail(struct tx *tx, struct str email, struct str code, int64_t expires_us);
