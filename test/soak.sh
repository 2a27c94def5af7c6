#!/bin/sh
# Runs the whole suite again and again and says what failed, hung or was left running. After `npm run build`:
#
#   test/soak.sh [RUNS] [BUSY LOOPS BESIDE IT]
runs=${1:-10}
busy=${2:-0}
log=$(mktemp)
loops=
trap 'kill $loops 2>/dev/null; rm -f "$log"' EXIT
trap 'exit 130' INT TERM
while [ "$busy" -gt 0 ]; do
  node -e 'for (;;);' &
  loops="$loops $!"
  busy=$((busy - 1))
done
status=0
for run in $(seq "$runs"); do
  start=$(date +%s)
  node dist/test/run.js >"$log" 2>&1
  code=$?
  echo "run $run: exit code $code, $(sed -n 's/^ℹ fail //p' "$log") failures, $(($(date +%s) - start)) s"
  [ "$code" -eq 0 ] && continue
  status=1
  sed -n '/^✖ failing tests:/,$p; /^left running/p' "$log"
done
exit "$status"
