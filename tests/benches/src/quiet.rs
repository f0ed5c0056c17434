//! A core for each thread, and whether it was taken away.

/// How often the kernel has taken the core away from this thread to run another; 0 where it does
/// not tell. What the host of a virtual machine takes away is not seen.
pub(crate) fn preemptions() -> u64 {
    let status = std::fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("nonvoluntary_ctxt_switches:"));
    line.and_then(|count| count.trim().parse().ok())
        .unwrap_or(0)
}

/// Binds this thread to the `index`th of the cores that the process may use, so that two threads
/// cannot end up on one of them in turn. Where that is not possible, nothing happens.
pub(crate) fn bind(index: usize) {
    #[cfg(target_os = "linux")]
    {
        use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
        let Ok(allowed) = sched_getaffinity(None) else {
            return;
        };
        let cores: Vec<_> = (0..CpuSet::MAX_CPU)
            .filter(|&core| allowed.is_set(core))
            .collect();
        if let Some(&core) = cores.get(index % cores.len().max(1)) {
            let mut one = CpuSet::new();
            one.set(core);
            // Without it the figures of several threads are worse, and said to be disturbed.
            let _ = sched_setaffinity(None, &one);
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = index;
}
