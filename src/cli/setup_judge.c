/* Judges an answer. The configuration's rules apply: a text with the answer is read and checked as
 * `porterod check-config` does it, and what it says because of the answer is the complaint. */
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/forms.h"
#include "base/schema_text.h"
#include "cli/checks.h"
#include "cli/setup.h"
#include "cli/setup_check.h"
#include "domain/number.h"

#define NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyz0123456789_."

static bool is_line(struct str text)
{
    for (size_t i = 0; i < text.n; i++)
        if ((unsigned char)text.p[i] < ' ' || text.p[i] == '\x7f')
            return false;
    return g_utf8_validate_len(text.p ? text.p : "", text.n, NULL);
}

static bool is_box_number(struct str s)
{
    char number[SETUP_ANSWER_MAX + 1];
    snprintf(number, sizeof number, "%.*s", STR_ARG(s));
    return text_matches(NUMBER_PATTERN, str_z(number));
}

/* Whether each item of a list with commas is as `is` says. */
static bool are_all(struct str text, bool (*is)(struct str item))
{
    for (struct str rest = text; rest.p;)
        if (!is(str_trim(str_cut(rest, ',', &rest))))
            return false;
    return true;
}

/* ---- faults of the configuration ---- */

/* One line for each fault of the configuration with the answers so far, without its place in the file. */
static struct str faults_of(struct setup *s)
{
    struct buf faults = BUF(CONFIG_FAULTS_MAX), texts = BUF(CONFIG_FAULTS_MAX);
    struct config *c = config_read_text(s->path, setup_text(s, false), &faults);
    if (c)
        checks_run(c, &faults);
    for (struct str rest = buf_view(&faults), line, text; rest.n;) {
        line = str_cut(rest, '\n', &rest);
        if (str_starts(line, str_z(s->path)))
            line = str_from(line, strlen(s->path));
        (void)str_cut(line, ' ', &text); /* behind "PATH:LINE: " or "environment: " */
        buf_printf(&texts, "%.*s\n", STR_ARG(text));
    }
    const struct str all = arena_str(&s->arena, buf_view(&texts));
    config_free(c);
    buf_done(&texts);
    buf_done(&faults);
    return all;
}

static bool has_line(struct str lines, struct str line)
{
    for (struct str rest = lines; rest.n;)
        if (str_eq(str_cut(rest, '\n', &rest), line))
            return true;
    return false;
}

/* The question whose key the fault begins with; QUESTIONS: none. */
static int question_of(struct setup *s, struct str fault)
{
    const struct str name = str_n(fault.p, strspn(fault.p, NAME_CHARACTERS));
    int i = 0;
    while (i < QUESTIONS && !str_eq(name, str_z(setup_key_name(s, &setup_rows[i]))))
        i++;
    return i;
}

/* The first fault that is there because of the answer: it names its key, or it is new and of no question that is still
 * to be answered. */
static const char *fault_of(struct setup *s, int question, const char *answer)
{
    const char *earlier = s->answers[question];
    const struct str without = faults_of(s);
    s->answers[question] = answer;
    const struct str with = faults_of(s);
    s->answers[question] = earlier;
    for (struct str rest = with, line; rest.n;) {
        line = arena_str(&s->arena, str_cut(rest, '\n', &rest));
        const int named = question_of(s, line);
        if (named == question)
            return arena_printf(&s->arena, "%s%s", setup_rows[question].name,
                                line.p + strlen(setup_key_name(s, &setup_rows[question])))
                .p;
        if ((named == QUESTIONS || s->answers[named]) && !has_line(without, line))
            return line.p;
    }
    return NULL;
}

/* ---- files ---- */

static const char *file_fault(struct setup *s, int question, const char *path)
{
    char why[SETUP_TEXT_MAX];
    const char *name = setup_rows[question].name;
    if (!setup_can_read(s->user, path, why))
        return arena_printf(&s->arena, "%s: %s: user %s cannot read it: %s", name, path,
                            s->user ? s->user : "of this process", why)
            .p;
    if (question == Q_CERTIFICATE && !setup_certificate_fits(path, s->host, why))
        return arena_printf(&s->arena, "%s: %s: %s", name, path, why).p;
    return NULL;
}

const char *setup_complaint(struct setup *s, int question, struct str given)
{
    const struct setup_row *q = &setup_rows[question];
    const bool self_signed = question == Q_CERTIFICATE && str_eq(given, STR(SETUP_SELF_SIGNED));
    if (given.n > SETUP_ANSWER_MAX)
        return arena_printf(&s->arena, "%s must be at most %d bytes long", q->name, SETUP_ANSWER_MAX).p;
    if (!is_line(given))
        return arena_printf(&s->arena, "%s must be UTF-8 without control characters", q->name).p;
    if (!given.n && !q->dflt)
        return arena_printf(&s->arena, "%s must not be empty", q->name).p;
    const char *text = arena_str(&s->arena, given.n ? given : STR("")).p;
    if (question == Q_RESIDENTS && given.n && !are_all(given, text_is_email))
        return "residents must be e-mail addresses";
    if (question == Q_NUMBERS && given.n && !are_all(given, is_box_number))
        return "numbers must be like +15550100000, or extensions of 2 to 15 digits";
    if (self_signed)
        return NULL; /* it is made when all is answered */
    const char *fault = fault_of(s, question, text);
    return !fault && (question == Q_CERTIFICATE || question == Q_KEY) ? file_fault(s, question, text) : fault;
}
