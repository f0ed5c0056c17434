//! Writes the files in `cb-runtime/dashboards` anew: after a change of the metrics, or of what is
//! shown of them. With `queries` it writes nothing but prints the dashboard's queries as recording
//! rules, so that Prometheus's own parser can check them.

use std::io::{self, Write as _};

use cb_tests::dashboards;

fn main() -> io::Result<()> {
    if std::env::args().nth(1).as_deref() == Some("queries") {
        return io::stdout().write_all(dashboards::queries().as_bytes());
    }
    for (name, contents) in dashboards::files() {
        std::fs::write(dashboards::folder().join(name), contents)?;
    }
    Ok(())
}
