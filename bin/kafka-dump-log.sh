#!/bin/sh
# What stands in the files of a log: kafka-dump-log.sh --files FILE[,FILE]*
exec "$(dirname "$(readlink -f "$0")")/odradek" dump-log "$@"
