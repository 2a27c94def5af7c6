/** The client before two services of which one is behind, asked in turns as a balancer does: with `atLeast` no reader goes back. */
import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import {
  type BlockName,
  createProofClient,
  type ProofClient,
  RpcError,
  sha256Suite,
} from "../../../client/client.ts";
import {ACCOUNTS, WorkFolder} from "../../support/chains/serviceChain.ts";
import {type ForwardedAnswer, ForwardingProxy} from "../../support/http/forwardingProxy.ts";
import {OwnService} from "../../support/http/ownService.ts";
import type {UpstreamRequest} from "../../support/http/upstream.ts";

const HIGH = 6n;
const LOW = 4n;
const ADDRESS = ACCOUNTS[0] as string;

let folder: WorkFolder;
let services: OwnService[];
let balancer: ForwardingProxy;
const roots: string[] = [];
/** Requests that the service behind gets before the other one gets one. */
let oldFirst = 0;
let count = 0;

before(async () => {
  folder = await WorkFolder.create();
  services = [];
  for (const [name, last] of [
    ["low", LOW],
    ["high", HIGH],
  ] as const) {
    const db = await folder.importChain(name, Number(last), Number(last));
    services.push(await OwnService.serve(["--db", db, "--workers", "1"]));
  }
  const [low, high] = services as [OwnService, OwnService];
  for (let block = 0; block <= Number(HIGH); block++)
    roots.push((await high.call("chain_getStateRoot", [`0x${block}`])).result.stateRoot);
  balancer = await ForwardingProxy.to(low.url);
  balancer.change = (request, forward) => (count++ < oldFirst ? forward() : askHigh(request, high.url));
  after(async () => {
    await balancer.stop();
    for (const service of services) await service.stop();
    await folder.remove();
  });
});

async function askHigh({head, body}: UpstreamRequest, url: string): Promise<ForwardedAnswer> {
  const headers = {"content-type": "application/json", accept: String(head.headers.accept)};
  const answer = await fetch(url, {method: "POST", headers, body});
  const bytes = Buffer.from(await answer.arrayBuffer());
  return {status: answer.status, type: String(answer.headers.get("content-type")), body: bytes};
}

function createClient(timeoutMs?: number): ProofClient {
  return createProofClient({
    url: balancer.url.href,
    suite: sha256Suite,
    trustedRoot: block => roots[Number(block)] as string,
    timeoutMs,
  });
}

/** Each method that takes `atLeast`, and the block of its answer. */
const METHODS: Readonly<
  Record<string, (client: ProofClient, choice: {block: BlockName; atLeast?: bigint}) => Promise<bigint>>
> = {
  getProof: async (client, choice) => (await client.getProof({address: ADDRESS, ...choice})).block,
  waitForProof: async (client, choice) => (await client.waitForProof({address: ADDRESS, ...choice})).block,
  getMultiProof: async (client, choice) =>
    (await client.getMultiProof({entries: [{address: ADDRESS, storageKeys: []}], ...choice})).block,
  getLeaves: async (client, choice) =>
    (await client.getLeaves({tree: "accounts", count: 3, ...choice})).block.number,
  getChanges: async (client, {block, ...rest}) =>
    (await client.getChanges({tree: "accounts", fromBlock: 1, toBlock: block, ...rest})).toBlock.number,
  getStateRoot: async (client, choice) => (await client.getStateRoot(choice)).number,
  getHeader: async (client, choice) => (await client.getHeader(choice)).block.number,
};

for (const [name, ask] of Object.entries(METHODS)) {
  test(`${name} asks again until the block of a tag is at least the one that was seen`, async () => {
    for (const block of ["latest", "finalized"] as const) {
      for (oldFirst = 0; oldFirst <= 2; oldFirst++) {
        count = 0;
        assert.equal(await ask(createClient(), {block, atLeast: HIGH}), HIGH);
      }
      [oldFirst, count] = [1, 0];
      assert.equal(await ask(createClient(), {block, atLeast: LOW}), LOW);
      assert.equal(await ask(createClient(), {block, atLeast: LOW}), HIGH);
    }
  });

  test(`${name} takes atLeast beside a tag only, as a bigint`, async () => {
    count = 0;
    for (const [block, atLeast, message] of [
      [5, 5n, /got the block 5$/],
      ["earliest", 1n, /expected it beside "latest".*got the block "earliest"/],
      ["latest", 5, /expected a bigint from 0n, got 5/],
      ["latest", -1n, /expected a bigint from 0n, got -1/],
    ] as const)
      await assert.rejects(
        ask(createClient(), {block, atLeast: atLeast as bigint}),
        error => error instanceof TypeError && message.test(error.message),
      );
    assert.equal(count, 0);
  });
}

test("each of them fails by name if the block is too old for as long as a call may take", async () => {
  [oldFirst, count] = [Number.POSITIVE_INFINITY, 0];
  const client = createClient(2000);
  const failing = Object.values(METHODS).map(ask =>
    assert.rejects(ask(client, {block: "latest", atLeast: LOW + 1n}), error => {
      assert.ok(error instanceof RpcError);
      assert.equal(error.code, "BLOCK_TOO_OLD");
      assert.match(error.message, /^expected block 5 or a newer one for "(latest|finalized)", got block 4/);
      return true;
    }),
  );
  await Promise.all(failing);
  assert.ok(count >= 2 * failing.length, String(count));
});
