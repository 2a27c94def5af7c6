/** proof_call: the result of a call, and all that executing it read. `proofd-client/call` verifies it. */
import {type Abortable, encodeBlock, type HeldBlockName} from "./askedBlock.ts";
import type {RpcCaller} from "./connection.ts";
import {type EstimateCall, encodeAmounts} from "./estimate.ts";

export interface GetCallWitnessParameters extends Abortable {
  /** Without fees and lists. */
  readonly call: Pick<EstimateCall, "from" | "to" | "value" | "gas" | "data">;
  /** Default: "finalized". */
  readonly block?: HeldBlockName | undefined;
}

const WITNESS_BYTES = 32 << 20;

/** @returns the answer as the server sent it. @throws RpcError if the call cannot be executed at all */
export function getCallWitness(
  caller: RpcCaller,
  {call, block = "finalized", signal}: GetCallWitnessParameters,
): Promise<unknown> {
  const params = [encodeAmounts(call), encodeBlock(block)];
  return caller.call({method: "proof_call", params, maxAnswerBytes: WITNESS_BYTES}, signal);
}
