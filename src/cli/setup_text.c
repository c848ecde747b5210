/* Makes the text of a configuration from the answers: single keys of its text change, everything else stays. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/config_edit.h"
#include "base/config_names.h"
#include "cli/setup.h"
#include "client/complain.h"

#define FILE_MAX (1U << 20)
#define NEW_PEER "pbx"

static const char fresh_text[] =
    "# Written by `porterod setup`. portero.conf(5) has all keys; check changes with `porterod check-config`.\n"
    "mode = production\n"
    "\nlisten {\n    http = \"\"\n}\n"
    "\ntls {\n}\n"
    "\nstore {\n}\n"
    "\nsecrets {\n}\n"
    "\nmail {\n    provider = smtp\n}\n"
    "\nvoice {\n}\n"
    "\nbilling {\n    provider = none\n}\n"
    "\nnumbers {\n    provider = pool\n}\n"
    "\nsms {\n}\n";

/* A store that exists keeps what it has: with --force there may be one. */
static const char fresh_times[] = "\nretention {\n    activity_days = 400\n    grants_days = 400\n}\n";

const char *setup_path(struct setup *s, const char *name)
{
    return arena_printf(&s->arena, "%s/%s", s->directory, name).p;
}

bool setup_is_reference(const char *secret)
{
    static const char *const prefixes[] = {"file:", "env:", CONFIG_CREDENTIAL};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (str_starts(str_z(secret), str_z(prefixes[i])))
            return true;
    return false;
}

/* ---- keys of questions ---- */

static bool is_of_peer(const struct setup_row *q)
{
    return q->section && strcmp(q->section, "peer") == 0;
}

static const struct config_row *configuration_key(const struct setup_row *q)
{
    const struct config_row *r = is_of_peer(q) ? config_peer_rows : config_rows;
    while (strcmp(r->key, q->key) != 0 || (!is_of_peer(q) && strcmp(r->section, q->section) != 0))
        r++; /* every question with a section has a key of the table */
    return r;
}

static struct config_place place_of(const struct setup *s, const struct setup_row *q)
{
    const bool peer = is_of_peer(q), top = strcmp(q->section, "top") == 0;
    return (struct config_place){top ? NULL : peer ? "voice" : q->section, peer ? s->peer : NULL, q->key};
}

const char *setup_key_name(struct setup *s, const struct setup_row *q)
{
    char name[CONFIG_NAME_MAX];
    if (!q->section)
        return NULL;
    if (is_of_peer(q))
        return arena_printf(&s->arena, "voice.peer.%s.%s", s->peer, q->key).p;
    config_key_name(configuration_key(q), 0, name);
    return arena_str(&s->arena, str_z(name)).p;
}

/* ---- the present configuration ---- */

static const struct config_peer *find_pbx(const struct config *c)
{
    const struct config_peer *found = NULL;
    for (size_t i = 0; i < c->peer_count; i++)
        if (*c->peers[i].server && (!found || strcmp(c->peers[i].name, NEW_PEER) == 0))
            found = &c->peers[i];
    return found;
}

static const char *comma_list(struct setup *s, const char *const *list)
{
    struct str all = STR("");
    for (; *list; list++)
        all = arena_printf(&s->arena, "%.*s%s%s", STR_ARG(all), all.n ? ", " : "", *list);
    return all.p ? all.p : "";
}

static const char *value_in(struct setup *s, const struct config_row *row, const void *base)
{
    const void *at = (const char *)base + row->offset;
    if (row->kind == CONFIG_CIDRS)
        return comma_list(s, *(const char *const *const *)at);
    return *(const char *const *)at;
}

static const char *present_value(struct setup *s, const struct setup_row *q, const struct config_peer *pbx)
{
    if (!q->section)
        return "";
    if (q == &setup_rows[Q_STORE] && s->present->engine == ENGINE_SQLITE)
        return SETUP_SQLITE;
    if (is_of_peer(q) && !pbx)
        return q->dflt;
    const char *value = value_in(s, configuration_key(q), is_of_peer(q) ? (const void *)pbx : s->present);
    return *value || q->dflt ? value : NULL;
}

/* The present values as answers. The certificate that setup made is the answer that made it. */
static void take_present(struct setup *s)
{
    const struct config_peer *pbx = find_pbx(s->present);
    if (pbx)
        s->peer = pbx->name;
    for (int i = 0; i < QUESTIONS; i++)
        s->before[i] = present_value(s, &setup_rows[i], pbx);
    if (strcmp(s->before[Q_CERTIFICATE], setup_path(s, "tls.pem")) == 0) {
        s->before[Q_CERTIFICATE] = SETUP_SELF_SIGNED;
        s->before[Q_KEY] = NULL;
    }
}

static bool read_configuration_text(struct setup *s)
{
    struct buf text = BUF(FILE_MAX);
    char part[BUFSIZ];
    FILE *f = fopen(s->path, "re");
    for (size_t n; f && (n = fread(part, 1, sizeof part, f)) > 0;)
        buf_put(&text, part, n);
    const bool whole = f && !ferror(f) && !text.full;
    s->base = arena_str(&s->arena, buf_view(&text));
    if (f)
        fclose(f);
    buf_done(&text);
    return whole;
}

bool setup_begin(struct setup *s, bool force)
{
    struct buf faults = BUF(CONFIG_FAULTS_MAX);
    const bool exists = access(s->path, F_OK) == 0;
    s->peer = NEW_PEER;
    if (exists)
        s->present = config_read(s->path, NULL, 0, &faults);
    char *why = config_faults_text(&faults);
    const bool broken = exists && (!s->present || *why);
    s->fresh = !exists || force || (!broken && !s->present->production);
    if (!s->fresh && broken) {
        complain_lines(why);
        complain("repair %s first; --force replaces it", s->path);
    }
    free(why);
    if (s->fresh) {
        const struct str key = arena_printf(&s->arena, "file:%s", setup_path(s, "master.key"));
        const struct str text = arena_printf(&s->arena, "%s%s", fresh_text, force ? "" : fresh_times);
        s->base = config_edit_set(&s->arena, text, (struct config_place){"secrets", NULL, "master_key"},
                                  config_edit_quoted(&s->arena, key));
        return true;
    }
    if (broken || !read_configuration_text(s))
        return false;
    take_present(s);
    return true;
}

/* ---- the text ---- */

bool setup_is_changed(const struct setup *s, int question)
{
    return s->fresh || !s->before[question] || strcmp(s->answers[question], s->before[question]) != 0;
}

static struct str list_of(struct setup *s, const char *text)
{
    struct str all = STR("{");
    for (struct str rest = str_z(text), one; rest.p;) {
        one = str_trim(str_cut(rest, ',', &rest));
        if (one.n)
            all = arena_printf(&s->arena, "%.*s%s%.*s", STR_ARG(all), all.n > 1 ? ", " : "",
                               STR_ARG(config_edit_quoted(&s->arena, one)));
    }
    return arena_printf(&s->arena, "%.*s}", STR_ARG(all));
}

/* Sets the key; without a value it is removed, unless its default is another. */
static struct str put(struct setup *s, struct str text, const struct setup_row *q, const char *value)
{
    const struct config_row *row = configuration_key(q);
    const struct config_place at = place_of(s, q);
    if (!*value && !*row->dflt)
        return config_edit_remove(&s->arena, text, at);
    const struct str written =
        row->kind == CONFIG_CIDRS ? list_of(s, value) : config_edit_quoted(&s->arena, str_z(value));
    return config_edit_set(&s->arena, text, at, written);
}

static struct str put_or_remove(struct setup *s, struct str text, struct config_place at, const char *word)
{
    return word ? config_edit_set(&s->arena, text, at, str_z(word)) : config_edit_remove(&s->arena, text, at);
}

static struct str put_certificate(struct setup *s, struct str text, const char *answer, bool filed)
{
    const bool own = strcmp(answer, SETUP_SELF_SIGNED) == 0;
    if (own && !filed)
        return text; /* it is made when all is answered */
    text = put(s, text, &setup_rows[Q_CERTIFICATE], own ? setup_path(s, "tls.pem") : answer);
    if (own)
        return put(s, text, &setup_rows[Q_KEY], setup_path(s, "tls.key"));
    /* The key is another question; a configuration without one would be judged for that. */
    return s->fresh && !s->answers[Q_KEY] ? put(s, text, &setup_rows[Q_KEY], "/dev/null") : text;
}

static struct str put_store(struct setup *s, struct str text, const char *value)
{
    const bool sqlite = strcmp(value, SETUP_SQLITE) == 0;
    text = put_or_remove(s, text, (struct config_place){"store", NULL, "engine"}, sqlite ? "sqlite" : "postgresql");
    return put(s, text, &setup_rows[Q_STORE], sqlite ? "" : value);
}

/* With a PBX, phones are verified by calls over it, unless they are by a provider. */
static struct str put_pbx(struct setup *s, struct str text, const char *server)
{
    const char *verified = s->fresh ? "none" : s->present->sms_provider;
    if (strcmp(verified, "none") == 0 || strcmp(verified, "call") == 0)
        text = put_or_remove(s, text, (struct config_place){"sms", NULL, "provider"}, *server ? "call" : "none");
    return *server ? put(s, text, &setup_rows[Q_PBX], server)
                   : config_edit_remove(&s->arena, text, (struct config_place){"voice", s->peer, NULL});
}

/* A user is nothing without its password. */
static struct str put_user(struct setup *s, struct str text, int question, const char *user)
{
    text = put(s, text, &setup_rows[question], user);
    if (!*user)
        text = put(s, text, &setup_rows[question + 1], "");
    if (question == Q_PBX_USER)
        text = put_or_remove(s, text, (struct config_place){"voice", s->peer, "register"}, *user ? "true" : NULL);
    return text;
}

/* The secret as the file has it: typed text is in a file. */
static const char *secret_of(struct setup *s, int question, bool filed)
{
    const char *text = s->answers[question];
    const bool typed = *text && !setup_is_reference(text) && !(question == Q_STORE && strcmp(text, SETUP_SQLITE) == 0);
    return typed && filed ? arena_printf(&s->arena, "file:%s", setup_path(s, setup_rows[question].name)).p : text;
}

static struct str put_answer(struct setup *s, struct str text, int question, bool filed)
{
    const struct setup_row *q = &setup_rows[question];
    const char *value = q->secret == SETUP_OPEN ? s->answers[question] : secret_of(s, question, filed);
    switch (question) {
    case Q_CERTIFICATE:
        return put_certificate(s, text, value, filed);
    case Q_STORE:
        return put_store(s, text, value);
    case Q_PBX:
        return put_pbx(s, text, value);
    case Q_MAIL_USER:
    case Q_PBX_USER:
        return put_user(s, text, question, value);
    default:
        return q->section ? put(s, text, q, value) : text;
    }
}

bool setup_is_asked(const struct setup *s, int question)
{
    const int after = setup_rows[question].after;
    if (question == Q_RESIDENTS && !s->fresh && !s->present->listed)
        return false; /* everybody can sign in */
    return after < 0 || (s->answers[after] && *s->answers[after] &&
                         !(question == Q_KEY && strcmp(s->answers[after], SETUP_SELF_SIGNED) == 0));
}

struct str setup_text(struct setup *s, bool filed)
{
    struct str text = s->base;
    for (int i = 0; i < QUESTIONS; i++)
        if (s->answers[i] && setup_is_asked(s, i) && setup_is_changed(s, i))
            text = put_answer(s, text, i, filed);
    return text;
}
