//! "Did you mean": which of the known words somebody was after.

/// The known word that is nearest to `word`, if it is near enough to be meant: at most a third of its
/// letters, and no more than three, are wrong, missing, too many or swapped.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let letters: Vec<char> = word.chars().collect();
    let most = letters.len().div_ceil(3).min(3);
    let mut best: Option<(usize, &str)> = None;
    for candidate in known {
        let slips = slips(&letters, &candidate.chars().collect::<Vec<_>>());
        if slips <= most && best.is_none_or(|(fewest, _)| slips < fewest) {
            best = Some((slips, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// How many slips turn one word into the other. Three rows of the table are enough: a swap of
/// neighbours looks two rows back.
fn slips(from: &[char], to: &[char]) -> usize {
    let mut before_last = vec![0; to.len() + 1];
    let mut last: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.iter().enumerate() {
        let mut row = vec![i + 1; to.len() + 1];
        for (j, b) in to.iter().enumerate() {
            let mut fewest = last[j] + usize::from(a != b);
            fewest = fewest.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *a == to[j - 1] && from[i - 1] == *b {
                fewest = fewest.min(before_last[j - 1] + 1);
            }
            row[j + 1] = fewest;
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_its_word_and_another_word_does_not() {
        let known = ["min_calls", "wait", "wait_max", "window"];
        let cases = [
            ("min_cals", Some("min_calls")),
            ("widnow", Some("window")),
            ("wait_mx", Some("wait_max")),
            ("wiat", Some("wait")),
            ("threshold", None),
            ("", None),
        ];
        for (word, meant) in cases {
            assert_eq!(nearest(word, known), meant, "{word}");
        }
    }
}
