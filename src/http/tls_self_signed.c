#include "http/tls_self_signed.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <openssl/bn.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define VALID_DAYS 3650

static bool add_extension(X509 *x, int nid, const char *value)
{
    X509V3_CTX ctx;
    X509V3_set_ctx(&ctx, x, x, NULL, NULL, 0);
    X509_EXTENSION *e = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
    bool added = e && X509_add_ext(x, e, -1) == 1;
    X509_EXTENSION_free(e);
    return added;
}

/* RFC 5280 section 4.1.2.2: positive, at most 20 bytes, not guessable. */
static bool set_serial(X509 *x)
{
    BIGNUM *serial = BN_new();
    bool set = serial && BN_rand(serial, 127, BN_RAND_TOP_ANY, BN_RAND_BOTTOM_ANY) == 1 &&
               BN_to_ASN1_INTEGER(serial, X509_get_serialNumber(x));
    BN_free(serial);
    return set;
}

static bool set_fields(X509 *x, EVP_PKEY *key, const char *host)
{
    char names[400];
    unsigned char address[sizeof(struct in6_addr)];
    const bool numeric = host && (inet_pton(AF_INET, host, address) == 1 || inet_pton(AF_INET6, host, address) == 1);
    const int n = snprintf(names, sizeof names, "DNS:localhost,IP:127.0.0.1,IP:::1%s%s",
                           !host     ? ""
                           : numeric ? ",IP:"
                                     : ",DNS:",
                           host ? host : "");
    X509_NAME *name = X509_get_subject_name(x);
    return n > 0 && (size_t)n < sizeof names && X509_set_version(x, X509_VERSION_3) == 1 && set_serial(x) &&
           X509_gmtime_adj(X509_getm_notBefore(x), -24L * 3600) &&
           X509_time_adj_ex(X509_getm_notAfter(x), VALID_DAYS, 0, NULL) &&
           X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)"localhost", -1, -1, 0) == 1 &&
           X509_set_issuer_name(x, name) == 1 && X509_set_pubkey(x, key) == 1 &&
           add_extension(x, NID_basic_constraints, "critical,CA:FALSE") &&
           add_extension(x, NID_key_usage, "critical,digitalSignature") &&
           add_extension(x, NID_ext_key_usage, "serverAuth") && add_extension(x, NID_subject_alt_name, names) &&
           X509_sign(x, key, EVP_sha256()) > 0;
}

static FILE *create_file(const char *path, mode_t mode)
{
    unlink(path); /* an existing file would keep its mode */
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (fd < 0)
        return NULL;
    FILE *f = fdopen(fd, "w");
    if (!f)
        close(fd);
    return f;
}

static bool write_key(const char *path, EVP_PKEY *key)
{
    FILE *f = create_file(path, 0600);
    bool written = f && PEM_write_PKCS8PrivateKey(f, key, NULL, NULL, 0, NULL, NULL) == 1;
    return f && fclose(f) == 0 && written;
}

static bool write_certificate(const char *path, X509 *x)
{
    FILE *f = create_file(path, 0644);
    bool written = f && PEM_write_X509(f, x) == 1;
    return f && fclose(f) == 0 && written;
}

enum err tls_self_signed_for(const char *name, const char *certificate_path, const char *key_path)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *x = X509_new();
    if (!key || !x || !set_fields(x, key, name))
        abort();              /* no memory, or no random source */
    unlink(certificate_path); /* never an old certificate with a new key */
    bool written = write_key(key_path, key) && write_certificate(certificate_path, x);
    X509_free(x);
    EVP_PKEY_free(key);
    return written ? ERR_NONE : ERR_IO;
}

enum err tls_self_signed(const char *certificate_path, const char *key_path)
{
    return tls_self_signed_for(NULL, certificate_path, key_path);
}
