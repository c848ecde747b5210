/* Jobs of kind `mail` (domain/mail.h): hands the message to the mail provider until it has it. */
#pragma once
#include "jobs/queue.h"
#include "providers/mail.h"

/* Gives up when the provider refuses the message for good, or when it is worthless. */
struct job_kind mail_job(struct mailer *mailer);
