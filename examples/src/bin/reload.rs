//! A configuration file that is edited while the program runs.
//!
//! A thread looks at the file's time of modification, which needs nothing but the standard library. A
//! service can do the same, or load the file when it is sent a signal.
//!
//! ```sh
//! cargo run -p cb-examples --bin reload
//! ```
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, SystemTime};

use cb_runtime::{CallError, ConfigFile, circuit_breaker, registry};

/// How often the file is looked at.
const EVERY: Duration = Duration::from_millis(50);

#[circuit_breaker(name = "inventory.query", min_calls = 20)]
fn query_stock() -> Result<u32, CallError<&'static str>> {
    Err(CallError::Failed("connection refused"))
}

/// Loads the file whenever it has changed, until the other end of `stop` is gone.
fn watch(path: &Path, stop: &Receiver<()>, told: &Sender<String>) {
    let mut seen: Option<SystemTime> = None;
    while stop.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
        let modified = fs::metadata(path).and_then(|data| data.modified()).ok();
        if modified == seen {
            continue;
        }
        seen = modified;
        let loaded = ConfigFile::read(path).and_then(|file| registry().load_config(&file));
        // A service would log it. What was in force before still is if there is an error.
        let text = match loaded {
            Ok(report) => report.to_string(),
            Err(error) => error.to_string(),
        };
        if told.send(text).is_err() {
            return;
        }
    }
}

/// As an editor or a deployment should: whoever reads sees the old file or the new one, never half of
/// it.
fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    let aside = path.with_extension("new");
    fs::write(&aside, text)?;
    fs::rename(aside, path)
}

fn main() -> Result<(), Box<dyn Error>> {
    let path: PathBuf = std::env::temp_dir().join(format!("breakers-{}.toml", std::process::id()));
    let (stop, stopped) = channel();
    let (told, heard) = channel();
    let watched = path.clone();
    let watcher = thread::spawn(move || watch(&watched, &stopped, &told));
    // The file is not there yet, which the watcher does not mind.
    let versions = [
        (
            "the first version",
            "[breakers.'inventory.*']\nwait = '30s'\nslow = '2s'\n",
        ),
        (
            "a slip",
            "[breakers.'inventory.*']\nwait = 30\nmin_cals = 5\n",
        ),
        (
            "put right",
            "[breakers.'inventory.*']\nwait = '30s'\nmin_calls = 5\n",
        ),
    ];
    for (name, text) in versions {
        replace(&path, text)?;
        println!(
            "== {name}\n{text}\n{}",
            heard.recv_timeout(Duration::from_secs(30))?
        );
    }
    for _ in 0..5 {
        let _ = query_stock();
    }
    let breaker = registry().get("inventory.query").ok_or("annotated")?;
    println!("== after five calls\n{}\n", breaker.explain());
    if let Some(report) = registry().roll_back_config() {
        println!("== one version back\n{report}");
    }
    drop(stop);
    let _ = watcher.join();
    fs::remove_file(path)?;
    Ok(())
}
