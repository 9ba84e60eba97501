//! Programs over the newest libfabric, which PyPI's wheel of MPICH brings along: cases of a moved
//! installation.

use crate::case::{Build, Invocation};
use crate::session::Session;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// The wheel: libfabric in it is 2.5.1.
const WHEEL: &str = "mpich==5.0.2";

/// Installs the wheel `$2` in the folder `$1`, unless it is there.
const INSTALL: &str = r#"
    test ! -e "$1" || exit 0
    new="$1.$$"; trap 'rm -rf "$new"' EXIT
    /usr/bin/python3 -m venv "$new"
    "$new/bin/pip" --quiet --disable-pip-version-check install --only-binary :all: --no-deps "$2" || {
        echo "PyPI's $2 cannot be installed: is pypi.org reached from here?" >&2; exit 1; }
    mv -T "$new" "$1" || test -e "$1/bin/mpiexec"
"#;

/// Further cases: a name, and a script. `$1` is the moved installation, `$2` the project's root, `$3`
/// the installed wheel.
pub(super) const SCRIPTS: [(&str, &str); 3] = [
    (
        // Programs that Debian has built, and the calls, by the wheel's library.
        "libfabric 2.5.1",
        r#"export LD_LIBRARY_PATH="$3/lib/mpich" FI_PROVIDER_PATH="$1/lib/farreach"
           fi_info --version | grep -x 'libfabric: 2.5.1'
           fi_info -p farreach | grep -x 'provider: farreach'
           for source in "$2"/fi-provider/libfabric/tests/c/*.c; do
               test "${source##*/}" != mpi.c || continue
               cc -O2 -Wall -Wextra -Werror -pthread -o "$TMPDIR/calls" "$source" -lfabric
               "$TMPDIR/calls"
           done; rm "$TMPDIR/calls"
           for mode in msg tagged; do
               "$2/fi-provider/libfabric/tests/pingpong" -I 2 -S all -m $mode
           done"#,
    ),
    (
        // PEs on nodes over its RDM endpoints of tcp, which libfabric 1.17 does not have under this name.
        "libfabric 2.5.1, jobs over tcp",
        r#"export FARREACH_LIBFABRIC="$3/lib/mpich/libfabric.so.1" FARREACH_LIBFABRIC_PROVIDER=tcp
           job() { program=$1; shift
               "$1/bin/oshcc" -O2 -pthread -I "$2/tests/conformance" -o "$TMPDIR/job" \
                   "$2/tests/conformance/$program.c"
               root=$1; shift 3
               SHMEM_DEBUG=1 timeout 60 "$root/bin/oshrun" -n 4 --ppn 2 --fabric libfabric \
                   "$TMPDIR/job" "$@" 2>"$TMPDIR/said" || { cat "$TMPDIR/said" >&2; exit 1; }
               grep -q "over libfabric's tcp on" "$TMPDIR/said"; }
           for program in amo/types_c99 collective/moves_c99 order/fence order/quiet rma/lengths signal/types_c99; do
               job $program "$@"
           done
           job amo/contention "$@" 300; job lock/exclusion "$@" 15; job context/lanes "$@" 9
           job semantics/asleep "$@" computes; job threads/multiple "$@" 1500 20000
           rm "$TMPDIR/job" "$TMPDIR/said""#,
    ),
    (
        // Each process logs how many messages have come to it by the provider. Without the path MPICH
        // has no provider of this name, and processes of the node have no other way to each other.
        "libfabric, MPICH",
        r#""$3/bin/mpicc" -Wall -Wextra -Werror -o "$TMPDIR/mpi" "$2/fi-provider/libfabric/tests/c/mpi.c"
           export FI_PROVIDER=farreach MPIR_CVAR_CH4_NETMOD=ofi MPIR_CVAR_NOLOCAL=1
           export FI_LOG_LEVEL=info FI_LOG_PROV=farreach
           run() { timeout 20 "$@" "$TMPDIR/mpi" 2>"$TMPDIR/said"; }
           # hydra may lose the words of processes that it ends.
           for try in 1 2 3 4 5; do
               if FI_PROVIDER_PATH=/nonexistent run "$3/bin/mpiexec" -n 2; then exit 1; fi
               if grep -q 'OFI call getinfo failed' "$TMPDIR/said"; then break; fi
           done
           grep -q 'OFI call getinfo failed' "$TMPDIR/said"
           export FI_PROVIDER_PATH="$1/lib/farreach"
           passes() { run "$@" || { cat "$TMPDIR/said" >&2; exit 1; }
               test $(grep -c 'farreach:.* [1-9][0-9][0-9]* messages have come' "$TMPDIR/said") = $processes; }
           for processes in 2 4; do passes "$3/bin/mpiexec" -n $processes; done
           processes=2; export FI_FARREACH_NEAR=0
           for transport in rc dc; do
               export FI_FARREACH_TRANSPORT=$transport
               passes "$1/bin/softhca" run -- "$3/bin/mpiexec" -n 2
           done; rm "$TMPDIR/mpi" "$TMPDIR/said""#,
    ),
];

/// Returns the folder in which the wheel is installed, for all runs that have the target directory
/// in common, and the build that installs it.
pub(super) fn wheel(session: &Session) -> (PathBuf, Arc<Build>) {
    let place = session.place.target.join(WHEEL.replace("==", "-"));
    let install = Invocation::new("sh")
        .args(["-euc", INSTALL, "sh"])
        .arg(&place)
        .arg(WHEEL);
    (place, Build::new(install, Duration::from_secs(180)))
}
