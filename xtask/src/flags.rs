//! The files of an installation that tell of the flags of programs: for pkg-config and for make.

use std::path::{Path, PathBuf};

/// The folder of the headers of active messages and of GASNet, which lie beside no others: a
/// program of theirs may have a shmem.h of its own, or another gasnet.h.
pub(crate) const OF_MESSAGES: &str = "include/farreach-am";

/// A library by pkg-config: the paths are taken from where this file lies.
const PKG_CONFIG: &str = "\
prefix=${pcfiledir}/../..
includedir=${prefix}/@INCLUDE@
libdir=${prefix}/lib

Name: @NAME@
Description: @DESCRIPTION@
Version: @VERSION@
Cflags: -I${includedir}@CFLAGS@
Libs: -L${libdir} -Wl,-rpath,${libdir} @LIBS@
";

/// The line that only static programs of OpenSHMEM need.
const PKG_CONFIG_STATIC: &str =
    "Libs.private: -Wl,--undefined=_Fork,--wrap=_Fork -lgcc -lgcc_eh -lc\n";

/// The modes of GASNet-1, and the flag that compiler and linker need for threads.
const MODES: [(&str, &str); 3] = [("seq", ""), ("parsync", " -pthread"), ("par", " -pthread")];

/// The folder of the files for make below [`OF_MESSAGES`], as GASNet's installations have it.
const CONDUIT: &str = "farreach-conduit";

/// A mode of GASNet-1 for GNU make, by the variables of GASNet's README: the paths are taken from
/// where this file lies, also where a link leads there.
const MAKE: &str = "\
# GASNet-1 by Farreach, GASNET_@MODE@: for programs whose makefile includes this.
FARREACH_GASNET := $(abspath $(dir $(realpath $(lastword $(MAKEFILE_LIST))))../../..)
GASNET_CC ?= cc
GASNET_CXX ?= c++
GASNET_LD ?= $(GASNET_CC)
GASNET_DEFINES = -D_GNU_SOURCE=1 -DGASNET_@MODE@=1
GASNET_INCLUDES = -I$(FARREACH_GASNET)/@INCLUDE@
GASNET_OPT_CFLAGS = -O2
GASNET_MISC_CFLAGS =@THREADS@
GASNET_CPPFLAGS = $(GASNET_DEFINES) $(GASNET_INCLUDES)
GASNET_CFLAGS = $(GASNET_OPT_CFLAGS) $(GASNET_MISC_CFLAGS)
GASNET_CXXCPPFLAGS = $(GASNET_CPPFLAGS)
GASNET_CXXFLAGS = $(GASNET_CFLAGS)
GASNET_LDFLAGS =@THREADS@ -L$(FARREACH_GASNET)/lib -Wl,-rpath,$(FARREACH_GASNET)/lib
GASNET_LIBS = -lfarreach-am
";

/// Returns the files that programs of OpenSHMEM need: the place of each in the installation, and
/// its text.
pub(crate) fn of_programs() -> Vec<(PathBuf, String)> {
    let library = Library {
        name: "shmem",
        description: "OpenSHMEM 1.6 by Farreach",
        include: "include",
        cflags: "",
        libs: "-lshmem",
    };
    let (to, text) = library.pkg_config();
    vec![(to, text + PKG_CONFIG_STATIC)]
}

/// Returns the files that programs of active messages and of GASNet-1 need, as [`of_programs`].
pub(crate) fn of_messages() -> Vec<(PathBuf, String)> {
    let library = Library {
        name: "farreach-am",
        description: "active messages by Farreach",
        include: OF_MESSAGES,
        cflags: "",
        libs: "-lfarreach-am",
    };
    let mut files = vec![library.pkg_config()];
    for (mode, threads) in MODES {
        let upper = mode.to_uppercase();
        let gasnet = Library {
            name: &format!("farreach-gasnet-{mode}"),
            description: &format!("GASNet-1 by Farreach, GASNET_{upper}"),
            include: OF_MESSAGES,
            cflags: &format!(" -DGASNET_{upper}=1{threads}"),
            libs: &format!("-lfarreach-am{threads}"),
        };
        files.push(gasnet.pkg_config());
        let text = MAKE.replace("@MODE@", &upper);
        let text = text.replace("@INCLUDE@", OF_MESSAGES);
        let to = Path::new(OF_MESSAGES).join(CONDUIT);
        files.push((
            to.join(format!("farreach-{mode}.mak")),
            text.replace("@THREADS@", threads),
        ));
    }
    files
}

/// A library that programs are linked with, as pkg-config knows it.
struct Library<'a> {
    name: &'a str,
    description: &'a str,
    include: &'a str,
    cflags: &'a str,
    libs: &'a str,
}

impl Library<'_> {
    /// Returns the file for pkg-config: its place in the installation, and its text.
    fn pkg_config(&self) -> (PathBuf, String) {
        let text = PKG_CONFIG
            .replace("@INCLUDE@", self.include)
            .replace("@NAME@", self.name)
            .replace("@DESCRIPTION@", self.description)
            .replace("@VERSION@", env!("CARGO_PKG_VERSION"))
            .replace("@CFLAGS@", self.cflags)
            .replace("@LIBS@", self.libs);
        let to = Path::new("lib/pkgconfig").join(format!("{}.pc", self.name));
        (to, text)
    }
}
