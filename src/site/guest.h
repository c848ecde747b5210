/* The page of a guest: web/site/guest.html with the facts of one grant filled in. It needs no script. */
#pragma once
#include "domain/guest_link.h"

/* Appends the page. `page` is the template in one language:
 *
 *   {NAME}                             a fact, escaped; other braces stay as they are
 *   <!-- if WORD --> ... <!-- end -->  the part is kept if the word holds; may be nested
 *   <!-- let NAME TEXT -->             a text that facts are made of: the names of days and months, the order of a date
 *
 * `language` is the index of the page's language, as in web_languages. */
void guest_put(struct tx *tx, const struct guest_view *v, struct str page, size_t language, struct buf *out);
