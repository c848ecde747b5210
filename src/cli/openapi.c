/* porterod openapi: prints the OpenAPI document. */
#include "resources/routes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/config_check.h"
#include "base/mem.h"
#include "cli/program.h"
#include "sandbox/routes.h"

struct openapi_options {
    const char *url;
    bool sandbox, site;
};

static const struct option_row rows[] = {
    OPTION_SWITCH(struct openapi_options, sandbox, "sandbox", "print the operations under /sandbox instead"),
    OPTION_SWITCH(struct openapi_options, site, "site", "print the operations that only the website uses instead"),
    OPTION_TEXT(struct openapi_options, url, "url", "URL", "server URL in the document [the URL that serves it]"),
};

/* The URL without trailing slashes, as public_url is read; NULL if it is not a URL. */
static char *address_of(const char *url)
{
    if (!config_is_url(url, "https|http"))
        return NULL;
    size_t n = strlen(url);
    while (url[n - 1] == '/')
        n--;
    return mem_strndup(url, n);
}

static int openapi_run(const struct command *self, const void *given, struct arguments operands)
{
    (void)self, (void)operands;
    const struct openapi_options *o = given;
    struct buf out = BUF(OPENAPI_MAX);
    char *address = o->url ? address_of(o->url) : NULL;
    if (o->url && !address) {
        complain("openapi: --url must be an https:// or http:// URL with a host");
        return EXIT_USAGE;
    }
    openapi_document(o->site ? &openapi_site : o->sandbox ? &openapi_sandbox : &openapi_contract, address, &out);
    free(address);
    bool whole = !out.full && fwrite(out.p, 1, out.n, stdout) == out.n;
    buf_done(&out);
    return whole ? EXIT_DONE : EXIT_FAILED;
}

const struct command command_openapi = {
    .name = "openapi",
    .summary = "Print the OpenAPI 3.1 document",
    COMMAND_OPTIONS(struct openapi_options, rows),
    .run = openapi_run,
};
