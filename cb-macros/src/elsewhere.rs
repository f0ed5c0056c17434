//! Names from Resilience4j, and what they are called here.

const NAMES: &[(&str, &str)] = &[
    ("failure_rate_threshold", "failure_rate"),
    ("minimum_number_of_calls", "min_calls"),
    ("sliding_window_size", "window"),
    ("sliding_window_type", "window"),
    ("wait_duration_in_open_state", "wait"),
    ("slow_call_duration_threshold", "slow"),
    ("slow_call_rate_threshold", "slow_rate"),
    (
        "permitted_number_of_calls_in_half_open_state",
        "half_open_calls",
    ),
    ("max_wait_duration_in_half_open_state", "half_open_max_wait"),
    (
        "automatic_transition_from_open_to_half_open_enabled",
        "auto_half_open",
    ),
    ("ignore_exceptions", "ignore"),
    ("record_exceptions", "record"),
    ("fallback_method", "fallback"),
    ("timeout_duration", "timeout"),
    ("base_config", "base"),
];

/// Which of `known` is meant by `word`: a name from elsewhere, or one of ours in another case, such as
/// `minCalls` or `min-calls`.
pub(crate) fn meant(
    word: &str,
    mut known: impl Iterator<Item = &'static str>,
) -> Option<&'static str> {
    let mut snake = String::new();
    for letter in word.chars() {
        if letter.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(match letter {
            '-' => '_',
            _ => letter.to_ascii_lowercase(),
        });
    }
    let name = NAMES.iter().find(|(there, _)| *there == snake);
    let here = name.map_or(&*snake, |(_, here)| here);
    known.find(|known| *known == here)
}

/// What to say of `word`, which means our `here`.
pub(crate) fn message(word: &str, here: &str) -> String {
    let more = match here {
        "window" => ": a number of calls, or a time such as \"30s\"",
        _ => "",
    };
    format!("`{word}` is called `{here}` here{more}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_found_in_every_case() {
        let known = || crate::keys::KEYS.iter().map(|key| key.name);
        for (word, here) in [
            ("slidingWindowSize", Some("window")),
            ("sliding-window-size", Some("window")),
            ("min-calls", Some("min_calls")),
            ("minCalls", Some("min_calls")),
            ("MinCalls", Some("min_calls")),
            ("threshold", None),
            ("", None),
        ] {
            assert_eq!(meant(word, known()), here, "{word}");
        }
        for (word, here) in NAMES {
            assert_eq!(meant(word, known()), Some(*here), "{word}");
        }
    }
}
