#include "api/openapi_events.h"

#include "api/openapi_schemas.h"

#include "domain/event.h"

static json_t *string_schema(const char *key, const char *value, const char *doc)
{
    return json_pack("{s:s, s:s, s:s}", "type", "string", key, value, "description", doc);
}

/* The request body of an event: the same envelope around the data of each type. */
static json_t *event_body_of(const char *type, const struct shape *data, json_t *schemas)
{
    json_t *properties = json_pack(
        "{s:o, s:o, s:o, s:o, s:o}", "id",
        string_schema("pattern", "^evt_[0-9a-f]{24}$", "ID of the event; repetitions and replays have the same one"),
        "type", string_schema("const", type, "event type"), "created_at",
        string_schema("format", "date-time", "time of the event"), "api_version",
        string_schema("const", "v1", "version of this body"), "data", openapi_reference(schemas, data, SCHEMA_REPLY));
    return json_pack("{s:s, s:o, s:[s, s, s, s, s]}", "type", "object", "properties", properties, "required", "id",
                     "type", "created_at", "api_version", "data");
}

static json_t *signature(void)
{
    return json_pack("{s:s, s:s, s:b, s:{s:s, s:s}, s:s}", "name", "Service-Signature", "in", "header", "required", 1,
                     "schema", "type", "string", "pattern", "^t=[0-9]+(,v1=[0-9a-f]{64}){1,2}$", "description",
                     "`t` is Unix seconds; `v1` is the hex HMAC-SHA256 of `t`, a period and the raw body, keyed with "
                     "the whole secret. While one secret replaces another, there is a `v1` for each: one must match. "
                     "Compare in constant time; reject a `t` older than five minutes.");
}

static json_t *traceparent(void)
{
    return json_pack("{s:s, s:s, s:b, s:{s:s, s:s}, s:s}", "name", "traceparent", "in", "header", "required", 0,
                     "schema", "type", "string", "pattern", "^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$", "description",
                     "W3C Trace Context. Sent if the request that caused the event had one: the same trace ID and "
                     "flags, and a parent ID of this attempt.");
}

static json_t *responses(void)
{
    return json_pack("{s:{s:s}, s:{s:s}}", "2XX", "description", "received", "default", "description",
                     "not received: retried after 1 minute, 5 minutes, 30 minutes and 2 hours, then failed. A response "
                     "after more than 5 seconds counts as a failure; redirects are not followed");
}

static json_t *event_operation(enum event_type type, json_t *schemas)
{
    const struct shape *data = &event_data_shapes[type];
    return json_pack("{s:{s:o, s:s, s:s, s:[s], s:[], s:[o, o], s:{s:b, s:{s:{s:o}}}, s:o}}", "post", "operationId",
                     json_sprintf("on%s", data->name), "summary", data->doc, "description",
                     "Sent at least once to each endpoint that listens to the type, in no particular order. "
                     "Repetitions have the same `id`.",
                     "tags", "Webhooks", "security", "parameters", signature(), traceparent(), "requestBody",
                     "required", 1, "content", "application/json", "schema",
                     event_body_of(event_type_names[type], data, schemas), "responses", responses());
}

json_t *openapi_events(json_t *schemas)
{
    json_t *webhooks = json_object();
    for (enum event_type type = 0; type < EVENT_TYPE_COUNT; type++)
        json_object_set_new(webhooks, event_type_names[type], event_operation(type, schemas));
    return webhooks;
}
