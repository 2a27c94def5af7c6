/**
 * proofd follows a geth whose chain has everything that changes accounts and slots, from shanghai to osaka. Each block's changes must
 * give the state root of its header before it is stored, so a block that is held has it.
 */

import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import {EngineChain} from "../support/chains/engineChain.ts";
import {ENGINE_FORKS, ENGINE_TRAFFIC} from "../support/chains/engineTraffic.ts";
import {PEOPLE} from "../support/chains/people.ts";
import {machine} from "../support/chains/stateTraffic.ts";
import {compareWithGeth, readTouched, type Touched} from "../support/http/gethComparison.ts";
import {waitForHash, withFollower} from "../support/http/nodeFollower.ts";
import type {RealNode} from "../support/processes/realNode.ts";
import {importHere} from "../support/stores/importedStore.ts";

const COMPARED = 10;
/** SHA-256 of nothing (EIP-7685). */
const NO_REQUESTS = "0xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

let chain: EngineChain;
let node: RealNode;
let touched: Touched;

before(async () => {
  chain = await EngineChain.create(ENGINE_FORKS);
  node = await chain.addNode();
  for (const plan of ENGINE_TRAFFIC) await chain.seal(plan);
  touched = await readTouched(node, chain.height);
});

after(() => chain?.stop());

test("the chain has what changes accounts and slots, transactions that fail, and each fork", async () => {
  const counts = {
    deleted: 0,
    madeAgain: 0,
    delegated: 0,
    delegationEnded: 0,
    blobs: 0,
    requests: 0,
    succeeded: 0,
    failed: 0,
  };
  let before = {machine: "0x", person: "0x"};
  for (let number = 1; number <= chain.height; number++) {
    const tag = `0x${number.toString(16)}`;
    const block = await node.request<Record<string, string>>("eth_getBlockByNumber", tag, false);
    const receipts = await node.request<{status: string}[]>("eth_getBlockReceipts", tag);
    const now = {machine: await codeAt(machine, tag), person: await codeAt(PEOPLE[1] as string, tag)};
    if (before.machine !== "0x" && now.machine === "0x") counts.deleted++;
    if (counts.deleted > 0 && before.machine === "0x" && now.machine !== "0x") counts.madeAgain++;
    if (before.person === "0x" && now.person !== "0x") counts.delegated++;
    if (before.person !== "0x" && now.person === "0x") counts.delegationEnded++;
    if (Number(block.blobGasUsed ?? 0) > 0) counts.blobs++;
    if (block.requestsHash !== undefined && block.requestsHash !== NO_REQUESTS) counts.requests++;
    for (const {status} of receipts) counts[status === "0x1" ? "succeeded" : "failed"]++;
    before = now;
  }
  const accounts = {deleted: 3, madeAgain: 3, delegated: 4, delegationEnded: 4};
  assert.deepEqual(counts, {...accounts, blobs: 3, requests: 8, succeeded: 193, failed: 41});
});

async function codeAt(address: string, tag: string): Promise<string> {
  return node.request("eth_getCode", address, tag);
}

for (const source of ["execute", "trace"])
  for (const isHalf of [false, true])
    test(`by ${source}, from ${isHalf ? "an import half way" : "the genesis file"}`, async () => {
      const db = chain.file(`${source}-${isHalf}.db`);
      const flags = ["--db", db, "--l2", node.url, "--genesis", chain.genesisPath, "--source", source];
      if (isHalf) assert.ok((await importHere([...flags, "--to", `${Math.floor(chain.height / 2)}`])).ok);
      await withFollower([...flags, "--finalized", "last"], async daemon => {
        await waitForHash(daemon, chain.height, chain.hashOf(chain.height));
        for (let at = 1; at <= COMPARED; at++)
          await compareWithGeth(daemon, node, touched, Math.floor((at * chain.height) / COMPARED));
      });
    });
