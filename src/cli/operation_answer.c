#include "cli/operation_answer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/complain.h"
#include "cli/print.h"

/* Members that people do not need in a list. `--json` prints them. */
static const char *const hidden[] = {"building_id",           "request_id", "updated_at", "version",
                                     "enter_code_with_voice", NULL};

/* ---- errors ---- */

static const char *text_in(const json_t *object, const char *name)
{
    return json_string_value(json_object_get(object, name));
}

/* The service does not know how its key came here. */
static const char *next_step(const char *code, const char *told)
{
    const char *key = getenv(REMOTE_KEY_VARIABLE);
    if (!code || strcmp(code, "INVALID_KEY") != 0)
        return told;
    return key && *key ? "Set " REMOTE_KEY_VARIABLE " to a key that is valid." : "Log in again: `portero login`.";
}

int operation_print_error(const struct remote_answer *answer, bool json)
{
    json_t *envelope = NULL;
    const bool read = !json_read(answer->body, &envelope);
    const json_t *error = read ? json_object_get(envelope, "error") : NULL;
    const char *message = text_in(error, "message"), *code = text_in(error, "code"),
               *next = next_step(code, text_in(error, "next_action")),
               *request = read ? text_in(envelope, "requestId") : NULL;
    if (message)
        complain("%s (%s)", message, code ? code : "no code");
    else
        complain("the service responded %ld, which is not an answer of this interface", answer->status);
    if (next)
        complain("next: %s", next);
    if (request)
        complain("request: %s", request);
    if (json && error)
        printf("%.*s\n", STR_ARG(answer->body));
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
    if (json)
        printf("%.*s\n", STR_ARG(body));
    else
        print_text_without(value, hidden, print_columns(stdout), stdout);
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
    return fwrite(answer->body.p, 1, answer->body.n, stdout) == answer->body.n ? EXIT_DONE : EXIT_FAILED;
}

int operation_print(const struct operation *o, const struct remote_answer *answer,
                    const struct operation_options *given)
{
    if (answer->status < 200 || answer->status > 299)
        return operation_print_error(answer, given->json);
    if (!o->route->reply)
        return print_media(o, answer, given->output);
    return print_json(answer->body, given->json);
}

/* ---- lists of several pages ---- */

void operation_print_rows(struct operation_rows *rows, const json_t *page)
{
    json_t *row;
    size_t i;
    if (!rows->json && json_array_size(page)) {
        json_t *answer = json_pack("{s:O}", "data", page);
        print_text_without(answer, hidden, print_columns(stdout), stdout);
        json_decref(answer);
    }
    if (rows->json && !rows->begun)
        fputs("{\"data\":[", stdout);
    rows->begun = true;
    json_array_foreach (page, i, row) {
        char *text = rows->json ? json_dumps(row, JSON_COMPACT) : NULL;
        if (text)
            printf("%s%s", rows->count ? "," : "", text);
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
