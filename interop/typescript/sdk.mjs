// Clients of all versions of the SDK with one interface, for programs that run several versions side by side.

const RECONNECTION = {
  initialReconnectionDelay: 200,
  maxReconnectionDelay: 1_000,
  reconnectionDelayGrowFactor: 1.5,
  maxRetries: 100,
};

const INFO = { name: "interop", version: "1.0.0" };

/** Connects a client of a package. `guest` answers questions, and receives updates and errors. */
export function open(package_, url, guest) {
  return package_.startsWith("client-") ? openV2(package_, url, guest) : openV1(package_, url, guest);
}

const elicited = (guest, { params }) => ({ action: "accept", content: { word: guest.asked(params.message) } });

const sampled = (guest, { params }) => ({
  role: /** @type {const} */ ("assistant"),
  model: "none",
  content: { type: /** @type {const} */ ("text"), text: guest.asked(params.messages[0].content.text) },
});

async function openV1(package_, url, guest) {
  const { Client } = await import(`${package_}/client/index.js`);
  const { StreamableHTTPClientTransport } = await import(`${package_}/client/streamableHttp.js`);
  const types = await import(`${package_}/types.js`);
  const revision = types.LATEST_PROTOCOL_VERSION;
  const canElicit = revision >= "2025-06-18";
  const capabilities = canElicit ? { sampling: {}, elicitation: {} } : { sampling: {} };
  const client = new Client(INFO, { capabilities });
  client.setRequestHandler(types.CreateMessageRequestSchema, (request) => sampled(guest, request));
  if (canElicit) client.setRequestHandler(types.ElicitRequestSchema, (request) => elicited(guest, request));
  client.setNotificationHandler(types.ResourceUpdatedNotificationSchema, ({ params }) => guest.updated(params.uri));
  client.onerror = (error) => guest.stray(error);
  const transport = new StreamableHTTPClientTransport(new URL(url), optionsOf(guest));
  await client.connect(transport);
  return {
    revision,
    canElicit,
    isModern: false,
    // The SDK resumes calls in versions that know 2025-11-25.
    resumesCalls: revision >= "2025-11-25",
    call: (name, given, options) => client.callTool({ name, arguments: given }, types.CallToolResultSchema, options),
    subscribe: (uri) => client.subscribeResource({ uri }),
    close: () => close(client, transport),
  };
}

async function openV2(package_, url, guest) {
  const { Client, StreamableHTTPClientTransport } = await import(package_);
  const capabilities = { elicitation: { form: {} }, sampling: {} };
  const client = new Client(INFO, { capabilities, versionNegotiation: { mode: "auto" } });
  client.setRequestHandler("elicitation/create", (request) => elicited(guest, request));
  client.setRequestHandler("sampling/createMessage", (request) => sampled(guest, request));
  client.setNotificationHandler("notifications/resources/updated", ({ params }) => guest.updated(params.uri));
  client.onerror = (error) => guest.stray(error);
  const transport = new StreamableHTTPClientTransport(new URL(url), optionsOf(guest));
  await client.connect(transport);
  let subscription;
  return {
    revision: client.getNegotiatedProtocolVersion(),
    canElicit: true,
    isModern: true,
    // 2026-07-28 has no resumption.
    resumesCalls: false,
    call: (name, given, options) => client.callTool({ name, arguments: given }, options),
    // The SDK does not subscribe again by itself.
    subscribe: async (uri) => {
      if (subscription) return;
      subscription = await client.listen({ resourceSubscriptions: [uri] });
      subscription.closed.then(() => (subscription = undefined));
    },
    close: () => client.close(),
  };
}

function optionsOf(guest) {
  const requestInit = { headers: { authorization: `Bearer ${guest.name}` } };
  return { requestInit, reconnectionOptions: RECONNECTION };
}

async function close(client, transport) {
  try {
    await transport.terminateSession();
  } finally {
    await client.close();
  }
}
