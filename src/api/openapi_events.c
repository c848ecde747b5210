#include "api/openapi_events.h"

#include "api/openapi_schemas.h"

#include "domain/event.h"

static const struct field signature = {
    .name = "Service-Signature",
    .type = T_STRING,
    .flags = F_REQUIRED,
    .pattern = "^t=[0-9]+(,v1=[0-9a-f]{64}){1,2}$",
    .doc = "`t` is Unix seconds; `v1` is the hex HMAC-SHA256 of `t`, a period and the raw body, keyed with the whole "
           "secret. While one secret replaces another, there is a `v1` for each: one must match. Compare in constant "
           "time; reject a `t` older than five minutes.",
};
static const struct field traceparent = {
    .name = "traceparent",
    .type = T_STRING,
    .pattern = "^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$",
    .doc = "W3C Trace Context. Sent if the request that caused the event had one: the same trace ID and flags, and a "
           "parent ID of this attempt.",
};
const struct parameter openapi_event_parameters[] = {
    {PARAMETER_EVENT, "header", &signature}, {PARAMETER_EVENT, "header", &traceparent}, {0}};

/* The envelope that event/envelope.c writes; `type` and `data` are each event's own. */
enum { FIELD_TYPE = 1, FIELD_DATA = 4 };
static const char *const version[] = {"v1", NULL};
static const struct field envelope_fields[EVENT_FIELDS] = {
    {.name = "id",
     .type = T_STRING,
     .flags = F_REQUIRED,
     .pattern = "^evt_[0-9a-f]{24}$",
     .doc = "ID of the event; repetitions and replays have the same one"},
    [FIELD_TYPE] = {.name = "type", .type = T_STRING, .flags = F_REQUIRED | F_CONST, .doc = "event type"},
    {.name = "created_at", .type = T_TIME, .flags = F_REQUIRED, .doc = "time of the event"},
    {.name = "api_version",
     .type = T_STRING,
     .flags = F_REQUIRED | F_CONST,
     .values = version,
     .doc = "version of this body"},
    [FIELD_DATA] = {.name = "data", .type = T_OBJECT, .flags = F_REQUIRED},
};

bool openapi_event(size_t index, struct posted_event *ret)
{
    if (index >= EVENT_TYPE_COUNT)
        return false;
    const struct shape *data = &event_data_shapes[index];
    *ret = (struct posted_event){
        .name = event_type_names[index],
        .summary = data->doc,
        .description = "Sent at least once to each endpoint that listens to the type, in no particular order. "
                       "Repetitions have the same `id`.",
        .body = {.fields = ret->fields, .field_count = EVENT_FIELDS},
        .type = {event_type_names[index]},
    };
    snprintf(ret->operation_id, sizeof ret->operation_id, "on%s", data->name);
    memcpy(ret->fields, envelope_fields, sizeof ret->fields);
    ret->fields[FIELD_TYPE].values = ret->type;
    ret->fields[FIELD_DATA].sub = data;
    return true;
}

/* ---- as JSON ---- */

static json_t *responses(void)
{
    return json_pack("{s:{s:s}, s:{s:s}}", "2XX", "description", "received", "default", "description",
                     "not received: retried after 1 minute, 5 minutes, 30 minutes and 2 hours, then failed. A response "
                     "after more than 5 seconds counts as a failure; redirects are not followed");
}

static json_t *event_parameters(void)
{
    json_t *parameters = json_array();
    for (const struct parameter *p = openapi_event_parameters; p->field; p++)
        json_array_append_new(parameters, openapi_parameter(p));
    return parameters;
}

static json_t *event_operation(const struct posted_event *event, json_t *schemas)
{
    json_decref(openapi_reference(schemas, event->fields[FIELD_DATA].sub, SCHEMA_REPLY));
    return json_pack("{s:{s:s, s:s, s:s, s:[s], s:[], s:o, s:{s:b, s:{s:{s:o}}}, s:o}}", "post", "operationId",
                     event->operation_id, "summary", event->summary, "description", event->description, "tags",
                     "Webhooks", "security", "parameters", event_parameters(), "requestBody", "required", 1, "content",
                     "application/json", "schema", openapi_schema(&event->body, SCHEMA_REPLY), "responses",
                     responses());
}

json_t *openapi_events(json_t *schemas)
{
    json_t *webhooks = json_object();
    struct posted_event event;
    for (size_t i = 0; openapi_event(i, &event); i++)
        json_object_set_new(webhooks, event.name, event_operation(&event, schemas));
    return webhooks;
}
