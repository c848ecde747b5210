/* The e-mail that brings a sign-in code. */
#pragma once
#include "domain/mail.h"

/* For that address, in the tx's arena: the code stands in the subject, in the text and in the HTML. */
struct mail_intent session_mail(struct tx *tx, struct str email, struct str code, int64_t expires_us);
