/** Estimates on a store that names no rules: flags name them. And why a call has no estimate, in words that its caller can act on. */

import assert from "node:assert/strict";
import {writeFile} from "node:fs/promises";
import {after, before, test} from "node:test";
import {WorkFolder} from "../../support/chains/serviceChain.ts";
import {codeOf} from "../../support/estimates/assembler.ts";
import {OwnService} from "../../support/http/ownService.ts";
import {importLines} from "../../support/stores/importedStore.ts";

const SPENT = `0x${"aa".repeat(20)}`;
const LAST = `0x${"ab".repeat(20)}`;
const TO = `0x${"bb".repeat(20)}`;
/** SSTORE(0, CALLDATALOAD(0)), by an opcode that came with shanghai. */
const WRITER = `0x${"a1".repeat(20)}`;
const WRITE_ONE = {to: WRITER, data: `0x${"1".padStart(64, "0")}`};
/** However slow the machine: no estimate is given up. */
const PATIENT = {estimates: true, limits: {timeoutMs: 3_600_000}, settings: {timeMs: 600_000}};
const RULES = ["--chain-id", "1337", "--workers", "1", "--estimate-workers", "1"];
const EXTRA_DATA = {model: "extra-data", variableCost: 0, minMargin: 1.5};
const FLOOR = {minGasPrice: 1000, gasPriceRatio: 0, gasPriceAdjustment: 5};

let folder: WorkFolder;
let daemon: OwnService;

before(async () => {
  folder = await WorkFolder.create();
  const block = {
    number: "0x0",
    hash: `0x${"01".repeat(32)}`,
    gasLimit: "0x1c9c380",
    accounts: {
      [SPENT]: {balance: "0xde0b6b3a7640000", nonce: "0xffffffffffffffff"},
      [LAST]: {balance: "0xde0b6b3a7640000", nonce: "0xfffffffffffffffe"},
      [WRITER]: {nonce: "0x1", code: codeOf("PUSH0 CALLDATALOAD PUSH0 SSTORE STOP")},
    },
  };
  for (const name of ["db", "other"]) await importLines(folder.file(name), [block], {finalized: "last"});
  daemon = await serve("db", "osaka", EXTRA_DATA);
});

after(async () => {
  await daemon.stop();
  await folder.remove();
});

async function serve(name: string, hardfork: string, fees: object): Promise<OwnService> {
  const path = folder.file(`${name}-fees.json`);
  await writeFile(path, JSON.stringify(fees));
  return OwnService.serve(
    ["--db", folder.file(name), "--hardfork", hardfork, "--fees", path, ...RULES],
    PATIENT,
  );
}

// biome-ignore lint/suspicious/noExplicitAny: an answer is whatever the test asserts of it
async function estimate(...params: unknown[]): Promise<any> {
  return daemon.call("chain_estimateGas", params);
}

test("a store that names no rules is refused with the flag that names them", async () => {
  const answers: {error?: {code: number; message: string}}[] = [];
  for (const flags of [[], ["--hardfork", "osaka"]]) {
    const service = await OwnService.serve(
      ["--db", folder.file("other"), "--workers", "1", ...flags],
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

test("estimates are made under the hard fork and by the fee model that its file names", async () => {
  const {result} = await estimate(WRITE_ONE);
  assert.equal(Number(result.gasLimit), 21_000 + 31 * 4 + 16 + 7 + 22_100);
  // 1.5 * 30 000 000, which fixedCost is where the block has no extraData.
  assert.equal(Number(result.priorityFeePerGas), 45_000_000);
  const other = await serve("other", "london", FLOOR);
  const london = await other.call("chain_estimateGas", [WRITE_ONE]);
  const plain = await other.call("chain_estimateGas", [{to: TO}]);
  await other.stop();
  assert.deepEqual(london.error, {code: -32000, message: "invalid opcode"});
  assert.equal(Number(plain.result.priorityFeePerGas), 993);
});

test("a sender whose nonce is 2^64 - 1 gets no estimate, one below it does", async () => {
  const {error} = await estimate({from: SPENT, to: TO, value: "0x1"});
  assert.equal(error.code, -32000);
  assert.match(
    error.message,
    /^nonce has max value: the sender's nonce is 18446744073709551615 \(2\^64 - 1\)/,
  );
  assert.match(error.message, /EIP-2681/);
  assert.equal((await estimate({from: LAST, to: TO, value: "0x1"})).result.gasLimit, "0x5208");
});

test("a halt of the machine is explained", async () => {
  const table: [string, RegExp][] = [
    [codeOf("ADD"), /^stack underflow: an instruction takes more from the stack than it holds$/],
    [codeOf("PUSH1 0 JUMP"), /^invalid jump: its destination is no JUMPDEST$/],
    [codeOf("INVALID"), /^invalid opcode$/],
  ];
  for (const [code, message] of table) {
    const {error} = await estimate({to: TO}, "latest", {[TO]: {code}});
    assert.equal(error?.code, -32000, code);
    assert.match(error.message, message, code);
  }
  // A pairing of points that are none.
  const refused = await estimate({to: `0x${"8".padStart(40, "0")}`, data: `0x${"31".repeat(192)}`});
  assert.deepEqual(refused.error, {code: -32000, message: "the precompile refuses its input"});
  const creations: [string, RegExp][] = [
    [
      codeOf("PUSH1 0xef PUSH1 0 MSTORE8 PUSH1 1 PUSH1 0 RETURN"),
      /^the code that the creation returns begins with 0xef \(EIP-3541\)$/,
    ],
    [codeOf("PUSH2 24577 PUSH1 0 RETURN"), /^the code that the creation returns is longer than 24576 bytes/],
  ];
  for (const [data, message] of creations) {
    const {error} = await estimate({from: LAST, data});
    assert.equal(error?.code, -32000, data);
    assert.match(error.message, message, data);
  }
});
