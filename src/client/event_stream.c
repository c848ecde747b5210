#include "client/event_stream.h"

#include "base/json.h"
#include "base/terminal.h"
#include "client/complain.h"
#include "client/event_source.h"
#include "client/print.h"

/* "2026-11-24T10:00:00.000Z  call.released  call_id=…  label=Parcel" */
static void print_event(const json_t *event)
{
    const char *name;
    json_t *value;
    const char *at = json_string_value(json_object_get(event, "at"));
    const char *type = json_string_value(json_object_get(event, "type"));
    terminal_print(stdout, "%s  %s", at ? at : "-", type ? type : "-");
    json_object_foreach ((json_t *)event, name, value) {
        if (strcmp(name, "at") == 0 || strcmp(name, "type") == 0 || strcmp(name, "seq") == 0)
            continue;
        terminal_print(stdout, "  %s=", name);
        print_value(value, stdout);
    }
    putchar('\n');
}

static int stream_event(void *context, size_t source, const struct event *e)
{
    const bool *json = context;
    json_t *event = NULL;
    (void)source;
    const bool read = !json_read(str_z(e->data), &event) && json_is_object(event);
    if (read && *json)
        print_json_line(str_z(e->data));
    else if (read)
        print_event(event);
    json_decref(event);
    return EXIT_DONE;
}

int event_stream_print(const struct remote *r, const char *path, bool json)
{
    const struct event_handler handler = {.event = stream_event, .context = &json};
    return event_sources_follow(r, &path, 1, &handler);
}
