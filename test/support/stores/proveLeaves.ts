/** Sends calls of chain_getLeaves to the engine in packed form (workers/messages/leavesCall.ts). */
import assert from "node:assert/strict";
import {encodeHex} from "../../../client/bytes/hex.ts";
import type {Engine} from "../../../workers/engine.ts";
import {answerStart} from "../../../workers/messages/answers.ts";
import {type LeavesCall, packLeaves} from "../../../workers/messages/leavesCall.ts";
import {ProofForm} from "../../../workers/messages/packedCall.ts";
import {proveJob} from "./proveCalls.ts";

/** @returns the answer's bytes, or the failure's text. Asks one job for them plain and in hex, and compares the two */
export async function proveLeaves(engine: Engine, call: LeavesCall): Promise<Uint8Array | string> {
  const calls = Buffer.concat([
    packLeaves(call, ProofForm.LEAVES_HEX),
    packLeaves(call, ProofForm.LEAVES_BYTES),
  ]);
  const {text, ends, failures} = await proveJob(engine, {calls, ids: ["7", "8"]});
  const [failure] = failures;
  if (failure !== undefined) return `${failure.failure}: ${failure.detail}`;
  const [response, bytes] = [0, 1].map(one =>
    text.subarray(answerStart(ends, one), (ends[one] as number) - 1),
  ) as [Uint8Array, Uint8Array];
  assert.equal(Buffer.from(response).toString(), `{"jsonrpc":"2.0","id":7,"result":"${encodeHex(bytes)}"}`);
  return new Uint8Array(bytes);
}
