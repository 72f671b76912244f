# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Named steps with time and result; sourced by scripts/test and scripts/soak.
# A step is a function; what it prints goes to build/log/STEP.log, and the end of that file to the terminal when it fails.
# A step that runs tests leaves build/log/STEP.xml (JUnit), from which the closing line is counted.

LOG_FOLDER=build/log
# Clang's run-time has no symbol reader of its own, and binutils are there anyway.
export ASAN_SYMBOLIZER_PATH=/usr/bin/addr2line ASAN_OPTIONS=allow_addr2line=1
STEP_NAMES=()
STEP_RESULTS=()
STEP_SECONDS=()
STEPS_FAILED=()

run_step() {
  local name=$1 start=$SECONDS result=ok
  local log=$LOG_FOLDER/$name.log
  mkdir -p "$LOG_FOLDER"
  rm -f "$LOG_FOLDER/$name.xml"
  printf '== %-12s ' "$name"
  # Not in an `if`: there bash ignores `set -e`, and a step would go on after its first error.
  set +e
  (set -euo pipefail && "step_${name//-/_}") >"$log" 2>&1
  local status=$?
  set -e
  if ((status != 0)); then
    result=FAILED
    STEPS_FAILED+=("$name")
  fi
  STEP_NAMES+=("$name")
  STEP_RESULTS+=("$result")
  STEP_SECONDS+=($((SECONDS - start)))
  printf '%-6s %5d s\n' "$result" $((SECONDS - start))
  if ((status != 0)); then
    echo "---- end of $log"
    tail -n "${HCPNET_LOG_LINES:-60}" "$log"
    echo "----"
  fi
}

# The table, the skipped tests with their reasons, and the closing line. Fails when anything failed.
report_steps() {
  local i total=0
  echo
  for i in "${!STEP_NAMES[@]}"; do
    printf '%-14s %-6s %5d s\n' "${STEP_NAMES[i]}" "${STEP_RESULTS[i]}" "${STEP_SECONDS[i]}"
    total=$((total + STEP_SECONDS[i]))
  done
  printf '%-14s %-6s %5d s\n\n' total '' "$total"
  local -a failed=()
  for i in "${STEPS_FAILED[@]}"; do failed+=(--failed "$i"); done
  python3 scripts/count_tests.py "${failed[@]}" "$LOG_FOLDER" "${STEP_NAMES[@]}"
}
