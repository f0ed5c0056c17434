//! The curves as an SVG: a panel for each, values at equal distances, nanoseconds from zero.

use std::fmt::Write as _;

use crate::{Curves, short};

const WIDTH: f64 = 960.0;
const PANEL: (f64, f64) = (WIDTH / 2.0, 290.0);
/// From the panel's edges to the axes: left, top, right, bottom.
const INSET: (f64, f64, f64, f64) = (58.0, 44.0, 24.0, 62.0);
const COLORS: [&str; 4] = ["#1f4fa3", "#c8553d", "#3d8a4e", "#8a5fa8"];
const INK: &str = "#222222";
const GREY: &str = "#666666";
const PALE: &str = "#e4e4e4";

pub(crate) fn of(panels: &[Curves]) -> String {
    let rows = panels.len().div_ceil(2);
    let height = PANEL.1 * rows as f64;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" \
         height=\"{height}\" font-family=\"sans-serif\">\n\
         <title>Nanoseconds of a call against what there is more of</title>\n\
         <rect width=\"{WIDTH}\" height=\"{height}\" fill=\"#ffffff\"/>\n"
    );
    for (index, panel) in panels.iter().enumerate() {
        let corner = (PANEL.0 * (index % 2) as f64, PANEL.1 * (index / 2) as f64);
        draw(&mut svg, panel, corner);
    }
    svg += "</svg>\n";
    svg
}

fn draw(svg: &mut String, panel: &Curves, (x, y): (f64, f64)) {
    let (left, right) = (x + INSET.0, x + PANEL.0 - INSET.2);
    let (top, bottom) = (y + INSET.1, y + PANEL.1 - INSET.3);
    text(
        svg,
        (left, y + 24.0),
        14,
        INK,
        "start",
        &format!("{}: ns a call", panel.title),
    );

    let figures = panel.lines.iter().flat_map(|(_, figures)| figures);
    let most = figures.copied().fold(1.0, f64::max);
    let step = tick(most);
    let whole = step * (most / step).ceil();
    let place = |figure: f64| bottom - (bottom - top) * figure / whole;
    let mut at = 0.0;
    while at <= whole + step / 2.0 {
        let level = place(at);
        let _ = writeln!(
            svg,
            "<line x1=\"{left:.1}\" x2=\"{right:.1}\" y1=\"{level:.1}\" y2=\"{level:.1}\" stroke=\"{PALE}\"/>"
        );
        text(
            svg,
            (left - 8.0, level + 4.0),
            11,
            GREY,
            "end",
            &format!("{at}"),
        );
        at += step;
    }

    let last = panel.values.len().saturating_sub(1).max(1) as f64;
    let column = |index: usize| left + (right - left) * index as f64 / last;
    for (index, value) in panel.values.iter().enumerate() {
        text(
            svg,
            (column(index), bottom + 17.0),
            11,
            GREY,
            "middle",
            &short(*value),
        );
    }
    let mut key = left;
    for ((name, figures), color) in panel.lines.iter().zip(COLORS) {
        let mut points = String::new();
        for (index, figure) in figures.iter().enumerate() {
            let _ = write!(points, "{:.1},{:.1} ", column(index), place(*figure));
        }
        let _ = writeln!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"2\"/>",
            points.trim_end()
        );
        for (index, figure) in figures.iter().enumerate() {
            let _ = writeln!(
                svg,
                "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3\" fill=\"{color}\"><title>{name}, {}: {figure:.1} \
                 ns</title></circle>",
                column(index),
                place(*figure),
                short(panel.values.get(index).copied().unwrap_or(0)),
            );
        }
        let _ = writeln!(
            svg,
            "<rect x=\"{key:.1}\" y=\"{:.1}\" width=\"10\" height=\"10\" fill=\"{color}\"/>",
            bottom + 31.0
        );
        text(svg, (key + 15.0, bottom + 40.0), 11, INK, "start", name);
        key += 32.0 + 5.6 * name.len() as f64;
    }
}

/// A round distance of which the whole has three to eight.
fn tick(most: f64) -> f64 {
    let steps = [1.0, 2.0, 5.0];
    let power = 10_f64.powf((most / 8.0).log10().floor());
    let fits = steps.into_iter().map(|step| step * power);
    fits.clone()
        .find(|step| most / step <= 8.0)
        .unwrap_or(10.0 * power)
}

fn text(svg: &mut String, (x, y): (f64, f64), size: u32, fill: &str, anchor: &str, what: &str) {
    let _ = writeln!(
        svg,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size}\" fill=\"{fill}\" text-anchor=\"{anchor}\">{what}</text>"
    );
}
