/** Compares what a service proves with what geth holds: every account and slot that some blocks touched. */
import assert from "node:assert/strict";
import {decodeHex} from "../../../client/bytes/hex.ts";
import {sha256Suite} from "../../../client/hash/hashSuites.ts";
import type {RealNode} from "../processes/realNode.ts";
import {verifyProof} from "../reference/exactProof.ts";
import type {AskedService} from "./askedService.ts";

/** Slots by account, both as 0x text. */
type Touched = ReadonlyMap<string, ReadonlySet<string>>;

interface Traced {
  readonly result: Readonly<Record<string, {readonly storage?: Readonly<Record<string, string>>}>>;
}

interface GethBlock {
  readonly hash: string;
  readonly miner: string;
  /** From shanghai on. */
  readonly withdrawals?: readonly {readonly address: string}[];
}

interface GethProof {
  readonly balance: string;
  readonly nonce: string;
  readonly codeHash: string;
  readonly storageProof: readonly {readonly value: string}[];
}

/** Code hashes of an account that does not exist: geth's, and reth's, which is that of no code. */
const ABSENT = [`0x${"00".repeat(32)}`, "0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470"];
/** EIP-4788, 2935, 7002 and 7251 write them outside of transactions. */
const SYSTEM_SLOTS = [
  "0x000f3df6d732807ef1319fb7b8bb8522d0beac02",
  "0x0000f90827f1c53a10cb7a02335b175320002935",
  "0x00000961ef480eb55e80d19ad83579a64c007002",
  "0x0000bbddc7ce488642fb579f8b00f3a590007251",
];
const HISTORY_SLOTS = 8191;

/** What geth's tracer says that the transactions of blocks 1 to `last` read or wrote, and what these blocks touched besides. */
export async function readTouched(node: RealNode, last: number): Promise<Touched> {
  const touched = new Map<string, Set<string>>();
  const touch = (address: string, ...slots: readonly string[]) => {
    const known = touched.get(address) ?? new Set();
    for (const slot of slots) known.add(slot);
    touched.set(address, known);
  };
  for (let number = 1; number <= last; number++) {
    const {
      miner,
      withdrawals = [],
      ...block
    } = await node.request<GethBlock & {timestamp: string}>("eth_getBlockByNumber", quantity(number), false);
    touch(miner);
    for (const {address} of withdrawals) touch(address);
    const traces = await node.request<readonly Traced[]>("debug_traceBlockByNumber", quantity(number), {
      tracer: "prestateTracer",
    });
    for (const {result} of traces)
      for (const [address, {storage = {}}] of Object.entries(result)) touch(address, ...Object.keys(storage));
    const time = Number(block.timestamp) % HISTORY_SLOTS;
    const [roots = "", hashes = "", ...queues] = SYSTEM_SLOTS;
    touch(roots, word(time), word(time + HISTORY_SLOTS));
    touch(hashes, word((number - 1) % HISTORY_SLOTS));
    for (const queue of queues) touch(queue, ...[0, 1, 2, 3].map(word));
  }
  return touched;
}

/** Proofs, and the values alone, to the byte. @param block - finalized in the service */
export async function compareEthProofs(
  daemon: AskedService,
  node: RealNode,
  touched: Touched,
  block: number,
): Promise<void> {
  for (const [address, slots] of touched) {
    const params = [address, [...slots], quantity(block)] as const;
    const {result} = await daemon.call("eth_getProof", params);
    const theirs = await node.request("eth_getProof", ...params);
    assert.equal(JSON.stringify(result), JSON.stringify(theirs), `${address} at block ${block}`);
    await compareReads(daemon, node, address, [...slots], quantity(block));
  }
}

async function compareReads(
  daemon: AskedService,
  node: RealNode,
  address: string,
  slots: readonly string[],
  block: string,
): Promise<void> {
  const reads = [
    ["eth_getBalance", address],
    ["eth_getTransactionCount", address],
    ["eth_getCode", address],
    ...slots.map(slot => ["eth_getStorageAt", address, slot]),
  ].map(([method, ...params], id) => ({jsonrpc: "2.0", id, method, params: [...params, block]}));
  const body = JSON.stringify(reads);
  const headers = {"content-type": "application/json"};
  const theirs = await fetch(node.url, {method: "POST", headers, body});
  assert.equal((await daemon.post(body)).text, (await theirs.text()).trim(), `${address} at block ${block}`);
}

/** @param block - finalized in the service */
export async function compareWithGeth(
  daemon: AskedService,
  node: RealNode,
  touched: Touched,
  block: number,
): Promise<void> {
  // Other clients show what does not exist in their own way.
  if (node.name === "geth") await compareEthProofs(daemon, node, touched, block);
  const tag = quantity(block);
  const {result: root} = await daemon.call("chain_getStateRoot", [tag]);
  assert.equal(root.hash, (await node.request<GethBlock>("eth_getBlockByNumber", tag, false)).hash);
  for (const [address, slots] of touched) {
    const keys = [...slots];
    const where = `${address} at block ${block}`;
    const {result, error} = await daemon.call("chain_getProof", [address, keys, tag]);
    assert.equal(error, undefined, where);
    const {account, slots: values} = verifyProof(
      sha256Suite,
      decodeHex(root.stateRoot),
      address,
      keys,
      result,
    );
    const theirs = await node.request<GethProof>("eth_getProof", address, keys, tag);
    assert.equal(account?.balance ?? 0n, BigInt(theirs.balance), where);
    assert.equal(account?.nonce ?? 0n, BigInt(theirs.nonce), where);
    if (account === undefined) assert.ok(ABSENT.includes(theirs.codeHash), where);
    else assert.equal(account.keccakCodeHash, theirs.codeHash, where);
    for (const [at, key] of keys.entries())
      assert.equal(
        values[at] ?? 0n,
        BigInt(theirs.storageProof[at]?.value as string),
        `${where}, slot ${key}`,
      );
  }
}

function quantity(value: number): string {
  return `0x${value.toString(16)}`;
}

function word(value: number): string {
  return `0x${value.toString(16).padStart(64, "0")}`;
}
