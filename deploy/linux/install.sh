#!/bin/sh
# Installs Sayso on a Linux host with systemd, or takes it away again.
#
#   sudo deploy/linux/install.sh [--wheel FILE] [--approver PRINCIPAL]... [--requester PRINCIPAL]... [--prefix FOLDER]
#   sudo deploy/linux/install.sh --uninstall [--purge] [--prefix FOLDER]
#
# PYTHON=/usr/bin/python3.11 in front of it names another Python; the user `sayso` must be able to run it.
# It makes the user `sayso`, a virtual environment in /usr/local/lib/sayso, the folders /etc/sayso, /var/lib/sayso,
# /var/lib/sayso-mark and /srv/sayso, the unit, and a first configuration. It changes no configuration that is there.
# --uninstall removes programs, unit and user, and keeps configuration and record; --purge removes those too.
# --prefix installs below another root folder and leaves systemd alone: for images, and for trying it out.
set -eu
# With CDPATH, `cd` may go to another folder than the one that it is given.
unset CDPATH

here=$(cd "$(dirname "$0")/../.." && pwd)
prefix=
wheel=
approvers=
requesters=
uninstall=false
purge=false

usage() {
    sed -n '2,13s/^# \{0,1\}//p' "$0"
    exit "$1"
}

while [ $# -gt 0 ]; do
    case $1 in
        --wheel) wheel=${2:?--wheel names a file}; shift ;;
        --approver) approvers="$approvers --approver ${2:?--approver names a principal}"; shift ;;
        --requester) requesters="$requesters --requester ${2:?--requester names a principal}"; shift ;;
        --prefix)
            # The programs name their Python by its path, in a line that can't hold every character.
            case ${2:?--prefix names a folder} in
                *[!A-Za-z0-9/._-]* | [!/]*)
                    echo "install.sh: --prefix takes an absolute path of letters, digits and / . _ -. Nothing was changed." >&2
                    exit 2
                    ;;
            esac
            prefix=$(cd "$2" && pwd)
            shift
            ;;
        --uninstall) uninstall=true ;;
        --purge) purge=true ;;
        -h | --help) usage 0 ;;
        *) echo "install.sh: $1 is no option" >&2; usage 2 ;;
    esac
    shift
done

lib=$prefix/usr/local/lib/sayso
link=$prefix/usr/local/bin/sayso
unit=$prefix/etc/systemd/system/sayso.service
python=${PYTHON:-python3}
etc=$prefix/etc/sayso

[ "$(id -u)" -eq 0 ] || { echo "install.sh: run it as root, such as with sudo" >&2; exit 1; }

# systemd runs on this host, and we install for this host.
managed() { [ -z "$prefix" ] && [ -d /run/systemd/system ]; }

remove() {
    if managed && [ -e "$unit" ]; then
        systemctl disable --now sayso.service || true
    fi
    rm -rf "$lib"
    rm -f "$unit" "$link"
    if managed; then
        systemctl daemon-reload
    fi
    if $purge; then
        rm -rf "$etc" "$prefix/var/lib/sayso" "$prefix/var/lib/sayso-mark" "$prefix/srv/sayso"
    fi
    if [ -z "$prefix" ] && id sayso >/dev/null 2>&1; then
        userdel sayso
    fi
    if $purge; then echo "Sayso is removed, with its configuration and its record."; else
        echo "Sayso is removed. Its configuration and record are kept: $etc, $prefix/var/lib/sayso, $prefix/var/lib/sayso-mark, $prefix/srv/sayso"
    fi
}

if $uninstall; then
    remove
    exit 0
fi

"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
    echo "install.sh: Sayso needs Python 3.11 or later, and $python is $("$python" --version). Nothing was changed." >&2
    exit 1
}

# A Python in the home folder of root (pyenv, uv) runs here and not as the user of the service. So another user tries it.
other='import os, sys; os.setgroups([]); os.setgid(65534); os.setuid(65534)
os.execv(os.path.realpath(sys.executable), ["python3", "-I", "-c", "import sqlite3, ssl"])'
"$python" -c "$other" 2>/dev/null || {
    found=$("$python" -c 'import os, sys; print(os.path.realpath(sys.executable))')
    echo "install.sh: other users can't run $found, so the service couldn't. Nothing was changed." >&2
    echo "Name a Python of the system: sudo PYTHON=/usr/bin/python3 $0 ..." >&2
    exit 1
}

if [ -z "$prefix" ] && ! id sayso >/dev/null 2>&1; then
    useradd --system --home-dir /var/lib/sayso --no-create-home --shell /usr/sbin/nologin sayso
fi

# The new environment takes the old one's place only when it is whole.
mkdir -p "$prefix/usr/local/lib" "$prefix/usr/local/bin" "$prefix/etc/systemd/system"
new=$lib.new
rm -rf "$new"
trap 'rm -rf "$new"' EXIT
PYTHON=$python "$here/scripts/venv" "$new" "$here/deploy/docker/requirements.txt" --no-deps "${wheel:-$here}"
cp -r "$here/docs" "$here/deploy" "$new/"
rm -rf "$lib"
mv "$new" "$lib"
trap - EXIT
# The programs of an environment name its Python by its path, which has changed.
for program in "$lib"/bin/*; do
    if [ -f "$program" ] && head -c 2 "$program" | grep -q '#!'; then
        sed -i "1s|$new|${lib#"$prefix"}|" "$program"
    fi
done
ln -sf "${lib#"$prefix"}/bin/sayso" "$link"

install -d -m 0755 "$etc"
# Only root changes what lies here. The service's group reads it, and so does `sayso doctor` as that user.
install -d -m 0750 "$etc/credentials"
if [ ! -e "$etc/sayso.toml" ]; then
    # What it says to do next isn't for root: `sayso run` as root would make files that the service can't use.
    # shellcheck disable=SC2086 # Options without blanks.
    "$lib/bin/python" -I -c 'from bot.cli.main import main; main()' init --file "$etc/sayso.toml" --state /var/lib/sayso --workspace /srv/sayso \
        $approvers $requesters >/dev/null
    # Commands that people type must find the same socket and the same mark as the unit.
    sed -i '/^state = /a runtime = "/run/sayso"\nmark = "/var/lib/sayso-mark/mark"' "$etc/sayso.toml"
    chmod 0644 "$etc/sayso.toml"
fi
install -m 0644 "$here/deploy/systemd/sayso.service" "$unit"

if [ -z "$prefix" ]; then
    chgrp sayso /etc/sayso/credentials
    install -d -o sayso -g sayso -m 0755 /srv/sayso
fi
if managed; then
    systemctl daemon-reload
    systemctl enable sayso.service
    echo "Installed. Next: look through $etc/sayso.toml, then: systemctl start sayso && sudo sayso doctor"
else
    echo "Installed below ${prefix:-/}. Nothing was started."
fi
