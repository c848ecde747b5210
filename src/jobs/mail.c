#include "jobs/mail.h"

#include "base/clock.h"
#include "base/log.h"
#include "domain/mail.h"

static enum err mail_job_run(void *context, const struct job *job)
{
    struct mailer *mailer = context;
    struct mail_intent mail;
    enum err e = mail_read(job->payload, job->work->arena, &mail);
    if (e) { /* sealed with another master key: repeating does not help */
        log_error("mail dropped id=%.*s error=%s", STR_ARG(job->id), err_info(e)->code);
        return ERR_NONE;
    }
    if (mail.give_up_us <= clock_now_us()) {
        log_warn("mail dropped id=%.*s error=too late attempts=%lld", STR_ARG(job->id), (long long)job->attempt - 1);
        return ERR_NONE;
    }
    enum outcome o = mailer->ops->send(mailer, &(struct mail_message){
                                                   .id = job->id,
                                                   .to = mail.to,
                                                   .subject = mail.subject,
                                                   .text = mail.text,
                                                   .html = mail.html,
                                                   .code = mail.code,
                                                   .created_us = mail.created_us,
                                               });
    if (o == OUTCOME_REFUSED)
        log_warn("mail dropped id=%.*s error=refused", STR_ARG(job->id));
    return o == OUTCOME_UNKNOWN ? ERR_INTERNAL_ERROR : ERR_NONE;
}

struct job_kind jobs_kind_mail(struct mailer *mailer)
{
    return (struct job_kind){.name = JOB_MAIL, .run = mail_job_run, .context = mailer};
}
