-- Searches of a log, one after the other. arguments: a key, queries of /v1/logs
local requests, at = {}, 0

function init(args)
    for i = 2, #args do
        requests[i - 1] = wrk.format("GET", "/v1/logs?" .. args[i], {["Authorization"] = "Bearer " .. args[1], ["X-Forwarded-Proto"] = "https"})
    end
end

function request()
    at = at % #requests + 1
    return requests[at]
end
