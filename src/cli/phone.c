/* porterod phone: simulates a resident's telephone. */
#include "handset/phone.h"

#include <stdio.h>
#include <stdlib.h>

#include "cli/handset.h"

struct phone_given {
    struct phone_options phone;
    int64_t timeout_s;
};

static const struct phone_given defaults = {
    .phone = {.listen = "127.0.0.1:5070", .hangup_ms = -1, .handset.delay_ms = -1}};

static const struct option_row rows[] = {
    OPTION_TEXT(struct phone_given, phone.listen, "listen", "A:P",
                "SIP address to listen on, over UDP; port 0 takes a free port [127.0.0.1:5070]"),
    OPTION_NUMBER(struct phone_given, phone.answer_ms, "answer", "MS", 0, 600000,
                  "time of ringing before the call is answered or refused [0]"),
    OPTION_NUMBER(struct phone_given, phone.refuse, "refuse", "STATUS", 400, 699,
                  "refuse the call: 486 busy, 603 declined"),
    OPTION_NUMBER(struct phone_given, phone.hangup_ms, "hangup", "MS", 0, 600000,
                  "hang up this long after the last key [the other side hangs up]"),
    HANDSET_ROWS(struct phone_given, phone.handset),
};

static const char *find_error(const struct phone_options *o)
{
    return phone_is_address(o->listen) ? handset_find_error(&o->handset)
                                       : "--listen must be ADDRESS:PORT with one numeric address of this machine";
}

static int phone_command_run(const struct command *self, const void *given, struct arguments operands)
{
    (void)operands;
    const struct phone_given *g = given;
    struct phone_options options = g->phone;
    const char *wrong = find_error(&options);
    if (wrong) {
        complain("%s: %s; see `%s %s --help`", self->name, wrong, complain_name(), self->name);
        return EXIT_USAGE;
    }
    options.handset.timeout_ms = g->timeout_s * 1000;
    char *why = NULL;
    int status = phone_run(&options, stdout, &why);
    if (status == PHONE_FAILED)
        complain("%s", why);
    free(why);
    return status;
}

static void put_phone_events(const struct command *self, FILE *out)
{
    (void)self;
    fputs("\nPrints one line per event: `listening sip:A:P`, `ringing from +15550001111`, `answered`, `refused 486`,\n"
          "`canceled`, `tone 9`, `hangup`, `timeout`.\n"
          "Exit status: 0 if the call was answered, 3 if not, 1 if the telephone could not listen.\n"
          "The service calls it through a trunk: `peer phone { server = \"127.0.0.1:5070\" }` in section voice.\n",
          out);
}

const struct command command_phone = {
    .name = "phone",
    .summary = "Simulate a resident's telephone: answer a SIP call and press keys",
    .more = put_phone_events,
    COMMAND_OPTIONS(struct phone_given, rows),
    .defaults = &defaults,
    .run = phone_command_run,
};
