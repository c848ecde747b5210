-- POST of signed webhooks in the order of a list: path, signature, body. arguments: the list
local requests = {}

function init(args)
    for line in io.lines(args[1]) do
        local path, signature, body = line:match("(%S+) (%S+) (%S+)")
        requests[#requests + 1] = wrk.format("POST", path, {
            ["X-Twilio-Signature"] = signature,
            ["X-Forwarded-Proto"] = "https",
            ["Content-Type"] = "application/x-www-form-urlencoded",
        }, body)
    end
end

local at = 0
function request()
    at = at % #requests + 1
    return requests[at]
end
