#!/bin/sh
# Search for inputs that break a promise: search.sh TARGETS_FOLDER SECONDS. A line every ten seconds says how far it is.
# What is new is kept in TARGETS_FOLDER/grown; an input that breaks a promise is told in words, and the search ends.
targets=$1
seconds=$2
here=$(dirname "$0")
longest=240
for share in frames:1 settings:1 stream:4; do
    target=${share%:*}
    log=$targets/$target.log
    mkdir -p "$targets/grown/$target"
    echo "$target, $((seconds * ${share#*:} / 6)) s:"
    "$targets/$target" -max_total_time=$((seconds * ${share#*:} / 6)) -max_len=$longest \
        -dict="$here/$target.dict" -artifact_prefix="$targets/broken-$target-" -print_final_stats=1 \
        "$targets/grown/$target" "$here/corpus/$target" "$here/regressions/$target" 2>"$log" &
    fuzzer=$!
    trap 'kill $fuzzer; exit 130' INT TERM
    while kill -0 $fuzzer 2>/dev/null; do
        sleep 10
        grep '^#' "$log" | tail -n 1
    done
    if ! wait $fuzzer; then
        input=$(sed -n 's/.*Test unit written to //p' "$log")
        echo "broken by $input:"
        sed -n '/ERROR: AddressSanitizer/,/^$/p; /runtime error/p' "$log"
        "$targets/$target" --tell "$input" 2>&1 # the sanitizers speak there again
        exit 1
    fi
    grep '^stat::' "$log"
done
