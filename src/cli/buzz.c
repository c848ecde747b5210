/* portero buzz: simulates a call box. */
#include "voice/buzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"

#define NAME_MAX_LEN    64
#define NAME_CHARACTERS "+-._0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

struct buzz_given {
    const char *to, *from, *sip, *digits, *wav;
    int64_t delay_ms, wait_ms, tone_ms, gap_ms, timeout_s;
    bool inband, info, json;
};

static const struct buzz_given defaults = {.sip = "127.0.0.1:5060", .delay_ms = -1};

static const struct option_row rows[] = {
    OPTION_NEEDED(struct buzz_given, to, "to", "NUMBER", "virtual number to call"),
    OPTION_TEXT(struct buzz_given, from, "from", "NUMBER", "number of the caller [none]"),
    OPTION_TEXT(struct buzz_given, sip, "sip", "A:P", "SIP address of the service; tcp:A:P for TCP [127.0.0.1:5060]"),
    OPTION_TEXT(struct buzz_given, digits, "digits", "1234",
                "keys to press after the greeting; a comma waits for the next greeting"),
    OPTION_SWITCH(struct buzz_given, inband, "inband", "send keys as tones in the audio, not as RFC 4733 events"),
    OPTION_SWITCH(struct buzz_given, info, "info", "send keys as SIP INFO"),
    OPTION_TEXT(struct buzz_given, wav, "wav", "FILE", "play this file: PCM, 16 bits, mono, 8 kHz"),
    OPTION_NUMBER(struct buzz_given, delay_ms, "delay", "MS", 0, 600000,
                  "delay from the answer to the first key [until the greeting has ended]"),
    OPTION_NUMBER(struct buzz_given, wait_ms, "wait", "MS", 1, 600000,
                  "longest wait of a comma for a greeting to begin [1000]"),
    OPTION_NUMBER(struct buzz_given, tone_ms, "tone", "MS", 20, 5000, "length of a key [100]"),
    OPTION_NUMBER(struct buzz_given, gap_ms, "gap", "MS", 20, 5000, "silence between keys [100]"),
    OPTION_NUMBER(struct buzz_given, timeout_s, "timeout", "S", 1, 3600, "maximum duration of the call [60]"),
    OPTION_SWITCH(struct buzz_given, json, "json", "print one JSON object per line"),
};

static bool is_name(const char *text)
{
    size_t n = strlen(text);
    return n > 0 && n <= NAME_MAX_LEN && strspn(text, NAME_CHARACTERS) == n;
}

/* The first error in the options, or NULL. */
static const char *find_error(const struct buzz_given *g)
{
    if (!is_name(g->to))
        return "--to must be a number or a name";
    if (g->from && !is_name(g->from))
        return "--from must be a number or a name";
    if (g->digits && strspn(g->digits, "0123456789*#ABCDabcd,") != strlen(g->digits))
        return "--digits must consist of 0 to 9, *, #, A to D and commas";
    if (!buzz_is_service(g->sip))
        return "--sip must be ADDRESS:PORT, or tcp:ADDRESS:PORT";
    return g->inband && g->info ? "--inband and --info are mutually exclusive" : NULL;
}

static int buzz_command_run(const struct command *self, const void *given, struct arguments operands)
{
    (void)operands;
    const struct buzz_given *g = given;
    const char *wrong = find_error(g);
    if (wrong) {
        complain("%s: %s; see `portero %s --help`", self->name, wrong, self->name);
        return EXIT_USAGE;
    }
    const struct buzz_options options = {
        .to = g->to,
        .from = g->from,
        .sip = g->sip,
        .digits = g->digits,
        .wav = g->wav,
        .inband = g->inband,
        .info = g->info,
        .delay_ms = g->delay_ms,
        .wait_ms = g->wait_ms,
        .tone_ms = g->tone_ms,
        .gap_ms = g->gap_ms,
        .timeout_ms = g->timeout_s * 1000,
        .json = g->json,
        .notes = stderr,
    };
    char *why = NULL;
    int status = buzz_run(&options, stdout, &why);
    if (status == BUZZ_FAILED)
        complain("%s", why);
    free(why);
    return status;
}

static void more(FILE *out)
{
    fputs("\nPrints one line per event: `answered`, `tone 9`, `hangup`, `rejected 404`, `timeout`.\n"
          "Exit status: 0 if the release tone was received, 3 if not, 1 if the call could not be placed: no answer "
          "within\n"
          "10 s, connection refused, or host not found.\n",
          out);
}

const struct command command_buzz = {
    .name = "buzz",
    .summary = "Simulate a call box: place a SIP call and press keys",
    .more = more,
    COMMAND_OPTIONS(struct buzz_given, rows),
    .defaults = &defaults,
    .run = buzz_command_run,
};
