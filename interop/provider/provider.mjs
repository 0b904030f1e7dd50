// A real OpenID provider on this machine. It prints its URL.
//
// Tokens for a resource whose path is `/opaque` are opaque, all others are JWTs. Every client can
// sign in under any name, on the provider's own pages for development.

import { createServer } from "node:http";
import { generateKeyPairSync } from "node:crypto";
import Provider from "oidc-provider";

const SCOPES = "notes:read notes:write";

function key(alg, ...parameters) {
  const { privateKey } = generateKeyPairSync.apply(null, parameters);
  return { ...privateKey.export({ format: "jwk" }), alg, use: "sig", kid: alg };
}

const configuration = {
  clients: [
    {
      client_id: "robot",
      client_secret: "robot's secret",
      grant_types: ["client_credentials"],
      redirect_uris: [],
      response_types: [],
    },
    {
      client_id: "guard",
      client_secret: "guard's secret: / + %",
      grant_types: [],
      redirect_uris: [],
      response_types: [],
    },
  ],
  jwks: {
    keys: [
      key("RS256", "rsa", { modulusLength: 2048 }),
      key("ES256", "ec", { namedCurve: "P-256" }),
      key("EdDSA", "ed25519"),
    ],
  },
  enabledJWA: {
    dPoPSigningAlgValues: ["ES256", "EdDSA", "RS256"],
  },
  // Clients may only register scopes in this list.
  scopes: ["openid", "offline_access", ...SCOPES.split(" ")],
  pkce: { required: () => true },
  rotateRefreshToken: () => true,
  features: {
    devInteractions: { enabled: true },
    clientCredentials: { enabled: true },
    introspection: { enabled: true, allowedPolicy: () => true },
    revocation: { enabled: true },
    registration: { enabled: true },
    dPoP: { enabled: true, nonceSecret: Buffer.alloc(32, 7), requireNonce: () => false },
    resourceIndicators: {
      enabled: true,
      useGrantedResource: () => true,
      getResourceServerInfo(_, resource) {
        const { pathname } = new URL(resource);
        const alg = { "/es256": "ES256", "/eddsa": "EdDSA" }[pathname] ?? "RS256";
        return {
          scope: SCOPES,
          audience: resource,
          accessTokenTTL: 600,
          accessTokenFormat: pathname === "/opaque" ? "opaque" : "jwt",
          jwt: { sign: { alg } },
        };
      },
    },
  },
  ttl: { AccessToken: 600, AuthorizationCode: 60, ClientCredentials: 600, Grant: 600, Interaction: 600, Session: 600 },
};

const server = createServer((request, response) => handle(request, response));
let handle;
server.listen(0, "127.0.0.1", () => {
  const address = /** @type {import("node:net").AddressInfo} */ (server.address());
  const issuer = `http://127.0.0.1:${address.port}`;
  const provider = new Provider(issuer, configuration);
  for (const name of [
    "server_error",
    "grant.error",
    "authorization.error",
    "introspection.error",
    "registration_create.error",
  ]) {
    provider.on(name, (_, error) =>
      console.error(name, error.error ?? "", error.error_description ?? error.stack ?? error),
    );
  }
  handle = provider.callback();
  console.log(`listening at ${issuer}/`);
});
