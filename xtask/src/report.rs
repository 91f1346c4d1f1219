//! Renders a report of each demo, opens it in Chromium as people and build servers do, and keeps the pictures.

use std::io::{BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use xtask_common::{Error, cargo, print};

pub(crate) const HELP: &str = "\
Renders reports of the demos, one for each kind of input, and checks each in Chromium.
Each page is opened in light, dark, 320 pixels wide, for print, without script, and under the policy of Jenkins. A
console message, a request, a sideways scroll, or a button that does nothing is a failure. The pictures are kept in
target/report. With --gallery, those of the light theme are copied to docs/gallery. With --axe FILE, the checks of
axe-core (axe.min.js) run as well. Chromium is in Debian: apt-get install chromium. Without it, the pages are only
rendered.";

/// Reports of one demo for each kind of input: name, how the demo starts that `metric demo` prints, and further words.
#[rustfmt::skip]
const PAGES: &[(&str, &str, &str)] = &[
    ("arc", "arc", ""),
    ("reliability", "accuracy-at-k --input scores", ""),
    ("classification", "classification", "--groups class --confidence 0.95"),
    ("wer", "wer", "--confidence 0.95 --fail-over wer=0.9"),
    ("vqa", "vqa", ""),
    ("codebleu", "codebleu", ""),
    ("coco", "coco", "--groups class --confidence 0.95"),
    ("lanes", "lanes", ""),
];

/// Reports of several metrics and of several systems: name, and the words after `metric`.
const SEVERAL: &[(&str, &str)] = &[
    ("several", "score wer,cer -r d/spoken.txt -p d/heard.txt"),
    (
        "compare",
        "compare wer -r d/spoken.txt -p d/heard.txt d/spoken.txt --names model,perfect",
    ),
];

/// The way in which a page is opened.
struct Mode {
    name: &'static str,
    width: u32,
    media: &'static str,
    dark: bool,
    script: bool,
    /// The policy that a server sends with the page.
    policy: Option<&'static str>,
}

const JENKINS: &str = "sandbox; default-src 'none'; img-src 'self'; style-src 'self'";

const fn mode(name: &'static str) -> Mode {
    Mode {
        name,
        width: 1100,
        media: "screen",
        dark: false,
        script: true,
        policy: None,
    }
}

const MODES: &[Mode] = &[
    mode("light"),
    Mode {
        dark: true,
        ..mode("dark")
    },
    Mode {
        width: 320,
        ..mode("narrow")
    },
    // Paper of the size A4, without its margins.
    Mode {
        width: 718,
        media: "print",
        ..mode("print")
    },
    Mode {
        script: false,
        ..mode("no-script")
    },
    Mode {
        policy: Some(JENKINS),
        script: false,
        ..mode("jenkins")
    },
];

/// Checks the behavior of the buttons and fields of a page; returns the problems.
const CLICKS: &str = r#"(() => {
  const problems = [];
  const root = document.documentElement, theme = document.getElementById("theme");
  const before = root.dataset.theme;
  theme.click();
  if (root.dataset.theme === before) problems.push("the theme button does nothing");
  theme.click();
  const table = document.querySelector("table.sort");
  if (table && table.tBodies[0].rows.length > 1) {
    const head = table.tHead.rows[0].cells[1];
    head.querySelector("button").click();
    if (head.getAttribute("aria-sort") !== "descending") problems.push("a head does not sort");
    const value = row => { const v = row.cells[1].dataset.v; return v === undefined ? row.cells[1].textContent : v === "" ? -Infinity : Number(v) };
    const rows = [...table.tBodies[0].rows].map(value);
    if (rows.some((v, i) => i > 0 && v > rows[i - 1])) problems.push("rows are not in order");
  }
  const field = document.querySelector("input[data-for]");
  if (field) {
    field.value = "no such row at all";
    field.dispatchEvent(new Event("input"));
    const rows = [...document.getElementById(field.dataset.for).tBodies[0].rows];
    if (rows.some(row => !row.hidden)) problems.push("the filter does nothing");
    field.value = "";
    field.dispatchEvent(new Event("input"));
  }
  return problems;
})()"#;

pub(crate) fn run(arguments: &[String]) -> Result<(), Error> {
    let (mut gallery, mut axe) = (false, None);
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--gallery" => gallery = true,
            "--axe" => {
                let file = words
                    .next()
                    .ok_or_else(|| Error::Usage("--axe needs a file".to_owned()))?;
                axe = Some(
                    std::fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?,
                );
            }
            other => return Err(Error::Usage(format!("{other:?}: no argument of it"))),
        }
    }
    check(gallery, axe.as_deref())
}

/// Checks all pages, without a gallery, as a part of other commands.
pub(crate) fn run_check() -> Result<(), Error> {
    check(false, None)
}

fn check(gallery: bool, axe: Option<&str>) -> Result<(), Error> {
    let folder = PathBuf::from("target/report");
    let files = render(&folder)?;
    let Some(program) = ["chromium", "chromium-browser", "google-chrome"]
        .into_iter()
        .find(|name| is_program(name))
    else {
        print(
            "No Chromium here: the pages are rendered and not opened. On Debian: apt-get install chromium\n",
        );
        return Ok(());
    };
    let mut browser = Browser::start(program)?;
    let mut problems = Vec::new();
    let mut gallery_page = GALLERY.to_owned();
    for (name, file) in &files {
        for mode in MODES {
            let found = browser.look(name, file, mode, &folder, axe)?;
            problems.extend(
                found
                    .into_iter()
                    .map(|problem| format!("{name}, {}: {problem}", mode.name)),
            );
        }
        gallery_page.push_str(&format!(
            "\n## {name}\n\n![The report of the demo of {name}]({name}.webp)\n"
        ));
    }
    if gallery {
        let docs = Path::new("docs/gallery");
        let failed = |error: std::io::Error| format!("docs/gallery: {error}");
        std::fs::create_dir_all(docs).map_err(failed)?;
        for (name, _) in &files {
            let picture = format!("{name}.webp");
            let light = folder.join(format!("{name}-light.webp"));
            std::fs::copy(light, docs.join(picture)).map_err(failed)?;
        }
        std::fs::write(docs.join("README.md"), gallery_page).map_err(failed)?;
    }
    print(&format!(
        "{} pages in {} modes, {} problems\n",
        files.len(),
        MODES.len(),
        problems.len()
    ));
    if problems.is_empty() {
        Ok(())
    } else {
        Err(Error::Failed(problems.join("\n")))
    }
}

const GALLERY: &str =
    "# Gallery of reports\n\nReports of the demos, made by `cargo xtask report --gallery`.\n";

fn is_program(name: &str) -> bool {
    let found = Command::new(name)
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    found.is_ok_and(|status| status.success())
}

/// Writes the reports, with the program built without optimization.
fn render(folder: &Path) -> Result<Vec<(&'static str, PathBuf)>, Error> {
    cargo(&["build", "--package", "metric-cli"], &[])?;
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    let _ = std::fs::remove_dir_all(folder);
    std::fs::create_dir_all(folder).map_err(failed)?;
    let folder = folder.canonicalize().map_err(failed)?;
    let program = Path::new("target/debug/metric")
        .canonicalize()
        .map_err(failed)?;
    let run = |words: &str| -> Result<String, String> {
        let output = Command::new(&program)
            .args(words.split_whitespace())
            .current_dir(&folder)
            .output()
            .map_err(|error| error.to_string())?;
        if output.status.success() {
            Ok(String::from_utf8_lossy(&output.stdout).into_owned())
        } else {
            Err(format!(
                "metric {words}: {}",
                String::from_utf8_lossy(&output.stderr)
            ))
        }
    };
    let demos = run("demo --save d")?;
    let demo = |start: &str| {
        let start = format!("  metric score {start} ");
        let line = demos.lines().find(|line| line.starts_with(&start));
        let line = line.ok_or_else(|| format!("no demo starts with{start}"))?;
        Ok::<_, String>(line.trim_start().trim_start_matches("metric "))
    };
    let mut pages = Vec::new();
    for (name, start, further) in PAGES {
        pages.push((*name, format!("{} {further}", demo(start)?)));
    }
    pages.extend(
        SEVERAL
            .iter()
            .map(|(name, words)| (*name, (*words).to_owned())),
    );
    let mut files = Vec::new();
    for (name, words) in pages {
        run(&format!("{words} --quiet --report {name}.html"))?;
        files.push((name, folder.join(format!("{name}.html"))));
    }
    Ok(files)
}

/// Chromium, which is told what to do over a pair of pipes: JSON that ends in a zero byte.
struct Browser {
    child: Child,
    commands: ChildStdin,
    answers: BufReader<ChildStdout>,
    events: Vec<Value>,
    next: u64,
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Browser {
    fn start(program: &str) -> Result<Self, Error> {
        // The browser reads descriptor 3 and writes descriptor 4.
        let command = format!(
            "exec {program} --headless --no-sandbox --disable-gpu --hide-scrollbars --disable-dev-shm-usage --remote-debugging-pipe 3<&0 4>&1 </dev/null >/dev/null 2>/dev/null"
        );
        let mut child = Command::new("sh")
            .args(["-c", &command])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{program}: {error}"))?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let (commands, answers) = pipes.ok_or_else(|| "no pipes".to_owned())?;
        Ok(Self {
            child,
            commands,
            answers: BufReader::new(answers),
            events: Vec::new(),
            next: 0,
        })
    }

    /// The next message of the browser.
    fn message(&mut self) -> Result<Value, Error> {
        let mut bytes = Vec::new();
        let mut byte = [0];
        loop {
            let read = self
                .answers
                .read(&mut byte)
                .map_err(|error| error.to_string())?;
            if read == 0 {
                return Err(Error::Failed("the browser is gone".to_owned()));
            }
            if byte[0] == 0 {
                break;
            }
            bytes.push(byte[0]);
        }
        serde_json::from_slice(&bytes).map_err(|error| Error::Failed(error.to_string()))
    }

    /// Calls a method and waits for its answer; what else is said meanwhile are events.
    fn call(&mut self, session: Option<&str>, method: &str, params: Value) -> Result<Value, Error> {
        self.next += 1;
        let mut command = json!({"id": self.next, "method": method, "params": params});
        if let Some(session) = session {
            command["sessionId"] = json!(session);
        }
        let sent = write!(self.commands, "{command}\0").and_then(|()| self.commands.flush());
        sent.map_err(|error| error.to_string())?;
        let wanted = self.next;
        loop {
            let message = self.message()?;
            if message["id"].as_u64() == Some(wanted) {
                return match message.get("error") {
                    Some(error) => Err(Error::Failed(format!("{method}: {error}"))),
                    None => Ok(message["result"].clone()),
                };
            }
            self.events.push(message);
        }
    }

    fn evaluate(&mut self, session: &str, expression: &str) -> Result<Value, Error> {
        let params = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let result = self.call(Some(session), "Runtime.evaluate", params)?;
        match result.get("exceptionDetails") {
            Some(details) => Err(Error::Failed(details.to_string())),
            None => Ok(result["result"]["value"].clone()),
        }
    }

    /// Opens a page in a mode, keeps a picture of it, and returns what is wrong with it.
    #[expect(
        clippy::too_many_lines,
        reason = "the checks of one page, while it is open"
    )]
    fn look(
        &mut self,
        name: &str,
        file: &Path,
        mode: &Mode,
        folder: &Path,
        axe: Option<&str>,
    ) -> Result<Vec<String>, Error> {
        let url = format!("file://{}", file.display());
        let target = self.call(None, "Target.createTarget", json!({"url": "about:blank"}))?;
        let target = target["targetId"].clone();
        let attached = self.call(
            None,
            "Target.attachToTarget",
            json!({"targetId": target, "flatten": true}),
        )?;
        let session = attached["sessionId"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        let own = Some(session.as_str());
        for domain in [
            "Page.enable",
            "Runtime.enable",
            "Log.enable",
            "Network.enable",
        ] {
            self.call(own, domain, json!({}))?;
        }
        let size =
            json!({"width": mode.width, "height": 900, "deviceScaleFactor": 1, "mobile": false});
        self.call(own, "Emulation.setDeviceMetricsOverride", size)?;
        let scheme = if mode.dark { "dark" } else { "light" };
        let media = json!({"media": mode.media, "features": [{"name": "prefers-color-scheme", "value": scheme}]});
        self.call(own, "Emulation.setEmulatedMedia", media)?;
        if !mode.script {
            self.call(
                own,
                "Emulation.setScriptExecutionDisabled",
                json!({"value": true}),
            )?;
        }
        if mode.policy.is_some() {
            self.call(
                own,
                "Fetch.enable",
                json!({"patterns": [{"urlPattern": "*"}]}),
            )?;
        }
        self.events.clear();
        self.send_navigate(&session, &url, mode, file)?;
        let mut problems = Vec::new();
        // The policy of the server refuses the style and the script, and the browser says so.
        for event in std::mem::take(&mut self.events)
            .iter()
            .filter(|_| mode.policy.is_none())
        {
            let params = &event["params"];
            match event["method"].as_str().unwrap_or_default() {
                "Runtime.consoleAPICalled" | "Runtime.exceptionThrown" => {
                    problems.push(format!("the console: {params}"));
                }
                "Log.entryAdded" => problems.push(format!("the log: {}", params["entry"]["text"])),
                "Network.requestWillBeSent" => {
                    let requested = params["request"]["url"].as_str().unwrap_or_default();
                    if requested != url && !requested.starts_with("data:") {
                        problems.push(format!("a request: {requested}"));
                    }
                }
                _ => {}
            }
        }
        let layout = self.call(own, "Page.getLayoutMetrics", json!({}))?;
        let wide = layout["cssContentSize"]["width"].as_f64().unwrap_or(0.0);
        // Without the style sheet, a long line of code is as wide as it is.
        let is_styled = mode.policy.is_none();
        if wide > f64::from(mode.width) && is_styled {
            problems.push(format!("scrolls sideways: {wide} of {} pixels", mode.width));
        }
        let tall = layout["cssContentSize"]["height"]
            .as_f64()
            .unwrap_or(900.0)
            .min(12_000.0);
        let shot = json!({
            "format": "webp", "quality": 60, "captureBeyondViewport": true,
            "clip": {"x": 0, "y": 0, "width": mode.width, "height": tall, "scale": 1},
        });
        let shot = self.call(own, "Page.captureScreenshot", shot)?;
        let picture = decoded(shot["data"].as_str().unwrap_or_default());
        let path = folder.join(format!("{name}-{}.webp", mode.name));
        std::fs::write(&path, picture).map_err(|error| format!("{}: {error}", path.display()))?;
        if mode.script && mode.media == "screen" {
            let found = self.evaluate(&session, CLICKS)?;
            problems.extend(
                found
                    .as_array()
                    .into_iter()
                    .flatten()
                    .map(ToString::to_string),
            );
            if let Some(axe) = axe {
                self.evaluate(&session, &format!("{axe};0"))?;
                let words = "axe.run().then(r => r.violations.map(v => v.id + ': ' + v.nodes.map(n => n.html.slice(0, 120)).slice(0, 3).join(' | ')))";
                let found = self.evaluate(&session, words)?;
                problems.extend(
                    found
                        .as_array()
                        .into_iter()
                        .flatten()
                        .map(|it| format!("axe: {it}")),
                );
            }
        }
        self.call(None, "Target.closeTarget", json!({"targetId": target}))?;
        Ok(problems)
    }

    /// Opens the page and waits until it is loaded; with a policy, the browser gets the page from
    /// here.
    fn send_navigate(
        &mut self,
        session: &str,
        url: &str,
        mode: &Mode,
        file: &Path,
    ) -> Result<(), Error> {
        self.next += 1;
        let command = json!({"id": self.next, "method": "Page.navigate", "params": {"url": url}, "sessionId": session});
        let sent = write!(self.commands, "{command}\0").and_then(|()| self.commands.flush());
        sent.map_err(|error| error.to_string())?;
        let end = Instant::now() + Duration::from_secs(60);
        while Instant::now() < end {
            let message = self.message()?;
            let method = message["method"].as_str().unwrap_or_default().to_owned();
            if method == "Fetch.requestPaused" {
                let request = message["params"]["requestId"].clone();
                let page =
                    std::fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?;
                let headers = json!([
                    {"name": "Content-Type", "value": "text/html; charset=utf-8"},
                    {"name": "Content-Security-Policy", "value": mode.policy.unwrap_or_default()},
                ]);
                let answer = json!({"requestId": request, "responseCode": 200, "responseHeaders": headers, "body": encoded(&page)});
                self.call(Some(session), "Fetch.fulfillRequest", answer)?;
                // The page may be loaded before the answer to that.
                if self
                    .events
                    .iter()
                    .any(|event| event["method"] == "Page.loadEventFired")
                {
                    return Ok(());
                }
                continue;
            }
            let is_there = method == "Page.loadEventFired";
            self.events.push(message);
            if is_there {
                return Ok(());
            }
        }
        Err(Error::Failed(format!("{url}: not loaded after a minute")))
    }
}

const CHARACTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Bytes as Base64 (RFC 4648).
fn encoded(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let byte = |index: usize| u32::from(chunk.get(index).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for index in 0..4 {
            let six = (bits >> (18 - 6 * index)) & 63;
            text.push(if index <= chunk.len() {
                char::from(CHARACTERS[six as usize])
            } else {
                '='
            });
        }
    }
    text
}

/// Base64 as bytes.
fn decoded(text: &str) -> Vec<u8> {
    let (mut bytes, mut bits, mut count) = (Vec::new(), 0_u32, 0);
    for character in text.bytes() {
        let Some(six) = CHARACTERS.iter().position(|&known| known == character) else {
            continue;
        };
        bits = bits << 6 | six as u32;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
            bits &= (1 << count) - 1;
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_text_and_back() {
        for bytes in [&b""[..], b"f", b"fo", b"foo", b"\0\xff\x80z"] {
            assert_eq!(decoded(&encoded(bytes)), bytes);
        }
        assert_eq!(encoded(b"foob"), "Zm9vYg==");
    }
}
