//! The list of functions on its own, see `crate::models`.

use std::ptr;

use super::chain;
use crate::models::both;
use crate::site::{Link, Site};
use crate::sync::modelled::explore;

fn site(name: &'static str) -> &'static Site {
    let mut site = Site::new(name, "here");
    site.next = Link::modelled();
    Box::leak(Box::new(site))
}

/// A library that is loaded announces its functions while others do and while the list is read.
#[test]
fn each_function_is_listed_once() {
    explore(|| {
        let head: &'static Link = Box::leak(Box::new(Link::modelled()));
        let (first, second) = (site("first"), site("second"));
        let times = |site| chain(head).filter(|other| ptr::eq(*other, site)).count();
        both(
            move || first.join(head),
            || {
                second.join(head);
                assert_eq!(times(second), 1);
                first.join(head);
                assert_eq!(times(first), 1);
            },
        );
        assert_eq!((times(first), times(second)), (1, 1));
    });
}
