//! A client that sends exactly the bytes it is given: libraries tidy paths up before they send them.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

/// A server that does not answer makes the test fail rather than hang.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Response {
    pub(crate) status: u16,
    /// Names in lower case.
    headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Response {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut named = self.headers.iter().filter(|(known, _)| known == name);
        named.next().map(|(_, value)| value.as_str())
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.header("content-type"), Some("application/json"));
        serde_json::from_str(&self.body).expect("JSON")
    }
}

/// Sends a request without a body and reads the whole answer.
pub(crate) fn send(to: SocketAddr, method: &str, path: &str, headers: &[&str]) -> Response {
    let mut reader = request(to, method, path, headers);
    let (status, headers) = head(&mut reader);
    let mut response = Response {
        status,
        headers,
        body: String::new(),
    };
    if method != "HEAD" {
        let mut body = Vec::new();
        if response.header("transfer-encoding") == Some("chunked") {
            while let Some(mut chunk) = chunk(&mut reader) {
                body.append(&mut chunk);
            }
        } else {
            let length = response.header("content-length").unwrap_or("0");
            body.resize(length.parse().expect("a length"), 0);
            reader.read_exact(&mut body).expect("the whole body");
        }
        response.body = String::from_utf8(body).expect("UTF-8");
    }
    response
}

pub(crate) fn get(to: SocketAddr, path: &str) -> Response {
    send(to, "GET", path, &[])
}

fn request(to: SocketAddr, method: &str, path: &str, headers: &[&str]) -> BufReader<TcpStream> {
    let mut stream = TcpStream::connect(to).expect("the server listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    let mut text = format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\n");
    for header in headers {
        text += header;
        text += "\r\n";
    }
    text += "\r\n";
    stream.write_all(text.as_bytes()).expect("the server reads");
    BufReader::new(stream)
}

fn line(reader: &mut BufReader<TcpStream>) -> String {
    let mut line = String::new();
    reader.read_line(&mut line).expect("the server answers");
    line.trim_end_matches(['\r', '\n']).to_owned()
}

fn head(reader: &mut BufReader<TcpStream>) -> (u16, Vec<(String, String)>) {
    let status = line(reader);
    let code = status.split(' ').nth(1).and_then(|code| code.parse().ok());
    let code = code.unwrap_or_else(|| panic!("no status: {status:?}"));
    let mut headers = Vec::new();
    loop {
        let line = line(reader);
        let Some((name, value)) = line.split_once(':') else {
            return (code, headers);
        };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
}

/// The next chunk; `None` after the last one, or if the connection ends.
fn chunk(reader: &mut BufReader<TcpStream>) -> Option<Vec<u8>> {
    let length = usize::from_str_radix(&line(reader), 16).ok()?;
    let mut chunk = vec![0; length + 2];
    reader.read_exact(&mut chunk).expect("the whole chunk");
    chunk.truncate(length);
    (length > 0).then_some(chunk)
}

/// A stream of server-sent events.
pub(crate) struct Events {
    reader: BufReader<TcpStream>,
    text: String,
}

/// One of them.
#[derive(Debug)]
pub(crate) struct Message {
    /// `message` if it has no name of its own.
    pub(crate) name: String,
    pub(crate) id: Option<String>,
    pub(crate) data: Value,
}

impl Events {
    /// The stream, or the status if that is not 200.
    pub(crate) fn open(to: SocketAddr, path: &str, headers: &[&str]) -> Result<Self, u16> {
        let mut reader = request(to, "GET", path, headers);
        let (status, headers) = head(&mut reader);
        if status != 200 {
            return Err(status);
        }
        let of_type = ("content-type".to_owned(), "text/event-stream".to_owned());
        assert!(headers.contains(&of_type), "{headers:?}");
        Ok(Self {
            reader,
            text: String::new(),
        })
    }

    /// The next message. Comments, and how long to wait before the next try, are no messages.
    #[track_caller]
    pub(crate) fn next(&mut self) -> Message {
        loop {
            let block = self.block();
            let field = |name: &str| {
                let prefix = format!("{name}: ");
                let mut lines = block.lines();
                lines.find_map(|line| Some(line.strip_prefix(&prefix)?.to_owned()))
            };
            if let Some(data) = field("data") {
                return Message {
                    name: field("event").unwrap_or_else(|| "message".into()),
                    id: field("id"),
                    data: serde_json::from_str(&data).expect("JSON"),
                };
            }
        }
    }

    /// The next message of this name.
    #[track_caller]
    pub(crate) fn next_named(&mut self, name: &str) -> Message {
        loop {
            let message = self.next();
            if message.name == name {
                return message;
            }
        }
    }

    /// What stands before the next empty line.
    #[track_caller]
    pub(crate) fn block(&mut self) -> String {
        loop {
            if let Some((block, rest)) = self.text.split_once("\n\n") {
                let block = block.to_owned();
                self.text = rest.to_owned();
                return block;
            }
            let chunk = chunk(&mut self.reader).expect("the stream goes on");
            self.text += std::str::from_utf8(&chunk).expect("whole messages");
        }
    }
}
