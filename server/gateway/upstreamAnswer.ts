/** An upstream's JSON-RPC answer. Its result or error is sent on with the same values. */

import {NodeFailure} from "../../nodes/rpc/node.ts";
import {parseAnswer} from "../../nodes/rpc/nodeAnswer.ts";
import {findInexact} from "../rpc/exactValues.ts";
import {RpcCode} from "../rpc/rpcError.ts";

interface UpstreamAnswer {
  readonly member: "result" | "error";
  /** JSON text of its value. */
  readonly text: string;
  /** The code that the answer is counted under: 0 or the error's code. As a metric's label, it is one of the known codes. */
  readonly code: number;
}

const KNOWN_CODES: ReadonlySet<number> = new Set(Object.values(RpcCode));

/**
 * @param id - of the request that is answered
 * @throws NodeFailure if it is no JSON-RPC answer to that request, or has values that JSON.parse may have changed. The caller may
 * see the message
 */
export function readUpstreamAnswer(bytes: Buffer, id: number): UpstreamAnswer {
  const answer = parseAnswer(bytes, id);
  const value = answer.member === "result" ? answer.result : answer.error;
  if (findInexact(value) !== undefined)
    throw new NodeFailure("its answer has a number that is no safe integer, or half of a character");
  const text = JSON.stringify(value);
  if (answer.member === "result") return {member: "result", text, code: 0};
  const {code} = answer.error;
  return {member: "error", text, code: KNOWN_CODES.has(code) ? code : RpcCode.EXECUTION_FAILED};
}
