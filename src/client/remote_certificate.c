#include "client/remote_certificate.h"

#include <errno.h>
#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/crypto.h"
#include "base/mem.h"
#include "client/complain.h"

#define CERTIFICATE_MAX (256U << 10)
#define CONNECT_S       10L

static int read_certificate_file(const char *path, struct arena *a, struct str *ret)
{
    struct buf text = BUF(CERTIFICATE_MAX);
    char part[4096];
    FILE *file = fopen(path, "re");
    if (!file) {
        complain("%s: %s", path, strerror(errno));
        return EXIT_USAGE;
    }
    for (size_t n; (n = fread(part, 1, sizeof part, file)) > 0;)
        buf_put(&text, part, n);
    fclose(file);
    *ret = arena_str(a, buf_view(&text));
    const bool valid = !text.full && strstr(ret->p, "-----BEGIN CERTIFICATE-----");
    buf_done(&text);
    if (!valid)
        complain("%s is not a certificate in PEM form", path);
    return valid ? EXIT_DONE : EXIT_USAGE;
}

/* The result of a handshake without a request; the certificate that the service showed, in the arena. */
static CURLcode handshake_only(const struct remote *r, bool verify, struct arena *a, struct str *ret_certificate)
{
    CURL *curl = curl_easy_init();
    struct curl_certinfo *chain = NULL;
    remote_prepare(r, curl);
    curl_easy_setopt(curl, CURLOPT_URL, r->url);
    curl_easy_setopt(curl, CURLOPT_CONNECT_ONLY, 1L);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT, CONNECT_S);
    curl_easy_setopt(curl, CURLOPT_CERTINFO, 1L);
    /* Only to see the certificate: nothing is sent on this connection. */
    if (!verify) {
        curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 0L);
        curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 0L);
    }
    const CURLcode e = curl_easy_perform(curl);
    if (!e && !curl_easy_getinfo(curl, CURLINFO_CERTINFO, &chain) && chain && chain->num_of_certs > 0)
        for (const struct curl_slist *l = chain->certinfo[0]; l; l = l->next)
            if (!strncmp(l->data, "Cert:", 5))
                *ret_certificate = arena_str(a, str_z(l->data + 5));
    curl_easy_cleanup(curl);
    return e;
}

/* Reads "AB:CD:…" of a certificate that is signed by itself. */
static bool fingerprint_of(struct str pem, struct buf *ret)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    BIO *bio = BIO_new_mem_buf(pem.p, (int)pem.n);
    X509 *certificate = bio ? PEM_read_bio_X509(bio, NULL, NULL, NULL) : NULL;
    const bool own =
        certificate && X509_self_signed(certificate, 1) == 1 && X509_digest(certificate, EVP_sha256(), digest, &n) == 1;
    for (unsigned i = 0; own && i < n; i++)
        buf_printf(ret, "%s%02X", i ? ":" : "", digest[i]);
    X509_free(certificate);
    BIO_free(bio);
    return own;
}

/* The public key in the form of curl's option, on the heap. */
static char *pin_of(struct str pem)
{
    unsigned char *key = NULL, digest[SHA256_LEN];
    char text[BASE64_LEN(SHA256_LEN) + 1];
    BIO *bio = BIO_new_mem_buf(pem.p, (int)pem.n);
    X509 *certificate = bio ? PEM_read_bio_X509(bio, NULL, NULL, NULL) : NULL;
    const int n = certificate ? i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), &key) : 0;
    if (n <= 0)
        abort(); /* no memory: its fingerprint was shown */
    crypto_sha256(str_n((const char *)key, (size_t)n), digest);
    base64_standard_encode(digest, sizeof digest, text);
    OPENSSL_free(key);
    X509_free(certificate);
    BIO_free(bio);
    return mem_printf("sha256//%s", text);
}

static bool confirm(const struct remote *r, struct str fingerprint)
{
    char answer[8] = "";
    fprintf(
        stderr,
        "The certificate of %s is signed by itself. Its SHA-256 is\n%.*s\n"
        "Is it the service's own? On the service's machine, `porterod admin status` shows it as certificate_sha256.\n"
        "Type yes to trust it from now on: ",
        r->url, STR_ARG(fingerprint));
    fflush(stderr);
    if (fgets(answer, sizeof answer, stdin))
        return !strcmp(answer, "yes\n");
    fputc('\n', stderr);
    return false;
}

static int trust_shown(struct remote *r, struct arena *a, struct str *ret)
{
    struct str shown = STR_NONE;
    struct buf fingerprint = BUF(256);
    int status = EXIT_NO_ANSWER;
    const CURLcode e = handshake_only(r, false, a, &shown);
    if (e || !shown.p || !fingerprint_of(shown, &fingerprint)) {
        complain("%s: %s", r->url, remote_failure(e ? e : CURLE_PEER_FAILED_VERIFICATION, r));
    } else if (!confirm(r, buf_view(&fingerprint))) {
        complain("the certificate is not trusted; nothing was done");
    } else {
        *ret = r->certificate = shown;
        r->pin = pin_of(shown);
        status = EXIT_DONE;
    }
    buf_done(&fingerprint);
    return status;
}

/* Whether the service has a certificate that the file, which was trusted before, makes valid. */
static bool is_valid_by_file(struct remote *r, const char *known, const char *pin, struct arena *a)
{
    struct str shown = STR_NONE;
    r->ca_file = mem_strdup(known);
    r->pin = pin ? mem_strdup(pin) : NULL;
    if (!handshake_only(r, true, a, &shown))
        return true;
    free(r->ca_file);
    free(r->pin);
    r->ca_file = r->pin = NULL;
    return false;
}

int remote_trust(struct remote *r, const char *ca_file, const char *known, const char *known_pin, struct arena *a,
                 struct str *ret)
{
    struct str shown = STR_NONE;
    if (ca_file) {
        r->ca_file = mem_strdup(ca_file);
        return read_certificate_file(ca_file, a, ret);
    }
    if (strncmp(r->url, "https://", 8) != 0)
        return EXIT_DONE;
    if (known && is_valid_by_file(r, known, known_pin, a))
        return read_certificate_file(known, a, ret);
    const CURLcode e = handshake_only(r, true, a, &shown);
    if (!e)
        return EXIT_DONE;
    if (e != CURLE_PEER_FAILED_VERIFICATION) {
        complain("%s: %s", r->url, remote_failure(e, r));
        return EXIT_NO_ANSWER;
    }
    if (known)
        complain("the certificate is not the one that was trusted before");
    return trust_shown(r, a, ret);
}
