#!/bin/sh
# Asks the brokers that run on this machine, from these sources or an installed package, to stop (SIGNAL, default TERM):
# kafka-server-stop.sh [--node-id=N] [--process-role=broker]
# All of them, or the one with that number, which its arguments or its properties file give. There are no separate controllers.
wanted=
for argument; do
  case $argument in
    --node-id=?*) wanted=${argument#*=} ;;
    --process-role=broker) ;;
    --process-role=controller)
      echo "No kafka server to stop"
      exit 1
      ;;
    *)
      echo "USAGE: $0 [--node-id=N] [--process-role=broker]" >&2
      exit 1
      ;;
  esac
done

# The number of the broker that was started with these arguments, by the process of this id.
number_of() {
  number=$(echo "$2" | sed -nE 's/.*--override[= ](node|broker)\.id=([0-9]+).*/\2/p')
  file=$(echo "$2" | sed -nE 's/.* start ([^- ][^ ]*).*/\1/p')
  case $file in
    '' | /*) ;;
    *) file=$(readlink "/proc/$1/cwd")/$file ;;
  esac
  if [ -z "$number" ] && [ -n "$file" ]; then
    number=$(sed -nE 's/^[[:space:]]*(node|broker)\.id[[:space:]]*[=:][[:space:]]*([0-9]+).*/\2/p' "$file" | tail -n 1)
  fi
  echo "${number:-0}"
}

pids=$(ps axww -o pid=,args= |
  grep -E '[n]ode .*(/cli/src/main\.ts|/odradek|/bin/odradek\.js) (start|cluster)( |$)' |
  while read -r pid arguments; do
    if [ -z "$wanted" ] || [ "$(number_of "$pid" "$arguments")" = "$wanted" ]; then echo "$pid"; fi
  done)
if [ -z "$pids" ]; then
  echo "No kafka server to stop"
  exit 1
fi
# shellcheck disable=SC2086 # one argument for each process
kill -s "${SIGNAL:-TERM}" $pids
