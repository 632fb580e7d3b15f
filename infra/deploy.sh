#!/bin/sh
# Deploys each row of infra/functions.yaml to Cloud Run, and for each row with a cron a job of Cloud Scheduler.
# Use: infra/deploy.sh [--dry-run]      --dry-run prints the commands, runs none, and shows no token
#
# It reads from the environment:
#   HABILIS_DEPLOY_PROJECT   the cloud project
#   HABILIS_DEPLOY_REGION    where, as europe-west1
#   HABILIS_DEPLOY_IMAGE     what the image is called in a registry that the project reads
#   HABILIS_DEPLOY_VOLUME    an NFS share, server:/path, for all that is never committed; without it a trial only
#   HABILIS_SCHEDULER_TOKEN  a token of the role scheduler, whose entry is in the secret habilis-tokens
#   HABILIS_PUBLIC_URL, HABILIS_RELAY_URL, HABILIS_PROVIDERS, HABILIS_REMOTE_PRIVATE   settings, see docs/http.md
#   HABILIS_DEPLOY_PROVIDER_SECRETS   for the broker, as GOOGLE_CLIENT_SECRET=name-in-secret-manager:latest,…
# and takes the settings HABILIS_TOKENS and HABILIS_REMOTE, and with a relay HABILIS_RELAY_TOKEN, from the secrets
# habilis-tokens, habilis-remote and habilis-relay-token of the project's Secret Manager.
set -eu
cd "$(dirname "$0")/.."
dry=
case ${1:-} in
'') : "${HABILIS_SCHEDULER_TOKEN:?}" ;;
--dry-run) dry=yes ;;
*) sed -n 's/^# //; 3p' infra/deploy.sh >&2 && exit 2 ;;
esac
: "${HABILIS_DEPLOY_PROJECT:?}" "${HABILIS_DEPLOY_REGION:?}" "${HABILIS_DEPLOY_IMAGE:?}" "${HABILIS_PUBLIC_URL:?}"
home=/srv/habilis/home
headers=$(mktemp) # a token on a command line could be read by anybody on this machine
trap 'rm -f "$headers"' EXIT
printf '%s: {"Content-Type": "application/json", "Authorization": "Bearer %s"}\n' \
    --headers "${HABILIS_SCHEDULER_TOKEN:-}" >"$headers"

run() {
    line=
    for word; do
        case $word in
        *[!A-Za-z0-9_./:=,-]*) line="$line '$word'" ;;
        *) line="$line $word" ;;
        esac
    done
    echo "$line" | cut -c2-
    [ "$dry" ] || "$@" </dev/null
}

rows() {
    "${PYTHON:-.venv/bin/python}" - <<'PYTHON'
import json, yaml
for row in yaml.safe_load(open("infra/functions.yaml", encoding="utf-8"))["functions"]:
    cron, zone, body = row.get("cron", ""), row.get("zone", "UTC"), json.dumps(row.get("body", {}))
    print(row["name"], row["routes"][0], row["timeout_s"], row["memory_mb"], cron, zone, body, sep="|")
PYTHON
}

secrets=HABILIS_TOKENS=habilis-tokens:latest,HABILIS_REMOTE=habilis-remote:latest
settings="HABILIS_HOME=$home|HABILIS_PUBLIC_URL=$HABILIS_PUBLIC_URL"
[ -z "${HABILIS_REMOTE_PRIVATE:-}" ] || settings="$settings|HABILIS_REMOTE_PRIVATE=$HABILIS_REMOTE_PRIVATE"
[ -z "${HABILIS_PROVIDERS:-}" ] || settings="$settings|HABILIS_PROVIDERS=$HABILIS_PROVIDERS"
if [ -n "${HABILIS_RELAY_URL:-}" ]; then
    settings="$settings|HABILIS_RELAY_URL=$HABILIS_RELAY_URL"
    secrets="$secrets,HABILIS_RELAY_TOKEN=habilis-relay-token:latest"
fi

run docker build --file infra/Dockerfile --tag "$HABILIS_DEPLOY_IMAGE" .
run docker push "$HABILIS_DEPLOY_IMAGE"
table=$(rows)
echo "$table" | while IFS='|' read -r name route timeout_s memory_mb cron zone body; do
    service=habilis-$(echo "$name" | tr _ -)
    set -- --project "$HABILIS_DEPLOY_PROJECT" --quiet
    if [ -n "${HABILIS_DEPLOY_VOLUME:-}" ]; then
        volume="--execution-environment gen2 --add-volume-mount volume=private,mount-path=$home"
        volume="$volume --add-volume name=private,type=nfs,location=$HABILIS_DEPLOY_VOLUME"
    fi
    own_secrets=$secrets
    if [ "$name" = broker ] && [ -n "${HABILIS_DEPLOY_PROVIDER_SECRETS:-}" ]; then
        own_secrets=$secrets,$HABILIS_DEPLOY_PROVIDER_SECRETS
    fi
    # shellcheck disable=SC2086 # several words
    run gcloud run deploy "$service" "$@" --region "$HABILIS_DEPLOY_REGION" --image "$HABILIS_DEPLOY_IMAGE" \
        --allow-unauthenticated --timeout "$timeout_s" --memory "${memory_mb}Mi" ${volume:-} --set-secrets "$own_secrets" \
        --set-env-vars "^|^FUNCTION_SOURCE=functions/$name.py|FUNCTION_TARGET=$name|$settings"
    [ -n "$cron" ] || continue
    [ "$dry" ] || gcloud scheduler jobs delete "$service" "$@" --location "$HABILIS_DEPLOY_REGION" 2>/dev/null || true
    run gcloud scheduler jobs create http "$service" "$@" --location "$HABILIS_DEPLOY_REGION" \
        --schedule "$cron" --time-zone "$zone" --uri "$HABILIS_PUBLIC_URL$route" --http-method POST \
        --message-body "$body" --attempt-deadline "${timeout_s}s" --flags-file "$headers"
done
