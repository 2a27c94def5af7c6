/** State roots read from the rollup's contract on layer 1, or from a contract that records them (contracts/). */
import {decodeHex, encodeHex} from "../bytes/hex.ts";
import {shown} from "../bytes/values.ts";
import {word} from "../hash/hashSuites.ts";
import {RpcError} from "../rpc/rpcError.ts";
import {readHash} from "./answerFields.ts";
import {type ConnectionOptions, createCaller} from "./connection.ts";
import type {RootOfBlock} from "./trustedRoot.ts";

/** The first four bytes of keccak256 of `stateRootHashes(uint256)`, which is zero for a block without a root. */
const SELECTOR = "0x8be745d1";

export type Layer1RootOptions = ConnectionOptions & {
  /** Address of the rollup's contract, or of a StateRootOracle (contracts/), which answers as that does. */
  readonly contract: string;
  /** As of which block of layer 1 the contract is read. Default: "finalized", whose roots never change. */
  readonly at?: "finalized" | "safe" | "latest" | undefined;
};

const ANSWER_BYTES = 4096;
const MAX_REMEMBERED = 1024;

/**
 * Makes a {@link RootOfBlock} that reads the contract by `eth_call` from a trusted node. It remembers the last 1 024
 * finalized roots. The rollup's contract has roots of the suite poseidon2, of the blocks that `getFinalizations` lists.
 *
 * @returns a function that throws RpcError: ROOT_UNKNOWN for a block without a root, or why there is no answer
 * @throws TypeError for an invalid option
 */
export function layer1Root(options: Layer1RootOptions): RootOfBlock {
  const {contract, at = "finalized"} = options;
  if (!/^0x[0-9a-fA-F]{40}$/.test(contract))
    throw new TypeError(`expected a contract of 20 bytes, got ${shown(contract)}`);
  const caller = createCaller(options);
  /** As text: callers may write into the bytes of a root. */
  const remembered = new Map<bigint, string>();
  return async block => {
    const known = remembered.get(block);
    if (known !== undefined) return decodeHex(known);
    const call = {to: contract, data: `${SELECTOR}${encodeHex(word(block)).slice(2)}`};
    const request = {method: "eth_call", params: [call, at], maxAnswerBytes: ANSWER_BYTES};
    const result = await caller.call(request);
    // A node answers 0x for an address without code.
    if (result === "0x") throw rootUnknown(block);
    const text = readHash("root", result);
    const root = decodeHex(text);
    if (root.every(byte => byte === 0)) throw rootUnknown(block);
    if (at !== "finalized") return root;
    const oldest = remembered.keys().next();
    if (remembered.size >= MAX_REMEMBERED && !oldest.done) remembered.delete(oldest.value);
    remembered.set(block, text);
    return root;
  };
}

function rootUnknown(block: bigint): RpcError {
  return new RpcError("ROOT_UNKNOWN", `the contract on layer 1 has no root of block ${block}`);
}
