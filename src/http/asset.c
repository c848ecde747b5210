#include "http/asset.h"

/* The length of a name up to its hash, and from the extension: "site-style" and ".css". */
static bool split_name(struct str name, struct str *ret_stem, struct str *ret_extension)
{
    struct str rest, extension;
    *ret_stem = str_cut(name, '.', &rest);
    (void)str_cut(rest, '.', &extension);
    *ret_extension = extension;
    return rest.p && extension.p;
}

static bool differ_in_hash(struct str a, struct str b)
{
    struct str stem[2], extension[2];
    return split_name(a, &stem[0], &extension[0]) && split_name(b, &stem[1], &extension[1]) &&
           str_eq(stem[0], stem[1]) && str_eq(extension[0], extension[1]);
}

const struct http_asset *http_asset_find(struct str name, bool *ret_exact)
{
    const struct http_asset *near = NULL;
    for (size_t i = 0; i < http_asset_count; i++) {
        const struct http_asset *a = &http_assets[i];
        if (str_eq(a->name, name)) {
            *ret_exact = true;
            return a;
        }
        if (differ_in_hash(a->name, name))
            near = a;
    }
    *ret_exact = false;
    return near;
}
