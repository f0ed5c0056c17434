//! Patterns of names, in which `*` stands for any number of any characters.

/// Whether the name is one that the pattern means. A pattern without `*` is a name.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else {
        return pattern == name;
    };
    let Some(mut name) = name.strip_prefix(start) else {
        return false;
    };
    let mut pieces: Vec<&str> = rest.split('*').collect();
    let end = pieces.pop().unwrap_or_default();
    // Each piece as early as possible leaves the most for those behind it.
    for piece in pieces {
        let Some(at) = name.find(piece) else {
            return false;
        };
        name = &name[at + piece.len()..];
    }
    name.ends_with(end)
}

/// How much a pattern says of the names it means: a name says more than any pattern, and a pattern
/// with more characters besides `*` more than one with fewer.
#[cfg(feature = "config-file")]
pub(crate) fn specificity(pattern: &str) -> (bool, usize) {
    let is_name = !pattern.contains('*');
    (is_name, pattern.chars().filter(|c| *c != '*').count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_is_any_number_of_characters() {
        let cases = [
            ("*", "", true),
            ("*", "a.b", true),
            ("a.*", "a.b", true),
            ("a.*", "a.", true),
            ("a.*", "ab", false),
            ("*.b", "a.b", true),
            ("*.b", "a.bc", false),
            ("a*c*e", "abcde", true),
            ("a*c*e", "aecx", false),
            ("a*a", "a", false),
            ("ab*ba", "aba", false),
            ("*ä*", "xäx", true),
            ("a**b", "ab", true),
            ("a*bc*c", "abc", false),
            ("name", "name", true),
            ("name", "names", false),
            ("a.b", "axb", false),
        ];
        for (pattern, name, meant) in cases {
            assert_eq!(matches(pattern, name), meant, "{pattern} {name}");
        }
    }

    #[cfg(feature = "config-file")]
    #[test]
    fn names_say_more_than_patterns_and_long_patterns_more_than_short_ones() {
        let mut patterns = ["a.b.*", "a.b", "*", "a.*"];
        patterns.sort_by_key(|pattern| specificity(pattern));
        assert_eq!(patterns, ["*", "a.*", "a.b.*", "a.b"]);
    }
}
