//! A headless Chromium, driven over its debugging pipe: JSON messages that end with a zero byte, so
//! that no port and no websocket is needed.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use std::{fs, thread};

use serde_json::{Value, json};

/// No condition takes longer than this, however slow the machine is.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A browser with one page, closed when this is dropped.
pub(crate) struct Page {
    browser: Child,
    input: Mutex<(ChildStdin, u64)>,
    shared: Arc<Shared>,
    session: String,
    profile: PathBuf,
}

#[derive(Default)]
struct Shared {
    answers: Mutex<HashMap<u64, Sender<Value>>>,
    /// What the page complained about: exceptions, refused files, violated policies.
    complaints: Mutex<Vec<String>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Page {
    /// Opens this address and waits until its own code runs.
    pub(crate) fn open(address: &str) -> Self {
        let page = Self::blank();
        page.goto(address);
        page
    }

    fn blank() -> Self {
        let unique = format!(
            "cb-browser-{}-{:?}",
            std::process::id(),
            thread::current().id()
        );
        let profile = std::env::temp_dir().join(unique);
        let mut browser = Command::new("sh")
            // The browser reads descriptor 3 and writes 4.
            .args([
                "-c",
                r#"exec "$@" 3<&0 4>&1 </dev/null >/dev/null 2>&1"#,
                "sh",
            ])
            .arg("chromium")
            .args([
                "--headless=new",
                "--remote-debugging-pipe",
                "--no-sandbox", // CI runs as root
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-extensions",
                "--no-first-run",
                "--no-default-browser-check",
                "--force-color-profile=srgb",
                "--window-size=1280,900",
            ])
            .arg(format!("--user-data-dir={}", profile.display()))
            .arg("about:blank")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a shell");
        let input = browser.stdin.take().expect("a pipe");
        let output = browser.stdout.take().expect("a pipe");
        let shared = Arc::new(Shared::default());
        let reader = Arc::clone(&shared);
        thread::spawn(move || reader.read(output));
        let mut page = Self {
            browser,
            input: Mutex::new((input, 0)),
            shared,
            session: String::new(),
            profile,
        };
        let target = page.send("Target.createTarget", json!({"url": "about:blank"}));
        let attached = page.send(
            "Target.attachToTarget",
            json!({"targetId": target["targetId"], "flatten": true}),
        );
        page.session = attached["sessionId"]
            .as_str()
            .expect("a session")
            .to_owned();
        for domain in ["Page", "Runtime", "Log"] {
            page.send(&format!("{domain}.enable"), json!({}));
        }
        page
    }

    pub(crate) fn goto(&self, address: &str) {
        let gone = self.send("Page.navigate", json!({"url": address}));
        assert!(gone["errorText"].is_null(), "{gone}");
        self.wait("document.readyState === 'complete'");
    }

    /// Sends a command and returns its result.
    pub(crate) fn send(&self, method: &str, parameters: Value) -> Value {
        let answer = {
            let mut input = lock(&self.input);
            input.1 += 1;
            let mut message = json!({"id": input.1, "method": method, "params": parameters});
            if !self.session.is_empty() {
                message["sessionId"] = json!(self.session);
            }
            let (sender, answer): (_, Receiver<Value>) = channel();
            lock(&self.shared.answers).insert(input.1, sender);
            let mut bytes = message.to_string().into_bytes();
            bytes.push(0);
            input
                .0
                .write_all(&bytes)
                .expect("the browser is there: is `chromium` installed?");
            answer
        };
        let answer = answer.recv_timeout(PATIENCE).expect("the browser answers");
        assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
        answer["result"].clone()
    }

    /// The value of an expression, or of the promise that it is.
    #[track_caller]
    pub(crate) fn value(&self, expression: &str) -> Value {
        let result = self.send(
            "Runtime.evaluate",
            json!({"expression": expression, "awaitPromise": true, "returnByValue": true}),
        );
        let exception = &result["exceptionDetails"];
        assert!(exception.is_null(), "{expression}: {exception}");
        result["result"]["value"].clone()
    }

    #[track_caller]
    pub(crate) fn text(&self, expression: &str) -> String {
        let value = self.value(expression);
        value
            .as_str()
            .unwrap_or_else(|| panic!("{expression}: {value}"))
            .to_owned()
    }

    #[track_caller]
    pub(crate) fn number(&self, expression: &str) -> f64 {
        let value = self.value(expression);
        value
            .as_f64()
            .unwrap_or_else(|| panic!("{expression}: {value}"))
    }

    /// Waits until the expression is true.
    #[track_caller]
    pub(crate) fn wait(&self, condition: &str) {
        let begin = Instant::now();
        while self.value(&format!("Boolean({condition})")) != true {
            if begin.elapsed() > PATIENCE {
                let complaints = lock(&self.shared.complaints).clone();
                let body = self.value("document.body.innerText.slice(0, 3000)");
                panic!("never true: {condition}\n{complaints:?}\n{body}");
            }
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Moves the pointer to an element that can be seen and presses the button there.
    #[track_caller]
    pub(crate) fn click(&self, selector: &str) {
        let place = self.place(selector);
        self.mouse("mouseMoved", &place);
        // What is sorted by the page stands still from now on; it may have moved until then.
        let place = self.place(selector);
        for kind in ["mousePressed", "mouseReleased"] {
            self.mouse(kind, &place);
        }
    }

    fn mouse(&self, kind: &str, place: &Value) {
        let button = if kind == "mouseMoved" { "none" } else { "left" };
        let at =
            json!({"type": kind, "x": place[0], "y": place[1], "button": button, "clickCount": 1});
        self.send("Input.dispatchMouseEvent", at);
    }

    /// The middle of an element that nothing is in front of.
    #[track_caller]
    fn place(&self, selector: &str) -> Value {
        let selector = json!(selector);
        let find = format!("document.querySelector({selector})");
        self.wait(&format!(
            "{find}?.checkVisibility() && {find}.ariaDisabled !== 'true'"
        ));
        let place = self.value(&format!(
            "(() => {{ const e = {find}; e.scrollIntoView({{block: 'nearest'}});
              const b = e.getBoundingClientRect();
              const [x, y] = [b.x + b.width / 2, b.y + b.height / 2];
              const hit = document.elementFromPoint(x, y);
              return e.contains(hit) ? [x, y] : `${{hit?.outerHTML?.slice(0, 200)}} is in front`; }})()"
        ));
        assert!(place.is_array(), "{selector}: {place}");
        place
    }

    /// Opens the detail of a breaker by its tile. A tile can still move between a look at it and the
    /// click, in a list that lives; then a person clicks again.
    #[track_caller]
    pub(crate) fn choose(&self, name: &str) {
        let shown = format!(
            "document.getElementById('detail-name')?.textContent === {}",
            json!(name)
        );
        let tile = format!(".tile[data-name={}] .name", json!(name));
        let begin = Instant::now();
        while self.value(&shown) != true {
            assert!(begin.elapsed() < PATIENCE, "{name} cannot be chosen");
            self.click(&tile);
        }
    }

    /// Presses a key that writes nothing.
    pub(crate) fn press(&self, key: &str) {
        let code = match key {
            "Tab" => 9,
            "Enter" => 13,
            "Escape" => 27,
            "PageDown" => 34,
            "End" => 35,
            "Home" => 36,
            "ArrowRight" => 39,
            "ArrowDown" => 40,
            other => panic!("no code for {other}"),
        };
        for kind in ["keyDown", "keyUp"] {
            let mut event =
                json!({"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code});
            if key == "Enter" && kind == "keyDown" {
                event["text"] = json!("\r");
            }
            self.send("Input.dispatchKeyEvent", event);
        }
    }

    pub(crate) fn write(&self, text: &str) {
        self.send("Input.insertText", json!({"text": text}));
    }

    pub(crate) fn size(&self, width: u32, height: u32) {
        let metrics =
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.send("Emulation.setDeviceMetricsOverride", metrics);
    }

    pub(crate) fn scheme(&self, scheme: &str) {
        let features = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        self.send("Emulation.setEmulatedMedia", features);
    }

    /// For people to look at: a picture in the directory that `CB_SCREENSHOTS` names, if it does.
    pub(crate) fn screenshot(&self, name: &str) {
        let Some(directory) = std::env::var_os("CB_SCREENSHOTS") else {
            return;
        };
        let shot = self.send("Page.captureScreenshot", json!({"format": "png"}));
        let data = shot["data"].as_str().expect("a picture");
        fs::create_dir_all(&directory).expect("a directory");
        let path = PathBuf::from(directory).join(format!("{name}.png"));
        fs::write(path, from_base64(data)).expect("a file");
    }

    /// Fails if the page has thrown, or was refused something.
    #[track_caller]
    pub(crate) fn assert_no_complaints(&self) {
        let complaints = lock(&self.shared.complaints);
        assert!(complaints.is_empty(), "{complaints:#?}");
    }

    /// What the page has complained about so far, which is then forgotten.
    pub(crate) fn take_complaints(&self) -> Vec<String> {
        std::mem::take(&mut *lock(&self.shared.complaints))
    }
}

impl Shared {
    fn read(&self, output: ChildStdout) {
        let mut output = BufReader::new(output);
        loop {
            let mut bytes = Vec::new();
            match output.read_until(0, &mut bytes) {
                Ok(length) if length > 0 => {}
                _ => break,
            }
            bytes.pop();
            let Ok(message) = serde_json::from_slice::<Value>(&bytes) else {
                continue;
            };
            if let Some(id) = message["id"].as_u64() {
                // The receiver has lost its patience if it is gone.
                let waiting = lock(&self.answers).remove(&id);
                waiting.map(|waiting| waiting.send(message));
            } else {
                self.listen(&message);
            }
        }
        // The browser is gone: nobody waits for it in vain.
        lock(&self.answers).clear();
    }

    fn listen(&self, message: &Value) {
        let parameters = &message["params"];
        let complaint = match message["method"].as_str() {
            Some("Runtime.exceptionThrown") => &parameters["exceptionDetails"],
            Some("Log.entryAdded") if parameters["entry"]["level"] == "error" => {
                &parameters["entry"]
            }
            Some("Runtime.consoleAPICalled") if parameters["type"] == "error" => parameters,
            _ => return,
        };
        lock(&self.complaints).push(complaint.to_string());
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        // This very process, by its handle; its helpers end with it.
        let _ = self.browser.kill();
        let _ = self.browser.wait();
        let _ = fs::remove_dir_all(&self.profile);
    }
}

fn from_base64(text: &str) -> Vec<u8> {
    let digit = |byte: u8| match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let digits: Vec<u32> = text.bytes().filter_map(digit).map(u32::from).collect();
    digits
        .chunks(4)
        .flat_map(|four| {
            let bits = four.iter().fold(0, |bits, digit| bits << 6 | digit);
            let bytes = (bits << (6 * (4 - four.len()))).to_be_bytes();
            bytes[1..four.len()].to_vec()
        })
        .collect()
}
