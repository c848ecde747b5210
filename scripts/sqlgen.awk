# Generates C from the SQL files: named statements (enum sql in sql.h, sql_table in sql_table.c) and migrations.
# usage: awk -v out=h|c -f sqlgen.awk FILE…   (statement files first, then migrations/NNNN.sql in order)
#
# "-- name: x" begins a statement, which ends at the next such line; "-- name: x (sqlite)" and "(postgresql)" override
# it for one engine. "{by x}" behind a table's name becomes INDEXED BY x for SQLite, which keeps no statistics here.
# "{real}" is real time in microseconds: the server's clock, at the statement's arrival; with SQLite that of the process.
#
# "-- columns: x" begins a list of columns. "{x}" in a statement, or in another list, expands to it; "{x a}" to its
# columns of the table a (a.id, a.label). sql.h numbers the columns for col_int() and the like:
#   COL_<LIST>_<COLUMN>        a list's column
#   COL_<STATEMENT>_<COLUMN>   a column that a SELECT or RETURNING of the statement names itself
#   COL_<EITHER>_<LIST>        the first column of a list that is not at the beginning
# An expression needs a name (count(*) AS total), unless it is a constant.
#
# A migration from number ADMITS_FROM has a line "-- oldest program: N": CONTRIBUTING.md, Migrations.

BEGIN { ADMITS_FROM = 21 }

BEGIN {
    real["sqlite"] = "CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER)"
    real["postgresql"] = "CAST(extract(epoch FROM statement_timestamp()) * 1000000 AS BIGINT)"
}
function die(message) { print message > "/dev/stderr"; failed = 1; exit 1 }
# In a replacement, awks agree on \\\\& alone, of all that have a backslash for the result.
function quote(s, lines, n, i, all) {
    gsub(/["\\]/, "\\\\&", s)
    n = split(s, lines, "\n")
    for (i = 1; i <= n; i++) all = all "\n    \"" lines[i] "\\n\""
    return all
}

# The text of a list; with an alias, its columns are the alias's.
function list_text(name, alias, s) {
    if (!(name in lists)) die("unknown list {" name "}")
    if (name in expanding) die("list " name " contains itself")
    used[name] = 1
    expanding[name] = 1
    s = expand(lists[name])
    delete expanding[name]
    if (alias == "") return s
    if (s !~ /^[a-z0-9_, \n]+$/) die("list " name " is not of plain columns: it takes no alias")
    gsub(/[a-z0-9_]+/, alias ".&", s)
    return s
}
function expand(s, engine, head, tail, word) {
    while (match(s, /\{[a-z0-9_ ]+\}/)) {
        head = substr(s, 1, RSTART - 1)
        tail = substr(s, RSTART + RLENGTH)
        word[2] = ""
        split(substr(s, RSTART + 1, RLENGTH - 2), word, " ")
        if (word[1] == "real") s = head real[engine] tail
        else if (word[1] != "by") s = head list_text(word[1], word[2]) tail
        else if (engine == "sqlite") s = head "INDEXED BY " word[2] tail
        else { sub(/ $/, "", head); s = head tail }
    }
    return s
}

# The list of the columns that a statement returns, or "". Parentheses hold none of them.
function select_list(s) {
    gsub(/'[^']*'/, "#", s)
    gsub(/[ \t\n]+/, " ", s)
    while (gsub(/\([^()]*\)/, "#", s)) continue
    if (sub(/.* RETURNING /, "", s)) return s
    if (s ~ /^ ?(INSERT|UPDATE|DELETE|CREATE) / || !match(s, /(^| )SELECT (DISTINCT )?/)) return ""
    s = substr(s, RSTART + RLENGTH)
    sub(/ (FROM|UNION) .*/, "", s)
    return s
}
function number(name, column, at, e, owner) {
    e = "COL_" toupper(name "_" column)
    owner = "column " at + 1 " of " name
    if (e in numbered && numbered[e] != owner) die(e " is " numbered[e] " and " owner)
    numbered[e] = owner
    return "    " e " = " at ",\n"
}
# The enumerators of a select list; count[name] is set to the number of its columns.
function columns(name, s, items, n, i, at, lines, word) {
    n = split(s, items, /,/)
    for (i = 1; i <= n; i++) {
        s = items[i]
        gsub(/^[ \n]+|[ \n]+$/, "", s)
        if (s ~ /^\{.*\}$/) {
            split(substr(s, 2, length(s) - 2), word, " ")
            if (!(word[1] in lists)) die("unknown list {" word[1] "}")
            if (at) lines = lines number(name, word[1], at)
            if (!(word[1] in count)) columns(word[1], lists[word[1]])
            at += count[word[1]]
        } else {
            if (s !~ /^[0-9]+$/) {
                if (s !~ /^([a-z0-9]+\.)?[a-z0-9_]+$/ && s !~ / AS [a-z0-9_]+$/) die(name ": column " i " needs a name: " s " AS …")
                sub(/.*[ .]/, "", s)
                lines = lines number(name, s, at + 0)
            }
            at++
        }
    }
    count[name] = at + 0
    return lines
}
function print_enum(lines) { if (lines != "") printf "\nenum {\n%s};\n", lines }
function text_of(name, engine) { return (name "/" engine) in text ? text[name "/" engine] : text[name] }

# The oldest program that may use the schema of a migration; before ADMITS_FROM each program used only its own.
function oldest_of(i, before) {
    if (i < ADMITS_FROM) return i
    before = i == ADMITS_FROM ? i : oldest_of(i - 1)
    if (!(i in oldest)) die(file[i] ": no line \"-- oldest program: N\" (CONTRIBUTING.md, Migrations)")
    if (oldest[i] < before || oldest[i] > i) die(file[i] ": the oldest program must be " before " to " i)
    return oldest[i]
}

function begin(key) {
    if (key in text) die(FILENAME ":" FNR ": " key " is defined twice")
    text[key] = ""
    current = key
}
FNR == 1 { current = ""; migration = 0; if (FILENAME ~ /migrations\/[0-9]+\.sql$/) { migration = ++migrations; text["m" migration] = ""; file[migration] = FILENAME } }
/^-- oldest program: [0-9]+$/ && migration { oldest[migration] = $4; next }
/^-- name: / && !migration {
    name = $3; engine = $4; gsub(/[()]/, "", engine)
    if (engine != "" && engine != "sqlite" && engine != "postgresql") die(FILENAME ":" FNR ": unknown engine " engine)
    begin(name (engine == "" ? "" : "/" engine))
    if (!(name in seen)) { seen[name] = 1; order[++statements] = name }
    next
}
/^-- columns: / && !migration {
    begin("columns " $3)
    list_order[++list_count] = $3
    next
}
/^[ \t]*--/ || /^[ \t]*$/ { next }
migration { text["m" migration] = text["m" migration] "\n" $0; next }
current == "" { die(FILENAME ":" FNR ": text before the first name") }
{ text[current] = text[current] (text[current] == "" ? "" : "\n") $0 }
END {
    if (failed) exit 1
    for (i = 1; i <= list_count; i++) lists[list_order[i]] = text["columns " list_order[i]]
    if (out == "h") {
        print "/* Generated from store/sql. */\n#pragma once\n\nenum sql {"
        for (i = 1; i <= statements; i++) print "    SQL_" toupper(order[i]) ","
        print "    SQL_COUNT\n};"
        for (i = 1; i <= list_count; i++) print_enum(columns(list_order[i], lists[list_order[i]]))
        for (i = 1; i <= statements; i++) {
            n = order[i]
            s = columns(n, select_list(text_of(n, "sqlite")))
            if (s != columns(n, select_list(text_of(n, "postgresql")))) die(n ": the engines' columns differ")
            print_enum(s)
        }
        exit
    }
    print "/* Generated from store/sql. */\n#include \"store/sql_table.h\"\n"
    print "const struct sql_statement sql_table[SQL_COUNT] = {"
    for (i = 1; i <= statements; i++) {
        n = order[i]
        s = expand(text_of(n, "sqlite"), "sqlite")
        p = expand(text_of(n, "postgresql"), "postgresql")
        if (s == "" || p == "") die(n ": no text for one engine")
        print "    [SQL_" toupper(n) "] = {\"" n "\"," quote(s) "," quote(p) "},"
    }
    for (i = 1; i <= list_count; i++) if (!(list_order[i] in used)) die("list " list_order[i] " is not used")
    print "};\n"
    print "const char *const sql_migrations[] = {"
    for (i = 1; i <= migrations; i++) print quote(substr(text["m" i], 2)) ","
    print "    0};\n"
    printf "const int sql_migration_oldest[] = {"
    for (i = 1; i <= migrations; i++) printf "%s%d", (i > 1 ? ", " : ""), oldest_of(i)
    print "};"
}
