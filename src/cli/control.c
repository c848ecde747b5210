#include "cli/control.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>

#define URL_MAX 4096

static size_t append_control_reply(char *p, size_t size, size_t n, void *body)
{
    buf_put(body, p, size * n);
    return ((struct buf *)body)->full ? 0 : size * n;
}

static CURLcode control_prepare(CURL *curl, const struct control_request *q, struct curl_slist *headers,
                                struct buf *ret_body)
{
    char url[URL_MAX];
    snprintf(url, sizeof url, "http://localhost%s", q->path);
    CURLcode e = curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, q->socket);
    if (!e)
        e = curl_easy_setopt(curl, CURLOPT_URL, url);
    if (!e && q->body)
        e = curl_easy_setopt(curl, CURLOPT_POSTFIELDS, q->body);
    if (!e && q->body)
        e = curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    if (!e)
        e = curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, q->method);
    if (!e)
        e = curl_easy_setopt(curl, CURLOPT_PROXY, "");
    if (!e)
        e = curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, q->wait_ms ? q->wait_ms : 60000L);
    if (!e)
        e = curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, append_control_reply);
    return e ? e : curl_easy_setopt(curl, CURLOPT_WRITEDATA, ret_body);
}

/* `os_errno`: of connect(), 0 if unknown. A socket that may not be opened is reported as such, not as an absent
 * service. */
static enum err control_failed(const struct control_request *q, CURLcode e, int os_errno, char **ret_why)
{
    const bool absent = !os_errno || os_errno == ENOENT || os_errno == ECONNREFUSED;
    if (e == CURLE_COULDNT_CONNECT && absent)
        return err_why(ret_why, ERR_IO, "the service is not running: nothing is listening on %s", q->socket);
    return err_why(ret_why, ERR_IO, "%s: %s", q->socket,
                   e == CURLE_COULDNT_CONNECT ? strerror(os_errno) : curl_easy_strerror(e));
}

enum err control_send(const struct control_request *q, int *ret_status, struct buf *ret_body, char **ret_why)
{
    if (strlen(q->socket) >= sizeof((struct sockaddr_un *)0)->sun_path)
        return err_why(ret_why, ERR_IO, "the path of the data directory is too long for a socket");
    CURL *curl = curl_easy_init();
    struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json");
    long status = 0, os_errno = 0;
    CURLcode e = curl && headers ? control_prepare(curl, q, headers, ret_body) : CURLE_OUT_OF_MEMORY;
    if (!e)
        e = curl_easy_perform(curl);
    if (!e)
        e = curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    if (e == CURLE_COULDNT_CONNECT && curl_easy_getinfo(curl, CURLINFO_OS_ERRNO, &os_errno))
        os_errno = 0;
    curl_slist_free_all(headers);
    curl_easy_cleanup(curl);
    if (e)
        return control_failed(q, e, (int)os_errno, ret_why);
    *ret_status = (int)status;
    return ERR_NONE;
}
