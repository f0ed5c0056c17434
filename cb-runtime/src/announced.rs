//! The list of all annotated functions, filled before `main`.

use std::ptr;

use crate::few::insert_by_key;
use crate::site::{Link, Site};

/// A power of two.
const CHAINS: usize = 256;

/// The functions, by the hash of their breaker's name. The list is intrusive and only grows, and
/// what fills it takes no lock, allocates nothing and cannot panic: it runs before `main`.
static HEADS: [Link; CHAINS] = [const { Link::new() }; CHAINS];

impl Site {
    /// Puts the function on the list.
    pub fn announce(&'static self) {
        self.join(head(self.name));
    }

    fn join(&'static self, head: &'static Link) {
        let mut link = head;
        while link.set(self).is_err() {
            match link.get() {
                Some(other) if !ptr::eq(self, other) => link = &other.next,
                _ => return,
            }
        }
    }
}

fn head(name: &str) -> &'static Link {
    // FNV-1a.
    let hash = name.bytes().fold(0x811c_9dc5_u32, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    });
    &HEADS[hash as usize % CHAINS]
}

fn chain(head: &'static Link) -> impl Iterator<Item = &'static Site> {
    std::iter::successors(head.get(), |site| site.next.get())
}

/// The announced functions of a breaker, in the order in which they rule.
pub(crate) fn announced(name: &str) -> Vec<&'static Site> {
    let mut sites = Vec::new();
    for site in chain(head(name)).filter(|site| site.name == name) {
        insert_by_key(&mut sites, site, |site| site.place());
    }
    sites
}

/// The names of all breakers that announced functions have, each once.
pub(crate) fn announced_names() -> impl Iterator<Item = &'static str> {
    HEADS.iter().flat_map(|head| {
        chain(head).filter_map(move |site| {
            let first = chain(head).find(|other| other.name == site.name)?;
            ptr::eq(first, site).then_some(site.name)
        })
    })
}

/// Has the loader put a function's static on the list: it calls what it finds in this section of a
/// program or library before anything else of it runs. Where there is no such section the function
/// is listed from its first call on.
///
/// Ours rather than a crate's, since it is compiled with every guarded function: without a value, a
/// node and a wrapper of its own it saved 0.3 ms (async) to 0.6 ms (sync) of `cargo check` for each,
/// when it replaced one. That the unsafe attributes stand in this macro lets crates which forbid
/// unsafe code use it.
#[doc(hidden)]
#[macro_export]
macro_rules! __announce {
    ($site:ident) => {
        extern "C" fn __announce() {
            $site.announce()
        }
        #[used]
        #[cfg_attr(
            any(
                target_os = "linux",
                target_os = "android",
                target_os = "dragonfly",
                target_os = "freebsd",
                target_os = "netbsd",
                target_os = "openbsd",
                target_os = "haiku",
                target_os = "hurd",
                target_os = "illumos",
                target_os = "solaris",
            ),
            unsafe(link_section = ".init_array")
        )]
        #[cfg_attr(
            target_vendor = "apple",
            unsafe(link_section = "__DATA,__mod_init_func,mod_init_funcs")
        )]
        #[cfg_attr(windows, unsafe(link_section = ".CRT$XCU"))]
        static __ANNOUNCE: extern "C" fn() = __announce;
    };
}

#[cfg(all(test, cb_loom))]
mod models;
#[cfg(test)]
mod tests {
    use super::*;

    /// More than there are chains, so that some share one.
    #[test]
    fn each_is_listed_once_however_often_and_from_wherever_it_is_announced() {
        let sites: Vec<&'static Site> = (0..2 * CHAINS)
            .map(|n| {
                let name = Box::leak(format!("announced.{}", n / 2).into_boxed_str());
                &*Box::leak(Box::new(Site::new(name, "here")))
            })
            .collect();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| sites.iter().for_each(|site| site.announce()));
            }
        });
        for pair in sites.chunks(2) {
            let mut found = announced(pair[0].name);
            found.sort_by_key(|site| ptr::from_ref(*site));
            let mut wanted = pair.to_vec();
            wanted.sort_by_key(|site| ptr::from_ref(*site));
            assert!(found.iter().zip(&wanted).all(|(a, b)| ptr::eq(*a, *b)));
            assert_eq!(found.len(), 2);
        }
        let names: Vec<_> = announced_names()
            .filter(|name| name.starts_with("announced."))
            .collect();
        assert_eq!(names.len(), CHAINS);
    }
}
