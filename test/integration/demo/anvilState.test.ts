/** Chains of a real anvil from their block 0: one that proofd makes, where most tests that follow a node start, and anvil's own. */
import assert from "node:assert/strict";
import {readFile, writeFile} from "node:fs/promises";
import {join} from "node:path";
import {test} from "node:test";
import {DEMO_FOLDER} from "../../../demo/artefact.ts";
import {makeGenesisBlock} from "../../../evm/execution/genesisBlock.ts";
import {toHex} from "../../../storage/hex.ts";
import {MemoryTries} from "../../../storage/trie/memoryTries.ts";
import {ANVIL_ACCOUNTS, makeAnvilState} from "../../support/chains/anvilState.ts";
import {Anvil} from "../../support/processes/anvil.ts";
import {runHere} from "../../support/processes/ownCommand.ts";
import "../../support/processes/testProcess.ts";
import {parseGenesis} from "../../support/evm/genesisText.ts";
import {notRun} from "../../support/processes/notRun.ts";
import {makeTemporaryFolder} from "../../support/temporaryFolder.ts";

/** EIP-4788's contract, which anvil does not call: the roots of its headers are right only without it. */
const BEACON_ROOTS = "0x000f3df6d732807ef1319fb7b8bb8522d0beac02";
const EMPTY_ROOT = "0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421";

interface Mined {
  readonly hash: string;
  readonly stateRoot: string;
}

const folder = makeTemporaryFolder();

test("anvil's block 0 is the genesis file's block, and block 1 links to it", async t => {
  const demo = JSON.parse(await readFile(join(DEMO_FOLDER, "genesis.json"), "utf8"));
  for (const address of ANVIL_ACCOUNTS) demo.alloc[address] = {balance: "0x21e19e0c9bab2400000"};
  const genesisText = JSON.stringify(demo);
  const path = join(folder, "state.json");
  await writeFile(path, await makeAnvilState(genesisText));
  const anvil = await Anvil.start(["--load-state", path, "--accounts", `${ANVIL_ACCOUNTS.length}`]);
  if (typeof anvil === "string") return notRun(t, anvil);
  t.after(() => anvil.stop());
  const {head} = await makeGenesisBlock(parseGenesis(genesisText), new MemoryTries());
  const block0 = await anvil.request<{hash: string}>("eth_getBlockByNumber", "0x0", false);
  assert.equal(block0.hash, toHex(head.hash));
  await anvil.request("evm_mine");
  const block1 = await anvil.request<{parentHash: string}>("eth_getBlockByNumber", "0x1", false);
  assert.equal(block1.parentHash, toHex(head.hash));
});

test("a chain that begins with anvil --init, whose block 0 has an empty state, is imported with that block", async t => {
  const {alloc, ...fields} = JSON.parse(await readFile(join(DEMO_FOLDER, "genesis.json"), "utf8"));
  delete alloc[BEACON_ROOTS];
  const path = join(folder, "genesis.json");
  await writeFile(path, JSON.stringify({...fields, alloc}));
  const flags =
    "--accounts 0 --no-mining --disable-default-create2-deployer --chain-id 424242 --hardfork osaka";
  const anvil = await Anvil.start([...flags.split(" "), "--init", path]);
  if (typeof anvil === "string") return notRun(t, anvil);
  t.after(() => anvil.stop());
  const zero = await anvil.request<Mined>("eth_getBlockByNumber", "0x0", false);
  assert.equal(zero.stateRoot, EMPTY_ROOT);
  await anvil.request("evm_mine");
  const head = await anvil.request<Mined>("eth_getBlockByNumber", "0x1", false);
  const db = join(folder, "init.db");
  const {code, stdout, stderr} = await runHere(["import", "--db", db, "--l2", anvil.url, "--genesis", path]);
  assert.equal(code, 0, stderr);
  assert.ok(stdout.includes(head.hash), stdout);
});
