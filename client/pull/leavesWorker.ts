/**
 * A thread that verifies answers of chain_getLeaves (verifierThreads.ts starts it):
 *
 *   "ready"                                    once, when it has started
 *   VerifyJob   ->   VerifiedAnswer            in order. Bytes are transferred both ways, not copied
 */
import {builtinModule} from "../bytes/runtime.ts";
import {HASH_SUITES, type HashSuite} from "../hash/hashSuites.ts";
import {type LeavesRequest, type VerifiedHashes, verifyHashes} from "../leaves/leafRange.ts";
import {ProofError} from "../proof/proofError.ts";

export interface VerifyJob {
  readonly suite: HashSuite["name"];
  readonly root: Uint8Array;
  readonly request: LeavesRequest;
  readonly bytes: Uint8Array;
}

export type VerifiedAnswer =
  | {readonly bytes: Uint8Array; readonly verified: VerifiedHashes}
  | {readonly refused: {readonly at: string; readonly rule: string}};

interface Port {
  on(event: "message", listener: (job: VerifyJob) => void): void;
  postMessage(message: VerifiedAnswer | "ready", transfer?: readonly ArrayBufferLike[]): void;
}

const port = builtinModule<{readonly parentPort: Port}>("node:worker_threads")?.parentPort;
port?.on("message", ({suite: name, root, request, bytes}) => {
  try {
    const suite = HASH_SUITES.find(one => one.name === name) as HashSuite;
    const verified = verifyHashes(suite, root, request, bytes);
    port.postMessage({bytes, verified}, [bytes.buffer, verified.hashes.buffer]);
  } catch (error) {
    // Any other error ends the thread, and with it the pull.
    if (!(error instanceof ProofError)) throw error;
    port.postMessage({refused: {at: error.at, rule: error.rule}});
  }
});
port?.postMessage("ready");
