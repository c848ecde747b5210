#include "mcp/prompts.h"

#define ARGUMENTS_MAX 4
#define TEXT_MAX      (1u << 20)

struct argument {
    const char *name;
    const char *doc;
    const char *otherwise; /* in place of an argument that is missing; NULL: it is required */
};

struct prompt {
    const char *name;
    const char *title;
    const char *doc;
    const char *text; /* {NAME} is the argument */
    struct argument arguments[ARGUMENTS_MAX];
};

#define AFTER " Check next_actions of getAccount first, and tell me if the door cannot open yet."

static const struct prompt prompts[] = {
    {"let_in_weekly",
     "Let somebody in every week",
     "A code that opens in a weekly window: for a cleaner, a dog walker, a nurse.",
     "Let {who} in every {days} from {start} to {end}. Create one pass with createPass (label {who}, one window: days "
     "in "
     "lower case, times as HH:MM), and tell me its code, days and hours." AFTER,
     {{"who", "such as: the cleaner", NULL},
      {"days", "such as: Tuesday and Friday", NULL},
      {"start", "09:00", NULL},
      {"end", "11:00", NULL}}},
    {"parcel_code",
     "A code for a parcel",
     "A code that a courier can enter once.",
     "Make a code that a courier can enter once for {what}. Create one passcode grant with createUnlock (type "
     "passcode, label {what}, remaining_uses 1, expires_in_minutes for {how_long}), and tell me the code, until when "
     "it is valid and what to write into the delivery instructions." AFTER,
     {{"what", "such as: the parcel from the bookshop", "the parcel"}, {"how_long", "such as: two days", "24 hours"}}},
    {"party",
     "Open the door for a party",
     "The door opens for everyone for some hours.",
     "Let everybody in for {what} from {start} to {end}. Create one pass with createPass (code false, label {what}, "
     "from "
     "and until as local times such as 2026-12-05T18:00), and tell me both times. The door opens for everyone in that "
     "time, without a code." AFTER,
     {{"what", "such as: the birthday", "the party"},
      {"start", "such as: Saturday 18:00", NULL},
      {"end", "such as: 23:00", NULL}}},
    {"guest_code",
     "A code for a guest",
     "A code with an end, and a link to a page that explains it to the guest.",
     "Make a code for {who} that is valid for {how_long}. Create one passcode grant with createUnlock (type passcode, "
     "label {who}), then make its page with createUnlockLink, and tell me the code, until when it is valid and the "
     "link "
     "to send." AFTER,
     {{"who", "such as: my sister", NULL}, {"how_long", "such as: the weekend", "two days"}}},
    {"who_came",
     "Who came to the door",
     "Visits and calls of a time, and what became of them.",
     "Tell me who came to the door {when}. Read listVisits (since and until). Say for each when it was, whether the "
     "door was opened and by whom or which grant, and else why not. A recorded opening is a signal that was sent to "
     "the door, not proof that somebody entered.",
     {{"when", "such as: today, since Monday", "today"}}},
    {"revoke",
     "Let somebody in no longer",
     "Finds the grants of a person and revokes them.",
     "{who} must not be let in any longer. Find every grant for {who} with listUnlocks (all pages), show me which ones "
     "you mean if that is not certain, and revoke each with revokeUnlock. Then tell me which grants still open the "
     "door.",
     {{"who", "such as: the cleaner", NULL}}},
};
#define PROMPT_COUNT (sizeof prompts / sizeof *prompts)

static void put_arguments(const struct prompt *p, struct buf *out)
{
    for (size_t i = 0; i < ARGUMENTS_MAX && p->arguments[i].name; i++) {
        const struct argument *a = &p->arguments[i];
        buf_printf(out, "%s{\"name\":\"%s\",\"description\":", i ? "," : "", a->name);
        json_put_str(out, str_z(a->doc));
        buf_printf(out, ",\"required\":%s}", a->otherwise ? "false" : "true");
    }
}

void mcp_put_prompts(struct buf *out)
{
    for (size_t i = 0; i < PROMPT_COUNT; i++) {
        buf_printf(out, "%s{\"name\":\"%s\",\"title\":\"%s\",\"description\":\"%s\",\"arguments\":[", i ? "," : "[",
                   prompts[i].name, prompts[i].title, prompts[i].doc);
        put_arguments(&prompts[i], out);
        buf_lit(out, "]}");
    }
    buf_char(out, ']');
}

/* ---- one prompt ---- */

/* `words`: of the resident. */
static struct str argument_of(const json_t *words, const struct argument *a)
{
    const json_t *given = json_object_get(words, a->name);
    return json_string_length(given) ? str_n(json_string_value(given), json_string_length(given)) : str_z(a->otherwise);
}

static bool is_complete(const struct prompt *p, json_t *words, const char **ret_why)
{
    const char *name;
    json_t *value;
    json_object_foreach (words, name, value)
        if (!json_is_string(value)) {
            *ret_why = "Arguments of a prompt must be texts.";
            return false;
        }
    for (size_t i = 0; i < ARGUMENTS_MAX && p->arguments[i].name; i++)
        if (!argument_of(words, &p->arguments[i]).p) {
            *ret_why = "A required argument is missing: see prompts/list.";
            return false;
        }
    return true;
}

static struct str filled(const struct prompt *p, struct str name, const json_t *words)
{
    for (size_t i = 0; i < ARGUMENTS_MAX && p->arguments[i].name; i++)
        if (str_eq(name, str_z(p->arguments[i].name)))
            return argument_of(words, &p->arguments[i]);
    return STR_NONE;
}

static void put_filled(const struct prompt *p, const json_t *words, struct buf *text)
{
    for (struct str rest = str_z(p->text); rest.p;) {
        buf_str(text, str_cut(rest, '{', &rest));
        if (rest.p)
            buf_str(text, filled(p, str_cut(rest, '}', &rest), words));
    }
}

static void put_prompt_message(const struct prompt *p, const json_t *words, struct buf *out)
{
    struct buf text = BUF(TEXT_MAX);
    put_filled(p, words, &text);
    buf_printf(out, "\"description\":\"%s\",\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":",
               p->title);
    json_put_str(out, buf_view(&text));
    buf_lit(out, "}}]");
    buf_done(&text);
}

bool mcp_put_prompt(struct str name, json_t *arguments, struct buf *out, const char **ret_why)
{
    for (size_t i = 0; i < PROMPT_COUNT; i++) {
        if (!str_eq(name, str_z(prompts[i].name)))
            continue;
        if (!is_complete(&prompts[i], arguments, ret_why))
            return false;
        put_prompt_message(&prompts[i], arguments, out);
        return true;
    }
    *ret_why = "Unknown prompt: see prompts/list.";
    return false;
}
