//! Reads an answer of HTTP/1.1 as RFC 9112 describes it, to compare with.
//!
//! All bytes are there at once, so this needs no states: it splits lines and takes slices. It shares no code with
//! the client and with the crates that the client uses. Where the RFC leaves a choice, it makes the choice of the
//! client: what two readers could understand in two ways is refused.

/// The longest head, with the empty lines and the informational answers before it.
const MAX_HEAD_BYTES: usize = 64 * 1024;

const MAX_FIELDS: usize = 100;

/// The most bytes of chunk extensions, of trailers, and of the digits and blanks after the first digit of a size.
const MAX_UNREAD_BYTES: usize = 16 * 1024;

/// What the bytes are.
pub enum Reading {
    /// They are not an answer, or not one whose end is clear.
    Refused,
    /// The head is not complete. A client may wait for more, or have found out that it is invalid.
    Unfinished,
    Answer(Answer),
}

pub struct Answer {
    pub status: u16,
    /// Names are in lower case. Sorted by name; fields of one name are in their order.
    pub fields: Vec<(String, Vec<u8>)>,
    /// Whether the head allows another request on the connection.
    pub is_persistent: bool,
    /// The length that the head gives, if it decides where the body ends.
    pub length: Option<u64>,
    /// As far as it is there.
    pub body: Vec<u8>,
    pub end: End,
    /// Whether there are bytes of trailers.
    pub has_trailers: bool,
}

/// Where a body ends.
#[derive(Debug, PartialEq)]
pub enum End {
    /// Before this byte.
    At(usize),
    AtClose,
    /// More bytes are needed.
    Missing,
    /// Invalid bytes follow, so the end cannot be found.
    Lost,
}

/// Reads the answer to a request.
pub fn read(bytes: &[u8], is_head_request: bool) -> Reading {
    let mut start = 0;
    loop {
        let head = match Head::read(&bytes[start..]) {
            Some(Ok(head)) if start + head.length <= MAX_HEAD_BYTES => head,
            None if bytes.len() <= MAX_HEAD_BYTES => return Reading::Unfinished,
            _ => return Reading::Refused,
        };
        start += head.length;
        // An informational answer comes before the real one, unless it ends HTTP on this connection.
        if !(100..200).contains(&head.status) || head.status == 101 {
            let answer = head.with_body(&bytes[start..], start, is_head_request);
            return answer.map_or(Reading::Refused, Reading::Answer);
        }
    }
}

struct Head {
    is_old: bool,
    status: u16,
    fields: Vec<(String, Vec<u8>)>,
    length: usize,
}

impl Head {
    /// `None` if it is incomplete, and an error if a line of it is invalid.
    fn read(bytes: &[u8]) -> Option<Result<Self, ()>> {
        let mut lines = Lines { bytes, at: 0 };
        let mut line = lines.next()?;
        while line.is_empty() {
            line = lines.next()?;
        }
        let Some((is_old, status)) = status_line(line) else {
            return Some(Err(()));
        };
        let mut fields = Vec::new();
        loop {
            let line = lines.next()?;
            if line.is_empty() {
                break;
            }
            match field(line) {
                Some(field) if fields.len() < MAX_FIELDS => fields.push(field),
                _ => return Some(Err(())),
            }
        }
        fields.sort_by(|one, other| one.0.cmp(&other.0));
        let length = lines.at;
        // A number below 100 is not a status.
        let head = (status >= 100).then_some(Self {
            is_old,
            status,
            fields,
            length,
        });
        Some(head.ok_or(()))
    }

    /// The elements of a list field, without those that are empty.
    fn list(&self, name: &str) -> Vec<String> {
        let values = self.values(name);
        let texts = values.map(|value| String::from_utf8_lossy(value).to_ascii_lowercase());
        let all = texts.collect::<Vec<_>>().join(",");
        let elements = all.split(',').map(|it| it.trim_matches([' ', '\t']));
        let elements = elements.filter(|it| !it.is_empty());
        elements.map(str::to_owned).collect()
    }

    fn values(&self, name: &str) -> impl Iterator<Item = &[u8]> {
        let fields = self.fields.iter().filter(move |field| field.0 == name);
        fields.map(|(_, value)| &value[..])
    }

    fn has(&self, name: &str) -> bool {
        self.values(name).next().is_some()
    }

    /// RFC 9112, section 6.3. `None` if the end of the body is not clear.
    fn with_body(self, rest: &[u8], start: usize, is_head_request: bool) -> Option<Answer> {
        let never_has_body = [101, 204, 304].contains(&self.status);
        let (mut body, mut length, mut trailers) = (Vec::new(), None, 0);
        let end = if never_has_body || is_head_request {
            End::At(start)
        } else if self.has("transfer-encoding") {
            match &self.list("transfer-encoding")[..] {
                _ if self.is_old => return None,
                [coding] if coding == "chunked" => match chunked(rest, &mut body, &mut trailers) {
                    End::At(end) => End::At(start + end),
                    end => end,
                },
                [coding] if coding == "identity" => {
                    body = rest.to_vec();
                    End::AtClose
                }
                _ => return None,
            }
        } else if self.has("content-length") {
            let number = self.content_length()?;
            length = Some(number);
            let number = usize::try_from(number).ok();
            match number.filter(|&number| number <= rest.len()) {
                Some(number) => {
                    body = rest[..number].to_vec();
                    End::At(start + number)
                }
                None => {
                    body = rest.to_vec();
                    End::Missing
                }
            }
        } else {
            body = rest.to_vec();
            End::AtClose
        };
        let is_doubtful = self.has("transfer-encoding") && self.has("content-length");
        let has_no_announced_body = !self.has("transfer-encoding")
            && self.values("content-length").all(|value| value == b"0");
        let options = self.list("connection");
        let closes = options.iter().any(|option| option == "close")
            || self.values("connection").any(|value| !value.is_ascii());
        Some(Answer {
            is_persistent: !self.is_old
                && self.status != 101
                && !closes
                && !is_doubtful
                && (!never_has_body || has_no_announced_body),
            status: self.status,
            fields: self.fields,
            length,
            body,
            end,
            has_trailers: trailers > 0,
        })
    }

    /// The length of the body; `None` if there are several, or it is not a number of 64 bits.
    fn content_length(&self) -> Option<u64> {
        let values: Vec<_> = self.values("content-length").collect();
        let all = values.join(&b","[..]);
        let mut numbers = all.split(|byte| *byte == b',').map(|text| {
            let text = trimmed(text);
            let is_number = !text.is_empty() && text.iter().all(u8::is_ascii_digit);
            let text = str::from_utf8(text).ok().filter(|_| is_number)?;
            text.parse::<u64>().ok()
        });
        let first = numbers.next()??;
        numbers.all(|number| number == Some(first)).then_some(first)
    }
}

/// Lines that end with a line feed, or with a carriage return and a line feed.
struct Lines<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Lines<'a> {
    fn next(&mut self) -> Option<&'a [u8]> {
        let rest = &self.bytes[self.at..];
        let length = rest.iter().position(|byte| *byte == b'\n')?;
        self.at += length + 1;
        let line = &rest[..length];
        Some(line.strip_suffix(b"\r").unwrap_or(line))
    }
}

/// Whether the version is 1.0, and the status.
fn status_line(line: &[u8]) -> Option<(bool, u16)> {
    let (version, rest) = line.split_at_checked(9)?;
    let is_old = match version {
        b"HTTP/1.0 " => true,
        b"HTTP/1.1 " => false,
        _ => return None,
    };
    let (status, reason) = rest.split_at_checked(3)?;
    let is_valid = status.iter().all(u8::is_ascii_digit)
        && matches!(reason, [] | [b' ', ..])
        && reason.iter().copied().all(is_text);
    let status = str::from_utf8(status).ok()?.parse().ok()?;
    is_valid.then_some((is_old, status))
}

fn field(line: &[u8]) -> Option<(String, Vec<u8>)> {
    let colon = line.iter().position(|byte| *byte == b':')?;
    let (name, value) = (&line[..colon], &line[colon + 1..]);
    let is_token = |byte: &u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte);
    let is_valid =
        !name.is_empty() && name.iter().all(is_token) && value.iter().copied().all(is_text);
    let name = String::from_utf8_lossy(name).to_ascii_lowercase();
    is_valid.then(|| (name, trimmed(value).to_vec()))
}

/// Whether a value or a reason may have this byte.
fn is_text(byte: u8) -> bool {
    byte == b'\t' || (byte >= b' ' && byte != 0x7f)
}

fn trimmed(text: &[u8]) -> &[u8] {
    let is_visible = |byte: &u8| *byte != b' ' && *byte != b'\t';
    let start = text.iter().position(is_visible).unwrap_or(text.len());
    let end = text.iter().rposition(is_visible).map_or(start, |at| at + 1);
    &text[start..end]
}

/// RFC 9112, section 7.1. Adds the data to `body`, and the number of bytes of trailers to `trailer_bytes`.
fn chunked(bytes: &[u8], body: &mut Vec<u8>, trailer_bytes: &mut usize) -> End {
    let mut at = 0;
    let mut extension_bytes = 0;
    loop {
        let line = match strict_line(&bytes[at..]) {
            Ok(line) => line,
            Err(end) => return end,
        };
        let Some((size, extension)) = chunk_size(&line) else {
            return End::Lost;
        };
        extension_bytes += extension;
        if extension_bytes > MAX_UNREAD_BYTES {
            return End::Lost;
        }
        if !line.is_complete {
            return End::Missing;
        }
        at += line.text.len() + 2;
        if size == 0 {
            return match trailers(&bytes[at..], trailer_bytes) {
                End::At(end) => End::At(at + end),
                end => end,
            };
        }
        let rest = &bytes[at..];
        let Some(size) = usize::try_from(size).ok().filter(|&it| it <= rest.len()) else {
            body.extend_from_slice(rest);
            return End::Missing;
        };
        body.extend_from_slice(&rest[..size]);
        at += size;
        match &rest[size..] {
            [b'\r', b'\n', ..] => at += 2,
            [] | [b'\r'] => return End::Missing,
            _ => return End::Lost,
        }
    }
}

/// A line that ends with a carriage return and a line feed and has neither inside.
struct StrictLine<'a> {
    text: &'a [u8],
    /// Whether the line feed is there.
    is_complete: bool,
    /// Whether nothing was there, not even the carriage return.
    is_nothing: bool,
}

/// `Lost` if a carriage return or a line feed is alone.
fn strict_line(bytes: &[u8]) -> Result<StrictLine<'_>, End> {
    let length = bytes.iter().position(|byte| b"\r\n".contains(byte));
    let (text, end) = bytes.split_at(length.unwrap_or(bytes.len()));
    let is_complete = match end {
        [b'\r', b'\n', ..] => true,
        [] | [b'\r'] => false,
        _ => return Err(End::Lost),
    };
    Ok(StrictLine {
        text,
        is_complete,
        is_nothing: bytes.is_empty(),
    })
}

/// The size of a chunk, and how many bytes of extension follow. `None` if the line is invalid as far as it is there.
fn chunk_size(line: &StrictLine<'_>) -> Option<(u64, usize)> {
    if line.is_nothing {
        return Some((0, 0));
    }
    let mut parts = line.text.splitn(2, |byte| *byte == b';');
    let size = parts.next()?;
    let digits = size.iter().take_while(|it| it.is_ascii_hexdigit()).count();
    let (digits, blanks) = size.split_at(digits);
    if size.len() > MAX_UNREAD_BYTES + 1 || blanks.iter().any(|byte| !b" \t".contains(byte)) {
        return None;
    }
    // An empty text is not a number, so there is a digit.
    let size = u64::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()?;
    Some((size, parts.next().map_or(0, <[u8]>::len)))
}

/// The trailers, and the empty line after them.
fn trailers(bytes: &[u8], length: &mut usize) -> End {
    let mut at = 0;
    loop {
        let line = match strict_line(&bytes[at..]) {
            Ok(line) => line,
            Err(end) => {
                // A line with an invalid end has one byte at least.
                *length += 1;
                return end;
            }
        };
        *length += line.text.len();
        if *length > MAX_UNREAD_BYTES {
            return End::Lost;
        }
        if !line.is_complete {
            return End::Missing;
        }
        at += line.text.len() + 2;
        if line.text.is_empty() {
            return End::At(at);
        }
    }
}
