/* Each script has the same form. It takes the longest beginning of the line that is a place: nothing, "admin",
 * "admin key", "admin key create". For each place it lists the words that may follow, and the options of the command
 * that ends there. */
#include "cli/completion.h"

#include <string.h>

#define COMMANDS_MAX 400

struct place {
    char words[64];          /* "admin key"; "" is the beginning */
    const struct command *c; /* that has this name; NULL for a noun and for the beginning */
};

struct tree {
    const char *program;
    const struct command *all[COMMANDS_MAX]; /* verbs, too */
    size_t count;
    struct place places[2 * COMMANDS_MAX];
    size_t place_count;
};

/* Adds the first `n` bytes of the command's name as a place, unless it is there. */
static void add_place(struct tree *t, const struct command *c, size_t n)
{
    struct place *p = &t->places[t->place_count];
    snprintf(p->words, sizeof p->words, "%.*s", (int)n, c->name);
    p->c = c->name[n] ? NULL : c;
    for (size_t i = 0; i < t->place_count; i++)
        if (!strcmp(t->places[i].words, p->words))
            return;
    t->place_count++;
}

static void add_command(struct tree *t, const struct command *c)
{
    if (t->count == COMMANDS_MAX)
        return;
    t->all[t->count++] = c;
    for (const char *space = strchr(c->name, ' '); space; space = strchr(space + 1, ' '))
        add_place(t, c, (size_t)(space - c->name));
    add_place(t, c, strlen(c->name));
}

static void tree_fill(struct tree *t, const struct program *p)
{
    t->program = p->name;
    t->place_count = 1;
    const struct command *c;
    for (size_t i = 0; (c = p->at(i)); i++) {
        add_command(t, c);
        for (size_t j = 0; c->verb && c->verb(c, j); j++)
            add_command(t, c->verb(c, j));
    }
}

/* The word after the place in the i-th place's words, if that is one word longer; else NULL. */
static const char *completing_word(const struct tree *t, const struct place *p, size_t i)
{
    const char *words = t->places[i].words;
    const size_t n = strlen(p->words);
    if (strncmp(words, p->words, n) != 0 || (n && words[n] != ' ') || !words[n])
        return NULL;
    const char *word = words + n + (n ? 1 : 0);
    return strchr(word, ' ') ? NULL : word;
}

/* A part of a script, written for the program portero, for this one. */
static void put_script(FILE *out, const struct tree *t, const char *text)
{
    const char *name;
    for (; (name = strstr(text, COMMAND_CLIENT)); text = name + strlen(COMMAND_CLIENT))
        fprintf(out, "%.*s%s", (int)(name - text), text, t->program);
    fputs(text, out);
}

static bool takes(const char *placeholder, const char *word)
{
    return placeholder && !strcmp(placeholder, word);
}

static void put_value_words(FILE *out, const char *const *words)
{
    for (size_t i = 0; words[i]; i++)
        fprintf(out, "%s%s", i ? " " : "", words[i]);
}

/* Text between single quotes, in which `special` characters get a backslash. */
static void put_quoted(FILE *out, const char *text, const char *special)
{
    for (; *text; text++) {
        if (*text == '\'') {
            fputs("'\\''", out);
            continue;
        }
        if (strchr(special, *text))
            fputc('\\', out);
        fputc(*text, out);
    }
}

static void put_places(FILE *out, const struct tree *t, const char *separator)
{
    for (size_t i = 1; i < t->place_count; i++)
        fprintf(out, "%s'%s'", i > 1 ? separator : "", t->places[i].words);
}

/* ---- bash ---- */

static void bash_words(FILE *out, const struct tree *t)
{
    put_script(out, t, "# the words and options that may follow\n_portero_words() {\n    case $1 in\n");
    for (size_t i = 0; i < t->place_count; i++) {
        const struct place *p = &t->places[i];
        fprintf(out, "    '%s') echo '", p->words);
        for (size_t j = 1; j < t->place_count; j++)
            if (completing_word(t, p, j))
                fprintf(out, "%s ", completing_word(t, p, j));
        for (size_t j = 0; p->c && j < p->c->option_count; j++)
            fprintf(out, "--%s ", p->c->options[j].name);
        fputs(i ? "--help' ;;\n" : "help --help --version' ;;\n", out);
    }
    fputs("    *) return 1 ;;\n    esac\n}\n\n", out);
}

static void bash_value(FILE *out, const struct command *c, const struct option_row *row)
{
    if (!row->value)
        return;
    fprintf(out, "    '%s --%s') echo '", c->name, row->name);
    if (row->values) {
        fputs("words ", out);
        put_value_words(out, row->values);
    } else {
        fputs(takes(row->value, "FILE") ? "file" : takes(row->value, "DIR") ? "directory" : "other", out);
    }
    fputs("' ;;\n", out);
}

static void bash_values(FILE *out, const struct tree *t)
{
    put_script(out, t,
               "# the kind of value that an option, or a command as its argument, takes\n"
               "_portero_value() {\n    case $1 in\n");
    for (size_t i = 1; i < t->place_count; i++) {
        const struct command *c = t->places[i].c;
        for (size_t j = 0; c && j < c->option_count; j++)
            bash_value(out, c, &c->options[j]);
        if (c && takes(c->operands, "FILE"))
            fprintf(out, "    '%s') echo file ;;\n", c->name);
    }
    fputs("    esac\n}\n\n", out);
}

void completion_bash(const struct program *p, FILE *out)
{
    static struct tree t;
    memset(&t, 0, sizeof t);
    tree_fill(&t, p);
    put_script(out, &t, "# bash completion of portero, made from its table of commands\n\n");
    bash_words(out, &t);
    bash_values(out, &t);
    put_script(out, &t,
               "_portero() {\n"
               "    local at= cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} i next kind\n"
               "    if [ \"$cur\" = = ]; then\n"
               "        cur=\n"
               "    elif [ \"$prev\" = = ]; then\n"
               "        prev=${COMP_WORDS[COMP_CWORD-2]}\n"
               "    fi\n"
               "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
               "        next=${at:+$at }${COMP_WORDS[i]}\n"
               "        if [ -n \"${COMP_WORDS[i]}\" ] && _portero_words \"$next\" >/dev/null; then at=$next; fi\n"
               "    done\n"
               "    case $prev in\n"
               "    --*) kind=$(_portero_value \"$at $prev\") ;;\n"
               "    *) kind= ;;\n"
               "    esac\n"
               "    case $kind,$cur in\n"
               "    ,-*) ;;\n"
               "    ,*) kind=$(_portero_value \"$at\") ;;\n"
               "    esac\n"
               "    case $kind in\n"
               "    file) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- \"$cur\") ;;\n"
               "    directory) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -d -- \"$cur\") ;;\n"
               "    other) COMPREPLY=() ;;\n"
               "    words*) mapfile -t COMPREPLY < <(compgen -W \"${kind#words}\" -- \"$cur\") ;;\n"
               "    *) mapfile -t COMPREPLY < <(compgen -W \"$(_portero_words \"$at\")\" -- \"$cur\") ;;\n"
               "    esac\n"
               "}\n"
               "complete -F _portero portero\n");
}

/* ---- zsh ---- */

static void zsh_options(FILE *out, const struct command *c)
{
    fputs("        _arguments", out);
    for (size_t i = 0; i < c->option_count; i++) {
        const struct option_row *row = &c->options[i];
        fprintf(out, " \\\n            '--%s%s[", row->name, row->value ? "=" : "");
        put_quoted(out, row->doc, "[]\\");
        if (row->values) {
            fprintf(out, "]:%s:(", row->value);
            put_value_words(out, row->values);
            fputs(")'", out);
            continue;
        }
        fprintf(out, row->value ? "]:%s:%s'" : "]'", row->value,
                takes(row->value, "FILE")  ? "_files"
                : takes(row->value, "DIR") ? "_files -/"
                                           : "");
    }
    fputs(" \\\n            '(- *)'{-h,--help}'[show this help]'", out);
    if (c->operands && !c->stops_at_operand)
        fprintf(out, " \\\n            '1:%s:%s'", c->operands, takes(c->operands, "FILE") ? "_files" : "");
    fputc('\n', out);
}

static void zsh_words(FILE *out, const struct tree *t, const struct place *p)
{
    fputs("        words_of=(", out);
    for (size_t i = 1; i < t->place_count; i++) {
        const char *word = completing_word(t, p, i);
        if (!word)
            continue;
        fprintf(out, "\n            '%s", word);
        if (t->places[i].c) {
            fputc(':', out);
            put_quoted(out, t->places[i].c->summary, ":\\");
        }
        fputc('\'', out);
    }
    if (!p->words[0])
        fputs("\n            'help:Show the help of a command'\n            '--version:Print the version'", out);
    fputs(")\n        _describe command words_of\n", out);
}

void completion_zsh(const struct program *p, FILE *out)
{
    static struct tree t;
    memset(&t, 0, sizeof t);
    tree_fill(&t, p);
    put_script(out, &t,
               "#compdef portero\n"
               "# zsh completion of portero, made from its table of commands\n\n"
               "_portero() {\n"
               "    local at next\n"
               "    local -a words_of\n"
               "    while (( CURRENT > 2 )); do\n"
               "        next=\"${at:+$at }$words[2]\"\n"
               "        case $next in\n"
               "        ");
    put_places(out, &t, "|");
    fputs(") at=$next ;;\n"
          "        help) ;;\n"
          "        *) break ;;\n"
          "        esac\n"
          "        shift words\n"
          "        (( CURRENT-- ))\n"
          "    done\n"
          "    case $at in\n",
          out);
    for (size_t i = 0; i < t.place_count; i++) {
        const struct place *place = &t.places[i];
        bool nouns = false;
        for (size_t j = 1; j < t.place_count; j++)
            nouns = nouns || completing_word(&t, place, j);
        fprintf(out, "    '%s')\n", place->words);
        if (nouns)
            zsh_words(out, &t, place);
        else
            zsh_options(out, place->c);
        fputs("        ;;\n", out);
    }
    put_script(out, &t, "    esac\n}\n\n_portero \"$@\"\n");
}

/* ---- fish ---- */

static void fish_words(FILE *out, const struct tree *t, const struct place *p)
{
    for (size_t i = 1; i < t->place_count; i++) {
        const char *word = completing_word(t, p, i);
        if (!word)
            continue;
        fprintf(out, "complete -c %s -n '__%s_at \"%s\"' -a %s", t->program, t->program, p->words, word);
        if (t->places[i].c) {
            fputs(" -d '", out);
            put_quoted(out, t->places[i].c->summary, "\\");
            fputc('\'', out);
        }
        fputc('\n', out);
    }
}

static void fish_options(FILE *out, const struct tree *t, const struct command *c)
{
    for (size_t i = 0; i < c->option_count; i++) {
        const struct option_row *row = &c->options[i];
        fprintf(out, "complete -c %s -n '__%s_at \"%s\"' -l %s%s", t->program, t->program, c->name, row->name,
                takes(row->value, "FILE")  ? " -r -F"
                : takes(row->value, "DIR") ? " -x -a '(__fish_complete_directories)'"
                : row->value               ? " -x"
                                           : "");
        if (row->values) {
            fputs(" -a '", out);
            put_value_words(out, row->values);
            fputc('\'', out);
        }
        fputs(" -d '", out);
        put_quoted(out, row->doc, "\\");
        fputs("'\n", out);
    }
    if (takes(c->operands, "FILE"))
        fprintf(out, "complete -c %s -n '__%s_at \"%s\"' -F\n", t->program, t->program, c->name);
}

void completion_fish(const struct program *p, FILE *out)
{
    static struct tree t;
    memset(&t, 0, sizeof t);
    tree_fill(&t, p);
    put_script(out, &t,
               "# fish completion of portero, made from its table of commands\n\n"
               "function __portero_at --description 'whether the line is at this place'\n"
               "    set -l at\n"
               "    for word in (commandline -opc)[2..-1]\n"
               "        set -l next (string trim -- \"$at $word\")\n"
               "        contains -- $next ");
    put_places(out, &t, " ");
    put_script(out, &t,
               "; and set at $next\n"
               "    end\n"
               "    test \"$at\" = \"$argv[1]\"\n"
               "end\n\n"
               "complete -c portero -f\n"
               "complete -c portero -s h -l help -d 'show this help'\n"
               "complete -c portero -n '__portero_at \"\"' -l version -d 'print the version'\n"
               "complete -c portero -n '__portero_at \"\"' -a help -d 'Show the help of a command'\n");
    for (size_t i = 0; i < t.place_count; i++) {
        fish_words(out, &t, &t.places[i]);
        if (t.places[i].c)
            fish_options(out, &t, t.places[i].c);
    }
}
