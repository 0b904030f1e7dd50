//! Callers with tokens at the replicas of a gateway.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::json;
use turnbuckle::auth::jose::{SigningKey, digest};

use super::{Redis, initialize};
use crate::{
    program::Place,
    up::Gateway,
    up_exchange::{Guarded, whoami_of},
};

/// The URL at which clients reach all replicas.
const PUBLIC: &str = "http://gateway.localhost";

fn replicas(server: &Guarded, place: &Place, redis: &Redis) -> [Gateway; 2] {
    place.write("secret", "0123456789abcdef0123456789abcdef");
    let front = format!(
        "public-url = \"{PUBLIC}\"\n[gateway.oauth]\nissuer = \"ISSUER\"\naudience = \"the-gateway\""
    );
    let words = ["--redis", &redis.url, "--secret-file", "secret"];
    [(); 2].map(|()| server.gateway_with(place, &front, "exchange = \"ISSUER\"", &words))
}

#[test]
fn each_replica_has_tokens_of_each_caller() {
    let place = Place::new();
    let redis = Redis::start(&place);
    let server = Guarded::start(Duration::from_mins(10));
    let replicas = replicas(&server, &place, &redis);
    for revision in ["2025-11-25", "2026-07-28"] {
        for subject in ["ann", "bob"] {
            let (token, url) = (server.token(subject), &server.url);
            for replica in &replicas {
                let said = whoami_of(&place, replica, &token, revision);
                assert_eq!(said, format!("{subject} by the-gateway for \"{url}\""));
            }
        }
    }
}

#[test]
fn a_proof_of_a_caller_counts_once_at_all_replicas() {
    let place = Place::new();
    let redis = Redis::start(&place);
    let server = Guarded::start(Duration::from_mins(10));
    let replicas = replicas(&server, &place, &redis);
    let key = SigningKey::generate().expect("a key");
    let token = server.bound_token("ann", &key.public_key().thumbprint());
    let send = |replica: &Gateway, proof: &str| {
        let headers = format!("authorization: DPoP {token}\r\ndpop: {proof}\r\n");
        let host = replica.url.trim_start_matches("http://");
        let host = host.trim_end_matches("/mcp").to_owned();
        let answer = super::send(&host, &headers, &initialize(&json!({}))).whole();
        answer[9..12].parse::<u16>().expect("a status")
    };
    for number in 0..4 {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let claims = json!({
            "htm": "POST", "htu": format!("{PUBLIC}/mcp"), "ath": digest(&token),
            "iat": now.expect("it is after 1970").as_secs(), "jti": format!("proof-{number}"),
        });
        let header = json!({ "typ": "dpop+jwt", "alg": "ES256", "jwk": key.public_jwk() });
        let proof = key.sign_with_header(&header, &claims).expect("a proof");
        let (one, other) = (&replicas[number % 2], &replicas[(number + 1) % 2]);
        assert_eq!(send(one, &proof), 200);
        assert_eq!(send(other, &proof), 401, "it was used at the other replica");
    }
}
