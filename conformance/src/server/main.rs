//! The server that the official conformance suite is run against: one process for every revision.
//!
//! ```text
//! conformance-server --port 8001     # http://127.0.0.1:8001/mcp, and HTTP+SSE at /sse; 0 for any port
//! conformance-server --port 0 --redis URL --secret-file FILE     # one of several replicas; without a
//!                                                                # file the secret is in TURNBUCKLE_SECRET
//! conformance-server --stdio
//! ```
//!
//! The names and texts are the suite's; nothing else here is special.

mod asks;
mod content;
mod prompts;
mod resources;
mod schema;
mod skills;
mod tasks;
mod utilities;

use std::{error::Error, process::ExitCode};

use turnbuckle::{Http, Server, Stdio, stop_signal, store::redis::Redis};

fn server() -> Server {
    Server::new("turnbuckle-conformance", env!("CARGO_PKG_VERSION"))
        // The suite calls the first tool without arguments.
        .tool(content::test_simple_text)
        .tool(content::test_image_content)
        .tool(content::test_audio_content)
        .tool(content::test_embedded_resource)
        .tool(content::test_multiple_content_types)
        .tool(content::test_error_handling)
        .tool(utilities::test_tool_with_progress)
        .tool(utilities::test_tool_with_logging)
        .tool(utilities::test_logging_tool)
        .tool(utilities::test_reconnection)
        .tool(utilities::test_x_mcp_header)
        .tool(utilities::test_trigger_tool_change)
        .tool(utilities::test_trigger_prompt_change)
        .tool(schema::json_schema_2020_12_tool())
        .tool(asks::test_sampling)
        .tool(asks::test_elicitation)
        .tool(asks::test_elicitation_sep1034_defaults)
        .tool(asks::test_elicitation_sep1330_enums)
        .tool(asks::test_missing_capability)
        .tool(asks::test_streaming_elicitation)
        .tool(asks::test_input_required_result_elicitation)
        .tool(asks::test_input_required_result_sampling)
        .tool(asks::test_input_required_result_list_roots)
        .tool(asks::test_input_required_result_request_state)
        .tool(asks::test_input_required_result_multiple_inputs)
        .tool(asks::test_input_required_result_multi_round)
        .tool(asks::test_input_required_result_tampered_state)
        .tool(asks::test_input_required_result_capabilities)
        .tool(tasks::greet)
        .tool(tasks::slow_compute)
        .tool(tasks::failing_job)
        .tool(tasks::protocol_error_job)
        .tool(tasks::confirm_delete)
        .tool(tasks::multi_input)
        .tool(tasks::test_tool_with_task)
        .extension(skills::skills())
        .prompt(prompts::test_simple_prompt)
        .prompt(prompts::test_prompt_with_arguments)
        .prompt(prompts::test_prompt_with_embedded_resource)
        .prompt(prompts::test_prompt_with_image)
        .prompt(prompts::test_input_required_result_prompt)
        .resource(resources::static_text)
        .resource(resources::static_binary)
        .resource(resources::template)
        .resource(resources::watched)
}

fn http(port: &str) -> Http {
    Http::bind(format!("127.0.0.1:{port}"))
        .until(stop_signal())
        .announce(|address| {
            if let Some(address) = address {
                println!("listening at http://{address}/mcp");
            }
        })
}

/// The server as one of several replicas.
async fn replica(url: &str, secret_file: Option<&str>) -> Result<Server, Box<dyn Error>> {
    let redis = Redis::open(url).await?;
    let secret = match secret_file {
        Some(file) => std::fs::read(file)?,
        None => std::env::var("TURNBUCKLE_SECRET")?.into_bytes(),
    };
    Ok(server().replicas(redis).secret(&secret))
}

async fn serve_replica(
    port: &str,
    url: &str,
    secret_file: Option<&str>,
) -> Result<(), Box<dyn Error>> {
    let server = replica(url, secret_file).await?;
    Ok(server.serve(http(port)).await?)
}

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let ended: Result<(), Box<dyn Error>> = match arguments[..] {
        ["--stdio"] => server().serve(Stdio).await.map_err(Into::into),
        ["--port", port] => server().serve(http(port)).await.map_err(Into::into),
        ["--port", port, "--redis", url] => serve_replica(port, url, None).await,
        ["--port", port, "--redis", url, "--secret-file", file] => {
            serve_replica(port, url, Some(file)).await
        }
        _ => {
            eprintln!(
                "usage: conformance-server --port N [--redis URL [--secret-file FILE]] | --stdio"
            );
            return ExitCode::from(2);
        }
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("conformance-server: {error}");
            ExitCode::FAILURE
        }
    }
}
