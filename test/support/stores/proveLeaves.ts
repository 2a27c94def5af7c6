/** Sends calls of chain_getLeaves to the engine in packed form (workers/messages/leavesCall.ts). */
import type {Engine} from "../../../workers/engine.ts";
import {type LeavesCall, packLeaves} from "../../../workers/messages/leavesCall.ts";
import {ProofForm} from "../../../workers/messages/packedCall.ts";
import {proveBothForms} from "./proveCalls.ts";

/** @returns the answer's bytes, or the failure's text */
export function proveLeaves(engine: Engine, call: LeavesCall): Promise<Uint8Array | string> {
  return proveBothForms(
    engine,
    packLeaves(call, ProofForm.LEAVES_HEX),
    packLeaves(call, ProofForm.LEAVES_BYTES),
  );
}
