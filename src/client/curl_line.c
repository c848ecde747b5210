#include "client/curl_line.h"

#include <string.h>

/* A word in single quotes, which no shell interprets. */
static void put_quoted_word(FILE *out, const char *text, size_t n)
{
    fputc('\'', out);
    for (size_t i = 0; i < n; i++)
        if (text[i] == '\'')
            fputs("'\\''", out);
        else
            fputc(text[i], out);
    fputc('\'', out);
}

static void put_curl_option(FILE *out, const char *option, const char *value)
{
    fprintf(out, " %s ", option);
    put_quoted_word(out, value, strlen(value));
}

void curl_line_print(const struct remote *r, const struct remote_call *call, FILE *out)
{
    struct curl_slist *headers = remote_headers(call);
    fprintf(out, "curl --silent --show-error --globoff --request %s", call->method);
    if (r->pin) {
        put_curl_option(out, "--pinnedpubkey", r->pin);
        fputs(" --insecure", out); /* but for that key: curl compares it all the same */
    } else if (r->ca_file) {
        put_curl_option(out, "--cacert", r->ca_file);
    }
    fputs(" --header \"Authorization: Bearer $" REMOTE_KEY_VARIABLE "\"", out);
    for (const struct curl_slist *h = headers; h; h = h->next)
        put_curl_option(out, "--header", h->data);
    if (call->body.p) {
        fputs(" --data-raw ", out);
        put_quoted_word(out, call->body.p, call->body.n);
    }
    fputc(' ', out);
    put_quoted_word(out, r->url, strlen(r->url));
    put_quoted_word(out, call->path, strlen(call->path));
    fputc('\n', out);
    curl_slist_free_all(headers);
}
