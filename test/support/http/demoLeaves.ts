/**
 * Tests of whole trees of the demo chain by getLeaves, over real sockets, against what single proofs say of the same block. They are
 * for a service that another test has started: the demo chain takes seconds to execute.
 */
import assert from "node:assert/strict";
import {test} from "node:test";
import {keccak_256} from "@noble/hashes/sha3.js";
import {
  type AccountLeaf,
  compareBytes,
  createProofClient,
  decodeHex,
  encodeHex,
  type KeyedLeaf,
  ProofError,
  type ProvenLeaves,
  RpcError,
  type SlotLeaf,
  sha256Suite,
  type TreeLeaf,
  verifyLeaves,
} from "../../../client/client.ts";
import {word} from "../../../client/hash/hashSuites.ts";
import demo from "../../../demo/addresses.json" with {type: "json"};
import type {OwnService} from "./ownService.ts";

const LEDGER = demo.ledger.address;
const BLOCK = 70n;

/** Defines the tests. @param service - which has been started when they run */
export function testDemoLeaves(service: () => OwnService): void {
  let root: string;
  const readRoot = async (): Promise<string> => {
    root ??= (await service().call("chain_getStateRoot", [`0x${BLOCK.toString(16)}`])).result.stateRoot;
    return root;
  };
  const createClient = () =>
    createProofClient({url: service().url, suite: sha256Suite, trustedRoot: readRoot});

  /** All leaves of a tree, `count` at a time. */
  async function pull(tree: string, count: number): Promise<TreeLeaf[]> {
    const client = createClient();
    const leaves: TreeLeaf[] = [];
    let range: ProvenLeaves;
    do {
      range = await client.getLeaves({tree, from: leaves.length, count, block: BLOCK});
      assert.deepEqual([range.block.number, range.block.stateRoot], [BLOCK, await readRoot()]);
      leaves.push(...range.leaves);
    } while (range.end < range.nextFreeNode);
    assert.equal(leaves.length, range.nextFreeNode);
    for (const leaf of leaves) {
      if (leaf.role === "account") assert.ok(leaf.address !== undefined);
      if (leaf.role === "slot") assert.ok(leaf.slot !== undefined);
    }
    return leaves;
  }

  /** Follows the list from the head to the tail. @returns the leaves that have a key, by ascending hKey */
  function followList(leaves: readonly TreeLeaf[]): KeyedLeaf[] {
    const met: KeyedLeaf[] = [];
    let leaf = leaves[0] as TreeLeaf;
    while (leaf.role !== "removed" && leaf.leafIndex !== 1) {
      const next: TreeLeaf = leaves[leaf.next] as TreeLeaf;
      assert.ok(next.role !== "removed" && next.prev === leaf.leafIndex);
      assert.ok(compareBytes(leaf.hKey, next.hKey) < 0);
      if (next.role !== "end") met.push(next);
      leaf = next;
    }
    assert.equal(leaves.filter(({role}) => role === "account" || role === "slot").length, met.length);
    return met;
  }

  test("the account tree is whole, and its accounts are those of single proofs", async () => {
    const leaves = await pull("accounts", 37);
    assert.deepEqual(await pull("accounts", 4096), leaves);
    assert.ok(leaves.some(({role}) => role === "removed"));
    const list = followList(leaves);
    const byKey = new Map(list.map(leaf => [encodeHex(leaf.hKey), leaf]));
    for (const {address} of [
      demo.account,
      demo.token,
      demo.ledger,
      demo.recreated,
      demo.deleted,
      demo.absent,
    ]) {
      const {account} = await createClient().getProof({address, block: BLOCK});
      const leaf = byKey.get(encodeHex(sha256Suite.hashAddress(decodeHex(address))));
      assert.deepEqual(
        leaf && {leafIndex: leaf.leafIndex, ...(leaf as AccountLeaf).account},
        account,
        address,
      );
    }
  });

  test("a storage tree is whole, and its slots are those of single proofs", async () => {
    const leaves = await pull(LEDGER, 300);
    const list = followList(leaves);
    assert.ok(list.length > 500);
    const keys = Array.from({length: demo.ledger.slots}, (_, slot) => `0x${slot.toString(16)}`);
    const {account, slots} = await createClient().getProof({
      address: LEDGER,
      storageKeys: keys,
      block: BLOCK,
    });
    const proven = keys.flatMap((key, i) =>
      slots[i] === undefined ? [] : [[encodeHex(sha256Suite.hash(word(BigInt(key)))), slots[i]] as const],
    );
    assert.deepEqual(
      list.map(leaf => [encodeHex(leaf.hKey), (leaf as SlotLeaf).value]),
      proven.sort(([a], [b]) => (a < b ? -1 : 1)),
    );
    const range = await createClient().getLeaves({tree: LEDGER, count: 1, block: BLOCK});
    assert.deepEqual(range.account, account);
  });

  test("JSON, bytes and viem give the same answer, at a tag too; without a verifier it is the server's", async () => {
    const params = ["accounts", "0x5", "0x9", `0x${BLOCK.toString(16)}`];
    const {result} = await service().call("chain_getLeaves", params);
    const call = {jsonrpc: "2.0", id: 1, method: "chain_getLeaves", params};
    const {type, body} = await service().postAccepting("application/octet-stream", call);
    assert.equal(type, "application/octet-stream");
    assert.equal(encodeHex(body), result);
    const parameters = {tree: "accounts", from: 5, count: 9, block: BLOCK};
    const direct = await createClient().getLeaves(parameters);
    assert.deepEqual(encodeHex(direct.proof), result);
    const rootBytes = Uint8Array.from(Buffer.from((await readRoot()).slice(2), "hex"));
    const {proof, ...verified} = direct;
    assert.deepEqual(verifyLeaves(sha256Suite, rootBytes, parameters, proof), verified);
    const viem = {
      request: async ({method, params: asked}: {method: string; params: readonly unknown[]}) =>
        (await service().call(method, [...asked])).result,
    };
    const proofs = createProofClient({...viem, suite: sha256Suite, trustedRoot: readRoot});
    assert.deepEqual(await proofs.getLeaves(parameters), direct);
    const own = createProofClient({url: service().url, verify: false});
    assert.deepEqual(await own.getLeaves(parameters), {block: BLOCK, proof});
    assert.equal((await own.getLeaves({tree: "accounts", count: 1})).block, BigInt(demo.lastBlock));
  });

  test("code comes by its keccak hash, and a hash that no code has gives none", async () => {
    const client = createClient();
    const hashes: string[] = [];
    for (const address of [demo.token.address, LEDGER]) {
      const {account} = await client.getProof({address, block: BLOCK});
      hashes.push(account?.keccakCodeHash as string);
      hashes.push(`0x${"ab".repeat(32)}`);
    }
    // More than one call has.
    const many = Array.from({length: 300}, (_, i) => hashes[i % 4] as string);
    const codes = await client.getCodes({hashes: many});
    assert.equal(codes.length, 300);
    for (const [i, code] of codes.entries()) {
      if (i % 2 === 1) assert.equal(code, undefined);
      else assert.equal(encodeHex(keccak_256(code as Uint8Array)), hashes[i % 4]);
    }
    const forging = createProofClient({
      url: service().url,
      verify: false,
      fetch: async (url, init) => {
        const body = String(init?.body).replace(hashes[0]?.slice(2) as string, hashes[2]?.slice(2) as string);
        return fetch(url, {...init, body});
      },
    });
    await assert.rejects(
      forging.getCodes({hashes: [hashes[0] as string]}),
      /code: expected the keccak hash 0x/,
    );
  });

  test("an absent account and one without storage have no leaves", async () => {
    for (const [tree, isPresent] of [
      [demo.absent.address, false],
      [demo.account.address, true],
    ] as const) {
      const {account, leaves, end, nextFreeNode} = await createClient().getLeaves({
        tree,
        from: 7,
        block: BLOCK,
      });
      assert.deepEqual([leaves, end, nextFreeNode], [[], 2, 2]);
      assert.equal(account !== undefined, isPresent);
    }
  });

  test("a range beyond the end names the next free index; another root and another block are refused", async () => {
    const client = createClient();
    const {nextFreeNode} = await client.getLeaves({tree: "accounts", count: 1, block: BLOCK});
    await assert.rejects(
      client.getLeaves({tree: "accounts", from: nextFreeNode, block: BLOCK}),
      (error: RpcError) => {
        assert.ok(error instanceof RpcError && error.code === -32602);
        const index = `0x${nextFreeNode.toString(16)}`;
        assert.equal(
          error.message,
          `params[1] (fromIndex): expected an index below ${index}, the tree's next free one, got ${index}`,
        );
        return true;
      },
    );
    await assert.rejects(client.getLeaves({tree: "accounts", block: BLOCK + 1n}), ProofError);
    await assert.rejects(client.getLeaves({tree: "accounts", from: 2 ** 40}), TypeError);
    const {block} = await client.getLeaves({tree: "accounts", block: BLOCK});
    assert.equal(block.number, BLOCK);
  });
}
