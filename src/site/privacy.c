#include "site/privacy.h"

#include "base/buf.h"

#define LINE_MAX_BYTES 16384

struct str privacy_line(const struct config *config, struct str words, struct arena *a)
{
    const struct str url = str_z(config->privacy_url), contact = str_z(config->privacy_contact);
    if (!url.n && !contact.n)
        return STR_NONE;
    struct buf b = BUF(LINE_MAX_BYTES);
    buf_lit(&b, "<p class=\"quiet small\">");
    if (url.n) {
        buf_lit(&b, "<a href=\"");
        buf_html(&b, url);
        buf_printf(&b, "\">%.*s</a>%s", STR_ARG(words), contact.n ? " · " : "");
    }
    buf_html(&b, contact);
    buf_lit(&b, "</p>");
    const struct str line = b.full ? STR_NONE : arena_str(a, buf_view(&b));
    buf_done(&b);
    return line;
}
