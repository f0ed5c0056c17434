//! What the attribute accepts compiles: functions put together at random, with arguments that go
//! with them, in one crate without a warning.

use std::fmt::Write as _;
use std::path::Path;

const FUNCTIONS: usize = 300;

/// A small generator of numbers; the same ones each time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or(0) % sides
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.roll(n) == 0
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.roll(from.len())]
    }
}

/// Pattern, type, what the body does with it.
const PARAMETERS: &[(&str, &str, &str)] = &[
    ("id", "u32", "let _ = id;"),
    ("mut count", "u32", "count += 1; let _ = count;"),
    ("text", "String", "drop(text);"),
    ("name", "&'a str", "let _ = name.len();"),
    ("(a, b)", "(u32, Vec<u8>)", "let _ = (a, b);"),
    ("_", "u8", ""),
    ("_unused", "&'a [u8]", ""),
    ("list", "&'a mut Vec<u32>", "list.push(1);"),
    ("ref kept", "Kept", "let _ = kept.0;"),
    ("value", "T", "drop(value);"),
    ("Kept(inner)", "Kept", "let _ = inner;"),
    ("array", "[u8; N]", "let _ = array.len();"),
    (
        "pick",
        "impl Fn(u32) -> bool + Clone + Send + 'a",
        "let _ = pick(1);",
    ),
];

/// Type, a value of it.
const RESULTS: &[(&str, &str)] = &[
    ("Result<u32, Error>", "Ok(1)"),
    ("Answer<u32>", "Ok(1)"),
    ("Answer<()>", "Ok(())"),
    ("Result<Option<u32>, Boxed>", "Ok(None)"),
    (
        "std::result::Result<u32, cb_runtime::CallError<Refused>>",
        "Ok(1)",
    ),
    // These are no results.
    ("Option<u32>", "Some(1)"),
    ("u32", "1"),
    ("()", "()"),
];
const NO_RESULT: usize = 5;

const SETTINGS: &[&str] = &[
    "min_calls = 5",
    "min_calls = limits::FIVE",
    "failure_rate = 33.3",
    "failure_rate = \"0.5%\"",
    "failure_count = 4",
    "consecutive_failures = off",
    "consecutive_failures = 3",
    "auto_half_open = true",
    "half_open_calls = 3",
    "half_open_max_wait = \"1m\"",
    "half_open_max_wait_state = \"open\"",
    "mode = \"metrics_only\"",
    "crate = ::cb_runtime",
    "wait_max = \"10m\"",
    "base = \"resilience4j\"",
];

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Sync,
    Async,
    Impl,
    Boxed,
    BoxedAfter,
    BoxedCall,
}

const KINDS: &[Kind] = &[
    Kind::Sync,
    Kind::Async,
    Kind::Impl,
    Kind::Boxed,
    Kind::BoxedAfter,
    Kind::BoxedCall,
];

/// A function as it is put together.
struct Draft {
    kind: Kind,
    result: usize,
    params: Vec<usize>,
    /// None, for rejections, for failures too.
    fallback: usize,
    timeout: bool,
    method: bool,
}

impl Draft {
    fn new(dice: &mut Dice) -> Self {
        let mut draft = Self {
            kind: KINDS[dice.roll(KINDS.len())],
            result: dice.roll(RESULTS.len()),
            params: (0..PARAMETERS.len()).filter(|_| dice.one_in(4)).collect(),
            fallback: dice.roll(3),
            timeout: dice.one_in(3),
            method: dice.one_in(3),
        };
        draft.timeout &= draft.kind != Kind::Sync;
        if draft.no_result() {
            draft.fallback = draft.fallback.max(if draft.timeout { 2 } else { 1 });
        }
        let early = matches!(draft.kind, Kind::BoxedAfter | Kind::BoxedCall);
        let made = early || matches!(draft.kind, Kind::Impl | Kind::Boxed);
        if made && (draft.fallback == 2 || early && draft.fallback == 1) {
            draft.params.retain(|at| !PARAMETERS[*at].1.contains("mut"));
        }
        draft
    }

    fn no_result(&self) -> bool {
        self.result >= NO_RESULT
    }

    fn uses(&self, what: &str) -> bool {
        self.params.iter().any(|at| PARAMETERS[*at].1 == what)
    }

    fn arguments(&self, n: usize, dice: &mut Dice) -> String {
        let mut list = vec![format!("name = \"f{n}\"")];
        let mut add = |argument: &str| {
            let key = |argument: &str| argument.split(' ').next().map(str::to_owned);
            if list.iter().all(|other| key(other) != key(argument)) {
                list.push(argument.to_owned());
            }
        };
        for _ in 0..dice.roll(4) {
            add(dice.pick(SETTINGS));
        }
        add(dice.pick(&[
            "window = 50",
            "window = \"20s\", buckets = 10",
            "window = std::time::Duration::from_secs(7)",
            "mode = \"enabled\"",
        ]));
        if dice.one_in(2) {
            add(dice.pick(&[
                "slow = \"500ms\"",
                "slow = \"1s\", slow_rate = 80",
                "slow = off",
            ]));
            add(dice.pick(&["wait = \"20s\"", "wait = \"1s\", wait_multiplier = 1"]));
        }
        let (ty, _) = RESULTS[self.result];
        if dice.one_in(3) && !ty.contains("()") {
            add("failure_if = |value| is_plain(value)");
        }
        if dice.one_in(2) && !self.no_result() {
            let class = dice.pick(match ty.contains("Boxed") {
                true => &[
                    "Refused",
                    "Refused::Plainly",
                    "[Refused::With(400..=499), |error| error.is::<Refused>()]",
                ],
                false => &[
                    "Refused",
                    "CallError::Failed(Refused::With(..))",
                    "is_no",
                    "[is_no, Refused::Plainly]",
                ],
            });
            add(&format!("{} = {class}", dice.pick(&["ignore", "record"])));
        }
        if self.uses("u32") && self.params.contains(&0) && dice.one_in(2) {
            add(dice.pick(&["key = id", "key = format!(\"{id}\"), max_keys = 3"]));
        }
        if self.timeout {
            add("timeout = \"3s\"");
            if dice.one_in(2) {
                add("half_open_timeout = \"2s\"");
            }
        }
        if self.kind != Kind::Sync && dice.one_in(4) {
            add(dice.pick(&["on_cancel = \"failure\"", "on_cancel = \"slow\""]));
        }
        if dice.one_in(4) {
            add("retry_after = |_| None");
        }
        if dice.one_in(4) && !ty.contains("()") {
            add("ignore_if = |value| !is_plain(value)");
        }
        let path = if self.method { "Self::" } else { "" };
        match self.fallback {
            0 => {}
            1 => add(&format!("fallback = {path}g{n}")),
            _ => add(&format!("fallback = {path}g{n}, fallback_on = \"failure\"")),
        }
        list.join(", ")
    }

    /// The function and its fallback.
    fn write(&self, n: usize, dice: &mut Dice) -> String {
        let arguments = self.arguments(n, dice);
        let (ty, value) = RESULTS[self.result];
        let mut generics = vec!["'a"];
        if self.uses("T") {
            generics.push("T: Clone + Send + 'a");
        }
        if self.uses("[u8; N]") {
            generics.push("const N: usize");
        }
        let generics = generics.join(", ");
        let receiver = if self.method { "&'a self, " } else { "" };
        let list = |named: bool| -> String {
            let each = self.params.iter().enumerate().map(|(at, param)| {
                let (pattern, ty, _) = PARAMETERS[*param];
                if named {
                    format!("{pattern}: {ty}, ")
                } else {
                    format!("_p{at}: {ty}, ")
                }
            });
            each.collect()
        };
        let work: String = self.params.iter().map(|at| PARAMETERS[*at].2).collect();
        let end = dice.pick(&[
            "VALUE",
            "return VALUE;",
            "if true { return VALUE; } VALUE",
            "match 1 { _ => VALUE }",
        ]);
        let end = end.replace("VALUE", value);
        let boxed =
            format!("std::pin::Pin<Box<dyn std::future::Future<Output = {ty}> + Send + 'a>>");
        let (prefix, output, body) = match self.kind {
            Kind::Sync => ("", ty.into(), format!("{work} {end}")),
            Kind::Async => ("async ", ty.into(), format!("{work} later().await; {end}")),
            Kind::Impl => (
                "",
                format!("impl std::future::Future<Output = {ty}> + Send + 'a"),
                format!("async move {{ {work} later().await; {end} }}"),
            ),
            Kind::Boxed => (
                "",
                boxed,
                format!("Box::pin(async move {{ {work} later().await; {end} }})"),
            ),
            Kind::BoxedAfter => (
                "",
                boxed,
                format!("{work} Box::pin(async move {{ later().await; {end} }})"),
            ),
            Kind::BoxedCall => (
                "",
                boxed,
                format!("{work} Box::pin(std::future::ready({value}))"),
            ),
        };
        let reason = match self.fallback {
            _ if dice.one_in(2) => String::new(),
            1 => "_: CallNotPermitted".into(),
            _ if self.no_result() => "_: CallError<std::convert::Infallible>".into(),
            _ if ty.contains("Boxed") => "_: CallError<Boxed>".into(),
            _ => "_: CallError<Error>".into(),
        };
        let later = if self.kind != Kind::Sync && dice.one_in(2) {
            "async "
        } else {
            ""
        };
        let mut written = format!(
            "#[circuit_breaker({arguments})]\n{prefix}fn f{n}<{generics}>({receiver}{}) -> {output} {{ {body} }}\n",
            list(true)
        );
        if self.fallback > 0 {
            let own = list(false);
            let _ = writeln!(
                written,
                "{later}fn g{n}<{generics}>({receiver}{own}{reason}) -> {ty} {{ {value} }}"
            );
        }
        if self.method {
            written = format!("impl Kept {{\n{written}}}\n");
        }
        written
    }
}

const BEFORE: &str = r#"#![deny(warnings)]
#![allow(dead_code, clippy::all)]
use cb_runtime::{circuit_breaker, CallError, CallNotPermitted};

type Error = CallError<Refused>;
type Answer<T> = Result<T, Error>;
type Boxed = Box<dyn std::error::Error + Send + Sync>;

#[derive(Clone)]
struct Kept(u32);

#[derive(Debug, PartialEq, Clone)]
enum Refused { Plainly, With(u16) }

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result { f.write_str("no") }
}

impl std::error::Error for Refused {}

fn is_no(error: &Error) -> bool { *error == CallError::Failed(Refused::Plainly) }

fn is_plain<T: Default + PartialEq>(value: &T) -> bool { *value == T::default() }

async fn later() {}

mod limits { pub const FIVE: u32 = 5; }

fn main() {}
"#;

#[test]
fn whatever_is_accepted_compiles() {
    let mut dice = Dice(7);
    let mut file = BEFORE.to_owned();
    for n in 0..FUNCTIONS {
        let draft = Draft::new(&mut dice);
        file.push_str(&draft.write(n, &mut dice));
    }
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("generated.rs");
    std::fs::write(&path, file).unwrap();
    trybuild::TestCases::new().pass(path);
}
