#include "mcp/resources.h"

#include "api/gate.h"
#include "base/json.h"
#include "mcp/tools.h"

static const struct mcp_resource resources[] = {
    {"portero://account", "account", "Account",
     "The account, what the key may do, and what is missing before the door can open.", "getAccount", NULL},
    {"portero://grants/active", "active-grants", "Open grants",
     "The access grants that open the door now or in their hours.", "listUnlocks", "{\"status\":\"active\"}"},
    {"portero://activity/latest", "latest-activity", "Latest activity",
     "The twenty newest entries of the log: who came, and what was changed.", "listLogs", "{\"limit\":20}"},
};
#define RESOURCE_COUNT (sizeof resources / sizeof *resources)

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
        if (!gate_admits(mcp_tool_named(r->operation), who))
            continue;
        buf_printf(out,
                   "%s{\"uri\":\"%s\",\"name\":\"%s\",\"title\":\"%s\",\"description\":\"%s\","
                   "\"mimeType\":\"application/json\"}",
                   any ? "," : "", r->uri, r->name, r->title, r->description);
        any = true;
    }
    buf_char(out, ']');
}
