#!/bin/sh
# Sets up all that `make demo` needs, once: Debian packages, then the environment .venv. `setup.sh tests` adds the tools
# that only tests use. Run by make; a second run does nothing, because .venv/.ready (.venv/.ready-tests) is newer than
# this file and the pinned versions.
set -eu
cd "$(dirname "$0")"
PYTHON=${PYTHON:-python3}
APT_GET="env DEBIAN_FRONTEND=noninteractive apt-get"

fail() { printf '\nsetup: %s\n' "$1" >&2; exit 1; }

# Those of the packages named that this Debian machine lacks.
missing() {
    for package in "$@"; do
        dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || printf ' %s' "$package"
    done
}

# Installs the packages named. Prints why it cannot, and is then false.
install() {
    if [ "$(id -u)" = 0 ]; then
        sudo=""
    elif command -v sudo >/dev/null 2>&1; then
        sudo="sudo"
    else
        echo "there is no sudo here; run as root: apt-get install $*"
        return 1
    fi
    echo "setup: installing Debian packages: $*" >&2
    $sudo $APT_GET update -qq >&2 || { echo "apt-get update failed"; return 1; }
    $sudo $APT_GET install -y -qq --no-install-recommends "$@" >/dev/null || { echo "apt-get could not install them"; return 1; }
}

# Where they cannot be installed it is told once and not tried at every `make test`, which could ask for a password.
# What each is for: clang with its run-time library and llvm's tools fuzz the firmware and count what was reached;
# frama-c and cppcheck read it; the ARM compiler builds it for the second board; avrdude is what `rig flash` calls.
set_up_tests() {
    packages="clang libclang-rt-14-dev llvm-14 frama-c-base cppcheck gcc-arm-none-eabi avrdude"
    if command -v dpkg-query >/dev/null 2>&1; then
        lacking=$(missing $packages)
        # shellcheck disable=SC2086
        [ -z "$lacking" ] || why=$(install $lacking) || {
            printf 'setup: without%s (%s): the tests that need one of them are skipped and say so; ./setup.sh tests tries again\n' "$lacking" "$why" >&2
        }
    fi
    touch .venv/.ready-tests
}

if [ "${1:-}" = tests ]; then
    set_up_tests
    exit 0
fi

command -v "$PYTHON" >/dev/null 2>&1 || fail "no '$PYTHON' on this machine; install Python 3.11 or later, or name it: make demo PYTHON=/path/to/python3"
"$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || fail "'$PYTHON' is $("$PYTHON" --version 2>&1); Python 3.11 or later is needed (make demo PYTHON=/path/to/python3.11)"

# What each is for: the AVR tool chain builds the firmware; simavr (with libelf) is the chip it runs on in the twin;
# a C compiler binds the two; EGL with Mesa draws the twin's pictures without a screen; GL and glib are OpenCV's.
PACKAGES="gcc-avr avr-libc binutils-avr libsimavr-dev libelf-dev gcc libc6-dev libegl1 libgl1 libgl1-mesa-dri libglib2.0-0"
"$PYTHON" -c 'import ensurepip, venv' 2>/dev/null || PACKAGES="$PACKAGES python3-venv"

if command -v dpkg-query >/dev/null 2>&1; then
    lacking=$(missing $PACKAGES)
    # shellcheck disable=SC2086
    [ -z "$lacking" ] || why=$(install $lacking) || fail "these Debian packages are missing:$lacking; $why"
else
    for tool in avr-gcc cc make; do
        command -v "$tool" >/dev/null 2>&1 || fail "no '$tool', and this is no Debian where it could be installed; what is needed, by Debian's names: $PACKAGES"
    done
fi

echo "setup: making the environment .venv (a few minutes, once)"
[ -x .venv/bin/python ] || "$PYTHON" -m venv .venv || fail "could not make .venv with $PYTHON"
.venv/bin/python -m pip install --quiet --disable-pip-version-check --use-pep517 --constraint constraints.txt --editable '.[dev]' \
    || fail "pip could not install the Python packages of pyproject.toml (is there a connection?)"
touch .venv/.ready
echo "setup: done"
