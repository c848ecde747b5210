#include "api/routes.h"

#include "domain/settings.h"

#define TONE_PATTERN "^[0-9#*]{1,3}$"

/* ---- bodies ---- */

struct setup {
    struct val building_id, virtual_number, unlock_tone, last_successful_buzz_at, status, instructions;
};
static const char *const setup_statuses[] = {"awaiting_subscription_or_provisioning", "previous_buzz_recorded",
                                             "building_setup_required", NULL};
static const struct field setup_fields[] = {
    FIELD(struct setup, building_id, T_ID, .flags = F_REQUIRED),
    FIELD(struct setup, virtual_number, T_STRING, .flags = F_REQUIRED | F_NULLABLE,
          .doc = "number that the call box dials"),
    FIELD(struct setup, unlock_tone, T_STRING, .flags = F_REQUIRED | F_NULLABLE,
          .doc = "the keys that release the door"),
    FIELD(struct setup, last_successful_buzz_at, T_TIME, .flags = F_REQUIRED | F_NULLABLE,
          .doc = "time of the last unlock by a grant; forwarded calls and the owner's own calls do not count"),
    FIELD(struct setup, status, T_STRING, .flags = F_REQUIRED, .values = setup_statuses),
    FIELD(struct setup, instructions, T_STRING, .flags = F_REQUIRED, .doc = "remaining steps, for people"),
};
static const struct shape setup_shape = SHAPE(struct setup, "Setup", setup_fields);

struct building_settings {
    struct val virtual_number, unlock_tone;
    struct val greeting_welcome, greeting_granted, greeting_denied, greeting_forwarding;
    struct val version, editable;
};
#define BUILDING_SETTINGS(member, type, ...) FIELD(struct building_settings, member, type, __VA_ARGS__)
static const struct field building_settings_fields[] = {
    BUILDING_SETTINGS(virtual_number, T_STRING, .flags = F_REQUIRED | F_NULLABLE),
    BUILDING_SETTINGS(unlock_tone, T_STRING, .flags = F_REQUIRED | F_NULLABLE),
    BUILDING_SETTINGS(greeting_welcome, T_STRING, .flags = F_REQUIRED, .doc = "spoken before the code is requested"),
    BUILDING_SETTINGS(greeting_granted, T_STRING, .flags = F_REQUIRED, .doc = "spoken before the door is released"),
    BUILDING_SETTINGS(greeting_denied, T_STRING, .flags = F_REQUIRED, .doc = "spoken after a wrong code"),
    BUILDING_SETTINGS(greeting_forwarding, T_STRING, .flags = F_REQUIRED,
                      .doc = "spoken before the resident is called"),
    BUILDING_SETTINGS(version, T_STRING, .flags = F_REQUIRED | F_NULLABLE,
                      .doc = "the quoted token for If-Match, equal to the ETag"),
    BUILDING_SETTINGS(editable, T_BOOL, .flags = F_REQUIRED, .doc = "false for invited members"),
};
static const struct shape building_settings_shape =
    SHAPE(struct building_settings, "BuildingSettings", building_settings_fields);

struct settings_body {
    struct val unlock_tone, greeting_welcome, greeting_granted, greeting_denied, greeting_forwarding;
};
#define GREETING(member)                                                                                               \
    FIELD(struct settings_body, member, T_STRING, .flags = F_UTF16, .max = GREETING_MAX,                               \
          .error = ERR_INVALID_GREETING, .null_error = ERR_INVALID_SETTINGS,                                           \
          .doc = "shorter than 120 UTF-16 code units; may be empty")
static const struct field settings_body_fields[] = {
    FIELD(struct settings_body, unlock_tone, T_STRING, .pattern = TONE_PATTERN, .error = ERR_INVALID_TONE,
          .null_error = ERR_INVALID_SETTINGS, .doc = "the keypress that releases the door"),
    GREETING(greeting_welcome),
    GREETING(greeting_granted),
    GREETING(greeting_denied),
    GREETING(greeting_forwarding),
};
static const struct shape settings_body_shape = SHAPE(struct settings_body, "SettingsPatch", settings_body_fields,
                                                      .least = 1, .doc = "omitted fields stay unchanged");

/* ---- handlers ---- */

static enum err get_setup(struct request *q, struct reply *p)
{
    struct building b;
    enum err e = building_get(&q->tx, &q->who.account_id, &q->building_id, &b);
    if (e)
        return e;
    struct setup *r = arena_new(q->tx.arena, struct setup);
    r->building_id = v_str(id_str(&q->building_id));
    r->virtual_number = v_str(b.number);
    r->unlock_tone = v_str(b.unlock_tone);
    r->last_successful_buzz_at = v_time_or_null(b.last_buzz_us);
    r->status = v_str(str_z(setup_status_text(setup_status(&b))));
    r->instructions = v_str(setup_instructions(&b, q->tx.arena));
    return reply_ok(p, 200, &setup_shape, r);
}

static enum err reply_settings(struct request *q, struct reply *p, const struct settings *s)
{
    struct building_settings *r = arena_new(q->tx.arena, struct building_settings);
    struct str etag = s->version.p ? arena_printf(q->tx.arena, "\"%.*s\"", STR_ARG(s->version)) : STR_NONE;
    r->virtual_number = v_str(s->number);
    r->unlock_tone = v_str(s->unlock_tone);
    r->greeting_welcome = v_str(s->greetings[GREETING_WELCOME]);
    r->greeting_granted = v_str(s->greetings[GREETING_GRANTED]);
    r->greeting_denied = v_str(s->greetings[GREETING_DENIED]);
    r->greeting_forwarding = v_str(s->greetings[GREETING_FORWARDING]);
    r->version = v_str(etag);
    r->editable = v_bool(!id_given(&q->who.member_id));
    if (etag.p)
        reply_header(p, "ETag", etag);
    return reply_ok(p, 200, &building_settings_shape, r);
}

static enum err get_settings(struct request *q, struct reply *p)
{
    struct settings s;
    enum err e = settings_get(&q->tx, &q->who.account_id, &q->building_id, &s);
    return e ? e : reply_settings(q, p, &s);
}

static struct str given_setting(struct val v)
{
    return v_given(v) ? v.s : STR_NONE;
}

static enum err patch_settings(struct request *q, struct reply *p)
{
    const struct settings_body *b = q->body;
    const struct settings_patch patch = {
        .unlock_tone = given_setting(b->unlock_tone),
        .greetings = {[GREETING_WELCOME] = given_setting(b->greeting_welcome),
                      [GREETING_GRANTED] = given_setting(b->greeting_granted),
                      [GREETING_DENIED] = given_setting(b->greeting_denied),
                      [GREETING_FORWARDING] = given_setting(b->greeting_forwarding)},
    };
    bool any = patch.unlock_tone.p;
    for (int i = 0; i < GREETING_COUNT; i++)
        any = any || patch.greetings[i].p;
    if (!any)
        return tx_fail(&q->tx, ERR_INVALID_SETTINGS, "at least one setting is required");
    struct settings s;
    enum err e = settings_patch(&q->tx, &q->who, &q->building_id, q->building_linked, q->match_token, &patch, &s);
    return e ? e : reply_settings(q, p, &s);
}

static const struct route rows[] = {
    {.operation_id = "getSetup",
     .summary = "The setup status of a building",
     .description =
         "`building_setup_required`: the building has a number, and its call box must be programmed to dial it. "
         "`previous_buzz_recorded`: a grant has released the door before. Neither proves that a person entered.",
     .tag = "Buildings",
     .method = HTTP_GET,
     .path = "/v1/buildings/{buildingId}/setup",
     .credential = CRED_KEY,
     .scopes = SCOPE(ACCOUNT_READ),
     .limit = LIMIT_KEY,
     .building = BUILDING_PATH,
     .run = RUN_READ,
     .handler = get_setup,
     .status = 200,
     .reply = &setup_shape,
     .store_error = ERR_FETCH_FAILED},
    {.operation_id = "getSettings",
     .summary = "A building's release tone and greetings",
     .description = "A building without a number has no `version`; its greetings are the defaults.",
     .tag = "Buildings",
     .method = HTTP_GET,
     .path = "/v1/buildings/{buildingId}/settings",
     .credential = CRED_KEY,
     .scopes = SCOPE(ACCOUNT_READ),
     .limit = LIMIT_KEY,
     .building = BUILDING_PATH,
     .run = RUN_READ,
     .handler = get_settings,
     .status = 200,
     .reply = &building_settings_shape,
     .flags = ROUTE_ETAG,
     .store_error = ERR_FETCH_FAILED},
    {.operation_id = "updateSettings",
     .summary = "Change a building's release tone and greetings",
     .description =
         "Send only the fields that change. Tone and greetings are saved together. An empty greeting is not spoken. "
         "The tone must be the keypress that makes this building's call box release the door: test it there.",
     .tag = "Buildings",
     .method = HTTP_PATCH,
     .path = "/v1/buildings/{buildingId}/settings",
     .credential = CRED_OWNER,
     .parent_error = ERR_NUMBER_OWNER_REQUIRED,
     .scopes = SCOPE(SETUP_WRITE),
     .limit = LIMIT_KEY,
     .building = BUILDING_PATH,
     .match = MATCH_SETTINGS,
     .body = &settings_body_shape,
     .body_error = ERR_INVALID_SETTINGS,
     .body_example = "{\"unlock_tone\": \"9\", \"greeting_welcome\": \"Please enter your code.\"}",
     .run = RUN_WRITE,
     .handler = patch_settings,
     .status = 200,
     .reply = &building_settings_shape,
     .flags = ROUTE_ETAG,
     .errors = ROUTE_ERRORS(ERR_MULTI_BUILDING_REQUIRED, ERR_NUMBER_NOT_FOUND, ERR_SETTINGS_VERSION_CONFLICT),
     .store_error = ERR_UPDATE_FAILED},
};
const struct route_set settings_routes = ROUTE_SET(rows);
