/**
 * A program that answers as a Besu node with the Shomei plugin: trie logs from a file, everything else from another node.
 *
 *     node trieLogServer.js FILE URL      FILE: blocks from block 0 on, as loggedBlock.ts encodes them. URL: of the other node
 */
import {readFileSync} from "node:fs";
import {createServer, type IncomingMessage} from "node:http";
import type {AddressInfo} from "node:net";

const METHOD = "shomei_getTrieLogsByRange";

const [path, url] = process.argv.slice(2) as [string, string];
/** The JSON of each block's answer. */
const blocks = readFileSync(path, "utf8").trimEnd().split("\n");

const server = createServer((request, response) => {
  answer(request).then(
    text => response.setHeader("content-type", "application/json").end(text),
    (error: Error) => response.writeHead(502).end(error.message),
  );
});
server.listen(0, "127.0.0.1", () => {
  const {port} = server.address() as AddressInfo;
  process.stdout.write(`Listening on 127.0.0.1:${port}\n`);
});

async function answer(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  // proofd asks for trie logs in requests of their own.
  const call = body.includes(METHOD) ? JSON.parse(body.toString()) : undefined;
  if (call?.method === METHOD) {
    const [from, to] = call.params as [number, number];
    return `{"jsonrpc":"2.0","id":${call.id},"result":[${blocks.slice(from, to + 1)}]}`;
  }
  const headers = {"content-type": "application/json"};
  const forwarded = await fetch(url, {method: "POST", headers, body});
  return forwarded.text();
}
