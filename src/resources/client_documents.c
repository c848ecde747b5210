#include "resources/client_documents.h"

#include <pthread.h>
#include <stdlib.h>

#include "api/slots.h"
#include "base/mem.h"
#include "net/cache.h"
#include "net/client.h"

#define KEPT_MOST       64  /* documents; beyond it, the one that was used longest ago goes */
#define KEPT_S          300 /* if HTTP does not say how long */
#define KEPT_MOST_S     86400
#define FETCH_MS        5000
#define FETCHES_MOST    8 /* at once: addresses that do not answer must not occupy all blocking workers */
#define FETCHES_ACCOUNT 2 /* of these, for one account */
#define FETCHES_SAME    4 /* of these, for one address block or host */

struct kept {
    char *address, *name, *redirects; /* NULL: free */
    int64_t until_us, used;           /* used: a count of all uses */
};

struct client_documents {
    const struct config *config;
    struct net_client *net;
    pthread_mutex_t lock; /* for all below */
    struct kept kept[KEPT_MOST];
    int64_t uses;
};

enum err client_documents_new(const struct config *config, struct client_documents **ret)
{
    struct client_documents *d = mem_new(struct client_documents);
    d->config = config;
    pthread_mutex_init(&d->lock, NULL);
    *ret = d;
    return net_client_new(&d->net);
}

static void kept_clear(struct kept *k)
{
    free(k->address);
    free(k->name);
    free(k->redirects);
    *k = (struct kept){0};
}

void client_documents_free(struct client_documents *d)
{
    if (!d)
        return;
    for (size_t i = 0; i < KEPT_MOST; i++)
        kept_clear(&d->kept[i]);
    net_client_free(d->net);
    pthread_mutex_destroy(&d->lock);
    free(d);
}

/* ---- kept ones ---- */

static struct kept *kept_find(struct client_documents *d, struct str address)
{
    for (struct kept *k = d->kept; k < d->kept + KEPT_MOST; k++)
        if (k->address && str_eq(str_z(k->address), address))
            return k;
    return NULL;
}

static bool recall(struct client_documents *d, struct tx *tx, struct str address, struct oauth_client *ret)
{
    pthread_mutex_lock(&d->lock);
    struct kept *k = kept_find(d, address);
    const bool fresh = k && clock_within(k->until_us - KEPT_MOST_S * US_PER_S, KEPT_MOST_S * US_PER_S, tx->now_us);
    if (fresh) {
        k->used = ++d->uses;
        *ret = (struct oauth_client){.id = arena_str(tx->arena, address),
                                     .name = arena_str(tx->arena, str_z(k->name)),
                                     .redirects = arena_str(tx->arena, str_z(k->redirects))};
    } else if (k) {
        kept_clear(k);
    }
    pthread_mutex_unlock(&d->lock);
    return fresh;
}

static char *copy(struct str s)
{
    return mem_strndup(s.p, s.n);
}

static void keep(struct client_documents *d, const struct oauth_client *c, int64_t until_us)
{
    pthread_mutex_lock(&d->lock);
    struct kept *k = kept_find(d, c->id);
    for (size_t i = 0; !k && i < KEPT_MOST; i++)
        k = d->kept[i].address ? NULL : &d->kept[i];
    if (!k) {
        k = d->kept;
        for (struct kept *other = d->kept; other < d->kept + KEPT_MOST; other++)
            k = other->used < k->used ? other : k;
    }
    kept_clear(k);
    *k = (struct kept){copy(c->id), copy(c->name), copy(c->redirects), until_us, ++d->uses};
    pthread_mutex_unlock(&d->lock);
}

/* ---- fetching ---- */

static struct slots fetches = SLOTS(LOOKUP_DOCUMENT, FETCHES_MOST, FETCHES_ACCOUNT, FETCHES_SAME);

/* Section 4 of the draft. */
static bool is_json(struct str type)
{
    const struct str suffix = STR("+json"), application = STR("application/");
    return str_eqi(type, STR("application/json")) ||
           (type.n > application.n + suffix.n && str_eqi(str_n(type.p, application.n), application) &&
            str_eqi(str_from(type, type.n - suffix.n), suffix));
}

static const char *answer_fault(enum net_exchange result, const struct net_answer *answer)
{
    if (result == NET_NOT_SENT)
        return "the document's host cannot be reached with a valid certificate at a public address";
    if (result == NET_UNKNOWN)
        return "the document did not arrive within 5 seconds and 5120 bytes";
    if (answer->status != 200)
        return "the document was answered with another status than 200; redirects are not followed";
    return is_json(answer->type) ? NULL : "the document's Content-Type must be application/json";
}

static const char *fetch(struct client_documents *d, struct tx *tx, struct str address, struct oauth_client *ret)
{
    const struct net_header accept = {"Accept", STR("application/json")};
    const struct net_call call = {.method = "GET",
                                  .url = address,
                                  .headers = &accept,
                                  .header_count = 1,
                                  .timeout_ms = FETCH_MS,
                                  .answer_max = OAUTH_DOCUMENT_MAX,
                                  .guarded = !d->config->oauth_allow_private,
                                  .ca = *d->config->oauth_ca ? d->config->oauth_ca : NULL};
    struct net_answer answer = {0};
    const char *why = answer_fault(net_client_call(d->net, &call, tx->arena, &answer), &answer);
    if (!why)
        why = oauth_document_read(tx->arena, address, answer.body, ret);
    if (why)
        return why;
    int64_t s = net_cache_s(answer.cache_control);
    s = s == NET_CACHE_UNSAID ? KEPT_S : s;
    if (s > 0)
        keep(d, ret, tx->now_us + (s < KEPT_MOST_S ? s : KEPT_MOST_S) * US_PER_S);
    return NULL;
}

enum err client_documents_get(struct client_documents *d, struct request *q, struct str address,
                              struct oauth_client *ret, const char **ret_why)
{
    struct slot *slot;
    *ret_why = NULL;
    if (recall(d, &q->tx, address, ret))
        return ERR_NONE;
    enum err e = slots_take(&fetches, q, address, &slot);
    if (e)
        return e;
    *ret_why = fetch(d, &q->tx, address, ret);
    slots_release(&fetches, slot);
    return ERR_NONE;
}
