#include "http/tls_self_signed.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <limits.h>
#include <net/if.h>
#include <netdb.h>
#include <openssl/bn.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"

#define VALID_DAYS    3650
#define ADDRESSES_MAX 32
#define NAMES_MAX     8192

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

static void add_name(struct buf *names, const char *host)
{
    unsigned char address[sizeof(struct in6_addr)];
    const bool numeric = inet_pton(AF_INET, host, address) == 1 || inet_pton(AF_INET6, host, address) == 1;
    buf_printf(names, "%s%s:%s", names->n ? "," : "", numeric ? "IP" : "DNS", host);
}

/* The addresses of this machine's interfaces, but for link-local ones. */
static void add_own_addresses(struct buf *names)
{
    struct ifaddrs *all = NULL;
    unsigned count = 0;
    if (getifaddrs(&all))
        return;
    for (const struct ifaddrs *i = all; i && count < ADDRESSES_MAX; i = i->ifa_next) {
        char text[NI_MAXHOST];
        const int family = i->ifa_addr ? i->ifa_addr->sa_family : AF_UNSPEC;
        const socklen_t n = family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
        if ((family != AF_INET && family != AF_INET6) || i->ifa_flags & IFF_LOOPBACK ||
            getnameinfo(i->ifa_addr, n, text, sizeof text, NULL, 0, NI_NUMERICHOST) || strchr(text, '%'))
            continue; /* `%`: it has a scope */
        add_name(names, text);
        count++;
    }
    freeifaddrs(all);
}

static bool is_host_name(const char *name)
{
    return *name && strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-.") == strlen(name);
}

/* The text for a subject alternative name; the caller frees the buffer. */
static struct buf names_for(const char *host)
{
    struct buf names = BUF(NAMES_MAX);
    char own[HOST_NAME_MAX + 1] = "";
    add_name(&names, "localhost");
    add_name(&names, "127.0.0.1");
    add_name(&names, "::1");
    if (host)
        add_name(&names, host);
    if (gethostname(own, sizeof own - 1) == 0 && is_host_name(own) && (!host || strcmp(own, host) != 0))
        add_name(&names, own);
    add_own_addresses(&names);
    buf_char(&names, '\0');
    return names;
}

static bool set_fields(X509 *x, EVP_PKEY *key, const char *names)
{
    X509_NAME *name = X509_get_subject_name(x);
    return X509_set_version(x, X509_VERSION_3) == 1 && set_serial(x) &&
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
    struct buf names = names_for(name);
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *x = X509_new();
    if (!key || !x || names.full || !set_fields(x, key, names.p))
        abort(); /* no memory, or no random source */
    buf_done(&names);
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
