// A plain load balancer: sends each request to the next server, even if the requests share a connection.
//
//   node balance.mjs URL…

import { createServer, request } from "node:http";

const targets = process.argv.slice(2).map((url) => new URL(url));
let next = 0;

const balancer = createServer((incoming, outgoing) => {
  const target = targets[next++ % targets.length];
  const options = {
    host: target.hostname,
    port: target.port,
    method: incoming.method,
    path: incoming.url,
    headers: incoming.headers,
  };
  const forwarded = request(options, (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
    // A stream begins before its first event.
    outgoing.flushHeaders();
    answer.pipe(outgoing);
    answer.on("error", () => outgoing.destroy());
  });
  forwarded.on("error", () => outgoing.destroy());
  outgoing.on("close", () => forwarded.destroy());
  incoming.pipe(forwarded);
});

balancer.listen(0, "127.0.0.1", () => {
  const address = balancer.address();
  if (address && typeof address === "object") console.log(`listening at http://127.0.0.1:${address.port}/mcp`);
});
