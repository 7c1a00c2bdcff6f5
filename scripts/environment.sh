# shellcheck shell=bash
# What this machine needs to run the program and its tests, and how to get it. Sourced by ./start and ./check.
#
# Everything from Python's package index goes into .venv, pinned and hashed by requirements/*.txt; what only the system
# can give comes from Debian's packages. All messages go to standard error, so that `./start watch ... --json` stays pure.

say() { printf '%s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

trap 'say "Stopped; the next time it goes on from here"; exit 130' INT

# Where the locale knows ASCII only, as LC_ALL=C does and one that is not installed here, Python before 3.13 does not start
# from a .venv whose path has other letters.
[ "$(locale charmap 2>/dev/null)" != ANSI_X3.4-1968 ] || export LC_ALL=C.UTF-8

has_command() { command -v "$1" >/dev/null 2>&1; }
has_module() { python3 -c "import $1" >/dev/null 2>&1; }
has_library() { python3 -c "import ctypes; ctypes.CDLL('$1')" >/dev/null 2>&1; }
has_header() { [ -e "/usr/include/$1" ]; }
has_postgresql() { has_command initdb || compgen -G "/usr/lib/postgresql/*/bin/initdb" >/dev/null; }

# Debian's packages that the program needs and this machine lacks: python3-venv for .venv, the others for OpenCV.
missing_to_run() {
    has_module ensurepip || echo python3-venv
    [ "$(uname -s)" = Linux ] || return 0
    has_library libGL.so.1 || echo libgl1
    has_library libgthread-2.0.so.0 || echo libglib2.0-0
}

# The same for the tests. A new tool is one more line here.
missing_to_test() {
    has_command git || echo git
    has_command pdftoppm || echo poppler-utils
    has_command shellcheck || echo shellcheck
    has_command chromium || echo chromium
    has_postgresql || echo postgresql
    has_command gcc || echo gcc
    has_header stdlib.h || echo libc6-dev
    has_command make || echo make
    has_command cppcheck || echo cppcheck
    has_command avr-gcc || echo gcc-avr
    [ -e /usr/lib/avr/include/avr/io.h ] || echo avr-libc
    has_command avrdude || echo avrdude
    has_header simavr/sim_avr.h || echo libsimavr-dev
    has_header libelf.h || echo libelf-dev
    [ -e /usr/share/arduino/hardware/arduino/avr/bootloaders/optiboot/optiboot_atmega328.hex ] || echo arduino-core-avr
}

require_python() {
    has_command python3 || die "Python 3.11 or newer is needed, and there is no python3 here: apt-get install python3"
    python3 - <<'END' || exit 1
import platform
import sys

if sys.version_info < (3, 11):
    sys.exit(f"Python 3.11 or newer is needed; python3 here is {platform.python_version()}.")
if sys.maxsize < 2**32:
    sys.exit("A 64-bit system is needed; this one is 32-bit. On a Raspberry Pi, install the 64-bit system.")
END
}

# install_packages PACKAGE...: as root, or by sudo where it asks nothing or somebody is there to answer; else fails.
install_packages() {
    has_command apt-get || return 1
    local as_root=(env)
    if [ "$(id -u)" -ne 0 ]; then
        has_command sudo || return 1
        sudo -n true 2>/dev/null || [ -t 0 ] || return 1
        as_root=(sudo env)
    fi
    say "Installing Debian's $*"
    as_root+=(DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0)
    quietly "${as_root[@]}" update && quietly "${as_root[@]}" install --yes --no-install-recommends "$@"
}

# quietly COMMAND...: its output is shown only if it fails.
quietly() {
    local output
    output=$("$@" 2>&1 </dev/null) || { say "$output"; return 1; }
}

# have_packages PACKAGE...: true when all are there, or could be installed; otherwise says how in one line.
have_packages() {
    [ $# -gt 0 ] || return 0
    install_packages "$@" || { say "Missing system packages. Ask the administrator for: apt-get install $*"; return 1; }
}

# make_environment DIRECTORY NAME: DIRECTORY/.venv holds the packages of requirements/NAME.txt and the project itself,
# editable. Does nothing if that is so already; a half-made or foreign .venv is made anew.
make_environment() {
    local root=$1 name=$2 python=$1/.venv/bin/python stamp=$1/.venv/ready-for-$2 wanted
    wanted="$root $(python3 --version) $(cat "$root/requirements/$name.txt" "$root/pyproject.toml" | cksum)"
    if [ -x "$python" ] && [ "$(cat "$stamp" 2>/dev/null)" = "$wanted" ]; then return; fi

    say "Setting up $root/.venv; this happens once and takes a minute or two"
    "$python" -m pip --version >/dev/null 2>&1 || quietly python3 -m venv --clear "$root/.venv" ||
        die "Python could not make $root/.venv: see above; is the folder writable?"
    rm -f "$stamp"
    install_python_packages "$root" "$name" || die "The Python packages could not be installed: see above; is there a network, and room on the disk?"
    printf '%s\n' "$wanted" >"$stamp"
}

install_python_packages() {
    local root=$1 name=$2 python=$1/.venv/bin/python
    install_without_resolving "$python" --require-hashes --only-binary :all: --requirement "$root/requirements/$name.txt" &&
        install_without_resolving "$python" --no-build-isolation --no-index --editable "$root"
}

# install_without_resolving PYTHON OPTION...: what is named and nothing else. The lists are whole, and where one package asks
# for another with an extra, an older pip would take its newest version instead of the one that is listed, and refuse it.
install_without_resolving() {
    local python=$1
    shift
    quietly "$python" -m pip --quiet --disable-pip-version-check install --root-user-action ignore --no-deps "$@"
}
