//! The page in a real Chromium. `.ci/browser` runs this: it needs the browser and the program
//! `dashboard`.

mod chromium;
mod crowd;
mod names;
mod operations;
mod outage;
mod program;
mod reading;
mod served;
