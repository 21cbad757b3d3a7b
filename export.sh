#!/usr/bin/env bash
# Writes into export/<phase>/ what an organiser needs on grand-challenge.org:
#
#   evaluation-<phase>.tar.gz     the image to upload
#   ground-truth-<phase>.tar.gz   its reference, sealed alike, to upload beside the image or instead of the one in it
#   settings.json                 the phase's settings on the platform
#   form.json                     what participants check their submissions with
#   format.md                     the format of a submission in words, for the challenge's page
#   sbom.json                     what the image is made of: every package with its version (CycloneDX 1.5)
#   provenance.json               what it was built of: base image by digest, seal, commit, layers (in-toto, SLSA 1)
#
#   ./export.sh PHASE [arguments for docker build…]
#   ./export.sh FOLDER
#
# For a phase folder elsewhere (a path with a slash), `evaluation export` writes the first five into FOLDER/export/.
#
# The image is built first; what has not changed since the last build is reused as it is.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/scripts/environment.sh"

[[ $# -ge 1 ]] || fail "which phase? Usage: ./export.sh PHASE [arguments for docker build…]"
phase=$1
if is_phase_folder "$phase"; then
  ./build.sh --base --quiet >/dev/null
  local_environment requirements.txt
  exec .venv/bin/python -m evaluation export "$(absolute "$phase")"
fi
./build.sh "$@"

# Level 9 takes three times as long as level 6 for 1 MB in 176. What pigz writes does not depend on the processors.
compress=(gzip -6n)
command -v pigz >/dev/null && compress=(pigz -6n)

folder=export/$phase
mkdir -p "$folder"
trap 'rm -f "$folder"/*.partial' EXIT

# in_image [OPTIONS…] ARGUMENTS…: runs the phase's image without network or mounts.
in_image() { docker run --rm --network none --read-only --tmpfs /tmp:mode=1777 "$@"; }

# write FILE COMMAND…: writes what a command prints, a failed one leaving the last file as it was.
write() {
  local file=$folder/$1
  shift
  say "writing $file"
  if ! "$@" >"$file.partial"; then
    fail "$file could not be written; free on this disk: $(df -Ph export | awk 'NR == 2 {print $4}')"
  fi
  mv "$file.partial" "$file"
}

# with its tag, as without one every tag of that name would go into the file
save_image() { docker save "evaluation-$phase:latest" | "${compress[@]}"; }

# Taken out of the image, so that both have the same seal. From one build to the next only the seal differs.
# shellcheck disable=SC2016 # expanded in the container
save_reference() {
  in_image --entrypoint sh "evaluation-$phase" -c \
    'cd ground-truth && exec tar --create --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner --format=gnu -- *' \
    | "${compress[@]}"
}

write_sbom() { in_image --interactive --entrypoint python "evaluation-$phase" - <scripts/sbom.py; }

# The engine describes the image, and the image's own Python writes the statement about it.
write_provenance() {
  local commit description
  commit=$(git rev-parse --verify --quiet HEAD 2>/dev/null) || commit=
  description=$(docker image inspect "evaluation-$phase") || return
  in_image --interactive --env SOURCE_COMMIT="$commit" --entrypoint python "evaluation-$phase" \
    -c "$(<scripts/provenance.py)" <<<"$description"
}

write settings.json organise "evaluation-$phase" -- settings ground-truth
write form.json in_image "evaluation-$phase" form ground-truth
write format.md in_image "evaluation-$phase" form ground-truth --words
write sbom.json write_sbom
write provenance.json write_provenance
write "ground-truth-$phase.tar.gz" save_reference
write "evaluation-$phase.tar.gz" save_image
for file in "$folder/ground-truth-$phase.tar.gz" "$folder/evaluation-$phase.tar.gz"; do
  echo "$file: $(($(wc -c <"$file") / 1000000)) MB"
done

cat <<TEXT

With the files in $folder/, on the phase's pages on grand-challenge.org, as an administrator of the challenge:
  1. Evaluation methods: add evaluation-$phase.tar.gz and wait until it is active.
  2. Ground truths, only where labels are to change without a new image: add ground-truth-$phase.tar.gz. It wins over
     the image's. Both are activated one by one: "source" and "manifest" in metrics.json say which was used.
  3. Phase settings, scoring: enter what settings.json holds, field by field.
  4. Submission instructions: paste format.md, and link form.json.
The platform rejects a zip with a password or with absolute paths with "An unexpected error occurred" before the
container starts. Tell participants, since this evaluation cannot.
TEXT
