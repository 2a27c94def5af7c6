/**
 * A node with trie logs of the bench's chain. No public node of this kind runs from a package, so this one is our own program
 * (trieLogServer.ts). It gives trie logs that were made before, and passes everything else on to the chain's node.
 */
import {writeFileSync} from "node:fs";
import {join} from "node:path";
import {fileURLToPath} from "node:url";
import {encodeJsonLines} from "../chains/loggedBlock.ts";
import {logChain} from "../chains/loggedChain.ts";
import {type ServerProcess, startServer} from "../served/serverProcess.ts";
import type {AnvilNode} from "./anvilNode.ts";

const PROGRAM = fileURLToPath(new URL("trieLogServer.js", import.meta.url));

/** Makes the trie logs of blocks 0 to `blocks`. The caller stops the server. */
export async function startTrieLogNode(node: AnvilNode, blocks: number): Promise<ServerProcess> {
  const path = join(node.folder, "trielogs.ndjson");
  const logged = await logChain(node.genesis, await node.readChain(blocks), blocks);
  writeFileSync(path, encodeJsonLines(logged));
  return startServer({
    name: "the node of trie logs",
    command: process.execPath,
    args: [PROGRAM, path, node.server.url.href],
    listening: /Listening on (127\.0\.0\.1:\d+)/,
  });
}
