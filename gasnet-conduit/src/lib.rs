//! Active messages among the processes of a job.
