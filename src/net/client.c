#include "net/client.h"

#include <curl/curl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "base/mem.h"
#include "net/guard.h"
#include "net/tls.h"

#define IDLE_MAX   8     /* idle handles kept with their connections; further ones are closed after use */
#define FIELDS_MAX 65536 /* bytes of an answer's status lines and header fields */

/* A kept connection is used again after at most so many idle seconds. Servers close idle ones after 5 s or later: a
 * request that may not be repeated must not meet that moment. */
#define REUSE_S      100L
#define REUSE_ONCE_S 2L

struct net_client {
    pthread_mutex_t lock;
    CURL *idle[IDLE_MAX]; /* a stack: the connection used last is used next */
    size_t idle_count;
};

/* ---- handles ---- */

enum err net_client_new(struct net_client **ret)
{
    if (curl_global_init(CURL_GLOBAL_DEFAULT))
        return ERR_IO;
    struct net_client *c = mem_new(struct net_client);
    pthread_mutex_init(&c->lock, NULL);
    *ret = c;
    return ERR_NONE;
}

void net_client_free(struct net_client *c)
{
    if (!c)
        return;
    while (c->idle_count > 0)
        curl_easy_cleanup(c->idle[--c->idle_count]);
    pthread_mutex_destroy(&c->lock);
    free(c);
    curl_global_cleanup();
}

static CURL *client_handle_take(struct net_client *c)
{
    pthread_mutex_lock(&c->lock);
    CURL *curl = c->idle_count > 0 ? c->idle[--c->idle_count] : NULL;
    pthread_mutex_unlock(&c->lock);
    return curl ? curl : curl_easy_init();
}

/* Keeps the connections open and resets everything else. */
static void client_handle_return(struct net_client *c, CURL *curl)
{
    curl_easy_reset(curl);
    pthread_mutex_lock(&c->lock);
    if (c->idle_count < IDLE_MAX) {
        c->idle[c->idle_count++] = curl;
        curl = NULL;
    }
    pthread_mutex_unlock(&c->lock);
    curl_easy_cleanup(curl);
}

/* ---- one exchange ---- */

struct exchange {
    const struct net_call *call;
    unsigned sent;   /* how many times the request was sent, at least in part */
    size_t fields;   /* bytes of header fields so far */
    struct buf body; /* of the answer */
    struct curl_slist *headers;
};

/* Only these may be sent again when a kept connection turns out to be dead (RFC 9110 section 9.2.2). */
static bool is_repeatable(const struct net_call *call)
{
    static const char *const methods[] = {"GET", "HEAD", "PUT", "DELETE", "OPTIONS"};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (strcmp(call->method, methods[i]) == 0)
            return true;
    return call->repeatable;
}

/* libcurl is about to send: from now on the peer may receive the request.
 * NOLINTNEXTLINE(readability-non-const-parameter): the type is libcurl's */
static int client_on_send(void *arg, char *peer_ip, char *own_ip, int peer_port, int own_port)
{
    struct exchange *x = arg;
    (void)peer_ip, (void)own_ip, (void)peer_port, (void)own_port;
    return x->sent++ > 0 && !is_repeatable(x->call) ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the type is libcurl's */
static size_t client_on_field(char *p, size_t size, size_t count, void *arg)
{
    struct exchange *x = arg;
    (void)p;
    x->fields += size * count;
    return x->fields <= FIELDS_MAX ? size * count : 0;
}

static size_t client_on_body(char *p, size_t size, size_t count, void *arg)
{
    struct exchange *x = arg;
    buf_put(&x->body, p, size * count);
    return x->body.full ? 0 : size * count;
}

static bool is_clean(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] == '\r' || s.p[i] == '\n' || s.p[i] == '\0')
            return false;
    return true;
}

static bool append_header(struct exchange *x, const char *line)
{
    struct curl_slist *grown = curl_slist_append(x->headers, line);
    if (grown)
        x->headers = grown;
    return grown != NULL;
}

static bool add_headers(struct exchange *x, struct arena *a)
{
    for (size_t i = 0; i < x->call->header_count; i++) {
        const struct net_header *h = &x->call->headers[i];
        const char *line = h->value.n ? arena_printf(a, "%s: %.*s", h->name, STR_ARG(h->value)).p
                                      : arena_printf(a, "%s;", h->name).p; /* libcurl's notation for an empty field */
        if (!is_clean(h->value) || !append_header(x, line))
            return false;
    }
    /* Without these libcurl would wait for 100 Continue, and add a form's type if the caller gave no type. */
    return append_header(x, "Expect:") && append_header(x, "Content-Type:");
}

static curl_socket_t open_public(void *arg, curlsocktype purpose, struct curl_sockaddr *a)
{
    (void)arg, (void)purpose;
    if (!net_guard_permits(&a->addr, a->addrlen))
        return CURL_SOCKET_BAD;
    return socket(a->family, a->socktype | SOCK_CLOEXEC, a->protocol);
}

static void set_limits(CURL *curl, const struct net_call *call)
{
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_QUICK_EXIT, 1L); /* a time-out does not wait for a name server */
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, call->guarded ? "https" : "http,https");
    curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(curl, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    net_tls_bound_curl(curl);
    curl_easy_setopt(curl, CURLOPT_PROXY, "");
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, call->timeout_ms);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, call->timeout_ms);
    curl_easy_setopt(curl, CURLOPT_MAXAGE_CONN, is_repeatable(call) ? REUSE_S : REUSE_ONCE_S);
    if (call->guarded)
        curl_easy_setopt(curl, CURLOPT_OPENSOCKETFUNCTION, open_public);
    if (call->ca)
        curl_easy_setopt(curl, CURLOPT_CAINFO, call->ca);
}

static void set_callbacks(CURL *curl, struct exchange *x)
{
    curl_easy_setopt(curl, CURLOPT_PREREQFUNCTION, client_on_send);
    curl_easy_setopt(curl, CURLOPT_PREREQDATA, x);
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, client_on_field);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, x);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, client_on_body);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, x);
}

static void set_method(CURL *curl, const struct net_call *call)
{
    if (strcmp(call->method, "HEAD") == 0) {
        curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
        return;
    }
    if (call->body.p || strcmp(call->method, "POST") == 0) {
        curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)call->body.n);
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, call->body.p ? call->body.p : "");
    }
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, call->method);
}

static bool set_request(CURL *curl, struct exchange *x, struct arena *a)
{
    const struct net_call *call = x->call;
    if (!is_clean(call->url) || !add_headers(x, a))
        return false;
    curl_easy_setopt(curl, CURLOPT_URL, arena_str(a, call->url).p);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, x->headers);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "Portero/" PORTERO_VERSION);
    if (call->user.p) {
        curl_easy_setopt(curl, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
        curl_easy_setopt(curl, CURLOPT_USERNAME, arena_str(a, call->user).p);
        curl_easy_setopt(curl, CURLOPT_PASSWORD, call->password.p ? arena_str(a, call->password).p : "");
    }
    set_method(curl, call);
    return true;
}

static struct str media_type(const char *field, struct arena *a)
{
    struct str parameters;
    return field ? arena_str(a, str_trim(str_cut(str_z(field), ';', &parameters))) : STR_NONE;
}

static struct str all_lines(CURL *curl, const char *name, struct arena *a)
{
    struct str all = STR_NONE;
    struct curl_header *h;
    for (size_t i = 0; curl_easy_header(curl, name, i, CURLH_HEADER, -1, &h) == CURLHE_OK; i++)
        all = arena_printf(a, "%.*s%s%s", STR_ARG(all), i ? "," : "", h->value);
    return all;
}

static void read_answer(CURL *curl, const struct exchange *x, struct arena *a, struct net_answer *ret)
{
    const char *type = NULL;
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &ret->status);
    curl_easy_getinfo(curl, CURLINFO_CONTENT_TYPE, &type);
    ret->type = media_type(type, a);
    ret->cache_control = all_lines(curl, "Cache-Control", a);
    ret->body = arena_str(a, buf_view(&x->body));
}

static enum net_exchange client_perform(CURL *curl, struct exchange *x, struct arena *a, struct net_answer *ret_answer)
{
    set_limits(curl, x->call);
    set_callbacks(curl, x);
    if (!set_request(curl, x, a))
        return NET_NOT_SENT;
    if (curl_easy_perform(curl) != CURLE_OK)
        return x->sent > 0 ? NET_UNKNOWN : NET_NOT_SENT;
    read_answer(curl, x, a, ret_answer);
    return NET_ANSWERED;
}

enum net_exchange net_client_call(struct net_client *c, const struct net_call *call, struct arena *a,
                                  struct net_answer *ret_answer)
{
    CURL *curl = client_handle_take(c);
    if (!curl)
        return NET_NOT_SENT;
    struct exchange x = {.call = call, .body = BUF(call->answer_max)};
    enum net_exchange result = client_perform(curl, &x, a, ret_answer);
    client_handle_return(c, curl);
    curl_slist_free_all(x.headers);
    buf_done(&x.body);
    return result;
}
