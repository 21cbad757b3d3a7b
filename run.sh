#!/usr/bin/env bash
# Evaluates the bundled submission of a phase and prints the main figures.
#
#   ./run.sh [PHASE] [OUTPUT_FOLDER]
#   ./run.sh --audience PHASE SUBMISSION [SECONDS]
#
# PHASE          a folder of ground-truth/, by default refuge-onsite; its submission is test/input/PHASE/
# OUTPUT_FOLDER  gets metrics.json and report.html, a page with figures of the submission; by default output/PHASE/.
#                The last line says where the page is. The local environment makes it, which gets the packages for it
#
# Runs in the container where a Docker engine answers, as the platform runs it (scripts/platform.sh); else in the local
# environment .venv. EVALUATION_ENGINE=docker or EVALUATION_ENGINE=local chooses.
#
# With --audience, what the participant, the public and the organiser would see on the platform (scripts/audience.sh).
set -euo pipefail
[[ ${1:-} != --audience ]] || exec "$(dirname "${BASH_SOURCE[0]}")/scripts/audience.sh" "${@:2}"
source "$(dirname "${BASH_SOURCE[0]}")/scripts/environment.sh"

[[ $# -le 2 ]] || fail "too many arguments. Usage: ./run.sh [PHASE] [OUTPUT_FOLDER]"
phase=${1:-refuge-onsite}
require_phase "$phase"

input=$PWD/test/input/$phase
[[ -d $input ]] || fail "there is no submission test/input/$phase/"

case ${EVALUATION_ENGINE:-} in
  docker) engine=docker && require_engine ;;
  local) engine=local ;;
  '') engine=$(engine_answers && echo docker || echo local) ;;
  *) fail "EVALUATION_ENGINE is '$EVALUATION_ENGINE'; expected docker or local" ;;
esac

output=$PWD/output/$phase
if [[ -n ${2:-} ]]; then
  output=$(absolute "$2")
fi
mkdir -p "$output"
rm -f "$output/metrics.json" "$output/report.html"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
chmod 0755 "$scratch"

evaluate_in_container() {
  say "Docker answers: evaluating in the container evaluation-$phase (the first build takes a minute)"
  build_to_run "$phase"
  mkdir -m 0777 "$scratch/results"
  scripts/platform.sh "evaluation-$phase:run" "$scratch/results" 3600 "$input"
  cat "$scratch/results/1/stdout"
  cat "$scratch/results/1/stderr" >&2
  [[ $(<"$scratch/results/1/status") == 0 ]] || exit 1
  cp "$scratch/results/1/output/metrics.json" "$output/metrics.json"
  docker run --rm --network none --read-only --tmpfs /tmp:mode=1777,size=1g \
    --mount "type=bind,source=$scratch/results/1/output,target=/output,readonly" \
    "evaluation-$phase:run" summary /output/metrics.json
}

evaluate_locally() {
  say "evaluating in the local environment .venv"
  local_environment requirements.txt
  seal_a_copy
  .venv/bin/python -m evaluation evaluate --input "$input" --ground-truth "$scratch/ground-truth" \
    --cases "$scratch/cases.json" --output "$output"
  .venv/bin/python -m evaluation summary "$output/metrics.json"
  cp "$output/metrics.json" "$scratch/metrics.json"
  results=(--results "$scratch")
}

# Only a sealed phase is scored against; the one in the repository stays as it is.
seal_a_copy() {
  [[ -d $scratch/ground-truth ]] || cp -R "ground-truth/$phase" "$scratch/ground-truth"
  .venv/bin/python -m evaluation seal "$scratch/ground-truth" >/dev/null
}

can_report() { .venv/bin/python -c 'import jinja2, pypdf, vl_convert' 2>/dev/null; }

prepare_report() {
  local_environment requirements.txt
  can_report && return
  say "installing the packages of reports into .venv"
  awk '/^[a-z]/ { wanted = /^(jinja2|markupsafe|pypdf|vl-convert-python)==/ } wanted' requirements-dev.txt >"$scratch/report.txt"
  .venv/bin/python -m pip install --quiet --quiet --disable-pip-version-check --no-compile --require-hashes \
    --requirement "$scratch/report.txt" && can_report
}

write_report() {
  if ! (prepare_report); then
    say "there is no report: its packages jinja2, pypdf and vl-convert-python could not be installed"
    return
  fi
  seal_a_copy
  .venv/bin/python -m evaluation report submission --ground-truth "$scratch/ground-truth" --input "$input" \
    ${results[@]+"${results[@]}"} --output "$output/report.html" >/dev/null
  say "wrote $output/report.html, which holds labels: open it in a browser"
}

results=()
case $engine in
  docker) evaluate_in_container ;;
  local) evaluate_locally ;;
esac
say "wrote $output/metrics.json"
write_report
