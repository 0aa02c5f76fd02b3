#!/bin/sh
# Starts a broker: kafka-server-start.sh [-daemon] server.properties [--override property=value]*
here=$(dirname "$(readlink -f "$0")")
daemon=
if [ "$1" = -daemon ]; then
  daemon=1
  shift
fi
if [ $# -lt 1 ]; then
  echo "USAGE: $0 [-daemon] server.properties [--override property=value]*" >&2
  exit 1
fi
[ "$1" != --version ] || exec "$here/odradek" --version
[ -n "$daemon" ] || exec "$here/odradek" start "$@"
logs=${LOG_DIR:-$here/../logs}
mkdir -p "$logs" || exit 1
nohup "$here/odradek" start "$@" > "$logs/kafkaServer.out" 2>&1 < /dev/null &
