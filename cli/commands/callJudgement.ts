/** Verifies the answer to proof_call for `proofd verify`: the call is executed again. */
import {encodeHex, quantity} from "../../client/bytes/hex.ts";
import {isObject} from "../../client/bytes/values.ts";
import type {CallTrust, Hardfork, VerifiableCall} from "../../client/call/verifyCall.ts";
import {check} from "../../client/proof/strictJson.ts";
import {RpcError} from "../../client/rpc/rpcError.ts";
import {verifyHeader} from "../../client/trie/blockHeader.ts";
import type {VerifyOptions} from "../flags/verifyFlags.ts";
import {findHeader, readResults} from "./askedCalls.ts";
import {readTrustedRoot} from "./rootSource.ts";

const BLOCK_HASH = /^0x[0-9a-f]{64}$/i;
const BLOCK_NUMBER = /^0x[0-9a-f]+$/i;

export function isProofCall(request: unknown): request is {readonly params: unknown} {
  return isObject(request) && request.method === "proof_call";
}

/** @returns the verdict, lines of text. @throws ProofError, WorkError */
export async function judgeCall(
  {params}: {readonly params: unknown},
  answer: Buffer,
  {root: source, chainId, hardfork, json}: VerifyOptions,
): Promise<string> {
  check(Array.isArray(params) && isObject(params[0]), "request.params", "expected [call, block]");
  const [asked, block] = params as [object, unknown];
  // A field that is null is absent.
  const call: VerifiableCall = Object.fromEntries(
    Object.entries(asked).filter(([, field]) => field !== null),
  );
  const [result] = readResults(answer, {isBatch: false, calls: []});
  const header = findHeader([result]);
  const {root, by, block: trusted} = await readTrustedRoot(source, header);
  // A proofd gives the root of its own trees, beside the hash.
  const isOther = source.kind === "node" && trusted.hash !== undefined && header !== undefined;
  const stateRoot = isOther ? verifyHeader(trusted.hash, header).stateRoot : root;
  const named = readBlock(block);
  const trust: CallTrust = {
    ...(trusted.hash === undefined ? {stateRoot} : {blockHash: trusted.hash}),
    block: named,
    chainId,
    hardfork: hardfork as Hardfork | undefined,
  };
  // The library's EVM takes half a second to load.
  const {verifyCallAnswer} = await import("../../client/call/verifyCall.ts");
  try {
    const {value, block: number} = await verifyCallAnswer(call, result, trust);
    // Else the server chose the number, and nothing proves it.
    const isProven = named !== undefined || trusted.hash !== undefined;
    if (json) return encode({value, block: isProven ? quantity(number) : undefined});
    const place = isProven ? ` at block ${number}` : "";
    return `value ${value}\nVERIFIED: the call${place} under the root ${encodeHex(stateRoot)}, ${by}\n`;
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    const {message, data} = error;
    return json
      ? encode({error: {message, data}})
      : `error ${message}${data === undefined ? "" : `: ${data}`}\nVERIFIED: the call fails under the root ${encodeHex(stateRoot)}, ${by}\n`;
  }
}

/** @param block - a selector of the request. @returns undefined for a tag */
function readBlock(block: unknown): CallTrust["block"] {
  const name = isObject(block) ? (block.blockHash ?? block.blockNumber) : block;
  if (typeof name !== "string") return undefined;
  if (BLOCK_HASH.test(name)) return {blockHash: name};
  return BLOCK_NUMBER.test(name) ? BigInt(name) : undefined;
}

function encode(verdict: object): string {
  return `${JSON.stringify({verified: true, ...verdict})}\n`;
}
