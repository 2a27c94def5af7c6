/** Every call is estimated here and by anvil, on the same state, and anvil executes it with our limit. */
import assert from "node:assert/strict";
import {writeFile} from "node:fs/promises";
import {after, before, test} from "node:test";
import {privateToAddress} from "@ethereumjs/util";
import {keccak_256} from "@noble/hashes/sha3.js";
import {decodeHex, encodeHex, quantity} from "../../../client/bytes/hex.ts";
import {word} from "../../../client/hash/hashSuites.ts";
import {type AbiValue, encodeCall} from "../../../demo/abi.ts";
import {readContract} from "../../../demo/artefact.ts";
import type {DifferenceLine} from "../../support/chains/differenceLine.ts";
import {WorkFolder} from "../../support/chains/serviceChain.ts";
import {codeOf} from "../../support/estimates/assembler.ts";
import {OwnService} from "../../support/http/ownService.ts";
import {Anvil} from "../../support/processes/anvil.ts";
import {notRun} from "../../support/processes/notRun.ts";
import {importLines} from "../../support/stores/importedStore.ts";

/** The parameters of chain_estimateGas and eth_estimateGas as a client writes them. */
interface CallObject {
  readonly from?: string;
  readonly to?: string;
  readonly gas?: string;
  readonly gasPrice?: string;
  readonly maxFeePerGas?: string;
  readonly maxPriorityFeePerGas?: string;
  readonly value?: string;
  readonly data?: string;
}

/** By address. */
type Overrides = Readonly<Record<string, OverrideObject>>;

interface OverrideObject {
  readonly balance?: string;
  readonly nonce?: string;
  readonly code?: string;
  readonly state?: Readonly<Record<string, string>>;
  readonly stateDiff?: Readonly<Record<string, string>>;
}

interface GasCase {
  readonly title: string;
  readonly call: CallObject;
  readonly overrides?: Overrides;
}

interface FailingCase {
  readonly title: string;
  readonly call: CallObject;
  readonly overrides?: Overrides;
  readonly message: RegExp;
  /** anvil's eth_estimateGas ignores the fault; "both": its eth_call does too. */
  readonly ignoredByAnvil?: "eth_estimateGas" | "both";
}

const CHAIN_ID = 424_243n;
const LAST_BLOCK = 3;
const BLOCK = quantity(BigInt(LAST_BLOCK));
const BENEFICIARY = "0xc0ffee0000000000000000000000000000000001";
const ETHER = 10n ** 18n;
/** Ether for 30 000 gas at 100 wei, and 5 wei more. */
const POOR_BALANCE = 3_000_005n;

const person = (label: string) => {
  const key = keccak_256(Buffer.from(`gas chain: ${label}`));
  return {key, address: encodeHex(privateToAddress(key))};
};
type Person = ReturnType<typeof person>;
const [alice, bob, poor, nobody] = ["alice", "bob", "poor", "nobody"].map(person) as [
  Person,
  Person,
  Person,
  Person,
];
/** An address without an account. */
const NEW_HOLDER = address(0xaaa1);

const NAMES = ["Ledger", "Batcher", "Factory"] as const;
type Name = (typeof NAMES)[number];
const at = (name: Name): string => address(0xc0de01 + NAMES.indexOf(name));
/** Logs what it gets. */
const TILL = address(0x7111);
const TILL_CODE = codeOf("CALLVALUE PUSH0 MSTORE PUSH1 32 PUSH0 LOG0 STOP");
/** Reverts with what it is called with. */
const ECHO = address(0xec40);
const ECHO_CODE = codeOf("CALLDATASIZE PUSH0 PUSH0 CALLDATACOPY CALLDATASIZE PUSH0 REVERT");
/** Reverts with what code sees of block and transaction: ORIGIN, CALLER, CALLVALUE, GASPRICE and COINBASE to BASEFEE. */
const WITNESS_CODE = encodeHex(
  Buffer.concat([
    ...[0x32, 0x33, 0x34, 0x3a, 0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48].map((opcode, i) =>
      Buffer.concat([Buffer.of(opcode), decodeHex(codeOf(`PUSH2 ${32 * i} MSTORE`))]),
    ),
    decodeHex(codeOf("PUSH2 384 PUSH0 REVERT")),
  ]),
);

function address(number: number): string {
  return `0x${number.toString(16).padStart(40, "0")}`;
}

function slot(number: number): string {
  return encodeHex(word(BigInt(number)));
}

function input(name: Name, signature: string, ...values: AbiValue[]): string {
  return encodeHex(encodeCall(readContract(name), signature, ...values));
}

function call(name: Name, signature: string, ...values: AbiValue[]): CallObject {
  return {from: alice.address, to: at(name), data: input(name, signature, ...values)};
}

function transfer(to: string, value: bigint): CallObject {
  return {from: alice.address, to, value: quantity(value)};
}

/** Initcode of an account with `size` bytes of code, all zero. */
function initcodeOf(size: number): string {
  const codecopy = codeOf(`PUSH2 ${size} DUP1 PUSH1 10 PUSH0 CODECOPY PUSH0 RETURN`);
  return `${codecopy}${"00".repeat(size)}`;
}

/** Code that counts down, 26 gas each time. */
function loop(rounds: number): string {
  return codeOf(`PUSH2 ${rounds} again: PUSH1 1 SWAP1 SUB DUP1 PUSH1 again JUMPI STOP`);
}

/** A call of code at an address without an account. */
function run(title: string, code: string, more: Partial<CallObject> = {}): GasCase {
  const overrides = {[NEW_HOLDER]: {code: codeOf(code), nonce: "0x1"}};
  return {title, call: {...transfer(NEW_HOLDER, 0n), ...more}, overrides};
}

/** Slots `from` to `to`, each with a value of its own. */
function fill(from: number, to: number): Record<string, string> {
  return Object.fromEntries(
    Array.from({length: to - from}, (_, i) => [slot(from + i), slot(from + i + 1000)]),
  );
}

const CLEAR = "clear(uint256,uint256)";
const clear30 = call("Ledger", CLEAR, 0n, 30n);
const many = `0x${"ab".repeat(2000)}`;
/** Takes 18 200 gas. */
const WORKER = address(0x3012);
const FORWARDING = `PUSH0 PUSH0 PUSH0 PUSH0 PUSH0 PUSH20 ${WORKER} GAS CALL`;

const GROUPS: Readonly<Record<string, readonly GasCase[]>> = {
  "a transfer's gas limit is a real node's": [
    {title: "to a new account", call: transfer(NEW_HOLDER, 1n)},
    {title: "to the block's beneficiary", call: transfer(BENEFICIARY, 1n)},
    {title: "to a contract that logs it", call: transfer(TILL, 5n)},
    {
      title: "of all that a sender has beside the fee",
      call: {...transfer(bob.address, POOR_BALANCE - 2_100_000n), from: poor.address, gasPrice: "0x64"},
    },
    {
      title: "to a contract, as much gas as the sender can pay",
      call: {...transfer(TILL, 5n), from: poor.address, gasPrice: "0x64"},
    },
  ],
  "a creation's gas limit is a real node's": [
    {title: "of 24 576 bytes", call: {from: alice.address, data: initcodeOf(24_576)}},
    {
      title: "with 40 000 bytes of initcode, none zero: the floor",
      call: {from: alice.address, data: `0x00${"ff".repeat(39_999)}`},
    },
    {title: "by CREATE2, then SELFDESTRUCT", call: call("Factory", "makeAndDestroy(bytes32)", word(1n))},
  ],
  "the gas limit holds before the refund is made": [
    {title: "90 slots cleared, refund capped", call: call("Ledger", CLEAR, 0n, 90n)},
    run("an SSTORE at the end that needs more than it costs", "PUSH1 9 SLOAD POP PUSH0 PUSH1 9 SSTORE STOP"),
  ],
  "calls within calls get the gas that they need": [
    {
      title: "a call that must succeed, and gets all but the 64th part",
      call: transfer(NEW_HOLDER, 0n),
      overrides: {
        [WORKER]: {code: loop(700)},
        [NEW_HOLDER]: {code: codeOf(`${FORWARDING} PUSH1 done JUMPI PUSH0 PUSH0 REVERT done: STOP`)},
      },
    },
    run(
      "code that demands far more than it takes",
      "GAS PUSH3 5000000 GT PUSH1 no JUMPI STOP no: PUSH0 PUSH0 REVERT",
    ),
  ],
  "the floor of calldata is a real node's": [
    {title: "many bytes to a new account", call: {...transfer(NEW_HOLDER, 1n), data: many}},
    ...[1800, 1900].map(rounds => ({
      title: `many bytes to code of ${rounds} rounds, next to the floor`,
      call: {...transfer(NEW_HOLDER, 0n), data: many},
      overrides: {[NEW_HOLDER]: {code: loop(rounds)}},
    })),
    {
      title: "many bytes and a slot cleared: the refund stops at the floor",
      call: {
        ...call("Ledger", CLEAR, 0n, 4n),
        data: `${input("Ledger", CLEAR, 0n, 4n)}${"ab".repeat(1000)}`,
      },
    },
  ],
  "overrides change the gas as on a real node": [
    {
      title: "of code at an account without any",
      call: {...clear30, to: NEW_HOLDER},
      overrides: {[NEW_HOLDER]: {code: `0x${readContract("Ledger").deployedBytecode}`}},
    },
    ...[
      {title: "of all slots: two are left", state: {[slot(3)]: slot(1), [slot(4)]: slot(1)}},
      {title: "of some slots", stateDiff: {[slot(3)]: slot(0), [slot(4)]: slot(9)}},
    ].map(({title, ...account}) => ({title, call: clear30, overrides: {[at("Ledger")]: account}})),
    {
      title: "of a balance that pays a fee",
      call: {from: nobody.address, to: TILL, gasPrice: "0x64"},
      overrides: {[nobody.address]: {balance: quantity(100n * 100_000n)}},
    },
    {
      title: "of the code of the sender",
      call: transfer(TILL, 1n),
      overrides: {[alice.address]: {code: TILL_CODE}},
    },
  ],
  "every try has a real node's block": [
    run("gas that depends on the block", "NUMBER again: PUSH1 1 SWAP1 SUB DUP1 PUSH1 again JUMPI STOP"),
    run(
      "gas that depends on the transaction's gas price",
      "GASPRICE again: PUSH1 1 SWAP1 SUB DUP1 PUSH1 again JUMPI STOP",
      {gasPrice: "0x1ff"},
    ),
  ],
};

const echo = (data: string): CallObject => ({from: alice.address, to: ECHO, data});
const error = (text: string) =>
  `0x08c379a0${Buffer.concat([word(32n), word(BigInt(Buffer.byteLength(text))), Buffer.from(text)]).toString("hex")}`;
const revert = (title: string, call: CallObject, reason = "", overrides: Overrides = {}): FailingCase => ({
  title,
  call,
  overrides,
  message: new RegExp(`^execution reverted${reason}$`),
});
const witness = (title: string, more: Partial<CallObject> = {}) =>
  revert(`what code sees, ${title}`, {...transfer(NEW_HOLDER, 0n), ...more}, "", {
    [NEW_HOLDER]: {code: WITNESS_CODE},
  });

const REVERTING: readonly FailingCase[] = [
  revert("Error(string)", echo(error("no, thank you")), ": no, thank you"),
  revert("no data", echo("0x")),
  revert("data that is no error", echo("0x08c379a0ff")),
  revert("assert", echo(`0x4e487b71${slot(1).slice(2)}`), ": panic: .*\\(0x0?1\\)"),
  revert(
    "slots written and taken back",
    call("Ledger", "fillAndRevert(uint256,uint256,uint256)", 500n, 510n, 1n),
  ),
  witness("with value", {value: "0x5"}),
  witness("with the gas price that is named", {gasPrice: "0x123"}),
  witness("with the gas price that caps make", {maxFeePerGas: "0x123", maxPriorityFeePerGas: "0x3"}),
  witness("with no gas price"),
  revert("a constructor", {
    from: alice.address,
    data: codeOf("PUSH1 0xaa PUSH0 MSTORE8 PUSH1 1 PUSH0 REVERT"),
  }),
];

const fail = (title: string, call: CallObject, message: RegExp, more: Partial<FailingCase> = {}) => ({
  title,
  call,
  message,
  ...more,
});
const LACKS_VALUE = /^insufficient funds for transfer/;
const guessed = {ignoredByAnvil: "eth_estimateGas"} as const;
const FAILING: readonly FailingCase[] = [
  {
    ...run("memory without end, with all the gas there is (EIP-7825)", "PUSH9 0xffffffffffffffffff MLOAD"),
    message: /^gas required exceeds allowance \(16777216\)$/,
  },
  fail(
    "less than the calldata takes",
    {...transfer(bob.address, 1n), data: `0x${"01".repeat(1000)}`, gas: quantity(50_000n)},
    /61000 gas/,
  ),
  fail("49 153 bytes of initcode", {from: alice.address, data: `0x${"00".repeat(49_153)}`}, /initcode/),
  fail(
    "more value than the sender has, to an account",
    {...transfer(bob.address, POOR_BALANCE + 1n), from: poor.address},
    LACKS_VALUE,
    guessed,
  ),
  fail(
    "a fee beyond the balance after the value",
    {...transfer(TILL, POOR_BALANCE - 2_000_000n), from: poor.address, gasPrice: quantity(100n)},
    /^insufficient funds for gas \* price \+ value/,
  ),
  fail(
    "a fee for less gas than the call takes",
    {...clear30, from: poor.address, gasPrice: quantity(100n)},
    /^gas required exceeds allowance \(30000\)$/,
  ),
  fail(
    "a fee cap below the base fee",
    {...transfer(TILL, 1n), maxFeePerGas: "0x6"},
    /^max fee per gas less than block base fee/,
    {ignoredByAnvil: "both"},
  ),
];

const folder = new WorkFolder();
let anvil: Anvil | string;
let service: OwnService;

before(async () => {
  const holdings = {nonce: "0x0", balance: quantity(1000n * ETHER)};
  const contract = (name: Name) => ({
    nonce: "0x1",
    balance: quantity(ETHER),
    code: `0x${readContract(name).deployedBytecode}`,
    storage: name === "Ledger" ? fill(0, 100) : {},
  });
  const accounts = {
    ...Object.fromEntries(NAMES.map(name => [at(name), contract(name)])),
    [TILL]: {nonce: "0x1", balance: "0x0", code: TILL_CODE},
    [ECHO]: {nonce: "0x1", balance: "0x0", code: ECHO_CODE},
    [alice.address]: holdings,
    [bob.address]: holdings,
    [poor.address]: {nonce: "0x0", balance: quantity(POOR_BALANCE)},
  };
  const byNumber =
    "homestead eip150 eip155 eip158 byzantium constantinople petersburg istanbul berlin london";
  const config = {
    chainId: Number(CHAIN_ID),
    ...Object.fromEntries(byNumber.split(" ").map(name => [`${name}Block`, 0])),
    terminalTotalDifficulty: 0,
    ...Object.fromEntries(["shanghai", "cancun", "prague", "osaka"].map(name => [`${name}Time`, 0])),
  };
  const genesis = {
    ...{config, alloc: accounts, nonce: "0x0", timestamp: "0x67748580", extraData: "0x", difficulty: "0x0"},
    ...{gasLimit: quantity(30_000_000n), mixHash: slot(0), coinbase: BENEFICIARY, baseFeePerGas: "0x7"},
  };
  await writeFile(folder.file("genesis.json"), JSON.stringify(genesis));
  // On our side code reads a base fee of 7 wei. Blocks are made only on request.
  const flags = "--hardfork osaka --accounts 0 --auto-impersonate --no-mining --block-base-fee-per-gas 7";
  anvil = await Anvil.start(["--init", folder.file("genesis.json"), ...flags.split(" ")]);
  if (typeof anvil === "string") return;
  for (let number = 1; number <= LAST_BLOCK; number++) await anvil.request("evm_mine");
  const lines: DifferenceLine[] = [];
  for (let number = 0; number <= LAST_BLOCK; number++) {
    const block = await anvil.request<Required<DifferenceLine>>(
      "eth_getBlockByNumber",
      quantity(BigInt(number)),
      false,
    );
    const {hash, parentHash, timestamp, gasLimit, baseFeePerGas, miner, mixHash} = block;
    const header = {hash, parentHash, timestamp, gasLimit, baseFeePerGas, miner, mixHash};
    lines.push({
      ...{number: quantity(BigInt(number)), ...header, accounts: number === 0 ? accounts : {}},
      ...(number === 0 && {chainId: quantity(CHAIN_ID), config}),
    });
  }
  const db = folder.file("db");
  await importLines(db, lines, {finalized: "last"});
  service = await OwnService.serve(["--db", db, "--workers", "1"], {
    estimates: true,
    limits: {timeoutMs: 3_600_000},
    settings: {timeMs: 600_000, gasTolerance: 0},
  });
});

after(async () => {
  if (typeof anvil !== "string") await Promise.all([service.stop(), anvil.stop()]);
});

/** Our limit is enough on anvil, and one less is not. Anvil's is not below it, and above it by what its search leaves open. */
async function compare(node: Anvil, {call, overrides = {}}: GasCase): Promise<void> {
  const {result, error} = await service.call("chain_estimateGas", [call, BLOCK, overrides]);
  assert.equal(error, undefined);
  const ours = BigInt((result as {gasLimit: string}).gasLimit);
  const ask = (gas: bigint) => node.ask("eth_call", [{...call, gas: quantity(gas)}, BLOCK, overrides]);
  const anvils = BigInt(await node.request("eth_estimateGas", call, BLOCK, overrides));
  assert.equal((await ask(ours)).error, undefined, `${ours} gas`);
  assert.notEqual((await ask(ours - 1n)).error, undefined, `${ours - 1n} is enough too, not only ${ours}`);
  assert.ok(ours <= anvils, `${ours}, but ${anvils} by anvil`);
}

/** We refuse the call as the case says, anvil refuses it too, and both report the same revert data. */
async function refuse(node: Anvil, code: number, one: FailingCase): Promise<void> {
  const params = [one.call, BLOCK, one.overrides ?? {}];
  const {error} = await service.call("chain_estimateGas", params);
  assert.equal(error?.code, code, JSON.stringify(error));
  assert.match(error.message, one.message);
  const called = await node.ask("eth_call", params);
  const estimated = await node.ask("eth_estimateGas", params);
  assert.equal(called.error === undefined, one.ignoredByAnvil === "both", JSON.stringify(called));
  assert.equal(estimated.error === undefined, one.ignoredByAnvil !== undefined, JSON.stringify(estimated));
  if (code === 3) for (const answer of [called, estimated]) assert.equal(error.data, answer.error?.data);
}

function testAll<Case extends {readonly title: string}>(
  title: string,
  cases: readonly Case[],
  check: (node: Anvil, one: Case) => Promise<void>,
): void {
  test(title, async t => {
    if (typeof anvil === "string") return notRun(t, anvil);
    const node = anvil;
    for (const one of cases) await t.test(one.title, () => check(node, one));
  });
}

for (const [title, cases] of Object.entries(GROUPS)) testAll(title, cases, compare);
testAll("a call that reverts gives a real node's revert data", REVERTING, (node, one) =>
  refuse(node, 3, one),
);
testAll("a call that a real node refuses is refused", FAILING, (node, one) => refuse(node, -32_000, one));
