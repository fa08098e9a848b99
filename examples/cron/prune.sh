#!/bin/sh
# Stands for the real work: it removes everything in the folder `old`.
set -eu
rm -f old/*
echo "pruned" >> pruned.txt
