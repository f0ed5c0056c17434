//! The timelines as an SVG: one bar for each outage, on a time axis of its own.

use std::fmt::Write as _;
use std::time::Duration;

use cb_runtime::State;
use cb_runtime::advise::{Advice, Outage};

use crate::timeline::{end, stretches};
use crate::units::short;

const WIDTH: f64 = 960.0;
const LEFT: f64 = 40.0;
const RIGHT: f64 = WIDTH - 40.0;
const BAR: f64 = 30.0;
const ROW: f64 = 122.0;
const HEAD: f64 = 74.0;
const INK: &str = "#222222";
const GREY: &str = "#666666";

pub(crate) fn of(advice: &Advice) -> String {
    let mut rows = 0.0;
    let mut body = String::new();
    for outage in &advice.outages {
        row(&mut body, outage, HEAD + ROW * rows);
        rows += 1.0;
    }
    let height = HEAD + ROW * rows;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" \
         height=\"{height}\" font-family=\"sans-serif\">\n<rect width=\"{WIDTH}\" height=\"{height}\" \
         fill=\"#ffffff\"/>\n"
    );
    text(
        &mut svg,
        LEFT,
        28.0,
        16,
        INK,
        &format!("With {}", advice.traffic),
    );
    let mut x = LEFT;
    for (state, width) in [
        (State::Closed, 90.0),
        (State::Open, 75.0),
        (State::HalfOpen, 110.0),
    ] {
        rect(&mut svg, x, 44.0, 12.0, 12.0, color(state), "");
        text(&mut svg, x + 18.0, 54.0, 12, GREY, &state.to_string());
        x += width;
    }
    line(&mut svg, x + 6.0, 42.0, 58.0);
    text(&mut svg, x + 14.0, 54.0, 12, GREY, "the downstream heals");
    svg += &body;
    svg += "</svg>\n";
    svg
}

fn row(svg: &mut String, outage: &Outage, top: f64) {
    let whole = end(outage).as_secs_f64().max(f64::MIN_POSITIVE);
    let place = |at: Duration| LEFT + (RIGHT - LEFT) * (at.as_secs_f64() / whole).min(1.0);
    text(svg, LEFT, top + 14.0, 14, INK, &outage.kind.to_string());
    let bar = top + 42.0;
    text(svg, LEFT, top + 32.0, 12, GREY, &summary(outage));
    for stretch in stretches(outage) {
        let (from, to) = (place(stretch.from), place(stretch.to));
        // A stay that is too short to be seen is drawn wider.
        let width = (to - from).max(1.5);
        let title = format!(
            "{} from {} to {}",
            stretch.state,
            short(stretch.from),
            short(stretch.to)
        );
        rect(svg, from, bar, width, BAR, color(stretch.state), &title);
    }
    if let Some(healed) = outage.healed {
        line(svg, place(healed), bar - 5.0, bar + BAR + 5.0);
    }
    let step = tick(whole);
    let mut at = Duration::ZERO;
    while at <= end(outage) {
        let x = place(at);
        let _ = writeln!(
            svg,
            "<line x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{:.1}\" y2=\"{:.1}\" stroke=\"{GREY}\"/>",
            bar + BAR + 2.0,
            bar + BAR + 7.0
        );
        label(svg, x, bar + BAR + 20.0, &short(at));
        at += step;
    }
}

fn summary(outage: &Outage) -> String {
    let Some(opening) = outage.fresh.opening else {
        return format!(
            "never opens (in {}); at most {} stuck",
            short(outage.fresh.simulated),
            outage.fresh.stuck
        );
    };
    let noticed = match outage.recovery {
        Some(time) => format!("recovery is noticed after {} at the most", short(time)),
        None => "recovery is never noticed".into(),
    };
    format!(
        "just started, opens after {}; at most {} stuck; {noticed}",
        short(opening.after),
        outage.fresh.stuck
    )
}

/// A round time of which the whole has 5 to 15.
fn tick(whole: f64) -> Duration {
    let steps = [
        0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0,
        60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0, 7200.0, 21_600.0, 86_400.0,
    ];
    let fits = steps.into_iter().find(|step| whole / step <= 12.0);
    Duration::from_secs_f64(fits.unwrap_or(whole / 10.0))
}

fn color(state: State) -> &'static str {
    match state {
        State::Closed => "#7fb98b",
        State::HalfOpen => "#e8b04a",
        _ => "#c8553d",
    }
}

fn rect(svg: &mut String, x: f64, y: f64, width: f64, height: f64, fill: &str, title: &str) {
    let _ = write!(
        svg,
        "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"{fill}\""
    );
    if title.is_empty() {
        *svg += "/>\n";
    } else {
        let _ = writeln!(svg, "><title>{}</title></rect>", escaped(title));
    }
}

fn line(svg: &mut String, x: f64, from: f64, to: f64) {
    let _ = writeln!(
        svg,
        "<line x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{from:.1}\" y2=\"{to:.1}\" stroke=\"#1f4fa3\" \
         stroke-width=\"2.5\"/>"
    );
}

fn text(svg: &mut String, x: f64, y: f64, size: u32, fill: &str, what: &str) {
    let _ = writeln!(
        svg,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size}\" fill=\"{fill}\">{}</text>",
        escaped(what)
    );
}

/// Below a tick.
fn label(svg: &mut String, x: f64, y: f64, what: &str) {
    let _ = writeln!(
        svg,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"11\" fill=\"{GREY}\" \
         text-anchor=\"middle\">{}</text>",
        escaped(what)
    );
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
