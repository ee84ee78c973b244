#!/usr/bin/env bash
# Tries the README's two commands as on a machine that has only its base system, python3, make and git: a fresh clone of
# HEAD, an empty home folder, and a PATH without Go, Java, Maven, nft, docker or a Toxiproxy server.
#   tools/fresh_machine.sh FOLDER [TARGET...]      FOLDER must not exist; targets default to `run test`
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
folder=${1:?usage: tools/fresh_machine.sh FOLDER [TARGET...]}
shift
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=(run test)
mkdir "$folder"
folder=$(cd "$folder" && pwd)
mkdir "$folder/home" "$folder/bin"

hidden='^(go|gofmt|java|javac|jar|jshell|keytool|mvn|nft|docker.*|toxiproxy.*|node|npm|npx|cargo|rustc|uv|chromium.*|pip.*|python.*)$'
for source in /usr/sbin /sbin /usr/bin /bin; do
  for program in "$source"/*; do
    name=$(basename "$program")
    [[ $name =~ $hidden ]] || ln -sf "$program" "$folder/bin/$name"
  done
done
python=$(python3 -c 'import sys; print(sys.executable)')
printf '#!/bin/sh\nexec "%s" "$@"\n' "$python" > "$folder/bin/python3"
chmod +x "$folder/bin/python3"

git clone -q "$here" "$folder/faultlab"
cd "$folder/faultlab"
keep=(LANG="${LANG:-C.UTF-8}" TERM="${TERM:-dumb}")
for name in $(compgen -e | grep -E '^(PIP_|SSL_CERT|REQUESTS_CA|GOPROXY|GOSUMDB|GONOSUM|GOFLAGS|HTTPS?_PROXY|https?_proxy|NO_PROXY|no_proxy)' || true); do
  keep+=("$name=${!name}")
done
for target in "${targets[@]}"; do
  echo "== make $target"
  began=$SECONDS
  code=0
  env -i HOME="$folder/home" PATH="$folder/bin" "${keep[@]}" make "$target" || code=$?
  echo "== make $target: exit $code after $((SECONDS - began)) s"
  [ $code -eq 0 ] || exit $code
done
