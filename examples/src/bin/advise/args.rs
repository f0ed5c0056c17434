//! The command line.

use std::path::PathBuf;

use cb_runtime::advise::Traffic;
use cb_runtime::{Config, MaxWaitState, OnCancel, Window};

use crate::units::duration;

pub(crate) enum Asked {
    Help,
    Advice(Box<Question>),
}

pub(crate) struct Question {
    pub(crate) config: Config,
    pub(crate) traffic: Traffic,
    pub(crate) svg: Option<PathBuf>,
}

type Read<T> = fn(T, &str) -> Result<T, String>;

/// An option: its name, what it takes, what it does.
struct Choice<T: 'static> {
    name: &'static str,
    takes: &'static str,
    read: Read<T>,
}

macro_rules! choices {
    ($($name:literal $takes:literal $read:expr;)*) => {
        &[$(Choice { name: $name, takes: $takes, read: $read }),*]
    };
}

/// Settings of the breaker, by the names that the attribute has for them.
const SETTINGS: &[Choice<Config>] = choices! {
    "window" "CALLS|TIME" |c, v| Ok(c.window(window(v)?));
    "buckets" "NUMBER" |c, v| Ok(c.buckets(number(v)?));
    "min-calls" "NUMBER" |c, v| Ok(c.min_calls(number(v)?));
    "failure-rate" "PERCENT" |c, v| Ok(c.failure_rate(percent(v)?));
    "slow" "TIME|off" |c, v| or_off(v, duration, c, Config::slow, Config::slow_off);
    "slow-rate" "PERCENT" |c, v| Ok(c.slow_rate(percent(v)?));
    "failure-count" "NUMBER|off"
        |c, v| or_off(v, number, c, Config::failure_count, Config::failure_count_off);
    "consecutive-failures" "NUMBER|off"
        |c, v| or_off(v, number, c, Config::consecutive_failures, Config::consecutive_failures_off);
    "count-running" "true|false" |c, v| Ok(c.count_running(flag(v)?));
    "warmup" "TIME|off" |c, v| or_off(v, duration, c, Config::warmup, Config::warmup_off);
    "on-cancel" "slow|ignore|failure" |c, v| Ok(c.on_cancel(on_cancel(v)?));
    "wait" "TIME" |c, v| Ok(c.wait(duration(v)?));
    "wait-multiplier" "FACTOR" |c, v| Ok(c.wait_multiplier(float(v)?));
    "wait-max" "TIME|off" |c, v| or_off(v, duration, c, Config::wait_max, Config::wait_max_off);
    "wait-jitter" "PERCENT|off"
        |c, v| or_off(v, percent, c, Config::wait_jitter, Config::wait_jitter_off);
    "wait-by-failure-rate" "true|false" |c, v| Ok(c.wait_by_failure_rate(flag(v)?));
    "auto-half-open" "true|false" |c, v| Ok(c.auto_half_open(flag(v)?));
    "half-open-calls" "NUMBER" |c, v| Ok(c.half_open_calls(number(v)?));
    "half-open-concurrency" "NUMBER" |c, v| Ok(c.half_open_concurrency(number(v)?));
    "half-open-delay" "TIME|off"
        |c, v| or_off(v, duration, c, Config::half_open_delay, Config::half_open_delay_off);
    "half-open-successes" "NUMBER|off"
        |c, v| or_off(v, number, c, Config::half_open_successes, Config::half_open_successes_off);
    "half-open-success-rate" "PERCENT|off"
        |c, v| or_off(v, percent, c, Config::half_open_success_rate, Config::half_open_success_rate_off);
    "half-open-failures" "NUMBER|off"
        |c, v| or_off(v, number, c, Config::half_open_failures, Config::half_open_failures_off);
    "half-open-failure-rate" "PERCENT" |c, v| Ok(c.half_open_failure_rate(percent(v)?));
    "half-open-slow" "TIME" |c, v| Ok(c.half_open_slow(duration(v)?));
    "half-open-attempts" "NUMBER|off"
        |c, v| or_off(v, number, c, Config::half_open_attempts, Config::half_open_attempts_off);
    "half-open-max-wait" "TIME|off"
        |c, v| or_off(v, duration, c, Config::half_open_max_wait, Config::half_open_max_wait_off);
    "half-open-max-wait-state" "decide|open|closed"
        |c, v| Ok(c.half_open_max_wait_state(max_wait_state(v)?));
    "ramp" "TIME|off" |c, v| or_off(v, duration, c, Config::ramp, Config::ramp_off);
};

const TRAFFIC: &[Choice<Traffic>] = choices! {
    "latency" "TIME" |t, v| Ok(t.latency(duration(v)?));
    "timeout" "TIME" |t, v| Ok(t.timeout(duration(v)?));
    "slow-latency" "TIME" |t, v| Ok(t.slow_latency(duration(v)?));
    "gives-up" "TIME" |t, v| Ok(t.gives_up(duration(v)?));
    "concurrency" "CALLS" |t, v| Ok(t.concurrency(number(v)?));
    "instances" "NUMBER" |t, v| Ok(t.instances(number(v)?));
};

/// Reads the arguments; the message of an error names the argument.
pub(crate) fn parse(args: impl Iterator<Item = String>) -> Result<Asked, String> {
    let mut given = Vec::new();
    let mut args = args;
    while let Some(arg) = args.next() {
        if arg == "--help" || arg == "-h" {
            return Ok(Asked::Help);
        }
        let Some(option) = arg.strip_prefix("--") else {
            return Err(format!("`{arg}` is no option; they begin with `--`"));
        };
        let (name, value) = match option.split_once('=') {
            Some((name, value)) => (name.to_owned(), value.to_owned()),
            None => {
                let value = known(option)
                    .then(|| args.next())
                    .ok_or_else(|| unknown(option))?
                    .filter(|value| !value.starts_with("--"));
                let value = value.ok_or_else(|| format!("`--{option}` needs a value"))?;
                (option.to_owned(), value)
            }
        };
        if given.iter().any(|(other, _)| *other == name) {
            return Err(format!("`--{name}` is given twice"));
        }
        given.push((name, value));
    }
    question(&given).map(|question| Asked::Advice(Box::new(question)))
}

fn question(given: &[(String, String)]) -> Result<Question, String> {
    let value = |wanted: &str| {
        let found = given.iter().find(|(name, _)| name == wanted);
        found.map(|(_, value)| value.as_str())
    };
    // The base is below all other settings, wherever it stands.
    let mut config = match value("base") {
        None => Config::new(),
        Some("resilience4j") => Config::resilience4j(),
        Some(other) => return Err(format!("`--base {other}`: the only base is `resilience4j`")),
    };
    let rate = value("calls-per-second")
        .ok_or("`--calls-per-second` is needed: how many calls one instance makes")?;
    let rate = float(rate).map_err(|error| format!("`--calls-per-second`: {error}"))?;
    let mut traffic = Traffic::per_second(rate);
    let mut svg = None;
    for (name, value) in given {
        let named = |error| format!("`--{name}`: {error}");
        if let Some(setting) = SETTINGS.iter().find(|setting| setting.name == name) {
            config = (setting.read)(config, value).map_err(named)?;
        } else if let Some(part) = TRAFFIC.iter().find(|part| part.name == name) {
            traffic = (part.read)(traffic, value).map_err(named)?;
        } else if name == "svg" {
            svg = Some(PathBuf::from(value));
        } else if !known(name) {
            return Err(unknown(name));
        }
    }
    Ok(Question {
        config,
        traffic,
        svg,
    })
}

fn names() -> impl Iterator<Item = &'static str> {
    let settings = SETTINGS.iter().map(|choice| choice.name);
    let traffic = TRAFFIC.iter().map(|choice| choice.name);
    let others = ["base", "calls-per-second", "svg"];
    settings.chain(traffic).chain(others)
}

fn known(name: &str) -> bool {
    names().any(|known| known == name)
}

fn unknown(name: &str) -> String {
    let dashed = name.replace('_', "-");
    match names().find(|known| *known == dashed || known.starts_with(&dashed)) {
        Some(likely) => format!("there is no `--{name}`; did you mean `--{likely}`?"),
        None => format!("there is no `--{name}`"),
    }
}

pub(crate) fn help() -> String {
    let mut help = String::from(
        "Says what a circuit breaker will do in an outage, before there is one.\n\n\
         The traffic, of one instance:\n  \
         --calls-per-second NUMBER (needed; 0.5 is one in two seconds)\n",
    );
    list(&mut help, TRAFFIC);
    help +=
        "\nThe configuration; what is left out has the built-in default:\n  --base resilience4j\n";
    list(&mut help, SETTINGS);
    help += "\nThe timelines as a picture:\n  --svg FILE\n\n\
             Times are written `500ms`, `2s` or `1m 30s`.\n";
    help
}

fn list<T>(help: &mut String, choices: &[Choice<T>]) {
    for choice in choices {
        *help += &format!("  --{} {}\n", choice.name, choice.takes);
    }
}

fn or_off<T>(
    text: &str,
    read: fn(&str) -> Result<T, String>,
    config: Config,
    on: fn(Config, T) -> Config,
    off: fn(Config) -> Config,
) -> Result<Config, String> {
    if text == "off" {
        Ok(off(config))
    } else {
        Ok(on(config, read(text)?))
    }
}

fn number(text: &str) -> Result<u32, String> {
    text.parse()
        .map_err(|_| format!("`{text}` is no whole number"))
}

fn float(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| format!("`{text}` is no number"))
}

fn percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text);
    number
        .parse()
        .map_err(|_| format!("`{text}` is no percentage; write `50` or `0.5%`"))
}

fn flag(text: &str) -> Result<bool, String> {
    text.parse()
        .map_err(|_| format!("`{text}` is neither `true` nor `false`"))
}

fn window(text: &str) -> Result<Window, String> {
    match text.parse() {
        Ok(calls) => Ok(Window::Calls(calls)),
        Err(_) => duration(text).map(Window::Time).map_err(|_| {
            format!("`{text}` is neither a number of calls nor a duration such as `30s`")
        }),
    }
}

fn on_cancel(text: &str) -> Result<OnCancel, String> {
    match text {
        "slow" => Ok(OnCancel::Slow),
        "ignore" => Ok(OnCancel::Ignore),
        "failure" => Ok(OnCancel::Failure),
        _ => Err(format!("`{text}` is none of `slow`, `ignore`, `failure`")),
    }
}

fn max_wait_state(text: &str) -> Result<MaxWaitState, String> {
    match text {
        "decide" => Ok(MaxWaitState::Decide),
        "open" => Ok(MaxWaitState::Open),
        "closed" => Ok(MaxWaitState::Closed),
        _ => Err(format!("`{text}` is none of `decide`, `open`, `closed`")),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn ask(line: &str) -> Result<Question, String> {
        match parse(line.split_whitespace().map(str::to_owned))? {
            Asked::Advice(question) => Ok(*question),
            Asked::Help => Err("help".into()),
        }
    }

    #[test]
    fn the_base_is_below_the_other_settings() {
        let asked = ask("--min-calls 20 --window=30s --calls-per-second 1.5 --base resilience4j");
        let wanted = Config::resilience4j()
            .min_calls(20)
            .window(Window::Time(Duration::from_secs(30)));
        assert_eq!(asked.unwrap().config, wanted);
    }

    #[test]
    fn what_can_be_off_is_switched_off() {
        let asked = ask("--slow off --calls-per-second 1 --half-open-max-wait off");
        let wanted = Config::new().slow_off().half_open_max_wait_off();
        assert_eq!(asked.unwrap().config, wanted);
    }

    #[test]
    fn errors_name_the_argument() {
        for (line, part) in [
            ("", "--calls-per-second"),
            ("--calls-per-second", "needs a value"),
            ("--calls-per-second --latency", "needs a value"),
            ("--calls-per-second many", "`many` is no number"),
            (
                "--calls-per-second 1 --wait 5",
                "`--wait`: `5` is no duration",
            ),
            (
                "--calls-per-second 1 --min_calls 5",
                "did you mean `--min-calls`",
            ),
            ("--calls-per-second 1 --timeuot 5s", "no `--timeuot`"),
            ("--calls-per-second 1 --wait 5s --wait 6s", "given twice"),
            ("fast", "`fast` is no option"),
            ("--calls-per-second 1 --base hystrix", "resilience4j"),
        ] {
            let error = ask(line).err().unwrap_or_default();
            assert!(error.contains(part), "{line}: {error}");
        }
    }

    #[test]
    fn the_help_lists_every_option() {
        for name in names() {
            assert!(help().contains(&format!("--{name}")), "{name}");
        }
    }
}
