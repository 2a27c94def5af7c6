/** Laws of verified calls, over a real socket: two EVMs agree about random programs, and no forged answer is accepted with another result. */
import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import fc from "fast-check";
import {
  type CallTrust,
  type VerifiableCall,
  verifyCall,
  verifyCallAnswer,
} from "../../client/call/verifyCall.ts";
import {createProofClient, type ProofClient} from "../../client/methods/proofClient.ts";
import {ProofError} from "../../client/proof/proofError.ts";
import {RpcError} from "../../client/rpc/rpcError.ts";
import {toHex} from "../../storage/hex.ts";
import type {DifferenceLine} from "../support/chains/differenceLine.ts";
import {headLines} from "../support/chains/headedLines.ts";
import {CHAIN_ID, WorkFolder} from "../support/chains/serviceChain.ts";
import {codeOf} from "../support/estimates/assembler.ts";
import {PLAIN_ADDRESS, PROGRAM_ADDRESSES, randomProgram} from "../support/estimates/randomPrograms.ts";
import {OwnService} from "../support/http/ownService.ts";
import {type CallAnswer, forging} from "../support/reference/forgedWitnesses.ts";
import {isSoak, propertyRuns, sameExamples} from "../support/soak.ts";
import {importLines} from "../support/stores/importedStore.ts";

const FORK = "osaka";
const PROGRAMS = 40;
const CALLS = propertyRuns(50);
const FORGERIES = isSoak() ? 20_000 : 300;
const SENDER = `0x${"5e".repeat(20)}`;

const addresses = Array.from({length: PROGRAMS}, (_, i) => (PROGRAM_ADDRESSES[0] as bigint) + BigInt(i));
const textOf = (address: bigint) => `0x${address.toString(16).padStart(40, "0")}`;
const delegating = addresses.map(address => textOf(address + (1n << 64n)));
const programs = sameExamples(randomProgram({hardfork: FORK, addresses}), PROGRAMS);
/** Together longer than the codes that a witness may have. */
const LONG_CODES = Array.from({length: 90}, (_, i) => 0xc0de0000n + BigInt(i));
const folder = new WorkFolder();
let service: OwnService;
let client: ProofClient<false>;
const trusts: (CallTrust & {readonly blockHash: string})[] = [];

before(async () => {
  const plain = {balance: "0x10", nonce: "0x1"};
  const storage = {"0x1": "0x7", "0x3": "0x1"};
  const accounts = {
    ...Object.fromEntries(
      programs.map((code, i) => [textOf(addresses[i] as bigint), {...plain, code: toHex(code), storage}]),
    ),
    ...Object.fromEntries(
      delegating.map((address, i) => [
        address,
        {...plain, code: `0xef0100${textOf(addresses[i] as bigint).slice(2)}`},
      ]),
    ),
    [textOf(PLAIN_ADDRESS)]: plain,
    [SENDER]: {balance: "0xffffffff"},
    ...Object.fromEntries(
      LONG_CODES.map(address => [
        textOf(address),
        {...plain, code: `0x${address.toString(16).padStart(49_152, "0")}`},
      ]),
    ),
  };
  const changed = Object.fromEntries(
    addresses.map(address => [textOf(address), {storage: {"0x2": "0x5", "0x3": "0x0"}}]),
  );
  const lines = [accounts, {}, changed].map((change, number) => ({
    number: `0x${number}`,
    hash: "",
    chainId: CHAIN_ID,
    accounts: change,
  }));
  const {lines: headed} = await headLines(lines);
  const db = folder.file("db");
  await importLines(db, headed, {finalized: 2});
  service = await OwnService.serve(["--db", db, "--hardfork", FORK], {estimates: true});
  client = createProofClient({url: service.url, verify: false});
  for (const {hash} of headed)
    trusts.push({block: BigInt(trusts.length), blockHash: hash, chainId: BigInt(CHAIN_ID), hardfork: FORK});
});
after(() => service.stop());

interface Asked {
  readonly call: VerifiableCall;
  readonly block: number;
}

const asked: fc.Arbitrary<Asked> = fc.record({
  block: fc.constantFrom(0, 2),
  call: fc
    .record({
      gas: fc.oneof(fc.nat(50_000), fc.nat(1_000_000)).map(gas => BigInt(gas + 30_000)),
      value: fc.constantFrom(0n, 0n, 3n),
      target: fc.oneof(
        {weight: 6, arbitrary: fc.constantFrom(...addresses.map(textOf)).map(to => ({to, data: "0x"}))},
        fc.constantFrom(...delegating).map(to => ({to, data: "0x01"})),
        fc.constantFrom(...programs.map(toHex)).map(data => ({data})),
      ),
    })
    .map(({gas, value, target}) => {
      const isCreation = !("to" in target);
      return {from: SENDER, value, ...target, gas: isCreation ? gas + 100_000n : gas};
    }),
});

/** What a verified call comes to: its value, its revert data, or that it fails. */
async function outcomeOf(verified: Promise<{readonly value: string}>): Promise<unknown> {
  try {
    return {value: (await verified).value};
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    return {code: error.code, data: error.data};
  }
}

/** Of what only some EVMs have. */
const LACKS = /getBlobGasPrice|kzg/;

test("the verified outcome of random calls is that of eth_call", async t => {
  const counts = {values: 0, reverts: 0, failures: 0, lacking: 0};
  const check = async ({call, block}: Asked) => {
    const tx = {...call, value: toQuantity(call.value), gas: toQuantity(call.gas)};
    const {result, error} = await service.call("eth_call", [tx, `0x${block}`]);
    try {
      const outcome = await outcomeOf(verifyCall(client, call, trusts[block] as CallTrust));
      assert.deepEqual(
        outcome,
        result === undefined ? {code: error.code, data: error.data} : {value: result},
      );
    } catch (refusal) {
      if (!(refusal instanceof ProofError && LACKS.test(refusal.rule))) throw refusal;
      counts.lacking++;
      return;
    }
    if (result !== undefined) counts.values++;
    else if (error.code === 3) counts.reverts++;
    else counts.failures++;
  };
  for (const one of sameExamples(asked, CALLS)) await check(one);
  // Of these, what is counted is certain.
  assert.ok(counts.values > 10 && counts.reverts > 0 && counts.failures > 10, JSON.stringify(counts));
  await fc.assert(fc.asyncProperty(asked, check), {numRuns: CALLS});
  t.diagnostic(JSON.stringify(counts));
});

test("a call whose witness would be too long is refused, with the limit", async () => {
  const sizes = `PUSH1 90 next: PUSH1 1 SWAP1 SUB DUP1 PUSH4 ${textOf(0xc0de0000n)} ADD EXTCODESIZE POP DUP1 PUSH1 next JUMPI STOP`;
  const call = {data: codeOf(sizes.replace(/0x0+c/, "0xc"))};
  assert.equal((await service.call("eth_call", [call, "0x0"])).result, "0x");
  const {error} = await service.call("proof_call", [call, "0x0"]);
  assert.equal(error.code, -32005);
  assert.match(
    error.message,
    /^the call reads more state than its witness may have: expected at most 2097152 bytes/,
  );
  assert.equal(error.data.limit, 2_097_152);
});

test("a store without the trie, or without the header of a block whose hash is read, has no witness; pruned blocks have headers", async () => {
  const lines = [{[SENDER]: {balance: "0x1"}}, {}, {}].map((accounts, number) => ({
    number: `0x${number}`,
    hash: "",
    chainId: CHAIN_ID,
    accounts,
  }));
  const {lines: headed} = await headLines(lines);
  const [zero, {header, ...one}, two] = headed as [DifferenceLine, DifferenceLine, DifferenceLine];
  assert.ok(header);
  // NUMBER - n, and its hash.
  const hashOf = (n: number) => ({data: codeOf(`PUSH1 ${n} NUMBER SUB BLOCKHASH STOP`)});
  for (const [name, stored, calls] of [
    [
      "no-trie",
      [{number: "0x0", hash: zero.hash, chainId: CHAIN_ID, accounts: lines[0]?.accounts ?? {}}],
      [[{}, "0x0", /^eth_getProof, eth_getMultiProof, proof_call and the suite keccak are not available/]],
    ],
    [
      "no-header",
      [zero, one, two],
      [
        [{}, "0x1", /^proof_call is not available: the store does not have the whole header of block 1,/],
        [hashOf(2), "0x2", /does not have the whole header of block 1, which its witness needs$/],
        [hashOf(0), "0x2", undefined],
      ],
    ],
  ] as const) {
    const db = folder.file(name);
    await importLines(db, stored, {finalized: stored.length - 1});
    const limited = await OwnService.serve(["--db", db, "--hardfork", FORK], {estimates: true});
    for (const [call, block, message] of calls) {
      assert.equal((await limited.call("eth_call", [call, block])).result, "0x");
      const {error} = await limited.call("proof_call", [call, block]);
      assert.equal(error?.code, message && -32004, error?.message);
      if (message !== undefined) assert.match(error.message, message);
    }
    await limited.stop();
  }
  // Headers of pruned blocks are kept.
  const db = folder.file("pruned");
  await importLines(db, headed, {finalized: 2});
  const flags = ["--db", db, "--hardfork", FORK, "--history", "1"];
  const pruning = await OwnService.serve(flags, {estimates: true});
  await pruning.waitForStderr(/"msg":"pruned"/);
  const {result} = await pruning.call("proof_call", [hashOf(2), "0x2"]);
  assert.deepEqual(
    result?.witness.headers,
    headed.map(({header}) => header),
  );
  await pruning.stop();
});

test("forged answers are refused, or have the honest result", async t => {
  const honest: {readonly one: Asked; readonly answer: CallAnswer; readonly outcome: unknown}[] = [];
  for (const one of sameExamples(asked, 60)) {
    const params = [
      {...one.call, value: toQuantity(one.call.value), gas: toQuantity(one.call.gas)},
      `0x${one.block}`,
    ];
    const {result} = await service.call("proof_call", params);
    if (result === undefined) continue;
    const verified = verifyCallAnswer(one.call, result, trusts[one.block] as CallTrust);
    const outcome = await outcomeOf(verified).catch(() => undefined);
    if (outcome !== undefined) honest.push({one, answer: result, outcome});
  }
  const answers = honest.map(({answer}) => answer);
  const counts = {refused: 0, same: 0};
  const forged = fc.tuple(fc.nat(honest.length - 1), forging);
  const check = async ([position, forge]: [
    number,
    (own: CallAnswer, others: readonly CallAnswer[]) => CallAnswer,
  ]) => {
    const {one, answer, outcome} = honest[position] ?? assert.fail();
    try {
      const trust = trusts[one.block] as CallTrust;
      assert.deepEqual(await outcomeOf(verifyCallAnswer(one.call, forge(answer, answers), trust)), outcome);
      counts.same++;
    } catch (error) {
      if (!(error instanceof ProofError)) throw error;
      counts.refused++;
    }
  };
  await fc.assert(fc.asyncProperty(forged, check), {numRuns: FORGERIES});
  t.diagnostic(`${FORGERIES} forgeries of ${honest.length} answers: ${JSON.stringify(counts)}`);
  assert.ok(counts.refused > FORGERIES / 4, JSON.stringify(counts));
});

function toQuantity(amount: VerifiableCall["gas"]): string {
  return `0x${BigInt(amount ?? 0).toString(16)}`;
}
