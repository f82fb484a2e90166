# shellcheck shell=bash
# Makes the virtual environments of the other scripts, inside the checkout.
# Everything it has to say goes to standard error.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)

say() { printf '%s\n' "$*" >&2; }

# The first interpreter that is new enough and can make virtual environments.
find_python() {
    local candidate
    for candidate in ${PYTHON:+"$PYTHON"} python3.12 python3.11 python3.10 python3 python; do
        if "$candidate" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then
            command -v "$candidate"
            return
        fi
        [ "$candidate" != "${PYTHON:-}" ] || break
    done
    say "No usable Python found${PYTHON:+ at $PYTHON}: 3.10 or newer, with its venv module, is needed."
    say "On Debian or Ubuntu: sudo apt install python3 python3-venv"
    return 1
}

# install VENV PRE REQUIREMENT...: with uv where it can be had, else with pip; PRE is "allow" or "disallow".
install() {
    local python=$1/bin/python pre=$2
    shift 2
    if [ -z "${NO_UV:-}" ] && "$python" -m pip install --quiet --disable-pip-version-check uv >&2; then
        say "  installing $* with uv"
        "$python" -m uv pip install --quiet --python "$python" --prerelease "$pre" "$@" >&2 && return
        say "  uv could not, trying pip"
    fi
    say "  installing $* with pip, which may take some minutes"
    [ "$pre" = disallow ] || set -- --pre "$@"
    "$python" -m pip install --quiet --disable-pip-version-check "$@" >&2
}

# environment NAME PRE REQUIREMENT...: the environment NAME with these requirements, made only where something is missing.
environment() (
    local venv=$root/$1 pre=$2 python made
    shift 2
    cd "$root" || exit 1
    if command -v flock >/dev/null; then
        exec 9>.venv.lock
        flock 9
    fi
    python=$(find_python) || exit 1
    # An environment names its interpreter and its own place; the stamp's other lines say what has been installed.
    made="$root $("$python" -VV | tr '\n' ' ') $(cat setup.py "${BASH_SOURCE[0]}" | cksum)"
    if [ "$(head -n 1 "$venv/stamp" 2>/dev/null)" != "$made" ] || ! "$venv/bin/python" -c '' 2>/dev/null; then
        say "Making $venv with $("$python" -V)"
        "$python" -m venv --clear "$venv" >&2 || exit 1
        printf '%s\n' "$made" >"$venv/stamp"
    fi
    grep -qxF -- "$*" "$venv/stamp" && exit 0
    if ! install "$venv" "$pre" "$@"; then
        say "That could not be installed: see the lines above. Is the package index within reach?"
        exit 1
    fi
    printf '%s\n' "$*" >>"$venv/stamp"
    say "  done"
)
