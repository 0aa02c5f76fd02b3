#!/bin/sh
# Asks every broker that runs on this machine, from these sources or an installed package, to stop (SIGNAL, default TERM).
pids=$(ps ax -o pid=,args= | awk '/[n]ode .*(\/cli\/src\/main\.ts|\/odradek|\/bin\/odradek\.js) start/ { print $1 }')
if [ -z "$pids" ]; then
  echo "No kafka server to stop"
  exit 1
fi
# shellcheck disable=SC2086 # one argument for each process
kill -s "${SIGNAL:-TERM}" $pids
