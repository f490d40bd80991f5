#!/usr/bin/env bash
# `heddle run --live`: the page and the state of a run that goes on, on 127.0.0.1 alone. It changes no statistic and ends with the run.
set -euo pipefail
heddle=$HEDDLE_COMMAND
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() { echo "$1" >&2 && exit 1; }

# ask REQUEST-LINE [HOST]: prints the answer of the server at $port; fails without one
ask() {
    exec 9<>"/dev/tcp/127.0.0.1/$port" || return 1
    printf '%s HTTP/1.1\r\nHost: %s\r\n\r\n' "$1" "${2-127.0.0.1:$port}" >&9
    cat <&9
    exec 9>&-
}

# start OPTION...: starts a run that takes a while, and waits for its server. Sets pid and port.
start() {
    : >"$folder/err"
    "$heddle" run bfs --size medium --threads 1 --live "$@" >"$folder/out" 2>>"$folder/err" &
    pid=$!
    for ((i = 0; i < 2400; i++)); do
        port=$(sed -n 's|heddle: live at http://127.0.0.1:\([0-9]*\)/$|\1|p' "$folder/err")
        [[ -n $port ]] && return
        sleep 0.05
    done
    fail "no address on standard error: $(cat "$folder/err")"
}

# The state of a launch that runs.
start --json "$folder/live.json"
for ((i = 0; i < 400; i++)); do
    state=$(ask 'GET /state.json') || fail "the server is gone before the run has been seen"
    [[ $state == *'"state":"running"'* ]] && break
    sleep 0.02
done
[[ $state == 'HTTP/1.1 200 OK'* && $state == *'"kernel":"bfs"'* && $state == *'"sm_cycles":{"active":'* ]] || fail "no state: $state"
cycles=$(grep -o '"cycles":[0-9]*' <<<"$state" | head -1) && [[ ${cycles#*:} -gt 0 ]] || fail "no cycles: $state"
# The page, and what is refused. The program waits meanwhile, so that a loaded computer has time for this.
program=$(awk '{ print $1 }' "/proc/$pid/task/$pid/children")
kill -STOP "$program"
[[ $(ask 'GET /') == *'<title>Heddle, live</title>'* ]] || fail "no page"
[[ $(ask 'GET / ' "localhost:$port") == 'HTTP/1.1 200'* ]] || fail "localhost is refused"
[[ $(ask 'HEAD /') != *'<title>'* ]] || fail "HEAD has a body"
[[ $(ask 'GET /' 'example.com') == 'HTTP/1.1 403'* ]] || fail "another host's name is accepted"
[[ $(ask 'GET /../etc/passwd') == 'HTTP/1.1 404'* ]] || fail "another path is accepted"
[[ $(ask 'POST /') == 'HTTP/1.1 405'* ]] || fail "POST is accepted"
for address in $(hostname -I 2>/dev/null || true); do
    [[ $address == *:* || $address == 127.* ]] && continue
    ! (exec 8<>"/dev/tcp/$address/$port") 2>/dev/null || fail "the server listens on $address"
done
# A client that says nothing does not keep others waiting, nor the run from ending.
exec 7<>"/dev/tcp/127.0.0.1/$port"
[[ $(ask 'GET /state.json') == 'HTTP/1.1 200'* ]] || fail "a silent client blocks the others"
# A second server cannot have the port.
status=0
"$heddle" run vecadd --size small -q --live --live-port "$port" 2>"$folder/busy" || status=$?
[[ $status == 1 && $(cat "$folder/busy") == "heddle: --live: cannot serve on 127.0.0.1 port $port: Address already in use" ]] ||
    fail "a port that is taken: status $status, $(cat "$folder/busy")"
kill -CONT "$program"
wait "$pid" || fail "the run failed: $(cat "$folder/err")"
exec 7>&-
! (exec 8<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || fail "the server outlives the run"

# It changes no statistic.
"$heddle" run bfs --size medium --threads 1 -q --json "$folder/plain.json"
for name in live plain; do sed '/"host"/,/}/d' "$folder/$name.json" >"$folder/$name.statistics"; done
cmp "$folder/live.statistics" "$folder/plain.statistics" || fail "--live changes the statistics"

# With --live-keep the report stays until a signal, and the status is the run's.
start --live-keep
for ((i = 0; i < 4000; i++)); do
    grep -q 'until Ctrl-C' "$folder/err" && break
    sleep 0.05
done
[[ $(ask 'GET /state.json') == *'"state":"done","ended":[{"launch":1,'* ]] || fail "the state after the run: $(ask 'GET /state.json')"
ask 'GET /' | grep -q '<script id="data" type="application/json">' || fail "no report after the run"
grep -q 'limited by' "$folder/out" || fail "the table is not shown before the end"
kill -TERM "$pid"
wait "$pid" || fail "status $? after --live-keep"

# Wrong usage.
usage() {
    local status=0
    "$heddle" run vecadd --size small -q $1 2>"$folder/usage" || status=$?
    [[ $status == 2 && $(cat "$folder/usage") == "heddle: $2" ]] || fail "$1: status $status, $(cat "$folder/usage")"
}
usage '--functional --live' '--live applies to timed runs, not to --functional'
usage '--live-port 8080' '--live-port is about the page of --live'
usage '--live-keep' '--live-keep is about the page of --live'
