/* Addresses of buildings in the United States and Canada: states with their time zones, and postal codes. */
#include <ctype.h>

#include "billing/operation.h"

#define ZONES_MAX 4 /* of a region, NULL included */

static const struct region {
    const char *country, *state, *zones[ZONES_MAX];
} regions[] = {
#define REGION(country, state, ...) {country, state, {__VA_ARGS__, NULL}},
#include "tbl/regions.def"
#undef REGION
};

static const struct region *region_of(const struct building_address *address)
{
    for (size_t i = 0; i < sizeof regions / sizeof *regions; i++)
        if (str_eq(address->state, str_z(regions[i].state)) && str_eq(address->country, str_z(regions[i].country)))
            return &regions[i];
    return NULL;
}

const char *const *building_zones(const struct building_address *address)
{
    static const char *const none[] = {NULL};
    const struct region *r = region_of(address);
    return r ? r->zones : none;
}

/* True if s matches the form: 9 matches a digit, A matches a letter, any other character matches itself. */
static bool looks_like(struct str s, const char *form)
{
    if (s.n != strlen(form))
        return false;
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        if (form[i] == '9' ? !isdigit(c) : form[i] == 'A' ? !isalpha(c) : c != (unsigned char)form[i])
            return false;
    }
    return true;
}

static bool us_zip(struct str zip)
{
    return looks_like(zip, "99999") || looks_like(zip, "99999-9999");
}

/* "k1a0b1" becomes "K1A 0B1". */
static bool ca_zip(struct str zip, struct arena *a, struct str *ret)
{
    if (!looks_like(zip, "A9A9A9") && !looks_like(zip, "A9A 9A9"))
        return false;
    char *out = arena_zalloc(a, 8);
    for (size_t i = 0, n = 0; i < zip.n; i++) {
        if (n == 3)
            out[n++] = ' ';
        if (zip.p[i] != ' ')
            out[n++] = (char)toupper((unsigned char)zip.p[i]);
    }
    *ret = str_n(out, 7);
    return true;
}

bool building_address_normalise(struct building_address *address, struct arena *a, const char **ret_why)
{
    bool canada = str_eq(address->country, STR("CA"));
    if (!address->country.p)
        address->country = STR("US");
    const bool known = region_of(address) != NULL;
    if (!canada && !known)
        *ret_why = "address.state must be a US state, DC or a territory";
    else if (!canada && !us_zip(address->zip))
        *ret_why = "address.zip must be a ZIP code like 12345 or 12345-6789";
    else if (canada && !known)
        *ret_why = "address.state must be a Canadian province or territory";
    else if (canada && !ca_zip(address->zip, a, &address->zip))
        *ret_why = "address.zip must be a postal code like A1A 1A1";
    else
        return true;
    return false;
}
