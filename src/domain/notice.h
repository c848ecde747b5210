/* Notices of events at the door, for the owner and members who asked for them: in a browser (domain/push.h) or by
 * e-mail.
 *
 * A decision records the moment in its transaction, if anyone asked for notices of the building. The notices engine
 * (jobs/notices.h) makes messages of it at once. tbl/notices.def lists the notices and their texts. */
#pragma once
#include "domain/principal.h"
#include "domain/tx.h"

enum notice {
#define NOTICE(symbol, name, ttl_s, urgency, tag) NOTICE_##symbol,
#include "tbl/notices.def"
    NOTICE_COUNT
};
#define NOTICE_BIT(symbol) (1U << NOTICE_##symbol)
#define NOTICES_ALL        (NOTICE_BIT(TEST) - 1) /* kinds that can be asked for */

/* The notices that a person may have: bits. A manager of codes answers no calls, and gets no ring. */
unsigned notice_of_role(enum member_role role);
/* The same for the person of a website session. */
unsigned notice_allowed(const struct principal *who);

/* Mails of a building that are sent at once count as sent one after the other, up to this time ahead. */
#define NOTICE_MAIL_PAID_S 3600

struct notice_kind {
    const char *name;
    int64_t ttl_s;
    const char *urgency;
    const char *tag;
};
extern const struct notice_kind notice_kinds[NOTICE_COUNT];
/* The names of the kinds that can be asked for, NULL-terminated. */
extern const char *const notice_names[];
/* Of these, the names of the kinds that can be asked for by e-mail. Of guessing, the owner is told in any case
 * (domain/access_guard.h). */
extern const char *const notice_mail_names[];

enum notice_language { NOTICE_EN, NOTICE_ES, NOTICE_FR, NOTICE_LANGUAGES };
extern const char *const notice_languages[NOTICE_LANGUAGES + 1]; /* primary subtags, NULL-terminated */
/* English for any other, and for STR_NONE. */
enum notice_language notice_language(struct str name);

/* The events of one moment. */
struct notice_moment {
    struct id building_id;
    unsigned notices; /* bits */
    int64_t at_us;
    struct str label; /* of the grant that was used; STR_NONE without one */
    int64_t minutes;  /* that the keypad is closed, with NOTICE_GUESSING */
    bool quiet;       /* a ring leaves out persons in their quiet hours */
};

/* Records a moment, for the engine. */
enum err notice_record(struct tx *tx, const struct notice_moment *moment) CHECKED;

/* The heaviest of the notices that happened and are wanted; NOTICE_COUNT: none. */
enum notice notice_choose(unsigned happened, unsigned wanted);

struct notice_text {
    struct str title, body; /* in the arena */
};
/* `language` is one of notice_languages; English for any other. */
struct notice_text notice_text(enum notice notice, struct str language, const struct notice_moment *moment,
                               struct str building, struct arena *a);

/* Makes messages and mails of at most `limit` recorded moments. *ret_count is their number. */
enum err notice_spread(struct tx *tx, int64_t limit, int64_t *ret_count) CHECKED;

/* The notices of a building that a person wants by e-mail: bits; 0: none. */
enum err notice_mail_get(struct tx *tx, const struct principal *who, const struct id *building, unsigned *ret) CHECKED;
/* The language is from then on the language of a member's other mails, too. */
enum err notice_mail_set(struct tx *tx, const struct principal *who, const struct id *building, unsigned notices,
                         struct str language) CHECKED;
