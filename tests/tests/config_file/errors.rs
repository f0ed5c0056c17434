//! What is wrong with a file, where, and what to write instead.

use cb_runtime::{
    CallError, Config, ConfigFile, Registry, Window, circuit_breaker, testing::Scope,
};

use super::{file, load, refused, registry};

/// A registry with breakers that the files below name.
fn with_breakers() -> Registry {
    let (registry, _) = registry();
    registry.get_or_create("stock");
    registry.get_or_create("payments.card");
    let calls = Config::new().window(Window::Calls(20)).min_calls(15);
    registry.create("counted", &calls).unwrap();
    registry
}

/// Text, line, column, and parts of the message.
type Case = (&'static str, usize, usize, &'static [&'static str]);

#[rustfmt::skip] // a table
const CASES: &[Case] = &[
    // What is no TOML.
    ("[breakers.stock\nwait = '1s'", 1, 16, &["table"]),
    ("[breakers.stock]\nwait = off", 2, 8, &["quoted"]),
    ("[breakers.stock]\nwait = '1s'\nwait = '2s'", 3, 1, &["duplicate"]),
    // Sections.
    ("[braekers.stock]\nwait = '1s'", 1, 2, &["unknown section `braekers`", "`breakers`"]),
    ("[other]", 1, 2, &["unknown section `other`", "`templates`"]),
    ("wait = '1s'", 1, 1, &["`wait` is in no section", "[defaults]"]),
    ("breakers = 3", 1, 1, &["`breakers` is a section"]),
    ("[breakers]\nwait = '1s'", 2, 1, &["`wait` is a setting", "[breakers.\"a name\"]"]),
    ("[breakers]\nstock = 3", 2, 1, &["`stock` must be a section", "[breakers.\"stock\"]"]),
    ("[breakers.payments.card]\nwait = '1s'", 1, 20, &["`card` is a table", "in quotes: `\"payments.card\"`"]),
    // Names.
    ("[breakers.stokc]", 1, 11, &["no breaker `stokc`", "did you mean `stock`?"]),
    ("[breakers.\"orders\"]", 1, 11, &["no breaker `orders`"]),
    ("[breakers.\"orders.*\"]", 1, 11, &["no breaker has a name like `orders.*`"]),
    ("[breakers.stock]\nmin_cals = 3", 2, 1, &["unknown setting `min_cals`", "`min_calls`"]),
    ("[breakers.stock]\nwaitDurationInOpenState = 3", 2, 1, &["`waitDurationInOpenState` is called `wait` here"]),
    ("[breakers.stock]\nsliding-window-size = 3", 2, 1, &["called `window` here: a number of calls, or a time"]),
    ("[breakers.stock]\nmin-calls = 3", 2, 1, &["`min-calls` is called `min_calls` here"]),
    ("[breakers.stock]\nbase_config = 'x'", 2, 1, &["called `base` here"]),
    ("[breakers.stock]\ntimeout_duration = '1s'", 2, 1, &["called `timeout` here", "belongs to the function"]),
    ("[breakers.stock.base-config]\nwait = '1s'", 1, 17, &["`base-config` is a table"]),
    ("[breakers.stock]\nthreshold = 3", 2, 1, &["unknown setting `threshold`", "failure_rate"]),
    ("[breakers.stock]\nbase = 'resilience4'", 2, 8, &["no template `resilience4`", "`resilience4j`"]),
    ("[breakers.stock]\nbase = 'fast'", 2, 8, &["no template `fast`", "[templates.\"fast\"]"]),
    ("[breakers.stock]\nbase = 3", 2, 8, &["`base` takes the name of a template"]),
    ("[defaults]\nbase = 'resilience4j'", 2, 1, &["`base` belongs to breakers"]),
    // Kinds.
    ("[breakers.stock]\nmin_calls = '20'", 2, 13, &["positive whole number", "`min_calls = 20`"]),
    ("[breakers.stock]\nmin_calls = 2.5", 2, 13, &["positive whole number"]),
    ("[breakers.stock]\nmin_calls = -2", 2, 13, &["positive whole number"]),
    ("[breakers.stock]\nmin_calls = 5000000000", 2, 13, &["at most 4294967295"]),
    ("[breakers.stock]\nwait = 10", 2, 8, &["needs a unit", "`wait = \"10s\"`"]),
    ("[breakers.stock]\nwait = '10'", 2, 8, &["no unit", "\"10s\""]),
    ("[breakers.stock]\nwait = true", 2, 8, &["`wait` takes a duration"]),
    ("[breakers.stock]\nwait = 'off'", 2, 8, &["`wait` cannot be off"]),
    ("[breakers.stock]\nmin_calls = 'off'", 2, 13, &["positive whole number"]),
    ("[breakers.stock]\nslow = false", 2, 8, &["`slow = \"off\"`"]),
    ("[breakers.stock]\nwindow = '100'", 2, 10, &["`window = 100`", "`window = \"100s\"`"]),
    ("[breakers.stock]\nwindow = [1]", 2, 10, &["a number of calls or a duration"]),
    ("[breakers.stock]\nfailure_rate = 0.5", 2, 16, &["fraction", "`50`", "\"0.5%\""]),
    ("[breakers.stock]\nfailure_rate = '50'", 2, 16, &["no percentage"]),
    ("[breakers.stock]\nauto_half_open = 'yes'", 2, 18, &["`true` or `false`"]),
    ("[breakers.stock]\nmode = 'metric_only'", 2, 8, &["did you mean \"metrics_only\"?"]),
    ("[breakers.stock]\nmode = 1", 2, 8, &["one of \"enabled\""]),
    ("[breakers.stock]\nwait_multiplier = 'x'", 2, 19, &["`wait_multiplier` takes a number"]),
    // Ranges.
    ("[breakers.stock]\nmin_calls = 0", 2, 13, &["`min_calls` must be at least 1"]),
    ("[breakers.stock]\nfailure_rate = 101", 2, 16, &["at most 100"]),
    ("[breakers.stock]\nwindow = '10ms'", 2, 10, &["from \"100ms\" to \"24h\""]),
    ("[breakers.stock]\nslow = '0s'", 2, 8, &["`slow` must be longer than zero"]),
    ("[templates.t]\nhalf_open_calls = 1001", 2, 19, &["from 1 to 1000"]),
    ("[defaults]\nwait = '0s'", 2, 8, &["`wait` must be longer than zero"]),
    // Contradictions: within a section, with defaults, with what the breaker was made with.
    ("[breakers.stock]\nslow_rate = 20", 2, 1, &["for `stock`: `slow_rate`", "accompanied by `slow`"]),
    ("[breakers.stock]\nwait = '20s'\nwait_max = '5s'", 3, 1, &["`wait_max` is 5s", "at least `wait`"]),
    ("[breakers.counted]\nwindow = 10", 2, 1, &["`counted`", "`min_calls` is 15"]),
    ("[defaults]\nslow_rate = 20", 2, 1, &["accompanied by `slow`"]),
    ("[templates.t]\nslow_rate = 20", 2, 1, &["accompanied by `slow`"]),
    ("[defaults]\nwait = '1m'\n[breakers.stock]\nwait_max = '30s'", 4, 1, &["for `stock`: `wait_max` is 30s"]),
    ("[templates.t]\nwindow = 5\n[breakers.counted]\nbase = 't'\nmin_calls = 7\nwindow = 6", 5, 1, &["for `counted`: `min_calls` is 7"]),
];

#[test]
fn each_mistake_is_found_where_it_is() {
    let registry = with_breakers();
    for (text, line, column, parts) in CASES {
        let error = refused(&registry, text);
        let errors = error.errors();
        assert_eq!(errors.len(), 1, "{error}");
        let at = (errors[0].line, errors[0].column);
        assert_eq!(at, (*line, *column), "{error}");
        for part in *parts {
            assert!(errors[0].message.contains(part), "{part}: {error}");
        }
    }
    assert!(
        load(&registry, "").is_unchanged(),
        "none of them has changed anything"
    );
}

/// The same files with what the messages say to write.
#[test]
fn what_the_messages_say_is_right() {
    let registry = with_breakers();
    let right = [
        "[breakers.stock]\nwait = '1s'",
        "[breakers.\"payments.card\"]\nwait = '1s'",
        "[breakers.stock]\nmin_calls = 20",
        "[breakers.stock]\nbase = 'resilience4j'",
        "[breakers.stock]\nbase = 'fast'\n[templates.\"fast\"]\nwait = '1s'",
        "[breakers.stock]\nwait = \"10s\"",
        "[breakers.stock]\nslow = \"off\"",
        "[breakers.stock]\nwindow = 100",
        "[breakers.stock]\nwindow = \"100s\"",
        "[breakers.stock]\nfailure_rate = \"0.5%\"",
        "[breakers.stock]\nmode = \"metrics_only\"",
        "[breakers.stock]\nslow = '2s'\nslow_rate = 20",
        "[breakers.counted]\nwindow = 10\nmin_calls = 10",
    ];
    for text in right {
        load(&registry, text);
    }
}

#[test]
fn all_mistakes_are_told_at_once_in_the_order_of_their_lines() {
    let registry = with_breakers();
    let error = refused(
        &registry,
        "[defaults]\n\
         wait = '20s'\n\
         [breakers.stock]\n\
         slow_rate = 20\n\
         wait_max = '5s'\n\
         [breakers.\"payments.*\"]\n\
         min_cals = 3\n\
         failure_rate = 0\n\
         slow_rate = 3\n\
         [breakers.odrers]\n\
         base = 'none'\n",
    );
    let lines: Vec<_> = error
        .errors()
        .iter()
        .map(|one| (one.line, one.column))
        .collect();
    // Contradictions of a section are not looked for while some of it makes no sense.
    assert_eq!(
        lines,
        [(4, 1), (5, 1), (7, 1), (8, 16), (10, 11), (11, 8)],
        "{error}"
    );
}

#[test]
fn errors_are_shown_as_a_compiler_does() {
    let registry = with_breakers();
    let error = refused(
        &registry,
        "[breakers.stock]\nmin_cals = 20 # ä\n\tslow = '2x'",
    );
    assert_eq!(
        error.to_string(),
        "error: unknown setting `min_cals`: did you mean `min_calls`?\n \
         --> test.toml:2:1\n  \
         |\n\
         2 | min_cals = 20 # ä\n  \
         | ^^^^^^^^\n\
         \n\
         error: `x` is no unit of time: there are ns, us, ms, s, m, h and d\n \
         --> test.toml:3:9\n  \
         |\n\
         3 | \tslow = '2x'\n  \
         | \t       ^^^^\n"
    );
}

#[test]
fn one_contradiction_of_many_breakers_is_told_once() {
    let (registry, _) = registry();
    for shard in 0..30 {
        registry.get_or_create(&format!("shard.{shard:02}"));
    }
    let error = refused(&registry, "[breakers.'shard.*']\nslow_rate = 20");
    assert_eq!(error.errors().len(), 1, "{error}");
    let message = &error.errors()[0].message;
    assert!(message.starts_with("for `shard.00`: "), "{message}");
    assert!(message.ends_with("; the same for 29 more"), "{message}");
}

#[circuit_breaker(name = "errors.annotated", window = 20, min_calls = 20)]
fn annotated() -> Result<(), CallError<()>> {
    Ok(())
}

#[circuit_breaker(name = "errors.keyed", key = shard)]
fn keyed(shard: u32) -> Result<(), CallError<()>> {
    Ok(())
}

#[test]
fn functions_that_were_never_called_are_checked_too() {
    let scope = Scope::new();
    let registry = scope.registry();
    let error = refused(registry, "[breakers.'errors.annotated']\nwindow = 10");
    let message = &error.errors()[0].message;
    assert!(
        message.starts_with("with this, `errors.annotated` makes no sense: `min_calls` is 20"),
        "{message}"
    );
    assert_eq!((error.errors()[0].line, error.errors()[0].column), (2, 1));
    let error = refused(registry, "[breakers.'errors.keyed[7]']\nmin_calls = 5");
    let message = &error.errors()[0].message;
    assert!(message.contains("[breakers.\"errors.keyed\"]"), "{message}");
    load(registry, "[breakers.'errors.keyed']\nmin_calls = 5");
    let _ = (annotated(), keyed(1));
    assert_eq!(
        registry
            .keyed("errors.keyed", "1")
            .unwrap()
            .snapshot()
            .min_calls,
        5
    );
}

/// What the new version takes away may be in use.
#[test]
fn a_template_that_is_in_use_cannot_go() {
    let (registry, _) = registry();
    load(&registry, "[templates.patient]\nwait = '1m'");
    let based = registry
        .create_from("based", "patient", &Config::new())
        .unwrap();
    assert!(registry.conflicts().is_empty());
    let error = refused(&registry, "");
    assert!(
        error.errors()[0]
            .message
            .contains("`based` starts from the template `patient`"),
        "{error}"
    );
    assert!(based.config()[0].to_string().contains("60s"));
    load(&registry, "[templates.patient]\nwait = '2m'");
    assert!(based.config()[0].to_string().contains("120s"));
}

#[test]
fn a_file_that_cannot_be_read_is_an_error_like_the_others() {
    let error = ConfigFile::read("/no/such/file.toml").unwrap_err();
    assert_eq!(error.errors()[0].line, 0);
    let shown = error.to_string();
    assert!(
        shown.contains("cannot be read") && shown.contains("/no/such/file.toml"),
        "{shown}"
    );
}

/// Whatever the text is, the answer is an error or a report.
#[test]
fn no_text_panics() {
    let registry = with_breakers();
    let good = "[defaults]\nwait = '20s'\n[breakers.stock]\nslow = '2s'\nslow_rate = 0x20 # ä\n";
    for end in 0..good.len() {
        for cut in [good.get(..end), good.get(end..)].into_iter().flatten() {
            let _ = registry.check_config(&file(cut));
        }
        for put in ["\0", "[", "'", "=", "é", "\n\n", "{}", "1e999", "\u{feff}"] {
            if let (Some(start), Some(rest)) = (good.get(..end), good.get(end..)) {
                let _ = registry.check_config(&file(&format!("{start}{put}{rest}")));
            }
        }
    }
    let deep = format!("a = {}", "[".repeat(100_000));
    assert!(registry.check_config(&file(&deep)).is_err());
}
