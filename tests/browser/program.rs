//! The example program `dashboard`, as a user starts it.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

pub(crate) struct Dashboard {
    program: Child,
    /// Of the page.
    pub(crate) address: String,
}

impl Dashboard {
    pub(crate) fn start(args: &[&str]) -> Self {
        let mut program = Command::new(path())
            .args(args)
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program `dashboard` is built: see .ci/browser");
        let output = program.stdout.take().expect("a pipe");
        let mut address = String::new();
        BufReader::new(output)
            .read_line(&mut address)
            .expect("it prints its address");
        Self {
            program,
            address: address.trim().to_owned(),
        }
    }
}

/// Beside the directory of this test.
fn path() -> PathBuf {
    let test = std::env::current_exe().expect("this test has a path");
    let directory = test.parent().and_then(|deps| deps.parent());
    directory.expect("a target directory").join("dashboard")
}

impl Drop for Dashboard {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}
