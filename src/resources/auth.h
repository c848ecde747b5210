/* Parts of sign-in that both revisions of the interface have. */
#pragma once
#include "api/route.h"
#include "base/forms.h"
#include "domain/key.h"

struct verify_request {
    struct val email, purpose, challenge, otp, remember, timezone; /* the last two: of browsers */
};
extern const char *const verify_purposes[];
/* A malformed code counts as a wrong one and uses up an attempt. */
#define VERIFY_FIELDS(purpose_flags)                                                                                   \
    FIELD(struct verify_request, email, T_STRING, .flags = F_REQUIRED | F_TRIM | F_LOWER, .format = "email",           \
          .max = 254, .error = ERR_INVALID_EMAIL, .doc = "the address that requested the challenge"),                  \
        FIELD(struct verify_request, purpose, T_STRING, .flags = (purpose_flags), .values = verify_purposes,           \
              .error = ERR_WEBSITE_SIGN_IN_REQUIRED),                                                                  \
        FIELD(struct verify_request, challenge, T_STRING, .flags = F_REQUIRED | F_SECRET, .error = ERR_INVALID_OTP),   \
        FIELD(struct verify_request, otp, T_STRING, .flags = F_REQUIRED | F_SECRET | F_UNCHECKED, SIX_DIGITS_FORM,     \
              .error = ERR_INVALID_OTP, .doc = "the six-digit code from the e-mail")

extern const struct shape session_credential_shape;

/* Replies with a key, and wipes it. */
enum err reply_credential(struct request *q, struct reply *p, struct key_issued *key, const char *name) CHECKED;
