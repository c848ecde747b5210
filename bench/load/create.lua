-- POST of a passcode grant, each with an Idempotency-Key of its own. arguments: the list of keys, how many, a run's name
local keys, run, count = {}, "", 0

function init(args)
    local most = tonumber(args[2])
    run = args[3]
    for line in io.lines(args[1]) do
        keys[#keys + 1] = line:match("(%S+)")
        if #keys >= most then break end
    end
end

local body = '{"type":"timer","label":"Parcel","expires_in_minutes":60,"remaining_uses":3}'
function request()
    count = count + 1
    return wrk.format("POST", "/v1/unlock", {
        ["Authorization"] = "Bearer " .. keys[count % #keys + 1],
        ["X-Forwarded-Proto"] = "https",
        ["Content-Type"] = "application/json",
        ["Idempotency-Key"] = string.format("bench-%s-%012d", run, count),
    }, body)
end
