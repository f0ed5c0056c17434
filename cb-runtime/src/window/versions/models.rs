//! Versions on their own, see `crate::models`.

use std::sync::Arc;

use super::Versions;
use crate::models::both;
use crate::sync::modelled::explore;
use crate::sync::{AtomicU64, Ordering};

/// Who finds one in use again, by either way, finds it prepared.
#[test]
fn whoever_sees_a_version_sees_what_was_made_for_it() {
    explore(|| {
        let versions = Arc::new(Versions::new((1, AtomicU64::new(0))));
        let put = |versions: &Versions<(u32, AtomicU64)>, wanted| {
            versions.replace(
                |one| one.0 == wanted,
                || (wanted, AtomicU64::new(0)),
                |one, version| one.1.store(version, Ordering::Relaxed),
            );
        };
        put(&versions, 2);
        let other = Arc::clone(&versions);
        both(
            move || put(&other, 1),
            || {
                let check = |(one, version): (&(u32, AtomicU64), u64)| {
                    assert_eq!(one.1.load(Ordering::Relaxed), version);
                };
                versions.first().map(check);
                check(versions.present());
            },
        );
    });
}
