#!/usr/bin/env bash
# Runs submissions, one after the other in one container of a phase's image, as Grand Challenge runs them.
#
#   scripts/platform.sh IMAGE RESULTS SECONDS SUBMISSION…
#
# IMAGE       an image of ./build.sh
# RESULTS     an empty folder; RESULTS/1, RESULTS/2 and so on get status, stdout, stderr and output/ of each run, up to
#             the first that fails: the platform does not run the others
# SECONDS     the time limit of the phase
# SUBMISSION  a zip, a csv file, or a folder with what one of them holds; of an algorithm phase, what lies in /input
#
# GROUND_TRUTH=FILE gives the phase a reference of its own, a tarball of ./export.sh.
#
# What the platform does in the container, scripts/platform_runtime.py does in its place.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/environment.sh"

[[ $# -ge 4 ]] || fail "Usage: scripts/platform.sh IMAGE RESULTS SECONDS SUBMISSION…"
image=$1 results=$(absolute "$2") seconds=$3
shift 3
require_engine

# bind SOURCE TARGET [readonly]: an argument of --mount, whatever characters the paths hold.
bind() { printf 'type=bind,"source=%s","target=%s"%s' "${1//\"/\"\"}" "${2//\"/\"\"}" "${3:+,$3}"; }

mounts=(--mount "$(bind "$PWD/scripts/platform_runtime.py" /mnt/platform/runtime.py readonly)"
  --mount "$(bind "$results" /mnt/platform/results)")
number=0
for submission in "$@"; do
  submission=$(absolute "$submission")
  [[ -e $submission ]] || fail "there is no submission $submission"
  number=$((number + 1))
  mounts+=(--mount "$(bind "$submission" "/mnt/platform/submissions/$number/$(basename "$submission")" readonly)")
done
reference=()
if [[ -n ${GROUND_TRUTH:-} ]]; then
  mounts+=(--mount "$(bind "$(absolute "$GROUND_TRUTH")" /mnt/platform/ground-truth.tar.gz readonly)")
  reference=(--ground-truth /mnt/platform/ground-truth.tar.gz)
fi

config=$(docker image inspect --format '{{json .Config}}' "$image")

# A machine of 8 GB without a network. The runtime is root, as on the platform; what it starts has no capability.
memory_mb=8192
container=$(docker create --init --user 0 --network none --cpus 2 --memory "${memory_mb}m" --memory-swap "${memory_mb}m" \
  --pids-limit 128 --security-opt no-new-privileges --cap-drop ALL --cap-add CHOWN --cap-add DAC_OVERRIDE \
  --cap-add FOWNER --cap-add KILL --cap-add SETGID --cap-add SETUID \
  --env GRAND_CHALLENGE_COMPONENT_MAX_MEMORY_MB="$memory_mb" --env STATICX_PROG_PATH=/opt/sagemaker-shim \
  --env _PYI_ARCHIVE_FILE=/opt/sagemaker-shim "${mounts[@]}" --entrypoint python "$image" -I \
  /mnt/platform/runtime.py --config "$config" --seconds "$seconds" --memory-mb "$memory_mb" \
  "${reference[@]}" /mnt/platform/submissions /mnt/platform/results)
trap 'docker rm --force "$container" >/dev/null 2>&1' EXIT
docker start --attach "$container" || fail "the stand-in for the platform failed; see its message above"
