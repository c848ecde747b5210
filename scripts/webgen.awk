# Fills in a page of web/, or writes texts as JSON.
# usage: awk -v room=ROOM -v name=NAME -v lang=LANG -v sandbox=0|1 -f webgen.awk TEXTS ASSETS PAGE FRAME, FRAME "" for a whole page
#        awk -v own=PREFIX -v more="PREFIX ..." -f webgen.awk TEXTS
#
#   {{asset ROOM/FILE}}  the path of a script or style sheet
#   {{lang}}             the language's tag
#   {{name}}             the page's name
#   {{KEY}}              a text of web/site/texts, escaped
#   {{own KEY}}          the page's text NAME.KEY
# Of the frame:
#   {{content}}          the page's lines
#   {{class}}            the classes of the page's body
#   {{script}}           the path of the page's script; {{style}}: of its own style sheet
#   {{current NAME}}     aria-current, if this is that page
#   {{if WORD}}          at the start of a line: the line is for pages with a WORD alone: sandbox; script, if NAME.js is
#                        there; style, if it has its own style sheet; description, if the text NAME.description is; app or plain, the kind of page. Alone in a
#                        line: the lines until {{end}} are
# A page begins with {{plain CLASS...}} if it has no navigation, because nobody is signed in; it is an app page otherwise.
FNR == 1 { file++ }
file == 1 {
    if (/^#/ || NF == 0) next
    at = index($0, " = ")
    if (!at) fail(FILENAME ":" FNR ": not KEY = TEXT")
    key = substr($0, 1, at - 1)
    if (key in text) fail(FILENAME ":" FNR ": " key " is there twice")
    text[key] = substr($0, at + 3)
    keys[++count] = key
    next
}
file == 2 {
    if ($3 == "-" || $3 == lang) asset[$1] = "/a/" $2
    next
}
file == 3 {
    if (FNR == 1) begin()
    if (!(FNR == 1 && plain)) page[++lines] = $0
    next
}
{ put($0) }
END {
    if (failed) exit 1
    if (own) print "{" json(own, length(own)) json_all(more) "\"\":\"\"}"
    else if (file == 3) for (i = 1; i <= lines; i++) put(page[i])
}
function begin() {
    is["sandbox"] = sandbox
    is["script"] = (room "/" name ".js") in asset
    is["style"] = (room "/" name ".css") in asset
    is["description"] = (name ".description") in text
    plain = /^[{][{]plain( [a-z -]+)?[}][}]$/
    is[plain ? "plain" : "app"] = 1
    class = plain ? substr($0, 9, length($0) - 10) : "app " name
    sub(/^ /, "", class)
}
function put(line,    word, rest, done) {
    if (line == "{{end}}") {
        skipping = 0
        return
    }
    if (skipping) return
    if (line ~ /^[{][{]if [a-z]+[}][}]$/) {
        skipping = !is[substr(line, 6, length(line) - 7)]
        return
    }
    while (match(line, /^[{][{]if [a-z]+[}][}]/)) {
        word = substr(line, 6, RLENGTH - 7)
        if (!is[word]) return
        line = substr(line, RLENGTH + 1)
    }
    if (line == "{{content}}") {
        for (word = 1; word <= lines; word++) put(page[word])
        return
    }
    rest = line
    while (match(rest, /[{][{][^}]*[}][}]/)) {
        done = done substr(rest, 1, RSTART - 1) fill(substr(rest, RSTART + 2, RLENGTH - 4))
        rest = substr(rest, RSTART + RLENGTH)
    }
    print done rest
}
function fill(what) {
    if (what == "lang") return lang
    if (what == "name") return name
    if (what == "class") return class
    if (what == "script") return asset[room "/" name ".js"]
    if (what == "style") return asset[room "/" name ".css"]
    if (what ~ /^current /) return substr(what, 9) == name ? " aria-current=\"page\"" : ""
    if (what ~ /^asset /) {
        what = substr(what, 7)
        if (!(what in asset)) fail(FILENAME ":" FNR ": there is no asset " what)
        return asset[what]
    }
    if (what ~ /^own /) what = name "." substr(what, 5)
    if (!(what in text)) fail(name ": " lang " has no text " what)
    return html(text[what])
}
function html(s) {
    gsub(/&/, "\\&amp;", s)
    gsub(/</, "\\&lt;", s)
    gsub(/>/, "\\&gt;", s)
    gsub(/"/, "\\&quot;", s)
    return s
}
# Members for the texts whose keys begin with the prefix; `skip` characters of each key are left out.
function json(prefix, skip,    i, s, all) {
    for (i = 1; i <= count; i++) {
        if (index(keys[i], prefix) != 1) continue
        s = text[keys[i]]
        gsub(/["\\]/, "\\\\&", s)
        all = all "\"" substr(keys[i], skip + 1) "\":\"" s "\","
    }
    return all
}
function json_all(prefixes,    n, k, prefix, all) {
    n = split(prefixes, prefix, " ")
    for (k = 1; k <= n; k++) if (prefix[k] != own) all = all json(prefix[k], 0)
    return all
}
function fail(why) {
    print "webgen: " why | "cat >&2"
    close("cat >&2")
    failed = 1
    exit 1
}
