/** Why a call has no estimate, in words that its caller can act on. */

import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import {WorkFolder} from "../../support/chains/serviceChain.ts";
import {codeOf} from "../../support/estimates/assembler.ts";
import {OwnService} from "../../support/http/ownService.ts";
import {importLines} from "../../support/stores/importedStore.ts";

const SPENT = `0x${"aa".repeat(20)}`;
const LAST = `0x${"ab".repeat(20)}`;
const TO = `0x${"bb".repeat(20)}`;

let folder: WorkFolder;
let daemon: OwnService;

before(async () => {
  folder = await WorkFolder.create();
  const block = {
    number: "0x0",
    hash: `0x${"01".repeat(32)}`,
    chainId: "0x539",
    accounts: {
      [SPENT]: {balance: "0xde0b6b3a7640000", nonce: "0xffffffffffffffff"},
      [LAST]: {balance: "0xde0b6b3a7640000", nonce: "0xfffffffffffffffe"},
    },
  };
  await importLines(folder.file("db"), [block]);
  const flags = ["--hardfork", "osaka", "--workers", "1", "--estimate-workers", "1"];
  daemon = await OwnService.serve(["--db", folder.file("db"), ...flags], {estimates: true});
});

after(async () => {
  await daemon.stop();
  await folder.remove();
});

// biome-ignore lint/suspicious/noExplicitAny: an answer is whatever the test asserts of it
async function estimate(...params: unknown[]): Promise<any> {
  return daemon.call("chain_estimateGas", params);
}

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
