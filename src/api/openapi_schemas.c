#include "api/openapi_schemas.h"

#define SCHEMA_MAX (1U << 16)

json_t *openapi_schema(const struct shape *shape, enum schema_use use)
{
    struct buf text = BUF(SCHEMA_MAX);
    schema_document(shape, use, &text);
    json_t *schema = json_loadb(text.p, text.n, JSON_REJECT_DUPLICATES, NULL);
    buf_done(&text);
    return schema;
}

static void add_schema(json_t *schemas, const struct shape *shape, enum schema_use use)
{
    if (json_object_get(schemas, shape->name))
        return;
    json_object_set_new(schemas, shape->name, openapi_schema(shape, use));
    for (size_t i = 0; shape->variants && shape->variants[i]; i++)
        add_schema(schemas, shape->variants[i], use);
    for (size_t i = 0; !shape->variants && i < shape->field_count; i++)
        if (shape->fields[i].sub)
            add_schema(schemas, shape->fields[i].sub, use);
}

json_t *openapi_reference(json_t *schemas, const struct shape *shape, enum schema_use use)
{
    add_schema(schemas, shape, use);
    return json_pack("{s:o}", "$ref", json_sprintf("#/components/schemas/%s", shape->name));
}

static json_t *field_schema(const struct field *field)
{
    struct buf text = BUF(SCHEMA_MAX);
    schema_document_field(field, SCHEMA_REQUEST, &text);
    json_t *schema = json_loadb(text.p, text.n, JSON_REJECT_DUPLICATES, NULL);
    buf_done(&text);
    return schema;
}

json_t *openapi_parameter(const struct parameter *p)
{
    json_t *object = json_pack("{s:s, s:s, s:b, s:o}", "name", p->field->name, "in", p->in, "required",
                               p->field->flags & F_REQUIRED, "schema", field_schema(p->field));
    if (p->field->doc)
        json_object_set_new(object, "description", json_string(p->field->doc));
    return object;
}
