//! What the command line says.

const USAGE: &str = "usage: dashboard [--port N] [--authoriser allow|deny] [--quiet N]

  --port N          where the page is; 0, the default, takes any free port
  --authoriser ...  lets the page operate the breakers, or refuses each attempt; by default it cannot try
  --quiet N         as many further breakers, most of them without trouble";

/// Who may operate the breakers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Authoriser {
    None,
    Allow,
    Deny,
}

#[derive(Debug)]
pub(crate) struct Args {
    pub(crate) port: u16,
    pub(crate) authoriser: Authoriser,
    pub(crate) quiet: u32,
}

impl Args {
    /// What is asked for, or what to say instead.
    pub(crate) fn parse(mut args: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut parsed = Self {
            port: 0,
            authoriser: Authoriser::None,
            quiet: 0,
        };
        while let Some(arg) = args.next() {
            let mut value = || args.next().ok_or_else(|| USAGE.to_owned());
            match arg.as_str() {
                "--port" => parsed.port = number(&value()?)?,
                "--quiet" => parsed.quiet = number(&value()?)?,
                "--authoriser" => {
                    parsed.authoriser = match value()?.as_str() {
                        "allow" => Authoriser::Allow,
                        "deny" => Authoriser::Deny,
                        _ => return Err(USAGE.to_owned()),
                    }
                }
                _ => return Err(USAGE.to_owned()),
            }
        }
        Ok(parsed)
    }
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| USAGE.to_owned())
}
