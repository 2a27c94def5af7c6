/**
 * Where anvil's state roots (1.7.1) differ from the rules, and that ours do not: for each case, the root of the trie over the
 * accounts that anvil itself dumps, made here without any execution.
 *
 *   anvil  --anvil_dumpState-->  accounts  -->  trie with what anvil keeps    = the header's state root
 *                                          -->  trie as the rules have it     = the root that proofd computes
 */

import assert from "node:assert/strict";
import {writeFile} from "node:fs/promises";
import {after, before, test} from "node:test";
import {gunzipSync} from "node:zlib";
import {MerklePatriciaTrie} from "@ethereumjs/mpt";
import {RLP} from "@ethereumjs/rlp";
import {createLegacyTx, type LegacyTxData} from "@ethereumjs/tx";
import {type PrefixedHexString, privateToAddress} from "@ethereumjs/util";
import {BlockExecutor} from "../../../evm/execution/blockExecutor.ts";
import {parseGenesis} from "../../../evm/execution/genesis.ts";
import {encodeJsonBlock} from "../../../nodes/blocks/jsonBlock.ts";
import {keccak256} from "../../../storage/hash/keccak.ts";
import {toHex} from "../../../storage/hex.ts";
import {MemoryTries} from "../../../storage/trie/memoryTries.ts";
import {makeAnvilState} from "../../support/chains/anvilState.ts";
import {WorkFolder} from "../../support/chains/serviceChain.ts";
import {makeGenesisText} from "../../support/demo/demoGenesis.ts";
import {createFullRules} from "../../support/evm/fullRules.ts";
import {Anvil} from "../../support/processes/anvil.ts";
import {runProofd} from "../../support/processes/daemon.ts";
import {notRun} from "../../support/processes/notRun.ts";

interface DumpedAccount {
  readonly nonce: number;
  readonly balance: string;
  readonly code: string;
  readonly storage: Readonly<Record<string, string>>;
}
type Accounts = Readonly<Record<string, DumpedAccount>>;
interface Mined {
  readonly number: string;
  readonly hash: string;
  readonly timestamp: string;
  readonly stateRoot: string;
}

const BEACON_ROOTS = "0x000f3df6d732807ef1319fb7b8bb8522d0beac02";
const BLOCK_HASHES = "0x0000f90827f1c53a10cb7a02335b175320002935";
const BEACON_SLOTS = 8191n;
/** Stores the second word of its input at the first one. */
const STORING: PrefixedHexString = `0x${"aa".repeat(20)}`;
const NOBODY: PrefixedHexString = `0x${"bb".repeat(20)}`;
const KEY = new Uint8Array(32).fill(7);
const EMPTY_ROOT = "0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421";
const FLAGS = "--accounts 0 --no-mining --disable-default-create2-deployer --chain-id 424242".split(" ");

let folder: WorkFolder;

before(async () => {
  folder = await WorkFolder.create();
});

after(() => folder.remove());

/** The demo chain's genesis with the forks up to `fork`. @param absent - system contracts that are left out */
function makeGenesis(fork: string, absent: readonly string[]): string {
  const {config, alloc, ...fields} = JSON.parse(makeGenesisText([privateToAddress(KEY)]));
  const order = ["cancun", "prague", "osaka"];
  for (const later of order.slice(order.indexOf(fork) + 1)) {
    delete config[`${later}Time`];
    delete config.blobSchedule[later];
  }
  for (const address of absent) delete alloc[address];
  alloc[STORING] = {
    balance: "0x0",
    nonce: "0x1",
    code: "0x6020356000355500",
    storage: {[word(5n)]: word(7n)},
  };
  return JSON.stringify({...fields, config, alloc});
}

/** Mines a block of each transaction, and compares anvil's roots with ours until they differ. */
async function mine(
  fork: string,
  absent: readonly string[],
  transactions: readonly (LegacyTxData | undefined)[],
): Promise<{blocks: Mined[]; accounts: Accounts; ours: string[]} | string> {
  const text = makeGenesis(fork, absent);
  const path = folder.file("state.json");
  await writeFile(path, await makeAnvilState(text));
  const anvil = await Anvil.start([...FLAGS, "--hardfork", fork, "--load-state", path]);
  if (typeof anvil === "string") return anvil;
  try {
    const genesis = parseGenesis(text);
    const {executor, difference} = await BlockExecutor.start(
      {
        forks: genesis.forks,
        store: new MemoryTries(),
        blockHash: () => undefined,
      },
      genesis,
    );
    const blocks = [await anvil.request<Mined>("eth_getBlockByNumber", "0x0", true)];
    assert.equal(blocks[0]?.hash, toHex(difference.header.hash));
    const common = createFullRules(genesis.forks);
    let nonce = 0n;
    const ours: string[] = [];
    for (const transaction of transactions) {
      if (transaction !== undefined) {
        const fields = {nonce: nonce++, gasLimit: 200_000n, gasPrice: 2_000_000_000n, ...transaction};
        const signed = createLegacyTx(fields, {common}).sign(KEY);
        await anvil.request("eth_sendRawTransaction", toHex(signed.serialize()));
      }
      await anvil.request("evm_mine");
      const block = await anvil.request<Mined>("eth_getBlockByNumber", "latest", true);
      blocks.push(block);
      try {
        await executor.execute(encodeJsonBlock(block, Number(block.number)));
        ours.push(block.stateRoot);
      } catch (error) {
        // Gas, receipts and logs were right, so the same transactions ran with the same outcome.
        const root = /: state root: expected 0x[0-9a-f]{64} as in its header, got (0x[0-9a-f]{64})/.exec(
          (error as Error).message,
        )?.[1];
        assert.ok(root, String(error));
        ours.push(root);
        break;
      }
    }
    const dump = await anvil.request<string>("anvil_dumpState");
    const {accounts} = JSON.parse(gunzipSync(Buffer.from(dump.slice(2), "hex")).toString());
    return {blocks, accounts, ours};
  } finally {
    await anvil.stop();
  }
}

/** @param keeps - "zeros": slots with the value 0 are leaves. "empties": accounts that EIP-161 calls empty are leaves */
async function rootOf(accounts: Accounts, keeps?: "zeros" | "empties"): Promise<string> {
  const trie = new MerklePatriciaTrie();
  for (const [address, {nonce, balance, code, storage}] of Object.entries(accounts)) {
    const bytes = Buffer.from(code.slice(2), "hex");
    if (keeps !== "empties" && nonce === 0 && BigInt(balance) === 0n && bytes.length === 0) continue;
    const slots = new MerklePatriciaTrie();
    for (const [slot, value] of Object.entries(storage))
      if (keeps === "zeros" || BigInt(value) !== 0n)
        await slots.put(keccak256(Buffer.from(slot.slice(2), "hex")), RLP.encode(BigInt(value)));
    const account = RLP.encode([nonce, BigInt(balance), slots.root(), keccak256(bytes)]);
    await trie.put(keccak256(Buffer.from(address.slice(2), "hex")), account);
  }
  return toHex(trie.root());
}

function word(value: bigint): string {
  return `0x${value.toString(16).padStart(64, "0")}`;
}

function store(slot: bigint, value: bigint): LegacyTxData {
  return {to: STORING, data: `0x${word(slot).slice(2)}${word(value).slice(2)}`};
}

/** Anvil's header has the root of all that it holds; ours leaves out what the rules leave out. */
function rootTest(
  title: string,
  [fork, absent]: readonly [string, readonly string[]],
  transactions: readonly (LegacyTxData | undefined)[],
  compare: (
    accounts: Accounts,
    roots: {readonly theirs: string; readonly ours: string},
    block: Mined,
    parent: Mined,
  ) => Promise<void>,
): void {
  test(title, async t => {
    const mined = await mine(fork, absent, transactions);
    if (typeof mined === "string") return notRun(t, mined);
    const {blocks, accounts, ours} = mined;
    assert.equal(ours.length, transactions.length, "a block before the last one has another root");
    const [parent, block] = blocks.slice(-2) as [Mined, Mined];
    await compare(accounts, {theirs: block.stateRoot, ours: ours.at(-1) as string}, block, parent);
  });
}

for (const fork of ["cancun", "osaka"]) {
  const absent = fork === "cancun" ? [BEACON_ROOTS, BLOCK_HASHES] : [BEACON_ROOTS];
  rootTest(
    `under ${fork}, without EIP-4788's contract, anvil's roots are ours`,
    [fork, absent],
    [undefined, {to: NOBODY, value: "0x5"}, store(9n, 1n), undefined],
    async (accounts, {theirs, ours}) => {
      assert.equal(theirs, ours);
      assert.equal(ours, await rootOf(accounts));
    },
  );
}

rootTest(
  "anvil keeps a slot that was set to zero as a leaf",
  ["osaka", [BEACON_ROOTS]],
  [store(9n, 1n), store(5n, 0n)],
  async (accounts, {theirs, ours}) => {
    assert.equal(BigInt(accounts[STORING]?.storage[word(5n)] ?? 1n), 0n);
    assert.equal(ours, await rootOf(accounts));
    assert.equal(theirs, await rootOf(accounts, "zeros"));
    assert.notEqual(theirs, ours);
  },
);

for (const [what, transaction] of [
  ["an empty account that was called", {to: NOBODY}],
  ["an account that was made and destroyed in one transaction", {data: "0x30ff"}],
] as const)
  rootTest(
    `anvil keeps ${what} as a leaf`,
    ["osaka", [BEACON_ROOTS]],
    [undefined, transaction],
    async (accounts, {theirs, ours}) => {
      assert.equal(ours, await rootOf(accounts));
      assert.equal(theirs, await rootOf(accounts, "empties"));
      assert.notEqual(theirs, ours);
    },
  );

rootTest(
  "anvil does not call EIP-4788's contract before a block's transactions",
  ["cancun", [BLOCK_HASHES]],
  [undefined],
  async (accounts, {theirs, ours}, {timestamp}) => {
    const contract = accounts[BEACON_ROOTS] as DumpedAccount;
    assert.deepEqual(contract.storage, {});
    assert.equal(theirs, await rootOf(accounts));
    // The other slot holds the root of the beacon block before, which is zero in anvil's headers.
    const storage = {[word(BigInt(timestamp) % BEACON_SLOTS)]: word(BigInt(timestamp))};
    assert.equal(ours, await rootOf({...accounts, [BEACON_ROOTS]: {...contract, storage}}));
  },
);

rootTest(
  "anvil makes EIP-2935's contract in block 1 if the genesis does not have it",
  ["osaka", [BEACON_ROOTS, BLOCK_HASHES]],
  [undefined],
  async (accounts, {theirs, ours}, _block, parent) => {
    const {[BLOCK_HASHES]: made, ...others} = accounts;
    assert.equal(made?.nonce, 0);
    assert.deepEqual(made.storage, {[word(0n)]: parent.hash});
    assert.equal(theirs, await rootOf(accounts));
    assert.equal(ours, await rootOf(others));
  },
);

test("a chain that begins with anvil --init, whose block 0 has an empty state, is imported with that block", async t => {
  const path = folder.file("genesis.json");
  await writeFile(path, makeGenesis("osaka", [BEACON_ROOTS]));
  const anvil = await Anvil.start([...FLAGS, "--hardfork", "osaka", "--init", path]);
  if (typeof anvil === "string") return notRun(t, anvil);
  try {
    const zero = await anvil.request<Mined>("eth_getBlockByNumber", "0x0", false);
    assert.equal(zero.stateRoot, EMPTY_ROOT);
    await anvil.request("evm_mine");
    const head = await anvil.request<Mined>("eth_getBlockByNumber", "0x1", false);
    const flags = ["--db", folder.file("init.db"), "--l2", anvil.url, "--genesis", path];
    const {code, stdout, stderr} = await runProofd(["import", ...flags]);
    assert.equal(code, 0, stderr);
    assert.ok(stdout.includes(head.hash), stdout);
  } finally {
    await anvil.stop();
  }
});
