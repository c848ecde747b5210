#include "resources/address.h"

#include "base/forms.h"

#define STREET_MAX 200
#define CITY_MAX   120

static const struct field fields[] = {
    FIELD(struct address, street, T_STRING),  FIELD(struct address, city, T_STRING),
    FIELD(struct address, state, T_STRING),   FIELD(struct address, zip, T_STRING),
    FIELD(struct address, country, T_STRING),
};
const struct shape address_shape = SHAPE(struct address, "Address", fields);

static const char *const countries[] = {"US", "CA", NULL};
static const char *const us_only[] = {"US", NULL};

#define INPUT_FIELDS(country_values)                                                                                   \
    FIELD(struct address, street, T_STRING, .flags = F_TRIM, .max = STREET_MAX),                                       \
        FIELD(struct address, city, T_STRING, .flags = F_REQUIRED | F_TRIM | F_NONBLANK, .max = CITY_MAX),             \
        FIELD(struct address, state, T_STRING, .flags = F_REQUIRED | F_UPPER, FORM("^[A-Za-z]{2}$", "two letters"),    \
              .doc = "a US state, DC or territory, or a Canadian province or territory; stored in upper case"),        \
        FIELD(struct address, zip, T_STRING, .flags = F_REQUIRED,                                                      \
              FORM("^[0-9]{5}(-[0-9]{4})?$|^[A-Za-z][0-9][A-Za-z] ?[0-9][A-Za-z][0-9]$",                               \
                   "a postal code, such as 94105 or K1A 0B1"),                                                         \
              .doc = "a ZIP code; with country CA a Canadian postal code"),                                            \
        FIELD(struct address, country, T_STRING, .flags = F_UPPER, .values = (country_values), .doc = "default US")
static const struct field input_fields[] = {INPUT_FIELDS(countries)};
const struct shape address_input_shape = SHAPE(struct address, "AddressInput", input_fields);
static const struct field input_us_fields[] = {INPUT_FIELDS(us_only)};
const struct shape address_input_us_shape = SHAPE(struct address, "EarlierAddressInput", input_us_fields);

/* An absent member if the value is unknown. */
static struct val known_val(struct str s)
{
    return s.p ? v_str(s) : (struct val){0};
}

struct val address_val(struct arena *a, const struct building_address *address)
{
    struct address *r = arena_new(a, struct address);
    *r = (struct address){
        .street = known_val(address->street),
        .city = known_val(address->city),
        .state = known_val(address->state),
        .zip = known_val(address->zip),
        .country = known_val(address->country),
    };
    return v_object(r);
}

/* An absent member and an empty text both mean "not given". */
static struct str given_text(struct val v)
{
    return v_set(v) && v.s.n ? v.s : STR_NONE;
}

struct building_address address_given(const struct address *body)
{
    return (struct building_address){given_text(body->street), given_text(body->city), given_text(body->state),
                                     given_text(body->zip), given_text(body->country)};
}
