#!/bin/sh
# Starts a broker: kafka-server-start.sh [-daemon] server.properties [--override property=value]*
here=$(dirname "$(readlink -f "$0")")
if [ $# -lt 1 ]; then
  echo "USAGE: $0 [-daemon] server.properties [--override property=value]*" >&2
  exit 1
fi
[ "$1" = -daemon ] || exec "$here/odradek" start "$@"
shift
mkdir -p "${LOG_DIR:-$here/../logs}"
nohup "$here/odradek" start "$@" > "${LOG_DIR:-$here/../logs}/kafkaServer.out" 2>&1 < /dev/null &
