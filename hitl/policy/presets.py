"""Documents to start from. All of them keep secrets closed, whatever the argument that names them is called."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from hitl.policy.templates import NAMES, template

_QUARANTINE: Final = r"""
forbid:
  - id: secret-files
    message: Keys, keyrings, browser stores and credential files are closed to agents.
    when:
      - key: "*"
        op: glob
        value:
          - "**/{.ssh,.gnupg,.aws,.azure,.kube,.oci,.password-store,.docker/config.json,.vault-token}/**"
          - "**/.config/{gcloud,doctl,gh,hub,op,1Password,Bitwarden,keepassxc,rclone,sops}/**"
          - "**/.local/share/keyrings/**"
          - "**/Library/{Keychains,Cookies}/**"
          - "**/.config/{google-chrome,chromium,BraveSoftware,microsoft-edge,vivaldi,opera}/**"
          - "**/{.mozilla,.thunderbird,.electrum,.bitcoin}/**"
          - "**/.ethereum/keystore/**"
          - "**/Library/Application Support/{Google/Chrome,Firefox,BraveSoftware,Microsoft Edge}/**"
          - "**/{.env,.envrc,.netrc,_netrc,.npmrc,.pypirc,.git-credentials,.pgpass,.my.cnf,.htpasswd,.dockercfg}"
          - "**/.env.{local,development,dev,test,staging,production,prod}"
          - "**/.env.*.local"
          - "**/{.bash_history,.zsh_history,.python_history,.psql_history,.mysql_history}"
          - "**/id_{rsa,dsa,ecdsa,ed25519,ecdsa_sk,ed25519_sk}"
          - "**/*.{pem,p12,pfx,jks,keystore,kdbx,ppk,asc.key,tfstate}"
          - "**/{wallet.dat,credentials.json,client_secret.json,service-account.json,secrets.yaml,secrets.yml}"
          - "/etc/{shadow,shadow-,gshadow,gshadow-,sudoers,security/opasswd}"
          - "/etc/{sudoers.d,ssl/private,sayso}/**"
          - "/etc/ssh/ssh_host_*_key"
          - "/proc/*/{environ,mem,root,cwd,fd}/**"
          - "/{run,var/run}/secrets/**"
          - "**/{sayso.toml,.config/sayso,.local/state/sayso}/**"
  - id: secrets-in-commands
    message: Keys, keyrings, browser stores and credential files are closed to agents.
    when:
      - key: "*"
        op: matches
        value: '(?i)(^|[\s"''`=:@(<>/\\])\.(env|envrc|netrc|pgpass|npmrc|pypirc|git-credentials)([\s"''`;|&)<>:]|$)'
  - id: keys-in-commands
    message: Keys, keyrings, browser stores and credential files are closed to agents.
    when:
      - key: "*"
        op: matches
        value: '(?i)(^|[\s"''`=:@(<>/\\])id_(rsa|dsa|ecdsa|ed25519)([\s"''`;|&)<>:.]|$)'
  - id: key-folders-in-commands
    message: Keys, keyrings, browser stores and credential files are closed to agents.
    when:
      - key: "*"
        op: matches
        value: '(?i)\.(ssh|gnupg|aws|kube|azure)[/\\]|/etc/(g?shadow|sudoers)'
  - id: cloud-metadata
    message: Instance metadata hands out credentials.
    when:
      - key: "*"
        op: matches
        value: '(?i)169\.254\.169\.254|169\.254\.170\.2|metadata\.google\.internal|fd00:ec2::254|100\.100\.100\.200'
  - id: cloud-metadata-as-a-number
    message: Instance metadata hands out credentials.
    when:
      - key: "*"
        op: matches
        value: '(?i)(^|//|@)(0xa9fea9fe|2852039166|025177524776|0xa9\.0xfe\.\w+\.\w+|0251\.0376\.\w+\.\w+)($|[/:?#])'
"""

_SHELL_TOOLS: Final = (
    "[bash, sh, shell, zsh, terminal, local_shell, run_command, run_shell_command, execute_command, exec_command, "
    "shell_exec, run_terminal_cmd]"
)
_DISKS: Final = """
  - id: disks
    tool: {shell}
    when:
      - key: command
        op: command_blacklist
        value: [mkfs, "mkfs.*", mke2fs, fdisk, sfdisk, parted, wipefs, shred, shutdown, reboot, poweroff, halt]
    action: deny
    message: Erasing disks and stopping the machine are closed to agents.
"""
_READERS: Final = (
    "[read, read_file, read_text_file, read_media_file, view, cat, list_dir, list_directory, list_files, ls, "
    "directory_tree, glob, grep, search_files, find_files, get_file_info, stat_file]"
)

_PRESETS: Final[dict[str, str]] = {
    "default": """version: 1
description: Reading in the working folder passes; plain look-ups in a shell pass; everything else is asked about.
default_action: approve
risk:
  critical: {require_reason: true}
"""
    + _QUARANTINE
    + "rules:"
    + _DISKS.format(shell=_SHELL_TOOLS)
    + f"""  - id: read-here
    tool: {_READERS}
    when: [{{key: path, op: glob, value: "./**"}}]
    action: allow
  - id: look-around
    tool: {_SHELL_TOOLS}
    when:
      - key: command
        op: command_prefix_allowlist
        value: [pwd, ls, git status, git log, git diff, git show, wc, head, tail, date, whoami]
      - {{key: command, op: command_resolvable, value: true}}
    action: allow
""",
    "strict": """version: 1
description: Nothing passes without a person, and what is not listed is refused.
default_action: deny
defaults: {timeout_s: 300}
risk:
  high: {require_reason: true}
  critical: {action: deny, require_reason: true}
"""
    + _QUARANTINE
    + "rules:"
    + _DISKS.format(shell=_SHELL_TOOLS)
    + f"""  - id: read
    tool: {_READERS}
    action: approve
  - id: write
    tool: [write, write_file, edit, edit_file, create_file, create_directory, move_file, apply_patch]
    action: approve
    exclude_requester: true
  - id: shell
    tool: {_SHELL_TOOLS}
    action: approve
    exclude_requester: true
    require_reason: true
  - id: web
    tool: [fetch, web_fetch, web_search, web_get, http_get]
    action: approve
""",
    "dev": """version: 1
description: For one's own machine. What only reads or is easily undone passes; shells, risky and unknown tools ask.
default_action: approve
risk:
  low: {action: allow}
  medium: {action: allow}
"""
    + _QUARANTINE
    + "rules:"
    + _DISKS.format(shell=_SHELL_TOOLS)
    + f"""  - id: everyday-commands
    tool: {_SHELL_TOOLS}
    when:
      - key: command
        op: command_prefix_allowlist
        value:
          [pwd, ls, cat, head, tail, wc, grep, rg, git status, git log, git diff, git show, git add, git commit,
          pytest, ruff, mypy, cargo check, cargo test, go build, go vet, go test]
      - {{key: command, op: command_resolvable, value: true}}
    action: allow
  - id: shell
    tool: {_SHELL_TOOLS}
    action: approve
""",
    "headless": f"""version: 1
description: Nobody is there to ask. Reading in the working folder passes; everything else is refused.
default_action: deny
{_QUARANTINE}rules:
  - id: read-here
    tool: {_READERS}
    when: [{{key: path, op: glob, value: "./**"}}]
    action: allow
""",
}


def presets() -> Mapping[str, str]:
    """The preset documents as YAML texts: four for whole installations, and the templates for one kind of tool."""
    return {**_PRESETS, **{name: template(name) + _QUARANTINE for name in NAMES}}
