/* The HTTP server: listeners, TLS, connections and their deadlines, on a few loop threads. It speaks HTTP/1.1
 * (RFC 9112).
 *
 * It parses strictly (http/parse.h), refuses every ambiguous framing, and passes each request to one handler, which
 * answers once, now or later. The requests of a connection are handled one after the other: the next one of a pipeline
 * waits, unread or in the read buffer, until the answer before it was sent. */
#pragma once
#include "base/config.h"
#include "http/request.h"

#define HTTP_MAX_LOOPS 256 /* loop threads, on however many cores */

struct http_server;

/* Opens the listeners of config (https, http; an empty address means no listener, "fd:3" a listening descriptor,
 * "localhost:8443" 127.0.0.1 and, where the machine has it, ::1) and a control socket (path, mode 0600; NULL means no
 * socket), served by config's threads. c is not kept. ret_why as in config_load: an address in use, a certificate that
 * does not match its key, ... */
enum err http_server_new(const struct config *c, const char *control_path, struct http_handler handler,
                         struct http_server **ret, char **ret_why) CHECKED;
/* Accepts connections, including connections that wait since http_server_new. ret_why: the kernel's reason. */
enum err http_server_start(struct http_server *s, char **ret_why) CHECKED;
const char *
http_server_https(const struct http_server *s); /* "127.0.0.1:8443", "localhost:8443" for both; NULL: none */
const char *http_server_http(const struct http_server *s);
/* "https://localhost:8443", with the port of HTTPS; without that listener "https://localhost". */
#define HTTP_LOCAL_URL_TEXT 32
void http_server_local_url(const struct http_server *s, char ret[static HTTP_LOCAL_URL_TEXT]);
/* Reads certificate and key again; keeps the old ones if they do not load (ERR_USAGE, ret_why as above). */
enum err http_server_reload(struct http_server *s, char **ret_why) CHECKED;
/* The monotonic time when the loop turned that has not turned for longest; up to a quarter of a second old. Any thread.
 */
int64_t http_server_turned_us(const struct http_server *s);
/* Graceful: serves for http.drain_s (at most wait_ms), and closes each connection with its next reply; then stops
 * accepting, answers the accepted requests (within wait_ms) and closes idle connections. Blocks until the loop threads
 * have ended. */
void http_server_stop(struct http_server *s, int wait_ms);
/* Stops the server if necessary. Frees unanswered requests and the mail posted to them: every thread that might post
 * must have ended. */
void http_server_free(struct http_server *s);
