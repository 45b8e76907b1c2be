#!/usr/bin/env bash
# A pull worker in bash, curl and jq: serves the job class `shout` of the queue `shell`. See README.md.
set -euo pipefail

url=${SIDEJOB_URL:-http://127.0.0.1:8787}
key=${SIDEJOB_API_KEY:?}

ask() { # method, path, body
  curl --silent --show-error --fail-with-body --max-time 60 -X "$1" "$url$2" \
    -H "authorization: Bearer $key" -H 'content-type: application/json' --data "$3"
}

# Performs a run of the class: reads a snapshot and prints changes.
shout() {
  local text
  text=$(jq --raw-output '.job.args.text // error("args.text: expected a string, got nothing")' <<<"$1" 2>&1) || {
    jq --null-input --arg message "$text" '{ end: "failed", error: { message: $message } }'
    return
  }
  jq --null-input --arg result "${text^^}" '{ end: "completed", result: $result }'
}

ask PUT /v1/workers/shell/shout '{ "pull": true, "retry": { "max": 3 } }' >/dev/null
echo 'waiting for work'
while true; do
  # If there is no work, the response has no body.
  claimed=$(ask POST /v1/queues/shell/claim '{ "wait": "20s" }') || { sleep 1; continue; }
  while read -r snapshot; do
    token=$(jq --raw-output .run.token <<<"$snapshot")
    ask POST "/v1/runs/$token/commit" "$(shout "$snapshot")" >/dev/null || true
  done < <(jq --compact-output '.runs[]?' <<<"$claimed")
done
