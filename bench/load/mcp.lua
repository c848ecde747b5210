-- Tool calls of the current revision of the Model Context Protocol: getUnlock as read.lua asks for a grant, or createUnlock
-- as create.lua creates one. arguments: the list of keys, mode (one or create), how many keys, a run's name
local keys, mode, run, count = {}, "", "", 0
local meta = '"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":'
    .. '{"name":"bench","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}'
local requests = {}

local function call(key, tool, arguments)
    count = count + 1
    return wrk.format("POST", "/mcp", {
        ["Authorization"] = "Bearer " .. key,
        ["X-Forwarded-Proto"] = "https",
        ["Content-Type"] = "application/json",
        ["Accept"] = "application/json, text/event-stream",
        ["MCP-Protocol-Version"] = "2026-07-28",
        ["Mcp-Method"] = "tools/call",
        ["Mcp-Name"] = tool,
    }, string.format('{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"%s","arguments":%s,%s}}', count, tool, arguments, meta))
end

function init(args)
    local most = tonumber(args[3])
    mode, run = args[2], args[4] or ""
    math.randomseed(7)
    for line in io.lines(args[1]) do
        local key, building, grants, prefix = line:match("(%S+) (%S+) (%S+) (%S+)")
        if mode == "create" or tonumber(grants) > 0 then keys[#keys + 1] = {key, tonumber(grants), prefix} end
        if #keys >= most then break end
    end
    for i = 1, mode == "one" and 60000 or 0 do
        local k = keys[math.random(#keys)]
        requests[i] = call(k[1], "getUnlock", '{"id":"d' .. k[3] .. string.format("%012x", math.random(k[2]) - 1) .. '"}')
    end
end

local at = 0
function request()
    if mode == "one" then
        at = at % #requests + 1
        return requests[at]
    end
    local k = keys[count % #keys + 1]
    return call(k[1], "createUnlock", string.format('{"type":"timer","label":"Parcel %s %d","expires_in_minutes":60,"remaining_uses":3}', run, count))
end
