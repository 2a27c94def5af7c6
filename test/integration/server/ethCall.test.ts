/** eth_call over a real socket, beside anvil on the same chain. test/nodes/ethCall.test.ts compares it with geth. */
import assert from "node:assert/strict";
import {writeFile} from "node:fs/promises";
import {after, before, test} from "node:test";
import fc from "fast-check";
import {quantity} from "../../../client/bytes/hex.ts";
import type {DifferenceLine} from "../../support/chains/differenceLine.ts";
import {CHAIN_ID, WorkFolder} from "../../support/chains/serviceChain.ts";
import {codeOf} from "../../support/estimates/assembler.ts";
import {compareCalls} from "../../support/estimates/comparedCalls.ts";
import {randomCall} from "../../support/estimates/randomCalls.ts";
import {PROGRAM_ADDRESSES} from "../../support/estimates/randomPrograms.ts";
import {OwnService} from "../../support/http/ownService.ts";
import {Anvil} from "../../support/processes/anvil.ts";
import {notRun} from "../../support/processes/notRun.ts";
import {propertyRuns} from "../../support/soak.ts";
import {importLines} from "../../support/stores/importedStore.ts";

const LATEST = 5;
const FINALIZED = 4;
const BASE_FEE = 1000n;
const MINER = `0x${"0c".repeat(20)}`;
const RICH = `0x${"11".repeat(20)}`;
const POOR = `0x${"12".repeat(20)}`;
/** Returns its slot 0. */
const HOLDER = `0x${"13".repeat(20)}`;
/** Reverts with Error("no"). */
const REVERTER = `0x${"14".repeat(20)}`;
const ERROR_NO = `0x08c379a0${"20".padStart(64, "0")}${"2".padStart(64, "0")}6e6f${"0".repeat(60)}`;
const NOWHERE = `0x${"15".repeat(20)}`;
const CODES = {
  [HOLDER]: codeOf("PUSH1 0 SLOAD PUSH1 0 MSTORE PUSH1 32 PUSH1 0 RETURN"),
  [REVERTER]: codeOf("CALLDATASIZE PUSH1 0 PUSH1 0 CALLDATACOPY CALLDATASIZE PUSH1 0 REVERT"),
};
/** Returns 32 bytes for each of these opcodes. */
const returning = (...opcodes: readonly string[]) =>
  codeOf(
    [
      ...opcodes.map((opcode, at) => `${opcode} PUSH2 ${32 * at} MSTORE`),
      `PUSH2 ${32 * opcodes.length} PUSH1 0 RETURN`,
    ].join(" "),
  );

const PATIENT = {estimates: true, limits: {timeoutMs: 3_600_000}, settings: {timeMs: 600_000}};
const folder = new WorkFolder();
let anvil: Anvil | string;
let service: OwnService;
let lines: DifferenceLine[];

const word = (value: bigint | string) => `0x${BigInt(value).toString(16).padStart(64, "0")}`;

before(async () => {
  const byNumber =
    "homestead eip150 eip155 eip158 byzantium constantinople petersburg istanbul berlin london";
  const config = {
    chainId: Number(CHAIN_ID),
    ...Object.fromEntries(byNumber.split(" ").map(name => [`${name}Block`, 0])),
    terminalTotalDifficulty: 0,
    ...Object.fromEntries(["shanghai", "cancun", "prague"].map(name => [`${name}Time`, 0])),
  };
  const accounts = Object.fromEntries(
    Object.entries(CODES).map(([address, code]) => [address, {nonce: "0x1", balance: "0x0", code}]),
  );
  const alloc = {
    ...accounts,
    [RICH]: {nonce: "0x0", balance: quantity(10n ** 21n)},
    [POOR]: {nonce: "0x0", balance: "0x5"},
  };
  const genesis = {
    ...{config, alloc, nonce: "0x0", timestamp: "0x67748580", extraData: "0x", difficulty: "0x0"},
    ...{
      gasLimit: quantity(30_000_000n),
      mixHash: word(0n),
      coinbase: MINER,
      baseFeePerGas: quantity(BASE_FEE),
    },
  };
  await writeFile(folder.file("genesis.json"), JSON.stringify(genesis));
  const flags = `--hardfork prague --accounts 0 --no-mining --block-base-fee-per-gas ${BASE_FEE}`;
  anvil = await Anvil.start(["--init", folder.file("genesis.json"), ...flags.split(" ")]);
  lines = [];
  for (let number = 0; number <= LATEST; number++) {
    // What is set before the next block is made is in the state of this one.
    const slots = Object.fromEntries([0, 1, 2].map(slot => [slot, word(BigInt(10 * number + slot + 1))]));
    const held = [HOLDER, ...PROGRAM_ADDRESSES.map(address => `0x${address.toString(16).padStart(40, "0")}`)];
    const changes = Object.fromEntries(
      held.map(address => [
        address,
        {
          balance: quantity(BigInt(number + 1)),
          storage: Object.fromEntries(
            Object.entries(slots).map(([slot, value]) => [quantity(BigInt(slot)), value]),
          ),
        },
      ]),
    );
    let block: Partial<DifferenceLine> = {
      hash: word(BigInt(number + 1)),
      timestamp: quantity(BigInt(1000 + number)),
    };
    if (typeof anvil !== "string") {
      if (number > 0) await anvil.request("evm_mine");
      for (const [address, {balance, storage}] of Object.entries(changes)) {
        await anvil.request("anvil_setBalance", address, balance);
        for (const [slot, value] of Object.entries(storage))
          await anvil.request("anvil_setStorageAt", address, slot, value);
      }
      block = await anvil.request("eth_getBlockByNumber", quantity(BigInt(number)), false);
    }
    const {
      hash,
      parentHash,
      timestamp,
      gasLimit,
      baseFeePerGas = quantity(BASE_FEE),
      miner = MINER,
      mixHash,
    } = block;
    const header = {hash, parentHash, timestamp, gasLimit, baseFeePerGas, miner, mixHash} as DifferenceLine;
    const own =
      number === 0 ? {...alloc, ...changes, [HOLDER]: {...accounts[HOLDER], ...changes[HOLDER]}} : changes;
    lines.push({
      ...header,
      number: quantity(BigInt(number)),
      accounts: own,
      ...(number === 0 && {chainId: CHAIN_ID, config}),
    });
  }
  const db = folder.file("db");
  await importLines(db, JSON.parse(JSON.stringify(lines)), {finalized: FINALIZED});
  service = await OwnService.serve(["--db", db, "--workers", "1"], PATIENT);
});

after(async () => {
  await service.stop();
  if (typeof anvil !== "string") await anvil.stop();
});

const baseFeeAt = (block: number) => BigInt(lines[block]?.baseFeePerGas ?? 0);
const call = (...params: readonly unknown[]) => service.call("eth_call", params);
const run = async (
  code: string,
  fields: object = {},
  block = "latest",
  blockOverrides: object | null = null,
) =>
  (await call({to: NOWHERE, ...fields}, block, {[NOWHERE]: {code}}, blockOverrides)).result
    .slice(2)
    .match(/.{64}/g);

test("a call returns the state of the block that is asked for, by default the newest finalized one", async () => {
  const valueAt = async (...block: unknown[]) => (await call({to: HOLDER}, ...block)).result;
  for (let block = 0; block <= FINALIZED; block++)
    assert.equal(await valueAt(quantity(BigInt(block))), word(BigInt(10 * block + 1)));
  const newest = word(BigInt(10 * FINALIZED + 1));
  for (const block of [[], [null], ["latest"], ["pending"], ["finalized"], [lines[FINALIZED]?.hash]])
    assert.equal(await valueAt(...block), newest);
  assert.equal(await valueAt({blockHash: lines[2]?.hash}), word(21n));
  assert.equal((await call({to: HOLDER}, quantity(BigInt(LATEST)))).error.code, -32002);
  assert.equal((await call({to: HOLDER}, "0xff")).error.code, -32001);
  assert.equal((await call({to: HOLDER}, "3")).error.code, -32602);
});

test("a creation returns its code, and an account without code nothing", async () => {
  const code = "PUSH1 0xaa PUSH1 0 MSTORE8 PUSH1 1 PUSH1 0 RETURN";
  assert.equal((await call({data: codeOf(code)})).result, "0xaa");
  assert.equal((await call({to: NOWHERE, data: "0x1234"})).result, "0x");
  // More than a mailbox holds.
  assert.equal((await call({to: NOWHERE, data: `0x${"00".repeat(1_100_000)}`})).result, "0x");
});

test("code sees the header's fields, and a base fee only if the call names a price", async () => {
  const opcodes = ["NUMBER", "TIMESTAMP", "COINBASE", "GASLIMIT", "PREVRANDAO", "CHAINID"];
  const {timestamp = "", gasLimit = quantity(50_000_000n), mixHash = word(0n)} = lines[3] as DifferenceLine;
  const header = ["0x3", timestamp, MINER, gasLimit, mixHash, CHAIN_ID].map(value => word(value).slice(2));
  assert.deepEqual(await run(returning(...opcodes), {}, "0x3"), header);
  const fees = returning("BASEFEE", "GASPRICE", "BLOBBASEFEE");
  const seen = async (fields: object) =>
    (await run(fees, fields, "0x3"))?.map((hex: string) => BigInt(`0x${hex}`));
  const baseFee = baseFeeAt(3);
  assert.deepEqual(await seen({}), [0n, 0n, 1n]);
  assert.deepEqual(await seen({from: RICH, gas: "0xffff", gasPrice: "0x3e9"}), [baseFee, 1001n, 1n]);
  const dynamic = {maxFeePerGas: "0x7d0", maxPriorityFeePerGas: "0x5"};
  assert.deepEqual(await seen({from: RICH, gas: "0xffff", ...dynamic}), [baseFee, baseFee + 5n, 1n]);
});

test("overrides replace the block's fields, and BLOCKHASH knows only blocks before the real one", async () => {
  const blockOverrides = {
    ...{number: "0x6", time: "0x77777777", gasLimit: "0x5208", feeRecipient: RICH},
    ...{prevRandao: word(99n), baseFeePerGas: "0x9", blobBaseFee: "0xa"},
  };
  const opcodes = ["NUMBER", "TIMESTAMP", "GASLIMIT", "COINBASE", "PREVRANDAO", "BASEFEE", "BLOBBASEFEE"];
  const hashes = [2, 3, 4].map(number => `PUSH1 ${number} BLOCKHASH`);
  const priced = {from: RICH, gas: "0xfffff", gasPrice: "0x9"};
  assert.deepEqual(
    await run(returning(...opcodes, ...hashes), priced, "0x3", blockOverrides),
    [6n, 0x77777777n, 21_000n, RICH, 99n, 9n, 10n, lines[2]?.hash ?? "", 0n, 0n].map(value =>
      word(value).slice(2),
    ),
  );
  const {error} = await call({to: HOLDER}, "latest", {}, {beaconRoot: word(0n)});
  assert.equal(error.code, -32602);
});

test("neither the nonce nor the block's gas limit bounds a call, but the gas cap and the sender's balance do", async () => {
  const [gas] = await run(returning("GAS"), {gas: quantity(1n << 60n), nonce: "0x63"});
  assert.ok(BigInt(`0x${gas}`) > 49_900_000n && BigInt(`0x${gas}`) < 50_000_000n);
  const table: readonly [fields: object, message: RegExp][] = [
    [
      {from: POOR, value: "0x6"},
      /^insufficient funds for gas \* price \+ value: address 0x12.* have 5 want 6$/,
    ],
    [{from: POOR, gas: "0xffff", gasPrice: "0x3e8"}, /^insufficient funds for gas \* price \+ value/],
    [{gas: "0xffff", gasPrice: "0x3e8"}, /^insufficient funds for gas \* price \+ value: address 0x00/],
    [
      {from: RICH, gas: "0xffff", gasPrice: quantity(baseFeeAt(FINALIZED) - 1n)},
      /^max fee per gas less than block base fee/,
    ],
    [{gas: "0x5207"}, /^intrinsic gas too low/],
  ];
  for (const [fields, message] of table) {
    const {error} = await call({to: HOLDER, ...fields});
    assert.equal(error?.code, -32000);
    assert.match(error.message, message);
  }
  assert.equal((await call({from: POOR, to: NOWHERE, value: "0x5"})).result, "0x");
});

test("a revert has its data and reason, and other failures are explained", async () => {
  assert.deepEqual((await call({to: REVERTER, data: ERROR_NO})).error, {
    code: 3,
    message: "execution reverted: no",
    data: ERROR_NO,
  });
  const {error} = await call({to: NOWHERE}, "latest", {[NOWHERE]: {code: codeOf("again: PUSH1 again JUMP")}});
  assert.deepEqual(error, {code: -32000, message: "out of gas"});
});

test("a call may return 131 072 bytes", async () => {
  const code = (size: number) => codeOf(`PUSH3 ${size} PUSH1 0 RETURN`);
  const ask = (size: number) => call({to: NOWHERE}, "latest", {[NOWHERE]: {code: code(size)}});
  assert.equal((await ask(131_072)).result.length, 2 + 2 * 131_072);
  assert.deepEqual((await ask(131_073)).error, {
    code: -32005,
    message: "a call may return at most 131072 bytes, this one returns 131073",
    data: {limit: 131_072, got: 131_073},
  });
});

test("random calls at old blocks return or revert with what anvil does", async t => {
  if (typeof anvil === "string") return notRun(t, anvil);
  const blocks = Array.from({length: FINALIZED + 1}, (_, block) => block);
  const sample = fc.sample(
    randomCall({hardfork: "prague", blocks, accounts: [HOLDER, REVERTER]}),
    propertyRuns(300),
  );
  const outcomes = await compareCalls(service, anvil, sample, false);
  assert.ok(outcomes.returned > 30, JSON.stringify(outcomes));
  t.diagnostic(JSON.stringify(outcomes));
});

test("a server without threads for calls says so", async () => {
  const idle = await OwnService.serve(["--db", folder.file("db"), "--workers", "1"]);
  assert.deepEqual((await idle.call("eth_call", [{to: HOLDER}])).error, {
    code: -32004,
    message: "eth_call is not available: this server has no threads that run calls (--estimate-workers 0)",
  });
  await idle.stop();
});
