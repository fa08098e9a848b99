"""Names of programs that, by their manuals, run no other program and load no code.

Some of these programs run another program with certain arguments; ``running_arguments``, ``programs`` or ``wrappers``
lists these arguments. Programs whose purpose is to run other programs are in ``programs`` and ``wrappers``. All other
programs are unknown: they may do anything with their arguments.
"""

from hitl.policy.tables import names

_SHELL = names(
    ": true false test [ [[ cd pwd pushd popd dirs let type hash wait jobs fg bg kill umask ulimit times shift "
    "return exit "
    "break continue unset unsetenv unalias shopt history help caller logout disown suspend compopt getopts read "
    "mapfile "
    "readarray echo printf export declare typeset readonly local set alias trap bind complete compgen enable"
)
# The programs of coreutils, and similar programs.
_FILES = names(
    "arch b2sum base32 base64 basename basenc cat chcon chgrp chmod chown cksum comm cp csplit cut date dd df dir "
    "dircolors dirname du expand expr factor fmt fold groups head hostid hostname id install join link ln logname ls "
    "md5sum mkdir mkfifo mknod mktemp mv nl nproc numfmt od paste pathchk pinky pr printenv ptx readlink realpath rm "
    "rmdir seq sha1sum sha224sum sha256sum sha384sum sha512sum shred shuf sleep sort split stat stty sum sync tac tail "
    "tee touch tr truncate tsort tty uname unexpand uniq unlink uptime users vdir wc who whoami yes"
)
_TEXT = names(
    "grep egrep fgrep zgrep zegrep zfgrep zcat zcmp zdiff bzcat bzgrep xzcat xzgrep zstdcat diff cmp diff3 sdiff "
    "colordiff "
    "diffstat wdiff col colcrt colrm column rev ul look hexdump hd xxd strings iconv dos2unix unix2dos envsubst "
    "gettext "
    "ngettext jq yq xmllint csplit rg ag bat batcat delta less more tree exa eza lsd file cksum md5 shasum crc32 "
    "uuidgen pwgen getopt cal ncal tput clear reset infocmp nm ar ranlib strip objdump objcopy readelf size addr2line "
    "c++filt bc scc tokei shellcheck shfmt"
)
_ARCHIVES = names(
    "tar bsdtar gtar cpio zip unzip zipinfo zipnote gzip gunzip bzip2 bunzip2 xz unxz lzma unlzma zstd unzstd "
    "lz4 unlz4 compress uncompress 7z 7za 7zr unrar"
)
_SYSTEM = names(
    "ps pgrep pidof pkill killall pstree pmap pwdx top free vmstat iostat mpstat pidstat lsof fuser w last lastb "
    "lastlog "
    "lsblk lscpu lsmem lsns lsipc lslocks lslogins lspci lsusb lsmod modinfo findmnt blkid mountpoint namei ipcs ipcrm "
    "ipcmk logger wall mesg dmesg journalctl loginctl timedatectl hostnamectl localectl systemctl busctl getent "
    "getconf "
    "locale lsb_release sw_vers sysctl getfacl setfacl lsattr chattr getfattr whereis which rename fallocate fincore "
    "mount umount swapon swapoff losetup mkswap fdisk sfdisk wipefs blkdiscard shutdown reboot poweroff halt chsh chfn "
    "chage passwd groupadd groupdel groupmod mdfind plutil vm_stat nvidia-smi dpkg dpkg-query rpm apt apt-get "
    "apt-cache "
    "apt-mark ldd"
)
_NETWORK = names(
    "curl wget xh ping ping6 traceroute tracepath dig host nslookup whois ss netstat ifconfig arp route ip nc ncat "
    "netcat "
    "rsync scp ssh-keygen ssh-keyscan ssh-add tcpdump openssl gpg nmcli iwconfig"
)
_MEDIA = names("pdftotext pdfinfo pdfimages pdftoppm qpdf tidy xsltproc")
_PROJECTS = names(
    "git hg svn gh docker docker-compose podman nerdctl kubectl oc helm terraform tofu aws gcloud az cargo rustc "
    "rustup "
    "rustfmt go gofmt gcc g++ cc c++ clang clang++ npm pnpm yarn pip pip3 uv poetry pipenv ruff mypy pytest black "
    "isort "
    "tsc zfs zpool vault consul brew crane hadolint yamllint "
    "xdg-open open man apropos whatis"
)

STARTS_NOTHING = _SHELL | _FILES | _TEXT | _ARCHIVES | _SYSTEM | _NETWORK | _MEDIA | _PROJECTS
