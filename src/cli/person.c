#include "cli/person.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/terminal.h"
#include "cli/control.h"
#include "client/print.h"

#define ANSWER_MAX (64U << 20)

static enum err refused(const json_t *answer, char **ret_why)
{
    const json_t *error = json_object_get(answer, "error");
    const char *message = json_string_value(json_object_get(error, "message"));
    const char *code = json_string_value(json_object_get(error, "code"));
    return err_why(ret_why, ERR_IO, "%s (%s)", message ? message : "the request failed", code ? code : "no code");
}

/* *ret: the part, which the caller releases. */
static enum err ask_part(const char *socket, const struct person_command *command, const char *after, json_t **ret,
                         char **ret_why)
{
    struct buf answer = BUF(ANSWER_MAX);
    json_t *given = json_pack("{s:s, s:s*}", "person", command->person, "after", after), *part = NULL;
    char *body = json_dumps(given, JSON_COMPACT);
    const struct control_request q = {.socket = socket, .method = "POST", .path = command->path, .body = body};
    int status = 0;
    enum err e = control_send(&q, &status, &answer, ret_why);
    if (!e && (json_read(buf_view(&answer), &part) || !json_is_object(part)))
        e = err_why(ret_why, ERR_IO, "the service responded %d without JSON", status);
    if (!e && status != 200)
        e = refused(part, ret_why);
    if (e)
        json_decref(part);
    else
        *ret = part;
    free(body);
    json_decref(given);
    buf_done(&answer);
    return e;
}

/* Adds the numbers of a part to the list of all; a table that goes on is the last one. */
static void add_found(json_t *all, const json_t *found)
{
    size_t i;
    json_t *row;
    json_array_foreach (found, i, row) {
        json_t *last = json_array_get(all, json_array_size(all) - 1);
        const char *name = json_string_value(json_object_get(row, "table"));
        if (last && json_equal(json_object_get(last, "table"), json_object_get(row, "table")) && name)
            json_object_set_new(last, "rows",
                                json_integer(json_integer_value(json_object_get(last, "rows")) +
                                             json_integer_value(json_object_get(row, "rows"))));
        else
            json_array_append(all, row);
    }
}

static void print_rows(const json_t *part, bool *begun)
{
    const char *rows = json_string_value(json_object_get(part, "rows"));
    if (!rows || !*rows)
        return;
    fputs(*begun ? ",\n" : "\n", stdout);
    terminal_print_json(str_z(rows), stdout);
    *begun = true;
}

static void print_found(const json_t *all, bool as_json)
{
    json_t *answer = json_pack("{s:O}", "data", all);
    char *text = json_dumps(answer, JSON_COMPACT);
    if (as_json)
        print_json_line(str_z(text));
    else
        print_text(answer, stdout);
    free(text);
    json_decref(answer);
}

enum err person_ask(const struct config *config, const void *context, char **ret_why)
{
    const struct person_command *command = context;
    char *socket = mem_printf("%s/%s", config->top_data_dir, CONTROL_SOCKET), *after = NULL;
    json_t *all = json_array(), *part = NULL;
    bool begun = false;
    enum err e;
    if (command->document)
        fputs("[", stdout);
    while (!(e = ask_part(socket, command, after, &part, ret_why))) {
        const char *next = json_string_value(json_object_get(part, "next"));
        add_found(all, json_object_get(part, "found"));
        if (command->document)
            print_rows(part, &begun);
        free(after);
        after = next ? mem_printf("%s", next) : NULL;
        json_decref(part);
        if (!after)
            break;
    }
    if (!e && command->document)
        fputs("\n]\n", stdout);
    else if (!e)
        print_found(all, command->json);
    free(after);
    free(socket);
    json_decref(all);
    return e;
}
