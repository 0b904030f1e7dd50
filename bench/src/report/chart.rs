//! The chart: CPU time for a request on a logarithmic scale, a row for each path, a dot for each
//! server. On such a scale the same distance is the same factor.

use std::fmt::Write;

use crate::{paths::PATHS, peers::Peer, results::Results};

/// Pixels.
const WIDTH: f64 = 960.0;
/// Room for the longest name of a path, with letters slightly wider than usual.
const LEFT: f64 = 310.0;
const RIGHT: f64 = 930.0;
const TOP: f64 = 92.0;
const ROW: f64 = 40.0;

fn colour(server: Peer) -> &'static str {
    match server {
        Peer::Control => "#9aa0a6",
        Peer::Turnbuckle => "#d1495b",
        Peer::Rmcp => "#2e4057",
        Peer::Node => "#3178c6",
        Peer::Python => "#e0a526",
    }
}

/// The axis, in powers of ten of microseconds.
struct Axis {
    lowest: i32,
    highest: i32,
}

impl Axis {
    fn of(figures: &[f64]) -> Self {
        let powers = |round: fn(f64) -> f64| figures.iter().map(move |it| round(it.log10()));
        #[expect(
            clippy::cast_possible_truncation,
            reason = "powers of ten of microseconds"
        )]
        let whole = |power: f64| power as i32;
        Self {
            lowest: whole(powers(f64::floor).fold(0.0, f64::min)),
            highest: whole(powers(f64::ceil).fold(1.0, f64::max)),
        }
    }

    fn at(&self, microseconds: f64) -> f64 {
        let (lowest, highest) = (f64::from(self.lowest), f64::from(self.highest));
        LEFT + (microseconds.log10() - lowest) / (highest - lowest) * (RIGHT - LEFT)
    }
}

/// A row: its name, and the value of each server.
struct Row {
    name: &'static str,
    figures: Vec<(Peer, f64)>,
}

fn rows(results: &Results) -> Vec<Row> {
    let row = |name: &'static str| {
        let figure = |server| {
            let spread = results.speed.figure(name, server, |it| it.cpu_us)?;
            Some((server, spread.median))
        };
        let figures: Vec<_> = Peer::ALL.into_iter().filter_map(figure).collect();
        (!figures.is_empty()).then_some(Row { name, figures })
    };
    PATHS.iter().filter_map(|path| row(path.name)).collect()
}

pub(crate) fn svg(results: &Results) -> String {
    let rows = rows(results);
    let figures: Vec<_> = rows
        .iter()
        .flat_map(|row| &row.figures)
        .map(|it| it.1)
        .collect();
    let axis = Axis::of(&figures);
    #[expect(clippy::cast_precision_loss, reason = "there are a few rows")]
    let bottom = TOP + ROW * rows.len() as f64;
    let height = bottom + 40.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" \
         font-family=\"system-ui, sans-serif\" font-size=\"14\" role=\"img\" \
         aria-label=\"CPU for a request, by path and server\">\n\
         <rect width=\"{WIDTH}\" height=\"{height}\" rx=\"8\" fill=\"#ffffff\"/>\n\
         <text x=\"24\" y=\"32\" font-size=\"18\" font-weight=\"600\" fill=\"#1f2328\">\
         CPU for a request (less is better)</text>\n"
    );
    legend(&mut svg);
    grid(&mut svg, &axis, bottom);
    let mut y = TOP + ROW / 2.0;
    for row in &rows {
        dots(&mut svg, &axis, row, y);
        y += ROW;
    }
    svg + "</svg>\n"
}

fn legend(svg: &mut String) {
    let mut x = 24.0;
    for server in Peer::ALL {
        let (name, colour) = (server.name(), colour(server));
        let _ = writeln!(
            svg,
            "<circle cx=\"{x}\" cy=\"58\" r=\"6\" fill=\"{colour}\"/>\
             <text x=\"{}\" y=\"63\" fill=\"#1f2328\">{name}</text>",
            x + 12.0
        );
        x += 130.0;
    }
}

fn grid(svg: &mut String, axis: &Axis, bottom: f64) {
    for power in axis.lowest..=axis.highest {
        let microseconds = 10_f64.powi(power);
        let x = axis.at(microseconds);
        let label = match power {
            6.. => format!("{} s", 10_f64.powi(power - 6)),
            3..6 => format!("{} ms", 10_f64.powi(power - 3)),
            _ => format!("{microseconds} µs"),
        };
        let _ = writeln!(
            svg,
            "<line x1=\"{x:.1}\" y1=\"{TOP}\" x2=\"{x:.1}\" y2=\"{bottom}\" stroke=\"#d0d7de\"/>\
             <text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\" fill=\"#59636e\">{label}</text>",
            bottom + 22.0
        );
    }
}

fn dots(svg: &mut String, axis: &Axis, row: &Row, y: f64) {
    let places: Vec<_> = row
        .figures
        .iter()
        .map(|(_, figure)| axis.at(*figure))
        .collect();
    let first = places.iter().copied().fold(f64::INFINITY, f64::min);
    let last = places.iter().copied().fold(0.0, f64::max);
    let _ = writeln!(
        svg,
        "<text x=\"{}\" y=\"{}\" text-anchor=\"end\" fill=\"#1f2328\">{}</text>\
         <line x1=\"{first:.1}\" y1=\"{y}\" x2=\"{last:.1}\" y2=\"{y}\" stroke=\"#d0d7de\" stroke-width=\"3\"/>",
        LEFT - 14.0,
        y + 5.0,
        row.name
    );
    for ((server, figure), x) in row.figures.iter().zip(places) {
        let (name, colour) = (server.name(), colour(*server));
        let _ = writeln!(
            svg,
            "<circle cx=\"{x:.1}\" cy=\"{y}\" r=\"7\" fill=\"{colour}\" stroke=\"#ffffff\">\
             <title>{name}: {figure:.1} µs</title></circle>"
        );
    }
}
