#include "cli/admin_ask.h"

#include <stdlib.h>

#include "base/json.h"
#include "cli/control.h"
#include "client/command.h"
#include "client/print.h"

#define ANSWER_MAX (16U << 20)

static int print_answer(int status, struct str body, bool as_json)
{
    json_t *answer = NULL;
    int result = EXIT_FAILED;
    if (json_read(body, &answer) || !json_is_object(answer)) {
        complain("the service responded %d without JSON", status);
    } else if (status >= 400) {
        const json_t *error = json_object_get(answer, "error");
        const char *message = json_string_value(json_object_get(error, "message"));
        const char *code = json_string_value(json_object_get(error, "code"));
        complain("%s (%s)", message ? message : "the request failed", code ? code : "no code");
    } else {
        if (as_json)
            print_json_line(body);
        else
            print_text(answer, stdout);
        result = EXIT_DONE;
    }
    json_decref(answer);
    return result;
}

int admin_ask(const char *data_dir, const char *method, const char *path, const char *body, bool as_json)
{
    struct buf socket = BUF(4096), answer = BUF(ANSWER_MAX);
    char *why = NULL;
    int status = 0, result = EXIT_FAILED;
    buf_printf(&socket, "%s/%s", data_dir, CONTROL_SOCKET);
    buf_char(&socket, '\0');
    const struct control_request q = {.socket = socket.p, .method = method, .path = path, .body = body};
    if (socket.full)
        complain("the path of the data directory is too long");
    else if (control_send(&q, &status, &answer, &why))
        complain("%s", why);
    else
        result = print_answer(status, buf_view(&answer), as_json);
    free(why);
    buf_done(&answer);
    buf_done(&socket);
    return result;
}
