/* Text messages through Twilio's Messages resource. */
#include <stdlib.h>

#include "base/mem.h"
#include "providers/sms.h"
#include "providers/twilio.h"

struct twilio_texter {
    struct texter texter;
    struct twilio *twilio;
    struct rest_field from;
};

/* Is it an error code for a number that this account can never reach? */
static bool is_about_number(int code)
{
    switch (code) {
    case 21211: /* invalid */
    case 21266: /* the sender's own */
    case 21610: /* its owner has replied STOP */
    case 21612: /* not reachable from the sender */
    case 21614: /* not a mobile */
    case 21635: /* a landline */
        return true;
    default:
        return false;
    }
}

/* A 2xx means that the message is queued, unless its status says that Twilio cannot send it. */
static enum outcome read_message(const json_t *body)
{
    if (!twilio_is_sid(rest_text(body, "sid"), "SM"))
        return OUTCOME_UNKNOWN;
    static const char *const dead[] = {"failed", "undelivered", "canceled"};
    struct str status = rest_text(body, "status");
    for (size_t i = 0; i < sizeof dead / sizeof *dead; i++)
        if (str_eq(status, str_z(dead[i])))
            return OUTCOME_REFUSED;
    return status.n ? OUTCOME_DONE : OUTCOME_UNKNOWN;
}

static enum outcome twilio_send(struct texter *texter, const struct sms_message *message, bool *ret_number)
{
    const struct twilio_texter *t = (const struct twilio_texter *)texter;
    const struct rest_field fields[] = {{"To", message->to}, t->from, {"Body", message->text}};
    const struct twilio_request request = {
        .method = "POST", .path = STR("/Messages.json"), .fields = fields, .field_count = 3};
    struct twilio_answer answer;
    struct arena a;
    arena_init(&a, NULL, 0);
    enum outcome o = twilio_call(t->twilio, &request, &a, &answer);
    if (o == OUTCOME_DONE)
        o = read_message(answer.body);
    if (o == OUTCOME_REFUSED)
        *ret_number = is_about_number(answer.code);
    json_decref(answer.body);
    arena_done(&a);
    return o;
}

static void twilio_texter_free(struct texter *texter)
{
    struct twilio_texter *t = (struct twilio_texter *)texter;
    twilio_free(t->twilio);
    free(t);
}

static const struct texter_ops twilio_texter_ops = {.send = twilio_send, .free = twilio_texter_free};

static enum err set_sender(struct twilio_texter *t, const struct config *c, char **ret_why)
{
    struct str from = str_z(c->twilio_from);
    bool service = twilio_is_sid(from, "MG");
    if (!service && !twilio_is_number(from))
        return err_why(ret_why, ERR_USAGE,
                       "twilio.from must be a number like +15551234567, or MG and 32 hexadecimal digits");
    t->from = (struct rest_field){service ? "MessagingServiceSid" : "From", from};
    return twilio_new(c, &t->twilio, ret_why);
}

enum err twilio_texter_new(const struct config *c, struct texter **ret, char **ret_why)
{
    struct twilio_texter *t = mem_new(struct twilio_texter);
    t->texter.ops = &twilio_texter_ops;
    enum err e = set_sender(t, c, ret_why);
    if (e) {
        twilio_texter_free(&t->texter);
        return e;
    }
    *ret = &t->texter;
    return ERR_NONE;
}
