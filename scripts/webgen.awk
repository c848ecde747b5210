# Fills in a page of web/. usage: awk -v lang=LANG -v sandbox=0|1 -f webgen.awk ASSETS TEXTS PAGE
#   {{asset ROOM/FILE}}  the path of a script or style sheet
#   {{lang}}             the language's tag
#   {{KEY}}              a text of web/site/texts, escaped
#   {{texts PREFIX...}}  all texts whose keys begin with a PREFIX, without it, as JSON
#   {{sandbox}}          at the start of a line: the line is for the sandbox alone
FNR == 1 { file++ }
file == 1 { asset[$1] = "/a/" $2; next }
file == 2 {
    if (/^#/ || NF == 0) next
    at = index($0, " = ")
    if (!at) fail(FILENAME ":" FNR ": not KEY = TEXT")
    key = substr($0, 1, at - 1)
    if (key in text) fail(FILENAME ":" FNR ": " key " is there twice")
    text[key] = substr($0, at + 3)
    keys[++count] = key
    next
}
/^[{][{]sandbox[}][}]/ {
    if (!sandbox) next
    sub(/^[{][{]sandbox[}][}]/, "")
}
{
    rest = $0
    done = ""
    while (match(rest, /[{][{][^}]*[}][}]/)) {
        done = done substr(rest, 1, RSTART - 1) fill(substr(rest, RSTART + 2, RLENGTH - 4))
        rest = substr(rest, RSTART + RLENGTH)
    }
    print done rest
}
function fill(what,    name) {
    if (what == "lang") return lang
    if (what ~ /^asset /) {
        name = substr(what, 7)
        if (!(name in asset)) fail(FILENAME ":" FNR ": there is no asset " name)
        return asset[name]
    }
    if (what ~ /^texts /) return json(substr(what, 7))
    if (!(what in text)) fail(FILENAME ":" FNR ": " lang " has no text " what)
    return html(text[what])
}
function html(s) {
    gsub(/&/, "\\&amp;", s)
    gsub(/</, "\\&lt;", s)
    gsub(/>/, "\\&gt;", s)
    gsub(/"/, "\\&quot;", s)
    return s
}
function json(prefixes,    n, k, prefix, i, s, all, size) {
    n = split(prefixes, prefix, " ")
    for (k = 1; k <= n; k++) {
        size = length(all)
        for (i = 1; i <= count; i++) {
            if (index(keys[i], prefix[k]) != 1) continue
            s = text[keys[i]]
            gsub(/\\/, "\\\\", s)
            gsub(/"/, "\\\"", s)
            gsub(/</, "\\u003c", s)
            all = all (all == "" ? "" : ",") "\"" substr(keys[i], length(prefix[k]) + 1) "\":\"" s "\""
        }
        if (length(all) == size) fail(FILENAME ":" FNR ": there is no text " prefix[k] "...")
    }
    return "{" all "}"
}
function fail(why) {
    print "webgen: " why | "cat >&2"
    close("cat >&2")
    exit 1
}
