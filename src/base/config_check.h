/* Checks of configuration values. All take NUL-terminated text. */
#pragma once
#include "base/arena.h"

/* A greeting (contract, Settings): UTF-8, shorter than 120 UTF-16 code units. */
bool config_is_sentence(const char *text);
/* "127.0.0.1:8443" or "[::1]:8443"; port 0 to 65535. */
bool config_is_address(const char *text);
/* The port of "localhost:8443", which means 127.0.0.1 and ::1, whatever /etc/hosts says; NULL for other texts. */
const char *config_localhost_port(const char *text);
/* "sip.example.com", "192.0.2.1:5060", "[2001:db8::1]:5061": a host name or an address, and a port or none. */
bool config_is_server(const char *text);
/* "192.0.2.1" or "2001:db8::1", without brackets. */
bool config_is_ip(const char *text);
/* "10.0.0.0/8", "2001:db8::/32", or an address without a prefix. */
bool config_is_cidr(const char *text);
/* A prefix of telephone numbers, "+1" or "!+1900". */
bool config_is_prefix(const char *text);
/* An absolute URL with a host and one of the schemes ("http|https"), without user info, query or fragment. */
bool config_is_url(const char *text, const char *schemes);
/* A URL whose host is a loopback address or localhost. */
bool config_is_local_url(const char *text);
/* A URL whose requests cannot be intercepted: https, or http to this machine. */
bool config_is_protected_url(const char *text);
/* Whether the text is one of the words ("a|b|c"). */
bool config_is_word(const char *text, const char *words);
/* The file of the credential NAME, in the arena: in $CREDENTIALS_DIRECTORY, where systemd puts a service's credentials;
 * without that variable in /etc/credstore, where systemd finds them. NULL if a directory cannot hold a file of
 * this name. */
const char *config_credential(const char *name, struct arena *a);
/* Whether the text is one or more of the words, separated by colons. */
bool config_are_words(const char *text, const char *words);
