//! The variables of the launcher in the environment.

use crate::Error;

/// The variable by which oshrun describes the connection that it has made: the values of `PMI_FD`,
/// `PMI_RANK` and `PMI_SIZE` that it goes with, and the number of the socket's inode.
pub const CONNECTION: &str = "FARREACH_PMI";

/// The value of [`CONNECTION`].
#[must_use]
pub fn connection(fd: i32, rank: usize, size: usize, inode: u64) -> String {
    format!("{}{inode}", connection_prefix(fd, rank, size))
}

fn connection_prefix(fd: i32, rank: usize, size: usize) -> String {
    format!("{fd}:{rank}:{size}:")
}

/// How this process was started.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Launch {
    /// By nobody: a job of one.
    Alone {
        /// The tasks of Slurm's allocation, if there are several.
        allocated: Option<usize>,
    },
    /// By a launcher that speaks PMIx.
    Pmix,
    /// By a launcher that serves PMI-1 on a descriptor.
    Pmi {
        /// The socket's number.
        fd: i32,
        /// This PE.
        rank: usize,
        /// All PEs.
        size: usize,
        /// The socket's inode, where the launcher tells it.
        inode: Option<u64>,
    },
}

/// Reads the environment through `variable`, which yields the value of a variable by name.
pub(crate) fn read(variable: impl Fn(&str) -> Option<String>) -> Result<Launch, Error> {
    if let Some(fd) = variable("PMI_FD") {
        let number = |name: &str| -> Result<usize, Error> {
            let text = variable(name)
                .ok_or_else(|| Error::Environment(format!("PMI_FD is set and {name} is not")))?;
            text.parse()
                .map_err(|_| Error::Environment(format!("{name} is \"{text}\"")))
        };
        let (rank, size) = (number("PMI_RANK")?, number("PMI_SIZE")?);
        let fd = fd
            .parse()
            .map_err(|_| Error::Environment(format!("PMI_FD is \"{fd}\"")))?;
        if rank >= size || i32::try_from(size).is_err() {
            return Err(Error::Environment(format!(
                "PMI_RANK is {rank} and PMI_SIZE is {size}"
            )));
        }
        // One with other numbers is left from a launcher further out.
        let inode = variable(CONNECTION).and_then(|text| {
            let inode = text.strip_prefix(&connection_prefix(fd, rank, size))?;
            inode.parse().ok()
        });
        return Ok(Launch::Pmi {
            fd,
            rank,
            size,
            inode,
        });
    }
    match ["PMIX_NAMESPACE", "PMIX_RANK"].map(|name| variable(name).is_some()) {
        [true, true] => return Ok(Launch::Pmix),
        [false, false] => {}
        [namespace, _] => {
            let (set, unset) = match namespace {
                true => ("PMIX_NAMESPACE", "PMIX_RANK"),
                false => ("PMIX_RANK", "PMIX_NAMESPACE"),
            };
            let text = format!("{set} is set and {unset} is not");
            return Err(Error::Environment(text));
        }
    }
    let unsupported = |launcher| Err(Error::Unsupported { launcher });
    if variable("PMI_PORT").is_some() {
        return unsupported("a launcher that speaks PMI-1 over a TCP port (PMI_PORT)");
    }
    let several = |name| {
        let number = variable(name)?.parse().ok();
        number.filter(|&number: &usize| number > 1)
    };
    // A plain srun tells its tasks nothing but their number: each would take itself for the only one.
    if several("SLURM_STEP_NUM_TASKS").is_some() && variable("SLURM_PROCID").is_some() {
        return unsupported("srun without --mpi=pmi2 or --mpi=pmix");
    }
    // The shell of sbatch or salloc has the allocation's number, and one process there is one.
    Ok(Launch::Alone {
        allocated: several("SLURM_NTASKS").or_else(|| several("SLURM_NPROCS")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(variables: &[(&str, &str)]) -> Result<Launch, Error> {
        read(|name| {
            variables
                .iter()
                .find(|(key, _)| *key == name)
                .map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn nothing_is_a_job_of_one() {
        let alone = |allocated| Launch::Alone { allocated };
        assert_eq!(with(&[]).unwrap(), alone(None));
        // A step of one task: srun -n 1, and the shell of an interactive step.
        let step = [("SLURM_PROCID", "0"), ("SLURM_STEP_NUM_TASKS", "1")];
        assert_eq!(with(&step).unwrap(), alone(None));
        assert_eq!(with(&[("SLURM_NTASKS", "1")]).unwrap(), alone(None));
        assert_eq!(with(&[("SLURM_NTASKS", "many")]).unwrap(), alone(None));
    }

    #[test]
    fn a_script_in_an_allocation_is_a_job_of_one() {
        let batch = [("SLURM_PROCID", "0"), ("SLURM_NTASKS", "4")];
        let salloc = [("SLURM_NPROCS", "4")];
        for variables in [&batch[..], &salloc] {
            let allocated = Some(4);
            assert_eq!(with(variables).unwrap(), Launch::Alone { allocated });
        }
    }

    #[test]
    fn pmix_is_found_where_no_pmi_is() {
        let pmix = [("PMIX_NAMESPACE", "job"), ("PMIX_RANK", "1")];
        assert_eq!(with(&pmix).unwrap(), Launch::Pmix);
        let mut both = pmix.to_vec();
        both.extend([("PMI_FD", "3"), ("PMI_RANK", "0"), ("PMI_SIZE", "1")]);
        assert!(matches!(with(&both).unwrap(), Launch::Pmi { .. }));
        // srun --mpi=pmix tells its own numbers, too.
        let mut slurm = pmix.to_vec();
        slurm.extend([("SLURM_PROCID", "1"), ("SLURM_STEP_NUM_TASKS", "2")]);
        assert_eq!(with(&slurm).unwrap(), Launch::Pmix);
    }

    #[test]
    fn pmi_is_read_and_checked() {
        let good = [
            ("PMI_FD", "7"),
            ("PMI_RANK", "1"),
            ("PMI_SIZE", "2"),
            ("PMIX_RANK", "0"),
        ];
        let expected = |inode| Launch::Pmi {
            fd: 7,
            rank: 1,
            size: 2,
            inode,
        };
        assert_eq!(with(&good).unwrap(), expected(None));
        let told = connection(7, 1, 2, 12345);
        for (told, inode) in [
            (told.as_str(), Some(12345)),
            ("8:1:2:12345", None),
            ("7:1:21:12345", None),
            ("7:1:2:", None),
        ] {
            let mut variables = good.to_vec();
            variables.push((CONNECTION, told));
            assert_eq!(with(&variables).unwrap(), expected(inode), "{told}");
        }
        for bad in [
            &[("PMI_FD", "7")][..],
            &[("PMIX_NAMESPACE", "job")],
            &[("PMIX_RANK", "1")],
            &[("PMI_FD", "7"), ("PMI_RANK", "1")],
            &[("PMI_FD", "x"), ("PMI_RANK", "0"), ("PMI_SIZE", "2")],
            &[("PMI_FD", "7"), ("PMI_RANK", "2"), ("PMI_SIZE", "2")],
            &[("PMI_FD", "7"), ("PMI_RANK", "-1"), ("PMI_SIZE", "2")],
            &[
                ("PMI_FD", "7"),
                ("PMI_RANK", "0"),
                ("PMI_SIZE", "4294967296"),
            ],
        ] {
            assert!(matches!(with(bad), Err(Error::Environment(_))), "{bad:?}");
        }
    }

    #[test]
    fn a_launcher_that_is_not_understood_is_no_job_of_one() {
        for bad in [
            &[("PMI_PORT", "host:1234")][..],
            &[("SLURM_PROCID", "0"), ("SLURM_STEP_NUM_TASKS", "2")],
        ] {
            let error = with(bad).unwrap_err();
            assert!(matches!(error, Error::Unsupported { .. }), "{bad:?}");
            assert!(error.to_string().contains("oshrun"), "{error}");
        }
    }
}
