"""Ways of hiding a program, kind by kind, and everyday lines that look like none of them."""

import pytest

from hitl.policy.shell import read_line
from hitl.policy.shell.lists import Programs
from hitl.policy.three_valued import NO, UNSURE, YES

DENIED = Programs.of(("rm", "dd", "sudo", "mkfs", "mkfs.*"))
ASKED = Programs.of(("git push", "chmod", "kubectl delete", "npm publish", "terraform apply"))


def outcome(line: str) -> str:
    """What a policy that denies, asks and then allows what can be told makes of a line."""
    reading = read_line(line)
    denied, asked = DENIED.judge(reading), ASKED.judge(reading)
    if denied == YES:
        return "deny"
    return "approve" if max(denied, asked) != NO or reading.doubts else "allow"


RUN = {
    "options of wrappers": r"""
        env -C /tmp rm x
        env --chdir=/tmp rm x
        env -- A=1 rm x
        env --split-string "rm x"
        env -iS 'rm x'
        timeout --kill-after=3 10 rm x
        timeout $T rm x
        nice -n "$N" rm x
        setsid -wf rm x
        flock -w 5 lock -c "rm x"
        chroot --userspec=a:b /mnt rm x
        unshare -mrpf rm x
        nsenter --target 1 --mount -- rm x
        xargs --max-lines=1 rm
        xargs --delimiter '\n' rm
        xargs -0rn1 rm
        fd -e log -x rm
        parallel -j4 rm {} ::: *.log
        script -q /dev/null rm x
        caffeinate -i rm x
        su root -- -c 'rm x'
        su - root -- -c 'rm x'
        runuser www -- -c 'rm x'
        runuser -l www -c 'rm x'
        runuser -u www -- rm x
    """,
    "containers and other hosts": r"""
        docker compose -f f.yml exec web rm x
        docker --context c exec web rm x
        kubectl exec pod -n ns -- sh -c 'rm x'
        ssh -i key -p 22 user@host 'cd /srv && rm -rf x'
        crictl exec id rm x
        incus exec c -- rm x
        apptainer exec image.sif rm x
        limactl shell vm rm x
        adb shell rm x
        heroku run rm x
        gcloud compute ssh vm --command='rm x'
        fly ssh console -C 'rm x'
        oc rsh pod rm x
        minikube ssh 'rm x'
    """,
    "programs that start others": r"""
        cpulimit -l 50 -- rm x
        chpst -u user rm x
        s6-setuidgid user rm x
        systemd-nspawn -D /x rm y
        run0 rm x
        xterm -e rm x
        cross-env A=1 rm x
        mise exec -- rm x
        rbenv exec rm x
        pixi run rm x
        sops exec-env file 'rm x'
        pssh -h hosts rm x
        npm exec -- rm x
        noglob rm x
    """,
    "text that env splits": r"""
        env -S'rm\_x'
        env -S "-i rm x"
        env -vS'-u A rm x'
        env --split='A=1 rm' x
        env --sp 'rm x'
        env -S 'r"m" x'
        env -S "-S 'rm x'"
        env -iS 'A=1' rm x
    """,
    "words made of braces": r"""
        env {A=1,rm,x}
        env {rm,"a b"} x
        env {r..r}m x
        env {,A=1} rm x
        find . {-exec,rm,{},+}
        nice {-n,3} rm x
        timeout {5,rm,x}
        xargs {-n1,rm}
        A=1 {rm,-f,x}
        env {{A,B}=1,rm}
    """,
    "long options cut short": r"""
        git rebase --ex='rm x' main
        git rebase -ix 'rm x' main
        git filter-branch --tree-f 'rm x'
        flock --comm='rm x' f
        su --comm='rm x' root
        script --comm 'rm x' out
        split --f='rm x' f
        xargs --max-a=1 rm
        tar --to-c='rm x' -xf a
    """,
    "sub-commands that run": r"""
        git bisect run rm x
        git bisect ru rm x
        git merge-index -o rm -a
        npm explore x -- rm y
        npm expl x -- rm y
        npm exe rm
        bundle e rm x
        tmux neww 'rm x'
        tmux if-shell true 'rm x'
        hg bisect -c 'rm x'
        consul lock a rm x
        rustup run stable rm x
        capsh -- -c 'rm x'
        capsh == -- -c 'rm x'
        fish -C 'rm x' -c ls
        jobs -x rm x
        fd -Hx rm
        fd --exec=rm
        compgen -W '$(rm x)'
        compgen -bW '`rm x`'
        ssh -o proxycommand='rm x' h
        choom -n 0 -- rm x
        logsave f rm x
        openvt -- rm x
        aa-exec -p a -- rm x
        flatpak-spawn --host rm x
    """,
    "substitutions": r"""
        ls > $(rm x)
        ls < <(rm x)
        cat <<< "$(rm x)"
        for ((i=$(rm x);;)); do :; done
        m=(["$(rm x)"]=1)
        echo ${x%$(rm y)}
        echo "${x:-'$(rm y)'}"
        echo "${x:+`rm y`}"
        echo $[ $(rm y) ]
        echo `echo \`rm x\``
        [[ a -eq $(rm y) ]]
        case a in $(rm y)) ;; esac
        export "X=$(rm y)"
        ls "`ls \"\`rm y\`\"`"
    """,
    "subscripts in quotes": r"""
        [[ -v 'a[$(rm x)]' ]]
        [[ 'a[$(rm x)]' -eq 1 ]]
        test -v 'a[$(rm x)]'
        unset 'a[$(rm x)]'
        printf -v 'a[$(rm x)]' y
        read 'a[$(rm x)]' < f
        x='a[$(rm y)]'; echo $((x))
        let 'x=a[$(rm y)]'
        x="a[\$(rm y)]"; echo ${!x}
        [[ "a[\`rm x\`]" -eq 0 ]]
    """,
    "text that reaches a shell": r"""
        echo 'rm x' | cat | sh
        echo 'rm x' | tee f | sh
        echo 'rm x' | (sh)
        echo 'rm x' | { sh; }
        { echo ls; echo rm x; } | sh
        a="rm x"; echo "$a" | sh
        a="rm x"; sh <<< "$a"
        bash < <(echo 'rm x')
        bash <(echo 'rm x')
        source <(echo 'rm x')
        sh -c "$(printf 'rm x')"
        echo 'rm x' | ssh host
        echo 'rm x' | chroot /mnt
        parallel ::: 'rm x' ls
        echo 'rm x' | ssh host sh
        eval -- rm x
        eval "$(echo 'rm x')"
    """,
    "words and redirections": r"""
        0<f rm x
        2>&1 rm x
        {fd}>x rm y
        rm<f
        sudo <f ls
        exec >f rm x
        r$'\155' x
        \r"m" x
        time ( rm x )
        coproc NAME ( rm x )
        for x in a; { rm x; }
        case a in a) ls;;& *) rm x;; esac
        [[ a =~ # ]]; rm x
        echo ${x#a}; rm x
        ( cd /; rm x )
    """,
}


@pytest.mark.parametrize("kind", RUN)
def test_a_program_is_found_in_every_line_of_a_kind(kind: str) -> None:
    """Each line of the kind runs a denied program, and is denied."""
    assert [] == [line for line in _lines(RUN[kind]) if outcome(line) != "deny"]


SEVERAL_LINES = (
    "sh <<-EOF\n\trm x\n\tEOF",
    "(sh) <<EOF\nrm x\nEOF",
    "{ sh; } <<EOF\nrm x\nEOF",
    "ssh host <<EOF\nrm x\nEOF",
    "ssh host sh <<'EOF'\nrm x\nEOF",
    "cat <<EOF\n'$(rm x)'\nEOF",
    "cat <<EOF\n${x:-$(rm y)}\nEOF",
    "cat <<A; cat <<B\n1\nA\n2\nB\nrm x",
    "ls # not joined \\\nrm x",
    '"r\\\nm" x',
    "echo $(# a comment\nrm x)",
    "f() {\n rm x\n}\nf",
)


@pytest.mark.parametrize("line", SEVERAL_LINES)
def test_a_program_is_found_behind_line_ends(line: str) -> None:
    """Here-documents, comments and continued lines hide no program."""
    assert "deny" == outcome(line)


UNKNOWN = {
    "options in one word or cut short": r"""
        tar xIf 'rm x' a
        tar -cI 'x' -f a b
        tar --use-comp='x' -cf a b
        tar --checkpoint=1 --checkpoint-act=exec='x' -cf a b
        rsync -avze ./x a b:
        zip -rTT 'x' a b
        curl -sK f
        sort --compress-prog=./x f
        sed -nf s.sed f
        sed --fi s.sed f
        sed -ne '1e ls' f
        awk --fil=x f
        gawk -vx=1 -f p f
        mawk -Wexec p f
        git ls-remote --upload-p='x' .
    """,
    "options that run or load a program": r"""
        tar {-I,'rm x'} -cf a b
        tar xf a -T f
        bash --init-file x -ic ls
        bash -rcfile x -i
        capsh --
        capsh --shell=./x --
        sftp -D ./x h
        scp -D ./x a h:
        git grep -nOless x
        git merge -s ../x y
        git pull --strat=x
        mapfile -tC x a
        hash -lp ./x ls
        enable -af ./x.so y
        zip -rTT x a b
        ssh -fNoproxycommand=x h
        ssh -o 'PKCS11Provider ./x.so' h
        sort --comp x f
        install -s --strip-prog=./x a b
        diff3 --diff-prog=./x a b c
        man -C f ls
        less -Nkf g
        rg --pre ./x y
        ip netns e a ls
        helm install a b --post-renderer ./x
        kubectl --kubeconfig=f get pods
        rustc -C linker=./x a.rs
        gcc @f
        nm --plugin=./x.so a
        apt-get -yoAPT::x=y update
        rpm -qaE '%(x)'
        pip --python ./x list
        npm --script-shell=./x ci
        npm config set script-shell ./x
        go env -w GOFLAGS=-toolexec=./x
        pytest -p x
        mypy --config-f x
        systemctl enable ./x.service
        tmux ls \\; run x
        xargs -0Ils ls a
        ls {a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}
    """,
    "sub-commands that a program doesn't have": r"""
        kubectl x get pods
        cargo x
        gh x
        helm x
        docker x ps
        brew x
    """,
    "programs that no table knows": r"""
        acme
        ./x
        /opt/acme/bin/ls
        /usr/bin/acme a
        ls | acme
        find . -exec acme {} +
        xargs acme
        nohup acme
        $(acme)
    """,
    "scripts of sed and awk": r"""
        sed '/s,/e ls;#,,' f
        sed 's/[/]/x/e' f
        sed -e p -e 's/x/ls\' -e '/e' f
        sed ':a;e ls;ba' f
        sed 'y/a/b/;e' f
        sed '$!{e ls
        }' f
        awk 'BEGIN{print "(/" | "ls /"}'
        awk '/[/"]/ {print | "ls"}' f
        awk '{print | "sort"}' f
        awk '@load "filefuncs"; {print}' f
    """,
    "variables that steer programs": r"""
        export "PATH=/tmp"; ls
        export LD_PRELOAD=x
        export 'LD_PRELOAD=./x.so'; ls
        declare "PATH=/tmp"; ls
        declare -n p=PATH; p=/tmp; ls
        printf -v PATH /tmp; ls
        printf -vPATH /tmp; ls
        read -r PATH < f; ls
        mapfile PATH < f; ls
        for PATH in /tmp; do ls; done
        : ${PATH:=/tmp}; ls
        export $(cat .env); ls
        LESS='+!x' less f
        KUBECONFIG=f kubectl get pods
        CARGO_HOME=x cargo build
        PIP_CONFIG_FILE=f pip list
        ZDOTDIR=x zsh -c ls
        PYTEST_ADDOPTS='-p x' pytest
        RUSTC_WRAPPER=./x cargo build
        x='$(ls)'; echo "${x@P}"
    """,
    "words known only when the line runs": r"""
        find . $OPTS
        find . $(cat opts)
        find . "$@"
        find . "${opts[@]}"
        parallel < commands
        parallel ::: ls pwd
        unshare -r
        script out
        tar $(cat x) f
        git $X
        $(printf rm) x
        cat f | sh
        base64 -d <<< cm0geA== | sh
        rev <<< 'x mr' | sh
        cat f - <<< 'ls' | sh
        a=ls; read a < f; echo "$a" | sh
        xargs -I{} {} < f
        find . -exec {} \;
    """,
    "programs that run code of their own": r"""
        bun script.js
        bun -e 1
        dotnet app.dll
        yarn build
        pnpm build
        composer check
        ts-node x.ts
        iex -e x
        nu -c ls
        flask run
        logrotate -f c
        go build -toolexec ./x ./...
        cargo --config 'build.rustc-wrapper="./x"' build
        gcc -wrapper x,y -c a.c
        hg --config alias.x='!ls' x
        svn diff --diff-cmd x
        ssh-keygen -D ./x.so
        git clone -c core.sshCommand=x host:y
        git clone --config=core.fsmonitor=./x y
        git archive --exec=x --remote=. HEAD
        git for-each-repo --config=x fetch
        git hook run x
        cmd.exe /c dir
        powershell.exe -c ls
    """,
    "names in another case": r"""
        RM x
        /bin/RM x
        Sudo ls
        MKFS.ext4 x
        rm.exe x
        GIT push
    """,
    "sub-commands that are asked about": r"""
        git send-pack origin main
        git --exec-path push
        git > f push
        git -C "$D" push
        git ${x:-push}
        for d in a b; do git -C $d push; done
        npm --workspace=a publish
        kubectl >o delete pod x
        terraform -chdir="$D" apply
        sem git push
        npm publ
        npm pub --dry-run
        npm --workspace a publi
    """,
}


@pytest.mark.parametrize("kind", UNKNOWN)
def test_no_line_of_a_kind_passes(kind: str) -> None:
    """What a line of the kind does cannot be told, or must be asked about."""
    assert [] == [line for line in _lines(UNKNOWN[kind]) if outcome(line) == "allow"]


EVERYDAY = r"""
    git status
    git diff --name-only | xargs ruff check
    git bisect start
    git bisect good
    git merge -s ort main
    git grep -n foo
    git rebase -i main
    find . -name '*.{js,ts}'
    mkdir -p {src,tests}/{a,b}
    cp f{,.bak}
    echo {1..10}
    env -S 'A=1 ls'
    rg --pretty foo
    pytest --co -q
    ssh-keygen -lf f
    tmux ls
    hg status
    npm view x version
    npm config get registry
    npm outdated
    gh pr view 12
    helm list -A
    docker logs --tail 100 web
    kubectl rollout status deploy/a
    brew list
    jobs -l
    capsh --print
    compgen -A command
    diff3 a b c
    install -m 755 a b
    /usr/bin/git status
    echo rm
    grep rm f
    TF_VAR_a=b terraform plan
    git commit -m "Don't use sudo"
    git commit -m 'remove dd and rm'
    git log --grep=chmod
    git clone --depth 1 https://example.org/x y
    git config --get user.email
    git -c color.ui=always diff
    GIT_TERMINAL_PROMPT=0 git fetch
    GIT_AUTHOR_NAME=x git commit -m y
    ls -la | grep foo
    cat a && echo b
    cd "$(git rev-parse --show-toplevel)" && ls
    pytest -q
    PYTHONDONTWRITEBYTECODE=1 pytest -q
    npm ci
    npm ls
    yarn install
    yarn add x
    pnpm add x
    bun install
    composer install
    dotnet test
    cargo test --release -- --nocapture
    go test ./...
    kubectl get pods -n x -o yaml
    kubectl get pod rm
    terraform -chdir=a plan -out=p
    docker compose ps
    find "$DIR" -name '*.py'
    find . -name rm -type f
    find . -name '*.py' -exec grep -l foo {} +
    for d in src tests; do find $d -name '*.py'; done
    for f in $(git ls-files '*.py'); do wc -l "$f"; done
    while IFS= read -r line; do echo "$line"; done < f
    IFS=, read -r a b <<< "x,y"
    ip -br addr
    tar -xf Foo.tar -C Inner
    tar czf a.tgz src
    rsync -av a b
    zip -r a.zip b
    curl -fsSLo f https://example.org
    wget -qO- https://example.org
    wget -Ofile.txt https://example.org
    awk -F'|' '{print $2}' f
    awk '{print $1 "|" $2}' f
    awk '$1 > 5 || $2 == "x"' f
    awk '{split($0, a, "|"); print a[1]}' f
    awk '/a|b/ {print}' f
    awk '{getline; print}' f
    script -qc 'ls -l' out
    git show $(git rev-parse HEAD)
    find $HOME/x -name y
    awk '{ sum += $1 } END { print sum/NR }' f
    sed -n '1,20p' f
    sed -i.bak 's/e /x/' f
    sed 's/edge/e/' f
    sed 's|/usr/local|/opt|g' f
    sed '/e rm/d' f
    sed -E 's/([0-9]+)/<\1>/g' f
    sed '$!N;s/\n/ /' f
    sed -e '1i\header' f
    echo '$(rm x)'
    grep 'a\[0\]' f
    echo "rm -rf /" | tee f
    echo rm x > script.sh
    cat <<< 'rm x' | wc -l
    time (ls; ls)
    xargs --version
    ssh -V
    watch --version
    export A=1 B=2
    trap 'echo bye' EXIT; ls
    echo "${x%.py}.txt" ${y:-default}
    ls {a,b}.txt
"""


def test_everyday_lines_pass() -> None:
    """Nothing in them runs a program that is not written out."""
    assert [] == [line for line in _lines(EVERYDAY) if outcome(line) != "allow"]


def test_a_name_in_another_case_is_another_name_where_the_list_says_so() -> None:
    """A list that does not fold compares letter by letter, as contenox does."""
    assert NO == Programs.of(["rm"], folds=False).judge(read_line("RM x"))
    assert UNSURE == Programs.of(["rm"]).judge(read_line("RM x"))
    assert YES == Programs.of(["rm"]).judge(read_line("rm x"))


def _lines(text: str) -> list[str]:
    """The lines of a table; one that begins with a brace belongs to the line before."""
    found: list[str] = []
    for line in filter(None, map(str.strip, text.splitlines())):
        if line.startswith("}"):
            found[-1] += "\n" + line
        else:
            found.append(line)
    return found
