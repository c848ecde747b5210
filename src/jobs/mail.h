/* Jobs of kind `mail` (domain/mail.h): send a message through the mail provider. */
#pragma once
#include "jobs/queue.h"
#include "providers/mail.h"

/* Drops a message that the provider refuses, or that is too old to be of use. */
struct job_kind jobs_kind_mail(struct mailer *mailer);
