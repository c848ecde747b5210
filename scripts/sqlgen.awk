# Makes C tables of the SQL files: named statements (enum sql in sql.h, sql_table in sql_table.c) and migrations.
# usage: awk -v out=h|c -f sqlgen.awk FILE…   (statement files first, then migrations/NNNN.sql in order)
# A statement is what follows "-- name: x" up to the next one; "-- name: x (sqlite)" and "(postgresql)" are overrides.
# {by x} behind a table's name tells SQLite, which keeps no statistics here, the index to use: INDEXED BY x.
function quote(s) { gsub(/\\/, "\\\\", s); gsub(/"/, "\\\"", s); return "\"" s "\\n\"" }
FNR == 1 { current = ""; migration = 0; if (FILENAME ~ /migrations\/[0-9]+\.sql$/) { migration = ++migrations; text["m" migration] = "" } }
/^-- name: / && !migration {
    name = $3; engine = $4; gsub(/[()]/, "", engine)
    if (engine != "" && engine != "sqlite" && engine != "postgresql") { print FILENAME ":" FNR ": unknown engine " engine > "/dev/stderr"; exit 1 }
    if (!(name in seen)) { seen[name] = 1; order[++count] = name }
    current = name (engine == "" ? "" : "/" engine)
    if (current in text) { print FILENAME ":" FNR ": " current " is defined twice" > "/dev/stderr"; exit 1 }
    text[current] = ""
    next
}
/^[ \t]*--/ || /^[ \t]*$/ { next }
migration { text["m" migration] = text["m" migration] "\n    " quote($0); next }
current == "" { print FILENAME ":" FNR ": text before the first name" > "/dev/stderr"; exit 1 }
{ text[current] = text[current] "\n    " quote($0) }
END {
    if (out == "h") {
        print "/* Generated from store/sql. */\n#pragma once\n\nenum sql {"
        for (i = 1; i <= count; i++) print "    SQL_" toupper(order[i]) ","
        print "    SQL_COUNT\n};"
        exit
    }
    print "/* Generated from store/sql. */\n#include \"store/sql_table.h\"\n"
    print "const struct sql_statement sql_table[SQL_COUNT] = {"
    for (i = 1; i <= count; i++) {
        n = order[i]
        s = (n "/sqlite") in text ? text[n "/sqlite"] : text[n]
        p = (n "/postgresql") in text ? text[n "/postgresql"] : text[n]
        while (match(s, /\{by [a-z_]+\}/)) s = substr(s, 1, RSTART - 1) "INDEXED BY" substr(s, RSTART + 3, RLENGTH - 4) substr(s, RSTART + RLENGTH)
        gsub(/ \{by [a-z_]+\}/, "", p)
        if (s == "" || p == "") { print n ": no text for one engine" > "/dev/stderr"; exit 1 }
        print "    [SQL_" toupper(n) "] = {\"" n "\"," s "," p "},"
    }
    print "};\n"
    print "const char *const sql_migrations[] = {"
    for (i = 1; i <= migrations; i++) print text["m" i] ","
    print "    0};\n"
}
