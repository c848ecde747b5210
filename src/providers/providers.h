/* All outside providers, for jobs and for handlers that may block. */
#pragma once
#include "providers/billing.h"
#include "providers/catalog.h"
#include "providers/mail.h"
#include "providers/numbers.h"
#include "providers/sms.h"
#include "providers/twilio.h"
#include "providers/twilio_hook.h"

struct providers {
    struct mailer *mailer;
    struct texter *texter;
    struct number_source *numbers;
    struct billing *billing;
    struct catalog *catalog;  /* the billing provider's prices */
    struct twilio_hook *hook; /* the requests that Twilio posts; NULL unless its account is configured */
    struct twilio *twilio;    /* its recordings; NULL with hook */
};

/* Opens the configured providers. ret_why as in config_load. The store must outlive them. */
enum err providers_open(const struct config *c, struct store *store, struct providers *ret, char **ret_why) CHECKED;
void providers_close(struct providers *p);
