#include "documents/texts.h"

#include <stdlib.h>

#include "api/openapi_prose.h"
#include "documents/markdown.h"

/* In the form of llmstxt.org. */
void docs_put_contents(const struct docs_reference *r, struct buf *out)
{
    const char *base = r->base;
    buf_lit(out, "# Portero\n\n> Decides who is let in at a building's entrance: access grants, the log of visits, "
                 "and the building's call "
                 "box, through a REST API.\n\nBegin with the guide for agents, which covers the whole job. The "
                 "OpenAPI document is long: prefer "
                 "the pages of the reference.\n\n## Guides\n\n");
    for (const struct docs_guide *g = docs_guides; g->name; g++)
        buf_printf(out, "- [%.*s](%s/docs/%s.md): %s\n", STR_ARG(docs_title(g)), base, g->name, g->about);
    buf_printf(
        out,
        "\n## Reference\n\n- [Overview](%s/docs.md): how the examples run, and which operations each scope allows\n"
        "- [OpenAPI 3.1 document](%s/openapi.json): every operation, machine-readable\n"
        "- [Errors](%s/docs/errors.md): every code, with its meaning and what to do next\n",
        base, base, base);
    for (size_t i = 0; i < r->tag_count; i++) {
        char *path = docs_tag_path(r->tags[i]);
        buf_printf(out, "- [%s](%s%s.md): %s\n", r->tags[i], base, path, openapi_tag(r->tags[i]));
        free(path);
    }
}

/* Search engines may read the documents of a service, and nothing of a sandbox. */
void docs_put_robots(bool sandbox, struct buf *out)
{
    buf_lit(out, "User-agent: *\n");
    if (!sandbox)
        buf_lit(out, "Allow: /docs\nAllow: /llms.txt\nAllow: /openapi.json\nAllow: /a/\n");
    buf_lit(out, "Disallow: /\n");
}
