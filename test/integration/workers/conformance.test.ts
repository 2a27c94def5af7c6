/** Calls, estimates, reads and proofs on the public conformance chain, as the standard nodes make them there, from a store of tries alone. */
import assert from "node:assert/strict";
import {createHash} from "node:crypto";
import {existsSync} from "node:fs";
import {writeFile} from "node:fs/promises";
import {join} from "node:path";
import {after, before, test} from "node:test";
import {decodeHex, encodeHex, quantity} from "../../../client/bytes/hex.ts";
import {createProofClient} from "../../../client/methods/proofClient.ts";
import {keccakSuite} from "../../../client/methods/trustedRoot.ts";
import {verifyHeader} from "../../../client/trie/blockHeader.ts";
import {verifyEthMultiProof} from "../../../client/trie/ethMultiProof.ts";
import {verifyEthProof} from "../../../client/trie/ethProof.ts";
import {decodeBlockHead} from "../../../evm/execution/blockHead.ts";
import {checkHeader} from "../../../nodes/blocks/nodeHeader.ts";
import {
  CONFORMANCE,
  CONFORMANCE_BLOCKS,
  digestAnswer,
  digestHeader,
  GETH_PROOFS,
  listProofParams,
  makeProofBatch,
} from "../../support/chains/conformanceChain.ts";
import {readChainFiles} from "../../support/chains/executedChain.ts";
import {WorkFolder} from "../../support/chains/serviceChain.ts";
import {runLoad} from "../../support/http/loadRun.ts";
import {OwnService} from "../../support/http/ownService.ts";
import {runProofd} from "../../support/processes/daemon.ts";
import {notRun} from "../../support/processes/notRun.ts";
import {type EthAnswer, gatherNodes, joinNodes, withBranches} from "../../support/reference/ethState.ts";
import {readFixture} from "../../support/reference/fixtures.ts";
import {sampleOf} from "../../support/soak.ts";

const BLOCKS = Array.from({length: CONFORMANCE_BLOCKS + 1}, (_, block) => block);
const CALLER = "0x0102030000000000000000000000000000000000";
/** Has a storage slot to show and methods of one byte. */
const CALL_ME = "0x17e7eedce4ac02ef114a7ed9fe6e2f33feba1667";
/** Reverts: with Error(string) where the input says so, else with Panic(uint256). */
const CALL_REVERT = "0x0ee3ab1371c93e7c0c281cc0c2107cdebc8b1930";

/** Where the standard nodes' search ends for a call that needs `least` gas whatever it is given, and has no refund. */
function searchLikeStandardNodes(least: number): number {
  let low = least - 1;
  let high = Math.floor(((least + 2300) * 64) / 63);
  while ((high - low) / high >= 0.015) {
    const middle = Math.floor((low + high) / 2);
    if (middle >= least) high = middle;
    else low = middle;
  }
  return high;
}

const folder = new WorkFolder();
let service: OwnService;

before(async () => {
  if (!existsSync(CONFORMANCE)) return;
  const db = folder.file("db");
  const source = [
    ["--genesis", join(CONFORMANCE, "genesis.json")],
    ["--blocks", join(CONFORMANCE, "chain.rlp")],
  ];
  const {code, stderr} = await runProofd([
    "import",
    "--db",
    db,
    "--suite",
    "keccak",
    ...source.flat(),
    "--finalized",
    "last",
  ]);
  assert.equal(code, 0, stderr);
  service = await OwnService.serve(["--db", db, "--workers", "1"], {
    estimates: true,
    limits: {timeoutMs: 3_600_000},
    settings: {timeMs: 600_000},
  });
});

after(() => service?.stop());

test("a transfer, a call and two reverts are the standard nodes'", async t => {
  if (service === undefined) return notRun(t, `${CONFORMANCE} is absent`);
  const estimate = (call: object) => service.call("chain_estimateGas", [call, "latest"]);
  const from = "0xaa00000000000000000000000000000000000000";
  const transfer = await estimate({from, to: "0x0100000000000000000000000000000000000000"});
  assert.equal(transfer.result.gasLimit, "0x5208");
  const gasLimit = Number((await estimate({from: CALLER, to: CALL_ME, data: "0xff01"})).result.gasLimit);
  assert.ok(gasLimit <= 0x5316 && (0x5316 - gasLimit) / 0x5316 < 0.015, `${gasLimit}`);
  assert.equal(searchLikeStandardNodes(gasLimit), 0x5316);
  const word = (digits: string) => digits.padStart(64, "0");
  assert.deepEqual((await estimate({to: CALL_REVERT, data: "0x01"})).error, {
    code: 3,
    message: "execution reverted: user error",
    data: `0x08c379a0${word("20")}${word("a")}${Buffer.from("user error").toString("hex")}`,
  });
  assert.deepEqual((await estimate({to: CALL_REVERT, data: "0x00"})).error, {
    code: 3,
    message: "execution reverted: panic: assert(false) (0x1)",
    data: `0x4e487b71${word("1")}`,
  });
});

test("eth_getProof is geth's to the byte, for every account and slot at every block", async t => {
  if (service === undefined) return notRun(t, `${CONFORMANCE} is absent`);
  for (const block of BLOCKS) {
    const {text} = await service.post(makeProofBatch(block));
    assert.equal(digestAnswer(text), GETH_PROOFS.digests[block], `block ${block}: ${text.slice(0, 300)}`);
  }
});

test("eth_getBlockByNumber and eth_getBlockByHash give geth's header of every block, which has the block's hash", async t => {
  if (service === undefined) return notRun(t, `${CONFORMANCE} is absent`);
  let withoutTransactions = 0;
  for (const block of BLOCKS) {
    const {result} = await service.call("eth_getBlockByNumber", [quantity(BigInt(block)), false]);
    assert.equal(digestHeader(result), GETH_PROOFS.headerDigests[block], JSON.stringify(result));
    checkHeader(result, block);
    assert.deepEqual((await service.call("eth_getBlockByHash", [result.hash, false])).result, result);
    const full = await service.call("eth_getBlockByHash", [result.hash, true]);
    if (result.transactions !== undefined) {
      withoutTransactions++;
      assert.deepEqual(full.result, result);
    } else {
      assert.equal(full.error.code, -32602);
      assert.match(full.error.message, /^params\[1\] \(full\): expected false, .* got true$/);
    }
  }
  assert.ok(withoutTransactions > 0 && withoutTransactions < BLOCKS.length);
});

test("eth_getMultiProof answers in the order of its targets what eth_getProof does, and branches below extensions", async t => {
  if (service === undefined) return notRun(t, `${CONFORMANCE} is absent`);
  const params = listProofParams().map(({address, keys}) => ({
    address,
    keys: keys.map(key => `0x${key.slice(2).padStart(64, "0")}`),
  }));
  // Some come again, in another case, with fewer keys, with none.
  const asked = [
    ...params.toReversed(),
    ...params.slice(0, 40).flatMap(one => [{...one, keys: one.keys.slice(3)}, one]),
  ];
  const shout = (address: string) => address.toUpperCase().replace("X", "x");
  let joined = 0;
  for (const block of sampleOf(BLOCKS, 9)) {
    const singles = JSON.parse((await service.post(makeProofBatch(block, asked))).text);
    for (const part of [asked.slice(0, params.length), asked.slice(params.length)]) {
      const targets = part.map(({address, keys}) => [shout(address), keys]);
      const {result, error} = await service.call("eth_getMultiProof", [targets, quantity(BigInt(block))]);
      assert.equal(error, undefined);
      const expected = singles.splice(0, 2 * part.length).filter((_: unknown, i: number) => i % 2 === 1);
      assert.equal(result.length, expected.length);
      const {stateRoot} = (await service.call("chain_getStateRoot", [quantity(BigInt(block))])).result;
      for (const [i, {result: single}] of expected.entries()) {
        const text = JSON.stringify(result[i]);
        assert.equal(text, JSON.stringify(withBranches(single, result[i])));
        if (text !== JSON.stringify(single)) joined++;
        const {address, keys} = part[i] as (typeof part)[0];
        verifyEthProof(decodeHex(stateRoot), address, keys, result[i]);
      }
    }
  }
  t.diagnostic(`${joined} have a branch below an extension`);
});

test("eth_getProof answers the published requests as published", async t => {
  if (service === undefined) return notRun(t, `${CONFORMANCE} is absent`);
  const {answers} = readFixture<{answers: readonly {params: unknown; sha256: string}[]}>(
    "published/gethProofs",
  );
  for (const {params, sha256} of answers) {
    const {text} = await service.post(
      JSON.stringify({jsonrpc: "2.0", id: 1, method: "eth_getProof", params}),
    );
    const result = text.slice('{"jsonrpc":"2.0","id":1,"result":'.length, -1);
    assert.equal(createHash("sha256").update(result).digest("hex"), sha256, JSON.stringify(params));
  }
  const prove = async (key: string) => (await service.call("eth_getProof", [CALL_ME, [key]])).result;
  assert.deepEqual(await prove("0x"), await prove("0x0"), "a key without digits, as geth reads it");
});

test("calls and reads of the state answer the published requests as published", async t => {
  if (service === undefined) return notRun(t, `${CONFORMANCE} is absent`);
  interface Published {
    readonly test: string;
    readonly method: string;
    readonly params: readonly unknown[];
    readonly result?: string;
    readonly error?: {readonly code: number; readonly data?: string};
  }
  const {calls} = readFixture<{calls: readonly Published[]}>("published/stateReads");
  for (const {test, method, params, result, error} of calls) {
    const answer = await service.call(method, params);
    assert.equal(answer.result, result, `${test}: ${JSON.stringify(answer)}`);
    assert.deepEqual([answer.error?.code, answer.error?.data], [error?.code, error?.data], test);
  }
});

test("the client verifies eth_getProof from the hash of a block on, and under no other root", async t => {
  if (service === undefined) return notRun(t, `${CONFORMANCE} is absent`);
  const {blockHash, header, result} = readFixture<{blockHash: string; header: string; result: EthAnswer}>(
    "published/ethProof",
  );
  const trustedRoot = () => verifyHeader(decodeHex(blockHash), decodeHex(header)).stateRoot;
  const client = createProofClient({url: service.url, suite: keccakSuite, trustedRoot});
  const {address, storageHash} = result;
  for (const block of [undefined, CONFORMANCE_BLOCKS]) {
    const {proof, ...proven} = await client.getProof({address, block});
    assert.deepEqual(proof, result);
    assert.equal(proven.block, BigInt(CONFORMANCE_BLOCKS));
    assert.equal(proven.account?.storageHash, storageHash);
  }
  const absent = `0x${"ab".repeat(20)}`;
  const {account, slots} = await client.getProof({address: absent, storageKeys: ["0x1"]});
  assert.deepEqual([account, slots], [undefined, [undefined]]);
  const old = client.getProof({address, block: CONFORMANCE_BLOCKS - 1});
  await assert.rejects(old, {
    code: "PROOF_REFUSED",
    message: /^accountProof\[0\]: does not hash to the trusted/,
  });
});

test("from the hash of a block on, the client verifies one answer with the header, and a multiproof", async t => {
  if (service === undefined) return notRun(t, `${CONFORMANCE} is absent`);
  const {blockHash: trustedBlockHash, result} = readFixture<{blockHash: string; result: EthAnswer}>(
    "published/ethProof",
  );
  const {address, storageHash} = result;
  const client = createProofClient({url: service.url, suite: keccakSuite, trustedBlockHash});
  for (const block of ["latest", BigInt(CONFORMANCE_BLOCKS)] as const) {
    const {proof, account} = await client.getProof({address, block});
    assert.deepEqual([proof, account?.storageHash], [result, storageHash]);
    const entries = [
      {address: CALL_ME, storageKeys: ["0x0", "0x99"]},
      {address, storageKeys: []},
    ];
    const multi = await client.getMultiProof({entries, block});
    assert.deepEqual(multi.entries[1]?.account, account);
    assert.deepEqual(multi.entries[0]?.slots, (await client.getProof({...entries[0], block} as never)).slots);
  }
  for (const old of [
    () => client.getProof({address, block: CONFORMANCE_BLOCKS - 1}),
    () => client.getMultiProof({entries: [{address, storageKeys: []}], block: CONFORMANCE_BLOCKS - 1}),
  ])
    await assert.rejects(old, {message: "header: does not hash to the trusted block hash"});
  const liar = createProofClient({
    request: async ({method, params}) => {
      const {result} = await service.call(method, params as readonly unknown[]);
      return {...result, block: {...result.block, number: "0x35"}};
    },
    suite: keccakSuite,
    trustedBlockHash,
  });
  await assert.rejects(liar.getProof({address, block: "latest"}), {
    message: "headerRlp: expected the header of block 53, got that of block 54",
  });
  const both = {url: service.url, suite: keccakSuite, trustedBlockHash, trustedRoot: storageHash};
  assert.throws(
    () => createProofClient(both as never),
    /^TypeError: expected one of the options trustedRoot and/,
  );
});

test("what needs sparse trees is not available, and says what to call; proofs for many keys are of the tries", async t => {
  if (service === undefined) return notRun(t, `${CONFORMANCE} is absent`);
  for (const [method, params] of [
    ["chain_getProof", [CALL_ME, [], "latest"]],
    ["chain_getLeaves", ["accounts", "0x0", "0x1", "latest"]],
    ["chain_getChanges", ["all", "0x0", "latest", "0x0", "0x1"]],
  ] as const) {
    const {error} = await service.call(method, params);
    assert.equal(error?.code, -32004, method);
    assert.match(
      error.message,
      /no sparse trees\. Use eth_getProof, chain_getProofAt or chain_getMultiProof$/,
    );
  }
  const entries = [{address: CALL_ME, storageKeys: ["0x0"]}];
  for (const [method, ...params] of [
    ["chain_getProofAt", CALL_ME, ["0x0"], "latest"],
    ["chain_getMultiProof", entries, "latest"],
  ] as const) {
    const {result, error} = await service.call(method, [...params, "keccak"]);
    assert.equal(error, undefined);
    assert.deepEqual((await service.call(method, params)).result, result);
    const other = (await service.call(method, [...params, "sha256"])).error;
    assert.match(other.message, /^params\[\d\] \(suite\): expected "keccak", got "sha256"$/);
  }
});

test("proofd load --style eth verifies what it samples against the header", async t => {
  if (service === undefined) return notRun(t, `${CONFORMANCE} is absent`);
  const keys = folder.file("keys.txt");
  const lines = Object.entries(GETH_PROOFS.accounts).map(
    ([address, slots]) => `${address} ${slots.join(" ")}\n`,
  );
  await writeFile(keys, lines.join(""));
  const asked = ["--style", "eth", "--keys", keys, "--slots", "2", "--absent", "0.2", "--batch", "5"];
  const report = await runLoad(service.url, [...asked, "--blocks", "oldest..latest", "--rate", "80"]);
  assert.deepEqual(report.failures, []);
  const {checked, wrong, accounts, slots} = report.verification;
  assert.deepEqual([checked, wrong], [100, 0]);
  assert.ok(accounts.present > 0 && accounts.absent > 0 && slots.present > 0 && slots.absent > 0);
  assert.equal(report.server.newest, CONFORMANCE_BLOCKS);
});

test("single proofs verify under the root in the header; a multiproof has their nodes, each once in the order of paths", async t => {
  if (service === undefined) return notRun(t, `${CONFORMANCE} is absent`);
  const {blocks} = await readChainFiles(CONFORMANCE);
  const params = listProofParams();
  const entries = params.map(({address, keys}) => ({address, storageKeys: keys}));
  // One more account that is asked for twice, in another case and with other keys.
  const again = entries.map(({address, storageKeys}) => ({
    address: address.toUpperCase().replace("X", "x"),
    storageKeys: storageKeys.slice(0, 1),
  }));
  for (const block of sampleOf(BLOCKS.slice(1), 26)) {
    const {stateRoot} = decodeBlockHead(blocks[block - 1] as Uint8Array, `block ${block}`);
    const answers = JSON.parse((await service.post(makeProofBatch(block, params))).text);
    const singles = params.map(({address, keys}, i) => ({
      answer: answers[2 * i + 1].result as EthAnswer,
      proven: verifyEthProof(stateRoot, address, keys, answers[2 * i + 1].result),
    }));
    for (const request of [entries, [...entries.toReversed(), ...again]]) {
      const {result, error} = await service.call("chain_getMultiProof", [
        request,
        quantity(BigInt(block)),
        "keccak",
      ]);
      assert.equal(error, undefined);
      assert.equal(result, encodeHex(joinNodes(gatherNodes(singles.map(({answer}) => answer)))));
      const proven = verifyEthMultiProof(stateRoot, request, result);
      const own = request === entries ? proven : proven.slice(0, entries.length).toReversed();
      assert.deepEqual(
        own,
        singles.map(single => single.proven),
      );
    }
  }
});
