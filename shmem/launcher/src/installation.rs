//! The place of the tools' installation: `bin`, `include` and `lib` in one folder.

use std::path::{Path, PathBuf};

/// The folder above the one that holds this executable.
#[derive(Debug, Clone)]
pub(crate) struct Installation {
    bin: PathBuf,
    prefix: PathBuf,
}

impl Installation {
    /// Finds the installation of the running executable.
    ///
    /// # Errors
    /// When `/proc/self/exe` cannot be read.
    pub(crate) fn find() -> std::io::Result<Self> {
        Ok(Self::of(&std::fs::read_link("/proc/self/exe")?))
    }

    fn of(executable: &Path) -> Self {
        let bin = executable.parent().unwrap_or(Path::new("/")).to_path_buf();
        let prefix = bin.parent().unwrap_or(Path::new("/")).to_path_buf();
        Installation { bin, prefix }
    }

    /// Returns the folder of the headers.
    pub(crate) fn include(&self) -> PathBuf {
        self.prefix.join("include")
    }

    /// Returns the folder of the libraries.
    pub(crate) fn lib(&self) -> PathBuf {
        self.prefix.join("lib")
    }

    /// Returns the folder that holds libshmem.so for the loader and nothing else: in
    /// LD_LIBRARY_PATH it shadows no library of the system's, as [`Self::lib`] may where it is
    /// shared with others.
    pub(crate) fn run_time(&self) -> PathBuf {
        self.lib().join("farreach")
    }

    /// Returns a tool beside this one.
    pub(crate) fn tool(&self, name: &str) -> PathBuf {
        self.bin.join(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_lies_beside_the_executable() {
        let place = Installation::of(Path::new("/opt/x/bin/oshrun"));
        assert_eq!(place.include(), Path::new("/opt/x/include"));
        assert_eq!(place.lib(), Path::new("/opt/x/lib"));
        assert_eq!(place.run_time(), Path::new("/opt/x/lib/farreach"));
        assert_eq!(place.tool("oshcc"), Path::new("/opt/x/bin/oshcc"));
    }
}
