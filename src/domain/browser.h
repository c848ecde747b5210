/* Browsers that residents are signed in with (KEY-24 to KEY-29).
 *
 * A browser holds a cookie of 256 random bits. The key of its website session is a row of api_key like any other,
 * except that it is found by the hash of the cookie and has no text. So a request with a cookie is checked with the
 * statements, caches and limits of a request with a key, and a browser is signed out by the revocation of its key. The
 * key lives 12 hours. If the browser is remembered, its next use after that gives it another one. */
#pragma once
#include "domain/key.h"
#include "domain/tx.h"

#define BROWSER_COOKIE_LEN 43 /* base62 */
#define BROWSERS_MAX       20 /* of one person; beyond it, the one unused for the longest time is signed out */

/* The hash that a cookie and its key are stored and found by. No text of a key has it. */
void browser_hash(struct str cookie, unsigned char ret[static SHA256_LEN]);

/* Names from a User-Agent field: of the browser, "Firefox", and its system, "Android". NULL: not known. They come from
 * a table, so they contain nothing that the client chose. */
struct browser_names {
    const char *program, *system;
};
struct browser_names browser_names(struct str user_agent);

struct browser_issued {
    struct id id;
    char cookie[BROWSER_COOKIE_LEN + 1]; /* the secret; the caller must wipe it */
    int64_t ends_at_us;                  /* unless it is used, if it is remembered */
};

/* Signs a browser in: creates it with its key, of session_key or session_admit. */
enum err browser_issue(struct tx *tx, const struct key_options *key, struct str user_agent, bool remember,
                       struct browser_issued *ret) CHECKED;
/* Makes the browser with this hash, which has the key `was`, the browser of the person of another key, of place_switch.
 * It keeps its cookie and its end. Fails with ERR_INVALID_KEY if it has another key by now. */
enum err browser_switch(struct tx *tx, const unsigned char hash[static SHA256_LEN], const struct id *was,
                        const struct key_options *key) CHECKED;
/* Signs out the browser with this hash, if there is one: it has signed in again, with another cookie. */
enum err browser_replace(struct tx *tx, const unsigned char hash[static SHA256_LEN]) CHECKED;

/* Whether the browser's key has expired and can be renewed: the browser is remembered, is not signed out, and was used
 * in the last 30 days. */
enum err browser_lapsed(struct tx *tx, const unsigned char hash[static SHA256_LEN], bool *ret) CHECKED;
/* Gives a lapsed browser another key. Fails with ERR_NOT_FOUND if it is not lapsed, for example because another request
 * has renewed it. */
enum err browser_renew(struct tx *tx, const unsigned char hash[static SHA256_LEN]) CHECKED;

struct browser_entry {
    struct id id, key_id;
    struct str program, system; /* STR_NONE: not known */
    bool remembered;
    int64_t created_at_us, last_used_us;
};

/* Below, `member` is whose browsers they are; an empty ID: the owner's. */

/* The browsers that are signed in, newest first, in the arena. */
enum err browser_list(struct tx *tx, const struct id *account, const struct id *member,
                      const struct browser_entry **ret, size_t *ret_count) CHECKED;
/* Signs one out. Fails with ERR_NOT_FOUND if the person has no such browser, or it is signed out. */
enum err browser_end(struct tx *tx, const struct id *account, const struct id *member,
                     const struct id *browser) CHECKED;
/* Ends all website sessions of the person, of browsers and others. */
enum err browser_end_all(struct tx *tx, const struct id *account, const struct id *member) CHECKED;
