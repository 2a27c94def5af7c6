/** A proof from the server and the result of its verification. */
import {decodeHex} from "../../client/bytes/hex.ts";
import {type OpenedEntry, openAnswer} from "../../client/compact/openedPaths.ts";
import type {HashSuite} from "../../client/hash/hashSuites.ts";
import type {RootedBlock} from "../../client/methods/block.ts";
import type {ProofClient} from "../../client/methods/proofClient.ts";
import {type Proven, verifyProof} from "../../client/proof/proofVerifier.ts";
import type {ProofRequest} from "../../client/proof/request.ts";
import type {Asked} from "./fields.ts";

export interface Finding {
  readonly suite: HashSuite;
  readonly request: ProofRequest;
  readonly block: RootedBlock;
  /** The root that the proof was verified against. */
  readonly root: string;
  /** Whether the reader gave the root. */
  readonly isOwnRoot: boolean;
  /** The `result` of chain_getProof. */
  readonly answer: unknown;
  readonly verdict: {readonly proven: Proven} | {readonly refusal: Error};
  /** undefined if the answer is not a well-formed proof. */
  readonly paths: OpenedEntry | undefined;
}

export async function findProof(
  suite: HashSuite,
  server: ProofClient<false>,
  {address, storageKeys, block: asked, root: ownRoot}: Asked,
): Promise<Finding> {
  const {block: number, proof: answer} = await server.getProof({address, storageKeys, block: asked});
  const block = await server.getStateRoot({block: number});
  const request = {address, storageKeys};
  const root = ownRoot ?? block.stateRoot;
  return {
    ...{suite, request, block, root, isOwnRoot: ownRoot !== undefined, answer},
    verdict: verify(suite, root, request, answer),
    paths: open(suite, request, answer),
  };
}

function verify(suite: HashSuite, root: string, request: ProofRequest, answer: unknown): Finding["verdict"] {
  try {
    return {proven: verifyProof(suite, decodeHex(root), request.address, request.storageKeys, answer)};
  } catch (error) {
    return {refusal: error as Error};
  }
}

function open(suite: HashSuite, request: ProofRequest, answer: unknown): OpenedEntry | undefined {
  try {
    return openAnswer(suite, request, answer);
  } catch {
    return undefined; // the verdict says what is wrong with it
  }
}
