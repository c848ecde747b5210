/* Scripts and style sheets of the pages. scripts/webgen makes the table from the directory web. */
#pragma once
#include "http/content.h"

/* The name has a hash of the content, so that caches may keep it for ever: "site-style.4f9c2a61d07b.css". */
struct http_asset {
    struct str name;
    const char *media;
    struct http_content content;
};
extern const struct http_asset http_assets[];
extern const size_t http_asset_count;

/* The asset of that name. One whose name differs in the hash alone if there is none: while an upgrade runs, the page
 * may be another node's. NULL if there is neither. */
const struct http_asset *http_asset_find(struct str name, bool *ret_exact);
