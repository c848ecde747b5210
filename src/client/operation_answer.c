#include "client/operation_answer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/terminal.h"
#include "client/complain.h"
#include "client/login_scopes.h"
#include "client/pass_words.h"
#include "client/print.h"
#include "client/profile.h"
#include "client/request_words.h"

#define NEXT_MAX 2048

/* Members that people do not need in a list. `--json` prints them. */
static const char *const hidden[] = {
    "building_id",           "request_id", "updated_at", "version", "created_by", "created_by_name",
    "enter_code_with_voice", NULL};

/* ---- errors ---- */

static const char *text_in(const json_t *object, const char *name)
{
    return json_string_value(json_object_get(object, name));
}

/* The scope that the message says the key lacks, if a key for programs can have it. */
static struct str lacking_scope(const char *message)
{
    const struct str said = STR("The key lacks the scope ");
    struct str rest, scope = STR_NONE;
    if (message && str_starts(str_z(message), said))
        scope = str_cut(str_from(str_z(message), said.n), '.', &rest);
    return login_is_scope(scope) ? scope : STR_NONE;
}

/* The service does not know how its key came here. */
static void put_next_step(const struct remote *r, const char *code, const char *message, const char *told,
                          struct buf *out)
{
    const struct str scope = code && !strcmp(code, "INSUFFICIENT_SCOPE") ? lacking_scope(message) : STR_NONE;
    const char *key = getenv(REMOTE_KEY_VARIABLE);
    if (code && !strcmp(code, "WEB_SESSION_REQUIRED")) {
        buf_printf(out, "Sign in at %s with a browser: no key of a login may do this.", r->url);
    } else if (!scope.n && (!code || strcmp(code, "INVALID_KEY") != 0)) {
        request_words_put(str_z(told ? told : ""), out);
    } else if (key && *key) {
        buf_printf(out, "Set %s to a key that %s%.*s.", REMOTE_KEY_VARIABLE, scope.n ? "has the scope " : "is valid",
                   STR_ARG(scope));
    } else {
        buf_lit(out, "Log in again: `portero login");
        if (r->profile && strcmp(r->profile, PROFILE_DEFAULT) != 0)
            buf_printf(out, " --profile %s", r->profile);
        if (scope.n)
            buf_printf(out, " --scopes %s,%.*s", r->scopes ? r->scopes : LOGIN_SCOPES, STR_ARG(scope));
        buf_lit(out, "`.");
    }
}

int operation_print_error(const struct remote *r, const struct remote_answer *answer, bool json)
{
    struct buf next = BUF(NEXT_MAX);
    json_t *envelope = NULL;
    const bool read = !json_read(answer->body, &envelope);
    const json_t *error = read ? json_object_get(envelope, "error") : NULL;
    const char *message = text_in(error, "message"), *code = text_in(error, "code"),
               *request = read ? text_in(envelope, "requestId") : NULL;
    if (message)
        complain("%s (%s)", message, code ? code : "no code");
    else
        complain("the service responded %ld, which is not an answer of this interface", answer->status);
    put_next_step(r, code, message, text_in(error, "next_action"), &next);
    if (next.n)
        complain("next: %.*s", STR_ARG(buf_view(&next)));
    buf_done(&next);
    if (request)
        complain("request: %s", request);
    if (json && error)
        print_json_line(answer->body);
    json_decref(envelope);
    return answer->status == 401 ? EXIT_NO_KEY : EXIT_FAILED;
}

/* ---- answers ---- */

static int print_json(struct str body, bool json)
{
    json_t *value = NULL;
    if (json_read(body, &value) || !json_is_object(value)) {
        json_decref(value);
        complain("the service responded without JSON");
        return EXIT_FAILED;
    }
    if (json) {
        print_json_line(body);
    } else {
        request_words_replace(value);
        pass_words_tell(json_object_get(value, "data"));
        print_text_without(value, hidden, print_columns(stdout), stdout);
    }
    if (!json && json_is_true(json_object_get(json_object_get(value, "pagination"), "has_more")))
        fputs("There are more: --all reads all pages.\n", stderr);
    json_decref(value);
    return EXIT_DONE;
}

static int write_media_file(const char *path, struct str body)
{
    FILE *file = fopen(path, "wxe");
    const bool written = file && fwrite(body.p, 1, body.n, file) == body.n;
    const int failure = errno;
    if (!file || fclose(file) != 0 || !written) {
        complain("%s: %s", path, strerror(failure));
        return EXIT_FAILED;
    }
    return EXIT_DONE;
}

/* Text, or a recording, which does not belong on a terminal. */
static int print_media(const struct operation *o, const struct remote_answer *answer, const char *path)
{
    const bool text = str_starts(answer->type, STR("text/")) || str_eq(answer->type, STR("application/json"));
    if (path)
        return write_media_file(path, answer->body);
    if (!text && isatty(STDOUT_FILENO)) {
        complain("%s: the answer is %.*s; write it to a file with --output", o->command.name, STR_ARG(answer->type));
        return EXIT_USAGE;
    }
    if (isatty(STDOUT_FILENO))
        terminal_print_lines(answer->body, stdout);
    else
        fwrite(answer->body.p, 1, answer->body.n, stdout);
    return ferror(stdout) ? EXIT_FAILED : EXIT_DONE;
}

int operation_print(const struct operation *o, const struct remote *r, const struct remote_answer *answer,
                    const struct operation_options *given)
{
    if (o->row->address && answer->location.n) {
        terminal_print(stdout, "%.*s", STR_ARG(answer->location));
        putchar('\n');
        return EXIT_DONE;
    }
    if (answer->status < 200 || answer->status > 299)
        return operation_print_error(r, answer, given->json);
    if (!o->row->json)
        return print_media(o, answer, given->output);
    return print_json(answer->body, given->json);
}

/* Steps of GET /v1/account without which no grant opens the door. */
static bool is_missing_step(const char *command)
{
    return command && !str_starts(str_z(command), STR("ask the building manager: ")) &&
           (strstr(command, "/v1/billing/") || strstr(command, "/settings") || strstr(command, "/setup"));
}

void operation_print_missing_steps(const json_t *account)
{
    const struct str resident = STR("ask the resident: ");
    const json_t *step;
    size_t i, told = 0;
    json_array_foreach (json_object_get(account, "next_actions"), i, step) {
        const char *command = text_in(step, "command"), *reason = text_in(step, "reason");
        if (!is_missing_step(command))
            continue;
        struct buf words = BUF(NEXT_MAX);
        request_words_put(str_from(str_z(command), str_starts(str_z(command), resident) ? resident.n : 0), &words);
        if (!told++)
            complain("note: it cannot open the door yet");
        complain("next: %.*s: %s", STR_ARG(buf_view(&words)), reason ? reason : "");
        buf_done(&words);
    }
}

/* ---- lists of several pages ---- */

void operation_print_rows(struct operation_rows *rows, const json_t *page)
{
    json_t *row;
    size_t i;
    if (!rows->json && json_array_size(page)) {
        json_t *answer = json_pack("{s:o}", "data", json_deep_copy(page));
        pass_words_tell(json_object_get(answer, "data"));
        print_text_without(answer, hidden, print_columns(stdout), stdout);
        json_decref(answer);
    }
    if (rows->json && !rows->begun)
        fputs("{\"data\":[", stdout);
    rows->begun = true;
    json_array_foreach (page, i, row) {
        char *text = rows->json ? json_dumps(row, JSON_COMPACT) : NULL;
        if (text && rows->count)
            fputc(',', stdout);
        if (text)
            terminal_print_json(str_z(text), stdout);
        free(text);
        rows->count++;
    }
}

void operation_print_rows_end(const struct operation_rows *rows)
{
    if (rows->begun && rows->json)
        fputs("]}\n", stdout);
    else if (rows->begun && !rows->count)
        fputs("none\n", stdout);
}
