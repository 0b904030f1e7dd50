//! Progress and log messages of a server while a call runs reach the caller.

use std::sync::{Arc, Mutex};

use turnbuckle_host::{Host, client::Logged, protocol::LoggingLevel};

use crate::program::{server, trusting, within};

/// Calls a tool, and returns the progress and log messages that arrived meanwhile.
async fn reports(host: &Host, tool: &str) -> (Vec<String>, Vec<String>) {
    let (mut progress, mut logs) = (Vec::new(), Vec::new());
    let call = host
        .call(tool, ())
        .log_level(LoggingLevel::Debug)
        .progress(|report| {
            let message = report.message.unwrap_or_default();
            progress.push(format!("{} {message}", report.progress));
        })
        .on_log(|logged| match logged {
            Logged::Message(message) => logs.push(message.data.to_string()),
            other => panic!("{other:?}"),
        });
    let output = within("a call", call).await.unwrap();
    assert_eq!(output.text(), "done");
    (progress, logs)
}

#[tokio::test]
async fn progress_and_log_messages_reach_the_caller() {
    let all: Arc<Mutex<Vec<String>>> = Arc::default();
    let heard = all.clone();
    let host = trusting()
        .server("one", server(&["--name", "one"]))
        .server("two", server(&["--name", "two"]))
        .on_log(move |server, message| {
            let line = format!("{server} {}", message.data);
            heard.lock().unwrap().push(line);
        })
        .open()
        .await;
    within("start", host.ready()).await;
    let (one, two) = tokio::join!(reports(&host, "one__report"), reports(&host, "two__report"));
    for (name, (progress, logs)) in [("one", one), ("two", two)] {
        assert_eq!(progress, ["1 step 1", "2 step 2"]);
        let told = [1, 2].map(|step| format!("\"{name}: step {step}\""));
        assert_eq!(logs, told);
        // The application gets the messages of all servers, with the ids that the host gave them.
        let of_it = told.map(|message| format!("{name} {message}"));
        let all = all.lock().unwrap();
        let kept: Vec<_> = all.iter().filter(|line| line.starts_with(name)).collect();
        assert_eq!(kept, of_it.iter().collect::<Vec<_>>());
    }
    host.close().await;
}
