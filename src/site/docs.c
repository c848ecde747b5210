#include "site/docs.h"

#include <glib.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "api/constant.h"
#include "base/buf.h"
#include "base/mem.h"

struct document {
    gsize made; /* for g_once_init_enter */
    struct buf text;
    struct http_asset asset;
};

struct docs {
    enum docs_mode mode;
    const char *public_url;
    size_t count;
    struct document *documents; /* in the order of docs_texts */
};

struct docs *docs_new(enum docs_mode mode, const char *public_url)
{
    struct docs *d = mem_new(struct docs);
    d->mode = mode;
    d->public_url = public_url;
    while (docs_texts && docs_texts[d->count].path)
        d->count++;
    d->documents = mem_array(struct document, d->count);
    return d;
}

void docs_free(struct docs *d)
{
    if (!d)
        return;
    for (size_t i = 0; i < d->count; i++) {
        if (d->documents[i].made)
            constant_done(&d->documents[i].asset.content);
        buf_done(&d->documents[i].text);
    }
    free(d->documents);
    free(d);
}

/* Appends the text with the service's address where it has DOCS_PUBLIC_URL. */
static void put_with_address(struct buf *out, struct str text, const char *public_url)
{
    const char *at;
    while ((at = memmem(text.p, text.n, DOCS_PUBLIC_URL, strlen(DOCS_PUBLIC_URL)))) {
        const size_t before = (size_t)(at - text.p);
        buf_put(out, text.p, before);
        buf_str(out, str_z(public_url));
        text = str_from(text, before + strlen(DOCS_PUBLIC_URL));
    }
    buf_str(out, text);
}

static void make(struct document *d, const struct docs_text *t, const char *public_url)
{
    char *text = mem_bytes(t->size);
    uLongf size = t->size;
    if (uncompress((Bytef *)text, &size, (const Bytef *)t->compressed.p, t->compressed.n) != Z_OK || size != t->size)
        abort(); /* out of memory */
    d->text = BUF(SIZE_MAX);
    put_with_address(&d->text, str_n(text, size), public_url);
    free(text);
    d->asset = (struct http_asset){.name = str_z(t->path), .media = t->media};
    mem_resize(d->text.p, d->text.n);
    constant_init(&d->asset.content, buf_view(&d->text));
    malloc_trim(0); /* much more was used than is kept */
}

const struct http_asset *docs_find(void *docs, struct str path)
{
    struct docs *d = docs;
    for (size_t i = 0; i < d->count; i++) {
        const struct docs_text *t = &docs_texts[i];
        struct document *found = &d->documents[i];
        if (!(t->modes & (int)d->mode) || !str_eq(path, str_z(t->path)))
            continue;
        if (g_once_init_enter(&found->made)) {
            make(found, t, d->public_url);
            g_once_init_leave(&found->made, 1);
        }
        return &found->asset;
    }
    return NULL;
}
