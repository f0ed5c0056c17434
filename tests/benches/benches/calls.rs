//! Curves of the same subjects for who works on the hot path, with criterion's history of runs:
//!
//! ```sh
//! cargo bench -p cb-benches                                # ours and the baselines
//! cargo bench -p cb-benches --features rivals -- open      # with the rivals, one case
//! ```
//!
//! On one thread. `scripts/benchmark` is what compares: there, all subjects take turns.

// Of criterion's macros.
#![allow(missing_docs)]

use std::time::{Duration, Instant};

use cb_benches::subjects;
use criterion::{Criterion, criterion_group, criterion_main};

fn calls(criterion: &mut Criterion) {
    for subject in subjects() {
        let mut group = criterion.benchmark_group(subject.case.id());
        group.warm_up_time(Duration::from_millis(500));
        group.measurement_time(Duration::from_secs(2));
        group.bench_function(subject.who.to_string(), |bencher| {
            bencher.iter_custom(|calls| {
                let start = Instant::now();
                let _ = subject.run(calls);
                start.elapsed()
            });
        });
        group.finish();
    }
}

criterion_group!(benches, calls);
criterion_main!(benches);
