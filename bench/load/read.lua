-- GET of one grant, or a list of 50, with a key chosen at random; requests are made before the clock starts.
-- arguments: the list of keys, path suffix mode (one or list), how many keys
local requests = {}

function init(args)
    local mode, most = args[2], tonumber(args[3])
    math.randomseed(7)
    local keys = {}
    for line in io.lines(args[1]) do
        local key, building, grants, prefix = line:match("(%S+) (%S+) (%S+) (%S+)")
        if tonumber(grants) > 0 then keys[#keys + 1] = {key, tonumber(grants), prefix} end
        if #keys >= most then break end
    end
    for i = 1, 60000 do
        local k = keys[math.random(#keys)]
        local path = "/v1/unlock?limit=50"
        if mode == "one" then path = "/v1/unlock/d" .. k[3] .. string.format("%012x", math.random(k[2]) - 1) end
        requests[i] = wrk.format("GET", path, {["Authorization"] = "Bearer " .. k[1], ["X-Forwarded-Proto"] = "https"})
    end
end

local at = 0
function request()
    at = at % #requests + 1
    return requests[at]
end
