//! An installation that was moved to another place, used as a user would.

use super::clients;
use crate::case::{Build, Case, Invocation};
use crate::session::Session;
use std::time::Duration;

/// Seconds for a browser that is started three times.
const BROWSER_LIMIT: u64 = 180;
/// Seconds that another case may take: the longest compiles twenty programs.
const LIMIT: u64 = 90;

/// Trials: a name, and a script. `$1` is the moved installation, `$2` the project's root.
const SCRIPTS: [(&str, &str); 24] = [
    (
        "files",
        r#"for file in bin/oshrun bin/oshcc bin/oshc++ bin/farreach bin/softhca lib/libsofthca_shim.so lib/libshmem.so lib/check/libshmem.so lib/farreach/libshmem.so.0 lib/farreach/libfarreach-fi.so lib/libshmem.a lib/pkgconfig/shmem.pc \
               lib/libfarreach-am.so lib/libfarreach-am.so.0 lib/pkgconfig/farreach-am.pc lib/pkgconfig/farreach-gasnet-seq.pc \
               lib/pkgconfig/farreach-gasnet-parsync.pc lib/pkgconfig/farreach-gasnet-par.pc \
               include/farreach-am/farreach_am.h include/farreach-am/gasnet.h include/farreach-am/farreach_gasnet.h \
               include/shmem.h include/pshmem.h include/shmemx.h include/mpp/shmem.h include/mpp/shmemx.h share; do
               test -e "$1/$file" || { echo "$file is missing" >&2; exit 1; }; done"#,
    ),
    (
        "c",
        r#""$1/bin/oshcc" -o "$TMPDIR/hello" "$2/examples/c/hello.c"; "$1/bin/oshrun" -n 3 "$TMPDIR/hello"; rm "$TMPDIR/hello""#,
    ),
    (
        "c++",
        r#"printf '#include <shmem.h>\n#include <cstdlib>\nint main() { shmem_init(); bool two = shmem_n_pes() == 2; shmem_finalize(); return two ? 0 : 1; }\n' > "$TMPDIR/two.cpp"
           "$1/bin/oshc++" -o "$TMPDIR/two" "$TMPDIR/two.cpp"; "$1/bin/oshrun" -n 2 "$TMPDIR/two"; rm "$TMPDIR/two" "$TMPDIR/two.cpp""#,
    ),
    (
        "static",
        r#""$1/bin/oshcc" -static -o "$TMPDIR/hello" "$2/examples/c/hello.c"; if ldd "$TMPDIR/hello"; then exit 1; fi
           "$1/bin/oshrun" -n 3 "$TMPDIR/hello"; rm "$TMPDIR/hello""#,
    ),
    (
        "shared",
        r#""$1/bin/oshcc" -o "$TMPDIR/hello" "$2/examples/c/hello.c"; found=$(ldd "$TMPDIR/hello" | grep libshmem); rm "$TMPDIR/hello"
           case $found in *"$(realpath "$1")/"*) ;; *) echo "not from the moved place: $found" >&2; exit 1; esac"#,
    ),
    (
        "source",
        r#"cd "$TMPDIR"; "$1/bin/oshrun" -n 2 "$2/examples/c/hello.c""#,
    ),
    (
        // The numbers of barriers that docs/scale.md is about.
        "oshrun, exchanges of a start",
        r#""$1/bin/oshcc" -o "$TMPDIR/hello" "$2/examples/c/hello.c"
           printf '#!/bin/sh\nshift\nexec sh -c "$*"\n' > "$TMPDIR/agent"; chmod +x "$TMPDIR/agent"
           export FARREACH_LAUNCH_ACCOUNT=1; hosts="--host localhost:2,127.0.0.1:2 --launch-agent $TMPDIR/agent"
           exchanges() { for frame in "Entered taken" "Open sent"; do
               grep -q "^oshrun: account: $frame $1 frames" "$TMPDIR/said" || { cat "$TMPDIR/said"; exit 1; }; done; }
           "$1/bin/oshrun" $hosts --fabric libfabric "$TMPDIR/hello" 2> "$TMPDIR/said"; exchanges 12
           SYSFS_PATH=/nonexistent "$1/bin/oshrun" $hosts --fabric auto "$TMPDIR/hello" 2> "$TMPDIR/said"; exchanges 16
           "$1/bin/softhca" run -- "$1/bin/oshrun" $hosts --transport dc "$TMPDIR/hello" 2> "$TMPDIR/said"; exchanges 10
           rm "$TMPDIR/hello" "$TMPDIR/agent" "$TMPDIR/said""#,
    ),
    (
        "softhca",
        r#""$1/bin/oshrun" -n 2 --fabric softhca sh -c 'grep -q "$1/lib/libsofthca_shim.so" /proc/self/maps' sh "$(realpath "$1")""#,
    ),
    (
        // As the README has it, for a user that may lock 8 MiB; /tmp, as others may not enter the
        // project's folder.
        "softhca, an ordinary user",
        r#"place=$(mktemp -d /tmp/farreach-user-XXXXXX); trap 'rm -r "$place"' EXIT
           cp -R "$1/bin" "$1/lib" "$place"; "$1/bin/oshcc" -o "$place/hello" "$2/examples/c/hello.c"
           ulimit -l 8192 || ulimit -l "$(ulimit -H -l)"; as=
           if [ "$(id -u)" = 0 ]; then
               chown -R nobody "$place"; as="setpriv --reuid=nobody --regid=nogroup --clear-groups --inh-caps=-all"; fi
           cd "$place"; TMPDIR=$place XDG_RUNTIME_DIR=$place $as ./bin/oshrun -n 4 --ppn 2 --fabric softhca ./hello"#,
    ),
    (
        // Obstacles between a program and the device: linked statically, no shim, no libibverbs.
        "softhca, why not",
        r#"without=; why() { said=$("$1/bin/oshrun" -n 2 --ppn 1 --fabric softhca $without "$TMPDIR/hello" 2>&1) && exit 1
               case $said in *"stand in"*) ;; *"$2"*) return 0 ;; esac; echo "$said" >&2; exit 1; }
           "$1/bin/oshcc" -static -o "$TMPDIR/hello" "$2/examples/c/hello.c"; why "$1" "is linked with -static"
           "$1/bin/oshcc" -o "$TMPDIR/hello" "$2/examples/c/hello.c"
           without="env -u LD_PRELOAD"; why "$1" "is not loaded into this process"; without=; mkdir "$TMPDIR/empty"; : > "$TMPDIR/empty/libibverbs.so.1"
           export LD_LIBRARY_PATH="$TMPDIR/empty"; why "$1" "needs these libraries as well"; rm -r "$TMPDIR/hello" "$TMPDIR/empty""#,
    ),
    (
        // Threads of a static program would crash in a shared library, so none is opened.
        "static, what it cannot",
        r#"refuses() { said=$("$@" 2>&1) && exit 1
               case $said in *": this executable is linked with -static"*) ;; *) echo "$said" >&2; exit 1 ;; esac; }
           "$1/bin/oshcc" -static -o "$TMPDIR/hello" "$2/examples/c/hello.c"
           refuses "$1/bin/oshrun" -n 2 --ppn 1 --fabric libfabric "$TMPDIR/hello"
           refuses env SYSFS_PATH=/nonexistent "$1/bin/oshrun" -n 2 --ppn 1 "$TMPDIR/hello"
           mpirun="/usr/bin/mpirun.openmpi --oversubscribe"; [ "$(id -u)" != 0 ] || mpirun="$mpirun --allow-run-as-root"
           refuses $mpirun -n 2 "$TMPDIR/hello"; rm "$TMPDIR/hello""#,
    ),
    (
        "help",
        r#"cd "$2"; cargo xtask install --help | grep -q -e 'install --prefix DIR'; cargo xtask symbols -h | grep -q TASK"#,
    ),
    (
        "farreach",
        r#""$1/bin/softhca" run -- "$1/bin/farreach" info --lanes 2 --tsv | grep -q "^2x-dynamic	2	own	library	1	4	4	5	10	"
           "$1/bin/softhca" run -- "$1/bin/farreach" info --lanes 2 | grep -q "^FARREACH_FABRIC=auto takes mlx5"
           SYSFS_PATH=/nonexistent "$1/bin/farreach" info | grep -q "^FARREACH_FABRIC=auto takes .* on ""#,
    ),
    (
        "farreach, a report",
        r#""$1/bin/softhca" run -- "$1/bin/farreach" report --threads 1,2 --output "$TMPDIR/report.html" | grep -q ": 14 figures$"
           grep -q '<figure id="endpoints">' "$TMPDIR/report.html"; rm "$TMPDIR/report.html""#,
    ),
    (
        "pkg-config",
        r#"export PKG_CONFIG_PATH="$1/lib/pkgconfig"
           eval "cc -o \"\$TMPDIR/hello\" \"\$2/examples/c/hello.c\" $(pkg-config --cflags --libs shmem)"
           "$1/bin/oshrun" -n 2 "$TMPDIR/hello"
           eval "cc -static -o \"\$TMPDIR/hello\" \"\$2/examples/c/hello.c\" $(pkg-config --static --cflags --libs shmem)"
           "$1/bin/oshrun" -n 2 "$TMPDIR/hello"; rm "$TMPDIR/hello""#,
    ),
    (
        "GASNet by make",
        r#"cd "$TMPDIR"; for mode in seq parsync par; do
               ln -sf "$1/include/farreach-am/farreach-conduit/farreach-$mode.mak" linked.mak
               printf 'include linked.mak\nhello: %s\n\t%s\n' "$2/examples/gasnet/hello.c" \
                   '$(GASNET_CC) $(GASNET_CPPFLAGS) $(GASNET_CFLAGS) -o $@ $< $(GASNET_LDFLAGS) $(GASNET_LIBS)' > makefile
               make -s; "$1/bin/oshrun" -n 2 ./hello; rm hello makefile
           done; rm linked.mak"#,
    ),
    (
        "libfabric, calls",
        r#"export FI_PROVIDER_PATH="$1/lib/farreach"
           all="objects memory rma tagged threads atomic words events waits direct contexts shared ends triggers vectors"
           all="$all progress named silent injected keys full data gone unasked behind reopened"
           for name in $all; do
               source="$2/fi-provider/libfabric/tests/c/$name.c"
               cc -O2 -Wall -Wextra -Werror -pthread -o "$TMPDIR/$name" "$source" -lfabric
               "$TMPDIR/$name"
           done
           for name in tagged threads atomic waits triggers; do AUTOMATIC=1 "$TMPDIR/$name"; done
           for transport in rc dc; do
               for name in tagged words direct contexts shared triggers progress injected keys full data gone \
                       events unasked behind reopened; do
                   FI_FARREACH_NEAR=0 FI_FARREACH_TRANSPORT=$transport "$1/bin/softhca" run -- "$TMPDIR/$name"
               done
           done; cd "$TMPDIR"; rm $all"#,
    ),
    (
        // A peer that is killed over a device is told of after some 10 s: not here.
        "libfabric, misuse",
        r#"export FI_PROVIDER_PATH="$1/lib/farreach"
           for name in misuse killed opens; do
               cc -Wall -Wextra -Werror -o "$TMPDIR/$name" "$2/fi-provider/libfabric/tests/c/$name.c" -lfabric
           done
           "$TMPDIR/misuse"; "$TMPDIR/killed"; "$TMPDIR/opens" 2000
           check() { lost="$1"; shift; valgrind --quiet --leak-check=full --errors-for-leak-kinds=$lost --error-exitcode=99 "$@"; }
           all=definite,indirect,possible; check $all "$TMPDIR/misuse"; check $all "$TMPDIR/opens" 100
           # A thread that has waited for another one keeps its handle, by a pointer into it.
           AUTOMATIC=1 check definite,indirect "$TMPDIR/opens" 50
           cd "$TMPDIR"; rm misuse killed opens"#,
    ),
    (
        // Without the path libfabric has no provider of this name, so that it is ours that the two
        // use.
        "libfabric",
        r#"if FI_PROVIDER_PATH=/nonexistent fi_info -p farreach; then exit 1; fi
           export FI_PROVIDER_PATH="$1/lib/farreach"; fi_info -p farreach | grep -x 'provider: farreach'
           if fi_info -p farreach -t FI_EP_DGRAM || fi_info -p farreach -c FI_COLLECTIVE; then exit 1; fi
           for size in 64 8192 262144; do
               "$2/fi-provider/libfabric/tests/pingpong" -I 100 -S $size
           done"#,
    ),
    (
        "libfabric, settings and refusals",
        r#"export FI_PROVIDER_PATH="$1/lib/farreach" FI_LOG_PROV=farreach
           for name in TRANSPORT NEAR; do fi_info -e | grep -q "^# FI_FARREACH_$name: "; done
           refuses() { said="$1"; shift
               if env "$@" fi_info -p farreach $hints > "$TMPDIR/said" 2>&1; then exit 1; fi
               grep -q -F "fi_getinfo: $said" "$TMPDIR/said" || { cat "$TMPDIR/said" >&2; exit 1; }; }
           hints=
           refuses "FI_FARREACH_TRANSPORT is 'x': it may be rc, dc, none or auto" FI_FARREACH_TRANSPORT=x
           refuses "FI_FARREACH_NEAR is '2': it may be 0 or 1" FI_FARREACH_NEAR=2
           hints="-c FI_COLLECTIVE"; refuses "hints->caps: FI_COLLECTIVE is not offered" FI_LOG_LEVEL=info
           hints="-t FI_EP_DGRAM"; refuses "hints->ep_attr->type is not offered" FI_LOG_LEVEL=info
           hints="-n nowhere"; refuses '"nowhere" is no address of an endpoint' FI_LOG_LEVEL=info
           rm "$TMPDIR/said""#,
    ),
    (
        "libfabric, all sizes",
        r#"export FI_PROVIDER_PATH="$1/lib/farreach"
           for mode in msg tagged; do
               "$2/fi-provider/libfabric/tests/pingpong" -I 2 -S all -m $mode
           done"#,
    ),
    (
        // Each process logs how many messages have come to it by the provider. Without the path
        // Open MPI has no transport that it may take: btl/self reaches the process itself alone.
        // Windows go by messages, and then by the provider's own accesses.
        "libfabric, Open MPI",
        r#"mpicc.openmpi -Wall -Wextra -Werror -o "$TMPDIR/mpi" "$2/fi-provider/libfabric/tests/c/mpi.c"
           export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
           run() { timeout 20 /usr/bin/mpirun.openmpi --oversubscribe --mca pml cm --mca mtl ofi \
               --mca mtl_ofi_provider_include farreach --mca btl_ofi_provider_include farreach \
               -x FI_LOG_LEVEL=info -x FI_LOG_PROV=farreach "$@" 2>"$TMPDIR/said"; }
           passes() { run "$@" || { cat "$TMPDIR/said" >&2; exit 1; }
               test $(grep -c 'farreach:.* [1-9][0-9]* messages have come' "$TMPDIR/said") -ge $processes; }
           messages="--mca osc pt2pt --mca btl self"; accesses="--mca osc rdma --mca btl ofi,self"
           if FI_PROVIDER_PATH=/nonexistent run -n 2 $messages "$TMPDIR/mpi"; then exit 1; fi
           export FI_PROVIDER_PATH="$1/lib/farreach"
           for processes in 2 4; do passes -n $processes $messages "$TMPDIR/mpi"; done
           processes=2; passes -n 2 $accesses "$TMPDIR/mpi" without-swaps
           rm "$TMPDIR/mpi" "$TMPDIR/said""#,
    ),
    (
        // As "libfabric", over a device alone, by both transports.
        "libfabric, device",
        r#"export FI_PROVIDER_PATH="$1/lib/farreach" FI_FARREACH_NEAR=0
           for transport in rc dc; do
               FI_FARREACH_TRANSPORT=$transport "$1/bin/softhca" run -- sh -euc '
                   for size in 64 65536; do
                       "$1/fi-provider/libfabric/tests/pingpong" -I 100 -S $size
                   done' sh "$2"
           done"#,
    ),
    (
        "libfabric, device, all sizes",
        r#"export FI_PROVIDER_PATH="$1/lib/farreach" FI_FARREACH_NEAR=0
           for transport in rc dc; do
               FI_FARREACH_TRANSPORT=$transport "$1/bin/softhca" run -- sh -euc '
                   for mode in msg tagged; do
                       "$1/fi-provider/libfabric/tests/pingpong" -I 2 -S all -m $mode
                   done' sh "$2"
           done"#,
    ),
];

/// Returns one case for each script.
pub(crate) fn cases(session: &Session) -> Result<Vec<Case>, String> {
    let first = session.built("installation");
    let moved = session.built("moved");
    let script = r#"cargo xtask install --prefix "$1" && mv "$1" "$2""#;
    let install = Invocation::new("sh")
        .args(["-euc", script, "sh"])
        .arg(&first)
        .arg(&moved);
    let install = install.env("CARGO_TARGET_DIR", &session.place.target);
    let install = Build::new(install, Duration::from_secs(120));
    let (wheel, install_wheel) = clients::wheel(session);
    let of = |(name, script): (&str, &str)| {
        let run = Invocation::new("sh")
            .args(["-euc", script, "sh"])
            .arg(&moved)
            .arg(&session.place.root)
            .arg(&wheel);
        let mut case = Case::new(name, LIMIT, run);
        case.needs.push(install.clone());
        case.leaves_nothing = true;
        case
    };
    let browser = browser(&of);
    let mut further = clients::SCRIPTS.map(of);
    for case in &mut further {
        case.needs.push(install_wheel.clone());
    }
    let all = SCRIPTS.map(of).into_iter().chain([browser]);
    Ok(all.chain(further).collect())
}

/// Returns the case of the report, looked at in a browser. Without one, which is no requirement of
/// the tests, the name says that nothing was looked at.
fn browser(of: &dyn Fn((&'static str, &'static str)) -> Case) -> Case {
    const SCRIPT: &str = r#"sh "$2/fi-provider/cli/tests/browser/check.sh" chromium "$1/bin/softhca" run -- "$1/bin/farreach" > /dev/null"#;
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let is_there = std::env::split_paths(&paths).any(|path| path.join("chromium").is_file());
    if !is_there {
        return of((
            "farreach, a report in a browser: skipped, no chromium",
            "true",
        ));
    }
    let mut case = of(("farreach, a report in a browser", SCRIPT));
    case.limit = Duration::from_secs(BROWSER_LIMIT);
    case
}
