#include "domain/place.h"

#include "domain/account.h"
#include "domain/browser.h"
#include "domain/session.h"

/* The address that the person of a website session signed in with. */
static enum err address_of(struct tx *tx, const struct principal *who, struct str *ret)
{
    struct member m = {0};
    struct account account = {0};
    const bool visits = id_given(&who->member_id);
    enum err e = visits ? member_get(tx, &who->member_id, &m) : account_get(tx, &who->account_id, &account);
    if (e)
        return e == ERR_NOT_FOUND || e == ERR_ACCOUNT_NOT_FOUND ? ERR_INVALID_KEY : e;
    *ret = visits ? m.email : account.email;
    return ERR_NONE;
}

enum err place_list(struct tx *tx, const struct principal *who, struct places *ret)
{
    struct id account;
    struct places places = {0};
    enum err e = address_of(tx, who, &places.email);
    if (!e)
        e = member_of_address(tx, places.email, &places.members, &places.member_count);
    if (!e)
        e = account_find(tx, places.email, &account);
    if (!e)
        e = building_list(tx, &account, &places.buildings, &places.building_count);
    if (e && e != ERR_ACCOUNT_NOT_FOUND)
        return e;
    places.can_create = e && !tx->config->listed;
    *ret = places;
    return ERR_NONE;
}

enum err place_switch(struct tx *tx, const struct principal *who, const struct id *building, struct key_options *ret)
{
    struct str email;
    struct id account;
    struct member m = {0};
    bool linked;
    enum err e = address_of(tx, who, &email);
    if (e)
        return e;
    e = account_find(tx, email, &account);
    if (!e)
        e = building_of(tx, &account, building, &linked);
    if (!e) {
        *ret = session_key(&account);
        return ERR_NONE;
    }
    if (e == ERR_ACCOUNT_NOT_FOUND || e == ERR_BUILDING_NOT_FOUND)
        e = member_at(tx, building, email, &m);
    if (!e)
        e = member_accept(tx, &m);
    if (!e)
        *ret = session_key_of_member(&m);
    return e;
}

enum err place_own(struct tx *tx, const struct principal *who, struct key_options *ret)
{
    struct str email;
    struct id account;
    enum err e = address_of(tx, who, &email);
    if (!e)
        e = tx->config->listed ? account_find(tx, email, &account) : account_ensure(tx, email, &account);
    if (!e)
        *ret = session_key(&account);
    return e == ERR_ACCOUNT_NOT_FOUND ? ERR_NOT_FOUND : e;
}

static enum err end_visits(struct tx *tx, struct str email)
{
    const struct member *members;
    size_t count;
    enum err e = member_of_address(tx, email, &members, &count);
    for (size_t i = 0; !e && i < count; i++)
        e = browser_end_all(tx, &members[i].account_id, &members[i].id);
    return e;
}

enum err place_end_visits(struct tx *tx, const struct principal *who)
{
    struct str email;
    enum err e = address_of(tx, who, &email);
    return e ? e : end_visits(tx, email);
}

enum err place_end_sessions(struct tx *tx, const struct principal *who)
{
    struct str email;
    struct id account;
    enum err e = address_of(tx, who, &email);
    if (!e)
        e = end_visits(tx, email);
    if (!e)
        e = account_find(tx, email, &account);
    if (!e)
        e = browser_end_all(tx, &account, &(struct id){0});
    return e == ERR_ACCOUNT_NOT_FOUND ? ERR_NONE : e;
}
