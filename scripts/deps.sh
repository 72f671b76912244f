#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing, and touches no network when nothing is.
#   scripts/deps.sh GROUP...   system packages of these groups (scripts/packages.txt), and the Python tools with group "test"
#   source scripts/deps.sh     defines deps_system, deps_python, deps_ansible, HCPNET_VENV and HCPNET_ANSIBLE
# Exit status 1: something is missing and cannot be installed here; its name and purpose are printed.

ANSIBLE_RELEASE=12.3.0  # the release of all collections together
DEPS_FOLDER=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# An environment is named after what it holds, so that a changed list or interpreter makes a new one.
deps_environment() {
  local hash
  hash=$({ cat "$DEPS_FOLDER/$2"; python3 -c 'import sys; print(sys.version, sys.base_prefix)' 2>/dev/null; } | sha256sum | cut -c1-16)
  echo "${XDG_CACHE_HOME:-$HOME/.cache}/hcpnet/$1-$hash"
}
HCPNET_VENV=$(deps_environment python requirements.txt)
# Apart from the other tools: what Ansible needs is much, and nobody else needs it.
HCPNET_ANSIBLE=$(deps_environment ansible ansible-requirements.txt)

# Prints "package<TAB>purpose" for each package of the given groups that is not installed.
deps_missing() {
  local group package purpose
  while read -r group package purpose; do
    [[ " $* " == *" $group "* ]] || continue
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || printf '%s\t%s\n' "$package" "$purpose"
  done <"$DEPS_FOLDER/packages.txt" | sort -u -k1,1
}

deps_system() {
  if ! command -v dpkg-query >/dev/null; then
    echo "deps: no dpkg here: this system is not Debian; going on with what it has (list: scripts/packages.txt)" >&2
    return 0
  fi
  local missing
  missing=$(deps_missing "$@")
  [[ -n $missing ]] || return 0
  if ((EUID != 0)); then
    echo "deps: not root, so these packages cannot be installed:" >&2
    printf '  %s\n' "${missing//$'\n'/$'\n'  }" >&2
    echo "deps: as root: apt-get install --no-install-recommends $(cut -f1 <<<"$missing" | tr '\n' ' ')" >&2
    return 1
  fi
  local -a packages
  mapfile -t packages < <(cut -f1 <<<"$missing")
  echo "deps: installing ${packages[*]}"
  apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "${packages[@]}"
}

deps_python() {
  [[ -e $HCPNET_VENV/complete ]] && return 0
  rm -rf "$HCPNET_VENV"
  echo "deps: installing the Python tools of scripts/requirements.txt into $HCPNET_VENV"
  python3 -m venv "$HCPNET_VENV" && "$HCPNET_VENV/bin/pip" -q install -r "$DEPS_FOLDER/requirements.txt" && touch "$HCPNET_VENV/complete"
}

# ansible-test's sanity tests for the installed Python; it would look for every other one too.
ansible_sanity() {
  local version
  version=$("$HCPNET_ANSIBLE/bin/python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  HOME=$HCPNET_ANSIBLE/home "$HCPNET_ANSIBLE/bin/ansible-test" sanity --local --python "$version" --color no "$@"
}

# pip's variables as lines of its configuration file.
pip_settings() {
  local name value
  echo '[global]'
  while IFS='=' read -r name value; do
    name=${name#PIP_}
    name=${name,,}
    echo "${name//_/-} = $value"
  done < <(env | grep '^PIP_[A-Z_]*=' || true)
}

# The collections that ours needs lie in a wheel that has all of them.
deps_ansible() {
  [[ -e $HCPNET_ANSIBLE/complete ]] && return 0
  rm -rf "$HCPNET_ANSIBLE"
  echo "deps: installing Ansible of scripts/ansible-requirements.txt into $HCPNET_ANSIBLE"
  python3 -m venv "$HCPNET_ANSIBLE" && "$HCPNET_ANSIBLE/bin/pip" -q install -r "$DEPS_FOLDER/ansible-requirements.txt" || return 1
  "$HCPNET_ANSIBLE/bin/pip" -q download --no-deps -d "$HCPNET_ANSIBLE/wheels" "ansible==$ANSIBLE_RELEASE" || return 1
  python3 - "$HCPNET_ANSIBLE" <<'END' || return 1
import pathlib, sys, zipfile

folder = pathlib.Path(sys.argv[1])
(wheel,) = (folder / "wheels").glob("ansible-*.whl")
wanted = ("ansible_collections/kubernetes/core/", "ansible_collections/ansible/utils/")
with zipfile.ZipFile(wheel) as archive:
    archive.extractall(folder / "collections", [n for n in archive.namelist() if n.startswith(wanted)])
wheel.unlink()
END
  # ansible-test makes environments of its own for its tests, below its home folder; here, while there is a network. It
  # puts pip 24.2 in and passes no variables on to it, so what this machine's pip needs goes into a file.
  local home=$HCPNET_ANSIBLE/home
  mkdir -p "$home/.ansible/test/cache" "$home/.config/pip"
  cp "$DEPS_FOLDER/get_pip.py" "$home/.ansible/test/cache/get_pip_24_2.py"
  (umask 077 && pip_settings >"$home/.config/pip/pip.conf")
  (cd "$DEPS_FOLDER/../ansible/ansible_collections/hcpnet/hcpnet" && ansible_sanity --prime-venvs) || return 1
  touch "$HCPNET_ANSIBLE/complete"
}

if [[ ${BASH_SOURCE[0]} == "$0" ]]; then
  set -euo pipefail
  (($# > 0)) || set -- build demo test
  deps_system "$@"
  [[ " $* " != *" test "* ]] || { deps_python && deps_ansible; }
fi
