#include "client/remote.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/crypto.h"
#include "base/mem.h"
#include "client/complain.h"
#include "client/profile.h"
#include "net/tls.h"

#define ANSWER_MAX (16U << 20)
#define TIMEOUT_MS 60000L
#define CONNECT_MS 10000L
#define ATTEMPTS   3
#define WAIT_MAX_S 30
#define ALNUM      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

/* ---- address and key ---- */

static bool is_this_machine(const char *host)
{
    struct in_addr v4;
    if (inet_pton(AF_INET, host, &v4) == 1)
        return ntohl(v4.s_addr) >> 24 == 127;
    return !strcmp(host, "[::1]") || !strcasecmp(host, "localhost");
}

/* libcurl accepts characters that RFC 3986 does not allow, and one slash or three for two. */
static bool is_plain_url(const char *url)
{
    const char *rest = url + strcspn(url, ":");
    return !strncmp(rest, "://", 3) && rest[3] != '/' && url[strspn(url, ALNUM "-._~:/[]@!$&'()*+,;=%")] == '\0';
}

static bool protects_key(const char *url)
{
    CURLU *parts = curl_url();
    char *scheme = NULL, *host = NULL;
    const bool read = parts && is_plain_url(url) && !curl_url_set(parts, CURLUPART_URL, url, CURLU_DISALLOW_USER) &&
                      !curl_url_get(parts, CURLUPART_SCHEME, &scheme, 0) &&
                      !curl_url_get(parts, CURLUPART_HOST, &host, 0) && !host[strspn(host, ALNUM "-.:[]")];
    const bool protects = read && (!strcmp(scheme, "https") || (!strcmp(scheme, "http") && is_this_machine(host)));
    curl_free(scheme);
    curl_free(host);
    curl_url_cleanup(parts);
    return protects;
}

bool remote_is_url(const char *url)
{
    if (protects_key(url))
        return true;
    complain("%s is not a URL that protects the key: it must be https://HOST, or http:// to this machine", url);
    return false;
}

static char *without_slashes(const char *url)
{
    size_t n = strlen(url);
    while (n > 1 && url[n - 1] == '/')
        n--;
    return mem_strndup(url, n);
}

/* Variables that are set and not empty. */
static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

static int load_profile(const char *name, struct profile *ret)
{
    char *why = NULL;
    if (!profile_is_name(name)) {
        complain("--profile must be 1 to 32 letters, digits, - and _");
        return EXIT_USAGE;
    }
    const enum err e = profile_load(name, ret, &why);
    if (e && e != ERR_NOT_FOUND)
        complain("%s", why);
    free(why);
    return !e || e == ERR_NOT_FOUND ? EXIT_DONE : EXIT_NO_KEY;
}

static void choose_remote(const char *name, const struct profile *p, const char *ca_file, struct remote *r)
{
    const char *url = variable(REMOTE_URL_VARIABLE), *key = variable(REMOTE_KEY_VARIABLE);
    r->url = without_slashes(url ? url : p->url ? p->url : REMOTE_DEFAULT_URL);
    const bool is_its = p->url && !strcmp(p->url, r->url);
    if (key || is_its)
        r->key = mem_strdup(key ? key : p->key);
    if (!key && is_its) {
        r->profile = mem_strdup(name);
        r->scopes = p->scopes ? mem_strdup(p->scopes) : NULL;
    }
    if (ca_file || (is_its && p->ca_file))
        r->ca_file = mem_strdup(ca_file ? ca_file : p->ca_file);
    if (!ca_file && is_its && p->pin)
        r->pin = mem_strdup(p->pin);
}

int remote_open(const char *profile, const char *ca_file, struct remote *ret)
{
    struct profile p = {0};
    struct remote r = {0};
    int status = load_profile(profile, &p);
    if (status)
        return status;
    choose_remote(profile, &p, ca_file, &r);
    profile_done(&p);
    if (!remote_is_url(r.url) || curl_global_init(CURL_GLOBAL_DEFAULT)) {
        remote_done(&r);
        return EXIT_USAGE;
    }
    *ret = r;
    return EXIT_DONE;
}

void remote_done(struct remote *r)
{
    if (r->key)
        crypto_wipe(r->key, strlen(r->key));
    free(r->url);
    free(r->key);
    free(r->ca_file);
    free(r->pin);
    free(r->profile);
    free(r->scopes);
    *r = (struct remote){0};
}

/* ---- one request ---- */

struct exchange {
    bool sent; /* the service may have received the request */
    struct buf body;
};

static size_t remote_on_body(char *p, size_t size, size_t count, void *arg)
{
    struct exchange *x = arg;
    buf_put(&x->body, p, size * count);
    return x->body.full ? 0 : size * count;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the type is libcurl's */
static int remote_on_send(void *arg, char *peer_ip, char *own_ip, int peer_port, int own_port)
{
    struct exchange *x = arg;
    (void)peer_ip, (void)own_ip, (void)peer_port, (void)own_port;
    x->sent = true;
    return CURL_PREREQFUNC_OK;
}

static void append_header_line(struct curl_slist **list, const char *name, const char *value)
{
    char *line = mem_printf("%s: %s", name, value);
    struct curl_slist *grown = value[strcspn(value, "\r\n")] ? NULL : curl_slist_append(*list, line);
    if (grown)
        *list = grown;
    crypto_wipe(line, strlen(line));
    free(line);
}

struct curl_slist *remote_headers(const struct remote_call *call)
{
    struct curl_slist *list = NULL;
    if (call->body.p)
        append_header_line(&list, "Content-Type", "application/json");
    if (call->building)
        append_header_line(&list, "X-Service-Building-Id", call->building);
    if (call->idempotency_key)
        append_header_line(&list, "Idempotency-Key", call->idempotency_key);
    if (call->if_match)
        append_header_line(&list, "If-Match", call->if_match);
    return list;
}

struct curl_slist *remote_authorize(const struct remote *r, struct curl_slist *headers)
{
    char *value = r->key ? mem_printf("Bearer %s", r->key) : NULL;
    if (value) {
        append_header_line(&headers, "Authorization", value);
        crypto_wipe(value, strlen(value));
    }
    free(value);
    return headers;
}

void remote_prepare(const struct remote *r, CURL *curl)
{
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    net_tls_bound_curl(curl);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "portero/" PORTERO_VERSION);
    if (r->certificate.p) {
        struct curl_blob blob = {(void *)(uintptr_t)r->certificate.p, r->certificate.n, CURL_BLOB_COPY};
        curl_easy_setopt(curl, CURLOPT_CAINFO_BLOB, &blob);
    } else if (r->ca_file) {
        curl_easy_setopt(curl, CURLOPT_CAINFO, r->ca_file);
    }
    if (r->pin) {
        curl_easy_setopt(curl, CURLOPT_PINNEDPUBLICKEY, r->pin);
        curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 0L); /* the key is the service's, so the name says nothing */
    }
}

static void set_call(CURL *curl, const struct remote *r, const struct remote_call *call, struct exchange *x)
{
    char *url = mem_printf("%s%s", r->url, call->path);
    curl_easy_setopt(curl, CURLOPT_URL, url);
    free(url);
    remote_prepare(r, curl);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, TIMEOUT_MS);
    if (call->body.p || !strcmp(call->method, "POST")) {
        curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)call->body.n);
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, call->body.p ? call->body.p : "");
    }
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, call->method);
    curl_easy_setopt(curl, CURLOPT_ACCEPT_ENCODING, "");
    curl_easy_setopt(curl, CURLOPT_PREREQFUNCTION, remote_on_send);
    curl_easy_setopt(curl, CURLOPT_PREREQDATA, x);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, remote_on_body);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, x);
}

/* The value of a header of the answer, in the arena. */
static struct str header_of(CURL *curl, const char *name, struct arena *a)
{
    struct curl_header *h;
    return curl_easy_header(curl, name, 0, CURLH_HEADER, -1, &h) == CURLHE_OK ? arena_str(a, str_z(h->value))
                                                                              : STR_NONE;
}

static void remote_read_answer(CURL *curl, const struct exchange *x, struct arena *a, struct remote_answer *ret)
{
    struct str parameters;
    uint64_t seconds;
    const struct str after = header_of(curl, "Retry-After", a), type = header_of(curl, "Content-Type", a);
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &ret->status);
    ret->body = arena_str(a, buf_view(&x->body));
    ret->type = type.p ? arena_str(a, str_trim(str_cut(type, ';', &parameters))) : STR_NONE;
    ret->etag = header_of(curl, "ETag", a);
    ret->location = header_of(curl, "Location", a);
    ret->retry_after_s = after.p && str_to_u64(after, 86400, &seconds) ? (long)seconds : -1;
}

static CURLcode remote_perform(CURL *curl, const struct remote *r, const struct remote_call *call, bool *ret_sent,
                               struct arena *a, struct remote_answer *ret)
{
    struct exchange x = {.body = BUF(ANSWER_MAX)};
    struct curl_slist *headers = remote_authorize(r, remote_headers(call));
    if (!call->body.p) /* libcurl calls an empty body a form */
        headers = curl_slist_append(headers, "Content-Type:");
    curl_easy_reset(curl);
    set_call(curl, r, call, &x);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    const CURLcode e = curl_easy_perform(curl);
    if (!e)
        remote_read_answer(curl, &x, a, ret);
    *ret_sent = x.sent;
    curl_slist_free_all(headers);
    buf_done(&x.body);
    return e;
}

/* ---- repetition ---- */

const char *remote_failure(CURLcode e, const struct remote *r)
{
    if (e == CURLE_SSL_PINNEDPUBKEYNOTMATCH)
        return "its certificate is not the one that is trusted; log in again";
    if (e == CURLE_PEER_FAILED_VERIFICATION)
        return r->ca_file || r->certificate.p
                   ? "its certificate is not valid for this address, or is not signed by the one that is trusted"
                   : "its certificate is not trusted; give one to trust with --ca-file, or log in again";
    if (e == CURLE_SSL_CACERT_BADFILE)
        return "the file with the certificate to trust cannot be read";
    return curl_easy_strerror(e);
}

/* Seconds to wait before the request is sent again; -1: it is not. */
static long pause_before(const struct remote_call *call, CURLcode e, bool sent, const struct remote_answer *answer,
                         int attempt)
{
    const bool transport = e == CURLE_COULDNT_CONNECT || e == CURLE_OPERATION_TIMEDOUT || e == CURLE_GOT_NOTHING ||
                           e == CURLE_RECV_ERROR || e == CURLE_SEND_ERROR || e == CURLE_PARTIAL_FILE;
    if (attempt == ATTEMPTS)
        return -1;
    if (e)
        return transport && (!sent || call->repeatable) ? 1L << (attempt - 1) : -1;
    if (answer->status != 429 && !(answer->status == 503 && call->repeatable))
        return -1;
    if (answer->retry_after_s > WAIT_MAX_S)
        return -1;
    return answer->retry_after_s > 0 ? answer->retry_after_s : 1L << (attempt - 1);
}

static void wait_seconds(long seconds)
{
    struct timespec left = {.tv_sec = seconds};
    while (nanosleep(&left, &left) != 0)
        ;
}

int remote_send(const struct remote *r, const struct remote_call *call, struct arena *a, struct remote_answer *ret)
{
    CURL *curl = curl_easy_init();
    CURLcode e = curl ? CURLE_OK : CURLE_OUT_OF_MEMORY;
    for (int attempt = 1; curl; attempt++) {
        struct remote_answer answer = {.retry_after_s = -1};
        bool sent = false;
        e = remote_perform(curl, r, call, &sent, a, &answer);
        const long pause_s = pause_before(call, e, sent, &answer, attempt);
        if (pause_s < 0) {
            *ret = answer;
            break;
        }
        complain("%s: %s; trying again in %ld s", r->url,
                 e                      ? remote_failure(e, r)
                 : answer.status == 429 ? "too many requests"
                                        : "not available",
                 pause_s);
        wait_seconds(pause_s);
    }
    curl_easy_cleanup(curl);
    if (!e)
        return EXIT_DONE;
    complain("%s: %s", r->url, remote_failure(e, r));
    return EXIT_NO_ANSWER;
}
