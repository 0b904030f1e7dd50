//! Answers of HTTP/1.1, as the client reads them: the first bytes of an input say what is asked, how the body is
//! read and how the connection delivers the rest, which is what a server sends.
//!
//! - The client says what `http_reference` says: the same status, fields and body, or the same kind of error. It
//!   does so however the bytes are cut into pieces, and whether or not it has to wait for each piece.
//! - The next request gets its own answer. The connection is used again only if the first answer ended exactly where
//!   its framing says, with nothing behind it, and it is used again if nothing speaks against that.
//! - hyper, which is another reader of HTTP/1.1, understands the same, except for the differences that
//!   `may_differ` names.
//! - The client allocates a bounded number of bytes, whatever lengths a server claims.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::{Request, client::conn::http1};
use hyper_util::rt::TokioIo;
use tokio::{runtime, time::timeout};
use turnbuckle_transport::http::{
    ByteStream,
    client::{Address, Agent, AgentSettings, HeaderMap, HttpError, Method, Reply},
    sse::{Decoder, Event},
};

use super::{
    Target,
    http_reference::{Answer, End, Reading, read},
    http_wire::{Closing, Wire},
};
use crate::memory;

pub const TARGET: Target = Target {
    name: "http_answer",
    run,
    seeds: &[
        b"\x00\x00\x00HTTP/1.1 200 OK\r\nContent-Length: 5\r\nA: b\r\n\r\nhello",
        b"\x00\x03\x00HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
        b"\x41\x02\x07HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\ncontent-length: 0\r\n\r\n",
        b"\x20\x05\x00HTTP/1.1 200\r\nconnection: close\r\n\r\nuntil the end",
        b"\x09\x01\x00HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\na;b=c\r\ndata: 12\n\n\r\n0\r\nA: b\r\n\r\n",
        b"\x02\x00\x00HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n",
        b"\x80\x09\x00HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nx",
        b"\x0c\x00\x00HTTP/1.0 304 Not Modified\r\ncontent-length: 5\r\n\r\n",
        // Lengths that contradict each other, and both ways to give a length.
        b"\x00\x00\x00HTTP/1.1 200 OK\r\ncontent-length: 2, 2\r\ncontent-length: 3\r\n\r\nabc",
        b"\x00\x00\x00HTTP/1.1 200 OK\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
        // A value on two lines, and line ends of one byte.
        b"\x00\x00\x00HTTP/1.1 200 OK\nA: b\r\n c\r\ncontent-length:\t1 \n\nx",
        // Heads, sizes, extensions and trailers of many bytes.
        b"\x00\x00\x00HTTP/1.1 200 OK\r\nA: b\xfe\x00\xff\xfe\x01\xff\xfe\x00\xff\r\n\r\n",
        b"\x00\x00\x00HTTP/1.1 200 OK\r\na: b\r\n\xfe\x06\x07\r\n",
        b"\x04\x00\x00HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n\
            0\xfe\x01\xff1;\xfe\x01\xff\r\nx\r\n0\r\nA\xfe\x01\xff\r\n\r\n",
    ],
    words: &[
        "HTTP/1.1 ",
        "HTTP/1.0 ",
        "100 Continue\r\n\r\n",
        "101 ",
        "200 OK\r\n",
        "204 ",
        "304 ",
        "content-length: ",
        "transfer-encoding: ",
        "chunked",
        "identity",
        "gzip, ",
        "connection: ",
        "close",
        "keep-alive",
        "\r\n",
        "\r\n\r\n",
        "\n\n",
        "\r",
        "0\r\n\r\n",
        "1\r\nx\r\n",
        "ffffffffffffffff\r\n",
        "10000000000000000",
        ";a=b",
        "+1",
        "-1",
        "0x1",
        ", ",
        "data: x\n\n",
        "\u{b}",
        "\u{85}",
    ],
    is_planted: false,
};

/// The answer to the next request.
const NEXT: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nnext";

/// The longest body that is read whole in most inputs. It is small, so that inputs reach it.
const MAX_BODY_BYTES: usize = 256;

/// How many pieces an answer has at most.
const MAX_PIECES: usize = 1024;

/// What the client may hold at once, in bytes, beside a multiple of what was sent: the first part of the buffer for a
/// body of known length (256 KiB), and what belongs to agents and connections.
const MAX_HELD_BYTES: usize = 512 * 1024;

/// The multiple: buffers grow by doubling. An event of six bytes has room for each field that it could have.
const MAX_HELD_TIMES: usize = 6;
const MAX_HELD_TIMES_FOR_EVENTS: usize = 64;

/// Time only passes when everything waits, so a connection on which nothing more comes is found at once.
const PATIENCE: Duration = Duration::from_millis(1);

/// How an input wants its answer.
struct Case {
    method: Method,
    reading: BodyReading,
    closing: Closing,
    is_late: bool,
    is_request_stalled: bool,
    cuts: [usize; 2],
    answer: Arc<[u8]>,
}

#[derive(Clone, Copy, PartialEq)]
enum BodyReading {
    Whole {
        limit: usize,
    },
    Events,
    /// The answer is dropped before its body is read.
    Never,
}

/// What a reader of an answer says.
#[derive(Debug, PartialEq)]
struct Said {
    /// The status and the fields.
    head: Option<(u16, Vec<(String, Vec<u8>)>)>,
    body: Content,
    fault: Option<Fault>,
}

#[derive(Debug, PartialEq)]
enum Content {
    Unread,
    Bytes(Bytes),
    Events(Vec<Event>),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    /// More bytes are needed, and the connection stays open.
    Stalled,
    Unanswered,
    Unreadable,
    Broken,
    TooLarge,
}

fn run(input: &[u8]) {
    let Some(case) = Case::parse(input) else {
        return;
    };
    let runtime = runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime without threads and sockets");
    let reading = read(&case.answer, case.method == Method::HEAD);
    let at_once = runtime.block_on(case.check(&reading, Wire::new(&case.answer, case.closing)));
    let mut wire = Wire::new(&case.answer, case.closing).in_pieces(case.cuts);
    if case.is_late {
        wire = wire.that_come_late();
    }
    if case.is_request_stalled {
        wire = wire.that_stalls_the_request();
    }
    let in_pieces = runtime.block_on(case.check(&reading, wire));
    assert!(
        at_once == in_pieces || case.may_find_out_later(&reading),
        "the same in pieces: {at_once:?} is not {in_pieces:?}"
    );
    runtime.block_on(case.compare_with_hyper(&reading));
}

impl Case {
    fn parse(input: &[u8]) -> Option<Self> {
        let [choices, one, other, answer @ ..] = input else {
            return None;
        };
        let answer = expanded(answer);
        // Long answers come in larger pieces, so that every input takes a few milliseconds at most.
        let least = answer.len() / MAX_PIECES;
        let size = |byte: u8| Some(usize::from(byte).max(least)).filter(|_| byte > 0);
        let one = size(*one).unwrap_or(usize::MAX);
        Some(Self {
            method: match choices & 3 {
                0 => Method::GET,
                2 => Method::HEAD,
                _ => Method::POST,
            },
            reading: match choices >> 2 & 3 {
                0 => BodyReading::Whole {
                    limit: MAX_BODY_BYTES,
                },
                1 => BodyReading::Whole { limit: usize::MAX },
                2 => BodyReading::Events,
                _ => BodyReading::Never,
            },
            closing: match choices >> 4 & 3 {
                0 | 1 => Closing::Never,
                2 => Closing::End,
                _ => Closing::Reset,
            },
            is_late: choices & 0x40 != 0,
            is_request_stalled: choices & 0x80 != 0,
            cuts: [one, size(*other).unwrap_or(one)],
            answer: answer.into(),
        })
    }

    /// Reads the answer, sends another request, and asserts that everything is as expected.
    async fn check(&self, reading: &Reading, wire: Wire) -> Said {
        let another = Wire::new(&Arc::from(NEXT), Closing::Never);
        let wires = Arc::new(Mutex::new(vec![another, wire.clone()]));
        let left = Arc::clone(&wires);
        let settings = AgentSettings::new()
            .without_redirects()
            .with_dialer(move |_, _| {
                let wire = left.lock().expect("nothing panics with it").pop();
                std::future::ready(Ok(ByteStream::new(wire.expect("there are two requests"))))
            });
        let address = Address::parse("http://a/").expect("it is one");
        let agent = settings.agent(&address).expect("nothing is wrong");

        let (said, held) = {
            let begun = memory::Peak::begin();
            let said = self.ask(&agent, &address).await;
            (said, begun.bytes())
        };
        let times = match self.reading {
            BodyReading::Events => MAX_HELD_TIMES_FOR_EVENTS,
            BodyReading::Whole { .. } | BodyReading::Never => MAX_HELD_TIMES,
        };
        let most = MAX_HELD_BYTES + times * self.answer.len();
        assert!(held <= most, "{held} bytes are held, more than {most}");
        match self.expected(reading) {
            Some(expected) => assert_eq!(said, expected, "what the client says, and what is right"),
            None => assert_eq!(said.head, None, "there is no head yet"),
        }

        let is_hidden = wire.has_late_bytes();
        wire.prepare_another(NEXT);
        let second = agent.send(Method::GET, &address, HeaderMap::new(), Bytes::new());
        let second = timeout(PATIENCE, second).await;
        let is_reused = wires.lock().expect("nothing panics with it").len() == 1;
        let may_reuse = self.may_reuse(reading, &wire);
        assert!(
            !is_reused || may_reuse || is_hidden,
            "the connection is used again although its end is in doubt"
        );
        if is_hidden {
            return said;
        }
        let is_whole = matches!(self.reading, BodyReading::Whole { .. }) && said.fault.is_none();
        assert!(
            is_reused || !(may_reuse && is_whole),
            "the connection could be used again"
        );
        let second = second.expect("it is answered").expect("it has an answer");
        let body = second.bytes(MAX_BODY_BYTES).await;
        assert_eq!(body.expect("it is there"), "next", "the answer is its own");
        said
    }

    /// Sends the request and reads the answer.
    async fn ask(&self, agent: &Agent, address: &Address) -> Said {
        let mut said = Said {
            head: None,
            body: Content::Unread,
            fault: None,
        };
        let body = Bytes::from_static(b"{\"jsonrpc\":\"2.0\"}");
        let sent = agent.send(self.method.clone(), address, HeaderMap::new(), body);
        let reply = match within_patience(sent).await {
            Ok(reply) => reply,
            Err(fault) => {
                said.fault = Some(fault);
                return said;
            }
        };
        said.head = Some((reply.status().as_u16(), fields(reply.headers())));
        match self.reading {
            BodyReading::Never => drop(reply),
            BodyReading::Whole { limit } => match within_patience(reply.bytes(limit)).await {
                Ok(bytes) => said.body = Content::Bytes(bytes),
                Err(fault) => said.fault = Some(fault),
            },
            BodyReading::Events => {
                let (events, fault) = events(reply).await;
                said.body = Content::Events(events);
                said.fault = fault;
            }
        }
        said
    }

    /// What the client must say; `None` if it may find a mistake in a line that is not complete, or wait for the
    /// rest of the line.
    fn expected(&self, reading: &Reading) -> Option<Said> {
        let nothing = |fault| {
            Some(Said {
                head: None,
                body: Content::Unread,
                fault: Some(fault),
            })
        };
        let answer = match reading {
            Reading::Refused => return nothing(Fault::Unreadable),
            Reading::Unfinished => return None,
            Reading::Answer(answer) => answer,
        };
        let fault = match (&answer.end, self.closing) {
            (End::At(_), _) | (End::AtClose, Closing::End) => None,
            (End::Lost, _) => Some(Fault::Broken),
            (End::Missing | End::AtClose, Closing::Never) => Some(Fault::Stalled),
            (End::Missing, Closing::End) | (_, Closing::Reset) => Some(Fault::Broken),
        };
        let (body, fault) = match self.reading {
            BodyReading::Never => (Content::Unread, None),
            BodyReading::Events => (Content::Events(decoded(&answer.body)), fault),
            BodyReading::Whole { limit } => {
                let is_too_large = answer.body.len() > limit
                    || answer.length.is_some_and(|length| length > limit as u64);
                match fault.filter(|_| !is_too_large) {
                    None if is_too_large => (Content::Unread, Some(Fault::TooLarge)),
                    None => (Content::Bytes(answer.body.clone().into()), None),
                    fault => (Content::Unread, fault),
                }
            }
        };
        Some(Said {
            head: Some((answer.status, answer.fields.clone())),
            body,
            fault,
        })
    }

    /// Whether another request may follow on the connection.
    fn may_reuse(&self, reading: &Reading, wire: &Wire) -> bool {
        let Reading::Answer(answer) = reading else {
            return false;
        };
        answer.is_persistent
            && answer.end == End::At(self.answer.len())
            && self.closing == Closing::Never
            && !wire.was_request_stalled()
    }

    /// Whether an invalid line that is not complete may be noticed in one piece only.
    fn may_find_out_later(&self, reading: &Reading) -> bool {
        matches!(reading, Reading::Unfinished) && self.closing != Closing::End
    }

    /// Asserts that hyper understands the same, or differs in a way that is known.
    async fn compare_with_hyper(&self, reading: &Reading) {
        let ours = match reading {
            Reading::Answer(answer) => Some(answer),
            _ => None,
        };
        let complete = ours.filter(|answer| match answer.end {
            End::At(_) => true,
            End::AtClose => self.closing == Closing::End,
            End::Missing | End::Lost => false,
        });
        let theirs = self.ask_hyper().await;
        let is_same = match (complete, &theirs) {
            (None, None) => true,
            (Some(ours), Some((status, fields, body))) => {
                (ours.status, &ours.fields, &ours.body) == (*status, fields, body)
            }
            _ => false,
        };
        let fields = ours.map(|answer| &answer.fields);
        let fields = fields.or(theirs.as_ref().map(|(_, fields, _)| fields));
        assert!(
            is_same
                || self.may_differ(
                    ours,
                    complete.is_some() == theirs.is_some(),
                    fields.map_or(&[], |it| it)
                ),
            "hyper understands {theirs:?}, and not {:?}",
            complete.map(|it| (it.status, &it.fields, it.body.escape_ascii().to_string()))
        );
    }

    /// The known differences between the client and hyper. `agree` says whether both found the end of the answer, or
    /// neither did.
    fn may_differ(&self, ours: Option<&Answer>, agree: bool, fields: &[(String, Vec<u8>)]) -> bool {
        let codings = fields
            .iter()
            .filter(|(name, _)| name == "transfer-encoding");
        let codings: Vec<_> = codings.map(|(_, value)| &value[..]).collect();
        let is_chunked = matches!(codings[..], [coding] if coding.eq_ignore_ascii_case(b"chunked"));
        // hyper looks at the last coding only. If that is empty or unknown, the body ends with the connection.
        let has_other_codings = !codings.is_empty() && !is_chunked;
        // hyper refuses trailers that are not fields, and accepts those whose lines end without a carriage return.
        let has_trailers = ours.is_some_and(|answer| answer.has_trailers) && !agree;
        // hyper allows heads of about 400 KiB and any number of zeros before a size, but one byte less of extensions
        // and of trailers.
        let is_at_limit = self.answer.len() >= 16 * 1024;
        has_other_codings || has_trailers || is_at_limit
    }

    /// The status, fields and body that hyper reads; `None` if the answer is invalid or not complete.
    async fn ask_hyper(&self) -> Option<(u16, Vec<(String, Vec<u8>)>, Vec<u8>)> {
        let wire = TokioIo::new(Wire::new(&self.answer, self.closing));
        let (mut sender, connection) = http1::handshake(wire).await.ok()?;
        let driver = tokio::spawn(connection);
        let request = Request::builder().method(self.method.clone()).uri("/");
        let request = request.body(Full::new(Bytes::new())).expect("it is valid");
        let answer = async {
            let (head, body) = sender.send_request(request).await.ok()?.into_parts();
            let body = body.collect().await.ok()?.to_bytes().to_vec();
            Some((head.status.as_u16(), self::fields(&head.headers), body))
        };
        let answer = timeout(PATIENCE, answer).await.ok().flatten();
        driver.abort();
        answer
    }
}

/// Replaces `FE length count` by the bytes before it, this many and one, repeated.
fn expanded(text: &[u8]) -> Vec<u8> {
    /// Beyond the limit of heads.
    const MAX_BYTES: usize = 72 * 1024;
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        match (byte, after) {
            (0xfe, [length, count, after @ ..]) => {
                let start = out.len().saturating_sub(usize::from(*length) + 1);
                let piece = out[start..].to_vec();
                let room = MAX_BYTES.saturating_sub(out.len());
                let repeated = piece
                    .iter()
                    .cycle()
                    .take(room.min(piece.len() * 16 * usize::from(*count)));
                out.extend(repeated);
                rest = after;
            }
            _ => out.push(byte),
        }
    }
    out
}

/// Names in lower case, sorted; the fields of one name are in their order.
fn fields(headers: &HeaderMap) -> Vec<(String, Vec<u8>)> {
    let fields = headers.iter();
    let mut fields: Vec<_> = fields
        .map(|(name, value)| (name.as_str().to_owned(), value.as_bytes().to_vec()))
        .collect();
    fields.sort_by(|one, other| one.0.cmp(&other.0));
    fields
}

async fn within_patience<T>(work: impl Future<Output = Result<T, HttpError>>) -> Result<T, Fault> {
    match timeout(PATIENCE, work).await {
        Err(_) => Err(Fault::Stalled),
        Ok(Ok(done)) => Ok(done),
        Ok(Err(HttpError::Unanswered { .. })) => Err(Fault::Unanswered),
        Ok(Err(HttpError::Unreadable { .. })) => Err(Fault::Unreadable),
        Ok(Err(HttpError::Broken { .. })) => Err(Fault::Broken),
        Ok(Err(HttpError::TooLarge { .. })) => Err(Fault::TooLarge),
        Ok(Err(other)) => panic!("another error: {other:?}"),
    }
}

/// All events, and why there are no more.
async fn events(reply: Reply) -> (Vec<Event>, Option<Fault>) {
    let mut all = Vec::new();
    let mut events = reply.events(usize::MAX);
    loop {
        match within_patience(events.next()).await {
            Ok(Some(event)) => all.push(event),
            Ok(None) => return (all, None),
            Err(fault) => return (all, Some(fault)),
        }
    }
}

fn decoded(body: &[u8]) -> Vec<Event> {
    let mut events = Vec::new();
    let mut decoder = Decoder::new().with_max_event_bytes(usize::MAX);
    decoder.feed(body, &mut events).expect("there is no limit");
    events
}
