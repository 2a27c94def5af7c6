/** Tests of getLeaves, getChanges and getCodes of the demo chain, for a service that another test has started. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {keccak_256} from "@noble/hashes/sha3.js";
import {
  createProofClient,
  decodeHex,
  encodeHex,
  ProofError,
  RpcError,
  sha256Suite,
  verifyChanges,
  verifyLeaves,
} from "../../../client/client.ts";
import demo from "../../../demo/addresses.json" with {type: "json"};
import type {OwnService} from "./ownService.ts";

/** Between them accounts come, go and come again, and slots are cleared. */
const FROM = 33n;
const TO = 70n;

/** Defines the tests. @param service - which has been started when they run */
export function testDemoTrees(service: () => OwnService): void {
  const rootAt = async (block: bigint): Promise<string> =>
    (await service().call("chain_getStateRoot", [`0x${block.toString(16)}`])).result.stateRoot;
  const createClient = (trustedRoot: (block: bigint) => Promise<string> = rootAt) =>
    createProofClient({url: service().url, suite: sha256Suite, trustedRoot});
  const createTrusting = () => createProofClient({url: service().url, verify: false});

  /** @returns the answer, if JSON, bytes and the request function of another library give the same one */
  async function askInAllWays<Answer extends {readonly proof: Uint8Array}>(
    method: string,
    params: readonly unknown[],
    ask: (client: ReturnType<typeof createClient>) => Promise<Answer>,
  ): Promise<Answer> {
    const {result} = await service().call(method, params);
    const call = {jsonrpc: "2.0", id: 1, method, params};
    const {type, body} = await service().postAccepting("application/octet-stream", call);
    assert.equal(type, "application/octet-stream");
    assert.equal(encodeHex(body), result);
    const direct = await ask(createClient());
    assert.equal(encodeHex(direct.proof), result);
    const viem = {
      request: async ({method: name, params: asked}: {method: string; params: readonly unknown[]}) =>
        (await service().call(name, [...asked])).result,
    };
    assert.deepEqual(
      await ask(createProofClient({...viem, suite: sha256Suite, trustedRoot: rootAt})),
      direct,
    );
    return direct;
  }

  test("changes are the same in every way, at a tag too; without a verifier they are the server's", async () => {
    const parameters = {tree: "all", fromBlock: FROM, toBlock: TO, cursor: 5n << 40n, count: 9};
    const params = ["all", "0x21", "0x46", `0x${parameters.cursor.toString(16)}`, "0x9"];
    const {proof, ...verified} = await askInAllWays("chain_getChanges", params, client =>
      client.getChanges(parameters),
    );
    const roots = {from: decodeHex(await rootAt(FROM)), to: decodeHex(await rootAt(TO))};
    assert.deepEqual(verifyChanges(sha256Suite, roots, parameters, proof), verified);
    const own = createTrusting();
    assert.deepEqual(await own.getChanges(parameters), {fromBlock: FROM, toBlock: TO, proof});
    const newest = await own.getChanges({tree: "accounts", fromBlock: TO});
    assert.equal(newest.toBlock, BigInt(demo.lastBlock));
  });

  test("leaves are the same in every way, at a tag too; without a verifier they are the server's", async () => {
    const params = ["accounts", "0x5", "0x9", `0x${TO.toString(16)}`];
    const parameters = {tree: "accounts", from: 5, count: 9, block: TO};
    const {proof, ...verified} = await askInAllWays("chain_getLeaves", params, client =>
      client.getLeaves(parameters),
    );
    assert.deepEqual(verifyLeaves(sha256Suite, decodeHex(await rootAt(TO)), parameters, proof), verified);
    const own = createTrusting();
    assert.deepEqual(await own.getLeaves(parameters), {block: TO, proof});
    assert.equal((await own.getLeaves({tree: "accounts", count: 1})).block, BigInt(demo.lastBlock));
  });

  test("other roots and cursors that are none are refused", async () => {
    const asked = {tree: "all", fromBlock: FROM, toBlock: TO};
    const swapped = createClient(block => rootAt(block === FROM ? TO : FROM));
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

  test("code comes by its keccak hash, and a hash that no code has gives none", async () => {
    const client = createClient();
    const hashes: string[] = [];
    for (const address of [demo.token.address, demo.ledger.address]) {
      const {account} = await client.getProof({address, block: TO});
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

  test("a range beyond the end names the next free index; another root and another block are refused", async () => {
    const client = createClient(() => rootAt(TO));
    const {nextFreeNode} = await client.getLeaves({tree: "accounts", count: 1, block: TO});
    await assert.rejects(
      client.getLeaves({tree: "accounts", from: nextFreeNode, block: TO}),
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
    await assert.rejects(client.getLeaves({tree: "accounts", block: TO + 1n}), ProofError);
    await assert.rejects(client.getLeaves({tree: "accounts", from: 2 ** 40}), TypeError);
    const {block} = await client.getLeaves({tree: "accounts", block: TO});
    assert.equal(block.number, TO);
  });
}
