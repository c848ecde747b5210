#include "client/listen_post.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/crypto.h"
#include "base/json.h"
#include "base/mem.h"
#include "event/envelope.h"

#define TIMEOUT_MS   5000L /* contract, Events */
#define BODY_MAX     65536
#define SECRET_CHARS 43 /* as many as in an endpoint's secret */

void listen_secret(const char *key, char ret[static LISTEN_SECRET_MAX])
{
    static const char base62[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    unsigned char mac[2][SHA256_LEN];
    crypto_hmac_sha256(str_z(key), STR("portero listen 1"), mac[0]);
    crypto_hmac_sha256(str_z(key), STR("portero listen 2"), mac[1]);
    strcpy(ret, "whsec_"); /* NOLINT(clang-analyzer-security.insecureAPI.strcpy): a constant that fits */
    for (size_t i = 0; i < SECRET_CHARS; i++)
        ret[6 + i] = base62[(&mac[0][0])[i] % 62];
    ret[6 + SECRET_CHARS] = '\0';
    crypto_wipe(mac, sizeof mac);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the type is libcurl's */
static size_t ignore_answer(char *p, size_t size, size_t n, void *arg)
{
    (void)p, (void)arg;
    return size * n;
}

static CURLcode post(CURL *curl, const char *url, const char *signature, struct str body, long *ret_status)
{
    struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json");
    headers = curl_slist_append(headers, signature);
    headers = curl_slist_append(headers, "Expect:");
    curl_easy_reset(curl);
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_PROXY, "");
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "Portero/" PORTERO_VERSION);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, TIMEOUT_MS);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body.n);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body.p);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, ignore_answer);
    const CURLcode e = curl_easy_perform(curl);
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, ret_status);
    curl_slist_free_all(headers);
    return e;
}

static void print_result(const struct listen_event *e, CURLcode failure, long status)
{
    struct buf time = BUF(64);
    json_put_time(&time, e->created_us);
    printf("%.*s  %-24s  %s  ", (int)time.n - 2, time.p + 1, event_type_names[e->type], e->id.text);
    if (failure)
        printf("no answer: %s\n", curl_easy_strerror(failure));
    else
        printf("%ld\n", status);
    fflush(stdout);
    buf_done(&time);
}

void listen_post(CURL *curl, const char *url, const char *secret, const struct listen_event *e)
{
    const int64_t time_s = clock_real_us() / US_PER_S;
    const struct envelope envelope = {
        .id = str_z(e->id.text),
        .type = str_z(event_type_names[e->type]),
        .data = e->data,
        .created_us = e->created_us,
    };
    char signature[ENVELOPE_SIGNATURE_MAX];
    struct buf text = BUF(BODY_MAX);
    long status = 0;
    const size_t body_at = envelope_write(&envelope, time_s, &text);
    envelope_sign_begin(DELIVERY_CURRENT, time_s, signature);
    envelope_sign(buf_view(&text), str_z(secret), signature);
    const CURLcode failure = post(curl, url, signature, str_from(buf_view(&text), body_at), &status);
    print_result(e, failure, status);
    buf_done(&text);
}
