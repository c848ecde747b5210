# Generates C from the SQL files: named statements (sql.h, sql_table in sql_table.c) and migrations.
# usage: awk -v out=h|c -f sqlgen.awk FILE…   (statement files first, then migrations/NNNN.sql in order)
#
# "-- name: x" begins a statement, which ends at the next such line; "-- name: x (sqlite)" and "(postgresql)" override
# it for one engine. "{by x}" behind a table's name becomes INDEXED BY x for SQLite, which keeps no statistics here.
# "{real}" is real time in microseconds: the server's clock, at the statement's arrival; with SQLite the process's.
#
# "$x:KIND" is the parameter x, "$x" the same again. A column is "x:KIND" or "… AS x:KIND". The kinds are the table in
# store/statement.h, with the types in C. sql.h has for the statement s:
#   SQL_S             its number
#   struct args_s     its arguments, for the macro SQL(s, .x = …)
#   struct row_s      its columns, which row_s(cursor, arena) reads
# Statements whose parameters have the same names and kinds can be called as one another: SQL_AS().
#
# "-- columns: l" begins a list of columns. "{l}" in a statement, or in another list, expands to it; "{l a}" to its
# columns of the table a (a.id, a.label). The rows of statements that return only {l} are struct row_l; in other rows it
# is the member l. An expression needs a name (count(*) AS total:int), unless it is a constant. Rows of statements whose
# columns have the same names and kinds can be read as one another.
#
# "-- part: p" begins a part of a text, for "{p}" in statements and other parts.
#
# A migration from number ADMITS_FROM has a line "-- oldest program: N": CONTRIBUTING.md, Migrations.

BEGIN { ADMITS_FROM = 21; TEXT_MAX = 100000 }

BEGIN {
    real["sqlite"] = "CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER)"
    real["postgresql"] = "CAST(extract(epoch FROM statement_timestamp()) * 1000000 AS BIGINT)"

    # The types of arguments and columns, with the blank before the name.
    both("text", "struct str ")
    both("json", "struct str ")
    both("blob", "struct str ")
    both("int", "int64_t ")
    both("time", "int64_t ")
    both("bool", "bool ")
    both("int?", "struct val ")
    both("time?", "struct val ")
    both("bool?", "struct val ")
    both("id", "struct id ")
    both("idbytes", "struct id ")
    arg_type["id"] = "const struct id *"
    arg_type["idbytes"] = "const struct id_bytes *"
    arg_type["any"] = "struct val "
}
function both(kind, type) { arg_type[kind] = row_type[kind] = type }
function die(message) { print message > "/dev/stderr"; failed = 1; exit 1 }
# In a replacement, awks agree on \\\\& alone, of all that have a backslash for the result.
function quote(s, lines, n, i, all) {
    gsub(/["\\]/, "\\\\&", s)
    n = split(s, lines, "\n")
    for (i = 1; i <= n; i++) all = all "\n    \"" lines[i] "\\n\""
    return all
}

function trim(s) { gsub(/^[ \n]+|[ \n]+$/, "", s); return s }

# ---- kinds ----

function kind_of(s) { sub(/.*:/, "", s); return s }
# The C name of a kind.
function kind_name(kind) {
    sub(/\?/, "_OR_NULL", kind)
    return "SQL_KIND_" toupper(kind)
}
# Without the kinds of columns.
function bare(s, head) {
    while (match(s, /[a-z0-9_]:[a-z]+\??/)) {
        head = head substr(s, 1, RSTART)
        s = substr(s, RSTART + RLENGTH)
    }
    return head s
}

# ---- parameters ----

# Notes the parameters of a text of the statement: param[s, i] is the i-th name, in alphabetical order.
function note_params(s, text, m, word, x, i) {
    if (match(text, /\$[0-9]/)) die(s ": a parameter needs a name and a kind, as $label:text")
    while (match(text, /\$[a-z][a-z0-9_]*(:[a-z]+\??)?/)) {
        m = split(substr(text, RSTART + 1, RLENGTH - 1), word, ":")
        text = substr(text, RSTART + RLENGTH)
        x = word[1]
        if (m > 1 && !(word[2] in arg_type)) die(s ": unknown kind " word[2])
        if (m > 1 && param_kind[s, x] != "" && param_kind[s, x] != word[2]) die(s ": $" x " has two kinds")
        if (m > 1) param_kind[s, x] = word[2]
        if ((s, x) in named) continue
        named[s, x] = 1
        for (i = params[s]++; i > 0 && param[s, i] > x; i--) param[s, i + 1] = param[s, i]
        param[s, i + 1] = x
    }
    for (i = 1; i <= params[s]; i++) if (param_kind[s, param[s, i]] == "") die(s ": $" param[s, i] " has no kind")
}
# The text with numbers in place of the parameters' names.
function numbered_params(s, text, head, x, i) {
    while (match(text, /\$[a-z][a-z0-9_]*(:[a-z]+\??)?/)) {
        x = substr(text, RSTART + 1, RLENGTH - 1)
        sub(/:.*/, "", x)
        for (i = 1; i <= params[s] && param[s, i] != x; i++) continue
        if (i > params[s]) die(s ": $" x " is a parameter for one engine only")
        head = head substr(text, 1, RSTART - 1) "$" i
        text = substr(text, RSTART + RLENGTH)
    }
    return head text
}
# Fails unless both engines have all parameters.
function check_params(s, i, x) {
    for (i = 1; i <= params[s]; i++) {
        x = param[s, i]
        if (expand(text_of(s, "sqlite")) !~ ("\\$" x "([^a-z0-9_]|$)")) die(s ": $" x " is no parameter for SQLite")
        if (expand(text_of(s, "postgresql")) !~ ("\\$" x "([^a-z0-9_]|$)")) die(s ": $" x " is no parameter for PostgreSQL")
    }
}

# ---- texts ----

# The text of a list; with an alias, its columns are the alias's.
function list_text(name, alias, s) {
    if (!(name in lists)) die("unknown list {" name "}")
    if (name in expanding) die("list " name " contains itself")
    used[name] = 1
    expanding[name] = 1
    s = bare(expand(lists[name]))
    delete expanding[name]
    if (alias == "") return s
    if (s !~ /^[a-z0-9_, \n]+$/) die("list " name " is not of plain columns: it takes no alias")
    gsub(/[a-z0-9_]+/, alias ".&", s)
    return s
}
# A part within itself would make a text without end.
function part_text(name, so_far) {
    if (so_far > TEXT_MAX) die("part " name " contains itself")
    used[name] = 1
    return parts[name]
}
function expand(s, engine, head, tail, word) {
    while (match(s, /\{[a-z0-9_ ]+\}/)) {
        head = substr(s, 1, RSTART - 1)
        tail = substr(s, RSTART + RLENGTH)
        word[2] = ""
        split(substr(s, RSTART + 1, RLENGTH - 2), word, " ")
        if (word[1] == "real") s = head real[engine] tail
        else if (word[1] in parts) s = head part_text(word[1], length(s)) tail
        else if (word[1] != "by") s = head list_text(word[1], word[2]) tail
        else if (engine == "sqlite") s = head "INDEXED BY " word[2] tail
        else { sub(/ $/, "", head); s = head tail }
    }
    return s
}
function text_of(name, engine) { return (name "/" engine) in text ? text[name "/" engine] : text[name] }
function engine_text(s, engine) { return bare(numbered_params(s, expand(text_of(s, engine), engine))) }

# ---- columns ----

# The list of the columns that a statement returns, or "". Parentheses hold none of them.
function select_list(s) {
    gsub(/'[^']*'/, "#", s)
    gsub(/[ \t\n]+/, " ", s)
    gsub(/\$[a-z][a-z0-9_]*(:[a-z]+\??)?/, "#", s)
    while (gsub(/\([^()]*\)/, "#", s)) continue
    if (sub(/.* RETURNING /, "", s)) return s
    if (s ~ /^ ?(INSERT|UPDATE|DELETE|CREATE) / || !match(s, /(^| )SELECT (DISTINCT )?/)) return ""
    s = substr(s, RSTART + RLENGTH)
    sub(/ (FROM|UNION) .*/, "", s)
    return s
}
# Splits a select list into its columns and lists; returns their number.
function split_list(s, items, n, i) {
    n = split(s, items, /,/)
    for (i = 1; i <= n; i++) items[i] = trim(items[i])
    return n
}
function is_constant(s) { return s ~ /^[0-9]+$/ }
# The name of the list "{l}" or "{l a}"; "" for a column.
function list_of(s, word) {
    if (s !~ /^\{.*\}$/) return ""
    split(substr(s, 2, length(s) - 2), word, " ")
    if (!(word[1] in lists)) die("unknown list {" word[1] "}")
    return word[1]
}
function column_name(owner, s) {
    sub(/:[a-z]+\??$/, "", s)
    if (s !~ /^([a-z0-9]+\.)?[a-z0-9_]+$/ && s !~ / AS [a-z0-9_]+$/) die(owner ": a column needs a name: " s " AS …")
    sub(/.*[ .]/, "", s)
    return s
}
# Fails unless both engines return columns of the same names.
function check_columns(n, one, other, i, count) {
    count = split_list(select_list(text_of(n, "sqlite")), one)
    if (count != split_list(select_list(text_of(n, "postgresql")), other)) die(n ": the engines' columns differ")
    for (i = 1; i <= count; i++)
        if (list_of(one[i]) != list_of(other[i]) || is_constant(one[i]) != is_constant(other[i]) ||
            list_of(one[i]) == "" && !is_constant(one[i]) && column_name(n, one[i]) != column_name(n, other[i]))
            die(n ": the engines' columns differ")
}

# ---- rows ----

# The members of a row.
function row_members(owner, s, items, n, i, list, all) {
    n = split_list(s, items)
    for (i = 1; i <= n; i++) {
        s = items[i]
        list = list_of(s)
        if (list != "") {
            note_list(list)
            all = all "    struct row_" list " " list ";\n"
        } else if (!is_constant(s)) {
            if (s !~ /:[a-z]+\??$/) die(owner ": column " i " has no kind: " s)
            if (!(kind_of(s) in row_type)) die(owner ": unknown kind " kind_of(s))
            all = all "    " row_type[kind_of(s)] column_name(owner, s) ";\n"
        }
    }
    return all
}
# Its columns as rows of a table, a line each; `within` is the member that the row is of another one.
function row_fields(row, within, s, items, n, i, list, all) {
    n = split_list(s, items)
    for (i = 1; i <= n; i++) {
        s = items[i]
        list = list_of(s)
        if (list != "")
            all = all row_fields(row, within list ".", lists[list])
        else if (is_constant(s))
            all = all "    {0, SQL_KIND_NOTHING, 0},\n"
        else
            all = all "    {\"" column_name(row, s) "\", " kind_name(kind_of(s)) ", offsetof(struct row_" row ", " within column_name(row, s) ")},\n"
    }
    return all
}
# Notes a row with its members and columns. Rows of the same columns share the table of the first.
function note_row(n, s, key) {
    members[n] = "" # a list that contains itself is refused where it is used
    members[n] = row_members(n, s)
    if (members[n] == "") return
    key = row_fields("", "", s)
    if (!(key in same_columns)) {
        same_columns[key] = n
        fields[n] = row_fields(n, "", s)
    }
    columns_of[n] = same_columns[key]
}
# Notes the row of a list after its members.
function note_list(n) {
    if (n in members) return
    note_row(n, lists[n])
    row_order[++rows] = n
}
# Notes the rows of lists and statements. row_of[n] is the row that the statement n returns; "": it returns none, or
# columns without a name.
function note_rows(i, n, s, lines) {
    for (i = 1; i <= list_count; i++) note_list(list_order[i])
    for (i = 1; i <= statements; i++) {
        n = order[i]
        s = select_list(text_of(n, "sqlite"))
        check_columns(n)
        lines = row_fields("", "", s)
        column_count[n] = gsub(/\n/, "\n", lines)
        row_of[n] = s ~ /^ ?\{[^{}]*\} ?$/ ? list_of(trim(s)) : ""
        if (row_of[n] != "" || s == "") continue
        if (n in lists) die(n " is a list and a statement with another row")
        note_row(n, s)
        row_of[n] = members[n] == "" ? "" : n
    }
}

function has_own_row(n) { return row_of[n] == n && !(n in lists) }

# ---- output ----

function print_row(n) {
    print "\nstruct row_" n " {\n" members[n] "};"
    if (columns_of[n] == n) print "extern const struct sql_field columns_" n "[];"
    print "static inline struct row_" n " row_" n "(const struct cursor *c, struct arena *a)"
    print "{\n    struct row_" n " row;\n    db_row(c, columns_" columns_of[n] ", a, &row);\n    return row;\n}"
}
function print_args(n, i, x) {
    print "\nstruct args_" n " {\n    struct db_call call;"
    for (i = 1; i <= params[n]; i++) {
        x = param[n, i]
        print "    " arg_type[param_kind[n, x]] x ";"
    }
    print "} SQL_NAMED;"
    print "enum { CALL_" n " = SQL_" toupper(n) ", ARGS_" n " = " params[n] + 0 " };"
}
function print_header(i, n) {
    print "/* Generated from store/sql. */\n#pragma once\n#include \"store/statement.h\"\n\nenum sql {"
    for (i = 1; i <= statements; i++) print "    SQL_" toupper(order[i]) ","
    print "    SQL_COUNT\n};"
    for (i = 1; i <= rows; i++) print_row(row_order[i])
    for (i = 1; i <= statements; i++) {
        n = order[i]
        print_args(n)
        if (has_own_row(n)) print_row(n)
    }
}
# Prints a table of the statement's parameters, unless a statement before it has the same; returns its name.
function params_of(n, i, x, key) {
    for (i = 1; i <= params[n]; i++) key = key " " param[n, i] ":" param_kind[n, param[n, i]]
    if (!(key in same_params)) {
        same_params[key] = "params_" n
        print "static const struct sql_field params_" n "[] = {"
        for (i = 1; i <= params[n]; i++) {
            x = param[n, i]
            print "    {\"" x "\", " kind_name(param_kind[n, x]) ", offsetof(struct args_" n ", " x ")},"
        }
        if (!params[n]) print "    {0, SQL_KIND_NOTHING, 0},"
        print "};\n"
    }
    return same_params[key]
}
function print_columns(n) {
    if (columns_of[n] == n) print "const struct sql_field columns_" n "[] = {\n" fields[n] "};\n"
}
function print_table(i, n, s, p, shared) {
    print "/* Generated from store/sql. */\n#include \"store/sql_table.h\"\n\n#include <stddef.h>\n"
    for (i = 1; i <= rows; i++) print_columns(row_order[i])
    for (i = 1; i <= statements; i++) {
        n = order[i]
        if (has_own_row(n)) print_columns(n)
        shared[n] = params_of(n)
    }
    print "const struct sql_statement sql_table[SQL_COUNT] = {"
    for (i = 1; i <= statements; i++) {
        n = order[i]
        s = engine_text(n, "sqlite")
        p = engine_text(n, "postgresql")
        if (s == "" || p == "") die(n ": no text for one engine")
        print "    [SQL_" toupper(n) "] = {\"" n "\"," quote(s) "," quote(p) ","
        print "    " shared[n] ", " params[n] + 0 ", " (row_of[n] == "" ? "0" : "columns_" columns_of[row_of[n]]) ", " column_count[n] "},"
    }
    for (i = 1; i <= list_count; i++) if (!(list_order[i] in used)) die("list " list_order[i] " is not used")
    for (i in parts) if (!(i in used)) die("part " i " is not used")
    print "};\n"
    print "const char *const sql_migrations[] = {"
    for (i = 1; i <= migrations; i++) print quote(substr(text["m" i], 2)) ","
    print "    0};\n"
    printf "const int sql_migration_oldest[] = {"
    for (i = 1; i <= migrations; i++) printf "%s%d", (i > 1 ? ", " : ""), oldest_of(i)
    print "};"
}

# The oldest program that may use the schema of a migration; before ADMITS_FROM each program used only its own.
function oldest_of(i, before) {
    if (i < ADMITS_FROM) return i
    before = i == ADMITS_FROM ? i : oldest_of(i - 1)
    if (!(i in oldest)) die(file[i] ": no line \"-- oldest program: N\" (CONTRIBUTING.md, Migrations)")
    if (oldest[i] < before || oldest[i] > i) die(file[i] ": the oldest program must be " before " to " i)
    return oldest[i]
}

# ---- input ----

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
/^-- part: / && !migration {
    begin("part " $3)
    parts[$3]
    next
}
/^[ \t]*--/ || /^[ \t]*$/ { next }
migration { text["m" migration] = text["m" migration] "\n" $0; next }
current == "" { die(FILENAME ":" FNR ": text before the first name") }
{ text[current] = text[current] (text[current] == "" ? "" : "\n") $0 }
END {
    if (failed) exit 1
    for (i = 1; i <= list_count; i++) lists[list_order[i]] = text["columns " list_order[i]]
    for (i in parts) {
        if (i in lists) die(i " is a list and a part")
        parts[i] = text["part " i]
    }
    for (i = 1; i <= statements; i++) {
        note_params(order[i], expand(text_of(order[i], "sqlite")) " " expand(text_of(order[i], "postgresql")))
        check_params(order[i])
    }
    note_rows()
    if (out == "h") print_header()
    else print_table()
}
