# shellcheck shell=bash
# For stages that type the blocks of a page as a reader does: in the page's order, at terminals. A stage sources this file in the
# root of the clone, and fails if a command fails, if a block does not end in BLOCK_S seconds, or if one was not typed.
#
#   blocks PAGE STAGE…             takes the blocks that scripts/blocks prints, to be typed one after the other
#   terminal NAME                  opens a shell at a terminal
#   type_next NAME                 types the next block there; `finished NAME` waits for its end, `run_next NAME` does both
#   later N                        types the next N blocks after all others
#   tell NAME COMMAND              types a command of the reader's own, such as the value of a variable, and waits for its end
#   shown NAME PATTERN             waits until the terminal shows it since the last block began
#   answer NAME PATTERN TEXT       the same, and then types the text as an answer
#   interrupt NAME                 ends the last block by Ctrl-C, and closes the terminal
#   await WHAT COMMAND…, expect WHAT COMMAND…    it must succeed in BLOCK_S seconds, or at once
#   fresh_sandbox                  no var/ until the end of the stage
#   at_end                         a function of the stage's own, for what it has to stop
#   helper COMMAND…                starts it in the background until the end of the stage; its output is in $work/helpers
#   as_joe COMMAND                 runs it as the user joe, who is no administrator, in his clone
#   end_service                    ends what runs as build/porterod by SIGTERM
#   stand_in NAME                  a program of that name, first in PATH, whose text is on standard input
BLOCK_S=${BLOCK_S:-180}
stage=$(basename "$0")
work=$(mktemp -d -t portero-typed-XXXXXX)
declare -a typed=() helpers=()
declare -A shell=() began=()
at=0

say() { echo "$stage: $*"; }
die() {
    echo "$stage: FAILED: $*" >&2
    for name in "${!shell[@]}"; do
        echo "--- the terminal $name" >&2
        grep -avE '^(cc|ld) |^ok |^ *✔ ' "$work/$name.screen" | tail -n 100 >&2 || :
    done
    exit 1
}

# A session's processes: all that was started at its terminal.
session() {
    local stat
    for stat in /proc/[0-9]*/stat; do
        sed 's/^\([0-9]*\) (.*) /\1 /' "$stat" 2>/dev/null | awk -v session="$1" '$5 == session { print $1 }'
    done
}
close() {
    # shellcheck disable=SC2046 # a list of words
    kill -KILL $(session "$(cat "$work/$1.pid")") 2>/dev/null || :
    unset "shell[$1]"
}
leave() {
    local status=$? name
    for name in "${!shell[@]}"; do close "$name"; done
    ! declare -F at_end >/dev/null || at_end
    [ ${#helpers[@]} = 0 ] || kill "${helpers[@]}" 2>/dev/null || :
    if [ -e "$work/var" ]; then
        rm -rf var
        [ ! -e "$work/var/var" ] || mv "$work/var/var" var
    fi
    if [ $status = 0 ] && [ $at != ${#typed[@]} ]; then
        echo "$stage: FAILED: the block at $(sed -n '1s/^# //p' "${typed[at]}") was not typed" >&2
        status=1
    fi
    rm -rf "$work"
    exit $status
}
trap leave EXIT
trap 'exit 1' HUP INT TERM

expect() {
    local what=$1
    shift
    "$@" >"$work/out" 2>&1 || { cat "$work/out" >&2; die "$what"; }
}
await() {
    local what=$1 until=$((SECONDS + BLOCK_S))
    shift
    until "$@" >/dev/null 2>&1; do
        [ $SECONDS -lt $until ] || die "$what: not in $BLOCK_S s"
        sleep 0.2
    done
}

fresh_sandbox() {
    mkdir "$work/var"
    [ ! -e var ] || mv var "$work/var/var"
}

helper() {
    "$@" >>"$work/helpers" 2>&1 </dev/null &
    helpers+=($!)
}

stand_in() {
    mkdir -p "$work/bin"
    cat >"$work/bin/$1"
    chmod 755 "$work/bin/$1"
    export PATH=$work/bin:${PATH#"$work/bin:"}
}

as_joe() { runuser -u joe -- env -u LAUNCHER -u ONCE_PASSES HOME=~joe sh -c "cd ~/portero && exec $1"; }
end_service() {
    local program
    for program in /proc/[0-9]*/exe; do
        case $(readlink "$program" || :) in */build/porterod) kill -TERM "$(echo "$program" | cut -d/ -f3)" ;; esac
    done
}

blocks() {
    local file
    scripts/blocks --mark "$@" >"$work/page" || die "scripts/blocks $*"
    mkdir -p "$work/blocks"
    awk -v prefix="$work/blocks/$stage-${#typed[@]}-" '/^# [^ ]*\.md:[0-9]+$/ { file = sprintf("%s%03d", prefix, ++n) } { print >file }' "$work/page"
    for file in "$work/blocks/$stage-${#typed[@]}-"*; do typed+=("$file"); done
}

# The shell reads a block as a whole, as from a terminal that pastes it; its commands have the terminal as their input.
terminal() {
    local keys
    mkfifo "$work/$1.keys" "$work/$1.blocks"
    exec {keys}<>"$work/$1.keys"
    # shellcheck disable=SC2016 # its own variables
    env --default-signal WORK="$work" NAME="$1" script --quiet --flush --command "bash --norc -c '"'
        echo $$ >"$WORK/$NAME.pid"
        exec 9<>"$WORK/$NAME.blocks"
        set -meuo pipefail
        while read -r -u 9 block; do
            . "$block"
            echo "$block" >>"$WORK/$NAME.done"
        done'"'" /dev/null <&"$keys" >"$work/$1.screen" 2>&1 &
    shell[$1]=$!
    await "the terminal $1" test -s "$work/$1.pid"
}
type_file() { # NAME FILE
    local place
    place=$(sed -n '1s/^# //p' "$2")
    [ -z "$place" ] || say "$place in the terminal $1"
    began[$1]=$(stat -c %s "$work/$1.screen")
    echo "$2" >"$work/$1.blocks"
    began[$1.block]=$2
}
type_next() {
    [ $at -lt ${#typed[@]} ] || die "there are only $at blocks"
    type_file "$1" "${typed[at]}"
    at=$((at + 1))
}
finished() {
    local until=$((SECONDS + BLOCK_S)) file=${began[$1.block]}
    until grep -qxF "$file" "$work/$1.done" 2>/dev/null; do
        kill -0 "${shell[$1]}" 2>/dev/null || die "a command of this block failed: $(cat "$file")"
        [ $SECONDS -lt $until ] || die "this block did not end in $BLOCK_S s: $(cat "$file")"
        sleep 0.2
    done
}
later() { typed=("${typed[@]:0:at}" "${typed[@]:at+$1}" "${typed[@]:at:$1}"); }
run_next() { type_next "$1" && finished "$1"; }
tell() {
    local file
    file=$(mktemp "$work/told-XXXXXX")
    echo "$2" >"$file"
    type_file "$1" "$file"
    finished "$1"
}
screen() { tail -c "+$((${began[$1]} + 1))" "$work/$1.screen" | tr -d '\r'; }
shows() { screen "$1" | grep -E -e "$2" >/dev/null; } # reads all of it
shows_or_ended() { shows "$1" "$2" || ! kill -0 "${shell[$1]}"; }
shown() {
    await "the terminal $1 shows $2" shows_or_ended "$1" "$2"
    shows "$1" "$2" || die "the terminal $1 ended without $2"
}
answer() {
    shown "$1" "$2"
    echo "$3" >"$work/$1.keys"
}
# A program that ends by the signal takes its shell along, one that handles it does not.
interrupted() { grep -qxF "${began[$1.block]}" "$work/$1.done" 2>/dev/null || ! kill -0 "${shell[$1]}"; }
interrupt() {
    printf '\003' >"$work/$1.keys"
    await "the end of $(cat "${began[$1.block]}")" interrupted "$1"
    close "$1"
}
