//! The checks of TLS.

use crate::check::checks;

checks! { Tls;
    PLAIN Error "tls.plain" {
        claim: "The server at an `https` URL speaks TLS.",
        fix: "Use `http://`, or put TLS in front of the server.",
    }
    UNEXPECTED Error "tls.unexpected" {
        claim: "The server at an `http` URL does not speak TLS.",
        fix: "Use `https://`.",
    }
    HANDSHAKE Error "tls.handshake" {
        claim: "A TLS connection can be made, of version 1.2 or 1.3.",
        fix: "Look at what the server's TLS allows: its versions, ciphers, and whether it wants a certificate of the client.",
    }
    CHAIN Error "tls.chain" {
        claim: "The certificate leads to an authority that this machine trusts.",
        fix: "Send the intermediate certificates along (`fullchain.pem`), or trust the authority with `--cacert FILE`.",
    }
    NAME Error "tls.name" {
        claim: "The certificate is for the host that was asked for.",
        fix: "Use a host name that the certificate has, or get one that has this name among its alternative names.",
    }
    EXPIRED Error "tls.expired" {
        claim: "The certificate is valid today.",
        fix: "Renew the certificate, and reload the server; if it is fresh, check the clocks of both machines.",
    }
    EXPIRES_SOON Warning "tls.expires-soon" {
        claim: "The certificate is valid for two weeks more.",
        fix: "Renew it now, and find out why it is not renewed automatically.",
    }
}
