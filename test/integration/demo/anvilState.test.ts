/** A real anvil starts at a genesis block that proofd makes: what follows a chain from its genesis is tested on such a node. */

import assert from "node:assert/strict";
import {mkdtemp, readFile, rm, writeFile} from "node:fs/promises";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {after, before, test} from "node:test";
import {DEMO_FOLDER} from "../../../demo/artefact.ts";
import {parseGenesis} from "../../../evm/execution/genesis.ts";
import {makeGenesisBlock} from "../../../evm/execution/genesisBlock.ts";
import {toHex} from "../../../storage/hex.ts";
import {MemoryTries} from "../../../storage/trie/memoryTries.ts";
import {ANVIL_ACCOUNTS, makeAnvilState} from "../../support/chains/anvilState.ts";
import {Anvil} from "../../support/processes/anvil.ts";
import "../../support/processes/testProcess.ts";
import {notRun} from "../../support/processes/notRun.ts";

let folder = "";

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "proofd-anvil-state-"));
});

after(() => rm(folder, {recursive: true}));

test("anvil's block 0 is the genesis file's block, and block 1 links to it", async t => {
  const demo = JSON.parse(await readFile(join(DEMO_FOLDER, "genesis.json"), "utf8"));
  for (const address of ANVIL_ACCOUNTS) demo.alloc[address] = {balance: "0x21e19e0c9bab2400000"};
  const genesisText = JSON.stringify(demo);
  const path = join(folder, "state.json");
  await writeFile(path, await makeAnvilState(genesisText));
  const anvil = await Anvil.start(["--load-state", path, "--accounts", `${ANVIL_ACCOUNTS.length}`]);
  if (typeof anvil === "string") return notRun(t, anvil);
  try {
    const {head} = await makeGenesisBlock(parseGenesis(genesisText), new MemoryTries());
    const block0 = await anvil.request<{hash: string}>("eth_getBlockByNumber", "0x0", false);
    assert.equal(block0.hash, toHex(head.hash));
    await anvil.request("evm_mine");
    const block1 = await anvil.request<{parentHash: string}>("eth_getBlockByNumber", "0x1", false);
    assert.equal(block1.parentHash, toHex(head.hash));
  } finally {
    await anvil.stop();
  }
});
