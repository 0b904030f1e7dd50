//! Connects with TLS to look at the certificate, whether or not it is trusted. Whether it is trusted
//! shows with the first request, which is made as every client makes it.

use std::time::{Duration, Instant, SystemTime};

use tokio::{net::TcpStream, time::timeout};
use turnbuckle::transport::http::client::TlsHandshake;
use turnbuckle_command_line::style::elapsed;

use super::certificate::{Validity, validity};
use crate::{finding::Finding, limits::Limits, report::Report, table::tls};

/// Two weeks: with less time left, a renewal has probably failed, because certificates are renewed a month ahead.
const SOON: Duration = Duration::from_hours(24 * 14);

const DAY: u64 = 86_400;

/// Makes a TLS connection and checks the certificate. `None` if no connection can be made.
pub(super) async fn look(
    report: &Report,
    host: &str,
    stream: TcpStream,
    limits: Limits,
) -> Option<()> {
    report.step("making a TLS connection");
    let began = Instant::now();
    let said = match timeout(limits.probe, TlsHandshake::by(host, stream)).await {
        Ok(Ok(shown)) => {
            let took = elapsed(began.elapsed());
            let said = format!("{}, {took}", shown.version);
            report.ok(&tls::HANDSHAKE, said);
            look_at_dates(report, validity(&shown.certificate));
            return Some(());
        }
        Ok(Err(error)) => error.to_string(),
        Err(_) => "no answer in time".to_owned(),
    };
    // A plain HTTP server answers the first message of TLS with text.
    let finding = if said.contains("InvalidContentType") || said.contains("corrupt message") {
        Finding::of(&tls::PLAIN, "the port does not speak TLS")
    } else {
        Finding::of(&tls::HANDSHAKE, format!("no TLS connection: {said}"))
    };
    report.add(finding.seen(said));
    None
}

/// Whether the other side speaks TLS, whatever its certificate.
pub(super) async fn is_spoken(host: &str, stream: TcpStream, limits: Limits) -> bool {
    matches!(
        timeout(limits.probe, TlsHandshake::by(host, stream)).await,
        Ok(Ok(_))
    )
}

fn look_at_dates(report: &Report, validity: Option<Validity>) {
    let Some(validity) = validity else { return };
    let now = SystemTime::now();
    if validity.from > now {
        report.add(Finding::of(
            &tls::EXPIRED,
            "the certificate is not valid yet",
        ));
        return;
    }
    match validity.until.duration_since(now) {
        Err(past) => {
            let days = past.duration().as_secs() / DAY;
            let said = format!("the certificate has expired {days} days ago");
            report.add(Finding::of(&tls::EXPIRED, said));
        }
        Ok(left) => {
            let said = format!("the certificate expires in {} days", left.as_secs() / DAY);
            if left < SOON {
                report.add(Finding::of(&tls::EXPIRES_SOON, said));
            } else {
                report.ok(&tls::EXPIRES_SOON, said);
            }
        }
    }
}

/// The problem of a certificate, by the error of a request that failed because of it.
pub(crate) fn distrust(said: &str) -> Option<Finding> {
    let lower = said.to_ascii_lowercase();
    let has = |word: &str| lower.contains(word);
    if !has("certificate") && !has("unknownissuer") {
        return None;
    }
    let (check, message) = if has("expired") || has("not valid yet") || has("notvalidyet") {
        (&tls::EXPIRED, "the certificate is not valid today")
    } else if has("not valid for name") || has("notvalidforname") {
        (&tls::NAME, "the certificate is for another host")
    } else {
        (&tls::CHAIN, "the certificate is not trusted here")
    };
    Some(Finding::of(check, message).seen(said))
}
