/** The client against a proofd: every method, over real sockets, with proofs verified against the chain's own roots. */
import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import {
  type BlockName,
  createProofClient,
  encodeHex,
  type ProofClient,
  ProofError,
  RpcError,
  sha256Suite,
  verifyMultiProof,
} from "../../../client/client.ts";
import {TrustedRoots} from "../../../client/methods/trustedRoot.ts";
import {ABSENT_ACCOUNT, ACCOUNTS, hashOfBlock, WorkFolder} from "../../support/chains/serviceChain.ts";
import {CHAIN_ID, createLines} from "../../support/chains/serviceLines.ts";
import {ForwardingProxy} from "../../support/http/forwardingProxy.ts";
import {OwnService} from "../../support/http/ownService.ts";
import type {UpstreamRequest} from "../../support/http/upstream.ts";

const LATEST = 8;
const FINALIZED = 4;
const ACCOUNT = ACCOUNTS[0] as string;
const OTHER = ACCOUNTS[7] as string;
const KEYS = ["0x1", "0x02", "0x9"];

const folder = new WorkFolder();
let daemon: OwnService;
/** State roots by block number, as the import wrote them. */
const roots: string[] = [];

before(async () => {
  const db = await folder.importChain("db", LATEST, FINALIZED);
  daemon = await OwnService.serve(["--db", db, "--hardfork", "osaka", "--workers", "1"], {estimates: true});
  for (let block = 0; block <= LATEST; block++) {
    const {result} = await daemon.call("chain_getStateRoot", [`0x${block.toString(16)}`]);
    roots.push(result.stateRoot);
  }
});

after(() => daemon.stop());

function rootOf(block: bigint): string {
  return roots[Number(block)] as string;
}

function createClient(url = daemon.url) {
  return createProofClient({url, suite: sha256Suite, trustedRoot: rootOf});
}

test("getProof gives the values of an account and its slots, proved against the trusted root of the block", async () => {
  const client = createClient();
  const names: readonly BlockName[] = [FINALIZED, BigInt(FINALIZED), "finalized", "latest"];
  for (const block of names) {
    const answer = await client.getProof({
      address: ACCOUNT.toUpperCase().replace("X", "x"),
      storageKeys: KEYS,
      block,
    });
    assert.equal(answer.block, BigInt(FINALIZED));
    assert.equal(answer.stateRoot, roots[FINALIZED]);
    assert.equal(answer.account?.balance, 1000n);
    assert.deepEqual(answer.slots, [1n, 0x22n, undefined]);
    assert.equal(answer.proof.storageProofs.length, 3);
  }
  const absent = await client.getProof({address: ABSENT_ACCOUNT, block: 2});
  assert.deepEqual([absent.account, absent.slots, absent.stateRoot], [undefined, [], roots[2]]);
});

test("the trusted root may be one value, as bytes or text, and an answer for another root is a ProofError", async () => {
  const text = roots[3] as string;
  const bytes = Uint8Array.from(Buffer.from(text.slice(2), "hex"));
  for (const trustedRoot of [text, text.toUpperCase().replace("X", "x"), bytes]) {
    const client = createProofClient({url: daemon.url, suite: sha256Suite, trustedRoot});
    assert.equal((await client.getProof({address: ACCOUNT, block: 3})).block, 3n);
    const refused = {name: "ProofError", code: "PROOF_REFUSED"};
    await assert.rejects(client.getProof({address: ACCOUNT, block: 2}), refused);
    const entries = [{address: ACCOUNT, storageKeys: KEYS}];
    await assert.rejects(client.getMultiProof({entries, block: 2}), refused);
    await assert.rejects(client.waitForProof({address: ACCOUNT, block: 2}), refused);
  }
  for (const trustedRoot of ["0x12", new Uint8Array(31), "no root"])
    assert.throws(() => createProofClient({url: daemon.url, suite: sha256Suite, trustedRoot}), TypeError);
});

test("getMultiProof gives what each entry proves, and bytes that verify alone", async () => {
  const entries = [
    {address: OTHER, storageKeys: KEYS},
    {address: ABSENT_ACCOUNT, storageKeys: ["0x1"]},
    {address: ACCOUNT, storageKeys: []},
  ];
  for (const block of [FINALIZED, "finalized", "pending"] as const) {
    const answer = await createClient().getMultiProof({entries, block});
    assert.equal(answer.block, BigInt(FINALIZED));
    assert.deepEqual(
      answer.entries.map(({account, slots}) => [account !== undefined, slots]),
      [
        [true, [5n, 0x22n, undefined]],
        [false, [undefined]],
        [true, []],
      ],
    );
    const root = Uint8Array.from(Buffer.from(answer.stateRoot.slice(2), "hex"));
    assert.deepEqual(verifyMultiProof(sha256Suite, root, entries, answer.proof), answer.entries);
  }
});

test("a trusted root that several answers wait for is asked for once", async () => {
  const asked: bigint[] = [];
  const roots = new TrustedRoots({
    suite: sha256Suite,
    trustedRoot: async block => {
      asked.push(block);
      return rootOf(block);
    },
  });
  const found = await Promise.all([2n, 3n, 2n, 3n].map(block => roots.of(block, undefined)));
  assert.deepEqual(asked, [2n, 3n]);
  assert.deepEqual(found.map(encodeHex), [2n, 3n, 2n, 3n].map(rootOf));
});

test("with verify: false answers come as the server sent them", async () => {
  const client = createProofClient({url: daemon.url, verify: false});
  const {block, proof} = await client.getProof({address: ACCOUNT, storageKeys: KEYS});
  assert.equal(block, BigInt(FINALIZED));
  assert.equal(proof.accountProof.key, ACCOUNT);
  const entries = [{address: ACCOUNT, storageKeys: KEYS}];
  assert.ok((await client.getMultiProof({entries})).proof instanceof Uint8Array);
});

test("getStateRoot, getCoverage and getFinalizations give numbers as bigints", async () => {
  const client = createClient();
  const [latest, byHash, coverage, finalizations] = await Promise.all([
    client.getStateRoot(),
    client.getStateRoot({block: {blockHash: hashOfBlock(2)}}),
    client.getCoverage(),
    client.getFinalizations(),
  ]);
  assert.deepEqual(latest, {
    number: BigInt(LATEST),
    hash: hashOfBlock(LATEST),
    stateRoot: roots[LATEST],
    finalized: false,
    l1: undefined,
  });
  assert.equal(byHash.number, 2n);
  assert.deepEqual(coverage, {
    earliest: 0n,
    finalized: BigInt(FINALIZED),
    latest: BigInt(LATEST),
    suite: "sha256",
    ranges: [[0n, BigInt(FINALIZED)]],
    rangeCount: 1n,
    unverified: [0n, 8n],
    openResets: undefined,
  });
  assert.deepEqual(finalizations, []);
});

test("getHeader gives the fields that the server knows, and the hashes of the blocks before", async () => {
  const {block, header, ancestors, chainId, config} = await createClient().getHeader({block: 3});
  assert.deepEqual(
    [block.number, block.hash, block.stateRoot, block.finalized],
    [3n, hashOfBlock(3), roots[3], true],
  );
  assert.deepEqual(ancestors, [2, 1, 0].map(hashOfBlock));
  const [line] = createLines(3, 3);
  assert.deepEqual(
    Object.entries(header).filter(([, value]) => value !== undefined),
    Object.entries({
      parentHash: hashOfBlock(2),
      timestamp: BigInt(line?.timestamp as string),
    }),
  );
  assert.deepEqual([chainId, config], [BigInt(CHAIN_ID), undefined]);
});

test("estimateGas takes amounts as bigints, and an error has the revert bytes", async () => {
  const client = createClient();
  const call = {from: ACCOUNT, to: OTHER, value: 5n};
  const {gasLimit, baseFeePerGas, priorityFeePerGas} = await client.estimateGas({call});
  assert.equal(gasLimit, 21_000n);
  assert.equal(baseFeePerGas, 7n);
  assert.ok(priorityFeePerGas > 0n);
  // Reverts with the word 0x2a.
  const code = "0x602a60005260206000fd";
  const reverting = client.estimateGas({call, block: FINALIZED, overrides: {[OTHER]: {code, balance: 1n}}});
  await assert.rejects(
    reverting,
    error => error instanceof RpcError && error.code === 3 && error.data === `0x${"2a".padStart(64, "0")}`,
  );
});

test("errors keep the server's code and data", async () => {
  const client = createClient();
  const unfinalized = client.getProof({address: ACCOUNT, block: FINALIZED + 1});
  await assert.rejects(unfinalized, error => {
    assert.ok(error instanceof RpcError);
    assert.deepEqual([error.code, error.data, error.status], [-32002, {finalized: "0x4"}, 200]);
    return true;
  });
  await assert.rejects(client.getProof({address: ACCOUNT, block: 99}), {name: "RpcError", code: -32001});
  await assert.rejects(client.getProof({address: "0x12"}), {code: -32602});
  await assert.rejects(client.getProof({address: ACCOUNT, block: 1.5}), TypeError);
  await assert.rejects(client.waitForProof({address: ACCOUNT, timeoutMs: Number.NaN}), TypeError);
});

test("waitForProof gives the proof of the newest block as soon as it is finalized", async t => {
  const service = await OwnService.start({db: await folder.importChain("own", LATEST, FINALIZED)});
  t.after(() => service.stop());
  const client = createClient(service.url);
  const waiting = client.waitForProof({address: ACCOUNT, storageKeys: KEYS, intervalMs: 1});
  const looks = 'proofd_calls_total{method="chain_getCoverage",code="0"}';
  await service.until("a look", async () => (await service.readMetric(looks)) > 0);
  await service.engine.writes.finalize(LATEST);
  const {block, stateRoot, slots} = await waiting;
  assert.deepEqual([block, stateRoot, slots.length], [BigInt(LATEST), roots[LATEST], 3]);
});

test("waitForProof ends with -32002 when its time is over, and at once when it is aborted", async () => {
  const wait = {address: ACCOUNT, block: LATEST};
  await assert.rejects(createClient().waitForProof({...wait, timeoutMs: 1}), {code: -32002});
  const abort = new AbortController();
  const waiting = createClient().waitForProof({...wait, signal: abort.signal});
  setImmediate(() => abort.abort(new Error("the test has seen enough")));
  await assert.rejects(waiting, /the test has seen enough/);
});

test("a trusted root that cannot be found is the error of its source, and no proof is given", async () => {
  const client = createProofClient({
    url: daemon.url,
    suite: sha256Suite,
    trustedRoot: async block => {
      if (block === 2n) throw new RpcError("ROOT_UNKNOWN", "no root of block 2");
      return block === 3n ? encodeHex(new Uint8Array(3)) : rootOf(block);
    },
  });
  await assert.rejects(client.getProof({address: ACCOUNT, block: 2}), {code: "ROOT_UNKNOWN"});
  await assert.rejects(client.getProof({address: ACCOUNT, block: 3}), TypeError);
  assert.equal((await client.getProof({address: ACCOUNT, block: 4})).block, 4n);
});

test("a client with the request function of another library verifies what that is answered", async () => {
  const calls: string[] = [];
  const request = async ({method, params}: {method: string; params: readonly unknown[]}) => {
    calls.push(method);
    const {result, error} = await daemon.call(method, params);
    if (error !== undefined) throw Object.assign(new Error(error.message), error);
    return result;
  };
  const client = createProofClient({request, suite: sha256Suite, trustedRoot: rootOf});
  const {block, slots} = await client.getProof({address: ACCOUNT, storageKeys: KEYS});
  assert.deepEqual([block, slots], [BigInt(FINALIZED), [1n, 0x22n, undefined]]);
  // JSON from the library, and bytes for the caller.
  const entries = [{address: ACCOUNT, storageKeys: KEYS}];
  const multi = await client.getMultiProof({entries});
  assert.deepEqual(multi.entries[0]?.slots, slots);
  const direct = await createClient().getMultiProof({entries});
  assert.deepEqual(multi.proof, direct.proof);
  assert.equal((await client.estimateGas({call: {from: ACCOUNT, to: OTHER, value: 5n}})).gasLimit, 21_000n);
  await assert.rejects(client.waitForProof({address: ACCOUNT, block: LATEST, timeoutMs: 1}), {code: -32002});
  await assert.rejects(client.getCoverage({signal: AbortSignal.abort()}), {name: "AbortError"});
  const wrong = createProofClient({request, suite: sha256Suite, trustedRoot: roots[0] as string});
  await assert.rejects(wrong.getProof({address: ACCOUNT, block: 4}), ProofError);
  const unverified = createProofClient({request, verify: false});
  assert.equal((await unverified.getProof({address: ACCOUNT})).block, BigInt(FINALIZED));
  const silent = createProofClient({request: () => new Promise(() => {}), verify: false, timeoutMs: 1});
  await assert.rejects(silent.getCoverage(), {code: "TIMEOUT"});
  assert.ok(!calls.includes("chain_getProof") && calls.includes("chain_getProofAt"));
});

/** Each method that takes `atLeast`, and the block of its answer. */
const METHODS: Readonly<
  Record<string, (client: ProofClient, choice: {block: BlockName; atLeast?: bigint}) => Promise<bigint>>
> = {
  getProof: async (client, choice) => (await client.getProof({address: ACCOUNT, ...choice})).block,
  waitForProof: async (client, choice) => (await client.waitForProof({address: ACCOUNT, ...choice})).block,
  getMultiProof: async (client, choice) =>
    (await client.getMultiProof({entries: [{address: ACCOUNT, storageKeys: []}], ...choice})).block,
  getLeaves: async (client, choice) =>
    (await client.getLeaves({tree: "accounts", count: 3, ...choice})).block.number,
  getChanges: async (client, {block, ...rest}) =>
    (await client.getChanges({tree: "accounts", fromBlock: 1, toBlock: block, ...rest})).toBlock.number,
  getStateRoot: async (client, choice) => (await client.getStateRoot(choice)).number,
  getHeader: async (client, choice) => (await client.getHeader(choice)).block.number,
};
const [LOW, HIGH] = [2n, BigInt(FINALIZED)];

/** Before two servers that are asked in turns, of which the first one is behind: its newest block is LOW, that of the other one HIGH. */
async function createBalancer(): Promise<ForwardingProxy & {firstCalls: number; count: number}> {
  const balancer = Object.assign(await ForwardingProxy.to(daemon.url), {firstCalls: 0, count: 0});
  balancer.change = async ({head, call}: UpstreamRequest) => {
    const newest = balancer.count++ < balancer.firstCalls ? LOW : HIGH;
    const isTag = (param: unknown) => param === "latest" || param === "finalized";
    const params = call.params.map(param => (isTag(param) ? `0x${newest.toString(16)}` : param));
    const {type, body} = await daemon.postAccepting(String(head.headers.accept), {...call, params});
    return {status: 200, type: String(type), body: Buffer.from(body)};
  };
  return balancer;
}

test("behind a balancer, each method asks again until the block of a tag is at least the one that was seen", async t => {
  const balancer = await createBalancer();
  t.after(() => balancer.stop());
  const client = createClient(balancer.url.href);
  for (const [name, ask] of Object.entries(METHODS))
    for (const block of ["latest", "finalized"] as const) {
      for (balancer.firstCalls = 0; balancer.firstCalls <= 2; balancer.firstCalls++) {
        balancer.count = 0;
        assert.equal(await ask(client, {block, atLeast: HIGH}), HIGH, name);
      }
      [balancer.firstCalls, balancer.count] = [1, 0];
      assert.equal(await ask(client, {block, atLeast: LOW}), LOW, name);
      assert.equal(await ask(client, {block, atLeast: LOW}), HIGH, name);
    }
  balancer.firstCalls = Number.POSITIVE_INFINITY;
  const methods = Object.values(METHODS);
  // On a busy machine, a time may be over before an answer has come, or before it is asked for again.
  for (let timeoutMs = 500, isStarved = true; isStarved; timeoutMs *= 2) {
    balancer.count = 0;
    const impatient = createProofClient({
      ...{url: balancer.url.href, suite: sha256Suite, trustedRoot: rootOf},
      timeoutMs,
    });
    const failing = methods.map(ask =>
      ask(impatient, {block: "latest", atLeast: LOW + 1n}).then(
        block => assert.fail(`block ${block}`),
        error => {
          assert.ok(error instanceof RpcError);
          return error;
        },
      ),
    );
    const errors = await Promise.all(failing);
    isStarved = errors.some(({code}) => code === "TIMEOUT") || balancer.count < 2 * methods.length;
    assert.ok(!isStarved || timeoutMs < 100_000, `${balancer.count} calls, ${errors.join("; ")}`);
    if (isStarved) continue;
    for (const {code, message} of errors) {
      assert.equal(code, "BLOCK_TOO_OLD");
      assert.match(message, /^expected block 3 or a newer one for "(latest|finalized)", got block 2/);
    }
  }
});

test("atLeast is taken beside a tag only, as a bigint", async () => {
  for (const [name, ask] of Object.entries(METHODS))
    for (const [block, atLeast, message] of [
      [5, 5n, /got the block 5$/],
      ["earliest", 1n, /expected it only with "latest".*got the block "earliest"/],
      ["latest", 5, /expected a bigint from 0n, got 5/],
      ["latest", -1n, /expected a bigint from 0n, got -1/],
    ] as const)
      await assert.rejects(
        ask(createClient("http://127.0.0.1:0"), {block, atLeast: atLeast as bigint}),
        error => error instanceof TypeError && message.test(error.message),
        name,
      );
});
