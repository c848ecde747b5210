/* portero setup, in parts: the questions (setup_ask.c), what it writes (setup_write.c), and the checks of the world
 * around the service (setup_check.h). setup.c runs them in order. */
#pragma once
#include "base/arena.h"
#include "base/config_table.h"
#include "base/str.h"

#define SETUP_USER        "portero" /* of the service, which the package made */
#define SETUP_SELF_SIGNED "self-signed"
#define SETUP_SQLITE      "sqlite"
#define SETUP_GUIDE       "/usr/share/doc/portero/docs/first-door.md"
#define SETUP_HOST_MAX    256

/* In the order in which they are asked; the last four only have an answer in a file of answers. */
enum setup_question {
    Q_PUBLIC_URL,
    Q_SIP,
    Q_CERTIFICATE,
    Q_KEY,
    Q_MAIL_URL,
    Q_MAIL_USER,
    Q_MAIL_PASSWORD,
    Q_MAIL_FROM,
    Q_CALLERS,
    Q_NUMBERS,
    Q_PBX,
    Q_PBX_USER,
    Q_PBX_PASSWORD,
    Q_STORE,
    Q_HTTPS,
    Q_METRICS,
    Q_PLAN,
    Q_DATA_DIR,
    QUESTIONS
};

enum setup_secrecy { SETUP_OPEN, SETUP_FILED, SETUP_HIDDEN };

struct setup_row {
    const char *name;          /* in a file of answers, and of the file of a secret */
    const char *ask;           /* NULL: not asked, the default holds */
    const char *section, *key; /* section "peer": of voice.peer.pbx; NULL: of no key */
    const char *dflt;          /* %s: the host of public_url, %u its port; NULL: an answer is required */
    int after;                 /* asked only if that one has an answer; -1: always */
    enum setup_secrecy secret; /* not OPEN: kept in a file of that name; HIDDEN: not shown as it is typed */
};

extern const struct setup_row setup_rows[QUESTIONS];

struct setup {
    struct arena arena;
    const char *path;          /* of the configuration */
    const char *directory;     /* of the path */
    const char *answers_path;  /* NULL: asked on standard input */
    const char *data_dir;      /* NULL: the default */
    struct str given;          /* that file's text */
    bool interactive;          /* somebody sits at a terminal */
    char host[SETUP_HOST_MAX]; /* of public_url; before it is known, this machine's name */
    unsigned port;             /* for HTTPS, by public_url */
    const char *answers[QUESTIONS];
};

/* The configuration key that the answer sets; NULL: of none. */
const struct config_row *setup_key(const struct setup_row *q);
/* Why `text` cannot be the answer, in `rule`; false if it can. */
bool setup_is_wrong(struct setup *s, const struct setup_row *q, const char *text, char rule[static CONFIG_RULE_MAX]);
/* Reads the file of answers, and complains about a line that answers no question. */
bool setup_read_answers(struct setup *s);
/* Takes all answers: from the file, or from standard input. Complains about what is wrong, and fails if nobody can be
 * asked again. */
bool setup_ask(struct setup *s);

/* Whether the file may be written: it does not exist, or is no configuration of a service in production. Complains. */
bool setup_may_write(const char *path);
/* Makes the keys, the files of the secrets, the data directory and the configuration, which it returns: checked as the
 * service would do it. NULL: failed, and complained; a previous configuration is then as before. */
struct config *setup_write(struct setup *s);
