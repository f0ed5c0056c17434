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
    /// The innermost span it was in.
    pub(crate) span: Option<usize>,
}

/// A span, by the order in which they began.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Span {
    pub(crate) name: &'static str,
    pub(crate) target: String,
    pub(crate) fields: BTreeMap<String, String>,
    /// How often it was entered.
    pub(crate) entered: usize,
    /// How many handles there are to it.
    pub(crate) handles: usize,
}

#[derive(Default)]
struct Spans {
    all: Vec<Span>,
    /// Those that are entered, the innermost last. Of one thread.
    entered: Vec<usize>,
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
    spans: Arc<Mutex<Spans>>,
    most: Level,
    also: Option<Listener>,
}

/// What was heard so far on this thread.
pub(crate) struct Heard {
    lines: Arc<Mutex<Vec<Line>>>,
    spans: Arc<Mutex<Spans>>,
    _hearing: DefaultGuard,
}

/// Hears everything of this thread up to this level, until it is dropped.
pub(crate) fn hear(most: Level) -> Heard {
    hear_and(most, None)
}

/// The same, and does something with each line.
pub(crate) fn hear_and(most: Level, also: Option<Listener>) -> Heard {
    let lines: Arc<Mutex<Vec<Line>>> = Arc::default();
    let spans: Arc<Mutex<Spans>> = Arc::default();
    let all = Everything {
        lines: Arc::clone(&lines),
        spans: Arc::clone(&spans),
        most,
        also,
    };
    Heard {
        lines,
        spans,
        _hearing: tracing::subscriber::set_default(all),
    }
}

impl Heard {
    pub(crate) fn lines(&self) -> Vec<Line> {
        self.lines.lock().unwrap().clone()
    }

    pub(crate) fn spans(&self) -> Vec<Span> {
        self.spans.lock().unwrap().all.clone()
    }

    /// The spans that are entered now.
    pub(crate) fn entered(&self) -> Vec<usize> {
        self.spans.lock().unwrap().entered.clone()
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

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        let mut fields = BTreeMap::new();
        attributes.record(&mut Fields(&mut fields));
        let mut spans = self.spans.lock().unwrap();
        spans.all.push(Span {
            name: attributes.metadata().name(),
            target: attributes.metadata().target().to_owned(),
            fields,
            entered: 0,
            handles: 1,
        });
        Id::from_u64(spans.all.len() as u64)
    }

    fn record(&self, id: &Id, values: &Record<'_>) {
        self.with(id, |span| values.record(&mut Fields(&mut span.fields)));
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut fields = BTreeMap::new();
        event.record(&mut Fields(&mut fields));
        let line = Line {
            level: *event.metadata().level(),
            target: event.metadata().target().to_owned(),
            message: fields.remove("message").unwrap_or_default(),
            fields,
            span: self.spans.lock().unwrap().entered.last().copied(),
        };
        self.lines.lock().unwrap().push(line.clone());
        if let Some(also) = &self.also {
            also(&line);
        }
    }

    fn enter(&self, id: &Id) {
        self.with(id, |span| span.entered += 1);
        self.spans.lock().unwrap().entered.push(place(id));
    }

    fn exit(&self, id: &Id) {
        let last = self.spans.lock().unwrap().entered.pop();
        assert_eq!(last, Some(place(id)), "spans are left in order");
    }

    fn clone_span(&self, id: &Id) -> Id {
        self.with(id, |span| span.handles += 1);
        id.clone()
    }

    fn try_close(&self, id: Id) -> bool {
        self.with(&id, |span| span.handles -= 1);
        self.spans.lock().unwrap().all[place(&id)].handles == 0
    }
}

impl Everything {
    fn with(&self, id: &Id, change: impl FnOnce(&mut Span)) {
        change(&mut self.spans.lock().unwrap().all[place(id)]);
    }
}

fn place(id: &Id) -> usize {
    usize::try_from(id.into_u64()).unwrap() - 1
}
