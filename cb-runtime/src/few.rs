//! Lists of few things, kept in order. A sort or a map of its own for each of them costs whoever builds
//! this crate more than it is worth.

/// Puts `item` behind those of the list whose key is not greater.
pub(crate) fn insert_by_key<T, K: Ord>(list: &mut Vec<T>, item: T, key: impl Fn(&T) -> K) {
    let own = key(&item);
    let place = list.partition_point(|other| key(other) <= own);
    list.insert(place, item);
}

/// By name, in the order of the names.
pub(crate) struct Few<N, V>(Vec<(N, V)>);

impl<N, V> Default for Few<N, V> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<N: AsRef<str>, V> Few<N, V> {
    /// Where it is, or where it belongs.
    fn find(&self, name: &str) -> Result<usize, usize> {
        self.0
            .binary_search_by(|(other, _)| other.as_ref().cmp(name))
    }

    pub(crate) fn get(&self, name: &str) -> Option<&V> {
        self.0.get(self.find(name).ok()?).map(|(_, value)| value)
    }

    pub(crate) fn get_or_insert(&mut self, name: N, make: impl FnOnce() -> V) -> &mut V {
        let place = self.find(name.as_ref()).unwrap_or_else(|place| {
            self.0.insert(place, (name, make()));
            place
        });
        &mut self.0[place].1
    }

    /// Returns what was there.
    pub(crate) fn insert(&mut self, name: N, value: V) -> Option<V> {
        let before = self.remove(name.as_ref());
        self.get_or_insert(name, || value);
        before
    }

    pub(crate) fn remove(&mut self, name: &str) -> Option<V> {
        let place = self.find(name).ok()?;
        Some(self.0.remove(place).1)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&N, &V)> {
        self.0.iter().map(|(name, value)| (name, value))
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_keys_keep_their_order() {
        let mut list = Vec::new();
        for item in [(2, 'a'), (1, 'b'), (2, 'c'), (1, 'd'), (0, 'e')] {
            insert_by_key(&mut list, item, |item| item.0);
        }
        assert_eq!(list, [(0, 'e'), (1, 'b'), (1, 'd'), (2, 'a'), (2, 'c')]);
    }

    #[test]
    fn each_name_once() {
        let mut few = Few::default();
        for (name, value) in [("b", 1), ("a", 2), ("c", 3)] {
            assert_eq!(few.insert(name, value), None);
        }
        assert_eq!(few.insert("a", 4), Some(2));
        assert_eq!(few.get_or_insert("c", || 5), &mut 3);
        assert_eq!(
            [few.get("a"), few.get("b"), few.get("d")],
            [Some(&4), Some(&1), None]
        );
        assert_eq!(few.remove("b"), Some(1));
        assert_eq!((few.remove("b"), few.len()), (None, 2));
        few.clear();
        assert_eq!(few.get("a"), None);
    }
}
