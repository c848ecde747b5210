#include "jobs/mail.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/metric.h"
#include "domain/call_message.h"
#include "domain/mail.h"

struct attaching {
    const struct mail_intent *mail;
    struct str wav; /* STR_NONE: nothing is attached */
};

/* Fills the attachment. A message that was deleted meanwhile, or that no key opens, is left out. */
static enum err mail_attach(struct tx *tx, void *arg)
{
    struct attaching *at = arg;
    enum err e = call_message_get(tx, &at->mail->building_id, &at->mail->message_of, &at->wav);
    return e == ERR_NOT_FOUND || e == ERR_SECRET_DECRYPT_FAILED ? ERR_NONE : e;
}

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
    struct attaching at = {.mail = &mail};
    e = id_given(&mail.message_of) ? work_read(job->work, mail_attach, &at) : ERR_NONE;
    if (e || !tenure_holds(&job->tenure))
        return e ? e : ERR_INTERNAL_ERROR;
    enum outcome o = mailer->ops->send(mailer, &(struct mail_message){
                                                   .id = job->id,
                                                   .to = mail.to,
                                                   .subject = mail.subject,
                                                   .text = mail.text,
                                                   .html = mail.html,
                                                   .code = mail.code,
                                                   .wav = at.wav,
                                                   .created_us = mail.created_us,
                                               });
    metric_add(&metrics.messages[METRIC_CHANNEL_MAIL * METRIC_ANSWER_VALUES + (unsigned)o], 1);
    if (o == OUTCOME_REFUSED)
        log_warn("mail dropped id=%.*s error=refused", STR_ARG(job->id));
    return o == OUTCOME_UNKNOWN ? ERR_INTERNAL_ERROR : ERR_NONE;
}

struct job_kind jobs_kind_mail(struct mailer *mailer)
{
    return (struct job_kind){.name = JOB_MAIL, .run = mail_job_run, .context = mailer};
}
