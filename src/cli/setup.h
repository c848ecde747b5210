/* porterod setup, in parts: the questions (setup_ask.c), what is wrong with an answer (setup_judge.c), the text that
 * the answers make of a configuration (setup_text.c), the files (setup_write.c), and the checks of the world around the
 * service (setup_check.h). setup.c runs them in order. */
#pragma once
#include "base/arena.h"
#include "base/config_table.h"
#include "base/str.h"

#define SETUP_USER        "portero" /* of the service, which the package made */
#define SETUP_SELF_SIGNED "self-signed"
#define SETUP_SQLITE      "sqlite"
#define SETUP_HOST_MAX    256
#define SETUP_ANSWER_MAX  1000 /* bytes */

/* In the order in which they are asked. Those without a text to ask only have an answer in a file of answers. */
enum setup_question {
    Q_DATA_DIR,
    Q_METRICS,
    Q_PLAN,
    Q_PUBLIC_URL,
    Q_HTTPS,
    Q_SIP,
    Q_CERTIFICATE,
    Q_KEY,
    Q_MAIL_URL,
    Q_MAIL_USER,
    Q_MAIL_PASSWORD,
    Q_MAIL_FROM,
    Q_CALLERS,
    Q_RESIDENTS,
    Q_NUMBERS,
    Q_PBX,
    Q_PBX_USER,
    Q_PBX_PASSWORD,
    Q_DESTINATIONS,
    Q_STORE,
    QUESTIONS
};

enum setup_secrecy { SETUP_OPEN, SETUP_FILED, SETUP_HIDDEN };

struct setup_row {
    const char *name;          /* in a file of answers, and of the file of a secret */
    const char *ask;           /* NULL: not asked, the default holds */
    const char *section, *key; /* section "peer": of the PBX's peer in section voice; NULL: of no key */
    const char *dflt;          /* %s: the host of public_url, %u its port; NULL: an answer is required */
    int after;                 /* asked only if that one has an answer; -1: always */
    enum setup_secrecy secret; /* not OPEN: kept in a file of that name; HIDDEN: not shown as it is typed */
};

extern const struct setup_row setup_rows[QUESTIONS];

#define SETUP_FILES_MAX (QUESTIONS + 6)

/* A file or directory that was put in place. */
struct setup_file {
    const char *path, *note;
    bool directory, replaced; /* replaced: the former one is PATH.old */
};

struct setup {
    struct arena arena;
    const char *path;               /* of the configuration */
    const char *directory;          /* of the path */
    const char *answers_path;       /* NULL: asked on standard input */
    const char *data_dir;           /* NULL: the default */
    const char *user;               /* of the service; NULL: it is the caller */
    struct str given;               /* the text of the file of answers */
    bool interactive;               /* somebody sits at a terminal */
    char host[SETUP_HOST_MAX];      /* of public_url; before it is known, this machine's name */
    unsigned port;                  /* for HTTPS, by public_url */
    struct config *present;         /* the configuration at the path; NULL: none that can be read */
    bool fresh;                     /* that one is replaced, not changed */
    struct str base;                /* the text that the answers change */
    const char *peer;               /* name of the PBX's peer */
    const char *before[QUESTIONS];  /* the answers that the present configuration has; NULL: none */
    const char *answers[QUESTIONS]; /* NULL: not yet answered */
    struct setup_file files[SETUP_FILES_MAX];
    size_t file_count;
};

/* ---- setup_text.c ---- */

/* Takes the present configuration, if there is one, as what the answers change, and its values as defaults. `force`:
 * it is replaced, as a sandbox's configuration always is. Complains, and fails, if it has errors. */
bool setup_begin(struct setup *s, bool force);
/* The configuration's text with the answers so far. `filed`: secrets are in their files, and the service's own
 * certificate in its place; otherwise they are in the text, which is then a secret too. In the arena. */
struct str setup_text(struct setup *s, bool filed);
/* Whether the question is put, by the answer of another. */
bool setup_is_asked(const struct setup *s, int question);
/* Whether the answer differs from the present configuration. */
bool setup_is_changed(const struct setup *s, int question);
/* A name in the directory of the configuration, in the arena. */
const char *setup_path(struct setup *s, const char *name);
/* The key of the question as messages name it ("voice.peer.pbx.server"), in the arena; NULL: it has none. */
const char *setup_key_name(struct setup *s, const struct setup_row *q);
/* Whether the secret's text only says where the secret is ("cred:mail"). */
bool setup_is_reference(const char *secret);

/* ---- setup_judge.c ---- */

/* Why the text cannot be the answer, for people; NULL if it can. It is what `porterod check-config` would say of the
 * configuration with the answers so far, and what `porterod setup --check` would say of a certificate. In the arena. */
const char *setup_complaint(struct setup *s, int question, struct str given);

/* ---- setup_ask.c ---- */

/* Reads the file of answers, and complains about a line that answers no question. */
bool setup_read_answers(struct setup *s);
/* Takes all answers: from the file, or from standard input. Complains about what is wrong, and fails if nobody can be
 * asked again, or the input ends. */
bool setup_ask(struct setup *s);

/* ---- setup_write.c ---- */

/* Makes the keys, the files of the secrets, the data directory and the configuration, which it returns: checked as the
 * service would do it. Somebody at a terminal may repair what fails, and try again. NULL: failed, and complained; then
 * all is as before. */
struct config *setup_write(struct setup *s);
