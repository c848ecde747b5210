-- GET of one asset, as a browser asks for it. arguments: its path, the coding that it accepts
function init(args)
    wrk.path = args[1]
    wrk.headers["Accept-Encoding"] = args[2]
    wrk.headers["X-Forwarded-Proto"] = "https"
end

function request()
    return wrk.format("GET")
end
