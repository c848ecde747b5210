#include "client/operation.h"

#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "client/command.h"
#include "client/day_words.h"
#include "client/log_tail.h"
#include "client/pass_words.h"
#include "client/profile.h"

#define OPERATIONS_MAX 200
#define NOUNS_MAX      60
#define EXTRA_ROWS     12 /* options that are no fields */
#define WORDS_MAX      4  /* of a command after its noun, and --help */
#define NOUN_NAME_MAX  32
#define NAME_MAX_LEN   64

struct noun {
    struct command command; /* first: its run gets a pointer to it */
    char name[NOUN_NAME_MAX];
    const struct command *verbs[OPERATIONS_MAX];
    size_t verb_count;
};

/* The tables, made at the first use; they live as long as the process. */
static struct {
    struct noun *list[NOUNS_MAX];
    size_t count;
} nouns;

/* ---- options ---- */

/* Shorter names of options. The fields' own names are accepted, too. */
static const struct {
    const char *field, *name;
} shorter[] = {
    {"expires_in_minutes", "minutes"}, {"expires_in_days", "days"},        {"remaining_uses", "uses"},
    {"access_code", "code"},           {"enter_code_with_voice", "voice"},
};

/* Joins with '-', and replaces '_' by it. */
static char *option_name(const char *object, const char *field)
{
    char *name = object ? mem_printf("%s-%s", object, field) : mem_strdup(field);
    for (char *p = name; *p; p++)
        *p = *p == '_' ? '-' : (char)tolower((unsigned char)*p);
    return name;
}

static const char *placeholder(const struct field *f)
{
    switch (f->type) {
    case T_ID:
        return "ID";
    case T_TIME:
        return "TIME";
    case T_INT:
    case T_NUMBER:
        return "N";
    case T_BOOL:
        return "true|false";
    case T_STRINGS:
        return "A,B";
    case T_OBJECT:
    case T_OBJECTS:
        return "JSON";
    case T_STRING:
        break;
    }
    return f->values ? "WORD" : "TEXT";
}

/* "the switch; timer, passcode or routine; 1 to 100; required" */
static char *describe_field(const struct field *f)
{
    struct buf out = BUF(2048);
    buf_str(&out, str_z(f->doc ? f->doc : ""));
    for (size_t i = 0; f->values && f->values[i]; i++)
        buf_printf(&out, "%s%s", i ? ", " : out.n ? ": " : "", f->values[i]);
    if (f->values == day_words_names)
        buf_lit(&out, DAY_WORDS_DOC);
    if (f->type == T_INT && f->max && f->max < INT64_MAX)
        buf_printf(&out, "%s%lld to %lld", out.n ? "; " : "", (long long)f->min, (long long)f->max);
    if (!out.n)
        for (const char *p = f->name; *p; p++)
            buf_char(&out, *p == '_' ? ' ' : *p);
    if (f->flags & F_REQUIRED)
        buf_lit(&out, "; required");
    buf_char(&out, '\0');
    return out.p;
}

struct builder {
    struct operation *o;
    struct option_row *rows; /* room for OPERATION_FLAGS_MAX + EXTRA_ROWS */
    size_t count;
};

static bool has_row(const struct builder *b, const char *name)
{
    for (size_t i = 0; i < b->count; i++)
        if (!strcmp(b->rows[i].name, name) || (b->rows[i].also && !strcmp(b->rows[i].also, name)))
            return true;
    return false;
}

static const char *short_name(const struct field *f)
{
    for (size_t i = 0; i < sizeof shorter / sizeof *shorter; i++)
        if (!strcmp(f->name, shorter[i].field))
            return shorter[i].name;
    return NULL;
}

static void add_flag(struct builder *b, const struct field *outer, const struct field *inner, bool in_query)
{
    static const char *const truth[] = {"true", "false", NULL};
    const struct field *f = inner ? inner : outer;
    char *name = option_name(inner ? outer->name : NULL, f->name);
    const char *brief = short_name(f);
    if (brief && has_row(b, brief)) /* a field's own name */
        brief = NULL;
    if (has_row(b, name)) { /* a field of several variants */
        free(name);
        return;
    }
    assert(b->o->flag_count < OPERATION_FLAGS_MAX);
    b->o->flags[b->o->flag_count] = (struct operation_flag){{outer, inner}, in_query};
    b->rows[b->count++] = (struct option_row){
        .name = brief ? brief : name,
        .also = brief ? name : NULL,
        .value = placeholder(f),
        .values = f->type == T_BOOL ? truth : f->values,
        .doc = describe_field(f),
        .kind = OPTION_STRING,
        .offset = offsetof(struct operation_options, values) + b->o->flag_count * sizeof(const char *),
    };
    b->o->flag_count++;
}

static void add_field(struct builder *b, const struct field *f, bool in_query)
{
    const struct shape *sub = f->type == T_OBJECT ? f->sub : NULL;
    for (size_t i = 0; sub && i < sub->field_count; i++)
        add_flag(b, f, &sub->fields[i], in_query);
    if (!sub || !sub->field_count)
        add_flag(b, f, NULL, in_query);
}

/* A constant that every body has needs no option. */
static bool is_implied(const struct shape *shape, const struct field *f)
{
    return !shape->variants && f->type == T_STRING && (f->flags & (F_CONST | F_REQUIRED)) == (F_CONST | F_REQUIRED);
}

/* The option --no-code stands for it, and --code is the code. */
static bool is_no_code(const struct operation_row *row, const struct field *f)
{
    return pass_words_fit(row) && !strcmp(f->name, "code");
}

static void add_shape(struct builder *b, const struct shape *shape, bool in_query)
{
    if (!shape)
        return;
    for (size_t i = 0; i < shape->field_count; i++)
        if (!is_implied(shape, &shape->fields[i]) && !is_no_code(b->o->row, &shape->fields[i]))
            add_field(b, &shape->fields[i], in_query);
    for (size_t i = 0; !shape->field_count && shape->variants && shape->variants[i]; i++)
        for (size_t j = 0; j < shape->variants[i]->field_count; j++)
            add_field(b, &shape->variants[i]->fields[j], in_query);
}

static void add_row(struct builder *b, struct option_row row)
{
    b->rows[b->count++] = row;
}

#define TEXT(member, option, placeholder, what)                                                                        \
    ((struct option_row)OPTION_TEXT(struct operation_options, member, option, placeholder, what))
#define SWITCH(member, option, what) ((struct option_row)OPTION_SWITCH(struct operation_options, member, option, what))

static void add_extra_rows(struct builder *b)
{
    static const struct option_row common[] = {REMOTE_ROWS(struct operation_options)};
    const struct operation_row *r = b->o->row;
    if (r->body)
        add_row(b, TEXT(body, "body", "JSON", "the body; @FILE reads it from a file, - from standard input"));
    if (r->building)
        add_row(b, TEXT(building, "building", "ID", "building, where the account has several"));
    if (r->idempotency && pass_words_fit(r))
        add_row(b, SWITCH(no_code, "no-code", "it opens without a code, to anyone who buzzes"));
    if (r->idempotency)
        add_row(b, TEXT(idempotency_key, "idempotency-key", "KEY", "Idempotency-Key [a new one]"));
    if (r->match)
        add_row(b, TEXT(if_match, "if-match", "VERSION", "version that is changed [the one that is read first]"));
    if (operation_is_paged(b->o))
        add_row(b, SWITCH(all, "all", "read all pages"));
    if (r->media)
        add_row(b, TEXT(output, "output", "FILE", "write to this file [standard output]"));
    add_row(b, SWITCH(json, "json", "print JSON, also of an error"));
    add_row(b, SWITCH(dry_run, "dry-run", "print the request as a curl command and do not send it"));
    for (size_t i = 0; i < sizeof common / sizeof *common; i++)
        add_row(b, common[i]);
}

/* ---- operands ---- */

/* "[BUILDING]", "ID" or "ID LISTENER_ID": the parameters of the path. */
static void add_operands(struct operation *o)
{
    struct buf text = BUF(128);
    const char *at = o->row->path;
    while ((at = strchr(at, '{'))) {
        const size_t n = strcspn(++at, "}");
        const bool building = !strncmp(at, "buildingId}", n + 1), first = !text.n;
        if (!first)
            buf_char(&text, ' ');
        if (building)
            buf_lit(&text, "[BUILDING]");
        else if (first)
            buf_lit(&text, "ID");
        else
            for (size_t i = 0; i < n; i++) {
                if (isupper((unsigned char)at[i]))
                    buf_char(&text, '_');
                buf_char(&text, (char)toupper((unsigned char)at[i]));
            }
        o->command.operands_most++;
        o->command.operands_least += building ? 0 : 1;
    }
    if (text.n) {
        buf_char(&text, '\0');
        o->command.operands = text.p;
    }
}

/* ---- commands ---- */

bool operation_is_paged(const struct operation *o)
{
    for (size_t i = 0; o->row->query && i < o->row->query->field_count; i++)
        if (!strcmp(o->row->query->fields[i].name, "cursor"))
            return true;
    return false;
}

static struct operation *make_operation(const struct operation_row *row)
{
    static const struct operation_options defaults = {.profile = PROFILE_DEFAULT};
    struct operation *o = mem_new(struct operation);
    struct builder b = {.o = o, .rows = mem_array(struct option_row, OPERATION_FLAGS_MAX + EXTRA_ROWS)};
    o->row = row;
    o->command = (struct command){
        .name = row->name,
        .summary = row->summary,
        .options_size = sizeof defaults,
        .defaults = &defaults,
        .run = operation_command_run,
    };
    add_shape(&b, row->query, true);
    add_shape(&b, row->body, false);
    for (const struct field *f = pass_words_fields; f->name && pass_words_fit(row); f++)
        add_flag(&b, f, NULL, false);
    add_extra_rows(&b);
    add_operands(o);
    o->command.options = b.rows;
    o->command.option_count = b.count;
    return o;
}

static const struct command *noun_verb(const struct command *self, size_t i)
{
    const struct noun *n = (const struct noun *)self;
    return i < n->verb_count ? n->verbs[i] : NULL;
}

static void list_noun(const struct command *self, FILE *out)
{
    const struct noun *n = (const struct noun *)self;
    fputs("\nEvery command has --help:\n", out);
    for (size_t i = 0; i < n->verb_count; i++) {
        const struct command *c = n->verbs[i];
        char left[80];
        snprintf(left, sizeof left, "%s%s%s", c->name + strlen(n->name) + 1, c->operands ? " " : "",
                 c->operands ? c->operands : "");
        options_help_row(out, left, 28, c->summary);
    }
}

/* The command whose name is the noun and the first `count` words; NULL if not found. */
static const struct command *find(const struct noun *n, char **words, int count)
{
    char name[NAME_MAX_LEN] = "";
    size_t at = (size_t)snprintf(name, sizeof name, "%s", n->name);
    for (int i = 0; i < count && at < sizeof name; i++)
        at += (size_t)snprintf(name + at, sizeof name - at, " %s", words[i]);
    for (size_t i = 0; at < sizeof name && i < n->verb_count; i++)
        if (!strcmp(n->verbs[i]->name, name))
            return n->verbs[i];
    return NULL;
}

static int noun_run(const struct command *self, const void *given, struct arguments operands)
{
    const struct noun *n = (const struct noun *)self;
    (void)given;
    for (int words = operands.count < WORDS_MAX ? operands.count : WORDS_MAX; words > 0; words--) {
        const struct command *c = find(n, operands.words, words);
        if (c)
            return command_run(c, NULL, operands.count - words + 1, operands.words + words - 1);
    }
    const char *last = operands.words[operands.count - 1];
    if (!strcmp(last, "--help") || !strcmp(last, "-h")) {
        for (size_t i = 0; i < n->verb_count; i++) {
            const char *rest = n->verbs[i]->name + strlen(n->name) + 1;
            const size_t length = strlen(operands.words[0]);
            if (!strncmp(rest, operands.words[0], length) && rest[length] == ' ') {
                options_help(self, stdout);
                return EXIT_DONE;
            }
        }
    }
    complain("unknown command: %s %s; see `portero %s --help`", n->name, operands.words[0], n->name);
    return EXIT_USAGE;
}

static struct noun *noun_of(const char *name)
{
    const size_t length = strcspn(name, " ");
    for (size_t i = 0; i < nouns.count; i++)
        if (strlen(nouns.list[i]->name) == length && !strncmp(nouns.list[i]->name, name, length))
            return nouns.list[i];
    assert(nouns.count < NOUNS_MAX);
    struct noun *n = mem_new(struct noun);
    snprintf(n->name, sizeof n->name, "%.*s", (int)length, name);
    n->command = (struct command){
        .name = n->name,
        .operands = "VERB …",
        .more = list_noun,
        .operands_least = 1,
        .operands_most = 1,
        .stops_at_operand = true,
        .verb = noun_verb,
        .run = noun_run,
    };
    nouns.list[nouns.count++] = n;
    return n;
}

static void add_verb(const struct command *c)
{
    struct noun *n = noun_of(c->name);
    assert(n->verb_count < OPERATIONS_MAX);
    n->verbs[n->verb_count++] = c;
}

/* "show, list, create, link": the words that may follow. */
static char *summary_of(const struct noun *n)
{
    struct buf out = BUF(512);
    for (size_t i = 0; i < n->verb_count; i++) {
        const char *word = n->verbs[i]->name + strlen(n->name) + 1,
                   *before = i ? n->verbs[i - 1]->name + strlen(n->name) + 1 : "";
        const size_t length = strcspn(word, " ");
        if (strcspn(before, " ") != length || strncmp(before, word, length) != 0)
            buf_printf(&out, "%s%.*s", out.n ? ", " : "", (int)length, word);
    }
    buf_char(&out, '\0');
    return out.p;
}

static void make_nouns(void)
{
    for (const struct operation_row *row = operation_rows; row->id; row++)
        add_verb(&make_operation(row)->command);
    add_verb(&command_log_tail);
    for (size_t i = 0; i < nouns.count; i++)
        nouns.list[i]->command.summary = summary_of(nouns.list[i]);
}

const struct command *operation_noun(size_t i)
{
    if (!nouns.count)
        make_nouns();
    return i < nouns.count ? &nouns.list[i]->command : NULL;
}
