#!/bin/sh
# Deploys to a stage, if somebody says yes.
set -u
stage=${1:?usage: ./release.sh STAGE}

sayso ask deploy --note "release to $stage" --timeout "${PATIENCE:-10m}" -- ./deploy.sh "$stage"
status=$?

case $status in
    0) echo "release: $stage is deployed" ;;
    10) echo "release: rejected, for the reason above" ;;
    11) echo "release: nobody answered, so nothing was deployed" ;;
    12) echo "release: this may not be asked for" ;;
    13) echo "release: nobody could be asked, so nothing was deployed" ;;
    14) echo "release: withdrawn" ;;
    *) echo "release: deploy.sh ended with $status" ;;
esac
exit $status
