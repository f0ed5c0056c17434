//! A subscriber that keeps everything.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::DefaultGuard;
use tracing::{Event, Level, Metadata, Subscriber};

/// An event, with its fields as text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Line {
    pub(crate) level: Level,
    pub(crate) target: String,
    pub(crate) message: String,
    pub(crate) fields: BTreeMap<String, String>,
}

impl Line {
    /// The field, or nothing.
    pub(crate) fn get(&self, field: &str) -> &str {
        self.fields.get(field).map_or("", String::as_str)
    }

    pub(crate) fn number(&self, field: &str) -> u64 {
        self.fields.get(field).map_or(0, |it| it.parse().unwrap())
    }
}

type Listener = Box<dyn Fn(&Line) + Send + Sync>;

pub(crate) struct Everything {
    lines: Arc<Mutex<Vec<Line>>>,
    most: Level,
    also: Option<Listener>,
}

/// What was heard so far on this thread.
pub(crate) struct Heard {
    lines: Arc<Mutex<Vec<Line>>>,
    _hearing: DefaultGuard,
}

/// Hears everything of this thread up to this level, until it is dropped.
pub(crate) fn hear(most: Level) -> Heard {
    hear_and(most, None)
}

/// The same, and does something with each line.
pub(crate) fn hear_and(most: Level, also: Option<Listener>) -> Heard {
    let lines: Arc<Mutex<Vec<Line>>> = Arc::default();
    let all = Everything {
        lines: Arc::clone(&lines),
        most,
        also,
    };
    Heard {
        lines,
        _hearing: tracing::subscriber::set_default(all),
    }
}

impl Heard {
    pub(crate) fn lines(&self) -> Vec<Line> {
        self.lines.lock().unwrap().clone()
    }

    /// The lines since they were last taken.
    pub(crate) fn take(&self) -> Vec<Line> {
        std::mem::take(&mut self.lines.lock().unwrap())
    }
}

struct Fields<'a>(&'a mut BTreeMap<String, String>);

impl Visit for Fields<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name().to_owned(), value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let text = format!("{value:?}");
        self.0.insert(field.name().to_owned(), text);
    }
}

impl Subscriber for Everything {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("cb_runtime") && *metadata.level() <= self.most
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut fields = BTreeMap::new();
        event.record(&mut Fields(&mut fields));
        let line = Line {
            level: *event.metadata().level(),
            target: event.metadata().target().to_owned(),
            message: fields.remove("message").unwrap_or_default(),
            fields,
        };
        self.lines.lock().unwrap().push(line.clone());
        if let Some(also) = &self.also {
            also(&line);
        }
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}
