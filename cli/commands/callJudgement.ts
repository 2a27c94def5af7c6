/** Verifies the answer to proof_call for `proofd verify`: the call is executed again. */
import {encodeHex, quantity} from "../../client/bytes/hex.ts";
import {isObject} from "../../client/bytes/values.ts";
import type {CallTrust, Hardfork, VerifiableCall} from "../../client/call/verifyCall.ts";
import {check} from "../../client/proof/strictJson.ts";
import {RpcError} from "../../client/rpc/rpcError.ts";
import type {VerifyOptions} from "../flags/verifyFlags.ts";
import {findHeader, readResults} from "./askedCalls.ts";
import {readTrustedRoot} from "./rootSource.ts";

/** One digit less than a hash. */
const BLOCK_NUMBER = /^0x[0-9a-f]{1,63}$/i;

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
  const [call, block] = params as [VerifiableCall, unknown];
  const [result] = readResults(answer, {isBatch: false, calls: []});
  const {root, by, block: trusted} = await readTrustedRoot(source, findHeader([result]));
  const asked = typeof block === "string" && BLOCK_NUMBER.test(block) ? BigInt(block) : undefined;
  const known = trusted.number === undefined ? asked : BigInt(trusted.number);
  check(
    asked === undefined || asked === known,
    "request.params[1]",
    `expected ${known}, the trusted block, got ${asked}`,
  );
  const trust: CallTrust = {
    ...(trusted.hash === undefined ? {stateRoot: root} : {blockHash: trusted.hash}),
    block: known,
    chainId,
    hardfork: hardfork as Hardfork | undefined,
  };
  // The library's EVM takes half a second to load.
  const {verifyCallAnswer} = await import("../../client/call/verifyCall.ts");
  try {
    const {value, block: number} = await verifyCallAnswer(call, result, trust);
    // Else the server chose the number, and nothing proves it.
    const isProven = known !== undefined || trusted.hash !== undefined;
    if (json) return encode({value, block: isProven ? quantity(number) : undefined});
    const place = isProven ? ` at block ${number}` : "";
    return `value ${value}\nVERIFIED: the call${place} under the root ${encodeHex(root)}, ${by}\n`;
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    const {message, data} = error;
    return json
      ? encode({error: {message, data}})
      : `error ${message}${data === undefined ? "" : `: ${data}`}\nVERIFIED: the call fails under the root ${encodeHex(root)}, ${by}\n`;
  }
}

function encode(verdict: object): string {
  return `${JSON.stringify({verified: true, ...verdict})}\n`;
}
