#!/bin/sh
# Stands for a real deploy.
set -eu
echo "deploying $1"
echo "$1" >> deployed.txt
