/**
 * The EVM in this process: groups of opcodes (time per opcode); writes, calls and precompiles (time of each); an ERC-20
 * transfer.
 *
 * The code of a group is repeated, after code that fills the stack. It leaves the stack as it was, so most groups
 * include DUP and POP.
 */

import {Evm} from "../../evm/interpreter/evm.ts";
import {finish} from "../../evm/interpreter/waits.ts";
import {ChainRules} from "../../workers/estimate/blockRules.ts";
import {Deadline} from "../../workers/estimate/call/deadline.ts";
import {EvmRuns} from "../../workers/estimate/call/evmRuns.ts";
import {TreeState} from "../../workers/estimate/state/treeState.ts";
import type {EstimateCall} from "../../workers/messages/estimateCall.ts";
import {DEFAULT_ESTIMATE_SETTINGS} from "../../workers/messages/estimateSettings.ts";
import {addressAt} from "./benchChain.ts";
import {encodeTransfer, TOKEN} from "./benchContracts.ts";
import type {BenchStore} from "./benchStore.ts";
import type {BenchTask, Stage} from "./stage.ts";

/** Name; code in hex; number of opcodes in it, or 1 to measure the whole. */
const CODES: readonly (readonly [name: string, code: string, units: number])[] = [
  ["DUP2 SWAP1 POP", "819050", 3],
  ["PUSH1 PUSH1 ADD SWAP1 SUB", "60016002019003", 5],
  ["DUP2 DUP2 MUL POP", "81810250", 4],
  ["DUP2 DUP4 DIV POP", "81830450", 4],
  ["DUP2 DUP2 EXP POP", "81810a50", 4],
  ["DUP2 DUP2 LT ISZERO POP", "8181101550", 5],
  ["PUSH0 MLOAD PUSH0 MSTORE", "5f515f52", 4],
  ["PUSH1 PUSH0 KECCAK256 POP", "60405f2050", 4],
  ["PUSH0 SLOAD POP", "5f5450", 3],
  ["a warm slot written", "5a5f55", 1],
  ["a log of 32 bytes", "5f60205fa1", 1],
  ["a call of a contract that stops", `5f5f5f5f5f73${"c1".repeat(20)}5af150`, 1],
  ["a creation of an empty contract", "5f5f5ff050", 1],
  ["SHA-256 of 64 bytes", "60205f60405f60025afa50", 1],
  ["ecrecover", "60205f60805f60015afa50", 1],
];
/** Three words on the stack, and a signature in memory: v 27, r the generator's x, s 1. */
const START =
  `7f${"c3".repeat(32)}7f${"a5".repeat(32)}7f${"07".repeat(32)}` +
  "601b6020527f79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f817986040526001606052";
const TIMES = 200;
const CONTRACT = new Uint8Array(20).fill(0xc0);
const STOPPING = new Uint8Array(20).fill(0xc1);
const GAS = 1_000_000_000n;
const TRANSFER_GAS = 100_000n;

export function createEvmStage({store: {reader}, blocks}: BenchStore): Stage {
  const gasCap = BigInt(DEFAULT_ESTIMATE_SETTINGS.gasCap);
  const rules = new ChainRules({store: reader, hardfork: undefined, chainId: undefined, gasCap});
  const block = reader.blockOrThrow(blocks);
  const blockRules = rules.at(block);
  const {evmRules, evmBlock} = blockRules;
  const evm = new Evm();
  evm.moveTo(new TreeState(reader, block.accounts));
  evm.setBlock(evmRules, evmBlock);
  evm.writeCode(STOPPING, new Uint8Array(1));

  const runCode = (name: string, code: string, units: number): BenchTask => {
    const bytes = Buffer.from(START + code.repeat(TIMES), "hex");
    return {
      name,
      units: TIMES * units,
      hooks: {beforeAll: () => evm.writeCode(CONTRACT, bytes)},
      run: async () => {
        const mark = evm.checkpoint();
        evm.beginTransaction();
        const {end} = await evm.run({
          origin: STOPPING,
          caller: STOPPING,
          to: CONTRACT,
          value: 0n,
          data: new Uint8Array(0),
          gas: GAS,
          gasPrice: 7n,
          blobHashes: [],
          nonce: 0n,
        });
        if (end !== "success") throw new Error(`${name}: expected success, got ${end}`);
        evm.revertTo(mark);
      },
    };
  };

  const deadline = new Deadline(DEFAULT_ESTIMATE_SETTINGS.timeMs);
  const call: EstimateCall = {
    block: blocks,
    from: addressAt(0),
    to: TOKEN,
    value: 0n,
    data: encodeTransfer(addressAt(1), 5n),
  };
  const transfer: BenchTask = {
    name: "an ERC-20 transfer",
    units: 1,
    run: async () => {
      deadline.start();
      const {failure} = await finish(new EvmRuns(call, evm, blockRules, 0n, deadline).run(TRANSFER_GAS));
      if (failure !== undefined) throw new Error(`the transfer failed: ${failure.reason}`);
    },
  };
  return {tasks: [...CODES.map(([name, code, units]) => runCode(name, code, units)), transfer]};
}
