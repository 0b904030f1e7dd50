//! The user's part of a flow: with a local port, and by pasting.

use std::sync::{Arc, Mutex};

use tokio::net::TcpStream;
use turnbuckle_auth::client::{Loopback, OAuth, Paste, Step};
use turnbuckle_transport::http::client::Address;

use super::world::{World, get, visit};

/// Providers with registration by hand may require a certain redirect URI.
#[tokio::test]
async fn a_browser_comes_back_to_the_address_that_was_registered() {
    let world = World::new().await;
    let browser = Loopback::new()
        .localhost()
        .path("signed-in")
        .without_opening()
        .announce(|request| {
            let url = request.url().to_owned();
            tokio::spawn(async move {
                let back = visit(&url).await.unwrap();
                let (before, after) = back.expose().split_once("localhost").unwrap();
                get(&format!("{before}127.0.0.1{after}")).await
            });
        });
    let oauth = OAuth::new("my-app").browser(browser);
    assert!(world.request(&oauth).await.unwrap().status().is_success());
    let redirect = world.at("/authorize")[0].param("redirect_uri").unwrap();
    assert!(redirect.starts_with("http://localhost:") && redirect.ends_with("/signed-in"));
}

/// Browsers open connections in advance and request an icon, and other programs connect too.
#[tokio::test]
async fn a_browser_comes_back_to_a_port_of_this_machine() {
    let world = World::new().await;
    let (pages, shown) = (
        Arc::new(Mutex::new(Vec::new())),
        Arc::new(Mutex::new(String::new())),
    );
    let (seen, announced) = (pages.clone(), shown.clone());
    let browser = Loopback::new().without_opening().announce(move |request| {
        *announced.lock().unwrap() = format!("{request:?}");
        let (url, seen) = (request.url().to_owned(), seen.clone());
        tokio::spawn(async move {
            let back = visit(&url).await.unwrap();
            let base = back.expose().split_once("/callback").unwrap().0.to_owned();
            let _ahead = TcpStream::connect(base.trim_start_matches("http://"))
                .await
                .unwrap();
            for url in [
                format!("{base}/favicon.ico"),
                format!("{base}/callback?code=evil&state=guessed"),
                back.expose().to_owned(),
            ] {
                let page = get(&url).await;
                seen.lock().unwrap().push(page);
            }
        });
    });
    let oauth = OAuth::new("my-app").browser(browser);
    assert!(world.request(&oauth).await.unwrap().status().is_success());
    let redirect = world.at("/authorize")[0].param("redirect_uri").unwrap();
    assert!(redirect.starts_with("http://127.0.0.1:") && redirect.ends_with("/callback"));
    assert_eq!(world.at("/token")[0].param("code").unwrap(), "c0de");
    // The last page may not have arrived yet.
    while pages.lock().unwrap().len() < 3 {
        tokio::task::yield_now().await;
    }
    let pages = pages.lock().unwrap();
    assert!(pages[0].starts_with("HTTP/1.1 404") && pages[1].starts_with("HTTP/1.1 404"));
    assert!(pages[2].starts_with("HTTP/1.1 200"), "{}", pages[2]);
    assert!(pages[2].contains("cache-control: no-store"));
    assert!(pages[2].contains("referrer-policy: no-referrer"));
    assert!(!pages[2].contains("c0de"));
    assert!(shown.lock().unwrap().contains("AuthorizationRequest"));
}

/// The port that the client is registered with is used again.
#[tokio::test]
async fn the_same_port_saves_a_registration() {
    let world = World::new().await;
    let browser = Loopback::new().without_opening().announce(|request| {
        let url = request.url().to_owned();
        tokio::spawn(async move {
            let back = visit(&url).await.unwrap();
            get(back.expose()).await
        });
    });
    let oauth = OAuth::new("my-app").browser(browser);
    for _ in 0..2 {
        world.request(&oauth).await.unwrap();
        world.plan().accepted.clear();
    }
    let asked = world.at("/authorize");
    assert_eq!(
        asked[0].param("redirect_uri"),
        asked[1].param("redirect_uri")
    );
    assert_eq!(world.at("/register").len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_is_pasted_by_hand() {
    let world = World::new().await;
    let (tell, told) = std::sync::mpsc::channel::<String>();
    let told = Mutex::new(told);
    let tries = Mutex::new(0);
    let runtime = tokio::runtime::Handle::current();
    let paste = Paste::with(
        move |request| tell.send(request.url().to_owned()).unwrap(),
        move || {
            let url = told.lock().unwrap().recv().unwrap();
            let mut tries = tries.lock().unwrap();
            *tries += 1;
            if *tries == 1 {
                return Ok("oops\n".to_owned());
            }
            let back = runtime.block_on(visit(&url)).unwrap();
            Ok(format!("  {}\n", back.expose()))
        },
    );
    let oauth = OAuth::new("my-app").browser(paste);
    assert!(world.request(&oauth).await.unwrap().status().is_success());
    assert_eq!(world.at("/token")[0].param("code").unwrap(), "c0de");
}

#[tokio::test]
async fn an_input_that_ends_is_told_of() {
    let world = World::new().await;
    let paste = Paste::with(|_| {}, || Ok(String::new()));
    let error = world.error(&OAuth::new("my-app").browser(paste)).await;
    assert_eq!(error.step(), Step::Authorization);
    assert!(error.to_string().contains("sign in again"), "{error}");
}

/// Dropping the last handle ends the wait and frees the port.
#[tokio::test]
async fn a_dropped_waiter_does_not_block_others() {
    let world = World::new().await;
    let (tell, told) = tokio::sync::oneshot::channel();
    let tell = Mutex::new(Some(tell));
    let browser = Loopback::new().without_opening().announce(move |request| {
        if let Some(tell) = tell.lock().unwrap().take() {
            tell.send(request.url().to_owned()).unwrap();
        }
    });
    let oauth = OAuth::new("my-app").browser(browser);
    let server = world.mcp().to_string();
    let waiting = tokio::spawn(async move { oauth.sign_in(&server).await });
    let url = told.await.unwrap();
    waiting.abort();
    assert!(waiting.await.unwrap_err().is_cancelled());
    let query = url.split_once('?').unwrap().1;
    let mut pairs = form_urlencoded::parse(query.as_bytes());
    let redirect = pairs.find(|(name, _)| name == "redirect_uri").unwrap().1;
    let address = Address::parse(&redirect).unwrap();
    let authority = address.uri().authority().unwrap().as_str();
    while TcpStream::connect(authority).await.is_ok() {
        tokio::task::yield_now().await;
    }
}
