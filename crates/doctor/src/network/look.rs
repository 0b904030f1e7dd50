//! Looks at a port that did not answer with HTTP, to find out which protocol it speaks.

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    time::timeout,
};
use turnbuckle::transport::http::client::Address;

use super::{
    tls::is_spoken,
    walk::{place, reach},
};
use crate::{
    finding::Finding,
    limits::Limits,
    report::Report,
    table::{http, tls},
};

/// A request that every HTTP server answers, if only with an error.
const REQUEST: &str = "OPTIONS * HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

/// How many bytes are read to recognize the protocol.
const LOOK: usize = 256;

/// Reports what answers at an address that does not speak HTTP. Returns `true` if something was found.
pub(crate) async fn look(report: &Report, address: &Address, limits: Limits) -> bool {
    let Some(place) = place(address) else {
        return false;
    };
    let Ok(mut stream) = reach(&place, limits.probe).await else {
        return false;
    };
    let mut bytes = vec![0; LOOK];
    let connection = async {
        stream.write_all(REQUEST.as_bytes()).await?;
        stream.read(&mut bytes).await
    };
    let Ok(Ok(count @ 1..)) = timeout(limits.probe, connection).await else {
        // Some servers close at once when the first bytes are not TLS.
        let is_tls = match reach(&place, limits.probe).await {
            Ok(stream) => is_spoken(&place.0, stream, limits).await,
            Err(_) => false,
        };
        if is_tls {
            unexpected(report, address);
        }
        return is_tls;
    };
    let bytes = &bytes[..count];
    // To a plain request, TLS servers answer with a TLS alert (type 21) or with an HTTP page that says so.
    if bytes.starts_with(&[21, 3]) || is_told_by_page(bytes) {
        unexpected(report, address);
        return true;
    }
    if bytes.starts_with(b"HTTP/") {
        return false;
    }
    let shown = String::from_utf8_lossy(bytes).into_owned();
    let said = "the port does not speak HTTP";
    report.add(Finding::of(&http::NOT_HTTP, said).seen(format!("← {shown}")));
    true
}

fn unexpected(report: &Report, address: &Address) {
    let said = "the port speaks TLS, and the URL says `http`";
    report.add(Finding::of(&tls::UNEXPECTED, said).at(address.to_string()));
}

fn is_told_by_page(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes).to_ascii_lowercase();
    text.contains("http request was sent to https port")
        || text.contains("http request to an https")
}
