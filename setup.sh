#!/bin/sh
# Sets up all that `make demo` and `make test` need, once: Debian packages, then the environment .venv.
# Run by make; a second run does nothing, because .venv/.ready is newer than this file and the pinned versions.
set -eu
cd "$(dirname "$0")"
PYTHON=${PYTHON:-python3}

fail() { printf '\nsetup: %s\n' "$1" >&2; exit 1; }

command -v "$PYTHON" >/dev/null 2>&1 || fail "no '$PYTHON' on this machine; install Python 3.11 or later, or name it: make demo PYTHON=/path/to/python3"
"$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || fail "'$PYTHON' is $("$PYTHON" --version 2>&1); Python 3.11 or later is needed (make demo PYTHON=/path/to/python3.11)"

# What each is for: the AVR tool chain builds the firmware; simavr (with libelf) is the chip it runs on in the twin;
# a C compiler binds the two; EGL with Mesa draws the twin's pictures without a screen; GL and glib are OpenCV's.
PACKAGES="gcc-avr avr-libc binutils-avr libsimavr-dev libelf-dev gcc libc6-dev libegl1 libgl1 libgl1-mesa-dri libglib2.0-0"
"$PYTHON" -c 'import ensurepip, venv' 2>/dev/null || PACKAGES="$PACKAGES python3-venv"

if command -v dpkg-query >/dev/null 2>&1; then
    missing=""
    for package in $PACKAGES; do
        dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing="$missing $package"
    done
    if [ -n "$missing" ]; then
        if [ "$(id -u)" = 0 ]; then
            sudo=""
        elif command -v sudo >/dev/null 2>&1; then
            sudo="sudo"
        else
            fail "these Debian packages are missing and there is no sudo here; run as root: apt-get install$missing"
        fi
        echo "setup: installing Debian packages:$missing"
        $sudo env DEBIAN_FRONTEND=noninteractive apt-get update -qq || fail "apt-get update failed; without it these cannot be installed:$missing"
        # shellcheck disable=SC2086
        $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null \
            || fail "apt-get could not install:$missing"
    fi
else
    for tool in avr-gcc cc make; do
        command -v "$tool" >/dev/null 2>&1 || fail "no '$tool', and this is no Debian where it could be installed; what is needed, by Debian's names: $PACKAGES"
    done
fi

echo "setup: making the environment .venv (a few minutes, once)"
[ -x .venv/bin/python ] || "$PYTHON" -m venv .venv || fail "could not make .venv with $PYTHON"
.venv/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]' \
    || fail "pip could not install the Python packages of pyproject.toml (is there a connection?)"
touch .venv/.ready
echo "setup: done"
