// A relay between a client and a server that can break their connections.

import { once } from "node:events";
import { connect, createServer } from "node:net";

/** Opens a relay to the server at `url`; its own `url` leads to the same place. */
export async function relay(url) {
  const { hostname, port } = new URL(url);
  const sockets = new Set();
  let reads = 0;
  const server = createServer((near) => {
    const far = connect(Number(port), hostname);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ]) {
      sockets.add(one);
      one.on("error", () => other.destroy());
      one.on("close", () => {
        sockets.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
    let isRead = false;
    near.on("data", (bytes) => (isRead ||= bytes.subarray(0, 4).toString() === "GET "));
    // Without a response, the client takes a broken connection for a missing server.
    far.on("data", () => {
      reads += Number(isRead);
      isRead = false;
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const own = new URL(url);
  const address = /** @type {import("node:net").AddressInfo} */ (server.address());
  own.port = String(address.port);
  return {
    url: own.href,
    /** The number of answered GETs: one for each stream that was opened or resumed. */
    reads: () => reads,
    cut: () => sockets.forEach((socket) => socket.destroy()),
    close: () => server.close(),
  };
}
