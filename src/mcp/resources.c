#include "mcp/resources.h"

#include "api/gate.h"
#include "base/json.h"
#include "domain/feed.h"
#include "mcp/tools.h"

#define BIT(symbol) (1u << FEED_##symbol)
/* A release takes a use. */
#define GRANTS      (BIT(GRANT_CREATED) | BIT(GRANT_CHANGED) | BIT(GRANT_REVOKED) | BIT(CALL_RELEASED))
#define LOG_ENTRIES (BIT(CALL_RELEASED) | BIT(CALL_CODE_WRONG) | BIT(CALL_FORWARDED))
_Static_assert(FEED_TYPE_COUNT <= 32, "a set of types is 32 bits");

static const struct mcp_resource resources[] = {
    {"portero://account", "account", "Account",
     "The account, what the key may do, and what is missing before the door can open.", "getAccount", NULL,
     GRANTS | BIT(SETTINGS_CHANGED)},
    {"portero://grants/active", "active-grants", "Open grants",
     "The access grants that open the door now or in their hours.", "listUnlocks", "{\"status\":\"active\"}", GRANTS},
    {"portero://activity/latest", "latest-activity", "Latest activity",
     "The twenty newest entries of the log: who came, and whether the door opened.", "listLogs", "{\"limit\":20}",
     LOG_ENTRIES},
};
#define RESOURCE_COUNT (sizeof resources / sizeof *resources)
_Static_assert(RESOURCE_COUNT <= MCP_RESOURCES_MAX, "mcp_resource_at");

const struct mcp_resource *mcp_resource_at(size_t i)
{
    return i < RESOURCE_COUNT ? &resources[i] : NULL;
}

bool mcp_resource_admits(const struct mcp_resource *r, const struct principal *who)
{
    return gate_admits(mcp_tool_named(r->operation), who);
}

const struct mcp_resource *mcp_resource(struct str uri)
{
    for (size_t i = 0; i < RESOURCE_COUNT; i++)
        if (str_eq(uri, str_z(resources[i].uri)))
            return &resources[i];
    return NULL;
}

void mcp_put_resources(const struct principal *who, struct buf *out)
{
    bool any = false;
    buf_char(out, '[');
    for (size_t i = 0; i < RESOURCE_COUNT; i++) {
        const struct mcp_resource *r = &resources[i];
        if (!mcp_resource_admits(r, who))
            continue;
        buf_printf(out,
                   "%s{\"uri\":\"%s\",\"name\":\"%s\",\"title\":\"%s\",\"description\":\"%s\","
                   "\"mimeType\":\"application/json\"}",
                   any ? "," : "", r->uri, r->name, r->title, r->description);
        any = true;
    }
    buf_char(out, ']');
}
