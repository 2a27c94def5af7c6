/**
 * Tests of what differs between blocks of the demo chain by getChanges, over real sockets, against whole trees at both blocks. They are
 * for a service that another test has started: the demo chain takes seconds to execute.
 */
import assert from "node:assert/strict";
import {test} from "node:test";
import {
  type ChangeRange,
  createProofClient,
  decodeHex,
  encodeHex,
  type KeyedLeaf,
  type LeafChange,
  ProofError,
  RpcError,
  sha256Suite,
  type TreeLeaf,
  verifyChanges,
} from "../../../client/client.ts";
import demo from "../../../demo/addresses.json" with {type: "json"};
import type {OwnService} from "./ownService.ts";

/** Between them accounts come, go and come again, and slots are cleared. */
const FROM = 33n;
const TO = 70n;
const CONTRACTS = [demo.token, demo.ledger, demo.oldLedger, demo.deleted, demo.recreated, demo.emptied];

/** Defines the tests. @param service - which has been started when they run */
export function testDemoChanges(service: () => OwnService): void {
  const rootAt = async (block: bigint): Promise<string> =>
    (await service().call("chain_getStateRoot", [`0x${block.toString(16)}`])).result.stateRoot;
  const createClient = () => createProofClient({url: service().url, suite: sha256Suite, trustedRoot: rootAt});

  /** All that differs, `count` leaves at a time. */
  async function pull(
    tree: string,
    fromBlock: bigint,
    toBlock: bigint,
    count: number,
  ): Promise<ChangeRange[]> {
    const client = createClient();
    const ranges: ChangeRange[] = [];
    let cursor: bigint | undefined = 0n;
    while (cursor !== undefined) {
      const range: ChangeRange = await client.getChanges({tree, fromBlock, toBlock, cursor, count});
      assert.deepEqual([range.fromBlock.number, range.toBlock.number], [fromBlock, toBlock]);
      ranges.push(range);
      cursor = range.end;
    }
    return ranges;
  }

  async function leavesAt(tree: string, block: bigint): Promise<Map<number, string>> {
    const {leaves, end, nextFreeNode} = await createClient().getLeaves({tree, block});
    assert.equal(end, nextFreeNode);
    return new Map(leaves.flatMap(leaf => (leaf.role === "removed" ? [] : [[leaf.leafIndex, textOf(leaf)]])));
  }

  test("the changes between two blocks of the demo chain make the one state of the other, both ways", async () => {
    for (const [from, to] of [
      [FROM, TO],
      [TO, FROM],
    ] as const) {
      const ranges = await pull("all", from, to, 300);
      assert.ok(ranges.length > 2);
      const accounts = ranges.flatMap(range => range.accounts);
      const before = await leavesAt("accounts", from);
      assert.deepEqual(apply(before, accounts), await leavesAt("accounts", to));
      assert.deepEqual(
        (await pull("accounts", from, to, 4096)).flatMap(range => range.accounts),
        accounts,
      );
      for (const {address} of CONTRACTS) {
        const slots = ranges.flatMap(({storages}) =>
          storages.filter(storage => storage.address === address).flatMap(storage => storage.slots),
        );
        const [only] = await pull(address, from, to, 4096);
        assert.deepEqual(
          only?.storages.flatMap(storage => storage.slots),
          slots,
        );
        for (const [side, block] of [
          ["before", from],
          ["after", to],
        ] as const)
          assert.deepEqual(only?.account?.[side], (await createClient().getProof({address, block})).account);
        if (address === demo.recreated.address) continue;
        const storage = apply(await storageAt(address, from), slots);
        assert.deepEqual(storage, await storageAt(address, to), address);
      }
    }
  });

  /** Head and tail of a new tree where there is no storage. */
  async function storageAt(address: string, block: bigint): Promise<Map<number, string>> {
    const leaves = await leavesAt(address, block);
    if (leaves.size > 0) return leaves;
    const ends = [`0,1,${"00".repeat(32)},`, `0,1,${"ff".repeat(32)},`];
    return new Map(ends.map((text, i) => [i, text]));
  }

  test("JSON, bytes and viem give the same changes, at a tag too; without a verifier they are the server's", async () => {
    const parameters = {tree: "all", fromBlock: FROM, toBlock: TO, cursor: 5n << 40n, count: 9};
    const params = ["all", "0x21", "0x46", `0x${parameters.cursor.toString(16)}`, "0x9"];
    const {result} = await service().call("chain_getChanges", params);
    const call = {jsonrpc: "2.0", id: 1, method: "chain_getChanges", params};
    const {type, body} = await service().postAccepting("application/octet-stream", call);
    assert.equal(type, "application/octet-stream");
    assert.equal(encodeHex(body), result);
    const direct = await createClient().getChanges(parameters);
    assert.equal(encodeHex(direct.proof), result);
    const {proof, ...verified} = direct;
    const roots = {from: decodeHex(await rootAt(FROM)), to: decodeHex(await rootAt(TO))};
    assert.deepEqual(verifyChanges(sha256Suite, roots, parameters, proof), verified);
    const viem = {
      request: async ({method, params: asked}: {method: string; params: readonly unknown[]}) =>
        (await service().call(method, [...asked])).result,
    };
    const proofs = createProofClient({...viem, suite: sha256Suite, trustedRoot: rootAt});
    assert.deepEqual(await proofs.getChanges(parameters), direct);
    const own = createProofClient({url: service().url, verify: false});
    assert.deepEqual(await own.getChanges(parameters), {fromBlock: FROM, toBlock: TO, proof});
    const newest = await own.getChanges({tree: "accounts", fromBlock: TO});
    assert.equal(newest.toBlock, BigInt(demo.lastBlock));
  });

  test("one block differs from itself in nothing, and that is proved", async () => {
    for (const tree of ["accounts", "all", demo.ledger.address, demo.absent.address]) {
      const {accounts, storages, end} = await createClient().getChanges({tree, fromBlock: TO, toBlock: TO});
      assert.deepEqual([accounts, storages, end], [[], [], undefined]);
    }
  });

  test("other roots and cursors that are none are refused", async () => {
    const asked = {tree: "all", fromBlock: FROM, toBlock: TO};
    const swapped = createProofClient({
      ...{url: service().url, suite: sha256Suite},
      trustedRoot: block => rootAt(block === FROM ? TO : FROM),
    });
    await assert.rejects(swapped.getChanges(asked), ProofError);
    const client = createClient();
    for (const cursor of [-1n, 2n ** 80n - 1n, 0 as unknown as bigint])
      await assert.rejects(client.getChanges({...asked, cursor}), TypeError);
    await assert.rejects(client.getChanges({...asked, count: 0}), TypeError);
    await assert.rejects(client.getChanges({...asked, tree: "accounts", cursor: 7n}), (error: RpcError) => {
      assert.ok(error instanceof RpcError && error.code === -32602);
      assert.equal(
        error.message,
        'params[3] (cursor): expected 0x0, or where an answer for this tree ended, got "0x7"',
      );
      return true;
    });
  });
}

/** @returns `leaves` with the changes, each of which changes something */
function apply(
  leaves: ReadonlyMap<number, string>,
  changes: readonly LeafChange<KeyedLeaf>[],
): Map<number, string> {
  const changed = new Map(leaves);
  for (const {leafIndex, before, after} of changes) {
    assert.equal(changed.get(leafIndex), before && textOf(before));
    if (after === undefined) changed.delete(leafIndex);
    else changed.set(leafIndex, textOf(after));
  }
  return new Map([...changed].sort(([a], [b]) => a - b));
}

function textOf(leaf: Exclude<TreeLeaf, {readonly role: "removed"}>): string {
  const value = leaf.role === "end" ? "" : encodeHex(leaf.hVal);
  return [leaf.prev, leaf.next, encodeHex(leaf.hKey).slice(2), value].join();
}
