/** An upstream's JSON-RPC answer. Its result or error is kept exactly as it was written. */
import {parseAnswer} from "../../sync/rpc/answer.ts";
import {findFieldText} from "../rpc/idText.ts";
import {RpcCode} from "../rpc/rpcError.ts";

export interface UpstreamAnswer {
  readonly member: "result" | "error";
  /** JSON text of its value, as the upstream wrote it. */
  readonly text: string;
  /** The code that the answer is counted under: 0 or the error's code. As a metric's label, it is one of the known codes. */
  readonly code: number;
}

const KNOWN_CODES: ReadonlySet<number> = new Set(Object.values(RpcCode));

/**
 * @param id - of the request that is answered
 * @throws NodeFailure if it is no JSON-RPC answer to that request. The caller may see the message
 */
export function readUpstreamAnswer(bytes: Buffer, id: number): UpstreamAnswer {
  const answer = parseAnswer(bytes, id);
  const {member} = answer;
  const text = findFieldText(bytes, member) as string;
  if (answer.member === "result") return {member, text, code: 0};
  const {code} = answer.error;
  return {member, text, code: KNOWN_CODES.has(code) ? code : RpcCode.EXECUTION_FAILED};
}
