# Makes a C string of a text file, or of one section of it, without its heading.
# usage: awk -v name=SYMBOL [-v section="## HEADING"] -f textgen.awk FILE
BEGIN { print "/* Generated. */\n#pragma once\n" }
FNR == 1 { print "static const char " name "[] =" }
section && /^#/ { within = $0 == section; next }
section && !within { next }
{ gsub(/["\\]/, "\\\\&"); print "    \"" $0 "\\n\"" }
END { print "    ;" }
