//! Durations as data: numbers of seconds, with a fraction.
//!
//! A whole number of nanoseconds comes back as the same one up to 104 days, which is what an `f64`
//! holds; beyond that it is rounded.

use std::time::Duration;

use serde::de::{Deserialize, Deserializer, Error};
use serde::ser::Serializer;

pub(crate) fn serialize<S: Serializer>(time: &Duration, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_f64(time.as_secs_f64())
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
    duration(f64::deserialize(from)?).map_err(D::Error::custom)
}

/// More than a duration holds is the longest one, since that is how the longest one is written.
fn duration(seconds: f64) -> Result<Duration, &'static str> {
    match Duration::try_from_secs_f64(seconds) {
        Ok(time) => Ok(time),
        Err(_) if seconds > 0.0 => Ok(Duration::MAX),
        Err(_) => Err("a duration is a number of seconds, from 0"),
    }
}

pub(crate) mod optional {
    //! The same, or nothing.

    use super::{Deserialize, Deserializer, Duration, Error, Serializer};

    pub(crate) fn serialize<S: Serializer>(
        time: &Option<Duration>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        match time {
            Some(time) => to.serialize_some(&time.as_secs_f64()),
            None => to.serialize_none(),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Duration>, D::Error> {
        let seconds = Option::<f64>::deserialize(from)?;
        let time = seconds.map(super::duration).transpose();
        time.map_err(D::Error::custom)
    }
}
