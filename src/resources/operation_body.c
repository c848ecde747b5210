#include "resources/operation_body.h"

#include "base/forms.h"
#include "base/schedule.h"
#include "domain/phone.h"
#include "resources/address.h"

static const char *const add[] = {"add", NULL};
static const char *const removal[] = {"remove", NULL};

/* ---- requests ---- */

struct preview {
    struct val action;
    struct val label, address, unlock_tone, phone_number, timezone; /* add */
    struct val building_id;                                         /* remove */
};
#define ADD_FIELDS(address_shape)                                                                                      \
    FIELD(struct preview, action, T_STRING, .flags = F_REQUIRED | F_CONST, .values = add),                             \
        FIELD(struct preview, label, T_STRING, .flags = F_REQUIRED | F_TRIM | F_NONBLANK, .max = BUILDING_LABEL_MAX),  \
        FIELD(struct preview, address, T_OBJECT, .flags = F_REQUIRED, .sub = &(address_shape)),                        \
        FIELD(struct preview, unlock_tone, T_STRING, .flags = F_REQUIRED, TONE_FORM,                                   \
              .doc = "the keypress that releases the door"),                                                           \
        FIELD(struct preview, phone_number, T_STRING, PHONE_FORM, .error = ERR_INVALID_PHONE_NUMBER,                   \
              .doc = "forwarding number of the building, verified by this account; default: the account's")
static const struct field add_fields[] = {
    ADD_FIELDS(address_input_shape),
    FIELD(struct preview, timezone, T_STRING, .flags = F_NONBLANK, .max = 64,
          .doc = "IANA name; default: the time zone of most people of the state or province. An extension"),
};
static const struct shape add_shape = SHAPE(struct preview, "BuildingAddPreview", add_fields);
static const struct field add_us_fields[] = {ADD_FIELDS(address_input_us_shape)};
static const struct shape add_us_shape = SHAPE(struct preview, "EarlierBuildingAddPreview", add_us_fields);

static const struct field remove_fields[] = {
    FIELD(struct preview, action, T_STRING, .flags = F_REQUIRED | F_CONST, .values = removal),
    FIELD(struct preview, building_id, T_ID, .flags = F_REQUIRED, .doc = "cannot be the primary building"),
};
static const struct shape remove_shape = SHAPE(struct preview, "BuildingRemovePreview", remove_fields);

static const struct shape *const previews[] = {&add_shape, &remove_shape, NULL};
const struct shape building_preview_shape = SHAPE_OF_VARIANTS(struct preview, "BuildingPreview", previews);
static const struct shape *const earlier_previews[] = {&add_us_shape, &remove_shape, NULL};
const struct shape building_preview_earlier_shape =
    SHAPE_OF_VARIANTS(struct preview, "EarlierBuildingPreview", earlier_previews);

struct quote {
    struct val quote_id;
};
static const struct field quote_fields[] = {
    FIELD(struct quote, quote_id, T_ID, .flags = F_REQUIRED, .error = ERR_INVALID_QUOTE,
          .doc = "id of the operation that the preview created"),
};
const struct shape quote_request_shape = SHAPE(struct quote, "QuoteRequest", quote_fields);

static struct id id_of(struct val v)
{
    struct id id = {{0}};
    if (v_set(v) && !id_parse(v.s, &id))
        id.text[0] = '\0';
    return id;
}

enum err building_preview_input(struct tx *tx, const void *body, struct operation_input *ret)
{
    const struct preview *b = body;
    if (str_eq(b->action.s, str_z(*removal))) {
        *ret = (struct operation_input){.action = OPERATION_REMOVE, .building_id = id_of(b->building_id)};
        return ERR_NONE;
    }
    const char *why = NULL;
    struct operation_input in = {
        .action = OPERATION_ADD,
        .label = b->label.s,
        .address = address_given(b->address.ptr),
        .unlock_tone = b->unlock_tone.s,
        .phone_number = v_set(b->phone_number) ? b->phone_number.s : STR_NONE,
        .timezone = v_set(b->timezone) ? b->timezone.s : STR_NONE,
    };
    if (in.timezone.p && !schedule_zone_known(in.timezone))
        return tx_fail(tx, ERR_INVALID_BUILDING_INPUT, "timezone must be a known IANA name");
    if (!building_address_normalise(&in.address, tx->arena, &why))
        return tx_fail(tx, ERR_INVALID_BUILDING_INPUT, why);
    *ret = in;
    return ERR_NONE;
}

struct id quote_request_id(const void *body)
{
    return id_of(((const struct quote *)body)->quote_id);
}

/* ---- input ---- */

struct add_input {
    struct val label, address, unlock_tone, phone_number, timezone, timezones;
};
static const struct field add_input_fields[] = {
    FIELD(struct add_input, label, T_STRING, .flags = F_REQUIRED),
    FIELD(struct add_input, address, T_OBJECT, .flags = F_REQUIRED, .sub = &address_shape),
    FIELD(struct add_input, unlock_tone, T_STRING, .flags = F_REQUIRED),
    FIELD(struct add_input, phone_number, T_STRING, .flags = F_REQUIRED),
    FIELD(struct add_input, timezone, T_STRING, .doc = "IANA name. An extension, as the next one"),
    FIELD(struct add_input, timezones, T_STRINGS, .doc = "the time zones of the state or province"),
};
static const struct shape add_input_shape = SHAPE(struct add_input, "BuildingAddInput", add_input_fields);

struct remove_input {
    struct val building_id, label, virtual_number, effects;
};
static const struct field remove_input_fields[] = {
    FIELD(struct remove_input, building_id, T_ID, .flags = F_REQUIRED),
    FIELD(struct remove_input, label, T_STRING, .flags = F_REQUIRED),
    FIELD(struct remove_input, virtual_number, T_STRING, .flags = F_REQUIRED | F_NULLABLE),
    FIELD(struct remove_input, effects, T_STRINGS, .flags = F_REQUIRED, .doc = "effects of the removal, as sentences"),
};
static const struct shape remove_input_shape = SHAPE(struct remove_input, "BuildingRemoveInput", remove_input_fields);

static struct val add_input_of(struct arena *a, const struct operation *o)
{
    const char *const *zones = building_zones(&o->address);
    size_t count = 0;
    while (zones[count])
        count++;
    struct val *names = arena_array(a, struct val, count + 1);
    for (size_t i = 0; i < count; i++)
        names[i] = v_str(str_z(zones[i]));
    struct add_input *in = arena_new(a, struct add_input);
    *in = (struct add_input){v_str(o->label),        address_val(a, &o->address), v_str(o->unlock_tone),
                             v_str(o->phone_number), v_str(o->timezone),          v_list(names, count)};
    return v_object(in);
}

static struct val input_of(struct arena *a, const struct operation *o)
{
    if (o->action == OPERATION_ADD)
        return add_input_of(a, o);
    struct str effects[OPERATION_EFFECTS];
    struct val *sentences = arena_array(a, struct val, OPERATION_EFFECTS);
    operation_effects(o, a, effects);
    for (size_t i = 0; i < OPERATION_EFFECTS; i++)
        sentences[i] = v_str(effects[i]);
    struct remove_input *in = arena_new(a, struct remove_input);
    *in = (struct remove_input){v_str(id_str(&o->building_id)), v_str(o->label), v_str(o->virtual_number),
                                v_list(sentences, OPERATION_EFFECTS)};
    return v_object(in);
}

/* ---- billing ---- */

struct billing_body {
    struct val subscription_id, price_id, current_quantity, new_quantity, currency, next_invoice_amount_due,
        per_building_amount, interval, proration_date, note;
};
static const struct field billing_fields[] = {
    FIELD(struct billing_body, subscription_id, T_STRING, .flags = F_REQUIRED),
    FIELD(struct billing_body, price_id, T_STRING, .flags = F_REQUIRED),
    FIELD(struct billing_body, current_quantity, T_INT, .flags = F_REQUIRED),
    FIELD(struct billing_body, new_quantity, T_INT, .flags = F_REQUIRED),
    FIELD(struct billing_body, currency, T_STRING, .flags = F_REQUIRED),
    FIELD(struct billing_body, next_invoice_amount_due, T_INT, .flags = F_REQUIRED,
          .doc = "an estimate of the whole upcoming invoice in minor units, not an immediate charge"),
    FIELD(struct billing_body, per_building_amount, T_INT, .flags = F_REQUIRED | F_NULLABLE,
          .doc = "in minor units; null for tiered pricing: do not multiply"),
    FIELD(struct billing_body, interval, T_STRING),
    FIELD(struct billing_body, proration_date, T_INT, .flags = F_REQUIRED, .doc = "Unix seconds"),
    FIELD(struct billing_body, note, T_STRING, .flags = F_REQUIRED),
};
static const struct shape billing_shape = SHAPE(struct billing_body, "BuildingBilling", billing_fields);

static struct val billing_of(struct arena *a, const struct operation_billing *b)
{
    struct billing_body *r = arena_new(a, struct billing_body);
    *r = (struct billing_body){
        .subscription_id = v_str(b->subscription_id),
        .price_id = v_str(b->price_id),
        .current_quantity = v_int(b->current_quantity),
        .new_quantity = v_int(b->new_quantity),
        .currency = v_str(b->currency),
        .next_invoice_amount_due = v_int(b->next_invoice_minor),
        .per_building_amount = b->per_building_minor < 0 ? v_null() : v_int(b->per_building_minor),
        .interval = b->interval.p ? v_str(b->interval) : (struct val){0},
        .proration_date = v_int(b->proration_s),
        .note = v_str(STR("An estimate of the whole upcoming invoice, with the change prorated from proration_date. "
                          "The preview charges nothing.")),
    };
    return v_object(r);
}

/* ---- result ---- */

struct add_result {
    struct val building_id, label, virtual_number, physical_test_required;
};
static const struct field add_result_fields[] = {
    FIELD(struct add_result, building_id, T_ID, .flags = F_REQUIRED),
    FIELD(struct add_result, label, T_STRING, .flags = F_REQUIRED),
    FIELD(struct add_result, virtual_number, T_STRING, .flags = F_REQUIRED | F_NULLABLE,
          .doc = "null: the operator assigns one"),
    FIELD(struct add_result, physical_test_required, T_BOOL, .flags = F_REQUIRED | F_CONST),
};
static const struct shape add_result_shape = SHAPE(struct add_result, "BuildingAdded", add_result_fields);

struct remove_result {
    struct val building_id, deleted, released_number;
};
static const struct field remove_result_fields[] = {
    FIELD(struct remove_result, building_id, T_ID, .flags = F_REQUIRED),
    FIELD(struct remove_result, deleted, T_BOOL, .flags = F_REQUIRED | F_CONST),
    FIELD(struct remove_result, released_number, T_STRING, .flags = F_REQUIRED | F_NULLABLE),
};
static const struct shape remove_result_shape = SHAPE(struct remove_result, "BuildingRemoved", remove_result_fields);

static struct val result_of(struct arena *a, const struct operation *o)
{
    if (o->status != OPERATION_SUCCEEDED)
        return v_null();
    if (o->action == OPERATION_ADD) {
        struct add_result *r = arena_new(a, struct add_result);
        *r =
            (struct add_result){v_str(id_str(&o->building_id)), v_str(o->label), v_str(o->result_number), v_bool(true)};
        return v_object(r);
    }
    struct remove_result *r = arena_new(a, struct remove_result);
    *r = (struct remove_result){v_str(id_str(&o->building_id)), v_bool(true), v_str(o->result_number)};
    return v_object(r);
}

/* ---- the operation ---- */

struct operation_body {
    struct val action, id, status, input, billing, expires_at, building_id, request_id, result, next_action;
};
static const char *const statuses[] = {"quoted", "expired", "running", "succeeded", "reconciliation_required",
                                       "failed", NULL};

#define OPERATION_FIELDS(actions, input_shape, result_shape)                                                           \
    {                                                                                                                  \
        FIELD(struct operation_body, action, T_STRING, .flags = F_REQUIRED | F_CONST, .values = (actions)),            \
            FIELD(struct operation_body, id, T_ID, .flags = F_REQUIRED, .doc = "also the quote_id"),                   \
            FIELD(struct operation_body, status, T_STRING, .flags = F_REQUIRED, .values = statuses),                   \
            FIELD(struct operation_body, input, T_OBJECT, .flags = F_REQUIRED, .sub = &(input_shape),                  \
                  .doc = "the exact input of the execution"),                                                          \
            FIELD(struct operation_body, billing, T_OBJECT, .flags = F_REQUIRED, .sub = &billing_shape),               \
            FIELD(struct operation_body, expires_at, T_TIME, .flags = F_REQUIRED, .doc = "expiry of the quote"),       \
            FIELD(struct operation_body, building_id, T_ID, .flags = F_REQUIRED | F_NULLABLE),                         \
            FIELD(struct operation_body, request_id, T_STRING, .flags = F_REQUIRED | F_NULLABLE,                       \
                  .doc = "Idempotency-Key of the execution"),                                                          \
            FIELD(struct operation_body, result, T_OBJECT, .flags = F_REQUIRED | F_NULLABLE, .sub = &(result_shape),   \
                  .doc = "null until succeeded"),                                                                      \
            FIELD(struct operation_body, next_action, T_STRING, .flags = F_REQUIRED),                                  \
    }
static const struct field add_operation_fields[] = OPERATION_FIELDS(add, add_input_shape, add_result_shape);
static const struct field remove_operation_fields[] =
    OPERATION_FIELDS(removal, remove_input_shape, remove_result_shape);
static const struct shape add_operation_shape =
    SHAPE(struct operation_body, "BuildingAddOperation", add_operation_fields);
static const struct shape remove_operation_shape =
    SHAPE(struct operation_body, "BuildingRemoveOperation", remove_operation_fields);
static const struct shape *const operations[] = {&add_operation_shape, &remove_operation_shape, NULL};
const struct shape building_operation_shape = SHAPE_OF_VARIANTS(struct operation_body, "BuildingOperation", operations);

static struct str after_quote(struct arena *a, const struct operation *o)
{
    if (o->action == OPERATION_ADD)
        return STR("Check input and billing, then send POST /v1/buildings with this id as quote_id and an "
                   "Idempotency-Key before expires_at.");
    return arena_printf(a,
                        "Check input and billing, then send DELETE /v1/buildings/%s with this id as quote_id and an "
                        "Idempotency-Key before expires_at.",
                        o->building_id.text);
}

static struct str after_failure(const struct operation *o)
{
    if (o->error == ERR_PAYMENT_FAILED)
        return STR("Update the payment method in the billing portal, then request a new preview.");
    if (o->action == OPERATION_ADD)
        return STR("The addition was rolled back without a charge. Request a new preview.");
    return STR("The building is kept. Request a new preview.");
}

static struct str operation_next_action(struct arena *a, const struct operation *o)
{
    switch (o->status) {
    case OPERATION_QUOTED:
        return after_quote(a, o);
    case OPERATION_EXPIRED:
        return STR("Request a new preview: POST /v1/buildings/preview.");
    case OPERATION_RUNNING:
        return arena_printf(a, "Poll GET /v1/buildings/operations/%s until it has ended.", o->id.text);
    case OPERATION_SUCCEEDED:
        if (o->action == OPERATION_REMOVE)
            return STR("No action needed.");
        return arena_printf(
            a, "Program the call box to dial the virtual number, then test it: GET /v1/buildings/%s/setup.",
            o->building_id.text);
    case OPERATION_RECONCILIATION_REQUIRED:
        return STR("Contact support with this id. Do not create another request.");
    case OPERATION_FAILED:
        break;
    }
    return after_failure(o);
}

/* A new building exists between two steps of its operation, and for good after the last one. */
static bool building_exists(const struct operation *o)
{
    return o->action == OPERATION_REMOVE || o->status == OPERATION_SUCCEEDED || o->step == STEP_ADD_NUMBER ||
           o->step == STEP_ADD_UNDO_NUMBER;
}

const void *building_operation_body(struct arena *a, const struct operation *o)
{
    struct operation_body *r = arena_new(a, struct operation_body);
    *r = (struct operation_body){
        .action = v_str(str_z(operation_action_text(o->action))),
        .id = v_str(id_str(&o->id)),
        .status = v_str(str_z(operation_status_text(o->status))),
        .input = input_of(a, o),
        .billing = billing_of(a, &o->billing),
        .expires_at = v_time(o->expires_us),
        .building_id = building_exists(o) ? v_str(id_str(&o->building_id)) : v_null(),
        .request_id = v_str(o->request_id),
        .result = result_of(a, o),
        .next_action = v_str(operation_next_action(a, o)),
    };
    return r;
}
