#include "resources/settings.h"

#include "api/parts.h"
#include "base/forms.h"
#include "billing/operation.h"
#include "domain/account.h"
#include "domain/destination.h"
#include "domain/settings.h"
#include "resources/address.h"
#include "resources/routes.h"

/* ---- bodies ---- */

struct setup {
    struct val building_id, virtual_number, unlock_tone, last_successful_buzz_at, status, instructions, missing;
};
struct missing {
    struct val code, sentence, action;
};
static const struct field missing_fields[] = {
    FIELD(struct missing, code, T_STRING, .flags = F_REQUIRED, .values = ready_codes),
    FIELD(struct missing, sentence, T_STRING, .flags = F_REQUIRED, .doc = "for people"),
    FIELD(struct missing, action, T_STRING, .flags = F_REQUIRED, .doc = "an HTTP request line"),
};
static const struct shape missing_shape = SHAPE(struct missing, "SetupMissing", missing_fields);
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
    FIELD(struct setup, missing, T_OBJECTS, .flags = F_REQUIRED, .sub = &missing_shape,
          .doc = "what the door lacks, in order; `call_box`: no grant has released it by this number"),
};
static const struct shape setup_shape = SHAPE(struct setup, "Setup", setup_fields);
/* Without the last member. */
const struct shape settings_earlier_setup_shape = {.name = "Setup",
                                                   .fields = setup_fields,
                                                   .field_count = sizeof setup_fields / sizeof *setup_fields - 1,
                                                   .size = sizeof(struct setup)};

/* Extensions: each is optional in a request, and whole in a reply. `more` are the flags of all fields. */
struct release_body {
    struct val length_ms, gap_ms, delay_ms, repeat, mode, before_greeting;
};
struct ring_body {
    struct val numbers, strategy, seconds, accept, message;
};
struct callers_body {
    struct val mode, numbers, others;
};
#define RELEASE_FIELDS(more)                                                                                           \
    {                                                                                                                  \
        FIELD(struct release_body, length_ms, T_INT, .flags = (more), .min = 40, .max = 2000,                          \
              .doc = "length of a key"),                                                                               \
            FIELD(struct release_body, gap_ms, T_INT, .flags = (more), .min = 40, .max = 2000,                         \
                  .doc = "silence between two keys"),                                                                  \
            FIELD(struct release_body, delay_ms, T_INT, .flags = (more), .min = 0, .max = 3000,                        \
                  .doc = "silence before the first key"),                                                              \
            FIELD(struct release_body, repeat, T_INT, .flags = (more), .min = 1, .max = 3,                             \
                  .doc = "how often the whole tone is sent"),                                                          \
            FIELD(struct release_body, mode, T_STRING, .flags = (more), .values = release_mode_names,                  \
                  .doc = "how keys are sent over SIP: as RFC 4733 events if the call box accepts them, else in-band "  \
                         "(auto, events); always in-band; or as SIP INFO"),                                            \
            FIELD(struct release_body, before_greeting, T_BOOL, .flags = (more),                                       \
                  .doc = "send the tone before greeting_granted is spoken"),                                           \
    }
#define RING_FIELDS(more)                                                                                              \
    {                                                                                                                  \
        FIELD(struct ring_body, numbers, T_STRINGS, .flags = (more), .max = RING_NUMBERS_MAX, PHONE_FORM,              \
              .doc = "phones that ring besides the building's forwarding phone, E.164"),                               \
            FIELD(struct ring_body, strategy, T_STRING, .flags = (more), .values = ring_strategy_names,                \
                  .doc = "all at once, or in this order, the forwarding phone first"),                                 \
            FIELD(struct ring_body, seconds, T_INT, .flags = (more), .min = 10, .max = 60,                             \
                  .doc = "how long a phone rings"),                                                                    \
            FIELD(struct ring_body, accept, T_BOOL, .flags = (more),                                                   \
                  .doc = "whoever answers must press 1 to talk, so that no voicemail takes the call; default: true "   \
                         "with more than one phone"),                                                                  \
            FIELD(struct ring_body, message, T_BOOL, .flags = (more),                                                  \
                  .doc = "the visitor may leave a message of 30 s when nobody answers"),                               \
    }
#define CALLERS_FIELDS(more)                                                                                           \
    {                                                                                                                  \
        FIELD(struct callers_body, mode, T_STRING, .flags = (more), .values = callers_mode_names,                      \
              .doc = "any caller's call may use grants, or only those of numbers"),                                    \
            FIELD(struct callers_body, numbers, T_STRINGS, .flags = (more), .max = CALLERS_MAX, CALLER_FORM,           \
                  .doc = "as the call box's number is shown in the calls of the building"),                            \
            FIELD(struct callers_body, others, T_STRING, .flags = (more), .values = callers_others_names,              \
                  .doc = "calls of others go to the resident without a prompt, or are rejected"),                      \
    }
static const struct field callers_fields[] = CALLERS_FIELDS(F_REQUIRED);
static const struct field callers_patch_fields[] = CALLERS_FIELDS(0);
static const struct field release_fields[] = RELEASE_FIELDS(F_REQUIRED);
static const struct field release_patch_fields[] = RELEASE_FIELDS(0);
static const struct field ring_fields[] = RING_FIELDS(F_REQUIRED);
static const struct field ring_patch_fields[] = RING_FIELDS(0);
static const struct shape release_shape =
    SHAPE(struct release_body, "ReleaseForm", release_fields, .doc = "how the release tone is sent");
static const struct shape release_patch_shape =
    SHAPE(struct release_body, "ReleaseFormPatch", release_patch_fields, .doc = "omitted fields stay unchanged");
static const struct shape ring_shape =
    SHAPE(struct ring_body, "RingGroup", ring_fields, .doc = "the phones that ring in a forwarded call");
static const struct shape ring_patch_shape =
    SHAPE(struct ring_body, "RingGroupPatch", ring_patch_fields, .doc = "omitted fields stay unchanged");

static const struct shape callers_shape =
    SHAPE(struct callers_body, "Callers", callers_fields, .doc = "the callers whose calls may use grants");
static const struct shape callers_patch_shape =
    SHAPE(struct callers_body, "CallersPatch", callers_patch_fields, .doc = "omitted fields stay unchanged");

struct speech_body {
    struct val understood;
};
static const struct field speech_fields[] = {
    FIELD(struct speech_body, understood, T_BOOL, .flags = F_REQUIRED,
          .doc = "whether this installation understands codes that callers say: only then do spoken digits count"),
};
static const struct shape speech_shape = SHAPE(struct speech_body, "Speech", speech_fields, .doc = "spoken codes");

#define SAY_OPENING "a visitor whose code is right, but opens at another time, hears when; default false"
struct building_settings {
    struct val virtual_number, unlock_tone;
    struct val greeting_welcome, greeting_granted, greeting_denied, greeting_forwarding, greeting_message;
    struct val release, ring, callers, known_callers, say_opening, speech, label, address, call_box_name, timezone,
        forward_phone;
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
    BUILDING_SETTINGS(greeting_message, T_STRING, .flags = F_REQUIRED,
                      .doc =
                          "spoken before the visitor leaves a message (`ring.message`): that it is recorded, and kept"),
    BUILDING_SETTINGS(release, T_OBJECT, .flags = F_REQUIRED, .sub = &release_shape),
    BUILDING_SETTINGS(ring, T_OBJECT, .flags = F_REQUIRED, .sub = &ring_shape),
    BUILDING_SETTINGS(callers, T_OBJECT, .flags = F_REQUIRED, .sub = &callers_shape),
    BUILDING_SETTINGS(known_callers, T_STRINGS, .flags = F_REQUIRED, .max = CALLERS_KNOWN_MAX,
                      .doc = "numbers whose calls released the door, the last one first"),
    BUILDING_SETTINGS(say_opening, T_BOOL, .flags = F_REQUIRED, .doc = SAY_OPENING),
    BUILDING_SETTINGS(speech, T_OBJECT, .flags = F_REQUIRED, .sub = &speech_shape),
    BUILDING_SETTINGS(label, T_STRING, .flags = F_REQUIRED),
    BUILDING_SETTINGS(address, T_OBJECT, .flags = F_REQUIRED | F_NULLABLE, .sub = &address_shape),
    BUILDING_SETTINGS(call_box_name, T_STRING, .flags = F_REQUIRED | F_NULLABLE,
                      .doc = "the name by which visitors find the door in the call box's directory"),
    BUILDING_SETTINGS(timezone, T_STRING, .flags = F_NULLABLE,
                      .doc = "IANA name of the building's time zone, for people who read times; null: not set"),
    BUILDING_SETTINGS(forward_phone, T_STRING, .flags = F_REQUIRED | F_NULLABLE,
                      .doc = "the phone that was given for this building; null: it follows the account's phone"),
    BUILDING_SETTINGS(version, T_STRING, .flags = F_REQUIRED | F_NULLABLE,
                      .doc = "the quoted token for If-Match, equal to the ETag"),
    BUILDING_SETTINGS(editable, T_BOOL, .flags = F_REQUIRED, .doc = "false for invited members"),
};
static const struct shape building_settings_shape =
    SHAPE(struct building_settings, "BuildingSettings", building_settings_fields);

struct settings_body {
    struct val unlock_tone, greeting_welcome, greeting_granted, greeting_denied, greeting_forwarding, greeting_message,
        release, ring, callers, say_opening, label, address, call_box_name, timezone, forward_phone;
};
#define GREETING(member)                                                                                               \
    FIELD(struct settings_body, member, T_STRING, .flags = F_UTF16, .max = GREETING_MAX,                               \
          .error = ERR_INVALID_GREETING, .null_error = ERR_INVALID_SETTINGS,                                           \
          .doc = "shorter than 120 UTF-16 code units; may be empty")
static const struct field settings_body_fields[] = {
    FIELD(struct settings_body, unlock_tone, T_STRING, TONE_FORM, .error = ERR_INVALID_TONE,
          .null_error = ERR_INVALID_SETTINGS, .doc = "the keypress that releases the door"),
    GREETING(greeting_welcome),
    GREETING(greeting_granted),
    GREETING(greeting_denied),
    GREETING(greeting_forwarding),
    GREETING(greeting_message),
    FIELD(struct settings_body, release, T_OBJECT, .sub = &release_patch_shape, .doc = "how the tone is sent"),
    FIELD(struct settings_body, ring, T_OBJECT, .sub = &ring_patch_shape, .doc = "which phones ring"),
    FIELD(struct settings_body, callers, T_OBJECT, .sub = &callers_patch_shape, .doc = "which callers may open"),
    FIELD(struct settings_body, say_opening, T_BOOL, .null_error = ERR_INVALID_SETTINGS, .doc = SAY_OPENING),
    FIELD(struct settings_body, label, T_STRING, .flags = F_TRIM | F_NONBLANK, .max = BUILDING_LABEL_MAX,
          .null_error = ERR_INVALID_SETTINGS, .doc = "the building's name"),
    FIELD(struct settings_body, address, T_OBJECT, .flags = F_NULLABLE, .sub = &address_input_shape,
          .doc = "all of it; null: none"),
    FIELD(struct settings_body, call_box_name, T_STRING, .flags = F_TRIM | F_NONBLANK | F_NULLABLE,
          .max = CALL_BOX_NAME_MAX, .doc = "the name in the call box's directory; null: none"),
    FIELD(struct settings_body, timezone, T_STRING, .flags = F_NONBLANK, .max = 64, .null_error = ERR_INVALID_SETTINGS,
          .doc = "IANA name, e.g. America/New_York"),
    FIELD(struct settings_body, forward_phone, T_STRING, .flags = F_NULLABLE, .pattern = PHONE_PATTERN,
          .error = ERR_INVALID_PHONE_NUMBER,
          .doc = "a phone that this account has verified, for this building alone; null: the account's phone"),
};
static const struct shape settings_body_shape = SHAPE(struct settings_body, "SettingsPatch", settings_body_fields,
                                                      .least = 1, .doc = "omitted fields stay unchanged");

/* ---- handlers ---- */

static void put_missing(const struct ready *facts, const struct id *building, struct arena *a, struct setup *r)
{
    struct ready_step steps[READY_PARTS];
    const size_t count = ready_steps(facts, building, a, steps);
    struct missing *list = arena_array(a, struct missing, READY_PARTS);
    struct str all =
        STR("A grant has released the door before. Try it at the door after every change of the call box.");
    for (size_t i = 0; i < count; i++) {
        list[i] = (struct missing){v_str(steps[i].code), v_str(steps[i].sentence), v_str(steps[i].request)};
        all = i ? arena_printf(a, "%.*s %.*s", STR_ARG(all), STR_ARG(steps[i].sentence)) : steps[i].sentence;
    }
    r->missing = v_list(list, count);
    r->instructions = v_str(all);
}

enum err settings_get_setup(struct request *q, struct reply *p)
{
    struct building b;
    struct account account;
    struct arena *a = q->tx.arena;
    enum err e = building_get(&q->tx, &q->who.account_id, &q->building_id, &b);
    if (!e)
        e = account_get(&q->tx, &q->who.account_id, &account);
    if (e)
        return e;
    const struct ready facts = account_ready(&account, &b);
    struct setup *r = arena_new(a, struct setup);
    r->building_id = v_str(id_str(&q->building_id));
    r->virtual_number = v_str(b.number);
    r->unlock_tone = v_str(b.unlock_tone);
    r->last_successful_buzz_at = v_time_or_null(b.last_buzz_us);
    r->status = v_str(str_z(ready_status(ready_lacks(&facts))));
    put_missing(&facts, &b.id, a, r);
    return reply_ok(p, 200, q->route->reply, r);
}

static struct val release_val(struct arena *a, const struct release *f)
{
    struct release_body *r = arena_new(a, struct release_body);
    *r = (struct release_body){
        .length_ms = v_int(f->length_ms),
        .gap_ms = v_int(f->gap_ms),
        .delay_ms = v_int(f->delay_ms),
        .repeat = v_int(f->repeat),
        .mode = v_str(str_z(release_mode_names[f->mode])),
        .before_greeting = v_bool(f->before_greeting),
    };
    return v_object(r);
}

static struct val numbers_val(struct arena *a, const struct str *numbers, size_t count)
{
    struct val *list = arena_array(a, struct val, count + 1);
    for (size_t i = 0; i < count; i++)
        list[i] = v_str(numbers[i]);
    return v_list(list, count);
}

static struct val callers_val(struct arena *a, const struct callers *c)
{
    struct callers_body *r = arena_new(a, struct callers_body);
    *r = (struct callers_body){
        .mode = v_str(str_z(callers_mode_names[c->mode])),
        .numbers = numbers_val(a, c->numbers, c->count),
        .others = v_str(str_z(callers_others_names[c->others])),
    };
    return v_object(r);
}

static struct val ring_val(struct arena *a, const struct ring *g)
{
    struct ring_body *r = arena_new(a, struct ring_body);
    *r = (struct ring_body){
        .numbers = numbers_val(a, g->numbers, g->count),
        .strategy = v_str(str_z(ring_strategy_names[g->strategy])),
        .seconds = v_int(g->seconds),
        .accept = v_bool(g->accept),
        .message = v_bool(g->message),
    };
    return v_object(r);
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
    r->greeting_message = v_str(s->greetings[GREETING_MESSAGE]);
    r->release = release_val(q->tx.arena, &s->release);
    r->ring = ring_val(q->tx.arena, &s->ring);
    r->callers = callers_val(q->tx.arena, &s->callers);
    r->known_callers = numbers_val(q->tx.arena, s->known, s->known_count);
    r->say_opening = v_bool(s->say_opening);
    struct speech_body *speech = arena_new(q->tx.arena, struct speech_body);
    speech->understood = v_bool(parts_hear(q->parts, q->tx.config));
    r->speech = v_object(speech);
    r->label = v_str(s->label);
    r->address = s->address.city.p ? address_val(q->tx.arena, &s->address) : v_null();
    r->call_box_name = v_str(s->call_box_name);
    r->timezone = v_str(s->timezone);
    r->forward_phone = v_str(s->phone);
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

static int64_t given_int(struct val v)
{
    return v_given(v) ? v.i : -1;
}

static int64_t given_bool(struct val v)
{
    return v_given(v) ? v.b : -1;
}

static int64_t given_name(struct val v, const char *const *names)
{
    return v_given(v) ? str_index(v.s, names) : -1;
}

static void read_release(const struct release_body *b, struct door_patch *ret)
{
    ret->length_ms = given_int(b->length_ms);
    ret->gap_ms = given_int(b->gap_ms);
    ret->delay_ms = given_int(b->delay_ms);
    ret->repeat = given_int(b->repeat);
    ret->mode = given_name(b->mode, release_mode_names);
    ret->before_greeting = given_bool(b->before_greeting);
}

/* Joins the numbers with spaces. Fails if a number is given twice. */
static enum err read_numbers(struct tx *tx, const char *name, struct val list, struct str *ret)
{
    const struct val *numbers = list.ptr;
    struct str all = STR("");
    for (size_t i = 0; i < list.count; i++) {
        for (size_t j = 0; j < i; j++) {
            if (str_eq(numbers[i].s, numbers[j].s))
                return tx_fail(tx, ERR_INVALID_SETTINGS, arena_printf(tx->arena, "%s must be unique", name).p);
        }
        if (!destination_allowed(tx->config, numbers[i].s))
            return tx_fail(tx, ERR_INVALID_PHONE_NUMBER, "ring.numbers: " DESTINATION_REFUSED);
        all = arena_printf(tx->arena, "%.*s%s%.*s", STR_ARG(all), i ? " " : "", STR_ARG(numbers[i].s));
    }
    *ret = all;
    return ERR_NONE;
}

static enum err read_ring(struct tx *tx, const struct ring_body *b, struct door_patch *ret)
{
    ret->strategy = given_name(b->strategy, ring_strategy_names);
    ret->seconds = given_int(b->seconds);
    ret->accept = given_bool(b->accept);
    ret->message = given_bool(b->message);
    return v_given(b->numbers) ? read_numbers(tx, "ring.numbers", b->numbers, &ret->numbers) : ERR_NONE;
}

static enum err read_callers(struct tx *tx, const struct callers_body *b, struct door_patch *ret)
{
    ret->callers_mode = given_name(b->mode, callers_mode_names);
    ret->callers_others = given_name(b->others, callers_others_names);
    return v_given(b->numbers) ? read_numbers(tx, "callers.numbers", b->numbers, &ret->callers_numbers) : ERR_NONE;
}

static enum err read_address(struct tx *tx, struct val body, struct building_address *ret)
{
    const char *why = NULL;
    *ret = v_set(body) ? address_given(body.ptr) : (struct building_address){.city = STR_NONE};
    return !ret->city.p || building_address_normalise(ret, tx->arena, &why) ? ERR_NONE
                                                                            : tx_fail(tx, ERR_INVALID_SETTINGS, why);
}

static enum err patch_settings(struct request *q, struct reply *p)
{
    const struct settings_body *b = q->body;
    struct building_address address = {0};
    struct settings_patch patch = {
        .label = given_setting(b->label),
        .address = v_given(b->address) ? &address : NULL,
        .call_box_name = b->call_box_name,
        .door = door_unchanged,
        .unlock_tone = given_setting(b->unlock_tone),
        .greetings = {[GREETING_WELCOME] = given_setting(b->greeting_welcome),
                      [GREETING_GRANTED] = given_setting(b->greeting_granted),
                      [GREETING_DENIED] = given_setting(b->greeting_denied),
                      [GREETING_FORWARDING] = given_setting(b->greeting_forwarding),
                      [GREETING_MESSAGE] = given_setting(b->greeting_message)},
        .timezone = given_setting(b->timezone),
        .phone = b->forward_phone,
    };
    if (v_given(b->release))
        read_release(b->release.ptr, &patch.door);
    patch.door.say_opening = given_bool(b->say_opening);
    enum err e = v_given(b->ring) ? read_ring(&q->tx, b->ring.ptr, &patch.door) : ERR_NONE;
    if (!e && v_given(b->callers))
        e = read_callers(&q->tx, b->callers.ptr, &patch.door);
    if (!e && patch.address)
        e = read_address(&q->tx, b->address, &address);
    if (!e && patch.address)
        patch.timezone_else = str_z(building_zones(&address)[0]);
    if (e)
        return e;
    if (!v_any_given(b, sizeof *b))
        return tx_fail(&q->tx, ERR_INVALID_SETTINGS, "at least one setting is required");
    struct settings s;
    e = settings_patch(&q->tx, &q->who, &q->building_id, q->building_linked, q->match_token, &patch, &s);
    return e ? e : reply_settings(q, p, &s);
}

static void prepare_greetings(struct request *q)
{
    const struct settings_body *b = q->body;
    const struct speech_part *g = q->parts->speech;
    const struct val saved[] = {b->greeting_welcome, b->greeting_granted, b->greeting_denied, b->greeting_forwarding,
                                b->greeting_message};
    for (size_t i = 0; g && i < sizeof saved / sizeof *saved; i++)
        if (v_given(saved[i]))
            g->prepare(g->arg, false, saved[i].s);
}

static const struct route rows[] = {
    ROUTE("getSetup", GET, "/v1/buildings/{buildingId}/setup", .credential = CRED_KEY, .people = PEOPLE_ALL,
          .scopes = SCOPE(ACCOUNT_READ), .limit = LIMIT_KEY, .building = BUILDING_PATH, .run = RUN_READ,
          .handler = settings_get_setup, .reply = &setup_shape, .flags = ROUTE_SITE, .store_error = ERR_FETCH_FAILED,
          .doc = ROUTE_DOC("Buildings", 200, "The setup status of a building",
                           .description = "`building_setup_required`: the building has a number, and its call box must "
                                          "be programmed to dial it. `previous_buzz_recorded`: a grant has released "
                                          "the door before. Neither proves that a person entered. `missing` lists "
                                          "what the door lacks, and the request that mends it.")),
    ROUTE("getSettings", GET, "/v1/buildings/{buildingId}/settings", .credential = CRED_KEY, .people = PEOPLE_ALL,
          .scopes = SCOPE(ACCOUNT_READ), .limit = LIMIT_KEY, .building = BUILDING_PATH, .run = RUN_READ,
          .handler = get_settings, .reply = &building_settings_shape, .flags = ROUTE_ETAG | ROUTE_SITE,
          .store_error = ERR_FETCH_FAILED,
          .doc = ROUTE_DOC("Buildings", 200, "A building's release tone, greetings and phones",
                           .description =
                               "A building without a number has no `version`; its greetings are the defaults.")),
    ROUTE("updateSettings", PATCH, "/v1/buildings/{buildingId}/settings", .credential = CRED_OWNER,
          .parent_error = ERR_NUMBER_OWNER_REQUIRED, .scopes = SCOPE(SETUP_WRITE), .limit = LIMIT_KEY,
          .building = BUILDING_PATH, .match = MATCH_SETTINGS, .body = &settings_body_shape,
          .body_error = ERR_INVALID_SETTINGS, .run = RUN_WRITE, .handler = patch_settings,
          .committed = prepare_greetings, .reply = &building_settings_shape, .flags = ROUTE_ETAG | ROUTE_SITE,
          .store_error = ERR_UPDATE_FAILED,
          .doc = ROUTE_DOC(
              "Buildings", 200, "Change a building's release tone, greetings and phones",
              .description = "Send only the fields that change. Tone and greetings are saved together. An empty "
                             "greeting is not spoken. The tone must be the keypress that makes this building's call "
                             "box release the door: test it there.",
              .body_example = "{\"unlock_tone\": \"9\", \"greeting_welcome\": \"Please enter your code.\"}",
              .errors = ROUTE_ERRORS(ERR_MULTI_BUILDING_REQUIRED, ERR_NUMBER_NOT_FOUND, ERR_SETTINGS_VERSION_CONFLICT,
                                     ERR_INVALID_PHONE_NUMBER, ERR_FORWARDING_PHONE_NOT_VERIFIED))),
};
const struct route_set settings_routes = ROUTE_SET(rows);
