# Turns a C header into the body of a man page: its comments become text, what lies between them
# stays as it is. Comments that open a section ("---- name --") become headings; the guard and what
# is there for compilers alone is left out.

function flush_text() {
    if (columns) {
        text = text ".EE\n"
        columns = 0
    }
    if (text != "") {
        print ".PP"
        printf "%s", text
        text = ""
    }
}
function flush_code() {
    sub(/\n+$/, "\n", code)
    if (code ~ /[^\n]/) {
        print ".PP\n.EX"
        printf "%s", code
        print ".EE"
    }
    code = ""
}
function roff(line) {
    gsub(/\\/, "\\e", line)
    gsub(/-/, "\\-", line)
    if (line ~ /^[.']/) {
        line = "\\&" line
    }
    return line
}
# A line of a comment, without its frame. What is indented are columns, which stay as they are.
function comment_line(line) {
    sub(/^ ?\*/, "", line)
    sub(/^ /, "", line)
    sub(/[ ]+$/, "", line)
    if (line ~ /^    / && !columns) {
        text = text ".EX\n"
        columns = 1
    } else if (line !~ /^    / && columns) {
        text = text ".EE\n"
        columns = 0
    }
    if (columns) {
        text = text roff(line) "\n"
    } else if (line == "") {
        text = text ".PP\n"
    } else if (line ~ /^ - /) {
        sub(/^ - /, "", line)
        text = text ".IP \\(bu 2\n" roff(line) "\n"
    } else {
        sub(/^ +/, "", line)
        text = text roff(line) "\n"
    }
}
function heading(line) {
    gsub(/^\/\* -+ | *-*[ ]*\*\/$| -+$/, "", line)
    flush_text()
    flush_code()
    print ".SH " toupper(line)
}

/^#ifndef PITOT_H$/ || /^#define PITOT_H$/ { next }
/^#ifdef __cplusplus/ { skip = 1 }
/^#if defined\(__GNUC__\)/ { skip = 1 }
skip { if (/^#endif/) { skip = 0 } next }
/^#endif/ || /^#undef/ { next }

# A section's line, which clang-format may have broken before its end.
/^\/\* -+ [a-z ]+ -+/ { heading($0); if (!/\*\//) { getline } next }

inside {
    if (/\*\//) {
        sub(/ *\*\/.*$/, "")
        inside = 0
        comment_line($0)
        flush_text()
        next
    }
    comment_line($0)
    next
}
/^\/\*/ {
    flush_code()
    line = $0
    sub(/^\/\*/, "", line)
    if (line ~ /\*\//) {
        sub(/ *\*\/.*$/, "", line)
        comment_line(line)
        flush_text()
    } else {
        inside = 1
        if (line != "") {
            comment_line(line)
        }
    }
    next
}
{
    line = $0
    sub(/^PITOT_API /, "", line)
    sub(/ +\\$/, " \\", line)
    code = code roff(line) "\n"
}
END { flush_text(); flush_code() }
