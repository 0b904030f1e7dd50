// @modelcontextprotocol/server-everything over HTTP, at a port that the system chooses. The server itself does not
// print such a port, and listens on every interface.
//
//   node everything.mjs PACKAGE|FOLDER http|sse

import { Server } from "node:net";

const [package_, kind] = process.argv.slice(2);
const [file, path] = kind === "sse" ? ["sse", "/sse"] : ["streamableHttp", "/mcp"];

const { listen } = Server.prototype;
Server.prototype.listen = function (_port, announce) {
  this.once("listening", () => {
    const address = /** @type {import("node:net").AddressInfo} */ (this.address());
    console.log(`listening at http://127.0.0.1:${address.port}${path}`);
  });
  return listen.call(this, 0, "127.0.0.1", announce);
};

// An absolute path to a folder replaces `node_modules/`.
const modules = new URL("node_modules/", import.meta.url);
await import(new URL(`${package_}/dist/transports/${file}.js`, modules).href);
