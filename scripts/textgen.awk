# Makes a C string of a text file. usage: awk -v name=SYMBOL -f textgen.awk FILE
BEGIN { print "/* Generated. */\n#pragma once\n" }
FNR == 1 { print "static const char " name "[] =" }
{ gsub(/\\/, "\\\\\\\\"); gsub(/"/, "\\\""); print "    \"" $0 "\\n\"" }
END { print "    ;" }
