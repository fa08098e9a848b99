"""Documents to start from. All of them keep secrets closed, whatever the argument that names them is called."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from hitl.policy.templates import NAMES, template

_SECRETS: Final = r"""
          - "**/{.ssh,.gnupg,.aws,.azure,.kube,.oci,.password-store,.docker/config.json,.vault-token}/**"
          - "**/.config/{gcloud,doctl,gh,hub,op,1Password,Bitwarden,keepassxc,rclone,sops,github-copilot}/**"
          - "**/.config/{containers/auth.json,git/credentials}"
          - "**/{.claude/.credentials.json,.codex/auth.json,.gemini/oauth_creds.json,.local/share/opencode/auth.json}"
          - "**/{.terraform.d,.cargo,.gem,.nuget}/{credentials,credentials.toml,credentials.tfrc.json,NuGet.Config}"
          - "**/{.m2/settings.xml,.gradle/gradle.properties,.composer/auth.json,.streamlit/secrets.toml,.vnc/passwd}"
          - "**/.git/{config,config.worktree,credentials}"
          - "**/.git/{modules,worktrees}/**/{config,config.worktree}"
          - "**/.hg/hgrc"
          - "**/.local/share/keyrings/**"
          - "**/Library/{Keychains,Cookies}/**"
          - "**/.config/{google-chrome,chromium,BraveSoftware,microsoft-edge,vivaldi,opera}/**"
          - "**/{.mozilla,.thunderbird,.electrum,.bitcoin}/**"
          - "**/.ethereum/keystore/**"
          - "**/Library/Application Support/{Google/Chrome,Firefox,BraveSoftware,Microsoft Edge}/**"
          - "**/{.env,.envrc,.netrc,_netrc,.npmrc,.pypirc,.git-credentials,.pgpass,.my.cnf,.htpasswd,.dockercfg}"
          - "**/{.mylogin.cnf,.s3cfg,.boto,.terraformrc,.rclone.conf,.vault_pass,.vault-password,auth.json}"
          - "**/.env.{local,development,dev,test,staging,production,prod}"
          - "**/.env.*.local"
          - "**/.env.{gz,bz2,xz,zst,zip,bak,backup,old,orig,save,swp,tmp,vault,secret,secrets,keys}"
          - "**/*.{pem,key,p12,pfx,kdbx}.{gz,bz2,xz,zst,zip,bak,backup,old,orig,save}"
          - "**/.{bash,zsh,python,psql,mysql,sqlite,rediscli,node_repl,irb}_history"
          - "**/id_{rsa,dsa,ecdsa,ed25519,ecdsa_sk,ed25519_sk}"
          - "**/{deploy,private,ssh,signing,encryption,master}{_,-}key"
          - "**/*{_,-}{rsa,dsa,ecdsa,ed25519}"
          - "**/*.{pem,p12,pfx,jks,jceks,keystore,kdbx,ppk,key,agekey,ovpn,tfstate,kubeconfig}"
          - "**/*.tfstate.backup"
          - "**/{kubeconfig,wallet.dat,terraform.tfvars}"
          - "**/*.auto.tfvars"
          - "**/{credentials,client_secret*,service-account*,service_account*}.json"
          - "**/{secret,secrets}.{yaml,yml,json,toml,env}"
          - "/etc/{shadow,shadow-,gshadow,gshadow-,sudoers,security/opasswd}"
          - "/etc/{sudoers.d,ssl/private,sayso}/**"
          - "/etc/ssh/ssh_host_*_key"
          - "/proc/*/{environ,mem,root,cwd,fd}/**"
          - "/{run,var/run}/secrets/**"
          - "**/{sayso.toml,.config/sayso,.local/state/sayso}/**"
"""
#: A path is closed by its name wherever it stands, and by where it leads where a tool says that it is a path.
_CLOSED: Final = r"""
forbid:
  - id: secret-files
    message: Keys, keyrings, browser stores and credential files are closed to agents.
    when:
      - key: "*"
        op: glob
        value:
{globs}  - id: secret-files-behind-links
    kind: [read, list, search, write, edit, move, copy, delete, mkdir, get]
    message: Keys, keyrings, browser stores and credential files are closed to agents.
    when:
      - any:
          - key: "@reads"
            op: glob
            value:
{links}          - key: "@writes"
            op: glob
            value:
{links}  - id: secrets-in-commands
    kind: [command, fetch, get, web_search, note, unknown]
    message: Keys, keyrings, browser stores and credential files are closed to agents.
    when:
      - key: "*"
        op: matches
        value: '(?i)(^|[\s"''`=:@(<>/\\])\.(env|envrc|netrc|pgpass|npmrc|pypirc|git-credentials)([\s"''`;|&)<>:]|$)'
  - id: keys-in-commands
    kind: [command, fetch, get, web_search, note, unknown]
    message: Keys, keyrings, browser stores and credential files are closed to agents.
    when:
      - key: "*"
        op: matches
        value: '(?i)(^|[\s"''`=:@(<>/\\])id_(rsa|dsa|ecdsa|ed25519)([\s"''`;|&)<>:.]|$)'
  - id: key-folders-in-commands
    kind: [command, fetch, get, web_search, note, unknown]
    message: Keys, keyrings, browser stores and credential files are closed to agents.
    when:
      - key: "*"
        op: matches
        value: '(?i)\.(ssh|gnupg|aws|kube|azure)[/\\]|/etc/(g?shadow|sudoers)'
  - id: cloud-metadata
    kind: [command, fetch, get, web_search, note, unknown]
    message: Instance metadata hands out credentials.
    when:
      - key: "*"
        op: matches
        value: '(?i)169\.254\.169\.254|169\.254\.170\.2|metadata\.google\.internal|fd00:ec2::254|100\.100\.100\.200'
  - id: cloud-metadata-as-a-number
    kind: [command, fetch, get, web_search, note, unknown]
    message: Instance metadata hands out credentials.
    when:
      - key: "*"
        op: matches
        value: '(?i)(^|//|@)(0xa9fea9fe|2852039166|025177524776|0xa9\.0xfe\.\w+\.\w+|0251\.0376\.\w+\.\w+)($|[/:?#])'
"""
_QUARANTINE: Final = _CLOSED.replace("{globs}", _SECRETS.lstrip("\n")).replace(
    "{links}", _SECRETS.lstrip("\n").replace("          - ", "              - ")
)

_DISKS: Final = """
  - id: disks
    kind: command
    when:
      - key: "@command"
        op: command_blacklist
        value: [mkfs, "mkfs.*", mke2fs, fdisk, sfdisk, parted, wipefs, shred, shutdown, reboot, poweroff, halt]
    action: deny
    message: Erasing disks and stopping the machine are closed to agents.
"""
_PROTECTED: Final = """  - id: protected
    kind: [write, edit, mkdir, move, copy, delete]
    when:
      - key: "@writes"
        op: glob
        value:
          - "**/{.git,.githooks,.husky,.hg,.svn,.circleci,.buildkite,.devcontainer,.vscode,.idea,.fleet}/**"
          - "**/.{claude,codex,gemini,qwen,cursor,opencode,copilot,continue,aider,windsurf,roo,kiro,agents}/**"
          - "**/.{amp,junie,trae,augment,factory,openhands,goose,crush,zed,mise,cargo}/**"
          - "**/.{claude,crush,devcontainer}.json"
          - "**/.{goosehints,rules,nvimrc,lvimrc,nvim.lua,dir-locals.el,mise.toml}"
          - "**/{.config,.woodpecker,husky,.venv,venv}/**"
          - "**/{rust-toolchain,rust-toolchain.toml,mise.toml}"
          - "**/{.woodpecker.yml,cloudbuild.yaml,appveyor.yml,.appveyor.yml}"
          - "**/{action.yml,action.yaml}"
          - "**/.{github,gitea,forgejo}/**"
          - "**/{.mcp.json,mcp.json,opencode.json,opencode.jsonc,.aider.conf.yml}"
          - "**/.{cursorrules,windsurfrules,clinerules,roorules}"
          - "**/{CLAUDE,CLAUDE.local,AGENT,AGENTS,GEMINI,QWEN,SKILL,CONVENTIONS}.md"
          - "**/{.gitattributes,.gitmodules,.gitconfig,.gitlab-ci.yml,.travis.yml,.drone.yml,Jenkinsfile}"
          - "**/{.pre-commit-config.yaml,.lefthook.yml,lefthook.yml,bitbucket-pipelines.yml,azure-pipelines.yml}"
          - "**/*.code-workspace"
          - "**/{sayso.toml,.sayso}/**"
          - "**/{policy,policies,*.policy,*-policy,*_policy}.{yaml,yml,json,toml}"
          - "**/policies/*.{yaml,yml,json}"
          - "**/{cron,cron.d,cron.hourly,cron.daily,cron.weekly,cron.monthly,crontabs}/**"
          - "**/{crontab,anacrontab}"
          - "**/{systemd,autostart,LaunchAgents,LaunchDaemons,environment.d,profile.d,init.d}/**"
          - "**/.{bashrc,bash_profile,bash_login,bash_logout,bash_aliases,profile,zshrc,zshenv,zprofile,zlogin,zlogout}"
          - "**/.{procmailrc,forward,fetchmailrc,mailcap,muttrc,lessfilter,lesskey,tmux.conf,screenrc,pam_environment}"
          - "**/.{psqlrc,sqliterc,irbrc,pryrc,Rprofile,pdbrc,pythonrc,curlrc,wgetrc,gemrc,yarnrc,yarnrc.yml,nanorc}"
          - "**/.{kshrc,cshrc,tcshrc,login,xinitrc,xprofile,xsession,inputrc,vimrc,exrc,gvimrc,emacs,gdbinit,lldbinit}"
          - "**/{.vim,.emacs.d,.oh-my-zsh}/**"
          - "**/{sitecustomize,usercustomize}.py"
          - "**/*.pth"
          - "**/{.mvn,.direnv,node_modules}/**"
          - "**/{.pnpmfile.cjs,.lfsconfig}"
    action: approve
    message: This file runs later, or steers the gate or an agent.
"""
_READING: Final = """  - id: read-here
    kind: [read, list, search]
    when:
      - {key: "@reads", op: glob, value: "./**"}
      - {op: open_tree, value: true}
    action: allow
  - id: look-up
    kind: [get, note]
    action: allow
  - id: search-the-web
    kind: web_search
    harmless: ["@content"]
    action: allow
"""

_PRESETS: Final[dict[str, str]] = {
    "default": """version: 1
description: Reading in the working folder passes, by tools and by commands; everything else is asked about.
default_action: approve
risk:
  critical: {require_reason: true}
"""
    + _QUARANTINE
    + "rules:"
    + _DISKS
    + _PROTECTED
    + _READING
    + """  - id: look-around
    kind: command
    when: [{key: "@command", op: command_effects, value: [read, query]}]
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
    + _DISKS
    + """  - id: read
    kind: [read, list, search, get, note]
    action: approve
  - id: write
    kind: [write, edit, mkdir, move, copy]
    action: approve
    exclude_requester: true
  - id: shell
    kind: command
    action: approve
    exclude_requester: true
    require_reason: true
  - id: web
    kind: [fetch, web_search]
    action: approve
""",
    "dev": """version: 1
description: >-
  For one's own machine. Reading and writing in the working folder pass. The project's own builds and tests pass where
  commands run confined and without network: an agent can then run code of its own in the working folder. Everything
  else is asked about.
default_action: approve
risk:
  critical: {require_reason: true}
"""
    + _QUARANTINE
    + "rules:"
    + _DISKS
    + _PROTECTED
    + _READING
    + """  - id: write-here
    kind: [write, edit, mkdir]
    when: [{key: "@writes", op: glob, value: "./**"}]
    harmless: ["@content"]
    action: allow
  - id: move-here
    kind: [move, copy]
    when:
      - {key: "@reads", op: glob, value: "./**"}
      - {key: "@writes", op: glob, value: "./**"}
    action: allow
  - id: everyday-commands
    kind: command
    when: [{key: "@command", op: command_effects, value: [read, query, write]}]
    action: allow
  - id: project-commands
    kind: command
    when:
      - {op: isolated, value: true}
      - {key: "@command", op: command_effects, value: [read, query, write, build]}
    action: allow
""",
    "headless": f"""version: 1
description: Nobody is there to ask. Reading in the working folder passes; everything else is refused.
default_action: deny
{_QUARANTINE}rules:
  - id: read-here
    kind: [read, list, search]
    when:
      - {{key: "@reads", op: glob, value: "./**"}}
      - {{op: open_tree, value: true}}
    action: allow
""",
}


def presets() -> Mapping[str, str]:
    """The preset documents as YAML texts: four for whole installations, and the templates for one kind of tool."""
    return {**_PRESETS, **{name: template(name) + _QUARANTINE for name in NAMES}}
