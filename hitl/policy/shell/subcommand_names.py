"""Tables of sub-commands that may be shortened or have aliases, and of options that may come before a sub-command.

The data come from the programs' own manuals (coreutils, util-linux, findutils, sudo, git, kubectl, docker, ...).
"""

from hitl.policy.shell.wrappers import Options, options
from hitl.policy.tables import names

# Program that accepts shortened sub-commands -> all of its sub-commands.
ABBREVIATED: dict[str, frozenset[str]] = {
    "npm": names(
        "access adduser audit bugs cache ci completion config dedupe deprecate diff dist-tag docs doctor edit exec "
        "explain "
        "explore find-dupes fund get help help-search init install install-ci-test install-test link ll login logout "
        "ls "
        "org outdated owner pack ping pkg prefix profile prune publish query rebuild repo restart root run "
        "run-script sbom "
        "search set shrinkwrap star stars start stop team test token trust uninstall unpublish unstar update version "
        "view "
        "whoami"
    ),
    "hg": names(
        "add addremove annotate archive backout bisect bookmarks branch branches bundle cat clone commit config copy "
        "diff "
        "export extdiff files forget graft grep heads help histedit identify import incoming init locate log "
        "manifest merge "
        "outgoing parents paths phase pull purge push rebase recover remove rename resolve revert rollback root serve "
        "shelve status strip summary tag tags tip transplant unbundle unshelve update verify version"
    ),
    "bundle": names(
        "add binstubs cache check clean config console doctor exec fund gem help info init inject install issue lock "
        "open "
        "outdated package platform plugin pristine remove show update version viz"
    ),
    "ip": names("address link route rule neighbour netns vrf tunnel maddress mroute monitor xfrm token tcp_metrics"),
    "composer": names(
        "about archive audit browse bump check-platform-reqs clear-cache config create-project depends diagnose "
        "dump-autoload exec fund global home init install licenses outdated prohibits reinstall remove require "
        "run-script "
        "search self-update show status suggests update validate why why-not"
    ),
}
# Program -> alias of a sub-command -> the sub-command.
ALIASES: dict[str, dict[str, str]] = {
    "npm": {
        **dict.fromkeys(names("un unlink remove rm r"), "uninstall"),
        **dict.fromkeys(names("i add in ins inst insta instal isnt isnta isntal isntall"), "install"),
        **dict.fromkeys(names("t tst"), "test"),
        **dict.fromkeys(names("x"), "exec"),
        **dict.fromkeys(names("rum urn"), "run"),
        **dict.fromkeys(names("create innit"), "init"),
        **dict.fromkeys(names("up upgrade udpate"), "update"),
        **dict.fromkeys(names("ic clean-install install-clean isntall-clean"), "ci"),
        **dict.fromkeys(names("it"), "install-test"),
        **dict.fromkeys(names("c"), "config"),
        **dict.fromkeys(names("rb"), "rebuild"),
        **dict.fromkeys(names("author"), "owner"),
        **dict.fromkeys(names("v info show"), "view"),
        **dict.fromkeys(names("ogr"), "org"),
        **dict.fromkeys(names("dist-tags"), "dist-tag"),
        **dict.fromkeys(names("add-user"), "adduser"),
        **dict.fromkeys(names("la list"), "ls"),
    },
    "cargo": {"b": "build", "c": "check", "d": "doc", "r": "run", "t": "test", "rm": "remove"},
}

# Program -> the options that it accepts before its sub-command.
GLOBAL_OPTIONS: dict[str, Options] = {
    "git": options(
        "-C -c --git-dir --work-tree --namespace --super-prefix --config-env --attr-source --list-cmds",
        "-p -P --paginate --no-pager --bare --no-replace-objects --literal-pathspecs --glob-pathspecs "
        "--noglob-pathspecs"
        " --icase-pathspecs --no-optional-locks --no-lazy-fetch --no-advice --html-path --man-path --info-path -v "
        "--version"
        " -h --help",
    ),
    **dict.fromkeys(
        ("kubectl", "oc"),
        options(
            "-n --namespace --context --cluster --user --kubeconfig -s --server --token --as --as-group --as-uid "
            "--cache-dir"
            " --certificate-authority --client-certificate --client-key --tls-server-name --request-timeout "
            "--username --password"
            " -v --v --vmodule --profile --profile-output --log-flush-frequency --kuberc",
            "--insecure-skip-tls-verify --match-server-version --disable-compression --warnings-as-errors -h --help",
        ),
    ),
    "helm": options(
        "-n --namespace --kube-context --kubeconfig --kube-apiserver --kube-token --registry-config "
        "--repository-cache --repository-config --burst-limit",
        "--debug -h --help",
    ),
    "npm": options(
        "--prefix -C -w --workspace --registry --userconfig --globalconfig --cache --loglevel --tag --otp --access "
        "--script-shell",
        "-g --global -s --silent -q --quiet -d --dry-run --json --ws --workspaces --include-workspace-root -y --yes "
        "--force -f -v --version",
    ),
    "yarn": options("--cwd --registry --cache-folder", "-s --silent --verbose --json --offline"),
    "pnpm": options("-C --dir --filter -F --registry --loglevel", "-r --recursive -w --workspace-root -s --silent"),
    "terraform": options("-chdir", "-help -version"),
    "tofu": options("-chdir", "-help -version"),
    **dict.fromkeys(
        ("docker", "podman", "nerdctl"),
        options(
            "-c --context -H --host -l --log-level --config --tlscacert --tlscert --tlskey -n --namespace "
            "--connection --url --root",
            "-D --debug --tls --tlsverify -v --version -r --remote",
        ),
    ),
    "aws": options(
        "--profile --region --output --endpoint-url --query --ca-bundle --cli-read-timeout "
        "--cli-connect-timeout --color",
        "--debug --no-verify-ssl --no-paginate --no-sign-request --no-cli-pager",
    ),
    "gcloud": options(
        "--project --account --configuration --format --impersonate-service-account --verbosity "
        "--billing-project --filter",
        "-q --quiet --log-http --user-output-enabled",
    ),
    "az": options("--subscription -o --output --query --only-show-errors", "--debug --verbose"),
    "gh": options("-R --repo --hostname", "-h --help --version"),
    "systemctl": options(
        "-H --host -M --machine -t --type --state -p --property --root -n --lines -o --output -s --signal",
        "--user "
        "--system -a --all -l --full -q --quiet -f --force --now --no-pager --no-block --no-legend "
        "--no-ask-password --global --runtime",
    ),
    "cargo": options(
        "-C --config -Z --color --manifest-path --target-dir",
        "-v --verbose -q --quiet --frozen --locked --offline -V --version --list",
    ),
    "go": options("-C"),
    "pip": options(
        "--python --log --proxy --timeout --retries --cache-dir --cert --exists-action --trusted-host",
        "-q -v --quiet --verbose --isolated --require-virtualenv --no-input --no-cache-dir --debug",
    ),
    "apt": options("-c -o -t --config-file --option --target-release", "-y -q -s -d -f -m --yes --quiet --assume-yes"),
    "apt-get": options(
        "-c -o -t --config-file --option --target-release", "-y -q -s -d -f -m --yes --quiet --assume-yes"
    ),
    "brew": options("", "-v -d -q --verbose --debug --quiet"),
    "vault": options("-address -namespace -ca-cert"),
    "consul": options("-http-addr -token"),
    "pulumi": options("-C --cwd --color -s --stack", "--non-interactive -e --emoji"),
    "ansible": options("-i -m -a -u"),
    "svn": options(
        "--username --password --config-dir --config-option", "--non-interactive --no-auth-cache --trust-server-cert"
    ),
    "hg": options("-R --repository --cwd --config --encoding", "-y -q -v --noninteractive --debug"),
    "openssl": options(),
    "ip": options("-n -netns -f -family -rc -l", "-4 -6 -s -d -o -r -br -j -p -c"),
    "zfs": options(),
    "zpool": options(),
    "psql": options("-c -d -f -h -p -U -v"),
}
