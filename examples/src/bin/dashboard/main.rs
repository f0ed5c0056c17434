//! Services that die and recover, functions behind breakers that call them, and the page to watch
//! it all.
//!
//! ```sh
//! cargo run -p cb-examples --features dashboard --bin dashboard
//! cargo run -p cb-examples --features dashboard --bin dashboard -- --authoriser allow
//! ```
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod args;
mod outage;
mod services;

use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};
use std::process::ExitCode;

use axum::Router;
use cb_runtime::admin::Admin;
use tokio::net::TcpListener;

use crate::args::{Args, Authoriser};

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let args = match Args::parse(std::env::args().skip(1)) {
        Ok(args) => args,
        Err(message) => {
            eprintln!("{message}");
            return Ok(ExitCode::from(2));
        }
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    runtime.block_on(run(&args))?;
    Ok(ExitCode::SUCCESS)
}

async fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    let registry = cb_runtime::registry();
    let admin = match args.authoriser {
        Authoriser::None => Admin::new(&registry),
        // A real one would look at a session or a token in `request.parts()`.
        Authoriser::Allow => Admin::new(&registry).authorise(|_| true),
        Authoriser::Deny => Admin::new(&registry).authorise(|_| false),
    };
    let app: Router = Router::new().nest("/breakers", admin.router());

    // Only for this machine: whoever can read the page sees the names of all dependencies.
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, args.port));
    let listener = TcpListener::bind(address).await?;
    println!("http://{}/breakers/dashboard", listener.local_addr()?);

    let _services = outage::start()?;
    services::crowd(args.quiet);
    axum::serve(listener, app).await?;
    Ok(())
}
