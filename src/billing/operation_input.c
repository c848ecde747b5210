/* Addresses of buildings in the United States and Canada: states and postal codes. */
#include <ctype.h>

#include "billing/operation.h"

/* States, the District of Columbia and territories. */
static const char us_states[][3] = {
    "AL", "AK", "AZ", "AR", "CA", "CO", "CT", "DE", "FL", "GA", "HI", "ID", "IL", "IN", "IA", "KS", "KY", "LA", "ME",
    "MD", "MA", "MI", "MN", "MS", "MO", "MT", "NE", "NV", "NH", "NJ", "NM", "NY", "NC", "ND", "OH", "OK", "OR", "PA",
    "RI", "SC", "SD", "TN", "TX", "UT", "VT", "VA", "WA", "WV", "WI", "WY", "DC", "AS", "GU", "MP", "PR", "UM", "VI",
};

/* Provinces and territories. */
static const char ca_provinces[][3] = {
    "AB", "BC", "MB", "NB", "NL", "NS", "NT", "NU", "ON", "PE", "QC", "SK", "YT",
};

static bool is_one_of(struct str s, const char (*list)[3], size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (str_eq(s, str_n(list[i], 2)))
            return true;
    return false;
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
    if (!canada && !is_one_of(address->state, us_states, sizeof us_states / sizeof *us_states))
        *ret_why = "address.state must be a US state, DC or a territory";
    else if (!canada && !us_zip(address->zip))
        *ret_why = "address.zip must be a ZIP code like 12345 or 12345-6789";
    else if (canada && !is_one_of(address->state, ca_provinces, sizeof ca_provinces / sizeof *ca_provinces))
        *ret_why = "address.state must be a Canadian province or territory";
    else if (canada && !ca_zip(address->zip, a, &address->zip))
        *ret_why = "address.zip must be a postal code like A1A 1A1";
    else
        return true;
    return false;
}
