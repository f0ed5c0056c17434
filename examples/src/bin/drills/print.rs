//! The tables.

use std::time::Duration;

use cb_examples::figures::short;
use cb_examples::table::Table;

use crate::opening::Sickness;
use crate::{flapping, fleet, load, opening, recovery};

pub(crate) fn opening() -> bool {
    let sicknesses = [
        (
            Sickness::Dead,
            "All calls fail from one moment to the next. Opens after",
        ),
        (
            Sickness::Hangs,
            "All calls hang, up to the client's timeout of 30 s. Opens after",
        ),
        (
            Sickness::Errors,
            "Errors rise from 0 to 100 % within a minute. Opens after",
        ),
        (
            Sickness::Latency,
            "Answers take 50 ms, rising to the client's timeout of 30 s within a minute. Opens after",
        ),
    ];
    for (number, (sickness, title)) in sicknesses.into_iter().enumerate() {
        separate(number);
        println!("{title}");
        let mut table = Table::new(&["", "1 call/s", "10 calls/s", "100 calls/s"]);
        for (name, config) in opening::configurations() {
            let cells = [1000, 100, 10].map(|every| {
                let opened = opening::opens(&config, sickness, Duration::from_millis(every));
                opened.map_or("never".into(), |opened| {
                    let (after, calls) = (short(opened.after), opened.calls);
                    match sickness {
                        Sickness::Dead | Sickness::Errors => format!("{after}, {calls} calls"),
                        _ => format!("{after}, {} hang", opened.under_way),
                    }
                })
            });
            table.row([name.to_string()].into_iter().chain(cells));
        }
        print!("{table}");
    }
    true
}

pub(crate) fn recovery() -> bool {
    println!(
        "Five to six minutes of outage, 10 calls/s. From healing to CLOSED, and probes per minute of outage"
    );
    let mut table = Table::new(&["", "shortest", "mean", "longest", "probes/min"]);
    for (name, config) in recovery::configurations() {
        let curve = recovery::curve(&config);
        let took = curve.iter().map(|one| one.took);
        let count = u32::try_from(curve.len()).unwrap_or(1);
        let mean = took.clone().sum::<Duration>() / count;
        // The outages last five and a half minutes on average.
        let hits: u32 = curve.iter().map(|one| one.hits).sum();
        table.row([
            name,
            short(took.clone().min().unwrap_or_default()),
            short(mean),
            short(took.max().unwrap_or_default()),
            format!("{:.1}", f64::from(hits) / f64::from(count) / 5.5),
        ]);
    }
    print!("{table}");
    true
}

pub(crate) fn flapping() -> bool {
    const HOURS: u32 = 10;
    for (number, failing) in [40, 50].into_iter().enumerate() {
        separate(number);
        println!("10 calls/s; {failing} % of those that reach the downstream fail. In an hour");
        let headings = [
            "",
            "closes",
            "back to OPEN",
            "failed",
            "succeeded",
            "let through",
        ];
        let mut table = Table::new(&headings);
        for (name, config) in flapping::rules() {
            let all = flapping::flaps(&config, failing, HOURS);
            let an_hour = |count: u32| f64::from(count) / f64::from(HOURS);
            let through = an_hour(all.failed + all.succeeded) / 360.0;
            table.row([
                name.to_string(),
                format!("{:.1}", an_hour(all.closings)),
                format!("{:.1}", an_hour(all.failed_stays)),
                format!("{:.0}", an_hour(all.failed)),
                format!("{:.0}", an_hour(all.succeeded)),
                format!("{through:.1} %"),
            ]);
        }
        print!("{table}");
    }
    true
}

/// An empty line between tables.
fn separate(number: usize) {
    if number > 0 {
        println!();
    }
}

pub(crate) fn fleet() -> bool {
    println!(
        "{} instances, 10 calls/s each, hit by one outage of a minute",
        fleet::INSTANCES
    );
    let mut table = Table::new(&[
        "",
        "peak probes/s",
        "all CLOSED after",
        "traffic back after",
        "steepest rise/s",
    ]);
    for (name, config) in fleet::configurations() {
        let load = fleet::outage(&config);
        table.row([
            name.to_string(),
            load.peak_probes.to_string(),
            short(load.all_closed),
            short(load.traffic_back),
            load.steepest.to_string(),
        ]);
    }
    print!("{table}");
    true
}

pub(crate) fn load() -> bool {
    println!("Real threads; the downstream is sick every other 50 ms, `wait` is 20 ms");
    let thirds = match load::run() {
        Ok(thirds) => thirds,
        Err(error) => {
            println!("not measured: {error}");
            return true;
        }
    };
    let mut table = Table::new(&["third", "calls", "rejected", "trips", "CPU/call", "memory"]);
    for (number, third) in (1..).zip(&thirds) {
        table.row([
            i32::to_string(&number),
            third.calls.to_string(),
            third.rejected.to_string(),
            third.trips.to_string(),
            format!("{} ns", third.cpu().as_nanos()),
            format!("{} KiB", third.resident),
        ]);
    }
    print!("{table}");
    let flat = load::flat(&thirds);
    println!("{}", if flat { "flat" } else { "GROWS" });
    flat
}
