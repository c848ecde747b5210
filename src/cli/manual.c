#include "cli/manual.h"

#include <stdlib.h>
#include <string.h>

#include "base/config_table.h"

/* Text of a paragraph: escapes what roff would read as a request or a hyphen, and sets `words` in bold. */
static void put_roff(FILE *out, const char *text)
{
    bool bold = false, begins = true;
    for (; *text; begins = *text == '\n', text++) {
        if (*text == '`') {
            bold = !bold;
            fputs(bold ? "\\fB" : "\\fR", out);
        } else if (*text == '\\') {
            fputs("\\e", out);
        } else if (*text == '-') {
            fputs("\\-", out);
        } else if (begins && (*text == '.' || *text == '\'')) {
            fprintf(out, "\\&%c", *text);
        } else {
            fputc(*text, out);
        }
    }
}

static void put_heading(FILE *out, const char *name, const char *chapter, const char *summary)
{
    fprintf(out, ".\\\" Made from the program's tables.\n.TH \"");
    for (const char *p = name; *p; p++)
        fputc(*p >= 'a' && *p <= 'z' ? *p - 'a' + 'A' : *p, out);
    fprintf(out, "\" \"%s\" \"" PORTERO_DATE "\" \"portero %s\" \"%s\"\n.SH NAME\n", chapter, PORTERO_VERSION,
            *chapter == '1' ? "User commands" : "File formats");
    put_roff(out, name);
    fputs(" \\- ", out);
    put_roff(out, summary);
    fputc('\n', out);
}

/* ---- commands ---- */

static void put_usage(FILE *out, const struct program *p, const struct command *c)
{
    fprintf(out, "\\fB%s ", p->name);
    put_roff(out, c->name);
    fputs("\\fR", out);
    for (size_t i = 0; i < c->option_count; i++)
        if (c->options[i].required) {
            fputs(" \\fB\\-\\-", out);
            put_roff(out, c->options[i].name);
            fprintf(out, "\\fR \\fI%s\\fR", c->options[i].value);
        }
    fputs(" [\\fIOPTION\\fR]…", out);
    if (c->operands)
        fprintf(out, " \\fI%s\\fR", c->operands);
    fputc('\n', out);
}

static void put_option(FILE *out, const struct option_row *row)
{
    fputs(".TP\n\\fB\\-\\-", out);
    put_roff(out, row->name);
    fputs("\\fR", out);
    if (row->value)
        fprintf(out, " \\fI%s\\fR", row->value);
    fputc('\n', out);
    put_roff(out, row->doc);
    if (row->kind == OPTION_INTEGER)
        fprintf(out, " (%lld to %lld)", (long long)row->lowest, (long long)row->highest);
    fputs(row->required ? "; required\n" : "\n", out);
}

static bool has_option(const struct command *c, const char *name)
{
    for (size_t i = 0; c && i < c->option_count; i++)
        if (!strcmp(c->options[i].name, name))
            return true;
    return false;
}

/* The options that `others` does not have. */
static void put_options(FILE *out, const struct command *c, const struct command *others)
{
    for (size_t i = 0; i < c->option_count; i++)
        if (!has_option(others, c->options[i].name))
            put_option(out, &c->options[i]);
}

static void put_verbs(FILE *out, const struct program *p, const struct command *c)
{
    fputs(p->is_operation(c) ? ".SH COMMANDS\nEach command has the options that are given with it.\n"
                             : ".SH COMMANDS\nThe service must be running. Each command has the options above, "
                               "and those that are given with it.\n",
          out);
    for (size_t i = 0; c->verb(c, i); i++) {
        const struct command *v = c->verb(c, i);
        fputs(".SS ", out);
        put_roff(out, v->name + strlen(c->name) + 1);
        fputc('\n', out);
        put_usage(out, p, v);
        fputs(".PP\n", out);
        put_roff(out, v->summary);
        fputs(".\n", out);
        put_options(out, v, c);
    }
}

/* The end of the command's help, as prose. */
static void put_more(FILE *out, const struct command *c)
{
    char *text = NULL;
    size_t n;
    FILE *memory = open_memstream(&text, &n);
    if (!memory)
        abort();
    c->more(c, memory);
    if (fclose(memory) != 0)
        abort();
    fputs(".SH NOTES\n", out);
    put_roff(out, text + strspn(text, "\n"));
    free(text);
}

void manual_command(const struct program *p, const struct command *c, FILE *out)
{
    char name[64];
    snprintf(name, sizeof name, "%s-%s", p->name, c->name);
    put_heading(out, name, "1", c->summary);
    fputs(".SH SYNOPSIS\n", out);
    put_usage(out, p, c);
    fputs(".SH DESCRIPTION\n", out);
    put_roff(out, c->summary);
    fputs(".\n.SH OPTIONS\n", out);
    put_options(out, c, NULL);
    fputs(".TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\nshow the help\n", out);
    if (c->verb)
        put_verbs(out, p, c);
    else if (c->more)
        put_more(out, c);
    fprintf(out, ".SH SEE ALSO\n.BR %s (1)", p->name);
    fputs(*p->others ? "\n" : ",\n.BR portero.conf (5)\n", out);
}

static void put_commands(FILE *out, const struct program *p, bool operations)
{
    const struct command *c;
    for (size_t i = 0; (c = p->at(i)); i++) {
        if (p->is_operation(c) != operations)
            continue;
        fputs(".TP\n\\fB", out);
        put_roff(out, c->name);
        fputs("\\fR\n", out);
        put_roff(out, c->summary);
        fprintf(out, ": see\n.BR %s\\-", p->name);
        put_roff(out, c->name);
        fputs(" (1).\n", out);
    }
}

static void put_client(FILE *out, const struct program *p)
{
    fputs(".SH COMMANDS OF RESIDENTS AND AGENTS\nThey ask a service at any address, with the key that\n"
          ".BR portero\\-login (1)\nkeeps.\n",
          out);
    put_commands(out, p, true);
    fputs(
        ".SH COMMANDS OF THE SERVICE\nWhere the service is installed, its commands can be given to this program, too; "
        "it runs\n.BR porterod (1).\n"
        ".SH ENVIRONMENT\nBefore what a login keeps:\n"
        ".TP\n.B PORTERO_URL\nThe address of the service.\n"
        ".TP\n.B PORTERO_KEY\nThe key.\n.SH FILES\n"
        ".TP\n.I $XDG_CONFIG_HOME/portero/default.json\nThe address and key of a login, mode 0600.\n"
        ".SH SEE ALSO\n.BR porterod (1)\n",
        out);
}

static void put_service(FILE *out)
{
    fprintf(out,
            ".SH FILES\n.TP\n.I %s\nThe configuration: see\n.BR portero.conf (5).\n"
            ".TP\n.I /var/lib/portero\nThe data directory of the service that the package installs.\n",
            CONFIG_DEFAULT_PATH);
    fputs(".SH SEE ALSO\n.BR portero (1),\n.BR portero.conf (5)\n", out);
}

void manual_program(const struct program *p, FILE *out)
{
    const bool client = *p->others;
    put_heading(out, p->name, "1",
                client ? "a building's door, for residents and agents" : "telephone line behind a building's call box");
    fprintf(out,
            ".SH SYNOPSIS\n\\fB%s\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR]…\n.br\n\\fB%s help\\fR "
            "[\\fICOMMAND\\fR]\n.br\n\\fB%s \\-\\-version\\fR\n.SH DESCRIPTION\n",
            p->name, p->name, p->name);
    put_roff(out, p->sentence);
    if (!client)
        fputs("\nIt serves a REST API over HTTPS and answers calls over SIP, on one store: SQLite or PostgreSQL.", out);
    fputs("\n.SH COMMANDS\n", out);
    put_commands(out, p, false);
    fputs(".TP\n\\fBhelp\\fR\nShow the help of a command.\n.SH EXIT STATUS\n"
          ".TP\n\\fB0\\fR\nThe command succeeded.\n"
          ".TP\n\\fB1\\fR\nIt failed; a line on standard error says why.\n"
          ".TP\n\\fB2\\fR\nWrong usage, or an invalid configuration.\n",
          out);
    if (client)
        fputs(".TP\n\\fB3\\fR\nThere is no key, or the service does not accept it.\n"
              ".TP\n\\fB4\\fR\nThe service could not be reached, or did not respond.\n",
              out);
    if (client)
        put_client(out, p);
    else
        put_service(out);
}

/* ---- configuration ---- */

static void put_key_entry(FILE *out, const struct config_row *row)
{
    const bool bare = (row->kind == CONFIG_ENUM && (!row->dflt || *row->dflt)) || row->kind == CONFIG_INTEGER ||
                      row->kind == CONFIG_BOOLEAN;
    fputs(".TP\n\\fB", out);
    put_roff(out, row->key);
    fputs("\\fR", out);
    if (row->dflt) {
        fputs(" = ", out);
        fputs(row->kind == CONFIG_CIDRS ? "{" : bare ? "" : "\"", out);
        put_roff(out, row->dflt);
        fputs(row->kind == CONFIG_CIDRS ? "}" : bare ? "" : "\"", out);
    }
    fputc('\n', out);
    put_roff(out, row->doc);
    if (row->kind == CONFIG_INTEGER)
        fprintf(out, " (%lld to %lld)", (long long)row->lo, (long long)row->hi);
    if (row->kind == CONFIG_ENUM || row->kind == CONFIG_WORDS) {
        fputs(" (", out);
        for (const char *p = row->words; *p; p++)
            put_roff(out, *p == '|' ? ", " : (char[]){*p, '\0'});
        fputc(')', out);
    }
    fputs(row->kind == CONFIG_SECRET ? " (secret)\n" : "\n", out);
}

static void put_rows(FILE *out, const struct config_row *rows)
{
    for (; rows->key; rows++)
        put_key_entry(out, rows);
}

static void put_sections(FILE *out)
{
    const char *section = "";
    for (const struct config_row *row = config_rows; row->key; row++) {
        if (strcmp(row->section, section) != 0) {
            section = row->section;
            fprintf(out, config_is_top(row) ? ".SH KEYS OUTSIDE OF SECTIONS\n" : ".SH SECTION %s\n", section);
        }
        put_key_entry(out, row);
    }
}

void manual_configuration(FILE *out)
{
    put_heading(out, "portero.conf", "5", "configuration of portero");
    fputs(".SH SYNOPSIS\n.I " CONFIG_DEFAULT_PATH "\n.SH DESCRIPTION\n", out);
    put_roff(out,
             "Lines have the form `key = value`, or `section { key = value }` for the keys of a section. `#` begins a "
             "comment.\nText may be quoted: '...' is literal, \"...\" expands \\n escapes and ${VARIABLE}. A list "
             "is written {\"a\", \"b\"}.\nEach key is given here with its default.\n");
    fputs(".PP\n", out);
    put_roff(out,
             "The service does not start with an unknown key, a key given twice or a value out of range; the message "
             "names file and line.\n`porterod check-config` reports all such errors at once, and also checks the "
             "files, secrets and addresses that the keys name.\n");
    put_sections(out);
    fputs(".SH BLOCK plan IN SECTION billing\n", out);
    put_roff(out, "`plan weekly { … }` and `plan yearly { … }` are the plans for sale.\n");
    put_rows(out, config_plan_rows);
    fputs(".SH BLOCK peer IN SECTION voice\n", out);
    put_roff(out,
             "`peer NAME { … }` is a caller with its own settings, such as a telephone provider's trunk. If there are "
             "any, only they and the addresses in `peers` may call.\n");
    put_rows(out, config_peer_rows);
    fputs(".SH SECRETS\n", out);
    put_roff(out, "Keys marked as secret may be given as `cred:NAME`, `file:PATH` or `env:NAME`, which keeps them out "
                  "of the file.\n"
                  "A credential is a file of systemd: for the service the one in $CREDENTIALS_DIRECTORY, for other "
                  "commands the one in /etc/credstore. The files of section tls may be credentials, too.\n"
                  "The unit loads the credential `portero.SECTION.KEY` of each such key, if it exists: `secret_key = "
                  "cred:portero.stripe.secret_key`.\n");
    fputs(".SH ENVIRONMENT\n", out);
    put_roff(out,
             "Variables override the file: `PORTERO_SECTION_KEY`, as in `PORTERO_LIMITS_OTP_PER_IP=10`, and "
             "`PORTERO_MODE` for a key without a section.\nThe service does not start with a PORTERO_ variable that "
             "is not a key, unless a secret's `env:NAME` or a ${VARIABLE} names it.\n");
    fputs(".SH SEE ALSO\n.BR porterod (1),\n.BR porterod\\-check\\-config (1)\n", out);
}
