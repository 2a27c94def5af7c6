/** chain_estimateGas over the wire: answers, errors, flags, and why a call has no estimate. */
import assert from "node:assert/strict";
import {writeFile} from "node:fs/promises";
import {after, before, test} from "node:test";
import {MessagePort} from "node:worker_threads";
import type {DifferenceLine} from "../../support/chains/differenceLine.ts";
import {hashOfBlock, WorkFolder} from "../../support/chains/serviceChain.ts";
import {codeOf} from "../../support/estimates/assembler.ts";
import {OwnService} from "../../support/http/ownService.ts";
import {importLines} from "../../support/stores/importedStore.ts";

const RICH = `0x${"11".repeat(20)}`;
const POOR = `0x${"22".repeat(20)}`;
const SPENT = `0x${"aa".repeat(20)}`;
const LAST = `0x${"ab".repeat(20)}`;
const NOBODY = `0x${"33".repeat(20)}`;
/** SSTORE(0, CALLDATALOAD(0)). */
const WRITER = `0x${"a1".repeat(20)}`;
/** Reverts with Error("no"). */
const REVERTER = `0x${"a2".repeat(20)}`;
const LOOPER = `0x${"a3".repeat(20)}`;
/** Returns BLOCKHASH(NUMBER - 1) == CALLDATALOAD(0), else an invalid opcode. */
const HASH_CHECKER = `0x${"a4".repeat(20)}`;
const ERROR_NO = `08c379a0${"20".padStart(64, "0")}${"2".padStart(64, "0")}6e6f${"0".repeat(60)}`;

const WRITE_ONE = {to: WRITER, data: `0x${"1".padStart(64, "0")}`};
const EXTRA_DATA = {model: "extra-data", variableCost: 0, minMargin: 1.5};
const FLOOR = {minGasPrice: 1000, gasPriceRatio: 0, gasPriceAdjustment: 5};

/** However slow the machine: no estimate is given up. */
const PATIENT = {estimates: true, limits: {timeoutMs: 3_600_000}, settings: {timeMs: 600_000}};
const FEW_THREADS = ["--workers", "1", "--estimate-workers", "1"];
const RULES = ["--chain-id", "1337", ...FEW_THREADS];

const CODES: Readonly<Record<string, string>> = {
  [WRITER]: codeOf("PUSH0 CALLDATALOAD PUSH0 SSTORE STOP"),
  [REVERTER]: codeOf(
    [0, 1, 2, 3]
      .map(i => `PUSH32 0x${ERROR_NO.slice(64 * i, 64 * (i + 1)).padEnd(64, "0")} PUSH1 ${32 * i} MSTORE`)
      .concat("PUSH1 100 PUSH0 REVERT")
      .join(" "),
  ),
  [LOOPER]: codeOf("again: PUSH0 JUMP"),
  [HASH_CHECKER]: codeOf(
    "PUSH1 1 NUMBER SUB BLOCKHASH PUSH0 CALLDATALOAD EQ PUSH1 same JUMPI INVALID same: STOP",
  ),
};
const OSAKA = {
  chainId: 1337,
  ...Object.fromEntries(
    [
      "homesteadBlock",
      "eip150Block",
      "eip155Block",
      "eip158Block",
      "byzantiumBlock",
      "constantinopleBlock",
      "istanbulBlock",
      "berlinBlock",
      "londonBlock",
      "shanghaiTime",
      "cancunTime",
      "pragueTime",
      "osakaTime",
    ].map(field => [field, 0]),
  ),
};

/** More has no first slice. */
const DATA_BYTES = 33_000;

function lineOf(number: number, extra: Partial<DifferenceLine> = {}): DifferenceLine {
  return {
    number: `0x${number.toString(16)}`,
    hash: hashOfBlock(number),
    ...(number === 0 ? {} : {parentHash: hashOfBlock(number - 1)}),
    timestamp: `0x${(1_700_000_000 + number).toString(16)}`,
    gasLimit: "0x1c9c380",
    accounts: {[POOR]: {balance: `0x${number.toString(16)}`}},
    ...extra,
  };
}

async function makeStore(folder: WorkFolder, name: string, first: Partial<DifferenceLine>): Promise<string> {
  const accounts = {
    [RICH]: {balance: "0xde0b6b3a7640000", nonce: "0x5"},
    [SPENT]: {balance: "0xde0b6b3a7640000", nonce: "0xffffffffffffffff"},
    [LAST]: {balance: "0xde0b6b3a7640000", nonce: "0xfffffffffffffffe"},
    ...Object.fromEntries(Object.entries(CODES).map(([address, code]) => [address, {nonce: "0x1", code}])),
  };
  const lines = [lineOf(0, {...first, accounts}), lineOf(1), lineOf(2), lineOf(3)];
  await importLines(folder.file(name), lines, {finalized: 2});
  return folder.file(name);
}

const folder = new WorkFolder();
let daemon: OwnService;

before(async () => {
  const db = await makeStore(folder, "store", {chainId: "0x539", config: OSAKA});
  daemon = await OwnService.serve(["--db", db, ...FEW_THREADS], PATIENT);
});
after(() => daemon.stop());

const estimate = (...params: unknown[]) => daemon.call("chain_estimateGas", params);

test("an estimate is gas limit, base fee 7 and a priority fee", async () => {
  const {result} = await estimate({from: RICH, to: NOBODY, value: "0x1"});
  // minGasPrice - baseFee: a transfer's share of layer 1 is below it.
  assert.deepEqual(result, {baseFeePerGas: "0x7", gasLimit: "0x5208", priorityFeePerGas: "0x989679"});
  assert.equal((await estimate({})).result.gasLimit, "0xcf08");
});

test("the state is that of the block asked for, also before the newest finalized one", async () => {
  const pay = {from: POOR, to: NOBODY, value: "0x2"};
  for (const block of ["0x2", "2", "latest", {blockNumber: "0x3"}, {blockHash: hashOfBlock(2)}, null])
    assert.equal((await estimate(pay, block)).result?.gasLimit, "0x5208", JSON.stringify(block));
  const {error} = await estimate(pay, "0x1");
  assert.deepEqual([error.code, /has 1 wei, the value is 2/.test(error.message)], [-32000, true]);
  assert.equal((await estimate(pay, "0x4")).error.code, -32001);
  // 3 wei are there in block 3, which is held but not finalized.
  assert.equal((await estimate({...pay, value: "0x3"})).result.gasLimit, "0x5208");
  assert.equal((await estimate({...pay, value: "0x3"}, "finalized")).error.code, -32000);
});

test("code sees the hashes of the blocks before", async () => {
  const call = {to: HASH_CHECKER, data: hashOfBlock(1)};
  assert.ok((await estimate(call, "0x2")).result);
  const {error} = await estimate(call, "0x3");
  assert.deepEqual(error, {code: -32000, message: "invalid opcode"});
});

/** By `gas`: what a call gets that needs 43 247, and the gas that an endless loop has. geth 1.17.10 takes it the same way. */
const LIMITED: readonly (readonly [string | undefined, string | -32000, number])[] = [
  [undefined, "0xa8ef", 16_777_216],
  ["0x0", "0xa8ef", 16_777_216],
  ["0x5207", "0xa8ef", 16_777_216],
  ["0x5208", -32000, 21_000],
  ["0x53fc", -32000, 21_500],
  ["0xa8ee", -32000, 43_246],
  ["0xa8ef", "0xa8ef", 43_247],
  ["0x5f5e100", "0xa8ef", 16_777_216],
  ["0xffffffffffffffff", "0xa8ef", 16_777_216],
];

for (const [gas, needy, allowance] of LIMITED)
  test(`gas ${gas} is no limit below 21 000, and at most the cap; a call that reverts says so whatever it is`, async () => {
    assert.equal((await estimate({to: NOBODY, gas})).result.gasLimit, "0x5208");
    const {result, error} = await estimate({...WRITE_ONE, gas});
    assert.equal(result?.gasLimit ?? error.code, needy, error?.message);
    const loop = await estimate({to: LOOPER, gas});
    assert.deepEqual(loop.error, {code: -32000, message: `gas required exceeds allowance (${allowance})`});
    const reverted = await estimate({to: REVERTER, gas});
    assert.deepEqual([reverted.error?.code, reverted.error?.data], [3, `0x${ERROR_NO}`]);
    // It needs 43 106 gas to get there: geth says so only with that much, Besu always.
    const late = {[NOBODY]: {code: codeOf("PUSH1 1 PUSH0 SSTORE PUSH0 PUSH0 REVERT")}};
    const {code, data} = (await estimate({to: NOBODY, gas}, late)).error;
    assert.deepEqual([code, data], [3, "0x"]);
  });

test("what the call pays must be there, if it names a fee", async () => {
  const {error} = await estimate({from: POOR, to: NOBODY, gasPrice: "0x7"});
  assert.equal(error.code, -32000);
  assert.match(error.message, /^insufficient funds for gas \* price \+ value/);
  assert.ok((await estimate({to: NOBODY, gasPrice: "0x7"})).result);
  assert.match((await estimate({from: RICH, to: NOBODY, maxFeePerGas: 6})).error.message, /base fee is 7$/);
  assert.match((await estimate({from: RICH, to: NOBODY, nonce: 4})).error.message, /^nonce too low/);
  assert.ok((await estimate({from: RICH, to: NOBODY, nonce: 400})).result);
});

test("of an account or a slot that is overridden twice, in different spellings, the last one counts", async () => {
  const [first, last] = [`0x${"ab".repeat(20)}`, `0x${"AB".repeat(20)}`];
  const [stops, reverts] = [{code: codeOf("STOP")}, {code: codeOf("PUSH0 PUSH0 REVERT")}];
  const call = {to: first};
  assert.equal((await estimate(call, {[first]: reverts, [last]: stops})).result?.gasLimit, "0x5208");
  assert.equal((await estimate(call, {[first]: stops, [last]: reverts})).error?.code, 3);
  // Reverts unless slot 0 is 0.
  const code = codeOf("PUSH0 SLOAD PUSH1 no JUMPI STOP no: PUSH0 PUSH0 REVERT");
  const zero = await estimate(call, {[first]: {code, stateDiff: {"0x0": "0x1", "0x00": "0x0"}}});
  assert.notEqual(zero.result, undefined, zero.error?.message);
  const one = await estimate(call, {[first]: {code, state: {"0x00": "0x0", "0x0": "0x1"}}});
  assert.equal(one.error?.code, 3);
});

test("a request's cost counts 20 for an estimate, 1 for what its lists hold and 2 for an overridden slot", async () => {
  const call = (params: unknown) => ({jsonrpc: "2.0", id: 1, method: "chain_estimateGas", params});
  const storageKeys = Array.from({length: 19_979}, (_, slot) => `0x${slot.toString(16)}`);
  const listed = (extra: string[]) => [
    {to: WRITER, accessList: [{address: WRITER, storageKeys: [...storageKeys, ...extra]}]},
  ];
  // At the limit it is executed, and takes 1 900 gas for each key.
  assert.equal((await daemon.send(call(listed([])))).error.code, -32000);
  const {error} = await daemon.send(call(listed(["0x0"])));
  assert.deepEqual([error.code, error.data], [-32005, {limit: 20_000, got: 20_001}]);
  // 20, 3 for the accounts, 2 for each slot.
  const overridden = (count: number) => {
    const slots = Object.fromEntries(storageKeys.slice(0, count).map(key => [key, "0x1"]));
    const [other, third] = [1, 2].map(at => `0x${String(at).repeat(40)}`) as [string, string];
    return [{to: WRITER}, {[WRITER]: {stateDiff: slots}, [other]: {state: {"0x1": "0x1"}}, [third]: {}}];
  };
  assert.doesNotMatch(JSON.stringify(await daemon.send(call(overridden(9987)))), /units of cost/);
  const refused = await daemon.send(call(overridden(9988)));
  assert.deepEqual([refused.error.code, refused.error.data], [-32005, {limit: 20_000, got: 20_001}]);
});

async function importNameless(name: string): Promise<void> {
  const accounts = {[WRITER]: {nonce: "0x1", code: CODES[WRITER] as string}};
  await importLines(folder.file(name), [lineOf(0, {accounts})], {finalized: "last"});
}

async function serve(name: string, hardfork: string, fees: object): Promise<OwnService> {
  const path = folder.file(`${name}-fees.json`);
  await writeFile(path, JSON.stringify(fees));
  return OwnService.serve(
    ["--db", folder.file(name), "--hardfork", hardfork, "--fees", path, ...RULES],
    PATIENT,
  );
}

test("a long call is sent to its thread without the other calls of its batch", async t => {
  const {postMessage: post} = MessagePort.prototype;
  const sent: number[] = [];
  const spy = function (this: MessagePort, ...message: Parameters<typeof post>): void {
    const calls: Uint8Array | undefined = message[0]?.task?.calls;
    if (calls !== undefined) sent.push(calls.buffer.byteLength);
    post.apply(this, message);
  };
  t.mock.method(MessagePort.prototype, "postMessage", spy);
  const data = `0x${"00".repeat(DATA_BYTES)}`;
  const batch = Array.from({length: 4}, (_, id) => ({
    ...{jsonrpc: "2.0", id, method: "chain_estimateGas"},
    params: [{to: NOBODY, data}],
  }));
  const answers: {result?: unknown}[] = await daemon.send(batch);
  assert.ok(answers.every(({result}) => result !== undefined));
  assert.equal(sent.length, batch.length);
  assert.ok(Math.max(...sent) < 2 * DATA_BYTES);
});

test("a store that names no rules is refused with the flag that names them", async () => {
  await importNameless("nameless");
  const answers: {error?: {code: number; message: string}}[] = [];
  for (const flags of [[], ["--hardfork", "osaka"]]) {
    const service = await OwnService.serve(
      ["--db", folder.file("nameless"), "--workers", "1", ...flags],
      PATIENT,
    );
    answers.push(await service.call("chain_estimateGas", [WRITE_ONE]));
    await service.stop();
  }
  assert.deepEqual(
    answers.map(({error}) => error?.code),
    [-32004, -32004],
  );
  assert.match(answers[0]?.error?.message ?? "", /no genesis config \(start with --hardfork/);
  assert.match(answers[1]?.error?.message ?? "", /no chain id \(start with --chain-id/);
});

test("on a chain of the OP stack none is made, and no call: by its genesis config, or from the first deposit of layer 1's block on", async () => {
  const named = {chainId: "0x539", config: {...OSAKA, optimism: {eip1559Elasticity: 6}}} as const;
  const byConfig = await makeStore(folder, "optimism", named);
  const depositor = `0x${"dead".repeat(9)}0001`;
  const lines = [lineOf(0), lineOf(1), lineOf(2, {accounts: {[depositor]: {nonce: "0x1"}}}), lineOf(3)];
  await importLines(folder.file("deposits"), lines, {finalized: 3});
  for (const [db, first] of [
    [byConfig, 0],
    [folder.file("deposits"), 2],
  ] as const) {
    const service = await OwnService.serve(["--db", db, "--hardfork", "osaka", ...RULES], PATIENT);
    for (const block of [0, 1, 2, 3]) {
      const {result, error} = await service.call("chain_estimateGas", [{to: NOBODY}, `0x${block}`]);
      assert.deepEqual(
        [result?.gasLimit, error?.code],
        block < first ? ["0x5208", undefined] : [undefined, -32001],
      );
      if (block >= first) assert.match(error.message, /OP stack.* eth_estimateGas.*--gateway URL/);
      // Block 3 is not finalized.
      if (block === 3) continue;
      const called = await service.call("eth_call", [{to: NOBODY}, `0x${block}`]);
      assert.equal(called.error?.code, block < first ? undefined : -32001);
      if (block >= first) assert.match(called.error.message, /^eth_call is not available: .* OP stack/);
    }
    await service.stop();
  }
});

test("estimates are made under the hard fork and by the fee model that its file names", async () => {
  await Promise.all(["extra", "floor"].map(importNameless));
  const extra = await serve("extra", "osaka", EXTRA_DATA);
  const {result} = await extra.call("chain_estimateGas", [WRITE_ONE]);
  assert.equal(Number(result.gasLimit), 21_000 + 31 * 4 + 16 + 7 + 22_100);
  await extra.stop();
  // 1.5 * 30 000 000, which fixedCost is where the block has no extraData.
  assert.equal(Number(result.priorityFeePerGas), 45_000_000);
  const other = await serve("floor", "london", FLOOR);
  const london = await other.call("chain_estimateGas", [WRITE_ONE]);
  const plain = await other.call("chain_estimateGas", [{to: NOBODY}]);
  await other.stop();
  assert.deepEqual(london.error, {code: -32000, message: "invalid opcode"});
  assert.equal(Number(plain.result.priorityFeePerGas), 993);
});

test("a sender whose nonce is 2^64 - 1 gets no estimate, one below it does", async () => {
  const {error} = await estimate({from: SPENT, to: NOBODY, value: "0x1"});
  assert.equal(error.code, -32000);
  assert.match(
    error.message,
    /^nonce has max value: the sender's nonce is 18446744073709551615 \(2\^64 - 1\)/,
  );
  assert.match(error.message, /EIP-2681/);
  assert.equal((await estimate({from: LAST, to: NOBODY, value: "0x1"})).result.gasLimit, "0x5208");
});

test("a halt of the machine is explained", async () => {
  const table: [string, RegExp][] = [
    [codeOf("ADD"), /^stack underflow: an instruction takes more from the stack than it holds$/],
    [codeOf("PUSH1 0 JUMP"), /^invalid jump destination: it is no JUMPDEST$/],
    [codeOf("INVALID"), /^invalid opcode$/],
  ];
  for (const [code, message] of table) {
    const {error} = await estimate({to: NOBODY}, "latest", {[NOBODY]: {code}});
    assert.equal(error?.code, -32000, code);
    assert.match(error.message, message, code);
  }
  // A pairing of points that are none.
  const refused = await estimate({to: `0x${"8".padStart(40, "0")}`, data: `0x${"31".repeat(192)}`});
  assert.deepEqual(refused.error, {code: -32000, message: "the precompile refuses its input"});
  const creations: [string, RegExp][] = [
    [
      codeOf("PUSH1 0xef PUSH1 0 MSTORE8 PUSH1 1 PUSH1 0 RETURN"),
      /^invalid code: must not begin with 0xef \(EIP-3541\)$/,
    ],
    [
      codeOf("PUSH2 24577 PUSH1 0 RETURN"),
      /^max code size exceeded: the code that the creation returns is longer than 24576 bytes/,
    ],
  ];
  for (const [data, message] of creations) {
    const {error} = await estimate({from: LAST, data});
    assert.equal(error?.code, -32000, data);
    assert.match(error.message, message, data);
  }
});
