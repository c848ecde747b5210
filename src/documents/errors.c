#include "documents/errors.h"

#include <stdlib.h>
#include <string.h>

#include "api/openapi_errors.h"
#include "base/mem.h"
#include "documents/markdown.h"

#define USERS_MAX 65536
#define INTRODUCTION                                                                                                   \
    "Errors of operations have one envelope, which [the guide](/docs/api#errors) shows. Decide by `error.code`; "      \
    "the text for people may be more exact than the one here."

/* By status, as the OpenAPI document lists them. */
static void each_error(const struct route *row, void (*visit)(void *arg, enum err e), void *arg)
{
    struct error_set errors;
    openapi_errors(row, &errors);
    for (int status = 400; status < 600; status++)
        for (int e = 1; e < ERR_TABLE_END; e++)
            if (errors.has[e] && err_info((enum err)e)->status == status)
                visit(arg, (enum err)e);
}

char *docs_error_anchor(const struct err_info *info)
{
    return mem_printf("%s-%d", info->code, info->status);
}

/* The rest of an entry whose code is written. */
static void put_meaning(const struct err_info *info, struct docs_out *out)
{
    char status[16];
    snprintf(status, sizeof status, "%d", info->status);
    buf_char(out->to, ' ');
    docs_strong(out, "status", status);
    docs_told(out);
    docs_paragraph(out, NULL);
    docs_text(out, str_z(info->message));
    docs_paragraph_end(out);
    docs_paragraph(out, "hint");
    buf_lit(out->to, "Next: ");
    docs_text(out, str_z(info->next_action));
    docs_paragraph_end(out);
}

/* ---- of an operation ---- */

static void count_error(void *arg, enum err e)
{
    (void)e;
    ++*(int *)arg;
}

static void put_entry(void *arg, enum err e)
{
    struct docs_out *out = arg;
    const struct err_info *info = err_info(e);
    char *anchor = docs_error_anchor(info);
    docs_entry(out, NULL);
    docs_link_word(out, DOCS_ERRORS_PATH, anchor, info->code);
    put_meaning(info, out);
    docs_entry_end(out);
    free(anchor);
}

void docs_put_operation_errors(const struct route *row, struct docs_out *out)
{
    int count = 0;
    each_error(row, count_error, &count);
    if (!count)
        return;
    docs_fold(out, "errors", false);
    buf_printf(out->to, "Errors (%d)", count);
    docs_fold_told(out);
    docs_list(out, "dl", "entries");
    each_error(row, put_entry, out);
    docs_list_end(out, "dl");
    docs_fold_end(out);
}

/* ---- of all operations ---- */

struct error_book {
    struct buf users[ERR_TABLE_END]; /* links to the operations that answer it */
    const struct route *row;
    bool markdown;
};

static void note_user(void *arg, enum err e)
{
    struct error_book *book = arg;
    struct docs_out users = {&book->users[e], book->markdown, 0};
    buf_str(users.to, users.to->n ? STR(", ") : STR(""));
    docs_put_operation_link(book->row, &users);
}

static void note_users(void *arg, const struct route *row)
{
    struct error_book *book = arg;
    book->row = row;
    each_error(row, note_user, book);
}

static void put_used_error(const struct err_info *info, struct str users, struct docs_out *out)
{
    char *anchor = docs_error_anchor(info);
    docs_entry(out, anchor);
    docs_word(out, info->code);
    put_meaning(info, out);
    docs_html(out, "<details><summary>Operations</summary>");
    docs_paragraph(out, NULL);
    buf_str(out->to, out->markdown ? STR("Operations: ") : STR(""));
    buf_str(out->to, users);
    docs_paragraph_end(out);
    docs_html(out, "</details>");
    docs_entry_end(out);
    free(anchor);
}

void docs_put_errors(const struct docs_reference *r, struct docs_out *out)
{
    struct error_book book = {.markdown = out->markdown};
    for (int e = 0; e < ERR_TABLE_END; e++)
        book.users[e] = BUF(USERS_MAX);
    docs_each_operation(r, NULL, note_users, &book);
    docs_heading(out, 1, NULL);
    buf_lit(out->to, "Errors");
    docs_heading_end(out, 1);
    docs_markdown(STR(INTRODUCTION), out);
    docs_list(out, "dl", "entries");
    for (int e = 1; e < ERR_TABLE_END; e++) {
        if (book.users[e].n)
            put_used_error(err_info((enum err)e), buf_view(&book.users[e]), out);
        out->to->full |= book.users[e].full;
        buf_done(&book.users[e]);
    }
    docs_list_end(out, "dl");
}

static void note_error(void *arg, enum err e)
{
    ((bool *)arg)[e] = true;
}

static void note_errors(void *arg, const struct route *row)
{
    each_error(row, note_error, arg);
}

void docs_each_error(const struct docs_reference *r, void (*visit)(void *arg, const struct err_info *info), void *arg)
{
    bool used[ERR_TABLE_END] = {false};
    docs_each_operation(r, NULL, note_errors, used);
    for (int e = 1; e < ERR_TABLE_END; e++)
        if (used[e])
            visit(arg, err_info((enum err)e));
}
