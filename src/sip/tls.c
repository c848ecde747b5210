#include "sip/tls.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/metric.h"
#include "net/tls.h"
#include "sip/agent.h"
#include "sip/stack.h"
#include "sip/trunk_form.h"

/* libre's, in its re_tls.h under a macro that changes other headers, too. */
struct ssl_ctx_st *tls_openssl_context(const struct tls *tls);

#define NOBODY   "unknown.invalid" /* the name of a server that was not expected: no authority signs it */
#define FILE_MAX 4096

/* ---- which trunk a connection belongs to ---- */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int trunk_index;
static _Thread_local struct sip_trunk *expected;

static void on_new(void *parent, void *ptr, CRYPTO_EX_DATA *data, int index, long argl, void *argp)
{
    (void)parent;
    (void)ptr;
    (void)argl;
    (void)argp;
    if (expected)
        CRYPTO_set_ex_data(data, index, expected);
}

static void make_index(void)
{
    trunk_index = SSL_get_ex_new_index(0, NULL, on_new, NULL, NULL);
}

static void on_forget(void *unused)
{
    (void)unused;
    expected = NULL;
}

void sip_tls_expect(struct sip_trunk *t)
{
    expected = t;
    tmr_start(&t->agent->trunks.forget, 0, on_forget, NULL);
}

/* ---- connections to trunks ---- */

static int on_verified(int fine, X509_STORE_CTX *chain)
{
    SSL *ssl = X509_STORE_CTX_get_ex_data(chain, SSL_get_ex_data_X509_STORE_CTX_idx());
    struct sip_trunk *t = SSL_get_ex_data(ssl, trunk_index);
    if (!fine && t)
        (void)snprintf(t->tls_error, sizeof t->tls_error, "certificate refused: %s",
                       X509_verify_cert_error_string(X509_STORE_CTX_get_error(chain)));
    return fine;
}

static bool expect_server(SSL *ssl, const struct sip_trunk *t)
{
    struct sip_server server;
    X509_VERIFY_PARAM *rules = SSL_get0_param(ssl);
    sip_server_parse(t->peer->server, &server);
    if (!server.numeric)
        return SSL_set1_host(ssl, server.host) && SSL_set_tlsext_host_name(ssl, server.host);
    return X509_VERIFY_PARAM_set1_host(rules, NULL, 0) && X509_VERIFY_PARAM_set1_ip_asc(rules, server.host);
}

/* A connection that libre opened within a dialog: the name of any trunk will do. */
static bool expect_any(SSL *ssl, const struct sip_agent *a)
{
    bool fine = true;
    for (size_t i = 0; fine && i < a->trunks.count; i++) {
        struct sip_server server;
        sip_server_parse(a->trunks.list[i].peer->server, &server);
        if (!server.numeric && a->tls.trusted[i])
            fine = SSL_add1_host(ssl, server.host);
    }
    return fine;
}

static void on_handshake(const SSL *constant, int where, int result)
{
    (void)result;
    SSL *ssl = (SSL *)(uintptr_t)constant;
    if (!(where & SSL_CB_HANDSHAKE_START))
        return;
    if (SSL_is_server(ssl)) {
        SSL_set_verify(ssl, SSL_VERIFY_NONE, NULL); /* telephones have no certificates */
        return;
    }
    const struct sip_agent *a = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));
    const struct sip_trunk *t = SSL_get_ex_data(ssl, trunk_index);
    bool fine = t ? expect_server(ssl, t) : expect_any(ssl, a);
    if (fine && t)
        fine = SSL_set1_verify_cert_store(ssl, a->tls.trusted[t - a->trunks.list]);
    SSL_set_verify(ssl, SSL_VERIFY_PEER, on_verified);
    if (!fine)
        (void)SSL_set1_host(ssl, NOBODY);
}

/* ---- files ---- */

static bool uses_tls(const struct config_peer *p)
{
    struct sip_server server;
    sip_server_parse(p->server, &server);
    return strcmp(p->transport, "tls") == 0 || (strcmp(p->transport, "auto") == 0 && !server.numeric);
}

static bool trust(X509_STORE *store, const char *file)
{
    return *file ? X509_STORE_load_file(store, file) : X509_STORE_set_default_paths(store);
}

/* Connections of no certain trunk trust the authorities of all. */
static enum err read_authorities(struct sip_agent *a, char *why, size_t why_size)
{
    X509_STORE *all = SSL_CTX_get_cert_store(tls_openssl_context(a->tls.context));
    for (size_t i = 0; i < a->trunks.count; i++) {
        const struct config_peer *p = a->trunks.list[i].peer;
        if (!uses_tls(p))
            continue;
        a->tls.trusted[i] = X509_STORE_new();
        if (a->tls.trusted[i] && trust(a->tls.trusted[i], p->tls_ca) && trust(all, p->tls_ca))
            continue;
        ERR_clear_error();
        (void)snprintf(why, why_size, "voice.peer.%s.tls_ca: %s has no certificates", p->name,
                       *p->tls_ca ? p->tls_ca : "the system");
        return ERR_USAGE;
    }
    return ERR_NONE;
}

/* The certificate of the HTTPS port, unless SIP has its own. */
static void certificate_files(const struct config *c, char certificate[static FILE_MAX], char key[static FILE_MAX])
{
    const bool own = *c->tls_sip_certificate, https = *c->tls_certificate;
    if (own || https) {
        (void)snprintf(certificate, FILE_MAX, "%s", own ? c->tls_sip_certificate : c->tls_certificate);
        (void)snprintf(key, FILE_MAX, "%s", own ? c->tls_sip_key : c->tls_key);
    } else {
        (void)snprintf(certificate, FILE_MAX, "%s/tls.crt", c->top_data_dir);
        (void)snprintf(key, FILE_MAX, "%s/tls.key", c->top_data_dir);
    }
}

/* An encrypted key has no password: libssl would ask at the terminal. */
static int no_password(char *text, int size, int writing, void *arg)
{
    (void)writing;
    (void)arg;
    if (size > 0)
        *text = '\0';
    return 0;
}

static void note_expiry(const SSL_CTX *context)
{
    struct tm end;
    if (ASN1_TIME_to_tm(X509_get0_notAfter(SSL_CTX_get0_certificate(context)), &end) == 1)
        metric_set(metrics.sip_certificate_end, (int64_t)timegm(&end) * US_PER_S);
}

static bool use_certificate(SSL_CTX *context, const struct config *c)
{
    char certificate[FILE_MAX], key[FILE_MAX];
    certificate_files(c, certificate, key);
    SSL_CTX_set_default_passwd_cb(context, no_password);
    const bool fine = SSL_CTX_use_certificate_chain_file(context, certificate) > 0 &&
                      SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) > 0 &&
                      SSL_CTX_check_private_key(context) > 0;
    if (fine)
        note_expiry(context);
    ERR_clear_error();
    return fine;
}

/* ---- starting ---- */

static bool wanted(const struct sip_agent *a)
{
    bool tls = a->tls.listens;
    for (size_t i = 0; i < a->trunks.count; i++)
        tls = tls || uses_tls(a->trunks.list[i].peer);
    return tls;
}

/* Refuses every server until on_handshake() has said whom to expect. */
static bool prepare(struct sip_agent *a, SSL_CTX *context)
{
    const char *groups = a->config->tls_groups;
    SSL_CTX_set_app_data(context, a);
    net_tls_bound_given(context);
    SSL_CTX_set_info_callback(context, on_handshake);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    return SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) && SSL_CTX_set1_groups_list(context, groups) &&
           X509_VERIFY_PARAM_set1_host(SSL_CTX_get0_param(context), NOBODY, 0);
}

enum err sip_tls_init(struct sip_agent *a, char *why, size_t why_size)
{
    const char *listen = a->config->listen_sips;
    a->tls = (struct sip_tls){.listens = listen && *listen};
    if (!wanted(a))
        return ERR_NONE;
    (void)pthread_once(&once, make_index);
    if (tls_alloc(&a->tls.context, TLS_METHOD_SSLV23, NULL, NULL) || !prepare(a, tls_openssl_context(a->tls.context))) {
        (void)snprintf(why, why_size, "TLS cannot be set up");
        return ERR_USAGE;
    }
    if (a->tls.listens && !use_certificate(tls_openssl_context(a->tls.context), a->config)) {
        (void)snprintf(why, why_size, "listen.sips: the certificate and its key cannot be used");
        return ERR_USAGE;
    }
    return read_authorities(a, why, why_size);
}

void sip_tls_done(struct sip_agent *a)
{
    for (size_t i = 0; i < CONFIG_PEERS_MAX; i++)
        X509_STORE_free(a->tls.trusted[i]);
    a->tls.context = mem_deref(a->tls.context);
    expected = NULL;
}

int sip_tls_listen(struct sip_stack *s)
{
    const struct sip_agent *a = s->agent;
    struct sa at = s->bound, configured;
    if (!a->tls.context)
        return 0;
    const char *text = a->config->listen_sips;
    const int unset = !a->tls.listens || sa_decode(&configured, text, strlen(text));
    sa_set_port(&at, unset ? 0 : sa_port(&configured)); /* a port for connections of ours only: without a certificate */
    int e = sip_transp_add(s->sip, SIP_TRANSP_TLS, &at, a->tls.context);
    if (!e)
        e = sip_transp_laddr(s->sip, &s->bound_tls, SIP_TRANSP_TLS, &at);
    if (!e && !sip_peers_filter(&s->agent->peers, &s->bound_tls))
        log_warn("TLS connections from outside voice.peers are closed at their first message, not before");
    return e;
}

void sip_tls_reload(struct sip_agent *a)
{
    if (!a->tls.listens)
        return;
    SSL_CTX *trial = SSL_CTX_new(TLS_method());
    const bool fine =
        trial && use_certificate(trial, a->config) && use_certificate(tls_openssl_context(a->tls.context), a->config);
    SSL_CTX_free(trial);
    if (fine)
        log_info("reload sip_certificates=new");
    else
        log_error("reload sip_certificates=kept reason=\"the certificate and its key cannot be used\"");
}
