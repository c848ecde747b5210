/* Clients of OAuth that register themselves (RFC 7591) or publish a document about themselves (OAuth Client ID Metadata
 * Document, draft 02), and their redirect URIs (RFC 8252, RFC 9700 section 2.1).
 *
 * A registration is not stored: the ID of a client contains what it has registered, and a MAC with a key derived from
 * the master key (RFC 7591 appendix A.5.2). So any number of registrations costs nothing, and none has to be deleted. A
 * client has no secret.
 *
 * The ID of a client with a document is the document's address. A voucher is this service's word that it has read the
 * document: with a MAC, and not stored either. */
#pragma once
#include "base/arena.h"
#include "base/val.h"

#define OAUTH_NAME_MAX      80   /* characters of a client's name */
#define OAUTH_URI_MAX       500  /* bytes of a redirect URI */
#define OAUTH_REGISTRY_MAX  1400 /* bytes of a name and its URIs */
#define OAUTH_CLIENT_ID_MAX 2048
#define OAUTH_VOUCHER_MAX   2048
#define OAUTH_VOUCHER_TTL_S 3600

#define OAUTH_REDIRECT_RULE                                                                                            \
    "https, http with 127.0.0.1, [::1] or localhost, or a scheme of a program's own with :/, at most 500 characters, " \
    "without user and fragment"

struct oauth_client {
    struct str id;        /* as the client sends it; in the arena, like the next */
    struct str name;      /* that the client has chosen: not to be trusted, but without control and format characters */
    struct str redirects; /* its URIs, separated by line feeds */
};

/* True for a text that can be a name: 1 to OAUTH_NAME_MAX characters, none of them control or format characters. */
bool oauth_name_is_allowed(struct str name);
/* True for https:// with a host, http:// with 127.0.0.1, [::1] or localhost, or a program's own scheme with `:/` (RFC
 * 8252 section 7.1); without user and fragment. */
bool oauth_redirect_is_allowed(struct str uri);
/* The allowed ones of a list of URIs, separated by line feeds, in the arena, as long as they have at most `most`
 * bytes together. STR_NONE if there are none. Clients also list addresses for other services. */
struct str oauth_redirects_allowed(struct arena *a, struct val uris, size_t most);
/* The host of an allowed URI, with its port if that is one of https other than 443, or a program's own scheme; in the
 * arena. */
struct str oauth_redirect_host(struct arena *a, struct str uri);
/* Whether an allowed URI leads to a program on the device of the browser. */
bool oauth_redirect_is_local(struct str uri);

/* Whether a list of a client's metadata has the word. An absent list has every word. */
bool oauth_list_has(struct val list, struct str word);

/* The ID of a client with an allowed name and allowed URIs (separated by line feeds), in the arena. STR_NONE if they
 * are longer than OAUTH_REGISTRY_MAX. */
struct str oauth_client_register(struct arena *a, int64_t now_us, struct str name, struct str redirects);
/* False for an ID that this service has not given. */
bool oauth_client_read(struct arena *a, struct str id, struct oauth_client *ret);

/* Whether an ID is an address that can have a document: https with a host and a path, without user, fragment and dot
 * segments (section 3 of the draft), at most OAUTH_URI_MAX bytes. No ID that this service gives is one. */
bool oauth_client_is_address(struct str id);
/* A voucher for a client with a document, as it asks for one redirect URI, in the arena. It says nothing about other
 * redirect URIs, and ends after OAUTH_VOUCHER_TTL_S. */
struct str oauth_client_vouch(struct arena *a, int64_t now_us, const struct oauth_client *c, struct str redirect);
/* Reads the voucher of a client. False for one that is not of this service, has ended, or is another client's. */
bool oauth_client_vouched(struct arena *a, int64_t now_us, struct str voucher, struct str id, struct oauth_client *ret);

/* Whether the client has registered the URI: exactly, except for the port of a loopback address (RFC 8252 section
 * 7.3). */
bool oauth_client_has_redirect(const struct oauth_client *c, struct str uri);
